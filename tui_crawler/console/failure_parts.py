"""What the view of failures reads: groups counted as often as their number allows, a window of the pages of one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui_crawler.console.refresh import SLOW_MS, WINDOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.console.ports import Reports
    from tui_crawler.domain.page_filter import PageWindow
    from tui_crawler.domain.page_view import FailureCount, Referrers
    from tui_crawler.domain.view import OriginView

MOST_PAGES = 200_000
"""How many failed pages are looked at for one count: about a second."""

MOST_URLS = 2_000
"""How many pages of a group are put back at once where they have to be named one by one."""

MOST_ORIGINS = 500
"""How many origins of a group are looked at for what putting it back costs: those with most pages."""

MOST_REFERRERS = 200
"""How many of those that name a page are shown; the page of its URL has all of them."""

FEW, MANY = 2_000, 20_000
LATER_MS, ONCE_MS = 10_000, 86_400_000
_INDEXED = frozenset({"exit_code", "origin"})

GroupKey = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CountedFailures:
    """Groups as they were counted at a moment (epoch ms)."""

    at: int
    count: FailureCount


@dataclass(frozen=True, slots=True)
class FailureGroups:
    """Counts failed pages in groups: the more there are, the less often, of many only once for each `asked`; beside it
    those that hold all texts `sought`."""

    by: tuple[str, ...]
    asked: int = 0
    looked_at: int = field(default=0, compare=False)
    sought: tuple[str, ...] = ()

    @property
    def every_ms(self) -> int:
        """By how many were looked at last."""
        return SLOW_MS if self.looked_at <= FEW else LATER_MS if self.looked_at <= MANY else ONCE_MS

    @property
    def by_time(self) -> bool:
        """What failed in the last minutes does so without a commit."""
        return True

    def read(self, reports: Reports, now: int) -> CountedFailures:
        """Counts. Raises StorageFailure."""
        return CountedFailures(now, reports.failure_count(self.by, MOST_PAGES, now, self.sought))


@dataclass(frozen=True, slots=True)
class FailureWindow:
    """A window of the pages of one group, after (or, newest first, before) a page id; 0: the first window. Of all its
    pages, or of those that hold all texts `sought`."""

    key: GroupKey = ()
    after_id: int = 0
    newest_first: bool = False
    sought: tuple[str, ...] = ()

    @property
    def every_ms(self) -> int:
        """Where no index knows the group, rows are looked through."""
        return SLOW_MS if all(name in _INDEXED for name, _ in self.key) and not self.sought else LATER_MS

    @property
    def by_time(self) -> bool:
        """It changes by commits only."""
        return False

    @property
    def counted(self) -> bool:
        """Groups are counted, though not whenever a window is read; what is looked for in them is not."""
        return not self.sought

    def at(self, after_id: int, newest_first: bool) -> FailureWindow:
        """Another window of the same list."""
        return FailureWindow(self.key, after_id, newest_first, self.sought)

    def read(self, reports: Reports, now: int) -> PageWindow:
        """Reads the window. Raises StorageFailure."""
        return reports.failure_window(self.key, self.after_id, WINDOW, self.newest_first, self.sought)


@dataclass(frozen=True, slots=True)
class ReferrersOf:
    """The first of those that name a failed page."""

    page_id: int
    every_ms: int = SLOW_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> Referrers:
        """Reads them. Raises StorageFailure."""
        return reports.referrers(self.page_id, MOST_REFERRERS)


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """What is to be put back: `urls` where they have to be named, how many `pages` each origin has, and the origins."""

    urls: tuple[str, ...]
    pages: tuple[tuple[str, int], ...]
    origins: Mapping[str, OriginView]


@dataclass(frozen=True, slots=True)
class RetryOf:
    """Reads what putting a group back means; once for each `asked`. `pages` is how many each of its origins has."""

    key: GroupKey
    pages: tuple[tuple[str, int], ...]
    asked: int
    every_ms: int = ONCE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> RetryPlan:
        """The origins with most pages, and at most MOST_URLS of the pages. Raises StorageFailure."""
        urls = () if is_named(self.key) else reports.failure_urls(self.key, MOST_URLS)
        pages = self.pages
        if urls:
            pages = tuple(Counter(origin for _, origin in urls).most_common())
        views = (reports.origin(name) for name, _ in pages[:MOST_ORIGINS])
        return RetryPlan(
            tuple(url for url, _ in urls), pages, {view.origin: view for view in views if view is not None}
        )


def is_named(key: GroupKey) -> bool:
    """Whether a command can name the group without naming its pages."""
    return all(name in _INDEXED for name, _ in key)
