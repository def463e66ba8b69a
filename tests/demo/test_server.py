"""What the demo's server does over real loopback connections, manners and faults included."""

import asyncio
import gzip
import json
import re
from pathlib import Path

import pytest

from tests.demo.client import Connection, fetch
from tui_crawler.demo.responses import Ending
from tui_crawler.demo.site import SlowHeads
from tui_crawler.demo.web import DemoWeb


async def test_a_page_has_the_headers_that_a_crawler_reads(web: DemoWeb) -> None:
    answer = await fetch(web.origin("almanac"), "/")
    assert (answer.status, answer.reason, answer.whole) == (200, "OK", True)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["server"] == "harbour/2.1"
    assert answer.headers["cache-control"] == "max-age=3600"
    assert re.fullmatch(r"\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT", answer.headers["date"])
    assert "<title>Today on the coast - The Harbour Almanac</title>" in answer.text


async def test_one_connection_carries_many_requests(web: DemoWeb) -> None:
    async with Connection(web.origin("almanac")) as connection:
        first = await connection.ask("/")
        second = await connection.ask("/about")
        last = await connection.ask("/contact", headers=(("Connection", "close"),))
        assert [first.status, second.status, last.status] == [200, 200, 200]
        assert (first.headers["connection"], last.headers["connection"]) == ("keep-alive", "close")
        assert await connection.reader.read() == b""


async def test_head_promises_what_get_sends(web: DemoWeb) -> None:
    async with Connection(web.origin("almanac")) as connection:
        head = await connection.ask("/lights/gull-rock", "HEAD")
        get = await connection.ask("/lights/gull-rock")
    assert head.raw == b""
    assert int(head.headers["content-length"]) == len(get.raw)
    assert head.headers["etag"] == get.headers["etag"]


async def test_a_known_page_is_answered_304(web: DemoWeb) -> None:
    origin = web.origin("almanac")
    page = await fetch(origin, "/about")
    tag, date = page.headers["etag"], page.headers["last-modified"]
    for asked in (("If-None-Match", tag), ("If-None-Match", f'"other", W/{tag}'), ("If-Modified-Since", date)):
        answer = await fetch(origin, "/about", headers=(asked,))
        assert (answer.status, answer.raw, answer.headers["etag"]) == (304, b"", tag)
        assert "content-length" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        (("If-None-Match", '"other"'),),
        (("If-Modified-Since", "Wed, 01 Jan 2020 00:00:00 GMT"),),
        (("If-Modified-Since", "the day before yesterday"),),
        (("If-None-Match", '"other"'), ("If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT")),
    ],
)
async def test_a_changed_page_is_sent_again(web: DemoWeb, headers: tuple[tuple[str, str], ...]) -> None:
    assert (await fetch(web.origin("almanac"), "/about", headers=headers)).status == 200


async def test_gzip_only_for_those_who_take_it(web: DemoWeb) -> None:
    origin = web.origin("almanac")
    plain = await fetch(origin, "/tides/may")
    refused = await fetch(origin, "/tides/may", headers=(("Accept-Encoding", "gzip;q=0, br"),))
    coded = await fetch(origin, "/tides/may", headers=(("Accept-Encoding", "br, gzip"),))
    assert "content-encoding" not in plain.headers
    assert refused.raw == plain.raw
    assert coded.headers["content-encoding"] == "gzip"
    assert coded.headers["vary"] == "Accept-Encoding"
    assert coded.headers["etag"] != plain.headers["etag"]
    assert gzip.decompress(coded.raw) == plain.raw
    again = await fetch(
        origin, "/tides/may", headers=(("Accept-Encoding", "gzip"), ("If-None-Match", coded.headers["etag"]))
    )
    assert again.status == 304


async def test_unknown_targets_and_methods(web: DemoWeb) -> None:
    origin = web.origin("almanac")
    assert (await fetch(origin, "/nowhere")).status == 404
    assert (await fetch(origin, "/about?session=1")).status == 404
    refused = await fetch(origin, "/about", "DELETE")
    assert (refused.status, refused.headers["allow"], refused.headers["connection"]) == (405, "GET, HEAD", "close")
    body = await fetch(origin, "/about", "POST", headers=(("Content-Length", "4"),))
    assert (body.status, body.headers["connection"]) == (413, "close")


async def test_an_absolute_target_is_understood(web: DemoWeb) -> None:
    assert (await fetch(web.origin("almanac"), web.origin("almanac") + "/about")).status == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET mailto:a@b HTTP/1.1\r\n\r\n", 400),
        (b"GET http://[ HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 40_000, 431),
    ],
)
async def test_what_is_no_request_is_refused_and_closed(web: DemoWeb, sent: bytes, status: int) -> None:
    async with Connection(web.origin("almanac")) as connection:
        assert (await connection.send(sent)).status == status
        assert await connection.reader.read() == b""


async def test_each_fifth_request_of_the_radio_is_reset_and_its_repetition_is_not(web: DemoWeb) -> None:
    origin = web.origin("radio")
    endings = []
    for _ in range(12):
        try:
            answer = await fetch(origin, "/schedule/")
        except ConnectionResetError:
            endings.append("reset")
        else:
            assert answer.headers["connection"] == "close"
            endings.append("served")
    assert endings == (["served"] * 4 + ["reset"]) * 2 + ["served"] * 2
    assert [(entry.status, entry.ending) for entry in web.log][4] == (0, Ending.RESET)


async def test_a_body_ends_too_early_once(web: DemoWeb) -> None:
    origin = web.origin("radio")
    cut = await fetch(origin, "/programmes/market-boat")
    whole = await fetch(origin, "/programmes/market-boat")
    assert (cut.status, cut.whole, whole.status, whole.whole) == (200, False, 200, True)
    assert whole.raw.startswith(cut.raw)
    assert len(cut.raw) == len(whole.raw) // 2
    assert [entry.ending for entry in web.log] == [Ending.TRUNCATED, Ending.COMPLETE]


async def test_chunks_good_and_broken(web: DemoWeb) -> None:
    good = await fetch(web.origin("radio"), "/programmes/")
    broken = await fetch(web.origin("radio"), "/transmitters/gull-island-relay")
    assert good.headers["transfer-encoding"] == broken.headers["transfer-encoding"] == "chunked"
    assert good.raw.endswith(b"\r\n0\r\n\r\n")
    assert b"\r\nnot-a-size\r\n" in broken.raw
    assert not broken.whole


async def test_each_sixth_request_of_the_ferries_is_one_too_many(web: DemoWeb) -> None:
    async with Connection(web.origin("ferries")) as connection:
        answers = [await connection.ask("/fares") for _ in range(13)]
    assert [number for number, answer in enumerate(answers, 1) if answer.status == 429] == [6, 12]
    assert {answer.headers.get("retry-after") for answer in answers if answer.status == 429} == {"1"}


async def test_retry_after_keeps_pace() -> None:
    async with DemoWeb(pace=1.0) as web, Connection(web.origin("ferries")) as connection:
        answers = [await connection.ask("/fares") for _ in range(6)]
    assert answers[-1].headers["retry-after"] == "2"


async def test_the_forum_fails_in_many_ways(web: DemoWeb) -> None:
    async with Connection(web.origin("forum")) as connection:
        first, second = await connection.ask("/robots.txt"), await connection.ask("/robots.txt")
        assert (first.status, first.headers["retry-after"], second.status) == (503, "1", 200)
        assert second.headers["content-type"] == "text/plain; charset=utf-8"
        seen = {
            name: (await connection.ask(f"/thread/{name}")).status
            for name in ("old-photographs", "committee-minutes", "sack-hoist-rope", "meeting-in-spring")
        }
    assert (await fetch(web.origin("forum"), "/thread/sluice-gate-free-to-collect")).status == 410
    assert seen == {
        "old-photographs": 404,
        "committee-minutes": 403,
        "sack-hoist-rope": 500,
        "meeting-in-spring": 503,
    }


async def test_the_tramway_dies_after_its_last_answer(web: DemoWeb) -> None:
    origin = web.origin("tramway")
    async with Connection(origin) as idle, Connection(origin) as connection:
        assert (await idle.ask("/")).status == 200
        for _ in range(14):
            assert (await connection.ask("/cars/")).status == 200
        last = await connection.ask("/stops/")
        assert (last.status, last.whole, last.headers["connection"]) == (200, True, "close")
        assert await connection.reader.read() == b""
        with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
            await idle.ask("/")
    with pytest.raises(ConnectionRefusedError):
        async with Connection(origin):
            pass
    for _ in range(2):
        with pytest.raises(ConnectionRefusedError):
            await fetch(origin, "/")
    assert (await fetch(web.origin("almanac"), "/")).status == 200


async def test_a_slow_head_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    yield_once = asyncio.sleep

    async def note_wait(seconds: float) -> None:
        waits.append(seconds)
        await yield_once(0)

    async with DemoWeb(pace=0.5) as web:
        monkeypatch.setattr(asyncio, "sleep", note_wait)
        targets = list(next(site for site in web.sites if site.name == "records").pages)[:8]
        for target in targets:
            assert (await fetch(web.origin("records"), target)).status == 200
    manner = next(site for site in web.sites if site.name == "records").manner
    assert manner == SlowHeads(800, 1500)
    assert len(waits) == 8
    assert all(0.4 <= wait <= 0.75 for wait in waits)
    assert len(set(waits)) > 4


async def test_hostile_heads_go_out_as_they_are(web: DemoWeb) -> None:
    origin = web.origin("museum")
    assert (await fetch(origin, "/cabinet/reason")).reason == "[@click=app.quit]OK[/]"
    assert (await fetch(origin, "/cabinet/escape")).headers["etag"] == '"\x1b[31mred\x1b[0m"'
    tagged = await fetch(origin, "/cabinet/tagged")
    assert tagged.headers["etag"].startswith('"[/][@click=app.quit]')
    again = await fetch(origin, "/cabinet/tagged", headers=(("If-None-Match", tagged.headers["etag"]),))
    assert again.status == 304
    assert (await fetch(origin, "/wing/north")).headers["location"] == "http://[::1"
    assert "content-type" not in (await fetch(origin, "/cabinet/nothing")).headers


async def test_a_client_that_leaves_a_large_page_is_noted(web: DemoWeb) -> None:
    async with Connection(web.origin("museum")) as connection:
        connection.writer.write(b"GET /cabinet/ledger HTTP/1.1\r\n\r\n")
        head = await connection.reader.readuntil(b"\r\n\r\n")
    size = int(re.search(rb"Content-Length: (\d+)", head)[1])  # type: ignore[index]
    assert size > 2**20
    await web.__aexit__(None, None, None)
    assert [(entry.target, entry.status) for entry in web.log] == [("/cabinet/ledger", 200)]


async def test_the_access_log_has_one_line_for_each_request(tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    async with DemoWeb(pace=0, access_log=path) as web:
        await fetch(web.origin("almanac"), "/")
        await fetch(web.origin("reserve"), "/nests/viewing?\x9b", "HEAD")
        written = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(written) == len(web.log) == 2
    first, second = written
    assert (first["site"], first["origin"], first["target"]) == ("almanac", web.origin("almanac"), "/")
    assert (first["method"], first["status"], first["user_agent"]) == ("GET", 200, "probe/1")
    assert (second["method"], second["status"], second["target"]) == ("HEAD", 404, "/nests/viewing?\x9b")
    assert first["started_ms"] <= first["ended_ms"] <= second["started_ms"] <= second["ended_ms"]
    assert [entry.ended_ms for entry in web.log] == [line["ended_ms"] for line in written]
    assert first["ending"] == "complete"


async def test_the_log_shows_overlapping_requests(web: DemoWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    both = asyncio.Barrier(2)

    async def meet(seconds: float) -> None:
        await both.wait()

    async with DemoWeb(pace=1) as slow:
        monkeypatch.setattr(asyncio, "sleep", meet)
        await asyncio.gather(fetch(slow.origin("records"), "/"), fetch(slow.origin("records"), "/maps/"))
    first, second = slow.log
    assert max(first.started_ms, second.started_ms) <= min(first.ended_ms, second.ended_ms)
