"""What the console needs from outside: rows to show, rows to ask with, and a host for the engine.

The console owns these protocols; wiring hands it what fits. Reports and Journal are called from thread workers,
never from the screen's event loop, and each from one thread at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # they take long to load, and nothing needs them before the first paint
    from collections.abc import Callable

    from tui_crawler.domain.command import ActionResult, Command
    from tui_crawler.domain.contract import Contract
    from tui_crawler.domain.exclusion import Exclusion
    from tui_crawler.domain.explanation import Explanation
    from tui_crawler.domain.log_window import LogReach, LogStretch, LogTerms
    from tui_crawler.domain.operator_view import (
        ActionView,
        ActivityView,
        JobView,
        LimboView,
        QueryAnswer,
        SessionView,
        StashView,
        ValidationTotals,
    )
    from tui_crawler.domain.page_filter import PageCounts, PageFilter, PageTally, PageWindow
    from tui_crawler.domain.page_view import (
        ExitCountView,
        FailureCount,
        LinkEnd,
        OriginHistory,
        PageDetail,
        Referrers,
        RefusalCounts,
        RefusedView,
        TodoView,
    )
    from tui_crawler.domain.policy import PolicySet
    from tui_crawler.domain.preview import Preview
    from tui_crawler.domain.ruleset import Ruleset, RulesetChange
    from tui_crawler.domain.view import AttemptView, OriginChanges, OriginView, RunView, TotalsView


class Reports(Protocol):
    """The read-only side of the database. Raises domain.run.StorageFailure when it cannot be read."""

    def stop_when(self, stops: Callable[[], bool]) -> None:
        """Has every reading end with domain.failure.ReadingStopped as soon as `stops` answers True; to be called once,
        in the thread that reads."""

    def data_version(self) -> int:
        """Changes when another connection has committed; cheap."""

    def lock_holder(self) -> int:
        """The process of another program that holds the lock of the writer just now; 0: none, or it is not known."""

    def run(self) -> RunView | None:
        """The newest run."""

    def totals(self) -> TotalsView:
        """The sums over all origins."""

    def origins_changed(self, since: int) -> OriginChanges:
        """Origins that changed after change number `since` (0: all)."""

    def origin(self, origin: str) -> OriginView | None:
        """One origin."""

    def history(self, origin: str) -> OriginHistory:
        """Patience lost, delays changed, links refused of one origin."""

    def todo(self, origin: str, limit: int) -> tuple[TodoView, ...]:
        """The first pages of a todo list, in the order of the turns."""

    def attempts(
        self, origin: str = "", before_id: int = 0, after_id: int = 0, limit: int = 200
    ) -> tuple[AttemptView, ...]:
        """A window of the crawl log by keyset, newest first; an empty origin means all."""

    def attempt_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[AttemptView]:
        """A window of the attempts that are meant; a bounded number of rows is looked at."""

    def activity_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[ActivityView]:
        """A window of the activity that is meant, whatever its text; a bounded number of rows is looked at."""

    def exit_counts(self, origin: str, now: int) -> tuple[ExitCountView, ...]:
        """How attempts ended in the newest run; `now` (epoch ms) ends the last five minutes."""

    def failure_count(self, by: tuple[str, ...], limit: int, now: int, sought: tuple[str, ...]) -> FailureCount:
        """Failed pages grouped by any of exit_code, origin, pattern, http_status, message, with how many of each hold
        all texts `sought` (casefolded) in URL or message; looks at `limit` pages at most, so it is not cheap."""

    def failure_window(
        self, key: tuple[tuple[str, str], ...], after_id: int, limit: int, newest_first: bool, sought: tuple[str, ...]
    ) -> PageWindow:
        """Pages of one group that hold all texts `sought`, by keyset (page id); one window looks at a bounded number of
        rows."""

    def failure_urls(self, key: tuple[tuple[str, str], ...], limit: int) -> tuple[tuple[str, str], ...]:
        """URL and origin of pages of one group."""

    def page_detail(self, url: str, links: int, counted: int) -> PageDetail | None:
        """One URL, with at most `links` of its links each way, counted up to a number."""

    def link_ends(self, url: str, inward: bool, after: tuple[int, str], limit: int) -> tuple[LinkEnd, ...]:
        """A window of the links to a URL, or of those it holds, by keyset; the first is after (0, "")."""

    def referrers(self, page_id: int, limit: int) -> Referrers:
        """Who names a page by a link, a redirect or a sitemap: the first of them, and how many more there are."""

    def refusal_counts(self, limit: int) -> RefusalCounts:
        """What rules refused among the newest attempts; reads them, so it is not cheap."""

    def page_window(self, narrowing: PageFilter, after_id: int, limit: int, newest_first: bool) -> PageWindow:
        """Pages that pass a filter by keyset (page id); one window looks at a bounded number of rows."""

    def page_tally(self, narrowing: PageFilter, after_id: int) -> PageTally:
        """How many pages pass a filter among the next rows after a page id (0: the first); a bounded number of rows is
        looked at."""

    def page_counts(self, narrowing: PageFilter, field: str) -> PageCounts:
        """How often each state, exit, status, depth or origin occurs among the pages that pass a filter; a bounded
        number of rows is looked at."""

    def body(self, url: str) -> bytes | None:
        """The stored body of a page, None when there is none."""

    def activity(self, limit: int, origin: str, after_id: int, before_id: int = 0) -> tuple[ActivityView, ...]:
        """What happened beside the attempts, a window by keyset, newest first; an empty origin means all."""

    def jobs(self) -> tuple[JobView, ...]:
        """All jobs, the oldest first."""

    def limbo(self, older_ms: int) -> tuple[LimboView, ...]:
        """Pages claimed for longer than `older_ms` and not settled, those in it for longest first."""

    def stashes(self) -> tuple[StashView, ...]:
        """Every stash that holds pages or has a dripfeed; counts pages, so it is not cheap."""

    def refused(self, origin: str) -> tuple[RefusedView, ...]:
        """Links that filters refused, most frequent first; an empty origin means all."""

    def validations(self, most: int) -> ValidationTotals:
        """What validators said of the documents of the first `most` pages; reads them all, so it is not cheap."""

    def runs(self, limit: int) -> tuple[RunView, ...]:
        """The newest runs, newest first, with what the log says of them; `live` and what belongs to it is not told."""

    def sessions(self, limit: int) -> tuple[SessionView, ...]:
        """The newest processes that hold, or held, the database, newest first."""

    def current_rulesets(self) -> tuple[Ruleset, ...]:
        """The version of the rules in force of each job, that of the newest run first."""

    def rulesets(self, job: str, limit: int) -> tuple[Ruleset, ...]:
        """The versions of a job's rules, newest first."""

    def ruleset_writer(self, job: str, ruleset_id: int, alone: bool) -> int:
        """The action that wrote a version of a job, 0 where none did; `alone`: also where it wrote others, too."""

    def exclusions(self) -> tuple[Exclusion, ...]:
        """The exclusions that operators added beside the rulesets."""

    def actions(
        self, limit: int, before_id: int = 0, after_id: int = 0, oldest_first: bool = False
    ) -> tuple[ActionView, ...]:
        """A window of the operator journal by keyset, newest or oldest first."""

    def robots_text(self, origin: str) -> bytes | None:
        """The stored robots.txt of an origin, None when none was fetched."""

    def contract(self, origin: str) -> Contract:
        """What the configuration of the newest run promises an origin."""

    def close(self) -> None:
        """Closes the connection."""


class Explainer(Protocol):
    """Says why a URL was (not) crawled. Made in the reading thread for its reports, and called only there."""

    def explain(self, written: str, now: int, job: str = "") -> Explanation:
        """The whole decision chain of any URL at `now` (epoch ms). Raises StorageFailure, NoSuchJob."""


class RuleQueries(Protocol):
    """What a draft of rules asks; from any thread."""

    def read(self, text: str) -> RulesetChange | str:
        """The entries that one line makes (only they stand in the change), or what is wrong with it, in words."""

    def write(self, policies: PolicySet) -> str:
        """The line that `read` reads as the only entry of `policies`; empty when no line of visible characters is."""

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
