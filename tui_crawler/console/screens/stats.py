"""View 6: how attempts ended, the busiest origins, jobs, and the ledgers: refused links, limbo, stashes, runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable, Row
from tui_crawler.console.format import READING, clock, count, plural
from tui_crawler.console.intent import pause_jobs, resume_jobs, set_jobs, shift_niceness, toggle_jobs
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.present.exits import meaning
from tui_crawler.console.present.stat_rows import (
    EXIT_COLUMNS,
    JOB_COLUMNS,
    LEDGER_COLUMNS,
    LEDGERS,
    NOTHING,
    ORDERS,
    ORIGIN_COLUMNS,
    SPANS,
    RefusedReason,
    action_row,
    exit_rows,
    job_row,
    limbo_row,
    origin_rows,
    refused_row,
    run_row,
    session_row,
    stash_row,
    top_origins,
    validation_row,
    worker_loads,
    worker_row,
)
from tui_crawler.console.present.urls import host_of
from tui_crawler.console.refresh import Part, Snapshot, Wants
from tui_crawler.console.safe_text import safe
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.choose import ChooseScreen
from tui_crawler.console.screens.waiting import RowsScreen
from tui_crawler.console.stat_parts import (
    Actions,
    ExitCounts,
    Jobs,
    Limbo,
    Refusals,
    Runs,
    Sessions,
    StashCount,
    Stashes,
    ValidationCount,
    Validations,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.intent import Intent
    from tui_crawler.console.ports import SessionView
    from tui_crawler.domain.desk_view import ActionView, JobView, LimboView
    from tui_crawler.domain.page_view import ExitCountView
    from tui_crawler.domain.view import RunView


COUNTED = frozenset({"stashes", "validation"})
"""Ledgers that are counted only when one asks: it takes a while."""


class LedgerPane(CrawlTable):
    """Shows one ledger; only that one is read."""

    def __init__(self) -> None:
        """Begins with the first ledger, not read yet."""
        super().__init__(LEDGER_COLUMNS[LEDGERS[0][0]], placeholder=READING, id="ledger", classes="pane")
        self._at = 0
        self._asked = 0
        self._value: object = None

    @property
    def name_shown(self) -> str:
        """The ledger that is shown, by its word."""
        return LEDGERS[self._at][0]

    @property
    def part(self) -> Part | None:
        """What is to be read for it; None: workers are told by the origins."""
        match self.name_shown:
            case "refused":
                return Refusals()
            case "limbo":
                return Limbo()
            case "stashes":
                return Stashes(self._asked)
            case "validation":
                return Validations(self._asked)
            case "runs":
                return Runs()
            case "sessions":
                return Sessions()
            case "actions":
                return Actions()
            case _:
                return None

    def take(self, parts: Mapping[Part, object]) -> None:
        """Shows its part when it was read anew."""
        part = self.part
        value = parts.get(part) if part is not None else None
        if part is None or (value is not None and value is not self._value):
            self._value = value
            self._show()

    def turn_to(self, name: str) -> bool:
        """Shows another ledger: the one named, or the next one; what must be counted is counted anew.

        False when there is none of that name.
        """
        names = [key for key, _ in LEDGERS]
        if name and name not in names:
            return False
        self._at = names.index(name) if name else (self._at + 1) % len(names)
        self._asked += self.name_shown in COUNTED
        self._value = None
        self.placeholder = READING
        self.set_rows([])
        self.set_columns(LEDGER_COLUMNS[self.name_shown])
        if self.part is None:
            self._show()
        return True

    def count_again(self) -> None:
        """Counts what must be counted: what is shown, or the stashes."""
        self.turn_to(self.name_shown if self.name_shown in COUNTED else "stashes")

    def record(self, key: object) -> object | None:
        """An entry as it was read, None when the ledger has no such entries."""
        names = {"runs": "run_id", "sessions": "session_id", "actions": "action_id"}
        name = names.get(self.name_shown)
        entries = cast("Sequence[object]", self._value or ()) if name is not None else ()
        return next((one for one in entries if getattr(one, str(name), None) == key), None)

    @property
    def url(self) -> str:
        """The URL under the cursor, empty when there is none."""
        key = self.cursor_key
        match self.name_shown:
            case "refused":
                reasons = cast("Sequence[RefusedReason]", self._value or ())
                return next((one.sample_url for one in reasons if one.reason == key), "")
            case "limbo" if isinstance(key, tuple):
                return str(key[1])
            case "actions":
                target = getattr(self.record(key), "target", "")
                return target if "://" in target and " " not in target else ""
            case _:
                return ""

    def titles(self, run: RunView | None) -> tuple[str, str]:
        """What stands at the top and at the bottom of its border; raw text."""
        name, words = LEDGERS[self._at]
        value, keys = self._value, self._crawler.appearance.key_names
        if self.row_count:
            words += f" · {count(self.row_count)}"
        if name in SPANS:
            words += f" · {SPANS[name]}"
        if isinstance(value, StashCount | ValidationCount):
            what = "counted"
            if isinstance(value, ValidationCount) and not value.totals.whole:
                what = f"first {count(value.totals.pages)} pages"
            if isinstance(value, ValidationCount) and value.totals.waiting:
                what = f"{count(value.totals.waiting)} waiting · {what}"
            words += f" · {what} at {clock(value.at, self._crawler.clock.zone)} · {keys('stats.count')} again"
        if name == "workers" and run is not None:
            words += f" · run {run.run_id}, {run.owner}" if run.live else " · none is at work"
        return words, f"{keys('stats.ledger')}: more tables ({len(LEDGERS) - 1})"

    @property
    def _crawler(self) -> CrawlerApp:
        return cast("CrawlerApp", self.app)

    def _show(self) -> None:
        self.placeholder = NOTHING[self.name_shown]
        self.set_rows(self._rows_of(self._value))

    def _rows_of(self, value: object) -> list[Row]:
        console = self._crawler
        match self.name_shown:
            case "refused":
                return [refused_row(one) for one in cast("Sequence[RefusedReason]", value)]
            case "limbo":
                return [limbo_row(one) for one in cast("Sequence[LimboView]", value)]
            case "stashes":
                return [stash_row(one) for one in cast("StashCount", value).stashes]
            case "validation":
                return [validation_row(*one) for one in cast("ValidationCount", value).totals.sums]
            case "runs":
                run, now, zone = console.picture.run, console.clock.wall_ms(), console.clock.zone
                alive = run.run_id if run is not None and run.live else 0
                entries = cast("Sequence[RunView]", value)
                return [run_row(one, now, zone, live=one.run_id == alive) for one in entries]
            case "sessions":
                now, zone = console.clock.wall_ms(), console.clock.zone
                return [session_row(one, now, zone) for one in cast("Sequence[SessionView]", value)]
            case "actions":
                zone = console.clock.zone
                return [action_row(one, zone) for one in cast("Sequence[ActionView]", value)]
            case _:
                return [worker_row(load) for load in worker_loads(console.picture.origins.values())]


ORDER_MS = 1_000
NICER = 10
LARGEST = 1_000_000
JOBS_SHOWN = 6
FRAME = 3
"""Lines of a table pane that are not rows: its border and its header."""
_OF_RUN, _OF_ORIGIN = "of-run", "of-origin"
"""Whose exit codes are shown where there is one column."""
_FIELDS = {"job.nice": "nice", "job.depth": "depth", "job.concurrency": "concurrency"}
_HINTS = {
    "nice": "a whole number; lower is sooner",
    "depth": "links away from a seed, or none",
    "concurrency": "pages in flight at most, or none; 0 pauses",
}


class StatsScreen(RowsScreen):
    """Numbers of the crawl, and what can be done with its jobs."""

    WHERE = Where.stats
    HERE = frozenset({"origin.add"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.stats)]
    AUTO_FOCUS = "#jobs"
    _names = tuple(name for name, _ in ORDERS)

    MARKS = "#jobs"

    def __init__(self) -> None:
        """Makes it with nothing read yet."""
        super().__init__()
        self._order = ORDERS[0][0]
        self._ordered_at = -ORDER_MS
        self._origin = ""
        self._jobs: tuple[JobView, ...] = ()
        self._shown: dict[str, object] = {}
        self._held: Snapshot | None = None
        self._targets_of_prompt: tuple[JobView, ...] = ()

    def body(self) -> Iterable[Widget]:
        """Jobs and exit codes at the left; origins and a ledger at the right."""
        self._all_exits = CrawlTable(EXIT_COLUMNS, placeholder="no attempts yet", id="all-exits", classes="pane")
        self._own_exits = CrawlTable(EXIT_COLUMNS, placeholder="no attempts yet", id="own-exits", classes="pane")
        self._job_table = CrawlTable(JOB_COLUMNS, placeholder="no job yet", id="jobs", classes="pane")
        self._top = CrawlTable(ORIGIN_COLUMNS, placeholder="nothing to order yet", id="top-origins", classes="pane")
        for table in (self._all_exits, self._own_exits, self._top):
            table.stands_while_marked = True
        self._ledger = LedgerPane()
        left = Vertical(self._job_table, self._all_exits, self._own_exits, id="stats-left")
        right = Vertical(self._top, self._ledger, id="stats-right")
        self._panes = Horizontal(left, right, id="stats-panes", classes=_OF_RUN)
        yield Vertical(self._panes, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        self._show_titles()

    def fit(self, size: Size) -> None:
        """Where there is one column the titles say more."""
        super().fit(size)
        self._show_titles()

    # what is shown

    def wants(self) -> Wants:
        """Kept counters, jobs, and the ledger that is shown."""
        parts: list[Part] = [ExitCounts(), Jobs()]
        if self._origin:
            parts.append(ExitCounts(self._origin))
        if self._ledger.part is not None:
            parts.append(self._ledger.part)
        return Wants(origins=True, parts=tuple(parts))

    def take(self, shot: Snapshot) -> None:
        """Takes the parts that changed."""
        if self.frozen:
            self.missed += 1
            self._held = shot
            self._show_titles()
            return
        parts = shot.parts
        if self._is_new("exits", parts.get(ExitCounts())):
            self._all_exits.set_rows(exit_rows(cast("Sequence[ExitCountView]", parts[ExitCounts()])))
        own = ExitCounts(self._origin)
        if self._origin and self._is_new("own", parts.get(own)):
            self._own_exits.set_rows(exit_rows(cast("Sequence[ExitCountView]", parts[own])))
        if self._is_new("jobs", parts.get(Jobs())):
            self._show_jobs(cast("tuple[JobView, ...]", parts[Jobs()]))
        self._ledger.take(parts)
        self._order_origins()
        self._show_titles()

    def tick(self) -> None:
        """The order of the origins, once a second and never while keys are pressed."""
        if not self.frozen:
            self._order_origins()

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        if self._held is not None:
            held, self._held = self._held, None
            self.take(held)
        self._show_titles()

    def _is_new(self, name: str, value: object) -> bool:
        """Whether a part was read anew since it was shown; notes that it is shown."""
        if value is None or self._shown.get(name) is value:
            return False
        self._shown[name] = value
        return True

    def _show_jobs(self, jobs: tuple[JobView, ...]) -> None:
        self._jobs = jobs
        self._job_table.set_rows([job_row(job) for job in jobs])
        self._job_table.styles.height = min(max(len(jobs), 1), JOBS_SHOWN) + FRAME

    def _order_origins(self) -> None:
        console = self.console
        now = console.clock.mono_ms()
        waits = now - self._ordered_at < ORDER_MS or console.idle_ms() < ORDER_MS
        if waits and self._ordered_at >= 0:
            return
        self._ordered_at = now if console.picture.known else -ORDER_MS
        views = top_origins(console.picture.origins.values(), self._order)
        self._top.set_rows(origin_rows(views, self._order), anew=self._top.sort != (self._order, True))
        self._top.sort = (self._order, True)
        self._point_at_origin()

    def _show_titles(self) -> None:
        frozen = f"‖ frozen · {self.missed} changes" if self.frozen else ""
        own = host_of(self._origin) if self._origin else "no origin"
        narrow, key = self.has_class("-narrow"), self.key_names("stats.exits")
        title(self._all_exits, "Exit codes · this run" + (f" · {key}: {own}" if narrow else ""), frozen)
        title(self._own_exits, f"Exit codes · {own} · " + (f"{key}: all origins" if narrow else "this run"))
        title(self._job_table, f"Jobs · {count(len(self._jobs))} · pages as they stand")
        title(self._top, f"Origins by {dict(ORDERS)[self._order]} · {SPANS[self._order]}")
        words, hint = self._ledger.titles(self.console.picture.run)
        title(self._ledger, *((f"{words} · {hint}",) if narrow else (words, hint)))

    # what is selected

    def _targets(self) -> tuple[JobView, ...]:
        """The marked jobs, or the selected one."""
        marked = tuple(job for job in self._jobs if job.job in self._job_table.marked)
        key = self._job_table.cursor_key
        return marked or tuple(job for job in self._jobs if job.job == key)

    def situation(self) -> Situation:
        """The jobs, and the URL under the cursor of the ledger."""
        url = self._ledger.url
        return Situation(Where.stats, jobs=self._targets(), urls=(url,) if url else ())

    def record(self, table: CrawlTable, key: Hashable) -> object | None:
        """The job or origin as it was read."""
        if table is self._job_table:
            return next((job for job in self._jobs if job.job == key), None)
        if table is self._ledger:
            return self._ledger.record(key)
        return self.console.picture.origins.get(str(key)) if table is self._top else None

    def orders(self, table: CrawlTable) -> tuple[str, ...]:
        """The busiest origins by a few numbers."""
        return self._names if table is self._top else super().orders(table)

    def chosen(self) -> Mapping[str, str]:
        """By what the origins are ordered, and the ledger, unless it is one that takes long to count."""
        ledger = self._ledger.name_shown
        return {
            "origins by": self._order if self._order != ORDERS[0][0] else "",
            "ledger": "" if ledger in (LEDGERS[0][0], *COUNTED) else ledger,
        }

    def choose(self, words: Mapping[str, str]) -> None:
        """The same again."""
        order, ledger = words.get("origins by", ""), words.get("ledger", "")
        self._order = order if order in self._names else self._order
        if ledger and ledger not in COUNTED:
            self._ledger.turn_to(ledger)
        self._show_titles()

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("Stats",)

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        wishes = self.console.wishes
        match action_id:
            case "nav.open":
                self._open()
            case "job.toggle_pause":
                self._steer(toggle_jobs(self._targets()), "")
            case "job.pause":
                self._steer(pause_jobs(self._targets()), "pause job: it is paused already")
            case "job.resume":
                self._steer(resume_jobs(self._targets()), "resume job: it is not paused")
            case "job.later" | "job.sooner":
                wishes.carry_out(shift_niceness(self._targets(), NICER if action_id == "job.later" else -NICER))
                self.marks.used()
            case "job.nice" | "job.depth" | "job.concurrency":
                self._ask_number(action_id, argument)
            case "stats.exits":
                self._show_other_exits()
            case "stats.ledger" | "stats.count":
                self._turn(action_id, argument)
            case "sort.pick" if self.focused is self._top:
                self._pick_order(argument)
            case "sort.reverse" if self.focused is self._top:
                self._order_by(ORDERS[(self._names.index(self._order) + 1) % len(ORDERS)][0])
            case _:
                return False
        return True

    def _open(self) -> None:
        if self.focused is self._ledger:
            self.console.dispatcher.go_to_url(self._ledger.url)
        elif self.focused is self._top and self._origin:
            self.console.dispatcher.go_to_origin(self._origin)
        elif isinstance(self.focused, CrawlTable) and self.focused.id in {"all-exits", "own-exits"}:
            code = str(self.focused.cursor_key or "")
            self.console.tell("exit", f"{code}: {meaning(code)}")

    def _show_other_exits(self) -> None:
        """The exit codes of the origin under the cursor, or of the whole run; where both are shown, goes there."""
        of_origin = self._panes.has_class(_OF_RUN)
        self._panes.set_class(not of_origin, _OF_RUN)
        self._panes.set_class(of_origin, _OF_ORIGIN)
        self.set_focus(self._own_exits if of_origin else self._all_exits)
        self._show_titles()

    def _pick_order(self, argument: str) -> None:
        """The origins are the first by one of a few numbers, so that only these can be chosen."""
        if argument in self._names:
            self._order_by(argument)
        else:
            self.console.push_screen(ChooseScreen("Origins by", ORDERS, self._order), self._order_by)

    def _order_by(self, order: object) -> None:
        if isinstance(order, str) and order in self._names:
            self._order, self._ordered_at = order, -ORDER_MS
            self._order_origins()
            self._top.move_cursor(index=0)
            self._show_titles()

    def _turn(self, action_id: str, argument: str) -> None:
        """Shows another ledger, or counts what must be counted."""
        if action_id == "stats.count":
            self._ledger.count_again()
        elif not self._ledger.turn_to(argument):
            self.console.tell("no", f"{argument}: there is no such list", "warning")
        self._show_titles()
        self.console.read_soon()

    def _steer(self, intent: Intent | None, why: str) -> None:
        """Carries out what is possible; else says `why` not, or that the jobs are aborted."""
        if intent is None and (not why or all(job.aborted for job in self._targets())):
            why = "an aborted job is taken up with: tui-crawler jobs unabort"
        if intent is None:
            self.console.tell("no", why, "muted")
        else:
            self.console.wishes.carry_out(intent)
            self.marks.used()

    def _ask_number(self, action_id: str, argument: str) -> None:
        """Takes the number that was typed with the word, or opens the line for it."""
        field, targets = _FIELDS[action_id], self._targets()
        if argument:
            self._set(field, argument, targets)
            return
        value = {"nice": targets[0].nice, "depth": targets[0].depth, "concurrency": targets[0].concurrency}[field]
        of = f"job {targets[0].job}" if len(targets) == 1 else plural(len(targets), "job")
        self._targets_of_prompt = targets
        label = safe(f"{field} of {of}", 40)
        present = f"now {'none' if value is None else value} · " if len(targets) == 1 else ""
        self.query_one(EntryLine).open(action_id, label, "", present + _HINTS[field])

    def _set(self, field: str, text: str, targets: tuple[JobView, ...]) -> None:
        number, word = read_number(text), text.strip().lower()
        limitless = word == "none" and field != "nice"
        if not limitless and (number is None or abs(number) > LARGEST or (number < 0 and field != "nice")):
            self.console.tell("no", f"{field} is {_HINTS[field]}, not {text}", "warning")
            return
        intent = set_jobs(targets, field, None if limitless else number)
        if intent is None:
            self.console.tell("no", f"{field} is {word} already", "muted")
        self.console.wishes.carry_out(intent)
        self.marks.used()

    # messages

    def _point_at_origin(self) -> None:
        """The exit codes at the left belong to the origin under the cursor."""
        key = self._top.cursor_key
        origin = key if isinstance(key, str) else ""
        if origin == self._origin:
            return
        self._origin = origin
        self._shown.pop("own", None)
        self._own_exits.set_rows([])
        self._show_titles()
        self.console.read_soon()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        """Another origin, job or entry."""
        if event.table is self._top:
            self._point_at_origin()
        self.tell_footer()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Opens an origin, or the URL of an entry."""
        event.table.focus()
        self._open()

    def on_crawl_table_header_selected(self, event: CrawlTable.HeaderSelected) -> None:
        """Of the origins, the first by another number."""
        if event.table is self._top:
            self._order_by(event.column_id)

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        """Actions are about other jobs now."""
        self.tell_footer()

    def on_entry_line_entered(self, event: EntryLine.Entered) -> None:
        """Sets what was typed for the jobs that were asked about."""
        if event.purpose in _FIELDS:
            if event.text.strip():
                self._set(_FIELDS[event.purpose], event.text, self._targets_of_prompt)
            self._job_table.focus()

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        """Nothing is set."""
        if event.purpose in _FIELDS:
            self._job_table.focus()


def read_number(text: str) -> int | None:
    """The whole number a person typed, None when it is none."""
    digits = text.strip()
    bare = digits.removeprefix("-")
    return int(digits) if bare.isascii() and bare.isdigit() and len(bare) <= 9 else None
