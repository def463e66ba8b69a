"""What to copy: chosen by one key, or with the cursor and enter."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from tui_crawler.console.crawl_table import Column, CrawlTable, Row
from tui_crawler.console.format import plural
from tui_crawler.console.screens.base import Dialog
from tui_crawler.console.table_cells import Styled

OPTIONS: tuple[tuple[str, str, str], ...] = (
    ("u", "url", "the URL, percent-encoded"),
    ("c", "curl", "a curl command for it"),
    ("j", "json", "the row as JSON"),
    ("r", "row", "the row as text"),
)
"""Key, id and words of what can be copied."""


class CopyScreen(Dialog):
    """Gives the id of what is to be copied, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"choose('{name}')", words, show=False) for key, name, words in OPTIONS),
        Binding("down", "move(1)", "Down", show=False),
        Binding("up", "move(-1)", "Up", show=False),
        Binding("enter", "choose('')", "Copy", show=False),
        Binding("escape,q,y", "cancel", "Cancel", show=False),
    ]

    def __init__(self, rows: int, *, has_url: bool) -> None:
        """`rows` are marked (or 1: the one under the cursor); without a URL only JSON and text are offered."""
        super().__init__()
        self._rows = rows
        self._options = tuple(one for one in OPTIONS if has_url or one[1] in {"json", "row"})

    def compose(self) -> ComposeResult:
        """A list of what can be copied; the focus is on the dialog, so that each key chooses."""
        with Vertical(classes="dialog chooser") as box:
            box.border_title = Content("Copy" if self._rows == 1 else f"Copy {plural(self._rows, 'row')}")
            table = CrawlTable([Column("key", "", 1), Column("what", "", None)], show_header=False)
            table.can_focus = False
            table.styles.height = len(self._options)
            yield table

    def on_mount(self) -> None:
        """Fills the list."""
        rows = [Row(name, (Styled(key, "accent bold"), words)) for key, name, words in self._options]
        self.query_one(CrawlTable).set_rows(rows)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Copies what was clicked twice."""
        event.stop()
        self.dismiss(event.key)

    def action_choose(self, name: str) -> None:
        """Gives what a key, or the cursor, means."""
        wanted = name or self.query_one(CrawlTable).cursor_key
        if wanted in {one[1] for one in self._options}:
            self.dismiss(wanted)

    def action_move(self, rows: int) -> None:
        """Moves the cursor."""
        self.query_one(CrawlTable).action_move_rows(rows)

    def action_cancel(self) -> None:
        """Copies nothing."""
        self.dismiss(None)
