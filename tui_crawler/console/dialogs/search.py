"""A list that is filtered while one types: the ground of the help sheet and of the palette."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui_crawler.console.action import Situation, why_not
from tui_crawler.console.actions import actions_at
from tui_crawler.console.keys import KeyNames
from tui_crawler.console.panes.line import Flow, Paragraph, width_of
from tui_crawler.console.panes.lines import Lines, lay_out_line
from tui_crawler.console.panes.typing_line import PlainInput
from tui_crawler.console.screen.dialog import Dialog, dialog_box
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.text import shown
from tui_crawler.text.cells import Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.standing import standing

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.domain.records.view import OriginView
    from tui_crawler.text.cells import Cell


ROOMY = 30
"""Lines of a screen on which all notes have room."""
_MOST_TEXT = 3
"""So many lines of an entry's text are shown at most."""
_BESIDE = 4
"""Cells of the list that are no text: the cursor, and the scroll bar."""


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """One thing to choose. `words` is what the filter looks in; not `possible`: it can only be looked at.

    `about` is shown under the list while the cursor is on it, and before it `text`, where some text is cut in the list;
    `refusal` says why it is not possible. An entry without words is a heading: no filter keeps it, and the cursor does
    not stay on it.
    """

    key: str
    cells: tuple[Cell, ...]
    words: str
    possible: bool = True
    about: Line = ""
    refusal: str = ""
    text: str = ""


def entries_of(*columns: Column[Any, Any]) -> Relation[SearchEntry]:
    """Return a relation of entries, whose cells are shown in these columns."""

    def cell(at: int) -> Callable[[SearchEntry], Cell]:
        return lambda entry: entry.cells[at] if at < len(entry.cells) else ""

    made = (replace(column, show=shown.itself, value=cell(at)) for at, column in enumerate(columns))
    return Relation(key=lambda entry: entry.key, nothing="no matches", columns=tuple(made))


class SearchDialog(Dialog):
    """Gives the key of the entry that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move(1)", "Down", show=False),
        Binding("up,ctrl+p", "move(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
    ]

    def __init__(
        self,
        heading: str,
        hint: str,
        relation: Relation[SearchEntry],
        entries: Sequence[SearchEntry],
        notes: Sequence[Line] = (),
        more: Callable[[], Iterable[SearchEntry]] = tuple,
    ) -> None:
        """`notes` are shown under the list; `more` makes the entries that are listed once something is typed."""
        super().__init__()
        self._more = more
        self._heading, self._hint, self._relation = heading, hint, relation
        self._entries, self._notes = tuple(entries), tuple(notes)

    def compose(self) -> ComposeResult:
        with dialog_box(self._heading, "type to filter · enter: do it · esc: leave", "search"):
            yield PlainInput(placeholder=self._hint, compact=True, id="needle", select_on_focus=False)
            table = CrawlTable(self._relation, id="found", show_header=False)
            table.can_focus = False
            yield table
            yield Lines(id="notes", still=True)

    def on_mount(self) -> None:
        self._filter("")
        self.query_one(Input).focus()

    def on_resize(self, event: events.Resize) -> None:
        """On a low screen the list needs the lines more than the notes do: the last one stays."""
        super().on_resize(event)
        self._tell(self.query_one(CrawlTable).cursor_key)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._choose(self.query_one(CrawlTable).cursor_key)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        event.stop()
        self._choose(event.key)

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        event.stop()
        self._tell(event.key)

    def action_move(self, rows: int) -> None:
        self.query_one(CrawlTable).action_move_rows(rows)
        self._leave_headings(rows)
        self._leave_headings(1)

    def action_page(self, pages: int) -> None:
        self.query_one(CrawlTable).action_move_pages(pages)

    def _filter(self, text: str) -> None:
        if text:
            self._entries, self._more = (*self._entries, *self._more()), tuple
        needles = text.casefold().split()
        kept = [one for one in self._entries if all(needle in one.words.casefold() for needle in needles)]
        table = self.query_one(CrawlTable)
        table.fill(kept, Present(), cursor="first")
        self._leave_headings(1)
        self._tell(table.cursor_key)

    def _leave_headings(self, step: int) -> None:
        table = self.query_one(CrawlTable)
        headings = {one.key for one in self._entries if not one.words}
        last = table.row_count - 1 if step > 0 else 0
        while table.cursor_key in headings and table.cursor_index != last:
            table.action_move_rows(step)

    def _tell(self, key: object) -> None:
        """Shows what belongs to an entry, and the notes, in as many lines whichever entry it is."""
        entry = self._entry(key)
        roomy = self.app.size.height >= ROOMY
        notes = self._notes if roomy else self._notes[-1:]
        pane = self.query_one("#notes", Lines)
        width = max(1, pane.container_size.width)
        cut = [one for one in self._entries if one.text and sum(map(width_of, one.cells)) > width - _BESIDE]
        texts: dict[str, Line] = {one.key: Paragraph(one.text, "strong", most=_MOST_TEXT) for one in cut}
        abouts = {one.key: _in_lines(one.about, width, 1 + roomy) for one in self._entries}
        told: list[Line] = []
        for lines in (texts, abouts):
            room = max((_height(line, width) for line in lines.values() if line), default=0)
            line = lines.get(entry.key, "") if entry is not None else ""
            told += [*[""] * (room - _height(line, width)), line] if room else []
        shown = ["", *told, *notes]
        pane.styles.height = sum(_height(line, width) for line in shown)
        pane.show(shown)

    def _entry(self, key: object) -> SearchEntry | None:
        return next((one for one in self._entries if one.key == key), None)

    def _choose(self, key: object) -> None:
        """Return what is chosen; of what cannot be done now say why."""
        entry = self._entry(key)
        if entry is not None and entry.possible:
            self.dismiss(entry.key)
        elif entry is not None and entry.refusal:
            self.console.tell("no", entry.refusal, "muted")


def _in_lines(line: Line, width: int, most: int) -> Line:
    """The line; pieces that take more than `most` lines beside each other in one that is cut."""
    if isinstance(line, Flow) and _height(line, width) > most:
        pieces = [piece if isinstance(piece, tuple) else (piece,) for piece in line.pieces]
        return tuple(part for piece in pieces for part in (*piece, " " * line.gap))
    return line


def _height(line: Line, width: int) -> int:
    return len(lay_out_line(line, width))


_MOST_ORIGINS = 100  # before something is typed
ORIGIN = "origin "
"""What the key of an entry begins with that is an origin."""

_ACTIONS = entries_of(
    Column("what", "", width=40, min_width=18),
    Column("hint", "", priority=1, min_width=20),
    Column("key", "", width=10, align="right", min_width=6),
)


class PaletteScreen(SearchDialog):
    """Gives an action id, or `ORIGIN` and an origin."""

    def __init__(self, situation: Situation, key_names: KeyNames, origins: Iterable[OriginView]) -> None:
        """Take every action, those that cannot be done now last and with the reason, and where one can go."""
        entries = []
        for one in actions_at(situation.where):
            reason = why_not(one, situation)
            hint = Styled(f"— {reason}", "warning") if reason else Styled(one.help, "muted")
            cells = (
                Styled(one.label, "faint" if reason else "strong"),
                hint,
                Styled(key_names.first(one.id), "accent"),
            )
            words = f"{one.label} {one.help} {one.id}"
            entries.append(SearchEntry(one.id, cells, words, not reason, refusal=f"{one.label}: {reason}"))
        entries.sort(key=lambda entry: not entry.possible)
        views = iter(origins)
        entries += map(_origin_entry, islice(views, _MOST_ORIGINS))
        more = partial(map, _origin_entry, views)
        super().__init__("Palette", "an action or an origin", _ACTIONS, entries, more=more)


def _origin_entry(view: OriginView) -> SearchEntry:
    mark = standing(view)
    cells = (Styled(view.origin), Styled(mark.label, mark.role), Styled("open", "faint"))
    return SearchEntry(ORIGIN + view.origin, cells, f"open {view.origin} {mark.word}")
