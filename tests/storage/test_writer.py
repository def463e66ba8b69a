"""The one writer: commits at once when idle, in groups when busy; one job's failure is its own."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.storage.making import seed
from tests.support.patience import PATIENT_S
from tui_crawler.domain.records.failure import DatabaseDamaged, DatabaseLocked, RunHeld, StorageFailure
from tui_crawler.storage.crawl import documents
from tui_crawler.storage.db import writer as writer_module
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.db.writer import Writer, WriterSettings
from tui_crawler.storage.models import Job, Link


class SmallDisk(sqlite3.Connection):
    """A connection whose disk is full when the database has a few pages more than now."""

    def fill_up(self) -> None:
        (pages,) = self.execute("PRAGMA page_count").fetchone()
        self.execute(f"PRAGMA max_page_count = {pages + 4}")

    def make_room(self) -> None:
        self.execute("PRAGMA max_page_count = 1000000")


@pytest.fixture
def path(database_path: Path) -> Path:
    return database_path


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice that took long because the machine is busy is no reason to leave the next ones to the thread."""
    monkeypatch.setattr(writer_module, "_LONG_SLICE_S", PATIENT_S)


@pytest.fixture
def opened(path: Path) -> Iterator[Callable[..., Writer]]:
    """Opens writers, which are closed at the end."""
    with ExitStack() as made:
        yield lambda *more, **settings: made.enter_context(closing(writer_on(path, *more, **settings)))


@pytest.fixture
def writer(opened: Callable[..., Writer]) -> Writer:
    return opened()


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of another program."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def writer_on(path: Path, connection: type[sqlite3.Connection] = sqlite3.Connection, **settings: int) -> Writer:
    opening = OpenSettings(busy_ms=20, connection=connection)
    return Writer(open_writable(path, opening), path, WriterSettings(**settings), lambda: 1_000)


def insert(name: str, then: Exception | None = None, note: str = ""):
    def work(transaction: Transaction) -> str:
        transaction.execute(Job.insert({Job.name: name, Job.note: note}))
        if then is not None:
            raise then
        return name

    return work


def names(transaction: Transaction) -> list[str]:
    return [row[0] for row in transaction.fetch(Job.select(Job.name).order_by(Job.id))]


async def together(writer: Writer, *jobs):
    """Submits jobs while the writer is held up, so that they share a transaction; answers results or errors."""
    gate, begun = threading.Event(), threading.Event()

    def hold_up(transaction: Transaction) -> None:
        begun.set()
        gate.wait(PATIENT_S)

    held = asyncio.ensure_future(writer.read(hold_up))
    await asyncio.to_thread(begun.wait, PATIENT_S)
    tasks = [asyncio.ensure_future(writer.write(job)) for job in jobs]
    await asyncio.sleep(0)
    assert writer.outstanding == len(jobs) + 1
    gate.set()
    results = await asyncio.gather(held, *tasks, return_exceptions=True)
    assert writer.outstanding == 0
    return results[1:]


async def test_an_idle_writer_commits_at_once(writer, path):
    assert await writer.write(insert("one")) == "one"
    raw = sqlite3.connect(path)
    assert raw.execute("SELECT name FROM job").fetchall() == [("one",)]
    raw.close()
    assert (writer.load.commits, writer.load.jobs) == (1, 1)


async def test_a_busy_writer_commits_in_groups(writer):
    results = await together(writer, *(insert(str(n)) for n in range(50)))
    assert results == [str(n) for n in range(50)]
    assert (writer.load.commits, writer.load.jobs) == (1, 50)
    assert await writer.read(names) == [str(n) for n in range(50)]


async def test_a_group_has_a_bound(opened):
    writer = opened(group=8)
    await together(writer, *(insert(str(n)) for n in range(30)))
    assert writer.load.jobs == 30
    assert writer.load.commits >= 4


async def test_a_failing_job_neither_loses_nor_half_writes_another(writer):
    bad = RunHeld("somebody"), ValueError("a bug")
    jobs = [insert("one"), insert("two", bad[0]), insert("three"), insert("one"), insert("four", bad[1])]
    results = await together(writer, *jobs, insert("five"))
    assert results[0::2] == ["one", "three", bad[1]]
    assert results[1] is bad[0]
    assert isinstance(results[3], StorageFailure)
    assert "UNIQUE" in str(results[3])
    assert results[5] == "five"
    assert await writer.read(names) == ["one", "three", "five"]


async def test_readers_of_the_file_never_see_half_a_job(writer, path):
    raw = sqlite3.connect(path)

    def work(transaction: Transaction) -> int:
        transaction.execute(Job.insert({Job.name: "half"}))
        count: int = raw_count(path)
        transaction.execute(Job.insert({Job.name: "whole"}))
        return count

    assert await writer.write(work) == 0
    assert raw.execute("SELECT COUNT(*) FROM job").fetchone() == (2,)
    raw.close()


def raw_count(path: Path) -> int:
    raw = sqlite3.connect(path)
    count: int = raw.execute("SELECT COUNT(*) FROM job").fetchone()[0]
    raw.close()
    return count


async def test_a_full_disk_fails_its_job_and_goes_on_when_there_is_room(opened):
    writer = opened(SmallDisk)

    def act(name: str):
        return lambda transaction: getattr(transaction._connection, name)()

    await writer.read(act("fill_up"))
    big = insert("big", note="x" * 200_000)
    results = await together(writer, insert("one"), big, insert("two"))
    assert results[0::2] == ["one", "two"]
    assert isinstance(results[1], StorageFailure)
    assert "disk is full" in str(results[1])
    await writer.read(act("make_room"))
    assert await writer.write(big) == "big"
    assert await writer.read(names) == ["one", "two", "big"]


async def test_a_lock_is_waited_out(opened, other):
    writer = opened(patience_ms=200_000)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(writer.write(insert("one")))
    for _ in range(3):
        await still_waits(waiting)
    while not writer.locked_since:
        await still_waits(waiting)
    other.execute("COMMIT")
    assert await waiting == "one"
    assert writer.locked_since == 0


async def still_waits(waiting: asyncio.Future) -> None:
    done, _ = await asyncio.wait({waiting}, timeout=0.03)
    assert not done


async def test_a_lock_that_stays_is_a_storage_failure_and_nothing_is_stored(opened, other):
    writer = opened(patience_ms=50)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageFailure, match="locked"):
        await writer.write(insert("one"))
    other.execute("ROLLBACK")
    assert await writer.write(insert("two")) == "two"
    assert await writer.read(names) == ["two"]


async def test_what_was_begun_waits_longer_for_a_lock_than_a_start_does(opened, other):
    writer = opened(patience_ms=1, patience_at_work_ms=60_000)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseLocked):
        await writer.write(insert("none"))
    other.execute("ROLLBACK")
    await writer.write(insert("one"))
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(writer.write(insert("two")))
    writer.locked_since = 0
    while not writer.locked_since:
        await still_waits(waiting)
    other.execute("ROLLBACK")
    assert await waiting == "two"


def find_damage(transaction):
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    raise error


@pytest.mark.parametrize("how", ["write", "read"])
async def test_damage_is_remembered_whoever_finds_it(writer, how):
    assert writer.damage is None
    with pytest.raises(DatabaseDamaged, match="is damaged"):
        await getattr(writer, how)(find_damage)
    assert await writer.write(insert("one")) == "one"
    assert "is damaged" in str(writer.damage)


async def test_reads_need_no_lock(writer, other):
    other.execute("BEGIN IMMEDIATE")
    assert await writer.read(names) == []
    other.execute("ROLLBACK")


async def test_preparation_comes_before_the_transaction_and_may_fail_alone(writer):
    seen: list[bool] = []

    def prepare(transaction: Transaction) -> None:
        seen.append(transaction._connection.in_transaction)

    def fail(transaction: Transaction) -> None:
        raise ValueError("cannot be prepared")

    assert await writer.write(insert("one"), prepare) == "one"
    with pytest.raises(ValueError, match="cannot be prepared"):
        await writer.write(insert("two"), fail)
    assert seen == [False]
    assert await writer.read(names) == ["one"]


async def test_an_unawaited_job_rides_in_the_next_commit(opened):
    writer = opened(lazy_ms=60_000)
    writer.write_unawaited(insert("mark"))
    assert writer.outstanding == 0
    assert await writer.write(insert("settle")) == "settle"
    assert (writer.load.commits, writer.load.jobs) == (1, 2)
    assert await writer.read(names) == ["mark", "settle"]


async def test_an_awaited_job_does_not_wait_as_long_as_one_that_nobody_waits_for(opened, path):
    writer = opened(lazy_ms=60_000)
    for name in ("first", "second"):
        writer.write_unawaited(insert(f"mark of {name}"))
        async with asyncio.timeout(PATIENT_S):
            await writer.write(insert(name), brief=True)
    writer.close()
    assert raw_count(path) == 4


async def test_an_unawaited_job_is_written_alone_after_a_while(opened):
    writer = opened(lazy_ms=1)
    writer.write_unawaited(insert("mark"))
    while not writer.load.commits:
        await writer.read(names)
    assert await writer.read(names) == ["mark"]


async def test_what_nobody_waits_for_takes_no_thread(opened):
    writer, loop, done = opened(lazy_ms=1), asyncio.get_running_loop(), asyncio.Event()
    seen: list[threading.Thread] = []

    def mark(transaction: Transaction) -> None:
        seen.append(threading.current_thread())
        loop.call_soon_threadsafe(done.set)

    writer.write_unawaited(mark)
    await done.wait()
    assert seen == [threading.current_thread()]


async def test_what_is_run_by_itself_after_a_failure_is_asked_for_its_references(writer):
    def refer_to_nothing(transaction: Transaction) -> None:
        transaction.insert(documents.insert_links, [(7, "a", 8, False, "", 0), (7, "a", 9, False, "", 0)])

    jobs = [insert("one"), refer_to_nothing, insert("two", ValueError("a bug"))]
    results = await asyncio.gather(*(writer.write(job, brief=True) for job in jobs), return_exceptions=True)
    assert results[0] == "one"
    assert "FOREIGN KEY" in str(results[1])
    assert await writer.read(lambda transaction: transaction.fetch(Link.select())) == []


async def test_a_failing_unawaited_job_is_logged_and_harms_nobody(path, caplog):
    writer = writer_on(path)
    with caplog.at_level(logging.WARNING):
        writer.write_unawaited(insert("mark", StorageFailure("lost")))
        assert await writer.write(insert("settle")) == "settle"
    assert "lost" in caplog.text
    writer.close()
    writer.write_unawaited(insert("late"))


async def test_cancelling_the_wait_does_not_take_the_work_back(writer):
    gate = threading.Event()
    held = asyncio.ensure_future(writer.read(lambda transaction: gate.wait(PATIENT_S)))
    await asyncio.sleep(0)
    task = asyncio.ensure_future(writer.write(insert("one")))
    await asyncio.sleep(0)
    task.cancel()
    gate.set()
    await held
    assert await writer.write(insert("two")) == "two"
    assert await writer.read(names) == ["one", "two"]
    assert writer.outstanding == 0


async def test_a_closed_writer_has_written_what_waited_and_takes_no_more(path):
    writer = writer_on(path)
    task = asyncio.ensure_future(writer.write(insert("one")))
    await asyncio.sleep(0)
    writer.close()
    assert await task == "one"
    with pytest.raises(StorageFailure, match="closed"):
        await writer.write(insert("two"))
    assert raw_count(path) == 1


def test_a_loop_that_is_gone_harms_nobody(path):
    writer = writer_on(path)
    gate = threading.Event()

    async def leave() -> None:
        left.append(asyncio.ensure_future(writer.read(lambda transaction: gate.wait(PATIENT_S))))
        left.append(asyncio.ensure_future(writer.write(insert("one"))))
        await asyncio.sleep(0)

    left: list[asyncio.Future] = []
    loop = asyncio.new_event_loop()
    loop.run_until_complete(leave())
    for task in left:
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    gate.set()
    writer.close()
    assert raw_count(path) == 1
    assert writer.outstanding == 0


class Torn(sqlite3.Connection):
    """A connection that fails to commit once, and then to roll back."""

    torn = 0

    def execute(self, text, *values):
        if Torn.torn and text in {"COMMIT", "ROLLBACK"}:
            Torn.torn -= 1
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(text, *values)


async def test_a_connection_that_cannot_roll_back_is_replaced(opened):
    writer = opened(Torn)
    Torn.torn = 2
    with pytest.raises(StorageFailure, match="I/O"):
        await writer.write(insert("one"))
    assert Torn.torn == 0
    assert await writer.write(insert("two")) == "two"
    assert await writer.read(names) == ["two"]


async def test_a_bug_in_the_writer_fails_the_jobs_and_leaves_it_alive(path, caplog):
    clock = [1, 0, 2, 3, 4]

    def now() -> int:
        at = clock.pop(0)
        return 1_000 // at * at

    writer = Writer(open_writable(path, OpenSettings()), path, WriterSettings(), now)
    assert await writer.write(insert("one")) == "one"
    with pytest.raises(ZeroDivisionError):
        await writer.write(insert("two"))
    assert await writer.write(insert("three")) == "three"
    assert await writer.read(names) == ["one", "three"]
    writer.close()


async def test_every_commit_has_a_change_number_of_its_own(writer):
    first = await writer.write(lambda transaction: transaction.change)
    second = await writer.write(lambda transaction: transaction.change)
    assert second == first + 1


def named_thread(transaction: Transaction) -> str:
    transaction.execute(Job.insert({Job.name: f"job {threading.get_ident()} {len(names(transaction))}"}))
    return threading.current_thread().name


async def test_brief_jobs_are_done_on_the_event_loop_and_share_a_commit(writer):
    here = threading.current_thread().name
    assert await asyncio.gather(*(writer.write(named_thread, brief=True) for _ in range(5))) == [here] * 5
    assert (writer.load.commits, writer.load.jobs) == (1, 5)
    assert await writer.read(lambda _: threading.current_thread().name, brief=True) == here
    assert (await writer.write(named_thread)).startswith("writer")
    assert writer.outstanding == 0


async def test_the_event_loop_never_waits_for_another_programs_lock(opened, other):
    writer = opened(patience_ms=200_000)
    other.execute("BEGIN IMMEDIATE")
    waiting = [asyncio.ensure_future(writer.write(named_thread, brief=True)) for _ in range(3)]
    while not writer.locked_since:
        await asyncio.wait(waiting, timeout=0.01)  # the loop goes round
    assert not any(task.done() for task in waiting)
    other.execute("ROLLBACK")
    assert all(name.startswith("writer") for name in await asyncio.gather(*waiting))


async def test_what_a_slice_took_from_the_thread_and_could_not_write_goes_back_to_the_thread(opened, other):
    writer = opened(patience_ms=200_000)
    other.execute("BEGIN IMMEDIATE")
    with writer._inbox.changed:  # the thread does not come to its jobs meanwhile
        waiting = asyncio.ensure_future(writer.write(named_thread, brief=True))
        await asyncio.sleep(0)
        writer._leave_to_thread()
        while not writer._slow_until:
            await asyncio.wait({waiting}, timeout=0.01)  # until the slice was in vain
    other.execute("ROLLBACK")
    async with asyncio.timeout(PATIENT_S):
        assert (await waiting).startswith("writer")
    assert writer.outstanding == 0


class HeldBack:
    """The lock of a connection that the thread gets only when a slice has had it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._had = threading.Event()
        self.asked = threading.Event()

    def acquire(self, *, blocking: bool) -> bool:
        return self._lock.acquire(blocking=blocking)

    def release(self) -> None:
        self._lock.release()
        self._had.set()

    def __enter__(self) -> None:
        self.asked.set()
        self._had.wait(PATIENT_S)
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


async def test_a_slice_that_has_the_connection_before_the_thread_does_no_later_job_first(path):
    writer, done = writer_on(path), list[str]()
    writer._turn = lock = HeldBack()
    older = asyncio.ensure_future(writer.write(lambda _: done.append("older")))
    assert await asyncio.to_thread(lock.asked.wait, PATIENT_S)
    await writer.write(lambda _: done.append("newer"), brief=True)
    await older
    assert done == ["older", "newer"]
    writer.close()


class Routine:
    """Work that goes with others like it, and takes long."""

    def __call__(self, transaction: Transaction) -> int:
        return len(transaction.memory.pages_of(1))

    @staticmethod
    def together(transaction: Transaction, works: list[Routine]) -> list[int]:
        return [work(transaction) for work in works]


@pytest.mark.parametrize("here", [True, False])
async def test_what_is_known_of_pages_is_forgotten_when_an_operator_has_something_done_and_not_before(opened, here):
    writer = opened(here=here)
    page = seed("https://one.example/")
    await writer.write(lambda transaction: transaction.memory.learn(1, [page]), brief=True)
    assert await writer.write(Routine()) == 1
    await writer.write(insert("operator"))
    assert await writer.write(Routine()) == 0


async def test_a_brief_job_that_fails_takes_no_other_with_it(writer):
    bad = ValueError("a bug")
    jobs = [insert("one"), insert("two", bad), insert("three")]
    results = await asyncio.gather(*(writer.write(job, brief=True) for job in jobs), return_exceptions=True)
    assert results == ["one", bad, "three"]
    assert await writer.read(names) == ["one", "three"]


async def test_what_nobody_waits_for_does_not_go_with_a_slice_before_its_time(opened):
    writer = opened(lazy_ms=60_000)
    writer.write_unawaited(insert("mark"))
    await writer.write(insert("settle"), brief=True)
    assert await writer.read(names) == ["settle"]
    await writer.write(insert("slow"))
    assert await writer.read(names) == ["settle", "mark", "slow"]
