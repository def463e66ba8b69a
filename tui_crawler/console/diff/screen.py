"""Two runs compared: origins, the pages of one that differ, and one page down to its lines and links."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar, cast

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.diff import queries, rows
from tui_crawler.console.diff.queries import PageLines, Place, RunDiff
from tui_crawler.console.diff.rows import PAGES, origins_of
from tui_crawler.console.handlers import handles
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import FactsPane, Lines, LongLines
from tui_crawler.console.panes.shared_lines import FRAME
from tui_crawler.console.reading.ask import WINDOW, Ask
from tui_crawler.console.reading.reading import AnyReading, PaneReading
from tui_crawler.console.reading.window import TurnedWindow
from tui_crawler.console.screen.base import ConsoleScreen, title
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.urls.cells import host_of, origin_of, path_of
from tui_crawler.domain.history.run_diff import OriginDiff, PageChange, RunSpan
from tui_crawler.text.format import READING, count
from tui_crawler.text.run_diff import snapshot


class DiffScreen(RowsScreen):
    """The origins of two runs; below them the pages of the one under the cursor that differ."""

    WHERE = Where.diff
    AUTO_FOCUS = "#diff-origins"

    def __init__(self, runs: tuple[int, ...] = ()) -> None:
        """Two runs by their numbers, one and the newest, or the last two."""
        super().__init__()
        self._compared = PaneReading(lambda: queries.runs_compared(runs), self._show)
        self._counts = PaneReading(self._ask_counts, self._show)
        self._pages: TurnedWindow[Place, PageChange] | None = None
        self._shown: tuple[RunSpan, int] | None = None  # of which runs and origin the pages are

    def body(self) -> Iterable[Widget]:
        self._summary = FactsPane(self._sums, "Runs compared", id="diff-summary")
        self._origins = CrawlTable(origins_of(counted=False), placeholder=READING, id="diff-origins", classes="pane")
        self._table = CrawlTable(PAGES, id="diff-pages", classes="pane")
        self._origins.name_pane("Origins")
        self._table.name_pane("Pages")
        self._robots = FactsPane(self._robots_facts, "robots.txt", id="diff-robots")
        self._robots.display = False
        yield Vertical(self._summary, self._origins, Horizontal(self._table, self._robots, id="diff-lower"), id="body")

    @property
    def _diff(self) -> RunDiff | None:
        return self._counts.value or self._compared.value

    def readings(self) -> tuple[AnyReading, ...]:
        """The origins, a window of the pages of one, and once that is read both runs as a whole."""
        return (self._compared, *(() if self._pages is None else (self._pages.reading,)), self._counts)

    def _ask_counts(self) -> Ask[RunDiff] | None:
        compared = self._compared.value
        ready = compared is not None and self._pages is not None and self._pages.read
        span = compared.span if ready and compared is not None else None
        return None if span is None else queries.runs_counted(span)

    def _show(self, diff: RunDiff) -> None:
        if diff.span is not None:
            live = snapshot(diff.span, self.console.live_state.run, diff.at, self.console.clock.zone)
            title(self._summary, " · ".join(filter(None, (f"Runs {diff.span.older} and {diff.span.newer}", live))))
        self._origins.placeholder = diff.problem or "no pages in either run"
        title(self._origins, f"Origins · {count(len(diff.origins))}")
        self._origins.styles.height = max(len(diff.origins), 1) + FRAME
        self._origins.fill(
            sorted(diff.origins, key=lambda one: not (one.changed or one.new or one.gone)),
            present(self.console.clock),
            relation=origins_of(counted=diff.counted),
            cursor="pin" if self._origins.cursor_index > 0 else "first",
        )
        self._look()

    def _look(self) -> None:
        diff, origin = self._diff, self._origin()
        if diff is None or diff.span is None or origin is None:
            if diff is not None:
                self._table.set_rows(())
            return
        if self._shown != (diff.span, origin.origin_id):
            self._shown = diff.span, origin.origin_id
            window = partial(queries.changes_of, *self._shown)
            self._pages = TurnedWindow(window, queries.FIRST, lambda change: change.place, self._show_pages)
            self._table.await_rows()
            self.console.read_soon(instead=True)

    def _sums(self) -> Sequence[Line]:
        return [READING] if self._diff is None else rows.summary_lines(self._diff)

    def _robots_facts(self) -> Sequence[Line]:
        diff, origin = self._diff, self._origin()
        every = {one.origin: one.diff for one in diff.robots} if diff is not None else {}
        robots = every.get(origin.origin, ()) if origin is not None else ()
        self._robots.display = bool(robots)
        return rows.diff_lines(robots)

    def _show_pages(self, _rows: tuple[PageChange, ...]) -> None:
        pages, origin = self._pages, self._origin()
        if pages is None or origin is None:
            return
        shown = pages.rows[:WINDOW]
        self._table.fill(rows.in_order(shown), present(self.console.clock))
        title(self._table, rows.pages_title(origin.origin, pages.first, len(shown), more=pages.older))

    @handles("list.older", True)
    @handles("list.newer", False)
    def _turn(self, on: bool) -> None:
        if self._pages is not None and self._pages.turn(on=on):
            self._table.await_rows()
            self._table.move_cursor(index=0)
            self.console.read_soon(instead=True)

    def _origin(self) -> OriginDiff | None:
        return cast("OriginDiff | None", self._origins.current)

    def _change(self) -> PageChange | None:
        return cast("PageChange | None", self._table.current)

    def situation(self) -> Situation:
        change, pages = self._change() if self.focused is self._table else None, self._pages
        urls = (change.url,) if change is not None else ()
        older, newer = pages is not None and pages.older, pages is not None and pages.newer
        return Situation(Where.diff, urls=urls, older=older, newer=newer)

    def crumbs(self) -> tuple[str, ...]:
        span = self._diff.span if self._diff is not None else None
        return ("Runs compared" if span is None else f"Runs {span.older} and {span.newer}",)

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        if event.table is self._origins:
            self._look()

    def row_selected(self, event: CrawlTable.RowSelected) -> None:
        change, diff = self._change(), self._diff
        if event.table is self._origins:
            self._table.focus()
        elif change is not None and diff is not None and diff.span is not None:
            self.console.go_to(Where.page_diff, diff.span, change.url)
        else:
            self.open_when_read()


class PageDiffScreen(ConsoleScreen):
    """The lines and links of one page that differ."""

    WHERE = Where.page_diff
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open_url", "Open", show=False)]
    AUTO_FOCUS = "#diff-lines"

    def __init__(self, span: RunSpan, url: str) -> None:
        super().__init__()
        self._url = url
        self.reads = (PaneReading(lambda: queries.page_lines_of(span, url), self._show),)

    def body(self) -> Iterable[Widget]:
        self._facts = Lines(id="diff-facts", classes="pane")
        self._lines = LongLines(id="diff-lines", classes="pane")
        self._links = LongLines(id="diff-links", classes="pane")
        for pane, name in (self._facts, self._url), (self._lines, "Lines"), (self._links, "Links"):
            title(pane, name)
        self._lines.show([READING])
        yield Vertical(self._facts, Horizontal(self._lines, self._links, id="diff-both"), id="body")

    def _show(self, page: PageLines | None) -> None:
        if page is not None:
            self._facts.show(rows.page_facts(page.page))
            self._lines.show(rows.body_lines(page))
            self._links.show(rows.link_lines(page.page))

    def situation(self) -> Situation:
        return Situation(Where.page_diff, urls=(self._url,))

    def crumbs(self) -> tuple[str, ...]:
        origin = origin_of(self._url)
        return (*self.place.came_from, f"{host_of(origin)}{path_of(self._url, origin)}")

    def open_selected(self) -> None:
        self.console.go_to(Where.url, self._url)

    action_open_url = open_selected
