"""What the comparison of two runs reads: origins and pages of one at once, then counts, which pass over all pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.ask import WINDOW, asks
from tui_crawler.domain.records.failure import NotComparable

if TYPE_CHECKING:
    from tui_crawler.domain.history.run_diff import OriginDiff, PageChange, PageDiff, RobotsDiff, RunPace, RunSpan

AGAIN_MS = 30_000
"""How long a comparison holds at least."""
Place = tuple[int, int]
FIRST: Place = (0, 0)
"""What the first window of pages begins after."""
LINKS_SHOWN = 200
"""So many links that came, and that went, are shown each way."""


class DiffReports(Protocol):
    """What two runs found. Of a span that `runs_compared` has answered."""

    def runs_compared(self, runs: Sequence[int] = ()) -> RunSpan:
        """Two runs by their numbers, one and the newest, or the last two. Raises NotComparable."""

    def compared_origins(self) -> tuple[OriginDiff, ...]:
        """The origins, without counts."""

    def origin_diffs(self, span: RunSpan, origin_id: int = 0) -> tuple[OriginDiff, ...]:
        """How many pages of each origin are new, gone, changed and the same; passes over all pages."""

    def page_changes(
        self, span: RunSpan, origin_id: int = 0, after: Place = FIRST, limit: int | None = None
    ) -> Iterator[PageChange]:
        """The pages of an origin that differ, by keyset (their `place`)."""

    def robots_diffs(self, span: RunSpan, origin_id: int = 0) -> Iterator[RobotsDiff]:
        """The robots.txt that differ."""

    def run_pace(self, run: int) -> RunPace | None:
        """How fast a run was; reads its log."""

    def page_diff(self, span: RunSpan, url: str, links: int) -> PageDiff | None:
        """One page in two runs; None: it is no page."""


@dataclass(frozen=True, slots=True)
class RunDiff:
    """Two runs compared at `at` (epoch ms). `problem`: why they cannot be compared (raw). Not `counted`: only the names
    of the origins are read so far."""

    problem: str = ""
    span: RunSpan | None = None
    paces: tuple[RunPace, ...] = ()
    origins: tuple[OriginDiff, ...] = ()
    robots: tuple[RobotsDiff, ...] = ()
    counted: bool = False
    at: int = 0


@asks(AGAIN_MS)
def runs_compared(reports: DiffReports, now: int, runs: tuple[int, ...]) -> RunDiff:
    """Read which two runs, by their numbers, one and the newest, or the last two; and their origins."""
    try:
        span = reports.runs_compared(runs)
    except NotComparable as no:
        return RunDiff(str(no))
    return RunDiff("", span, origins=reports.compared_origins(), at=now)


@asks(AGAIN_MS)
def runs_counted(reports: DiffReports, now: int, span: RunSpan) -> RunDiff:
    """Count two runs as a whole, in a time that grows with the pages."""
    paces = (reports.run_pace(run) for run in (span.older, span.newer))
    whole = reports.origin_diffs(span), tuple(reports.robots_diffs(span))
    return RunDiff("", span, tuple(pace for pace in paces if pace is not None), *whole, counted=True, at=now)


@asks(AGAIN_MS)
def changes_of(reports: DiffReports, _now: int, span: RunSpan, origin_id: int, after: Place) -> tuple[PageChange, ...]:
    """Read a window of the pages of an origin that differ, after the last one of another window, with one page more
    than is shown: whether it goes on."""
    return tuple(reports.page_changes(span, origin_id, after, WINDOW + 1))


@dataclass(frozen=True, slots=True)
class PageLines:
    """One page in two runs, with the lines that differ; None: a body is not stored."""

    page: PageDiff
    lines: tuple[str, ...] | None


@asks(AGAIN_MS)
def page_lines_of(reports: DiffReports, _now: int, span: RunSpan, url: str) -> PageLines | None:
    """Read the lines and links of one page that differ; what is stored is bounded."""
    page = reports.page_diff(span, url, LINKS_SHOWN)
    if page is None:
        return None
    lines = page.changed_lines()
    return PageLines(page, None if lines is None else tuple(lines))
