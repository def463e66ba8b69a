"""What a screen asks for and what it gets: rows read from the database as frozen values, only when they changed.

A `PartReader` lives in one thread. Each part has its own rate (docs/console.md) and is read again only after another
connection has committed, or when it depends on the time. What a reading leaves out is kept from the last one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, cast

from tui_crawler.domain.failure import BadKeptConfig
from tui_crawler.domain.idle_reason import at_rest
from tui_crawler.text.format import clock

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.ports import Reports
    from tui_crawler.domain.coverage import Coverage
    from tui_crawler.domain.operator_view import JobView
    from tui_crawler.domain.page_filter import PageWindow
    from tui_crawler.domain.page_view import ExitCountView, OriginHistory, TodoView
    from tui_crawler.domain.view import AttemptView, OriginView, RunView, TotalsView
    from tui_crawler.domain.worker import WorkerView


LONG_MS = 700
"""A lock held for so long, without anything committed meanwhile, is told; the writer of a crawl holds it for less."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock of another program: its process (0: unknown) and since when it is known (epoch ms)."""

    holder: int
    since: int


class LockWatch:
    """Tells a lock that lasts from those that every commit takes."""

    def __init__(self) -> None:
        self._seen: tuple[int, int] = (0, 0)
        self._since = self._since_mono = 0

    def look(self, holder: int, version: int, wall: int, mono: int) -> Lock | None:
        """The lock that lasts, if one does: `holder` is who has it just now (0: nobody), `version` another number
        after every commit, `wall` and `mono` are the clocks (ms)."""
        if (holder, version) != self._seen:
            self._seen, self._since, self._since_mono = (holder, version), wall, mono
        return Lock(holder, self._since) if holder and mono - self._since_mono >= LONG_MS else None


def lock_words(lock: Lock, zone: tzinfo, *, crawling: bool) -> str:
    """Whose lock it is, and what it means: what follows "database locked"."""
    who = f" (process {lock.holder})" if lock.holder else ""
    waits = "the crawl waits" if crawling else "what you ask for waits"
    return f"by another program{who} since {clock(lock.since, zone)}; {waits}"


R = TypeVar("R")
T = TypeVar("T")

WINDOW = 200
"""How many rows of a list are read at once."""

FAST_MS, COUNTER_MS, SLOW_MS, RARE_MS, ONCE_MS = 100, 250, 1_000, 5_000, 86_400_000
"""Rates, from what moves all the time to what is read once."""


class Part:
    """Something a screen shows that is read by itself; a frozen value, so that the same part is known again."""

    __slots__ = ()

    @property
    def every_ms(self) -> int:
        """Its rate: how long a reading holds at least. Then it is read again once another connection has committed."""
        return SLOW_MS

    @property
    def by_time(self) -> bool:
        """Whether it is read again also without a commit, because it depends on the time."""
        return False

    @property
    def likeness(self) -> object:
        """What is the same in it a moment later, where only time has passed."""
        return self

    @abstractmethod
    def read(self, reports: Any, now: int) -> object:
        """Reads it; `now` is epoch ms. A part names, as a protocol, the reports it takes; wiring hands in what has all.
        Runs in the reading thread. Raises StorageFailure."""


@dataclass(frozen=True, slots=True)
class Query(Part, Generic[R, T]):
    """What one function reads: the same function is the same part. `asked` again, it is read anew."""

    of: Callable[[R, int], T]
    every_ms: int = SLOW_MS
    by_time: bool = False
    asked: int = 0

    def read(self, reports: R, now: int) -> T:
        return self.of(reports, now)

    def found_in(self, shot: Snapshot) -> T | None:
        """What was read of it; None while nothing was."""
        return cast("T | None", shot.parts.get(self))


class JobReports(Protocol):
    """The jobs."""

    def jobs(self) -> tuple[JobView, ...]: ...


JOB_NAMES: Query[JobReports, tuple[str, ...]] = Query(
    lambda reports, _now: tuple(job.job for job in reports.jobs()), RARE_MS
)
"""What jobs are called, so that one can be named anywhere."""


class WorkerReports(Protocol):
    """The workers that have not ended."""

    def workers(self) -> tuple[WorkerView, ...]: ...


def _workers(reports: WorkerReports, _now: int) -> tuple[WorkerView, ...]:
    return reports.workers()


WORKERS, KNOWN_WORKERS = Query(_workers, SLOW_MS, by_time=True), Query(_workers, RARE_MS)
"""Who crawls; less often where one is only to be named."""


@dataclass(frozen=True, slots=True)
class PagePart(Part):
    """A window of a list of pages: after a page id or, newest first, before it (0: from the beginning)."""

    after_id: int = field(default=0, kw_only=True)
    newest_first: bool = field(default=False, kw_only=True)

    @property
    def counted(self) -> bool:
        """Whether `PageWindow.known` is how many pages the whole list has."""
        return True

    def at(self, after_id: int, newest_first: bool) -> Self:
        """Another window of the same list."""
        return replace(self, after_id=after_id, newest_first=newest_first)

    @abstractmethod
    def read(self, reports: Any, now: int) -> PageWindow:
        """Reads it. Raises StorageFailure."""


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """What the screen on top shows. Nothing else is read but what its header sums up: run, totals, changed origins.

    `origins`: their rows are shown, so that they are read more often. `parts` are read by themselves.
    `at_once`: whatever has changed is read, however short ago it was read last.
    """

    origins: bool = False
    events: bool = False
    origin: str = ""
    parts: tuple[Part, ...] = ()
    at_once: bool = False

    def alike(self, other: ReadingRequest) -> bool:
        """Whether another one asks for the same, perhaps as of another moment."""
        mine, theirs = ([part.likeness for part in one.parts] for one in (self, other))
        return mine == theirs and replace(self, parts=()) == replace(other, parts=())


@dataclass(frozen=True, slots=True)
class OriginDetail:
    """One origin, whole. `view` None: there is no such origin."""

    view: OriginView | None
    history: OriginHistory
    todo: tuple[TodoView, ...]
    exits: tuple[ExitCountView, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was read for `wants`. A part that is the same object as before has not changed.

    `changed` and `events` (newest first) hold only what is new since the snapshot before.
    `anew`: time went back, all that is told now is to be shown in the place of what was told before.
    `took_ms` is how long the reading took, `lock` another program's that lasts. `coverage` is read once the run has
    ended.
    """

    wants: ReadingRequest
    took_ms: int
    run: RunView | None
    totals: TotalsView | None
    changed: tuple[OriginView, ...] = ()
    events: tuple[AttemptView, ...] = ()
    origin: OriginDetail | None = None
    parts: Mapping[Part, object] = field(default_factory=dict)
    unreadable: str = ""  # why parts that need the kept configuration were not read
    lock: Lock | None = None
    anew: bool = False
    coverage: Coverage | None = None


_NOTHING = Snapshot(ReadingRequest(), 0, None, None)


class PartReader:
    """Reads what is wanted through one `Reports`. Not shared between threads."""

    def __init__(self, reports: Reports, clock: ConsoleClock) -> None:
        self._reports, self._clock = reports, clock
        self._version = -1
        self._seen: dict[object, tuple[int, int]] = {}  # part -> data version and monotonic ms of its last reading
        self._last = _NOTHING
        self._change = 0
        self._event_id = 0
        self._first = True
        self._anew = False
        self._at_once = False
        self._lock_watch = LockWatch()

    def read(self, wants: ReadingRequest) -> Snapshot | None:
        """Reads what is due; None when nothing is. Raises StorageFailure."""
        began = self._clock.mono_ms()
        version, self._version = self._version, self._reports.data_version()
        if self._version < version:
            # Time went back: what was read is not known any more.
            self._seen, self._last, self._change, self._event_id = {}, _NOTHING, 0, 0
            self._first = self._anew = True
        self._at_once, wants = wants.at_once, replace(wants, at_once=False)
        others = wants != self._last.wants
        if others:
            self._forget(wants)
        before, seen, marks = self._last, dict(self._seen), (self._change, self._event_id)
        try:
            fresh = self._read_parts(wants, began)
        except BaseException:
            self._seen, (self._change, self._event_id) = seen, marks
            raise
        if fresh is before and not self._first and not (others and fresh.parts):
            return None  # else what another screen has read already is new to this one
        self._first = False
        fresh, self._anew = replace(fresh, anew=self._anew), False
        took = self._clock.mono_ms() - began
        self._last = replace(fresh, wants=wants, changed=(), events=(), anew=False)
        return replace(fresh, wants=wants, took_ms=took)

    def close(self) -> None:
        """Closes the connection."""
        self._reports.close()

    def _forget(self, wants: ReadingRequest) -> None:
        """Drops the parts of another screen, so that they are read at once when they are wanted again."""
        old = self._last.wants
        last = self._last
        if wants.origin != old.origin:
            last = replace(last, origin=None)
            for part in ("origin", "history", "todo", "exits"):
                self._seen.pop(part, None)
        kept = {part: value for part, value in last.parts.items() if part in wants.parts}
        for gone in last.parts.keys() - kept.keys():
            self._seen.pop(gone, None)
        self._last = replace(last, parts=kept)

    def _due(self, part: object, every_ms: int, now: int, *, by_time: bool = False) -> bool:
        """Whether a part is to be read; notes that it is. `by_time` parts change without a commit."""
        version, at = self._seen.get(part, (-2, 0))
        if version != -2:
            if now - at < every_ms and not self._at_once:
                return False
            if version == self._version and not by_time:
                return False
        self._seen[part] = (self._version, now)
        return True

    def _read_run(self, shot: Snapshot, now: int) -> Snapshot:
        resting = shot.run is not None and not shot.run.live  # an engine that begins commits; one that dies does not
        waits = shot.run is None or resting
        if not (self._due("run", SLOW_MS, now, by_time=True) or (waits and self._due("run", 0, now))):
            return shot
        run = self._reports.run()
        if run == shot.run and not self._first:
            return shot
        jobs_changed = shot.run is not None and shot.run.paused_jobs != (run.paused_jobs if run is not None else ())
        if resting is not (run is not None and not run.live) or jobs_changed:
            # How every origin stands depends on whether an engine is at work, and on paused jobs.
            self._change = 0
            self._seen.pop("origins", None)
            self._seen.pop("origin", None)
        return replace(shot, run=run)

    def _read_parts(self, wants: ReadingRequest, now: int) -> Snapshot:
        reports, shot = self._reports, self._read_lock(self._read_run(self._last, now), now)
        if self._due("totals", COUNTER_MS, now):
            shot = replace(shot, totals=reports.totals())
        rests = shot.run is not None and not shot.run.live
        if rests and not self._first and self._due("coverage", SLOW_MS, now):  # not before the first paint
            shot = replace(shot, coverage=reports.coverage_statement())
        if self._due("origins", FAST_MS if wants.origins else COUNTER_MS, now):
            changes = reports.origins_changed(self._change)
            self._change = max(self._change, changes.change)
            if changes.rows:
                if shot.run is None:
                    shot = replace(shot, run=reports.run())  # it began between the two readings
                shot = replace(shot, changed=tuple(at_rest(view, shot.run) for view in changes.rows))
        if wants.events and self._due("events", COUNTER_MS, now):
            events = reports.attempts(after_id=self._event_id, limit=WINDOW)
            if events:
                self._event_id = max(self._event_id, *(event.attempt_id for event in events))
                shot = replace(shot, events=events)
        if wants.origin:
            shot = self._read_origin(shot, wants, now)
        due = [part for part in wants.parts if self._due(part, part.every_ms, now, by_time=part.by_time)]
        return self._read_due(shot, due) if due else shot

    def _read_due(self, shot: Snapshot, due: list[Part]) -> Snapshot:
        wall, values, unreadable = self._clock.wall_ms(), dict(shot.parts), shot.unreadable
        for part in due:
            try:
                values[part] = part.read(self._reports, wall)
            except BadKeptConfig as failure:  # the other parts need it not
                unreadable = str(failure)
        return replace(shot, parts=values, unreadable=unreadable)

    def _read_lock(self, shot: Snapshot, now: int) -> Snapshot:
        if not self._due("lock", COUNTER_MS, now, by_time=True):
            return shot
        lock = self._lock_watch.look(self._reports.lock_holder(), self._version, self._clock.wall_ms(), now)
        return shot if lock == shot.lock else replace(shot, lock=lock)

    def _read_origin(self, shot: Snapshot, wants: ReadingRequest, now: int) -> Snapshot:
        from tui_crawler.domain.page_view import OriginHistory  # noqa: PLC0415  not before the first paint

        reports, name = self._reports, wants.origin
        before = shot.origin or OriginDetail(None, OriginHistory((), ()), (), ())
        detail = before
        if self._due("origin", FAST_MS, now):
            view = reports.origin(name)
            detail = replace(detail, view=None if view is None else at_rest(view, shot.run))
        if self._due("todo", COUNTER_MS, now):
            detail = replace(detail, todo=reports.todo(name, WINDOW))
        if self._due("history", SLOW_MS, now):
            detail = replace(detail, history=reports.history(name))
        if self._due("exits", SLOW_MS, now):
            detail = replace(detail, exits=reports.exit_counts(name, self._clock.wall_ms()))
        return shot if detail is before else replace(shot, origin=detail)
