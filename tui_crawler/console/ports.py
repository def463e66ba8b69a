"""What the console needs from outside: rows to show, rows to ask with, and a host for the engine.

The console owns these protocols; wiring hands it what fits. Reports and Journal are called from thread workers,
never from the screen's event loop, and each from one thread at a time. What a report answers is said where it is made
(`storage/reports`); a view has a protocol of its own of what it reads besides (`queries.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # they take long to load, and nothing needs them before the first paint
    from collections.abc import Callable

    from tui_crawler.domain.history.explanation import Explanation
    from tui_crawler.domain.records.command import ActionResult, Command
    from tui_crawler.domain.records.operator_view import ActionView, QueryAnswer
    from tui_crawler.domain.records.page_view import ExitCountView, OriginHistory, RefusedView, TodoView
    from tui_crawler.domain.records.view import AttemptView, OriginView, RunView
    from tui_crawler.domain.rules.exclusion import Exclusion
    from tui_crawler.domain.rules.preview import Preview
    from tui_crawler.domain.rules.ruleset import RulesetChange, RulesProblem


class OriginReports(Protocol):
    """What is kept of one origin."""

    def origin(self, origin: str) -> OriginView | None: ...
    def history(self, origin: str) -> OriginHistory: ...
    def todo(self, origin: str, limit: int) -> tuple[TodoView, ...]: ...
    def exit_counts(self, origin: str, now: int) -> tuple[ExitCountView, ...]: ...


class AttemptReports(Protocol):
    """The crawl log."""

    def attempts(
        self, origin: str = "", before_id: int = 0, after_id: int = 0, limit: int = 200
    ) -> tuple[AttemptView, ...]: ...


class ActionReports(Protocol):
    """The operator journal."""

    def actions(
        self, limit: int, before_id: int = 0, after_id: int = 0, oldest_first: bool = False
    ) -> tuple[ActionView, ...]: ...


class RefusedReports(Protocol):
    """What filters kept out."""

    def refused(self, origin: str) -> tuple[RefusedView, ...]: ...


class Reports(OriginReports, AttemptReports, Protocol):
    """What every reading reads, through a connection of its own; what a view reads besides is said beside its queries.

    Every report raises domain.run.StorageFailure when the database cannot be read.
    """

    def stop_when(self, stops: Callable[[], bool]) -> None: ...
    def data_version(self) -> int:
        """Another number after every commit; a smaller one where time went back."""

    def lock_holder(self) -> int: ...
    def run(self) -> RunView | None: ...
    def origins_changed(self, since: int) -> tuple[OriginView, ...]: ...
    def close(self) -> None: ...


class Explainer(Protocol):
    """Says why a URL was (not) crawled. Made in the reading thread for its reports, and called only there."""

    def explain(self, written: str, now: int, job: str = "") -> Explanation:
        """The whole decision chain of any URL at `now` (epoch ms). Raises StorageFailure, NoSuchJob."""


class RuleQueries(Protocol):
    """What a draft of rules asks; from any thread."""

    def read(self, text: str) -> RulesetChange | tuple[RulesProblem, ...]:
        """Return the change that a text makes, or what is wrong with it. Blocking. Entries know their line:
        `console:3`."""

    def impact(self, change: RulesetChange, job: str) -> ImpactCount:
        """Counts what a change of a job's rules would block and revive among all known URLs."""

    def impact_of_exclusions(self, more: tuple[Exclusion, ...]) -> ImpactCount:
        """The same of more entries of the operators' exclusion list, which hold for every job."""


class ImpactCount(Protocol):
    """What one change would do, judged by the rules that were in force when it began. For one thread."""

    def go_on(self, progress: Callable[[int], None]) -> Preview:
        """Judges the URLs that became known since the last time, at first all of them; answers for all. Blocking;
        `progress` is told how many were judged, and what it raises ends the judging. Raises StorageFailure."""


class Queries(Protocol):
    """Answers questions in SQL that only read, bounded in time and rows. Nothing it does can change the database."""

    def schema(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The views and their columns. Raises StorageFailure."""

    def ask(self, text: str) -> QueryAnswer:
        """Answers one statement. Blocking; in any thread, one at a time. Raises QueryProblem, StorageFailure."""

    def cancel(self) -> None:
        """Ends the question that is being answered (from any thread)."""


class Journal(Protocol):
    """Where the operator's wishes are written as rows; a live engine takes them up within a second."""

    def send(self, command: Command, who: str, undoes: int = 0) -> int:
        """Writes a command; answers its action id. `undoes` names the action that it takes back. Raises
        StorageFailure."""

    def result(self, action_id: int) -> ActionResult | None:
        """What became of it, None while nobody has taken it up."""

    def close(self) -> None:
        """Closes the connection."""


class EngineHost(Protocol):
    """The engine as this console hosts it: in a process of its own. Knows no screen."""

    def run(self) -> str:
        """Runs the engine until it ends (blocking; call it in a thread worker). Answers the run's finish reason.

        Raises RunHeld, EngineFailed.
        """

    def wake(self) -> None:
        """Tells the engine that the journal has new rows (from any thread)."""

    def stop(self, drain_ms: int) -> None:
        """Takes no more URLs, lets running requests end for `drain_ms`, then cancels them (from any thread)."""

    @property
    def running(self) -> bool:
        """Whether the engine has its run: before, another process may get it."""

    @property
    def trouble(self) -> str:
        """Why the database does not take what is crawled, or did not to the end; empty while it does (raw)."""

    @property
    def locked_since(self) -> int:
        """Since when (epoch ms) another program's lock keeps the database from taking anything; 0 while none does."""

    @property
    def in_flight(self) -> int:
        """How many requests are under way, for the countdown of the quit path."""
