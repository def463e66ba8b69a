"""A table on the log: follows its end, and reads on where the view comes near an edge of what is held."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from tui_crawler.console.log_parts import END, LogAfter, LogBefore, LogEntries, LogWindow
from tui_crawler.console.screens.long_list import AHEAD, LongList
from tui_crawler.console.table_cells import LateRow

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from tui_crawler.console.crawl_table import CrawlTable, CursorRule, Row
    from tui_crawler.console.log_book import LogBook
    from tui_crawler.console.present.log_lines import LogLine
    from tui_crawler.console.refresh import Part


class LogList(LongList):
    """What the screen shows of a book in its table, and what it wants to be read for it."""

    def __init__(self, table: CrawlTable, book: LogBook, row: Callable[[LogLine], Row]) -> None:
        """`row` makes the row of an entry; its key is that of the entry."""
        super().__init__(table)
        self.book = book
        self._row = row
        self._edge: LogBefore | LogAfter | None = None  # the neighbours that are awaited
        self._goal: LogLine | None = None  # the entry that gets the cursor with the first rows of a book
        self._parts: tuple[Part, ...] = ()
        self._rows: dict[Hashable, tuple[LogLine, Row]] = {}
        self.fell_behind = False
        """Whether so much has come in while it followed that it is not at the end any more."""

    def look(self, book: LogBook, *, keep: bool = False, goal: LogLine | None = None) -> None:
        """Goes elsewhere, to the entry `goal` if there is one, which is read with the next beat; `keep`: until then the
        rows stay."""
        self.book, self._edge, self._parts, self._rows, self._turned = book, None, (), {}, True
        self._goal, self.fell_behind = goal, False
        if not keep:
            self.table.set_rows([])

    @property
    def following(self) -> bool:
        """Whether the last row, where the newest entry goes, has the cursor and is in view."""
        table, book = self.table, self.book
        if self._turned:
            return book.start == END
        visible = table.visible_keys
        in_view = not visible or table.cursor_key in visible
        return book.at_end and in_view and table.cursor_index >= table.row_count - 1

    @property
    def reads_on(self) -> bool:
        """Whether what lies beyond an edge is awaited."""
        return self._edge is not None

    # what is read

    def parts(self, *, frozen: bool) -> tuple[Part, ...]:
        """What comes in at the end, unless the picture is held still, and what lies beyond an edge that is near."""
        if self._edge is None or self._edge not in self._parts:
            self._parts = tuple(dict.fromkeys(self._windows(frozen=frozen)))
        return self._parts

    def _windows(self, *, frozen: bool) -> Iterable[Part]:
        book, table = self.book, self.table
        self._edge = None
        if not book.started:
            yield book.begin
            return
        if not frozen:
            yield book.actions
            end = book.below if book.at_end else book.latest
            if end is not None:
                yield end
        if self.in_part:
            return
        top = round(table.scroll_y)
        bottom = top + len(table.visible_keys) - 1
        if not book.at_end and bottom + AHEAD >= table.row_count:
            self._edge = book.below
        elif top < AHEAD:
            self._edge = book.above
        if self._edge is not None:
            yield self._edge

    def take(self, read: Mapping[Part, object]) -> bool:
        """Takes what was read; True when the rows are others now."""
        book, following, anchor = self.book, self.following, self._looked_at()
        changed = False
        for part in self._parts:
            found = read.get(part)
            if isinstance(found, LogEntries) and isinstance(part, LogWindow):
                self._edge = None if part == self._edge else self._edge
                changed |= book.take(part, found)
            elif isinstance(found, tuple):
                changed |= book.take_actions(found)
        if following:
            book.news = 0
            self.fell_behind = book.started and not book.at_end
        if changed:
            lines = book.lines
            book.let_go(lines[-1].key if following and lines else anchor)
            self.show(following=following)
        return changed

    # what is shown

    def show(self, *, following: bool) -> None:
        """Shows what is held. The cursor stays on its entry; when that is let go, it goes to the nearest in view."""
        book, table = self.book, self.table
        kept, self._rows = self._rows, {}
        for line in book.lines:
            had = kept.get(line.key)
            if had is None or had[0] is not line:
                had = line, LateRow(line.key, partial(self._row, line))
            self._rows[line.key] = had
        self._stay_near(self._rows)
        rule: CursorRule = "last" if following else "first" if self._turned else "pin"
        self._turned = False
        table.set_rows([row for _, row in self._rows.values()], cursor=rule)
        if self._goal is not None:
            self._go_to(self._goal)
            self._goal = None

    def _go_to(self, goal: LogLine) -> None:
        """Puts the cursor on an entry, in the middle of the view; where that is not held, on the one after it."""
        table = self.table
        if not table.move_cursor(key=goal.key):
            table.move_cursor(index=bisect_left(self.book.lines, goal.order, key=lambda line: line.order))
        table.scroll_to(y=max(0, table.cursor_index - table.size.height // 2), animate=False, force=True)

    def remake(self) -> None:
        """Makes all rows anew: what is underlined or how time is shown has changed."""
        self._rows = {}
        if not self._turned:
            self.show(following=False)

    def tick(self) -> None:
        """Makes the rows in view anew."""
        self.table.update_rows(self._row(line) for line in map(self.book.line, self.table.visible_keys) if line)

    def ahead(self, *, older: bool) -> Iterable[LogLine]:
        """The entries on one side of the cursor, the nearest first."""
        here = self.table.cursor_index
        keys = self.table.row_order
        there = reversed(keys[: max(here, 0)]) if older else iter(keys[here + 1 :])
        return (line for line in map(self.book.line, there) if line is not None)

    def nearest(self, text: str) -> Hashable | None:
        """The key of the nearest entry above the cursor that has a text (lower case), else of the one below."""
        both_ways = chain(self.ahead(older=True), self.ahead(older=False))
        return next((line.key for line in both_ways if text in line.text), None)
