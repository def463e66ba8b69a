"""View 3: every known page in one list that scrolls without end, narrowed by a filter that the database answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable, Row
from tui_crawler.console.format import READING, count
from tui_crawler.console.keys import only_at
from tui_crawler.console.page_book import PageBook
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.url_rows import (
    FILTER_HINT,
    URL_COLUMNS,
    nothing_words,
    origin_holds,
    position_words,
    url_lines,
    url_row,
)
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.choose import ChooseScreen
from tui_crawler.console.screens.live_filter import LiveFilterScreen
from tui_crawler.console.screens.page_list import PageList
from tui_crawler.console.screens.url_pivot import UrlPivot
from tui_crawler.domain.page_filter import FilterProblem, PageFilter, read_page_filter

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from tui_crawler.domain.page_view import PageView

_ORDERS = (("@found", "the order found · all rows"), ("@newest", "newest first · all rows"))


class UrlsScreen(LiveFilterScreen):
    """A table of pages, and the page under the cursor."""

    WHERE = Where.urls
    HERE = frozenset({"view.urls", "view.failures", "origin.add"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.urls)]
    AUTO_FOCUS = "#urls"
    MARKS = "#urls"

    def __init__(self) -> None:
        """Makes it with nothing read yet."""
        super().__init__()
        self._text = ""
        self._problem = ""
        self._book = PageBook()
        self._pivot = UrlPivot(self)

    def body(self) -> Iterable[Widget]:
        """Pages, and the one under the cursor in full."""
        self._table = CrawlTable(URL_COLUMNS, placeholder=nothing_words(self._book), id="urls", classes="pane")
        self._list = PageList(self._table, self._book, self._row, keep_marks=True)
        self._info = Lines(id="url-info", classes="pane")
        self._info.can_focus = False
        yield Vertical(self._table, self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        self._show_title()
        title(self._info, "Page")

    # what is shown

    def wants(self) -> Wants:
        """Windows of the list, and the pivot."""
        return Wants(parts=(*self._list.parts, *self._pivot.parts))

    def take(self, shot: Snapshot) -> None:
        """Takes what was read anew."""
        self._pivot.take(shot.parts)
        changed, waits = self._list.take(shot.parts, frozen=self.frozen)
        self.missed += waits
        if changed:
            self._show()
            self.console.read_soon()
        self._show_title()

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        if self._list.thaw():
            self._show()
        self._show_title()

    def tick(self) -> None:
        """How long ago, and when due, of the rows in view; whether they are held still, or in an order of their own."""
        if not self.frozen:
            self._list.tick()
            self._show_page()
        self._show_title()

    def _row(self, page: PageView) -> Row:
        return url_row(page, self.console.clock.wall_ms(), self._held(page))

    def _held(self, page: PageView | None) -> str:
        """Why the origin of a page does not ask for it; empty: it does, or there is nothing to be asked."""
        console, run = self.console, self.console.picture.run
        if page is None:
            return ""
        origin = console.picture.origins.get(page.origin)
        return origin_holds(page, console.clock.wall_ms(), origin, console.wishes.uptake, run.run_id if run else 0)

    def _show(self) -> None:
        """Tells what is held."""
        self._table.placeholder = nothing_words(self._book)
        self._show_page()

    def _show_page(self) -> None:
        clock, page = self.console.clock, self._page()
        self._info.show(url_lines(page, clock.wall_ms(), clock.zone, self._held(page)))

    def _show_title(self) -> None:
        book, table = self._book, self._table
        parts = ["URLs", self._place() if book.started else READING]
        if self._list.in_part:
            parts.append(f"only the {count(len(table.held_rows()))} rows held")
        elif book.newest_first:
            parts.append("newest first")
        if self._problem:
            parts.append(f"filter not understood: {self._problem}")
        elif self._text:
            parts.append(f"filter: {self._text}")
        title(table, " · ".join(parts), f"‖ frozen · {self.missed} changes" if self.frozen else "")

    def _place(self) -> str:
        if self._list.in_part:
            return f"row {count(self._table.cursor_index + 1)}"
        return position_words(self._book, max(self._table.cursor_index, 0))

    # what is selected

    def _page(self) -> PageView | None:
        return self._book.page(self._table.cursor_key)

    def situation(self) -> Situation:
        """The marked pages, also those that are not held any more, or the one under the cursor."""
        page = self._page()
        selected = (page.url,) if page is not None else ()
        return Situation(Where.urls, urls=self._list.marked_urls() or selected, filtered=bool(self._text))

    def record(self, table: CrawlTable, key: Hashable) -> PageView | None:
        """The page of a row, as it was read."""
        return self._book.page(key)

    def orders(self, table: CrawlTable) -> tuple[str, ...]:
        """Two orders of the database, and any column of the rows held."""
        return (*dict(_ORDERS), *super().orders(table))

    def chosen(self) -> Mapping[str, str]:
        """The filter, and whether the newest come first."""
        return {"filter": self._text, "order": _ORDERS[1][0] if self._book.newest_first else ""}

    def choose(self, words: Mapping[str, str]) -> None:
        """The same again."""
        self._sort_by(words.get("order") if words.get("order") in dict(_ORDERS) else None)
        self._filter(words.get("filter", ""))

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
        """Goes elsewhere; until that is read, the rows stay."""
        self._list.look(book, keep=True)
        self._gone_to(book)

    def _gone_to(self, book: PageBook) -> None:
        self._book = book
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
        book = PageBook(self._book.narrowing, newest_first=self._book.newest_first, from_end=event.bottom)
        if event.table is self._table and self._list.go_to_end(book):
            self._gone_to(book)

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

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        """Actions are about other pages now."""
        self._list.marked_urls()
        self._show_title()
        self.tell_footer()
