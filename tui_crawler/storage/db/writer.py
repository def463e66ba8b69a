"""The one writer of a database: commits at once when idle and in groups when busy.

All jobs that wait are taken into one transaction; only when one of them fails are they run again, each inside a
savepoint of its own, so that a failure neither loses nor half-writes another job. Results are handed out after COMMIT.

sqlite3 lets go of the interpreter's lock at each step and has to win it back, which beside a busy event loop costs
several times what the statement does. So brief jobs are carried out on the event loop itself, a slice of a few
milliseconds at a time, where nothing has to be waited for. The thread does what may take long, and what must wait:
for another program's lock, for a slow disk, for the checkpoint.
"""

import asyncio
import contextlib
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import peewee

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import DatabaseDamaged, DatabaseLocked, StorageFailure, StorageHeldUp
from tui_crawler.storage.db.memory import Memory
from tui_crawler.storage.db.transaction import Texts, Transaction
from tui_crawler.storage.db.write_turn import WriterLoad, WriteTurn
from tui_crawler.storage.db.writing import AlreadyStored, writing_of
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, connection_of
from tui_crawler.storage.drivers.faults import SpareDescriptors, storage_failure

RETRY_S = 0.25
"""How often what passes by itself is tried again."""

T = TypeVar("T")
Work = Callable[[Transaction], Any]
Preparation = Callable[[Transaction], None]

_log = logging.getLogger(__name__)

_LONG_SLICE_S = 0.05  # for each job: a slice that took longer had to wait for its disk
_SLOW_S = 1.0  # so long the thread does everything after that


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """`patience_ms`: how long a locked database is tried again; once it has been written to at least
    `patience_at_work_ms`, as after whatever else passes by itself (a full disk): what would be lost then was asked for
    already. `lazy_ms`: how long a job that nobody waits for may wait for company. `group`: how many jobs share a
    transaction at most. `shared`: several workers write, in turns."""

    patience_ms: int = 30_000
    patience_at_work_ms: int = 0
    lazy_ms: int = 100
    group: int = 64
    brief_group: int = 24
    gather_ms: int = 10
    here: bool = True
    shared: bool = False


class _HeldUp(Exception):
    """Something is in the way that passes by itself, and this is no place to wait for that."""


@dataclass(slots=True)
class _Job:
    """`loop` and `future` are None for a job that nobody waits for; `reads` marks one that changes nothing.

    `prepare` is done before the transaction. A `brief` job may be done on its event loop; after a `routine` one what is
    known of pages is still true; `urgent`: the thread is to do it now. It came at `since` (monotonic s), `came` (loop).
    """

    work: Work
    reads: bool
    prepare: Preparation | None = None
    loop: asyncio.AbstractEventLoop | None = None
    future: asyncio.Future[Any] | None = None
    result: Any = None
    error: BaseException | None = None
    handed_out: bool = False
    brief: bool = False
    routine: bool = False
    urgent: bool = False
    since: float = field(default_factory=time.monotonic)
    came: float = 0.0

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for it."""
        return self.future is not None


@dataclass(slots=True)
class _Inbox:
    """What waits for the writer, under one lock."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    jobs: deque[_Job] = field(default_factory=deque)
    closing: bool = False


class Writer:
    """Owns the writing connection. `database` must be open and may be used by nobody else from then on."""

    def __init__(
        self, database: peewee.Database, path: DatabasePlace, settings: WriterSettings, now: Callable[[], int]
    ) -> None:
        self._database = database
        self._path = path
        self._writing = writing_of(database, path, now)
        self._settings = settings
        self._now = now
        self._texts = Texts(database)
        self.memory = Memory()  # what is known of the database without asking it
        self._turn = threading.Lock()  # held by whoever uses the connection
        self._patient = True
        self._turns = WriteTurn(path if settings.shared and isinstance(path, Path) else None, self._slice_now)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slice_due = False  # as soon as the thread has done with the connection
        self._slice: asyncio.Handle | None = None
        self._sliced_at = 0.0
        self._slow_until = 0.0
        self._inbox = _Inbox()
        self._outstanding = 0
        self._counting = threading.Lock()
        self.locked_since = 0
        """Since when (epoch ms) another program keeps this from writing; 0 while nobody does."""
        self.held_up: StorageHeldUp | None = None
        """What keeps it from writing at present and passes by itself: what is to be stored waits for that."""
        self.told: Callable[[str], None] = lambda trouble: None
        """Called in the writer's thread with what holds it up, and with an empty text when that has passed."""
        self._give_up_at = math.inf
        self._spare = SpareDescriptors()
        self.damage: DatabaseDamaged | None = None
        """What was found when the file was no whole database any more."""
        self.load = WriterLoad()
        self._thread = threading.Thread(target=self._live, name=f"writer of {path.name}", daemon=True)
        self._thread.start()

    @property
    def outstanding(self) -> int:
        """What is done, or waited for, in a thread: real work is pending while this is not 0."""
        return self._outstanding + self._slice_due

    async def write(
        self, work: Callable[[Transaction], T], prepare: Preparation | None = None, *, brief: bool = False
    ) -> T:
        """Runs `work` in a transaction; answers after it is committed.

        `prepare` comes before, outside of it: what takes long without changing anything. `work` may be run more than
        once, and with others of its kind by `together`, if it has that. `brief`: both take a millisecond or
        two. Cancelling the wait does not take it back. Raises StorageFailure, and what `work` itself raises.
        """
        here, routine = brief and self._settings.here, brief or hasattr(work, "together")
        result: T = await self._submit(_Job(work, reads=False, prepare=prepare, brief=here, routine=routine))
        return result

    async def read(self, work: Callable[[Transaction], T], *, brief: bool = False) -> T:
        """Runs `work`, which changes nothing, outside of a transaction. Raises like `write`."""
        result: T = await self._submit(_Job(work, reads=True, brief=brief and self._settings.here))
        return result

    def write_unawaited(self, work: Work) -> None:
        """Has `work`, which is brief, ride in the next commit. A failure is logged; nothing is said when the writer is
        closed."""
        inbox = self._inbox
        with inbox.changed:
            if inbox.closing:
                return
            loop = asyncio._get_running_loop() if self._settings.here else None
            came = 0.0 if loop is None else loop.time()
            inbox.jobs.append(_Job(work, reads=False, brief=loop is not None, routine=True, came=came))
            if loop is None:
                inbox.changed.notify()
        if loop is not None:
            self._plan_marks(loop)

    def give_up(self, after_s: float) -> None:
        """What passes by itself is waited for so long at most from now on; a later call may only shorten that."""
        with self._inbox.changed:
            self._give_up_at = min(self._give_up_at, time.monotonic() + after_s)
            self._inbox.changed.notify()

    def close(self) -> None:
        """Commits what waits, ends the thread and closes the connection. Blocks until that is done."""
        with self._inbox.changed:
            self._inbox.closing = True
            self._inbox.changed.notify()
        self._thread.join()

    async def _submit(self, job: _Job) -> Any:
        loop = job.loop = asyncio.get_running_loop()
        job.future = loop.create_future()
        inbox = self._inbox
        with inbox.changed:
            if inbox.closing:
                raise StorageFailure(f"{self._path} is closed")
            inbox.jobs.append(job)
            if not job.brief:
                self._press(job)
        if job.brief:
            self._plan_slice(loop, at_once=job.reads)
        return await job.future

    def _press(self, job: _Job) -> None:
        """The thread is to do this job now. Call it with the inbox held."""
        self._count(not job.urgent)
        job.urgent = True
        self._inbox.changed.notify()

    # slices on the event loop

    def _plan_slice(self, loop: asyncio.AbstractEventLoop, *, at_once: bool = False) -> None:
        """Brief jobs are done in the loop's next round, or when those after the last slice had time to gather; what is
        written, when the turn has come that is waited for, or waiting for it is over."""
        patience = self._turns.patience_s
        due = max(self._sliced_at + self._settings.gather_ms / 1000, loop.time() + patience)
        full = patience < 0 and len(self._inbox.jobs) >= self._settings.brief_group
        soon = at_once or full or due <= loop.time()
        if self._slice is not None:
            if not isinstance(self._slice, asyncio.TimerHandle) or (not soon and self._slice.when() <= due):
                return
            self._slice.cancel()
        self._slice = loop.call_soon(self._do_slice, loop) if soon else loop.call_at(due, self._do_slice, loop)

    def _plan_marks(self, loop: asyncio.AbstractEventLoop) -> None:
        """What nobody waits for is done by itself, if no slice comes that takes it."""
        if self._slice is None and self._inbox.jobs:
            self._slice = loop.call_later(self._settings.lazy_ms / 1000, self._do_slice, loop)

    def _do_slice(self, loop: asyncio.AbstractEventLoop) -> None:
        """Does the brief jobs that stand first, when nobody has the connection; the thread does what must wait."""
        self.load.came(self._slice, loop.time())
        self._slice, self._loop = None, loop
        self._slice_due = True  # before the look at the connection: the thread looks at this when it lets go of that
        if not self._turn.acquire(blocking=False):
            return
        self._slice_due = False
        try:
            if loop.time() < self._slow_until:
                self._leave_to_thread()
                self._plan_marks(loop)
                return
            jobs = self._take_brief(loop.time(), writes=self._turns.take())
            if jobs:
                self._perform_here(jobs, loop)
        finally:
            self._turns.give()
            self._turn.release()
        self._sliced_at = loop.time()
        following = next((job for job in tuple(self._inbox.jobs) if job.awaited), None)
        if following is not None and following.brief and not self._inbox.closing:
            self._plan_slice(loop)
        elif following is not None:
            self._leave_to_thread()
        else:
            self._plan_marks(loop)

    def _slice_now(self) -> None:
        """In another thread: what a slice has waited for is there."""
        loop = self._loop
        with contextlib.suppress(RuntimeError):  # the loop is closed
            if loop is not None:
                loop.call_soon_threadsafe(self._do_slice, loop)
                return
        with self._turn:
            self._turns.give()
        if loop is None and self._slice_due:  # it was wanted for the first time while the connection was held here
            self._slice_now()

    def _take_brief(self, now: float, *, writes: bool) -> list[_Job]:
        inbox, jobs, kept = self._inbox, list[_Job](), list[_Job]()
        before = now - self._settings.lazy_ms / 1000
        with inbox.changed:
            while inbox.jobs and len(jobs) < self._settings.brief_group:
                if not inbox.jobs[0].brief or not (writes or inbox.jobs[0].reads):
                    break
                job = inbox.jobs.popleft()
                (jobs if job.awaited or job.came <= before else kept).append(job)
            inbox.jobs.extendleft(reversed(kept))
        return jobs

    def _leave_to_thread(self) -> None:
        with self._inbox.changed:
            for job in self._inbox.jobs:
                if job.awaited:
                    self._press(job)

    def _perform_here(self, jobs: list[_Job], loop: asyncio.AbstractEventLoop) -> None:
        """A slice. Where another program holds the lock, the jobs wait in the thread, as they came."""
        began = loop.time()
        try:
            self._perform(jobs, patient=False)
        except _HeldUp:
            with self._inbox.changed:
                self._inbox.jobs.extendleft(reversed([job for job in jobs if not job.handed_out]))
            self._leave_to_thread()
            self._slow_until = loop.time() + _SLOW_S
        except Exception as error:  # a bug: nobody may wait for ever because of it
            _log.exception("the writer of %s", self._path)
            self._fail(jobs, error)
        if loop.time() - began > _LONG_SLICE_S * max(1, len(jobs)):
            self._slow_until = loop.time() + _SLOW_S

    # the thread

    def _count(self, change: int) -> None:
        with self._counting:
            self._outstanding += change

    def _live(self) -> None:
        """The thread. It takes jobs with the connection in hand: else a slice might do later ones before them."""
        try:
            while self._is_wanted():
                with self._turn:
                    with self._inbox.changed:  # none where slices have done them meanwhile
                        waiting = self._inbox.jobs
                        jobs = [waiting.popleft() for _ in range(min(len(waiting), self._settings.group))]
                    try:
                        self._perform(jobs, patient=True)
                    except Exception as error:  # a bug: nobody may wait for ever because of it
                        _log.exception("the writer of %s", self._path)
                        self._fail(jobs, error)
                    self._turns.give()
                if self._slice_due:
                    self._slice_now()
        finally:
            self._writing.close()
            self._spare.release()
            self._turns.close()

    def _is_wanted(self) -> bool:
        """Waits until there is something to do; False when the writer is closed and has nothing left."""
        inbox = self._inbox
        with inbox.changed:
            while not inbox.closing and not any(job.urgent for job in inbox.jobs):
                oldest = next((job.since for job in inbox.jobs if not (job.awaited or job.brief)), math.inf)
                left = oldest + self._settings.lazy_ms / 1000 - time.monotonic()
                if left <= 0:
                    break
                inbox.changed.wait(min(left, threading.TIMEOUT_MAX))
            return bool(inbox.jobs)

    def _take_late(self, taken: list[_Job], *, apart: bool) -> list[_Job]:
        """Adds routine jobs that came while the lock was waited for to those `taken`; answers which can be done."""
        before, waiting = len(taken), self._inbox.jobs
        most = self._settings.group if self._patient and not apart else 0
        with self._inbox.changed:
            while len(taken) < most and waiting and waiting[0].routine and not waiting[0].reads:
                taken.append(waiting.popleft())
        return self._prepared(taken[before:])

    def _prepared(self, jobs: list[_Job]) -> list[_Job]:
        return [job for job in jobs if job.prepare is None or self._alone(job, job.prepare)]

    def _fail(self, jobs: list[_Job], error: Exception) -> None:
        for job in jobs:
            job.error = job.error or error
        self._abandon()
        self._hand_out(jobs)

    def _perform(self, jobs: list[_Job], *, patient: bool) -> None:
        """Reads first: they need no transaction and no company. Then the writes, in one. `patient`: what passes
        by itself is waited for; else _HeldUp is raised, and nothing was done."""
        self._patient = patient
        readers = [job for job in jobs if job.reads]
        for job in readers:
            self._alone(job, job.work)
        self._hand_out(readers)
        ready = self._prepared([job for job in jobs if not job.reads])
        if ready:
            self._commit(ready, jobs)
        self._hand_out(jobs)

    def _alone(self, job: _Job, work: Work) -> bool:
        """Does a piece of a job outside of a transaction, again after what passes by itself."""
        began = time.monotonic()
        while not self._attempt(job, work):
            if job.error is None or not self._waits(job.error, began):
                return False
        return True

    def _attempt(self, job: _Job, work: Work, transaction: Transaction | None = None) -> bool:
        """Does a piece of a job, by itself or in a transaction, and keeps its result or its error."""
        job.error = None
        try:
            if transaction is None:
                transaction = Transaction(connection_of(self._database), self._texts, self._now())
            job.result = work(transaction)
        except DATABASE_ERRORS as error:
            job.error = self._failure_of(error)
        except Exception as error:
            job.error = error
        return job.error is None

    def _commit(self, waiting: list[_Job], taken: list[_Job]) -> None:
        """One transaction for all jobs that wait, and those that come before it has its lock. Where one of them fails,
        they are run again, each in a savepoint. A full disk may roll the whole of it back: then all are run again,
        those that it has failed when there is room, or not at all when that is not to be waited for."""
        began, apart = time.monotonic(), False
        while waiting:
            try:
                self._writing.check()
                transaction = self._begun(apart=apart)
                waiting += self._take_late(taken, apart=apart)
                if not apart and not self._together(waiting, transaction):
                    self._abandon()
                    apart = True
                    if len(waiting) == 1 and waiting[0].error is not None:
                        raise waiting[0].error
                    continue
                lost = [job for job in waiting if apart and not self._in_savepoint(job, transaction)]
                held = next((job.error for job in lost if isinstance(job.error, StorageHeldUp)), None)
                if held is not None and self._may_wait(held, began):
                    raise held
                if not self._in_transaction():
                    waiting = [job for job in waiting if job not in lost]
                    apart = True
                    continue
                self._writing.commit()
            except AlreadyStored:
                self._abandon()
            except Exception as error:
                self._abandon()
                failure = self._failure_of(error) if isinstance(error, (*DATABASE_ERRORS, StorageFailure)) else error
                if self._waits(failure, began):
                    continue
                for job in waiting:
                    job.error = job.error or failure
                return
            self.memory.keep()
            self.load.committed(sum(job.error is None for job in waiting), time.monotonic() - began)
            self._passed()
            return

    def _together(self, jobs: list[_Job], transaction: Transaction) -> bool:
        """Runs jobs one after the other, those that can be done as one so; False when something failed."""
        if not all(job.routine for job in jobs):
            self.memory.forget_pages()  # an operator may have changed what is known of them
        for together, some in groupby(jobs, lambda job: getattr(job.work, "together", None)):
            if together is None:
                if not all(self._attempt(job, job.work, transaction) for job in some):
                    return False
                continue
            members = list(some)
            try:
                results = together(transaction, [job.work for job in members])
            except Exception:
                _log.debug("a group is stored one by one", exc_info=True)
                return False
            for job, result in zip(members, results, strict=True):
                job.result, job.error = result, None
        with contextlib.suppress(*DATABASE_ERRORS):
            self._writing.settle()
            return True
        return False

    def _begun(self, *, apart: bool) -> Transaction:
        """A transaction with its change number, which every commit raises by one. On the event loop the lock for
        writing is not waited for."""
        if self._patient:
            self._turns.take(wait=True)
        self._writing.begin(patient=self._patient, apart=apart)
        transaction = Transaction(connection_of(self._database), self._texts, self._now(), memory=self.memory)
        self._writing.number(transaction)
        return transaction

    def _may_wait(self, failure: BaseException, began: float) -> bool:
        """Whether a failure passes by itself, and what `began` then (monotonic s) may go on waiting for that."""
        if not isinstance(failure, StorageHeldUp) or self._inbox.closing:
            return False
        at_start = self._settings.patience_ms if isinstance(failure, DatabaseLocked) else 0
        patience_ms = max(at_start, self._settings.patience_at_work_ms if self.load.commits else 0)
        return time.monotonic() < min(began + patience_ms / 1000, self._give_up_at)

    def _waits(self, failure: BaseException, began: float) -> bool:
        """Waits a little for a failure to pass; False when it is not to be waited for any more. Raises _HeldUp on the
        event loop, where nothing is waited for."""
        self._spare.release()
        self._turns.give()
        if not isinstance(failure, StorageHeldUp):
            return False
        if not self._patient:
            raise _HeldUp from failure
        if not self._may_wait(failure, began):
            return False
        if isinstance(failure, DatabaseLocked):
            self.locked_since = self.locked_since or self._now()
        if str(self.held_up or "") != str(failure):
            self.held_up = failure
            self.told(str(failure))
        with self._inbox.changed:
            left = min(RETRY_S, self._give_up_at - time.monotonic())
            self._inbox.changed.wait_for(lambda: self._inbox.closing or self._give_up_at <= time.monotonic(), left)
        if self._writing.is_lost:
            self._abandon()
        return True

    def _passed(self) -> None:
        """Something was committed: nothing is in the way any more."""
        self.locked_since = 0
        if self.held_up is not None:
            self.held_up = None
            self.told("")
        self._spare.keep()

    def _in_savepoint(self, job: _Job, transaction: Transaction) -> bool:
        """Runs a job so that a failure takes back nothing but its own; False when it failed."""
        if not self._in_transaction():
            return True  # an earlier job's failure has ended the transaction: this one is run again
        connection = connection_of(self._database)
        connection.execute("SAVEPOINT job")
        if self._attempt(job, job.work, transaction):
            connection.execute("RELEASE job")
            return True
        self.memory.forget()
        if self._in_transaction():
            connection.execute("ROLLBACK TO job")
            connection.execute("RELEASE job")
        return False

    def _in_transaction(self) -> bool:
        return bool(connection_of(self._database).in_transaction)

    def _failure_of(self, error: BaseException) -> StorageFailure:
        failure = error if isinstance(error, StorageFailure) else storage_failure(error, self._path)
        if isinstance(failure, DatabaseDamaged):
            self.damage = self.damage or failure
        return failure

    def _abandon(self) -> None:
        """Leaves no transaction behind; a connection that cannot even roll back is replaced."""
        self.memory.forget()
        with contextlib.suppress(*DATABASE_ERRORS):
            self._writing.settle()
        try:
            if self._in_transaction():
                connection_of(self._database).execute("ROLLBACK")
        except DATABASE_ERRORS:
            try:
                self._writing.connect_anew()
            except DATABASE_ERRORS as error:
                _log.debug("%s", storage_failure(error, self._path))  # the next statement says it, too

    def _hand_out(self, jobs: list[_Job]) -> None:
        """Gives the results to their loops, one call per loop."""
        by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
        for job in jobs:
            if job.handed_out:
                continue
            job.handed_out = True
            if job.loop is not None:
                by_loop.setdefault(job.loop, []).append(job)
            elif job.error is not None:
                _log.warning("a mark was not stored: %s", job.error)
        for loop, theirs in by_loop.items():
            if asyncio._get_running_loop() is loop:
                self._resolve(theirs)
                continue
            try:
                loop.call_soon_threadsafe(self._resolve, theirs)
            except RuntimeError:  # the loop is closed: nobody waits any more
                self._count(-sum(job.urgent for job in theirs))

    def _resolve(self, jobs: list[_Job]) -> None:
        """On the event loop: sets the results of jobs that are still waited for."""
        for job in jobs:
            if job.future is None or job.future.done():
                continue
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)
        self._count(-sum(job.urgent for job in jobs))
