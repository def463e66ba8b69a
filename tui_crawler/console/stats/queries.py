"""What view 6 reads, part by part: kept counters at their rate, what must be counted only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tui_crawler.console.ports import ActionReports, OriginReports, RefusedReports
from tui_crawler.console.reading.refresh import COUNTER_MS, ONCE_MS, RARE_MS, SLOW_MS, Part, Query
from tui_crawler.text.relations.refused import by_reason

if TYPE_CHECKING:
    from tui_crawler.domain.operator_view import JobView, LimboView, StashView, ValidationTotals
    from tui_crawler.domain.page_view import ExitCountView
    from tui_crawler.domain.view import RunView


class LedgerReports(OriginReports, ActionReports, RefusedReports, Protocol):
    """What is kept beside pages and attempts."""

    def jobs(self) -> tuple[JobView, ...]: ...
    def limbo(self, older_ms: int) -> tuple[LimboView, ...]: ...
    def stashes(self) -> tuple[StashView, ...]: ...
    def validations(self, most: int) -> ValidationTotals: ...
    def runs(self, limit: int) -> tuple[RunView, ...]: ...


T = TypeVar("T")

RUNS_SHOWN = 200
ACTIONS_SHOWN = 1_000
MOST_PAGES = 200_000
"""How many pages are looked through for what validators said: about a second."""


@dataclass(frozen=True, slots=True)
class StashCount:
    """Stashes as they were counted at a moment (epoch ms)."""

    at: int
    stashes: tuple[StashView, ...]


@dataclass(frozen=True, slots=True)
class ExitCounts(Part):
    """How attempts ended: in the newest run and in the last five minutes; an empty origin means all."""

    origin: str = ""
    by_time = True

    def read(self, reports: OriginReports, now: int) -> tuple[ExitCountView, ...]:
        """The most frequent first. Raises StorageFailure."""
        return reports.exit_counts(self.origin, now)


@dataclass(frozen=True, slots=True)
class ValidationCount:
    """What validators said, as it was counted at a moment (epoch ms)."""

    at: int
    totals: ValidationTotals


def _query(of: Callable[[LedgerReports, int], T], every_ms: int = SLOW_MS, *, by_time: bool = False) -> Query[Any, T]:
    return Query(of, every_ms, by_time)


JOBS_READ = _query(lambda reports, _: reports.jobs(), COUNTER_MS)
LEDGER_QUERIES: Mapping[str, Query[Any, Any]] = {
    "refused": _query(lambda reports, _: by_reason(reports.refused("")), RARE_MS),
    "limbo": _query(lambda reports, _: reports.limbo(0), by_time=True),
    "stashes": _query(lambda reports, now: StashCount(now, reports.stashes()), ONCE_MS),
    "validation": _query(lambda reports, now: ValidationCount(now, reports.validations(MOST_PAGES)), ONCE_MS),
    "runs": _query(lambda reports, _: reports.runs(RUNS_SHOWN), RARE_MS),
    "actions": _query(lambda reports, _: reports.actions(ACTIONS_SHOWN)),
}
"""What is read for each of the ledgers."""
COUNTED = frozenset(name for name, query in LEDGER_QUERIES.items() if query.every_ms == ONCE_MS)
"""Ledgers that are counted only when one asks: it takes a while."""
