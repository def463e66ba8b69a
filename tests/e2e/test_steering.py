"""Steering a resting database: the wishes of command line and console are carried out at once, by the same code."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import threading
from pathlib import Path

import pytest

from tests.e2e.served import rows, value
from tests.storage.making import T0, A, B, failed, fill_of, plan
from tests.support.patience import PATIENT_S
from tui_crawler.domain.records.command import (
    AddSeeds,
    ApplyRules,
    Exclude,
    PauseOrigins,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    StopOrigins,
)
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import NotTakenUp, StorageFailure
from tui_crawler.domain.rules.policy import PolicySet, Rule
from tui_crawler.domain.rules.ruleset import to_json
from tui_crawler.storage.store import SqliteStore
from tui_crawler.storage.workers.journal import Journal
from tui_crawler.wiring import steering
from tui_crawler.wiring.steering import SteeredJournal, carry_out

CONFIG = f"seeds: [{A}/]\nuser_agent: x-crawler\n"


@pytest.fixture
def resting(tmp_path: Path) -> Path:
    """A database whose last run is over, with one page that failed."""
    path = tmp_path / "crawl.db"

    async def crawl() -> None:
        store = SqliteStore(path)
        await store.begin_run(plan(f"{A}/", f"{B}/", config_text=CONFIG))
        (page,) = (await store.candidates(A, T0, 10, True)).pages
        await store.fill(fill_of((page,)))
        await store.settle(failed(page, T0 + 1, ExitCode.file_not_found, 404))
        await store.end_run("exhausted", True)
        await asyncio.to_thread(store.close)

    asyncio.run(crawl())
    return path


def test_a_pause_is_carried_out_and_kept(resting: Path) -> None:
    result = carry_out(resting, PauseOrigins((A,)), "tester")
    assert result.error == ""
    assert [row["origin"] for row in rows(resting, "SELECT origin FROM v_origin WHERE paused = 1")] == [A]
    assert value(resting, "SELECT who FROM v_operator_action") == "tester"


def test_a_resume_tells_of_how_many_origins_that_have_something_to_do_it_takes_the_pause(resting: Path) -> None:
    """For these alone a run begins: what had ended by itself, or gave up, is let go by no resume."""
    with contextlib.closing(sqlite3.connect(resting)) as connection, connection:
        connection.execute("UPDATE origin SET finish_reason = 'patience' WHERE origin = ?", (A,))

    def resume(*origins: str) -> dict[str, object]:
        assert carry_out(resting, PauseOrigins(origins), "tester").error == ""
        result = carry_out(resting, ResumeOrigins(origins), "tester")
        assert result.error == ""
        after: dict[str, object] = json.loads(result.after)
        return after

    assert resume() == {A: False, B: False, "let_go": 1}, "B has a page to be asked for"
    assert resume(A) == {A: False}, "it gave up: only a run that is asked for gives it new patience"
    assert json.loads(carry_out(resting, ResumeOrigins(), "tester").after) == {}, "nothing was paused"
    assert carry_out(resting, StopOrigins((B,)), "tester").error == ""
    assert json.loads(carry_out(resting, ResumeOrigins(), "tester").after) == {B: False, "let_go": 1}


def test_the_result_of_a_delay_says_which_one_holds(resting: Path) -> None:
    with contextlib.closing(sqlite3.connect(resting)) as connection, connection:
        values = (4_000, 4, 1_000, A)
        connection.execute(
            "UPDATE origin SET delay_ms = ?, politeness = ?, last_response_ms = ? WHERE origin = ?", values
        )

    def delay(ms: int) -> dict[str, object]:
        result = carry_out(resting, SetDelay(A, ms), "tester")
        assert result.error == ""
        after: dict[str, object] = json.loads(result.after)
        return after

    assert delay(5_000) == {A: 5_000, "in_force": 5_000}
    lowered = delay(3_000)
    assert lowered.pop("in_force") != 3_000, "slow responses ask for more"
    assert lowered == {A: 3_000}


def test_failed_pages_get_their_tries_back(resting: Path) -> None:
    assert carry_out(resting, RetryPages(exit_codes=("file_not_found",)), "tester").error == ""
    assert value(resting, f"SELECT attempts_remaining FROM v_page WHERE url = '{A}/'") == 3


def test_what_cannot_be_done_says_why_and_does_not_stand_in_the_way(resting: Path) -> None:
    assert "no job named" in carry_out(resting, AddSeeds((f"{A}/new",), job="nope"), "tester").error
    assert "not an origin" in carry_out(resting, PauseOrigins(("http://nowhere.test",)), "tester").error
    assert carry_out(resting, PauseOrigins((A,)), "tester").error == ""


def test_the_console_carries_out_while_its_engine_rests_and_only_writes_while_it_does_not(resting: Path) -> None:
    at_work = SteeredJournal(resting, lambda: False, threading.Lock())
    waiting = at_work.send(PauseOrigins((A,)), "tester")
    assert at_work.result(waiting) is None
    at_work.close()
    idle = SteeredJournal(resting, lambda: True, threading.Lock())
    done = idle.send(PauseOrigins((B,)), "tester")
    assert idle.result(done) is not None
    assert idle.result(waiting) is not None, "what had waited is carried out with it"
    idle.close()
    assert value(resting, "SELECT count(*) FROM v_origin WHERE paused = 1") == 2
    with_nobody = Journal(resting)
    assert with_nobody.live_owner() is None
    with_nobody.close()


def test_an_engine_that_begins_here_takes_up_what_was_about_to_be_carried_out(resting: Path) -> None:
    turn, rests, asked = threading.Lock(), [True], threading.Event()

    def is_resting() -> bool:
        asked.set()
        return rests[0]

    journal = SteeredJournal(resting, is_resting, turn)
    sent = journal.send(PauseOrigins((A,)), "tester")
    with turn:  # the engine of this console begins
        sender = threading.Thread(target=lambda: journal.result(sent))
        sender.start()
        assert not asked.wait(0.05), "whether somebody rests is asked under the lock"
        rests[0] = False
    sender.join(PATIENT_S)
    assert journal.result(sent) is None
    assert value(resting, "SELECT count(*) FROM v_operator_action WHERE applied_at IS NULL") == 1
    journal.close()


def test_rules_that_give_an_origin_no_work_leave_it_finished(resting: Path) -> None:
    ended = "SELECT origin, state, finish_reason FROM v_origin ORDER BY origin"

    def standings() -> list[tuple[object, ...]]:
        return [tuple(row) for row in rows(resting, ended)]

    with contextlib.closing(sqlite3.connect(resting)) as connection, connection:
        connection.execute("UPDATE origin SET finish_reason = 'exhausted' WHERE origin = ?", (A,))
        connection.execute("UPDATE page SET last_crawled_at = unixepoch() * 1000 WHERE attempts > 0")
    (before, other) = standings()
    assert before == (A, "FINISHED", "exhausted")
    assert carry_out(resting, Exclude("domain", "elsewhere.test"), "tester").error == ""
    current = value(resting, "SELECT max(ruleset_id) FROM v_job")
    skipped = to_json(PolicySet(rules=(Rule("/never/", skip=True),)))
    assert carry_out(resting, ApplyRules(skipped, current), "tester").error == ""
    assert standings() == [before, other]
    assert carry_out(resting, RetryPages(exit_codes=("file_not_found",)), "tester").error == ""
    assert standings()[0] != before


def test_what_is_written_but_cannot_be_carried_out_is_not_told_as_not_done(
    resting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full for all but the journal's one row: it stands there, and is carried out as soon as that works."""

    async def fail(database: Path) -> None:
        raise StorageFailure("the disk is full")

    journal = SteeredJournal(resting, lambda: True, threading.Lock())
    with monkeypatch.context() as full:
        full.setattr(steering, "_carry_out_at_rest", fail)
        action_id = journal.send(PauseOrigins((A,)), "tester")
        with pytest.raises(NotTakenUp, match="the next run applies it; not now: the disk is full"):
            journal.result(action_id)
        assert value(resting, "SELECT count(*) FROM v_operator_action WHERE applied_at IS NULL") == 1
    result = journal.result(action_id)
    assert result.error == ""
    journal.close()


def test_what_an_engine_did_not_take_up_any_more_as_it_ended_is_carried_out_after_it(resting: Path) -> None:
    ended = [False]
    journal = SteeredJournal(resting, lambda: ended[0], threading.Lock())
    action_id = journal.send(PauseOrigins((A,)), "tester")
    assert journal.result(action_id) is None
    ended[0] = True
    assert journal.result(action_id) is not None
    journal.close()
