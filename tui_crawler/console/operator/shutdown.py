"""The way out of the console: drain with a countdown, force, read a last time, leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.operator.engine_host import DRAIN_MS
from tui_crawler.console.operator.takeover import INTERRUPTED
from tui_crawler.console.screen.lifetime import is_ready
from tui_crawler.console.screen.stack import Screens
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.status_words import GAVE_UP

if TYPE_CHECKING:
    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.dialogs.quit import QuitScreen
    from tui_crawler.console.operator.detach import Departure, Detacher
    from tui_crawler.console.operator.engine_host import HostedEngine
    from tui_crawler.console.operator.exit_summary import ExitSummary
    from tui_crawler.console.reading.poll_loop import PollTimer
    from tui_crawler.console.reading.snapshot import LiveState

LAST_READ_MS = 500
HANGUP_STATUS = 129
_TO_END = frozenset({130, 143})


class ExitHost(Screens, Protocol):
    """What can be left, or put in the background."""

    def run_worker(self, work: Callable[[], Any], name: str, *, exit_on_error: bool) -> object: ...
    def action_suspend_process(self) -> None: ...
    def terminal_leaving(self, leaving: bool = True) -> None: ...
    def leave(self, summary: ExitSummary) -> None: ...


@dataclass()
class ExitActions(Handles):
    """Every way to leave goes through here: `q`, `Q`, ctrl+c, a signal, a terminal that went away. `_detacher` None:
    this console hosts no run that could continue without it."""

    _app: ExitHost
    _hosting: HostedEngine
    _live_state: LiveState
    _poll_timer: PollTimer
    _clock: ConsoleClock
    _detacher: Detacher | None
    _hands_over: bool = False
    _handing_over: bool = False
    _departure: Departure | None = None
    _signal_status: int = 0
    _leave_at: int | None = None
    _again: bool = False

    @property
    def leaving(self) -> bool:
        """Whether the console is only reading a last time."""
        return self._leave_at is not None

    @property
    def hindrance(self) -> str:
        """Why the run of this console cannot go on without it; empty when it can, and when there is none."""
        if not self._hosting.at_work:
            return ""
        return "this run cannot continue without its console" if self._detacher is None else self._detacher.hindrance

    @handles("app.suspend")
    def suspend(self) -> None:
        """Puts the process in the background of the shell; where it crawls, which would stop, asks what is meant."""
        if self._hosting.at_work or self._hosting.starting:
            self.ask("In the background the console and its crawl would stop.")
        else:
            self._app.action_suspend_process()

    @handles("app.ask_quit", "")
    def ask(self, warning: str) -> None:
        """Asks whether to quit; asked again, it is meant. `warning`: why that is asked, where nobody said so."""
        from tui_crawler.console.dialogs.quit import DETACH, AskQuitScreen  # noqa: PLC0415  not before the first paint

        if self._countdown is not None:
            self.force()
            return
        if isinstance(self._app.screen, AskQuitScreen):
            self._app.screen.dismiss(True)
            return

        def answered(yes: object) -> None:
            if yes == DETACH:
                self.detach()
            elif yes is True:
                self.begin(0)

        at_work, run = self._hosting.at_work, self._live_state.run
        elsewhere = (run.owner or "another process") if run is not None and run.live and not at_work else ""
        detachable = at_work and not self.hindrance
        question = AskQuitScreen(at_work, detachable=detachable, elsewhere=elsewhere, warning=warning)
        self._app.push_screen(question, answered)

    @handles("app.detach")
    def detach(self) -> None:
        """Leaves, and has the run of this console go on as a process of its own. Without one: leaves as `q` does."""
        hosting = self._hosting
        if hosting.at_work and not self.hindrance:
            self._hands_over = True
        if not hosting.quitting:
            self.begin(0)

    @handles("app.quit", 0)
    def begin(self, signal_status: int) -> None:
        """Begins the way out; at once when no engine runs here, else with a countdown. The second time it forces."""
        from tui_crawler.console.dialogs.quit import QuitScreen  # noqa: PLC0415  not before the first paint

        app, hosting = self._app, self._hosting
        self._signal_status = self._signal_status or signal_status
        if signal_status in _TO_END:
            self._hands_over = False
        app.terminal_leaving()
        if hosting.quitting:
            self.force()
        elif not hosting.at_work:
            self.read_a_last_time()
        else:
            hosting.drain(self._clock.mono_ms())
            app.push_screen(QuitScreen(self.force, None if self.hindrance else self.detach))

    def terminal_went_away(self) -> None:
        """Nobody can see or press anything any more."""
        if not self._hosting.quitting and not self.leaving:
            self.begin(HANGUP_STATUS)

    @property
    def _countdown(self) -> QuitScreen | None:
        from tui_crawler.console.dialogs.quit import QuitScreen  # noqa: PLC0415  not before the first paint

        top = self._app.screen
        return top if isinstance(top, QuitScreen) else None

    def force(self) -> None:
        self._hosting.force(self._clock.mono_ms())

    def beat(self, now: int) -> None:
        """Moves the countdown on; leaves when all time is over. `now` is monotonic ms."""
        hosting = self._hosting
        top = self._countdown if hosting.quitting and hosting.host is not None else None
        if top is not None and is_ready(top) and hosting.host is not None:
            how = {"forced": hosting.forced, "detaching": self._hands_over, "starting": self._handing_over}
            top.tell(hosting.host.in_flight, hosting.remaining_ms(now), DRAIN_MS, **how)
        stuck = hosting.lost_patience(now) and not self._handing_over
        if stuck or (self._leave_at is not None and now >= self._leave_at):
            self.leave()

    def engine_over(self) -> None:
        """The engine has ended on the way out: the run is handed over, if that is wanted and something is left."""
        end = self._hosting.end
        if self._hands_over and not end.failure and end.reason == INTERRUPTED:
            self._handing_over = True
            self._app.run_worker(self._hand_over, name="detach", exit_on_error=False)
        else:
            self.read_a_last_time()

    async def _hand_over(self) -> None:
        from tui_crawler.console.operator.detach import CannotDetach  # noqa: PLC0415  not before the first paint

        app = self._app
        try:
            if self._detacher is not None:
                self._departure = await asyncio.to_thread(self._detacher.start)
        except CannotDetach as error:  # this console carries it on, unless it was told to end, too
            self._hands_over = self._handing_over = False
            app.tell("detach", f"The crawl stays here: {error}", "error")
            if not self._signal_status:
                self._stay()
                return
        self.read_a_last_time()

    def _stay(self) -> None:
        app = self._app
        if self._countdown is not None:
            app.pop_screen()
        app.terminal_leaving(False)
        self._hosting.stay()
        self._poll_timer.soon()

    def read_a_last_time(self) -> None:
        """Reads once more, so that what is printed at the end is true; then leaves."""
        self._leave_at = self._clock.mono_ms() + LAST_READ_MS
        self._again = self._poll_timer.under_way  # what is being read may be from before the end
        if not self._poll_timer.ask(self._app.console_screen, at_once=True):
            self.leave()

    def was_read(self) -> None:
        """A reading has come back on the way out: leaves, unless it was begun before."""
        again, self._again = self._again, False
        if not again or not self._poll_timer.ask(self._app.console_screen, at_once=True):
            self.leave()

    def leave(self) -> None:
        """Ends the app, also where the engine does not end: it is killed then."""
        if self._hosting.at_work:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  not before the first paint

            # What waits for the engine must not hold up the end of the loop, which waits for its default executor.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        self._app.leave(self.summary())

    def summary(self) -> ExitSummary:
        from tui_crawler.console.operator.exit_summary import ExitSummary  # noqa: PLC0415  not before the first paint

        hosting, live_state = self._hosting, self._live_state
        return ExitSummary(
            signal_status=self._signal_status,
            hosted=hosting.host is not None,
            engine_reason=hosting.end.reason,
            engine_failure=hosting.end.failure,
            engine_stuck=hosting.at_work,
            forced=hosting.forced,
            gave_up=tuple(view.origin for view in live_state.origins.values() if view.finish_reason in GAVE_UP),
            run=live_state.run,
            totals=live_state.totals,
            now=self._clock.wall_ms(),
            departure=self._departure,
            trouble=hosting.trouble or self._poll_timer.failure,
            damaged=self._poll_timer.damaged,
            coverage=live_state.coverage,
        )
