"""The way out: drain with a countdown, force, give up on a stuck engine; and how a failing engine is shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.console.sample_crawl import API, NOW, run_view
from tests.console.support import FakeDetacher, FakeHost, FakeReports, StageApp, stage
from tests.support.patience import PATIENT_S
from tui_crawler.console.app import CrawlerApp
from tui_crawler.console.dialogs.quit import AskQuitScreen, QuitScreen
from tui_crawler.console.operator.engine_host import DRAIN_MS, GRACE_MS, EngineEnd, EnginePhase
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.reading.poll_loop import ReadFailed
from tui_crawler.console.reading.refresh import Snapshot
from tui_crawler.domain.records.failure import RunHeld, StorageFailure
from tui_crawler.domain.records.view import TotalsView


async def test_without_an_engine_q_leaves_at_once_and_says_that_the_crawl_goes_on() -> None:
    async with stage() as held:
        await held.press("q", rounds=0)
        await held.gone()
    summary = held.app.return_value
    assert summary.exit_status == 0
    assert (
        summary.lines()[0]
        == "Run 7 of my-index: continues in process 4711 on host reef after 00:42:10 and 101 900 turns with a request."
    )
    assert held.reports.closed.wait(PATIENT_S)


async def test_q_drains_and_leaves_when_the_engine_has_ended() -> None:
    host = FakeHost(obeys=False)
    async with stage(host=host) as held:
        assert "▶ running" in held.text()
        await held.press("q")
        assert host.stops == [DRAIN_MS]
        assert isinstance(held.app.screen, QuitScreen)
        assert "Finishing 12 requests… 4.9s" in held.text()
        await held.settle(1, move_ms=1_000)
        assert "3.9s" in held.text()
        assert "q again: cancel them now" in held.text()
        host.end.set()
        await held.engine_over()
        await held.gone()
    summary = held.app.return_value
    assert summary.engine_reason == "operator"
    assert not summary.forced
    assert summary.exit_status == 1  # an origin gave up
    assert "Stopped after errors: https://down.example.com." in summary.lines()


async def test_a_database_that_cannot_be_read_at_the_end_is_told_and_is_no_success() -> None:
    async with stage(host=FakeHost(obeys=False)) as held:
        host = held.app.hosting.host
        assert isinstance(host, FakeHost)
        await held.press("q")
        held.reports.failure = "/data/crawl.db is damaged"
        held.reports.commit()
        host.end.set()
        await held.engine_over()
        await held.gone()
    summary = held.app.return_value
    assert "The database failed: /data/crawl.db is damaged" in summary.lines()
    assert replace(summary, gave_up=()).exit_status == 1


async def test_a_second_q_forces() -> None:
    host = FakeHost(obeys=False)
    async with stage(host=host) as held:
        await held.press("q")
        await held.press("q", rounds=0)
        assert host.stops == [DRAIN_MS, 0]
        await held.engine_over()
        await held.gone()
    assert held.app.return_value is not None
    assert held.app.return_value.forced


async def test_an_engine_that_does_not_end_is_left_behind() -> None:
    host = FakeHost(obeys=False)
    async with stage(host=host) as held:
        await held.press("q")
        held.clock.move(DRAIN_MS + GRACE_MS)
        held.app.beat()
        await held.quiet()
        summary = held.app.return_value
        assert summary.engine_stuck
        assert "the next start continues this run" in summary.lines()[-1]


async def test_ctrl_c_asks_and_a_second_one_quits() -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        await held.press("ctrl+c")
        assert "Quit?" in held.text()
        assert host.stops == []
        await held.press("escape")
        assert "Quit?" not in held.text()
        await held.press("ctrl+c", rounds=0)
        await held.press("ctrl+c", rounds=0)
        await held.engine_over()
        assert host.stops == [DRAIN_MS]


async def test_ctrl_z_suspends_a_console_and_asks_where_that_would_stop_its_crawl(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    suspended: list[bool] = []
    monkeypatch.setattr(CrawlerApp, "action_suspend_process", lambda _: suspended.append(True))
    async with stage() as held:
        await held.press("ctrl+z", rounds=0)
        assert suspended == [True]
    host = FakeHost()
    async with stage(host=host, detacher=FakeDetacher()) as held:
        await held.press("ctrl+z", rounds=0)
        assert suspended == [True]
        assert isinstance(held.app.screen, AskQuitScreen)
        assert "the console and its crawl would stop" in held.text()
        assert "d Detach" in held.text()
        await held.press("escape", rounds=0)
        assert not host.stops


async def test_a_signal_takes_the_same_path_and_decides_the_status() -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        held.app.way_out.begin(143)
        await held.engine_over()
        await held.gone()
    assert host.stops == [DRAIN_MS]
    assert held.app.return_value is not None
    assert held.app.return_value.exit_status == 143


async def test_a_terminal_that_went_away_ends_it_once() -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        held.app.way_out.terminal_went_away()
        held.app.way_out.terminal_went_away()
        await held.engine_over()
        await held.gone()
    assert host.stops == [DRAIN_MS]
    assert held.app.return_value is not None
    assert held.app.return_value.exit_status == 129


async def test_an_engine_that_comes_second_leaves_the_console_attached_to_the_run_that_came_first() -> None:
    held_by = RunHeld("another run holds this database: process 12 on host \x1b[2Jreef")
    async with stage(host=FakeHost(failure=held_by)) as held:
        await held.engine_over()
        await held.settle()
        assert "● attached" in held.text()
        assert "process 12 on host \\x1b[2Jreef" in held.text()
        assert "failed:" not in held.text()
        await held.press("q", rounds=0)
        await held.gone()
    assert held.app.return_value is not None
    assert held.app.return_value.exit_status == 0


async def test_a_failing_engine_is_a_state_not_a_traceback() -> None:
    for failure, words in (
        (StorageFailure("database or disk is full"), "database or disk is full"),
        (ZeroDivisionError("oh"), "ZeroDivisionError: oh"),
    ):
        async with stage(host=FakeHost(failure=failure)) as held:
            await held.engine_over()
            await held.settle()
            text = held.text()
            assert "✗ engine failed" in text
            assert words in text
            assert "api.example.org" in text
            await held.press("q", rounds=0)
            await held.gone()
        assert held.app.return_value is not None
        assert held.app.return_value.exit_status == 3


async def test_a_run_that_ends_by_itself_leaves_the_console_open() -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        host.end.set()
        await held.engine_over()
        await held.settle()
        assert "■ stopped" in held.text()
        assert held.app.is_running


async def test_the_engine_is_woken_by_a_wish() -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        await held.press("p")
        await held.decided()
        assert host.wakes == 1


async def test_a_crash_of_the_screen_stops_the_engine() -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        held.app.exit()
        await held.quiet()
    assert host.stops == [DRAIN_MS]


def test_the_summary_is_plain_and_safe() -> None:
    totals = TotalsView(1, 2, 3, 4, 5, 6, 7_000, 8)
    run = run_view(config_name="my\x1b]0;x\x07", live=False, finish_reason="exhausted", finished_at=NOW, requests=66)
    summary = ExitSummary(run=run, totals=totals, gave_up=(f"{API}\u202e",), now=1_767_609_667_000)
    text = "\n".join(summary.lines())
    assert "my\\x1b]0;x\\x07: finished after 00:42:09 and 66 turns with a request; 2 pages wait for the next." in text
    assert "In all runs: 6 requests, 7.0 KB; pages: 3 done, 4 failed, 5 blocked, 2 pending." in text
    assert "\\u202e" in text
    assert text.isprintable() or all(char.isprintable() or char == "\n" for char in text)
    assert summary.exit_status == 0  # this console hosted no engine
    assert ExitSummary(hosted=True, gave_up=("x",)).exit_status == 1
    assert ExitSummary(hosted=True, engine_failure="held").exit_status == 3


async def test_a_database_that_cannot_be_read_backs_off_and_is_shown_as_stale() -> None:
    reports = FakeReports()
    async with stage(reports=reports) as held:
        reports.failure = "database is locked"
        await held.settle(1)
        assert "The database cannot be read: database is locked" in held.text()
        held.clock.move(4_000)
        held.app.beat()
        await held.quiet()
        assert "⚠ stale 4 s" in held.text()
        reports.failure = ""
        await held.settle(3, move_ms=6_000)
        assert "stale" not in held.text()


async def test_a_reading_that_hangs_is_shown_as_stale_and_nothing_piles_up() -> None:
    async with stage() as held:
        held.reports.gate = threading.Event()
        held.reports.asked.clear()
        held.clock.move(200)
        held.app.beat()
        for _ in range(5):
            held.clock.move(1_000)
            held.app.beat()
            await held.quiet()
        assert "⚠ stale 5 s" in held.text()
        assert held.reports.asked == []
        await held.press("j", rounds=0)
        held.app.taken_in.clear()
        held.reports.gate.set()
        await held.app.taken_in.wait()
        await held.settle(4)
        assert "stale" not in held.text()


async def test_new_work_starts_the_engine_of_an_ended_run_again_and_a_pause_does_not() -> None:
    host = FakeHost()
    async with stage(host=host) as held:
        host.end.set()
        await held.engine_over()
        assert held.app.hosting.phase is EnginePhase.ended
        host.end.clear()
        host.started.clear()
        await held.press("p")
        await held.decided()
        assert held.app.hosting.phase is EnginePhase.ended
        await held.press("origin.top_up")
        await held.decided()
        assert held.app.hosting.phase is EnginePhase.running
        host.end.set()


class Untimely:
    """Does something when the widgets of a screen have gone, but the screen itself has not."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, app: StageApp, late: Callable[[StageApp], None]) -> None:
        self.gone = False
        self.failure: Exception | None = None

        def went(screen: OverviewScreen) -> None:
            self.gone = not screen.children
            try:
                late(app)
            except Exception as error:
                self.failure = error

        monkeypatch.setattr(OverviewScreen, "on_unmount", went, raising=False)


@pytest.mark.parametrize(
    "late",
    [
        lambda app: CrawlerApp.on_crawler_app_delivered(app, app.Delivered(app.answered)),
        lambda app: CrawlerApp.on_crawler_app_delivered(app, app.Delivered(ReadFailed("disk I/O error"))),
        lambda app: CrawlerApp.on_crawler_app_engine_ended(
            app, app.EngineEnded(EngineEnd("crash", "the engine failed"))
        ),
        lambda app: CrawlerApp.on_crawler_app_signal_caught(app, app.SignalCaught(143)),
        lambda app: app.dispatcher.do("view.urls"),
        lambda app: app.dispatcher.do("app.quit"),
        lambda app: app.tell("database", "too late", "error"),
        lambda app: app.beat(),
    ],
    ids=["rows", "failure", "engine", "signal", "view", "quit", "notice", "beat"],
)
async def test_what_comes_while_the_screens_are_taken_down_is_let_be(
    monkeypatch: pytest.MonkeyPatch, late: Callable[[StageApp], None]
) -> None:
    async with stage() as held:
        assert isinstance(held.app.answered, Snapshot)
        untimely = Untimely(monkeypatch, held.app, late)
    assert untimely.gone
    assert untimely.failure is None
