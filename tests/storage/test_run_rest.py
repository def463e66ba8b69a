"""How long a run has worked: not while it rested between its sessions, and by no clock that may be set."""

from __future__ import annotations

import pytest

from tests.storage.bench import SqliteBench
from tests.storage.making import A, crawled, plan
from tui_crawler.domain.idle_reason import SILENT_MS, worked_ms
from tui_crawler.wiring.console_reports import ConsoleReports


async def test_a_run_works_only_while_a_session_of_it_lasts(sqlite_bench: SqliteBench) -> None:
    store = sqlite_bench.open()
    began = sqlite_bench.now
    await store.begin_run(plan())
    sqlite_bench.now += 10_000
    await store.heartbeat()
    sqlite_bench.crash()
    sqlite_bench.now += 3_600_000
    store = sqlite_bench.open()
    start = await store.begin_run(plan())
    assert start.continued
    sqlite_bench.now += 5_000
    await store.end_run("interrupted", True)
    sqlite_bench.now += 60_000
    store = sqlite_bench.open()
    start = await store.begin_run(plan())
    assert start.continued
    sqlite_bench.now += 1_000
    await store.heartbeat()
    reports = ConsoleReports(sqlite_bench.path)
    run, (listed,) = reports.run(), reports.runs(5)
    reports.close()
    assert run is not None
    assert (run.started_at, run.worked_ms, listed.worked_ms) == (began, 16_000, 16_000)
    assert worked_ms(run, sqlite_bench.now) == 16_000


async def test_what_is_stored_is_a_sign_of_life_too(sqlite_bench: SqliteBench) -> None:
    store = sqlite_bench.open()
    began = sqlite_bench.now
    await store.begin_run(plan())
    (home,) = (await store.candidates(A, began, 10, True)).pages
    sqlite_bench.now += 4_000
    await store.settle(crawled(home, sqlite_bench.now))
    sqlite_bench.crash()
    sqlite_bench.now += 60_000
    store = sqlite_bench.open()
    await store.begin_run(plan())
    reports = ConsoleReports(sqlite_bench.path)
    run = reports.run()
    reports.close()
    assert run is not None
    assert worked_ms(run, began + 64_000) == 4_000


@pytest.mark.parametrize("jump", [86_400_000, -86_400_000])
async def test_a_clock_that_is_set_is_no_work(sqlite_bench: SqliteBench, jump: int) -> None:
    store = sqlite_bench.open()
    await store.begin_run(plan())
    for step in (5_000, jump, 5_000):
        sqlite_bench.now += step
        sqlite_bench.set_by += step if step == jump else 0
        await store.heartbeat()
    reports = ConsoleReports(sqlite_bench.path, now=lambda: sqlite_bench.now)
    before = reports.run()
    sqlite_bench.now += 2_000
    await store.end_run("interrupted", True)
    ended = reports.run()
    reports.close()
    assert before is not None
    assert ended is not None
    assert worked_ms(before, sqlite_bench.now + jump) <= 10_000 + SILENT_MS, "nor before the next heartbeat"
    assert worked_ms(ended, sqlite_bench.now) == 12_000
