"""The way out of the console: drain with a countdown, force, read a last time, leave."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tui_crawler.console.engine_room import DRAIN_MS
from tui_crawler.console.exit_summary import ExitSummary
from tui_crawler.console.screens.quit import AskQuitScreen, QuitScreen

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp

LAST_READ_MS = 500
HANGUP_STATUS = 129
_GAVE_UP = frozenset({"patience", "database_error"})


class WayOut:
    """Every way to leave goes through here: `q`, ctrl+c, a signal, a terminal that went away."""

    def __init__(self, app: CrawlerApp) -> None:
        """Nothing has begun yet."""
        self._app = app
        self._signal_status = 0
        self._leave_at: int | None = None

    @property
    def leaving(self) -> bool:
        """Whether the console is only reading a last time."""
        return self._leave_at is not None

    def ask(self) -> None:
        """Asks whether to quit; asked again, it is meant."""
        if isinstance(self._app.screen, QuitScreen):
            self.force()
            return
        if isinstance(self._app.screen, AskQuitScreen):
            self._app.screen.dismiss(True)
            return

        def answered(yes: object) -> None:
            if yes is True:
                self.begin()

        self._app.push_screen(AskQuitScreen(self._app.room.at_work), answered)

    def begin(self, signal_status: int = 0) -> None:
        """Begins the way out; at once when no engine runs here, else with a countdown. The second time it forces."""
        app, room = self._app, self._app.room
        self._signal_status = self._signal_status or signal_status
        app.terminal_leaving()
        if room.quitting:
            self.force()
        elif not room.at_work:
            self.read_a_last_time()
        else:
            room.drain(app.clock.mono_ms())
            app.push_screen(QuitScreen())

    def terminal_went_away(self) -> None:
        """Nobody can see or press anything any more."""
        if not self._app.room.quitting and not self.leaving:
            self.begin(HANGUP_STATUS)

    def force(self) -> None:
        """Cancels what is in flight."""
        self._app.room.force(self._app.clock.mono_ms())

    def beat(self, now: int) -> None:
        """Moves the countdown on; leaves when all time is over. `now` is monotonic ms."""
        app, room = self._app, self._app.room
        top = app.screen
        if room.quitting and room.host is not None and isinstance(top, QuitScreen) and top.is_mounted:
            top.tell(room.host.in_flight, room.remaining_ms(now), DRAIN_MS, forced=room.forced)
        if room.lost_patience(now) or (self._leave_at is not None and now >= self._leave_at):
            self.leave()

    def read_a_last_time(self) -> None:
        """Reads once more, so that what is printed at the end is true; then leaves."""
        self._leave_at = self._app.clock.mono_ms() + LAST_READ_MS
        if not self._app.read_now():
            self.leave()

    def leave(self) -> None:
        """Ends the app, with a thread of the engine left behind if it does not end."""
        app = self._app
        app.close_threads()
        if app.room.at_work:
            # A thread that does not end must not hold up the end of the loop, which waits for its default executor.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        app.exit(self.summary())

    def summary(self) -> ExitSummary:
        """What is handed back."""
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
        )
