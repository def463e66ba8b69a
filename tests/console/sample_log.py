"""What happened beside the attempts of the sample crawl: activity, actions, jobs, stashes, limbo, refusals, runs."""

from __future__ import annotations

from typing import Any

from tests.console.sample_crawl import API, DOCS, HOUR, MINUTE, NOW, SECOND, WHO, WWW, run_view
from tui_crawler.domain.records.command import PauseOrigins, RetryPages, to_json
from tui_crawler.domain.records.operator_view import (
    ActionView,
    ActivityView,
    JobView,
    LimboView,
    SessionView,
    StashView,
    ValidationTotals,
)
from tui_crawler.domain.records.page_view import ExitCountView, RefusedView
from tui_crawler.domain.records.view import RunView
from tui_crawler.domain.records.worker import WorkerState, WorkerView


def activities() -> tuple[ActivityView, ...]:
    """What happened beside the attempts, newest first."""
    return (
        ActivityView(41, NOW - 2 * SECOND, "dripfeed_changed", "", 7, "500 of spring are kept ready"),
        ActivityView(40, NOW - 12 * SECOND, "ruleset_applied", "", 7, "job my-index: version 13 of mara replaces 12"),
        ActivityView(39, NOW - 24 * SECOND, "origin_finished", "https://down.example.com", 7, "patience"),
        ActivityView(38, NOW - 25 * SECOND, "pages_reclaimed", "", 7, "2 pages: their worker is gone"),
        ActivityView(37, NOW - 26 * SECOND, "session_taken_over", "", 7, "process 4402 on host reef is gone"),
        ActivityView(36, NOW - 31 * MINUTE, "origin_finished", "https://tiny.example", 7, "exhausted"),
        ActivityView(35, NOW - 42 * MINUTE, "origin_joined", API, 7, API),
        ActivityView(34, NOW - 42 * MINUTE - 10 * SECOND, "run_started", "", 7, "run 7"),
    )


def operator_actions() -> tuple[ActionView, ...]:
    """What operators asked for, newest first."""
    return (
        ActionView(
            9, NOW - SECOND, WHO, "retry", f"{API}/v2/items?page=3", "", "", undone=False, applied=False,
            command=to_json(RetryPages((f"{API}/v2/items?page=3",))),
        ),
        ActionView(
            8, NOW - 9 * SECOND, WHO, "delay", "https://wiki.example.edu", '{"delay_ms": 0}', '{"delay_ms": 15000}',
            undone=False, applied=True,
        ),
        ActionView(
            7, NOW - 15 * SECOND, WHO, "job", "archive", '{"nice": 0}', '{"nice": 20}', undone=True, applied=True
        ),
        ActionView(
            6, NOW - 20 * SECOND, "ines", "rules", "my-index", "", "", undone=False, applied=True,
            error="ruleset 11 is not the current one any more",
        ),
        ActionView(
            5, NOW - 29 * MINUTE, WHO, "pause", "https://old.example.org", "{}", "{}", undone=False, applied=True,
            command=to_json(PauseOrigins(("https://old.example.org",))),
        ),
    )  # fmt: skip


def jobs() -> tuple[JobView, ...]:
    """Jobs in every state."""
    made = NOW - 42 * MINUTE
    return (
        JobView(
            "my-index", "ACTIVE", 0, 8, None, "", 1_196_829, 6, 101_019, 15, 5_429, 13, False, "", WHO, made,
        ),
        JobView("archive", "ACTIVE", 20, None, 0, "slow", 4_410, 0, 0, 0, 0, 9, False, "after the move", WHO, made),
        JobView("press", "DRAINING", -10, 2, 4, "", 2, 2, 640, 0, 3, 12, False, "", WHO, made),
        JobView("events", "FINISHED", 0, 3, None, "", 0, 0, 1_204, 0, 12, 8, False, "", WHO, made),
        JobView("trial", "ABORTED", 0, 1, 2, "", 77, 0, 0, 0, 0, 3, True, "wrong seeds", "ines", made),
    )  # fmt: skip


def stashes() -> tuple[StashView, ...]:
    """One stash that drips, one that rests."""
    return (StashView("my-index", "spring", 88_120, 500, 500), StashView("archive", "videos", 1_377, 0, 0))


def claimed() -> tuple[LimboView, ...]:
    """Pages in flight, one of them for too long."""
    return (
        LimboView(f"{DOCS}/huge.pdf", DOCS, "my-index", "w2", NOW - 4 * MINUTE, 4 * MINUTE),
        LimboView(f"{API}/v2/items?page=19", API, "my-index", "w1", NOW - 6_100, 6_100),
        LimboView(f"{WWW}/products/4711?ref=home", WWW, "my-index", "w1", NOW - 200, 200),
    )


def refused_links() -> tuple[RefusedView, ...]:
    """Links that filters refused."""
    return (
        RefusedView(WWW, "scope", 88_204, "https://elsewhere.example/x"),
        RefusedView(API, "scope", 1_204, "https://other.example/y"),
        RefusedView(WWW, "trap_repeat", 180, f"{WWW}/a/a/a/a/"),
        RefusedView(DOCS, "trap_depth", 12, f"{DOCS}/1/2/3/4/5/6/7/8/9"),
        RefusedView(DOCS, "invalid_url", 3, "http://[::1/"),
    )


def validation_totals() -> ValidationTotals:
    """What two validators said of the first pages."""
    return ValidationTotals(200_000, False, (("html", 81_400, 9_204), ("json", 12, 0)))


def runs() -> tuple[RunView, ...]:
    """The live run and those before it."""
    return (
        run_view(live=False, worked_ms=42 * MINUTE + 10 * SECOND),
        run_view(
            run_id=6, live=False, started_at=NOW - 26 * HOUR, finished_at=NOW - 24 * HOUR, finish_reason="exhausted",
            requests=91_377, worked_ms=2 * HOUR,
        ),
        run_view(
            run_id=5, live=False, started_at=NOW - 50 * HOUR, finished_at=NOW - 49 * HOUR, finish_reason="interrupted",
            requests=4_402, worked_ms=HOUR,
        ),
        run_view(run_id=4, live=False, started_at=NOW - 74 * HOUR, finished_at=0, finish_reason="", requests=77),
    )  # fmt: skip


def exits_of_crawl() -> tuple[ExitCountView, ...]:
    """How the attempts of the whole run ended."""
    return (
        ExitCountView("file_ingested", 91_204, 5_211),
        ExitCountView("file_did_not_change", 8_011, 402),
        ExitCountView("blocked_url_by_local_policy", 4_112, 201),
        ExitCountView("blocked_by_robots_txt", 1_332, 12),
        ExitCountView("file_not_found", 1_290, 61),
        ExitCountView("permanent_redirect", 980, 33),
        ExitCountView("server_internal_error", 108, 4),
        ExitCountView("connection_failed", 55, 0),
        ExitCountView("request_timeout", 34, 6),
        ExitCountView("rate_limited", 12, 2),
    )


def exits_of_www() -> tuple[ExitCountView, ...]:
    """How those at the greatest origin ended."""
    return (
        ExitCountView("file_ingested", 79_402, 4_870),
        ExitCountView("file_did_not_change", 6_230, 311),
        ExitCountView("blocked_url_by_local_policy", 3_190, 180),
        ExitCountView("file_not_found", 1_204, 57),
        ExitCountView("permanent_redirect", 951, 31),
        ExitCountView("blocked_by_robots_txt", 872, 9),
    )


def sessions() -> tuple[SessionView, ...]:
    """Two workers, one of which is silent; one that rests, one that was lost, one that ended in order."""
    made = NOW - 42 * MINUTE
    beat = {"lease_ms": 30_000, "pid": 4_711}
    ended = {"ended_at": made - MINUTE, "heartbeat_at": made - MINUTE, "started_at": made - 90 * MINUTE, "origins": 0}
    return (
        SessionView(5, 7, False, "w2", "beta", started_at=made, heartbeat_at=NOW - 50 * SECOND, ended_at=0,
                    clean=False, ended_by="", origins=40, **beat),
        SessionView(4, 7, False, "w1", "alpha", started_at=made, heartbeat_at=NOW - SECOND, ended_at=0,
                    clean=False, ended_by="", origins=372, **beat),
        SessionView(3, 0, True, "", "alpha", started_at=made, heartbeat_at=NOW - SECOND, ended_at=0,
                    clean=False, ended_by="", **(beat | {"origins": 0})),
        SessionView(2, 6, False, "w1", "alpha", clean=False, ended_by="w1 on alpha", **(beat | ended)),
        SessionView(1, 6, False, "w1", "alpha", clean=True, ended_by="", **(beat | ended)),
    )  # fmt: skip


def workers() -> tuple[WorkerView, ...]:
    """Four workers on three machines: one crawls, one is silent, one is paused, one is to leave."""

    def made(session_id: int, name: str, host: str, state: WorkerState, **known: Any) -> WorkerView:
        more = {
            "leads": False, "slots": 16, "in_flight": 0, "origins": 0, "pages_per_minute": 0.0, "lease_ms": 30_000,
            "heartbeat_age_ms": SECOND, "pid": 4_711, "version": "0.1.0", "tags": (), "matchonly": False,
            "free_bytes": 41_000_000_000, "started_at": NOW - 42 * MINUTE, "run_id": 7, "shared": True,
        }  # fmt: skip
        return WorkerView(session_id=session_id, name=name, host=host, state=state, **(more | known))

    crawling = {"in_flight": 12, "origins": 372, "pages_per_minute": 1_104.5, "leads": True}
    return (
        made(4, "w1", "alpha", WorkerState.crawling, **crawling),
        made(5, "w2", "beta", WorkerState.silent, origins=40, heartbeat_age_ms=50 * SECOND, in_flight=3),
        made(6, "north-1", "beta", WorkerState.paused, origins=61, pid=812, tags=("news", "slow"), matchonly=True),
        made(7, "north-2", "gamma", WorkerState.draining, origins=2, pid=90_210, slots=4, in_flight=1,
             pages_per_minute=58.0, free_bytes=0, started_at=NOW - 3 * MINUTE),
    )  # fmt: skip
