"""What the events of a run add up to: how far each origin is, and the run as a whole. Pure."""

from collections import Counter
from collections.abc import Mapping

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.coverage import Coverage, CoverageEvent
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.exit_code import (
    BLOCKED,
    DISPOSITIONS,
    AttemptKind,
    ExitCode,
    PatienceChange,
    is_problem,
)
from tui_crawler.domain.records.status_words import GAVE_UP, unreachable_words

RATE_SECONDS = 30
"""The rate is the mean of so many seconds."""

MOST_COMPLAINTS = 100

_COMPLAINING = frozenset({"run_started", "worker_ended", "run_finished"})
_LEFT: Mapping[str, object] = {"todo": 0, "pages_done": 0, "pages_failed": 0}  # of an origin that another worker has


@dataclass(slots=True)
class OriginProgress:
    """The progress of one origin. `until` is the epoch ms until which it waits; `setbacks` counts what cost patience;
    `without_robots` says why its robots.txt could not be had the last time (raw), empty where it could."""

    origin: str
    state: str = "crawling"  # crawling, waiting, paused, finished
    todo: int = 0
    pages_done: int = 0
    pages_failed: int = 0
    not_canonical: int = 0
    patience: int | None = None
    delay_ms: int = 0
    response_ms: int = 0
    until: int = 0
    last_exit_code: str = ""
    reason: str = ""
    setbacks: dict[str, int] = field(default_factory=dict)
    without_robots: str = ""

    @property
    def gave_up(self) -> bool:
        """Return whether this origin's run ended by patience or database_error."""
        return self.reason in GAVE_UP

    def eta_ms(self, now: int) -> int | None:
        """Return when the todo list is done, in ms from `now` (epoch ms); None when that cannot be told."""
        turn = self.delay_ms + self.response_ms
        if self.state in {"paused", "finished"} or not self.todo or not turn:
            return None
        return max(0, self.until - now) + self.todo * turn


@dataclass(slots=True)
class RunTotals:
    """Folds the events of one run. Fields may be read at any time between two events; times are epoch ms.

    `turns` counts those of the run that made a request, as `max_requests` does; those of its earlier life, too, when it
    was continued. `todo`, `pages_done` and `pages_failed` are sums over its origins of how their pages stand, whichever
    run brought them there.
    `refused_query` is the first URL that was refused and has a query (raw), empty while there is none.
    `trouble` is why the database takes nothing at present (raw), empty while it does; `complaints` the first of what
    went wrong beside the crawl.
    """

    origins: dict[str, OriginProgress] = field(default_factory=dict)
    started_at: int = 0
    last_at: int = 0
    turns: int = 0
    todo: int = 0
    pages_done: int = 0
    pages_failed: int = 0
    reason: str = ""
    continued: bool = False
    trouble: str = ""
    refused_query: str = ""
    complaints: list[str] = field(default_factory=list)
    coverage: Coverage | None = None
    _seconds: Counter[int] = field(default_factory=Counter)  # turns by the second (epoch) of the last 30

    @property
    def elapsed_ms(self) -> int:
        """From the first event to the last."""
        return max(0, self.last_at - self.started_at)

    def rate(self, now: int) -> float:
        """Turn with a request per second over the last `RATE_SECONDS` before `now` (epoch ms)."""
        last = now // 1_000
        span = min(RATE_SECONDS, max(1, last - self.started_at // 1_000))
        return sum(count for second, count in self._seconds.items() if second > last - RATE_SECONDS) / span

    def take(self, event: Event) -> None:
        extra = _LEFT if event.event == "origin_left" else dict(event.extra)
        if (complaint := complaint_of(event)) and len(self.complaints) < MOST_COMPLAINTS:
            self.complaints.append(complaint)
        self.started_at = self.started_at or event.at
        self.last_at = max(self.last_at, event.at)
        if event.origin:
            if event.exit_code == ExitCode.blocked_url_by_local_policy.name and "?" in event.url:
                self.refused_query = self.refused_query or event.url
            self._take_origin(self.origins.setdefault(event.origin, OriginProgress(event.origin)), event, extra)
        elif isinstance(event, CoverageEvent):
            self.coverage = event.coverage
        elif event.event == "run_started":
            self.continued = bool(extra.get("continued"))
            self.turns += number(extra, "requests", 0)
        elif event.event == "database_failed":
            self.trouble = str(extra.get("message", ""))
        elif event.event == "database_restored":
            self.trouble = ""
        elif event.event == "run_finished":
            self.reason = str(extra.get("reason", ""))
            self.turns = number(extra, "requests", self.turns)
            self.pages_done = number(extra, "pages_done", self.pages_done)
            self.pages_failed = number(extra, "pages_failed", self.pages_failed)

    def _take_origin(self, one: OriginProgress, event: Event, extra: Mapping[str, object]) -> None:
        todo = number(extra, "todo", one.todo)
        done = number(extra, "pages_done", one.pages_done)
        failed = number(extra, "pages_failed", one.pages_failed)
        self.todo += todo - one.todo
        self.pages_done += done - one.pages_done
        self.pages_failed += failed - one.pages_failed
        one.todo, one.pages_done, one.pages_failed = todo, done, failed
        match event.event:
            case "attempt_finished" | "robots_fetched":
                self._take_attempt(one, event, extra)
            case "origin_waiting":
                one.state, one.until = "waiting", number(extra, "until", 0)
            case "origin_paused":
                one.state = "paused"
            case "origin_finished":
                one.state, one.reason = "finished", str(extra.get("reason", ""))
            case "origin_started":
                one.state = "paused" if extra.get("paused") else "crawling"
                one.reason = ""
            case "origin_resumed":
                one.state = "crawling"
            case "origin_left":
                del self.origins[one.origin]

    def _take_attempt(self, one: OriginProgress, event: Event, extra: Mapping[str, object]) -> None:
        one.last_exit_code = event.exit_code
        counts = extra.get("response_ms") is None and extra.get("http_status") is not None  # it did not at first
        one.not_canonical += (event.exit_code == ExitCode.not_canonical.name) - counts
        one.without_robots = _without_robots(event, extra)
        if one.state != "paused":
            one.state = "crawling"
        one.delay_ms = number(extra, "delay_ms", one.delay_ms)
        before, one.patience = one.patience, number(extra, "patience", -1)
        if one.reason in GAVE_UP and one.patience > 0:  # the operator has topped it up
            one.reason = ""
        lost, code = before is None or before < 0 or one.patience < before, ExitCode.__members__.get(event.exit_code)
        if lost and code is not None and DISPOSITIONS[code].patience is not PatienceChange.none:
            one.setbacks[event.exit_code] = one.setbacks.get(event.exit_code, 0) + 1
        if extra.get("response_ms") is not None:
            one.response_ms = number(extra, "response_ms", 0)
            self.turns += 1
            self._seconds[event.at // 1_000] += 1
            while (first := next(iter(self._seconds))) <= event.at // 1_000 - RATE_SECONDS:
                del self._seconds[first]


def _without_robots(event: Event, extra: Mapping[str, object]) -> str:
    """Return why a robots.txt could not be had; empty for one that could, and for a page."""
    code = ExitCode.__members__.get(event.exit_code)
    if event.event != "robots_fetched" or not is_problem(code, AttemptKind.robots.value):
        return ""
    status = extra.get("http_status")
    return unreachable_words(status if isinstance(status, int) else None, str(extra.get("message", "")))


def complaint_of(event: Event) -> str:
    """Return what went wrong beside the crawl (raw), for stderr: a worker that is gone, why a run ended as it did, what
    the machine does not allow it; mostly empty."""
    return str(dict(event.extra).get("message", "")) if event.event in _COMPLAINING else ""


def number(extra: Mapping[str, object], key: str, default: int) -> int:
    """A whole number of an event's further fields, or `default`."""
    value = extra.get(key)
    return value if isinstance(value, int) else default


@dataclass(slots=True)
class Rehearsed:
    """The rehearsed end of an origin; `took_ms` is from the start of the run to its last attempt."""

    origin: str
    fetched: int = 0
    refused: int = 0
    not_stored: int = 0
    took_ms: int = 0
    finish_reason: str = ""


class Rehearsal:
    """A listener that counts. Refusals are counted by page, each once; robots.txt is not counted."""

    def __init__(self) -> None:
        self.origins: dict[str, Rehearsed] = {}
        self._began = 0

    def on_event(self, event: Event) -> None:
        self._began = self._began or event.at
        if not event.origin:
            return
        one, extra = self.origins.setdefault(event.origin, Rehearsed(event.origin)), dict(event.extra)
        match event.event:
            case "attempt_finished":
                one.fetched += extra["response_ms"] is not None
                one.refused += extra["response_ms"] is None and ExitCode[event.exit_code] in BLOCKED
                one.took_ms = event.at - self._began
            case "origin_finished":
                one.finish_reason = str(extra["reason"])
