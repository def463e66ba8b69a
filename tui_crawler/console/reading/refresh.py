"""What was read for a screen: frozen values, read from the database only when they changed.

A `SnapshotReader` lives in one thread. Each ask has its own rate (docs/console.md) and is read again only after another
connection has committed, or when it depends on the time. What a reading leaves out is kept from the last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from tui_crawler.console.reading.ask import (
    COUNTER_MS,
    FAST_MS,
    RARE_MS,
    SLOW_MS,
    WINDOW,
    Ask,
    NewsAsk,
    ReadingRequest,
    reads,
)
from tui_crawler.domain.history.idle_reason import at_rest
from tui_crawler.domain.record import dataclass, field, replace
from tui_crawler.domain.records.failure import BadKeptConfig
from tui_crawler.text.format import clock

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.ports import Reports
    from tui_crawler.domain.history.coverage import Coverage
    from tui_crawler.domain.history.diagnosis import DiagnosisFacts
    from tui_crawler.domain.records.operator_view import JobView
    from tui_crawler.domain.records.view import AttemptView, OriginView, RunView, TotalsView
    from tui_crawler.domain.records.worker import WorkerView


LONG_MS = 700
"""A lock held for so long, without anything committed meanwhile, is told; the writer of a crawl holds it for less."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock of another program: its process (0: unknown) and since when it is known (epoch ms)."""

    holder: int
    since: int


@dataclass(slots=True)
class LockWatch:
    """Tells a lock that lasts from those that every commit takes."""

    _seen: tuple[int, int] = 0, 0
    _since: int = 0
    _since_mono: int = 0

    def look(self, holder: int, version: int, wall: int, mono: int) -> Lock | None:
        """The lock that lasts, if one does: `holder` is who has it just now (0: nobody), `version` another number
        after every commit, `wall` and `mono` are the clocks (ms)."""
        if (holder, version) != self._seen:
            self._seen, self._since, self._since_mono = (holder, version), wall, mono
        return Lock(holder, self._since) if holder and mono - self._since_mono >= LONG_MS else None


def lock_words(lock: Lock, zone: tzinfo, *, crawling: bool) -> str:
    """Whose lock it is, and what it means: what follows "database locked"."""
    who = f" (process {lock.holder})" if lock.holder else ""
    waits = "the crawl waits" if crawling else "your commands wait"
    return f"by another program{who} since {clock(lock.since, zone)}; {waits}"


def origins_since(reports: Reports, _now: int, since: int) -> tuple[int, tuple[OriginView, ...]]:
    """Read the origins that changed since a change number, and the last one."""
    rows = reports.origins_changed(since)
    return max((row.change for row in rows), default=since), rows


def attempts_since(reports: Reports, _now: int, since: int) -> tuple[int, tuple[AttemptView, ...]]:
    """Read the newest attempts after an id, and the last id."""
    events = reports.attempts(after_id=since, limit=WINDOW)
    return max((event.attempt_id for event in events), default=since), events


ORIGINS: NewsAsk[OriginView] = NewsAsk(origins_since, every_ms=FAST_MS)
"""The origins that changed. Every reading has them for the header; asked for where their rows are shown, more often."""
EVENTS: NewsAsk[AttemptView] = NewsAsk(attempts_since, every_ms=COUNTER_MS)
"""The newest attempts of the whole crawl, newest first."""


class HeaderReports(Protocol):
    """What header, tabs and prompt need of the whole crawl, and the workers that have not ended."""

    def totals(self) -> TotalsView: ...
    def coverage_statement(self) -> Coverage: ...
    def diagnosis_facts(self) -> DiagnosisFacts: ...
    def jobs(self) -> tuple[JobView, ...]: ...
    def workers(self) -> tuple[WorkerView, ...]: ...


TOTALS = reads(HeaderReports.totals, COUNTER_MS)()
COVERAGE = reads(HeaderReports.coverage_statement)()
"""What the run covers; it takes a while to read."""
JOBS = reads(HeaderReports.jobs, RARE_MS)()
WORKERS = reads(HeaderReports.workers, by_time=True)()
DIAGNOSIS = reads(HeaderReports.diagnosis_facts, RARE_MS)()
_CREW = replace(WORKERS, every_ms=RARE_MS, by_time=False)
_HEADER_ASKS = TOTALS, COVERAGE, DIAGNOSIS, JOBS, WORKERS


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was read for `wants`, by its ask. A value that is the same object as before has not changed.

    `anew`: time went back, all that is told now is to be shown in the place of what was told before.
    `took_ms` is how long the reading took, `lock` another program's that lasts.
    """

    wants: ReadingRequest
    took_ms: int
    run: RunView | None
    parts: Mapping[Ask[Any], Any] = field(default_factory=dict)
    unreadable: str = ""  # why what needs the kept configuration was not read
    lock: Lock | None = None
    anew: bool = False


_NOTHING = Snapshot(ReadingRequest(), 0, None)
_RUN, _LOCK = "run", "lock"


class SnapshotReader:
    """Reads what is wanted through one `Reports`. Not shared between threads."""

    def __init__(self, reports: Reports, clock: ConsoleClock) -> None:
        self._reports, self._clock = reports, clock
        self._version = -1
        self._seen: dict[object, tuple[int, int]] = {}  # ask -> data version and monotonic ms of its last reading
        self._reached: dict[Ask[Any], int] = {}  # how far the news are known
        self._last = _NOTHING
        self._first, self._anew, self._at_once = True, False, False
        self._lock_watch = LockWatch()

    def read(self, wants: ReadingRequest) -> Snapshot | None:
        """Reads what is due; None when nothing is. Raises StorageFailure."""
        began = self._clock.mono_ms()
        version, self._version = self._version, self._reports.data_version()
        if self._version < version:
            # Time went back: what was read is not known any more.
            self._seen, self._last, self._reached = {}, _NOTHING, {}
            self._first = self._anew = True
        self._at_once = wants.at_once
        others = wants != self._last.wants
        if others:  # what another screen asked for, or not so often, is read at once
            rates = {ask: ask.every_ms for ask in self._last.wants.asks}
            kept = (ask for ask in wants.asks if ask.every_ms >= rates.get(ask, 0))
            known = {*kept, ORIGINS, EVENTS, *_HEADER_ASKS, _RUN, _LOCK}
            self._last = replace(self._last, parts={ask: one for ask, one in self._last.parts.items() if ask in known})
            self._seen = {ask: at for ask, at in self._seen.items() if ask in known}
        before, seen, reached = self._last, dict(self._seen), dict(self._reached)
        try:
            fresh = self._read_due(wants, self._read_lock(self._read_run(before, began), began), began)
        except BaseException:
            self._seen, self._reached = seen, reached
            raise
        if fresh is before and not self._first and not (others and fresh.parts):
            return None  # else what another screen has read already is new to this one
        self._first = False
        fresh, self._anew = replace(fresh, wants=wants, anew=self._anew), False
        lasting = {ask: value for ask, value in fresh.parts.items() if not isinstance(ask, NewsAsk)}
        self._last = replace(fresh, parts=lasting, anew=False)
        return replace(fresh, took_ms=self._clock.mono_ms() - began)

    def _due(self, ask: object, every_ms: int, now: int, *, by_time: bool = False) -> bool:
        """Whether an ask is to be read; notes that it is. What is `by_time` changes without a commit."""
        if (seen := self._seen.get(ask)) is not None:
            version, at = seen
            if (now - at < every_ms and not self._at_once) or (version == self._version and not by_time):
                return False
        self._seen[ask] = (self._version, now)
        return True

    def _read_run(self, shot: Snapshot, now: int) -> Snapshot:
        resting = shot.run is not None and not shot.run.live  # an engine that begins commits; one that dies does not
        waits = shot.run is None or resting
        if not (self._due(_RUN, SLOW_MS, now, by_time=True) or (waits and self._due(_RUN, 0, now))):
            return shot
        run = self._reports.run()
        if run == shot.run and not self._first:
            return shot
        jobs_changed = shot.run is not None and shot.run.paused_jobs != (run.paused_jobs if run is not None else ())
        if resting is not (run is not None and not run.live) or jobs_changed:
            # How every origin stands depends on whether an engine is at work, and on paused jobs.
            self._reached.pop(ORIGINS, None)
            self._seen.pop(ORIGINS, None)
        return replace(shot, run=run)

    def _read_due(self, wants: ReadingRequest, shot: Snapshot, now: int) -> Snapshot:
        """Reads what the header needs, what the screen asks for, and of asks that are equal the first."""
        rests = shot.run is not None and not shot.run.live and not self._first  # not before the first paint
        header = (TOTALS, *(one for one in wants.asks if one == ORIGINS))
        tabs = () if self._first else (JOBS, _CREW, DIAGNOSIS)  # at the end: a screen may ask more often
        wanted = dict.fromkeys((*header, ORIGINS.every(COUNTER_MS), *wants.asks, *tabs))
        due = [ask for ask in wanted if self._due(ask, ask.every_ms, now, by_time=ask.by_time)]
        if rests and not due and self._due(COVERAGE, COVERAGE.every_ms, now):  # it takes long: nothing waits for it
            due = [COVERAGE]
        wall, fresh, unreadable = self._clock.wall_ms(), dict[Ask[Any], Any](), shot.unreadable
        for ask in due:
            try:
                if not isinstance(ask, NewsAsk):
                    fresh[ask] = ask.read(self._reports, wall)
                elif (news := self._news(ask, wall)) is not None:
                    fresh[ask] = news
            except BadKeptConfig as failure:  # the others need it not
                unreadable = str(failure)
        if fresh.get(ORIGINS):
            if shot.run is None:
                shot = replace(shot, run=self._reports.run())  # it began between the two readings
            fresh[ORIGINS] = tuple(at_rest(view, shot.run) for view in fresh[ORIGINS])
        if not fresh and unreadable == shot.unreadable:
            return shot
        return replace(shot, parts={**shot.parts, **fresh}, unreadable=unreadable)

    def _news(self, ask: NewsAsk[Any], wall: int) -> tuple[Any, ...] | None:
        before = self._reached.get(ask)
        reached, rows = ask.since(before or 0).read(self._reports, wall)
        self._reached[ask] = max(before or 0, reached)
        return rows if rows or before is None else None

    def _read_lock(self, shot: Snapshot, now: int) -> Snapshot:
        if not self._due(_LOCK, COUNTER_MS, now, by_time=True):
            return shot
        lock = self._lock_watch.look(self._reports.lock_holder(), self._version, self._clock.wall_ms(), now)
        return shot if lock == shot.lock else replace(shot, lock=lock)
