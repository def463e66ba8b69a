"""`*` in a list that is held in part: pressed again it marks all pages that match, as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import count
from tui_crawler.console.url_parts import ExportWindow
from tui_crawler.domain.page_filter import PageWindow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.console.refresh import Part
    from tui_crawler.console.screens.urls import UrlsScreen

MOST_MARKED = 10_000
"""So many pages are marked at most: what is done with them is one wish that names each."""


class MarkBeyond:
    """Marks what the table of view 3 does not hold, a window with each reading."""

    def __init__(self, screen: UrlsScreen) -> None:
        """Nothing is being marked."""
        self._screen = screen
        self._part: ExportWindow | None = None
        self._done: object = None  # the filter of which all pages are marked, or as many as can be

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is marked next."""
        return () if self._part is None else (self._part,)

    def pressed(self) -> bool:
        """`*`: whether that is dealt with here. The rows held are marked first, then all; then the marks go."""
        screen, table = self._screen, self._screen.pages.table
        if screen.pages.in_part or screen.pages.whole:
            return False
        if not table.marked.issuperset(table.row_order):
            self._tell(f"{count(len(table.marked.union(table.row_order)))} marked", "again marks all that match")
            return False
        if self._done == screen.narrowing or self._part is not None:
            self.stop()
            table.clear_marks()
            return True
        self._part = ExportWindow(screen.narrowing, 0, screen.book.newest_first)
        screen.console.read_soon()
        return True

    def take(self, read: Mapping[Part, object]) -> bool:
        """Marks what was read; whether more is to be read."""
        part, pages = self._part, self._screen.pages
        window = None if part is None else read.get(part)
        if part is None or not isinstance(window, PageWindow):
            return False
        room = MOST_MARKED - pages.table.mark_count
        fresh = [page for page in window.pages if page.page_id not in pages.table.marked]
        pages.mark(fresh[: max(0, room)])
        marked = count(pages.table.mark_count)
        if len(fresh) > room:
            self._end(part, f"{marked} marked, more cannot be at once", "takes the marks off")
        elif window.ended:
            self._end(part, f"all {marked} marked", "takes the marks off")
        else:
            self._part = ExportWindow(part.narrowing, window.last_id, part.newest_first)
            self._tell(f"◷ {marked} marked so far", "stops")
        return self._part is not None

    def stop(self) -> None:
        """Marks nothing more."""
        self._part = self._done = None

    def _end(self, part: ExportWindow, words: str, what: str) -> None:
        self._part, self._done = None, part.narrowing
        self._tell(words, what)

    def _tell(self, words: str, what: str) -> None:
        """How many are marked, and what the key does next."""
        screen = self._screen
        of = f" of {count(screen.length)}" if screen.length is not None and "all" not in words else ""
        screen.console.tell("marks", f"{words}{of} · {screen.key_names('mark.all')} {what}")
