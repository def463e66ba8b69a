"""A table on what is held of a long list: where the view comes near an edge of that, what lies beyond is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from tui_crawler.console.reading.ask import Ask, PageAsk
from tui_crawler.console.reading.reading import AnyReading
from tui_crawler.console.reading.window import KEPT, KeysetWindow, SpanWindow

if TYPE_CHECKING:
    from tui_crawler.console.reading.refresh import Snapshot
    from tui_crawler.console.table.cells import Row
    from tui_crawler.console.table.crawl_table import CrawlTable
    from tui_crawler.console.table.rows import CursorRule
    from tui_crawler.domain.records.page_view import PageView
    from tui_crawler.domain.rules.page_filter import PageWindow

AHEAD = 100
"""So many rows before the edge of what is held its neighbours are read."""

A = TypeVar("A", bound=Ask[Any])
B = TypeVar("B", bound=KeysetWindow[Any, Any])
R = TypeVar("R")
W = TypeVar("W", bound=SpanWindow)


class WindowList(AnyReading, Generic[B, A, R]):
    """What a screen shows of a book in a table, and what it wants to be read for it."""

    KEEPS_MARKS: ClassVar[bool] = False
    """Whether rows that are let go stay marked."""

    def __init__(
        self,
        table: CrawlTable,
        keyset: B,
        row: Callable[[R], Row],
        changed: Callable[[], object] = lambda: None,
        read_soon: Callable[[], object] = lambda: None,
    ) -> None:
        """`row` makes the row of an entry; its key is that of the entry. What stands at the top of the table stays
        there when rows come in above. `changed` is called when other rows are shown, `read_soon` has more read."""
        self._changed, self._read_soon = changed, read_soon
        self.table, self.keyset, self._row = table, keyset, row
        self._turned = True  # the rows shown are still those of the book before
        self._edge: A | None = None  # the neighbours that are awaited
        self._asked: tuple[A, ...] = ()
        self._rows: dict[Hashable, tuple[R, Row]] = {}
        table.pins_top = True

    @property
    def in_part(self) -> bool:
        """Whether the rows are filtered or in an order of their own: nothing is read on then."""
        return self.table.order is not None or bool(self.table.needle)

    def asks(self, *, frozen: bool) -> tuple[A, ...]:
        """What is to be read now; `frozen`: while the picture is held still."""
        if self._edge is None or self._edge not in self._asked:
            self._edge = None
            self._asked = tuple(dict.fromkeys(ask for ask in self._windows(frozen=frozen) if ask is not None))
        return self._asked

    @abstractmethod
    def _windows(self, *, frozen: bool) -> Iterable[A | None]:
        """What is to be read for the view as it is; notes the edge that is awaited."""

    @abstractmethod
    def go_to_end(self, *, bottom: bool) -> bool:
        """Goes to the last row of all (`bottom`) or the first; False when that is held already."""

    def go_elsewhere(self, keyset: B, *, keep: bool) -> None:
        """Another book, which is read with the next beat; `keep`: until then the rows stay."""
        self.keyset, self._edge, self._asked, self._rows, self._turned = keyset, None, (), {}, True
        if not keep or not self.table.row_count:
            self.table.await_rows(keep_marks=self.KEEPS_MARKS)

    def near(self) -> tuple[int, int]:
        """How many rows there are above the view, and from its last one on to the end."""
        top = round(self.table.scroll_y)
        return top, self.table.row_count - top - len(self.table.visible_keys) + 1

    def looked_at(self) -> Hashable:
        """The key of what is looked at: under the cursor, or the topmost row while that is out of view."""
        keys = self.table.visible_keys
        return self.table.cursor_key if self.table.cursor_key in keys or not keys else keys[0]

    def _show(self, rule: CursorRule, *, reverse: bool = False) -> None:
        """Shows what is held. Where the row of the cursor is let go, the cursor goes to the nearest one in view."""
        table, kept, visible = self.table, self._rows, self.table.visible_keys
        self._rows = {}
        for one in reversed(self.keyset.rows) if reverse else self.keyset.rows:
            had = kept.get(key := self.keyset.key_of(one))
            same = had is not None and (had[0] is one or had[0] == one)
            self._rows[key] = had if had is not None and same else (one, self._row(one))
        key = table.cursor_key
        if visible and not self._turned and key not in visible and key not in self._rows:
            top = round(table.scroll_y)
            table.move_cursor(index=top if table.cursor_index < top else top + len(visible) - 1)
        self._turned = False
        table.set_rows([row for _, row in self._rows.values()], cursor=rule, keep_marks=self.KEEPS_MARKS)

    def show_live(self) -> None:
        """Makes the rows in view anew: what changes by time, or with their origins."""
        held = (self._rows.get(key) for key in self.table.visible_keys)
        self.table.update_rows(self._row(one[0]) for one in held if one is not None)


class PageList(WindowList[W, PageAsk, "PageView"], Generic[W]):
    """Pages. Of a list that is not counted only what is next to the rows in view is read."""

    KEEPS_MARKS = True

    def __init__(
        self,
        table: CrawlTable,
        keyset: W,
        row: Callable[[PageView], Row],
        changed: Callable[[], object] = lambda: None,
        read_soon: Callable[[], object] = lambda: None,
        *,
        length: Callable[[], int | None] = lambda: None,
        keep_marks: bool = False,
    ) -> None:
        """The key of a row is the page id. `length` is how many pages the list has, where they were counted.
        `keep_marks`: also where a page has left the list."""
        super().__init__(table, keyset, row, changed, read_soon)
        self._length, self._keep_marks = length, keep_marks
        self._marked: dict[Hashable, PageView] = {}  # the marked pages as they were read last
        self._seen: dict[PageAsk, PageWindow] = {}  # what was read for an ask last
        self._held: dict[PageAsk, PageWindow] = {}  # what came while the picture is held still
        self._cursor: CursorRule = "first"  # where the cursor goes with the first rows of a book
        self._from_top = False  # whether the cursor stays on the first row while the rest of a list comes

    def look(self, keyset: W, *, keep: bool = False, at: Hashable | None = None) -> None:
        """Goes elsewhere, which is read with the next beat; `keep`: until then the rows stay. What was read of it
        before is shown at once, with the cursor on the row `at`."""
        self.go_elsewhere(keyset, keep=keep)
        self._seen, self._held = {}, {}
        self._cursor = "last" if keyset.from_end else "first"
        if keyset.started:
            self.show()
            self.table.move_cursor(key=at)

    @property
    def can_be_whole(self) -> bool:
        """Whether the list is short enough for all of it to be read for an order of its own."""
        return (length := self._length()) is not None and length <= KEPT

    def _windows(self, *, frozen: bool) -> Iterable[PageAsk | None]:
        """The rows in view anew, and what comes next where the view comes near an edge."""
        keyset, table = self.keyset, self.table
        if not keyset.started:
            yield keyset.begin
            return
        keys = table.visible_keys
        yield from (keyset.again(key) for key in (table.cursor_key, *keys[:1]) if key is not None and key in keys)
        above, below = self.near()
        if below <= 1:
            yield keyset.end_again
        if self.in_part:
            self._edge = (keyset.below or keyset.above) if self.can_be_whole else None
        else:
            ahead = AHEAD if keyset.counted else table.size.height
            self._edge = (keyset.below if below <= ahead else None) or (keyset.above if above < ahead else None)
        yield self._edge

    def take(self, shot: Snapshot, *, frozen: bool) -> bool:
        """Takes the windows that were read anew; whether some wait for a thaw."""
        changed = waits = False
        for ask in self._asked:
            window = shot.parts.get(ask)
            if window is None or (ask != self._edge and self._seen.get(ask) is window):
                continue
            if frozen and self.keyset.started and ask != self._edge:
                waits |= self._held.get(ask, self._seen.get(ask)) != window
                self._held[ask] = window
            else:
                self._edge = None if ask == self._edge else self._edge
                changed |= self.keyset.take(ask, window)
        self._seen = {ask: shot.parts[ask] for ask in self._asked if ask in shot.parts}
        if changed:
            self._show_changed()
        return waits

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        held, self._held = self._held, {}
        changed = [self.keyset.take(ask, window) for ask, window in held.items()]
        if any(changed):
            self._show_changed()

    def _show_changed(self) -> None:
        self.show()
        self._changed()
        self._read_soon()

    def show(self) -> None:
        """Shows what is held. On the first row of a list that begins with the newest the cursor stays on the first
        while that is in view."""
        keyset, table = self.keyset, self.table
        keyset.let_go(self.looked_at())
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

    def go_to_end(self, *, bottom: bool) -> bool:
        there = self.keyset.at_last if bottom else self.keyset.at_first
        if self.in_part or not self.keyset.started or there:
            return False
        self.look(self.keyset.restarted(from_end=bottom), keep=True)
        self._changed()
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
