"""What view 7 reads: the pulse of a span, at most once a second, less often where its steps are long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.ask import RARE_MS, SLOW_MS, Ask, reads
from tui_crawler.domain.history.pulse import MINUTE_MS, PulseOf, PulseScope, pulse_span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.domain.history.pulse import Pace, Pulse
    from tui_crawler.domain.history.span import TimeSpan


class PulseReports(Protocol):
    """How the crawl went."""

    def pulse(self, of: PulseOf, span: TimeSpan) -> Pulse: ...
    def paces(self, span: TimeSpan) -> Mapping[str, Pace]: ...


pulse = reads(PulseReports.pulse)
paces = reads(PulseReports.paces, RARE_MS)


def pulse_of(of: PulseOf, length: int, end: int) -> Ask[Pulse]:
    """Return the span of this length (ms), of the crawl or a part of it, that ends with the step of a moment (epoch
    ms)."""
    span = pulse_span(of, length, end)
    return pulse(of, span).every(SLOW_MS if span.cell_ms <= MINUTE_MS else RARE_MS)


def scopes_of(live: LiveState) -> list[str]:
    """All that a pulse may be of, as one types it: the whole crawl, jobs, workers, origins."""
    workers = sorted({view.worker for view in live.origins.values() if view.worker})
    jobs = [job.job for job in live.jobs]
    named = {PulseScope.job: jobs, PulseScope.worker: workers, PulseScope.origin: live.origins}
    return [PulseOf().words, *(PulseOf(scope, name).words for scope, names in named.items() for name in names)]
