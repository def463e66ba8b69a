"""The way out of the console: drain with a countdown, force, read a last time, leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tui_crawler.console.engine_room import DRAIN_MS
from tui_crawler.console.screens.lifetime import stands
from tui_crawler.console.session import session_of
from tui_crawler.domain.endings import FinishReason

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.departure import Departure, Detacher
    from tui_crawler.console.exit_summary import ExitSummary
    from tui_crawler.console.screens.quit import QuitScreen

LAST_READ_MS = 500
HANGUP_STATUS = 129
INTERRUPTED = "interrupted"
"""The finish reason of a run that was told to end, and that another process can carry on."""
_TO_END = frozenset({130, 143})
_GAVE_UP = frozenset({FinishReason.patience.value, FinishReason.database_error.value})


class WayOut:
    """Every way to leave goes through here: `q`, `Q`, ctrl+c, a signal, a terminal that went away."""

    def __init__(self, app: CrawlerApp, detacher: Detacher | None = None) -> None:
        """Nothing has begun yet. `detacher` None: this console hosts no run that could go on without it."""
        self._app = app
        self._detacher = detacher
        self._hands_over = self._handing_over = False
        self._departure: Departure | None = None
        self._signal_status = 0
        self._leave_at: int | None = None
        self._again = False

    @property
    def leaving(self) -> bool:
        """Whether the console is only reading a last time."""
        return self._leave_at is not None

    @property
    def hindrance(self) -> str:
        """Why the run of this console cannot go on without it; empty when it can, and when there is none."""
        if not self._app.room.at_work:
            return ""
        return "this run cannot go on without its console" if self._detacher is None else self._detacher.hindrance

    def suspend(self) -> None:
        """Puts the process in the background of the shell; where it crawls, which would stop, asks what is meant."""
        if self._app.room.at_work or self._app.room.starting:
            self.ask("In the background this console would stand still, and its crawl with it.")
        else:
            self._app.action_suspend_process()

    def ask(self, warning: str = "") -> None:
        """Asks whether to quit; asked again, it is meant. `warning`: why that is asked, where nobody said so."""
        from tui_crawler.console.screens.quit import DETACH, AskQuitScreen  # noqa: PLC0415  not before the first paint

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
                self.begin()

        at_work, run = self._app.room.at_work, self._app.picture.run
        elsewhere = (run.owner or "another process") if run is not None and run.live and not at_work else ""
        detachable = at_work and not self.hindrance
        self._app.push_screen(
            AskQuitScreen(at_work, detachable=detachable, elsewhere=elsewhere, warning=warning), answered
        )

    def detach(self) -> None:
        """Leaves, and has the run of this console go on as a process of its own. Without one: leaves as `q` does."""
        room = self._app.room
        if room.at_work and not self.hindrance:
            self._hands_over = True
        if not room.quitting:
            self.begin()

    def begin(self, signal_status: int = 0) -> None:
        """Begins the way out; at once when no engine runs here, else with a countdown. The second time it forces."""
        from tui_crawler.console.screens.quit import QuitScreen  # noqa: PLC0415  not before the first paint

        app, room = self._app, self._app.room
        self._signal_status = self._signal_status or signal_status
        if signal_status in _TO_END:
            self._hands_over = False
        app.terminal_leaving()
        if room.quitting:
            self.force()
        elif not room.at_work:
            self.read_a_last_time()
        else:
            room.drain(app.clock.mono_ms())
            app.push_screen(QuitScreen(detachable=not self.hindrance))

    def terminal_went_away(self) -> None:
        """Nobody can see or press anything any more."""
        if not self._app.room.quitting and not self.leaving:
            self.begin(HANGUP_STATUS)

    @property
    def _countdown(self) -> QuitScreen | None:
        """The countdown, while it is on top."""
        from tui_crawler.console.screens.quit import QuitScreen  # noqa: PLC0415  not before the first paint

        top = self._app.screen
        return top if isinstance(top, QuitScreen) else None

    def force(self) -> None:
        """Cancels what is in flight."""
        self._app.room.force(self._app.clock.mono_ms())

    def beat(self, now: int) -> None:
        """Moves the countdown on; leaves when all time is over. `now` is monotonic ms."""
        room = self._app.room
        top = self._countdown if room.quitting and room.host is not None else None
        if top is not None and stands(top) and room.host is not None:
            if self._handing_over:
                top.tell_start()
            else:
                left = room.remaining_ms(now)
                top.tell(room.host.in_flight, left, DRAIN_MS, forced=room.forced, detaching=self._hands_over)
        stuck = room.lost_patience(now) and not self._handing_over
        if stuck or (self._leave_at is not None and now >= self._leave_at):
            self.leave()

    def engine_over(self) -> None:
        """The engine has ended on the way out: the run is handed over, if that is wanted and something is left."""
        end = self._app.room.end
        if self._hands_over and not end.failure and end.reason == INTERRUPTED:
            self._handing_over = True
            self._app.run_worker(self._hand_over(), name="detach", group="detach", exit_on_error=False)
        else:
            self.read_a_last_time()

    async def _hand_over(self) -> None:
        from tui_crawler.console.departure import CannotDetach  # noqa: PLC0415  not before the first paint

        detacher = self._detacher
        try:
            if detacher is not None:
                self._departure = await asyncio.to_thread(detacher.start)
        except CannotDetach as error:
            self._stay(str(error))
        else:
            self.read_a_last_time()

    def _stay(self, reason: str) -> None:
        """The run could not be handed over: this console carries it on, unless it was told to end, too."""
        app = self._app
        self._hands_over = self._handing_over = False
        app.tell("detach", f"The crawl stays here: {reason}", "error")
        if self._signal_status:
            self.read_a_last_time()
            return
        if self._countdown is not None:
            app.pop_screen()
        app.terminal_leaving(False)
        app.room.stay()
        app.read_soon()

    def read_a_last_time(self) -> None:
        """Reads once more, so that what is printed at the end is true; then leaves."""
        self._leave_at = self._app.clock.mono_ms() + LAST_READ_MS
        self._again = self._app.reading  # what is being read may be from before the end
        if not self._app.read_now():
            self.leave()

    def was_read(self) -> None:
        """A reading has come back on the way out: leaves, unless it was begun before."""
        again, self._again = self._again, False
        if not again or not self._app.read_now():
            self.leave()

    def leave(self) -> None:
        """Ends the app, with a thread of the engine left behind if it does not end."""
        app = self._app
        app.memory.keep(session_of(app))
        app.close_threads()
        if app.room.at_work:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  not before the first paint

            # A thread that does not end must not hold up the end of the loop, which waits for its default executor.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        app.exit(self.summary())

    def summary(self) -> ExitSummary:
        """What is handed back."""
        from tui_crawler.console.exit_summary import ExitSummary  # noqa: PLC0415  not before the first paint

        room, picture = self._app.room, self._app.picture
        return ExitSummary(
            signal_status=self._signal_status,
            hosted=room.host is not None,
            engine_reason=room.end.reason,
            engine_failure=room.end.failure,
            engine_stuck=room.at_work,
            forced=room.forced,
            gave_up=tuple(view.origin for view in picture.origins.values() if view.finish_reason in _GAVE_UP),
            run=picture.run,
            totals=picture.totals,
            now=self._app.clock.wall_ms(),
            departure=self._departure,
            trouble=room.trouble or self._app.rounds.failure,
            damaged=self._app.rounds.damaged,
        )
