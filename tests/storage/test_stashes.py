"""Stashes, dripfeed and limbo: pages leave the crawl by name and come back, a few at a time or when reclaimed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.storage.bench import GONE
from tests.storage.making import T0, A, B, crawled, failed, plan, seed
from tests.storage.reading import pages_of
from tests.storage.test_jobs import NEWS, add, change, fill, found, paths, two_jobs
from tests.storage.workbench import Workbench
from tui_crawler.domain.crawl.job import QueueChange
from tui_crawler.domain.records.command import ReclaimPages, SetDripfeed, SetJob, StashPages, UnstashPages
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import NoSuchJob
from tui_crawler.domain.records.operator_view import LimboView, StashView
from tui_crawler.domain.records.page import Candidates, TodoPage
from tui_crawler.storage.crawl import settle, stashes
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.workers import sessions

PAGES = tuple(f"{A}/{number}" for number in range(6))


def stash(workbench: Workbench, claim: Claim, command: StashPages | UnstashPages | SetDripfeed) -> QueueChange:
    return workbench.work(lambda work: stashes.change_stash(work, claim, command))


def reclaim(workbench: Workbench, claim: Claim, command: ReclaimPages) -> QueueChange:
    return workbench.work(lambda work: stashes.reclaim(work, claim, command))


def mark(workbench: Workbench, claim: Claim, page: TodoPage, origin: str = A) -> None:
    workbench.work(lambda work: settle.mark_in_flight(work, claim, page.page_id, origin, page.url))


@pytest.fixture
def claim(workbench: Workbench) -> Claim:
    """A run with six seeds."""
    return workbench.begin(plan(*PAGES))[0]


def test_a_stashed_page_is_no_candidate_and_not_pending(workbench, reports):
    claim, _ = workbench.begin(plan(*PAGES, f"{B}/"))
    pages = fill(workbench, claim)
    changed = stash(workbench, claim, StashPages("deep", origins=(A,), pattern="/[2-5]$"))
    assert changed == QueueChange(((A, 4),), frozenset(page.page_id for page in pages[2:]))
    assert [todo.url for todo in reports.todo(A)] == list(PAGES[:2])
    origin = reports.origin(A)
    assert (origin.todo, origin.pending) == (2, 2)
    assert reports.jobs()[0].pending == 3
    assert {page.status for page in pages_of(reports, A)[2:]} == {"STASHED"}
    assert reports.stashes() == (StashView("main", "deep", 4, 0, 0),)
    assert [row[0] for row in workbench.rows("SELECT url FROM crawler_queue ORDER BY id")] == [*PAGES[:2], f"{B}/"]
    claim, _ = workbench.begin(plan(*PAGES, new_run=True))
    assert paths(found(workbench, claim)) == ["/0", "/1"]


def test_unstash_takes_the_oldest_first_and_lets_them_run_in_this_run(workbench, reports, claim):
    fill(workbench, claim)
    stash(workbench, claim, StashPages("s"))
    assert found(workbench, claim) == Candidates(())
    assert stash(workbench, claim, UnstashPages("s", limit=2)) == QueueChange(((A, 2),))
    assert paths(found(workbench, claim)) == ["/0", "/1"]
    assert stash(workbench, claim, UnstashPages("s")).origins == ((A, 4),)
    assert len(found(workbench, claim).pages) == 6
    assert reports.stashes() == ()
    assert [(one.event, one.message) for one in reports.activity()[:3]] == [
        ("pages_unstashed", "4 pages out of s"),
        ("pages_unstashed", "2 pages out of s"),
        ("pages_stashed", "6 pages into s"),
    ]


def test_more_pages_than_one_step_takes(workbench, reports):
    many = tuple(f"{A}/{number}" for number in range(1_203))
    claim, _ = workbench.begin(plan(*many))
    assert stash(workbench, claim, StashPages("s", pattern="[02468]$")).origins == ((A, 602),)
    assert stash(workbench, claim, UnstashPages("s", limit=501)).origins == ((A, 501),)
    assert reports.stashes()[0].pages == 101
    assert stash(workbench, claim, StashPages("t", urls=many)).origins == ((A, 1_102),)
    assert stash(workbench, claim, UnstashPages("t")).origins == ((A, 1_102),)


def test_only_ready_pages_with_tries_left_can_be_stashed(workbench, reports):
    claim, _ = workbench.begin(plan(*PAGES[:4]))
    done, gone, flying, _ = fill(workbench, claim)
    workbench.settle(claim, crawled(done, T0 + 1))
    workbench.settle(claim, failed(gone, T0 + 2, ExitCode.request_timeout))
    mark(workbench, claim, flying)
    assert stash(workbench, claim, StashPages("s", urls=PAGES)).origins == ((A, 2),)
    assert [page.status for page in pages_of(reports, A)] == ["READY", "STASHED", "CLAIMED", "STASHED"]
    origin = reports.origin(A)
    assert (origin.pending, origin.done, origin.failed, origin.todo) == (1, 1, 1, 1)
    workbench.settle(claim, crawled(flying, T0 + 3))
    stash(workbench, claim, UnstashPages("s"))
    assert [page.attempts for page in found(workbench, claim).pages] == [0, 1]


def test_a_stash_is_of_one_job(workbench, reports):
    claim, _ = workbench.begin(two_jobs())
    assert stash(workbench, claim, StashPages("s", job="news")).origins == ((A, 1), (B, 1))
    assert paths(found(workbench, claim)) == ["/"]
    with pytest.raises(ValueError, match="no stash named 's' in this job; there are none"):
        stash(workbench, claim, UnstashPages("s"))
    assert stash(workbench, claim, UnstashPages("s", job="news")).origins == ((A, 1), (B, 1))


def test_dripfeed_keeps_so_many_ready_oldest_first(workbench, reports, claim):
    stash(workbench, claim, StashPages("s"))
    assert stash(workbench, claim, SetDripfeed("s", 2)).origins == ((A, 2),)
    assert reports.stashes() == (StashView("main", "s", 4, 2, 2),)
    one, two = fill(workbench, claim)
    assert [one.url, two.url] == list(PAGES[:2])
    settled = workbench.settle(claim, crawled(one, T0 + 1))
    assert settled.new_pages == ((A, 1),)
    assert settled.pending == 2
    assert paths(found(workbench, claim)) == ["/2"]
    tries_left = workbench.settle(claim, failed(two, T0 + 2, ExitCode.request_timeout))
    assert tries_left.new_pages == ()
    assert sorted(paths(found(workbench, claim))) == ["/1", "/2"]
    assert stash(workbench, claim, SetDripfeed("s", 5)).origins == ((A, 3),)
    assert reports.stashes() == (StashView("main", "s", 0, 5, 5),)
    assert stash(workbench, claim, SetDripfeed("s", 0)).origins == ()
    assert reports.stashes() == ()


def test_the_last_page_of_a_stash_is_told(workbench, reports):
    claim, _ = workbench.begin(plan(*PAGES[:3]))
    stash(workbench, claim, StashPages("s"))
    stash(workbench, claim, SetDripfeed("s", 2))
    for page in fill(workbench, claim):
        workbench.settle(claim, crawled(page, T0 + 1))
    assert [one.message for one in reports.activity() if one.event == "stash_emptied"] == ["nothing is left in s"]


def test_pages_beyond_the_depth_do_not_hold_up_a_dripfeed(workbench, reports):
    claim, _ = workbench.begin(
        replace(plan(), seeds=(replace(seed(PAGES[0]), depth=2), seed(PAGES[1]), seed(PAGES[2])))
    )
    stash(workbench, claim, StashPages("s"))
    change(workbench, claim, SetJob("main", depth=1))
    stash(workbench, claim, SetDripfeed("s", 1))
    assert paths(found(workbench, claim)) == ["/1"]
    change(workbench, claim, SetJob("main", depth=-1))
    assert stash(workbench, claim, UnstashPages("s", limit=1)).origins == ((A, 1),)
    assert sorted(paths(found(workbench, claim))) == ["/0", "/1"]


def test_another_depth_makes_room_for_the_next_page(workbench):
    claim, _ = workbench.begin(
        replace(plan(), seeds=(replace(seed(PAGES[0]), depth=2), seed(PAGES[1]), seed(PAGES[2])))
    )
    stash(workbench, claim, StashPages("s"))
    stash(workbench, claim, SetDripfeed("s", 1))
    assert paths(found(workbench, claim)) == ["/0"]
    assert change(workbench, claim, SetJob("main", depth=1)).queue.origins == ((A, 1),)
    assert paths(found(workbench, claim)) == ["/1"]


def test_pages_that_move_to_another_stash_make_room_in_the_first(workbench, reports, claim):
    stash(workbench, claim, StashPages("s"))
    stash(workbench, claim, SetDripfeed("s", 2))
    stash(workbench, claim, StashPages("t", urls=PAGES[:1]))
    assert reports.stashes() == (StashView("main", "s", 3, 2, 2), StashView("main", "t", 1, 0, 0))
    assert paths(found(workbench, claim)) == ["/1", "/2"]


def test_what_goes_into_a_stash_that_drips_comes_out_of_it(workbench, reports):
    claim, _ = workbench.begin(plan(*PAGES[:2]))
    stash(workbench, claim, StashPages("s"))
    stash(workbench, claim, SetDripfeed("s", 3))
    add(workbench, claim, "", seed(PAGES[2]), seed(PAGES[3]))
    stash(workbench, claim, StashPages("s", urls=PAGES[2:4]))
    assert reports.stashes() == (StashView("main", "s", 1, 3, 3),)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (StashPages(""), "has a name"),
        (StashPages("s", pattern="("), "pattern"),
        (StashPages("s", urls=("mailto:x",)), "mailto:x"),
        (StashPages("s", origins=("https://nowhere.example",)), "not an origin"),
        (UnstashPages("deeep"), "did you mean 'deep'"),
        (UnstashPages("deep", limit=-1), "limit -1"),
        (SetDripfeed("deep", -1), "dripfeed -1"),
        (SetDripfeed("other", 2), "no stash named 'other'"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(workbench, reports, command, message, claim):
    stash(workbench, claim, StashPages("deep", urls=PAGES[:1]))
    with pytest.raises(ValueError, match=message):
        stash(workbench, claim, command)
    with pytest.raises(NoSuchJob):
        stash(workbench, claim, replace(command, name="deep", job="nowhere"))
    assert reports.stashes() == (StashView("main", "deep", 1, 0, 0),)


def test_what_a_session_has_in_flight_is_not_reclaimed(workbench, reports):
    claim, _ = workbench.begin(plan(*PAGES, f"{B}/"))
    pages = fill(workbench, claim)
    (other,) = fill(workbench, claim, B)
    mark(workbench, claim, pages[0])
    mark(workbench, claim, pages[1])  # the first one was lost: an origin has one request in flight
    mark(workbench, claim, other, B)
    workbench.now += 90_000
    assert [(one.url, one.age_ms) for one in reports.limbo(60_000)] == [
        (PAGES[0], 90_000),
        (PAGES[1], 90_000),
        (f"{B}/", 90_000),
    ]
    assert reports.limbo(120_000) == ()
    assert reclaim(workbench, claim, ReclaimPages("too young", older_ms=100_000)) == QueueChange()
    changed = reclaim(workbench, claim, ReclaimPages("a lost turn", older_ms=60_000))
    assert changed == QueueChange(((A, 1),), frozenset({pages[0].page_id}))
    assert [todo.url for todo in reports.todo(A)] == list(PAGES[1:])
    assert paths(found(workbench, claim)) == ["/0"]
    (noted,) = [one for one in reports.activity() if one.event == "pages_reclaimed"]
    assert (noted.message, noted.run_id) == ("1 pages: a lost turn", 1)
    assert len(list(reports.attempts())) == 0


def test_pages_of_a_worker_that_is_gone_are_reclaimed_by_name(workbench, reports):
    claim, _ = workbench.begin(plan(*PAGES, worker="crawler-1"))
    page, *_ = fill(workbench, claim)
    workbench.settle(claim, failed(page, T0 + 1, ExitCode.request_timeout))
    (again,) = [one for one in found(workbench, claim).pages if one.page_id == page.page_id]
    mark(workbench, claim, again)
    rest, _ = workbench.work(lambda work: sessions.begin_rest(work, sessions.Starter(GONE, 30_000)))
    workbench.now += 5
    assert reports.limbo(0) == (LimboView(PAGES[0], A, "main", "crawler-1", T0, 5),)
    with pytest.raises(ValueError, match="a reason is needed"):
        reclaim(workbench, rest, ReclaimPages(" ", urls=PAGES[:1]))
    with pytest.raises(ValueError, match="give 0 or more"):
        reclaim(workbench, rest, ReclaimPages("x", older_ms=-1))
    with pytest.raises(ValueError, match="nonsense:"):
        reclaim(workbench, rest, ReclaimPages("x", urls=("nonsense:",)))
    assert reclaim(workbench, rest, ReclaimPages("killed", urls=PAGES)).origins == ((A, 1),)
    (row,) = workbench.rows("SELECT status, attempts, attempts_remaining FROM v_page WHERE url = ?", PAGES[0])
    assert row == ("READY", 1, 2)
    assert reports.limbo(0) == ()


def test_jobs_of_the_plan_have_stashes_of_their_own(workbench, reports):
    claim, _ = workbench.begin(plan(*PAGES, jobs=(NEWS,)))
    stash(workbench, claim, StashPages("s"))
    stash(workbench, claim, StashPages("s", job="news"))
    assert [(one.job, one.pages) for one in reports.stashes()] == [("main", 6), ("news", 2)]
