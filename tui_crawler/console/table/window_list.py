"""A table on what is held of a long list: where the view comes near an edge of that, what lies beyond is read."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from tui_crawler.console.clock import present
from tui_crawler.console.logs.queries import BEGINNING, END, LogEntries, LogPart
from tui_crawler.console.logs.rows import LogLine
from tui_crawler.console.reading.refresh import PagePart
from tui_crawler.console.reading.window import KEPT, KeysetWindow, LogListWindow, SpanWindow
from tui_crawler.console.table.cells import Row
from tui_crawler.domain.page_filter import PageWindow

if TYPE_CHECKING:
    from tui_crawler.console.reading.refresh import Part
    from tui_crawler.console.screen.port import ReachesConsole
    from tui_crawler.console.table.crawl_table import CrawlTable, CursorRule
    from tui_crawler.domain.page_view import PageView

AHEAD = 100
"""So many rows before the edge of what is held its neighbours are read."""

B = TypeVar("B", bound=KeysetWindow[Any, Any])
R = TypeVar("R")


class WindowList(Generic[B, R]):
    """What a screen shows of a book in a table, and what it wants to be read for it."""

    KEEPS_MARKS: ClassVar[bool] = False
    """Whether rows that are let go stay marked."""

    def __init__(self, screen: ReachesConsole, table: CrawlTable, keyset: B, line: Callable[[R], Any]) -> None:
        """`line` makes what the table shows of an entry; its key is that of the entry. What stands at the top of the
        table stays there when rows come in above."""
        self._screen, self.table, self.keyset, self._line = screen, table, keyset, line
        self._turned = True  # the rows shown are still those of the book before
        self._edge: Part | None = None  # the neighbours that are awaited
        self._parts: tuple[Part, ...] = ()
        self._rows: dict[Hashable, tuple[R, Row]] = {}
        table.pins_top = True

    def row_of(self, one: R) -> Row:
        """Return the row of an entry as it is now."""
        return Row.of(self.table.relation, self._line(one), present(self._screen.console.clock))

    @property
    def in_part(self) -> bool:
        """Whether the rows are filtered or in an order of their own: nothing is read on then."""
        return self.table.order is not None or bool(self.table.needle)

    @property
    def reads_on(self) -> bool:
        """Whether what lies beyond an edge is awaited."""
        return self._edge is not None

    def parts(self, *, frozen: bool = False) -> tuple[Part, ...]:
        """What is to be read now; `frozen`: while the picture is held still."""
        if self._edge is None or self._edge not in self._parts:
            self._edge = None
            self._parts = tuple(dict.fromkeys(part for part in self._windows(frozen=frozen) if part is not None))
        return self._parts

    @abstractmethod
    def _windows(self, *, frozen: bool) -> Iterable[Part | None]:
        """What is to be read for the view as it is; notes the edge that is awaited."""

    def _go_elsewhere(self, keyset: B, *, keep: bool) -> None:
        """Another book, which is read with the next beat; `keep`: until then the rows stay."""
        self.keyset, self._edge, self._parts, self._rows, self._turned = keyset, None, (), {}, True
        if not keep or not self.table.row_count:
            self.table.await_rows(keep_marks=self.KEEPS_MARKS)

    def _near(self) -> tuple[int, int]:
        """How many rows there are above the view, and from its last one on to the end."""
        top = round(self.table.scroll_y)
        return top, self.table.row_count - top - len(self.table.visible_keys) + 1

    def _looked_at(self) -> Hashable:
        """The key of what is looked at: under the cursor, or the topmost row while that is out of view."""
        keys = self.table.visible_keys
        return self.table.cursor_key if self.table.cursor_key in keys or not keys else keys[0]

    def _show(self, rule: CursorRule, *, reverse: bool = False) -> None:
        """Shows what is held. Where the row of the cursor is let go, the cursor goes to the nearest one in view."""
        table, kept, visible = self.table, self._rows, self.table.visible_keys
        self._rows = {}
        for one in reversed(self.keyset.rows) if reverse else self.keyset.rows:
            key = self.keyset.key_of(one)
            had = kept.get(key)
            same = had is not None and (had[0] is one or had[0] == one)
            self._rows[key] = had if had is not None and same else (one, self.row_of(one))
        key = table.cursor_key
        if visible and not self._turned and key not in visible and key not in self._rows:
            top = round(table.scroll_y)
            table.move_cursor(index=top if table.cursor_index < top else top + len(visible) - 1)
        self._turned = False
        table.set_rows([row for _, row in self._rows.values()], cursor=rule, keep_marks=self.KEEPS_MARKS)

    def tick(self) -> None:
        """Makes the rows in view anew: what changes by time, or with their origins."""
        held = (self._rows.get(key) for key in self.table.visible_keys)
        self.table.update_rows(self.row_of(one[0]) for one in held if one is not None)


class PageList(WindowList[SpanWindow, "PageView"]):
    """Pages. Of a list that is not counted only what is next to the rows in view is read."""

    KEEPS_MARKS = True

    def __init__(
        self,
        screen: ReachesConsole,
        table: CrawlTable,
        keyset: SpanWindow,
        line: Callable[[PageView], Any],
        *,
        keep_marks: bool = False,
    ) -> None:
        """`keep_marks`: also where a page has left the list."""
        super().__init__(screen, table, keyset, line)
        self.length: int | None = None
        """How many pages the list has, where somebody has counted them."""
        self._keep_marks = keep_marks
        self._marked: dict[Hashable, PageView] = {}  # the marked pages as they were read last
        self._seen: dict[Part, object] = {}  # what was read for a part last
        self._held: dict[PagePart, PageWindow] = {}  # what came while the picture is held still
        self._cursor: CursorRule = "first"  # where the cursor goes with the first rows of a book
        self._from_top = False  # whether the cursor stays on the first row while the rest of a list comes

    def look(self, keyset: SpanWindow, *, keep: bool = False, at: Hashable | None = None) -> None:
        """Goes elsewhere, which is read with the next beat; `keep`: until then the rows stay. What was read of it
        before is shown at once, with the cursor on the row `at`."""
        self._go_elsewhere(keyset, keep=keep)
        self._seen, self._held = {}, {}
        self._cursor = "last" if keyset.from_end else "first"
        if keyset.started:
            self.show()
            self.table.move_cursor(key=at)

    @property
    def can_be_whole(self) -> bool:
        """Whether the list is short enough for all of it to be read for an order of its own."""
        return self.length is not None and self.length <= KEPT

    def _windows(self, *, frozen: bool) -> Iterable[Part | None]:
        """The rows in view anew, and what comes next where the view comes near an edge."""
        keyset, table = self.keyset, self.table
        if not keyset.started:
            yield keyset.begin
            return
        keys = table.visible_keys
        yield from (keyset.again(key) for key in (table.cursor_key, *keys[:1]) if key is not None and key in keys)
        above, below = self._near()
        if below <= 1:
            yield keyset.end_again
        if self.in_part:
            self._edge = (keyset.below or keyset.above) if self.can_be_whole else None
        else:
            ahead = AHEAD if keyset.counted else table.size.height
            self._edge = (keyset.below if below <= ahead else None) or (keyset.above if above < ahead else None)
        yield self._edge

    def take(self, read: Mapping[Part, object], *, frozen: bool) -> tuple[bool, bool]:
        """Takes the windows that were read anew: whether the rows are others now, and whether some wait for a thaw."""
        changed = waits = False
        for part in self._parts:
            window = read.get(part)
            if not isinstance(part, PagePart) or not isinstance(window, PageWindow):
                continue
            if part != self._edge and self._seen.get(part) is window:
                continue
            if frozen and self.keyset.started and part != self._edge:
                waits |= self._held.get(part, self._seen.get(part)) != window
                self._held[part] = window
            else:
                self._edge = None if part == self._edge else self._edge
                changed |= self.keyset.take(part, window)
        self._seen = {part: read[part] for part in self._parts if part in read}
        if changed:
            self.show()
        return changed, waits

    def thaw(self) -> bool:
        """Shows what came meanwhile; whether that is anything new."""
        held, self._held = self._held, {}
        changed = False
        for part, window in held.items():
            changed |= self.keyset.take(part, window)
        if changed:
            self.show()
        return changed

    def show(self) -> None:
        """Shows what is held. On the first row of a list that begins with the newest the cursor stays on the first
        while that is in view."""
        keyset, table = self.keyset, self.table
        keyset.let_go(self._looked_at())
        in_view = round(table.scroll_y) == 0
        follows = keyset.newest_first and keyset.at_first and in_view and table.cursor_index <= 0
        rule: CursorRule = "first" if follows else "pin"
        if self._turned or not table.row_count:
            rule = self._cursor
        elif self._from_top and self.in_part:
            rule = "first"
        self._from_top &= self.in_part and not keyset.whole
        if not self._keep_marks:
            table.remove_rows([key for key in table.marked if isinstance(key, int) and keyset.lacks(key)])
        self._show(rule)

    def order_by(self, column_id: str) -> None:
        """Shows the rows in the order of a column, from the first on; of a short list all rows come for that."""
        self.table.order_by(column_id)
        self.table.move_cursor(index=0)
        self._from_top = self.can_be_whole and not self.keyset.whole

    def go_to_end(self, keyset: SpanWindow) -> bool:
        """Goes to the first or the last row of all, where `keyset` begins; False when that is held already."""
        there = self.keyset.at_last if keyset.from_end else self.keyset.at_first
        if self.in_part or not self.keyset.started or there:
            return False
        self.look(keyset, keep=True)
        return True

    def mark(self, pages: Iterable[PageView]) -> None:
        """Marks pages, also such as are not held."""
        fresh: dict[Hashable, PageView] = {page.page_id: page for page in pages}
        self._marked |= fresh
        self.table.mark_keys(fresh)

    def marked_pages(self) -> tuple[PageView, ...]:
        """Exactly the marked pages, also those that are let go; to be asked whenever marks change."""
        marked = self.table.marked
        known = self._marked | {page.page_id: page for page in self.keyset.rows} if marked else {}
        self._marked = {key: page for key, page in known.items() if key in marked}
        return tuple(self._marked.values())

    def marked_urls(self) -> tuple[str, ...]:
        return tuple(page.url for page in self.marked_pages())


class LogList(WindowList[LogListWindow, LogLine]):
    """The log. It follows the end where the newest entry goes: the bottom, or `newest_on_top`."""

    def __init__(
        self,
        screen: ReachesConsole,
        table: CrawlTable,
        keyset: LogListWindow,
        line: Callable[[LogLine], Any],
        *,
        newest_on_top: bool = False,
    ) -> None:
        super().__init__(screen, table, keyset, line)
        self._on_top = newest_on_top
        self._goal: LogLine | None = None  # the entry that gets the cursor with the first rows of a book
        self.fell_behind = False
        """Whether so much has come in while it followed that it is not at the end any more."""

    def look(self, keyset: LogListWindow, *, keep: bool = False, goal: LogLine | None = None) -> None:
        """Goes elsewhere, to the entry `goal` if there is one, which is read with the next beat; `keep`: until then the
        rows stay."""
        self._go_elsewhere(keyset, keep=keep)
        self._goal, self.fell_behind = goal, False

    @property
    def following(self) -> bool:
        """Whether the row where the newest entry goes has the cursor and is in view."""
        table, keyset = self.table, self.keyset
        if self._turned:
            return keyset.start == END
        visible, newest = table.visible_keys, table.cursor_index <= 0
        if not self._on_top:
            newest = table.cursor_index >= table.row_count - 1
        return keyset.at_last and newest and (not visible or table.cursor_key in visible)

    def seen(self) -> None:
        """The cursor was moved: at the newest entry there are no news."""
        if self.following:
            self.keyset.news = 0

    def go_to_end(self, *, newest: bool) -> bool:
        """Goes to the newest or the first entry of all; False when that is held already."""
        keyset = self.keyset
        if self.in_part or not keyset.started or (keyset.at_last if newest else keyset.at_first):
            return False
        self.look(keyset.anew(keyset.level) if newest else keyset.at(BEGINNING), keep=True)
        return True

    def _windows(self, *, frozen: bool) -> Iterable[Part | None]:
        """What comes in at the end, unless the picture is held still, and what lies beyond an edge that is near."""
        keyset = self.keyset
        if not keyset.started:
            yield keyset.begin
            return
        if not frozen:
            yield keyset.actions
            yield keyset.below if keyset.at_last else keyset.latest
        if self.in_part:
            return
        above, below = self._near()
        older, newer = (below <= AHEAD, above < AHEAD) if self._on_top else (above < AHEAD, below <= AHEAD)
        if newer and not keyset.at_last:
            self._edge = keyset.below
        elif older:
            self._edge = keyset.above
        yield self._edge

    def take(self, read: Mapping[Part, object]) -> bool:
        """Takes what was read; True when the rows are others now."""
        keyset, following, anchor = self.keyset, self.following, self._looked_at()
        changed = False
        for part in self._parts:
            found = read.get(part)
            if isinstance(found, LogEntries) and isinstance(part, LogPart):
                self._edge = None if part == self._edge else self._edge
                changed |= keyset.take(part, found)
            elif isinstance(found, tuple):
                changed |= keyset.take_actions(found)
        if following:
            keyset.news = 0
            self.fell_behind = keyset.started and not keyset.at_last
        if changed:
            keyset.let_go(keyset.rows[-1].key if following and keyset.rows else anchor)
            self.show(following=following)
        return changed

    def show(self, *, following: bool) -> None:
        """Shows what is held."""
        rules: tuple[CursorRule, CursorRule] = ("last", "first")
        newest, oldest = reversed(rules) if self._on_top else rules
        self._show(newest if following else oldest if self._turned else "pin", reverse=self._on_top)
        if self._goal is not None:
            table, goal, self._goal = self.table, self._goal, None
            if not table.move_cursor(key=goal.key):  # it is not held: the one after it
                table.move_cursor(index=bisect_left(self.keyset.rows, goal.order, key=lambda line: line.order))
            table.scroll_to(y=max(0, table.cursor_index - table.size.height // 2), animate=False, force=True)

    def remake(self) -> None:
        """Makes all rows anew: what is underlined or how time is shown has changed."""
        self._rows = {}
        if not self._turned:
            self.show(following=False)

    def ahead(self, *, older: bool) -> Iterable[LogLine]:
        """The entries on one side of the cursor, the nearest first."""
        here = self.table.cursor_index
        keys = self.table.row_order
        there = reversed(keys[: max(here, 0)]) if older else iter(keys[here + 1 :])
        return (line for line in map(self.keyset.row, there) if line is not None)

    def nearest(self, text: str) -> Hashable | None:
        """The key of the nearest entry above the cursor that has a text (lower case), else of the one below."""
        both_ways = chain(self.ahead(older=True), self.ahead(older=False))
        return next((line.key for line in both_ways if text in line.text), None)
