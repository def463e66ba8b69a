"""A crawl in the console as of then: its views show the rows of a moment, and nothing of later."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import UTC
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.console.sample_trace import SampleExplainer
from tests.console.support import FakeJournal, FrozenClock, Stage, StageApp
from tests.storage.lives import Life
from tui_crawler.console.app import EngineAccess, Operator, Presentation, ReadingSources
from tui_crawler.console.reading.snapshot import LiveState
from tui_crawler.console.replay.player import ReplayControls, ReplayHost, ReplayPlayer, Replays
from tui_crawler.domain.history.replayed import ReplayGoal
from tui_crawler.domain.record import replace
from tui_crawler.wiring.console import queries
from tui_crawler.wiring.replay_console import ReplayedReports


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    life = Life(tmp_path_factory.mktemp("life"), 2)
    life.lives, life.operates = ["ends"], False
    return life.run()


@asynccontextmanager
async def replay(path: Path, player: ReplayPlayer, clock: FrozenClock) -> AsyncIterator[Stage]:
    reports: Any = ReplayedReports(path, None, player)
    app = StageApp(
        ReadingSources(lambda: reports, SampleExplainer, queries=lambda: queries(path)),
        Operator(None, watches="a replay"),
        EngineAccess(),
        Presentation(),
        clock,
        replays=Replays(player),
        beating=False,
    )
    app.tell_me()
    async with app.run_test(size=(120, 40)) as pilot:
        held = Stage(app, reports, FakeJournal(), clock, None, pilot)
        await app.taken_in.wait()
        await held.settle(3)
        yield held


def stored(path: Path, text: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute(text, values).fetchall()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


async def test_the_views_show_a_moment_and_steps_to_and_fro(crawl: Path) -> None:
    before, clock = digest(crawl), FrozenClock()
    player = ReplayPlayer(clock)
    (every,) = stored(crawl, "SELECT COUNT(*) FROM attempt")[0]
    async with replay(crawl, player, clock) as held:
        assert "REPLAY" in held.text()
        assert f"0 of {every}" in held.text()
        assert "no events yet" in held.text()
        views = {}
        for number in range(1, 9):
            await held.pilot.press("greater_than_sign")
            await held.settle(3)
            views[number] = {name: replace(one, change=0) for name, one in held.app.live_state.origins.items()}
            assert player.state.moment.attempt_id == number
            sums = stored(crawl, "SELECT SUM(requests), COUNT(*) FROM attempt WHERE id <= ?", number)[0]
            totals = held.app.live_state.totals
            assert (totals.requests, totals.attempts) == sums
        for number in range(7, 0, -1):
            await held.pilot.press("less_than_sign")
            await held.settle(3)
            then = held.app.live_state.origins
            assert {name: replace(one, change=0) for name, one in then.items()} == views[number]
        last = stored(crawl, "SELECT u.href FROM attempt a JOIN url u ON u.id = a.url_id WHERE a.id > 1")
        assert not any(href in held.text() for (href,) in last if not href.endswith("robots.txt"))
        for view in ("failures", "urls", "logs", "pulse"):
            await held.act(f"view.{view}", rounds=3)
            assert f"attempt {1:>{len(str(every))}} of {every}" in held.text()
    assert digest(crawl) == before


async def test_sql_reads_the_database_as_it_is_now_and_says_so(crawl: Path) -> None:
    clock = FrozenClock()
    player = ReplayPlayer(clock)
    (every,) = stored(crawl, "SELECT COUNT(*) FROM v_attempt")[0]
    async with replay(crawl, player, clock) as held:
        held.app.do("sql.open", "SELECT COUNT(*) AS attempts FROM v_attempt")
        await held.worked("sql")
        await held.settle(3)
        assert "SQL · read-only · the current database, not as of " in held.text()
        assert "SQL: current database" in held.text()
        row = held.table("#sql-rows").current
        assert row is not None
        assert row.values == (every,)


async def test_it_plays_to_the_end_where_the_stored_rows_stand(crawl: Path) -> None:
    clock = FrozenClock()
    player = ReplayPlayer(clock)
    async with replay(crawl, player, clock) as held:
        await held.pilot.press("f")
        held.app.dispatcher.do("replay.speed", "10")
        await held.settle(2)
        assert player.state.playing
        began = player.state.moment.at
        await held.settle(1, move_ms=100)
        assert player.state.moment.at > began
        held.app.dispatcher.do("replay.speed", "1000x")
        await held.settle(3, move_ms=10_000)
        assert not player.state.playing
        assert player.state.moment == player.state.span.last
        columns = "origin, done, failed, blocked, pending, requests, finish_reason"
        rows = {row[0]: row[1:] for row in stored(crawl, f"SELECT {columns} FROM origin")}
        shown = held.app.live_state.origins
        assert rows == {
            name: (one.done, one.failed, one.blocked, one.pending, one.requests, one.finish_reason)
            for name, one in shown.items()
        }


async def test_what_would_change_the_crawl_is_absent_and_a_time_is_gone_to(crawl: Path) -> None:
    clock = FrozenClock()
    player = ReplayPlayer(clock)
    async with replay(crawl, player, clock) as held:
        await held.pilot.press("p")
        await held.settle(1)
        assert "this console is read-only (a replay)" in held.text()
        assert held.app.replay.why_not_opened == "this is a replay"
        end = player.state.span.last
        held.app.dispatcher.do("log.goto", "-0s")
        await held.settle(2)
        assert player.state.moment == end
        held.app.dispatcher.do("log.goto", "no time")
        held.app.dispatcher.do("replay.speed", "5000")
        held.app.dispatcher.do("replay.first")
        await held.settle(2)
        assert player.state.moment == player.state.span.first
        assert player.state.speed == 1
        held.app.dispatcher.do("replay.next_failure")
        await held.settle(2)
        (first,) = stored(crawl, "SELECT MIN(id) FROM attempt WHERE problem = 1")[0]
        assert player.state.moment.attempt_id == (first or 0)


def test_the_newest_wish_holds(crawl: Path) -> None:
    player = ReplayPlayer(FrozenClock())
    player.go(ReplayGoal(attempts=3))
    player.go(ReplayGoal(attempts=-1))
    assert player.wanted() == ReplayGoal(attempts=-1)


def test_the_console_is_back_after_a_replay_that_failed() -> None:
    is_back = False

    class Host:
        @contextmanager
        def suspend(self) -> Iterator[None]:  # as Textual has it: an exception within leaves it suspended
            nonlocal is_back
            yield
            is_back = True

    def fail(_run: int) -> None:
        raise OSError("no such file")

    host, live_state = Host(), SimpleNamespace(run=SimpleNamespace(run_id=3))
    controls = ReplayControls(cast("ReplayHost", host), Replays(opens=fail), cast("LiveState", live_state), UTC)
    with pytest.raises(OSError, match="no such file"):
        controls.open()
    assert is_back
