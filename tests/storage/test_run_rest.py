"""How long a run has worked: not while it rested between its sessions, and by no clock that may be set."""

from __future__ import annotations

import pytest

from tests.storage.bench import DatabaseBench
from tests.storage.making import A, crawled, plan
from tui_crawler.domain.history.idle_reason import SILENT_MS, worked_ms
from tui_crawler.wiring.console_reports import ConsoleReports


async def test_a_run_works_only_while_a_session_of_it_lasts(database_bench: DatabaseBench) -> None:
    store = database_bench.open()
    began = database_bench.now
    await store.begin_run(plan())
    database_bench.now += 10_000
    await store.heartbeat()
    database_bench.crash()
    database_bench.now += 3_600_000
    store = database_bench.open()
    start = await store.begin_run(plan())
    assert start.continued
    database_bench.now += 5_000
    await store.end_run("interrupted", True)
    database_bench.now += 60_000
    store = database_bench.open()
    start = await store.begin_run(plan())
    assert start.continued
    database_bench.now += 1_000
    await store.heartbeat()
    reports = ConsoleReports(database_bench.place)
    run, (listed,) = reports.run(), reports.runs(5)
    reports.close()
    assert (run.started_at, run.worked_ms, listed.worked_ms) == (began, 16_000, 16_000)
    assert worked_ms(run, database_bench.now) == 16_000


async def test_what_is_stored_is_a_sign_of_life_too(database_bench: DatabaseBench) -> None:
    store = database_bench.open()
    began = database_bench.now
    await store.begin_run(plan())
    (home,) = (await store.candidates(A, began, 10, True)).pages
    database_bench.now += 4_000
    await store.settle(crawled(home, database_bench.now))
    database_bench.crash()
    database_bench.now += 60_000
    store = database_bench.open()
    await store.begin_run(plan())
    reports = ConsoleReports(database_bench.place)
    run = reports.run()
    reports.close()
    assert run is not None
    assert worked_ms(run, began + 64_000) == 4_000


@pytest.mark.parametrize("jump", [86_400_000, -86_400_000])
async def test_a_clock_that_is_set_is_no_work(database_bench: DatabaseBench, jump: int) -> None:
    store = database_bench.open()
    await store.begin_run(plan())
    for step in (5_000, jump, 5_000):
        database_bench.now += step
        database_bench.set_by += step if step == jump else 0
        await store.heartbeat()
    reports = ConsoleReports(database_bench.place, now=lambda: database_bench.now)
    before = reports.run()
    database_bench.now += 2_000
    await store.end_run("interrupted", True)
    ended = reports.run()
    reports.close()
    assert before is not None
    assert ended is not None
    assert worked_ms(before, database_bench.now + jump) <= 10_000 + SILENT_MS, "nor before the next heartbeat"
    assert worked_ms(ended, database_bench.now) == 12_000
