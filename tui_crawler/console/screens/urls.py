"""View 3: every known page in one list that scrolls without end, narrowed by a filter that the database answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable, CursorRule, Row
from tui_crawler.console.format import count
from tui_crawler.console.keys import only_at
from tui_crawler.console.page_book import PageBook
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.url_rows import (
    FILTER_HINT,
    URL_COLUMNS,
    nothing_words,
    position_words,
    url_lines,
    url_row,
)
from tui_crawler.console.refresh import Part, Snapshot, Wants
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.choose import ChooseScreen
from tui_crawler.console.screens.live_filter import LiveFilterScreen
from tui_crawler.console.screens.url_pivot import UrlPivot
from tui_crawler.console.table_cells import LateRow
from tui_crawler.console.url_parts import UrlWindow
from tui_crawler.domain.page_filter import FilterProblem, PageFilter, PageWindow, read_page_filter

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from tui_crawler.domain.view import PageView

AHEAD = 100
"""So many rows before the edge of what is held its neighbours are read; of a filtered list only what is in view."""

_ORDERS = (("@found", "the order found · all rows"), ("@newest", "newest first · all rows"))


class UrlsScreen(LiveFilterScreen):
    """A table of pages, and the page under the cursor."""

    WHERE = Where.urls
    HERE = frozenset({"view.urls", "view.failures"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.urls)]
    AUTO_FOCUS = "#urls"
    MARKS = "#urls"

    def __init__(self) -> None:
        """Makes it with nothing read yet."""
        super().__init__()
        self._text = ""
        self._problem = ""
        self._book = PageBook()
        self._edge: UrlWindow | None = None  # the neighbours that are awaited
        self._parts: tuple[Part, ...] = ()
        self._seen: dict[Part, object] = {}  # what was read for a part last
        self._held: dict[UrlWindow, PageWindow] = {}  # what came while the picture is held still
        self._rows: dict[int, tuple[PageView, Row]] = {}
        self._cursor: CursorRule = "first"  # where the cursor goes with the first rows of a book
        self._turned = True  # the rows shown are still those of the book before
        self._marked: dict[Hashable, str] = {}
        self._pivot = UrlPivot(self)

    def body(self) -> Iterable[Widget]:
        """Pages, and the one under the cursor in full."""
        self._table = CrawlTable(URL_COLUMNS, placeholder=nothing_words(self._book), id="urls", classes="pane")
        self._table.pins_top = True
        self._info = Lines(id="url-info", classes="pane")
        self._info.can_focus = False
        yield Vertical(self._table, self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        self._show_title()
        title(self._info, "Page")

    # what is shown

    def wants(self) -> Wants:
        """The rows in view anew, and what comes next where the view comes near an edge."""
        if self._edge is None or self._edge not in self._parts:
            self._parts = tuple(dict.fromkeys((*self._windows(), *self._pivot.parts)))
        return Wants(parts=self._parts)

    def _windows(self) -> Iterable[UrlWindow]:
        book, table = self._book, self._table
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
        if table.order is None and not table.needle:
            ahead = self._table.size.height if book.narrowing.terms else AHEAD
            if bottom + ahead >= table.row_count:
                self._edge = book.below
            if self._edge is None and top < ahead:
                self._edge = book.above
        if self._edge is not None:
            yield self._edge

    def take(self, shot: Snapshot) -> None:
        """Takes the windows that were read anew."""
        changed = False
        for part in self._parts:
            value = shot.parts.get(part)
            if value is None or (part != self._edge and self._seen.get(part) is value):
                continue
            if not isinstance(part, UrlWindow) or not isinstance(value, PageWindow):
                self._pivot.take(part, value)
            elif self.frozen and self._book.started and part != self._edge:
                self.missed += 1
                self._held[part] = value
                self._show_title()
            else:
                changed |= self._join(part, value)
        self._seen = {part: shot.parts[part] for part in self._parts if part in shot.parts}
        if changed:
            self._show()

    def _join(self, part: UrlWindow, window: PageWindow) -> bool:
        if part == self._edge:
            self._edge = None
            self.console.read_soon()
        return self._book.take(part, window)

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        held, self._held = self._held, {}
        changed = [self._book.take(part, window) for part, window in held.items()]
        if any(changed):
            self._show()
        self._show_title()

    def tick(self) -> None:
        """How long ago, and when due, of the rows in view."""
        if self.frozen:
            return
        now = self.console.clock.wall_ms()
        for page in map(self._book.page, self._table.visible_keys):
            if page is not None:
                self._table.update_row(url_row(page, now))

    def _show(self) -> None:
        """Shows what is held. The cursor stays on its page; when that is let go, it goes to the nearest in view."""
        book, table = self._book, self._table
        now = self.console.clock.wall_ms()
        kept, self._rows = self._rows, {}
        for page in book.pages:
            had = kept.get(page.page_id)
            self._rows[page.page_id] = (
                had
                if had is not None and had[0] == page
                else (page, LateRow(page.page_id, partial(url_row, page, now)))
            )
        visible = table.visible_keys
        if visible and not self._turned and table.cursor_key not in (*visible, *self._rows):
            top = round(table.scroll_y)
            table.move_cursor(index=top if table.cursor_index < top else top + len(visible) - 1)
        follows = book.newest_first and book.at_first and table.cursor_index <= 0
        rule: CursorRule = "first" if follows else "pin"
        table.placeholder = nothing_words(book)
        if self._turned or not table.row_count:
            rule = self._cursor
        table.set_rows([row for _, row in self._rows.values()], cursor=rule, keep_marks=True)
        self._turned = False
        self._show_title()
        self._show_page()

    def _show_page(self) -> None:
        clock = self.console.clock
        self._info.show(url_lines(self._page(), clock.wall_ms(), clock.zone))

    def _show_title(self) -> None:
        book, table = self._book, self._table
        parts = ["URLs", self._place() if book.started else "reading…"]
        if table.order is not None or table.needle:
            parts.append(f"only the {count(len(table.held_rows()))} rows held")
        elif book.newest_first:
            parts.append("newest first")
        if self._problem:
            parts.append(f"filter not understood: {self._problem}")
        elif self._text:
            parts.append(f"filter: {self._text}")
        title(table, " · ".join(parts), f"‖ frozen · {self.missed} changes" if self.frozen else "")

    def _place(self) -> str:
        if self._table.order is not None or self._table.needle:
            return f"row {count(self._table.cursor_index + 1)}"
        return position_words(self._book, max(self._table.cursor_index, 0))

    # what is selected

    def _page(self) -> PageView | None:
        return self._book.page(self._table.cursor_key)

    def situation(self) -> Situation:
        """The marked pages, also those that are not held any more, or the one under the cursor."""
        page = self._page()
        selected = (page.url,) if page is not None else ()
        return Situation(Where.urls, urls=tuple(self._marked.values()) or selected, filtered=bool(self._text))

    def record(self, table: CrawlTable, key: Hashable) -> PageView | None:
        """The page of a row, as it was read."""
        return self._book.page(key)

    def orders(self, table: CrawlTable) -> tuple[str, ...]:
        """Two orders of the database, and any column of the rows held."""
        return (*dict(_ORDERS), *super().orders(table))

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("URLs",)

    @property
    def filter_text(self) -> str:
        """The filter as it was typed."""
        return self._text

    @property
    def narrowing(self) -> PageFilter:
        """What the filter means."""
        return self._book.narrowing

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        match action_id:
            case "nav.open":
                self._table.action_open_row()
            case "filter.open":
                self._open_filter(argument)
            case "filter.clear":
                self._filter("")
            case "sort.pick":
                self._pick_sort(argument)
            case "sort.reverse" if self._table.order is None:
                self._look(PageBook(self._book.narrowing, newest_first=not self._book.newest_first))
            case "table.pivot":
                return self._pivot.open(self._table.current_column or "")
            case "nav.back" if self._text:
                self._filter("")
            case _:
                return False
        return True

    def _pick_sort(self, argument: str) -> None:
        columns = [(column.id, f"{column.title} · rows held") for column in URL_COLUMNS]
        options = (*_ORDERS, *columns)
        here = self._table.order[0] if self._table.order is not None else _ORDERS[self._book.newest_first][0]
        if argument in dict(options):
            self._sort_by(argument)
        else:
            self.console.push_screen(ChooseScreen("Order by", options, here), self._sort_by)

    def _sort_by(self, chosen: object) -> None:
        """All rows in an order that the database keeps, or those held by any column."""
        if not isinstance(chosen, str):
            return
        names = [name for name, _ in _ORDERS]
        if chosen in names:
            self._table.order_by(None)
            newest_first = chosen == names[1]
            if newest_first is not self._book.newest_first:
                self._look(PageBook(self._book.narrowing, newest_first=newest_first))
        else:
            self._table.order_by(chosen)
        self._show_title()

    def _look(self, book: PageBook) -> None:
        """Goes elsewhere; it is read with the next beat."""
        self._book, self._edge, self._parts = book, None, ()
        self._seen, self._held, self._rows = {}, {}, {}
        self._cursor, self._turned = "last" if book.from_end else "first", True
        self._table.placeholder = nothing_words(book)
        self._show_title()
        self.console.read_soon()

    def _open_filter(self, text: str) -> None:
        if text:
            self._filter(text)
        else:
            self.query_one(EntryLine).open("filter", "/", self._text, FILTER_HINT)

    def _filter(self, text: str) -> None:
        """Narrows to what a text means; while it means nothing, what was shown stays."""
        self._stop_waiting()
        self._text = text.strip()
        narrowing = read_page_filter(text)
        self._problem = narrowing.message if isinstance(narrowing, FilterProblem) else ""
        if isinstance(narrowing, PageFilter) and narrowing != self._book.narrowing:
            self._look(PageBook(narrowing, newest_first=self._book.newest_first))
        self._show_title()
        self.tell_footer()

    # messages

    def on_crawl_table_end_wanted(self, event: CrawlTable.EndWanted) -> None:
        """The first or the last row of all, not only of those held."""
        book = self._book
        there = book.at_last if event.bottom else book.at_first
        if event.table is self._table and self._table.order is None and book.started and not there:
            self._look(PageBook(book.narrowing, newest_first=book.newest_first, from_end=event.bottom))

    def on_crawl_table_row_highlighted(self, _event: CrawlTable.RowHighlighted) -> None:
        """Another page."""
        self._show_page()
        self._show_title()
        self.tell_footer()

    def on_crawl_table_row_selected(self, _event: CrawlTable.RowSelected) -> None:
        """Opens the page."""
        page = self._page()
        if page is not None:
            self.console.dispatcher.go_to_url(page.url)

    def on_crawl_table_marks_changed(self, event: CrawlTable.MarksChanged) -> None:
        """Keeps the URLs of marked pages, also when they are let go."""
        known = self._marked | {page.page_id: page.url for page in self._book.pages}
        self._marked = {key: url for key, url in known.items() if key in event.marked}
        self._show_title()
        self.tell_footer()
