"""Stand-ins for what the console sees: a clock moved by hand, reports, a journal, an engine; and an app on them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo

from textual import events
from textual.keys import _character_to_key, key_to_character
from textual.pilot import Pilot

from tests.console.sample_crawl import (
    API,
    NOW,
    WHO,
    attempts,
    failed_pages,
    origins,
    page_detail,
    run_view,
    todo_list,
)
from tui_crawler.console.app import CrawlerApp
from tui_crawler.console.exit_summary import ExitSummary
from tui_crawler.console.journal_desk import Fate
from tui_crawler.domain.command import ActionResult, Command, PauseOrigins, ResumeOrigins
from tui_crawler.domain.run import StorageFailure
from tui_crawler.domain.view import (
    ActionView,
    AttemptView,
    ExitCountView,
    FailureGroup,
    OriginChanges,
    OriginHistory,
    OriginView,
    PageDetail,
    PageView,
    RefusedView,
    RunView,
    TodoView,
    TotalsView,
)

PATIENT_S = 20
"""How long a test waits for another thread before it fails."""


class FrozenClock:
    """Both clocks, moved by hand."""

    def __init__(self, wall: int = NOW) -> None:
        self.wall = wall
        self.mono = 1_000_000

    @property
    def zone(self) -> tzinfo:
        return UTC

    def wall_ms(self) -> int:
        return self.wall

    def mono_ms(self) -> int:
        return self.mono

    def move(self, ms: int) -> None:
        self.wall += ms
        self.mono += ms


@dataclass
class FakeReports:
    """Rows that a test changes by hand; `version` is raised by `commit`."""

    rows: dict[str, OriginView] = field(default_factory=lambda: {view.origin: view for view in origins()})
    log: tuple[AttemptView, ...] = field(default_factory=attempts)
    newest_run: RunView | None = field(default_factory=run_view)
    pages: tuple[PageView, ...] = field(default_factory=failed_pages)
    detail: Callable[[str], PageDetail | None] = page_detail
    version: int = 1
    failure: str = ""
    asked: list[str] = field(default_factory=list)
    gate: threading.Event | None = None
    closed: threading.Event = field(default_factory=threading.Event)

    def commit(self, *views: OriginView, log: Iterable[AttemptView] = ()) -> None:
        """Changes origins and adds attempts, as another connection would."""
        self.version += 1
        for view in views:
            self.rows[view.origin] = replace(view, change=self.version)
        self.log = (*log, *self.log)

    def data_version(self) -> int:
        if self.gate is not None:
            self.gate.wait(5)
        if self.failure:
            raise StorageFailure(self.failure)
        return self.version

    def run(self) -> RunView | None:
        return self.newest_run

    def totals(self) -> TotalsView:
        views = self.rows.values()
        codes = (
            ("file_ingested", 91_204), ("file_did_not_change", 8_011), ("permanent_redirect", 980),
            ("file_not_found", 1_290), ("server_internal_error", 108), ("request_timeout", 34),
            ("connection_failed", 55), ("rate_limited", 12), ("blocked_by_robots_txt", 1_332),
            ("blocked_url_by_local_policy", 4_112),
        )  # fmt: skip
        return TotalsView(
            todo=sum(v.todo for v in views),
            pending=sum(v.pending for v in views),
            done=sum(v.done for v in views),
            failed=sum(v.failed for v in views),
            blocked=sum(v.blocked for v in views),
            requests=sum(v.requests for v in views),
            bytes=sum(v.bytes for v in views),
            attempts=sum(number for _, number in codes),
            exit_codes=codes,
        )

    def origins_changed(self, since: int) -> OriginChanges:
        rows = tuple(view for view in self.rows.values() if view.change > since)
        self.asked.append(f"origins_changed({since})")
        return OriginChanges(max((view.change for view in rows), default=since), rows)

    def origin(self, origin: str) -> OriginView | None:
        return self.rows.get(origin)

    def history(self, origin: str) -> OriginHistory:
        own = [one for one in self.log if one.origin == origin]
        lost = tuple(one for one in own if one.patience_after < one.patience_before)
        delays = tuple(one for one in own if one.delay_reason)
        refused = (
            RefusedView(origin, "scope", 1_204, "https://elsewhere.example/x"),
            RefusedView(origin, "trap_repeat", 18, f"{origin}/a/a/a/a/"),
        )
        return OriginHistory(lost, delays, refused if own else ())

    def todo(self, origin: str, limit: int) -> tuple[TodoView, ...]:
        view = self.rows.get(origin)
        if view is None or not view.todo:
            return ()
        return todo_list(origin)[:limit]

    def attempts(
        self, origin: str = "", before_id: int = 0, after_id: int = 0, limit: int = 200, problems_only: bool = False
    ) -> tuple[AttemptView, ...]:
        self.asked.append(f"attempts(after_id={after_id}, before_id={before_id})")
        return tuple(
            one
            for one in self.log
            if (not origin or one.origin == origin)
            and one.attempt_id > after_id
            and (not before_id or one.attempt_id < before_id)
            and (not problems_only or one.exit_code in {"request_timeout", "rate_limited", "connection_failed"})
        )[:limit]

    def exit_counts(self, origin: str, now: int) -> tuple[ExitCountView, ...]:
        if origin == API:
            return (
                ExitCountView("file_ingested", 371, 2),
                ExitCountView("blocked_by_robots_txt", 38, 0),
                ExitCountView("request_timeout", 22, 4),
                ExitCountView("blocked_url_by_local_policy", 12, 0),
                ExitCountView("file_not_found", 6, 0),
                ExitCountView("rate_limited", 2, 1),
                ExitCountView("server_internal_error", 1, 0),
            )
        return ()

    def failure_groups(self, by: tuple[str, ...]) -> tuple[FailureGroup, ...]:
        groups: dict[tuple[tuple[str, str], ...], list[PageView]] = {}
        for one in self.pages:
            values = {"exit_code": one.last_exit_code, "origin": one.origin, "pattern": "/*"}
            groups.setdefault(tuple((name, values[name]) for name in by), []).append(one)
        made = [
            FailureGroup(
                key,
                len(pages),
                sum(one.recoverable for one in pages),
                pages[0].url,
                min(one.last_crawled_at for one in pages),
                max(one.last_crawled_at for one in pages),
            )
            for key, pages in groups.items()
        ]
        return tuple(sorted(made, key=lambda group: -group.count))

    def failure_pages(
        self, exit_code: str = "", origin: str = "", after_id: int = 0, limit: int = 200
    ) -> tuple[PageView, ...]:
        self.asked.append(f"failure_pages({exit_code}, {origin}, {after_id})")
        return tuple(
            one
            for one in self.pages
            if (not exit_code or one.last_exit_code == exit_code)
            and (not origin or one.origin == origin)
            and one.page_id > after_id
        )[:limit]

    def page_detail(self, url: str) -> PageDetail | None:
        return self.detail(url)

    def actions(self, limit: int) -> tuple[ActionView, ...]:
        return ()

    def close(self) -> None:
        self.closed.set()


class FakeJournal:
    """Keeps what was sent, and answers as an engine would: at once, or with an error, or never."""

    def __init__(self, reports: FakeReports | None = None) -> None:
        self.sent: list[Command] = []
        self.who: list[str] = []
        self.answer: str | None = ""  # error text; None: nobody takes it up
        self.failure = ""
        self.arrived = threading.Event()
        self._reports = reports

    def send(self, command: Command, who: str) -> int:
        if self.failure:
            raise StorageFailure(self.failure)
        self.sent.append(command)
        self.who.append(who)
        if self._reports is not None and isinstance(command, PauseOrigins | ResumeOrigins):
            paused = isinstance(command, PauseOrigins)
            names = command.origins or tuple(self._reports.rows)
            views = [self._reports.rows[name] for name in names]
            self._reports.commit(*(replace(view, paused=paused, paused_by=who, paused_at=NOW) for view in views))
        self.arrived.set()
        return len(self.sent)

    def result(self, action_id: int) -> ActionResult | None:
        return None if self.answer is None else ActionResult(action_id, "{}", "{}", self.answer)

    def close(self) -> None:
        pass


class FakeHost:
    """An engine that runs until it is told to stop; `end` lets it go."""

    def __init__(self, *, obeys: bool = True, failure: Exception | None = None) -> None:
        self.stops: list[int] = []
        self.wakes = 0
        self.in_flight = 12
        self.started = threading.Event()
        self.end = threading.Event()
        self._obeys = obeys
        self._failure = failure

    def run(self) -> str:
        self.started.set()
        if self._failure is not None:
            raise self._failure
        self.end.wait(20)
        return "operator"

    def wake(self) -> None:
        self.wakes += 1

    def stop(self, drain_ms: int) -> None:
        self.stops.append(drain_ms)
        if self._obeys or drain_ms == 0:
            self.end.set()

    @property
    def running(self) -> bool:
        return self.started.is_set() and not self.end.is_set()


class StageApp(CrawlerApp):
    """Tells a test when a reading has been taken in, and when something became of an intent."""

    def tell_me(self) -> None:
        self.taken_in = asyncio.Event()
        self.decided = asyncio.Event()
        self.engine_over = asyncio.Event()

    def on_crawler_app_delivered(self, message: CrawlerApp.Delivered) -> None:
        self.taken_in.set()

    def on_crawler_app_journal_news(self, message: CrawlerApp.JournalNews) -> None:
        if message.news.fate is not Fate.written:
            self.decided.set()

    def on_crawler_app_engine_ended(self, message: CrawlerApp.EngineEnded) -> None:
        self.engine_over.set()


@dataclass
class Stage:
    """An app on stand-ins, and the stand-ins. Nothing is read but by `settle`."""

    app: StageApp
    reports: FakeReports
    journal: FakeJournal
    clock: FrozenClock
    host: FakeHost | None
    pilot: Pilot[ExitSummary]

    async def settle(self, rounds: int = 2, move_ms: int = 120) -> None:
        """Lets the app read, `rounds` times, `move_ms` apart."""
        for _ in range(rounds):
            self.clock.move(move_ms)
            self.app.taken_in.clear()
            self.app.beat()
            if self.app.reading:
                await asyncio.wait_for(self.app.taken_in.wait(), PATIENT_S)
            await self.quiet(1)

    async def quiet(self, rounds: int = 3) -> None:
        """Waits until every widget has handled what was sent to it (Pilot waits for the processor to be idle)."""
        for _ in range(rounds):
            handled = []
            screens = self.app.screen_stack
            nodes = [node for screen in screens for node in screen.walk_children(with_self=True)]
            for node in (self.app, *nodes):
                event = asyncio.Event()
                if node.call_later(event.set):
                    handled.append(event.wait())
            await asyncio.wait_for(asyncio.gather(*handled), PATIENT_S)
            for screen in self.app.screen_stack:
                screen._on_timer_update()

    async def press(self, *keys: str, rounds: int = 1) -> None:
        """Presses keys one after the other; lets the app read `rounds` times after each."""
        for key in keys:
            name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
            self.app.post_message(events.Key(name, key_to_character(name)))
            await self.quiet()
            if rounds:
                await self.settle(rounds)

    async def type(self, text: str) -> None:
        """Types a text without looking at the screen in between."""
        for char in text:
            name = _character_to_key(char) if not char.isalnum() else char
            self.app.post_message(events.Key(name, char))
        await self.quiet()

    async def decided(self) -> None:
        """Waits until something became of the last intent."""
        await asyncio.wait_for(self.app.decided.wait(), PATIENT_S)
        self.app.decided.clear()
        await self.quiet()

    async def engine_over(self) -> None:
        """Waits until the engine has ended and the app has heard of it."""
        await asyncio.wait_for(self.app.engine_over.wait(), PATIENT_S)
        await self.quiet()

    async def gone(self) -> None:
        """Waits until the app has left; it reads a last time before."""
        while not self.app._exit:
            await asyncio.wait_for(self.app.taken_in.wait(), PATIENT_S)
            self.app.taken_in.clear()
            await self.quiet(1)

    def text(self) -> str:
        """What is on the screen, as plain text."""
        screen = self.app.screen
        strips = screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)


@asynccontextmanager
async def stage(
    size: tuple[int, int] = (120, 30),
    *,
    host: FakeHost | None = None,
    readonly: bool = False,
    reports: FakeReports | None = None,
    keymap: dict[str, str] | None = None,
    theme: str = "",
) -> AsyncIterator[Stage]:
    """A running app that has read twice."""
    shown = reports or FakeReports()
    journal = FakeJournal(shown)
    clock = FrozenClock()
    app = StageApp(
        lambda: shown,
        None if readonly else lambda: journal,
        host,
        clock=clock,
        name="my-index",
        who=WHO,
        keymap=keymap,
        theme=theme,
        beating=False,
    )
    app.tell_me()
    async with app.run_test(size=size) as pilot:
        held = Stage(app, shown, journal, clock, host, pilot)
        await asyncio.wait_for(app.taken_in.wait(), PATIENT_S)
        await held.quiet()
        await held.settle()
        try:
            yield held
        finally:
            if shown.gate is not None:
                shown.gate.set()
            if host is not None:
                host.end.set()
