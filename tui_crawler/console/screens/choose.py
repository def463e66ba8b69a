"""Chooses one of a few things from a short list."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from tui_crawler.console.crawl_table import Column, CrawlTable, Row
from tui_crawler.console.screens.base import Dialog

if TYPE_CHECKING:
    from collections.abc import Sequence

_FRAME = 4
"""Lines of the screen that the list leaves free: the border of the dialog, and a little around it."""


class ChooseScreen(Dialog):
    """Gives the id that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "cancel", "Cancel", show=False)]

    def __init__(self, heading: str, options: Sequence[tuple[str, str]], current: str) -> None:
        """`options` are id and text; `current` is the id the cursor begins on."""
        super().__init__()
        self._heading = heading
        self._options = tuple(options)
        self._current = current

    def compose(self) -> ComposeResult:
        """A table without a header."""
        with Vertical(classes="dialog chooser") as box:
            box.border_title = Content(self._heading)
            table = CrawlTable([Column("text", "", None)], show_header=False)
            table.styles.height = len(self._options)
            table.styles.max_height = max(1, self.app.size.height - _FRAME)
            yield table

    def on_mount(self) -> None:
        """Fills the table."""
        table = self.query_one(CrawlTable)
        table.set_rows([Row(key, (text,)) for key, text in self._options])
        table.move_cursor(key=self._current)
        table.focus()

    def on_resize(self, event: events.Resize) -> None:
        """Fits another size."""
        for table in self.query(CrawlTable):
            table.styles.max_height = max(1, event.size.height - _FRAME)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Gives the chosen id."""
        event.stop()
        self.dismiss(str(event.key))

    def action_cancel(self) -> None:
        """Chooses nothing."""
        self.dismiss(None)
