"""The filter of any table: opened with `/`, live as one types, `n` and `N` go from match to match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.zoom import panes_of

if TYPE_CHECKING:
    from tui_crawler.console.screens.base import ConsoleScreen

PURPOSE = "table filter"
TYPING_S = 0.15


class TableFilter:
    """The filters of the tables of one screen. Each table keeps its own."""

    def __init__(self, screen: ConsoleScreen) -> None:
        """Nothing is filtered yet."""
        self._screen = screen
        self._table: CrawlTable | None = None
        self._timer: Timer | None = None

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
        table = self.table
        if table is not None and table.needle:
            return table
        return next((one for one in self._screen.query(CrawlTable) if one.needle), None)

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action on the filter; False when it is none, or there is no table."""
        table = self.table
        match action_id:
            case "filter.open" if table is not None:
                self._open(table, argument)
            case "filter.open":
                self._screen.console.tell("no", "no list is shown here", "muted")
            case "filter.clear" if self.filtered is not None:
                self._clear()
            case "filter.next" | "filter.previous" if table is not None:
                table.go_to_match(forward=action_id == "filter.next")
            case _:
                return False
        return True

    def narrow(self, table: CrawlTable, text: str) -> None:
        """Filters a table."""
        self._table = table
        self._filter(text)

    def leave(self) -> bool:
        """What `esc` does first: takes a filter off. False when there was none."""
        if self.filtered is None:
            return False
        self._clear()
        return True

    def typed(self, text: str) -> None:
        """Filters a moment after the last key."""
        self._stop_timer()
        self._timer = self._screen.set_timer(TYPING_S, lambda: self._filter(text))

    def entered(self, text: str) -> None:
        """Keeps the filter."""
        self._filter(text)
        if self._table is not None:
            self._table.focus()

    def _open(self, table: CrawlTable, argument: str) -> None:
        self._table = table
        if argument:
            self._filter(argument)
        else:
            from tui_crawler.console.screens.jump import pane_name  # noqa: PLC0415  it needs the screens that filter

            beside = len([pane for pane in panes_of(self._screen) if isinstance(pane, CrawlTable)]) > 1
            label = f"{pane_name(table)} /" if beside else "/"
            self._screen.query_one(EntryLine).open(PURPOSE, label, table.needle, table.filter_hint)

    def _clear(self) -> None:
        table = self.filtered
        if table is not None:
            table.keep_only("")
            self._screen.tell_footer()

    def _filter(self, text: str) -> None:
        self._stop_timer()
        if self._table is not None and self._table.is_attached:
            self._table.keep_only(text)
            self._screen.tell_footer()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
