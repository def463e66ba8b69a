"""Workers as others see them: who they are, what they hold, what is wanted of them."""

from __future__ import annotations

from dataclasses import replace

from tests.storage.making import A, B, crawled, fill_of, plan
from tui_crawler.domain.records.worker import WorkerState
from tui_crawler.storage.reports.reports import Reports


async def test_a_worker_is_shown_as_it_is(database_bench):
    store = database_bench.open(alive=True)
    await store.begin_run(replace(plan(), worker="north", tags=("news", "slow")))
    (home,) = (await store.candidates(A, database_bench.now, 10, True)).pages
    await store.fill(fill_of((home,)))
    await store.settle(crawled(home, database_bench.now + 10))
    reports = Reports(database_bench.place, now=lambda: database_bench.now + 6_000)
    (worker,) = reports.workers()
    assert (worker.name, worker.state, worker.leads, worker.slots) == ("north", WorkerState.crawling, True, 8)
    assert (worker.tags, worker.matchonly, worker.origins) == (("news", "slow"), False, 1)
    assert worker.heartbeat_age_ms == 6_000
    assert worker.pages_per_minute > 0
    assert worker.version
    assert worker.free_bytes > 0
    database_bench.now += 60_000
    (worker,) = reports.workers()
    assert worker.state is WorkerState.silent
    reports.close()
    await store.end_run("exhausted", True)


async def test_an_origin_that_takes_no_part_any_more_has_no_worker(database_bench, database_reports):
    for origin in (A, B):
        store = database_bench.open()
        await store.begin_run(replace(plan(f"{origin}/"), worker="north", new_run=True))
        await store.end_run("exhausted", True)
    expected = {A: ("IDLE", ""), B: ("READY", "north")}
    shown = database_reports.origins_changed()
    assert {view.origin: (view.state, view.worker) for view in shown} == expected
    rows = database_reports.rows("v_origin", ("origin", "state", "worker"))
    assert {origin: (state, worker) for origin, state, worker in rows} == expected


async def test_where_nobody_is_at_work_there_is_none(database_bench, database_reports):
    assert database_reports.workers() == ()
    store = database_bench.open()
    await store.begin_run(plan())
    await store.end_run("exhausted", True)
    assert database_reports.workers() == ()
