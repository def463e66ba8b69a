"""Jobs: what a start makes of them, whose pages are handed out, what operators change, and what a restart keeps."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.storage.making import T0, A, B, C, crawled, failed, fill_of, new_page, plan, seed
from tests.storage.whole import assert_whole
from tests.storage.workbench import Workbench
from tui_crawler.domain.command import SetJob, SteerJobs
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.job import JobChange, JobPlan, status_of
from tui_crawler.domain.page import Candidates, NewPage, TodoPage
from tui_crawler.domain.run import NoSuchJob, RunPlan
from tui_crawler.storage import candidates, desk, jobs, settle
from tui_crawler.storage.claim import Claim
from tui_crawler.storage.reports import Reports
from tui_crawler.storage.views import JOB_STATUS

HOME = f"{A}/"
NEWS = JobPlan("news", (seed(f"{A}/news", nice=-5), seed(f"{B}/news", nice=-5)), -5, 3, 2, "", "front pages")


@pytest.fixture
def bench(database_path: Path) -> Iterator[Workbench]:
    made = Workbench(database_path)
    yield made
    made.close()
    assert_whole(database_path)


@pytest.fixture
def reports(bench: Workbench) -> Iterator[Reports]:
    made = Reports(bench.path)
    yield made
    made.close()


def two_jobs(*seeds: str, **more: object) -> RunPlan:
    return plan(*(seeds or (HOME,)), **{"jobs": (NEWS,), **more})


def found(bench: Workbench, claim: Claim, origin: str = A, limit: int = 100, first: bool = False) -> Candidates:
    return bench.work(lambda work: candidates.candidates(work, claim, origin, bench.now, limit, first))


def paths(answer: Candidates) -> list[str]:
    return [page.url.removeprefix(A) for page in answer.pages]


def fill(bench: Workbench, claim: Claim, origin: str = A) -> tuple[TodoPage, ...]:
    pages = found(bench, claim, origin).pages
    bench.work(lambda work: settle.store_fill(work, claim, fill_of(pages, origin)))
    return pages


def add(bench: Workbench, claim: Claim, job: str, *pages: NewPage) -> tuple[TodoPage, ...]:
    return bench.work(lambda work: desk.add_seeds(work, claim, jobs.job_id_of(work, claim, job), pages))


def change(bench: Workbench, claim: Claim, command: SetJob | SteerJobs) -> JobChange:
    return bench.work(lambda work: desk.change_job(work, claim, command))


def awake(bench: Workbench, claim: Claim, *origins: str) -> tuple[str, ...]:
    return bench.work(lambda work: candidates.awake(work, claim, origins, bench.now))


def test_a_start_makes_every_job_of_the_plan_with_its_seeds(bench, reports):
    _, start = bench.begin(two_jobs(config_name="x.yaml"))
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
    assert bench.rows("SELECT job, status, nice, depth, concurrency, pending, claimed FROM v_job") == [
        ("main", "ACTIVE", 0, None, None, 1, 0),
        ("news", "ACTIVE", -5, 3, 2, 2, 0),
    ]


def test_the_order_is_one_over_all_jobs(bench):
    other = JobPlan("other", (seed(f"{A}/late", nice=-9, not_before=T0 + 50), seed(f"{A}/best", nice=-9)), -9)
    claim, _ = bench.begin(plan(HOME, f"{A}/2", jobs=(NEWS, other)))
    assert paths(found(bench, claim)) == ["/best", "/news", "/", "/2"]
    assert paths(found(bench, claim, limit=2)) == ["/best", "/news"]
    bench.now += 50
    assert paths(found(bench, claim)) == ["/best", "/late", "/news", "/", "/2"]
    assert paths(found(bench, claim, first=True)) == ["/best", "/late", "/news", "/", "/2"]


def test_one_url_is_a_page_of_each_job_that_knows_it(bench, reports):
    claim, _ = bench.begin(plan(HOME, jobs=(JobPlan("other", (seed(HOME, nice=4),), 4),)))
    mine, theirs = found(bench, claim).pages
    assert (mine.url, theirs.url, mine.job_id, theirs.job_id) == (HOME, HOME, 1, 2)
    bench.settle(claim, crawled(theirs, T0 + 1, f"{A}/1"))
    assert [(job.job, job.pending, job.done) for job in reports.jobs()] == [("main", 1, 0), ("other", 1, 1)]


@pytest.mark.parametrize(("order", "status"), [("pause", "ACTIVE"), ("abort", "ABORTED")])
def test_a_held_job_has_no_page_on_a_todo_list_and_none_is_handed_out(bench, reports, order, status):
    claim, _ = bench.begin(two_jobs(HOME, f"{B}/"))
    news, home = fill(bench, claim)
    changed = change(bench, claim, SteerJobs(order, ("news",)))
    assert changed.queue.unlisted == {news.page_id}
    assert changed.queue.origins == ((A, 1), (B, 1))
    assert [job.held for job in changed.jobs] == [False, True]
    assert [todo.url for todo in reports.todo(A)] == [HOME]
    assert reports.origin(A).todo == 1
    assert reports.jobs()[1].status == status
    bench.settle(claim, crawled(home, T0 + 1))
    assert found(bench, claim) == Candidates((), held=order == "pause"), "only a paused job keeps its run alive"
    assert paths(found(bench, claim, B)) == [f"{B}/"]
    assert awake(bench, claim, A, B) == (B,)
    back = {"pause": "resume", "abort": "unabort"}[order]
    freed = change(bench, claim, SteerJobs(back, ("news",)))
    assert (freed.queue.origins, freed.queue.unlisted) == (((A, 1), (B, 1)), frozenset())
    assert paths(found(bench, claim)) == ["/news"]
    assert awake(bench, claim, A, B) == (A, B)


def test_a_page_in_flight_keeps_its_place_until_it_is_settled(bench, reports):
    claim, _ = bench.begin(two_jobs())
    news, _ = fill(bench, claim)
    bench.work(lambda work: settle.mark_in_flight(work, claim, news.page_id, A, news.url))
    assert change(bench, claim, SteerJobs("abort", ("news",))).queue.unlisted == frozenset()
    assert (reports.jobs()[1].claimed, reports.jobs()[1].status) == (1, "ABORTED")
    settled = bench.settle(claim, crawled(news, T0 + 1, f"{A}/deeper"))
    assert settled.new_pages == ((A, 1),)
    assert paths(found(bench, claim)) == []  # home is on the todo list, the new page is of the aborted job


def test_draining_is_what_has_nothing_left_but_what_is_claimed(bench, reports):
    claim, _ = bench.begin(plan())
    (home,) = fill(bench, claim)
    bench.work(lambda work: settle.mark_in_flight(work, claim, home.page_id, A, HOME))
    assert reports.jobs()[0].status == "DRAINING"
    bench.settle(claim, crawled(home, T0 + 1))
    assert reports.jobs()[0].status == "FINISHED"
    assert [one.message for one in reports.activity() if one.event == "job_finished"] == [
        "job main: nothing pending, 1 pages done"
    ]


def test_pages_that_wait_for_their_time_and_for_an_operator(bench):
    claim, _ = bench.begin(replace(two_jobs(), seeds=(seed(HOME, not_before=T0 + 700),)))
    change(bench, claim, SteerJobs("pause", ("news",)))
    assert found(bench, claim) == Candidates((), T0 + 700, held=True)
    change(bench, claim, SteerJobs("pause", ("main",)))
    assert found(bench, claim) == Candidates((), None, held=True)


def test_failed_pages_of_this_run_do_not_wait_for_an_operator(bench):
    claim, _ = bench.begin(two_jobs())
    news, home = fill(bench, claim)
    bench.settle(claim, failed(news, T0 + 1, ExitCode.did_not_understand_answer, 200))
    bench.settle(claim, crawled(home, T0 + 2))
    change(bench, claim, SteerJobs("pause", ("news",)))
    assert found(bench, claim) == Candidates(())


def test_due_pages_of_a_held_job_wait_for_an_operator(bench):
    claim, _ = bench.begin(two_jobs(recrawl_interval_ms=1_000))
    for page in fill(bench, claim):
        bench.settle(claim, crawled(page, T0 + 1))
    claim, _ = bench.begin(two_jobs(recrawl_interval_ms=1_000, new_run=True))
    change(bench, claim, SteerJobs("abort", ("main",)))
    bench.now += 5_000
    assert awake(bench, claim, A, B) == (A, B)
    assert paths(found(bench, claim)) == ["/news"]
    change(bench, claim, SteerJobs("pause", ("news",)))
    assert found(bench, claim) == Candidates((), held=True)
    assert awake(bench, claim, A, B) == ()


def test_awake_answers_what_a_fill_would_find(bench):
    claim, _ = bench.begin(replace(plan(HOME, f"{B}/"), seeds=(seed(HOME), seed(f"{B}/", not_before=T0 + 10))))
    assert awake(bench, claim, A, B, C) == (A,)
    assert awake(bench, claim) == ()
    fill(bench, claim)
    assert awake(bench, claim, A, B) == ()
    bench.now += 10
    many = [f"https://h{number}.example" for number in range(300)]
    assert awake(bench, claim, *many, B) == (B,)


def test_pause_goes_back_to_the_former_concurrency(bench):
    claim, _ = bench.begin(two_jobs())
    changed = change(bench, claim, SteerJobs("pause", ("news", "main", "news")))
    assert changed.before == {"news": {"concurrency": 2}, "main": {"concurrency": None}}
    assert changed.after == {"news": {"concurrency": 0}, "main": {"concurrency": 0}}
    assert change(bench, claim, SteerJobs("pause", ("news",))).after == {}
    resumed = change(bench, claim, SteerJobs("resume", ("news", "main")))
    assert resumed.after == {"news": {"concurrency": 2}, "main": {"concurrency": None}}
    assert change(bench, claim, SteerJobs("resume", ("news",))).after == {}
    change(bench, claim, SetJob("news", concurrency=0))
    assert change(bench, claim, SteerJobs("resume", ("news",))).after == {"news": {"concurrency": 2}}
    change(bench, claim, SteerJobs("pause", ("news",)))
    assert change(bench, claim, SetJob("news", concurrency=-1)).after == {"news": {"concurrency": None}}


def test_another_niceness_moves_all_pages_of_the_job_by_the_difference(bench):
    claim, _ = bench.begin(two_jobs())
    add(bench, claim, "news", seed(f"{A}/b", nice=-1))
    changed = change(bench, claim, SetJob("news", nice=5, note="later"))
    assert changed.before == {"news": {"nice": -5, "note": "front pages"}}
    assert changed.after == {"news": {"nice": 5, "note": "later"}}
    assert paths(found(bench, claim)) == ["/", "/news", "/b"]
    assert bench.rows("SELECT url, nice FROM v_page ORDER BY url") == [
        (HOME, 0),
        (f"{A}/b", 9),
        (f"{A}/news", 5),
        (f"{B}/news", 5),
    ]


def test_another_depth_judges_all_pages_anew_and_empties_todo_lists_of_what_is_beyond(bench, reports):
    claim, _ = bench.begin(two_jobs())
    news = next(page for page in fill(bench, claim) if page.nice)
    bench.settle(claim, replace(crawled(news, T0 + 1), new_pages=(new_page(f"{A}/1", 1), new_page(f"{A}/4", 4))))
    assert paths(found(bench, claim)) == ["/1"]
    (one,) = found(bench, claim).pages
    bench.work(lambda work: settle.store_fill(work, claim, fill_of((one,))))
    changed = change(bench, claim, SetJob("news", depth=0))
    assert changed.queue.unlisted == {one.page_id}
    assert (changed.before, changed.after) == ({"news": {"depth": 3}}, {"news": {"depth": 0}})
    assert paths(found(bench, claim)) == []
    opened = change(bench, claim, SetJob("news", depth=-1))
    assert opened.queue.origins == ((A, 2), (B, 1))
    assert paths(found(bench, claim)) == ["/1", "/4"]
    assert [job.pending for job in reports.jobs()] == [1, 3]


def test_what_cannot_be_changed_is_told_and_changes_nothing(bench):
    claim, _ = bench.begin(two_jobs())
    with pytest.raises(NoSuchJob, match="no job named 'mews'; did you mean 'news'"):
        change(bench, claim, SteerJobs("abort", ("main", "mews")))
    with pytest.raises(NoSuchJob, match="there are main, news"):
        change(bench, claim, SetJob("zzzz", nice=1))
    with pytest.raises(NoSuchJob):
        add(bench, claim, "mews", seed(f"{A}/x"))
    for command in (SetJob("news", depth=-2), SetJob("news", concurrency=-7), SteerJobs("end", ("news",))):
        with pytest.raises(ValueError, match=r"give|none of"):
            change(bench, claim, command)
    with pytest.raises(ValueError, match="name the jobs"):
        change(bench, claim, SteerJobs("abort", ()))
    assert change(bench, claim, SetJob("news", nice=-5, depth=3)).after == {}
    assert change(bench, claim, SetJob("", nice=1)).after == {"main": {"nice": 1}}


def test_what_operators_changed_survives_a_restart(bench):
    claim, _ = bench.begin(two_jobs(config_text="v1"))
    change(bench, claim, SetJob("news", nice=7, depth=1, concurrency=9, tag="", note="mine"))
    change(bench, claim, SetJob("main", nice=3, depth=2))
    change(bench, claim, SteerJobs("abort", ("news",)))
    claim, start = bench.begin(two_jobs(config_text="v1"))
    assert [(job.nice, job.max_depth, job.concurrency, job.aborted) for job in start.jobs] == [
        (3, 2, None, False),
        (7, 1, 9, True),
    ]
    assert bench.rows("SELECT url, nice FROM v_page ORDER BY url") == [(HOME, 3), (f"{A}/news", 7), (f"{B}/news", 7)]


def test_an_edited_configuration_wins_but_for_pause_and_abort(bench):
    claim, _ = bench.begin(two_jobs(config_text="v1"))
    change(bench, claim, SetJob("news", nice=7, depth=1))
    change(bench, claim, SetJob("main", nice=3, depth=2))
    change(bench, claim, SteerJobs("pause", ("news",)))
    change(bench, claim, SteerJobs("abort", ("main",)))
    edited = replace(NEWS, concurrency=6, tag="", note="new")
    claim, start = bench.begin(two_jobs(config_text="v2", jobs=(edited,)))
    main, news = start.jobs
    assert (main.nice, main.max_depth, main.aborted) == (3, None, True)
    assert (news.nice, news.max_depth, news.concurrency) == (-5, 3, 0)
    assert change(bench, claim, SteerJobs("resume", ("news",))).after == {"news": {"concurrency": 6}}
    assert bench.rows("SELECT nice FROM v_page WHERE job = 'news'") == [(-5,), (-5,)]


def test_a_pause_of_the_configuration_ends_with_it(bench):
    bench.begin(two_jobs(config_text="v1", jobs=(replace(NEWS, concurrency=0),)))
    _, start = bench.begin(two_jobs(config_text="v2"))
    assert start.jobs[1].concurrency == 2


def test_a_job_paused_by_the_configuration_resumes_without_limit(bench):
    claim, _ = bench.begin(two_jobs(jobs=(replace(NEWS, concurrency=0),)))
    assert found(bench, claim, B) == Candidates((), held=True)
    assert change(bench, claim, SteerJobs("resume", ("news",))).after == {"news": {"concurrency": None}}


def test_a_worker_takes_jobs_of_its_tags_and_untagged_ones(bench):
    tagged = (replace(NEWS, tag="slow"), JobPlan("other", (seed(f"{A}/other"),), tag="fast"))
    claim, start = bench.begin(two_jobs(jobs=tagged, tags=("slow",)))
    assert paths(found(bench, claim)) == ["/news", "/"]
    assert [job.name for job in start.jobs] == ["main", "news", "other"]
    assert start.notes[-1] == "jobs that this worker does not take, by their tags: other (fast)"
    claim, start = bench.begin(two_jobs(jobs=tagged, tags=("slow",), matchonly=True))
    assert paths(found(bench, claim)) == ["/news"]
    assert awake(bench, claim, A) == (A,)
    assert "main (no tag), other (fast)" in start.notes[-1]
    claim, _ = bench.begin(two_jobs(jobs=tagged))
    assert paths(found(bench, claim)) == ["/"]
    assert found(bench, claim, B) == Candidates(())  # not held: it waits for other workers
    assert bench.rows("SELECT tags FROM session ORDER BY id") == [("slow",), ("slow",), ("",)]


def test_another_tag_takes_pages_off_the_todo_list(bench, reports):
    claim, _ = bench.begin(two_jobs())
    news, _ = fill(bench, claim)
    assert change(bench, claim, SetJob("news", tag="other")).queue.unlisted == {news.page_id}
    assert reports.origin(A).todo == 1
    assert paths(found(bench, claim)) == []
    change(bench, claim, SetJob("news", tag=""))
    assert paths(found(bench, claim)) == ["/news"]


def test_a_continued_run_of_another_worker_begins_without_the_pages_it_does_not_take(bench):
    claim, _ = bench.begin(two_jobs())
    fill(bench, claim)
    change(bench, claim, SetJob("news", tag=""))
    _, start = bench.begin(two_jobs(jobs=(replace(NEWS, tag="x"),), config_text="edited"))
    assert start.continued
    assert [page.url for page in start.origins[0].todo] == [HOME]


def test_seeds_of_a_held_job_wait_with_its_other_pages(bench, reports):
    claim, _ = bench.begin(two_jobs())
    change(bench, claim, SteerJobs("pause", ("news",)))
    assert add(bench, claim, "news", seed(f"{A}/x"), seed(f"{A}/news")) == ()
    assert reports.jobs()[1].pending == 3
    change(bench, claim, SteerJobs("resume", ("news",)))
    assert [page.url for page in add(bench, claim, "news", seed(f"{A}/y"))] == [f"{A}/y"]


def test_pages_added_before_any_run_become_those_of_the_first(bench):
    def rest(work):
        job_id = jobs.any_job(work)
        assert jobs.any_job(work) == job_id
        return jobs.job_rows(work)

    assert [row.name for row in bench.work(rest)] == [""]
    _, start = bench.begin(two_jobs(max_depth=4))
    assert [(job.job_id, job.name, job.max_depth) for job in start.jobs] == [(1, "main", 4), (2, "news", 3)]


def test_start_paths_of_the_configuration_are_shown_and_go_with_it(bench):
    claim, _ = bench.begin(plan(HOME, f"{B}/", start_paths=((A, "/docs/"), (C, "/c/"))))
    sites = "SELECT site, start_path FROM crawler_sites ORDER BY site"
    assert bench.rows(sites) == [(A, "/docs/"), (B, "/")]
    add(bench, claim, "", seed(f"{C}/"))
    assert bench.rows(sites) == [(A, "/docs/"), (B, "/"), (C, "/c/")]
    bench.begin(plan(HOME, f"{B}/", start_paths=((B, "/b/"),)))
    assert bench.rows(sites) == [(A, "/"), (B, "/b/"), (C, "/")]


def test_the_queue_of_design_g_is_without_held_jobs(bench):
    claim, _ = bench.begin(two_jobs())
    change(bench, claim, SteerJobs("abort", ("news",)))
    assert bench.rows("SELECT site, url FROM crawler_queue") == [(A, HOME)]


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
