"""Rows as the database would give them, which a test changes by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from tests.console.sample_crawl import API, attempts, failed_pages, origins, page_detail, run_view, todo_list
from tui_crawler.domain.run import StorageFailure
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
    RefusedView,
    RunView,
    TodoView,
    TotalsView,
)


@dataclass
class FakeReports:
    """Rows that a test changes by hand; `version` is raised by `commit`."""

    rows: dict[str, OriginView] = field(default_factory=lambda: {view.origin: view for view in origins()})
    log: tuple[AttemptView, ...] = field(default_factory=attempts)
    newest_run: RunView | None = field(default_factory=run_view)
    pages: tuple[PageView, ...] = field(default_factory=failed_pages)
    detail: Callable[[str], PageDetail | None] = page_detail
    version: int = 1
    failure: str = ""
    asked: list[str] = field(default_factory=list)
    gate: threading.Event | None = None
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
        return ()

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

    def actions(self, limit: int) -> tuple[ActionView, ...]:
        return ()

    def close(self) -> None:
        self.closed.set()
