"""What a `CrawlTable` shows: rows, header and cursor on the lines of a scroll view.

Rows are frozen values found by key. An update is one write into a dict and, if the row is on the screen, one
line marked for painting; painted rows are kept until their value, the width or the theme changes.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_crawler.console.panes.scrolling import reach_over
from tui_crawler.console.table.cells import Row, rows_of
from tui_crawler.console.table.columns import Layout, Width, arrange
from tui_crawler.console.table.paint import Palette, Sort, TablePainter, role_styles
from tui_crawler.console.table.rows import CursorRule, TableRows
from tui_crawler.text.cells import Cell, Present, cell_parts
from tui_crawler.text.columns import AnyColumn, Relation
from tui_crawler.text.format import READING
from tui_crawler.text.safe_text import safe


class SeenWidths:
    """The widest cells of columns, of the rows that were on the screen. `decodes`: as `Palette` has it."""

    __slots__ = ("_last", "_places", "_short", "_whole", "decodes")

    def __init__(self, columns: Sequence[AnyColumn]) -> None:
        self.decodes = True
        self._places = [column.kind == "place" for column in columns]
        self._whole = [0] * len(columns)
        self._short = [0] * len(columns)
        self._last: dict[Hashable, Row] = {}

    @property
    def widths(self) -> Sequence[Width]:
        """By the index of the column; empty as long as no row was seen."""
        return [Width(*both) for both in zip(self._whole, self._short, strict=True)] if self._last else ()

    def take(self, rows: Iterable[Row]) -> bool:
        """Looks at the rows on the screen, at those that were there as they are only once; whether a width grew."""
        before = self._last
        self._last = {row.key: row for row in rows} or before
        grew = not before and bool(self._last)
        for key, row in self._last.items():
            if before.get(key) is not row:
                grew |= self._measure(row)
        return grew

    def take_one(self, row: Row) -> bool:
        """Looks at a row that comes in place of one on the screen; whether a width grew."""
        self._last[row.key] = row
        return self._measure(row)

    def _measure(self, row: Row) -> bool:
        grew = False
        for at, cell in enumerate(row.cells[: len(self._whole)]):
            whole, short = _width_of(cell, decoded=self.decodes and self._places[at])
            if whole > self._whole[at]:
                self._whole[at] = whole
                grew = True
            if short > self._short[at]:
                self._short[at] = short
                grew = True
        return grew


def _width_of(cell: Cell, *, decoded: bool) -> tuple[int, int]:
    whole = short = 0
    for part in cell_parts(cell, decoded=decoded):
        own = _cells(part.text)
        whole += own
        short += _cells(part.short) if part.short else own
    return whole, short


def _cells(text: str) -> int:
    return min(len(text), 512) if text.isascii() and text.isprintable() else cell_len(safe(text))


class TableView(ScrollView, can_focus=True, inherit_bindings=False):
    """The part of a `CrawlTable` that holds and paints rows; what the operator does comes on top of it."""

    ALLOW_SELECT = False
    sort: reactive[Sort | None] = reactive(None)
    """The column and direction the header shows as the order; the caller orders the rows."""
    placeholder: reactive[str] = reactive("")
    """What is shown while there are no rows; may have several lines."""
    pins_top = False
    """Whether the topmost row stays where it is, too, when rows come and go above it while the cursor is elsewhere."""

    DEFAULT_CSS = """
        TableView { height: 1fr; width: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        color: $foreground;
        & > .crawl-table--cursor { background: $primary-muted 45%; } &:focus >
        .crawl-table--cursor { background: $primary-muted; text-style: bold; } &:nocolor >
        .crawl-table--cursor { background: transparent; text-style: underline; } &:nocolor:focus >
        .crawl-table--cursor { color: $foreground; background: transparent; text-style: reverse; } &:ansi >
        .crawl-table--cursor { color: $block-cursor-blurred-foreground; background: $block-cursor-blurred-background; }
        &:ansi:focus > .crawl-table--cursor { color: $block-cursor-foreground; background: $block-cursor-background; } }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"crawl-table--cursor"}

    def __init__(
        self,
        relation: Relation[Any],
        *,
        placeholder: str | None = None,
        show_header: bool = True,
        show_cursor: bool = True,
        holds_still: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Make a table whose rows are not read yet: `placeholder` (else what the relation says) is shown in the middle
        once it was given none.

        `show_cursor` False: a table to be read only. `holds_still`: what comes in changes no column's width.
        """
        super().__init__(id=id, classes=classes)
        self.relation = relation
        self.columns: Sequence[AnyColumn] = relation.columns
        """All columns, those among them that have no room."""
        self._rows = TableRows()
        self._seen = SeenWidths(self.columns)
        self.set_reactive(TableView.placeholder, relation.nothing if placeholder is None else placeholder)
        self.awaited = True
        """Whether its rows are still being read."""
        self._show_header, self._show_cursor = show_header, show_cursor
        self._holds_still, self.can_focus = holds_still, show_cursor
        self._current_column = self.columns[0].id if self.columns else None
        self._painter: TablePainter | None = None
        self._restyled = False
        self._view = Size(0, 0)
        self._shown: dict[Hashable, int] = {}
        self._stale: set[int] = set()

    @property
    def row_order(self) -> Sequence[Hashable]:
        """The keys of all rows in shown order. Not to be changed."""
        return self._rows.order

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return len(self._rows)

    @property
    def cursor_key(self) -> Hashable | None:
        """The key of the row under the cursor, None when there are no rows."""
        return self._rows.cursor_key

    @property
    def cursor_index(self) -> int:
        """The index of the row under the cursor, -1 when there are no rows."""
        return self._rows.cursor_index

    @property
    def visible_keys(self) -> Sequence[Hashable]:
        """The keys of the rows on the screen, from top to bottom."""
        top = round(self.scroll_y)
        return self._rows.order[top : top + self._body_height]

    @property
    def visible_columns(self) -> tuple[str, ...]:
        """The ids of the columns that fit in the width, from left to right; also before that is painted."""
        width, painter = self.scrollable_content_region.width, self._painter
        layout = painter.layout if painter and painter.layout.width == width else self._arranged(width)
        return tuple(place.column.id for place in layout.places)

    @property
    def current_column(self) -> str | None:
        """The id of the column `h` and `l` went to last, the leftmost if that has no room; None without columns."""
        shown = self.visible_columns
        return self._current_column if self._current_column in shown or not shown else shown[0]

    @property
    def door(self) -> AnyColumn | None:
        """The current column where its cell under the cursor opens what it counts; None: enter opens the row."""
        column = next((one for one in self.columns if one.id == self.current_column), None)
        record = self.current
        return column if column and column.opens and record is not None and column.value_of(record) else None

    def row(self, key: Hashable) -> Row | None:
        """Return the row of `key`, or None."""
        return self._rows.get(key)

    def set_columns(self, columns: Sequence[AnyColumn]) -> None:
        """Put `columns` in place of all columns. Rows set after it have their cells in this order."""
        before, self.columns = self.columns, tuple(columns)
        if self.columns != before:
            self._seen = SeenWidths(self.columns)
        ids = [column.id for column in self.columns]
        if self._current_column not in ids:
            self._current_column = ids[0] if ids else None
        self._painter = None
        self.refresh()

    def set_relation(self, relation: Relation[Any]) -> None:
        """Put another relation in place of this one, which has no rows yet."""
        self.relation, self.placeholder = relation, relation.nothing
        self.set_columns(relation.columns)

    def fill(
        self, records: Iterable[Any], present: Present, *, relation: Relation[Any] | None = None, **how: Any
    ) -> None:
        """Put the rows of records in place of all rows, as `set_rows` does; `relation`: with another look."""
        self.set_rows(rows_of(relation or self.relation, records, present), **how)

    def record(self, key: Hashable | None) -> Any:
        """Return the record that the row of a key shows, or None."""
        return None if (row := self._rows.get(key)) is None else row.record

    @property
    def current(self) -> Any:
        """The record under the cursor; None without rows."""
        return self.record(self.cursor_key)

    def source(self, key: Hashable) -> object | None:
        """Return the record of a row as it was read, for copies and exports; None: the texts shown have to do."""
        return None if (row := self._rows.get(key)) is None else row.source

    def set_rows(self, rows: Iterable[Row], *, cursor: CursorRule = "pin", keep_marks: bool = False) -> None:
        """Put `rows`, in this order, in place of all rows. Keys are unique and not None.

        The cursor stays on its key, and that row on its line of the screen; when the key is gone the cursor
        goes to the row at the same index. `keep_marks` keeps marks of rows outside `rows`, for a window of a
        longer list.
        """
        before, anchor = self._rows.cursor_key, self._anchor()
        self.awaited = False
        self._rows.replace(rows, cursor, keep_marks)
        self._after_reorder(before, anchor, reveal=cursor != "pin")

    def await_rows(self, *, keep_marks: bool = False) -> None:
        """Remove all rows: others are being read, and nothing is known of them until `set_rows`."""
        self.set_rows((), keep_marks=keep_marks)
        self.awaited = True

    def update_row(self, row: Row) -> bool:
        """Put `row` in place of the row of its key. Return False, and do nothing, if there is no such row."""
        before = self._rows.update(row)
        if before is None:
            return False
        line = self._shown.get(row.key)
        if line is not None and before != row:
            self._refresh_line(line)
            if self._seen.take_one(row) and self._fit_columns():
                self.refresh()
        return True

    def update_rows(self, rows: Iterable[Row]) -> int:
        """Do `update_row` for each of `rows`; return how many of them the table has."""
        return sum(map(self.update_row, rows))

    def remove_rows(self, keys: Collection[Hashable]) -> int:
        """Remove the rows of `keys` with their marks; return how many there were.

        The cursor stays on its key; if that is gone, it goes to the next row that is left, or the last one.
        """
        before, anchor = self._rows.cursor_key, self._anchor()
        removed = self._rows.remove(keys)
        if removed:
            self._after_reorder(before, anchor, reveal=False)
        return removed

    def move_cursor(self, *, key: Hashable | None = None, index: int | None = None) -> bool:
        """Put the cursor on the row of `key`, or at `index` (clamped), and scroll it into view.

        Return False, and do nothing, if there is no such key or there are no rows.
        """
        target = index if key is None else self._rows.index_of(key)
        if target is None or not len(self._rows):
            return False
        before = self._rows.cursor_index
        moved = self._rows.move_to(target)
        if moved:
            self._refresh_index(before)
            self._refresh_index(self._rows.cursor_index)
        self._reveal_cursor()
        if moved:
            self.cursor_moved()
        return True

    def nothing_here(self) -> str:
        """What is shown while there are no rows: that there are none only once they were read."""
        return self.told(self.placeholder) if self.placeholder else ""

    def told(self, words: str) -> str:
        """Return `words` about the rows; while these are being read, that they are."""
        return READING if self.awaited else words

    def cursor_moved(self) -> None:
        """Called when the cursor stands on another key than before."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint the lines of `crop`; from now on updates of the rows shown mark their line."""
        before = self._painter
        if self._prepare() is not before and before is not None and crop.height < self.size.height:
            self.refresh()
        top = self.gutter.top
        self._stale.difference_update(range(crop.y - top, crop.bottom - top))
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        painter = self._painter or self._prepare()
        if y < self._header_lines:
            return painter.header(self.sort, self._current_column if self.has_focus else None)
        line = y - self._header_lines
        if not len(self._rows):
            return painter.message(self.nothing_here(), self._body_height)[line]
        index = round(self.scroll_y) + line
        if index >= len(self._rows):
            return painter.blank()
        row = self._rows.at(index)
        cursor = self._show_cursor and index == self._rows.cursor_index
        door = self.door if cursor and self.has_focus else None
        return painter.row(row, cursor=cursor, marked=row.key in self._rows.marks, door=door)

    def notify_style_update(self) -> None:
        """Look at the colours again: theme, focus or style sheet changed."""
        super().notify_style_update()
        self._restyled = True

    def on_mount(self) -> None:
        """Take the rows that were set before there was a screen."""
        self._resize_content()

    def on_resize(self, _event: events.Resize) -> None:
        self._view = self.scrollable_content_region.size
        self._resize_content()
        self._reveal_cursor()

    @property
    def _header_lines(self) -> int:
        return int(self._show_header and self._view.height > 1)

    @property
    def _body_height(self) -> int:
        return max(0, self._view.height - self._header_lines)

    def _prepare(self) -> TablePainter:
        self._view = self.scrollable_content_region.size
        keys = self.visible_keys
        self._shown = {key: line for line, key in enumerate(keys, self._header_lines)}
        self._seen.decodes = not getattr(self.app, "ascii_only", False)
        grew = self._seen.take(row for key in keys if (row := self._rows.get(key)) is not None)
        painter = self._painter
        if painter is None or painter.layout.width != self._view.width:
            painter = TablePainter(self._make_palette(), self._arranged(self._view.width))
        elif self._restyled:
            painter = painter.in_colours(self._make_palette())
        self._painter, self._restyled = painter, False
        if grew:
            self._fit_columns()
        return self._painter

    def _arranged(self, width: int) -> Layout:
        return arrange(self.columns, width, () if self._holds_still else self._seen.widths)

    def _fit_columns(self) -> bool:
        """Widths grew: whether that makes another picture."""
        painter = self._painter
        if painter is None or (layout := self._arranged(painter.layout.width)) == painter.layout:
            return False
        self._painter = TablePainter(painter.palette, layout)
        return True

    def _make_palette(self) -> Palette:
        base = self.visual_style.rich_style
        roles = role_styles(self.app.theme_variables, self.app.current_theme.dark)
        cursor = self.get_component_styles("crawl-table--cursor")
        shown = self.get_visual_style("crawl-table--cursor").rich_style
        over = Style(color=shown.color if cursor.has_rule("color") else None, bgcolor=shown.bgcolor)
        return Palette(
            base=base,
            header=base + roles["muted"],
            header_sorted=base + roles["accent"],
            header_current=Style(underline=True),
            placeholder=base + roles["muted"],
            cursor=over + cursor.text_style,
            gutter=base + roles["accent"],
            mark=base + roles["warning"] + Style(bold=True),
            roles=roles,
            decodes=self._seen.decodes,
        )

    def _anchor(self) -> tuple[Hashable | None, int] | None:
        """The row that stays on its line of the body: the cursor's (None) if in view, else perhaps the top one."""
        top = round(self.scroll_y)
        line = self._rows.cursor_index - top
        if 0 <= line < self._body_height:
            return None, line
        return (self._rows.order[top], 0) if self.pins_top and 0 <= top < len(self._rows) else None

    def _after_reorder(
        self, before: Hashable | None, anchor: tuple[Hashable | None, int] | None, *, reveal: bool
    ) -> None:
        """Scroll so that what was pinned is on its line again; tell if the cursor lost its key."""
        self._resize_content()
        self._shown = {}
        if reveal:
            self._reveal_cursor()
        elif anchor is not None:
            key, line = anchor
            index = self._rows.cursor_index if key is None else self._rows.index_of(key)
            if index is not None:
                self._scroll_to_row(index - line)
        self.refresh()
        if self._rows.cursor_key != before:
            self.cursor_moved()

    def _resize_content(self) -> None:
        if self.is_mounted:
            reach_over(self, len(self._rows) + self._header_lines)

    def _reveal_cursor(self) -> None:
        top, index, height = round(self.scroll_y), self._rows.cursor_index, self._body_height
        if height <= 0 or index < 0:
            return
        if index < top:
            self._scroll_to_row(index)
        elif index >= top + height:
            self._scroll_to_row(index - height + 1)

    def _scroll_to_row(self, index: int) -> None:
        self.scroll_to(y=max(0, index), animate=False, force=True)

    def _refresh_index(self, index: int) -> None:
        line = index - round(self.scroll_y)
        if 0 <= line < self._body_height:
            self._refresh_line(line + self._header_lines)

    def _refresh_line(self, line: int) -> None:
        """Have one line of the view painted again, once."""
        if line not in self._stale:
            self._stale.add(line)
            self.refresh(Region(0, line, max(1, self._view.width), 1))
