"""The ledgers, and what is read for each: what must be counted only when asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tui_crawler.console.ports import ActionReports, RefusedReports
from tui_crawler.console.reading.ask import ONCE_MS, RARE_MS, Ask
from tui_crawler.domain.records.operator_view import LimboView, StashView, ValidationTotals
from tui_crawler.domain.records.view import RunView
from tui_crawler.text.columns import Relation
from tui_crawler.text.format import count
from tui_crawler.text.relations.actions import ACTIONS
from tui_crawler.text.relations.limbo import LIMBO
from tui_crawler.text.relations.refused import REFUSED, by_reason
from tui_crawler.text.relations.runs import RUNS
from tui_crawler.text.relations.stashes import STASHES
from tui_crawler.text.relations.validations import VALIDATIONS


class LedgerReports(ActionReports, RefusedReports, Protocol):
    """What is kept beside pages and attempts."""

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


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger: its title, relation, query, and the `span` that it covers."""

    title: str
    relation: Relation[Any]
    ask: Ask[Any]
    span: str = ""

    @property
    def counted(self) -> bool:
        """Whether it is counted only when one asks: it takes a while."""
        return self.ask.every_ms == ONCE_MS


_EVER = "in all runs"
LEDGERS: Mapping[str, Ledger] = {
    "refused": Ledger("Refused links", REFUSED, Ask(lambda of, _: by_reason(of.refused("")), (), RARE_MS), _EVER),
    "limbo": Ledger("Limbo", LIMBO, Ask(lambda of, _: of.limbo(0), by_time=True), "now"),
    "stashes": Ledger("Stashes", STASHES, Ask(lambda of, now, _: LedgerCount(now, of.stashes()), (0,), ONCE_MS)),
    "validation": Ledger("Validation", VALIDATIONS, Ask(_checked, (0,), ONCE_MS)),
    "runs": Ledger("Runs", RUNS, Ask(lambda of, _: of.runs(RUNS_SHOWN), (), RARE_MS)),
    "actions": Ledger("Actions of operators", ACTIONS, Ask(lambda of, _: of.actions(ACTIONS_SHOWN))),
}
"""The ledgers by their words for the command line."""
