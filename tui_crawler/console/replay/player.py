"""Where a replay stands and where it is to go. The screen asks; the thread that reads takes it there, and says so."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from textual.app import SuspendNotSupported

from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.reading.snapshot import EngineStanding
from tui_crawler.domain.history.replayed import ReplayGoal, ReplayMoment, ReplaySpan
from tui_crawler.domain.record import dataclass, field, replace
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
        self._since = 0, 0  # from when on time passes: monotonic ms, and the moment then
        self.state = PlayerState()

    @property
    def at(self) -> int:
        """The time of what is shown (epoch ms)."""
        return self.state.moment.at

    def _pass_on(self, *, playing: bool, speed: float) -> None:
        self.state = replace(self.state, playing=playing, speed=speed)
        self._since = self._clock.mono_ms(), self.at

    # asked by the screen

    def go(self, goal: ReplayGoal) -> None:
        with self._lock:
            self._goal, self.state = goal, replace(self.state, under_way=True)

    def play(self, playing: bool | None = None) -> None:
        with self._lock:
            self._pass_on(playing=not self.state.playing if playing is None else playing, speed=self.state.speed)

    def run_at(self, speed: float) -> None:
        """So many times as fast."""
        with self._lock:
            self._pass_on(playing=self.state.playing, speed=speed)

    # asked by the thread that reads

    def wanted(self) -> ReplayGoal | None:
        """Where to go now; None: nowhere."""
        with self._lock:
            if self._goal is not None or not self.state.playing:
                return self._goal
            since, at = self._since
            return ReplayGoal(at=at + round((self._clock.mono_ms() - since) * self.state.speed))

    def arrived(self, goal: ReplayGoal, moment: ReplayMoment, span: ReplaySpan) -> None:
        """It was taken to a goal; at the end it stops playing."""
        with self._lock:
            if self._goal == goal:
                self._goal, self._since = None, (self._clock.mono_ms(), moment.at)
            playing, under_way = self.state.playing and moment != span.last, self._goal is not None
            self.state = replace(self.state, moment=moment, span=span, playing=playing, under_way=under_way)


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
        return None if self.player is None else EngineStanding(StateGlyph("●", "replay", "warning"))

    @property
    def why_not_opened(self) -> str:
        """What is in the way of opening a replay, in words."""
        if self.player is not None:
            return "this is a replay"
        unseen = self._opens is None or self._live_state.run is None
        return "there is no run to replay" if unseen else ""

    @handles("replay.open")
    def open(self) -> None:
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
            self._app.tell("no", "there is no terminal for a replay", "warning")
        if trouble is not None:
            raise trouble

    @handles("replay.play")
    def play(self) -> None:
        if self.player is not None:
            self.player.play()
            self._app.read_soon(instead=True)

    @handles("replay.speed")
    def change_speed(self, text: str) -> None:
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
            self._app.tell("no", f"goto {text}: not a time (10:21, 10:21:30, 2026-01-31 10:21, -5m)", "warning")
        else:
            self.player.go(ReplayGoal(at=at))
            self._app.read_soon(instead=True)
        return True
