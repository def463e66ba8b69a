"""What the tests of this folder ask with."""

from __future__ import annotations

import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records.attempt import Exchange, FetchRequest, Headers
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.fetch.address_guard import AddressGuard
from tui_crawler.fetch.client import HttpFetcher
from tui_crawler.fetch.limits import FetchLimits

CORPORA = Path(__file__).parent / "corpora"
USER_AGENT = "example-crawler (for https://example.net/)"
SHORT = FetchLimits(connect_timeout_ms=20_000, read_timeout_ms=20_000, total_timeout_ms=40_000, drain_timeout_ms=1_000)
"""Deadlines are met where time is let pass; tests of some choose their own."""
OPEN = AddressGuard(allow_private=True)
_TLS = httpx.create_ssl_context(trust_env=False)  # loading the certificates takes longer than most tests


Served = Callable[..., Awaitable[Exchange]]
"""The fixture `served`: an answer of the web, as bytes, to what came of a request."""

REFERENCE = False
"""Whether fetchers use the wire of httpx, the reference of our own; set by the fixture `wire`."""


_OPENED: list[HttpFetcher] = []


def fetching(limits: FetchLimits = SHORT, guard: AddressGuard = OPEN, **options: Any) -> HttpFetcher:
    """A fetcher of an "example-crawler"; options as `HttpFetcher` has them. It is closed at the end of the test."""
    made = HttpFetcher(limits, guard, "example-crawler", **{"ssl_context": _TLS, "reference": REFERENCE, **options})
    _OPENED.append(made)
    return made


async def close_all() -> None:
    """Closes the fetchers of a test."""
    while _OPENED:
        await _OPENED.pop().close()


def crawl_url(href: str) -> CrawlUrl:
    """A URL that must be crawlable."""
    url = normalise(href)
    assert isinstance(url, CrawlUrl), url
    return url


def ask(href: str) -> FetchRequest:
    """A plain GET."""
    return FetchRequest(crawl_url(href), USER_AGENT)


def again(href: str, etag: str = "", since: str = "") -> FetchRequest:
    """A GET that asks "only if changed"."""
    return replace(ask(href), conditional_etag=etag, conditional_since=since)


def answered(body: bytes, content_type: str = "text/html", headers: Headers = ()) -> Exchange:
    """An exchange that brought a body, without any network."""
    typed = (("Content-Type", content_type),) if content_type else ()
    return Exchange((), ExitCode.file_ingested, 200, 5, (*typed, *headers), body)


def head(status: str = "200 OK", *fields: str) -> bytes:
    """A response head; fields as they stand on the wire."""
    return "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *fields, "")).encode("latin-1")


def whole(body: bytes = b"<p>hello", *fields: str, status: str = "200 OK") -> bytes:
    """A complete response with Content-Length."""
    return head(status, *fields, f"Content-Length: {len(body)}") + body


def frozen(*moments: tuple[int, int]) -> Callable[[], Moment]:
    """A pair of clocks that gives these (mono_ms, wall_ms), the last one for ever."""
    left = list(moments)

    def now() -> Moment:
        mono, wall = left.pop(0) if len(left) > 1 else left[0]
        return Moment(mono, wall)

    return now


@contextmanager
def traced_peak() -> Iterator[Callable[[], int]]:
    """Gives a function that tells how many bytes more than at the start were in use at the worst moment."""
    was_tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    yield lambda: tracemalloc.get_traced_memory()[1] - before
    if not was_tracing:
        tracemalloc.stop()
