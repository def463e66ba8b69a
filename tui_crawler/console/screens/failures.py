"""View 2: failed pages in groups, the pages of the group under the cursor, and the way to put them back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, cast

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.format import count, plural
from tui_crawler.console.intent import retry_group
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.failure_rows import (
    GROUPINGS,
    counts_recent,
    group_columns,
    group_name,
    group_row,
    grouping_words,
    page_columns,
    page_lines,
    page_row,
)
from tui_crawler.console.refresh import WINDOW, FailureWindow, Snapshot, Wants
from tui_crawler.console.screens.base import ConsoleScreen, title
from tui_crawler.console.stat_parts import ExitCounts
from tui_crawler.domain.view import ExitCountView, FailureGroup, PageView


class FailuresScreen(ConsoleScreen):
    """Groups at the left, pages at the right."""

    WHERE = Where.failures
    HERE = frozenset({"view.failures"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.failures)]
    AUTO_FOCUS = "#groups"

    def __init__(self) -> None:
        """Makes it with nothing read yet."""
        super().__init__()
        self._by = GROUPINGS[0]
        self._groups: tuple[FailureGroup, ...] | None = None
        self._pages: tuple[PageView, ...] | None = None
        self._recent: Sequence[ExitCountView] | None = None
        self._held: Snapshot | None = None
        self._window = FailureWindow()
        self._before: tuple[int, ...] = ()

    def body(self) -> Iterable[Widget]:
        """Groups, pages, and the page under the cursor."""
        self._group_table = CrawlTable(
            group_columns(self._by), placeholder="nothing has failed", id="groups", classes="pane"
        )
        self._page_table = CrawlTable(page_columns(self._by), placeholder="no pages", id="pages", classes="pane")
        self._info = Lines(id="page-info", classes="pane")
        self._info.can_focus = False
        yield Vertical(Horizontal(self._group_table, self._page_table, id="failures-upper"), self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        self._show_titles()
        title(self._info, "Page")

    # what is shown

    def wants(self) -> Wants:
        """Groups, and a window of the pages of one."""
        recent = (ExitCounts(),) if counts_recent(self._by) else ()
        return Wants(groups=self._by, failures=self._window if self._group() is not None else None, parts=recent)

    def take(self, shot: Snapshot) -> None:
        """Takes the parts that changed."""
        if self.frozen:
            self.missed += 1
            self._held = shot
            self._show_titles()
            return
        recent = cast("Sequence[ExitCountView] | None", shot.parts.get(ExitCounts()))
        if shot.groups is not None and (shot.groups is not self._groups or recent is not self._recent):
            self._groups, self._recent = shot.groups, recent
            now = self.console.clock.wall_ms()
            lately = {one.exit_code: one.recent for one in recent or ()} if counts_recent(self._by) else None
            self._group_table.set_rows([group_row(group, now, lately) for group in shot.groups])
            self._point_at_group()
        if shot.failures is not None and shot.wants.failures == self._window and shot.failures is not self._pages:
            self._show_pages(shot.failures)
        self._show_titles()

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        if self._held is not None:
            held, self._held = self._held, None
            self.take(held)
        self._show_titles()

    def _show_pages(self, pages: tuple[PageView, ...]) -> None:
        self._pages = pages
        now = self.console.clock.wall_ms()
        rows = [page_row(page, now, self._by) for page in pages]
        self._page_table.set_rows(rows, keep_marks=True)
        self._show_page()

    def _show_page(self) -> None:
        self._info.show(page_lines(self._page()))

    def _show_titles(self) -> None:
        groups = self._groups or ()
        total = sum(group.count for group in groups)
        hope = sum(group.recoverable for group in groups)
        words = f"By {grouping_words(self._by)}"
        if total:
            words += f" · {plural(total, 'page')}, {count(hope)} recoverable"
        title(self._group_table, words, f"‖ frozen · {self.missed} changes" if self.frozen else "")
        group = self._group()
        name = group_name(group) if group is not None else "Pages"
        if group is not None:
            first = len(self._before) * WINDOW + 1
            shown = len(self._page_table.held_rows())
            name += f" · {count(first)}–{count(first + shown - 1)} of {count(group.count)}" if shown else ""
        title(self._page_table, name)

    # what is selected

    def _group(self) -> FailureGroup | None:
        key = self._group_table.cursor_key
        return next((group for group in self._groups or () if group.key == key), None)

    def _page(self) -> PageView | None:
        key = self._page_table.cursor_key
        return next((page for page in self._pages or () if page.page_id == key), None)

    def situation(self) -> Situation:
        """The group, and the marked pages or the one under the cursor."""
        group = self._group()
        marked = tuple(page.url for page in self._pages or () if page.page_id in self._page_table.marked)
        page = self._page()
        selected = (page.url,) if page is not None else ()
        return Situation(
            Where.failures,
            urls=marked or selected,
            failed=group.count if group is not None else 0,
            older=len(self._page_table.held_rows()) >= WINDOW,
            newer=bool(self._before),
        )

    def record(self, table: CrawlTable, key: Hashable) -> object | None:
        """A group, or a page."""
        if table is self._group_table:
            return next((group for group in self._groups or () if group.key == key), None)
        return next((page for page in self._pages or () if page.page_id == key), None)

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("Failures",)

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        match action_id:
            case "nav.open":
                self._open()
            case "group.retry":
                group = self._group()
                if group is not None:
                    self.console.wishes.ask(retry_group(group))
            case "failures.group":
                self._group_by(GROUPINGS[(GROUPINGS.index(self._by) + 1) % len(GROUPINGS)])
            case "list.older":
                if self._pages:
                    window = replace(self._window, after_id=self._pages[-1].page_id)
                    self._look(window, (*self._before, self._window.after_id))
            case "list.newer":
                if self._before:
                    self._look(replace(self._window, after_id=self._before[-1]), self._before[:-1])
            case "nav.back" if self.focused is self._page_table:
                self._group_table.focus()
            case _:
                return False
        return True

    def _open(self) -> None:
        page = self._page()
        if self.focused is self._page_table and page is not None:
            self.console.dispatcher.go_to_url(page.url)
        else:
            self._page_table.focus()

    def _group_by(self, by: tuple[str, ...]) -> None:
        self._by = by
        self._groups = None
        self._group_table.set_rows([])
        self._group_table.set_columns(group_columns(by))
        self._page_table.set_columns(page_columns(by))
        self._show_titles()
        self.console.read_soon()

    def _point_at_group(self) -> None:
        """The pages belong to the group under the cursor."""
        group = self._group()
        key = dict(group.key) if group is not None else {}
        window = FailureWindow(key.get("exit_code", ""), key.get("origin", ""))
        if group is None:
            self._show_pages(())
        if replace(self._window, after_id=0) != window:
            self._page_table.clear_marks()
            self._look(window, ())
        self.console.read_soon()

    def _look(self, window: FailureWindow, before: tuple[int, ...]) -> None:
        self._window, self._before = window, before
        self._page_table.move_cursor(index=0)
        self._show_titles()
        self.console.read_soon()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        """Another group, or another page."""
        if event.table is self._group_table:
            self._point_at_group()
        else:
            self._show_page()
        self.tell_footer()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """A group: goes to its pages. A page: opens it."""
        event.table.focus()
        self._open()

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        """Actions are about other pages now."""
        self.tell_footer()
