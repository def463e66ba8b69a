"""What the view of failures reads: groups counted as often as their number allows, a window of the pages of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.ports import OriginReports
from tui_crawler.console.reading.refresh import ONCE_MS, SLOW_MS, WINDOW, PagePart, Part

if TYPE_CHECKING:
    from tui_crawler.domain.contract import Contract
    from tui_crawler.domain.page_filter import PageWindow
    from tui_crawler.domain.page_view import FailureCount, Referrers
    from tui_crawler.domain.view import OriginView


class FailureReports(OriginReports, Protocol):
    """Failed pages, by group and one by one."""

    def failure_count(self, by: tuple[str, ...], limit: int, now: int, sought: tuple[str, ...]) -> FailureCount: ...
    def failure_window(
        self, key: tuple[tuple[str, str], ...], after_id: int, limit: int, newest_first: bool, sought: tuple[str, ...]
    ) -> PageWindow: ...
    def failure_urls(self, key: tuple[tuple[str, str], ...], limit: int) -> tuple[tuple[str, str], ...]: ...
    def referrers(self, page_id: int, limit: int) -> Referrers: ...
    def contract(self, origin: str) -> Contract: ...


FIRST_PAGES, MOST_PAGES = 2_000, 200_000
"""How many failed pages are looked at for a first answer, and for one count: about a second."""

MOST_URLS = 2_000
"""How many pages of a group are put back at once where they have to be named one by one."""

MOST_ORIGINS = 500
"""How many origins of a group are looked at for what putting it back costs: those with most pages."""

MOST_REFERRERS = 200
"""How many of those that name a page are shown; the page of its URL has all of them."""

FEW, MANY = 2_000, 20_000
LATER_MS = 10_000
_INDEXED = frozenset({"exit_code", "origin"})

GroupKey = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CountedFailures:
    """Groups as they were counted at a moment (epoch ms), and the keys that switch checks of links off."""

    at: int
    count: FailureCount
    not_checked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailureGroups(Part):
    """Counts failed pages in groups, at most `limit`: the more there are, the less often, of many only once for each
    `asked`; beside it those that hold all texts `sought`."""

    by: tuple[str, ...]
    asked: int = 0
    looked_at: int = field(default=0, compare=False)
    sought: tuple[str, ...] = ()
    limit: int = MOST_PAGES

    @property
    def every_ms(self) -> int:
        """By how many were looked at last."""
        return SLOW_MS if self.looked_at <= FEW else LATER_MS if self.looked_at <= MANY else ONCE_MS

    by_time = True
    """What failed in the last minutes does so without a commit."""

    def read(self, reports: FailureReports, now: int) -> CountedFailures:
        count = reports.failure_count(self.by, self.limit, now, self.sought)
        return CountedFailures(now, count, reports.contract("").not_checked)


@dataclass(frozen=True, slots=True)
class FailureWindow(PagePart):
    """A window of the pages of one group. Of all its pages, or of those that hold all texts `sought`."""

    key: GroupKey = ()
    sought: tuple[str, ...] = ()

    @property
    def every_ms(self) -> int:
        """Where no index knows the group, rows are looked through."""
        return SLOW_MS if all(name in _INDEXED for name, _ in self.key) and not self.sought else LATER_MS

    @property
    def counted(self) -> bool:
        """Groups are counted, though not whenever a window is read; what is looked for in them is not."""
        return not self.sought

    def read(self, reports: FailureReports, now: int) -> PageWindow:
        return reports.failure_window(self.key, self.after_id, WINDOW, self.newest_first, self.sought)


@dataclass(frozen=True, slots=True)
class ReferrersOf(Part):
    """The first of those that name a failed page."""

    page_id: int

    def read(self, reports: FailureReports, now: int) -> Referrers:
        return reports.referrers(self.page_id, MOST_REFERRERS)


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """What is to be put back: `urls` where they have to be named, how many `pages` each origin has, and the origins."""

    urls: tuple[str, ...]
    pages: tuple[tuple[str, int], ...]
    origins: Mapping[str, OriginView]


@dataclass(frozen=True, slots=True)
class RetryOf(Part):
    """Reads what putting a group back means; once for each `asked`. `pages` is how many each of its origins has."""

    key: GroupKey
    pages: tuple[tuple[str, int], ...]
    asked: int
    every_ms = ONCE_MS

    def read(self, reports: FailureReports, now: int) -> RetryPlan:
        """The origins with most pages, and at most MOST_URLS of the pages. Raises StorageFailure."""
        # Of what is indexed a command names the group without naming its pages.
        urls = () if all(name in _INDEXED for name, _ in self.key) else reports.failure_urls(self.key, MOST_URLS)
        pages = self.pages
        if urls:
            pages = tuple(Counter(origin for _, origin in urls).most_common())
        views = (reports.origin(name) for name, _ in pages[:MOST_ORIGINS])
        origins = {view.origin: view for view in views if view is not None}
        return RetryPlan(tuple(url for url, _ in urls), pages, origins)
