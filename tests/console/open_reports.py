"""Reports of a real database, as the stage holds its stand-in; and a crawl of one page to be read by them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, A, crawled, fill_of, plan
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.store import SqliteStore
from tui_crawler.wiring.console_reports import ConsoleReports


class OpenReports(ConsoleReports):
    """Reports that wait for nothing."""

    gate = None


@asynccontextmanager
async def one_page(path: Path, *links: str) -> AsyncIterator[SqliteStore]:
    """A new database in which the first page was crawled, with these links."""
    open_writable(path, OpenSettings()).close()
    bench = DatabaseBench(path)
    store = bench.open()
    await store.begin_run(plan(f"{A}/"))
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    await store.fill(fill_of((home,)))
    await store.settle(crawled(home, T0 + 10, *links))
    yield store
    bench.close()
