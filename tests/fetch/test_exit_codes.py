"""Every exit code that fetching can give, over a real loopback connection and raw bytes (docs/behaviour.md)."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from dataclasses import replace
from typing import Any

import pytest
import zstandard

from tests.fetch.asking import SHORT, Served, again, ask, fetching, head, whole
from tests.support.held_time import HeldTime
from tests.support.hostile_web import Close, Drip, Flood, HostileWeb, Pass, Reset, Send, Wait
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.address_guard import AddressGuard
from tui_crawler.fetch.client import HttpFetcher

HERE = "Location: /elsewhere"
ZSTD = zstandard.ZstdCompressor().compress(b"User-agent: *\nDisallow: /\n")
BROTLI = bytes.fromhex("0b0d80557365722d6167656e743a202a0a446973616c6c6f773a202f0a03")  # the same


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (whole(), ExitCode.file_ingested),
        (whole(b""), ExitCode.file_ingested),
        (head("204 No Content"), ExitCode.file_of_unknown_type),
        *(
            (whole(b"", *fields, status=f"{status} Odd"), code)
            for code, fields, statuses in (
                (ExitCode.file_ingested, (), (201, 203)),
                (ExitCode.file_of_unknown_type, (), (205, 300)),
                (ExitCode.permanent_redirect, (HERE,), (301, 308)),
                (ExitCode.redirect, (HERE,), (300, 302, 303, 307)),
                (ExitCode.server_blamed_client, (), (400, 401, 451)),
                (ExitCode.file_not_found, (), (404,)),
                (ExitCode.request_timeout, (), (408,)),
                (ExitCode.file_gone, (), (410,)),
                (ExitCode.rate_limited, (), (429,)),
                (ExitCode.server_internal_error, (), (500, 503, 599)),
            )
            for status in statuses
        ),
    ],
)
async def test_a_status_has_its_code(served: Served, answer: bytes, code: ExitCode) -> None:
    exchange = await served(answer)
    assert exchange.exit_code is code
    assert exchange.http_status == int(answer[9:12])
    assert [record.http_status for record in exchange.requests] == [exchange.http_status]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("a status over 599", whole(b"", status="999 Go Away")),
        ("a status of 600", whole(b"", status="600 Odd")),
        ("a status below 100", whole(b"", status="099 Odd")),
        ("switching protocols", head("101 Switching", "Upgrade: x", "Connection: upgrade")),
        ("206 without a range", whole(b"part", status="206 Partial")),
        ("304 without a condition", head("304 Not Modified")),
        ("305", whole(b"", HERE, status="305 Use Proxy")),
        ("306", whole(b"", HERE, status="306 Odd")),
        ("301 without Location", whole(b"", status="301 Moved")),
        ("302 with an empty Location", whole(b"", "Location:  ", status="302 Found")),
        ("302 with an illegal Location", whole(b"", "Location: http://[::1/", status="302 Found")),
        ("302 to a port that is none", whole(b"", "Location: http://a:99999/", status="302 Found")),
        ("302 to a file", whole(b"", "Location: file:///etc/passwd", status="302 Found")),
        ("302 to data", whole(b"", "Location: data:text/html,hi", status="302 Found")),
        ("300 with an illegal Location", whole(b"", "Location: http://[/", status="300 Many")),
        ("HTTP/0.9 text", b"<html>no head at all</html>"),
        ("another protocol", b"SSH-2.0-OpenSSH_9.6\r\n"),
        ("a status that is no number", b"HTTP/1.1 OK\r\n\r\n"),
        ("a version that is none", b"HTTP/9 200 OK\r\n\r\n"),
        ("a version that does not exist", b"HTTP/5.6 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ("NUL in the status line", b"HTTP/1.1 200 O\x00K\r\nContent-Length: 0\r\n\r\n"),
        ("a space behind a length's name", head("200 OK", "Content-Length : 5") + b"hello"),
        ("a space behind a framing's name", head("200 OK", "Transfer-Encoding : chunked") + b"0\r\n\r\n"),
        ("a length without a colon", head("200 OK", "Content-Length 5") + b"hello"),
        ("a length behind NUL", head("200 OK", "\0Content-Length: 5") + b"hello"),
        ("a length behind CR", head("200 OK", "X: a\rcontent-length: 5") + b"hello"),
        ("a length that is folded", head("200 OK", "Content-Length: 1", " 0") + b"hello"),
        ("a length with NUL", head("200 OK", "Content-Length: 5\0") + b"hello"),
        ("an empty length", head("200 OK", "Content-Length:") + b"hello"),
        ("two lengths in one", head("200 OK", "Content-Length: 5, 6") + b"hello"),
        ("two lengths", head("200 OK", "Content-Length: 3", "Content-Length: 5") + b"hello"),
        ("a length that is no number", head("200 OK", "Content-Length: many") + b"hello"),
        ("a negative length", head("200 OK", "Content-Length: -1") + b"hello"),
        ("an unknown transfer coding", head("200 OK", "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n"),
        ("an illegal chunk header", head("200 OK", "Transfer-Encoding: chunked") + b"zz\r\nhello\r\n0\r\n\r\n"),
        ("a chunk that is too long", head("200 OK", "Transfer-Encoding: chunked") + b"2\r\nhello\r\n0\r\n\r\n"),
        ("an unknown coding", whole(b"x", "Content-Encoding: br")),
        ("zstd with another label", whole(ZSTD, "Content-Encoding: none", "Content-Type: text/html")),
        ("what is no text with an unknown label", whole(BROTLI, "Content-Encoding: br2", "Content-Type: text/plain")),
        ("text that calls itself gzip", whole(b"hello", "Content-Encoding: gzip")),
        ("deflate that is none", whole(b"\xff\xff\xff\xff", "Content-Encoding: deflate")),
        ("three codings", whole(b"x", "Content-Encoding: gzip, gzip, gzip")),
        ("a head that ends in the middle", b"HTTP/1.1 200 OK\r\nContent-Ty"),
    ],
)
async def test_what_cannot_be_understood_is_42(served: Served, name: str, answer: bytes) -> None:
    exchange = await served(answer)
    assert exchange.exit_code is ExitCode.did_not_understand_answer, name
    assert exchange.message, name
    assert exchange.location is None, name
    assert exchange.body == b"", name
    assert len(exchange.requests) == 1, name


@pytest.mark.parametrize(
    ("condition", "answer", "code"),
    [
        (('"a"', ""), head("304 Not Modified", 'ETag: "a"'), ExitCode.file_did_not_change),
        (("", "Mon, 02 Jun 2025 10:00:00 GMT"), head("304 Not Modified"), ExitCode.file_did_not_change),
        (('"a"', ""), whole(b"same", 'ETag: "a"'), ExitCode.file_did_not_change),
        (('"a"', ""), whole(b"same", 'ETag: W/"a"'), ExitCode.file_did_not_change),
        (('W/"a"', ""), whole(b"same", 'ETag: "a"'), ExitCode.file_did_not_change),
        (('"a"', ""), whole(b"new", 'ETag: "b"'), ExitCode.file_ingested),
        (('"a"', ""), whole(b"new"), ExitCode.file_ingested),
        (("", "Mon, 02 Jun 2025 10:00:00 GMT"), whole(b"new", 'ETag: "a"'), ExitCode.file_ingested),
    ],
)
async def test_a_conditional_request(
    web: HostileWeb, fetcher: HttpFetcher, condition: tuple[str, str], answer: bytes, code: ExitCode
) -> None:
    web.answer("/", answer)
    exchange = await fetcher.exchange(again(web.url("/"), *condition))
    assert exchange.exit_code is code
    sent = dict(web.fields())
    assert (sent.get("if-none-match", ""), sent.get("if-modified-since", "")) == condition
    assert exchange.requests[0].conditional


async def test_an_equal_etag_means_nothing_without_a_condition(served: Served) -> None:
    exchange = await served(whole(b"x", 'ETag: ""'))
    assert exchange.exit_code is ExitCode.file_ingested
    assert not exchange.requests[0].conditional


@pytest.mark.parametrize(
    "answer",
    [
        head("200 OK", "Content-Length: 100") + b"short",
        head("200 OK", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n",
        head("200 OK", "Transfer-Encoding: chunked") + b"5\r\nhel",
        whole(zlib.compress(b"hello" * 100)[:-6], "Content-Encoding: deflate"),
    ],
)
async def test_a_body_that_ends_too_soon_is_102(served: Served, answer: bytes) -> None:
    exchange = await served(answer)
    assert exchange.exit_code is ExitCode.error_reading_response
    assert exchange.http_status == 200
    assert exchange.body == b""
    assert len(exchange.requests) == 1


@pytest.mark.parametrize("cut", [1, 4, 8, 12, 40])
@pytest.mark.parametrize("coding", ["gzip", "deflate", "x"])
async def test_a_coded_body_that_lacks_its_end_is_102(
    web: HostileWeb, fetcher: HttpFetcher, cut: int, coding: str
) -> None:
    """Also where the length was meant for what it is decoded to, and is too short."""
    packed = (zlib.compress if coding == "deflate" else gzip.compress)(bytes(range(256)) * 9)
    fields = ("Content-Type: text/html", f"Content-Encoding: {coding}")
    web.answer("/long", head("200 OK", *fields, f"Content-Length: {len(packed)}") + packed[:-cut])
    web.answer("/short", head("200 OK", *fields, f"Content-Length: {len(packed) - cut}") + packed)
    for path in ("/long", "/short"):
        exchange = await fetcher.exchange(ask(web.url(path)))
        assert (exchange.exit_code, exchange.body) == (ExitCode.error_reading_response, b"")
        assert exchange.message


async def test_a_reset_in_the_body_is_102(web: HostileWeb, fetcher: HttpFetcher, held_time: HeldTime) -> None:
    web.on("/", Send(head("200 OK", "Content-Length: 100") + b"some"), Pass(held_time, 1), Reset())
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.error_reading_response
    assert len(exchange.requests) == 1


async def test_refused_is_100_after_one_fluke_retry(fetcher: HttpFetcher) -> None:
    async with HostileWeb() as gone:
        url = gone.url("/")
    exchange = await fetcher.exchange(ask(url))
    assert exchange.exit_code is ExitCode.connection_failed
    assert [record.fluke_retry for record in exchange.requests] == [False, True]
    assert all(record.error for record in exchange.requests)
    assert "refused" in exchange.message.lower()


@pytest.mark.parametrize("ending", [Reset(), Close()])
async def test_closed_before_any_byte_is_tried_once_more(
    web: HostileWeb, fetcher: HttpFetcher, ending: Reset | Close
) -> None:
    web.on_accept(ending)
    web.on("/", Send(whole(b"<p>at last")))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.file_ingested
    assert [record.fluke_retry for record in exchange.requests] == [False, True]
    assert [record.http_status for record in exchange.requests] == [None, 200]
    assert exchange.requests[0].error
    assert exchange.requests[1].error == ""


async def test_closed_after_the_request_is_tried_once_more_and_then_100(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Close())
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.connection_failed
    assert len(web.requests) == len(exchange.requests) == 2


async def test_the_fluke_retry_can_be_switched_off(web: HostileWeb) -> None:
    fetcher = fetching(fluke_retry=False)
    web.on("/", Close())
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.connection_failed
    assert len(web.requests) == len(exchange.requests) == 1


async def test_a_name_without_an_address_is_100() -> None:
    async def nothing(host: str, port: int) -> tuple[str, ...]:
        raise OSError("Name or service not known")

    fetcher = fetching(guard=AddressGuard(), resolve=nothing)
    exchange = await fetcher.exchange(ask("http://nowhere.example/"))
    assert exchange.exit_code is ExitCode.connection_failed
    assert "Name or service not known" in exchange.message
    assert len(exchange.requests) == 2
    assert await fetcher.address("nowhere.example") is None


async def test_plain_text_where_tls_is_expected_is_100(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on_accept(Send(b"this is not TLS at all\r\n"), Close())
    web.on_accept(Send(b"this is not TLS at all\r\n"), Close())
    exchange = await fetcher.exchange(ask(web.url("/").replace("http:", "https:")))
    assert exchange.exit_code is ExitCode.connection_failed
    assert len(exchange.requests) == 2


@pytest.mark.parametrize(
    ("limit", "begun", "code"),
    [
        ("read_timeout_ms", b"", ExitCode.request_timeout),
        ("read_timeout_ms", b"HTTP/1.1 200", ExitCode.request_timeout),
        ("read_timeout_ms", head("200 OK", "Content-Length: 9"), ExitCode.error_reading_response),
        ("total_timeout_ms", b"HTTP/1.1 200", ExitCode.request_timeout),
        ("total_timeout_ms", head("200 OK", "Content-Length: 9"), ExitCode.error_reading_response),
    ],
)
async def test_a_stall_is_101_before_the_head_and_102_after_it(
    web: HostileWeb, held_time: HeldTime, limit: str, begun: bytes, code: ExitCode
) -> None:
    fetcher = fetching(replace(SHORT, **{limit: 10_000}))
    web.on("/", Send(begun), Pass(held_time, 10), Wait(asyncio.Event()))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is code
    assert len(exchange.requests) == 1
    assert (exchange.requests[0].head_at is None) == (code is ExitCode.request_timeout)


async def test_a_name_server_that_does_not_answer_is_101(held_time: HeldTime) -> None:
    async def never(host: str, port: int) -> tuple[str, ...]:
        await held_time.let_pass(SHORT.connect_timeout_ms / 1000)
        await asyncio.Event().wait()
        return ()

    fetcher = fetching(SHORT, AddressGuard(), resolve=never)
    exchange = await fetcher.exchange(ask("http://slow.example/"))
    assert exchange.exit_code is ExitCode.request_timeout
    assert await fetcher.address("slow.example") is None


@pytest.mark.parametrize(
    ("begun", "piece", "code"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"H", ExitCode.request_timeout),
        (head("200 OK", "Content-Length: 100000"), b"x", ExitCode.error_reading_response),
        (head("200 OK", "Transfer-Encoding: chunked"), b"1\r\nx\r\n", ExitCode.error_reading_response),
        (head("100 Continue"), head("100 Continue"), ExitCode.request_timeout),
    ],
)
async def test_a_dripping_server_meets_the_whole_exchange_deadline(
    web: HostileWeb, held_time: HeldTime, begun: bytes, piece: bytes, code: ExitCode
) -> None:
    fetcher = fetching(now=held_time.now)
    web.on("/", Send(begun), Drip(piece, held_time, pause_s=SHORT.read_timeout_ms / 1000 - 1))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is code
    assert SHORT.total_timeout_ms <= exchange.response_ms < SHORT.total_timeout_ms + SHORT.read_timeout_ms


@pytest.mark.parametrize("framing", ["Connection: close", "Transfer-Encoding: chunked", "Content-Length: 5000"])
async def test_more_than_the_bound_is_220(web: HostileWeb, framing: str) -> None:
    fetcher = fetching(replace(SHORT, max_body_bytes=1000))
    piece = b"3e8\r\n" + b"x" * 1000 + b"\r\n" if "chunked" in framing else b"x" * 1000
    web.on("/", Send(head("200 OK", framing)), Flood(piece, 5), Close())
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.file_too_large
    assert exchange.body == b""
    assert exchange.wire_bytes <= 5 * len(piece)
    assert "1000" in exchange.message


async def test_more_on_the_wire_than_the_bound_is_220(web: HostileWeb) -> None:
    fetcher = fetching(replace(SHORT, max_wire_bytes=1000))
    data = zlib.compress(b"", 0) + b"x" * 2000
    web.on("/", Send(head("200 OK", "Content-Encoding: deflate", "Connection: close") + data), Close())
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.file_too_large
    web.on("/", Send(whole(data, "Content-Encoding: deflate")))
    announced = await fetcher.exchange(ask(web.url("/")))
    assert (announced.exit_code, announced.wire_bytes) == (ExitCode.file_too_large, 0)


PADDED = b"1;" + b"x" * 60_000 + b"\r\na\r\n"  # one byte of a body
WIRE = 100_000
FRAMED = WIRE + WIRE // 8 + 64 * 1024 + 2 * 65_536 + 256 * 1024  # with what is read ahead


async def test_what_frames_a_body_is_counted_too(web: HostileWeb) -> None:
    fetcher = fetching(replace(SHORT, max_wire_bytes=WIRE))
    web.on("/", Send(head("200 OK", "Transfer-Encoding: chunked")), Flood(PADDED, 12_000), Send(b"0\r\n\r\n"))
    exchange = await fetcher.exchange(ask(web.url("/")))
    robots = await fetcher.exchange(replace(ask(web.url("/")), max_body_bytes=512_000, truncate=True))
    assert exchange.exit_code is robots.exit_code is ExitCode.file_too_large
    assert WIRE < exchange.wire_bytes <= FRAMED
    assert "frames the body" in exchange.message


@pytest.mark.parametrize("status", ["301 Moved", "404 Not Found", "503 Busy"])
async def test_what_frames_a_body_that_is_not_wanted_is_counted_too(web: HostileWeb, status: str) -> None:
    fetcher = fetching(replace(SHORT, drain_bytes=WIRE))
    web.on("/", Send(head(status, "Transfer-Encoding: chunked", "Location: /x")), Flood(PADDED, 12_000))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.http_status == int(status[:3])
    assert WIRE < exchange.wire_bytes <= FRAMED


async def test_a_page_in_many_small_chunks_is_taken(served: Served) -> None:
    exchange = await served(
        head("200 OK", "Transfer-Encoding: chunked") + b"1\r\na\r\n" * 12_000 + b"0\r\nX: y\r\n\r\n"
    )
    assert (exchange.exit_code, exchange.body) == (ExitCode.file_ingested, b"a" * 12_000)
    assert exchange.wire_bytes == 12_000 * 6 + 3 + 6 + 2


@pytest.mark.parametrize(
    "piece",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000,
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1_000,
        b"HTTP/1.1 102 \nA: b\n c\n\n" * 1_000,
        b"\r\n" * 30_000,
        b" " * 60_000,
        b"HTTP/1.1 200 OK\r\nA: b\r\n" + b" c\r\n" * 15_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 60_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: b\r\n" * 10_000,
    ],
    ids=["100", "103", "102 folded", "empty lines", "spaces", "folded", "zeros", "trailers"],
)
async def test_a_flood_before_or_after_an_answer_is_42(web: HostileWeb, fetcher: HttpFetcher, piece: bytes) -> None:
    more = piece.rpartition(b"\r\n\r\n")[2] or piece
    web.on("/", Send(piece), Flood(more, 100_000_000 // len(more)))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.did_not_understand_answer
    assert exchange.wire_bytes <= FRAMED
    assert exchange.requests[0].response_headers == () or exchange.http_status == 200


async def test_folded_lines_count_as_they_came(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.answer("/", whole(b"x", "A: b", *[" "] * 23_000))  # 69 KB, which are 23 KB when they are joined
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.did_not_understand_answer
    assert "header block" in exchange.message


async def test_exactly_the_bound_is_not_too_large(web: HostileWeb) -> None:
    fetcher = fetching(replace(SHORT, max_body_bytes=1000))
    web.answer("/", whole(b"x" * 1000))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.file_ingested
    assert len(exchange.body) == 1000


async def test_a_body_without_end_is_left(web: HostileWeb, fetcher: HttpFetcher) -> None:
    web.on("/", Send(head("200 OK", "Connection: close")), Flood(b"x" * 65536, 10**9))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.file_too_large
    assert exchange.wire_bytes <= SHORT.max_body_bytes + 2 * 65536


@pytest.mark.parametrize("piece", [b"x" * 65536, b"Name: value\r\n" * 5000])
async def test_a_header_of_100_megabytes_is_42(web: HostileWeb, fetcher: HttpFetcher, piece: bytes) -> None:
    web.on("/", Send(b"HTTP/1.1 200 OK\r\nX: "), Flood(piece, 100_000_000 // len(piece)))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.did_not_understand_answer
    assert sum(len(name) + len(value) for name, value in exchange.headers) <= SHORT.max_header_bytes


async def test_a_header_block_over_the_bound_is_42_and_cut(served: Served) -> None:
    exchange = await served(whole(b"x", *(f"X-{number}: {'y' * 1000}" for number in range(70))))
    assert exchange.exit_code is ExitCode.did_not_understand_answer
    assert exchange.cut == ("headers",)
    assert 0 < len(exchange.headers) < 70


@pytest.mark.parametrize(
    "href",
    ["http://a..b/", f"http://{'a' * 64}.example/", f"http://{'.'.join(['abcdefgh'] * 29)}.example/"],
)
async def test_what_cannot_be_requested_is_221(fetcher: HttpFetcher, href: str) -> None:
    exchange = await fetcher.exchange(ask(href))
    assert exchange.exit_code is ExitCode.invalid_url
    assert exchange.requests == ()
    assert exchange.message


@pytest.mark.parametrize(
    "change", [{"host": "other.example"}, {"port": 81}, {"path": "/other"}, {"query": "x"}, {"path": "/\xe9"}]
)
async def test_what_the_client_would_parse_differently_is_221(fetcher: HttpFetcher, change: dict[str, Any]) -> None:
    request = ask("http://site.example/page")
    exchange = await fetcher.exchange(replace(request, url=replace(request.url, **change)))
    assert exchange.exit_code is ExitCode.invalid_url
    assert exchange.requests == ()
    assert "the client would" in exchange.message


async def test_an_address_that_is_not_allowed_is_222(web: HostileWeb) -> None:
    fetcher = fetching(guard=AddressGuard(allow_private="auto"))
    exchange = await fetcher.exchange(ask(web.url("/")))
    assert exchange.exit_code is ExitCode.blocked_address
    assert exchange.requests == ()
    assert web.connections == 0


@pytest.mark.parametrize("agent", ["one\r\nX-Two: 2", "one\x01", "one\x7f"])
async def test_a_user_agent_that_cannot_be_sent_is_230(web: HostileWeb, fetcher: HttpFetcher, agent: str) -> None:
    exchange = await fetcher.exchange(replace(ask(web.url("/")), user_agent=agent))
    assert exchange.exit_code is ExitCode.local_processing_error
    assert web.requests == []
