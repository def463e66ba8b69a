"""What the view of failures reads: groups counted as often as their number allows, a window of the pages of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.ports import OriginReports
from tui_crawler.console.reading.ask import ONCE_MS, SLOW_MS, WINDOW, PageAsk, asks, reads
from tui_crawler.console.reading.window import SpanWindow

if TYPE_CHECKING:
    from tui_crawler.domain.crawl.contract import Contract
    from tui_crawler.domain.records.page_view import FailureCount, Referrers
    from tui_crawler.domain.records.view import OriginView
    from tui_crawler.domain.rules.page_filter import PageWindow


class FailureReports(OriginReports, Protocol):
    """Failed pages, by group and one by one."""

    def failure_count(
        self, by: tuple[str, ...], limit: int, now: int, sought: tuple[str, ...], within: GroupKey
    ) -> FailureCount: ...
    def failure_window(
        self, key: tuple[tuple[str, str], ...], after_id: int, limit: int, newest_first: bool, sought: tuple[str, ...]
    ) -> PageWindow: ...
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

FEW, MANY, LATER_MS = 2_000, 20_000, 10_000
_INDEXED = frozenset({"exit_code", "origin"})

GroupKey = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CountedFailures:
    """Groups as they were counted at a moment (epoch ms), and the keys that switch checks of links off."""

    at: int
    count: FailureCount
    not_checked: tuple[str, ...] = ()


@asks(by_time=True)
def failure_groups(
    reports: FailureReports,
    now: int,
    by: tuple[str, ...],
    _asked: int = 0,
    sought: tuple[str, ...] = (),
    within: GroupKey = (),
    limit: int = MOST_PAGES,
) -> CountedFailures:
    """Count failed pages `within` a group (empty: all) in groups, at most `limit`, and those that hold all texts
    `sought`. What failed in the last minutes does so without a commit."""
    count = reports.failure_count(by, limit, now, sought, within)
    return CountedFailures(now, count, reports.contract("").not_checked)


def counted_every(looked_at: int) -> int:
    """Return after how many ms groups are counted again: the more pages were looked at last, the later; of many only
    when that is asked for."""
    return SLOW_MS if looked_at <= FEW else LATER_MS if looked_at <= MANY else ONCE_MS


def pages_of_group(
    reports: FailureReports, after_id: int, newest_first: bool, key: GroupKey, sought: tuple[str, ...]
) -> PageWindow:
    """Read a window of the pages of a group."""
    return reports.failure_window(key, after_id, WINDOW, newest_first, sought)


def failure_window(key: GroupKey, sought: tuple[str, ...] = ()) -> PageAsk:
    """Return the first window of the pages of one group, or of those that hold all texts `sought`.

    Where no index knows the group, rows are looked through. Groups are counted, though not whenever a window is read;
    what is looked for in them is not.
    """
    indexed = all(name in _INDEXED for name, _ in key) and not sought
    return PageAsk(pages_of_group, (key, sought), SLOW_MS if indexed else LATER_MS, counted=not sought)


referrers_of = reads(FailureReports.referrers)
"""The first of those that name a failed page."""


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """What is to be put back: `urls` where they have to be named, how many `pages` each origin has, and the origins."""

    urls: tuple[str, ...]
    pages: tuple[tuple[str, int], ...]
    origins: Mapping[str, OriginView]


@asks(ONCE_MS)
def retry_plan(
    reports: FailureReports, _now: int, key: GroupKey, pages: tuple[tuple[str, int], ...], _asked: int
) -> RetryPlan:
    """Read what putting a group back means, once for each `asked`: the origins with most pages, and at most MOST_URLS
    of the pages. `pages` is how many each of its origins has."""
    # Of what is indexed a command names the group without naming its pages.
    named = not all(name in _INDEXED for name, _ in key)
    found = reports.failure_window(key, 0, MOST_URLS, False, ()).pages if named else ()
    if found:
        pages = tuple(Counter(page.origin for page in found).most_common())
    views = (reports.origin(name) for name, _ in pages[:MOST_ORIGINS])
    origins = {view.origin: view for view in views if view is not None}
    return RetryPlan(tuple(page.url for page in found), pages, origins)


class GroupWindow(SpanWindow):
    """The failed pages of a group, of which `count` were counted, or those of them that hold the texts `sought`."""

    def __init__(self, key: GroupKey, count: int, *, from_end: bool = False, sought: tuple[str, ...] = ()) -> None:
        self.key, self.count, self.sought = key, count, sought
        super().__init__(failure_window(key, sought), from_end=from_end)

    @property
    def total(self) -> int:
        """How many pages the group has: as they were counted, or as many as were read at least; of those looked for
        only what was read."""
        whole = self.at_last and self.first is not None and self.exact
        least = (self.first or 1) - 1 + len(self.rows)
        return least if whole or self.sought else max(self.count, least)

    def take(self, ask: PageAsk, window: PageWindow) -> bool:
        return super().take(ask, replace(window, known=self.count))

    def restarted(self, *, from_end: bool) -> GroupWindow:
        return GroupWindow(self.key, self.count, from_end=from_end, sought=self.sought)
