"""A table on a long list of pages: where the view comes near an edge of what is held, what lies beyond is read."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Generic

from tui_crawler.console.page_book import KEPT, SpanBook, W
from tui_crawler.console.screens.long_list import AHEAD, LongList
from tui_crawler.console.table_cells import LateRow
from tui_crawler.domain.page_filter import PageWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from tui_crawler.console.crawl_table import CrawlTable, CursorRule, Row
    from tui_crawler.console.refresh import Part
    from tui_crawler.domain.page_view import PageView


class PageList(LongList, Generic[W]):
    """What a screen shows of a book in a table, and what it wants to be read for it: of a list that is not counted only
    what is next to the rows in view."""

    def __init__(
        self, table: CrawlTable, book: SpanBook[W], row: Callable[[PageView], Row], *, keep_marks: bool = False
    ) -> None:
        """`row` makes the row of a page; its key is the page id. `keep_marks`: also where a page has left the list."""
        super().__init__(table)
        self.book = book
        self.length: int | None = None
        """How many pages the list has, where somebody has counted them."""
        self._row = row
        self._keep_marks = keep_marks
        self._marked: dict[Hashable, PageView] = {}  # the marked pages as they were read last
        self._edge: W | None = None  # the neighbours that are awaited
        self._parts: tuple[W, ...] = ()
        self._seen: dict[W, object] = {}  # what was read for a part last
        self._held: dict[W, PageWindow] = {}  # what came while the picture is held still
        self._rows: dict[int, tuple[PageView, Row]] = {}
        self._cursor: CursorRule = "first"  # where the cursor goes with the first rows of a book
        self._from_top = False  # whether the cursor stays on the first row while the rest of a list comes

    def look(self, book: SpanBook[W], *, keep: bool = False) -> None:
        """Goes elsewhere, which is read with the next beat; `keep`: until then the rows stay."""
        self.book, self._edge, self._parts = book, None, ()
        self._seen, self._held, self._rows = {}, {}, {}
        self._cursor, self._turned = "last" if book.from_end else "first", True
        if not keep:
            self.table.set_rows([], keep_marks=True)

    @property
    def whole(self) -> bool:
        """Whether all pages of the list are held: then an order of its own is one of all."""
        return self.book.at_first and self.book.at_last

    @property
    def can_be_whole(self) -> bool:
        """Whether the list is short enough for all of it to be read for an order of its own."""
        return self.length is not None and self.length <= KEPT

    @property
    def parts(self) -> tuple[W, ...]:
        """The rows in view anew, and what comes next where the view comes near an edge."""
        if self._edge is None or self._edge not in self._parts:
            self._parts = tuple(dict.fromkeys(self._windows()))
        return self._parts

    def _windows(self) -> Iterable[W]:
        book, table = self.book, self.table
        if not book.started:
            yield book.begin
            return
        keys = table.visible_keys
        for key in (table.cursor_key, *keys[:1]):
            if key is not None and key in keys and (again := book.again(key)) is not None:
                yield again
        top = round(table.scroll_y)
        bottom = top + len(keys) - 1
        if book.end_again is not None and bottom >= table.row_count - 1:
            yield book.end_again
        self._edge = None
        if self.in_part:
            self._edge = (book.below or book.above) if self.can_be_whole else None
        else:
            ahead = AHEAD if book.counted else table.size.height
            self._edge = book.below if bottom + ahead >= table.row_count else None
            if self._edge is None and top < ahead:
                self._edge = book.above
        if self._edge is not None:
            yield self._edge

    def take(self, read: Mapping[Part, object], *, frozen: bool) -> tuple[bool, bool]:
        """Takes the windows that were read anew: whether the rows are others now, and whether some wait for a thaw."""
        changed = waits = False
        for part in self._parts:
            window = read.get(part)
            if not isinstance(window, PageWindow) or (part != self._edge and self._seen.get(part) is window):
                continue
            if frozen and self.book.started and part != self._edge:
                waits |= self._held.get(part, self._seen.get(part)) != window
                self._held[part] = window
            else:
                self._edge = None if part == self._edge else self._edge
                changed |= self.book.take(part, window)
        self._seen = {part: read[part] for part in self._parts if part in read}
        if changed:
            self.show()
        return changed, waits

    def thaw(self) -> bool:
        """Shows what came meanwhile; whether that is anything new."""
        held, self._held = self._held, {}
        changed = False
        for part, window in held.items():
            changed |= self.book.take(part, window)
        if changed:
            self.show()
        return changed

    def tick(self) -> None:
        """Makes the rows in view anew: what changes by time, or with their origins."""
        for page in map(self.book.page, self.table.visible_keys):
            if page is not None:
                self.table.update_row(self._row(page))

    def show(self) -> None:
        """Shows what is held. The cursor stays on its page; when that is let go, it goes to the nearest in view. On the
        first row of a list that begins with the newest it stays on the first while that is in view."""
        book, table = self.book, self.table
        kept, self._rows = self._rows, {}
        for page in book.pages:
            had = kept.get(page.page_id)
            same = had is not None and had[0] == page
            self._rows[page.page_id] = (
                had if had is not None and same else (page, LateRow(page.page_id, partial(self._row, page)))
            )
        self._stay_near(self._rows)
        in_view = round(table.scroll_y) == 0
        follows = book.newest_first and book.at_first and in_view and table.cursor_index <= 0
        rule: CursorRule = "first" if follows else "pin"
        if self._turned or not table.row_count:
            rule = self._cursor
        elif self._from_top and self.in_part:
            rule = "first"
        self._from_top &= self.in_part and not self.whole
        if not self._keep_marks:
            table.remove_rows([key for key in table.marked if isinstance(key, int) and book.lacks(key)])
        self._turned = False
        table.set_rows([row for _, row in self._rows.values()], cursor=rule, keep_marks=True)

    def order_by(self, column_id: str) -> None:
        """Shows the rows in the order of a column, from the first on; of a short list all rows come for that."""
        self.table.order_by(column_id)
        self.table.move_cursor(index=0)
        self._from_top = self.can_be_whole and not self.whole

    def go_to_end(self, book: SpanBook[W]) -> bool:
        """Goes to the first or the last row of all, where `book` begins; False when that is held already."""
        there = self.book.at_last if book.from_end else self.book.at_first
        if self.in_part or not self.book.started or there:
            return False
        self.look(book, keep=True)
        return True

    def mark(self, pages: Iterable[PageView]) -> None:
        """Marks pages, also such as are not held."""
        fresh: dict[Hashable, PageView] = {page.page_id: page for page in pages}
        self._marked |= fresh
        self.table.mark_keys(fresh)

    def marked_pages(self) -> tuple[PageView, ...]:
        """Exactly the marked pages, also those that are let go; to be asked whenever marks change."""
        marked = self.table.marked
        known = self._marked | {page.page_id: page for page in self.book.pages} if marked else {}
        self._marked = {key: page for key, page in known.items() if key in marked}
        return tuple(self._marked.values())

    def marked_urls(self) -> tuple[str, ...]:
        """Their URLs."""
        return tuple(page.url for page in self.marked_pages())
