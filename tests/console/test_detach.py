"""Leaving a console whose run goes on: what is handed over, what keeps it here, and what is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.console.sample_crawl import NOW, run_view
from tests.console.support import GONE, FakeDetacher, FakeHost, Stage, stage
from tui_crawler.console.action import Need, Situation, Topic, Where, why_not
from tui_crawler.console.actions import ACTIONS
from tui_crawler.console.operator.detach import Departure
from tui_crawler.console.operator.engine_host import DRAIN_MS, GRACE_MS, EnginePhase
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.domain.records.failure import StorageFailure


class InterruptedHost(FakeHost):
    """Ends as a run does that was told to, or as `reason` says."""

    reason = "interrupted"

    def run(self) -> str:
        super().run()
        return self.reason


def hosting(detacher: FakeDetacher | None, host: FakeHost | None = None) -> Any:
    return stage(host=host or InterruptedHost(), detacher=detacher)


def left(held: Stage) -> ExitSummary:
    summary = held.app.return_value
    assert summary is not None
    return summary


async def test_the_run_is_handed_over_when_the_engine_has_ended() -> None:
    detacher = FakeDetacher()
    async with hosting(detacher) as held:
        await held.press("Q", rounds=0)
        await held.gone()
    assert held.host is not None
    assert held.host.stops == [DRAIN_MS]
    assert detacher.starts == 1
    summary = left(held)
    assert summary.departure == GONE
    assert summary.exit_status == 0
    assert "continues after" in summary.lines()[0]
    assert summary.lines()[-3:] == GONE.lines()


async def test_the_countdown_says_so_and_q_still_cancels() -> None:
    detacher = FakeDetacher()
    detacher.gate.clear()
    async with hosting(detacher, InterruptedHost(obeys=False)) as held:
        await held.press("Q", rounds=0)
        held.app.beat()
        await held.quiet()
        assert "Detaching" in held.text()
        assert "Finishing 12 requests… 5.0s" in held.text()
        assert detacher.starts == 0
        await held.press("q", rounds=0)
        await held.engine_over()
        assert held.host is not None
        assert held.host.stops == [DRAIN_MS, 0]
        held.clock.move(DRAIN_MS + GRACE_MS)  # the start has a time limit of its own
        held.app.beat()
        await held.quiet()
        assert "Starting the crawl as its own process" in held.text()
        assert held.app.is_running
        detacher.gate.set()
        await held.gone()
    assert left(held).departure == GONE


async def test_d_in_the_countdown_and_in_the_question_detaches() -> None:
    for keys in (("q", "d"), ("ctrl+c", "d"), ("ctrl+c", "tab", "enter")):
        detacher = FakeDetacher()
        host = InterruptedHost(obeys=False)
        async with hosting(detacher, host) as held:
            for key in keys:
                await held.press(key, rounds=0)
            host.end.set()
            await held.gone()
        assert detacher.starts == 1, keys
        assert left(held).departure == GONE


async def test_the_countdown_and_the_question_offer_only_what_is_possible() -> None:
    for detacher in (None, FakeDetacher(hindrance="the demo web ends with this console")):
        async with hosting(detacher, InterruptedHost(obeys=False)) as held:
            await held.press("Q", rounds=0)
            assert "detach: " in held.text()
            assert held.host is not None
            assert held.host.stops == []
            await held.press("ctrl+c", rounds=0)
            assert "Detach" not in held.text()
            await held.press("d", rounds=0)
            assert "Quit?" in held.text()
            await held.press("y", rounds=0)
            await held.press("d", rounds=0)
            assert "keep crawling" not in held.text()
            held.host.end.set()
            await held.gone()
        assert left(held).departure is None
        assert detacher is None or detacher.starts == 0


async def test_the_question_fits_the_smallest_screen() -> None:
    async with stage((40, 10), host=InterruptedHost(), detacher=FakeDetacher()) as held:
        await held.press("ctrl+c", rounds=0)
        assert "q Quit    d Detach    esc Stay" in held.text()


async def test_a_run_that_cannot_be_started_stays_and_goes_on_here() -> None:
    detacher = FakeDetacher(failure="database \x1b[2Jis full")
    host = InterruptedHost()
    async with hosting(detacher, host) as held:
        await held.press("Q", rounds=0)
        await held.engine_over()
        host.end.clear()
        host.started.clear()
        await held.settle(3)
        assert "The crawl stays here: database \\x1b[2Jis full" in held.text()
        assert "Detaching" not in held.text()
        assert held.app.hosting.phase is EnginePhase.running
        assert not held.app.hosting.quitting
        await held.press("q", rounds=0)
        await held.gone()
    assert host.stops == [DRAIN_MS, DRAIN_MS]
    assert left(held).departure is None


async def test_a_signal_ends_the_crawl_but_a_closed_terminal_does_not() -> None:
    for status, starts in ((143, 0), (130, 0), (129, 1)):
        detacher = FakeDetacher()
        host = InterruptedHost(obeys=False)
        async with hosting(detacher, host) as held:
            await held.press("Q", rounds=0)
            held.app.way_out.begin(status)
            await held.gone()
        assert detacher.starts == starts
        assert left(held).exit_status == status


@pytest.mark.parametrize("reason", ["exhausted", "operator"])
async def test_nothing_is_handed_over_when_nothing_is_left(reason: str) -> None:
    detacher = FakeDetacher()
    host = InterruptedHost()
    host.reason = reason
    async with hosting(detacher, host) as held:
        await held.press("Q", rounds=0)
        await held.gone()
    assert detacher.starts == 0
    assert left(held).engine_reason == reason


async def test_an_attached_console_just_leaves() -> None:
    for readonly in (False, True):
        async with stage(readonly=readonly) as held:
            await held.press("Q", rounds=0)
            await held.gone()
        assert left(held).exit_status == 0
        assert left(held).departure is None


def test_where_it_runs_is_told_in_safe_lines() -> None:
    text = "\n".join(Departure(1, "/a\x1b]0;x\x07.log", "tui-crawler --db '/a\u202e'", "tui-crawler stop").lines())
    assert "\\x1b]0;x\\x07" in text
    assert "\\u202e" in text


async def test_what_was_committed_a_moment_before_the_end_is_in_the_summary() -> None:
    host = InterruptedHost(obeys=False)
    async with stage(host=host) as held:
        await held.press("q", rounds=0)
        held.clock.move(1)  # long before the next reading of the run is due
        held.reports.newest_run = run_view(run_id=8, live=False, finish_reason="interrupted", finished_at=NOW)
        held.reports.commit()
        host.end.set()
        await held.gone()
    assert left(held).run == held.reports.newest_run


async def test_a_database_that_takes_nothing_is_told_on_top_and_at_the_end() -> None:
    host = InterruptedHost()
    host.reason = "exhausted"
    async with stage(host=host) as held:
        host.trouble = "the disk is full: \x1b[2J/data/crawl.db takes no more"
        await held.settle(2)
        assert "▶ running   the disk is full: \\x1b[2J/data" in held.text()
        host.end.set()
        await held.engine_over()
        await held.settle(2, move_ms=1_000)
        assert "■ stopped   the disk is full" in held.text()
        await held.press("q", rounds=0)
        await held.gone()
    summary = left(held)
    assert summary.exit_status == 1
    assert "ended early" in summary.lines()[0]
    assert "The database failed: the disk is full: \\x1b[2J" in summary.lines()[1]


async def test_a_long_reason_leaves_room_for_the_engine_that_failed() -> None:
    async with stage(host=FakeHost(failure=StorageFailure("/a/long/path" * 20))) as held:
        await held.engine_over()
        await held.settle(2, move_ms=1_000)
        assert "✗ engine failed  /a/long/path" in held.text()


async def test_an_attached_console_tells_at_the_end_that_it_could_not_read() -> None:
    async with stage() as held:
        held.reports.failure = "the database was deleted"
        await held.settle(1)
        await held.press("q", rounds=0)
        await held.gone()
    assert "The database failed: the database was deleted" in left(held).lines()
    assert left(held).exit_status == 0


def test_a_run_that_was_broken_off_is_called_so() -> None:
    dead = run_view(live=False, finish_reason="", finished_at=0)
    (told, *_) = ExitSummary(run=dead, now=NOW).lines()
    assert ": crawler died after " in told
    assert told.endswith("; the next start continues it.")


def test_everything_that_changes_the_crawl_says_why_a_console_that_only_watches_cannot() -> None:
    watching = Situation(Where.overview, hindrances={Need.writer: lambda: "this console is read-only"})
    changing = [action for action in ACTIONS if action.group is Topic.crawl]
    assert len(changing) > 20
    assert {why_not(action, watching) for action in changing} == {"this console is read-only"}
