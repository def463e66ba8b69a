"""The marks in the tables of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui_crawler.console.table.crawl_table import CrawlTable


@dataclass(slots=True)
class TableMarks:
    """The marks in some tables. Those of a table among the selectors `_acting_at` (empty: none) are what actions are
    about: of the one that has the focus (`_focused`), else of the first."""

    _tables: Callable[[], Sequence[CrawlTable]]
    _focused: Callable[[], CrawlTable | None]
    _acting_at: str

    @property
    def count(self) -> int:
        """How many rows are marked that the actions of the screen are about."""
        return 0 if (table := self._acting()) is None else table.mark_count

    @property
    def focused_count(self) -> int:
        """How many rows are marked in the table that copies and exports are about."""
        return 0 if (table := self._focused()) is None else table.mark_count

    def leave(self) -> bool:
        """What `esc` does before it leaves a screen: takes all marks off. False when there were none."""
        marked = [table for table in self._tables() if table.mark_count]
        for table in marked:
            table.clear_marks()
        return bool(marked)

    def used(self) -> None:
        """An action was carried out on the marked rows: the next one is about others."""
        if (table := self._acting()) is not None and table.mark_count:
            table.clear_marks()

    def _acting(self) -> CrawlTable | None:
        acting = [table for table in self._tables() if f"#{table.id}" in self._acting_at.split()]
        return focused if (focused := self._focused()) in acting else next(iter(acting), None)
