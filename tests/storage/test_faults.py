"""Every database call can fail: whichever does, the database stays whole and nothing is told as stored that is not."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.storage.bench import GONE
from tests.storage.making import T0, A, B, crawled, failed, fill_of, plan, record, refusal, robots, seed
from tests.storage.whole import assert_whole
from tui_crawler.domain.attempt import FillRecord
from tui_crawler.domain.command import RetryPages
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.failure import StorageFailure
from tui_crawler.storage.open_settings import OpenSettings
from tui_crawler.storage.store import SqliteStore, StoreSettings


class Counted(sqlite3.Connection):
    """Counts calls; the one with the number `fails` raises before it does anything."""

    calls = 0
    fails = 0

    def _count(self) -> None:
        Counted.calls += 1
        if Counted.calls == Counted.fails:
            error = sqlite3.OperationalError("disk I/O error (made by the test)")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().executemany(*arguments)


class Crawl:
    """A short crawl that goes on after failures, as the engine does, and counts what was told as stored."""

    def __init__(self, path: Path) -> None:
        settings = StoreSettings(opening=OpenSettings(connection=Counted), now=lambda: T0, owner=GONE)
        self.store = SqliteStore(path, settings)
        self.told = 0
        self.failures = 0

    async def tried(self, call: Any, attempts: int = 0) -> Any:
        """The answer of a call, None when it failed; `attempts` are stored if it did not."""
        try:
            answer = await call
        except StorageFailure:
            self.failures += 1
            return None
        self.told += attempts
        return answer

    async def run(self) -> None:
        store, begin = self.store, plan(f"{A}/", f"{B}/")
        if await self.tried(store.begin_run(begin)) is None and await self.tried(store.begin_run(begin)) is None:
            return
        found = await self.tried(store.candidates(A, T0, 10, True))
        for page in found.pages if found else ():
            await self.tried(store.fill(fill_of((page,))))
            store.mark_in_flight(page.page_id, A, page.url)
            await self.tried(store.settle(crawled(page, T0 + 1, f"{A}/1", f"{A}/2", f"{B}/1")), 1)
        await self.tried(store.heartbeat())
        found = await self.tried(store.candidates(A, T0 + 2, 10, False))
        pages = found.pages if found else ()
        refusals = tuple(refusal(page, T0 + 3) for page in pages[1:])
        fill = FillRecord(record(), tuple(page.page_id for page in pages), (), refusals)
        await self.tried(store.fill(fill), len(refusals))
        for page in pages[:1]:
            limited = failed(page, T0 + 4, ExitCode.rate_limited, 429)
            with_robots = replace(limited, origin=record(robots=robots(), paused=True), save_robots=True)
            await self.tried(store.settle(with_robots), 1)
            await self.tried(store.settle(crawled(page, T0 + 5, f"{A}/3")), 1)
        await self.tried(store.add_pages((seed(f"{A}/added"), seed(f"{A}/", force=True)), ""))
        await self.tried(store.retry(RetryPages()))
        await self.tried(store.end_run("interrupted", True))


async def run_once(path: Path, fails: int) -> tuple[int, int, int]:
    """Attempts told as stored, failures, and calls. Call number `fails` raises (0: none)."""
    Counted.calls, Counted.fails = 0, fails
    try:
        crawl = Crawl(path)
    except StorageFailure:
        return 0, 1, Counted.calls  # it could not even be opened
    try:
        await crawl.run()
    finally:
        crawl.store.close()
        Counted.fails = 0
    return crawl.told, crawl.failures, Counted.calls


def stored_attempts(path: Path) -> int:
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    count: int = database.execute("SELECT COUNT(*) FROM attempt").fetchone()[0]
    database.close()
    return count


async def test_without_a_fault_nothing_fails(database_path):
    told, failures, calls = await run_once(database_path, 0)
    assert (told, failures) == (4, 0)
    assert calls > 100
    assert_whole(database_path)


@pytest.fixture(scope="module")
def calls(template: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many calls the crawl makes when none fails."""
    path = shutil.copy(template, tmp_path_factory.mktemp("count") / "count.db")
    return asyncio.run(run_once(Path(path), 0))[2]


@pytest.mark.parametrize("number", range(24))
async def test_whichever_call_fails(database_path, calls, number):
    path = database_path
    told, failures, _ = await run_once(path, random.Random(number).randrange(1, calls + 1))
    assert failures <= 2  # a call shares its group with others at most, and marks are only logged
    assert stored_attempts(path) == told
    assert_whole(path)
    again, more, _ = await run_once(path, 0)  # it goes on when calls work again
    assert more == 0
    assert stored_attempts(path) == told + again
    assert_whole(path)


async def test_the_database_can_be_read_while_it_is_written(database_path):
    """Readers see whole attempts only, and never wait."""
    path = database_path
    store = SqliteStore(path)
    await store.begin_run(plan())
    reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0)
    page = (await store.candidates(A, T0, 10, True)).pages[0]
    for number in range(20):
        await store.settle(crawled(page, T0 + number, *(f"{A}/{number}-{n}" for n in range(10))))
        links, attempts, pages = reader.execute(
            "SELECT (SELECT COUNT(*) FROM link), (SELECT COUNT(*) FROM attempt), (SELECT COUNT(*) FROM page)"
        ).fetchone()
        assert (links, attempts, pages) == (10, number + 1, 1 + 10 * (number + 1))
    reader.close()
    store.close()
