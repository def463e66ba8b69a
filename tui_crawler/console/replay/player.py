"""Where a replay stands and where it is to go. The screen asks; the thread that reads takes it there, and says so."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from textual.app import SuspendNotSupported

from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.reading.snapshot import EngineStanding
from tui_crawler.domain.history.replayed import ReplayGoal, ReplayMoment, ReplaySpan
from tui_crawler.domain.record import dataclass, field
from tui_crawler.text.format import time_meant
from tui_crawler.text.glyphs import StateGlyph

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import tzinfo

    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.panes.notice import Notify
    from tui_crawler.console.reading.snapshot import LiveState

SPEEDS = (1, 10, 60, 300, 1_000)
FASTEST = SPEEDS[-1]


@dataclass(frozen=True, slots=True)
class PlayerState:
    """What is shown of a replay. `under_way`: it is not yet where it is to go."""

    moment: ReplayMoment = field(default_factory=ReplayMoment)
    span: ReplaySpan = field(default_factory=ReplaySpan)
    speed: float = 1
    playing: bool = False
    under_way: bool = True


class ReplayPlayer:
    """A position in the log, moved by hand or by the clock. Safe to use from the screen's and the reading thread."""

    def __init__(self, clock: ConsoleClock) -> None:
        """`clock` is that of the machine: time passes by it. It begins at the beginning."""
        self._clock = clock
        self._lock = threading.Lock()
        self._goal: ReplayGoal | None = ReplayGoal(at=0)
        self._moment, self._span = ReplayMoment(), ReplaySpan()
        self._speed: float = 1
        self._playing_since: tuple[int, int] | None = None  # monotonic ms, and the moment then

    # asked by the screen

    @property
    def state(self) -> PlayerState:
        """How it stands."""
        with self._lock:
            playing = self._playing_since is not None
            return PlayerState(self._moment, self._span, self._speed, playing, self._goal is not None)

    @property
    def at(self) -> int:
        """The time of what is shown (epoch ms)."""
        return self._moment.at

    def go(self, goal: ReplayGoal) -> None:
        """Goes there in place of where it was on the way to."""
        with self._lock:
            self._goal = goal

    def play(self, playing: bool | None = None) -> None:
        """Lets time pass, or holds it still; None: the other of both."""
        with self._lock:
            wanted = self._playing_since is None if playing is None else playing
            self._playing_since = (self._clock.mono_ms(), self._moment.at) if wanted else None

    def run_at(self, speed: float) -> None:
        """So many times as fast."""
        with self._lock:
            self._speed = speed
            if self._playing_since is not None:
                self._playing_since = self._clock.mono_ms(), self._moment.at

    # asked by the thread that reads

    def wanted(self) -> ReplayGoal | None:
        """Where to go now; None: nowhere."""
        with self._lock:
            if self._goal is not None or self._playing_since is None:
                return self._goal
            since, at = self._playing_since
            return ReplayGoal(at=at + round((self._clock.mono_ms() - since) * self._speed))

    def arrived(self, goal: ReplayGoal, moment: ReplayMoment, span: ReplaySpan) -> None:
        """It was taken to a goal; at the end it stops playing."""
        with self._lock:
            self._moment, self._span = moment, span
            if self._goal == goal:
                self._goal = None
                if self._playing_since is not None:
                    self._playing_since = self._clock.mono_ms(), moment.at
            if moment == span.last:
                self._playing_since = None


class ReplayClock:
    """The clocks of a console that shows a crawl as of then: the time of day is that of then."""

    def __init__(self, machine: ConsoleClock, player: ReplayPlayer) -> None:
        self._player = player
        self.zone, self.mono_ms, self.busy_ms = machine.zone, machine.mono_ms, machine.busy_ms

    def wall_ms(self) -> int:
        return self._player.at


@dataclass(frozen=True, slots=True)
class Replays:
    """A crawl seen as of then. `player`: this console shows one, where that stands. `opens` shows a run again on this
    terminal until that is left (blocking); None: nobody does."""

    player: ReplayPlayer | None = None
    opens: Callable[[int], None] | None = None


class ReplayHost(Protocol):
    """What a replay uses of the app."""

    @property
    def tell(self) -> Notify: ...
    def read_soon(self, *, instead: bool = False) -> None: ...
    def suspend(self) -> AbstractContextManager[None]: ...


class ReplayControls(Handles):
    """What the keys of a replay do; in a console of now, opening one."""

    def __init__(self, app: ReplayHost, replays: Replays, live_state: LiveState, zone: tzinfo) -> None:
        self.player = replays.player
        self._app, self._opens, self._live_state, self._zone = app, replays.opens, live_state, zone

    @property
    def standing(self) -> EngineStanding | None:
        """What a header says of who crawls; None: this is no replay."""
        return None if self.player is None else EngineStanding(StateGlyph("●", "as of then", "warning"))

    @property
    def why_not_opened(self) -> str:
        """What is in the way of opening a replay, in words."""
        if self.player is not None:
            return "this is a replay"
        unseen = self._opens is None or self._live_state.run is None
        return "there is no run to be seen again" if unseen else ""

    @handles("replay.open")
    def open(self) -> None:
        """Shows the run at hand again, in the place of this console until that is left."""
        run = self._live_state.run
        if self._opens is None or run is None:
            return
        trouble: Exception | None = None
        try:
            with self._app.suspend():  # what crawls goes on meanwhile
                try:
                    self._opens(run.run_id)
                except Exception as error:  # held back: Textual takes the terminal back only where nothing is raised
                    trouble = error
        except SuspendNotSupported:
            self._app.tell("no", "there is no terminal that a replay could have", "warning")
        if trouble is not None:
            raise trouble

    @handles("replay.play")
    def play(self) -> None:
        """Lets time pass, or holds it still."""
        if self.player is not None:
            self.player.play()
            self._app.read_soon(instead=True)

    @handles("replay.speed")
    def change_speed(self, text: str) -> None:
        """Goes as fast as typed, or the next of the usual speeds."""
        if self.player is None:
            return
        now = self.player.state.speed
        try:
            speed = float(text.rstrip("x×")) if text else next((one for one in SPEEDS if one > now), SPEEDS[0])
        except ValueError:
            speed = 0
        if 1 <= speed <= FASTEST:
            self.player.run_at(speed)
        else:
            self._app.tell("no", f"speed {text}: from 1 to {FASTEST:,} times", "warning")

    @handles("replay.next", ReplayGoal(attempts=1))
    @handles("replay.previous", ReplayGoal(attempts=-1))
    @handles("replay.next_failure", ReplayGoal(failures=1))
    @handles("replay.previous_failure", ReplayGoal(failures=-1))
    @handles("replay.next_mark", ReplayGoal(marks=1))
    @handles("replay.previous_mark", ReplayGoal(marks=-1))
    @handles("replay.first", ReplayGoal(at=0))
    @handles("replay.last", ReplayGoal(at=2**62))
    def go(self, goal: ReplayGoal) -> None:
        """Goes there, and stays."""
        if self.player is not None:
            self.player.play(playing=False)
            self.player.go(goal)
            self._app.read_soon(instead=True)

    def go_to_time(self, text: str) -> bool:
        """Goes to a time that is typed; False: this is no replay."""
        if self.player is None:
            return False
        at = time_meant(text, self.player.state.span.last.at, self._zone)
        if at is None:
            self._app.tell("no", f"goto {text}: no time; 10:21, 10:21:30, 2026-01-31 10:21 and -5m are", "warning")
        else:
            self.player.go(ReplayGoal(at=at))
            self._app.read_soon(instead=True)
        return True
