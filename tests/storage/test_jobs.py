"""Jobs: what a start makes of them, whose pages are handed out, what operators change, and what a restart keeps."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from tests.storage.making import T0, A, B, C, crawled, failed, fill_of, new_page, plan, seed
from tests.storage.workbench import Workbench
from tui_crawler.domain.crawl.job import JobChange, JobPlan, JobStatus
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.history.idle_reason import idle_reason
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.records.command import SetJob, SteerJobs
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import NoSuchJob
from tui_crawler.domain.records.page import Candidates, NewPage, TodoPage
from tui_crawler.storage.crawl import candidates, jobs, operator_actions, settle
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.db.views import JOB_STATUS

HOME = f"{A}/"
NEWS = JobPlan("news", (seed(f"{A}/news", nice=-5), seed(f"{B}/news", nice=-5)), -5, 3, 2, "", "front pages")


def status_of(aborted: bool, pending: int, claimed: int) -> JobStatus:
    """The state machine of a job (B). `pending` counts pages with tries left in scope, those claimed among them."""
    if aborted:
        return JobStatus.ABORTED
    if not pending and not claimed:
        return JobStatus.FINISHED
    return JobStatus.DRAINING if pending <= claimed else JobStatus.ACTIVE


def two_jobs(*seeds: str, **more: object) -> RunPlan:
    return plan(*(seeds or (HOME,)), **{"jobs": (NEWS,), **more})


def found(workbench: Workbench, claim: Claim, origin: str = A, limit: int = 100, first: bool = False) -> Candidates:
    return workbench.work(lambda work: candidates.candidates(work, claim, origin, workbench.now, limit, first))


def paths(answer: Candidates) -> list[str]:
    return [page.url.removeprefix(A) for page in answer.pages]


def fill(workbench: Workbench, claim: Claim, origin: str = A) -> tuple[TodoPage, ...]:
    pages = found(workbench, claim, origin).pages
    workbench.work(lambda work: settle.store_fill(work, claim, fill_of(pages, origin)))
    return pages


def add(workbench: Workbench, claim: Claim, job: str, *pages: NewPage) -> tuple[int, ...]:
    return workbench.work(lambda work: operator_actions.add_seeds(work, claim, pages, job))


def change(workbench: Workbench, claim: Claim, command: SetJob | SteerJobs) -> JobChange:
    return workbench.work(lambda work: operator_actions.change_job(work, claim, command))


def awake(workbench: Workbench, claim: Claim, *origins: str) -> tuple[str, ...]:
    return workbench.work(lambda work: candidates.awake(work, claim, origins, workbench.now))


@pytest.fixture
def claim(workbench: Workbench) -> Claim:
    """A run of two jobs."""
    return workbench.begin(two_jobs())[0]


def test_a_start_makes_every_job_of_the_plan_with_its_seeds(workbench, reports):
    _, start = workbench.begin(two_jobs(config_name="x.yaml"))
    assert [(job.job_id, job.name, job.nice, job.max_depth, job.concurrency) for job in start.jobs] == [
        (1, "main", 0, None, None),
        (2, "news", -5, 3, 2),
    ]
    assert [ruleset.job for ruleset in start.rulesets] == ["main", "news"]
    assert all(job.ruleset_id for job in reports.jobs())
    assert [one.record.origin for one in start.origins] == [A, B]
    main, news = reports.jobs()
    assert (main.status, main.pending, news.status, news.pending) == ("ACTIVE", 1, "ACTIVE", 2)
    assert (news.note, news.created_by, news.created_at, news.depth) == ("front pages", "x.yaml", T0, 3)
    assert workbench.rows("SELECT job, status, nice, depth, concurrency, pending, claimed FROM v_job ORDER BY job") == [
        ("main", "ACTIVE", 0, None, None, 1, 0),
        ("news", "ACTIVE", -5, 3, 2, 2, 0),
    ]


def test_the_order_is_one_over_all_jobs(workbench):
    other = JobPlan("other", (seed(f"{A}/late", nice=-9, not_before=T0 + 50), seed(f"{A}/best", nice=-9)), -9)
    claim, _ = workbench.begin(plan(HOME, f"{A}/2", jobs=(NEWS, other)))
    assert paths(found(workbench, claim)) == ["/best", "/news", "/", "/2"]
    assert paths(found(workbench, claim, limit=2)) == ["/best", "/news"]
    workbench.now += 50
    assert paths(found(workbench, claim)) == ["/best", "/late", "/news", "/", "/2"]
    assert paths(found(workbench, claim, first=True)) == ["/best", "/late", "/news", "/", "/2"]


def test_one_url_is_a_page_of_each_job_that_knows_it(workbench, reports):
    claim, _ = workbench.begin(plan(HOME, jobs=(JobPlan("other", (seed(HOME, nice=4),), 4),)))
    mine, theirs = found(workbench, claim).pages
    assert (mine.url, theirs.url, mine.job_id, theirs.job_id) == (HOME, HOME, 1, 2)
    workbench.settle(claim, crawled(theirs, T0 + 1, f"{A}/1"))
    assert [(job.job, job.pending, job.done) for job in reports.jobs()] == [("main", 1, 0), ("other", 1, 1)]


@pytest.mark.parametrize(("order", "status"), [("pause", "ACTIVE"), ("abort", "ABORTED")])
def test_a_held_job_has_no_page_on_a_todo_list_and_none_is_handed_out(workbench, reports, order, status):
    claim, _ = workbench.begin(two_jobs(HOME, f"{B}/"))
    news, home = fill(workbench, claim)
    changed = change(workbench, claim, SteerJobs(order, ("news",)))
    assert changed.queue.unlisted == {news.page_id}
    assert changed.queue.origins == ((A, 1), (B, 1))
    assert [job.held for job in changed.jobs] == [False, True]
    assert [todo.url for todo in reports.todo(A)] == [HOME]
    assert reports.origin(A).todo == 1
    assert reports.jobs()[1].status == status
    workbench.settle(claim, crawled(home, T0 + 1))
    assert found(workbench, claim) == Candidates((), held=order == "pause"), "only a paused job keeps its run alive"
    assert paths(found(workbench, claim, B)) == [f"{B}/"]
    assert awake(workbench, claim, A, B) == (B,)
    back = {"pause": "resume", "abort": "unabort"}[order]
    freed = change(workbench, claim, SteerJobs(back, ("news",)))
    assert (freed.queue.origins, freed.queue.unlisted) == (((A, 1), (B, 1)), frozenset())
    assert paths(found(workbench, claim)) == ["/news"]
    assert awake(workbench, claim, A, B) == (A, B)


def test_a_page_in_flight_keeps_its_place_until_it_is_settled(workbench, reports, claim):
    news, _ = fill(workbench, claim)
    workbench.work(lambda work: settle.mark_in_flight(work, claim, news.page_id, A, news.url))
    assert change(workbench, claim, SteerJobs("abort", ("news",))).queue.unlisted == frozenset()
    assert (reports.jobs()[1].claimed, reports.jobs()[1].status) == (1, "ABORTED")
    settled = workbench.settle(claim, crawled(news, T0 + 1, f"{A}/deeper"))
    assert settled.new_pages == ((A, 1),)
    assert paths(found(workbench, claim)) == []  # home is on the todo list, the new page is of the aborted job


def test_draining_is_what_has_nothing_left_but_what_is_claimed(workbench, reports):
    claim, _ = workbench.begin(plan())
    (home,) = fill(workbench, claim)
    workbench.work(lambda work: settle.mark_in_flight(work, claim, home.page_id, A, HOME))
    assert reports.jobs()[0].status == "DRAINING"
    workbench.settle(claim, crawled(home, T0 + 1))
    assert reports.jobs()[0].status == "FINISHED"
    assert [one.message for one in reports.activity() if one.event == "job_finished"] == [
        "job main: nothing pending, 1 pages done"
    ]


def test_pages_that_wait_for_their_time_and_for_an_operator(workbench):
    claim, _ = workbench.begin(replace(two_jobs(), seeds=(seed(HOME, not_before=T0 + 700),)))
    change(workbench, claim, SteerJobs("pause", ("news",)))
    assert found(workbench, claim) == Candidates((), T0 + 700, held=True)
    change(workbench, claim, SteerJobs("pause", ("main",)))
    assert found(workbench, claim) == Candidates((), None, held=True)


def test_failed_pages_of_this_run_do_not_wait_for_an_operator(workbench, claim):
    news, home = fill(workbench, claim)
    workbench.settle(claim, failed(news, T0 + 1, ExitCode.did_not_understand_answer, 200))
    workbench.settle(claim, crawled(home, T0 + 2))
    change(workbench, claim, SteerJobs("pause", ("news",)))
    assert found(workbench, claim) == Candidates(())


def test_due_pages_of_a_held_job_wait_for_an_operator(workbench):
    claim, _ = workbench.begin(two_jobs(recrawl_interval_ms=1_000))
    for page in fill(workbench, claim):
        workbench.settle(claim, crawled(page, T0 + 1))
    claim, _ = workbench.begin(two_jobs(recrawl_interval_ms=1_000, new_run=True))
    change(workbench, claim, SteerJobs("abort", ("main",)))
    workbench.now += 5_000
    assert awake(workbench, claim, A, B) == (A, B)
    assert paths(found(workbench, claim)) == ["/news"]
    change(workbench, claim, SteerJobs("pause", ("news",)))
    assert found(workbench, claim) == Candidates((), held=True)
    assert awake(workbench, claim, A, B) == ()


def test_awake_answers_what_a_fill_would_find(workbench):
    claim, _ = workbench.begin(replace(plan(HOME, f"{B}/"), seeds=(seed(HOME), seed(f"{B}/", not_before=T0 + 10))))
    assert awake(workbench, claim, A, B, C) == (A,)
    assert awake(workbench, claim) == ()
    fill(workbench, claim)
    assert awake(workbench, claim, A, B) == ()
    workbench.now += 10
    many = [f"https://h{number}.example" for number in range(300)]
    assert awake(workbench, claim, *many, B) == (B,)


def test_pause_goes_back_to_the_former_concurrency(workbench, claim):
    changed = change(workbench, claim, SteerJobs("pause", ("news", "main", "news")))
    assert changed.before == {"news": {"concurrency": 2}, "main": {"concurrency": None}}
    assert changed.after == {"news": {"concurrency": 0}, "main": {"concurrency": 0}}
    assert change(workbench, claim, SteerJobs("pause", ("news",))).after == {}
    resumed = change(workbench, claim, SteerJobs("resume", ("news", "main")))
    assert resumed.after == {"news": {"concurrency": 2}, "main": {"concurrency": None}}
    assert change(workbench, claim, SteerJobs("resume", ("news",))).after == {}
    change(workbench, claim, SetJob("news", concurrency=0))
    assert change(workbench, claim, SteerJobs("resume", ("news",))).after == {"news": {"concurrency": 2}}
    change(workbench, claim, SteerJobs("pause", ("news",)))
    assert change(workbench, claim, SetJob("news", concurrency=-1)).after == {"news": {"concurrency": None}}


def test_another_niceness_moves_all_pages_of_the_job_by_the_difference(workbench, claim):
    add(workbench, claim, "news", seed(f"{A}/b", nice=-1))
    changed = change(workbench, claim, SetJob("news", nice=5, note="later"))
    assert changed.before == {"news": {"nice": -5, "note": "front pages"}}
    assert changed.after == {"news": {"nice": 5, "note": "later"}}
    assert paths(found(workbench, claim)) == ["/", "/news", "/b"]
    assert workbench.rows("SELECT url, nice FROM v_page ORDER BY url") == [
        (HOME, 0),
        (f"{A}/b", 9),
        (f"{A}/news", 5),
        (f"{B}/news", 5),
    ]


def test_another_depth_judges_all_pages_anew_and_empties_todo_lists_of_what_is_beyond(workbench, reports, claim):
    news = next(page for page in fill(workbench, claim) if page.nice)
    workbench.settle(claim, replace(crawled(news, T0 + 1), new_pages=(new_page(f"{A}/1", 1), new_page(f"{A}/4", 4))))
    assert paths(found(workbench, claim)) == ["/1"]
    (one,) = found(workbench, claim).pages
    workbench.work(lambda work: settle.store_fill(work, claim, fill_of((one,))))
    changed = change(workbench, claim, SetJob("news", depth=0))
    assert changed.queue.unlisted == {one.page_id}
    assert (changed.before, changed.after) == ({"news": {"depth": 3}}, {"news": {"depth": 0}})
    assert paths(found(workbench, claim)) == []
    opened = change(workbench, claim, SetJob("news", depth=-1))
    assert opened.queue.origins == ((A, 2), (B, 1))
    assert paths(found(workbench, claim)) == ["/1", "/4"]
    assert [job.pending for job in reports.jobs()] == [1, 3]


def test_what_cannot_be_changed_is_told_and_changes_nothing(workbench, claim):
    with pytest.raises(NoSuchJob, match="no job named 'mews'; did you mean 'news'"):
        change(workbench, claim, SteerJobs("abort", ("main", "mews")))
    with pytest.raises(NoSuchJob, match="there are main, news"):
        change(workbench, claim, SetJob("zzzz", nice=1))
    with pytest.raises(NoSuchJob):
        add(workbench, claim, "mews", seed(f"{A}/x"))
    for command in (SetJob("news", depth=-2), SetJob("news", concurrency=-7), SteerJobs("end", ("news",))):
        with pytest.raises(ValueError, match=r"give|none of"):
            change(workbench, claim, command)
    with pytest.raises(ValueError, match="name the jobs"):
        change(workbench, claim, SteerJobs("abort", ()))
    assert change(workbench, claim, SetJob("news", nice=-5, depth=3)).after == {}
    assert change(workbench, claim, SetJob("", nice=1)).after == {"main": {"nice": 1}}


def test_what_operators_changed_survives_a_restart(workbench):
    claim, _ = workbench.begin(two_jobs(config_text="v1"))
    change(workbench, claim, SetJob("news", nice=7, depth=1, concurrency=9, tag="", note="mine"))
    change(workbench, claim, SetJob("main", nice=3, depth=2))
    change(workbench, claim, SteerJobs("abort", ("news",)))
    claim, start = workbench.begin(two_jobs(config_text="v1"))
    assert [(job.nice, job.max_depth, job.concurrency, job.aborted) for job in start.jobs] == [
        (3, 2, None, False),
        (7, 1, 9, True),
    ]
    assert workbench.rows("SELECT url, nice FROM v_page ORDER BY url") == [
        (HOME, 3),
        (f"{A}/news", 7),
        (f"{B}/news", 7),
    ]


def test_an_edited_configuration_wins_but_for_pause_and_abort(workbench):
    claim, _ = workbench.begin(two_jobs(config_text="v1"))
    change(workbench, claim, SetJob("news", nice=7, depth=1))
    change(workbench, claim, SetJob("main", nice=3, depth=2))
    change(workbench, claim, SteerJobs("pause", ("news",)))
    change(workbench, claim, SteerJobs("abort", ("main",)))
    edited = replace(NEWS, concurrency=6, tag="", note="new")
    claim, start = workbench.begin(two_jobs(config_text="v2", jobs=(edited,)))
    main, news = start.jobs
    assert (main.nice, main.max_depth, main.aborted) == (3, None, True)
    assert (news.nice, news.max_depth, news.concurrency) == (-5, 3, 0)
    assert change(workbench, claim, SteerJobs("resume", ("news",))).after == {"news": {"concurrency": 6}}
    assert workbench.rows("SELECT nice FROM v_page WHERE job = 'news'") == [(-5,), (-5,)]


def test_a_pause_of_the_configuration_ends_with_it(workbench):
    workbench.begin(two_jobs(config_text="v1", jobs=(replace(NEWS, concurrency=0),)))
    _, start = workbench.begin(two_jobs(config_text="v2"))
    assert start.jobs[1].concurrency == 2


def test_a_job_paused_by_the_configuration_resumes_without_limit(workbench):
    claim, _ = workbench.begin(two_jobs(jobs=(replace(NEWS, concurrency=0),)))
    assert found(workbench, claim, B) == Candidates((), held=True)
    assert change(workbench, claim, SteerJobs("resume", ("news",))).after == {"news": {"concurrency": None}}


def test_a_worker_takes_jobs_of_its_tags_and_untagged_ones(workbench):
    tagged = (replace(NEWS, tag="slow"), JobPlan("other", (seed(f"{A}/other"),), tag="fast"))
    claim, start = workbench.begin(two_jobs(jobs=tagged, tags=("slow",)))
    assert paths(found(workbench, claim)) == ["/news", "/"]
    assert [job.name for job in start.jobs] == ["main", "news", "other"]
    assert start.notes[-1] == "jobs that this worker does not take, by their tags: other (fast)"
    claim, start = workbench.begin(two_jobs(jobs=tagged, tags=("slow",), matchonly=True))
    assert paths(found(workbench, claim)) == ["/news"]
    assert awake(workbench, claim, A) == (A,)
    assert "main (no tag), other (fast)" in start.notes[-1]
    claim, _ = workbench.begin(two_jobs(jobs=tagged))
    assert paths(found(workbench, claim)) == ["/"]
    assert found(workbench, claim, B) == Candidates(())  # not held: it waits for other workers
    assert workbench.rows("SELECT tags FROM session ORDER BY id") == [("slow",), ("slow",), ("",)]


def test_another_tag_takes_pages_off_the_todo_list(workbench, reports, claim):
    news, _ = fill(workbench, claim)
    assert change(workbench, claim, SetJob("news", tag="other")).queue.unlisted == {news.page_id}
    assert reports.origin(A).todo == 1
    assert paths(found(workbench, claim)) == []
    change(workbench, claim, SetJob("news", tag=""))
    assert paths(found(workbench, claim)) == ["/news"]


def test_a_continued_run_of_another_worker_begins_without_the_pages_it_does_not_take(workbench, claim):
    fill(workbench, claim)
    change(workbench, claim, SetJob("news", tag=""))
    _, start = workbench.begin(two_jobs(jobs=(replace(NEWS, tag="x"),), config_text="edited"))
    assert start.continued
    assert [page.url for page in start.origins[0].todo] == [HOME]


def test_seeds_of_a_held_job_wait_with_its_other_pages(workbench, reports, claim):
    change(workbench, claim, SteerJobs("pause", ("news",)))
    assert add(workbench, claim, "news", seed(f"{A}/x"), seed(f"{A}/news")) == ()
    assert reports.jobs()[1].pending == 3
    change(workbench, claim, SteerJobs("resume", ("news",)))
    assert add(workbench, claim, "news", seed(f"{A}/y")) == (seed(f"{A}/y").url_hash,)


def test_pages_added_before_any_run_become_those_of_the_first(workbench):
    def rest(work):
        job_id = jobs.any_job(work)
        assert jobs.any_job(work) == job_id
        return jobs.job_rows(work)

    assert [row.name for row in workbench.work(rest)] == [""]
    _, start = workbench.begin(two_jobs(max_depth=4))
    assert [(job.job_id, job.name, job.max_depth) for job in start.jobs] == [(1, "main", 4), (2, "news", 3)]


def test_start_paths_of_the_configuration_are_shown_and_go_with_it(workbench):
    claim, _ = workbench.begin(plan(HOME, f"{B}/", start_paths=((A, "/docs/"), (C, "/c/"))))
    sites = "SELECT site, start_path FROM crawler_sites ORDER BY site"
    assert workbench.rows(sites) == [(A, "/docs/"), (B, "/")]
    add(workbench, claim, "", seed(f"{C}/"))
    assert workbench.rows(sites) == [(A, "/docs/"), (B, "/"), (C, "/c/")]
    workbench.begin(plan(HOME, f"{B}/", start_paths=((B, "/b/"),)))
    assert workbench.rows(sites) == [(A, "/"), (B, "/b/"), (C, "/")]


def test_the_queue_of_design_g_is_without_held_jobs(workbench, claim):
    change(workbench, claim, SteerJobs("abort", ("news",)))
    assert workbench.rows("SELECT site, url FROM crawler_queue") == [(A, HOME)]


def test_the_status_in_sql_is_that_of_the_domain():
    database = sqlite3.connect(":memory:")
    for aborted in (0, 1):
        for pending in range(4):
            for claimed in range(4):
                values = {"aborted": aborted, "pending": pending, "claimed": claimed}
                row = "SELECT :aborted AS aborted, :pending AS pending, :claimed AS claimed"
                (status,) = database.execute(f"SELECT {JOB_STATUS} FROM ({row})", values).fetchone()
                assert status == status_of(bool(aborted), pending, claimed).value
    database.close()


ROBOTS_KNOWN = "UPDATE origin SET robots_expires_at = ?, next_request_at = ?"
LATER = 4_000_000_000_000


def test_an_origin_whose_jobs_are_paused_is_told_to_wait_for_them_at_once_not_when_its_delay_is_over(
    workbench, reports
):
    claim, _ = workbench.begin(two_jobs(HOME, f"{B}/"))
    _, home = fill(workbench, claim)
    workbench.rows(ROBOTS_KNOWN, LATER, LATER)

    def held() -> list[str]:
        return [name for name in (A, B) if reports.origin(name).asleep_until == HELD]

    change(workbench, claim, SteerJobs("pause", ("news",)))
    assert held() == [], "a page of the other job is left at each"
    assert reports.run().paused_jobs == (2,)
    workbench.settle(claim, crawled(home, T0 + 1))
    workbench.rows(ROBOTS_KNOWN, LATER, LATER)
    assert held() == [A]
    assert idle_reason(reports.origin(A), T0, replace(reports.run(), live=True)) == "its jobs are paused"
    change(workbench, claim, SteerJobs("pause", ("main",)))
    assert held() == [A, B]
    workbench.rows(ROBOTS_KNOWN, 0, LATER)
    assert held() == [], "robots.txt is asked for first, whatever holds the pages"
    workbench.rows(ROBOTS_KNOWN, LATER, LATER)
    change(workbench, claim, SteerJobs("abort", ("main",)))
    assert held() == [A, B]
    change(workbench, claim, SteerJobs("resume", ("news",)))
    assert held() == []
    assert reports.run().paused_jobs == ()
