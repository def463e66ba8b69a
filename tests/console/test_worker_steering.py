"""View 8 steers: workers are paused, drained, stopped and tagged, origins go from one to another, as from the command
line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.console.sample_crawl import API, WHO, WWW, origins
from tests.console.sample_log import workers
from tests.console.support import Stage, stage
from tests.console.test_workers_on_a_database import OpenReports
from tests.storage.making import plan
from tests.support.patience import PATIENT_S
from tests.support.postgres_database import made_database
from tui_crawler.console.workers.steering import leave, move_origins, steer, tag_workers, toggle_pause
from tui_crawler.domain.records.command import (
    DRAIN_WORKERS,
    RESUME_WORKERS,
    STOP_WORKERS,
    ActionResult,
    MoveOrigins,
    Order,
    SteerWorkers,
    TagWorker,
)
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.worker import WorkerState, WorkerView
from tui_crawler.storage.db.owner import this_process
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.storage.workers.journal import Journal
from tui_crawler.text.same_as import same_as

W1, SILENT, PAUSED, LEAVING = workers()
ALONE = replace(W1, shared=False)


# what is made of it


def test_all_are_paused_unless_all_are_and_one_that_leaves_is_left_alone() -> None:
    both = toggle_pause((W1, PAUSED, LEAVING))
    assert (both.commands, both.inverse) == ((SteerWorkers("pause", ("w1",)),), (SteerWorkers("resume", ("w1",)),))
    again = toggle_pause((PAUSED, LEAVING))
    assert (again.commands, again.says) == ((SteerWorkers("resume", ("north-1",)),), "resume north-1")
    assert toggle_pause((LEAVING,)) is steer((W1,), RESUME_WORKERS) is toggle_pause((ALONE,)) is None


def text_of(order: Order, one: WorkerView, *at_work: WorkerView) -> str:
    asked = leave(order, (one,), at_work)
    return asked.text


def test_before_one_leaves_it_is_told_who_goes_on() -> None:
    asked = leave(DRAIN_WORKERS, (W1,), workers())
    assert asked.title == "Drain w1?"
    assert asked.text == (
        "What is in flight (12 requests) continues until it is finished. The others take over 372 origins. "
        "But none of them is crawling now."
    )
    second = replace(W1, name="w9", session_id=9)
    assert text_of(STOP_WORKERS, W1, W1, second) == (
        "What is in flight (12 requests) continues for a few seconds. The others take over 372 origins."
    )
    idle = replace(W1, in_flight=0)
    assert text_of(DRAIN_WORKERS, idle, idle, second).startswith("No request is in flight. ")
    assert "No other worker is running: the crawl ends with it." in text_of(DRAIN_WORKERS, W1, W1, LEAVING)
    assert "No other worker is running" in text_of(STOP_WORKERS, LEAVING, LEAVING)
    assert leave(DRAIN_WORKERS, (LEAVING,), workers()) is None


def test_tags_are_set_and_put_back_for_each() -> None:
    made = tag_workers((W1, PAUSED), ("press",))
    assert made.commands == (TagWorker("w1", ("press",)), TagWorker("north-1", ("press",)))
    assert made.inverse == (TagWorker("w1", ()), TagWorker("north-1", ("news", "slow")))
    assert tag_workers((PAUSED,), ("news", "slow")) is None


def test_origins_go_back_to_who_had_them_where_they_are_at_work() -> None:
    views = [replace(view, worker=worker) for view, worker in zip(origins()[:2], ("w1", "w2"), strict=True)]
    names = [view.origin for view in views]
    made = move_origins(views, "north-1", ["w1", "w2", "north-1"])
    assert made.commands == (MoveOrigins(tuple(names), "north-1"),)
    assert made.inverse == (MoveOrigins((names[0],), "w1"), MoveOrigins((names[1],), "w2"))
    gone = move_origins(views, "w1", ["w1"])
    assert (gone.commands, gone.inverse) == ((MoveOrigins((names[1],), "w1"),), ())
    assert move_origins(views[:1], "w1", ["w1"]) is None


def test_each_has_its_command_line() -> None:
    asked = (SteerWorkers("drain", ("w1", "w 2")), TagWorker("w1", ("a", "b")), MoveOrigins((API, WWW), "w2"))
    assert same_as(asked) == (
        "tui-crawler workers drain w1 'w 2'; tui-crawler workers tags w1 a b; "
        f"tui-crawler workers move {API} w2; tui-crawler workers move {WWW} w2"
    )


# by keys and words


async def test_p_pauses_and_resumes_the_one_under_the_cursor_and_z_takes_it_back() -> None:
    async with stage((160, 40), keys="8", rounds=2) as held:
        assert "p pause" in held.text()
        assert "o worker…" in held.text()
        await held.decide("p", rounds=0)
        assert held.journal.sent == [SteerWorkers("pause", ("w1",))]
        assert "same as: tui-crawler workers pause w1" in held.text()
        await held.decide("journal.undo", rounds=0)
        assert held.journal.sent[-1] == SteerWorkers("resume", ("w1",))
        await held.press("j", "j", rounds=1)
        assert "p resume" in held.text()
        await held.decide("p", rounds=0)
        assert held.journal.sent[-1] == SteerWorkers("resume", ("north-1",))


@pytest.mark.usefixtures("painted_when_quiet")
async def test_what_was_carried_out_is_seen_at_once_though_workers_are_read_once_a_second() -> None:
    async with stage((160, 40), keys="8", rounds=2) as held:
        held.reports.at_work = (replace(W1, state=WorkerState.paused),)
        held.app._beating = True  # it reads by itself
        held.app.taken_in.clear()
        await held.press("p", rounds=0)
        await asyncio.wait_for(held.app.taken_in.wait(), PATIENT_S)
        await held.quiet()
        assert "‖ paused    w1" in held.text()


async def test_the_marked_ones_are_meant_and_their_marks_go() -> None:
    async with stage((160, 40), keys="8", rounds=2) as held:
        await held.press("space", "space", rounds=1)
        assert "p pause 2" in held.text()
        await held.decide("p", rounds=0)
        assert held.journal.sent == [SteerWorkers("pause", ("w1", "w2"))]
        assert held.table("#workers").mark_count == 0


@pytest.mark.parametrize("order", ["drain", "stop"])
async def test_to_leave_is_asked_first(order: str) -> None:
    async with stage((160, 40), keys="8", rounds=2) as held:
        await held.act(f"worker.{order}", rounds=0)
        held.sees(f"{order.capitalize()} w1?", "This cannot be undone.")
        await held.press("escape", rounds=0)
        assert held.journal.sent == []
        await held.decide(f"worker.{order}", "enter", rounds=0)
        assert held.journal.sent == [SteerWorkers(order, ("w1",))]


async def test_a_worker_is_named_after_the_word_whatever_the_cursor_is_on() -> None:
    async with stage((160, 40), keys="8", rounds=2) as held:
        await held.command("pauseworker w2", decided=True)
        assert held.journal.sent == [SteerWorkers("pause", ("w2",))]
        await held.command("drain nobody")
        assert "drain: there is no worker nobody" in held.text()
        await held.command("drain north-2")
        assert "drain: already done" in held.text()
        await held.command("stopworker north-2")
        assert "Stop north-2?" in held.text()


async def test_tags_are_typed_beginning_with_those_it_has_and_esc_leaves_them() -> None:
    async with stage((160, 40), keys="8 j j", rounds=1) as held:
        await held.press("worker.tags", rounds=0)
        assert "tags of north-1" in held.text()
        await held.press("escape", rounds=0)
        assert held.journal.sent == []
        await held.decide("worker.tags", *["backspace"] * 5, "enter", rounds=0)
        assert held.journal.sent == [TagWorker("north-1", ("news",))]
        await held.command("tags press fast", decided=True)
        assert held.journal.sent[-1] == TagWorker("north-1", ("press", "fast"))


async def test_an_origin_is_moved_by_its_name_which_is_completed_as_is_the_workers() -> None:
    async with stage((160, 40), keys="8", rounds=2) as held:
        await held.type(":move api")
        await held.press("tab", rounds=0)
        held.sees(f": move {API}", "w1  w2  north-1  north-2")
        await held.type("w2")
        await held.decide("enter", rounds=0)
        assert held.journal.sent == [MoveOrigins((API,), "w2")]
        await held.decide("journal.undo", rounds=0)
        assert held.journal.sent[-1] == MoveOrigins((API,), "w1")


async def test_the_origin_under_the_cursor_is_moved_by_a_key_where_origins_have_the_focus() -> None:
    async with stage((160, 40), keys="8", rounds=2) as held:
        await held.press("origin.move", rounds=0)
        assert "no origin is selected" in held.text()
        held.table("#held").focus()
        await held.press("space", "space", rounds=1)
        assert "o worker…" in held.text()
        await held.press("origin.move", "escape", rounds=0)
        assert (held.journal.sent, held.table("#held").mark_count) == ([], 2)
        await held.decide("origin.move", *"north-1", "enter", rounds=0)
        command = held.journal.sent[-1]
        assert isinstance(command, MoveOrigins)
        assert (len(command.origins), command.worker) == (2, "north-1")
        assert held.table("#held").mark_count == 0


@pytest.mark.parametrize("order", ["toggle_pause", "drain", "stop", "tags"])
async def test_who_only_watches_steers_nobody(order: str) -> None:
    async with stage((160, 40), readonly=True, keys="8", rounds=2) as held:
        assert "p pause" not in held.text()
        await held.act(f"worker.{order}", rounds=1)
        assert "this console is read-only" in held.text()


async def test_who_crawls_alone_takes_no_orders_and_nothing_can_be_moved() -> None:
    async with stage((160, 40)) as held:
        held.reports.at_work = (ALONE,)
        await held.press("8", rounds=2)
        await held.commit(rounds=2, move_ms=5_000)
        await held.press("p", rounds=0)
        assert "it is the only worker" in held.text()
        held.table("#held").focus()
        await held.press("origin.move", rounds=0)
        assert "no other worker is at work" in held.text()
        assert held.journal.sent == []


# on a database


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A place of a new database, of each kind in turn."""
    if request.param == "sqlite":
        yield tmp_path / "crawl.db"
        return
    with made_database(request.getfixturevalue("postgres_url")) as made:
        yield made


@dataclass
class Crew:
    """Two workers of a run, and a console that watches them; the first one carries out what is asked for."""

    held: Stage
    leader: SqliteStore
    reports: Any

    async def decide(self) -> None:
        """The leading worker takes up what waits in the journal, as its engine does."""
        await self.held.quiet()
        waiting = await self.leader.take_actions()
        assert waiting, "nothing was asked for"
        for one in waiting:
            before, after = await self.leader.steer_workers(one.command)  # type: ignore[arg-type]
            await self.leader.finish_actions([ActionResult(one.action_id, json.dumps(before), json.dumps(after))])
        await self.held.decided()
        await self.held.settle(2, move_ms=1_000)

    def states(self) -> dict[str, str]:
        return {one.name: one.state.value for one in self.reports.workers()}


@asynccontextmanager
async def crew(place: DatabasePlace) -> AsyncIterator[Crew]:
    mine = this_process()
    with ExitStack() as opened:
        stores = [
            opened.enter_context(closing(SqliteStore(place, StoreSettings(owner=replace(mine, pid=mine.pid + number)))))
            for number in range(2)
        ]
        for number, (store, name) in enumerate(zip(stores, ("north", "south"), strict=True)):
            store.peers(2, str)
            await store.begin_run(replace(plan(), workers=2, worker=name, joins=bool(number)))
        reports: Any = opened.enter_context(closing(OpenReports(place)))
        shown: Any = OpenReports(place)
        async with stage((200, 40), reports=shown, journals=lambda: Journal(place), keys="8") as held:
            yield Crew(held, stores[0], reports)


async def test_a_worker_is_paused_and_resumed_and_the_journal_says_by_whom(place: DatabasePlace) -> None:
    async with crew(place) as one:
        await one.held.press("p", rounds=0)
        await one.decide()
        assert one.states() == {"north": "paused", "south": "crawling"}
        assert "‖ paused    north" in one.held.text()
        await one.held.press("journal.undo", rounds=0)
        await one.decide()
        assert one.states() == {"north": "crawling", "south": "crawling"}
        back, asked = one.reports.actions(2)
        assert (asked.who, asked.action, asked.target, asked.undone) == (WHO, "steer_workers", "pause north", True)
        assert (back.who, back.target, back.error) == (WHO, "resume north", "")


async def test_a_worker_is_drained_tagged_and_given_an_origin(place: DatabasePlace) -> None:
    async with crew(place) as one:
        held = one.held
        await held.command("worker south", rounds=1)
        await held.press("worker.tags", *"news", "enter", rounds=0)
        await one.decide()
        assert "news" in held.text()
        origin = next(iter(held.app.live_state.origins))
        held.app.dispatcher.do_typed(f"move {origin} south")
        await one.decide()
        await held.press("worker.drain", "enter", rounds=0)
        await one.decide()
        assert one.states() == {"north": "crawling", "south": "draining"}
        assert [each.target for each in one.reports.actions(3)] == ["drain south", origin, "south"]
