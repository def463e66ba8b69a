"""What view 6 reads, part by part: kept counters at their rate, what must be counted only when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.present.stat_rows import RefusedReason, by_reason
from tui_crawler.console.refresh import SLOW_MS

if TYPE_CHECKING:
    from tui_crawler.console.ports import Reports, SessionView, ValidationTotals
    from tui_crawler.domain.desk_view import ActionView, JobView, LimboView, StashView
    from tui_crawler.domain.page_view import ExitCountView
    from tui_crawler.domain.view import RunView

RUNS_SHOWN = 200
ACTIONS_SHOWN = 1_000
MOST_PAGES = 200_000
"""How many pages are looked through for what validators said: about a second."""

_RARE_MS = 5 * SLOW_MS
_ONCE_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class StashCount:
    """Stashes as they were counted at a moment (epoch ms)."""

    at: int
    stashes: tuple[StashView, ...]


@dataclass(frozen=True, slots=True)
class ExitCounts:
    """How attempts ended: in the newest run and in the last five minutes; an empty origin means all."""

    origin: str = ""
    every_ms: int = SLOW_MS
    by_time: bool = True

    def read(self, reports: Reports, now: int) -> tuple[ExitCountView, ...]:
        """The most frequent first. Raises StorageFailure."""
        return reports.exit_counts(self.origin, now)


@dataclass(frozen=True, slots=True)
class Jobs:
    """All jobs."""

    every_ms: int = SLOW_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> tuple[JobView, ...]:
        """The oldest first. Raises StorageFailure."""
        return reports.jobs()


@dataclass(frozen=True, slots=True)
class Refusals:
    """Links that filters refused, summed by reason."""

    every_ms: int = _RARE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> tuple[RefusedReason, ...]:
        """The most frequent reason first. Raises StorageFailure."""
        return by_reason(reports.refused(""))


@dataclass(frozen=True, slots=True)
class Limbo:
    """Pages that a worker has claimed and not settled."""

    every_ms: int = SLOW_MS
    by_time: bool = True

    def read(self, reports: Reports, now: int) -> tuple[LimboView, ...]:
        """Those in it for longest first. Raises StorageFailure."""
        return reports.limbo(0)


@dataclass(frozen=True, slots=True)
class Stashes:
    """Stashes; their pages are counted, so it is read once for each `asked`."""

    asked: int = 0
    every_ms: int = _ONCE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> StashCount:
        """What is in them now. Raises StorageFailure."""
        return StashCount(now, reports.stashes())


@dataclass(frozen=True, slots=True)
class ValidationCount:
    """What validators said, as it was counted at a moment (epoch ms)."""

    at: int
    totals: ValidationTotals


@dataclass(frozen=True, slots=True)
class Validations:
    """What validators said; pages are counted, at most MOST_PAGES, so it is read once for each `asked`."""

    asked: int = 0
    every_ms: int = _ONCE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> ValidationCount:
        """The sums now. Raises StorageFailure."""
        return ValidationCount(now, reports.validations(MOST_PAGES))


@dataclass(frozen=True, slots=True)
class Runs:
    """The history of runs."""

    every_ms: int = _RARE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> tuple[RunView, ...]:
        """The newest first, at most RUNS_SHOWN. Raises StorageFailure."""
        return reports.runs(RUNS_SHOWN)


@dataclass(frozen=True, slots=True)
class Sessions:
    """The processes that hold, or held, the database."""

    every_ms: int = SLOW_MS
    by_time: bool = True

    def read(self, reports: Reports, now: int) -> tuple[SessionView, ...]:
        """The newest first, at most RUNS_SHOWN. Raises StorageFailure."""
        return reports.sessions(RUNS_SHOWN)


@dataclass(frozen=True, slots=True)
class Actions:
    """What operators asked for."""

    every_ms: int = SLOW_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> tuple[ActionView, ...]:
        """The newest first, at most ACTIONS_SHOWN. Raises StorageFailure."""
        return reports.actions(ACTIONS_SHOWN)
