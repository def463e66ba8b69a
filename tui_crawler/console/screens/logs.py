"""View 5: attempts, what happened beside them and what operators asked for, in one list by time, newest last."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.timer import Timer
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable, Row
from tui_crawler.console.format import READING, plural
from tui_crawler.console.keys import only_at
from tui_crawler.console.log_book import LogBook
from tui_crawler.console.log_parts import BEGINNING
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.log_lines import (
    LOG_COLUMNS,
    NARROW_LOG_COLUMNS,
    LogLine,
    LogStanding,
    empty_words,
    histogram,
    log_lines,
    log_row,
    log_title,
    url_of,
)
from tui_crawler.console.present.needle import field_named
from tui_crawler.console.present.urls import host_of
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.log_list import LogList
from tui_crawler.console.screens.log_seeking import LogSeeking
from tui_crawler.console.screens.waiting import RowsScreen
from tui_crawler.domain.exit_code import Severity

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence


def origin_meant(name: str, known: Iterable[str], here: str, narrowed: str) -> tuple[str, str]:
    """The origin that was named, among those known; without a name that of the entry (`here`), or all (empty) where the
    log is `narrowed` already. And why it is none, in words; empty where it is one."""
    if not name:
        return ("" if narrowed else here), "" if here or narrowed else "this entry is of no origin"
    origins = tuple(known)
    near = [origin for origin in origins if name in {origin, host_of(origin)}]
    near = near or [origin for origin in origins if name in origin]
    return (near[0], "") if len(near) == 1 else ("", f"{plural(len(near), 'origin')} match {name}")


SEARCH_S = 0.15


class LogsScreen(RowsScreen):
    """One list that follows its end until one moves up."""

    WHERE = Where.logs
    HERE = frozenset({"view.logs", "origin.add"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.logs)]
    AUTO_FOCUS = "#log"

    def __init__(self) -> None:
        """Makes it with nothing read yet."""
        super().__init__()
        self._book = LogBook()
        self._needle = self._filtered = ""  # what is searched for, and the filter that was counted for
        self._hits = self._problems = 0
        self._relative = False
        self._search_timer: Timer | None = None

    def body(self) -> Iterable[Widget]:
        """The list, and the entry under the cursor."""
        self._table = CrawlTable(LOG_COLUMNS, placeholder=READING, id="log", classes="pane")
        self._list = LogList(self._table, self._book, self._row)
        self._seeking = LogSeeking(
            self._list,
            lambda book, line: self._look_at(book, keep=True, goal=line),
            lambda words: self.console.tell("no", words, "muted"),
        )
        self._info = Lines(id="log-info", classes="pane")
        self._info.can_focus = False
        self._graph = Lines(id="log-graph")
        self._graph.can_focus = False
        yield Vertical(self._graph, self._table, self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        title(self._info, "Entry")
        self._show_titles()

    # what is shown

    def wants(self) -> Wants:
        """What comes in at the end, unless the picture is held still, what one scrolls to, and what is looked for."""
        return Wants(parts=(*self._list.parts(frozen=self.frozen), *self._seeking.parts))

    def take(self, shot: Snapshot) -> None:
        """Takes what is new."""
        news, reads_on = self._book.news, self._list.reads_on
        if self._list.take(shot.parts):
            self._show()
        elif news != self._book.news:
            self._show_titles()
        if reads_on:
            self.console.read_soon()
        if self._list.fell_behind:
            self._look_at(self._book.anew(), keep=True)
        if self._seeking.take(shot.parts, shot.took_ms):
            self._show_titles()
            self.call_later(self.console.read_soon)  # once the time of the next reading is set

    def tick(self) -> None:
        """How long ago, in the rows in view; and whether it follows, which the wheel changes."""
        if self._relative and not self.frozen:
            self._list.tick()
        if self._list.following:
            self._book.news = 0
        self._show_titles()

    def thaw(self) -> None:
        """Goes on reading where it had stopped."""
        self._show_titles()
        self.console.read_soon()

    def toggle_freeze(self) -> None:
        """Stops reading, or goes on."""
        super().toggle_freeze()
        self._show_titles()

    def fit(self, size: Size) -> None:
        """Short names when narrow."""
        super().fit(size)
        self._table.set_columns(NARROW_LOG_COLUMNS if self.has_class("-narrow") else LOG_COLUMNS)
        self.call_after_refresh(self._show_graph)

    def _show(self) -> None:
        nothing = empty_words(problems=self._book.problems_only, origin=self._book.origin)
        self._table.placeholder = nothing if self._book.whole else "looking further…"
        self._filtered = self._table.needle
        self._show_graph()
        lines = self._lines()
        self._problems = sum(line.problem for line in lines)
        self._hits = sum(self._needle in line.text for line in lines) if self._needle else 0
        self._show_entry()
        self._show_titles()

    def tell_footer(self) -> None:
        """Counts anew what a filter keeps, too."""
        super().tell_footer()
        if self.is_mounted and self._filtered != self._table.needle:
            self._show()

    def _lines(self) -> Sequence[LogLine]:
        """The entries that are shown: of a filter those that it keeps."""
        lines = (self._book.line(key) for key in self._table.row_order) if self._filtered else self._book.lines
        return [line for line in lines if line is not None]

    def _show_graph(self) -> None:
        room = self._graph.scrollable_content_region.width
        self._graph.show([histogram(self._lines(), room, self.console.clock.zone)])

    def _remake(self) -> None:
        """Makes all rows anew: what is underlined or how time is shown has changed."""
        self._list.remake()
        self._show()

    def _row(self, line: LogLine) -> Row:
        clocks = self.console.clock
        return log_row(line, clocks.wall_ms(), clocks.zone, self._needle, relative=self._relative)

    def _show_entry(self) -> None:
        self._info.show(log_lines(self._line(), self.console.clock.zone))

    def _show_titles(self) -> None:
        book, rows = self._book, self._list
        standing = LogStanding(
            follows=rows.following and not self.frozen,
            looking=self._seeking.words,
            news=book.news,
            rows=self._table.row_count,
            held=len(self._table.held_rows()),
            kept=self._filtered,
            in_part=rows.in_part,
            whole=book.whole,
            level=book.level,
            problems=self._problems,
            origin=book.origin,
            needle=self._needle,
            hits=self._hits,
        )
        title(self._table, log_title(standing), "‖ frozen" if self.frozen else "")

    # what is selected

    def _line(self) -> LogLine | None:
        return self._book.line(self._table.cursor_key)

    def situation(self) -> Situation:
        """The entry under the cursor."""
        line = self._line()
        url = url_of(line) if line is not None else ""
        return Situation(
            Where.logs,
            urls=(url,) if url else (),
            newer=not self._list.following,
            filtered=bool(self._needle) or self._seeking.under_way,
        )

    def record(self, table: CrawlTable, key: Hashable) -> object | None:
        """The entry as it was read."""
        line = self._book.line(key)
        return line.source if line is not None else None

    def chosen(self) -> Mapping[str, str]:
        """From which level on, of which origin, what is searched for, and how time is told."""
        book = self._book
        level, time = book.level.name if book.problems_only else "", "ago" if self._relative else ""
        return {"level": level, "origin": book.origin, "search": self._needle, "time": time}

    def choose(self, words: Mapping[str, str]) -> None:
        """The same again."""
        self._relative = words.get("time") == "ago"
        level = Severity.__members__.get(words.get("level", ""), Severity.info)
        self._needle = words.get("search", "").strip().lower()
        self._begin(LogBook(words.get("origin", ""), level=level))

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("Logs",)

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        match action_id:
            case "nav.open":
                self._open()
            case "log.next_error" | "log.next_warning":
                self._seeking.to_level(Severity[action_id.removeprefix("log.next_")], older=True)
                self._sought()
            case "log.previous_error" | "log.previous_warning":
                self._seeking.to_level(Severity[action_id.removeprefix("log.previous_")], older=False)
                self._sought()
            case "log.next_hit" | "log.previous_hit":
                self._go_to_hit(older=action_id == "log.next_hit")
            case "log.newest":
                self._to_the_end()
            case "nav.back" if self._seeking.stop():
                self._show_titles()
                self.console.tell("no", "looking was stopped", "muted")
            case "nav.back" if self._needle:
                self._search("")
            case _:
                return self._look_otherwise(action_id, argument)
        return True

    def _look_otherwise(self, action_id: str, argument: str) -> bool:
        """Does an action that shows other entries, or these in another way."""
        match action_id:
            case "view.problems":
                self._begin(LogBook(self._book.origin, level=Severity(not self._book.problems_only)))
            case "log.level":
                self._begin(LogBook(self._book.origin, level=Severity((self._book.level + 1) % len(Severity))))
            case "log.filter":
                self.table_filter.do("filter.open", argument)
            case "log.search":
                self._open_search(argument)
            case "log.origin":
                self._narrow(argument)
            case "log.time":
                self._relative = not self._relative
                self._remake()
            case _:
                return False
        return True

    def _begin(self, book: LogBook, *, keep: bool = False) -> None:
        """Reads another log, or this one from its end or beginning; `keep`: what is shown stays until then."""
        self._seeking.stop()
        self._look_at(book, keep=keep)

    def _look_at(self, book: LogBook, *, keep: bool, goal: LogLine | None = None) -> None:
        self._book = book
        self._table.placeholder = READING
        self._list.look(book, keep=keep, goal=goal)
        if not keep:
            self._show_entry()
        self._show_titles()
        self.console.read_soon()

    def _to_the_end(self) -> None:
        if self._book.at_end:
            self._table.move_cursor(index=self._table.row_count - 1)
        else:
            self._begin(self._book.anew(), keep=True)

    def _narrow(self, name: str) -> None:
        """To the origin that was named, or that of the entry; to all when it is narrowed already."""
        line = self._line()
        here = "" if line is None else line.origin
        origin, problem = origin_meant(name, self.console.picture.origins, here, self._book.origin)
        if problem:
            self.console.tell("no", problem, "warning")
            return
        self._begin(LogBook(origin, level=self._book.level))

    def _go_to_hit(self, *, older: bool, both_ways: bool = False) -> None:
        """Goes to the next place found; `both_ways`: wherever it is."""
        if not self._needle:
            self.console.tell("no", self.key_names.said("nothing is searched for; {log.search} does"), "muted")
            return
        self._seeking.to_hit(self._needle, older=older, both_ways=both_ways)
        self._sought()

    def _sought(self) -> None:
        self._show_titles()
        self.console.read_soon()

    def _open(self) -> None:
        line = self._line()
        if line is None:
            return
        self._seeking.stop()
        url = url_of(line)
        if url:
            self.console.dispatcher.go_to_url(url)
        elif line.origin in self.console.picture.origins:
            self.console.dispatcher.go_to_origin(line.origin)
        elif line.origin:
            self.console.dispatcher.go_to_url(line.origin)
        else:
            self.console.tell("no", "this entry is about the crawl as a whole", "muted")

    # the search

    def _open_search(self, text: str) -> None:
        if text:
            self._search(text)
            return
        self.query_one(EntryLine).open("search", "/", self._needle, "part of a URL, an exit code, a message, a name")

    def _search(self, text: str) -> None:
        self._stop_timer()
        needle = text.strip().lower()
        if needle == self._needle:
            return
        self._seeking.stop()
        self._needle = needle
        self._remake()
        line = self._line()
        if needle and self._hits and (line is None or needle not in line.text):
            self._table.move_cursor(key=self._list.nearest(needle))
        self.tell_footer()

    def _stop_timer(self) -> None:
        if self._search_timer is not None:
            self._search_timer.stop()

    def on_entry_line_changed(self, event: EntryLine.Changed) -> None:
        """Searches as one types, a moment after the last key."""
        if event.purpose == "search":
            self._stop_timer()
            self._search_timer = self.set_timer(SEARCH_S, lambda: self._search(event.text))

    def on_entry_line_entered(self, event: EntryLine.Entered) -> None:
        """Keeps the search; where nothing that is held is a hit, goes to the next one."""
        if event.purpose == "search":
            self._search(event.text)
            self._table.focus()
            if field := field_named(self._needle, (column.id for column in LOG_COLUMNS)):
                words = f"{field}: is a field of {{log.filter}}, which keeps what fits; this looks for the very text"
                self.console.tell("no", self.key_names.said(words), "warning")
            elif self._needle and not self._hits:
                self._go_to_hit(older=True, both_ways=True)

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        """Takes the search back."""
        if event.purpose == "search":
            self._search("")
            self._table.focus()

    # messages

    def on_crawl_table_row_highlighted(self, _event: CrawlTable.RowHighlighted) -> None:
        """Another entry."""
        if self._list.following:
            self._book.news = 0
        self._show_entry()
        self._show_titles()
        self.tell_footer()

    def on_crawl_table_end_wanted(self, event: CrawlTable.EndWanted) -> None:
        """The first or the last entry of all, not only of those held."""
        book = self._book
        if self._list.in_part or not book.started:
            return
        if event.bottom and not book.at_end:
            self._to_the_end()
        elif not event.bottom and not book.at_first:
            self._begin(book.at(BEGINNING), keep=True)

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Opens it."""
        event.table.focus()
        self._open()
