"""The console: one Textual app that reads rows, writes wishes, and hosts the engine in a thread it never waits for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen

from tui_crawler.console.appearance import Appearance
from tui_crawler.console.board import Board
from tui_crawler.console.clock import ConsoleClock, SystemClock
from tui_crawler.console.dispatcher import Dispatcher
from tui_crawler.console.engine_room import EngineEnd, EngineRoom, host_engine
from tui_crawler.console.inquiry import Inquiry
from tui_crawler.console.keys import OPENS_ENTRY, everywhere
from tui_crawler.console.looks import Looks
from tui_crawler.console.pace import BEAT_MS
from tui_crawler.console.panes.typing import TakesText
from tui_crawler.console.picture import Picture
from tui_crawler.console.poller import Answer, ReadFailed
from tui_crawler.console.query_desk import QueryDesk
from tui_crawler.console.rounds import Rounds
from tui_crawler.console.screens.base import ConsoleScreen
from tui_crawler.console.screens.lifetime import stands
from tui_crawler.console.screens.overview import OverviewScreen
from tui_crawler.console.session import Memory
from tui_crawler.console.standpoint import situation_of
from tui_crawler.console.succession import Succession
from tui_crawler.console.terminal import catch_signals
from tui_crawler.console.typed_keys import KeyedApp
from tui_crawler.console.way_out import WayOut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tui_crawler.console.actions import Situation
    from tui_crawler.console.departure import Detacher
    from tui_crawler.console.exit_summary import ExitSummary
    from tui_crawler.console.journal_desk import JournalDesk, News
    from tui_crawler.console.notice import Notice, Trouble
    from tui_crawler.console.panes.entry import EntryLine
    from tui_crawler.console.ports import EngineHost, Explainer, Journal, Queries, Reports, RulesDesk
    from tui_crawler.console.wishes import UndoStack, Wishes

TICK_MS = 500
_OTHER_VIEWS = Path(__file__).with_name("views.tcss")  # styles of what is not in the first paint


class CrawlerApp(KeyedApp["ExitSummary"]):
    """The console. `run_to_end` runs it."""

    TITLE = "tui-crawler"
    CSS_PATH = Path(__file__).with_name("console.tcss")
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*everywhere()]

    class Delivered(Message):
        """A reading has come back."""

        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    class JournalNews(Message):
        """Something became of an intent."""

        def __init__(self, news: News) -> None:
            super().__init__()
            self.news = news

    class EngineEnded(Message):
        """The hosted engine has ended."""

        def __init__(self, end: EngineEnd) -> None:
            super().__init__()
            self.end = end

    class SignalCaught(Message):
        """The process was told to end; `status` is the exit status that belongs to the signal."""

        def __init__(self, status: int) -> None:
            super().__init__()
            self.status = status

    def __init__(
        self,
        reports_factory: Callable[[], Reports],
        journal_factory: Callable[[], Journal] | None,
        host: EngineHost | None = None,
        *,
        clock: ConsoleClock | None = None,
        name: str = "",
        watches: str = "",
        who: str = "operator",
        keymap: Mapping[str, str] | None = None,
        theme: str = "",
        beating: bool = True,
        detacher: Detacher | None = None,
        memory: Memory | None = None,
        rules: RulesDesk | None = None,
        explainer_factory: Callable[[Reports], Explainer] | None = None,
        queries_factory: Callable[[], Queries] | None = None,
        successor: Callable[[], EngineHost | None] | None = None,
    ) -> None:
        """Makes the console; nothing is read or started before `run`.

        The factories are called once each, in the thread that uses what they make. `journal_factory` None: this
        console only watches; `watches` says why, if nobody asked for that (raw). `host` None: the engine is elsewhere,
        or nowhere. `name` is the crawl's, `who` signs the operator's journal. `keymap` is action id -> keys. `beating`
        False: nothing is read unless `beat` is called. `memory` keeps where one was. `detacher` starts the hosted run
        anew as a process of its own.
        `explainer_factory` is called in the reading thread with its reports; None: nobody says why. `rules` None: rules
        cannot be drafted. `queries_factory` None: nothing can be asked in SQL. `successor` makes the engine with which
        this console carries on a run that nobody is at work for.
        """
        super().__init__()
        self.clock = clock or SystemClock()
        self.who = who
        self.crawl_name = name
        self.readonly, self.watches = journal_factory is None, watches
        self.rules = rules
        self.picture = Picture(self.clock)
        self.room = EngineRoom(host)
        self.inquiry = Inquiry(explainer_factory)
        self.way_out = WayOut(self, detacher)
        self.succession = Succession(self, successor)
        self.memory = memory or Memory(None)
        self.queries = None if queries_factory is None else QueryDesk(queries_factory, self.memory.folder)
        self._session = self.memory.recall()
        self.zooms = {view: (pane, level) for view, pane, level in self._session.zooms}
        """What is enlarged in each view: the id of the pane, and how much."""
        self.looks = Looks(dict(self._session.looks))
        self.board = Board(self)
        self.appearance = Appearance(self, keymap or {}, theme, self._session)
        self._beating, self._begun = beating, False
        self._tick_at = self._input_at = 0
        self._restore_signals: Callable[[], None] = lambda: None
        self.rounds = Rounds(self, reports_factory, lambda answer: self._post(self.Delivered(answer)))
        self._desk = None if journal_factory is None else self._journal_desk(journal_factory)
        self._wishes: Wishes | None = None
        self.dispatcher = Dispatcher(self)

    @property
    def wishes(self) -> Wishes:
        """What the operator wants done; made when it is first needed, which is not before the first paint."""
        if self._wishes is None:
            from tui_crawler.console.wishes import Wishes  # noqa: PLC0415  see above

            self._wishes = Wishes(self, self._desk)
        return self._wishes

    def _journal_desk(self, journal_factory: Callable[[], Journal]) -> JournalDesk:
        from tui_crawler.console.journal_desk import JournalDesk  # noqa: PLC0415  not for a console that only watches

        return JournalDesk(journal_factory, self.who, self.room.wake, self._hear)

    def _hear(self, news: News) -> None:
        self._post(self.JournalNews(news))

    @property
    def undo_stack(self) -> UndoStack | None:
        """What can be undone; None before anything was asked for."""
        return None if self._wishes is None else self._wishes.undo_stack

    # start

    def run_to_end(self) -> ExitSummary:
        """Runs the console until it is left (blocking). Gives what is to be printed, and the exit status."""
        summary = self.run()
        if summary is None:
            summary = replace(self.way_out.summary(), crashed=True)
        unwritten = () if self._desk is None else self._desk.left_over()
        return replace(summary, terminal_lost=self.terminal_lost, unwritten=unwritten)

    def get_default_screen(self) -> Screen[None]:
        """The overview."""
        return OverviewScreen(self._session.arrangement)

    def on_mount(self) -> None:
        """Chooses theme and keys; what is slow begins after the first paint."""
        self.appearance.put_on()
        if not self.is_headless:
            self._restore_signals = catch_signals(self._caught)

    def _begin(self) -> None:
        self.stylesheet.read(_OTHER_VIEWS)
        self.run_worker(self.rounds.poller.run, name="reader", group="reader", thread=True, exit_on_error=False)
        if self._desk is not None:
            self.run_worker(self._desk.run, name="journal", group="journal", thread=True, exit_on_error=False)
        if self._beating:
            self.set_interval(BEAT_MS / 1_000, self.beat)
        self.beat()
        self.dispatcher.show_view(self._session.view)

    def _start_engine(self) -> None:
        """Starts the hosted engine, once; after the first reading, so that it does not hold up the first picture."""
        host = self.room.host
        if host is None or self.room.at_work or self.room.end != EngineEnd() or self.room.quitting:
            return
        self.room.started()
        if self.console_screen is not None:
            self.board.show_header(self.console_screen, self.clock.mono_ms())

        def run() -> None:
            self._post(self.EngineEnded(host_engine(host)))

        self.run_worker(run, name="engine", group="engine", thread=True, exit_on_error=False)

    def _post(self, message: Message) -> None:
        """Hands a message to the screen's loop from another thread; nothing when that has ended."""
        with suppress(RuntimeError):
            self.post_message(message)

    def _caught(self, status: int) -> None:
        """Takes a signal: runs in the main thread, at any point of what it does."""
        self.terminal_leaving()
        loop = self._loop
        if loop is not None:
            loop.call_soon_threadsafe(self.post_message, self.SignalCaught(status))

    # the beat

    def beat(self) -> None:
        """Ten times a second: asks for a reading when one is due, moves clocks on."""
        if self.is_leaving:
            return
        now = self.clock.mono_ms()
        self.way_out.beat(now)
        screen = self.console_screen
        if screen is None or not stands(screen):
            return
        self.rounds.ask_if_due(screen, now)
        if now - self._tick_at >= TICK_MS:
            self._tick_at = now
            if self.terminal_lost:
                self.way_out.terminal_went_away()
            screen.move_on()
            self.board.show_notices(screen)
        self.board.beat(screen, now)

    def on_crawler_app_delivered(self, message: Delivered) -> None:
        """Takes what was read."""
        answer = message.answer
        read_ms, taken = 0, False
        self.rounds.begin(answer)
        if not isinstance(answer, ReadFailed):
            self.picture.feed(answer)
            screen = self.console_screen
            if screen is not None and stands(screen):
                if answer is not None and screen.accepts(answer.wants):
                    read_ms, taken = answer.took_ms, True
                    screen.take_in(answer)
                    screen.tell_footer()
                if answer is not None or self.rounds.stale:
                    self.board.was_read(screen, self.clock.mono_ms())
        self.rounds.end(read_ms, painted=taken)
        self._start_engine()
        if self.way_out.leaving:
            self.way_out.was_read()

    # what screens use

    @property
    def console_screen(self) -> ConsoleScreen | None:
        """The topmost screen that shows rows; dialogs lie over it. None once the app is being left."""
        for screen in reversed(() if self.is_leaving else self.screen_stack):
            if isinstance(screen, ConsoleScreen):
                return screen
        return None

    @property
    def own_keys(self) -> Mapping[str, str]:
        """The keys of every action that has others than the table of actions says: action id -> keys."""
        return self.appearance.own_keys

    @property
    def back_keys(self) -> tuple[str, ...]:
        """The keys that go back, esc or others."""
        return tuple(key for key in self.own_keys.get("nav.back", "escape").split(",") if key)

    @property
    def reading(self) -> bool:
        """Whether a reading is under way or was not yet taken in."""
        return self.rounds.under_way

    def read_soon(self) -> None:
        """Reads with the next beat, not later."""
        self.rounds.soon()

    def read_now(self) -> bool:
        """Asks for a reading; False when that cannot be."""
        return self.rounds.ask(self.console_screen, at_once=True)

    def close_threads(self) -> None:
        """Ends the threads that read and write."""
        self.rounds.poller.close()
        if self._desk is not None:
            self._desk.close()
        if self.queries is not None:
            self.queries.cancel()

    def idle_ms(self) -> int:
        """How long ago the last key was, or the mouse moved, in ms."""
        return self.clock.mono_ms() - self._input_at

    def pop_screen(self) -> AwaitComplete:
        """Closes the screen on top; how it looked is there again when it is opened anew."""
        self._leave_screen()
        return super().pop_screen()

    def switch_screen(self, screen: Screen[None] | str) -> AwaitComplete:
        """Closes the screen on top for another one."""
        self._leave_screen()
        return super().switch_screen(screen)

    def _leave_screen(self) -> None:
        if isinstance(self.screen, ConsoleScreen):
            self.looks.keep(self.screen)
            if self.is_screen_installed(self.screen):
                self.screen.left()

    def screen_came_up(self, screen: ConsoleScreen) -> None:
        """A screen is on top now: it is read for at once. The first is painted first, by Textual's own answer."""
        if not self._begun:
            self._begun = screen.call_later(self._begin)
        self.rounds.for_new_screen()
        self.dispatcher.history.came_up(screen)
        self.board.show_header(screen, self.clock.mono_ms())
        self.board.show_notices(screen)
        screen.tell_footer()

    def situation(self, screen: ConsoleScreen) -> Situation:
        """What actions depend on."""
        return situation_of(self, screen)

    def tell(self, kind: str, text: str, role: str = "accent") -> None:
        """Shows a short message (raw text)."""
        self.board.tell(kind, text, role)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The messages that are shown."""
        return self.board.notices

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """What went wrong so far, as far as it is kept."""
        return self.board.troubles

    async def on_event(self, event: events.Event) -> None:
        """Notes when the operator did something last."""
        if isinstance(event, events.Key | events.MouseEvent) and not event.is_forwarded:  # else it was counted before
            self._input_at = self.clock.mono_ms()
        await super().on_event(event)

    def on_crawler_app_signal_caught(self, message: SignalCaught) -> None:
        """Takes the way out, as `q` does."""
        self.way_out.begin(message.status)

    def on_crawler_app_journal_news(self, message: JournalNews) -> None:
        """Something became of an intent. New work for a run that had ended starts the engine again."""
        from tui_crawler.console.journal_desk import Fate  # noqa: PLC0415  not for a console that only watches

        self.wishes.heard(message.news)
        news = message.news
        if news.fate is Fate.done and news.intent.starts and self.room.go_on_for(news.intent.commands, news.results):
            self._start_engine()

    def on_crawler_app_engine_ended(self, message: EngineEnded) -> None:
        """Notes how it ended; a failure is a state, shown on top."""
        self.room.ended(message.end)
        self.read_soon()
        if self.room.quitting:
            self.way_out.engine_over()
        elif message.end.failure:
            self.tell("engine", *message.end.news)

    # actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leaves keys to an input that has the focus."""
        if action == "do" and parameters and parameters[0] in OPENS_ENTRY:
            return isinstance(self.screen, ConsoleScreen) and not isinstance(self.focused, TakesText)
        return super().check_action(action, parameters)

    def action_do(self, action_id: str) -> None:
        """Does an action by its id (bindings)."""
        self.dispatcher.do(action_id)

    def on_entry_line_entered(self, event: EntryLine.Entered) -> None:
        """Does what was typed after `:`."""
        if event.purpose == "command":
            self.dispatcher.do_typed(event.text)

    def on_unmount(self) -> None:
        """Whatever ended the screen, its threads end too."""
        self._restore_signals()
        self.close_threads()
        if self.room.at_work and not self.room.quitting:
            self.room.drain(self.clock.mono_ms())
