"""What the console knows: the newest rows it has read, and rates made from them. Knows no screen and no thread."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from tui_crawler.console.panes.header import HeaderState
from tui_crawler.console.reading.refresh import COVERAGE, DIAGNOSIS, EVENTS, JOBS, ORIGINS, TOTALS, WORKERS
from tui_crawler.domain.history.eta import Eta, estimate_run
from tui_crawler.domain.history.idle_reason import idle_reason_of_run, worked_ms
from tui_crawler.domain.record import dataclass, field
from tui_crawler.text.standing import counted_as

if TYPE_CHECKING:
    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.operator.engine_host import HostedEngine
    from tui_crawler.console.panes.notice import ReportedError
    from tui_crawler.console.reading.refresh import Lock, Snapshot
    from tui_crawler.console.replay.player import ReplayPlayer
    from tui_crawler.domain.history.coverage import Coverage
    from tui_crawler.domain.history.diagnosis import Diagnosis, DiagnosisFacts
    from tui_crawler.domain.history.trap import TrapSuspicion
    from tui_crawler.domain.records.operator_view import JobView
    from tui_crawler.domain.records.view import AttemptView, OriginView, RunView, TotalsView
    from tui_crawler.domain.records.worker import WorkerView
    from tui_crawler.text.glyphs import StateGlyph


_BUCKETS = 64
_ORIGINS_KEPT = 512
RATE_CELL_MS = 5_000
"""How long a cell of an origin's small graph is."""


@dataclass(slots=True)
class RateMeter:
    """Turns a growing counter into a rate. Each bucket of `_bucket_ms` has its number, how much came in it, and the
    longest that took."""

    _bucket_ms: int = 1_000
    _buckets: deque[tuple[int, float, float]] = field(default_factory=lambda: deque(maxlen=_BUCKETS))
    _last: float | None = None
    _first: int = 0

    def feed(self, counter: float, mono_ms: int, took: float = 0.0) -> None:
        """Notes the counter as it is at `mono_ms`, and how long the last that was counted `took`. The first value is a
        beginning, not a gain."""
        number = mono_ms // self._bucket_ms
        before, self._last = self._last, counter
        if before is None or counter < before:
            self._first = number
            self._buckets.clear()
            return
        if not (gain := counter - before):
            return
        if self._buckets and self._buckets[-1][0] == number:
            _, gained, worst = self._buckets.pop()
            gain, took = gain + gained, max(took, worst)
        self._buckets.append((number, gain, took))

    def rate(self, mono_ms: int, window_ms: int = 10_000) -> float | None:
        """Gain per second over the last whole buckets of `window_ms`; None before one bucket is over."""
        number = mono_ms // self._bucket_ms
        span = min(window_ms // self._bucket_ms, number - self._first)
        if self._last is None or span <= 0:
            return None
        gained = sum(gain for at, gain, _ in self._buckets if number - span <= at < number)
        return gained * 1_000 / (span * self._bucket_ms)

    def line(self, mono_ms: int, width: int) -> list[float | None]:
        """The gain of each of the last `width` whole buckets, oldest first; None before the meter began."""
        number = mono_ms // self._bucket_ms
        gains = {at: gain for at, gain, _ in self._buckets}
        if self._last is None:
            return [None] * width
        return [None if at < self._first else gains.get(at, 0.0) for at in range(number - width, number)]

    def worst(self, mono_ms: int, width: int) -> list[float | None]:
        """The longest that was seen to take in each of these buckets; None where nothing was counted."""
        number = mono_ms // self._bucket_ms
        seen = {at: took for at, _, took in self._buckets}
        return [seen.get(at) for at in range(number - width, number)]


@dataclass(slots=True)
class Rates:
    """Rates of counters by key, of those that were fed last. Begun anew where nothing was fed for some seconds: what
    came meanwhile did not come just now."""

    _meters: dict[Hashable, RateMeter] = field(default_factory=dict)
    _fed_at: int = 0

    def of(self, counters: Mapping[Hashable, float], mono_ms: int) -> dict[Hashable, float | None]:
        """The gain of each counter per second, now that they stand so at `mono_ms`; None before one is known."""
        before = self._meters if mono_ms - self._fed_at < _LAPSE_MS else {}
        self._meters, self._fed_at = {key: before.get(key) or RateMeter() for key in counters}, mono_ms
        for key, counter in counters.items():
            self._meters[key].feed(counter, mono_ms)
        return {key: meter.rate(mono_ms) for key, meter in self._meters.items()}


SLOW_MS = 1_000
_LAPSE_MS = 5_000
LINE_WIDTH = 32
EVENTS_KEPT = 500


@dataclass(frozen=True, slots=True)
class EngineStanding:
    """Who crawls, as the header says it; `trouble` is raw text that stands in place of the idle reason. `starting`: an
    engine is about to go on, so that it does not matter how the one before ended. `attached`: another
    process crawls."""

    mark: StateGlyph
    trouble: str = ""
    starting: bool = False
    attached: bool = False


class LiveState:
    """The newest rows by key. Fed with snapshots in the order they were read."""

    def __init__(
        self,
        clock: ConsoleClock,
        hosting: HostedEngine,
        who: str = "operator",
        player: ReplayPlayer | None = None,
        *,
        readonly: bool = False,
    ) -> None:
        """`hosting` is the engine of this console, `who` operates it, `player` where a replay is; `readonly`: it only
        watches."""
        self._clock, self.who, self.hosting, self.player, self.readonly = clock, who, hosting, player, readonly
        self.counted_ms = clock.mono_ms if player is None else clock.wall_ms
        """The time (ms) by which rates are counted."""
        self.unreadable = ""
        """Why the database cannot be read; empty while it can."""
        self.troubles: tuple[ReportedError, ...] = ()
        """What went wrong so far, as far as it is kept."""
        self._begin()

    def _begin(self) -> None:
        clock = self._clock
        self.origins: dict[str, OriginView] = {}
        self.run: RunView | None = None
        self.totals: TotalsView | None = None
        self.lock: Lock | None = None
        self.coverage: Coverage | None = None
        self._worked = (0, 0)  # the run, and how long it has been seen to work
        self.known = False
        self.jobs: tuple[JobView, ...] = ()
        """The jobs, as far as they were read."""
        self.workers: tuple[WorkerView, ...] = ()
        """Who crawls, as far as that was read."""
        self._requests = RateMeter()
        self._bytes = RateMeter()
        self.meters: OrderedDict[str, RateMeter] = OrderedDict()
        """Of the requests of origins, those that moved last."""
        self.news: set[str] = set()
        """The origins that have changed since `take_news`, or are suspected as traps since."""
        self._events: tuple[AttemptView, ...] | None = None
        self._read_at = clock.mono_ms()
        self._slow_at = -SLOW_MS
        self.diagnoses: tuple[Diagnosis, ...] = ()
        """What needs a person, the gravest first."""
        self.traps: Mapping[str, TrapSuspicion] = {}
        """The origins that look like traps by the links that the trap guard refused."""
        self._facts: DiagnosisFacts | None = None
        self.tally: Counter[str] = Counter()
        """How many origins there are of each of `TALLIES`."""
        self.unfinished = 0
        """Of how many origins the run is not over."""
        self._flying: Counter[str] = Counter()
        self._eta: Eta | None = None
        self._idle = ""

    def feed(self, shot: Snapshot | None) -> None:
        """Takes what was read; None: nothing has changed, the picture is fresh."""
        now = self._clock.mono_ms()
        self._read_at = now
        if shot is None:
            return
        if shot.anew:
            self._begin()
        coverage = COVERAGE.found_in(shot)
        if not self.known or shot.run != self.run or coverage != self.coverage:
            self._slow_at = -SLOW_MS
        self.known = True
        if (facts := DIAGNOSIS.found_in(shot)) is not None and (facts is not self._facts or shot.run != self.run):
            from tui_crawler.domain.history.diagnosis import diagnoses  # noqa: PLC0415  not before the first paint
            from tui_crawler.domain.history.trap import guard_suspicions  # noqa: PLC0415  the same

            self._facts, self.diagnoses, before = facts, diagnoses(shot.run, facts), self.traps
            self.traps = guard_suspicions(facts.traps)
            self.news |= self.traps.keys() ^ before.keys()
        self.run, self.totals, self.lock, self.coverage = shot.run, TOTALS.found_in(shot), shot.lock, coverage
        if (events := EVENTS.found_in(shot)) is not None:
            self._events = (*events, *(self._events or ()))[:EVENTS_KEPT]
        self.jobs = JOBS.found_in(shot) or self.jobs
        workers = WORKERS.found_in(shot)
        self.workers = self.workers if workers is None else workers
        for view in ORIGINS.found_in(shot) or ():
            self._count(view)
            self.origins[view.origin] = view
            self.news.add(view.origin)
            meter = self.meters.pop(view.origin, None) or RateMeter(RATE_CELL_MS)
            meter.feed(view.requests, self.counted_ms(), view.last_response_ms)
            self.meters[view.origin] = meter
        while len(self.meters) > _ORIGINS_KEPT:
            self.meters.popitem(last=False)

    def _count(self, view: OriginView) -> None:
        before, word = self.origins.get(view.origin), counted_as(view)
        self.unfinished += not view.ended
        if before is not None:
            self.unfinished -= not before.ended
            self.tally[counted_as(before)] -= 1
            self._flying[before.worker] -= bool(before.in_flight_url)
        self.tally[word] += 1
        self._flying[view.worker] += bool(view.in_flight_url)

    def why_no_pause(self) -> str:
        """Why no origin of the crawl can be paused, in words; empty: some can."""
        if self.unfinished:
            return ""
        return "every origin has ended its run" if self.origins else "no origins yet"

    def in_flight(self, view: OriginView) -> int:
        """Of how many origins of its worker a request is in flight."""
        return self._flying[view.worker]

    def take_news(self) -> set[str]:
        """The origins that have changed since this was asked last, whichever view they were read for."""
        news, self.news = self.news, set()
        return news

    def take_events(self) -> tuple[AttemptView, ...] | None:
        """Return the attempts read since the last call, for whichever view, newest first; None: the log was not."""
        events, self._events = self._events, None
        return events

    def age_ms(self) -> int:
        """How old the picture is, in ms."""
        return self._clock.mono_ms() - self._read_at

    def header(self, name: str, engine: EngineStanding, *, hz: int, stale_ms: int) -> HeaderState:
        """What the header shows now. Sums over all origins are made once a second."""
        now, wall = self._clock.mono_ms(), self._clock.wall_ms()
        counted = self.counted_ms()
        if self.totals is not None:
            self._requests.feed(self.totals.requests, counted)
            self._bytes.feed(self.totals.bytes, counted)
        if now - self._slow_at >= SLOW_MS or self._slow_at < 0:
            self._slow_at = now
            slots = self.run.max_in_flight if self.run else 0
            self._eta = estimate_run(self.origins.values(), wall, slots) if self.origins else None
            self._idle = ""
            if self.known and not engine.starting:
                views, zone = self.origins.values(), self._clock.zone
                self._idle = idle_reason_of_run(views, wall, self.run, zone=zone)
                if self.coverage is not None and self.coverage.run == self.run and self.coverage.brief:
                    self._idle += f"; {self.coverage.brief}"
        if self.run is None:
            self._worked = (0, 0)
        else:
            before = self._worked[1] if self._worked[0] == self.run.run_id else 0
            self._worked = (self.run.run_id, max(worked_ms(self.run, wall), before))
        rules = {job.ruleset_id for job in self.jobs}
        return HeaderState(
            name=name,
            engine=engine.mark,
            attached=engine.attached,
            run=self.run,
            now=wall,
            tally=dict(self.tally),
            totals=self.totals,
            requests_per_s=self._requests.rate(counted),
            bytes_per_s=self._bytes.rate(counted),
            line=tuple(self._requests.line(counted, LINE_WIDTH)),
            eta=self._eta,
            worked_ms=self._worked[1],
            idle=engine.trouble or ("" if engine.starting else self._idle),
            stale_ms=stale_ms,
            hz=hz,
            readonly=self.readonly,
            rules=rules.pop() if len(rules) == 1 else 0,
            workers=len(self.workers),
        )
