"""Stand-ins for what the console sees: a clock moved by hand, reports, a journal, an engine; and an app on them."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from functools import partial
from typing import Any

from textual import events, messages
from textual.keys import _character_to_key, key_to_character
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot

from tests.console.fake_queries import FakeQueries
from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import (
    NOW,
    WHO,
)
from tests.console.sample_rules import FakeRules
from tests.console.sample_trace import SampleExplainer
from tests.support.patience import PATIENT_S
from tui_crawler.console.action import Situation
from tui_crawler.console.app import CrawlerApp, EngineAccess, Operator, Presentation, ReadingSources
from tui_crawler.console.operator.detach import CannotDetach, Departure, Detacher
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.console.operator.intent import Intent
from tui_crawler.console.operator.journal import IntentOutcome
from tui_crawler.console.ports import Explainer, Journal, Reports
from tui_crawler.console.reading.poll_loop import Answer
from tui_crawler.console.replay.player import Replays
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.session import SessionFile
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.command import ActionResult, Command, PauseOrigins, ResumeOrigins
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.view import AttemptView, OriginView


class FrozenClock:
    """Both clocks, moved by hand."""

    def __init__(self, wall: int = NOW) -> None:
        self.wall = wall
        self.mono = 1_000_000
        self.busy = 0
        self.round_costs = 0
        """What one round costs the screen's loop, in ms."""

    @property
    def zone(self) -> tzinfo:
        return UTC

    def wall_ms(self) -> int:
        return self.wall

    def mono_ms(self) -> int:
        return self.mono

    def busy_ms(self) -> int:
        self.busy += self.round_costs
        return self.busy

    def move(self, ms: int) -> None:
        self.wall += ms
        self.mono += ms


class FakeJournal:
    """Keeps what was sent, and answers as an engine would: at once, or with an error, or never."""

    def __init__(self, reports: FakeReports | None = None) -> None:
        self.sent: list[Command] = []
        self.who: list[str] = []
        self.undoes: list[int] = []
        self.answer: str | None = ""  # error text; None: nobody takes it up
        self.after = "{}"
        self.failure = ""
        self.arrived = threading.Event()
        self._reports = reports

    def send(self, command: Command, who: str, undoes: int = 0) -> int:
        if self.failure:
            raise StorageFailure(self.failure)
        self.sent.append(command)
        self.who.append(who)
        self.undoes.append(undoes)
        if self._reports is not None and isinstance(command, PauseOrigins | ResumeOrigins):
            paused = isinstance(command, PauseOrigins)
            names = command.origins or tuple(self._reports.rows)
            views = [self._reports.rows[name] for name in names]
            self._reports.commit(*(replace(view, paused=paused, paused_by=who, paused_at=NOW) for view in views))
        self.arrived.set()
        return len(self.sent)

    def result(self, action_id: int) -> ActionResult | None:
        return None if self.answer is None else ActionResult(action_id, "{}", self.after, self.answer)

    def close(self) -> None:
        pass


class FakeHost:
    """An engine that runs until it is told to stop; `end` lets it go."""

    def __init__(self, *, obeys: bool = True, failure: Exception | None = None) -> None:
        self.stops: list[int] = []
        self.wakes = 0
        self.in_flight = 12
        self.trouble = ""
        self.locked_since = 0
        self.started = threading.Event()
        self.end = threading.Event()
        self.begun = threading.Event()
        if failure is None:
            self.begun.set()
        self._obeys = obeys
        self._failure = failure

    def run(self) -> str:
        self.started.set()
        if self._failure is not None:
            raise self._failure
        self.end.wait(PATIENT_S)
        return "operator"

    def wake(self) -> None:
        self.wakes += 1

    def stop(self, drain_ms: int) -> None:
        self.stops.append(drain_ms)
        if self._obeys or drain_ms == 0:
            self.end.set()

    @property
    def running(self) -> bool:
        return self.begun.is_set() and not self.end.is_set()


GONE = Departure(
    4_711, "/data/crawl.db.log", "tui-crawler --db /data/crawl.db", "tui-crawler stop --all --db /data/crawl.db"
)


class FakeDetacher:
    """Starts nothing; `gate` holds it back."""

    def __init__(self, failure: str = "", hindrance: str = "") -> None:
        self.hindrance = hindrance
        self.starts = 0
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Event()
        self._failure = failure

    def start(self) -> Departure:
        self.starts += 1
        self.begun.set()
        self.gate.wait(PATIENT_S)
        if self._failure:
            raise CannotDetach(self._failure)
        return GONE


class StageApp(CrawlerApp):
    """Tells a test when a reading has been taken in, and when something became of an intent.

    It ends as outside of tests: what was sent to the app is handled before the screens are taken down. `hasty`: while
    they are, as Textual's `run_test` has it.
    """

    answered: Answer = None
    hasty = False
    puts_painting_off = True
    """Until somebody looks at the screen (`Stage.text`)."""
    paints_when_quiet = False

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._unwritten: list[Intent] = []
        if (writer := self._journal_writer) is not None:
            hand_in = writer.hand_in

            def keep(intent: Intent) -> None:
                self._unwritten.append(intent)
                hand_in(intent)

            writer.hand_in = keep  # type: ignore[method-assign]  # what is asked for is known before its thread takes it up

    async def written(self) -> None:
        """Waits until all that was asked for is written, or it was told why it is not."""
        while self._journal_writer is not None and self._unwritten and self.is_running and not self._exit:  # noqa: ASYNC110
            await asyncio.sleep(0.002)

    def paint(self) -> bool:
        """Paint what was put off. Return whether anything was."""
        if not (self.puts_painting_off and self.screen._compositor._dirty_regions):
            return False
        self.puts_painting_off = False
        self.screen._compositor_refresh()
        del self.puts_painting_off
        return True

    async def _shutdown(self) -> None:
        if not self.hasty and self._task is not None:
            self.post_message(messages.ExitApp())
            await asyncio.wait({self._task}, timeout=PATIENT_S)
        await super()._shutdown()

    def tell_me(self) -> None:
        self.taken_in = asyncio.Event()
        self.decided = asyncio.Event()
        self.engine_over = asyncio.Event()

    def on_crawler_app_delivered(self, message: CrawlerApp.Delivered) -> None:
        self.taken_in.set()
        if message.answer is not None:
            self.answered = message.answer

    def on_crawler_app_journal_news(self, message: CrawlerApp.JournalNews) -> None:
        if message.news.intent in self._unwritten:
            self._unwritten.remove(message.news.intent)
        if message.news.outcome is not IntentOutcome.written:
            self.decided.set()

    def on_crawler_app_engine_ended(self, message: CrawlerApp.EngineEnded) -> None:
        self.engine_over.set()


MOST_MORE = 12
"""How many rounds more widgets are given that still have something to say to each other."""

_ACTION_ID = re.compile(r"[a-z]+\.[a-z_]+")

PASSES = 4
"""How often the loop goes round while every widget waits: for threads and timers that have something for it."""


def waits(node: MessagePump) -> bool:
    """Whether a widget has handled all that was sent to it, and waits for more."""
    ready = node._message_queue.ready_event
    return bool(ready._waiters) and not ready.is_set()  # type: ignore[attr-defined]  # nothing public tells it


async def handle(nodes: Iterable[MessagePump]) -> bool:
    """Lets widgets handle what was sent to them until now; answers whether there was anything. One that ends meanwhile
    is not waited for: what comes behind its end stays in its queue."""
    asked: set[MessagePump] = set()
    handled = asyncio.Event()

    def answer(node: MessagePump) -> None:
        asked.discard(node)
        if not asked:
            handled.set()

    for node in nodes:
        if not waits(node) and node.post_message(events.Callback(callback=partial(answer, node))):
            asked.add(node)
    if asked:
        await _until(handled, asked)
        return True
    for _ in range(PASSES):
        await asyncio.sleep(0)
    return False


async def _until(handled: asyncio.Event, asked: set[MessagePump]) -> None:
    """Waits for the event, or until those who were asked, and have not answered, have ended."""
    waiting = asyncio.create_task(handled.wait())
    try:
        while not waiting.done():
            alive = {task for node in asked if (task := node._task) is not None and not task.done()}
            if not alive:
                return
            done, _ = await asyncio.wait({waiting, *alive}, timeout=PATIENT_S, return_when=asyncio.FIRST_COMPLETED)
            assert done, f"no answer of {asked}"
    finally:
        waiting.cancel()


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
            if self.app.poll_timer.under_way:
                await asyncio.wait_for(self.app.taken_in.wait(), PATIENT_S)
            await self.quiet(1)

    async def worked(self, group: str) -> None:
        """Wait until the workers of a group have ended, those of a screen that is just opened among them."""
        await self.quiet()
        if workers := [one for one in self.app.workers if one.group == group]:
            await self.app.workers.wait_for_complete(workers)
        await self.quiet()

    async def quiet(self, rounds: int = 3) -> None:
        """Waits until every widget has handled what was sent to it (Pilot waits for the processor to be idle)."""
        for done in range(1, rounds + MOST_MORE):
            await self.app.written()
            screens = self.app.screen_stack
            nodes = [node for screen in screens for node in screen.walk_children(with_self=True)]
            busy = await handle((self.app, *nodes))
            for screen in self.app.screen_stack:
                if screen._update_timer._active.is_set():  # it would paint soon; any other would paint for nothing
                    screen._on_timer_update()
            if done >= rounds and not busy and not (self.app.paints_when_quiet and self.app.paint()):
                return

    async def press(self, *keys: str, rounds: int = 1) -> None:
        """Press keys one after the other, or those of actions by their ids (one without a key is done as if it had
        one); let the app read `rounds` times after each."""
        for written in keys:
            keys_of = self._keys_of(written)
            if not keys_of:
                self.app.do(written)
                await self.quiet()
            for key in keys_of:
                name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
                self.app.post_message(events.Key(name, key if len(key) == 1 else key_to_character(name)))
                await self.quiet()
            if rounds:
                await self.settle(rounds)

    def _keys_of(self, written: str) -> list[str]:
        """Return the keys of an action by its id, one or two of them; of a key, that key."""
        if not _ACTION_ID.fullmatch(written):
            return [written]
        first, *_ = self.app.appearance.key_names.written(written).split(",")
        return first.split()

    async def act(self, *actions: str, rounds: int = 1) -> None:
        """Do actions by their ids, each by the keys it has."""
        for action in actions:
            assert _ACTION_ID.fullmatch(action), f"{action} is a key: Stage.press presses it"
        await self.press(*actions, rounds=rounds)

    async def decide(self, *keys: str, rounds: int = 1) -> None:
        """Press keys, or those of actions, and wait until something became of the command."""
        await self.press(*keys, rounds=rounds)
        await self.decided()

    async def command(self, text: str, *, rounds: int = 0, decided: bool = False) -> None:
        """Does what is typed at the prompt, and lets the app read `rounds` times, or waits until that is `decided`."""
        self.app.dispatcher.do_typed(text)
        await (self.decided() if decided else self.settle(rounds) if rounds else self.quiet())

    async def type(self, text: str) -> None:
        """Types a text without looking at the screen in between."""
        for char in text:
            name = _character_to_key(char) if not char.isalnum() else char
            self.app.post_message(events.Key(name, char))
        await self.quiet()

    @property
    def on_top(self) -> ConsoleScreen:
        """The topmost screen that shows rows."""
        assert self.app.console_screen is not None
        return self.app.console_screen

    @property
    def focused(self) -> str | None:
        """The id of what has the focus."""
        return self.app.focused.id if self.app.focused is not None else None

    @property
    def told(self) -> str:
        """The newest message."""
        return self.app.notices[-1].text

    async def enter(self, text: str, rounds: int = 1) -> None:
        """Types a text and enter."""
        await self.type(text)
        await self.press("enter", rounds=rounds)

    async def commit(
        self, *views: OriginView, log: Iterable[AttemptView] = (), rounds: int = 2, move_ms: int = 120
    ) -> None:
        """Changes origins and adds attempts, and lets the app read that."""
        self.reports.commit(*views, log=log)
        await self.settle(rounds, move_ms)

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

    def table(self, selector: str) -> CrawlTable:
        """A table of the screen on top."""
        return self.app.screen.query_one(selector, CrawlTable)

    @property
    def situation(self) -> Situation:
        """What the screen below all dialogs is about."""
        screen = self.app.console_screen
        return screen.situation()

    def sees(self, *words: str) -> None:
        """Fails unless all of these are on the screen."""
        text = self.text()
        missing = [one for one in words if one not in text]
        assert not missing, f"{missing} not in\n{text}"

    def text(self) -> str:
        """What is on the screen, as plain text."""
        self.app.paint()
        screen = self.app.screen
        strips = screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)


@asynccontextmanager
async def stage(
    size: tuple[int, int] = (120, 30),
    *,
    host: FakeHost | None = None,
    readonly: bool = False,
    watches: str = "",
    reports: FakeReports | None = None,
    keymap: dict[str, str] | None = None,
    theme: str = "",
    detacher: Detacher | None = None,
    memory: SessionFile | None = None,
    rules: FakeRules | None = None,
    explains: Callable[[Reports], Explainer] = SampleExplainer,
    queries: FakeQueries | None = None,
    successor: Callable[[], FakeHost | None] | None = None,
    hears: Callable[[Message], None] | None = None,
    replays: Replays = Replays(),  # noqa: B008  it is frozen
    journals: Callable[[], Journal] | None = None,
    keys: str = "",
    rounds: int = 3,
) -> AsyncIterator[Stage]:
    """A running app that has read twice. `hears` is called before any widget handles any message. `journals` opens the
    journal it writes to, where that is not the stand-in. `keys` are pressed, and it has read `rounds` times after
    each."""
    shown = reports or FakeReports()
    journal = FakeJournal(shown)
    clock = FrozenClock()
    app = StageApp(
        ReadingSources(lambda: shown, explains, lambda: queries or FakeQueries(), rules or FakeRules()),
        Operator(None if readonly else journals or (lambda: journal), WHO, watches),
        EngineAccess(host, detacher, successor),
        Presentation("my-index", keymap, theme, memory),
        clock,
        replays=replays,
        beating=False,
    )
    app.tell_me()
    async with app.run_test(size=size, message_hook=hears) as pilot:
        held = Stage(app, shown, journal, clock, host, pilot)
        await asyncio.wait_for(app.taken_in.wait(), PATIENT_S)
        await held.quiet()
        await held.settle()
        try:
            await held.press(*keys.split(), rounds=rounds)
            yield held
        finally:
            if shown.gate is not None:
                shown.gate.set()
            if host is not None:
                host.end.set()
