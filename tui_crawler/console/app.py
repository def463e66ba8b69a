"""The console: one Textual app that reads rows, writes wishes, and hosts the engine in a process it never waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass as plain_dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen

from tui_crawler.console.action import NOTHING_TO_UNDO, Need, Where
from tui_crawler.console.actions import ACTIONS
from tui_crawler.console.appearance import Appearance
from tui_crawler.console.clock import ConsoleClock, MachineClock
from tui_crawler.console.dispatcher import Dispatcher
from tui_crawler.console.keys import bindings_of, key_name
from tui_crawler.console.navigation import Navigation
from tui_crawler.console.operator.engine_host import EngineEnd, HostedEngine, host_engine
from tui_crawler.console.operator.shutdown import ExitActions
from tui_crawler.console.operator.takeover import HostTakeover
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.panes.bars import Bar, HeaderBar
from tui_crawler.console.panes.header import counted_now
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.notice import ERROR_SHOWN_MS, SHOWN_MS, Notice, add_notice, add_trouble
from tui_crawler.console.panes.notices import NoticeBox
from tui_crawler.console.panes.tabs import TabBar, view_tabs
from tui_crawler.console.reading.poll_loop import BEAT_MS, Answer, PollTimer, ReadFailed
from tui_crawler.console.reading.refresh import ORIGINS, Lock, lock_words
from tui_crawler.console.reading.snapshot import LiveState
from tui_crawler.console.replay.player import ReplayClock, ReplayControls, Replays
from tui_crawler.console.routes import Supply, load_ahead
from tui_crawler.console.screen.base import STILL_MS, ConsoleScreen
from tui_crawler.console.screen.lifetime import is_ready
from tui_crawler.console.screen.typed_keys import KeyedApp
from tui_crawler.console.session import ConsoleMemory, ConsoleSession, SessionFile
from tui_crawler.console.sql.queries import QuerySession
from tui_crawler.console.terminal import catch_signals
from tui_crawler.console.urls.cells import note_origins
from tui_crawler.domain.record import asdict, dataclass, replace

if TYPE_CHECKING:
    from tui_crawler.console.action import Situation
    from tui_crawler.console.diagnosis import DiagnosisActions
    from tui_crawler.console.operator.commands import CommandQueue
    from tui_crawler.console.operator.detach import Detacher
    from tui_crawler.console.operator.exit_summary import ExitSummary
    from tui_crawler.console.operator.journal import JournalWriter, News
    from tui_crawler.console.ports import EngineHost, Explainer, Journal, Queries, Reports, RuleQueries
    from tui_crawler.console.table.row_actions import RowActions
    from tui_crawler.domain.history.alarm import Alarm
    from tui_crawler.text.terminal_signals import TerminalSignals


HEADER_MS = 250
PAUSE_MS = 300
TICK_MS = 500
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ReadingSources:
    """Where readings come from; each factory is called once, in the thread that uses what it makes.

    `explainer` is called in the reading thread with its reports. `queries` None: nothing can be asked in SQL. `rules`
    None: rules cannot be drafted."""

    reports: Callable[[], Reports]
    explainer: Callable[[Reports], Explainer]
    queries: Callable[[], Queries] | None = None
    rules: RuleQueries | None = None


@dataclass(frozen=True, slots=True)
class Operator:
    """Who asks: `name` signs the journal, whose factory is called once, in its thread. None: this console only watches;
    `watches` says why, if nobody asked for that (raw)."""

    journal: Callable[[], Journal] | None = None
    name: str = "operator"
    watches: str = ""


@dataclass(frozen=True, slots=True)
class EngineAccess:
    """The engine of this console. `host` None: it is elsewhere, or nowhere. `detacher` starts the hosted run anew as a
    process of its own, `successor` makes the engine that carries on a run that nobody is at work for."""

    host: EngineHost | None = None
    detacher: Detacher | None = None
    successor: Callable[[], EngineHost | None] | None = None


@dataclass(frozen=True, slots=True)
class Presentation:
    """How the console looks: the `name` of the crawl, keys by action id, the theme, where one was the last time, and
    what the terminal is told beside."""

    name: str = ""
    keymap: Mapping[str, str] | None = None
    theme: str = ""
    memory: SessionFile | None = None
    signals: TerminalSignals | None = None


class CrawlerApp(KeyedApp["ExitSummary"]):
    """The console. `run_to_end` runs it."""

    TITLE = "tui-crawler"
    CSS_PATH: ClassVar[list[str | PurePath]] = [_FOLDER / "console.tcss", _FOLDER / "overview/style.tcss"]
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(action for action in ACTIONS if not action.where)]

    @plain_dataclass
    class Delivered(Message):
        """A reading has come back."""

        answer: Answer

    @plain_dataclass
    class JournalNews(Message):
        """Something became of an intent."""

        news: News

    @plain_dataclass
    class EngineEnded(Message):
        """The hosted engine has ended."""

        end: EngineEnd

    @plain_dataclass
    class SignalCaught(Message):
        """The process was told to end; `status` is the exit status that belongs to the signal."""

        status: int

    def __init__(
        self,
        sources: ReadingSources,
        operator: Operator,
        engine: EngineAccess,
        presentation: Presentation,
        clock: ConsoleClock | None = None,
        *,
        replays: Replays = Replays(),  # noqa: B008  it is frozen
        beating: bool = True,
    ) -> None:
        """Makes the console; nothing is read or started before `run`. `beating` False: nothing is read unless `beat` is
        called."""
        machine, player = clock or MachineClock(), replays.player
        super().__init__(machine if player is None else ReplayClock(machine, player))
        self._sources, self._operator, self._engine, self._replays = sources, operator, engine, replays
        self.crawl_name, self.signals, self.rules = presentation.name, presentation.signals, sources.rules
        self.hosting = HostedEngine(engine.host)
        readonly = operator.journal is None
        self.live_state = LiveState(self.clock, self.hosting, operator.name, player, readonly=readonly)
        self.memory = ConsoleMemory(presentation.memory or SessionFile(None))
        self.notices: tuple[Notice, ...] = ()
        """The messages that are shown."""
        self._dead: set[str] = set()  # keys that were told to do nothing
        self._beating, self._begun, self._has_read = beating, False, False
        self._tick_at = self._header_at = 0
        self._loads_ahead = load_ahead()
        self._restore_signals: Callable[[], None] = lambda: None
        self.appearance = Appearance(
            self, self.tell, self.clock.wall_ms, presentation.keymap or {}, presentation.theme, self.memory.last
        )
        self.poll_timer = PollTimer(
            self.clock,
            sources.reports,
            lambda answer: self._post(self.Delivered(answer)),
            self.tell,
            self.call_after_refresh,
            self.terminal_waited_ms,
        )
        self._journal_writer: JournalWriter | None = None
        if operator.journal is not None:
            from tui_crawler.console.operator.journal import JournalWriter  # noqa: PLC0415  not for one that only watches

            self._journal_writer = JournalWriter(
                operator.journal, operator.name, self.hosting.wake, lambda news: self._post(self.JournalNews(news))
            )

    def do(self, action_id: str, typed: str = "", about: str = "") -> None:
        """Does an action by its id, with what was typed for it."""
        self.dispatcher.do(action_id, typed, about)

    action_do = do
    """For bindings."""

    def go_to(self, where: Where, *values: object) -> None:
        """Shows another screen."""
        self.navigation.go_to(where, *values)

    @cached_property
    def queries(self) -> QuerySession | None:
        """Questions in SQL; None: nothing can be asked."""
        factory = self._sources.queries
        return None if factory is None else QuerySession(factory, self.memory.file.folder)

    @cached_property
    def replay(self) -> ReplayControls:
        """What the keys of a replay do."""
        return ReplayControls(self, self._replays, self.live_state, self.clock.zone)

    @cached_property
    def way_out(self) -> ExitActions:
        """Every way to leave."""
        detacher = self._engine.detacher
        return ExitActions(self, self.hosting, self.live_state, self.poll_timer, self.clock, detacher)

    @cached_property
    def host_takeover(self) -> HostTakeover:
        """Crawling on here."""
        successor = None if self.live_state.readonly else self._engine.successor
        return HostTakeover(self.hosting, self.live_state, successor, self.tell, self.read_soon)

    @cached_property
    def navigation(self) -> Navigation:
        """The ways from screen to screen."""
        supplies = {
            Supply.rules: self.rules,
            Supply.queries: self.queries,
            Supply.explainer: lru_cache(1)(self._sources.explainer),
        }
        return Navigation(self, self.live_state, supplies, self.do, self.replay.go_to_time)

    @cached_property
    def diagnosis(self) -> DiagnosisActions:
        """What needs a person; made when something does, which is not before the first paint."""
        from tui_crawler.console.diagnosis import DiagnosisActions  # noqa: PLC0415  see above

        return DiagnosisActions(self.live_state, self.memory, self.go_to)

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """What finds who does an action."""
        others = (self.appearance, self.way_out, self.host_takeover, self.replay)
        late = (lambda: self.diagnosis, lambda: self.command_queue, lambda: self.row_actions)
        return Dispatcher(self, others, late, self.situation, self.live_state, self.appearance, self.navigation)

    @cached_property
    def _hindrances(self) -> Mapping[Need, Callable[[], str]]:
        watches = f" ({self._operator.watches})" if self._operator.watches else ""
        live_state, in_replay = self.live_state, self.live_state.player is not None
        return {
            Need.writer: lambda: f"this console is read-only{watches}" if live_state.readonly else "",
            Need.queries: lambda: "" if self.queries is not None else "there is no database to query",
            Need.undo: lambda: self._asked_for.undo_stack.why_none if self._asked_for else NOTHING_TO_UNDO,
            Need.redo: lambda: "" if self._asked_for and self._asked_for.undo_stack.undone else "nothing to redo",
            Need.pausable: live_state.why_no_pause,
            Need.movable: lambda: "" if len(live_state.workers) > 1 else "no other worker is at work",
            Need.startable: lambda: self.host_takeover.hindrance,
            Need.live: self._no_end,
            Need.detachable: lambda: self.way_out.hindrance,
            Need.replay: lambda: "" if in_replay else "only in a replay (:replay)",
            Need.replays: lambda: self.replay.why_not_opened,
            Need.diagnosis: lambda: "" if live_state.diagnoses and self.diagnosis.current else "nothing needs you",
        }

    @cached_property
    def command_queue(self) -> CommandQueue:
        """What the operator wants done; made when it is first needed, which is not before the first paint."""
        from tui_crawler.console.operator.commands import CommandQueue  # noqa: PLC0415  see above

        keys = self.appearance.key_names
        return CommandQueue(self, self.hosting, self.live_state, self.clock, keys, self.read_soon, self._journal_writer)

    @property
    def _asked_for(self) -> CommandQueue | None:
        """The queue, where anything was asked for in this console."""
        return self.command_queue if "command_queue" in vars(self) else None

    @cached_property
    def row_actions(self) -> RowActions:
        """Copies and exports rows; made when that is first wanted."""
        from tui_crawler.console.table.row_actions import RowActions  # noqa: PLC0415  see above

        return RowActions(self, self.live_state, self.clock, self.memory.file.folder, self.copy_to_clipboard)

    def run_to_end(self) -> ExitSummary:
        """Runs the console until it is left (blocking). Gives what is to be printed, and the exit status."""
        summary = self.run()
        if summary is None:
            summary = replace(self.way_out.summary(), crashed=True)
        unwritten = () if self._journal_writer is None else self._journal_writer.left_over()
        return replace(summary, terminal_lost=self.terminal_lost, unwritten=unwritten)

    def get_default_screen(self) -> Screen[None]:
        """The overview."""
        return OverviewScreen(self.memory.last.arrangement)

    def on_mount(self) -> None:
        """Chooses theme and keys; what is slow begins after the first paint."""
        self.appearance.put_on()
        if not self.is_headless:
            self._restore_signals = catch_signals(self._caught)

    def _begin(self) -> None:
        self.stylesheet.read_all(sorted(_FOLDER.glob("*/style.tcss")))  # of what is not in the first paint
        self._run_thread("reader", self.poll_timer.poller.run)
        if self._journal_writer is not None:
            self._run_thread("journal", self._journal_writer.run)
        if self._beating:
            self.set_interval(BEAT_MS / 1_000, self.beat)
        self.beat()
        self.dispatcher.show_view(self.memory.last.view)
        if aside := " and ".join(file.name for file in self.memory.file.put_aside()):
            words = f"what was remembered in {self.memory.file.folder} cannot be read; it is put aside as {aside}"
            self.tell("state", words, "warning")

    def _start_engine(self) -> None:
        """Starts the hosted engine, once; after the first reading, so that it does not hold up the first picture."""
        host = self.hosting.host
        if host is None or self.hosting.at_work or self.hosting.end != EngineEnd() or self.hosting.quitting:
            return
        self.hosting.started()
        if self.console_screen is not None:
            self.show_header(self.console_screen)
        self._run_thread("engine", lambda: self._post(self.EngineEnded(host_engine(host))))

    def _run_thread(self, name: str, work: Callable[[], object]) -> None:
        self.run_worker(work, name=name, group=name, thread=True, exit_on_error=False)

    def _post(self, message: Message) -> None:
        """Hands a message to the screen's loop from another thread; nothing when that has ended."""
        with suppress(RuntimeError):
            self.post_message(message)

    def on_alarm(self, news: Alarm | str) -> None:
        """Has the terminal tell an alarm, and a notice what went wrong with telling one; from any thread."""
        with suppress(RuntimeError):  # the screen's loop has ended
            if isinstance(news, str):
                self.call_later(self.tell, "alarm", news, "warning")
            else:
                self.call_later(self.signal, lambda signals: signals.alarm(news))

    def _caught(self, status: int) -> None:
        """Takes a signal: runs in the main thread, at any point of what it does."""
        self.terminal_leaving()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.post_message, self.SignalCaught(status))

    def beat(self) -> None:
        """Ten times a second: asks for a reading when one is due, moves clocks on."""
        if self.is_leaving:
            return
        now = self.clock.mono_ms()
        self.way_out.beat(now)
        pausing = self.idle_ms() >= PAUSE_MS
        self.collect_garbage(pausing=pausing, calm=self.idle_ms() >= STILL_MS)
        if pausing and self._has_read:
            next(self._loads_ahead, None)
        screen = self.console_screen
        if screen is None or not is_ready(screen):
            return
        self.poll_timer.ask_if_due(screen, now)
        if now - self._tick_at >= TICK_MS:
            self._tick_at = now
            if self.terminal_lost:
                self.way_out.terminal_went_away()
            screen.move_on()
            self._show_notices(screen)
        if now - self._header_at >= HEADER_MS:
            self.show_header(screen)
        screen.show_replay()
        if self.menu_due:
            self.show_menu(self.situation(screen))

    def on_crawler_app_delivered(self, message: Delivered) -> None:
        answer = message.answer
        read_ms, taken = 0, False
        self.poll_timer.begin(answer)
        self.live_state.unreadable = self.poll_timer.failure
        if not isinstance(answer, ReadFailed):
            self.live_state.feed(answer)
            if answer is not None:
                note_origins((view.origin for view in ORIGINS.found_in(answer) or ()), self.live_state.origins)
            screen = self.console_screen
            if screen is not None and is_ready(screen):
                if answer is not None and answer.wants.asker is screen.asker:
                    read_ms, taken = answer.took_ms, True
                    screen.take_in(answer)
                    screen.tell_footer()
                if answer is not None or self.poll_timer.stale:
                    self._was_read(screen)
        self.poll_timer.end(read_ms, painted=taken)
        self._start_engine()
        if self.way_out.leaving:
            self.way_out.was_read()

    @property
    def console_screen(self) -> ConsoleScreen | None:
        """The topmost screen that shows rows; dialogs lie over it. None once the app is being left."""
        stack = () if self.is_leaving else self.screen_stack
        return next((screen for screen in reversed(stack) if isinstance(screen, ConsoleScreen)), None)

    def read_soon(self, *, instead: bool = False) -> None:
        """Reads with the next beat, not later; `instead` of what is being read for anything else, for what the operator
        wants now: as soon as the answer to the key is painted, which the reading would hold up."""
        self.poll_timer.soon()
        if instead:
            self.call_after_refresh(self._ask_instead)

    def _ask_instead(self) -> None:
        screen = self.console_screen
        if self._beating and screen is not None and is_ready(screen):
            self.poll_timer.ask(screen, instead=True)

    def leave(self, summary: ExitSummary) -> None:
        """Ends the screens and the threads; how it looked is remembered."""
        self.remember()
        self.close_threads()
        self.exit(summary)

    def remember(self) -> None:
        """Keeps how it looks for the next time."""
        stack = [screen for screen in self.screen_stack if isinstance(screen, ConsoleScreen)]
        for screen in stack:
            self._note_look(screen)
        view, theme = stack[1].WHERE if len(stack) > 1 else None, self.appearance.chosen_theme
        session = ConsoleSession(
            view=view.goes_there if view is not None and view.view is not None else "",
            theme=theme,
            theme_over=self.appearance.configured_theme if theme else "",
        )
        overview = next((screen for screen in stack if isinstance(screen, OverviewScreen)), None)
        self.memory.keep(session if overview is None else replace(session, **asdict(overview.arrangement)))

    def _note_look(self, screen: ConsoleScreen) -> None:
        if is_ready(screen) and screen.place.remembered:
            self.memory.note(screen.WHERE, screen.look())

    def close_threads(self) -> None:
        """Ends the threads that read and write."""
        self.poll_timer.poller.close()
        if self._journal_writer is not None:
            self._journal_writer.close()
        if self.queries is not None:
            self.queries.cancel()

    def pop_screen(self) -> AwaitComplete:
        """Closes the screen on top; how it looked is there again when it is opened anew."""
        self._leave_screen()
        return super().pop_screen()

    def switch_screen(self, screen: Screen[None] | str) -> AwaitComplete:
        """Closes the screen on top for another one."""
        self._leave_screen()
        return super().switch_screen(screen)

    def _leave_screen(self) -> None:
        self.left_screens += 1
        if isinstance(self.screen, ConsoleScreen):
            self._note_look(self.screen)
            if self.is_screen_installed(self.screen):
                self.screen.left()

    def on_console_screen_on_top(self, message: ConsoleScreen.OnTop) -> None:
        """A screen is on top now: it is painted as it was, then read for at once."""
        screen = message.screen
        if not self._begun:
            self._begun = screen.call_later(self._begin)
        self.poll_timer.new_screen = True
        self.read_soon(instead=True)
        self.navigation.came_up(screen)
        self.show_header(screen)
        self._show_notices(screen)
        screen.tell_footer()

    def situation(self, screen: ConsoleScreen, about: str = "") -> Situation:
        """What actions depend on: on the screen as what was asked for makes it, and on the console. `about` is an
        origin, or the name of a worker, that they are about, whatever is selected."""
        found = screen.situation()
        if (view := self.live_state.origins.get(about)) is not None:
            found = replace(found, origins=(view,), urls=(), failed=view.failed)
        elif about:
            found = replace(found, workers=tuple(one for one in self.live_state.workers if one.name == about))
        origins = self._asked_for.asked.shown(found.origins) if self._asked_for else found.origins
        return replace(found, origins=origins, frame=screen.frame, hindrances=self._hindrances)

    def _no_end(self) -> str:
        if self.hosting.quitting:
            return "this console is being left"
        run = self.live_state.run
        return "" if run is not None and self.hosting.is_crawling(run) else "no run is at work"

    def _was_read(self, screen: ConsoleScreen) -> None:
        """A reading was taken in: the header shows the first, and the end of a delay, at once; others with its beat."""
        first, self._has_read = not self._has_read, True
        if first and self._operator.watches:
            self.tell("watches", f"read-only: {self._operator.watches}", "warning")
        elif first and self.memory.file.is_first:
            self.tell("selection", "hold shift and drag to select text")
        if first or self.poll_timer.stale or self.clock.mono_ms() - self._header_at >= HEADER_MS:
            self.show_header(screen)

    def show_header(self, screen: ConsoleScreen) -> None:
        """Brings the header up to date."""
        if not is_ready(screen):
            return
        self._header_at, run = self.clock.mono_ms(), self.live_state.run
        lock, known = self.live_state.lock, (self.hosting.locked_since, self.poll_timer.locked_since)
        if lock is None and any(known):  # whoever has noticed it
            lock = Lock(0, min(filter(None, known)))
        locked = lock_words(lock, self.clock.zone, crawling=self.hosting.is_crawling(run)) if lock else ""
        standing = self.hosting.standing(run, self.poll_timer.failure, locked)
        standing = self.replay.standing or standing
        screen.show_replay()
        state = self.live_state.header(
            self.crawl_name or (run.config_name if run else ""),
            standing,
            hz=self.poll_timer.pace.hz,
            stale_ms=self.poll_timer.look_at_age(self.live_state.age_ms()),
        )
        screen.query_one(HeaderBar).tell(replace(state, frozen=screen.frozen))
        tabs = view_tabs(state, self.navigation.view_of(screen), self.appearance.key_names.first)
        screen.query_one("#views", TabBar).tell(*tabs)
        if self.live_state.diagnoses or "diagnosis" in vars(self):
            self.diagnosis.show_on(screen)
        for pane in screen.query(Lines) if not screen.frozen else ():
            pane.count(counted_now(state))

    def tell(self, kind: str, text: str, role: str = "accent") -> None:
        """Shows a short message (raw text)."""
        shown = SHOWN_MS
        if role == "error":
            shown, live_state = ERROR_SHOWN_MS, self.live_state
            live_state.troubles = add_trouble(live_state.troubles, self.clock.wall_ms(), text)
        self.notices = add_notice(self.notices, Notice(kind, text, role, self.clock.mono_ms() + shown))
        if (screen := self.console_screen) is not None:
            self._show_notices(screen)

    def _show_notices(self, screen: ConsoleScreen) -> None:
        now = self.clock.mono_ms()
        self.notices = tuple(notice for notice in self.notices if notice.until_ms > now)
        for box in screen.query(NoticeBox):  # none before its widgets came, or after they went
            box.tell(self.notices)

    def nobodys_key(self, key: str) -> None:
        """A key did nothing where it was pressed: said once of each."""
        if key not in self._dead:
            self._dead.add(key)
            help_key = self.appearance.key_names("help.keys")
            self.tell("no", f"{key_name(key)} does nothing here; {help_key} lists the keys", "muted")

    def on_console_screen_header_wanted(self, _message: ConsoleScreen.HeaderWanted) -> None:
        if self.console_screen is not None:
            self.show_header(self.console_screen)

    def on_bar_opened(self, event: Bar.Opened) -> None:
        goal = event.goal
        if isinstance(goal, int) and self.console_screen is not None:
            self.dispatcher.go_back_to(self.console_screen.crumbs()[:goal])
        elif goal == Where.failures.goes_there:
            self.go_to(Where.failures)  # all that its tab counts, whatever is selected
        else:
            self.do(str(goal))

    def on_crawler_app_signal_caught(self, message: SignalCaught) -> None:
        self.way_out.begin(message.status)

    def on_crawler_app_journal_news(self, message: JournalNews) -> None:
        """Something became of an intent: what it changed is read at once. New work for a run that had ended starts the
        engine again."""
        from tui_crawler.console.operator.journal import IntentOutcome  # noqa: PLC0415  not for a console that only watches

        self.command_queue.heard(message.news)
        news = message.news
        if news.outcome is not IntentOutcome.done:
            return
        if self._beating:
            self.poll_timer.ask(self.console_screen, at_once=True)
        if news.intent.starts and self.hosting.go_on_for(news.intent.commands, news.results):
            self._start_engine()

    def on_crawler_app_engine_ended(self, message: EngineEnded) -> None:
        self.hosting.ended(message.end)
        self.read_soon()
        if self.hosting.quitting:
            self.way_out.engine_over()
        elif message.end.failure:
            self.tell("engine", *message.end.news)

    def on_unmount(self) -> None:
        """Whatever ended the screen, its threads end too."""
        self._restore_signals()
        self.close_threads()
        if self.hosting.at_work and not self.hosting.quitting:
            self.hosting.drain(self.clock.mono_ms())
