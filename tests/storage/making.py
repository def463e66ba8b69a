"""Values for storage tests: seeds, plans, and attempts as the engine would hand them over."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.records.attempt import (
    AttemptRecord,
    DocumentRecord,
    FillRecord,
    FoundLink,
    OriginRecord,
    PageOutcome,
    RequestRecord,
    RobotsRecord,
    Settle,
)
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import (
    DISPOSITIONS,
    AttemptKind,
    ExitCode,
    attempts_left,
    retries_in_run,
    unlinks,
)
from tui_crawler.domain.records.page import NewPage, TodoPage
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.url import CrawlUrl, normalise

A, B, C = "https://a.example", "https://b.example", "https://c.example"
WEEK = 7 * 86_400_000
T0 = 1_800_000_000_000


def url(text: str) -> CrawlUrl:
    parsed = normalise(text)
    assert isinstance(parsed, CrawlUrl), parsed
    return parsed


def new_page(text: str, depth: int = 1, **more: Any) -> NewPage:
    parsed = url(text)
    return NewPage(parsed.href, parsed.hash, parsed.origin, depth, **more)


def seed(text: str, **more: Any) -> NewPage:
    return new_page(text, 0, seed=True, **more)


async def added(store: Any, *seeds: NewPage, job: str = "") -> tuple[TodoPage, ...]:
    """Adds seeds by hand; answers what is now to be crawled of them."""
    return tuple(await store.added_pages(await store.add_pages(seeds, job), job))


def plan(*seeds: str, **more: Any) -> RunPlan:
    pages = tuple(seed(text) for text in seeds or (f"{A}/",))
    return replace(RunPlan("test", "ua/1", "main", pages, 8, 3, 5, 2, 4 * WEEK), **more)


def record(origin: str = A, **more: Any) -> OriginRecord:
    start = OriginRecord(origin, "", False, 5, 2, True, 0, 1_000, "default", 0, T0 + 1_000, T0, 20)
    return replace(start, **more)


def robots(body: bytes = b"User-agent: *\nDisallow: /no\n") -> RobotsRecord:
    return RobotsRecord("parsed", 200, T0, T0 + 1_800_000, body, 2_000)


def link(href: str, kind: LinkKind = LinkKind.a, **more: Any) -> FoundLink:
    return FoundLink(kind, url(href), **more)


def request(text: str, at: int, status: int | None = 200, **more: Any) -> RequestRecord:
    return RequestRecord(text, "GET", at - 20, at - 10, at, status, **more)


def attempt(page: TodoPage, code: ExitCode, at: int, status: int | None = 200, **more: Any) -> AttemptRecord:
    parsed = url(page.url)
    made = AttemptRecord(
        parsed.origin,
        page.url,
        AttemptKind.page,
        code,
        at - 20,
        at,
        page.page_id,
        status,
        20,
        100,
        (request(page.url, at, status),),
        patience_before=5,
        patience_after=5,
        politeness_after=1,
        delay_ms_after=1_000,
        delay_reason="default",
    )
    return replace(made, **more)


def outcome(page: TodoPage, code: ExitCode, at: int, status: int | None = 200, **more: Any) -> PageOutcome:
    left = attempts_left(code, status, page.attempts_remaining)
    made = PageOutcome(
        page.page_id,
        PageStatus.SKIPPED if code is ExitCode.skipped_by_rule else PageStatus.READY,
        page.attempts + (code is not ExitCode.cancelled),
        left,
        code,
        status,
        at,
        DISPOSITIONS[code].contentful,
        forget_ignored=code is not ExitCode.cancelled and left > 0 and retries_in_run(code, status),
        depth=page.depth,
        unlinks=unlinks(code, status),
        sitemap=page.sitemap,
    )
    return replace(made, **more)


def document(page: TodoPage, body: bytes | None = b"<p>hello", **more: Any) -> DocumentRecord:
    sha256 = hashlib.sha256(body or b"").hexdigest()
    made = DocumentRecord(
        page.page_id, "html", "text/html", "utf-8", "a title", sha256, len(body or b""), '"e1"', "Mon", body=body
    )
    return replace(made, **more)


def crawled(page: TodoPage, at: int, *links: str, code: ExitCode = ExitCode.file_ingested, **more: Any) -> Settle:
    """An attempt that went well: the links are stored, and become pages of the next depth."""
    found = tuple(link(text) for text in links)
    pages = tuple(new_page(text, page.depth + 1) for text in links)
    made = Settle(
        attempt(page, code, at),
        record(url(page.url).origin),
        outcome(page, code, at),
        document(page),
        links=found,
        new_pages=pages,
    )
    return replace(made, **more)


def failed(page: TodoPage, at: int, code: ExitCode, status: int | None = None, **more: Any) -> Settle:
    made = Settle(attempt(page, code, at, status), record(url(page.url).origin), outcome(page, code, at, status))
    return replace(made, **more)


def refusal(page: TodoPage, at: int, code: ExitCode = ExitCode.blocked_by_robots_txt) -> Settle:
    log = attempt(page, code, at, None, requests=(), response_ms=None, bytes=0, decided_by="robots.txt:2")
    return Settle(log, record(url(page.url).origin), outcome(page, code, at, None))


def fill_of(pages: tuple[TodoPage, ...], origin: str = A) -> FillRecord:
    ids = tuple(page.page_id for page in pages)
    return FillRecord(record(origin), ids, ids)
