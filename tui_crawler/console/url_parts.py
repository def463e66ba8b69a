"""What the URL views read by themselves: a window of pages that pass a filter, and a stored body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui_crawler.console.refresh import SLOW_MS, WINDOW
from tui_crawler.domain.page_filter import PageFilter, PageTally, PageWindow

if TYPE_CHECKING:
    from tui_crawler.console.ports import PageCounts, Reports
    from tui_crawler.domain.page_view import LinkEnd

FIELDS_MS, SCAN_MS = 3_000, 10_000
"""How long a window holds that had to look at many rows: for fields, and for the text of URLs."""

EXPORTED_AT_ONCE = 500
"""How many rows of a long list are written with one reading."""
_ONCE_MS = 86_400_000
BODY_MS = 60_000
BODY_SHOWN = 65_536
"""How many bytes of a stored body are shown."""


@dataclass(frozen=True, slots=True)
class UrlWindow:
    """A window of the pages that pass a filter, after (or, newest first, before) a page id; 0: the first window."""

    narrowing: PageFilter = field(default_factory=PageFilter)
    after_id: int = 0
    newest_first: bool = False

    @property
    def every_ms(self) -> int:
        """The more rows are looked at, the less often."""
        if not self.narrowing.terms:
            return SLOW_MS
        return SCAN_MS if self.narrowing.looks_at_urls else FIELDS_MS

    @property
    def by_time(self) -> bool:
        """It changes by commits only."""
        return False

    @property
    def counted(self) -> bool:
        """Only all pages are counted."""
        return not self.narrowing.terms

    def at(self, after_id: int, newest_first: bool) -> UrlWindow:
        """Another window of the same list."""
        return UrlWindow(self.narrowing, after_id, newest_first)

    def read(self, reports: Reports, now: int) -> PageWindow:
        """Reads the window."""
        return reports.page_window(self.narrowing, self.after_id, WINDOW, self.newest_first)


@dataclass(frozen=True, slots=True)
class ExportWindow:
    """A window of the pages that pass a filter, to be written to a file; read once."""

    narrowing: PageFilter
    after_id: int
    newest_first: bool
    every_ms: int = _ONCE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> PageWindow:
        """Reads it."""
        return reports.page_window(self.narrowing, self.after_id, EXPORTED_AT_ONCE, self.newest_first)


@dataclass(frozen=True, slots=True)
class PageCountsOf:
    """How often each value of a field occurs among the pages that pass a filter; read once."""

    narrowing: PageFilter
    field: str
    every_ms: int = _ONCE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> PageCounts:
        """Counts it."""
        return reports.page_counts(self.narrowing, self.field)


@dataclass(frozen=True, slots=True)
class PageTallyOf:
    """How many pages pass a filter in the piece after a page id; read once for each `round` of counting."""

    narrowing: PageFilter
    after_id: int
    round: int
    every_ms: int = _ONCE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> PageTally:
        """Counts it."""
        return reports.page_tally(self.narrowing, self.after_id)


FIRST_LINKS = (0, "")
"""What the first window of links begins after."""


@dataclass(frozen=True, slots=True)
class LinksOf:
    """A window of the links to a page (`inward`), or of those it holds, after the last one of another window."""

    url: str
    inward: bool
    after: tuple[int, str] = FIRST_LINKS
    every_ms: int = FIELDS_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> tuple[LinkEnd, ...]:
        """Reads it, with one link more than is shown: whether it goes on. Raises StorageFailure."""
        return reports.link_ends(self.url, self.inward, self.after, WINDOW + 1)


@dataclass(frozen=True, slots=True)
class StoredBody:
    """The beginning of a stored body, and how many bytes it has in all."""

    data: bytes
    size: int


@dataclass(frozen=True, slots=True)
class BodyOf:
    """The stored body of a page; `sha256` says which, so that another one is read at once."""

    url: str
    sha256: str

    @property
    def every_ms(self) -> int:
        """The same digest is the same body."""
        return BODY_MS

    @property
    def by_time(self) -> bool:
        """It changes by commits only."""
        return False

    def read(self, reports: Reports, now: int) -> StoredBody | None:
        """Reads its beginning; None when there is none."""
        body = reports.body(self.url)
        return None if body is None else StoredBody(body[:BODY_SHOWN], len(body))
