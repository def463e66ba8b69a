"""What view 7 reads: the pulse of a span, at most once a second, less often where its steps are long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.refresh import RARE_MS, SLOW_MS, Part
from tui_crawler.domain.pulse import MINUTE_MS, PulseOf

if TYPE_CHECKING:
    from tui_crawler.domain.pulse import Pulse


class PulseReports(Protocol):
    """How the crawl went."""

    def pulse(self, of: PulseOf, since: int, step_ms: int, steps: int) -> Pulse: ...


@dataclass(frozen=True, slots=True)
class SpanPart(Part):
    """A span of the crawl, or of a part of it."""

    of: PulseOf
    since: int
    step_ms: int
    steps: int

    @property
    def every_ms(self) -> int:
        return SLOW_MS if self.step_ms <= MINUTE_MS else RARE_MS

    def read(self, reports: PulseReports, now: int) -> Pulse:
        """Reads it. Raises StorageFailure."""
        return reports.pulse(self.of, self.since, self.step_ms, self.steps)
