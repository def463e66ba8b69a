"""View 3: every known page, in windows by id, narrowed by a filter that the database answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.url_rows import (
    FILTER_HINT,
    URL_COLUMNS,
    nothing_words,
    url_lines,
    url_row,
    window_words,
)
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.live_filter import LiveFilterScreen
from tui_crawler.console.url_parts import UrlWindow
from tui_crawler.domain.page_filter import FilterProblem, PageFilter, PageWindow, read_page_filter
from tui_crawler.domain.view import PageView


class UrlsScreen(LiveFilterScreen):
    """A table of pages, and the page under the cursor."""

    WHERE = Where.urls
    HERE = frozenset({"view.urls", "view.failures"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.urls)]
    AUTO_FOCUS = "#urls"

    def __init__(self) -> None:
        """Makes it with nothing read yet."""
        super().__init__()
        self._text = ""
        self._problem = ""
        self._window = UrlWindow()
        self._before: tuple[tuple[int, int], ...] = ()  # of the windows before: where they began, their first number
        self._first = 1
        self._shown: PageWindow | None = None
        self._held: PageWindow | None = None
        self._turned = True  # the rows shown are still those of the window before
        self._marked: dict[Hashable, str] = {}

    def body(self) -> Iterable[Widget]:
        """Pages, and the one under the cursor in full."""
        self._table = CrawlTable(URL_COLUMNS, placeholder=nothing_words(None, False), id="urls", classes="pane")
        self._info = Lines(id="url-info", classes="pane")
        self._info.can_focus = False
        yield Vertical(self._table, self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        self._show_title()
        title(self._info, "Page")

    # what is shown

    def wants(self) -> Wants:
        """One window."""
        return Wants(parts=(self._window,))

    def take(self, shot: Snapshot) -> None:
        """Takes the window when it was read anew."""
        window = shot.parts.get(self._window)
        if not isinstance(window, PageWindow) or window is self._shown or window is self._held:
            return
        if self.frozen and self._shown is not None:
            self.missed += 1
            self._held = window
            self._show_title()
            return
        self._show(window)

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        held, self._held = self._held, None
        if held is not None:
            self._show(held)
        self._show_title()

    def tick(self) -> None:
        """How long ago, and when due, of the rows in view."""
        if self.frozen or self._shown is None:
            return
        now = self.console.clock.wall_ms()
        visible = set(self._table.visible_keys)
        for page in self._shown.pages:
            if page.page_id in visible:
                self._table.update_row(url_row(page, now))

    def _show(self, window: PageWindow) -> None:
        self._shown = window
        now = self.console.clock.wall_ms()
        self._table.placeholder = nothing_words(window, self._filtered)
        rows = [url_row(page, now) for page in window.pages]
        follows = self._window.newest_first and not self._before and self._table.cursor_index <= 0
        self._table.set_rows(rows, cursor="first" if self._turned or follows else "pin", keep_marks=True)
        self._turned = False
        self._show_title()
        self._show_page()

    def _show_page(self) -> None:
        clock = self.console.clock
        self._info.show(url_lines(self._page(), clock.wall_ms(), clock.zone))

    def _show_title(self) -> None:
        shown = self._shown
        parts = ["URLs", window_words(shown, self._first, self._filtered) if shown is not None else "reading…"]
        if self._window.newest_first:
            parts.append("newest first")
        if self._problem:
            parts.append(f"filter not understood: {self._problem}")
        elif self._text:
            parts.append(f"filter: {self._text}")
        title(self._table, " · ".join(parts), f"‖ frozen · {self.missed} changes" if self.frozen else "")

    # what is selected

    @property
    def _filtered(self) -> bool:
        return bool(self._window.narrowing.terms)

    def _page(self) -> PageView | None:
        return self.record(self._table, self._table.cursor_key)

    def situation(self) -> Situation:
        """The marked pages, also those of other windows, or the one under the cursor."""
        page = self._page()
        selected = (page.url,) if page is not None else ()
        return Situation(
            Where.urls,
            urls=tuple(self._marked.values()) or selected,
            older=self._shown is not None and not self._shown.ended,
            newer=bool(self._before),
            filtered=bool(self._text),
        )

    def record(self, table: CrawlTable, key: Hashable) -> PageView | None:
        """The page of a row, as it was read."""
        pages = self._shown.pages if self._shown is not None else ()
        return next((page for page in pages if page.page_id == key), None)

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("URLs",)

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
            case "sort.reverse":
                self._look(UrlWindow(self._window.narrowing, newest_first=not self._window.newest_first))
            case "list.older":
                self._older()
            case "list.newer":
                self._newer()
            case "nav.back" if self._text:
                self._filter("")
            case _:
                return False
        return True

    def _older(self) -> None:
        if self._shown is not None and not self._shown.ended:
            before = (*self._before, (self._window.after_id, self._first))
            first = self._first + len(self._shown.pages)
            self._look(replace(self._window, after_id=self._shown.last_id), before, first)

    def _newer(self) -> None:
        if self._before:
            after_id, first = self._before[-1]
            self._look(replace(self._window, after_id=after_id), self._before[:-1], first)

    def _look(self, window: UrlWindow, before: tuple[tuple[int, int], ...] = (), first: int = 1) -> None:
        """Goes to another window; it is read with the next beat."""
        self._window, self._before, self._first = window, before, first
        self._shown = self._held = None
        self._turned = True
        self._table.placeholder = nothing_words(None, False)
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
        if isinstance(narrowing, PageFilter) and narrowing != self._window.narrowing:
            self._look(UrlWindow(narrowing, newest_first=self._window.newest_first))
        self._show_title()
        self.tell_footer()

    # messages

    def on_crawl_table_row_highlighted(self, _event: CrawlTable.RowHighlighted) -> None:
        """Another page."""
        self._show_page()
        self.tell_footer()

    def on_crawl_table_row_selected(self, _event: CrawlTable.RowSelected) -> None:
        """Opens the page."""
        page = self._page()
        if page is not None:
            self.console.dispatcher.go_to_url(page.url)

    def on_crawl_table_marks_changed(self, event: CrawlTable.MarksChanged) -> None:
        """Keeps the URLs of marked pages, whatever window they are in."""
        pages = self._shown.pages if self._shown is not None else ()
        known = self._marked | {page.page_id: page.url for page in pages}
        self._marked = {key: url for key, url in known.items() if key in event.marked}
        self.tell_footer()
