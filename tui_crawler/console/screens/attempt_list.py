"""The table of the attempts at one origin: follows the newest, and reads on where the view comes near an edge."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tui_crawler.console.format import count
from tui_crawler.console.origin_parts import AttemptsAfter, AttemptsBefore
from tui_crawler.console.present.attempt_row import log_row
from tui_crawler.console.screens.long_list import AHEAD, LongList
from tui_crawler.console.table_cells import LateRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from datetime import tzinfo

    from tui_crawler.console.attempt_book import AttemptBook
    from tui_crawler.console.crawl_table import CrawlTable, CursorRule, Row
    from tui_crawler.console.refresh import Part
    from tui_crawler.domain.view import AttemptView


class AttemptList(LongList):
    """What the screen shows of a book in its table, and what it wants to be read for it."""

    def __init__(self, table: CrawlTable, book: AttemptBook) -> None:
        """The key of a row is the id of its attempt."""
        super().__init__(table)
        self.book = book
        self._edge: AttemptsBefore | AttemptsAfter | None = None  # the neighbours that are awaited
        self._rows: dict[Hashable, Row] = {}

    def look(self, book: AttemptBook, *, keep: bool = True) -> None:
        """Goes elsewhere, which is read with the next beat; `keep`: until then the rows stay."""
        self.book, self._edge, self._turned = book, None, True
        if not keep:
            self.table.set_rows([])

    @property
    def following(self) -> bool:
        """Whether the first row, where the newest attempt goes, has the cursor and is in view."""
        if self._turned:
            return not self.book.from_oldest
        in_view = round(self.table.scroll_y) == 0
        return self.book.at_newest and in_view and self.table.cursor_index <= 0

    @property
    def words(self) -> tuple[str, ...]:
        """What the title tells of it."""
        new = f"{count(self.book.news)} new" if self.book.news and not self.following else ""
        held = f"only the {count(len(self.table.held_rows()))} rows held" if self.in_part else ""
        return tuple(word for word in (new, held) if word)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What lies beyond an edge that is near."""
        if self._edge is None:
            self._edge = self._beyond()
        return () if self._edge is None else (self._edge,)

    def _beyond(self) -> AttemptsBefore | AttemptsAfter | None:
        book, table = self.book, self.table
        if not book.started:
            return book.begin
        if self.in_part:
            return None
        top = round(table.scroll_y)
        below = book.below if top + len(table.visible_keys) - 1 + AHEAD >= table.row_count else None
        return below or (book.above if top < AHEAD else None)

    def take(self, read: Mapping[Part, object], zone: tzinfo) -> bool:
        """Takes what was read for an edge; True when it was: then more may be wanted soon."""
        edge = self._edge
        window = read.get(edge) if edge is not None else None
        if edge is None or not isinstance(window, tuple):
            return False
        anchor = self._looked_at()
        self._edge = None
        if self.book.take(edge, window):
            self._show(anchor, zone)
        return True

    def take_newest(self, window: tuple[AttemptView, ...], zone: tzinfo) -> None:
        """Takes the newest window; while it follows, the cursor goes with it."""
        following, anchor = self.following, self._looked_at()
        changed = self.book.take_newest(window)
        if following:
            self.book.news = 0
            if self.book.started and not self.book.at_newest:  # more came in than a window holds
                self.book.started = False
                changed = self.book.take_newest(window)
        if changed:
            self._show(window[0].attempt_id if following and window else anchor, zone, following=following)

    def seen(self) -> None:
        """The cursor was moved: at the newest attempt there are no news."""
        if self.following:
            self.book.news = 0

    def _show(self, anchor: Hashable, zone: tzinfo, *, following: bool = False) -> None:
        """Shows what is held. The cursor stays on its attempt; when that is let go, it goes to the nearest in view."""
        book, table = self.book, self.table
        book.let_go(anchor)
        self._rows = dict(self._made(zone))
        self._stay_near(self._rows)
        rule: CursorRule = "last" if self._turned and book.from_oldest else "first" if following else "pin"
        self._turned = False
        table.set_rows(self._rows.values(), cursor=rule)

    def _made(self, zone: tzinfo) -> Iterable[tuple[Hashable, Row]]:
        for one in self.book.attempts:
            key = one.attempt_id
            yield key, self._rows.get(key) or LateRow(key, partial(log_row, one, zone))
