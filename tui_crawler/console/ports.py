"""What the console needs from outside: rows to show, rows to ask with, and a host for the engine.

The console owns these protocols; wiring hands it what fits. Reports and Journal are called from thread workers,
never from the screen's event loop, and each from one thread at a time.
"""

from __future__ import annotations

from typing import Protocol

from tui_crawler.domain.command import ActionResult, Command
from tui_crawler.domain.view import (
    ActionView,
    AttemptView,
    ExitCountView,
    FailureGroup,
    OriginChanges,
    OriginHistory,
    OriginView,
    PageDetail,
    PageView,
    RunView,
    TodoView,
    TotalsView,
)


class Reports(Protocol):
    """The read-only side of the database. Raises domain.run.StorageFailure when it cannot be read."""

    def data_version(self) -> int:
        """Changes when another connection has committed; cheap."""
        ...

    def run(self) -> RunView | None:
        """The newest run."""
        ...

    def totals(self) -> TotalsView:
        """The sums over all origins."""
        ...

    def origins_changed(self, since: int) -> OriginChanges:
        """Origins that changed after change number `since` (0: all)."""
        ...

    def origin(self, origin: str) -> OriginView | None:
        """One origin."""
        ...

    def history(self, origin: str) -> OriginHistory:
        """Patience lost, delays changed, links refused of one origin."""
        ...

    def todo(self, origin: str, limit: int) -> tuple[TodoView, ...]:
        """The first pages of a todo list, in the order of the turns."""
        ...

    def attempts(
        self, origin: str = "", before_id: int = 0, after_id: int = 0, limit: int = 200, problems_only: bool = False
    ) -> tuple[AttemptView, ...]:
        """A window of the crawl log by keyset, newest first; an empty origin means all."""
        ...

    def exit_counts(self, origin: str, now: int) -> tuple[ExitCountView, ...]:
        """How attempts ended in the newest run; `now` (epoch ms) ends the last five minutes."""
        ...

    def failure_groups(self, by: tuple[str, ...]) -> tuple[FailureGroup, ...]:
        """Failed pages grouped by any of exit_code, origin, pattern."""
        ...

    def failure_pages(
        self, exit_code: str = "", origin: str = "", after_id: int = 0, limit: int = 200
    ) -> tuple[PageView, ...]:
        """A window of failed pages by keyset (page id)."""
        ...

    def page_detail(self, url: str) -> PageDetail | None:
        """One URL, whole."""
        ...

    def actions(self, limit: int) -> tuple[ActionView, ...]:
        """The newest entries of the operator journal."""
        ...

    def close(self) -> None:
        """Closes the connection."""
        ...


class Journal(Protocol):
    """Where the operator's wishes are written as rows; a live engine takes them up within a second."""

    def send(self, command: Command, who: str) -> int:
        """Writes a command; answers its action id. Raises StorageFailure."""
        ...

    def result(self, action_id: int) -> ActionResult | None:
        """What became of it, None while nobody has taken it up."""
        ...

    def close(self) -> None:
        """Closes the connection."""
        ...


class EngineHost(Protocol):
    """The engine as this console hosts it: in a thread with a loop of its own. Knows no screen."""

    def run(self) -> str:
        """Runs the engine until it ends (blocking; call it in a thread worker). Answers the run's finish reason.

        Raises RunHeld, StorageFailure.
        """
        ...

    def wake(self) -> None:
        """Tells the engine that the journal has new rows (from any thread)."""
        ...

    def stop(self, drain_ms: int) -> None:
        """Takes no more URLs, lets running requests end for `drain_ms`, then cancels them (from any thread)."""
        ...

    @property
    def running(self) -> bool:
        """Whether the engine is at work."""
        ...

    @property
    def in_flight(self) -> int:
        """How many requests are under way, for the countdown of the quit path."""
        ...
