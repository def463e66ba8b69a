"""What view 6 reads, part by part: kept counters at their rate, what must be counted only when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui_crawler.console.reading.refresh import ONCE_MS, RARE_MS, Part, Query
from tui_crawler.console.stats.rows import by_reason

if TYPE_CHECKING:
    from tui_crawler.console.ports import Reports
    from tui_crawler.domain.operator_view import StashView, ValidationTotals
    from tui_crawler.domain.page_view import ExitCountView

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

    def read(self, reports: Reports, now: int) -> tuple[ExitCountView, ...]:
        """The most frequent first. Raises StorageFailure."""
        return reports.exit_counts(self.origin, now)


@dataclass(frozen=True, slots=True)
class ValidationCount:
    """What validators said, as it was counted at a moment (epoch ms)."""

    at: int
    totals: ValidationTotals


JOBS = Query(lambda reports, _: reports.jobs())
_SESSIONS = Query(lambda reports, _: reports.sessions(RUNS_SHOWN), by_time=True)
LEDGER_QUERIES: Mapping[str, Query[Any]] = {
    "refused": Query(lambda reports, _: by_reason(reports.refused("")), RARE_MS),
    "limbo": Query(lambda reports, _: reports.limbo(0), by_time=True),
    "stashes": Query(lambda reports, now: StashCount(now, reports.stashes()), ONCE_MS),
    "validation": Query(lambda reports, now: ValidationCount(now, reports.validations(MOST_PAGES)), ONCE_MS),
    "runs": Query(lambda reports, _: reports.runs(RUNS_SHOWN), RARE_MS),
    "workers": _SESSIONS,
    "sessions": _SESSIONS,
    "actions": Query(lambda reports, _: reports.actions(ACTIONS_SHOWN)),
}
"""What is read for each of the ledgers."""
COUNTED = frozenset(name for name, query in LEDGER_QUERIES.items() if query.every_ms == ONCE_MS)
"""Ledgers that are counted only when one asks: it takes a while."""
