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
from tui_crawler.domain.records.attempt import FillRecord
from tui_crawler.domain.records.command import RetryPages
from tui_crawler.domain.records.database_place import PostgresPlace
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import (
    DatabaseDamaged,
    DatabaseLocked,
    DatabaseUnusable,
    StorageFailure,
    StorageHeldUp,
)
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.writer import WriterSettings
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, execute
from tui_crawler.storage.drivers.faults import ReadOnlyDatabase, storage_failure
from tui_crawler.storage.store import SqliteStore, StoreSettings


def made(code: int, text: str = "disk I/O error (made by the test)") -> sqlite3.OperationalError:
    """An error of SQLite with an extended result code."""
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


class Counted(sqlite3.Connection):
    """Counts calls; the one with the number `fails` raises before it does anything but, where it `rolls_back`, to end
    the transaction, as SQLite does after some errors."""

    calls = 0
    fails = 0
    code = sqlite3.SQLITE_IOERR
    rolls_back = False

    def _count(self) -> None:
        Counted.calls += 1
        if Counted.calls == Counted.fails:
            if Counted.rolls_back and self.in_transaction:
                super().execute("ROLLBACK")
            raise made(Counted.code)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().executemany(*arguments)


class Crawl:
    """A short crawl that goes on after failures, as the engine does, and counts what was told as stored."""

    def __init__(self, path: Path, patience_at_work_ms: int = 0) -> None:
        writing = WriterSettings(patience_at_work_ms=patience_at_work_ms)
        opening = OpenSettings(connection=Counted)
        settings = StoreSettings(opening=opening, writing=writing, now=lambda: T0, owner=GONE)
        self.store = SqliteStore(path, settings)
        self.told = 0
        self.failures = self.failures_at_start = 0

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
        self.failures_at_start = self.failures
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


@pytest.mark.parametrize("number", range(24))
async def test_an_io_error_at_whichever_call_is_waited_for_once_a_run_has_begun(
    database_path, calls, number, monkeypatch
):
    """Also where SQLite has ended the transaction itself: the ROLLBACK that then fails hides nothing."""
    chance = random.Random(number)
    codes = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_READ)
    monkeypatch.setattr(Counted, "code", chance.choice(codes))
    monkeypatch.setattr(Counted, "rolls_back", chance.random() < 0.5)
    Counted.calls, Counted.fails = 0, chance.randrange(1, calls + 1)
    try:
        crawl = Crawl(database_path, patience_at_work_ms=60_000)
    except StorageHeldUp:
        return  # it could not even be opened
    try:
        await crawl.run()
    finally:
        crawl.store.close()
        Counted.fails = 0
    assert crawl.failures == crawl.failures_at_start
    assert stored_attempts(database_path) == crawl.told == 4
    assert_whole(database_path)


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (sqlite3.SQLITE_FULL, StorageHeldUp, "the disk is full"),
        (sqlite3.SQLITE_IOERR_SHMSIZE, StorageHeldUp, "the disk is full"),
        (sqlite3.SQLITE_IOERR, StorageHeldUp, "I/O error"),
        (sqlite3.SQLITE_IOERR_READ, StorageHeldUp, "I/O error"),
        (sqlite3.SQLITE_IOERR_SHMMAP, StorageHeldUp, "I/O error"),
        (sqlite3.SQLITE_CANTOPEN, StorageHeldUp, "cannot be opened"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, DatabaseLocked, "locked"),
        (sqlite3.SQLITE_CORRUPT_INDEX, DatabaseDamaged, "damaged"),
        (sqlite3.SQLITE_IOERR_CORRUPTFS, DatabaseDamaged, "damaged"),
        (sqlite3.SQLITE_NOTADB, DatabaseDamaged, "damaged"),
        (sqlite3.SQLITE_READONLY_ROLLBACK, ReadOnlyDatabase, "read-only"),
        (sqlite3.SQLITE_ERROR, DatabaseUnusable, "no such table"),
        (sqlite3.SQLITE_CONSTRAINT_TRIGGER, StorageFailure, "no such table"),
    ],
)
def test_what_passes_by_itself_and_what_does_not(code, kind, said):
    failure = storage_failure(made(code, "no such table"), Path("crawl.db"))
    assert type(failure) is kind
    assert said in str(failure)
    assert "crawl.db" in str(failure)


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("58030", StorageHeldUp),  # io_error
        ("53100", StorageHeldUp),  # disk_full
        ("53200", StorageHeldUp),
        ("53300", StorageHeldUp),
        ("57P01", StorageHeldUp),  # admin_shutdown
        ("57P02", StorageHeldUp),
        ("57P03", StorageHeldUp),
        ("08006", StorageHeldUp),
        ("57P04", DatabaseUnusable),  # database_dropped
        ("3D000", DatabaseUnusable),
        ("42P01", DatabaseUnusable),  # undefined_table
        ("42501", ReadOnlyDatabase),
        ("58P01", DatabaseDamaged),  # undefined_file
        ("XX001", DatabaseDamaged),
        ("23505", StorageFailure),
    ],
)
def test_what_passes_by_itself_on_a_server_and_what_does_not(state, kind):
    class FromServer(Exception):
        sqlstate = state

    failure = storage_failure(FromServer("could not read block 7"), PostgresPlace("postgresql://host/crawl"))
    assert type(failure) is kind


def test_a_rollback_that_fails_does_not_hide_what_went_wrong(database_path):
    database = open_writable(database_path, OpenSettings())
    with pytest.raises(DATABASE_ERRORS) as raised, database.atomic():
        execute(database, "ROLLBACK")  # as SQLite does itself after some I/O errors
        raise made(sqlite3.SQLITE_IOERR_WRITE)
    database.close()
    assert "cannot rollback" in str(raised.value)
    failure = storage_failure(raised.value, database_path)
    assert type(failure) is StorageHeldUp
    assert "disk I/O error" in str(failure)


def test_a_failed_transaction_of_a_server_does_not_hide_what_went_wrong():
    class FromServer(Exception):
        def __init__(self, state: str) -> None:
            super().__init__(state)
            self.sqlstate = state

    with pytest.raises(FromServer) as raised:
        try:
            raise FromServer("58030")
        finally:
            raise FromServer("25P02")
    assert type(storage_failure(raised.value, PostgresPlace("postgresql://host/crawl"))) is StorageHeldUp


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
