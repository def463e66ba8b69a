"""`follow`: a sentence per change, on real databases; and that a screen reader or a log can take it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Say, origin_view
from tests.export.crawl import store_crawl as store_attempts
from tests.storage.making import T0, A, crawled, failed, fill_of, plan, record
from tui_crawler.cli.run_follower import MOST_LISTED, RunFollower
from tui_crawler.domain.records.command import ActionResult, PauseOrigins, SetDelay
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.view import OriginView
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.storage.workers.journal import Journal
from tui_crawler.text.changes import ChangeName, origin_changes

PAUSED = {"paused": True, "paused_by": "ann", "paused_at": 7}


def said(before: OriginView | None, now: OriginView) -> list[str]:
    return [one.words.removeprefix(f"{now.origin}: ") for one in origin_changes(before, now)]


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({}, {}, []),
        ({}, {"state": "WAITING"}, []),
        ({}, PAUSED, ["paused by ann"]),
        (PAUSED, {}, ["resumed"]),
        ({"state": "IDLE"}, {}, ["started"]),
        ({}, {"patience": 2, "last_exit_code": "request_timeout"}, ["failing, patience 2 of 5, last: request timeout"]),
        ({"patience": 2}, {"patience": 5}, ["recovered"]),
        ({}, {"robots_status": "unreachable", "robots_http_status": 503}, ["robots.txt unreachable: HTTP 503"]),
        ({"robots_status": "none"}, {}, ["robots.txt read"]),
        (
            {},
            {"delay_ms": 4_000, "politeness": 3, "delay_reason": "rate_limit"},
            ["delay raised to 4s, slowed by 429"],
        ),
        ({}, {"delay_ms": 4_000, "delay_reason": "response_time"}, []),
        (
            {},
            {"state": "FINISHED", "finish_reason": "patience", "patience": 0, "failed": 5},
            ["stopped: 5 errors, out of patience; 5 pages done, 5 failed"],
        ),
        (
            {},
            {"state": "FINISHED", "finish_reason": "exhausted"},
            ["finished, nothing left in this run; 5 pages done, 1 failed"],
        ),
        ({"state": "FINISHED", "finish_reason": "patience"}, {}, ["recovered"]),
    ],
)
def test_what_an_origin_does_is_one_sentence(
    before: dict[str, object], now: dict[str, object], words: list[str]
) -> None:
    assert said(origin_view(**before), origin_view(**now)) == words


class Crawl:
    """A live run in a real database, and a follower of it; time is a number."""

    def __init__(self, path: Path) -> None:
        self.now = T0
        self.path, self.store = path, SqliteStore(path, StoreSettings(now=lambda: self.now))
        self.loop = asyncio.new_event_loop()
        urls = [f"{A}/{number}" for number in range(40)]
        self.loop.run_until_complete(self.store.begin_run(plan(*urls)))
        self.pages = list(self.loop.run_until_complete(self.store.candidates(A, T0, 50, False)).pages)
        self.loop.run_until_complete(self.store.fill(fill_of(tuple(self.pages))))
        self.reports = Reports(path, now=lambda: self.now)
        self.follower = RunFollower(self.reports, 10_000, lambda: self.now)

    def crawl(self, count: int = 1) -> None:
        for _ in range(count):
            self.loop.run_until_complete(self.store.settle(crawled(self.pages.pop(), self.now)))

    def fail(self, count: int = 1) -> None:
        for _ in range(count):
            made = failed(self.pages.pop(), self.now, ExitCode.server_internal_error, 500)
            self.loop.run_until_complete(self.store.settle(made))

    def end(self, reason: str = "exhausted") -> None:
        self.loop.run_until_complete(self.store.end_run(reason, True))

    def more(self) -> list[str]:
        return [one.words for one in self.follower.more()]


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    made = Crawl(tmp_path / "crawl.db")
    with closing(made.loop), closing(made.store), closing(made.reports):
        yield made


def test_it_begins_with_the_run_as_it_is(crawl: Crawl) -> None:
    first, *_ = crawl.follower.begin()
    assert first.event == ChangeName.run
    assert re.fullmatch(r"run 1 of test, started .*; 1 origin: 1 \w+", first.words)
    assert crawl.more() == []


def test_a_failed_page_is_named_with_the_reason_and_crawled_ones_are_summed_up(crawl: Crawl) -> None:
    crawl.follower.begin()
    crawl.crawl(3)
    assert crawl.more() == []
    crawl.fail()
    assert crawl.more() == [f"{A}/36 failed: server internal error, HTTP 500"]
    crawl.now += 10_000
    assert crawl.more() == ["in the last 10s: 4 pages, 1 failed; 36 to do"]
    crawl.now += 10_000
    assert crawl.more() == [], "where nothing happens nothing is said"


def test_of_many_changes_the_first_are_listed_and_the_others_counted(crawl: Crawl) -> None:
    crawl.follower.begin()
    crawl.fail(MOST_LISTED + 5)
    assert len(crawl.more()) == MOST_LISTED
    crawl.now += 10_000
    assert crawl.more()[:2] == [
        f"in the last 10s: {MOST_LISTED + 5} pages, {MOST_LISTED + 5} failed; {25} to do",
        "not listed: 5 failed pages",
    ]
    crawl.fail()
    assert len(crawl.more()) == 1, "they are listed again"


def test_what_operators_do_is_named_with_who_did_it(crawl: Crawl) -> None:
    crawl.follower.begin()
    with closing(Journal(crawl.path)) as journal:
        for command in (PauseOrigins((A,)), SetDelay(A, 7_000)):
            journal.send(command, "ann")
    waiting = crawl.loop.run_until_complete(crawl.store.take_actions())
    results = [ActionResult(one.action_id, "", "{}") for one in waiting]
    crawl.loop.run_until_complete(crawl.store.finish_actions(results))
    assert crawl.more() == [f"ann: pause {A}", f"ann: delay {A} 7s"]


@pytest.mark.parametrize(("reason", "status"), [("exhausted", 0), ("operator", 0), ("interrupted", 130), ("error", 3)])
def test_it_ends_with_the_run_and_with_what_was_covered(crawl: Crawl, reason: str, status: int) -> None:
    crawl.follower.begin()
    crawl.crawl(40)
    crawl.end(reason)
    changes = crawl.follower.more()
    kinds = [one.event for one in changes]
    assert changes[kinds.index(ChangeName.run)].words.startswith("run 1 ")
    assert changes[-1].event == ChangeName.coverage
    assert crawl.follower.last is changes[-1]
    assert crawl.follower.status == status
    assert [one.at for one in changes] == sorted(one.at for one in changes)


def test_an_origin_that_errors_have_stopped_is_status_1(crawl: Crawl) -> None:
    crawl.follower.begin()
    crawl.crawl(1)
    crawl.loop.run_until_complete(crawl.store.save_origins([record(A, finish_reason="patience", patience=0)]))
    crawl.end()
    assert any("stopped: 5 errors" in words for words in crawl.more())
    assert crawl.follower.status == 1


def test_a_run_that_is_over_is_told_in_plain_ascii(here: Path, say: Say) -> None:
    asyncio.run(store_attempts(here / "crawl.db"))
    told = say("follow", "--plain")
    assert (told.status, told.err) == (0, "")
    assert told.out.isascii()
    assert "\x1b" not in told.out
    lines = told.out.splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S", line) for line in lines)
    assert "run 1 of test, started " in lines[0]
    assert "run 1 finished, nothing left in this run" in lines[1]
    assert "coverage: not complete" in told.out


def test_programs_get_one_object_per_change(here: Path, say: Say) -> None:
    asyncio.run(store_attempts(here / "crawl.db"))
    documents = [json.loads(line) for line in say("follow", "--json").out.splitlines()]
    assert all({"at", "event", "words"} <= one.keys() for one in documents)
    assert {"run", "coverage"} <= {one["event"] for one in documents}


def test_without_a_run_or_a_database_it_says_so(here: Path, say: Say) -> None:
    say("follow", "--db", "none.db").refused("there is no database")
    with closing(SqliteStore(here / "crawl.db")):
        pass
    say("follow").refused("there was no run yet")
