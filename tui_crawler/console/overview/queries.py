"""What the overview reads by itself: suspected traps, the card of the selected origin, the newest actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.refresh import FAST_MS, RARE_MS, Part
from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from tui_crawler.console.ports import ActionReports, AttemptReports, OriginReports, RefusedReports
    from tui_crawler.domain.operator_view import ActionView
    from tui_crawler.domain.page_view import ExitCountView
    from tui_crawler.domain.trap import TrapSuspicion

    class SummaryReports(OriginReports, AttemptReports, RefusedReports, Protocol):
        """What the summary of an origin is made of."""


_LOOKED_AT = 100  # attempts of the selected origin, each time it changes


@dataclass(frozen=True, slots=True)
class Suspicions(Part):
    """Every origin whose links the trap guard refused, with what speaks for a trap."""

    every_ms = RARE_MS

    def read(self, reports: RefusedReports, now: int) -> dict[str, TrapSuspicion]:
        """By origin. Raises StorageFailure."""
        from tui_crawler.domain.trap import guard_suspicions  # noqa: PLC0415  not before the first paint

        return guard_suspicions(reports.refused(""))


@dataclass(frozen=True, slots=True)
class OriginSummary:
    """More of the selected origin: how its attempts ended in the newest run, and whether it looks like a trap."""

    exits: tuple[ExitCountView, ...]
    suspicion: TrapSuspicion | None = None


@dataclass(frozen=True, slots=True)
class OriginSummaryPart(Part):
    """The card of one origin."""

    origin: str

    def read(self, reports: SummaryReports, now: int) -> OriginSummary:
        """Reads it. Raises StorageFailure."""
        from tui_crawler.domain.trap import suspect  # noqa: PLC0415  not before the first paint

        name = self.origin
        suspicion = suspect(name, reports.refused(name), reports.attempts(origin=name, limit=_LOOKED_AT))
        return OriginSummary(reports.exit_counts(name, now), suspicion)


@dataclass(frozen=True, slots=True)
class NextPageOf(Part):
    """The page that comes next at one origin: read as often as its row, so that it is never the one answered last."""

    origin: str
    every_ms = FAST_MS

    def read(self, reports: OriginReports, now: int) -> str:
        """Its URL; empty: none is on the todo list. Raises StorageFailure."""
        todo = reports.todo(self.origin, 1)
        return todo[0].url if todo else ""


@dataclass(frozen=True, slots=True)
class RecentActions(Part):
    """The newest actions of operators, whole: what became of them changes."""

    limit: int = 50

    def read(self, reports: ActionReports, now: int) -> tuple[ActionView, ...]:
        """Newest first. Raises StorageFailure."""
        return reports.actions(self.limit)
