"""The marks of the tables of one screen: told in the titles, taken off by `esc` and by what was done with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.crawl_table import CrawlTable

if TYPE_CHECKING:
    from tui_crawler.console.screens.base import ConsoleScreen


class TableMarks:
    """The marks of one screen. Those of the table `MARKS` are what its actions are about."""

    def __init__(self, screen: ConsoleScreen) -> None:
        """Nothing is marked yet."""
        self._screen = screen

    @property
    def count(self) -> int:
        """How many rows are marked that the actions of the screen are about."""
        table = self._acting()
        return 0 if table is None else table.mark_count

    @property
    def focused_count(self) -> int:
        """How many rows are marked in the table that copies and exports are about."""
        table = self._screen.table_filter.table
        return 0 if table is None else table.mark_count

    def leave(self) -> bool:
        """What `esc` does before it leaves a screen: takes all marks off. False when there were none."""
        marked = [table for table in self._screen.query(CrawlTable) if table.mark_count]
        for table in marked:
            table.clear_marks()
        return bool(marked)

    def used(self) -> None:
        """An action was carried out on the marked rows: the next one is about others."""
        table = self._acting()
        if table is not None and table.mark_count:
            table.clear_marks()

    def let_go(self) -> None:
        """Rows that stood still for their marks go where they belong, where no row is marked any more."""
        for table in self._screen.query(CrawlTable):
            table.let_go()

    def show(self) -> None:
        """Brings the number into the titles."""
        for table in self._screen.query(CrawlTable):
            table.show_title()

    def _acting(self) -> CrawlTable | None:
        wanted = self._screen.MARKS
        return next(iter(self._screen.query(wanted).results(CrawlTable)), None) if wanted else None
