"""Chooses which columns a table has, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from tui_crawler.console.screen.base import Dialog
from tui_crawler.console.table.crawl_table import Column, CrawlTable, Row

_FRAME, _WIDTH = 4, 52


class ColumnsScreen(Dialog):
    """Gives the ids of the columns that are marked, in their order, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "cancel", "Cancel", show=False),
        Binding("K,shift+up", "shift(-1)", "Sooner", show=False),
        Binding("J,shift+down", "shift(1)", "Later", show=False),
    ]

    def __init__(self, options: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        """`options` are ids and titles of all columns; `chosen` those that the table has now."""
        super().__init__()
        titles = dict(options)
        self._chosen = tuple(one for one in chosen if one in titles)
        self._rows = [Row(one, (titles[one],)) for one in dict.fromkeys((*self._chosen, *titles))]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog chooser") as box:
            box.border_title = Content("Columns")
            box.border_subtitle = Content("space: with or without · K J: move · enter")
            box.styles.width = _WIDTH
            table = CrawlTable([Column("text", "", None)], show_header=False)
            table.styles.height = min(len(self._rows), max(1, self.app.size.height - _FRAME))
            yield table

    def on_mount(self) -> None:
        table = self.query_one(CrawlTable)
        table.set_rows(self._rows)
        table.mark_keys(self._chosen)
        table.focus()

    def action_shift(self, by: int) -> None:
        """Moves the column under the cursor up or down."""
        table = self.query_one(CrawlTable)
        here = table.cursor_index
        goal = here + by
        if 0 <= goal < len(self._rows):
            self._rows[here], self._rows[goal] = self._rows[goal], self._rows[here]
            table.set_rows(self._rows, keep_marks=True)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        event.stop()
        self.dismiss(tuple(row.key for row in self._rows if row.key in event.table.marked))
