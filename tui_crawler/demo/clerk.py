"""What a site answers to a request: its manner, the faults of its pages, conditional requests, codings.

A clerk counts, but makes no input or output and reads no clock, so the whole demo web can be asked
in virtual time.
"""

import gzip
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import assert_never
from zlib import crc32

from tui_crawler.demo.access import Ending
from tui_crawler.demo.site import (
    HTML,
    BrokenChunk,
    Dying,
    FailsFirst,
    Faithful,
    Header,
    Page,
    RateLimited,
    Resetting,
    Site,
    SlowHeads,
    Steady,
    Truncated,
    scale_seconds,
)
from tui_crawler.demo.wire import Request, break_chunks, chunk_body, render_head

_GZIP_FROM_BYTES = 600


@dataclass(frozen=True, slots=True)
class Reset:
    """No byte is sent, the connection is reset."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: `wait_ms` before its head; then the connection stays open, or not; then the site may die."""

    status: int
    headers: tuple[Header, ...] = ()
    body: bytes = b""
    reason: str | None = None
    wait_ms: float = 0
    chunked: bool = False
    headless_body: bool = False
    ending: Ending = Ending.COMPLETE
    keep_alive: bool = True
    dies: bool = False


Reply = Answer | Reset


class Clerk:
    """Answers for one site. Knows how many requests came, and how often each page was answered."""

    def __init__(self, site: Site, pace: float) -> None:
        """`pace` stretches every wait that the site makes on purpose; 1 is real time, 0 is at once."""
        self._site = site
        self._pace = pace
        self._requests = 0
        self._visits: Counter[str] = Counter()

    def reply(self, request: Request) -> Reply:
        """Return what the site does with its next request."""
        self._requests += 1
        manner = self._site.manner
        wait_ms = 0.0
        keep_alive = request.keeps_alive
        dies = False
        match manner:
            case Steady():
                pass
            case SlowHeads():
                wait_ms = head_wait_ms(manner, request.target) * self._pace
            case RateLimited(every=every, retry_after_s=seconds):
                if self._requests % every == 0:
                    return self._refuse_rate(request, seconds)
            case Resetting(every=every):
                if self._requests % every == 0:
                    return Reset()
                keep_alive = False
            case Dying(after_requests=limit):
                dies = self._requests >= limit
            case _:
                assert_never(manner)
        answer = self._answer_page(request)
        keep_alive = keep_alive and answer.keep_alive and not dies
        return replace(answer, wait_ms=wait_ms, keep_alive=keep_alive, dies=dies)

    def _refuse_rate(self, request: Request, seconds: int) -> Answer:
        page = Page(
            request.target,
            b"<!doctype html><title>Too many requests</title><p>Please slow down and come back shortly.</p>",
            status=429,
            headers=(("Retry-After", str(scale_seconds(seconds, self._pace))),),
        )
        return _answer(page, request)

    def _answer_page(self, request: Request) -> Answer:
        if request.method not in ("GET", "HEAD"):
            page = Page(request.target, status=405, content_type=None, headers=(("Allow", "GET, HEAD"),))
            return replace(_answer(page, request), keep_alive=False)
        page = self._site.find_page(request.target) or _missing_page(self._site, request.target)
        self._visits[page.target] += 1
        visit = self._visits[page.target]
        fault = page.fault
        match fault:
            case Faithful():
                return _answer(page, request)
            case FailsFirst(visits=visits, status=status, headers=headers):
                failed = Page(page.target, _error_body(status), status=status, headers=headers)
                return _answer(failed if visit <= visits else page, request)
            case Truncated(visits=visits):
                if visit > visits:
                    return _answer(page, request)
                return replace(_answer(page, request), ending=Ending.TRUNCATED, keep_alive=False)
            case BrokenChunk():
                answer = _answer(replace(page, chunked=True), request)
                return replace(answer, ending=Ending.BROKEN_CHUNK, keep_alive=False)
            case _:
                assert_never(fault)


def head_wait_ms(manner: SlowHeads, target: str) -> int:
    """Return how long the head of `target` takes at pace 1, in ms: always the same for one target."""
    return manner.minimum_ms + crc32(target.encode()) % (manner.maximum_ms - manner.minimum_ms + 1)


def _missing_page(site: Site, target: str) -> Page:
    body = f"<!doctype html><title>Not found: {site.title}</title><p>There is no such page here.</p>"
    return Page(target, body.encode(), status=404)


def _error_body(status: int) -> bytes:
    return f"<!doctype html><title>Error {status}</title><p>The server could not answer.</p>".encode()


def _answer(page: Page, request: Request) -> Answer:
    etag, body = page.etag, page.body
    coding: tuple[Header, ...] = ()
    if page.gzip and len(body) >= _GZIP_FROM_BYTES and _accepts_gzip(request):
        body = gzip.compress(body, compresslevel=6, mtime=0)
        etag = etag and etag[:-1] + '-gzip"'
        coding = (("Content-Encoding", "gzip"),)
    headers = page.headers
    if page.gzip:
        headers += (("Vary", "Accept-Encoding"),)
    if etag is not None:
        headers += (("ETag", etag),)
    if page.last_modified is not None:
        headers += (("Last-Modified", page.last_modified),)
    if page.status == 200 and _is_unchanged(page, request):
        return Answer(304, headers, headless_body=True)
    if page.content_type is not None:
        headers = (("Content-Type", page.content_type), *headers)
    return Answer(
        page.status,
        headers + coding,
        body,
        reason=page.reason,
        chunked=page.chunked,
        headless_body=request.method == "HEAD",
    )


def _accepts_gzip(request: Request) -> bool:
    for item in (request.header("accept-encoding") or "").split(","):
        coding, _, weight = item.partition(";")
        if coding.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _is_unchanged(page: Page, request: Request) -> bool:
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


def render_answer(answer: Answer, server: str, at: datetime) -> tuple[bytes, bytes]:
    """Return the head and the body of `answer` as they go over the wire, faults included."""
    headers = (("Date", format_datetime(at, usegmt=True)), ("Server", server), *answer.headers)
    bodiless_status = answer.status in (204, 304)
    if answer.chunked:
        headers += (("Transfer-Encoding", "chunked"),)
    elif not bodiless_status:
        headers += (("Content-Length", str(len(answer.body))),)
    headers += (("Connection", "keep-alive" if answer.keep_alive else "close"),)
    head = render_head(answer.status, answer.reason, headers)
    if answer.headless_body or bodiless_status:
        return head, b""
    return head, _wire_body(answer)


def _wire_body(answer: Answer) -> bytes:
    match answer.ending:
        case Ending.TRUNCATED:
            return answer.body[: len(answer.body) // 2]
        case Ending.BROKEN_CHUNK:
            return break_chunks(answer.body)
        case Ending.COMPLETE | Ending.RESET | Ending.CLIENT_LEFT:
            return chunk_body(answer.body) if answer.chunked else answer.body
        case _:
            assert_never(answer.ending)


def malformed_answer(status: int) -> Answer:
    """Return the answer to bytes that are no request, or one with a head that is too large."""
    return Answer(status, (("Content-Type", HTML),), _error_body(status), keep_alive=False)
