"""Rows as the database would give them, which a test changes by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from tests.console.page_holds import passes
from tests.console.sample_crawl import API, WWW, attempts, failed_pages, origins, page_detail, run_view, todo_list
from tests.console.sample_log import (
    activities,
    claimed,
    exits_of_crawl,
    jobs,
    operator_actions,
    refused_links,
    runs,
    stashes,
    validation_totals,
)
from tests.console.sample_rules import ADDED, versions
from tui_crawler.console.ports import ValidationTotals
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.page_filter import PageFilter, PageWindow
from tui_crawler.domain.ruleset import Ruleset
from tui_crawler.domain.run import StorageFailure
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

STORED = (
    b"<!doctype html>\n<html lang=en>\n<head>\n\t<title>Items page 18</title>\n</head>\n<body>\n"
    b"<h1>Items</h1>\n\x1b]52;c;aGk=\x07 <p>caf\xc3\xa9 " + b"and more of it " * 20 + b"</p>\n</body>\n</html>\n"
)


@dataclass
class FakeReports:
    """Rows that a test changes by hand; `version` is raised by `commit`."""

    rows: dict[str, OriginView] = field(default_factory=lambda: {view.origin: view for view in origins()})
    log: tuple[AttemptView, ...] = field(default_factory=attempts)
    newest_run: RunView | None = field(default_factory=run_view)
    pages: tuple[PageView, ...] = field(default_factory=failed_pages)
    detail: Callable[[str], PageDetail | None] = page_detail
    happened: tuple[ActivityView, ...] = field(default_factory=activities)
    asked_for: tuple[ActionView, ...] = field(default_factory=operator_actions)
    groups_of_pages: tuple[JobView, ...] = field(default_factory=jobs)
    past_runs: tuple[RunView, ...] = field(default_factory=runs)
    versions: tuple[Ruleset, ...] = field(default_factory=versions)
    added: tuple[Exclusion, ...] = ADDED
    version: int = 1
    failure: str = ""
    asked: list[str] = field(default_factory=list)
    gate: threading.Event | None = None
    stored: bytes | None = STORED
    looks_at: int = 100_000
    closed: threading.Event = field(default_factory=threading.Event)

    def commit(self, *views: OriginView, log: Iterable[AttemptView] = ()) -> None:
        """Changes origins and adds attempts, as another connection would."""
        self.version += 1
        for view in views:
            self.rows[view.origin] = replace(view, change=self.version)
        self.log = (*log, *self.log)

    def data_version(self) -> int:
        if self.gate is not None:
            self.gate.wait(5)
        if self.failure:
            raise StorageFailure(self.failure)
        return self.version

    def run(self) -> RunView | None:
        return self.newest_run

    def totals(self) -> TotalsView:
        views = self.rows.values()
        codes = (
            ("file_ingested", 91_204), ("file_did_not_change", 8_011), ("permanent_redirect", 980),
            ("file_not_found", 1_290), ("server_internal_error", 108), ("request_timeout", 34),
            ("connection_failed", 55), ("rate_limited", 12), ("blocked_by_robots_txt", 1_332),
            ("blocked_url_by_local_policy", 4_112),
        )  # fmt: skip
        return TotalsView(
            todo=sum(v.todo for v in views),
            pending=sum(v.pending for v in views),
            done=sum(v.done for v in views),
            failed=sum(v.failed for v in views),
            blocked=sum(v.blocked for v in views),
            requests=sum(v.requests for v in views),
            bytes=sum(v.bytes for v in views),
            attempts=sum(number for _, number in codes),
            exit_codes=codes,
        )

    def origins_changed(self, since: int) -> OriginChanges:
        rows = tuple(view for view in self.rows.values() if view.change > since)
        self.asked.append(f"origins_changed({since})")
        return OriginChanges(max((view.change for view in rows), default=since), rows)

    def origin(self, origin: str) -> OriginView | None:
        return self.rows.get(origin)

    def history(self, origin: str) -> OriginHistory:
        own = [one for one in self.log if one.origin == origin]
        lost = tuple(one for one in own if one.patience_after < one.patience_before)
        delays = tuple(one for one in own if one.delay_reason)
        refused = (
            RefusedView(origin, "scope", 1_204, "https://elsewhere.example/x"),
            RefusedView(origin, "trap_repeat", 18, f"{origin}/a/a/a/a/"),
        )
        return OriginHistory(lost, delays, refused if own else ())

    def todo(self, origin: str, limit: int) -> tuple[TodoView, ...]:
        view = self.rows.get(origin)
        if view is None or not view.todo:
            return ()
        return todo_list(origin)[:limit]

    def attempts(
        self, origin: str = "", before_id: int = 0, after_id: int = 0, limit: int = 200, problems_only: bool = False
    ) -> tuple[AttemptView, ...]:
        self.asked.append(f"attempts(after_id={after_id}, before_id={before_id})")
        return tuple(
            one
            for one in self.log
            if (not origin or one.origin == origin)
            and one.attempt_id > after_id
            and (not before_id or one.attempt_id < before_id)
            and (not problems_only or one.exit_code in {"request_timeout", "rate_limited", "connection_failed"})
        )[:limit]

    def exit_counts(self, origin: str, now: int) -> tuple[ExitCountView, ...]:
        if origin == API:
            return (
                ExitCountView("file_ingested", 371, 2),
                ExitCountView("blocked_by_robots_txt", 38, 0),
                ExitCountView("request_timeout", 22, 4),
                ExitCountView("blocked_url_by_local_policy", 12, 0),
                ExitCountView("file_not_found", 6, 0),
                ExitCountView("rate_limited", 2, 1),
                ExitCountView("server_internal_error", 1, 0),
            )
        return exits_of_crawl()[:7] if origin == WWW else () if origin else exits_of_crawl()

    def failure_groups(self, by: tuple[str, ...]) -> tuple[FailureGroup, ...]:
        groups: dict[tuple[tuple[str, str], ...], list[PageView]] = {}
        for one in self.pages:
            values = {"exit_code": one.last_exit_code, "origin": one.origin, "pattern": "/*"}
            groups.setdefault(tuple((name, values[name]) for name in by), []).append(one)
        made = [
            FailureGroup(
                key,
                len(pages),
                sum(one.recoverable for one in pages),
                pages[0].url,
                min(one.last_crawled_at for one in pages),
                max(one.last_crawled_at for one in pages),
            )
            for key, pages in groups.items()
        ]
        return tuple(sorted(made, key=lambda group: -group.count))

    def failure_pages(
        self, exit_code: str = "", origin: str = "", after_id: int = 0, limit: int = 200
    ) -> tuple[PageView, ...]:
        self.asked.append(f"failure_pages({exit_code}, {origin}, {after_id})")
        return tuple(
            one
            for one in self.pages
            if (not exit_code or one.last_exit_code == exit_code)
            and (not origin or one.origin == origin)
            and one.page_id > after_id
        )[:limit]

    def page_detail(self, url: str) -> PageDetail | None:
        return self.detail(url)

    def page_window(self, narrowing: PageFilter, after_id: int, limit: int, newest_first: bool) -> PageWindow:
        self.asked.append(f"page_window({after_id})")
        known = sorted(self.pages, key=lambda one: one.page_id, reverse=newest_first)
        names = frozenset(one.origin for one in known)
        rest = [one for one in known if not after_id or (one.page_id < after_id) == newest_first]
        rest = [one for one in rest if one.page_id != after_id]
        looked = rest[: self.looks_at] if narrowing.looks_at_urls else rest
        found = [one for one in looked if passes(narrowing, one, names)]
        more = len(found) > limit
        last = found[limit - 1] if more else (looked or known or (None,))[-1]
        return PageWindow(
            tuple(found[:limit]), len(looked), len(known), last.page_id if last else 0, not more and looked == rest
        )

    def body(self, url: str) -> bytes | None:
        return self.stored

    def current_rulesets(self) -> tuple[Ruleset, ...]:
        return tuple(one for one in self.versions if one.current)

    def rulesets(self, job: str, limit: int) -> tuple[Ruleset, ...]:
        self.asked.append(f"rulesets({job}, {limit})")
        return tuple(one for one in self.versions if one.job == job)[:limit]

    def exclusions(self) -> tuple[Exclusion, ...]:
        return self.added

    def actions(self, limit: int) -> tuple[ActionView, ...]:
        return self.asked_for[:limit]

    def activity(self, limit: int, origin: str, after_id: int) -> tuple[ActivityView, ...]:
        self.asked.append(f"activity(after_id={after_id})")
        found = (one for one in self.happened if one.activity_id > after_id and origin in {"", one.origin})
        return tuple(found)[:limit]

    def jobs(self) -> tuple[JobView, ...]:
        return self.groups_of_pages

    def limbo(self, older_ms: int) -> tuple[LimboView, ...]:
        return tuple(one for one in claimed() if one.age_ms > older_ms)

    def stashes(self) -> tuple[StashView, ...]:
        self.asked.append("stashes()")
        return stashes()

    def refused(self, origin: str) -> tuple[RefusedView, ...]:
        return tuple(one for one in refused_links() if origin in {"", one.origin})

    def validations(self, most: int) -> ValidationTotals:
        self.asked.append(f"validations({most})")
        return validation_totals()

    def runs(self, limit: int) -> tuple[RunView, ...]:
        return self.past_runs[:limit]

    def close(self) -> None:
        self.closed.set()
