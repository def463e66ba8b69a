"""How often each value of a column occurs; enter keeps the rows of one."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.present.pivot import PIVOT_COLUMNS, Pivot, pivot_rows, pivot_words
from tui_crawler.console.safe_text import safe
from tui_crawler.console.screens.base import Dialog

_LEAST, _FRAME = 9, 3
"""Lines of the box at least, and those that are no values."""


class PivotScreen(Dialog):
    """Gives the value that was chosen, or None. `pivot` None: it is being counted, and shown with `show`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,F", "cancel", "Leave", show=False)]

    def __init__(self, heading: str, pivot: Pivot | None) -> None:
        """`heading` is the title of the column."""
        super().__init__()
        self._heading = heading
        self._pivot = pivot

    def compose(self) -> ComposeResult:
        """A table of values."""
        with Vertical(classes="dialog pivot") as box:
            box.border_title = Content(safe(f"{self._heading} · counting…", 200))
            box.border_subtitle = Content(f"{self.key_names('nav.open')}: filter by it · esc leaves")
            yield CrawlTable(PIVOT_COLUMNS, placeholder="counting…", id="pivot")

    def on_mount(self) -> None:
        """Shows what was counted."""
        if self._pivot is not None:
            self.show(self._pivot)
        self.query_one(CrawlTable).focus()

    def show(self, pivot: Pivot) -> None:
        """Shows what was counted."""
        self._pivot = pivot
        table = self.query_one(CrawlTable)
        table.placeholder = "there are no rows to count"
        table.set_rows(pivot_rows(pivot))
        self.query_one(".pivot", Vertical).styles.height = max(_LEAST, len(pivot.counts) + _FRAME)
        self.query_one(".pivot", Vertical).border_title = Content(safe(f"{self._heading} · {pivot_words(pivot)}", 200))

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Gives the value under the cursor."""
        event.stop()
        self.dismiss(event.key)

    def on_crawl_table_header_selected(self, event: CrawlTable.HeaderSelected) -> None:
        """Orders by the column that was clicked; a second click turns the order round."""
        event.stop()
        event.table.toggle_order(event.column_id)

    def action_cancel(self) -> None:
        """Gives nothing."""
        self.dismiss(None)
