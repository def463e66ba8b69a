"""What the console hands back when it is left: the exit status, and a few plain lines to print. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.domain.history.idle_reason import worked_ms
from tui_crawler.domain.records.status_words import BROKEN_OFF, RunReason, run_end
from tui_crawler.text.coverage import coverage_lines
from tui_crawler.text.format import count, elapsed, plural, size
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from tui_crawler.console.operator.detach import Departure
    from tui_crawler.domain.history.coverage import Coverage
    from tui_crawler.domain.records.view import RunView, TotalsView

_TOTAL_NAMES = ("done", "failed", "blocked")


@dataclass(frozen=True, slots=True)
class ExitSummary:
    """How a session at the console ended. `now` is epoch ms; `engine_failure`, `trouble` and `unwritten` are raw text.

    `signal_status` is 130, 143 or 129 after a signal, else 0. `engine_reason` is the finish reason of the run this
    console hosted ("" when it hosted none). `engine_stuck`: the engine did not end in time; the caller must end the
    process itself (`os._exit`) after printing. `crashed`: by an error of the console itself. `trouble`: why the
    database did not take what was crawled, or could not be read, to the end; `damaged`: it is not intact any more.
    `departure`: the run continues as a process of its own. `unwritten`: commands that a lock kept from being written.
    """

    signal_status: int = 0
    hosted: bool = False
    engine_reason: str = ""
    engine_failure: str = ""
    engine_stuck: bool = False
    forced: bool = False
    gave_up: tuple[str, ...] = ()
    run: RunView | None = None
    totals: TotalsView | None = None
    now: int = 0
    terminal_lost: bool = False
    crashed: bool = False
    departure: Departure | None = None
    trouble: str = ""
    unwritten: tuple[str, ...] = ()
    damaged: bool = False
    coverage: Coverage | None = None

    @property
    def exit_status(self) -> int:
        """The exit status (docs/behaviour.md), without knowledge of what hosting refused: 3 could not run."""
        if self.signal_status:
            return self.signal_status
        if self.engine_failure or self.crashed or (self.hosted and self.damaged):
            return 3
        lost = self.gave_up or self.trouble or (self._covered is not None and self._covered.nothing)
        return 1 if self.hosted and lost and self.departure is None else 0

    def lines(self) -> tuple[str, ...]:
        """Plain text for the terminal, every line safe to print; nothing when the terminal would not take it."""
        if self.terminal_lost:
            return ()
        lines = []
        run = self.run
        if run is not None:
            name = f" of {safe(run.config_name, 80)}" if run.config_name else ""
            spent = elapsed(worked_ms(run, self.now))
            turns = f"{plural(run.requests, 'turn')} with a request"
            state, why = self._state(run)
            lines.append(f"Run {run.run_id}{name}: {state} after {spent} and {turns}{why and '; '}{why}.")
        if self.engine_failure:
            lines.append(f"The engine failed: {safe(self.engine_failure)}")
        if self.trouble and (run is None or not self.engine_failure):
            lines.append(f"The database failed: {safe(self.trouble)}")
        if (totals := self.totals) is not None:
            sums = ", ".join(f"{count(getattr(totals, name))} {name}" for name in _TOTAL_NAMES)
            lines.append(
                f"In all runs: {plural(totals.requests, 'request')}, {size(totals.bytes)}; pages: {sums}, "
                f"{count(totals.pending)} pending."
            )
        if self.gave_up:
            names = ", ".join(safe(origin, 100) for origin in self.gave_up[:5])
            more = f" and {len(self.gave_up) - 5} more" if len(self.gave_up) > 5 else ""
            lines.append(f"Stopped after errors: {names}{more}.")
        lines += () if self._covered is None else coverage_lines(self._covered)
        lines += [f"Not written: {safe(says, 200)}; the database stayed locked." for says in self.unwritten]
        if self.engine_stuck:
            lines.append("The engine did not end in time; the next start continues this run.")
        if self.departure is not None:
            lines += self.departure.lines()
        return tuple(lines)

    @property
    def _covered(self) -> Coverage | None:
        known = self.run is not None and self.coverage is not None and self.coverage.run == self.run
        return self.coverage if known else None

    def _state(self, run: RunView) -> tuple[str, str]:
        if self.departure is not None or (not self.hosted and run.live):
            elsewhere = f" in {safe(run.owner, 80)}" if run.owner and self.departure is None else ""
            return f"continues{elsewhere}", ""
        if not self.hosted and not run.finished_at:
            return BROKEN_OFF, "the next start continues it"
        if self.hosted and self.forced:
            return "stopped by force", ""
        reason = self.engine_reason if self.hosted else run.finish_reason
        if not reason:
            return "stopped", ""
        if reason == RunReason.exhausted and self.trouble:
            return "ended early", ""
        return run_end(safe(reason, 40), None if self.totals is None else self.totals.pending)
