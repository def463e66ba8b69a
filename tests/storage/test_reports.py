"""What is shown, read over a connection of its own while the engine writes."""

from __future__ import annotations

import importlib
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.storage.bench import DatabaseBench, of_sqlite
from tests.storage.making import (
    T0,
    A,
    B,
    C,
    attempt,
    crawled,
    failed,
    fill_of,
    new_page,
    plan,
    record,
    refusal,
    request,
    robots,
    seed,
)
from tests.storage.raw import rows, value
from tests.storage.reading import links_of, pages_of
from tui_crawler.domain.history.audit import SentRequest
from tui_crawler.domain.history.idle_reason import idle_reason, idle_reason_of_run
from tui_crawler.domain.records.attempt import RedirectRecord, RedirectSource, RefusedCount, Settle
from tui_crawler.domain.records.command import PauseOrigins, RetryPages
from tui_crawler.domain.records.exit_code import AttemptKind, ExitCode
from tui_crawler.domain.records.failure import NotOurDatabase, StorageFailure
from tui_crawler.domain.records.view import LogReach, LogTerms
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.page_filter import PageFilter
from tui_crawler.storage.db.reader import SubjectReports
from tui_crawler.storage.reports.reports import LATE_SUBJECTS, Reports

HOME = f"{A}/"


async def small_crawl(bench: DatabaseBench):
    """A home page with three links, one of which failed; a second origin; answers the store."""
    store = bench.open()
    await store.begin_run(plan(HOME, f"{B}/", max_requests=100, config_text="seeds: [x]"))
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    await store.fill(fill_of((home,)))
    made = crawled(home, T0 + 10, f"{A}/items/1", f"{A}/items/2", f"{A}/about")
    spent = replace(made.attempt, patience_after=4, delay_ms_after=3_000, decided_by="x.yaml:3")
    await store.settle(replace(made, attempt=spent, origin=record(delay_ms=3_000, patience=4)))
    pages = (await store.candidates(A, T0 + 20, 10, False)).pages
    await store.fill(fill_of(pages))
    gone = failed(pages[0], T0 + 30, ExitCode.file_not_found, 404)
    await store.settle(replace(gone, attempt=replace(gone.attempt, message="not there")))
    return store


def problems(reports, origin=""):
    """The attempts that are problems, the newest first."""
    return reports.attempt_stretch(LogTerms(origin, problems=True), LogReach()).found


async def test_an_empty_database_has_nothing_to_show(database_reports):
    assert database_reports.run() is None
    assert database_reports.config_text() == ""
    totals = database_reports.totals()
    assert (totals.todo, totals.attempts, totals.exit_codes) == (0, 0, ())
    assert database_reports.origins_changed(0) == ()
    assert database_reports.origin(A) is None
    assert database_reports.todo(A) == ()
    assert database_reports.attempts() == ()
    assert database_reports.exit_counts("", T0) == database_reports.exit_counts(A, T0) == ()
    assert database_reports.failure_count().groups == ()
    assert database_reports.failure_window().pages == pages_of(database_reports) == ()
    assert database_reports.page_detail(HOME) is None
    assert links_of(database_reports, HOME) == ((), ())
    assert database_reports.body(HOME) is database_reports.robots_text(A) is None
    assert database_reports.actions() == database_reports.refused() == database_reports.exclusions() == ()
    assert list(database_reports.attempts_for_audit()) == []
    assert list(database_reports.rows("v_page")) == []


async def test_the_run_and_the_totals(database_bench, database_reports):
    store = await small_crawl(database_bench)
    run = database_reports.run()
    assert (run.run_id, run.requests, run.max_requests, run.finished_at, run.live) == (1, 2, 100, 0, False)
    assert database_reports.config_text() == "seeds: [x]"
    totals = database_reports.totals()
    assert (totals.todo, totals.pending, totals.done, totals.failed, totals.blocked) == (2, 3, 1, 1, 0)
    assert (totals.requests, totals.bytes, totals.attempts) == (2, 200, 2)
    assert totals.known == len(pages_of(database_reports))
    assert set(totals.exit_codes) == {("file_ingested", 1), ("file_not_found", 1)}
    await store.end_run("exhausted", True)
    assert database_reports.run().finish_reason == "exhausted"


async def test_only_changed_origins_are_read_again(database_bench, database_reports):
    store = await small_crawl(database_bench)
    first = database_reports.origins_changed(0)
    assert {row.origin for row in first} == {A, B}
    assert database_reports.origins_changed(first[-1].change) == ()
    before = database_reports.data_version()
    assert database_reports.data_version() == before
    await store.save_origins([record(B, paused=True)])
    assert database_reports.data_version() != before
    (second,) = database_reports.origins_changed(first[-1].change)
    assert (second.origin, database_reports.origin(B)) == (B, second)
    assert second.change > first[-1].change


async def test_an_origin_as_the_overview_shows_it(database_bench, database_reports):
    store = await small_crawl(database_bench)
    page = (await store.candidates(B, T0, 1, True)).pages[0]
    store.mark_in_flight(page.page_id, B, page.url)
    action = database_bench.ask(PauseOrigins((A,)))
    await store.take_actions()
    await store.save_origins([record(paused=True, asleep_until=T0 + 5)])
    view = database_reports.origin(A)
    assert (view.todo, view.pending, view.done, view.failed, view.discovered) == (2, 2, 1, 1, 4)
    assert (view.patience_max, view.last_url, view.last_exit_code) == (5, f"{A}/items/1", "file_not_found")
    assert (view.last_http_status, view.last_attempt_at, view.bytes, view.requests) == (404, T0 + 30, 200, 2)
    assert (view.paused, view.paused_by, view.paused_at, view.asleep_until) == (True, "operator", T0, T0 + 5)
    assert view.worker
    busy = database_reports.origin(B)
    assert (busy.state, busy.in_flight_url) == ("BUSY", f"{B}/")
    await store.save_origins([record(B)])
    assert database_reports.origin(B).in_flight_url == f"{B}/"
    await store.settle(crawled(page, T0))
    assert database_reports.origin(B).in_flight_url == ""
    assert action == 1
    await store.save_origins([record(paused=False)])
    assert (database_reports.origin(A).paused_by, database_reports.origin(A).paused_at) == ("", 0)


async def test_the_todo_list_in_order_and_the_place_on_it(database_bench, database_reports):
    await small_crawl(database_bench)
    shown = database_reports.todo(A)
    assert [row.url for row in shown] == [f"{A}/items/2", f"{A}/about"]
    assert (shown[0].found_on, shown[0].depth, shown[0].seed) == (HOME, 1, False)
    assert len(database_reports.todo(A, 1)) == 1
    places = {url: page.queue_position for url in (f"{A}/about", HOME) if (page := database_reports.standing(url).page)}
    assert places == {f"{A}/about": 2, HOME: None}


async def test_windows_of_the_log(database_bench, database_reports):
    store = await small_crawl(database_bench)
    page = (await store.candidates(B, T0, 1, True)).pages[0]
    for number in range(6):
        await store.settle(crawled(page, T0 + 100 + number))
    ids = [row.attempt_id for row in database_reports.attempts()]
    assert ids == [8, 7, 6, 5, 4, 3, 2, 1]
    assert [row.attempt_id for row in database_reports.attempts(limit=3)] == [8, 7, 6]
    assert [row.attempt_id for row in database_reports.attempts(before_id=6, limit=3)] == [5, 4, 3]
    assert [row.attempt_id for row in database_reports.attempts(after_id=6)] == [8, 7]
    happened = database_reports.activity()
    assert database_reports.activity(1, before_id=happened[0].activity_id) == happened[1:2]
    assert database_reports.activity(after_id=happened[-1].activity_id) == happened[:-1] != ()
    assert [row.attempt_id for row in database_reports.attempts(A)] == [2, 1]
    assert [row.attempt_id for row in database_reports.attempts(A, before_id=2, after_id=0)] == [1]
    assert [row.attempt_id for row in problems(database_reports)] == [2]
    assert [row.attempt_id for row in problems(database_reports, B)] == []
    assert database_reports.attempts(C) == ()
    first = database_reports.attempts(A)[1]
    assert (first.title, first.new_pages, first.decided_by, first.exit_code_id) == ("a title", 3, "x.yaml:3", 20)
    (asked,) = database_reports.requests(first.attempt_id)
    assert (asked.url, asked.http_status, asked.sent_at) == (HOME, 200, T0 - 10)


async def test_exit_counts_of_the_run_and_of_five_minutes(database_bench, database_reports):
    store = await small_crawl(database_bench)
    page = (await store.candidates(B, T0, 1, True)).pages[0]
    await store.settle(crawled(page, T0 + 600_000))
    counts = {one.exit_code: (one.run, one.recent) for one in database_reports.exit_counts("", T0 + 600_000)}
    assert counts == {"file_ingested": (2, 1), "file_not_found": (1, 0)}
    assert database_reports.exit_counts(A, T0)[0].recent == 1
    assert database_reports.exit_counts("https://unknown.example", T0) == ()
    database_bench.now = T0 + 3_600_000
    await store.heartbeat()
    assert value(database_bench.place, "SELECT COUNT(*) FROM exit_minute") == 0
    await store.end_run("exhausted", True)
    await database_bench.open().begin_run(plan())
    assert database_reports.exit_counts("", database_bench.now) == ()


async def test_failures_in_groups_and_lists(database_bench, database_reports):
    store = database_bench.open()
    targets = [*(f"{A}/list/{n}/page-{n}?x={n}" for n in range(4)), f"{A}/other", f"{B}/list/9/page-9"]
    await store.begin_run(plan(*targets))
    for number, origin in enumerate((A, B)):
        for place, page in enumerate((await store.candidates(origin, T0, 10, True)).pages):
            code = ExitCode.request_timeout if place % 2 == 0 else ExitCode.file_gone
            await store.settle(failed(page, T0 + 10 * number + place, code, None if place % 2 == 0 else 410))
    by_code = database_reports.failure_count(("exit_code",)).groups
    assert [(dict(g.key)["exit_code"], g.count, g.recoverable) for g in by_code] == [
        ("request_timeout", 4, 4),
        ("file_gone", 2, 0),
    ]
    assert (by_code[0].first_at, by_code[0].last_at, by_code[0].sample_url) == (T0, T0 + 10, targets[0])
    by_pattern = database_reports.failure_count(("origin", "pattern")).groups
    assert (by_pattern[0].key, by_pattern[0].count) == ((("origin", A), ("pattern", "/list/{n}/page-{n}")), 4)
    assert sum(group.count for group in by_pattern) == 6
    assert sum(group.count for group in database_reports.failure_count(("http_status", "message")).groups) == 6
    assert sum(group.count for group in database_reports.failure_count(limit=2).groups) == 2
    with pytest.raises(ValueError, match="cannot group by colour"):
        database_reports.failure_count(("colour",))
    listed = database_reports.failure_window().pages
    assert [page.url for page in listed] == targets
    assert [page.recoverable for page in listed] == [True, False, True, False, True, True]
    window = database_reports.failure_window
    assert [page.url for page in window((), listed[2].page_id, 2).pages] == targets[3:5]
    assert [page.url for page in window((("exit_code", "file_gone"),)).pages] == [targets[1], targets[3]]
    both = (("exit_code", "request_timeout"), ("origin", B))
    assert [page.url for page in window(both).pages] == [targets[5]]
    assert window((("exit_code", "nonsense"),)).pages == window((("origin", C),)).pages == ()


async def test_a_failed_page_can_recover_unless_its_code_is_final(database_bench, database_reports):
    """Also where the run does not try it again, and where its tries are used up; and the list knows its run."""
    store = database_bench.open()
    codes = {
        "teapot": (ExitCode.server_blamed_client, 418),
        "forbidden": (ExitCode.server_blamed_client, 403),
        "broken": (ExitCode.server_internal_error, 500),
        "nonsense": (ExitCode.did_not_understand_answer, 200),
        "parser": (ExitCode.local_processing_error, 200),
        "gone": (ExitCode.file_gone, 410),
        "late": (ExitCode.request_timeout, None),
    }
    start = await store.begin_run(plan(*(f"{A}/{name}" for name in codes)))
    for page in (await store.candidates(A, T0, 10, True)).pages:
        await store.settle(failed(page, T0, *codes[page.url.rpartition("/")[2]]))
    listed = {page.url.rpartition("/")[2]: page for page in database_reports.failure_window().pages}
    assert {name for name, page in listed.items() if not page.recoverable} == {"forbidden", "gone"}
    assert {name for name, page in listed.items() if page.attempts_remaining} == listed.keys() - {"forbidden", "gone"}
    assert {name for name, page in listed.items() if page.ignored_in == start.run_id} == listed.keys() - {"late"}
    (group,) = database_reports.failure_count(("origin",)).groups
    assert (group.count, group.recoverable) == (7, 5)
    for _ in range(2):
        (late,) = (await store.candidates(A, T0, 10, False)).pages
        await store.settle(failed(late, T0, ExitCode.request_timeout))
    (late,) = database_reports.failure_window((("exit_code", "request_timeout"),)).pages
    assert (late.attempts_remaining, late.recoverable) == (0, True), "a retry may save it"
    await store.retry(RetryPages(exit_codes=("file_gone",)))
    (gone,) = database_reports.failure_window((("exit_code", "file_gone"),)).pages
    assert (gone.attempts_remaining, gone.recoverable, gone.ignored_in) == (3, True, 0)
    (group,) = database_reports.failure_count(("origin",)).groups
    assert group.recoverable == 6


async def test_one_url_whole(database_bench, database_reports):
    await small_crawl(database_bench)
    detail = database_reports.page_detail(f"{A}/items/1")
    page = detail.page
    assert (page.message, page.last_exit_code, page.recoverable) == ("not there", "file_not_found", False)
    assert [step.from_url for step in detail.path] == [HOME]
    assert [(step.from_url, step.kind) for step in detail.inlinks] == [(HOME, "a")]
    assert (detail.inlink_count, detail.outlink_count, len(detail.requests)) == (1, 0, 1)
    home = database_reports.page_detail("https://A.example:443/#top")
    assert (home.page.url, home.outlink_count, home.path) == (HOME, 3, ())
    assert [row.attempt_id for row in home.attempts] == [1]
    assert database_reports.body(HOME) == b"<p>hello"
    assert database_reports.page_detail("not a url") is None
    inlinks, outlinks = links_of(database_reports, HOME)
    assert inlinks == ()
    assert {row.to_url for row in outlinks} == {f"{A}/items/1", f"{A}/items/2", f"{A}/about"}
    assert len(links_of(database_reports, f"{A}/about")[0]) == 1


async def test_a_discovery_path_over_redirects_and_links_that_are_gone(database_bench, database_reports):
    store = database_bench.open()
    await store.begin_run(plan())
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    await store.settle(crawled(home, T0, f"{A}/moved"))
    (moved,) = (await store.candidates(A, T0, 10, False)).pages
    target = RedirectRecord(f"{A}/to", "", False, RedirectSource.location)
    hop = crawled(moved, T0, code=ExitCode.redirect, redirect=target, new_pages=(new_page(f"{A}/to"),))
    await store.settle(replace(hop, document=None))
    await store.settle(replace(crawled(home, T0 + 9), links=()))
    detail = database_reports.page_detail(f"{A}/to")
    assert [(step.from_url, step.to_url, step.kind) for step in detail.path] == [
        (HOME, f"{A}/moved", "gone"),
        (f"{A}/moved", f"{A}/to", "location"),
    ]
    assert [(one.from_url, one.to_url) for one in detail.redirects] == [(f"{A}/moved", f"{A}/to")]


async def test_a_cycle_of_discoveries_ends(database_bench, database_reports):
    await small_crawl(database_bench)
    rows(database_bench.place, "UPDATE page SET found_on_page_id = (SELECT MAX(id) FROM page) WHERE id = 1")
    assert len(database_reports.page_detail(f"{A}/about").path) <= 2


async def test_windows_of_pages(database_bench, database_reports):
    await small_crawl(database_bench)
    every = pages_of(database_reports)
    assert len(every) == 5
    assert [page.page_id for page in every] == sorted(page.page_id for page in every)
    assert database_reports.page_window(PageFilter(), every[1].page_id, 2, False).pages == every[2:4]
    assert [page.url for page in pages_of(database_reports, B)] == [f"{B}/"]
    assert pages_of(database_reports, C) == ()


async def test_the_past_of_an_origin(database_bench, database_reports):
    store = await small_crawl(database_bench)
    page = (await store.candidates(B, T0, 1, True)).pages[0]
    refused = (RefusedCount("scope", 2, "https://z.example/"), RefusedCount("start_path", 5, f"{B}/x"))
    await store.settle(crawled(page, T0, refused=refused))
    past = database_reports.history(A)
    assert [row.patience_after for row in past.patience] == [4]
    assert [row.delay_ms_after for row in past.delays] == [3_000]
    assert past.refused == ()
    assert [(row.reason, row.count) for row in database_reports.history(B).refused] == [("start_path", 5), ("scope", 2)]
    assert len(database_reports.refused()) == len(database_reports.refused(B)) == 2


async def test_robots_exclusions_and_the_journal(database_bench, database_reports):
    store = await small_crawl(database_bench)
    asked = attempt_for_robots()
    await store.settle(Settle(asked, record(robots=robots(b"User-agent: *\n")), save_robots=True))
    assert database_reports.robots_text(A) == b"User-agent: *\n"
    assert database_reports.origin(A).robots_status == "parsed"
    assert database_reports.origin(A).crawl_delay_ms == 2_000
    one = Exclusion("host", "x.example", "asked", "me", "operator")
    await store.change_exclusion(one, remove=False)
    assert database_reports.exclusions() == (one,)
    database_bench.ask(PauseOrigins())
    (action,) = database_reports.actions()
    assert (action.action, action.target, action.applied, action.undone) == ("pause", "all", False, False)


def attempt_for_robots(code: ExitCode = ExitCode.file_ingested, status: int = 200, **more):
    asked = request(f"{A}/robots.txt", T0, status)
    made = attempt(
        type("P", (), {"url": f"{A}/robots.txt", "page_id": None})(),
        code,
        T0,
        status,
        kind=AttemptKind.robots,
        requests=(asked,),
    )
    return replace(made, **more)


async def test_a_missing_robots_txt_is_no_problem(database_bench, database_reports):
    store = await small_crawl(database_bench)
    await store.settle(Settle(attempt_for_robots(ExitCode.file_not_found, 404), record()))
    await store.settle(Settle(attempt_for_robots(ExitCode.server_internal_error, 503), record()))
    assert [(row.kind, row.exit_code) for row in problems(database_reports)] == [
        ("robots", "server_internal_error"),
        ("page", "file_not_found"),
    ]


async def test_every_request_for_the_audit_in_the_order_of_sending(database_bench, database_reports):
    store = await small_crawl(database_bench)
    hops = (request(f"{A}/robots.txt", T0 - 100, 302), request(f"{B}/robots.txt", T0 + 5, 200))
    await store.settle(Settle(attempt_for_robots(requests=hops, delay_ms_after=2_000), record()))
    sent = list(database_reports.attempts_for_audit())
    assert [(one.attempt_origin, one.origin) for one in sent] == [(A, A), (A, B), (A, A), (A, A)]
    assert [one.sent_at for one in sent] == sorted(one.sent_at for one in sent)
    assert isinstance(sent[0], SentRequest)
    assert (sent[0].delay_ms_after, sent[0].fluke_retry, sent[0].url) == (2_000, False, f"{A}/robots.txt")


async def test_rows_of_views_are_streamed_by_name(database_bench, database_reports):
    await small_crawl(database_bench)
    assert sorted(database_reports.rows("v_origin", ("origin", "done"))) == [(A, 1), (B, 0)]
    assert len(next(database_reports.rows("v_page"))) == len(database_reports.columns("v_page"))


async def test_a_stream_holds_nobody_up(database_bench, database_reports):
    store = await small_crawl(database_bench)
    page = (await store.candidates(B, T0, 1, True)).pages[0]
    await store.settle(crawled(page, T0, *(f"{B}/{n}" for n in range(1_200))))
    stream = database_reports.rows("v_page", ("url",))
    next(stream)
    await store.settle(crawled(page, T0 + 1, f"{B}/new"))
    assert database_reports.totals().attempts == 4
    assert len(list(stream)) == 1_204


@of_sqlite
async def test_a_crawl_in_another_process_is_seen_without_waiting(database_bench, database_reports):
    await small_crawl(database_bench)
    raw = sqlite3.connect(database_bench.place, isolation_level=None)
    raw.execute("BEGIN IMMEDIATE")
    assert database_reports.totals().done == 1
    raw.execute("ROLLBACK")
    raw.close()
    assert database_bench.pages_known(A) == 4


def test_what_is_not_there_or_not_ours_is_told(tmp_path: Path):
    with pytest.raises(StorageFailure, match="no database"):
        Reports(tmp_path / "none.db")
    (tmp_path / "odd.db").write_text("hello")
    with pytest.raises(NotOurDatabase):
        Reports(tmp_path / "odd.db")


@of_sqlite
async def test_a_closed_or_broken_connection_is_a_storage_failure(database_bench, database_reports):
    await small_crawl(database_bench)
    rows(database_bench.place, "DROP VIEW v_refused")
    with pytest.raises(StorageFailure, match="v_refused"):
        database_reports.refused()
    assert database_reports.totals().done == 1


async def test_refusals_show_who_decided(database_bench, database_reports):
    store = database_bench.open()
    await store.begin_run(replace(plan(), seeds=(seed(HOME),)))
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    await store.settle(refusal(home, T0))
    (row,) = database_reports.attempts()
    assert (row.exit_code, row.decided_by) == ("blocked_by_robots_txt", "robots.txt:2")
    assert (row.requests, row.response_ms) == (0, None)
    assert database_reports.totals().blocked == 1


async def test_a_live_run_that_stores_nothing_while_there_is_no_room_waits_for_the_disk(
    database_bench: DatabaseBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = database_bench.open(alive=True)
    await store.begin_run(plan())
    reports = Reports(database_bench.place, now=lambda: database_bench.now)
    room = shutil.disk_usage(database_bench.place.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: room._replace(free=4_096))
    at_work = reports.run()
    database_bench.now += 5_000
    waiting = reports.run()
    (origin,) = reports.origins_changed(0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: room._replace(free=1 << 30))
    silent = reports.run()
    reports.close()
    assert at_work is not None
    assert waiting is not None
    assert silent is not None
    assert "disk" not in idle_reason(origin, database_bench.now, at_work)
    assert "waits: the disk is full" in idle_reason(origin, database_bench.now, waiting)
    assert "waits: the disk is full" in idle_reason_of_run((origin,), database_bench.now, waiting)
    assert "disk" not in idle_reason(origin, database_bench.now, silent)
    assert "silent for 20 s" in idle_reason(origin, database_bench.now + 15_000, silent)


def test_every_report_of_a_subject_that_is_loaded_late_is_found_by_its_name() -> None:
    """And nothing else is; a subject that is there has no method that nobody finds."""
    for place, names in LATE_SUBJECTS.items():
        module, _, subject = place.partition(".")
        found = getattr(importlib.import_module(f"tui_crawler.storage.reports.{module}"), subject)
        assert issubclass(found, SubjectReports)
        assert {name for name in vars(found) if not name.startswith("_")} == {*names.split()}
    late = [name for names in LATE_SUBJECTS.values() for name in names.split()]
    assert len(late) == len({*late})
    assert not [name for name in late if name in vars(Reports)]
    with pytest.raises(AttributeError, match="no_such_report"):
        Reports.__getattr__(object.__new__(Reports), "no_such_report")
