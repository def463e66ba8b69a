"""`CrawlTable`: a table for live data, without a widget per row.

The cursor stays on its key whatever happens to the order. All text is shown as it is, never as markup, and
made safe once more when it is painted. `table_view` paints; here rows are filtered and ordered, and here is what
the operator does with keys and mouse.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from tui_crawler.console.keys import TABLE_BINDINGS, KeyNames
from tui_crawler.console.panes.border import write_subtitle, write_title
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.filter_terms import EXIT_COLUMNS, HINT, ParsedFilter, read_needle
from tui_crawler.console.table.paint import Sort
from tui_crawler.console.table.rows import CursorRule
from tui_crawler.console.table.view import TableView
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.text.cells import cell_text
from tui_crawler.text.columns import AnyColumn, is_missing, order_of
from tui_crawler.text.format import count


def in_place(shown: Iterable[Hashable], coming: Sequence[Row]) -> tuple[list[Row], int]:
    """Rows that come, each where it is shown already, those that are not shown yet at the end; and how many these are.

    Of equal keys the last row counts.
    """
    rows = {row.key: row for row in coming}
    placed = {key: rows[key] for key in shown if key in rows}
    new = [row for key, row in rows.items() if key not in placed]
    return [*placed.values(), *new], len(new)


LOOKING = "looking for it…"


class SiftedTable(TableView):
    """A table that shows a part of the rows it holds."""

    parsed = ParsedFilter()
    """The filter as it was read."""
    _given: dict[Hashable, Row] | None = None  # the rows as they came, None while all are shown as they came
    order: Sort | None = None
    """The order made here, None while rows stand as they come."""
    _heading = ""
    needle = ""
    """The filter as it was typed, empty without one. The last one is kept for `n` and `N`."""
    _sought = ParsedFilter()
    filter_hint = HINT
    """What can be typed for the filter, in words."""
    kept_besides: Container[Hashable] = frozenset()
    """The keys of rows that the filter keeps, whatever they say themselves."""
    seeks_elsewhere = False
    """Whether mere text is looked for in more than the rows say; who does so tells which to keep by `keep_besides`."""
    looks_elsewhere = False
    """Whether that is under way."""
    holds_while_marked = False
    """Whether rows keep their places as long as some are marked, whatever order they come in. So they do, too, when
    their order was made here; lists by time let new rows come in where they belong."""
    _waiting: tuple[Hashable, ...] = ()  # the keys in the order they came in, while they are shown in another
    _late = 0  # how many of them stand at the end only because they came late

    def keep_only(self, text: str) -> None:
        """Shows the rows only that a filter keeps (see `present.needle`), also of the rows to come. Empty: all."""
        held = self.held_rows()
        marked = self.mark_count
        another, self.needle = text != self.needle, text
        self.parsed = read_needle(text, {column.id for column in self.columns})
        if another:
            self.kept_besides = frozenset()
            self.looks_elsewhere = self.seeks_elsewhere and bool(self.parsed.plain)
        if self.parsed.terms:
            self._sought = self.parsed
        self._arrange(held, keep_marks=False)
        if self.mark_count != marked:
            self.marking_changed()
        write_subtitle(self, self.filter_words)

    def order_by(self, column_id: str | None, *, descending: bool | None = None) -> None:
        """Shows the rows in the order of a column (None: as they come), also those to come. `descending` None: as
        the column suggests."""
        held, column = self.held_rows(), self._column(column_id)
        if descending is None and column is not None:  # an order by numbers begins with the greatest
            values = [value for row in held if not is_missing(value := column.value_of(row.record))]
            descending = sum(isinstance(value, int | float) for value in values) > len(values) / 2
        self.sort = self.order = None if column_id is None else (column_id, bool(descending))
        self._arrange(held, keep_marks=True)

    def toggle_order(self, column_id: str) -> None:
        """Orders by a column; if it is ordered by that already, turns the order round."""
        here = self.order
        self.order_by(column_id, descending=not here[1] if here is not None and here[0] == column_id else None)

    @property
    def orders_itself(self) -> bool:
        """Whether the order is made here; False: who gives the rows orders them, and says so in `sort`."""
        return self.sort is None or self.order is not None

    @property
    def filter_words(self) -> str:
        """The filter in words, empty without one."""
        if not self.needle or self._given is None:
            return ""
        counts = f"{self.row_count} of {len(self._given)}"
        return " · ".join(filter(None, (f"/ {self.needle}", counts, self.parsed.problem)))

    def held_rows(self) -> Sequence[Row]:
        """All rows as they came, those that a filter hides among them."""
        return self.shown_rows() if self._given is None else tuple(self._given.values())

    def shown_rows(self) -> Sequence[Row]:
        return [self._rows.at(index) for index in range(len(self._rows))]

    def set_columns(self, columns: Sequence[AnyColumn]) -> None:
        """As in the view; an order by a column that is gone ends."""
        super().set_columns(columns)
        if self.order is not None and self.order[0] not in {column.id for column in columns}:
            self.order_by(None)

    def set_rows(
        self,
        rows: Iterable[Row],
        *,
        cursor: CursorRule = "pin",
        keep_marks: bool = False,
        anew: bool = False,
        still: bool = False,
    ) -> None:
        """As in the view; only the rows that a filter keeps are shown, in the order that was asked for. `anew`: in the
        order they come in, though rows are marked. `still`: where they stand, as if some were marked."""
        if self._given is not None:
            self._given = {row.key: row for row in rows}
            rows = self._kept(self._given.values())
        stands = (self.mark_count or still) and (self.holds_while_marked or self.order is not None)
        if stands and cursor == "pin" and not anew:
            coming = list(rows)
            rows, new = in_place(self.row_order, coming)
            belong = tuple(dict.fromkeys(row.key for row in coming))
            self._stand(belong if belong != tuple(row.key for row in rows) else (), self._late + new)
        else:
            self._stand(())
        super().set_rows(rows, cursor=cursor, keep_marks=keep_marks)
        if self._given is not None and self.needle:
            write_subtitle(self, self.filter_words)

    def _stand(self, waiting: tuple[Hashable, ...], late: int = 0) -> None:
        before = bool(self._waiting), self._late
        self._waiting, self._late = waiting, late if waiting else 0
        if before != (bool(self._waiting), self._late):
            self.show_title()

    def let_go(self) -> None:
        """Puts rows where they belong that stood still for their marks; nothing as long as some are marked."""
        if self._waiting and not self.mark_count:
            rows = [row for key in self._waiting if (row := self.row(key)) is not None]
            super().set_rows(rows)
            self._stand(())

    def update_row(self, row: Row) -> bool:
        """As in the view; a row that a filter hides stays hidden until all rows come anew."""
        if self._given is not None and row.key in self._given:
            self._given[row.key] = row
        return super().update_row(row)

    def remove_rows(self, keys: Collection[Hashable]) -> int:
        """As in the view, of the rows that a filter hides, too."""
        if self._given is not None:
            for key in keys:
                self._given.pop(key, None)
        return super().remove_rows(keys)

    def nothing_here(self) -> str:
        """As in the view; a filter that keeps nothing says so."""
        if self.needle and self._given:
            appearance = getattr(self.app, "appearance", None)  # which the welcome screen has not
            clears = (appearance.key_names if appearance is not None else KeyNames())("filter.clear")
            return LOOKING if self.looks_elsewhere else f"no matches ({clears} clears the filter)"
        return super().nothing_here()

    def go_to_match(self, *, forward: bool) -> bool:
        """Puts the cursor on the next row the last filter keeps, round the end; False when there is none."""
        number = self.row_count
        for away in range(1, number + 1):
            index = (self.cursor_index + (away if forward else -away)) % number
            if self._sought.keeps(self.fields_of(self._rows.at(index))):
                return self.move_cursor(index=index)
        return False

    def fields_of(self, row: Row) -> dict[str, str]:
        """The texts of a row by the ids of their columns: what a filter looks in."""
        texts = {column.id: cell_text(cell) for column, cell in zip(self.columns, row.cells, strict=False)}
        for column in self.columns:  # an exit code is found by its name, too
            name = column.value_of(row.record) if column.id in EXIT_COLUMNS and row.record is not None else ""
            if name in ExitCode.__members__:
                texts[column.id] += f" {name}"
        return texts

    def says(self, row: Row) -> bool:
        """Whether a row says itself what the filter looks for; without one, any does."""
        return not self.parsed.terms or self.parsed.keeps(self.fields_of(row))

    def keep_besides(self, keys: Container[Hashable]) -> None:
        """Has the filter keep these rows, too."""
        self.kept_besides, self.looks_elsewhere = keys, False
        if self.parsed.terms:
            self._arrange(self.held_rows(), keep_marks=True)
            write_subtitle(self, self.filter_words)

    def _arrange(self, held: Sequence[Row], *, keep_marks: bool) -> None:
        self._given = {row.key: row for row in held} if self.needle or self.order is not None else None
        self._stand(())
        super().set_rows(self._kept(held), keep_marks=keep_marks)

    def _kept(self, rows: Iterable[Row]) -> list[Row]:
        kept = [row for row in rows if row.key in self.kept_besides or self.says(row)]
        return kept if self.order is None else self.in_order(kept, self.order)

    def in_order(self, rows: Sequence[Row], order: Sort) -> list[Row]:
        """Rows ordered by the values of a column; those without a value last, equal ones as they came."""
        if (column := self._column(order[0])) is None:
            return list(rows)
        values = [(column.value_of(row.record), row) for row in rows]
        held = [(order_of(value), row) for value, row in values if not is_missing(value)]
        missing = [row for value, row in values if is_missing(value)]
        return [row for _, row in sorted(held, key=itemgetter(0), reverse=order[1])] + missing

    def _column(self, column_id: str | None) -> AnyColumn | None:
        return next((one for one in self.columns if one.id == column_id), None)

    @property
    def marked(self) -> frozenset[Hashable]:
        """The keys of the marked rows."""
        return frozenset(self._rows.marks)

    @property
    def chosen(self) -> tuple[Hashable, ...]:
        """What an action is about: the keys of the marked rows as they are shown, those without a row last; where none
        is marked, that of the row under the cursor."""
        marks, order = self._rows.marks, self._rows.order
        if not marks:
            return tuple(order[self._rows.cursor_index :][:1])
        return (*filter(marks.__contains__, order), *sorted(marks.difference(order), key=str))

    @property
    def mark_count(self) -> int:
        """How many rows are marked, also outside a window."""
        return len(self._rows.marks)

    def name_pane(self, heading: str) -> None:
        """Writes the title of the border (raw text); after it stands how many rows are marked."""
        self._heading = heading
        self.show_title()

    def show_title(self) -> None:
        """Brings the number of marked rows into the title up to date; a table without a heading has no title."""
        if self._heading:
            marked = f"{count(self.mark_count)} marked" if self.mark_count else ""
            stands = "order held" if self._waiting else ""
            late = f"▲ {count(self._late)} new" if self._late else ""
            write_title(self, " · ".join(filter(None, (self._heading, marked, stands, late))))

    def marking_changed(self) -> None:
        """Called when other rows are marked than before."""


class CrawlTable(SiftedTable):
    """A virtual table with keyed rows, a fixed header and marks.

    Only the rows on the screen cost anything; a row that is not on the screen is painted when it comes into
    view.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *TABLE_BINDINGS,
        Binding("enter", "open_row", "Open", id="nav.open", show=False),
    ]

    @dataclass
    class TableMessage(Message):
        """What every message of a table carries: the `table`, and the key of a row where it is about one."""

        table: CrawlTable
        key: Hashable | None = None

    class RowHighlighted(TableMessage):
        """The cursor stands on another key; None when there are no rows any more."""

    class RowSelected(TableMessage):
        """A row was opened, by enter, a double click, or a click on a cell that opens what it counts (`door`)."""

    @dataclass
    class HeaderSelected(TableMessage):
        """The header of a column was clicked."""

        column_id: str = ""

    class MarksChanged(TableMessage):
        """The operator marked rows or took marks away."""

    @dataclass
    class EndWanted(TableMessage):
        """The operator wants the last row of all (`bottom`) or the first: a window of rows may lie elsewhere."""

        bottom: bool = False

    picked = False
    """Whether the operator has moved the cursor: the row under it is meant then, and not only the first one."""
    marks_beyond: Callable[[], bool] = staticmethod(lambda: False)
    """Asked when all rows are to be marked: whether that was done by who has more rows than these."""

    def clear_marks(self) -> None:
        """Take all marks away, also those of rows outside a window."""
        self._rows.clear_marks()
        self.marking_changed()

    def mark_keys(self, keys: Iterable[Hashable]) -> None:
        """Mark rows by their keys, also those outside a window."""
        self._rows.mark(keys)
        self.marking_changed()

    def cursor_moved(self) -> None:
        """Tell which key the cursor stands on now."""
        self.post_message(self.RowHighlighted(self, self.cursor_key))

    def marking_changed(self) -> None:
        self.refresh()
        self.show_title()
        self.post_message(self.MarksChanged(self))

    def pick(self, index: int) -> None:
        """Put the cursor on a row as the operator wants it."""
        self.picked = True
        self.move_cursor(index=index)

    def action_move_rows(self, rows: int) -> None:
        self.pick(self.cursor_index + rows)

    def action_move_pages(self, pages: float) -> None:
        step = max(1, int(self._body_height * abs(pages)))
        self.pick(self.cursor_index + (step if pages > 0 else -step))

    def action_move_first(self) -> None:
        self.pick(0)
        self.post_message(self.EndWanted(self, bottom=False))

    def action_move_last(self) -> None:
        self.pick(self.row_count - 1)
        self.post_message(self.EndWanted(self, bottom=True))

    def action_move_columns(self, columns: int) -> None:
        """Make the next visible column to the right the current one, to the left if negative."""
        if visible := self.visible_columns:
            here = visible.index(self._current_column) if self._current_column in visible else -columns
            self._go_to_column(visible[min(max(here + columns, 0), len(visible) - 1)])

    def _go_to_column(self, column_id: str) -> None:
        self._current_column = column_id
        self._refresh_line(0)
        self._refresh_index(self.cursor_index)
        self.cursor_moved()

    def action_mark_toggle(self) -> None:
        """Mark the row under the cursor, or take its mark away, and go to the next row."""
        if self.row_count:
            self._toggle_mark(self.cursor_index)
            self.move_cursor(index=self.cursor_index + 1)

    def _toggle_mark(self, index: int) -> None:
        self._rows.toggle_mark(index)
        self.marking_changed()

    def action_mark_range(self) -> None:
        self._rows.mark_range()
        self.marking_changed()

    def action_mark_all(self) -> None:
        """Mark all rows, or unmark them if all are marked; who holds a part of a list may mean more by it."""
        if not self.marks_beyond():
            self._rows.mark_all()
            self.marking_changed()

    action_mark_clear = clear_marks

    def action_open_row(self) -> None:
        """Open the row under the cursor; where rows are still being read, the first one then."""
        if self.cursor_key is not None:
            self.post_message(self.RowSelected(self, self.cursor_key))
        elif (later := getattr(self.screen, "open_when_read", None)) is not None:
            later()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self._painter is None:
            return
        event.stop()
        layout = self._painter.layout
        column = layout.column_at(offset.x)
        if offset.y < self._header_lines:
            if column is not None:
                self.post_message(self.HeaderSelected(self, column_id=column.id))
            return
        line = offset.y - self._header_lines
        index = round(self.scroll_y) + line
        if line >= self._body_height or index >= self.row_count:
            return
        self.pick(index)
        if column is not None:
            self._go_to_column(column.id)
        if offset.x < layout.gutter:
            self._toggle_mark(index)
        elif event.chain == 2 or self.door is not None:
            self.action_open_row()
