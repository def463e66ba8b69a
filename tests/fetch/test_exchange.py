"""What an exchange brings besides its exit code: records, redirects, waits, codings, cleanliness."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import zlib
from dataclasses import replace
from email.utils import formatdate
from unittest.mock import Mock

import httptools
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fetch.asking import (
    CORPORA,
    SHORT,
    USER_AGENT,
    Served,
    again,
    ask,
    fetching,
    frozen,
    head,
    traced_peak,
    whole,
)
from tests.support.held_time import HeldTime
from tests.support.hostile_web import AwaitHangup, Close, Flood, HostileWeb, Pass, Reset, Send, Wait
from tui_crawler.domain.crawl.recrawl import condition_of, validator_of
from tui_crawler.domain.records.attempt import Exchange, FetchRequest
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.fetch import connection_log
from tui_crawler.fetch.address_guard import AddressGuard
from tui_crawler.fetch.client import HttpFetcher
from tui_crawler.fetch.connection_log import ConnectionLog
from tui_crawler.fetch.http1 import Http1Connection
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.transfer import ACCEPT

LLHTTP = json.loads((CORPORA / "llhttp_responses.json").read_text())["cases"]
ENDINGS = {
    ExitCode.file_ingested,
    ExitCode.file_of_unknown_type,
    ExitCode.permanent_redirect,
    ExitCode.file_not_found,
    ExitCode.server_blamed_client,
    ExitCode.server_internal_error,
    ExitCode.did_not_understand_answer,
    ExitCode.request_timeout,
    ExitCode.error_reading_response,
}


async def test_every_answer_of_llhttp_ends_in_a_code(web: HostileWeb, fetcher: HttpFetcher) -> None:
    """The corpus has lost the last line end of some answers, so each is sent with and without one."""
    codes = {}
    for number, case in enumerate(LLHTTP):
        for end in ("", "\r\n"):
            web.answer(f"/{number}", (case["raw"] + end).encode("latin-1"))
            exchange = await fetcher.exchange(ask(web.url(f"/{number}")))
            assert exchange.exit_code in ENDINGS, case["name"]
            assert len(exchange.requests) == 1, case["name"]
            codes[case["name"]] = exchange.exit_code
    assert codes["Google 301"] is ExitCode.permanent_redirect
    assert codes["No reason phrase"] is ExitCode.did_not_understand_answer  # 301 without Location
    assert codes["Underscore in header key"] is ExitCode.file_ingested
    assert codes["Chunk extensions"] is ExitCode.file_ingested
    assert codes["Invalid HTTP version"] is ExitCode.did_not_understand_answer
    assert codes["HTTP 101 response with Upgrade and Content-Length header"] is ExitCode.did_not_understand_answer


async def test_no_answer_of_llhttp_hangs_when_the_connection_stays_open(web: HostileWeb, held_time: HeldTime) -> None:
    fetcher = fetching(fluke_retry=False)
    for number, case in enumerate(LLHTTP):
        stays = Pass(held_time, SHORT.total_timeout_ms / 1000), Wait(asyncio.Event())
        web.on(f"/{number}", Send(case["raw"].encode("latin-1")), *stays)
    exchanges = [await fetcher.exchange(ask(web.url(f"/{number}"))) for number in range(len(LLHTTP))]
    assert {exchange.exit_code for exchange in exchanges} <= ENDINGS


async def test_what_is_sent_and_what_is_recorded(web: HostileWeb) -> None:
    now = frozen((10, 5_000), (20, 5_010), (50, 5_040), (110, 5_100), (350, 5_340))
    fetcher = fetching(now=now)
    web.on("/a?b", Send(whole(b"hello", "X-One: 1")))
    exchange = await fetcher.exchange(ask(web.url("/a?b")))
    assert web.requests[0].startswith(b"GET /a?b HTTP/1.1\r\n")
    assert web.fields() == [
        ("host", f"127.0.0.1:{web.port}"),
        ("user-agent", USER_AGENT),
        ("accept", ACCEPT),
        ("accept-encoding", "gzip, deflate"),
    ]
    (record,) = exchange.requests
    assert (record.url, record.method) == (web.url("/a?b"), "GET")
    assert (record.sent_at, record.head_at, record.ended_at) == (5_000, 5_340, 5_340)
    assert (record.remote_address, record.connection_reused) == ("127.0.0.1", False)
    assert (record.dns_ms, record.connect_ms, record.tls_ms) == (None, 30, None)
    assert dict(record.request_headers)["User-Agent"] == USER_AGENT
    assert record.response_headers == exchange.headers == (("X-One", "1"), ("Content-Length", "5"))
    assert (exchange.response_ms, exchange.body, exchange.wire_bytes) == (30 + 240, b"hello", 5)


async def test_a_wall_clock_that_is_set_back_does_not_turn_the_record_round(web: HostileWeb) -> None:
    now = frozen((0, 100_000), (20, 100_020), (30, 100_030), (50, 100_050), (90, 40_000))
    fetcher = fetching(now=now)
    web.on("/", Send(whole()))
    (record,) = (await fetcher.exchange(ask(web.url("/")))).requests
    assert (record.sent_at, record.head_at, record.ended_at) == (100_000, 100_090, 100_090)


@pytest.mark.parametrize("path", ["/a|b", "/{x}?q=[1]|'2'", "/%zz?%", "//double//", "/a;b=c,d@e:f"])
async def test_the_target_goes_out_as_the_url_has_it(web: HostileWeb, fetcher: HttpFetcher, path: str) -> None:
    request = ask(web.url(path))
    web.answer(request.url.target, whole())
    assert (await fetcher.exchange(request)).exit_code is ExitCode.file_ingested
    assert web.requests[0].split(b" ")[1].decode() == request.url.target


@pytest.mark.parametrize(
    "answer",
    [
        whole(b"not gzip", "Content-Encoding: gzip"),
        whole(b"x", "Content-Encoding: none-of-all"),
        head("200 OK", "Content-Length: 99999999999") + b"x" * 1_000,
        head("200 OK", "Content-Length: 100") + b"cut short",
        whole(b"x" * 300_000),
    ],
    ids=["bad coding", "unknown coding", "too large", "short", "long"],
)
async def test_of_a_check_the_status_decides_whatever_its_body_is(
    web: HostileWeb, fetcher: HttpFetcher, answer: bytes
) -> None:
    web.on("/", Send(answer), Close())
    exchange = await fetcher.exchange(replace(ask(web.url("/")), status_only=True))
    assert (exchange.exit_code, exchange.http_status, exchange.body) == (ExitCode.file_ingested, 200, b"")
    assert exchange.cut == ()
    assert exchange.wire_bytes <= SHORT.drain_bytes + 64 * 1024, "what is left of it is not read"


async def test_a_head_request_reads_no_body(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(head("200 OK", "Content-Length: 1000000000000")))
    for _ in range(2):
        exchange = await fetcher.exchange(replace(ask(web.url("/")), method="HEAD"))
        assert exchange.exit_code is ExitCode.file_ingested
        assert exchange.body == b""
    assert web.requests[0].startswith(b"HEAD / ")
    assert web.connections == 1


@pytest.mark.parametrize(
    ("location", "target", "fragment"),
    [
        ("/next?x=1#part", "{here}/next?x=1", "part"),
        ("next", "{here}/folder/next", ""),
        ("//other.example/", "http://other.example/", ""),
        ("http://10.0.0.1/admin", "http://10.0.0.1/admin", ""),
        ("http://169.254.169.254/latest/", "http://169.254.169.254/latest/", ""),
        ("https://Other.Example:443/a b", "https://other.example/a%20b", ""),
        ("/caf\xc3\xa9", "{here}/caf%C3%A9", ""),
        ("/caf\xe9", "{here}/caf%E9", ""),
    ],
)
async def test_a_redirect_is_recorded_and_not_followed(
    web: HostileWeb, fetcher: HttpFetcher, location: str, target: str, fragment: str
) -> None:
    web.answer("/folder/page", whole(b"", f"Location: {location}", status="302 Found"))
    exchange = await fetcher.exchange(ask(web.url("/folder/page")))
    assert exchange.location is not None
    assert exchange.location.href == target.format(here=web.origin)
    assert exchange.location.fragment == fragment
    assert len(web.requests) == len(exchange.requests) == 1


async def test_a_location_means_nothing_on_a_200(served: Served) -> None:
    exchange = await served(whole(b"x", "Location: http://[/"))
    assert (exchange.exit_code, exchange.location) == (ExitCode.file_ingested, None)


@pytest.mark.parametrize("location", ["http://me:secret@h/x", "//me:secret@h", "https:me:secret@h:99999/"])
async def test_no_password_of_a_location_is_kept(served: Served, location: str) -> None:
    exchange = await served(whole(b"", f"Location: {location}", status="302 Found"))
    assert exchange.exit_code is ExitCode.did_not_understand_answer
    assert "•••@h" in exchange.message
    assert "secret" not in repr(exchange)


async def test_a_message_holds_no_control_characters(served: Served) -> None:
    exchange = await served(b"HTTP/1.1 \x1b]0;owned\x07 \x9b31m OK\r\nX: x\r\n\r\n")
    assert exchange.exit_code is ExitCode.did_not_understand_answer
    assert exchange.message
    assert exchange.message.isprintable()
    assert exchange.requests[0].error == exchange.message


@pytest.mark.parametrize(
    ("fields", "wait"),
    [
        (("Retry-After: 120",), 120_000),
        (("Retry-After: " + formatdate(1_000 + 60, usegmt=True), "Date: " + formatdate(1_000, usegmt=True)), 60_000),
        (("Retry-After: " + formatdate(5_060, usegmt=True),), 60_000),
        (("Retry-After: soon",), None),
        ((), None),
    ],
)
async def test_retry_after_is_a_wait(web: HostileWeb, fields: tuple[str, ...], wait: int | None) -> None:
    guard = AddressGuard(allow_private=True)
    fetcher = fetching(guard=guard, now=frozen((0, 5_000_000)))
    web.answer("/", whole(b"", *fields, status="503 Busy"))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert (exchange.exit_code, exchange.retry_after_ms) == (ExitCode.server_internal_error, wait)


_SENT = re.compile(rb"(GET|HEAD) [!-~]+ HTTP/1\.1\r\n([!#-'*+.^_`|~0-9A-Za-z-]+: [\t -~\x80-\xff]+\r\n)+\r\n")


@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"*", b'"a\r\n b"', b"x" * 9_000]), min_size=6, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_nothing_that_a_server_says_makes_the_next_request_illegal(
    web: HostileWeb, fetcher: HttpFetcher, values: list[bytes]
) -> None:
    path = f"/{len(web.requests)}"
    names = (b"ETag", b"Last-Modified", b"Location", b"Refresh", b"Retry-After", b"Set-Cookie")
    fields = b"".join(b"%s: %s\r\n" % pair for pair in zip(names, values, strict=True))
    web.answer(path, b"HTTP/1.1 301 Moved\r\n" + fields + b"Connection: close\r\n\r\n")
    first = await fetcher.exchange(ask(web.url(path)))
    etag, modified = validator_of(first.header("etag")), validator_of(first.header("last-modified"))
    page = TodoPage(1, 1, web.url(path), etag=etag, last_modified=modified, last_contentful_at=1, body_kept=True)
    unchecked = replace(page, etag=first.header("etag"), last_modified=first.header("last-modified"))
    condition = condition_of(page, forced=False)
    assert condition == condition_of(unchecked, forced=False)
    count = len(web.requests)
    asked_again = await fetcher.exchange(again(web.url(path), *condition))
    assert len(web.requests) == count + 1, asked_again
    if first.location is not None and first.location.origin == web.origin:
        await fetcher.exchange(replace(ask(web.origin), url=first.location))
        assert len(web.requests) == count + 2
    for request in web.requests[count:]:
        assert _SENT.fullmatch(request), request


async def test_cookies_are_neither_kept_nor_sent(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(whole(b"x", "Set-Cookie: id=1; Path=/")))
    for _ in range(2):
        await fetcher.exchange(ask(web.url("/")))
    assert len(web.requests) == 2
    assert all("cookie" not in dict(web.fields(number)) for number in range(2))


async def test_the_environment_is_ignored(
    web: HostileWeb, fetcher: HttpFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with HostileWeb() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.origin)
        monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
        client = fetching(ssl_context=None)
        web.answer("/", whole())
        exchange = await client.exchange(ask(web.url("/")))
        await client.close()
        assert exchange.exit_code is ExitCode.file_ingested
        assert proxy.connections == 0


async def test_a_connection_is_kept_for_the_next_request(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(whole()))
    web.on("/gone", Send(whole(b"not here", status="404 Not Found")))
    for path in ("/", "/gone", "/"):
        await fetcher.exchange(ask(web.url(path)))
    assert web.connections == 1
    await fetcher.forget(web.origin)
    await fetcher.exchange(ask(web.url("/")))
    assert web.connections == 2


async def test_a_kept_connection_that_was_closed_meanwhile_costs_nothing(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(whole()), Close())
    for _ in range(3):
        exchange = await fetcher.exchange(ask(web.url("/")))
        assert exchange.exit_code is ExitCode.file_ingested


@pytest.mark.parametrize("status", ["404 Not Found", "302 Found", "500 Broken", "204 Fine"])
async def test_an_unwanted_body_cannot_hold_the_exchange_up(web: HostileWeb, held_time: HeldTime, status: str) -> None:
    fetcher = fetching(now=held_time.now)
    drained = Pass(held_time, SHORT.drain_timeout_ms / 1000)
    web.on("/", Send(head(status, "Location: /x", "Content-Length: 100")), drained, Wait(asyncio.Event()))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.http_status == int(status[:3])
    assert exchange.exit_code is not ExitCode.error_reading_response
    assert exchange.response_ms <= SHORT.drain_timeout_ms


async def test_a_large_unwanted_body_is_left(web: HostileWeb, fetcher: HttpFetcher) -> None:
    hung_up = asyncio.Event()
    web.on("/", Send(head("404 No", "Connection: close") + b"x" * 200_000), AwaitHangup(hung_up))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.file_not_found
    assert exchange.wire_bytes <= SHORT.drain_bytes + 65536
    await hung_up.wait()


def _picky(href: str) -> FetchRequest:
    return replace(ask(href), any_kind=False)


async def test_a_large_body_of_a_kind_nobody_wants_is_left(web: HostileWeb, fetcher: HttpFetcher) -> None:
    hung_up = asyncio.Event()
    sent = Send(head("200 OK", "Content-Type: image/png", "Content-Length: 900000") + b"x" * 1000)
    web.on("/", sent, AwaitHangup(hung_up))
    exchange = await fetcher.exchange(_picky(web.url("/")))
    assert (exchange.exit_code, exchange.http_status, exchange.message) == (ExitCode.file_ingested, 200, "")
    assert (exchange.left_size, exchange.wire_bytes, exchange.body) == (900_000, 0, b"")
    await hung_up.wait()


async def test_a_small_one_keeps_the_connection(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(whole(b"x" * 5000, "Content-Type: image/png")))
    exchanges = [await fetcher.exchange(_picky(web.url("/"))) for _ in range(2)]
    assert [(one.left_size, one.body) for one in exchanges] == [(5000, b"")] * 2
    assert web.connections == 1


@pytest.mark.parametrize(
    ("fields", "left", "code"),
    [
        (("Content-Type: text/html",), None, ExitCode.file_ingested),
        ((), None, ExitCode.file_ingested),  # is sniffed
        (("Content-Type: */*",), None, ExitCode.file_ingested),
        (("Content-Type: application/zip",), 3, ExitCode.file_ingested),
        (("Content-Type: application/zip", "Content-Length: 99999999999"), None, ExitCode.file_too_large),
    ],
)
async def test_what_may_be_wanted_is_read(
    web: HostileWeb, fetcher: HttpFetcher, fields: tuple[str, ...], left: int | None, code: ExitCode
) -> None:
    told = any(field.startswith("Content-Length") for field in fields)
    web.answer("/", head("200 OK", *fields) if told else whole(b"abc", *fields))
    exchange = await fetcher.exchange(_picky(web.url("/")))
    assert (exchange.exit_code, exchange.left_size) == (code, left)
    assert exchange.body == (b"abc" if left is None and not told else b"")


async def test_cancelling_closes_the_connection_and_leaves_no_task(web: HostileWeb, fetcher: HttpFetcher) -> None:
    hung_up = asyncio.Event()
    web.on("/", Send(head("200 OK", "Content-Length: 100") + b"some"), AwaitHangup(hung_up))
    before = asyncio.all_tasks()
    task = asyncio.create_task(fetcher.exchange(ask(web.url("/"))))
    await web.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await hung_up.wait()
    await web.stop()
    assert asyncio.all_tasks() <= before


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "GZIP", "identity", "gzip, gzip", "deflate, gzip"])
async def test_a_coded_body_comes_decoded(served: Served, coding: str) -> None:
    body = plain = b"<p>hello" * 1000
    for name in coding.lower().split(", "):
        body = {"deflate": zlib.compress, "identity": bytes}.get(name, gzip.compress)(body)
    exchange = await served(whole(body, f"Content-Encoding: {coding}"))
    assert exchange.exit_code is ExitCode.file_ingested
    assert exchange.body == plain
    assert exchange.wire_bytes == len(body)


PAGE = b"<p>hello" * 100
KEPT = (ExitCode.file_ingested, PAGE)


@pytest.mark.parametrize("kind", ["text/html", "text/plain", ""])
@pytest.mark.parametrize(
    "coding",
    ["utf-8", "none", "UTF-8", "binary", "8bit", "iso-8859-1", "text/html", "None, utf-8", "identity, x", "a, b, c, d"],
)
async def test_a_content_encoding_that_names_no_coding_is_ignored(
    web: HostileWeb, fetcher: HttpFetcher, coding: str, kind: str
) -> None:
    """docs/behaviour.md; for robots.txt, too."""
    fields = (f"Content-Type: {kind}", f"Content-Encoding: {coding}")
    web.on("/", Send(whole(PAGE, *fields)))
    robots = replace(ask(web.url("/")), max_body_bytes=512_000, truncate=True)
    for request in (ask(web.url("/")), robots):
        exchange = await fetcher.exchange(request)
        assert (exchange.exit_code, exchange.body) == KEPT
        (note,) = exchange.notes
        assert next(one for one in coding.lower().split(", ") if one != "identity") in note
        assert exchange.requests[0].error == ""
    assert web.connections == 1


@pytest.mark.parametrize("coding", ["", "identity", ",", " , identity"])
async def test_no_coding_is_nothing_to_note(served: Served, coding: str) -> None:
    exchange = await served(whole(PAGE, f"Content-Encoding: {coding}"))
    assert (exchange.exit_code, exchange.body, exchange.notes) == (*KEPT, ())


@pytest.mark.parametrize("size", [2, 7, 10_000])
@pytest.mark.parametrize("coding", ["utf-8", "gzip;q=1.0", "gzip, utf-8", "utf-8, gzip", '"gzip"', "none"])
async def test_a_coded_body_with_an_unknown_label_is_decoded(
    web: HostileWeb, fetcher: HttpFetcher, coding: str, size: int
) -> None:
    data = gzip.compress(PAGE)
    pieces = [Send(data[start : start + size]) for start in range(0, len(data), size)]
    fields = ("Content-Type: text/html", f"Content-Encoding: {coding}", f"Content-Length: {len(data)}")
    web.on("/", Send(head("200 OK", *fields)), *pieces)
    web.answer("/z", whole(zlib.compress(PAGE), "Content-Encoding: none"))
    for path in ("/", "/z"):
        exchange = await fetcher.exchange(ask(web.url(path)))
        assert (exchange.exit_code, exchange.body) == KEPT


@pytest.mark.parametrize("body", [b"", b"x", b"x^2", b"\xff\xfe<\0p\0>\0\x10\x04"])
async def test_a_short_or_wide_text_with_an_unknown_label_is_kept(served: Served, body: bytes) -> None:
    exchange = await served(whole(body, "Content-Type: text/html", "Content-Encoding: utf-16"))
    assert (exchange.exit_code, exchange.body) == (ExitCode.file_ingested, body)


async def test_what_is_no_text_is_left_as_it_is_under_an_unknown_label(web: HostileWeb, fetcher: HttpFetcher) -> None:
    for name, body in (("application/gzip", gzip.compress(PAGE)), ("image/png", b"\x89PNG\r\n\x1a\n\0\1")):
        web.answer(f"/{name}", whole(body, f"Content-Type: {name}", "Content-Encoding: binary"))
        exchange = await fetcher.exchange(ask(web.url(f"/{name}")))
        assert (exchange.exit_code, exchange.body) == (ExitCode.file_ingested, body)


@pytest.mark.parametrize("kind", ["application/octet-stream", "image/png", "text/plain", ""])
async def test_a_robots_txt_with_an_unknown_label_never_allows_by_being_unreadable(
    web: HostileWeb, fetcher: HttpFetcher, kind: str
) -> None:
    rules = b"User-agent: *\nDisallow: /\n"
    codes = []
    for number, body in enumerate((rules, gzip.compress(rules), zlib.compress(rules), b"\x0b\x0e\x80" + rules[::-1])):
        web.answer(f"/{number}", whole(body, f"Content-Type: {kind}", "Content-Encoding: x"))
        robots = replace(ask(web.url(f"/{number}")), max_body_bytes=512_000, truncate=True, as_text=True)
        exchange = await fetcher.exchange(robots)
        codes.append((exchange.exit_code, exchange.body))
    assert codes == [(ExitCode.file_ingested, rules)] * 3 + [(ExitCode.did_not_understand_answer, b"")]


@pytest.mark.parametrize("ending", ["close", "reset", "stall"])
@pytest.mark.parametrize("framing", ["Content-Length: 9000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, gzip", "utf-8"])
async def test_a_body_that_is_complete_by_its_coding_is_whole(
    web: HostileWeb, held_time: HeldTime, coding: str, framing: str, ending: str
) -> None:
    """docs/behaviour.md: whatever the framing says, and however the connection ends."""
    fetcher = fetching(now=held_time.now)
    data = PAGE
    for name in coding.split(", "):
        data = zlib.compress(data) if name == "deflate" else gzip.compress(data)
    framed = b"%x\r\n%s\r\n" % (len(data), data) if "chunked" in framing else data
    wait = Pass(held_time, SHORT.read_timeout_ms / 1000)
    last = {"close": (Close(),), "reset": (Pass(held_time, 0), Reset()), "stall": (wait, Wait(asyncio.Event()))}[ending]
    web.on("/", Send(head("200 OK", f"Content-Encoding: {coding}", framing) + framed), *last)
    web.on("/next", Send(whole(b"next")))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert (exchange.exit_code, exchange.body) == KEPT
    assert "complete" in exchange.notes[-1]
    assert exchange.response_ms == 0
    assert (await fetcher.exchange(ask(web.url("/next")))).body == b"next"


def bomb(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(megabytes)) + packer.flush()


@pytest.mark.parametrize("layers", [1, 2])
async def test_a_bomb_is_left_within_memory(web: HostileWeb, layers: int) -> None:
    limits = FetchLimits(max_body_bytes=1 << 20, max_wire_bytes=1 << 20)
    fetcher = fetching(limits)
    body = bomb(256) if layers == 1 else gzip.compress(bomb(256))
    web.answer("/", whole(body, "Content-Encoding: " + ", ".join(["gzip"] * layers)))
    with traced_peak() as peak:
        exchange = await fetcher.exchange(ask(web.url("/")))
        assert peak() < 8 << 20
    assert exchange.exit_code is ExitCode.file_too_large
    assert exchange.body == b""


async def test_codings_that_were_not_asked_for_are_not_even_read(web: HostileWeb, fetcher: HttpFetcher) -> None:
    for name in ("br", "zstd", "compress", "gzip, br"):
        web.on(
            f"/{name[-2:]}",
            Send(head("200 OK", f"Content-Encoding: {name}", "Connection: close")),
            Flood(b"x" * 999, 99),
        )
        exchange = await fetcher.exchange(ask(web.url(f"/{name[-2:]}")))
        assert (exchange.exit_code, exchange.wire_bytes) == (ExitCode.did_not_understand_answer, 0)
    assert dict(web.fields())["accept-encoding"] == "gzip, deflate"


async def test_robots_txt_is_cut_and_not_refused(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/robots.txt", Send(whole(b"Disallow: /x\n" * 1000)))
    request = replace(ask(web.url("/robots.txt")), max_body_bytes=130, truncate=True)
    exchange = await fetcher.exchange(request)
    assert exchange.exit_code is ExitCode.file_ingested
    assert exchange.body == b"Disallow: /x\n" * 10
    assert exchange.cut == ("body",)
    whole_one: Exchange = await fetcher.exchange(replace(request, max_body_bytes=13_000))
    assert (len(whole_one.body), whole_one.cut) == (13_000, ())


ODD = {
    "a space in the name": b"Access-Control-Allow Origin: *",
    "a space before the colon": b"X-Old-Proxy : yes",
    "a tab before the colon": b"X-Old-Proxy\t: yes",
    "no colon": b"X-Powered-By PHP/5.2",
    "no name": b": nothing",
    "a Latin name": b"X-Gr\xfc\xdfe: 1",
    "parentheses": b"X-Note(1): a",
    "NUL in a value": b"X: a\0b",
    "CR in a value": b"X: a\rb",
    "HTML": b"<b>Warning</b>: Cannot modify header information in /x.php on line 3",
    "a second status line": b"HTTP/1.0 500 Broken",
    "an odd line that is folded": b"X-Odd\r\n  Content-Length: 7",
    "a control sequence": b"\x1b[31m: x",
}


@pytest.mark.parametrize("ending", ["\r\n", "\n"], ids=["CRLF", "LF"])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_an_odd_header_line_is_left_out_and_counted(
    web: HostileWeb, fetcher: HttpFetcher, odd: bytes, ending: str
) -> None:
    """docs/behaviour.md."""
    end = ending.encode()
    early = b"HTTP/1.1 103 Early Hints" + end + odd + end + end
    head = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", odd, b"X-Long: one", b" two", b"Content-Length: 5")
    web.on("/", Send(early + end.join(head) + end + end + b"hello"))
    for _ in range(2):
        exchange = await fetcher.exchange(ask(web.url("/")))
        assert (exchange.exit_code, exchange.body) == (ExitCode.file_ingested, b"hello")
        assert [name for name, _ in exchange.headers] == ["Content-Type", "X-Long", "Content-Length"]
        assert exchange.header("x-long").split() == ["one", "two"]
        assert exchange.notes == ("header lines left out: 2",)
        assert exchange.requests[0].error == ""
    assert web.connections == 1


@pytest.mark.parametrize("size", [1, 7, 60])
async def test_odd_lines_are_left_out_however_they_come(web: HostileWeb, fetcher: HttpFetcher, size: int) -> None:
    answer = head("200 OK", "No colon", "Transfer-Encoding: chunked", "No: x", "Odd : y") + b"5\r\nhello\r\n0\r\n\r\n"
    web.on("/", *(Send(answer[start : start + size]) for start in range(0, len(answer), size)))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert (exchange.exit_code, exchange.body, len(exchange.headers)) == (ExitCode.file_ingested, b"hello", 2)
    assert exchange.notes == ("header lines left out: 2",)


@pytest.mark.parametrize("between", [b"\r\n", b"\n", b"\r\n\r\n"])
async def test_an_empty_line_after_an_interim_response_is_passed_over(served: Served, between: bytes) -> None:
    exchange = await served(head("100 Continue") + between + whole(b"hello", "Odd line"))
    assert (exchange.exit_code, exchange.body) == (ExitCode.file_ingested, b"hello")
    assert exchange.notes == ("header lines left out: 1",)


async def test_an_odd_line_of_a_redirect_changes_nothing(served: Served) -> None:
    exchange = await served(whole(b"", "Odd line", "Location: /next", status="301 Moved"))
    assert exchange.location is not None
    assert (exchange.exit_code, exchange.location.path) == (ExitCode.permanent_redirect, "/next")


@pytest.mark.parametrize(
    "fields",
    [
        ("Content-Length: 5", "content-length: 5"),
        ("Content-Length: 5, 5",),
        ("Content-Length: 5", "Odd line", "Content-Length:  5 "),
        ("Content-Length: 99", "Transfer-Encoding: chunked"),
        ("transfer-encoding: chunked", "content-length: 0"),
    ],
)
async def test_a_length_that_is_said_twice_or_overridden(served: Served, fields: tuple[str, ...]) -> None:
    """RFC 9110, 8.6; RFC 9112, 6.3."""
    body = b"hello" if len(fields) == 1 or "hunked" not in "".join(fields) else b"5\r\nhello\r\n0\r\n\r\n"
    exchange = await served(head("200 OK", *fields) + body)
    assert (exchange.exit_code, exchange.body) == (ExitCode.file_ingested, b"hello")


FOLDED = (
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n ;b\r\n\r\nHTTP/1.1 200 OK\r\nA: one\r\n  two\n\tthree\r\n"
    b'Transfer-Encoding: chunked\r\nETag: "x\r\n y"\r\n\r\n8\r\na\r\n b\n\tc\r\n0\r\nB: c\r\n d\r\n\r\n'
)


async def test_a_folded_line_is_one_and_a_body_is_left_as_it_is(served: Served) -> None:
    exchange = await served(FOLDED)
    assert exchange.body == b"a\r\n b\n\tc"
    assert exchange.header("a").split() == ["one", "two", "three"]
    assert exchange.header("etag") == '"x y"'


def test_folded_lines_cost_what_their_bytes_do_however_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """llhttp copies what came before at each fold that it sees: none reaches it, and each byte does at most once."""
    seen: list[bytes] = []

    class Counting(httptools.HttpResponseParser):
        def feed_data(self, data: bytes | memoryview) -> None:
            seen.append(bytes(data))
            super().feed_data(data)

    async def answered(data: bytes, size: int) -> tuple[list[tuple[bytes, bytes]], bytes]:
        seen.clear()
        connection = Http1Connection("127.0.0.1", SHORT, frozen((0, 0)))
        connection.connection_made(Mock(asyncio.Transport))
        asked = asyncio.ensure_future(connection.ask(b"", ConnectionLog(), head_only=False))
        await asyncio.sleep(0)
        for start in range(0, len(data), size):
            connection.data_received(data[start : start + size])
        await asked
        body = b"".join([piece async for piece in connection.chunks()])
        connection.abort()
        return connection.headers, body

    monkeypatch.setattr(httptools, "HttpResponseParser", Counting)
    monkeypatch.setattr(connection_log, "silent_ms", lambda stream: 0)
    at_once = asyncio.run(answered(FOLDED, len(FOLDED)))
    for size in range(1, len(FOLDED)):
        assert asyncio.run(answered(FOLDED, size)) == at_once
    many = b"HTTP/1.1 200 OK\r\nA: b\r\n" + b" c\r\n" * 15_000 + b"Content-Length: 0\r\n\r\n"
    for size in (1, 2, 3, 1_460, len(many)):
        headers, _ = asyncio.run(answered(many, size))
        assert headers[0] == (b"A", b"b" + b" c" * 15_000)
        assert len(seen) <= len(many) // size + 2
        assert not any(re.search(rb"\n[ \t]", piece) for piece in seen)
        assert sum(map(len, seen)) == len(many) - 2 * 15_000
