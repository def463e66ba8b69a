"""Chooses one of a few things from a short list, or which of them and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from tui_crawler.console.dialogs.pivot_rows import Pivot, pivot_words, values_of
from tui_crawler.console.screen.dialog import Dialog, dialog_box
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.text import shown
from tui_crawler.text.cells import Present
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from tui_crawler.console.operator.intent import Confirmation


_FRAME = 4
"""Lines of the screen that the list leaves free: the border of the dialog, and a little around it."""
_WIDTH = 56
"""Cells of the dialog of columns."""

CHOICES: Relation[tuple[str, str]] = Relation(
    key=itemgetter(0), columns=(Column("text", "", shown.plain(), value=itemgetter(1)),)
)
"""What can be chosen: ids and texts."""


ORDER_BY = "Order by · again: reverse"
"""The heading over columns to order by; the current one again reverses the order."""


class ChooseScreen(Dialog):
    """Gives the id that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "cancel", "Cancel", show=False)]
    HINT = ""
    """What its keys do."""

    def __init__(self, heading: str, options: Sequence[tuple[str, str]], current: str = "") -> None:
        """`options` are id and text; `current` is the id the cursor begins on."""
        super().__init__()
        self._heading, self._options, self._current = heading, list(options), current

    def compose(self) -> ComposeResult:
        with dialog_box(self._heading, self.HINT, "chooser"):
            table = CrawlTable(CHOICES, show_header=False)
            table.styles.height = len(self._options)
            table.styles.max_height = max(1, self.app.size.height - _FRAME)
            yield table

    def on_mount(self) -> None:
        table = self.query_one(CrawlTable)
        table.fill(self._options, Present())
        table.move_cursor(key=self._current)
        table.focus()

    def on_resize(self, event: events.Resize) -> None:
        for table in self.query(CrawlTable):
            table.styles.max_height = max(1, event.size.height - _FRAME)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        event.stop()
        self.choose(event.table)

    def choose(self, table: CrawlTable) -> None:
        """Close it with what is chosen in the table."""
        self.dismiss(str(table.cursor_key))


class ColumnsScreen(ChooseScreen):
    """Gives the ids of the columns that are marked, in their order, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("K,shift+up", "shift(-1)", "Sooner", show=False),
        Binding("J,shift+down", "shift(1)", "Later", show=False),
    ]
    HINT = "space: with or without · K J: move · enter: show"

    def __init__(self, options: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        """`options` are ids and titles of all columns; `chosen` those that the table has now."""
        titles = dict(options)
        self._chosen = tuple(one for one in chosen if one in titles)
        super().__init__("Columns", [(one, titles[one]) for one in dict.fromkeys((*self._chosen, *titles))])

    def on_mount(self) -> None:
        self.query_one(".chooser").styles.width = _WIDTH
        self.query_one(CrawlTable).mark_keys(self._chosen)

    def action_shift(self, by: int) -> None:
        table, rows = self.query_one(CrawlTable), self._options
        here = table.cursor_index
        goal = here + by
        if 0 <= goal < len(rows):
            rows[here], rows[goal] = rows[goal], rows[here]
            table.fill(rows, Present(), keep_marks=True)

    def choose(self, table: CrawlTable) -> None:
        self.dismiss(tuple(one for one, _ in self._options if one in table.marked))


class ConfirmScreen(Dialog):
    """Gives the intent that was chosen, or None."""

    NO = "Cancel"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "cancel", "Cancel", show=False),
        Binding("right,down,l,j", "app.focus_next", "Next", show=False),
        Binding("left,up,h,k", "app.focus_previous", "Previous", show=False),
        Binding("y", "yes", "Yes", show=False),
    ]

    def __init__(self, question: Confirmation) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        question = self._question
        with dialog_box(safe(question.title, 120)):
            yield Static(Content(safe(question.text, 600)), classes="dialog-text")
            if question.note:
                yield Static(Content(safe(self.key_names.said(question.note), 300)), classes="dialog-note")
            with Horizontal(classes="dialog-buttons keyed" if self.NO != ConfirmScreen.NO else "dialog-buttons"):
                for index, (label, _) in enumerate(question.options):
                    yield Button(Content(safe(label)), id=f"option-{index}", compact=True, variant="primary")
                yield Button(self.NO, id="cancel", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        intents = {f"option-{at}": intent for at, (_, intent) in enumerate(self._question.options)}
        self.dismiss(intents.get(event.button.id or ""))

    def action_yes(self) -> None:
        self.dismiss(self._question.options[0][1])


_LEAST, _AROUND = 9, 3
"""Lines of the box at least, and those that are no values."""


class PivotScreen(Dialog):
    """Gives the value that was chosen, or None. `pivot` None: it is being counted, and shown with `show`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,F", "cancel", "Leave", show=False)]

    def __init__(self, heading: str, pivot: Pivot | None) -> None:
        """`heading` is the title of the column."""
        super().__init__()
        self._heading, self._pivot = heading, pivot

    def compose(self) -> ComposeResult:
        with dialog_box(
            safe(f"{self._heading} · counting…", 200),
            f"{self.key_names('nav.open')}: filter by it · esc leaves",
            "pivot",
        ):
            yield CrawlTable(values_of(Pivot((), 0, 0, "")), id="pivot")

    def on_mount(self) -> None:
        if self._pivot is not None:
            self.show(self._pivot)
        self.query_one(CrawlTable).focus()

    def show(self, pivot: Pivot) -> None:
        """Shows what was counted."""
        self._pivot = pivot
        table = self.query_one(CrawlTable)
        table.fill(pivot.counts, Present(), relation=values_of(pivot))
        self.query_one(".pivot", Vertical).styles.height = max(_LEAST, len(pivot.counts) + _AROUND)
        self.query_one(".pivot", Vertical).border_title = Content(safe(f"{self._heading} · {pivot_words(pivot)}", 200))

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        event.stop()
        self.dismiss(event.key)

    def on_crawl_table_header_selected(self, event: CrawlTable.HeaderSelected) -> None:
        event.stop()
        event.table.toggle_order(event.column_id)
