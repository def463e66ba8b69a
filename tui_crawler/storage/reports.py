"""What is shown: read-only queries over a connection of their own, whoever hosts the engine."""
# ruff: noqa: S608  # views and columns are checked against those that exist
# ruff: noqa: PLC0415  # what the first picture of a crawl does not need is loaded when it is asked for

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.storage import overview_reports
from tui_crawler.storage.clock import wall_clock
from tui_crawler.storage.log_reports import LogReports
from tui_crawler.storage.open_settings import OpenSettings
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.transaction import Row
from tui_crawler.storage.views import VIEWS

if TYPE_CHECKING:
    from tui_crawler.domain.attempt import AttemptResult, DataValue, Validation
    from tui_crawler.domain.audit import SentRequest
    from tui_crawler.domain.desk_view import JobView, LimboView, StashView
    from tui_crawler.domain.page_filter import PageFilter, PageWindow
    from tui_crawler.domain.page_view import (
        BrokenLink,
        ExitCountView,
        FailureCount,
        FailureGroup,
        LinkEnd,
        LinkView,
        OriginHistory,
        PageDetail,
        PageView,
        Referrers,
        RefusedView,
        RequestView,
        TodoView,
    )
    from tui_crawler.domain.policy import Exclusion
    from tui_crawler.domain.refusal_view import RefusalCounts
    from tui_crawler.domain.ruleset import Ruleset
    from tui_crawler.domain.segment import SegmentRow
    from tui_crawler.domain.site_audit import SiteAudit
    from tui_crawler.domain.standing import UrlStanding
    from tui_crawler.domain.view import OriginChanges, OriginView, RunView, TotalsView
    from tui_crawler.storage.export_reports import Narrowing, StoredBody
    from tui_crawler.storage.failure_reports import GroupKey
    from tui_crawler.storage.page_reports import KnownUrl

LINKS = 500
"""So many links of each kind, unless more are asked for."""


class Reports(LogReports):
    """Reads a database that may be written meanwhile. Usable from one thread at a time, whichever that is.

    Every method raises StorageFailure when the database cannot be read; making it also raises NotOurDatabase.
    An origin is named as in `v_origin`; an empty name means all.
    """

    def __init__(self, path: Path, settings: OpenSettings | None = None, now: Callable[[], int] = wall_clock) -> None:
        self._reader = Reader(path, settings)
        self._now = now

    def close(self) -> None:
        """Closes the connection."""
        self._reader.close()

    def data_version(self) -> int:
        """A number that is another one after every commit of somebody else: equal means nothing to read."""
        version: int = self._reader.all("PRAGMA data_version")[0][0]
        return version

    def run(self) -> RunView | None:
        """The newest run, None when there was none."""
        return overview_reports.run_view(self._reader, self._now())

    def config_text(self) -> str:
        """The effective configuration of the newest run, empty when there was none."""
        row = self._reader.one("SELECT config_text FROM run ORDER BY id DESC LIMIT 1")
        return row[0] if row else ""

    def gave_up(self) -> int:
        """How many origins of the newest run ended it by patience or database_error."""
        ended = "participates = 1 AND finish_reason IN ('patience', 'database_error')"
        number: int = self._reader.all(f"SELECT count(*) FROM origin WHERE {ended}")[0][0]
        return number

    def totals(self) -> TotalsView:
        """Sums over all origins."""
        return overview_reports.totals(self._reader)

    def pages_cut(self) -> int:
        """How many pages have something in `v_page.incomplete`."""
        return overview_reports.pages_cut(self._reader)

    def documents_waiting(self) -> int:
        """How many stored documents wait for validators and data rules."""
        return overview_reports.documents_waiting(self._reader)

    def origins_changed(self, since: int = 0) -> OriginChanges:
        """Origins that changed after the change number `since`, oldest change first; 0 gives all."""
        return overview_reports.origins_changed(self._reader, since)

    def origin(self, origin: str) -> OriginView | None:
        """One origin, None when it is unknown."""
        return overview_reports.origin_view(self._reader, origin)

    def todo(self, origin: str, limit: int = 200) -> tuple[TodoView, ...]:
        """The first pages of an origin's todo list, in the order of its turns."""
        from tui_crawler.storage import origin_reports

        return origin_reports.todo(self._reader, origin, limit)

    def requests(self, attempt_id: int) -> tuple[RequestView, ...]:
        """The requests of an attempt, in their order."""
        from tui_crawler.storage import attempt_reports

        return attempt_reports.requests_of(self._reader, attempt_id)

    def exit_counts(self, origin: str = "", now: int | None = None) -> tuple[ExitCountView, ...]:
        """How often each exit code ended an attempt of the newest run, and in the five minutes up to `now`."""
        from tui_crawler.storage import origin_reports

        return origin_reports.exit_counts(self._reader, origin, self._now() if now is None else now)

    def failure_groups(
        self, by: Sequence[str] = ("exit_code",), limit: int | None = 200_000
    ) -> tuple[FailureGroup, ...]:
        """Failed pages in groups, the largest first; `by` out of exit_code, origin, pattern, http_status, message.

        At most `limit` pages are looked at (None: all of them). Raises ValueError for an unknown grouping.
        """
        from tui_crawler.storage import failure_reports

        return failure_reports.failure_count(self._reader, by, limit, self._now()).groups

    def failure_count(
        self,
        by: Sequence[str] = ("exit_code",),
        limit: int | None = 200_000,
        now: int | None = None,
        sought: Sequence[str] = (),
    ) -> FailureCount:
        """The same with how many were looked at, and how many of each group hold all texts `sought` in URL or message
        (casefolded); `now` (epoch ms) ends the trend. Raises ValueError."""
        from tui_crawler.storage import failure_reports

        return failure_reports.failure_count(self._reader, by, limit, self._now() if now is None else now, sought)

    def failure_pages(
        self, exit_code: str = "", origin: str = "", after_id: int = 0, limit: int = 200
    ) -> tuple[PageView, ...]:
        """Failed pages by age, after page `after_id`."""
        from tui_crawler.storage import failure_reports

        return failure_reports.failure_pages(self._reader, exit_code, origin, after_id, limit)

    def failure_window(
        self,
        key: GroupKey,
        after_id: int = 0,
        limit: int = 200,
        newest_first: bool = False,
        sought: Sequence[str] = (),
    ) -> PageWindow:
        """Pages of one group of failures by age, after page `after_id`, that hold all texts `sought` in URL or message
        (casefolded); one window looks at a bounded number."""
        from tui_crawler.storage import failure_reports

        return failure_reports.failure_window(
            self._reader, key, after_id, limit, newest_first=newest_first, sought=sought
        )

    def failure_urls(self, key: GroupKey, limit: int) -> tuple[tuple[str, str], ...]:
        """URL and origin of pages of one group of failures, at most `limit`."""
        from tui_crawler.storage import failure_reports

        return failure_reports.failure_urls(self._reader, key, limit)

    def page_detail(self, url: str, links: int = LINKS, counted: int = -1) -> PageDetail | None:
        """One URL, whole, with at most `links` of each kind, counted up to `counted` (-1: all); None: it is no page."""
        from tui_crawler.storage import page_reports

        return page_reports.page_detail(self._reader, url, links, counted)

    def link_ends(self, url: str, inward: bool, after: tuple[int, str], limit: int) -> tuple[LinkEnd, ...]:
        """A window of the links to a URL, or of those it holds, after (0, "") or the last window."""
        from tui_crawler.storage import page_reports

        return page_reports.link_ends(self._reader, url, inward, after, limit)

    def refusal_counts(self, limit: int) -> RefusalCounts:
        """What rules refused among the newest `limit` attempts, in groups of the same words."""
        from tui_crawler.storage import attempt_reports

        return attempt_reports.refusal_counts(self._reader, limit)

    def queue_position(self, url: str) -> int | None:
        """The place of a page on its todo list, 1 for the next one; None when it is on none."""
        from tui_crawler.storage import page_reports

        return page_reports.queue_position(self._reader, url)

    def pages(self, origin: str = "", after_id: int = 0, limit: int = 200) -> tuple[PageView, ...]:
        """Pages by age, after page `after_id`."""
        from tui_crawler.storage import page_reports

        return page_reports.pages(self._reader, origin, after_id, limit)

    def page_window(
        self, narrowing: PageFilter, after_id: int = 0, limit: int = 200, newest_first: bool = False
    ) -> PageWindow:
        """Pages that pass a filter, by age, after page `after_id`; one window looks at a bounded number of rows."""
        from tui_crawler.storage import page_windows

        return page_windows.page_window(self._reader, narrowing, after_id, limit, newest_first=newest_first)

    def links(self, url: str, limit: int = LINKS) -> tuple[tuple[LinkView, ...], tuple[LinkView, ...]]:
        """Inlinks and outlinks of a URL, up to `limit` of each."""
        return tuple(self.inlinks(url, limit)), tuple(self.outlinks(url, limit))

    def inlinks(self, url: str, limit: int | None = None) -> Iterator[LinkView]:
        """Links to a URL, be it a page or not, read in windows; `limit` None: all of them."""
        from tui_crawler.storage import page_reports

        return page_reports.links_to(self._reader, url, limit)

    def outlinks(self, url: str, limit: int | None = None) -> Iterator[LinkView]:
        """Links of a page, read in windows; `limit` None: all of them."""
        from tui_crawler.storage import page_reports

        return page_reports.links_from(self._reader, url, limit)

    def link_counts(self, url: str) -> tuple[int, int]:
        """How many links lead to a URL, and how many it holds."""
        from tui_crawler.storage import page_reports

        return page_reports.link_counts(self._reader, url)

    def broken_links(self, limit: int, external: bool = False) -> Iterator[BrokenLink]:
        """Every URL that is named by a page and cannot be had, each with at most `limit` of those that name it, read in
        windows; `external`: also those that leave the crawl."""
        from tui_crawler.storage import link_audit

        return link_audit.broken_links(self._reader, limit, external)

    def broken_counts(self) -> dict[str, int]:
        """How many of them there are: broken (in the crawl), external (they leave it), fragments."""
        from tui_crawler.storage import link_audit

        return link_audit.broken_counts(self._reader)

    def pages_slower(self, ms: int) -> int:
        """How many pages took longer than `ms` in their last attempt. Looks at every page."""
        text = "SELECT COUNT(*) FROM page p JOIN attempt a ON a.id = p.last_attempt_id WHERE a.response_ms > ?"
        slower: int = self._reader.all(text, (ms,))[0][0]
        return slower

    def referrers(self, page_id: int, limit: int) -> Referrers:
        """Who names a page, the first `limit` of them."""
        from tui_crawler.storage import link_audit

        return link_audit.referrers_of(self._reader, page_id, limit)

    def standing(self, url: str, job: str = "") -> UrlStanding:
        """Where a URL stands, be it known or not: in the job named, else in the job that knows it."""
        from tui_crawler.storage import url_standing

        return url_standing.url_standing(self._reader, url, job)

    def body(self, url: str) -> bytes | None:
        """The stored body of a page, None when there is none."""
        from tui_crawler.storage import page_reports

        return page_reports.body(self._reader, url)

    def validation(self, url: str) -> Validation | None:
        """What a validator said of the stored document of a page, None when none has looked at it."""
        from tui_crawler.storage import page_reports

        return page_reports.validation(self._reader, url)

    def data_blocks(self, url: str) -> tuple[DataValue, ...]:
        """What data rules found in the stored document of a page, by name and place."""
        from tui_crawler.storage import page_reports

        return page_reports.data_blocks(self._reader, url)

    def results(self, attempt_id: int) -> tuple[AttemptResult, ...]:
        """The typed results of an attempt, by type."""
        from tui_crawler.storage import attempt_reports

        return attempt_reports.results_of(self._reader, attempt_id)

    def urls_known(self, after_id: int = 0, limit: int = 10_000) -> list[KnownUrl]:
        """A window of every page, by age, after page `after_id`: id, URL, whether it is a seed, job, last exit code
        (a number, None for a page never attempted)."""
        from tui_crawler.storage import page_reports

        return page_reports.urls_known(self._reader, after_id, limit)

    def rulesets(self, job: str = "", limit: int = 200) -> tuple[Ruleset, ...]:
        """The versions of a job's rules, newest first; of all jobs for an empty name."""
        from tui_crawler.storage import ruleset_reports

        return ruleset_reports.rulesets(self._reader, job, limit)

    def ruleset(self, ruleset_id: int) -> Ruleset | None:
        """One version of the rules, None when there is none of this id."""
        from tui_crawler.storage import ruleset_reports

        return ruleset_reports.ruleset(self._reader, ruleset_id)

    def ruleset_writer(self, job: str, ruleset_id: int, alone: bool) -> int:
        """The action that wrote a version of a job, 0 where none did; `alone`: also where it wrote others, too."""
        from tui_crawler.storage import ruleset_reports

        return ruleset_reports.ruleset_writer(self._reader, job, ruleset_id, alone)

    def current_rulesets(self) -> tuple[Ruleset, ...]:
        """The rules in force of each job, those of the newest run's job first."""
        from tui_crawler.storage import ruleset_reports

        return ruleset_reports.current_rulesets(self._reader)

    def robots_text(self, origin: str) -> bytes | None:
        """The stored robots.txt of an origin, None when none was fetched."""
        from tui_crawler.storage import page_reports

        return page_reports.robots_text(self._reader, origin)

    def history(self, origin: str) -> OriginHistory:
        """What cost an origin patience, what changed its delay, what it refused."""
        from tui_crawler.storage import attempt_reports

        return attempt_reports.history(self._reader, origin)

    def refused(self, origin: str = "") -> tuple[RefusedView, ...]:
        """Links that filters refused, by reason, most frequent first."""
        from tui_crawler.storage import origin_reports

        return origin_reports.refused(self._reader, origin)

    def exclusions(self) -> tuple[Exclusion, ...]:
        """The exclusion list as operators have extended it."""
        from tui_crawler.storage import origin_reports

        return origin_reports.exclusions(self._reader)

    def jobs(self) -> tuple[JobView, ...]:
        """All jobs, the oldest first."""
        from tui_crawler.storage import job_reports

        return job_reports.jobs(self._reader)

    def limbo(self, older_ms: int) -> tuple[LimboView, ...]:
        """Pages claimed for longer than `older_ms`, those in limbo for longest first."""
        from tui_crawler.storage import job_reports

        return job_reports.limbo(self._reader, older_ms, self._now())

    def stashes(self) -> tuple[StashView, ...]:
        """Every stash that holds pages or has a dripfeed."""
        from tui_crawler.storage import job_reports

        return job_reports.stashes(self._reader)

    def segments(self) -> tuple[SegmentRow, ...]:
        """Every segment of URLs that was written or loaded (M), oldest first."""
        from tui_crawler.storage import segments

        return segments.segment_rows(self._reader)

    def origins_added(self) -> tuple[str, ...]:
        """The origins that take part in the newest run without being configured."""
        from tui_crawler.storage import segments

        return segments.origins_added(self._reader)

    def attempts_for_audit(self) -> Iterator[SentRequest]:
        """Every request of the log in the order in which they were sent, streamed."""
        from tui_crawler.storage import attempt_reports

        return attempt_reports.sent_requests(self._reader)

    def site_audit(self, run: int | None) -> SiteAudit | None:
        """What the crawl says of its sites, over all runs (None) or in one; None: there is no such run."""
        from tui_crawler.storage.site_audit import site_audit

        return site_audit(self._reader, run, self._now())

    def columns(self, view: str) -> tuple[str, ...]:
        """The columns of a view of INTERFACE.md. Raises ValueError for another name."""
        if view not in VIEWS:
            raise ValueError(f"there is no view {view!r}")
        return tuple(row[1] for row in self._reader.all(f"PRAGMA table_info({view})"))

    def rows(self, view: str, columns: Sequence[str] = ()) -> Iterator[Row]:
        """The rows of a view, streamed, with these columns (none named: all). Raises ValueError for unknown names."""
        known = self.columns(view)
        unknown = [name for name in columns if name not in known]
        if unknown:
            raise ValueError(f"view {view} has no column {', '.join(unknown)}")
        chosen = ", ".join(f'"{name}"' for name in columns or known)
        return self._reader.stream(f"SELECT {chosen} FROM {view}")

    def export_columns(self, what: str) -> tuple[str, ...]:
        """The columns of pages, failures, attempts, links, redirects or data. Raises ValueError for another name."""
        from tui_crawler.storage import export_reports

        return export_reports.export_columns(self._reader, what)

    def export_windows(self, what: str, columns: Sequence[str], narrowing: Narrowing) -> Iterator[list[Row]]:
        """All their rows in lists of some thousand; between two of them nothing is held open. Raises ValueError."""
        from tui_crawler.storage import export_reports

        return export_reports.export_windows(self._reader, what, columns, narrowing)

    def export_bodies(self, narrowing: Narrowing) -> Iterator[StoredBody]:
        """All stored bodies with the exchange that brought them, one at a time. Raises ValueError."""
        from tui_crawler.storage import export_reports

        return export_reports.export_bodies(self._reader, narrowing)
