"""View 5: attempts, what happened beside them and what operators asked for, in one list by time, newest last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.geometry import Size
from textual.timer import Timer
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.handlers import handles
from tui_crawler.console.logs import rows
from tui_crawler.console.logs.queries import LogScope, levels_from
from tui_crawler.console.logs.rows import LOG, LogEntry, LogLine, url_of
from tui_crawler.console.logs.seeking import LogSeeking, entry_at
from tui_crawler.console.logs.window import LogList, LogListWindow
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.lines import FactsPane, Lines
from tui_crawler.console.reading.ask import Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.session import MOST_BOOKMARKS
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.filter_terms import field_named
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.records.exit_code import Severity
from tui_crawler.text.format import READING, plural, time_meant

if TYPE_CHECKING:
    from tui_crawler.console.logs.queries import LogPlace
    from tui_crawler.console.reading.refresh import Snapshot


def origin_meant(name: str, known: Iterable[str], here: str, narrowed: str) -> tuple[str, str]:
    """The origin that was named, among those known; without a name that of the entry (`here`), or all (empty) where the
    log is `narrowed` already. And why it is none, in words; empty where it is one."""
    if not name:
        return ("" if narrowed else here), "" if here or narrowed else "this entry has no origin"
    origins = tuple(known)
    near = [origin for origin in origins if name in {origin, host_of(origin)}]
    near = near or [origin for origin in origins if name in origin]
    return (near[0], "") if len(near) == 1 else ("", f"{plural(len(near), 'origin')} match {name}")


SEARCH_S = 0.15


class LogsScreen(RowsScreen):
    """One list that follows its end until one moves up."""

    WHERE = Where.logs
    CRUMBS = ("Logs",)
    HERE = frozenset({"view.logs", "origin.add"})
    AUTO_FOCUS = "#log"

    def __init__(self) -> None:
        super().__init__()
        self._needle = self._filtered = ""  # what is searched for, and the filter that was counted for
        self._hits = self._problems = 0
        self._relative = False
        self._search_timer: Timer | None = None
        self._wanted: Ask[tuple[LogPlace, LogLine | None]] | None = None  # a time to go to
        self._found = PaneReading(lambda: self._wanted, self._go_to_entry)

    def body(self) -> Iterable[Widget]:
        self._table = CrawlTable(LOG, placeholder=READING, id="log", classes="pane")
        self._list = LogList(self._table, LogListWindow(), self._row, self._show, self.console.read_soon)
        self._seeking = LogSeeking(
            self._list,
            lambda keyset, line: self._begin(keyset, keep=True, goal=line),
            lambda words: self.console.tell("no", words, "muted"),
            lambda: self.call_later(self.console.read_soon),  # once the time of the next reading is set
        )
        self.reads = (self._list, self._found, self._seeking)
        facts = FactsPane(
            lambda: rows.log_lines(self._line(), self.console.clock.zone), "Entry", id="log-info", still=True
        )
        self._graph = Lines(id="log-graph", still=True)
        yield Vertical(self._graph, self._table, facts, id="body")

    @property
    def _keyset(self) -> LogListWindow:
        return self._list.keyset

    def take(self, shot: Snapshot) -> None:
        if shot.anew:
            self._begin(self._keyset.restarted(), keep=True)
        else:
            super().take(shot)

    def _go_to_entry(self, found: tuple[LogPlace, LogLine | None]) -> None:
        self._wanted, (place, line) = None, found
        self._found.forget()
        if line is None:
            self.console.tell("no", "the log starts later", "muted")
        elif not self._table.move_cursor(key=line.key):
            self._begin(self._keyset.at(place), keep=True, goal=line)

    def show_live(self) -> None:
        if self._relative:
            self._list.show_live()

    def fit(self, size: Size) -> None:
        super().fit(size)
        self.call_after_refresh(self._show_graph)

    def _show(self) -> None:
        nothing = rows.empty_words(problems=self._keyset.problems_only, origin=self._keyset.scope.origin)
        self._table.placeholder = nothing if self._keyset.whole else "searching…"
        self._filtered = self._table.needle
        self._show_graph()
        lines = self._lines()
        self._problems = sum(line.problem for line in lines)
        self._hits = sum(self._needle in line.text for line in lines) if self._needle else 0
        self.show_facts()
        self.show_titles()

    def tell_footer(self) -> None:
        super().tell_footer()
        if self.is_mounted and self._filtered != self._table.needle:
            self._show()

    def _lines(self) -> Sequence[LogLine]:
        lines = (self._keyset.row(key) for key in self._table.row_order) if self._filtered else self._keyset.rows
        return [line for line in lines if line is not None]

    def _show_graph(self) -> None:
        room = self._graph.scrollable_content_region.width
        self._graph.show([rows.histogram(self._lines(), room, self.console.clock.zone)])

    def _remake(self) -> None:
        self._list.remake()
        self._show()

    def _row(self, line: LogLine) -> Row:
        entry = LogEntry(line, self._needle, self._relative, line.order in self.console.memory.bookmarks)
        return Row.of(LOG, entry, present(self.console.clock))

    def show_titles(self) -> None:
        """Whether it follows, which the wheel changes, too."""
        self._list.seen()
        counts = self._problems, self._needle, self._hits
        words = rows.log_title(self._list, self._seeking.words, self._filtered, *counts, frozen=self.frozen)
        words += f" · {plural(len(marks), 'bookmark')}" if (marks := self.console.memory.bookmarks) else ""
        title(self._table, words)

    def _line(self) -> LogLine | None:
        return self._keyset.row(self._table.cursor_key)

    def situation(self) -> Situation:
        url = url_of(line) if (line := self._line()) is not None else ""
        return Situation(Where.logs, urls=(url,) if url else (), newer=not self._list.following)

    @property
    def narrowed(self) -> bool:
        return bool(self._needle) or self._seeking.under_way

    def chosen(self) -> Mapping[str, str]:
        keyset = self._keyset
        level, time = keyset.level.name if keyset.problems_only else "", "ago" if self._relative else ""
        return {"level": level, "origin": keyset.scope.origin, "search": self._needle, "time": time}

    def choose(self, words: Mapping[str, str]) -> None:
        self._relative = words.get("time") == "ago"
        level = Severity.__members__.get(words.get("level", ""), Severity.info)
        self._needle = words.get("search", "").strip().lower()
        self._begin(LogListWindow(LogScope(words.get("origin", ""), levels_from(level))))

    @handles("log.next_error", Severity.error, True)
    @handles("log.previous_error", Severity.error, False)
    @handles("log.next_warning", Severity.warning, True)
    @handles("log.previous_warning", Severity.warning, False)
    def _go_to_level(self, level: Severity, older: bool) -> None:
        self._seeking.to_level(level, older=older)
        self._sought()

    def leave(self) -> None:
        if self._seeking.stop():
            self.show_titles()
            self.console.tell("no", "search stopped", "muted")
        elif self._needle:
            self._search("")
        else:
            super().leave()

    @handles("view.problems")
    def _show_problems(self) -> None:
        self._begin(self._keyset.restarted(Severity(not self._keyset.problems_only)))

    @handles("log.level")
    def _show_next_level(self) -> None:
        self._begin(self._keyset.restarted(Severity((self._keyset.level + 1) % len(Severity))))

    @handles("log.filter")
    def open_filter(self, text: str) -> None:
        super().open_filter(text)

    @handles("log.time")
    def _tell_time_otherwise(self) -> None:
        self._relative = not self._relative
        self._remake()

    def go_to_time(self, text: str) -> None:
        now, zone = self.console.clock.wall_ms(), self.console.clock.zone
        if (at := time_meant(text, now, zone)) is None:
            self.console.tell("no", f"goto {text}: not a time (10:21, 10:21:30, 2026-01-31 10:21, -5m)", "warning")
        else:
            self._seek(at)

    def _seek(self, at: int) -> None:
        self._wanted = entry_at(at)
        self.console.read_soon()

    @handles("log.bookmark")
    def _toggle_bookmark(self) -> None:
        if (line := self._line()) is not None:
            marks = {*self.console.memory.bookmarks} ^ {line.order}
            self.console.memory.bookmarks[:] = sorted(marks)[-MOST_BOOKMARKS:]
            self._table.update_row(self._row(line))
            self.show_titles()

    @handles("log.next_bookmark")
    def _go_to_bookmark(self) -> None:
        line, marks = self._line(), self.console.memory.bookmarks
        older = [one for one in marks if line is not None and one < line.order] or marks
        if older and not self._table.move_cursor(key=older[-1][1:]):
            self._seek(older[-1][0])
        elif not older:
            self.console.tell("no", self.key_names.said("no bookmarks ({log.bookmark} adds one)"), "muted")

    def _begin(self, keyset: LogListWindow, *, keep: bool = False, goal: LogLine | None = None) -> None:
        self._seeking.stop()
        self._list.look(keyset, keep=keep, goal=goal)
        if not keep:
            self.show_facts()
        self.show_titles()
        self.console.read_soon()

    @handles("log.newest")
    def _to_the_end(self) -> None:
        if self._keyset.at_last:
            self._table.move_cursor(index=self._table.row_count - 1)
        else:
            self._begin(self._keyset.restarted(), keep=True)

    @handles("log.origin")
    def _narrow(self, name: str) -> None:
        """To the origin that was named, or that of the entry; to all when it is narrowed already."""
        here = "" if (line := self._line()) is None else line.origin
        origin, problem = origin_meant(name, self.console.live_state.origins, here, self._keyset.scope.origin)
        if problem:
            self.console.tell("no", problem, "warning")
        else:
            self._begin(LogListWindow(replace(self._keyset.scope, origin=origin)))

    @handles("log.next_hit", True, False)
    @handles("log.previous_hit", False, False)
    def _go_to_hit(self, older: bool, both_ways: bool) -> None:
        if not self._needle:
            self.console.tell("no", self.key_names.said("no search text ({log.search} searches)"), "muted")
            return
        self._seeking.to_hit(self._needle, older=older, both_ways=both_ways)
        self._sought()

    def _sought(self) -> None:
        self.show_titles()
        self.console.read_soon()

    def open_selected(self) -> None:
        if (line := self._line()) is None:
            return
        self._seeking.stop()
        if url := url_of(line):
            self.console.go_to(Where.url, url)
        elif line.origin in self.console.live_state.origins:
            self.console.go_to(Where.origin, line.origin)
        elif line.origin:
            self.console.go_to(Where.url, line.origin)
        else:
            self.console.tell("no", "this entry has no origin", "muted")

    @handles("log.search")
    def _open_search(self, text: str) -> None:
        if text:
            self._keep_search(text)
            return
        use = EntryUse("search", self._keep_search, self._search_soon, passing=True)
        self.query_one(EntryLine).open(use, "/", self._needle, "part of a URL, an exit code, a message, a name")

    def _search(self, text: str) -> None:
        if self._search_timer is not None:
            self._search_timer.stop()
        needle = text.strip().lower()
        if needle != self._needle:
            self._seeking.stop()
            self._needle = needle
            self._remake()
        line = self._line()
        if needle and self._hits and (line is None or needle not in line.text):
            self._table.move_cursor(key=self._list.nearest(needle))
        self.tell_footer()

    def _search_soon(self, text: str) -> None:
        if self._search_timer is not None:
            self._search_timer.stop()
        self._search_timer = self.set_timer(SEARCH_S, lambda: self._search(text))

    def _keep_search(self, text: str) -> None:
        """Keeps the search; where nothing that is held is a hit, goes to the next one."""
        self._search(text)
        self._table.focus()
        if field := field_named(self._needle, (column.id for column in LOG.columns)):
            words = f"{field}: is a field of {{log.filter}}; here it is searched as text"
            self.console.tell("no", self.key_names.said(words), "warning")
        elif self._needle and not self._hits:
            self._go_to_hit(True, True)

    def on_crawl_table_end_wanted(self, _event: CrawlTable.EndWanted) -> None:
        self._seeking.stop()
