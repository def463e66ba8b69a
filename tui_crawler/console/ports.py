"""What the console needs from outside: rows to show, rows to ask with, and a host for the engine.

The console owns these protocols; wiring hands it what fits. Reports and Journal are called from thread workers,
never from the screen's event loop, and each from one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # they take long to load, and nothing needs them before the first paint
    from tui_crawler.domain.command import ActionResult, Command
    from tui_crawler.domain.exclusion import Exclusion
    from tui_crawler.domain.explanation import Explanation
    from tui_crawler.domain.page_filter import PageFilter, PageWindow
    from tui_crawler.domain.preview import Preview
    from tui_crawler.domain.ruleset import Ruleset, RulesetChange
    from tui_crawler.domain.view import (
        ActionView,
        ActivityView,
        AttemptView,
        ExitCountView,
        FailureGroup,
        JobView,
        LimboView,
        OriginChanges,
        OriginHistory,
        OriginView,
        PageDetail,
        PageView,
        RefusedView,
        RunView,
        StashView,
        TodoView,
        TotalsView,
    )


@dataclass(frozen=True, slots=True)
class ValidationTotals:
    """What validators said: validator, documents it found valid, documents it did not. `pages` were looked at;
    `whole`: these are all pages."""

    pages: int
    whole: bool
    sums: tuple[tuple[str, int, int], ...]


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

    def page_window(self, narrowing: PageFilter, after_id: int, limit: int, newest_first: bool) -> PageWindow:
        """Pages that pass a filter by keyset (page id); one window looks at a bounded number of rows."""
        ...

    def body(self, url: str) -> bytes | None:
        """The stored body of a page, None when there is none."""
        ...

    def activity(self, limit: int, origin: str, after_id: int) -> tuple[ActivityView, ...]:
        """What happened beside the attempts after an entry, newest first; an empty origin means all."""
        ...

    def jobs(self) -> tuple[JobView, ...]:
        """All jobs, the oldest first."""
        ...

    def limbo(self, older_ms: int) -> tuple[LimboView, ...]:
        """Pages claimed for longer than `older_ms` and not settled, those in it for longest first."""
        ...

    def stashes(self) -> tuple[StashView, ...]:
        """Every stash that holds pages or has a dripfeed; counts pages, so it is not cheap."""
        ...

    def refused(self, origin: str) -> tuple[RefusedView, ...]:
        """Links that filters refused, most frequent first; an empty origin means all."""
        ...

    def validations(self, most: int) -> ValidationTotals:
        """What validators said of the documents of the first `most` pages; reads them all, so it is not cheap."""
        ...

    def runs(self, limit: int) -> tuple[RunView, ...]:
        """The newest runs, newest first, with what the log says of them; `live` and what belongs to it is not told."""
        ...

    def current_rulesets(self) -> tuple[Ruleset, ...]:
        """The version of the rules in force of each job, that of the newest run first."""
        ...

    def rulesets(self, job: str, limit: int) -> tuple[Ruleset, ...]:
        """The versions of a job's rules, newest first."""
        ...

    def exclusions(self) -> tuple[Exclusion, ...]:
        """The exclusions that operators added beside the rulesets."""
        ...

    def actions(self, limit: int) -> tuple[ActionView, ...]:
        """The newest entries of the operator journal."""
        ...

    def close(self) -> None:
        """Closes the connection."""
        ...


class Explainer(Protocol):
    """Says why a URL was (not) crawled. Made in the reading thread for its reports, and called only there."""

    def explain(self, written: str, now: int, job: str = "") -> Explanation:
        """The whole decision chain of any URL at `now` (epoch ms). Raises StorageFailure, NoSuchJob."""
        ...


class RulesDesk(Protocol):
    """What a draft of rules asks; from any thread."""

    def read(self, text: str) -> RulesetChange | str:
        """The entries that one line makes (only they stand in the change), or what is wrong with it, in words."""
        ...

    def preview(self, change: RulesetChange, job: str, progress: Callable[[int], None]) -> Preview:
        """What a change of a job's rules would block and revive among all known URLs. Blocking; `progress` is told
        how many were judged, and what it raises ends the judging. Raises StorageFailure."""
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
