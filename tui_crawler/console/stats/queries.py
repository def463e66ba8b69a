"""What view 6 reads, part by part: kept counters at their rate, what must be counted only when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tui_crawler.console.ports import ActionReports, OriginReports, RefusedReports
from tui_crawler.console.reading.ask import COUNTER_MS, ONCE_MS, RARE_MS, Ask, asks, reads
from tui_crawler.text.format import count
from tui_crawler.text.relations.refused import by_reason

if TYPE_CHECKING:
    from tui_crawler.domain.records.operator_view import JobView, LimboView, StashView, ValidationTotals
    from tui_crawler.domain.records.page_view import ExitCountView
    from tui_crawler.domain.records.view import RunView


class LedgerReports(OriginReports, ActionReports, RefusedReports, Protocol):
    """What is kept beside pages and attempts."""

    def jobs(self) -> tuple[JobView, ...]: ...
    def limbo(self, older_ms: int) -> tuple[LimboView, ...]: ...
    def stashes(self) -> tuple[StashView, ...]: ...
    def validations(self, most: int) -> ValidationTotals: ...
    def runs(self, limit: int) -> tuple[RunView, ...]: ...


RUNS_SHOWN = 200
ACTIONS_SHOWN = 1_000
MOST_PAGES = 200_000
"""How many pages are looked through for what validators said: about a second."""


@dataclass(frozen=True, slots=True)
class LedgerCount:
    """A ledger as it was counted at a moment (epoch ms), and how far, in words."""

    at: int
    records: Sequence[Any]
    words: str = "counted"


def _checked(reports: LedgerReports, now: int, _asked: int) -> LedgerCount:
    totals = reports.validations(MOST_PAGES)
    waits = f"{count(totals.waiting)} waiting · " if totals.waiting else ""
    return LedgerCount(now, totals.sums, waits + ("counted" if totals.whole else f"first {count(totals.pages)} pages"))


@asks(by_time=True)
def exit_counts_of(reports: OriginReports, now: int, origin: str = "") -> tuple[ExitCountView, ...]:
    """Read how attempts ended in the newest run and in the last five minutes, the most frequent first; an empty origin
    means all."""
    return reports.exit_counts(origin, now)


JOBS_ASK = reads(LedgerReports.jobs, COUNTER_MS)()
LEDGER_ASKS: Mapping[str, Ask[Any]] = {
    "refused": Ask(lambda reports, _: by_reason(reports.refused("")), every_ms=RARE_MS),
    "limbo": Ask(lambda reports, _: reports.limbo(0), by_time=True),
    "stashes": Ask(lambda reports, now, _asked: LedgerCount(now, reports.stashes()), (0,), ONCE_MS),
    "validation": Ask(_checked, (0,), ONCE_MS),
    "runs": Ask(lambda reports, _: reports.runs(RUNS_SHOWN), every_ms=RARE_MS),
    "actions": Ask(lambda reports, _: reports.actions(ACTIONS_SHOWN)),
}
"""What is read for each of the ledgers."""
COUNTED = frozenset(name for name, ask in LEDGER_ASKS.items() if ask.every_ms == ONCE_MS)
"""Ledgers that are counted only when one asks: it takes a while."""
