"""What a recorder is given: every answer as it was on the wire, over both wires."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest

from tests.fetch.asking import SHORT, again, ask, fetching, head, whole
from tests.support.held_time import HeldTime
from tests.support.hostile_web import Close, HostileWeb, Pass, Send
from tui_crawler.domain.records.attempt import Reading, RequestRecord
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.client import HttpFetcher
from tui_crawler.fetch.headers import RawHeaders


@dataclass
class Kept:
    answers: list[tuple[RequestRecord, str, list[tuple[bytes, bytes]], bytes, str]] = field(default_factory=list)
    readings: list[tuple[RequestRecord, Reading]] = field(default_factory=list)
    closed: bool = False

    async def record(
        self, request: RequestRecord, status_line: str, headers: RawHeaders, payload: bytes, cut: str
    ) -> None:
        self.answers.append((request, status_line, list(headers), payload, cut))

    async def describe(self, request: RequestRecord, reading: Reading) -> None:
        self.readings.append((request, reading))

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
async def recording(kept: Kept, held_time: HeldTime, wire: None) -> AsyncIterator[HttpFetcher]:
    client = fetching(replace(SHORT, drain_bytes=500, max_body_bytes=2_000, max_wire_bytes=2_000), recorder=kept)
    yield client
    await client.close()
    assert kept.closed


async def test_a_payload_keeps_its_content_coding(web: HostileWeb, recording: HttpFetcher, kept: Kept) -> None:
    zipped = gzip.compress(b"<p>hello")
    chunked = b"%x\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (len(zipped), zipped)
    fields = ("Content-Encoding: gzip", "Transfer-Encoding: chunked", "X-Latin: caf\xe9", "Set-Cookie: a=1")
    web.answer("/", head("200 Well Then", *fields) + chunked)
    exchange = await recording.exchange(ask(web.url("/")))
    assert exchange.body == b"<p>hello"
    ((request, line, headers, payload, cut),) = kept.answers
    assert request == exchange.requests[0]
    assert line == "HTTP/1.1 200 Well Then"
    assert headers == [tuple(one.encode("latin-1").split(b": ")) for one in fields]
    assert (payload, cut) == (zipped, "")


@pytest.mark.parametrize(
    ("status", "fields", "code"),
    [
        ("404 Nope", (), ExitCode.file_not_found),
        ("500 Oops", (), ExitCode.server_internal_error),
        ("301 Gone That Way", ("Location: http://me:word@b.example/",), ExitCode.did_not_understand_answer),
        ("200 OK", ("Content-Type: image/png",), ExitCode.file_ingested),
    ],
)
async def test_bodies_that_no_page_is_made_of(
    status: str, fields: tuple[str, ...], code: ExitCode, web: HostileWeb, recording: HttpFetcher, kept: Kept
) -> None:
    web.answer("/", whole(b"body", *fields, status=status))
    exchange = await recording.exchange(replace(ask(web.url("/")), any_kind=False))
    assert exchange.exit_code is code
    ((_, line, headers, payload, cut),) = kept.answers
    assert (line, payload, cut) == (f"HTTP/1.1 {status}", b"body", "")
    assert [(name.decode(), value.decode()) for name, value in headers][: len(fields)] == [
        tuple(one.split(": ", 1)) for one in fields
    ], "with nothing masked"


async def test_an_answer_without_a_body(web: HostileWeb, recording: HttpFetcher, kept: Kept) -> None:
    web.answer("/", head("304 Not Modified", 'ETag: "1"'))
    await recording.exchange(again(web.url("/"), '"1"'))
    ((request, line, _, payload, cut),) = kept.answers
    assert (line, payload, cut) == ("HTTP/1.1 304 Not Modified", b"", "")
    assert ("If-None-Match", '"1"') in request.request_headers


@pytest.mark.parametrize(
    ("answer", "cut"),
    [
        (head("200 OK", "Content-Length: 9") + b"half", "disconnect"),
        (whole(b"x" * 3_000), "length"),
        (head("200 OK", "Transfer-Encoding: chunked") + b"bb9\r\n" + b"x" * 3_001, "length"),
        (whole(b"x" * 600, status="404 Nope"), "length"),
        (whole(b"no gzip", "Content-Encoding: gzip"), "unspecified"),
    ],
)
async def test_why_a_payload_is_not_complete(
    answer: bytes, cut: str, web: HostileWeb, recording: HttpFetcher, kept: Kept
) -> None:
    web.on("/", Send(answer), Close())
    await recording.exchange(ask(web.url("/")))
    assert kept.answers[-1][4] == cut


async def test_a_payload_that_came_too_late(
    web: HostileWeb, recording: HttpFetcher, kept: Kept, held_time: HeldTime
) -> None:
    web.on("/", Send(head("200 OK", "Content-Length: 9") + b"half"), Pass(held_time, 100))
    await recording.exchange(ask(web.url("/")))
    assert kept.answers[-1][3:] == (b"half", "time")


async def test_a_request_without_an_answer_is_no_capture(web: HostileWeb, recording: HttpFetcher, kept: Kept) -> None:
    web.on("/", Close())
    exchange = await recording.exchange(ask(web.url("/")))
    assert len(exchange.requests) == 2
    assert kept.answers == []


async def test_what_is_read_belongs_to_its_request(web: HostileWeb, recording: HttpFetcher, kept: Kept) -> None:
    request = ask(web.url("/"))
    web.answer("/", whole(b"<title>t</title><a href=/b>", "Content-Type: text/html"))
    exchange = await recording.exchange(request)
    reading = await recording.read(request.url, exchange)
    assert kept.readings == [(exchange.requests[0], reading)]


@pytest.mark.parametrize("keeps", [True, False])
async def test_an_exchange_has_the_body_of_an_error_where_it_is_kept(keeps: bool, web: HostileWeb) -> None:
    client = fetching(SHORT, keeps_errors=keeps)
    zipped = gzip.compress(b"sorry")
    web.answer("/gone", whole(zipped, "Content-Encoding: gzip", status="404 Nope"))
    web.answer("/bad", whole(b"no gzip", "Content-Encoding: gzip", status="500 Oops"))
    web.answer("/long", whole(b"x" * (SHORT.drain_bytes + 1), status="404 Nope"))
    bodies = [(await client.exchange(ask(web.url(path)))).body for path in ("/gone", "/bad", "/long")]
    assert bodies == [b"sorry" if keeps else b"", b"", b""]
