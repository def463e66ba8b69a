"""The filter of any table: opened with `/`, live as one types, `n` and `N` go from match to match."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tui_crawler.console.panes.border import pane_name
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.zoom import panes_of
from tui_crawler.console.table.crawl_table import CrawlTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from tui_crawler.console.panes.notice import Notify


class TableFilter:
    """The filters of the tables of one screen. Each table keeps its own; `changed` is called after one changed."""

    def __init__(self, screen: Screen[None], tell: Callable[[], Notify], changed: Callable[[], None]) -> None:
        self._screen, self._tell, self._changed = screen, tell, changed

    @property
    def table(self) -> CrawlTable | None:
        """The table that has the focus, else the one that a screen begins with, else the first; None: none is shown."""
        focused = self._screen.focused
        if isinstance(focused, CrawlTable):
            return focused
        shown = [pane for pane in panes_of(self._screen) if isinstance(pane, CrawlTable)]
        first = self._screen.query(str(self._screen.AUTO_FOCUS)).results(CrawlTable)
        return next((one for one in first if one in shown), None) or next(iter(shown), None)

    @property
    def filtered(self) -> CrawlTable | None:
        """The filtered table nearest to the focus, None when none is."""
        tables = (self.table, *self._screen.query(CrawlTable))
        return next((one for one in tables if one is not None and one.needle), None)

    def leave(self) -> bool:
        """Takes the filter nearest to the focus off. False when there was none."""
        if (table := self.filtered) is not None:
            table.keep_only("")
            self._changed()
        return table is not None

    def keep(self, table: CrawlTable, text: str) -> None:
        """Filters a table, if it is still there."""
        if table.is_attached:
            table.keep_only(text)
            self._changed()

    def open(self, text: str) -> None:
        """Filters the table by a text; opens the line for one where it is empty."""
        if (table := self.table) is None:
            self._tell()("no", "no list is shown here", "muted")
            return

        def entered(text: str) -> None:
            self.keep(table, text)
            table.focus()

        if text:
            self.keep(table, text)
        else:
            beside = len([pane for pane in panes_of(self._screen) if isinstance(pane, CrawlTable)]) > 1
            label = f"{pane_name(table)} /" if beside else "/"
            use = EntryUse("table filter", entered, partial(self.keep, table), passing=True)
            self._screen.query_one(EntryLine).open(use, label, table.needle, table.filter_hint)
