"""HEAD: no body is expected, and what a server sends all the same is nobody's answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fetch.asking import ask, head, whole
from tests.support.hostile_web import Close, HostileWeb, Send
from tui_crawler.domain.records.attempt import FetchRequest
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.client import HttpFetcher

FORGED = whole(b"forged", "Content-Type: text/html")


def probe(href: str) -> FetchRequest:
    return replace(ask(href), method="HEAD")


@pytest.mark.parametrize(
    ("status", "fields", "code"),
    [
        ("200 OK", ["Content-Length: 5000000000"], ExitCode.file_ingested),
        ("200 OK", ["Transfer-Encoding: chunked"], ExitCode.file_ingested),
        ("200 OK", ["Content-Encoding: br", "Content-Length: 9"], ExitCode.file_ingested),
        ("200 OK", [], ExitCode.file_ingested),
        ("204 No Content", [], ExitCode.file_of_unknown_type),
        ("301 Moved", ["Location: /else", "Content-Length: 3"], ExitCode.permanent_redirect),
        ("302 Found", ["Location: http://[/"], ExitCode.did_not_understand_answer),
        ("404 Not Found", ["Content-Length: 100"], ExitCode.file_not_found),
        ("405 Method Not Allowed", ["Content-Length: 100"], ExitCode.server_blamed_client),
        ("410 Gone", [], ExitCode.file_gone),
        ("429 Too Many Requests", ["Retry-After: 7"], ExitCode.rate_limited),
        ("503 Service Unavailable", ["Content-Length: 100"], ExitCode.server_internal_error),
    ],
)
async def test_the_status_decides(
    web: HostileWeb, fetcher: HttpFetcher, status: str, fields: list[str], code: ExitCode
) -> None:
    web.on("/", Send(head(status, *fields)))
    exchange = await fetcher.exchange(probe(web.url("/")))
    assert (exchange.exit_code, exchange.body, exchange.wire_bytes, len(exchange.requests)) == (code, b"", 0, 1)
    assert web.requests[0].startswith(b"HEAD / HTTP/1.1\r\n")
    assert exchange.requests[0].method == "HEAD"


async def test_what_a_head_tells_is_kept(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(head("200 OK", "Content-Type: text/html", "Content-Length: 7", 'ETag: "v1"')))
    exchange = await fetcher.exchange(probe(web.url("/")))
    assert (exchange.header("content-length"), exchange.header("etag")) == ("7", '"v1"')
    reading = await fetcher.read(probe(web.url("/")).url, exchange)
    assert (reading.kind, reading.exit_code, reading.links, reading.validation) == (
        "html",
        ExitCode.file_ingested,
        (),
        None,
    )


@pytest.mark.parametrize(
    "body",
    [
        whole(b"<p>a whole page", "Content-Type: text/html").partition(b"\r\n\r\n")[2],
        FORGED,
        b"3\r\nabc\r\n0\r\n\r\n",
        b"\r\n" + FORGED,
        b"x" * 300_000,
    ],
    ids=["page", "response", "chunks", "line and response", "much"],
)
@pytest.mark.parametrize(
    "fields", [["Content-Length: 15"], ["Transfer-Encoding: chunked"], []], ids=["length", "chunked", "none"]
)
async def test_a_body_after_head_is_never_the_next_answer(
    web: HostileWeb, fetcher: HttpFetcher, body: bytes, fields: list[str]
) -> None:
    web.on("/head", Send(head("200 OK", *fields) + body))
    web.on("/next", Send(whole(b"the next page")))
    requests = (probe(web.url("/head")), ask(web.url("/next"))) * 2
    answers = [await fetcher.exchange(request) for request in requests]
    assert [(each.exit_code, each.body) for each in answers] == [
        (ExitCode.file_ingested, b""),
        (ExitCode.file_ingested, b"the next page"),
    ] * 2


async def test_a_head_that_ends_the_connection(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(head("200 OK", "Connection: close")), Close())
    for _ in range(2):
        assert (await fetcher.exchange(probe(web.url("/")))).exit_code is ExitCode.file_ingested
    assert web.connections == 2


async def test_more_than_a_whole_answer_is_never_the_next_one(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(whole(b"hello") + FORGED))
    web.on("/chunked", Send(head("200 OK", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n" + FORGED))
    web.on("/gone", Send(whole(b"", status="404 Not Found") + FORGED))
    web.on("/next", Send(whole(b"the next page")))
    for path in ("/", "/chunked", "/gone"):
        await fetcher.exchange(ask(web.url(path)))
        assert (await fetcher.exchange(ask(web.url("/next")))).body == b"the next page"


async def test_a_connection_without_surplus_is_kept(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(whole(b"hello")))
    for request in (ask(web.url("/")), ask(web.url("/")), ask(web.url("/"))):
        await fetcher.exchange(request)
    assert web.connections == 1
