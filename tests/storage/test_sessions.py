"""Who holds a database: live processes are respected, dead ones recognised at once, leases count elsewhere."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.storage.bench import GONE, DatabaseBench
from tests.storage.making import T0, A, B, added, crawled, fill_of, plan, record, seed
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.records.command import AddSeeds, PauseOrigins
from tui_crawler.domain.records.failure import RunHeld
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.crawl.candidates import HEAD
from tui_crawler.storage.db.owner import OpenSession, this_process
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.storage.workers.journal import Journal
from tui_crawler.wiring.console_reports import ConsoleReports

ROOT = Path(__file__).parents[2]
HOLDER = """
import asyncio, sys
from pathlib import Path
from tests.storage.making import plan
from tui_crawler.storage.store import SqliteStore
from tui_crawler.wiring.console_reports import ConsoleReports

async def hold():
    store = SqliteStore(Path(sys.argv[1]))
    await store.begin_run(plan())
    print("held", flush=True)
    sys.stdin.read()

asyncio.run(hold())
"""


@contextmanager
def holder(path: Path):
    """Another process whose run holds the database, for as long as the block lasts."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def path(database_path: Path) -> Path:
    return database_path


async def test_a_live_process_is_not_displaced_and_a_killed_one_is_recognised_at_once(path):
    with holder(path) as other:
        store = SqliteStore(path)
        with pytest.raises(RunHeld, match=f"another run holds this database: process {other.pid} on host .*, since 20"):
            await store.begin_run(plan())
        with pytest.raises(RunHeld):
            await store.begin_rest()
        reports, journal = Reports(path), Journal(path)
        run = reports.run()
        assert run.live
        assert run.owner == journal.live_owner()
        assert f"process {other.pid} on host" in run.owner
        other.kill()
        other.wait()
        assert journal.live_owner() is None
        dead = reports.run()
        assert not dead.live
        start = await store.begin_run(plan())
        assert (start.continued, start.unclean, start.run_id) == (True, True, 1)
        assert "was killed" in start.notes[0]
        for one in (reports, journal, store):
            one.close()


async def test_a_run_is_live_as_long_as_one_of_its_workers_is(path):
    mine, shared = this_process(), replace(plan(), workers=2)
    gone = replace(mine, started_ms=mine.started_ms - 5_000)
    with ExitStack() as opened:
        first = opened.enter_context(closing(SqliteStore(path)))
        second = opened.enter_context(closing(SqliteStore(path, StoreSettings(owner=gone))))
        reports = opened.enter_context(closing(ConsoleReports(path)))
        for store, asked in ((first, shared), (second, replace(shared, joins=True))):
            store.peers(2, str)
            await store.begin_run(asked)
        run, (newest, oldest) = reports.run(), reports.sessions(9)
        assert run.live
        assert (oldest.pid, newest.cpu_ms) == (mine.pid, None)
        used = os.times()
        assert oldest.cpu_ms == pytest.approx(1_000 * (used.user + used.system), abs=500)


async def test_a_process_that_reuses_a_number_is_not_taken_for_the_owner(path):
    mine = this_process()
    earlier = replace(mine, started_ms=mine.started_ms - 5_000)
    first = SqliteStore(path, StoreSettings(owner=earlier))
    await first.begin_run(plan())
    second = SqliteStore(path, StoreSettings(owner=replace(mine, pid=os.getppid())))
    assert (await second.begin_run(plan())).unclean
    first.close()
    second.close()


def test_an_owner_elsewhere_lives_as_long_as_its_lease():
    here = this_process()
    hold = OpenSession(replace(here, host="other", machine="other/system"), since=T0, heartbeat_at=T0, lease_ms=30_000)
    assert hold.is_live(here, T0 + 29_999)
    assert not hold.is_live(here, T0 + 30_000)
    assert (
        hold.describe()
        == f"another run holds this database: process {here.pid} on host other, since 2027-01-15 08:00:00 UTC"
    )


def test_on_this_machine_a_live_owner_counts_however_old_its_heartbeat_unless_its_lease_ends_it():
    here = this_process()
    assert OpenSession(here, since=0, heartbeat_at=0, lease_ms=1).is_live(here, T0)
    assert not OpenSession(here, since=0, heartbeat_at=0, lease_ms=1, shared=True).is_live(here, T0)
    assert OpenSession(here, since=0, heartbeat_at=T0, lease_ms=1, shared=True).is_live(here, T0)
    assert not OpenSession(GONE, since=T0, heartbeat_at=T0, lease_ms=10**9).is_live(here, T0)
    assert not OpenSession(replace(here, started_ms=1), since=T0, heartbeat_at=T0, lease_ms=10**9).is_live(here, T0)


@pytest.mark.skipif(sys.platform != "linux", reason="zombies and start times as Linux tells them")
def test_a_zombie_is_dead():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        alive = replace(this_process(), pid=process.pid, started_ms=owner_of(process.pid))
        hold = OpenSession(alive, since=T0, heartbeat_at=T0, lease_ms=1)
        assert hold.is_live(this_process(), T0)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not hold.is_live(this_process(), T0)


def owner_of(pid: int) -> int:
    return round((psutil.Process(pid).create_time() - psutil.boot_time()) * 1000)


async def test_a_heartbeat_elsewhere_keeps_others_out(path):
    now = [T0]
    far = replace(this_process(), machine="far", host="far")
    first = SqliteStore(path, StoreSettings(owner=far, now=lambda: now[0], lease_ms=30_000))
    await first.begin_run(plan())
    second = SqliteStore(path, StoreSettings(now=lambda: now[0]))
    now[0] += 25_000
    assert await first.heartbeat()
    now[0] += 25_000
    with pytest.raises(RunHeld, match="on host far"):
        await second.begin_run(plan())
    now[0] += 5_000
    start = await second.begin_run(plan())
    assert start.unclean
    assert not await first.heartbeat()
    first.close()
    second.close()


async def test_what_operators_ask_at_rest_changes_the_database_and_makes_no_run(database_bench: DatabaseBench):
    store = database_bench.open()
    await store.begin_run(replace(plan(), config_text="seeds: []"))
    pages = (await store.candidates(A, T0, 10, True)).pages
    await store.fill(fill_of(pages))
    await store.end_run("interrupted", True)
    database_bench.ask(PauseOrigins())
    database_bench.ask(AddSeeds((f"{B}/",)))
    rest = database_bench.open()
    start = await rest.begin_rest()
    assert (start.run_id, start.continued, start.unclean, start.config_text) == (1, True, False, "seeds: []")
    assert [page.url for page in start.origins[0].todo] == [f"{A}/"]
    assert [one.command for one in await rest.take_actions()] == [PauseOrigins(), AddSeeds((f"{B}/",))]
    await rest.save_origins([record(paused=True)])
    assert [one.pages_known for one in await rest.add_origins((B,))] == [0]
    assert len(await rest.add_pages((seed(f"{B}/"),), "")) == 1
    await rest.end_rest()
    reports = Reports(database_bench.place)
    origin = reports.origin(A)
    assert (origin.paused, origin.paused_by, origin.todo) == (True, "operator", 1)
    assert len(list(reports.rows("v_run"))) == 1
    reports.close()
    again = await database_bench.open().begin_run(plan())
    assert (again.run_id, again.continued, again.unclean) == (1, True, False)
    assert [one.record.origin for one in again.origins] == [A, B]


async def test_a_rest_after_a_kill_does_not_hide_it(database_bench: DatabaseBench):
    await database_bench.open().begin_run(plan())
    rest = database_bench.open()
    assert (await rest.begin_rest()).unclean
    await rest.end_rest()
    assert (await database_bench.open().begin_run(plan())).unclean


async def test_a_killed_rest_is_no_unclean_run(database_bench: DatabaseBench):
    store = database_bench.open()
    await store.begin_run(plan())
    await store.end_run("exhausted", True)
    await database_bench.open().begin_rest()
    start = await database_bench.open().begin_run(plan())
    assert (start.unclean, start.continued) == (False, False)


async def test_a_rest_without_any_run_keeps_seeds_for_the_first_one(database_bench: DatabaseBench):
    rest = database_bench.open()
    start = await rest.begin_rest()
    assert (start.run_id, start.origins, start.config_text) == (0, (), "")
    await rest.add_origins((B,))
    assert [page.url for page in await added(rest, seed(f"{B}/"))] == [f"{B}/"]
    await rest.end_rest()
    store = database_bench.open()
    assert [one.record.origin for one in (await store.begin_run(plan())).origins] == [B, A]
    assert [page.url for page in (await store.candidates(B, T0, 10, True)).pages] == [f"{B}/"]


async def test_notes_say_what_a_start_found(database_bench: DatabaseBench):
    store = database_bench.open()
    assert (await store.begin_run(plan(f"{A}/", f"{B}/"))).notes == ()
    await store.end_run("interrupted", True)
    notes = (await database_bench.open().begin_run(plan())).notes
    assert "interrupted" in notes[0]
    assert "1 origins are no longer configured" in notes[1]


async def _stopped(path: Path) -> tuple[RunPlan, tuple[TodoPage, ...]]:
    """A run that was stopped over a long todo list."""
    asked = plan(*(f"{A}/{number}" for number in range(3 * HEAD)))
    store = SqliteStore(path)
    await store.begin_run(asked)
    listed = (await store.candidates(A, T0, 500, True)).pages
    await store.fill(fill_of(listed))
    await store.end_run("interrupted", True)
    await asyncio.to_thread(store.close)
    return asked, listed


async def _crawl(store: SqliteStore, pages: tuple[TodoPage, ...]) -> None:
    for at, page in enumerate(pages):
        await store.settle(crawled(page, T0 + at))


async def test_a_start_loads_the_head_of_a_long_todo_list_and_a_fill_the_rest(path):
    asked, listed = await _stopped(path)
    store = SqliteStore(path)
    (origin,) = (await store.begin_run(asked)).origins
    assert origin.todo == listed[:HEAD]
    await _crawl(store, origin.todo)
    assert (await store.candidates(A, T0, 500, False)).pages == listed[HEAD:]
    await store.fill(fill_of(listed[HEAD:]))
    assert (await store.candidates(A, T0, 500, False)).pages == ()
    await asyncio.to_thread(store.close)


async def test_who_knows_a_part_of_a_todo_list_and_stores_another_loses_no_page(path):
    """As when added seeds are put off: what the engine had not seen, too, is found by a later fill."""
    asked, listed = await _stopped(path)
    store = SqliteStore(path)
    (origin,) = (await store.begin_run(asked)).origins
    await store.fill(fill_of(origin.todo[1:]))
    await _crawl(store, origin.todo[1:])
    later = set()
    while found := (await store.candidates(A, T0, 500, False)).pages:
        later |= set(found)
        await store.fill(fill_of(found))
        await _crawl(store, found)
    assert later == {origin.todo[0], *listed[HEAD:]}
    await asyncio.to_thread(store.close)
