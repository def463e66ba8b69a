"""View 3: every known page in one list that scrolls without end, narrowed by a filter that the database answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.dialogs.choose import ORDER_BY, ChooseScreen
from tui_crawler.console.panes.lines import FactsPane
from tui_crawler.console.reading.reading import AnyReading
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.waiting import LiveFilterScreen
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.export import TableText
from tui_crawler.console.table.window_list import PageList
from tui_crawler.console.urls.queries import PageListWindow
from tui_crawler.console.urls.rows import FILTER_HINT, URLS, PageLine, nothing_words, position_words, url_lines
from tui_crawler.console.urls.whole_list import MarkBeyond, MatchCount, PageExport, UrlPivot
from tui_crawler.domain.records.exit_code import BLOCKED, FAILURES, ExitCode
from tui_crawler.domain.rules.page_filter import FilterProblem, PageFilter, read_page_filter
from tui_crawler.text.format import READING, count, plural

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.domain.records.page_view import PageView

_ORDERS = (("@found", "the order found · all rows"), ("@newest", "newest first · all rows"))

_MEANT = (FAILURES, BLOCKED | {ExitCode.not_canonical, ExitCode.noindex})
_BY_POLICY = ExitCode.blocked_url_by_local_policy.name
_FAILED, _BARRED = (frozenset(code.name for code in codes) for codes in _MEANT)
"""Exit codes of those of many marked pages that a retry is meant for."""


class UrlsScreen(LiveFilterScreen):
    """A table of pages, and the page under the cursor."""

    WHERE = Where.urls
    CRUMBS = ("URLs",)
    HERE = frozenset({"origin.add"})
    AUTO_FOCUS = "#urls"
    MARKS = "#urls"

    def __init__(self, filter_text: str = "") -> None:
        """It is limited at first to the pages that pass a filter (empty: it shows all)."""
        super().__init__()
        self._begins_with, self.filter_text = filter_text, ""
        self._problem = ""
        self._unfiltered = PageListWindow()
        self._unfiltered_at: Hashable | None = None  # where the cursor was before the rows were filtered
        self._pivot = UrlPivot(self)
        self._export = PageExport(self)
        self._marking = MarkBeyond(self)

    def body(self) -> Iterable[Widget]:
        nothing = nothing_words(self._unfiltered, self.key_names)
        self._matches = MatchCount(self.console.read_soon, self.console.clock.mono_ms)
        self._table = CrawlTable(URLS, placeholder=nothing, id="urls", classes="pane")
        told = self._row, self._show, self.console.read_soon
        self.pages = PageList(self._table, self._unfiltered, *told, length=lambda: self.length, keep_marks=True)
        self._table.marks_beyond = self._marking.pressed
        yield Vertical(self._table, FactsPane(self._facts, "Page", id="url-info", still=True), id="body")

    def on_mount(self) -> None:
        if self._begins_with:
            self._filter(self._begins_with)

    @property
    def keyset(self) -> PageListWindow:
        return self.pages.keyset

    def readings(self) -> tuple[AnyReading, ...]:
        """Windows of the list, how many match where that shows only by counting, and what is done with all of them."""
        counts = self.keyset.started and self.keyset.total is None
        return (self.pages, *((self._matches,) if counts else ()), self._pivot, self._export, self._marking)

    def show_live(self) -> None:
        self.pages.show_live()
        if (run := self.console.live_state.run) is not None and run.live:
            self._matches.count_again()

    def _row(self, page: PageView) -> Row:
        line = PageLine(page, self.console.command_queue.outlook_of(page))
        return Row.of(URLS, line, present(self.console.clock))

    def _show(self) -> None:
        self._table.placeholder = nothing_words(self.keyset, self.key_names)

    def _facts(self) -> Sequence[Line]:
        page, console = self._page(), self.console
        return url_lines(page, console.command_queue.outlook_of(page), console.clock.zone) if page else []

    def show_titles(self) -> None:
        keyset, table = self.keyset, self._table
        parts = ["URLs", self._place() if keyset.started else READING]
        if self.pages.in_part and not self.keyset.whole:
            of = "" if self.length is None else f" of {count(self.length)}"
            parts.append(f"only the {count(len(table.held_rows()))} rows loaded{of}")
        elif keyset.newest_first:
            parts.append("newest first")
        if self._problem:
            parts.append(f"filter not understood: {self._problem}")
        elif self.filter_text:
            parts.append(f"filter: {self.filter_text}")
        title(table, " · ".join(parts))

    def _place(self) -> str:
        if self.pages.in_part:
            of = f" of {count(self._table.row_count)}" if self.keyset.whole else ""
            return f"row {count(self._table.cursor_index + 1)}{of}"
        return position_words(self.keyset, max(self._table.cursor_index, 0), self._matches.found)

    @property
    def length(self) -> int | None:
        """How many rows the list has; None while that is not known."""
        found = self._matches.found
        return found.matched if found is not None and found.ended else self.keyset.total

    def leave_marks(self) -> bool:
        self._marking.stop()
        return super().leave_marks()

    def left(self) -> None:
        self._export.stop()
        super().left()

    def on_unmount(self) -> None:
        self._export.stop()

    @property
    def rows_read(self) -> bool:
        """Whether the rows are those of the filter and order that hold now."""
        return super().rows_read and self.keyset.started

    def _page(self) -> PageView | None:
        return self.keyset.row(self._table.cursor_key)

    def situation(self) -> Situation:
        """The marked pages, also those that are not held any more, or the one under the cursor."""
        page = self._page()
        pages = self.pages.marked_pages() or (() if page is None else (page,))
        failing, barred, refused = (
            tuple(one.url for one in pages if one.last_exit_code in codes) for codes in (_FAILED, _BARRED, {_BY_POLICY})
        )
        urls = tuple(one.url for one in pages)
        return Situation(Where.urls, urls=urls, failing=failing, barred=barred, refused=refused)

    def table_of(self, pages: Sequence[PageView]) -> TableText:
        return TableText(URLS.columns, tuple(map(self._row, pages)))

    def exporter(self, table: CrawlTable) -> PageExport | None:
        """All that match, unless all are held or they stand in an order of their own."""
        return None if table is not self._table or self.pages.in_part or self.keyset.whole else self._export

    def export_heading(self, table: CrawlTable) -> str:
        """How many rows are written: all that match, or those held in an order of their own."""
        if self.exporter(table) is not None:
            return f"Export all {count(self.length)} rows" if self.length is not None else "Export all rows"
        held = self.pages.in_part and not self.keyset.whole
        return f"Export {'the ' if held else ''}{plural(table.row_count, 'row')}{' loaded' if held else ''}"

    def orders(self, table: CrawlTable) -> tuple[str, ...]:
        return (*dict(_ORDERS), *super().orders(table))

    def chosen(self) -> Mapping[str, str]:
        return {"filter": self.filter_text, "order": _ORDERS[1][0] if self.keyset.newest_first else ""}

    def choose(self, words: Mapping[str, str]) -> None:
        self._sort_by(words.get("order") if words.get("order") in dict(_ORDERS) else None)
        self._filter(words.get("filter", ""))

    def open_filter(self, text: str) -> None:
        if text:
            self._filter(text)
        else:
            self._open_line("/", self.filter_text, FILTER_HINT)

    @property
    def wider(self) -> str:
        return "all URLs" if self.filter_text else ""

    def leave(self) -> None:
        if self.filter_text:
            self._filter("")
        else:
            super().leave()

    def reverse_order(self) -> None:
        """The newest first, or the oldest; of rows that are held, by their column."""
        if self._table.order is None:
            self._look(PageListWindow(self.keyset.narrowing, newest_first=not self.keyset.newest_first))
        else:
            super().reverse_order()

    def count_values(self) -> None:
        if not self._pivot.open(self._table.current_column or ""):
            super().count_values()

    def pick_order(self, argument: str) -> None:
        which = "all rows" if self.pages.can_be_whole else "rows loaded"
        options = (*_ORDERS, *((column.id, f"{column.title} · {which}") for column in URLS.columns))
        here = self._table.order[0] if self._table.order is not None else _ORDERS[self.keyset.newest_first][0]
        if argument in dict(options):
            self._sort_by(argument)
        else:
            dialog = ChooseScreen(ORDER_BY, options, here)
            self.app.push_screen(dialog, lambda one: self.reverse_order() if one == here else self._sort_by(one))

    def _sort_by(self, chosen: object) -> None:
        if not isinstance(chosen, str):
            return
        if chosen not in dict(_ORDERS):
            self.pages.order_by(chosen)
            self.console.read_soon()  # what a list of its own order is not whole without
        else:
            self._table.order_by(None)
            newest_first = chosen == _ORDERS[1][0]
            if newest_first is not self.keyset.newest_first:
                self._look(PageListWindow(self.keyset.narrowing, newest_first=newest_first))
        self.show_titles()

    def _look(self, keyset: PageListWindow) -> None:
        """Goes elsewhere; until that is read, the rows stay. Without a filter, to the rows there were before it."""
        if keyset.narrowing != self.keyset.narrowing:
            self._matches.look(keyset.narrowing)
            self._marking.stop()
            if not self.keyset.narrowing.terms:
                self._unfiltered, self._unfiltered_at = self.keyset, self._table.cursor_key
            elif not keyset.narrowing.terms and keyset.newest_first is self._unfiltered.newest_first:
                keyset = self._unfiltered
        self.pages.look(keyset, keep=True, at=self._unfiltered_at)
        self._show()
        self.show_facts()
        self.show_titles()
        if not keyset.started:
            self.console.read_soon(instead=True)
            return
        self.call_after_refresh(self.console.read_soon, instead=True)  # first the rows that are there
        self.go_on()
        self.let_keys_go_on()

    def _filter(self, text: str) -> None:
        """Narrows to what a text means; while it means nothing, what was shown stays."""
        self.filter_text = text.strip()
        narrowing = read_page_filter(text)
        self._problem = narrowing.message if isinstance(narrowing, FilterProblem) else ""
        if isinstance(narrowing, PageFilter) and narrowing != self.keyset.narrowing:
            self._look(PageListWindow(narrowing, newest_first=self.keyset.newest_first))
        self.show_titles()
        self.tell_footer()

    def row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Opens the page; where others are being read, the first of them then."""
        if (page := self._page()) is not None:
            self.console.go_to(Where.url, page.url)
        else:
            self.open_when_read()

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        self.pages.marked_pages()
