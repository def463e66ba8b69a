"""View 3: every known page in one list that scrolls without end, narrowed by a filter that the database answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable, Row
from tui_crawler.console.format import READING, count, plural
from tui_crawler.console.keys import only_at
from tui_crawler.console.match_count import MatchCount
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
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.choose import ChooseScreen
from tui_crawler.console.screens.live_filter import LiveFilterScreen
from tui_crawler.console.screens.mark_beyond import MarkBeyond
from tui_crawler.console.screens.page_export import PageExport
from tui_crawler.console.screens.page_list import PageList
from tui_crawler.console.screens.url_pivot import UrlPivot
from tui_crawler.console.view_export import TableText
from tui_crawler.domain.exit_code import BLOCKED, FAILURES
from tui_crawler.domain.page_filter import FilterProblem, PageFilter, read_page_filter

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from tui_crawler.domain.page_view import PageView

_ORDERS = (("@found", "the order found · all rows"), ("@newest", "newest first · all rows"))

_FAILED, _BARRED = (frozenset(code.name for code in codes) for codes in (FAILURES, BLOCKED))
"""Exit codes of pages that a retry puts back."""


class UrlsScreen(LiveFilterScreen):
    """A table of pages, and the page under the cursor."""

    WHERE = Where.urls
    HERE = frozenset({"origin.add"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.urls)]
    AUTO_FOCUS = "#urls"
    MARKS = "#urls"

    def __init__(self) -> None:
        """Makes it with nothing read yet."""
        super().__init__()
        self._text = ""
        self._problem = ""
        self._book = PageBook()
        self._matches = MatchCount()
        self._pivot = UrlPivot(self)
        self._export = PageExport(self)
        self._marking = MarkBeyond(self)

    def body(self) -> Iterable[Widget]:
        """Pages, and the one under the cursor in full."""
        nothing = nothing_words(self._book, self.key_names)
        self._table = CrawlTable(URL_COLUMNS, placeholder=nothing, id="urls", classes="pane")
        self.pages = PageList(self._table, self._book, self._row, keep_marks=True)
        self._table.marks_beyond = self._marking.pressed
        self._info = Lines(id="url-info", classes="pane")
        self._info.can_focus = False
        yield Vertical(self._table, self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        self._show_title()
        title(self._info, "Page")

    # what is shown

    def wants(self) -> Wants:
        """Windows of the list, how many match where that shows only by counting, and the pivot."""
        counts = self._book.started and self._book.total is None
        besides = (*((self._matches,) if counts else ()), self._pivot, self._export, self._marking)
        return Wants(parts=(*self.pages.parts, *(part for one in besides for part in one.parts)))

    def take(self, shot: Snapshot) -> None:
        """Takes what was read anew."""
        self._pivot.take(shot.parts)
        changed, waits = self.pages.take(shot.parts, frozen=self.frozen)
        self.missed += waits
        reads_on = self._matches.take(shot.parts, self.console.clock.mono_ms())
        reads_on |= self._export.take(shot.parts) | self._marking.take(shot.parts)
        self.pages.length = self.length
        if changed:
            self._show()
        if changed or reads_on:
            self.console.read_soon()
        self._show_title()

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        if self.pages.thaw():
            self._show()
        self._show_title()

    def tick(self) -> None:
        """How long ago, and when due, of the rows in view; whether they are held still, or in an order of their own."""
        if not self.frozen:
            self.pages.tick()
            self._show_page()
            run = self.console.picture.run
            if run is not None and run.live and self._matches.go_on(self.console.clock.mono_ms()):
                self.console.read_soon()
        self._show_title()

    def _row(self, page: PageView) -> Row:
        return url_row(page, self.console.clock.wall_ms(), self.console.wishes.outlook_of(page))

    def _show(self) -> None:
        """Tells what is held."""
        self._table.placeholder = nothing_words(self._book, self.key_names)
        self._show_page()

    def _show_page(self) -> None:
        page, console = self._page(), self.console
        self._info.show(url_lines(page, console.wishes.outlook_of(page), console.clock.zone) if page else [])

    def _show_title(self) -> None:
        book, table = self._book, self._table
        parts = ["URLs", self._place() if book.started else READING]
        if self.pages.in_part and not self.pages.whole:
            of = "" if self.length is None else f" of {count(self.length)}"
            parts.append(f"only the {count(len(table.held_rows()))} rows held{of}")
        elif book.newest_first:
            parts.append("newest first")
        if self._problem:
            parts.append(f"filter not understood: {self._problem}")
        elif self._text:
            parts.append(f"filter: {self._text}")
        title(table, " · ".join(parts), f"‖ frozen · {self.missed} changes" if self.frozen else "")

    def _place(self) -> str:
        if self.pages.in_part:
            of = f" of {count(self._table.row_count)}" if self.pages.whole else ""
            return f"row {count(self._table.cursor_index + 1)}{of}"
        return position_words(self._book, max(self._table.cursor_index, 0), self._matches.found)

    @property
    def length(self) -> int | None:
        """How many rows the list has; None while that is not known."""
        found = self._matches.found
        return found.number if found is not None and found.whole else self._book.total

    def leave_marks(self) -> bool:
        """Takes the marks off, and marks nothing more."""
        self._marking.stop()
        return super().leave_marks()

    def left(self) -> None:
        """An export that is not done ends."""
        self._export.stop()
        super().left()

    def on_unmount(self) -> None:
        """The same when the console is left."""
        self._export.stop()

    @property
    def rows_read(self) -> bool:
        """Whether the rows are those of the filter and order that hold now."""
        return super().rows_read and self._book.started

    # what is selected

    def _page(self) -> PageView | None:
        return self._book.page(self._table.cursor_key)

    def situation(self) -> Situation:
        """The marked pages, also those that are not held any more, or the one under the cursor."""
        page = self._page()
        pages = self.pages.marked_pages() or (() if page is None else (page,))
        urls, failing, barred = (
            tuple(one.url for one in pages if codes is None or one.last_exit_code in codes)
            for codes in (None, _FAILED, _BARRED)
        )
        return Situation(Where.urls, urls=urls, failing=failing, barred=barred, filtered=bool(self._text))

    def record(self, table: CrawlTable, key: Hashable) -> PageView | None:
        """The page of a row, as it was read."""
        return self._book.page(key)

    @property
    def book(self) -> PageBook:
        """The list that is shown."""
        return self._book

    def table_of(self, pages: Sequence[PageView]) -> TableText:
        """Pages as rows of the table, to be exported."""
        return TableText(URL_COLUMNS, tuple(map(self._row, pages)), tuple(pages))

    def exporter(self, table: CrawlTable) -> PageExport | None:
        """All that match, unless all are held or they stand in an order of their own."""
        return None if table is not self._table or self.pages.in_part or self.pages.whole else self._export

    def export_heading(self, table: CrawlTable) -> str:
        """How many rows are written: all that match, or those held in an order of their own."""
        if self.exporter(table) is not None:
            return f"Export all {count(self.length)} rows" if self.length is not None else "Export all rows"
        held = self.pages.in_part and not self.pages.whole
        return f"Export {'the ' if held else ''}{plural(table.row_count, 'row')}{' held' if held else ''}"

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
        which = "all rows" if self.pages.can_be_whole else "rows held"
        columns = [(column.id, f"{column.title} · {which}") for column in URL_COLUMNS]
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
            self.pages.order_by(chosen)
            self.console.read_soon()  # what a list of its own order is not whole without
        self._show_title()

    def _look(self, book: PageBook) -> None:
        """Goes elsewhere; until that is read, the rows stay."""
        if book.narrowing != self._book.narrowing:
            self._matches.look(book.narrowing)
            self._marking.stop()
        self.pages.look(book, keep=True)
        self._gone_to(book)

    def _gone_to(self, book: PageBook) -> None:
        self._book = book
        self._table.placeholder = nothing_words(book, self.key_names)
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
        if event.table is self._table and self.pages.go_to_end(book):
            self._gone_to(book)

    def on_crawl_table_row_highlighted(self, _event: CrawlTable.RowHighlighted) -> None:
        """Another page."""
        self._show_page()
        self._show_title()
        self.tell_footer()

    def on_crawl_table_row_selected(self, _event: CrawlTable.RowSelected) -> None:
        """Opens the page; where others are being read, the first of them then."""
        page = self._page()
        if page is not None:
            self.console.dispatcher.go_to_url(page.url)
        else:
            self.open_when_read()

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        """Actions are about other pages now."""
        self.pages.marked_pages()
        self._show_title()
        self.tell_footer()
