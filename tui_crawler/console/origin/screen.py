"""One origin: what it does and why, its todo list in the order of its turns, and every attempt as it comes in; and its
robots.txt: the text with the group in force, the line that decides on a URL, and the contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual.containers import Grid, Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.handlers import handles
from tui_crawler.console.logs.attempts import ATTEMPTS
from tui_crawler.console.logs.queries import LogScope
from tui_crawler.console.logs.rows import url_of
from tui_crawler.console.logs.window import LogList, LogListWindow
from tui_crawler.console.origin import queries, rows
from tui_crawler.console.origin.queries import RobotsSheet
from tui_crawler.console.origin.rows import EXITS, TODO, TodoLine, exits_of
from tui_crawler.console.overview.events import go_to_problem
from tui_crawler.console.overview.queries import OriginSummary, summary_of
from tui_crawler.console.overview.rows import ended_with, line_of, opened_by
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.lines import FactsPane, Lines, LongLines, lay_out_line
from tui_crawler.console.reading.ask import WINDOW, Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.reading.refresh import ORIGINS
from tui_crawler.console.screen.base import ConsoleScreen, title
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.table.cells import Piece, Row, rows_of
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.timeline.lanes import LanePane, LaneScreen
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.records.exit_code import Severity
from tui_crawler.domain.records.status import RobotsStatus
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import READING, count

if TYPE_CHECKING:
    from tui_crawler.console.logs.rows import LogLine
    from tui_crawler.console.panes.line import Line
    from tui_crawler.domain.records.page_view import TodoView
    from tui_crawler.domain.records.view import AttemptView, OriginView
    from tui_crawler.domain.rules.robots import RobotsDecision


TALL = 36
"""The least height of a wide screen that shows the lane; on others it has its own screen."""
SMALL = 60
"""Cells below which panes are one below the other, and are scrolled to."""
_WIDE_ORDER, _NARROW_ORDER = (
    ("state", "todo", "lane", "attempts", "exits"),
    ("todo", "exits", "state", "lane", "attempts"),
)
"""The panes in the order in which the style sheet places them."""


class OriginScreen(LaneScreen, RowsScreen):
    """Everything about one origin: its state and exit codes at the left, todo list, politeness and attempts at the
    right; on a narrow screen todo list, exit codes and why over the attempts."""

    WHERE = Where.origin
    HERE = frozenset({"origin.move"})
    LIVE = (ORIGINS,)
    AUTO_FOCUS = "#attempts"

    def __init__(self, origin: str, pane: str = "") -> None:
        """`origin` is raw text as stored; `pane` is the id of the one that has the focus first."""
        super().__init__(origin)
        if pane:
            self.AUTO_FOCUS = f"#{pane}"  # type: ignore[misc]  # of this one alone
        self._contract = PaneReading(lambda: queries.contract_of(origin))
        self._given = PaneReading(lambda: queries.top_ups_of(origin))
        self._history = PaneReading(lambda: queries.history_of(origin))
        self._todo_read = PaneReading(lambda: queries.todo_of(origin, WINDOW), self._show_todo)
        self._summary = PaneReading(lambda: replace(summary_of(origin), by_time=True), self._show_exits)

    def body(self) -> Iterable[Widget]:
        self._why = FactsPane(self._state, id="state")
        self._todo = CrawlTable(TODO, holds_still=True, id="todo", classes="pane")
        self._exits = CrawlTable(EXITS, id="exits", classes="pane")
        self._exits.name_pane("Attempts by exit")
        self._attempts = CrawlTable(ATTEMPTS, holds_still=True, id="attempts", classes="pane")
        keyset = LogListWindow(LogScope(self._origin, attempts_only=True))
        self._list = LogList(self._attempts, keyset, self._attempt_row, read_soon=self.console.read_soon)
        self._list.newest_on_top = True
        self.lane = LanePane(self._origin, alone=True, id="lane", classes="pane")
        told = (self._contract, self._given, self._history, self._todo_read, self._summary)
        self.reads = (*told, self.lane_read, self._list)
        self._panes = Grid(self._why, self._todo, self.lane, self._attempts, self._exits, id="origin-panes")
        self._panes.update_classes(self._pane_classes(self.app.size), update=False)
        yield Vertical(FactsPane(self._head, id="why-here", classes="", still=True), self._panes, id="body")

    def _pane_classes(self, size: Size) -> dict[str, bool]:
        return {"-tall": size.height >= TALL and not self.has_class("-narrow"), "-small": size.width < SMALL}

    @property
    def lane_width(self) -> int:
        return self.lane.size.width

    def show_live(self) -> None:
        seen = frozenset(self._todo.visible_keys)
        lines = self._todo_lines(one for one in enumerate(self._todo_read.value or (), 1) if one[1].url in seen)
        self._todo.update_rows(rows_of(TODO, lines, present(self.console.clock)))

    def fit(self, size: Size) -> None:
        super().fit(size)
        narrow = self.has_class("-narrow")
        self._panes.update_classes(self._pane_classes(size), animate=False)
        order = _NARROW_ORDER if narrow else _WIDE_ORDER
        if [pane.id for pane in self._panes.children] != [*order]:
            self._panes.sort_children(key=lambda pane: order.index(str(pane.id)))
        self.console.read_soon()

    def show_politeness(self, now: Situation) -> None:
        """Goes to the lane; from there to a screen of its own, where spans are longer and shorter."""
        if self.focused is self.lane or not self.lane.display:
            super().show_politeness(now)
        else:
            self.lane.focus()

    def action_open_lane(self) -> None:
        self.console.go_to(Where.timeline, self._origin)

    def _show_todo(self, todo: tuple[TodoView, ...]) -> None:
        self._todo.fill(self._todo_lines(enumerate(todo, 1)), present(self.console.clock))

    def _show_exits(self, found: OriginSummary) -> None:
        self._exits.fill(found.exits, present(self.console.clock), relation=exits_of(found.exits))

    def _attempt_row(self, line: LogLine) -> Row:
        return Row.of(ATTEMPTS, cast("AttemptView", line.source), present(self.console.clock))

    def _todo_lines(self, items: Iterable[tuple[int, TodoView]]) -> Iterator[TodoLine]:
        outlook_of, view = self.console.command_queue.outlook_on_list, self._view()
        return (TodoLine(number, item, self._origin, outlook_of(item, view)) for number, item in items)

    def _head(self) -> Sequence[Line]:
        console, view = self.console, self._view()
        head = rows.narrow_head if self.has_class("-narrow") else rows.head_line
        at = present(console.clock)
        return [] if view is None else [head(line_of(view, console.live_state), self._contract.value, at)]

    def _state(self) -> Sequence[Line]:
        console, view, history = self.console, self._view(), self._history.value
        if view is None:
            return rows.unknown_lines(self._origin) if self.has_read else []
        if history is None:
            return []
        suspicion = self._summary.value.suspicion if self._summary.value else None
        past = rows.OriginContext(history, self._given.value or (), self._contract.value, suspicion)
        lines = rows.why_lines if self.has_class("-narrow") else rows.state_lines
        return lines(line_of(view, console.live_state), past, present(console.clock), self.key_names)

    def show_titles(self) -> None:
        """Whether the attempts follow, which the wheel changes, too."""
        self._list.seen()
        title(self._why, "Why" if self.has_class("-narrow") else "State")
        view = self._view()
        shown = len(self._todo.held_rows())
        todo = "Todo"
        if view is not None and view.todo:
            whole = shown >= view.todo or self._todo.awaited
            todo += f" · {count(view.todo)}" if whole else f" · first {shown} of {count(view.todo)}"
        title(self._todo, todo)
        keyset, parts = self._list.keyset, ["Attempts"]
        if keyset.problems_only:
            parts.append("problems only")
        if keyset.news and not self._list.following:
            parts.append(f"{count(keyset.news)} new")
        if self._list.in_part:
            parts.append(f"only the {count(len(self._attempts.held_rows()))} rows loaded")
        title(self._attempts, " · ".join(parts))

    def _view(self) -> OriginView | None:
        return self.console.live_state.origins.get(self._origin)

    def situation(self) -> Situation:
        """This origin, and the URL under the cursor."""
        view = self._view()
        origins, failed = ((view,), view.failed) if view is not None else ((), 0)
        urls, failures = tuple(filter(None, (self._url(),))), (("origin", self._origin),)
        return Situation(Where.origin, origins=origins, urls=urls, failed=failed, failures=failures)

    def crumbs(self) -> tuple[str, ...]:
        return (Where.overview.value, host_of(self._origin))

    def _url(self) -> str:
        if self.focused is self._todo:
            return str(self._todo.cursor_key or "")
        line = self._list.keyset.row(self._attempts.cursor_key)
        return url_of(line) if line is not None else ""

    def on_lines_opened(self, event: Lines.Opened) -> None:
        """Opens what the state counts."""
        if event.goal == "todo":
            self._todo.focus()
        else:
            self.console.go_to(*opened_by(str(event.goal), self._origin, self.console.live_state.origins))

    @handles("view.problems")
    def _show_problems(self) -> None:
        self._list.look(self._list.keyset.restarted(Severity(not self._list.keyset.problems_only)))
        self.show_titles()
        self.console.read_soon()

    @handles("log.next_error", True)
    @handles("log.previous_error", False)
    def _go_to_problem(self, older: bool) -> None:
        problems = {line.key for line in self._list.keyset.rows if line.problem}
        if not go_to_problem(self._attempts, problems, older=older):
            self.console.tell("no", "no further problem in this list", "muted")

    def open_selected(self) -> None:
        """Opens the URL under the cursor, or the pages whose last attempt ended with an exit code."""
        if self.focused is self.lane:
            self.action_open_lane()
        elif self.focused is self._exits:
            if code := str(self._exits.cursor_key or ""):
                self.console.go_to(*ended_with(code, self._origin, self.console.live_state.origins))
        else:
            self.console.go_to(Where.url, self._url())


class RobotsLines(LongLines):
    """The lines of one robots.txt, with the line that decides."""

    def __init__(self) -> None:
        super().__init__(id="robots-text", classes="pane")
        self._sheet: RobotsSheet | None = None
        self._decided: int | None = None
        self._obeyed = True

    def show_sheet(self, sheet: RobotsSheet | None, decided: int | None, empty: str, *, obeyed: bool) -> None:
        """Shows a file, or the words `empty`; `decided` is the number of the line that decides, and comes into view.

        `obeyed` False: it is kept from before, and none of its lines is in force.
        """
        if sheet is self._sheet and (decided, obeyed) == (self._decided, self._obeyed) and sheet is not None:
            return
        fresh = sheet is not self._sheet
        self._sheet, self._decided, self._obeyed = sheet, decided, obeyed
        number = len(sheet.lines) if sheet is not None else 0
        self._source = tuple([""] * number) if number else (Styled(empty, "muted"),)
        self._width = -1
        self._measure()
        if sheet is not None and (decided or fresh):
            first = decided or min(sheet.in_force, default=1)
            self.call_after_refresh(lambda: self.scroll_to(y=max(0, first - 1 - self.size.height // 3), animate=False))
        self.refresh()

    def _row(self, index: int) -> list[Piece]:
        if self._sheet is None:
            return super()._row(index)
        line = rows.text_line(self._sheet, index + 1, self._decided, obeyed=self._obeyed)
        return next(iter(lay_out_line(line, self._width)), [])


class RobotsScreen(ConsoleScreen):
    """One robots.txt, and what it means for one URL."""

    WHERE = Where.robots
    HERE = frozenset({"nav.open", "origin.add", "filter.open", "sort.pick", "copy.pick", "view.export", "table.pivot"})
    LIVE = (ORIGINS,)
    AUTO_FOCUS = "#robots-text"

    def __init__(self, origin: str, url: str = "") -> None:
        """`origin` is raw text as stored; `url` is the one that is judged, empty for none."""
        super().__init__()
        self._origin, self._url = origin, url
        self._contract = PaneReading(lambda: queries.contract_of(self._origin))
        self._file = PaneReading(self._ask_file, lambda _: self._judge())
        self.reads = (self._contract, self._file)
        self._fetched_at: int | None = None
        self._decision: RobotsDecision | None = None

    def body(self) -> Iterable[Widget]:
        self._text = RobotsLines()
        title(self._text, f"{host_of(self._origin)}/robots.txt")
        facts = FactsPane(self._facts, "What it means", id="robots-facts")
        yield Vertical(Horizontal(self._text, facts, id="robots-panes"), id="body")

    def _ask_file(self) -> Ask[RobotsSheet | None] | None:
        view = self._view()
        if view is not None and not self.frozen:
            self._fetched_at = view.robots_fetched_at
        return None if self._fetched_at is None else queries.robots_file(self._origin, self._fetched_at)

    def _judge(self) -> None:
        sheet = self._file.latest
        self._decision = rows.decide(sheet, self._url) if sheet is not None and self._url else None

    def show_live(self) -> None:
        view, sheet = self._view(), self._file.latest
        if view is None:
            unknown = f"{host_of(self._origin)} is not an origin of this crawl." if self.has_read else ""
            self._text.show_sheet(None, None, unknown, obeyed=False)
            return
        in_force = view.robots_status == RobotsStatus.parsed
        decided = self._decision.line_number if self._decision is not None and in_force else None
        held = sheet is not None and in_force
        nothing = "robots.txt is not stored" if in_force else rows.robots_words(view)
        empty = "The file is empty." if held else nothing if self._file.read else READING
        self._text.show_sheet(sheet if sheet is not None and sheet.size else None, decided, empty, obeyed=in_force)

    def _facts(self) -> Sequence[Line]:
        view, contract, at = self._view(), self._contract.value, present(self.console.clock)
        if view is None:
            return []
        lines = rows.robots_lines(view, self._file.latest, self._url, self._decision, at, self.key_names)
        lines += ["", rows.clock_line(view, at.now, contract)]
        if contract is not None:
            lines += ["", *rows.contract_lines(contract, view, at, self.key_names)]
        return lines

    def _view(self) -> OriginView | None:
        return self.console.live_state.origins.get(self._origin)

    def situation(self) -> Situation:
        """This origin, and the URL that is judged."""
        view = self._view()
        origins = (view,) if view is not None else ()
        return Situation(Where.robots, origins=origins, urls=(self._url,) if self._url else ())

    def crumbs(self) -> tuple[str, ...]:
        host = host_of(self._origin)
        named = any(f"{crumb}/".startswith((f"{host}/", f"{self._origin}/")) for crumb in self.place.came_from)
        return (*self.place.came_from, *(() if named else (host,)), "robots.txt")

    @handles("robots.test")
    def _open_test(self, text: str) -> None:
        if not text:
            use = EntryUse("robots-url", self._tried)
            self.query_one(EntryLine).open(use, "URL or path", "", "/path?query, or the whole URL")
        elif url := rows.wanted_url(self._origin, text.strip()):
            self._url = url
            self._judge()
            self.show_live()
            self.show_facts()
        else:
            self.console.tell("no", f"{text} is no URL of {host_of(self._origin)}", "warning")

    def _tried(self, text: str) -> None:
        self.focus_main()
        if text.strip():
            self._open_test(text)
