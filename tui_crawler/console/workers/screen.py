"""View 8: the workers, what each does and holds, and what is wanted of it."""

from collections.abc import Iterable, Sequence

from textual.containers import Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.handlers import handles
from tui_crawler.console.operator.intent import Intent
from tui_crawler.console.overview.rows import line_of
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import FactsPane
from tui_crawler.console.panes.shared_lines import FRAME, SharedHeight
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.reading.refresh import WORKERS
from tui_crawler.console.reading.snapshot import Rates
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.waiting import RowsScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.filter_terms import needle_for
from tui_crawler.console.workers.queries import SESSIONS
from tui_crawler.console.workers.rows import HELD, alone_lines, held_origins, session_lines, worker_lines
from tui_crawler.console.workers.steering import leave, steer, tag_workers, toggle_pause, worker_words
from tui_crawler.domain.records.command import DRAIN_WORKERS, PAUSE_WORKERS, RESUME_WORKERS, STOP_WORKERS, Order
from tui_crawler.domain.records.operator_view import SessionView
from tui_crawler.domain.records.worker import WorkerView
from tui_crawler.text.format import count
from tui_crawler.text.relations.workers import PROCESSES, process_of


class WorkersScreen(RowsScreen):
    """Those at work first, then the processes that held the database before, the last one first."""

    WHERE = Where.workers
    CRUMBS = ("Workers",)
    HERE = frozenset({"origin.add"})
    AUTO_FOCUS = "#workers"
    MARKS = "#workers #held"

    def __init__(self) -> None:
        super().__init__()
        self._read_workers, self._read_sessions = PaneReading(lambda: WORKERS), PaneReading(lambda: SESSIONS)
        self.reads = (self._read_workers, self._read_sessions)
        self._cpu = Rates()
        self._sought = ""  # the name of a worker that the cursor is to go to
        self._shown: object = None  # what was read, and the second in which it was shown

    def body(self) -> Iterable[Widget]:
        self._table = CrawlTable(PROCESSES, id="workers", classes="pane")
        self._table.holds_while_marked = True
        info = FactsPane(self._facts, "Worker", id="worker-info", still=True)
        self._held = CrawlTable(HELD, id="held", classes="pane")
        self._held.holds_while_marked = True
        self._shared_height = SharedHeight(self._table)
        yield Vertical(self._table, info, self._held, id="body")

    @property
    def _workers(self) -> tuple[WorkerView, ...]:
        return self._read_workers.value or ()

    @property
    def _sessions(self) -> tuple[SessionView, ...]:
        return self._read_sessions.value or ()

    def show_live(self) -> None:
        """Show who crawls, and who has, when that was read; once a second where only heartbeats grow older."""
        clock, workers, sessions = self.console.clock, self._workers, self._sessions
        here = workers, sessions, 0 if workers else clock.mono_ms() // 1_000
        if not self.has_read or here == self._shown:
            return
        self._shown = here
        cpu = self._cpu.of({one.session_id: one.cpu_ms for one in sessions if one.cpu_ms is not None}, clock.mono_ms())
        at_work, moment = {one.session_id for one in workers}, present(clock)
        others = [one for one in sessions if one.session_id not in at_work and (one.rest or one.ended_at)]
        shown: list[WorkerView | SessionView] = [*workers, *sorted(others, key=lambda one: bool(one.ended_at))]
        self._table.fill((process_of(one, moment.now, cpu.get(one.session_id)) for one in shown), moment)
        self._shared_height.take(len(shown) + FRAME)
        if self._sought:
            self.seek(self._sought)
        self._show_held()

    def show_titles(self) -> None:
        title(self._table, f"Workers · {self._table.told(f'{count(len(self._workers))} at work')}")

    def _worker(self) -> WorkerView | None:
        process = self._table.current
        return process.source if process is not None and isinstance(process.source, WorkerView) else None

    def _facts(self) -> Sequence[Line]:
        process, zone, now = self._table.current, self.console.clock.zone, self.console.clock.wall_ms()
        one, lines = process and process.source, alone_lines(self._workers) if self.has_read else []
        if one is None:
            return lines
        about = worker_lines(one, zone, now) if isinstance(one, WorkerView) else session_lines(one, zone, now)
        return [*about, *lines]

    def _show_held(self) -> None:
        live, worker = self.console.live_state, self._worker()
        held = held_origins(live.origins.values(), worker.name) if worker is not None else []
        lines = (line_of(view, live) for view in held)
        self._held.fill(lines, present(self.console.clock))
        whole = ""
        if worker is not None:
            part = f"first {count(len(held))} of " if len(held) < worker.origins else ""
            whole = f" of {worker.name} · {part}{count(worker.origins)} · most to do first"
        title(self._held, f"Origins{whole}")

    def situation(self) -> Situation:
        live, chosen = self.console.live_state.origins, self._table.chosen
        held = self._held.chosen if self.table_filter.table is self._held else ()
        origins = tuple(live[str(key)] for key in held if key in live)
        workers = tuple(one for one in self._workers if one.session_id in chosen)
        return Situation(Where.workers, origins, workers=workers)

    def seek(self, name: str) -> None:
        """Puts the cursor on a worker by its name, as soon as it is read."""
        found = next((one.session_id for one in self._workers if one.name == name), None)
        found = found or next((one.session_id for one in self._sessions if one.worker == name), None)
        self._sought = "" if self.has_read else name
        if found is not None:
            self._table.move_cursor(key=found)
        elif self.has_read:
            self.console.tell("no", f"there is no worker {name}", "warning")

    def open_selected(self) -> None:
        if self.focused is self._held and self._held.cursor_key is not None:
            self.console.go_to(Where.origin, str(self._held.cursor_key))
        elif (worker := self._worker()) is not None:
            self.console.do(Where.overview.goes_there)
            self.console.do("filter.open", needle_for("worker", worker.name))

    @handles("worker.toggle_pause")
    def _toggle_pause(self, now: Situation) -> None:
        self._carry_out(toggle_pause(now.workers), PAUSE_WORKERS.word)

    @handles("worker.pause", PAUSE_WORKERS)
    @handles("worker.resume", RESUME_WORKERS)
    def _steer(self, now: Situation, order: Order) -> None:
        self._carry_out(steer(now.workers, order), order.word)

    @handles("worker.drain", DRAIN_WORKERS)
    @handles("worker.stop", STOP_WORKERS)
    def _leave(self, now: Situation, order: Order) -> None:
        if (asked := leave(order, now.workers, self._workers)) is None:
            self._carry_out(None, order.word)
        else:
            self.console.command_queue.ask(asked, self._table.clear_marks)

    @handles("worker.tags")
    def _tag(self, typed: str, now: Situation) -> None:
        words = worker_words([one.name for one in now.workers])

        def entered(text: str) -> None:
            self._carry_out(tag_workers(now.workers, tuple(dict.fromkeys(text.split()))), f"tags of {words}")

        if typed:
            entered(typed)
            return
        tags = " ".join(now.workers[0].tags) if len(now.workers) == 1 else ""
        use = EntryUse("tags", entered, left=lambda: None)
        self.query_one(EntryLine).open(use, f"tags of {words}", tags, "words; none: jobs without a tag")

    def _carry_out(self, intent: Intent | None, what: str) -> None:
        if intent is None:
            self.console.tell("no", f"{what}: already done", "muted")
        else:
            self.console.command_queue.carry_out(intent)
            self._table.clear_marks()

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        if event.table is self._table:
            self._show_held()
