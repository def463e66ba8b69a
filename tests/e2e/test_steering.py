"""Steering a resting database: the wishes of command line and console are carried out at once, by the same code."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest

from tests.e2e.served import rows, value
from tests.storage.making import T0, A, B, failed, fill_of, plan
from tui_crawler.domain.command import AddSeeds, ApplyRules, Exclude, PauseOrigins, RetryPages
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.policy import PolicySet, Rule
from tui_crawler.domain.policy_json import to_json
from tui_crawler.storage.journal import Journal
from tui_crawler.storage.store import SqliteStore
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
    sent: list[int] = []
    with turn:  # the engine of this console begins
        sender = threading.Thread(target=lambda: sent.append(journal.send(PauseOrigins((A,)), "tester")))
        sender.start()
        assert not asked.wait(0.05), "whether somebody rests is asked under the lock"
        rests[0] = False
    sender.join(20)
    assert journal.result(sent[0]) is None
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
