"""The tables as of then: those of a crawl that was looked at while it went on, and the file is not touched."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.storage.lives import Life
from tests.support.simulated_web import Answer
from tui_crawler.domain.history.replayed import ReplayGoal, ReplayMoment
from tui_crawler.domain.records.command import Command, Exclude, RetryPages
from tui_crawler.domain.records.failure import ReadingStopped
from tui_crawler.domain.url import CrawlUrl
from tui_crawler.storage.crawl.replayed import ReplayedReader, ReplayedTables

PAGE = """id, status, attempts, attempts_remaining, failed, last_exit_code, last_http_status, last_crawled_at,
last_attempt_id"""
ORIGIN = """origin, participates, patience, politeness, delay_ms, requests, bytes, attempts, pending, done,
failed, blocked, pages_known, paused, operator_delay_ms, finish_reason, robots_status, robots_fetched_at, last_url,
last_exit_code, last_http_status, last_attempt_at"""
ASKED = {
    "page": f"SELECT {PAGE} FROM {{of}}page ORDER BY id",
    "origin": f"SELECT {ORIGIN} FROM {{of}}origin WHERE participates = 1 ORDER BY id",
    "run": "SELECT id, started_at, finished_at, finish_reason, requests, attempts FROM {of}run ORDER BY id",
    "exit_count": "SELECT * FROM {of}exit_count WHERE run_id = (SELECT MAX(id) FROM {of}run) ORDER BY 1, 2, 3",
    "job": "SELECT id, pending, done, failed, blocked, ruleset_id FROM {of}job ORDER BY id",
    "attempt": "SELECT * FROM {of}attempt ORDER BY id",
}


Seen = dict[str, list[tuple[object, ...]]]


class WatchedLife(Life):
    """A life whose database is read now and then while it goes on."""

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        self.lives = [one if one != "killed" else "stopped" for one in self.lives]  # a try that is lost is not logged
        self.seen: list[tuple[ReplayMoment, Seen]] = []

    def _robots(self, url: CrawlUrl, robots: bytes | str) -> Answer:
        """No hops: those of a robots.txt under way stand in no attempt yet."""
        return super()._robots(url, b"" if robots in {"redirect", "elsewhere"} else robots)

    def ask(self, command: Command) -> None:
        """Not of what the log does not tell: origins that an exclusion ends, tries that are given back."""
        if not isinstance(command, Exclude | RetryPages):
            super().ask(command)

    async def operate(self) -> None:
        operator = asyncio.ensure_future(super().operate())
        try:
            while True:
                await asyncio.sleep(self.dice.uniform(1, 9))
                self.look()
        finally:
            operator.cancel()

    def look(self) -> None:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as database:
            if database.execute("SELECT COUNT(*) FROM page WHERE status = 2").fetchone()[0]:
                return
            found = {name: database.execute(text.format(of="")).fetchall() for name, text in ASKED.items()}
            last = database.execute("SELECT COALESCE(MAX(id), 0) FROM attempt").fetchone()[0]
        self.seen.append((ReplayMoment(self.now(), last), found))


@contextmanager
def tables(path: Path, run_id: int | None = None) -> Iterator[tuple[ReplayedReader, ReplayedTables]]:
    reader = ReplayedReader(path)
    with closing(reader):
        yield reader, ReplayedTables(reader, run_id)


def shown(reader: ReplayedReader, of: str = "") -> Seen:
    return {name: [tuple(row) for row in reader.all(text.format(of=of))] for name, text in ASKED.items()}


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> WatchedLife:
    life = WatchedLife(tmp_path_factory.mktemp("life"), 8)
    life.run()
    return life


@pytest.mark.parametrize("seed", range(8))
def test_a_moment_is_shown_as_it_was(seed: int, tmp_path: Path):
    life = WatchedLife(tmp_path, seed)
    path = life.run()
    with tables(path) as (reader, replayed):
        for moment, found in life.seen:
            assert replayed.go(ReplayGoal(at=moment.at)).attempt_id == moment.attempt_id
            assert shown(reader) == found


def test_at_the_end_stands_what_is_stored_and_the_file_is_not_touched(life: WatchedLife):
    before = hashlib.sha256(life.path.read_bytes()).hexdigest()
    with tables(life.path) as (reader, replayed):
        replayed.go(ReplayGoal(at=0))
        assert shown(reader)["attempt"] == []
        replayed.go(ReplayGoal(at=2**50))
        assert shown(reader) == shown(reader, "main.")
    assert hashlib.sha256(life.path.read_bytes()).hexdigest() == before


REFUSED = "SELECT r.origin_id, o.last_attempt_at FROM {of}refused r JOIN main.origin o ON o.id = r.origin_id"


def test_links_that_were_refused_later_are_not_shown_before(life: WatchedLife, tmp_path: Path):
    """They are counted without times: all are told with the last attempt of their origin."""
    path = Path(shutil.copy(life.path, tmp_path))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO refused SELECT id, 'trap_depth', 20, '' FROM origin")
    with tables(path) as (reader, replayed):
        every = {tuple(row) for row in reader.all(REFUSED.format(of="main."))}
        for at in (0, *(moment.at for moment, _ in life.seen), 2**50):
            moment = replayed.go(ReplayGoal(at=at))
            shown_then = {tuple(row) for row in reader.all(REFUSED.format(of=""))}
            assert shown_then == {row for row in every if row[1] <= moment.at}
        assert shown_then == every != set()


def test_to_and_fro_ends_where_it_began(life: WatchedLife):
    with tables(life.path) as (reader, replayed):
        first = replayed.go(ReplayGoal(at=0))
        by_step = {}
        while replayed.go(ReplayGoal(attempts=1)) != replayed.span().last:
            by_step[replayed.moment] = shown(reader)
        for moment in reversed(by_step):
            assert replayed.go(ReplayGoal(attempts=-1)) == moment
            assert shown(reader) == by_step[moment]
        assert replayed.go(ReplayGoal(attempts=-1)) == first
        for moment in [*by_step][::6]:
            with tables(life.path) as (other, at_once):
                assert at_once.go(ReplayGoal(attempts=moment.attempt_id)) == moment
                assert shown(other) == by_step[moment]
        for steps in (30, -9, 11, -31, 20, -21):
            moment = replayed.go(ReplayGoal(attempts=steps))
            assert moment == first or shown(reader) == by_step[moment]
        assert moment == first


def test_failures_and_marks_are_gone_to(life: WatchedLife):
    with tables(life.path) as (reader, replayed):
        replayed.go(ReplayGoal(at=0))
        problems = [one for (one,) in reader.all("SELECT id FROM main.attempt WHERE problem = 1 ORDER BY id")]
        assert [replayed.go(ReplayGoal(failures=1)).attempt_id for _ in problems] == problems
        assert replayed.go(ReplayGoal(failures=1)).attempt_id == problems[-1]
        started = {at for (at,) in reader.all("SELECT at FROM main.activity WHERE event = 'run_finished'")}
        replayed.go(ReplayGoal(at=0))
        seen = {replayed.go(ReplayGoal(marks=1)).at for _ in range(40)}
        assert started <= seen
        assert replayed.moment == replayed.span().last


def test_one_run_is_gone_through(life: WatchedLife):
    with tables(life.path, 1) as (reader, replayed):
        span = replayed.span()
        (finished,) = reader.one("SELECT MAX(ended_at) FROM main.attempt WHERE run_id = 1") or (0,)
        assert span.first.attempt_id == 0
        assert span.last.at >= finished
        assert replayed.go(ReplayGoal(at=2**50)) == span.last


def test_a_move_that_is_stopped_leaves_everything_where_it_was(life: WatchedLife):
    with tables(life.path) as (reader, replayed):
        replayed.go(ReplayGoal(at=life.seen[0][0].at))
        before, moment = shown(reader), replayed.moment
        asked = iter(range(10**6))
        reader.stop_when(lambda: next(asked) > 40)
        with pytest.raises(ReadingStopped):
            for _ in range(10**6):
                replayed.go(ReplayGoal(attempts=1))
                moment, before = replayed.moment, {}
        reader.stop_when(lambda: False)
        assert replayed.moment == moment
        now = shown(reader)
        assert before in ({}, now)
        replayed.go(ReplayGoal(attempts=1))
        replayed.go(ReplayGoal(attempts=-1))
        assert replayed.moment == moment
        assert shown(reader) == now
