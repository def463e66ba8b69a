"""Rows as the database would give them, which a test changes by hand."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from tests.console import sample_log, sample_tree
from tests.console.log_stretches import activity_stretch, attempt_stretch
from tests.console.page_holds import passes
from tests.console.sample_crawl import API, WWW, attempts, failed_pages, origins, page_detail, run_view, todo_list
from tests.console.sample_diff import DiffReports
from tests.console.sample_failures import failure_group, failure_value, holds, is_within, link_ends, refusal_counts
from tests.console.sample_pulse import paces, pulse
from tests.console.sample_rules import ADDED, versions
from tests.console.sample_timeline import timeline
from tui_crawler.domain.crawl.contract import Contract
from tui_crawler.domain.history.coverage import Coverage
from tui_crawler.domain.history.diagnosis import DiagnosisFacts
from tui_crawler.domain.history.pulse import Pulse, PulseOf
from tui_crawler.domain.history.site_tree import BranchList, BranchTally
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.history.timeline import Timeline
from tui_crawler.domain.history.trap import TrapSuspicion
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.operator_view import (
    ActionView,
    ActivityView,
    JobView,
    LimboView,
    SessionView,
    StashView,
    ValidationTotals,
)
from tui_crawler.domain.records.page_view import (
    ExitCountView,
    FailureCount,
    LinkEnd,
    OriginHistory,
    PageDetail,
    PageView,
    Referrer,
    Referrers,
    RefusalCounts,
    RefusedView,
    TodoView,
)
from tui_crawler.domain.records.view import (
    AttemptView,
    LogReach,
    LogStretch,
    LogTerms,
    OriginView,
    RunView,
    TotalsView,
)
from tui_crawler.domain.records.worker import WorkerView
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.page_filter import PageCounts, PageFilter, PageTally, PageWindow, state_of
from tui_crawler.domain.rules.ruleset import Ruleset

STORED = (
    b"<!doctype html>\n<html lang=en>\n<head>\n\t<title>Items page 18</title>\n</head>\n<body>\n"
    b"<h1>Items</h1>\n\x1b]52;c;aGk=\x07 <p>caf\xc3\xa9 "
    + b"and more of it " * 14
    + b"</p>\n<ul><li><a href=/v2/>All items</a><li><a href='/v2/items?page=19'>The next page.</a></ul>"
    + b"\n</body>\n</html>\n"
)


ROBOTS = (
    b"# robots.txt of the API\nUser-agent: *\nDisallow: /\n\n"
    b"User-agent: example-net-crawler\nCrawl-delay: 2\n"
    b"Allow: /v2/\n"
    b"Disallow: /v2/user/  # asked by mail \x1b]52;c;aGk=\x07\n"
    b"Disallow: /*?sort=\n"
    b"\n"
    b"Sitemap: https://api.example.org/sitemap.xml\n"
)
CONTRACT = Contract("example-net-crawler (for https://example.net/why-we-crawl)")


@dataclass(eq=False)
class FakeReports(DiffReports):
    """Rows that a test changes by hand; `version` is raised by `commit`."""

    rows: dict[str, OriginView] = field(default_factory=lambda: {view.origin: view for view in origins()})
    coverage: Coverage = field(default_factory=Coverage)
    facts: DiagnosisFacts = field(default_factory=DiagnosisFacts)
    log: tuple[AttemptView, ...] = field(default_factory=attempts)
    newest_run: RunView | None = field(default_factory=run_view)
    pages: tuple[PageView, ...] = field(default_factory=failed_pages)
    detail: Callable[[str], PageDetail | None] = page_detail
    happened: tuple[ActivityView, ...] = field(default_factory=sample_log.activities)
    asked_for: tuple[ActionView, ...] = field(default_factory=sample_log.operator_actions)
    groups_of_pages: tuple[JobView, ...] = field(default_factory=sample_log.jobs)
    at_work: tuple[WorkerView, ...] = field(default_factory=sample_log.workers)
    past_runs: tuple[RunView, ...] = field(default_factory=sample_log.runs)
    versions: tuple[Ruleset, ...] = field(default_factory=versions)
    writers: dict[int, int] = field(default_factory=dict)
    added: tuple[Exclusion, ...] = ADDED
    robots: bytes | None = ROBOTS
    version: int = 1
    failure: str = ""
    locked_by: int = 0  # the process of another program that holds the lock of the writer
    asked: list[str] = field(default_factory=list)
    gate: threading.Event | None = None
    stored: bytes | None = STORED
    looks_at: int = 100_000
    counted: int | None = None  # failed pages that were looked at; None: all
    failed: int = 0
    ends: Callable[[str, bool], tuple[LinkEnd, ...]] = link_ends
    refusals: RefusalCounts = field(default_factory=refusal_counts)
    closed: threading.Event = field(default_factory=threading.Event)

    def commit(self, *views: OriginView, log: Iterable[AttemptView] = ()) -> None:
        """Changes origins and adds attempts, as another connection would."""
        self.version += 1
        for view in views:
            self.rows[view.origin] = replace(view, change=self.version)
        self.log = (*log, *self.log)

    def timeline(self, origin: str, span: TimeSpan) -> Timeline:
        return timeline(origin, span)

    def lock_holder(self) -> int:
        return self.locked_by

    def stop_when(self, stops: Callable[[], bool]) -> None:
        self.stops = stops

    def data_version(self) -> int:
        if self.gate is not None:
            self.gate.wait()
        if self.failure:
            raise StorageFailure(self.failure)
        return self.version

    def run(self) -> RunView | None:
        return self.newest_run

    def diagnosis_facts(self) -> DiagnosisFacts:
        return self.facts

    def coverage_statement(self) -> Coverage:
        return self.coverage

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
            known=sum(v.pending + v.done + v.blocked for v in views),
        )

    def origins_changed(self, since: int) -> tuple[OriginView, ...]:
        self.asked.append(f"origins_changed({since})")
        return tuple(view for view in self.rows.values() if view.change > since)

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
        self, origin: str = "", before_id: int = 0, after_id: int = 0, limit: int = 200
    ) -> tuple[AttemptView, ...]:
        self.asked.append(f"attempts(after_id={after_id}, before_id={before_id})")
        found = tuple(
            one
            for one in self.log
            if (not origin or one.origin == origin)
            and one.attempt_id > after_id
            and (not before_id or one.attempt_id < before_id)
        )
        return found[:limit]

    def attempt_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[AttemptView]:
        self.asked.append(f"attempt_stretch({reach.edge}, {'>' if reach.oldest_first else '<'}, {terms.text!r})")
        return attempt_stretch(self.log, terms, reach)

    def activity_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[ActivityView]:
        return activity_stretch(self.happened, terms, reach)

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
        return sample_log.exits_of_www() if origin == WWW else () if origin else sample_log.exits_of_crawl()

    def failure_count(
        self,
        by: tuple[str, ...],
        limit: int,
        now: int,
        sought: tuple[str, ...] = (),
        within: tuple[tuple[str, str], ...] = (),
    ) -> FailureCount:
        self.asked.append(f"failure_count({', '.join((*by, *sought))})")
        groups: dict[tuple[tuple[str, str], ...], list[PageView]] = {}
        rest = tuple(one for one in within if one[0] not in by)
        for one in self.pages[:limit]:
            if is_within(one, within):
                groups.setdefault((*((name, failure_value(one, name)) for name in by), *rest), []).append(one)
        made = [
            replace(failure_group(key, pages, now), found=sum(holds(one, sought) for one in pages) if sought else 0)
            for key, pages in groups.items()
        ]
        looked_at = min(limit, len(self.pages) if self.counted is None else self.counted)
        failed = looked_at if within else max(len(self.pages), looked_at, self.failed)
        return FailureCount(tuple(sorted(made, key=lambda group: -group.count)), looked_at, failed)

    def failure_window(
        self,
        key: tuple[tuple[str, str], ...],
        after_id: int,
        limit: int,
        newest_first: bool = False,
        sought: tuple[str, ...] = (),
    ) -> PageWindow:
        self.asked.append(f"failure_window({', '.join(value for _, value in key)}, {after_id})")
        edge = after_id or (10**9 if newest_first else 0)
        found = [
            one
            for one in sorted(self.pages, key=lambda one: one.page_id, reverse=newest_first)
            if is_within(one, key)
            and holds(one, sought)
            and (one.page_id < edge if newest_first else one.page_id > edge)
        ]
        shown = tuple(found[:limit])
        return PageWindow(shown, len(found), len(found), shown[-1].page_id if shown else 0, len(found) <= limit)

    def page_detail(self, url: str, links: int, counted: int) -> PageDetail | None:
        return self.detail(url)

    def link_ends(self, url: str, inward: bool, after: tuple[int, str], limit: int) -> tuple[LinkEnd, ...]:
        self.asked.append(f"link_ends({inward}, {after})")
        ends = tuple(one for one in self.ends(url, inward) if one.after > after)
        return ends[:limit]

    def referrers(self, page_id: int, limit: int) -> Referrers:
        self.asked.append(f"referrers({page_id})")
        ends = self.ends(f"{API}/v2/items?page=18", True)
        return Referrers(tuple(Referrer(one.link.from_url, one.link.kind, one.link.text) for one in ends[:limit]), 3)

    def refusal_counts(self, limit: int) -> RefusalCounts:
        self.asked.append(f"refusal_counts({limit})")
        return self.refusals

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

    def page_tally(self, narrowing: PageFilter, after_id: int) -> PageTally:
        self.asked.append(f"page_tally({after_id})")
        known = sorted(self.pages, key=lambda one: one.page_id)
        names = frozenset(one.origin for one in known)
        rest = [one for one in known if one.page_id > after_id]
        looked = rest[: self.looks_at]
        last = looked[-1].page_id if looked else after_id
        matched = sum(passes(narrowing, one, names) for one in looked)
        return PageTally(matched, len(looked), len(known), last, looked == rest)

    def page_counts(self, narrowing: PageFilter, field: str) -> PageCounts:
        self.asked.append(f"page_counts({field})")
        names = frozenset(one.origin for one in self.pages)
        looked = self.pages[: self.looks_at]
        values = Counter(_value_of(one, field) for one in looked if passes(narrowing, one, names))
        return PageCounts(tuple(values.most_common()), len(values), len(looked), len(self.pages))

    def body(self, url: str) -> bytes | None:
        self.asked.append("body()")
        return self.stored

    def current_rulesets(self) -> tuple[Ruleset, ...]:
        return tuple(one for one in self.versions if one.current)

    def rulesets(self, job: str, limit: int) -> tuple[Ruleset, ...]:
        self.asked.append(f"rulesets({job}, {limit})")
        return tuple(one for one in self.versions if one.job == job)[:limit]

    def ruleset_writer(self, job: str, ruleset_id: int, alone: bool) -> int:
        return self.writers.get(ruleset_id, 0)

    def exclusions(self) -> tuple[Exclusion, ...]:
        return self.added

    def actions(
        self, limit: int, before_id: int = 0, after_id: int = 0, oldest_first: bool = False
    ) -> tuple[ActionView, ...]:
        found = tuple(o for o in self.asked_for if o.action_id > after_id and o.action_id < (before_id or 10**9))
        return (found[::-1] if oldest_first else found)[:limit]

    def robots_text(self, origin: str) -> bytes | None:
        return self.robots

    def contract(self, origin: str) -> Contract:
        return CONTRACT

    def activity(self, limit: int, origin: str, after_id: int, before_id: int = 0) -> tuple[ActivityView, ...]:
        self.asked.append(f"activity(after_id={after_id})")
        mine = [one for one in self.happened if origin in {"", one.origin}]
        found = tuple(o for o in mine if o.activity_id > after_id and o.activity_id < (before_id or 10**9))
        return found[:limit]

    def branch_list(self, prefix: str, branches: int, pages: int) -> BranchList:
        return sample_tree.branch_list(prefix, branches, pages)

    def branch_piece(self, prefix: str, after: str = "") -> BranchTally:
        return sample_tree.branch_piece(prefix, after, self.looks_at)

    def branch_traps(self, prefixes: tuple[str, ...]) -> dict[str, TrapSuspicion]:
        return sample_tree.branch_traps(prefixes)

    def branch_failures(self, origin: str, prefix: str, limit: int) -> tuple[str, ...]:
        return sample_tree.branch_failures(prefix, limit)

    def jobs(self) -> tuple[JobView, ...]:
        return self.groups_of_pages

    def limbo(self, older_ms: int) -> tuple[LimboView, ...]:
        return tuple(one for one in sample_log.claimed() if one.age_ms > older_ms)

    def stashes(self) -> tuple[StashView, ...]:
        self.asked.append("stashes()")
        return sample_log.stashes()

    def refused(self, origin: str) -> tuple[RefusedView, ...]:
        return tuple(one for one in sample_log.refused_links() if origin in {"", one.origin})

    def validations(self, most: int) -> ValidationTotals:
        self.asked.append(f"validations({most})")
        return sample_log.validation_totals()

    def sessions(self, limit: int) -> tuple[SessionView, ...]:
        return sample_log.sessions()[:limit]

    def workers(self) -> tuple[WorkerView, ...]:
        return self.at_work

    def runs(self, limit: int) -> tuple[RunView, ...]:
        return self.past_runs[:limit]

    def pulse(self, of: PulseOf, span: TimeSpan) -> Pulse:
        step_ms = int(span.cell_ms)
        self.asked.append(f"pulse({of.scope.name} {of.name}, {step_ms}, {span.cells})")
        return pulse(of, span.since, step_ms, span.cells)

    def paces(self, span: TimeSpan) -> dict[str, list[tuple[int, int]]]:
        self.asked.append(f"paces({span.cells})")
        return paces(tuple(self.rows), span)

    def close(self) -> None:
        self.closed.set()


def _value_of(page: PageView, field: str) -> str:
    values = {
        "state": state_of(page).value,
        "exit": page.last_exit_code,
        "status": str(page.last_http_status or ""),
        "depth": str(page.depth),
        "origin": page.origin,
    }
    return values[field]
