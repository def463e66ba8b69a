"""What a lane reads: one origin over a span, as often as half a cell of it passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.ask import RARE_MS, Ask, reads

if TYPE_CHECKING:
    from tui_crawler.domain.history.span import TimeSpan
    from tui_crawler.domain.history.timeline import Timeline

SOONEST_MS = 500


class TimelineReports(Protocol):
    """The politeness of origins over time."""

    def timeline(self, origin: str, span: TimeSpan) -> Timeline:
        """One origin over a span; a bounded number of attempts is read."""


timeline = reads(TimelineReports.timeline)


def lane_of(origin: str, span: TimeSpan) -> Ask[Timeline]:
    """Return the ask for a lane."""
    return timeline(origin, span).every(min(max(int(span.cell_ms / 2), SOONEST_MS), RARE_MS))
