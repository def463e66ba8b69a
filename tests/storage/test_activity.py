"""The activity log: runs, sessions, origins and jobs say in it what happened to them."""

from __future__ import annotations

from dataclasses import replace

from tests.storage.bench import GONE, DatabaseBench
from tests.storage.making import T0, A, B, C, plan, record
from tests.storage.test_jobs import NEWS, change, two_jobs
from tui_crawler.domain.records.command import ReclaimPages, SetDripfeed, SetJob, StashPages, SteerJobs
from tui_crawler.domain.records.operator_view import ActivityView
from tui_crawler.storage.crawl import activity, origins, settle
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.workers import sessions


def told(reports: Reports, **more: object) -> list[tuple[str, str, str]]:
    """Events oldest first, with origin and message."""
    return [(one.event, one.origin, one.message) for one in reversed(reports.activity(**more))]


def test_a_run_from_its_start_to_its_end(workbench, reports):
    claim, _ = workbench.begin(plan(f"{A}/", f"{B}/"))
    workbench.work(lambda work: settle.save_origins(work, claim, [record(finish_reason="patience")]))
    workbench.work(lambda work: settle.save_origins(work, claim, [record(finish_reason="patience")]))
    workbench.now += 5
    workbench.work(lambda work: sessions.end(work, claim, "exhausted", clean_end=True))
    assert told(reports) == [
        ("job_added", "", "job main"),
        ("run_started", "", "run 1"),
        ("origin_joined", A, "seed"),
        ("origin_joined", B, "seed"),
        ("origin_finished", A, "patience"),
        ("run_finished", "", "exhausted"),
    ]
    newest = reports.activity(limit=1)[0]
    assert newest == ActivityView(newest.activity_id, T0 + 5, "run_finished", "", 1, "exhausted")
    assert workbench.rows("SELECT at, event, origin, run_id, message FROM v_activity ORDER BY at DESC LIMIT 1") == [
        (T0 + 5, "run_finished", "", 1, "exhausted")
    ]
    assert [row[3] for row in workbench.rows("SELECT * FROM v_activity WHERE event = 'origin_finished'")] == [1]


def test_an_origin_that_goes_on_and_finishes_again_is_told_twice(workbench, reports):
    claim, _ = workbench.begin(plan())
    for reason in ("exhausted", "", "operator"):
        state = record(finish_reason=reason)
        workbench.work(lambda work, state=state: settle.save_origins(work, claim, [state]))
    assert told(reports, origin=A) == [
        ("origin_joined", A, "seed"),
        ("origin_finished", A, "exhausted"),
        ("origin_finished", A, "operator"),
    ]
    assert told(reports, origin="https://nowhere.example") == []


def test_a_killed_session_is_taken_over_and_its_run_continued(workbench, reports):
    workbench.begin(plan())
    last = reports.activity()[0].activity_id
    claim, _ = workbench.begin(plan(f"{A}/", f"{B}/"))
    workbench.work(lambda work: sessions.add_origins(work, claim, [C]))
    message = f"{GONE.describe()} was gone; taken over by {GONE.describe()}"
    assert told(reports, after_id=last) == [
        ("session_taken_over", "", message),
        ("run_continued", "", "run 1"),
        ("origin_joined", B, "seed"),
        ("origin_joined", C, "added"),
    ]


def test_jobs_say_what_changed(workbench, reports):
    claim, _ = workbench.begin(two_jobs())
    last = reports.activity()[0].activity_id
    change(workbench, claim, SetJob("news", nice=1, tag=""))
    for order in ("pause", "resume", "abort", "unabort", "unabort"):
        change(workbench, claim, SteerJobs(order, ("news",)))
    assert told(reports, after_id=last) == [
        ("job_changed", "", "job news: nice -5 -> 1"),
        ("job_paused", "", "job news: concurrency 2 -> 0"),
        ("job_resumed", "", "job news: concurrency 0 -> 2"),
        ("job_aborted", "", "job news: aborted False -> True"),
        ("job_unaborted", "", "job news: aborted True -> False"),
    ]


def test_a_note_of_whoever_takes_part(workbench, reports):
    claim, _ = workbench.begin(plan())
    row = workbench.work(lambda work: origins.ensure(work, A))
    workbench.work(lambda work: activity.note(work, "segment_saved", "a\x00b", row.id, claim.run_id))
    workbench.work(lambda work: activity.note(work, "segment_loaded", "at rest", run_id=-1))
    saved, loaded = reversed(reports.activity(limit=2))
    assert (saved.event, saved.origin, saved.run_id) == ("segment_saved", A, 1)
    assert "\x00" not in saved.message
    assert (loaded.origin, loaded.run_id) == ("", 0)


async def test_the_store_changes_jobs_stashes_and_limbo(database_bench: DatabaseBench):
    store = database_bench.open()
    start = await store.begin_run(replace(plan(f"{A}/", f"{A}/1"), jobs=(NEWS,)))
    assert [job.name for job in start.jobs] == ["main", "news"]
    assert (await store.change_job(SteerJobs("pause", ("news",)))).jobs[1].held
    assert (await store.stash(StashPages("s"))).origins == ((A, 2),)
    assert (await store.stash(SetDripfeed("s", 1))).origins == ((A, 1),)
    assert await store.awake((A, B), T0) == (A,)
    assert (await store.reclaim(ReclaimPages("nothing is claimed"))).origins == ()
    await store.end_run("operator", True)
    rest = database_bench.open()
    at_rest = await rest.begin_rest()
    assert [job.held for job in at_rest.jobs] == [False, True]
    assert [ruleset.job for ruleset in at_rest.rulesets] == ["main", "news"]
    await rest.change_job(SteerJobs("resume", ("news",)))
    await rest.end_rest()
