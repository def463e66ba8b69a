"""What a lane reads: one origin over a span, as often as half a cell of it passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.refresh import RARE_MS, Part

if TYPE_CHECKING:
    from tui_crawler.domain.timeline import LaneSpan, Timeline

SOONEST_MS = 500


class TimelineReports(Protocol):
    """The politeness of origins over time."""

    def timeline(self, origin: str, span: LaneSpan) -> Timeline:
        """One origin over a span; a bounded number of attempts is read."""


@dataclass(frozen=True, slots=True)
class LanePart(Part):
    """A lane."""

    origin: str
    span: LaneSpan

    @property
    def likeness(self) -> object:
        return self.origin, self.span.cells, self.span.until - self.span.since

    @property
    def every_ms(self) -> int:
        return min(max(int(self.span.cell_ms / 2), SOONEST_MS), RARE_MS)

    def read(self, reports: TimelineReports, now: int) -> Timeline:
        """Reads it. Raises StorageFailure."""
        return reports.timeline(self.origin, self.span)
