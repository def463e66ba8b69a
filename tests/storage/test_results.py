"""What an attempt leaves beside its page: typed results, its ruleset; checks; and a finish that comes too late."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.storage.making import (
    T0,
    A,
    attempt,
    crawled,
    document,
    failed,
    fill_of,
    new_page,
    plan,
    record,
    refusal,
    request,
)
from tests.storage.reading import data_of, links_of
from tests.storage.workbench import Workbench
from tui_crawler.domain.records.attempt import AttemptRecord, AttemptResult, DataValue, Settle
from tui_crawler.domain.records.command import SetDripfeed, StashPages
from tui_crawler.domain.records.exit_code import AttemptKind, ExitCode
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.crawl import candidates, crawl_log, settle, stashes
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.models import Page
from tui_crawler.storage.reports.reports import Reports

HOME = f"{A}/"
RESULTS = (AttemptResult("status_code", "200"), AttemptResult("final_url", HOME))
PAGE = """SELECT status, attempts, attempts_remaining, last_exit_code, last_attempt_id, claimed_by, todo_order,
    ignored_run FROM page WHERE id = ?"""


def home_of(workbench: Workbench, claim: Claim, *, marked: bool = True) -> TodoPage:
    (page, *_) = workbench.work(lambda work: candidates.candidates(work, claim, A, workbench.now, 10, False)).pages
    if marked:
        mark(workbench, claim, page)
    return page


def mark(workbench: Workbench, claim: Claim, page: TodoPage) -> None:
    workbench.work(lambda work: settle.mark_in_flight(work, claim, page.page_id, A, page.url))


def reclaim(workbench: Workbench) -> None:
    workbench.work(lambda work: work.execute(Page.update({Page.status: 0, Page.claimed_by: 0, Page.claimed_at: 0})))


def newest(reports: Reports) -> tuple[str, str]:
    (view, *_) = reports.attempts()
    return view.exit_code, view.message


@pytest.fixture
def claim(workbench: Workbench) -> Claim:
    return workbench.begin(plan())[0]


@pytest.fixture
def other(workbench: Workbench, claim: Claim) -> Claim:
    return workbench.second_session(claim)


@pytest.fixture
def page(workbench: Workbench, claim: Claim) -> TodoPage:
    return home_of(workbench, claim)


def test_an_attempt_keeps_its_results_and_its_ruleset(workbench, reports, claim, page):
    made = crawled(page, T0 + 50)
    workbench.settle(claim, replace(made, attempt=replace(made.attempt, results=RESULTS, ruleset_id=1)))
    (view,) = reports.attempts()
    assert view.ruleset_id == 1
    assert set(reports.results(view.attempt_id)) == set(RESULTS)
    assert reports.results(view.attempt_id + 1) == ()
    detail = reports.page_detail(HOME)
    assert detail.ruleset_id == 1


def test_results_are_idempotent_by_id(workbench, reports, claim, page):
    made = crawled(page, T0 + 50)
    workbench.settle(claim, replace(made, attempt=replace(made.attempt, results=RESULTS)))
    again = (AttemptResult("status_code", "999"), AttemptResult("outlinks", "3"))
    rows = [crawl_log.result_row(one, 1) for one in again]
    workbench.work(lambda work: work.insert(crawl_log.insert_results, rows))
    assert {(one.type, one.value) for one in reports.results(1)} == {
        ("status_code", "200"),
        ("final_url", HOME),
        ("outlinks", "3"),
    }
    assert {row[0] for row in workbench.rows("SELECT id FROM attempt_result")} == {
        "1:status_code",
        "1:final_url",
        "1:outlinks",
    }


def test_a_check_is_an_attempt_of_a_url_alone(workbench, reports, claim):
    before = workbench.rows("SELECT * FROM page")
    for text in (HOME, f"{A}/unknown"):
        log = AttemptRecord(
            A, text, AttemptKind.check, ExitCode.file_ingested, T0, T0 + 9, None, 200, 9, 0, (request(text, T0 + 9),)
        )
        settled = workbench.settle(claim, Settle(log, record(A, next_request_at=T0 + 5_000)))
        assert (settled.new_pages, settled.pending, settled.done) == ((), 1, 0)
    assert workbench.rows("SELECT * FROM page") == before
    views = reports.attempts()
    assert [(view.kind, view.url, view.requests) for view in views] == [
        ("check", f"{A}/unknown", 1),
        ("check", HOME, 1),
    ]
    assert [row[0] for row in workbench.rows("SELECT next_request_at FROM origin")] == [T0 + 5_000]


def test_a_sitemap_settles_like_a_page(workbench, reports, claim, page):
    workbench.settle(claim, crawled(page, T0, new_pages=(new_page(f"{A}/map.xml", 0, sitemap=True),)))
    (found,) = workbench.work(lambda work: candidates.candidates(work, claim, A, T0, 10, False)).pages
    assert found.sitemap
    made = crawled(found, T0 + 9, new_pages=(new_page(f"{A}/1", 1, lastmod=T0 - 9),))
    xml = document(found, b"<urlset/>", kind="xml")
    settled = workbench.settle(
        claim, replace(made, attempt=replace(made.attempt, kind=AttemptKind.sitemap), links=(), document=xml)
    )
    assert (settled.new_pages, settled.done) == (((A, 1),), 2)
    assert reports.attempts()[0].kind == "sitemap"
    assert reports.body(f"{A}/map.xml") == b"<urlset/>"


def stashed(workbench: Workbench, claim: Claim, count: int, ready: int) -> list[TodoPage]:
    """So many pages in a stash, of which some are kept READY; those that a fill finds."""
    home = home_of(workbench, claim)
    workbench.settle(claim, crawled(home, T0, *(f"{A}/{n}" for n in range(count))))
    workbench.work(lambda work: stashes.change_stash(work, claim, StashPages("later")))
    workbench.work(lambda work: stashes.change_stash(work, claim, SetDripfeed("later", ready)))
    return list(workbench.work(lambda work: candidates.candidates(work, claim, A, T0, 100, False)).pages)


def test_a_page_of_a_stash_that_is_done_lets_the_next_one_out(workbench, claim):
    one, two = stashed(workbench, claim, 4, 2)
    settled = workbench.settle(claim, crawled(one, T0 + 5, f"{A}/new"))
    assert (settled.new_pages, settled.pending, settled.done) == (((A, 2),), 3, 2)
    assert workbench.rows("SELECT new_pages FROM attempt ORDER BY id DESC LIMIT 1") == [(1,)]
    settled = workbench.settle(claim, failed(two, T0 + 6, ExitCode.request_timeout))
    assert (settled.new_pages, settled.pending) == ((), 3)  # it still has tries
    listed = workbench.work(lambda work: candidates.candidates(work, claim, A, T0, 100, False)).pages
    assert [page.url for page in listed] == [f"{A}/2", f"{A}/new", f"{A}/1"]


def test_pages_of_a_stash_that_a_fill_refuses_let_others_out(workbench, claim):
    pages = stashed(workbench, claim, 5, 2)
    refusals = tuple(refusal(page, T0 + 5) for page in pages)
    record_of_fill = replace(fill_of(()), ignored=tuple(page.page_id for page in pages), refusals=refusals)
    workbench.work(lambda work: settle.store_fill(work, claim, record_of_fill))
    listed = workbench.work(lambda work: candidates.candidates(work, claim, A, T0, 100, False)).pages
    assert [page.url for page in listed] == [f"{A}/2", f"{A}/3"]


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("order", ["older", "younger"])
def test_a_page_that_another_worker_has_crawled_meanwhile_is_left_alone(workbench, reports, marked, order):
    """The mark of a quick attempt may come late or never: it is the log that tells."""
    one, _ = workbench.begin(plan())
    other = workbench.second_session(one)
    late, quick = (one, other) if order == "older" else (other, one)
    page = home_of(workbench, late, marked=marked)
    reclaim(workbench)
    workbench.settle(quick, crawled(page, T0 + 500, f"{A}/1"))
    before, documents = workbench.rows(PAGE, page.page_id), workbench.rows("SELECT * FROM document")
    late_one = crawled(page, T0 + 900, f"{A}/2", f"{A}/3", document=None, drop_document=True)
    log = replace(late_one.attempt, started_at=T0 + 100, results=RESULTS)
    gap = record(A, next_request_at=T0 + 60_000, delay_ms=59_100)
    settled = workbench.settle(late, replace(late_one, attempt=log, origin=gap))
    assert (settled.new_pages, settled.pending, settled.done) == ((), 1, 1)
    assert workbench.rows(PAGE, page.page_id) == before
    assert workbench.rows("SELECT * FROM document") == documents
    assert links_of(reports, HOME)[1][0].to_url == f"{A}/1"
    assert newest(reports) == (
        "someone_stole_my_work",
        "another worker has taken the page; the result was file_ingested",
    )
    (view, first) = reports.attempts()
    assert view.requests == 1  # what was sent stays in the log, for the audit
    assert (view.new_pages, reports.results(view.attempt_id)) == (0, ())
    assert [row[0] for row in workbench.rows("SELECT next_request_at FROM origin")] == [T0 + 60_000]
    detail = reports.page_detail(HOME)
    assert [seen.attempt_id for seen in detail.attempts] == [view.attempt_id, first.attempt_id]


def test_a_page_that_another_worker_holds_is_left_alone(workbench, reports, claim, other, page):
    reclaim(workbench)
    mark(workbench, other, page)
    before = workbench.rows(PAGE, page.page_id)
    assert before[0][5] == other.session_id
    for made in (crawled(page, T0 + 9), failed(page, T0 + 10, ExitCode.cancelled)):
        workbench.settle(claim, made)
        assert workbench.rows(PAGE, page.page_id) == before
        assert newest(reports)[0] == "someone_stole_my_work"
    settled = workbench.settle(other, crawled(page, T0 + 20))
    assert (settled.pending, settled.done) == (0, 1)


def test_a_late_finish_never_lets_the_origin_be_asked_sooner(workbench, claim, other, page):
    reclaim(workbench)
    workbench.settle(other, crawled(page, T0 + 500, origin=record(A, next_request_at=T0 + 90_000)))
    late = crawled(page, T0 + 900, origin=record(A, next_request_at=T0 + 2_000))
    workbench.settle(claim, replace(late, attempt=replace(late.attempt, started_at=T0)))
    assert [row[0] for row in workbench.rows("SELECT next_request_at FROM origin")] == [T0 + 90_000]


@pytest.mark.parametrize("jump", [-9_000_000, 0, 9_000_000])
def test_a_retry_after_a_restart_is_no_late_finish_whatever_the_clock_does(workbench, reports, jump, claim, page):
    workbench.settle(claim, failed(page, T0 + 500, ExitCode.request_timeout))
    workbench.now += jump
    later, start = workbench.begin(plan())
    assert start.continued
    again = home_of(workbench, later, marked=False)
    workbench.settle(later, crawled(again, workbench.now + 100))
    assert newest(reports)[0] == "file_ingested"
    assert workbench.rows(PAGE, page.page_id)[0][3] == ExitCode.file_ingested


def test_a_retry_of_ones_own_is_no_late_finish(workbench, reports, claim, page):
    workbench.settle(claim, failed(page, T0 + 500, ExitCode.request_timeout))
    log = attempt(page, ExitCode.file_ingested, T0 + 510, started_at=T0 + 100)
    workbench.settle(claim, crawled(page, T0 + 510, attempt=log))
    assert newest(reports)[0] == "file_ingested"


def test_a_page_that_moved_to_another_origin_is_refused(workbench):
    claim, _ = workbench.begin(plan(HOME, "https://b.example/"))
    page = home_of(workbench, claim)
    workbench.rows("UPDATE page SET origin_id = 2 WHERE id = ?", page.page_id)
    with pytest.raises(StorageFailure, match="page of this origin"):
        workbench.settle(claim, crawled(page, T0))
    workbench.rows("UPDATE page SET origin_id = 1 WHERE id = ?", page.page_id)


def test_data_values_of_a_late_finish_are_not_stored(workbench, reports, claim, other, page):
    reclaim(workbench)
    workbench.settle(other, crawled(page, T0 + 500))
    made = crawled(page, T0 + 900)
    assert made.document is not None
    document = replace(made.document, data=(DataValue("n", "text", 0, "v"),))
    workbench.settle(claim, replace(made, document=document, attempt=replace(made.attempt, started_at=T0)))
    assert data_of(reports, HOME) == ()
