"""What the overview reads by itself: the card of the selected origin, the newest actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.ask import FAST_MS, asks
from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from tui_crawler.console.ports import ActionReports, AttemptReports, OriginReports, RefusedReports
    from tui_crawler.domain.history.trap import TrapSuspicion
    from tui_crawler.domain.records.operator_view import ActionView
    from tui_crawler.domain.records.page_view import ExitCountView

    class SummaryReports(OriginReports, AttemptReports, RefusedReports, Protocol):
        """What the summary of an origin is made of."""


_LOOKED_AT = 100  # attempts of the selected origin, each time it changes


@dataclass(frozen=True, slots=True)
class OriginSummary:
    """More of the selected origin: how its attempts ended in the newest run, and whether it looks like a trap."""

    exits: tuple[ExitCountView, ...]
    suspicion: TrapSuspicion | None = None


@asks()
def summary_of(reports: SummaryReports, now: int, origin: str) -> OriginSummary:
    """Read the card of one origin."""
    from tui_crawler.domain.history.trap import suspect  # noqa: PLC0415  not before the first paint

    suspicion = suspect(origin, reports.refused(origin), reports.attempts(origin=origin, limit=_LOOKED_AT))
    return OriginSummary(reports.exit_counts(origin, now), suspicion)


@asks(FAST_MS)
def next_page_of(reports: OriginReports, _now: int, origin: str) -> str:
    """Read the URL of the page that comes next at one origin; empty: none is on the todo list. It is read as often as
    the row of the origin, so that it is never the one answered last."""
    todo = reports.todo(origin, 1)
    return todo[0].url if todo else ""


@asks()
def recent_actions(reports: ActionReports, _now: int, limit: int = 50) -> tuple[ActionView, ...]:
    """Read the newest actions of operators, newest first, whole: what became of them changes."""
    return reports.actions(limit)
