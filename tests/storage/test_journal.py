"""The operator journal from outside, beside a live engine or without one."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from tests.storage.bench import DatabaseBench, of_sqlite
from tests.storage.making import A, plan
from tests.storage.raw import rows
from tui_crawler.domain.records.command import (
    ActionResult,
    AddSeeds,
    Exclude,
    PauseOrigins,
    RefetchRobots,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    StopOrigins,
    TopUpPatience,
)
from tui_crawler.domain.records.failure import NotOurDatabase, StorageFailure
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.workers.journal import Journal

EVERY = (
    PauseOrigins((A,)),
    ResumeOrigins(),
    StopOrigins((A,)),
    AddSeeds((f"{A}/x",), "job", "/x", True),
    RetryPages((f"{A}/x",), ("file_gone",), (A,)),
    TopUpPatience(),
    SetDelay(A, 1_500),
    RefetchRobots((A,)),
    Exclude("host", "x.example", "asked"),
)


async def test_every_command_goes_round(database_bench: DatabaseBench):
    store = database_bench.open()
    await store.begin_run(plan())
    journal = Journal(database_bench.place, now=lambda: 77)
    ids = [journal.send(command, "me") for command in EVERY]
    taken = await store.take_actions()
    assert [(one.action_id, one.at, one.who, one.command) for one in taken] == [
        (number, 77, "me", command) for number, command in zip(ids, EVERY, strict=True)
    ]
    assert [journal.result(number) for number in ids] == [None] * len(ids)
    done = tuple(ActionResult(number, "{}", '{"n": 1}', "" if number % 2 else "no") for number in ids)
    await store.finish_actions(done)
    assert tuple(journal.result(number) for number in ids) == done
    assert journal.result(10_000) is None
    journal.close()


async def test_what_was_taken_back_is_marked(database_bench: DatabaseBench):
    store = database_bench.open()
    journal, reports = Journal(database_bench.place), Reports(database_bench.place)
    first = journal.send(PauseOrigins((A,)), "me")
    second = journal.send(ResumeOrigins((A,)), "me", undoes=first)
    assert [(one.action_id, one.undone) for one in reports.actions()] == [(second, False), (first, False)]
    await store.finish_actions((ActionResult(first, "{}", "{}"), ActionResult(second, "{}", "{}", "refused")))
    assert not any(one.undone for one in reports.actions())
    await store.finish_actions((ActionResult(second, "{}", "{}"),))
    assert [(one.action_id, one.undone) for one in reports.actions()] == [(second, False), (first, True)]
    journal.close()
    reports.close()


async def test_rows_that_cannot_be_read_are_answered_and_harm_nobody(database_bench: DatabaseBench):
    store = database_bench.open()
    await store.begin_run(plan())
    rows(database_bench.place, "INSERT INTO operator_action (action, command) VALUES ('fly', '{}'), ('pause', '[1')")
    good = database_bench.ask(PauseOrigins())
    assert [one.action_id for one in await store.take_actions()] == [good]
    for number in (1, 2):
        result = database_bench.result(number)
        assert result.error
    assert await store.take_actions() == ()


@of_sqlite
async def test_a_wish_waits_for_a_short_lock(database_bench: DatabaseBench):
    database_bench.open()
    journal = Journal(database_bench.place, OpenSettings(busy_ms=5_000))
    raw = sqlite3.connect(database_bench.place, isolation_level=None, check_same_thread=False)
    raw.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.05, raw.execute, ["ROLLBACK"])
    release.start()
    assert journal.send(PauseOrigins(), "me") == 1
    release.join()
    raw.close()
    journal.close()


async def test_a_live_run_is_named_and_an_ended_one_is_not(database_bench: DatabaseBench):
    store = database_bench.open(alive=True)
    journal = Journal(database_bench.place)
    assert journal.live_owner() is None
    await store.begin_run(plan())
    owner = journal.live_owner()
    assert owner.startswith("process ")
    await store.end_run("exhausted", True)
    assert journal.live_owner() is None
    await store.begin_rest()
    assert journal.live_owner() is None
    await store.end_rest()
    journal.close()


def test_a_journal_makes_its_database_and_refuses_others(tmp_path):
    journal = Journal(tmp_path / "new.db")
    assert journal.send(PauseOrigins(), "me") == 1
    journal.close()
    (tmp_path / "odd.db").write_text("hello")
    with pytest.raises(NotOurDatabase):
        Journal(tmp_path / "odd.db")


async def test_a_broken_journal_is_a_storage_failure(database_bench: DatabaseBench, tmp_path):
    journal = Journal(tmp_path / "broken.db")
    raw = sqlite3.connect(tmp_path / "broken.db")
    raw.execute("DROP TABLE operator_action")
    raw.commit()
    raw.close()
    with pytest.raises(StorageFailure, match="operator_action"):
        journal.send(PauseOrigins(), "me")
    journal.close()
    database_bench.open()
