"""A list that is filtered while one types: the ground of the help sheet and of the palette."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from tui_crawler.console.crawl_table import Column, CrawlTable, Row
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.typing import PlainInput
from tui_crawler.console.screens.base import Dialog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.present.line import Line
    from tui_crawler.console.table_cells import Cell

ROOMY = 30
"""Lines of a screen on which all notes have room."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to choose. `words` is what the filter looks in; not `possible`: it can only be looked at.

    `about` is shown under the list while the cursor is on it, `refusal` says why it is not possible. An entry without
    words is a heading: no filter keeps it.
    """

    key: str
    cells: tuple[Cell, ...]
    words: str
    possible: bool = True
    about: Cell = ""
    refusal: str = ""


class SearchDialog(Dialog):
    """Gives the key of the entry that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Leave", show=False),
        Binding("down,ctrl+n", "move(1)", "Down", show=False),
        Binding("up,ctrl+p", "move(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
    ]

    def __init__(
        self, heading: str, hint: str, columns: Sequence[Column], entries: Sequence[Entry], notes: Sequence[Line] = ()
    ) -> None:
        """`notes` stand under the list."""
        super().__init__()
        self._heading = heading
        self._hint = hint
        self._columns = tuple(columns)
        self._entries = tuple(entries)
        self._notes = tuple(notes)

    def compose(self) -> ComposeResult:
        """An input, the list, and the notes."""
        with Vertical(classes="dialog search") as box:
            box.border_title = Content(self._heading)
            box.border_subtitle = Content("type to filter · enter does it · esc leaves")
            yield PlainInput(placeholder=self._hint, compact=True, id="needle", select_on_focus=False)
            table = CrawlTable(self._columns, placeholder="nothing fits", id="found", show_header=False)
            table.can_focus = False
            yield table
            notes = Lines(id="notes")
            notes.can_focus = False
            yield notes

    def on_mount(self) -> None:
        """Shows everything."""
        self._filter("")
        self.query_one(Input).focus()

    def on_resize(self, event: events.Resize) -> None:
        """On a low screen the list needs the lines more than the notes do: the last one stays."""
        super().on_resize(event)
        self._tell(self.query_one(CrawlTable).cursor_key)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keeps what has all the words."""
        event.stop()
        self._filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Chooses what the cursor is on."""
        event.stop()
        self._choose(self.query_one(CrawlTable).cursor_key)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Chooses what was clicked twice."""
        event.stop()
        self._choose(event.key)

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        """Tells more of the entry under the cursor."""
        event.stop()
        self._tell(event.key)

    def action_move(self, rows: int) -> None:
        """Moves the cursor of the list."""
        self.query_one(CrawlTable).action_move_rows(rows)

    def action_page(self, pages: int) -> None:
        """Moves the cursor of the list by pages."""
        self.query_one(CrawlTable).action_move_pages(pages)

    def action_cancel(self) -> None:
        """Gives nothing."""
        self.dismiss(None)

    def _filter(self, text: str) -> None:
        needles = text.casefold().split()
        kept = [
            one
            for one in self._entries
            if not needles or (one.words and all(needle in one.words.casefold() for needle in needles))
        ]
        table = self.query_one(CrawlTable)
        table.set_rows([Row(one.key, one.cells) for one in kept], cursor="first")
        if kept and not kept[0].words:
            table.move_cursor(index=1)
        self._tell(table.cursor_key)

    def _tell(self, key: object) -> None:
        entry = next((one for one in self._entries if one.key == key), None)
        notes = self._notes if self.app.size.height >= ROOMY else self._notes[-1:]
        pane = self.query_one("#notes", Lines)
        pane.styles.height = len(notes) + 2
        pane.show(["", entry.about if entry is not None else "", *notes])

    def _choose(self, key: object) -> None:
        entry = next((one for one in self._entries if one.key == key), None)
        if entry is not None and entry.possible:
            self.dismiss(entry.key)
