"""A small crawl in a real database, with texts and answers that mean harm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.storage.making import (
    T0,
    A,
    B,
    added,
    attempt,
    crawled,
    document,
    failed,
    fill_of,
    link,
    new_page,
    outcome,
    plan,
    record,
    request,
)
from tui_crawler.domain.records.attempt import DataValue, RedirectRecord, RedirectSource, Settle
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.store import SqliteStore, StoreSettings

HOME = f"{A}/"
FORMULA = "=cmd|' /C calc'!A0"
LONG_TITLE = "t" * 1_000_000
BINARY = bytes(range(256)) * 40
PAGE = b"<p>hello</p>"
PATHS = ("bytes", "twin", "gone", "moved", "picture", "long", "plain")
ANSWER = (
    ("Content-Type", "text/html"),
    ("content-encoding", "gzip"),
    ("Transfer-Encoding", "chunked"),
    ("Content-Length", "17"),
    ("X-Latin", "caf\xe9"),
    ("Set-Cookie", "a=1"),
    ("Set-Cookie", "b=2"),
)


async def store_crawl(path: Path) -> None:
    """Eight pages of one origin and one of another: bodies, a refused page, a redirect, failures, data."""
    store = SqliteStore(path, StoreSettings(now=lambda: T0))
    try:
        await store.begin_run(plan(HOME, f"{B}/", user_agent="ua/1 (for\r\nInjected: yes)"))
        (home,) = await _fill(store, A, T0)
        made = crawled(home, T0 + 10, *(f"{A}/{name}" for name in PATHS))
        links = (*(made.links or ()), link(f"{A}/i.png", LinkKind.img, text=f"{FORMULA}\nsecond line", nofollow=True))
        data = (DataValue("photos", "picture", 0, "@SUM(1)"), DataValue("photos", "picture", 1, "two\r\nlines"))
        await store.settle(replace(made, links=links, document=document(home, PAGE, title=FORMULA, data=data)))
        pages = {page.url.rpartition("/")[2]: page for page in await _fill(store, A, T0 + 20)}
        for settle in _settles(pages):
            await store.settle(settle)
        (other,) = await _fill(store, B, T0)
        await store.settle(failed(other, T0 + 100, ExitCode.connection_failed))
        await store.end_run("exhausted", True)
    finally:
        store.close()


async def store_attempts(store: SqliteStore, numbers: range) -> None:
    """An attempt for each number, of a page of its own below A."""
    for number in numbers:
        (page,) = await added(store, new_page(f"{A}/n/{number}"))
        await store.fill(fill_of((page,)))
        await store.settle(crawled(page, T0 + number))


async def _fill(store: SqliteStore, origin: str, now: int) -> tuple[TodoPage, ...]:
    pages = (await store.candidates(origin, now, 50, False)).pages
    await store.fill(fill_of(pages, origin))
    return pages


def _settles(pages: dict[str, TodoPage]) -> list[Settle]:
    strange = _answered(pages["bytes"], T0 + 30, BINARY)
    gone = failed(pages["gone"], T0 + 50, ExitCode.file_not_found, 404)
    moved = pages["moved"]
    code = ExitCode.permanent_redirect
    return [
        strange,
        crawled(pages["twin"], T0 + 40, document=document(pages["twin"], PAGE, title="same body")),
        replace(gone, attempt=replace(gone.attempt, message="+1\x1b[31m not there")),
        Settle(
            attempt(moved, code, T0 + 60, 301),
            record(A),
            outcome(moved, code, T0 + 60, 301),
            redirect=RedirectRecord(f"{A}/there", "part", True, RedirectSource.location),
        ),
        crawled(
            pages["picture"],
            T0 + 70,
            code=ExitCode.file_of_unknown_type,
            document=replace(document(pages["picture"], None, kind="other", sha256="0" * 64), size=9),
        ),
        crawled(pages["long"], T0 + 80, document=document(pages["long"], b"", title=LONG_TITLE)),
    ]


def _answered(page: TodoPage, at: int, body: bytes) -> Settle:
    """A fluke, then an answer whose header fields are not true of the stored body."""
    fluke = request(page.url, at - 5, None, error="reset")
    asked = (("Host", "a.example"), ("User-Agent", "ua/1"))
    answer = request(
        page.url,
        at,
        fluke_retry=True,
        remote_address="203.0.113.7",
        request_headers=asked,
        response_headers=ANSWER,
    )
    made = crawled(page, at, document=document(page, body, title="\u202eevil \x00 \x9b title"))
    return replace(made, attempt=replace(made.attempt, requests=(fluke, answer)))
