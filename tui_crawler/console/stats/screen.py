"""View 6: how attempts ended, the busiest origins, jobs, and the ledgers: refused links, limbo, stashes, runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import events
from textual.containers import Grid, Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.dialogs.choose import ChooseScreen
from tui_crawler.console.handlers import handles
from tui_crawler.console.logs.attempts import meaning
from tui_crawler.console.operator.intent import pause_jobs, resume_jobs, set_jobs, shift_niceness, toggle_jobs
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.shared_lines import FRAME
from tui_crawler.console.pulse.chart_pane import ChartPane
from tui_crawler.console.pulse.queries import pulse_of
from tui_crawler.console.pulse.rows import Charts
from tui_crawler.console.reading.ask import Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.reading.refresh import ORIGINS
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.stats import queries
from tui_crawler.console.stats.queries import STATS_TABLES, LedgerCount, StatsTable
from tui_crawler.console.stats.rows import EXITS, ORDERS, SPANS, busiest, exits_of, top_origins
from tui_crawler.console.table.cells import rows_of
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.history.pulse import HOUR_MS, PulseOf, PulseScope
from tui_crawler.domain.records.operator_view import ActionView, LimboView
from tui_crawler.domain.records.view import RunView
from tui_crawler.text.format import clock, count, plural
from tui_crawler.text.relations.jobs import JOBS
from tui_crawler.text.relations.refused import RefusedReason
from tui_crawler.text.relations.runs import RUNS
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from tui_crawler.console.operator.intent import Intent
    from tui_crawler.domain.history.pulse import Pulse
    from tui_crawler.domain.records.operator_view import JobView
    from tui_crawler.domain.records.page_view import ExitCountView


class StatsTablePane(ReachesConsole, CrawlTable):
    """Shows one ledger; only that one is read."""

    def __init__(self) -> None:
        self.ledger = next(iter(STATS_TABLES))
        """The word of the table that is shown."""
        super().__init__(self._entry.relation, id="ledger", classes="pane")
        self._asked = 0
        self.reading = PaneReading(lambda: self.wanted, self._show)

    @property
    def _entry(self) -> StatsTable:
        return STATS_TABLES[self.ledger]

    @property
    def wanted(self) -> Ask[Any]:
        ask = self._entry.ask
        return replace(ask, about=(self._asked,)) if self._entry.counted else ask

    def turn_to(self, name: str) -> bool:
        """Shows another ledger: the one named, or the next one; what must be counted is counted anew.

        False when there is none of that name.
        """
        names = list(STATS_TABLES)
        if name and name not in names:
            return False
        self.ledger = name or names[(names.index(self.ledger) + 1) % len(names)]
        self._asked += self._entry.counted
        self.await_rows()
        self.set_relation(self._entry.relation)
        if (value := self.reading.value) is not None:
            self._show(value)
        return True

    def count_again(self) -> None:
        """Counts what must be counted: what is shown, or the stashes."""
        self.turn_to(self.ledger if self._entry.counted else "stashes")

    @property
    def url(self) -> str:
        """The URL under the cursor, empty when there is none."""
        match self.current:
            case RefusedReason(sample_url=str(url)) | LimboView(url=str(url)):
                return url
            case ActionView(target=str(url)) if "://" in url and " " not in url:
                return url
        return ""

    @property
    def runs_chosen(self) -> tuple[int, ...]:
        """The runs to be compared; none while another ledger is shown, or there is none before."""
        marked, here = sorted(key for key in self.marked if isinstance(key, int)), self.cursor_key
        if self.shows_runs and len(marked) > 1:
            return tuple(marked[-2:])
        return (here - 1, here) if self.shows_runs and isinstance(here, int) and here > 1 else ()

    def titles(self) -> tuple[str, str]:
        """What stands at the top and at the bottom of its border; raw text."""
        ledger, words = self._entry, self._entry.title
        value, keys = self.reading.value, self.console.appearance.key_names
        words += f" · {count(self.row_count)}" if self.row_count else ""
        words += f" · {ledger.span}" if ledger.span else ""
        if isinstance(value, LedgerCount):
            at = clock(value.at, self.console.clock.zone)
            words += f" · {value.words} at {at} · {keys('stats.count')} again"
        compares = f"{keys('nav.open')}: compare two · " if self.shows_runs else ""
        return words, f"{compares}{keys('stats.ledger')}: more tables ({len(STATS_TABLES) - 1})"

    @property
    def shows_runs(self) -> bool:
        return self._entry.relation is RUNS

    def _show(self, value: Any) -> None:
        run = self.console.live_state.run
        alive = run.run_id if run is not None and run.live else 0
        records = value.records if isinstance(value, LedgerCount) else value
        lines = (replace(one, live=one.run_id == alive) if isinstance(one, RunView) else one for one in records)
        self.fill(lines, present(self.console.clock))


ORDER_MS = 1_000
NICER = 10
LARGEST = 1_000_000
_CHARTS = ("pages", "latency", "failures", "states", "bytes")
"""Four are shown: of a part of the crawl, which has no states, the bytes."""
_WIDE, _TALL = 160, 50
"""From this size on there is room for charts."""
JOBS_SHOWN = 6
_OF_RUN, _OF_ORIGIN = "of-run", "of-origin"
"""Whose exit codes are shown where there is one column."""
_HINTS = {
    "nice": "a whole number; lower is sooner",
    "depth": "links away from a seed, or none",
    "concurrency": "pages in flight at most, or none; 0 pauses",
}


class StatsScreen(RowsScreen):
    """Numbers of the crawl, and what can be done with its jobs."""

    WHERE = Where.stats
    CRUMBS = ("Stats",)
    HERE = frozenset({"origin.add"})
    LIVE = (ORIGINS,)
    AUTO_FOCUS = "#jobs"
    BADGE = "#all-exits"
    _names = tuple(name for name, _ in ORDERS)

    MARKS = "#jobs"

    def __init__(self) -> None:
        super().__init__()
        self._order = ORDERS[0][0]
        self._ordered_at = -ORDER_MS
        self._origin = ""
        self._charted = False
        self._all_read = PaneReading(queries.exit_counts_of, lambda exits: self._show_exits(self._all_exits, exits))
        self._own_read = PaneReading(
            lambda: queries.exit_counts_of(self._origin) if self._origin else None,
            lambda exits: self._show_exits(self._own_exits, exits),
        )
        self._jobs_read = PaneReading(lambda: queries.JOBS_ASK, self._show_jobs)
        self._pulse = PaneReading(self._ask_pulse, self._show_charts, moves=True)

    def body(self) -> Iterable[Widget]:
        self._all_exits = CrawlTable(EXITS, id="all-exits", classes="pane")
        self._own_exits = CrawlTable(EXITS, id="own-exits", classes="pane")
        self._job_table = CrawlTable(JOBS, id="jobs", classes="pane")
        self._top = CrawlTable(busiest(self._order, ()), id="top-origins", classes="pane")
        for table in (self._all_exits, self._own_exits, self._top):
            table.holds_while_marked = True
        self._ledger = StatsTablePane()
        self.reads = (self._all_read, self._jobs_read, self._own_read, self._ledger.reading, self._pulse)
        left = Vertical(self._job_table, self._all_exits, self._own_exits, id="stats-left")
        self._chart_panes = [ChartPane(name, alone=True) for name in _CHARTS]
        self._chart_panes[-1].display = False
        charts = Grid(*self._chart_panes, id="stats-charts")
        right = Vertical(self._top, self._ledger, charts, id="stats-right")
        self._panes = Horizontal(left, right, id="stats-panes", classes=_OF_RUN)
        yield Vertical(self._panes, id="body")

    def fit(self, size: Size) -> None:
        super().fit(size)
        self._charted = size.width >= _WIDE and size.height >= _TALL
        self._panes.set_class(self._charted, "-charted")
        self.show_titles()
        if self._charted:
            self.console.read_soon()

    @property
    def _jobs(self) -> tuple[JobView, ...]:
        return self._jobs_read.value or ()

    def _ask_pulse(self) -> Ask[Pulse] | None:
        return pulse_of(self._scope(), HOUR_MS, self.console.clock.wall_ms()) if self._charted else None

    def _show_exits(self, table: CrawlTable, exits: tuple[ExitCountView, ...]) -> None:
        table.fill(exits, present(self.console.clock), relation=exits_of(exits))

    def _show_jobs(self, jobs: tuple[JobView, ...]) -> None:
        self._job_table.fill(jobs, present(self.console.clock))
        self._job_table.styles.height = min(max(len(jobs), 1), JOBS_SHOWN) + FRAME

    def _scope(self) -> PulseOf:
        """Of what the charts are: of the origin, or the job of several, under the cursor of the pane with the focus,
        else of the whole crawl."""
        key = self.focused.cursor_key if isinstance(self.focused, CrawlTable) else None
        if self.focused in (self._top, self._own_exits) and self._origin:
            return PulseOf(PulseScope.origin, self._origin)
        if self.focused is self._job_table and len(self._jobs) > 1 and key:
            return PulseOf(PulseScope.job, str(key))
        return PulseOf()

    def _show_charts(self, pulse: Pulse) -> None:
        charts = Charts(pulse, self.console.clock.wall_ms())
        shown = [one.id for one in charts.all[: len(_CHARTS) - 1]]
        for pane in self._chart_panes:
            pane.display = pane.chart_id in shown
            pane.tell(charts, None)
        self.show_header()

    def show_live(self) -> None:
        """The order of the origins, once a second and never while keys are pressed."""
        console, moment = self.console, present(self.console.clock)
        now, known = console.clock.mono_ms(), console.live_state.origins
        waits = now - self._ordered_at < ORDER_MS or console.idle_ms() < ORDER_MS
        if not console.live_state.known:
            return
        if waits and self._ordered_at >= 0:
            views = [known[str(key)] for key in self._top.row_order if key in known]
            self._top.update_rows(rows_of(busiest(self._order, views), views, moment))
            return
        self._ordered_at = now
        views = top_origins(known.values(), self._order)
        anew = self._top.sort != (self._order, True)
        self._top.fill(views, moment, relation=busiest(self._order, views), anew=anew)
        self._top.sort = (self._order, True)
        if not views:
            self._own_exits.set_rows(())
        self._point_at_origin()

    def show_titles(self) -> None:
        own = host_of(self._origin) if self._origin else self._own_exits.told("no origin")
        narrow, key = self.has_class("-narrow"), self.key_names("stats.exits")
        title(self._all_exits, "Exit codes · this run" + (f" · {key}: {own}" if narrow else ""))
        title(self._own_exits, f"Exit codes · {own} · " + (f"{key}: all origins" if narrow else "this run"))
        title(self._job_table, f"Jobs · {self._job_table.told(count(len(self._jobs)))} · pages as they are now")
        title(self._top, f"Origins by {dict(ORDERS)[self._order]} · {SPANS[self._order]}")
        words, hint = self._ledger.titles()
        title(self._ledger, *((f"{words} · {hint}",) if narrow else (words, hint)))

    def _targets(self) -> tuple[JobView, ...]:
        chosen = self._job_table.chosen
        return tuple(job for job in self._jobs if job.job in chosen)

    def situation(self) -> Situation:
        """The jobs, and the URL under the cursor of the ledger."""
        return Situation(Where.stats, jobs=self._targets(), urls=tuple(filter(None, (self._ledger.url,))))

    def orders(self, table: CrawlTable) -> tuple[str, ...]:
        return self._names if table is self._top else super().orders(table)

    def chosen(self) -> Mapping[str, str]:
        """By what the origins are ordered, and the ledger, unless it is one that takes long to count."""
        ledger = self._ledger.ledger
        first = ledger == next(iter(STATS_TABLES))
        return {
            "origins by": self._order if self._order != ORDERS[0][0] else "",
            "ledger": "" if first or STATS_TABLES[ledger].counted else ledger,
        }

    def choose(self, words: Mapping[str, str]) -> None:
        order, ledger = words.get("origins by", ""), words.get("ledger", "")
        self._order = order if order in self._names else self._order
        if ledger in STATS_TABLES and not STATS_TABLES[ledger].counted:
            self._ledger.turn_to(ledger)
        self.show_titles()

    @handles("job.later", NICER)
    @handles("job.sooner", -NICER)
    def _shift_niceness(self, now: Situation, by: int) -> None:
        self.console.command_queue.carry_out(shift_niceness(now.jobs, by))
        self.marks.used()

    def reverse_order(self) -> None:
        if self.focused is self._top:
            self._order_by(ORDERS[(self._names.index(self._order) + 1) % len(ORDERS)][0])
        else:
            super().reverse_order()

    @handles("stats.count")
    def _count_again(self) -> None:
        self._ledger.count_again()
        self.show_titles()
        self.console.read_soon()

    def open_selected(self) -> None:
        """Opens what the cursor is on, or tells what an exit code means."""
        if self.focused is self._ledger and self._ledger.shows_runs:
            self.compare("")
        elif self.focused is self._ledger:
            self.console.go_to(Where.url, self._ledger.url)
        elif self.focused is self._top and self._origin:
            self.console.go_to(Where.origin, self._origin)
        elif isinstance(self.focused, CrawlTable) and self.focused.id in {"all-exits", "own-exits"}:
            code = str(self.focused.cursor_key or "")
            self.console.tell("exit", f"{code}: {meaning(code)}")

    def compare(self, text: str) -> None:
        """Compares the runs typed; else two that are marked, or the one under the cursor with the one before it."""
        chosen = self._ledger.runs_chosen
        if text or not chosen:
            super().compare(text)
        else:
            self.console.go_to(Where.diff, chosen)

    @handles("stats.exits")
    def _show_other_exits(self) -> None:
        """The exit codes of the origin under the cursor, or of the whole run; where both are shown, goes there."""
        of_origin = self._panes.has_class(_OF_RUN)
        self._panes.set_class(not of_origin, _OF_RUN)
        self._panes.set_class(of_origin, _OF_ORIGIN)
        self.set_focus(self._own_exits if of_origin else self._all_exits)
        self.show_titles()

    def pick_order(self, argument: str) -> None:
        if self.focused is not self._top:
            super().pick_order(argument)
        elif argument in self._names:
            self._order_by(argument)
        else:
            self.app.push_screen(ChooseScreen("Origins by", ORDERS, self._order), self._order_by)

    def _order_by(self, order: object) -> None:
        if isinstance(order, str) and order in self._names:
            self._order, self._ordered_at = order, -ORDER_MS
            self.show_live()
            self._top.move_cursor(index=0)
            self.show_titles()

    @handles("stats.ledger")
    def _turn(self, name: str) -> None:
        if not self._ledger.turn_to(name):
            self.console.tell("no", f"{name}: there is no such list", "warning")
        self.call_after_refresh(self._ledger.scroll_visible, animate=False)  # of one column it is the end
        self.show_titles()
        self.console.read_soon()

    @handles("job.toggle_pause", toggle_jobs, "")
    @handles("job.pause", pause_jobs, "pause job: it is already paused")
    @handles("job.resume", resume_jobs, "resume job: it is not paused")
    def _steer(self, now: Situation, make: Callable[[Sequence[JobView]], Intent | None], why: str) -> None:
        """Carries out what is possible; else says `why` not, or that the jobs are aborted."""
        intent = make(now.jobs)
        if intent is None and (not why or all(job.aborted for job in now.jobs)):
            why = "to continue an aborted job: tui-crawler jobs unabort"
        if intent is None:
            self.console.tell("no", why, "muted")
        else:
            self.console.command_queue.carry_out(intent)
            self.marks.used()

    @handles("job.nice", "nice")
    @handles("job.depth", "depth")
    @handles("job.concurrency", "concurrency")
    def _ask_number(self, argument: str, field: str) -> None:
        """Takes the number that was typed with the word, or opens the line for it."""
        targets = self._targets()
        if argument:
            self._set(field, argument, targets)
            return
        value = getattr(targets[0], field)
        of = f"job {targets[0].job}" if len(targets) == 1 else plural(len(targets), "job")
        now = f"now {'none' if value is None else value} · " if len(targets) == 1 else ""

        def entered(text: str) -> None:
            if text.strip():
                self._set(field, text, targets)
            self._job_table.focus()

        line = self.query_one(EntryLine)
        line.open(EntryUse(field, entered), safe(f"{field} of {of}", 40), "", now + _HINTS[field])

    def _set(self, field: str, text: str, targets: tuple[JobView, ...]) -> None:
        number, word = read_number(text), text.strip().lower()
        limitless = word == "none" and field != "nice"
        if not limitless and (number is None or abs(number) > LARGEST or (number < 0 and field != "nice")):
            self.console.tell("no", f"{field} is {_HINTS[field]}, not {text}", "warning")
            return
        intent = set_jobs(targets, field, None if limitless else number)
        if intent is None:
            self.console.tell("no", f"{field} is {word} already", "muted")
        self.console.command_queue.carry_out(intent)
        self.marks.used()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        super().on_descendant_focus(event)
        self.console.read_soon()

    def on_chart_pane_pressed(self, _event: ChartPane.Pressed) -> None:
        of = self._scope()
        self.console.do(Where.pulse.goes_there)
        self.console.do("pulse.of", f"{of.scope.name} {of.name}".strip())

    def _point_at_origin(self) -> None:
        origin = str(self._top.cursor_key or "")
        if origin != self._origin:
            self._origin = origin
            self._own_read.forget()
            self._own_exits.await_rows()
            self.show_titles()
            self.console.read_soon()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        if event.table is self._top:
            self._point_at_origin()
        if self._charted:
            self.console.read_soon()

    def on_crawl_table_header_selected(self, event: CrawlTable.HeaderSelected) -> None:
        if event.table is self._top:
            self._order_by(event.column_id)


def read_number(text: str) -> int | None:
    """The whole number a person typed, None when it is none."""
    digits = text.strip()
    bare = digits.removeprefix("-")
    return int(digits) if bare.isascii() and bare.isdigit() and len(bare) <= 9 else None
