"""The engine as this console hosts it, and the way out: drain, force, give up waiting. Knows no screen."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from tui_crawler.console.reading.failure_words import failure_words
from tui_crawler.console.reading.snapshot import EngineStanding
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.failure import RunHeld
from tui_crawler.domain.records.status_words import RUNNING, RunReason, run_end
from tui_crawler.text.glyphs import StateGlyph, state_mark

if TYPE_CHECKING:
    from tui_crawler.console.ports import EngineHost
    from tui_crawler.domain.records.command import ActionResult, Command
    from tui_crawler.domain.records.view import RunView

DRAIN_MS = 5_000
GRACE_MS = 3_000
"""After the drain (or a forced stop) the last commit may take so long; then the console leaves without the engine."""


_STARTING = StateGlyph("◐", "starting", "waiting")


class EnginePhase(Enum):
    """Where the hosted engine stands."""

    absent = "absent"  # this console hosts none
    starting = "starting"
    running = "running"
    ended = "ended"
    failed = "failed"


@dataclass(frozen=True, slots=True)
class EngineEnd:
    """How the hosted engine ended: the run's finish reason, or (raw) what went wrong. `held`: it did not begin, since
    another run came first."""

    reason: str = ""
    failure: str = ""
    held: bool = False

    @property
    def news(self) -> tuple[str, str]:
        """What a failure means, in words (raw), and their role."""
        words, role = ("This console is attached", "muted") if self.held else ("The engine failed", "error")
        return f"{words}: {self.failure}", role


def host_engine(host: EngineHost) -> EngineEnd:
    """Runs the engine until it ends (blocking); whatever it raises becomes a value."""
    try:
        return EngineEnd(reason=host.run())
    except RunHeld as held:
        return EngineEnd(failure=str(held), held=True)
    except Exception as error:  # shown as a state, never as a traceback
        return EngineEnd(failure=failure_words(error))


class HostedEngine:
    """Where the engine stands, and how far the quit path has come. Times are monotonic ms."""

    def __init__(self, host: EngineHost | None) -> None:
        self.host = host
        self.phase = EnginePhase.absent if host is None else EnginePhase.starting
        self.end = EngineEnd()
        self._has_run = False  # the run of the engine at work has been seen
        self.drain_until: int | None = None
        self.forced = False
        self._give_up_at = 0

    @property
    def at_work(self) -> bool:
        """Whether leaving now would leave an engine behind."""
        return self.phase is EnginePhase.running

    @property
    def starting(self) -> bool:
        """Whether an engine of this console is about to crawl, and its run has not been seen yet."""
        return self.phase is EnginePhase.starting or (
            self.phase is EnginePhase.running and not self._has_run and not self.quitting
        )

    @property
    def quitting(self) -> bool:
        """Whether the way out has begun."""
        return self.drain_until is not None

    def started(self) -> None:
        """Notes that the engine has been started. It is starting for everybody until its run is there."""
        self.phase, self._has_run = EnginePhase.running, False

    def go_on_for(self, commands: Sequence[Command], results: Sequence[ActionResult] = ()) -> bool:
        """Whether the hosted run has ended by itself and these commands bring it work: then it is to start again.
        `results` are what became of them, in their order."""
        from tui_crawler.domain.records.command import AddSeeds, RetryPages, TopUpPatience  # noqa: PLC0415  not before the paint

        bring_work = any(isinstance(one, AddSeeds | RetryPages | TopUpPatience) for one in commands)
        again = bring_work or any(map(_lets_go_on, commands, results))
        if not again or self.phase is not EnginePhase.ended or self.quitting:
            return False
        self.phase, self.end = EnginePhase.starting, EngineEnd()
        return True

    def take_over(self, host: EngineHost) -> None:
        """This console, which hosted none, hosts an engine now: it is to start."""
        self.host, self.phase, self.end = host, EnginePhase.starting, EngineEnd()

    def stay(self) -> None:
        """The way out was not taken after all: the engine is to start again."""
        self.drain_until, self.forced = None, False
        self.phase, self.end = EnginePhase.starting, EngineEnd()

    def ended(self, end: EngineEnd) -> None:
        """Notes how the engine ended. One that did not begin leaves this console attached to the run that did."""
        if end.held and not self.quitting:
            self.host, self.phase = None, EnginePhase.absent
        else:
            self.end, self.phase = end, EnginePhase.failed if end.failure else EnginePhase.ended

    def drain(self, now: int) -> None:
        """Begins the way out: no more URLs; what is in flight may end."""
        if not self.quitting:
            self._stop(now, DRAIN_MS)

    def force(self, now: int) -> None:
        """Cancels what is in flight."""
        self.forced = True
        self._stop(now, 0)

    def _stop(self, now: int, drain_ms: int) -> None:
        self.drain_until = now + drain_ms
        self._give_up_at = self.drain_until + GRACE_MS
        if self.host is not None:
            self.host.stop(drain_ms)

    def remaining_ms(self, now: int) -> int:
        """How long running requests still have."""
        return max(0, (self.drain_until or now) - now)

    def lost_patience(self, now: int) -> bool:
        return self.quitting and now >= self._give_up_at

    def wake(self) -> None:
        """Tells a hosted engine that the journal has new rows (from any thread)."""
        if self.host is not None and self.phase is EnginePhase.running:
            self.host.wake()

    @property
    def trouble(self) -> str:
        """Why the database does not take what the hosted engine crawls (raw)."""
        return "" if self.host is None else self.host.trouble

    def is_crawling(self, run: RunView | None) -> bool:
        """Whether somebody crawls, here or elsewhere."""
        return self.at_work or (self.phase is EnginePhase.absent and run is not None and run.live)

    @property
    def locked_since(self) -> int:
        """Since when (epoch ms) another program's lock holds up the hosted engine; 0 while none does."""
        return self.host.locked_since if self.host is not None else 0

    def standing(self, run: RunView | None, trouble: str = "", lock: str = "") -> EngineStanding:
        """Who crawls, for the header; `trouble` is what keeps the console from seeing it (raw), `lock` that another
        program keeps the database locked, in words."""
        if lock and self.phase is not EnginePhase.failed:
            return EngineStanding(StateGlyph("⚠", "database locked", "error"), lock)
        trouble = self.trouble or trouble
        match self.phase:
            case EnginePhase.failed:
                return EngineStanding(StateGlyph("✗", "engine failed", "error"), self.end.failure)
            case EnginePhase.starting:
                return EngineStanding(_STARTING, trouble, starting=True)
            case EnginePhase.running if self.quitting:
                return EngineStanding(state_mark("stopping"), trouble)
            case EnginePhase.running:
                seen = run is not None and run.live and self.host is not None and self.host.running
                self._has_run = self._has_run or seen
                if self.starting:
                    return EngineStanding(_STARTING, trouble, starting=True)
                return EngineStanding(StateGlyph("▶", RUNNING, "active"), trouble)
            case EnginePhase.ended:
                mark = StateGlyph("■", "stopped", "warning") if trouble else _ended(self.end.reason)
                return EngineStanding(mark, trouble)
            case EnginePhase.absent:
                if run is not None and run.live:
                    return EngineStanding(StateGlyph("●", "attached", "active"), trouble, attached=True)
                return EngineStanding(StateGlyph("○", "idle", "muted"), trouble)


def _lets_go_on(command: Command, result: ActionResult) -> bool:
    """Whether what kept origins or pages from being asked was taken back: a pause, entries of the exclusion list, or
    rules. A new run gives new patience to all that gave up: that is no side effect of a resume that brings no work."""
    import json  # noqa: PLC0415  not before the first paint

    from tui_crawler.domain.records.command import ApplyRules, Exclude, ResumeOrigins  # noqa: PLC0415  the same

    after = json.loads(result.after) if result.after else {}
    match command:
        case ResumeOrigins():
            return bool(after.get("let_go"))
        case ApplyRules() | Exclude(remove=True):
            return bool(after.get("origins") or after.get("pages"))
        case _:
            return False


def _ended(reason: str) -> StateGlyph:
    states = {RunReason.exhausted.value: "finished", RunReason.operator.value: "stopped"}
    return state_mark(states[reason]) if reason in states else StateGlyph("■", run_end(reason)[0], "warning")
