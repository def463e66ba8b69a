"""`CrawlTable`: a table for live data, without a widget per row.

The cursor stays on its key whatever happens to the order. All text is shown as it is, never as markup, and
made safe once more when it is painted. `table_view` paints, `table_sifted` filters and orders, this module is what
the operator does with keys and mouse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from tui_crawler.console.table_cells import Cell, Row, Styled
from tui_crawler.console.table_columns import Column
from tui_crawler.console.table_paint import Sort
from tui_crawler.console.table_rows import CursorRule
from tui_crawler.console.table_sifted import SiftedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

__all__ = ["Cell", "Column", "CrawlTable", "CursorRule", "Row", "Sort", "Styled"]


class CrawlTable(SiftedTable):
    """A virtual table with keyed rows, a fixed header and marks.

    Only the rows on the screen cost anything; a row that is not on the screen is painted when it comes into
    view.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move_rows(1)", "Down", id="move.down", show=False),
        Binding("k,up", "move_rows(-1)", "Up", id="move.up", show=False),
        Binding("g,home", "move_first", "First row", id="move.first", show=False),
        Binding("G,end", "move_last", "Last row", id="move.last", show=False),
        Binding("ctrl+d", "move_pages(0.5)", "Half a page down", id="move.half_down", show=False),
        Binding("ctrl+u", "move_pages(-0.5)", "Half a page up", id="move.half_up", show=False),
        Binding("pagedown", "move_pages(1)", "Page down", id="move.page_down", show=False),
        Binding("pageup", "move_pages(-1)", "Page up", id="move.page_up", show=False),
        Binding("h,left", "move_columns(-1)", "Column left", id="move.left", show=False),
        Binding("l,right", "move_columns(1)", "Column right", id="move.right", show=False),
        Binding("space", "mark_toggle", "Mark", id="mark.toggle", show=False),
        Binding("v", "mark_range", "Mark to here", id="mark.range", show=False),
        Binding("asterisk", "mark_all", "Mark all", id="mark.all", show=False),
        Binding("ctrl+backslash", "mark_clear", "Clear marks", id="mark.clear", show=False),
        Binding("enter", "open_row", "Open", id="nav.open", show=False),
    ]

    class TableMessage(Message):
        """What every message of a table carries: the `table`."""

        def __init__(self, table: CrawlTable) -> None:
            super().__init__()
            self.table = table

    class RowHighlighted(TableMessage):
        """The cursor stands on another key; None when there are no rows any more."""

        def __init__(self, table: CrawlTable, key: Hashable | None) -> None:
            super().__init__(table)
            self.key = key

    class RowSelected(TableMessage):
        """A row was opened, by enter or a double click."""

        def __init__(self, table: CrawlTable, key: Hashable) -> None:
            super().__init__(table)
            self.key = key

    class HeaderSelected(TableMessage):
        """The header of a column was clicked."""

        def __init__(self, table: CrawlTable, column_id: str) -> None:
            super().__init__(table)
            self.column_id = column_id

    class MarksChanged(TableMessage):
        """The operator marked rows or took marks away."""

    class EndWanted(TableMessage):
        """The operator wants the last row of all (`bottom`) or the first: a window of rows may lie elsewhere."""

        def __init__(self, table: CrawlTable, bottom: bool) -> None:
            super().__init__(table)
            self.bottom = bottom

    marks_beyond: Callable[[], bool] = staticmethod(lambda: False)
    """Asked when all rows are to be marked: whether that was done by who has more rows than these."""

    @property
    def current_column(self) -> str | None:
        """The id of the column `h` and `l` went to last, the leftmost if that has no room; None without columns."""
        shown = self.visible_columns
        return self._current_column if self._current_column in shown or not shown else shown[0]

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
        """Tell that other rows are marked now."""
        self.refresh()
        self.show_title()
        self.post_message(self.MarksChanged(self))

    # keys

    def action_move_rows(self, rows: int) -> None:
        """Move the cursor down by `rows`, up if negative."""
        self.move_cursor(index=self.cursor_index + rows)

    def action_move_pages(self, pages: float) -> None:
        """Move the cursor down by `pages` of the height of the view, up if negative."""
        step = max(1, int(self._body_height * abs(pages)))
        self.move_cursor(index=self.cursor_index + (step if pages > 0 else -step))

    def action_move_first(self) -> None:
        """Move the cursor to the first row."""
        self.move_cursor(index=0)
        self.post_message(self.EndWanted(self, bottom=False))

    def action_move_last(self) -> None:
        """Move the cursor to the last row."""
        self.move_cursor(index=self.row_count - 1)
        self.post_message(self.EndWanted(self, bottom=True))

    def action_move_columns(self, columns: int) -> None:
        """Make the next visible column to the right the current one, to the left if negative."""
        visible: Sequence[str] = self.visible_columns
        if not visible:
            return
        here = visible.index(self._current_column) if self._current_column in visible else -columns
        self._current_column = visible[min(max(here + columns, 0), len(visible) - 1)]
        self._refresh_line(0)

    def action_mark_toggle(self) -> None:
        """Mark the row under the cursor, or take its mark away, and go to the next row."""
        if not self.row_count:
            return
        self._rows.toggle_mark(self.cursor_index)
        self.marking_changed()
        self.move_cursor(index=self.cursor_index + 1)

    def action_mark_range(self) -> None:
        """Mark all rows from the one toggled last to the cursor."""
        self._rows.mark_range()
        self.marking_changed()

    def action_mark_all(self) -> None:
        """Mark all rows, or unmark them if all are marked; who holds a part of a list may mean more by it."""
        if self.marks_beyond():
            return
        self._rows.mark_all()
        self.marking_changed()

    def action_mark_clear(self) -> None:
        """Take all marks away."""
        self.clear_marks()

    def action_open_row(self) -> None:
        """Open the row under the cursor; where rows are still being read, the first one then."""
        if self.cursor_key is not None:
            self.post_message(self.RowSelected(self, self.cursor_key))
        elif (later := getattr(self.screen, "open_when_read", None)) is not None:
            later()

    # mouse

    def on_click(self, event: events.Click) -> None:
        """Header: tell the column. Row: cursor there; in the gutter mark it, twice open it."""
        offset = event.get_content_offset(self)
        if offset is None or self._painter is None:
            return
        event.stop()
        layout = self._painter.layout
        if offset.y < self._header_lines:
            column = layout.column_at(offset.x)
            if column is not None:
                self.post_message(self.HeaderSelected(self, column.id))
            return
        line = offset.y - self._header_lines
        index = round(self.scroll_y) + line
        if line >= self._body_height or index >= self.row_count:
            return
        self.move_cursor(index=index)
        if offset.x < layout.gutter:
            self._rows.toggle_mark(index)
            self.marking_changed()
        elif event.chain == 2:
            self.action_open_row()
