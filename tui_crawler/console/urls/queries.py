"""What the URL views read by themselves: a window of pages that pass a filter, and a stored body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.refresh import ONCE_MS, SLOW_MS, WINDOW, PagePart, Part
from tui_crawler.domain.page_filter import PageFilter, PageTally, PageWindow

if TYPE_CHECKING:
    from tui_crawler.domain.page_filter import PageCounts
    from tui_crawler.domain.page_view import LinkEnd, PageDetail


class PageReports(Protocol):
    """Pages, and what belongs to one of them."""

    def page_window(self, narrowing: PageFilter, after_id: int, limit: int, newest_first: bool) -> PageWindow: ...
    def page_tally(self, narrowing: PageFilter, after_id: int) -> PageTally: ...
    def page_counts(self, narrowing: PageFilter, field: str) -> PageCounts: ...
    def page_detail(self, url: str, links: int, counted: int) -> PageDetail | None: ...
    def link_ends(self, url: str, inward: bool, after: tuple[int, str], limit: int) -> tuple[LinkEnd, ...]: ...
    def body(self, url: str) -> bytes | None: ...


FIELDS_MS, SCAN_MS = 3_000, 10_000
"""How long a window holds that had to look at many rows: for fields, and for the text of URLs."""

EXPORTED_AT_ONCE = 500
"""How many rows of a long list are written with one reading."""
BODY_MS = 60_000
BODY_SHOWN = 65_536
"""How many bytes of a stored body are shown."""


@dataclass(frozen=True, slots=True)
class UrlWindow(PagePart):
    """A window of the pages that pass a filter."""

    narrowing: PageFilter = field(default_factory=PageFilter)

    @property
    def every_ms(self) -> int:
        """The more rows are looked at, the less often."""
        if not self.narrowing.terms:
            return SLOW_MS
        return SCAN_MS if self.narrowing.looks_at_urls else FIELDS_MS

    @property
    def counted(self) -> bool:
        """Only all pages are counted."""
        return not self.narrowing.terms

    def read(self, reports: PageReports, now: int) -> PageWindow:
        return reports.page_window(self.narrowing, self.after_id, WINDOW, self.newest_first)


@dataclass(frozen=True, slots=True)
class ExportWindow(UrlWindow):
    """A longer one, to be written to a file or marked; read once."""

    every_ms = ONCE_MS

    def read(self, reports: PageReports, now: int) -> PageWindow:
        return reports.page_window(self.narrowing, self.after_id, EXPORTED_AT_ONCE, self.newest_first)


@dataclass(frozen=True, slots=True)
class PageCountsOf(Part):
    """How often each value of a field occurs among the pages that pass a filter; read once."""

    narrowing: PageFilter
    field: str
    every_ms = ONCE_MS

    def read(self, reports: PageReports, now: int) -> PageCounts:
        return reports.page_counts(self.narrowing, self.field)


@dataclass(frozen=True, slots=True)
class PageTallyOf(Part):
    """How many pages pass a filter in the piece after a page id; read once for each `round` of counting."""

    narrowing: PageFilter
    after_id: int
    round: int
    every_ms = ONCE_MS

    def read(self, reports: PageReports, now: int) -> PageTally:
        return reports.page_tally(self.narrowing, self.after_id)


MOST_LINKS = 10_000
"""How far the links of a URL are counted; who wants to see them reads a window of them."""


@dataclass(frozen=True, slots=True)
class PageOf(Part):
    """All that is known of a URL; None: it is no page."""

    url: str

    def read(self, reports: PageReports, now: int) -> PageDetail | None:
        return reports.page_detail(self.url, 0, MOST_LINKS)


FIRST_LINKS = (0, "")
"""What the first window of links begins after."""


@dataclass(frozen=True, slots=True)
class LinksOf(Part):
    """A window of the links to a page (`inward`), or of those it holds, after the last one of another window."""

    url: str
    inward: bool
    after: tuple[int, str] = FIRST_LINKS
    every_ms = FIELDS_MS

    def read(self, reports: PageReports, now: int) -> tuple[LinkEnd, ...]:
        """Reads it, with one link more than is shown: whether it goes on. Raises StorageFailure."""
        return reports.link_ends(self.url, self.inward, self.after, WINDOW + 1)


@dataclass(frozen=True, slots=True)
class BodyStart:
    """The beginning of a stored body, and how many bytes it has in all."""

    data: bytes
    size: int


@dataclass(frozen=True, slots=True)
class BodyOf(Part):
    """The stored body of a page; `sha256` says which, so that another one is read at once."""

    url: str
    sha256: str

    @property
    def every_ms(self) -> int:
        """The same digest is the same body."""
        return BODY_MS

    def read(self, reports: PageReports, now: int) -> BodyStart | None:
        """Reads its beginning; None when there is none."""
        body = reports.body(self.url)
        return None if body is None else BodyStart(body[:BODY_SHOWN], len(body))
