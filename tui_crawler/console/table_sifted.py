"""Which of its rows a table shows, and in which order: those that a filter keeps, by a column, still while marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.border import write_subtitle, write_title
from tui_crawler.console.format import READING, count
from tui_crawler.console.present.needle import HINT, Needle, read_needle
from tui_crawler.console.table_cells import Row, cell_text
from tui_crawler.console.table_columns import Column
from tui_crawler.console.table_order import begins_with_the_greatest, in_place, ordered
from tui_crawler.console.table_paint import Sort
from tui_crawler.console.table_rows import CursorRule
from tui_crawler.console.table_view import TableView
from tui_crawler.console.zoom import zoom_words

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Hashable, Iterable, Sequence

LOOKING = "looking for it…"


class SiftedTable(TableView):
    """A table that shows a part of the rows it holds."""

    _needle = Needle()
    _given: dict[Hashable, Row] | None = None  # the rows as they came, None while all are shown as they came
    _order: Sort | None = None
    _heading = ""
    needle = ""
    """The filter as it was typed, empty without one. The last one is kept for `n` and `N`."""
    _sought = Needle()
    filter_hint = HINT
    """What can be typed for the filter, in words."""
    kept_besides: Container[Hashable] = frozenset()
    """The keys of rows that the filter keeps, whatever they say themselves."""
    seeks_elsewhere = False
    """Whether mere text is looked for in more than the rows say; who does so tells which to keep by `keep_besides`."""
    looks_elsewhere = False
    """Whether that is under way."""
    stands_while_marked = False
    """Whether rows keep their places as long as some are marked, whatever order they come in. So they do, too, when
    their order was made here; lists by time let new rows come in where they belong."""
    _waiting: tuple[Hashable, ...] = ()  # the keys in the order they came in, while they are shown in another
    _late = 0  # how many of them stand at the end only because they came late

    # the filter, and the order

    def keep_only(self, text: str) -> None:
        """Shows the rows only that a filter keeps (see `present.needle`), also of the rows to come. Empty: all."""
        held = self.held_rows()
        marked = self.mark_count
        another, self.needle = text != self.needle, text
        self._needle = read_needle(text, {column.id for column in self._columns})
        if another:
            self.kept_besides = frozenset()
            self.looks_elsewhere = self.seeks_elsewhere and bool(self.plain_words)
        if self._needle.terms:
            self._sought = self._needle
        self._arrange(held, keep_marks=False)
        if self.mark_count != marked:
            self.marking_changed()
        write_subtitle(self, self.filter_words)

    def order_by(self, column_id: str | None, *, descending: bool | None = None) -> None:
        """Shows the rows in the order of a column (None: as they come), also those to come. `descending` None: as
        the column suggests."""
        held = self.held_rows()
        if column_id is None:
            self._order = None
        else:
            if descending is None:
                descending = begins_with_the_greatest(held, self._columns, column_id)
            self._order = (column_id, descending)
        self.sort = self._order
        self._arrange(held, keep_marks=True)

    def toggle_order(self, column_id: str) -> None:
        """Orders by a column; if it is ordered by that already, turns the order round."""
        here = self._order
        again = here is not None and here[0] == column_id
        self.order_by(column_id, descending=not here[1] if again and here is not None else None)

    @property
    def order(self) -> Sort | None:
        """The order made here, None while rows stand as they come."""
        return self._order

    @property
    def orders_itself(self) -> bool:
        """Whether the order is made here; False: who gives the rows orders them, and says so in `sort`."""
        return self.sort is None or self._order is not None

    @property
    def filter_words(self) -> str:
        """The filter in words, empty without one."""
        if not self.needle or self._given is None:
            return ""
        counts = f"{self.row_count} of {len(self._given)}"
        return " · ".join(part for part in (f"/ {self.needle}", counts, self._needle.problem) if part)

    def held_rows(self) -> Sequence[Row]:
        """All rows as they came, those that a filter hides among them."""
        return self.shown_rows() if self._given is None else tuple(self._given.values())

    def shown_rows(self) -> Sequence[Row]:
        """The rows in shown order."""
        return [self._rows.at(index) for index in range(len(self._rows))]

    @property
    def columns(self) -> Sequence[Column]:
        """All columns, those among them that have no room."""
        return self._columns

    def set_columns(self, columns: Sequence[Column]) -> None:
        """As in the view; an order by a column that is gone ends."""
        super().set_columns(columns)
        if self._order is not None and self._order[0] not in {column.id for column in columns}:
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
        stands = (self.mark_count or still) and (self.stands_while_marked or self._order is not None)
        if stands and cursor == "pin" and not anew:
            rows = self._in_place(list(rows))
        else:
            self._stand(())
        super().set_rows(rows, cursor=cursor, keep_marks=keep_marks)
        if self._given is not None and self.needle:
            write_subtitle(self, self.filter_words)

    def _in_place(self, coming: Sequence[Row]) -> Sequence[Row]:
        """Rows that come where they stand already; notes where they belong, if that is elsewhere."""
        placed, new = in_place(self.row_order, coming)
        belong = tuple(dict.fromkeys(row.key for row in coming))
        elsewhere = belong != tuple(row.key for row in placed)
        self._stand(belong if elsewhere else (), self._late + new)
        return placed

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
        """A filter that keeps nothing says so; a screen that nothing was read for knows nothing of it yet."""
        words = super().nothing_here()
        if words and not getattr(self.screen, "has_read", True):
            return READING
        if self.needle and self._given:
            return LOOKING if self.looks_elsewhere else f"nothing fits the filter; {self._clears} shows all"
        return words

    @property
    def _clears(self) -> str:
        """The operator's key that takes the filter off."""
        from tui_crawler.console.keys import KeyNames  # noqa: PLC0415  it needs this module

        return KeyNames(getattr(self.app, "own_keys", None))("filter.clear")

    def go_to_match(self, *, forward: bool) -> bool:
        """Puts the cursor on the next row the last filter keeps, round the end; False when there is none."""
        number = self.row_count
        step = 1 if forward else -1
        for away in range(1, number + 1):
            index = (self.cursor_index + step * away) % number
            if self._sought.keeps(self.fields_of(self._rows.at(index))):
                return self.move_cursor(index=index)
        return False

    def fields_of(self, row: Row) -> dict[str, str]:
        """The texts of a row by the ids of their columns: what a filter looks in."""
        return {column.id: cell_text(cell) for column, cell in zip(self._columns, row.cells, strict=False)}

    def says(self, row: Row) -> bool:
        """Whether a row says itself what the filter looks for; without one, any does."""
        return not self._needle.terms or self._needle.keeps(self.fields_of(row))

    @property
    def plain_words(self) -> tuple[str, ...]:
        """The words of the filter (casefolded) where they are mere text, else none."""
        return self._needle.plain

    def keep_besides(self, keys: Container[Hashable]) -> None:
        """Has the filter keep these rows, too."""
        self.kept_besides, self.looks_elsewhere = keys, False
        if self._needle.terms:
            self._arrange(self.held_rows(), keep_marks=True)
            write_subtitle(self, self.filter_words)

    def _arrange(self, held: Sequence[Row], *, keep_marks: bool) -> None:
        """Shows what was held, filtered and in order."""
        self._given = {row.key: row for row in held} if self.needle or self._order is not None else None
        self._stand(())
        super().set_rows(self._kept(held), keep_marks=keep_marks)

    def _kept(self, rows: Iterable[Row]) -> list[Row]:
        kept = [row for row in rows if row.key in self.kept_besides or self.says(row)]
        if self._order is None:
            return kept
        return ordered(kept, self._columns, self._order[0], descending=self._order[1])

    @property
    def marked(self) -> frozenset[Hashable]:
        """The keys of the marked rows."""
        return self._rows.marked

    @property
    def mark_count(self) -> int:
        """How many rows are marked, also outside a window."""
        return self._rows.mark_count

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
            words = " · ".join(part for part in (self._heading, marked, stands, late, zoom_words(self)) if part)
            write_title(self, words)

    def marking_changed(self) -> None:
        """Called when other rows are marked than before."""
