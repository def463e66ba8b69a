"""What the store costs; run by hand: `python -m benchmarks.store [settles] [pages]`.

Settles carry 60 links each, half of them to pages that are known already, as navigation is. Many origins settle at
once, as the engine does, so that commits come in groups.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.storage.making import T0, crawled, document, fill_of, plan, request
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore

LINKS = 60
HEADERS = tuple((f"header-{n}", "a value of some length") for n in range(12))


async def settles(path: Path, count: int, origins: int) -> None:
    """Crawls `count` pages over `origins` origins at full speed."""
    store = SqliteStore(path)
    names = [f"https://site{n}.example" for n in range(origins)]
    await store.begin_run(plan(*(f"{name}/0" for name in names)))
    left = [count]
    began = time.perf_counter()
    waits: list[float] = []
    await asyncio.gather(*(_crawl(store, name, left, waits) for name in names))
    took = time.perf_counter() - began
    commits, jobs = store.writer.commits
    waits.sort()
    print(
        f"{origins:4} origins: {len(waits) / took:7.0f} settles/s with {LINKS} links, {jobs / commits:5.1f} jobs per"
        f" commit, wait p50 {waits[len(waits) // 2] * 1000:.1f} ms, p99 {waits[int(len(waits) * 0.99)] * 1000:.1f} ms"
    )
    await store.end_run("interrupted", True)
    store.close()


async def _crawl(store: SqliteStore, name: str, left: list[int], waits: list[float]) -> None:
    number, now = 1, T0
    body = b"<html>" + b"some words in a page " * 800
    while left[0] > 0:
        pages = (await store.candidates(name, now, 500, False)).pages
        if not pages:
            return
        await store.fill(fill_of(pages, name))
        for page in pages:
            if left[0] <= 0:
                return
            left[0] -= 1
            number, now = number + LINKS // 2, now + 1_000
            await _settle(store, name, page, number, now, body, waits)


async def _settle(
    store: SqliteStore, name: str, page: TodoPage, number: int, now: int, body: bytes, waits: list[float]
) -> None:
    old = [f"{name}/{n}" for n in range(LINKS // 2)]
    new = [f"{name}/{n}" for n in range(number, number + LINKS // 2)]
    made = crawled(page, now, *old, *new)
    asked = replace(request(page.url, now), request_headers=HEADERS[:4], response_headers=HEADERS)
    made = replace(made, attempt=replace(made.attempt, requests=(asked,)))
    made = replace(made, document=document(page, body + page.url.encode()))
    store.mark_in_flight(page.page_id, name, page.url)
    began = time.perf_counter()
    await store.settle(made)
    waits.append(time.perf_counter() - began)


async def start(path: Path, pages: int) -> None:
    """How long a start takes on a database of many pages, and what the console reads from it."""
    store = SqliteStore(path)
    per_origin = 2_000
    names = [f"https://big{n}.example" for n in range(pages // per_origin)]
    await store.begin_run(plan(*(f"{name}/0" for name in names)))
    for name in names:
        (home,) = (await store.candidates(name, T0, 1, True)).pages
        await store.fill(fill_of((home,), name))
        await store.settle(crawled(home, T0, *(f"{name}/{n}" for n in range(1, per_origin))))
        await store.fill(fill_of((await store.candidates(name, T0, 500, False)).pages, name))
    await store.end_run("interrupted", True)
    store.close()
    for new_run in (False, True):
        began = time.perf_counter()
        store = SqliteStore(path)
        begun = await store.begin_run(plan(*(f"{name}/0" for name in names), new_run=new_run))
        took = time.perf_counter() - began
        known = sum(origin.pages_known for origin in begun.origins)
        print(
            f"start on {known} pages, {len(begun.origins)} origins, continued={begun.continued}: {took * 1000:.0f} ms"
        )
        began = time.perf_counter()
        await store.candidates(names[0], T0 + 1, 500, True)
        print(f"  fill of 500: {(time.perf_counter() - began) * 1000:.1f} ms")
        await store.end_run("interrupted", True)
        store.close()
    reports = Reports(path)
    for what in ("run", "totals", "origins_changed", "attempts", "failure_count"):
        began = time.perf_counter()
        getattr(reports, what)()
        print(f"  reports.{what}: {(time.perf_counter() - began) * 1000:.1f} ms")
    reports.close()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
    with tempfile.TemporaryDirectory() as folder:
        for origins in (1, 20, 200):
            asyncio.run(settles(Path(folder) / f"{origins}.db", count, origins))
        asyncio.run(start(Path(folder) / "big.db", pages))


if __name__ == "__main__":
    main()
