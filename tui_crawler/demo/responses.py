"""What a site responds to a request: its manner, the faults of its pages, conditional requests, codings; and both as
HTTP/1.1 on the wire (RFC 9112).

A responder counts, but makes no input or output and reads no clock, so the whole demo web can be asked in virtual time.
"""

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from enum import StrEnum
from http.client import responses
from math import ceil
from typing import assert_never
from urllib.parse import urlsplit
from zlib import crc32

from tui_crawler.demo import site as sites

HEAD_LIMIT_BYTES = 32 * 1024
_CHUNK_BYTES = 1024
_GZIP_FROM_BYTES = 600
_TOO_MANY = b"<!doctype html><title>Too many requests</title><p>Please slow down and come back shortly.</p>"


class MalformedRequest(ValueError):
    """The bytes are no HTTP/1.x request head."""


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """One request head. `target` is path and query; header names are lower case."""

    method: str
    target: str
    version: str = "HTTP/1.1"
    headers: tuple[sites.Header, ...] = ()

    def header(self, name: str) -> str | None:
        """Return the values of the header `name` (lower case) joined by a comma, None if it is absent."""
        values = [value for key, value in self.headers if key == name]
        return ", ".join(values) if values else None

    @property
    def keeps_alive(self) -> bool:
        """True if the connection may carry another request (RFC 9112, 9.3)."""
        options = {option.strip().lower() for option in (self.header("connection") or "").split(",")}
        if self.version == "HTTP/1.0":
            return "keep-alive" in options
        return "close" not in options

    @property
    def has_body(self) -> bool:
        """True if the request announces a body, which this server never reads."""
        return self.header("transfer-encoding") is not None or (self.header("content-length") or "0") != "0"


def parse_request(head: bytes) -> DemoRequest:
    """Return the request of a head that ends with an empty line; raises MalformedRequest."""
    start, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    parts = start.split(" ")
    if len(parts) != 3 or not parts[0].isalpha() or not parts[2].startswith("HTTP/1."):
        raise MalformedRequest("the request line is not: method, target, HTTP/1.x")
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise MalformedRequest("a header line is not: name, colon, value")
        headers.append((name.lower(), value.strip()))
    return DemoRequest(parts[0], _origin_form(parts[1]), parts[2], tuple(headers))


def _origin_form(target: str) -> str:
    if target.startswith("/"):
        return target
    try:
        parts = urlsplit(target)
    except ValueError as error:
        raise MalformedRequest("the target is no URL") from error
    if parts.scheme not in ("http", "https"):
        raise MalformedRequest("the target is neither a path nor an http URL")
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


class Ending(StrEnum):
    """The end of a response. Only `complete` gave the client everything it was promised."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    BROKEN_CHUNK = "broken_chunk"
    RESET = "reset"
    CLIENT_LEFT = "client_left"


@dataclass(frozen=True, slots=True)
class Reset:
    """No byte is sent, the connection is reset."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response: `wait_ms` before its head; then the connection stays open, or not; then the site may die."""

    status: int
    headers: tuple[sites.Header, ...] = ()
    body: bytes = b""
    reason: str | None = None
    wait_ms: float = 0
    chunked: bool = False
    headless_body: bool = False
    ending: Ending = Ending.COMPLETE
    keep_alive: bool = True
    dies: bool = False


class Responder:
    """Responds for one site. Knows how many requests came, and how often each page was answered."""

    def __init__(self, site: sites.Site, pace: float) -> None:
        """`pace` stretches every wait that the site makes on purpose; 1 is real time, 0 is at once."""
        self._site, self._pace = site, pace
        self._requests = 0
        self._visits: Counter[str] = Counter()

    def respond(self, request: DemoRequest) -> Response | Reset:
        self._requests += 1
        manner, wait_ms, keep_alive, dies = self._site.manner, 0.0, request.keeps_alive, False
        match manner:
            case sites.Steady():
                pass
            case sites.SlowHeads():
                spread_ms = manner.maximum_ms - manner.minimum_ms + 1
                wait_ms = (manner.minimum_ms + crc32(request.target.encode()) % spread_ms) * self._pace
            case sites.RateLimited(every=every, retry_after_s=seconds):
                if self._requests % every == 0:
                    headers = (self._retry_after(seconds),)
                    return _response(sites.DemoPage(request.target, _TOO_MANY, status=429, headers=headers), request)
            case sites.Resetting(every=every):
                if self._requests % every == 0:
                    return Reset()
                keep_alive = False
            case sites.Dying(after_requests=limit):
                dies = self._requests >= limit
            case _:
                assert_never(manner)
        response = self._respond_with_page(request)
        keep_alive = keep_alive and response.keep_alive and not dies
        return replace(response, wait_ms=wait_ms, keep_alive=keep_alive, dies=dies)

    def _retry_after(self, seconds: int) -> sites.Header:
        """Retry-After at this pace: whole seconds, at least 1 (RFC 9110, 10.2.3)."""
        return ("Retry-After", str(max(1, ceil(seconds * self._pace))))

    def _respond_with_page(self, request: DemoRequest) -> Response:
        if request.method not in ("GET", "HEAD"):
            page = sites.DemoPage(request.target, status=405, content_type=None, headers=(("Allow", "GET, HEAD"),))
            return replace(_response(page, request), keep_alive=False)
        missing = f"<!doctype html><title>Not found: {self._site.title}</title><p>There is no such page here.</p>"
        page = self._site.find_page(request.target) or sites.DemoPage(request.target, missing.encode(), status=404)
        self._visits[page.target] += 1
        visit = self._visits[page.target]
        match page.fault:
            case sites.FailsFirst(visits=visits, status=status, retry_after_s=seconds) if visit <= visits:
                headers = () if seconds is None else (self._retry_after(seconds),)
                return _response(
                    sites.DemoPage(page.target, _error_body(status), status=status, headers=headers), request
                )
            case sites.Truncated(visits=visits) if visit <= visits:
                return replace(_response(page, request), ending=Ending.TRUNCATED, keep_alive=False)
            case sites.BrokenChunk():
                response = _response(replace(page, chunked=True), request)
                return replace(response, ending=Ending.BROKEN_CHUNK, keep_alive=False)
            case sites.Faithful() | sites.FailsFirst() | sites.Truncated():
                return _response(page, request)
            case _:
                assert_never(page.fault)


def _error_body(status: int) -> bytes:
    return f"<!doctype html><title>Error {status}</title><p>The server could not answer.</p>".encode()


def _response(page: sites.DemoPage, request: DemoRequest) -> Response:
    etag, body, coding = page.etag, page.body, None
    if page.gzip and len(body) >= _GZIP_FROM_BYTES and _accepts_gzip(request):
        body, coding = gzip.compress(body, compresslevel=6, mtime=0), "gzip"
        etag = etag and etag[:-1] + '-gzip"'
    vary = "Accept-Encoding" if page.gzip else None
    headers = (*page.headers, *_given(("Vary", vary), ("ETag", etag), ("Last-Modified", page.last_modified)))
    if page.status == 200 and _is_unchanged(page, request):
        return Response(304, headers, headless_body=True)
    headers = (*_given(("Content-Type", page.content_type)), *headers, *_given(("Content-Encoding", coding)))
    is_head = request.method == "HEAD"
    return Response(page.status, headers, body, reason=page.reason, chunked=page.chunked, headless_body=is_head)


def _given(*headers: tuple[str, str | None]) -> Iterator[sites.Header]:
    return ((name, value) for name, value in headers if value is not None)


def _accepts_gzip(request: DemoRequest) -> bool:
    for item in (request.header("accept-encoding") or "").split(","):
        coding, _, weight = item.partition(";")
        if coding.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _is_unchanged(page: sites.DemoPage, request: DemoRequest) -> bool:
    """RFC 9110, 13.2.2: If-Modified-Since counts only without If-None-Match."""
    asked_tags = request.header("if-none-match")
    if asked_tags is not None:
        tags = {tag.strip().removeprefix("W/").replace('-gzip"', '"') for tag in asked_tags.split(",")}
        return "*" in tags or page.etag in tags
    asked_time = request.header("if-modified-since")
    if asked_time is None or page.last_modified is None:
        return False
    since, changed = _parse_date(asked_time), _parse_date(page.last_modified)
    return since is not None and changed is not None and changed <= since


def _parse_date(text: str) -> datetime | None:
    try:
        parsed = parsedate_to_datetime(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)


def render_response(response: Response, server: str, at: datetime) -> tuple[bytes, bytes]:
    """Return the head and the body of `response` as they go over the wire, faults included."""
    headers = (("Date", format_datetime(at, usegmt=True)), ("Server", server), *response.headers)
    bodiless_status = response.status in (204, 304)
    if response.chunked:
        headers += (("Transfer-Encoding", "chunked"),)
    elif not bodiless_status:
        headers += (("Content-Length", str(len(response.body))),)
    headers += (("Connection", "keep-alive" if response.keep_alive else "close"),)
    head = render_head(response.status, response.reason, headers)
    if response.headless_body or bodiless_status:
        return head, b""
    if response.ending is Ending.TRUNCATED:
        return head, response.body[: len(response.body) // 2]
    if response.ending is Ending.BROKEN_CHUNK:
        return head, break_chunks(response.body)
    return head, chunk_body(response.body) if response.chunked else response.body


def malformed_response(status: int) -> Response:
    """Return the response to bytes that are no request, or one with a head that is too large."""
    return Response(status, (("Content-Type", sites.HTML),), _error_body(status), keep_alive=False)


def render_head(status: int, reason: str | None, headers: Iterable[sites.Header]) -> bytes:
    """Return a response head. Nothing is cleaned: a demo page may have a hostile header on purpose."""
    lines = [f"HTTP/1.1 {status} {responses.get(status, 'Unknown') if reason is None else reason}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk_body(body: bytes) -> bytes:
    """Return `body` in the chunked coding (RFC 9112, 7.1)."""
    pieces = [body[start : start + _CHUNK_BYTES] for start in range(0, len(body), _CHUNK_BYTES)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def break_chunks(body: bytes) -> bytes:
    """Return one good chunk of `body` and then a chunk size that is no hexadecimal number."""
    first = body[:_CHUNK_BYTES]
    return b"%x\r\n%b\r\nnot-a-size\r\n" % (len(first), first)
