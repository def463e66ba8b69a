"""What the URL views read by themselves: a window of pages that pass a filter, and a stored body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.ask import ONCE_MS, SLOW_MS, WINDOW, PageAsk, asks, reads
from tui_crawler.console.reading.window import SpanWindow
from tui_crawler.domain.rules.page_filter import PageFilter

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import LinkEnd, PageDetail
    from tui_crawler.domain.rules.page_filter import PageCounts, PageTally, PageWindow


class PageReports(Protocol):
    """Pages, and what belongs to one of them."""

    def page_window(self, narrowing: PageFilter, after_id: int, limit: int, newest_first: bool) -> PageWindow: ...
    def page_tally(self, narrowing: PageFilter, after_id: int) -> PageTally: ...
    def page_counts(self, narrowing: PageFilter, field: str) -> PageCounts: ...
    def page_detail(self, url: str, links: int, counted: int) -> PageDetail | None: ...
    def link_ends(self, url: str, inward: bool, after: LinkPlace, limit: int) -> tuple[LinkEnd, ...]: ...
    def body(self, url: str) -> bytes | None: ...


FIELDS_MS, SCAN_MS = 3_000, 10_000
"""How long a window holds that had to look at many rows: for fields, and for the text of URLs."""

EXPORTED_AT_ONCE = 500
"""How many rows of a long list are written with one reading."""
BODY_MS = 60_000
BODY_SHOWN = 65_536
"""How many bytes of a stored body are shown."""


def _window(reports: PageReports, after_id: int, newest_first: bool, narrowing: PageFilter, limit: int) -> PageWindow:
    return reports.page_window(narrowing, after_id, limit, newest_first)


def url_window(narrowing: PageFilter) -> PageAsk:
    """Return the first window of the pages that pass a filter: the more rows are looked at, the less often. Only all
    pages are counted."""
    rate = (SCAN_MS if narrowing.looks_at_urls else FIELDS_MS) if narrowing.terms else SLOW_MS
    return PageAsk(_window, (narrowing, WINDOW), rate, counted=not narrowing.terms)


def export_window(narrowing: PageFilter, *, newest_first: bool) -> PageAsk:
    """Return a longer one, to be written to a file or marked; read once."""
    return PageAsk(_window, (narrowing, EXPORTED_AT_ONCE), ONCE_MS, newest_first=newest_first)


page_counts_of = reads(PageReports.page_counts, ONCE_MS)
"""How often each value of a field occurs among the pages that pass a filter."""


@asks(ONCE_MS)
def page_tally_of(reports: PageReports, _now: int, narrowing: PageFilter, after_id: int, _round: int) -> PageTally:
    """Read how many pages pass a filter in the piece after a page id; once for each `_round` of counting."""
    return reports.page_tally(narrowing, after_id)


MOST_LINKS = 10_000
"""How far the links of a URL are counted; who wants to see them reads a window of them."""


detail_of = reads(PageReports.page_detail)
"""All that is known of a URL; None: it is no page."""
LinkPlace = tuple[int, str]
FIRST_LINKS: LinkPlace = (0, "")
"""What the first window of links begins after."""
links_of = reads(PageReports.link_ends, FIELDS_MS)
"""A window of the links to a page (`inward`), or of those it holds, after the last one of another window."""


@dataclass(frozen=True, slots=True)
class BodyStart:
    """The beginning of a stored body, and how many bytes it has in all."""

    data: bytes
    size: int


@asks(BODY_MS)
def body_of(reports: PageReports, _now: int, url: str, _sha256: str) -> BodyStart | None:
    """Read the beginning of the stored body of a page; None: there is none. `_sha256` says which, so that another one
    is read at once."""
    body = reports.body(url)
    return None if body is None else BodyStart(body[:BODY_SHOWN], len(body))


class PageListWindow(SpanWindow):
    """All pages that pass a filter."""

    def __init__(
        self, narrowing: PageFilter | None = None, *, newest_first: bool = False, from_end: bool = False
    ) -> None:
        """Begins empty, at the beginning of the list or at its end."""
        self.narrowing = narrowing or PageFilter()
        super().__init__(url_window(self.narrowing), newest_first=newest_first, from_end=from_end)

    def restarted(self, *, from_end: bool) -> PageListWindow:
        return PageListWindow(self.narrowing, newest_first=self.newest_first, from_end=from_end)
