"""The marks in the tables of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.table.crawl_table import CrawlTable

if TYPE_CHECKING:
    from tui_crawler.console.screen.base import ConsoleScreen


class TableMarks:
    """The marks in the tables of a screen. Actions are about those of a table that the screen names in `MARKS`: of the
    one that has the focus, else of the first."""

    def __init__(self, screen: ConsoleScreen) -> None:
        self._screen = screen

    @property
    def count(self) -> int:
        """How many rows are marked that the actions of the screen are about."""
        return 0 if (table := self._acting()) is None else table.mark_count

    @property
    def focused_count(self) -> int:
        """How many rows are marked in the table that copies and exports are about."""
        return 0 if (table := self._screen.table_filter.table) is None else table.mark_count

    def leave(self) -> bool:
        """What `esc` does before it leaves a screen: takes all marks off. False when there were none."""
        marked = [table for table in self._screen.tables if table.mark_count]
        for table in marked:
            table.clear_marks()
        return bool(marked)

    def used(self) -> None:
        """An action was carried out on the marked rows: the next one is about others."""
        if (table := self._acting()) is not None and table.mark_count:
            table.clear_marks()

    def _acting(self) -> CrawlTable | None:
        acting = [table for table in self._screen.tables if f"#{table.id}" in self._screen.MARKS.split()]
        return focused if (focused := self._screen.table_filter.table) in acting else next(iter(acting), None)
