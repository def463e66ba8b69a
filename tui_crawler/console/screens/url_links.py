"""The links of one URL in one direction, a window of them at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.format import READING
from tui_crawler.console.present.url_detail import LINK_COLUMNS, link_row, links_title
from tui_crawler.console.refresh import WINDOW
from tui_crawler.console.screens.base import title
from tui_crawler.console.url_parts import LinksOf

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from datetime import tzinfo

    from tui_crawler.console.refresh import Part
    from tui_crawler.domain.page_view import LinkEnd, LinkView, PageDetail


class LinkList:
    """A table of links, and what is to be read for it."""

    def __init__(self, url: str, *, inward: bool) -> None:
        """`inward`: the links to `url`, else those from it. Begins with the first window, not read yet."""
        self._inward = inward
        self._url = url
        self.part = LinksOf(url, inward)
        """What is to be read."""
        self._former: list[LinksOf] = []
        self._ends: tuple[LinkEnd, ...] = ()
        self._read: object = None

    def make_table(self) -> CrawlTable:
        """The table, without rows."""
        if self._inward:
            self.table = CrawlTable(
                LINK_COLUMNS, placeholder="no link to it is known", id="url-inlinks", classes="pane"
            )
        else:
            self.table = CrawlTable(LINK_COLUMNS, placeholder="it holds no links", id="url-outlinks", classes="pane")
        return self.table

    def name_table(self) -> None:
        """Names it as long as nothing is known."""
        title(self.table, self._words)

    @property
    def older(self) -> bool:
        """Whether there is a next window."""
        return len(self._ends) > WINDOW

    @property
    def newer(self) -> bool:
        """Whether there is a former window."""
        return bool(self._former)

    def link(self, key: Hashable) -> LinkView | None:
        """The link of a row."""
        return self._ends[key].link if isinstance(key, int) and key < len(self._ends) else None

    def take(self, parts: Mapping[Part, object]) -> bool:
        """Takes what was read anew; answers whether it was."""
        read = parts.get(self.part)
        if not isinstance(read, tuple) or read is self._read:
            return False
        self._read = self._ends = read
        return True

    def turn(self, *, on: bool) -> bool:
        """Goes to the next or the former window; answers whether there is one, which is then to be read."""
        if on and self.older:
            self._former.append(self.part)
            self.part = LinksOf(self._url, self._inward, self._ends[WINDOW - 1].after)
        elif not on and self.newer:
            self.part = self._former.pop()
        else:
            return False
        self._ends, self._read = (), None
        return True

    def show(self, detail: PageDetail, zone: tzinfo) -> None:
        """Shows the window; `detail` knows how many links there are."""
        whole = detail.inlink_count if self._inward else detail.outlink_count
        ends = self._ends[:WINDOW]
        if self._read is None and whole:
            self.table.placeholder = READING
        origin = detail.page.origin
        self.table.set_rows(
            [link_row(number, end, origin, zone, inward=self._inward) for number, end in enumerate(ends)]
        )
        title(self.table, links_title(self._words, len(self._former) * WINDOW + 1, len(ends), whole))

    @property
    def _words(self) -> str:
        return "Links to it" if self._inward else "Links from it"
