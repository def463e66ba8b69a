"""How long a run rested between its sessions: that is no time in which it worked."""

from __future__ import annotations

from tests.storage.bench import SqliteBench
from tests.storage.making import A, crawled, plan
from tui_crawler.domain.idle_reason import worked_ms
from tui_crawler.storage.overview_reports import rest_between
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
    assert (run.started_at, run.rested_ms, listed.rested_ms) == (began, 3_660_000, 3_660_000)
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
    assert (run.rested_ms, worked_ms(run, began + 64_000)) == (60_000, 4_000)


def test_workers_side_by_side_leave_no_rest() -> None:
    spans = [(7, 100, 200), (7, 110, 150), (7, 190, 260), (7, 300, 310), (8, 900, 950), (8, 950, 951)]
    assert rest_between(spans) == {7: 40, 8: 0}
