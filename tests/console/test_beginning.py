"""The beginning of a run: who hosts the engine is told that it starts until the run is there, and no rows belie it."""

from __future__ import annotations

from dataclasses import replace

from tests.console.sample_crawl import NOW, origins, run_view
from tests.console.support import FakeHost, FakeReports, FrozenClock, stage
from tui_crawler.console.operator.engine_host import HostedEngine
from tui_crawler.console.reading.ask import ReadingRequest
from tui_crawler.console.reading.refresh import ORIGINS, SnapshotReader
from tui_crawler.domain.records.view import RunView

ENDED = run_view(run_id=6, live=False, finished_at=NOW - 1, finish_reason="exhausted")
NONE_YET = "no run has started yet"


class Beginning(FakeReports):
    """A database in which a run begins after the run was read, and before the origins are."""

    def run(self) -> RunView | None:
        before = super().run()
        if not self.rows:
            self.newest_run = run_view()
            self.commit(*origins())
        return before


def beginning(run: RunView | None) -> FakeReports:
    return FakeReports(rows={}, log=(), newest_run=run)


async def test_a_hosted_run_starts_until_its_row_is_there() -> None:
    reports, host = beginning(None), FakeHost()
    async with stage((120, 40), reports=reports, host=host) as held:
        assert host.started.is_set()
        assert "◐ starting" in held.text()
        assert "The crawl is starting." in held.text()
        assert "No origins yet" not in held.text()
        assert NONE_YET not in held.text()
        reports.newest_run = run_view()
        reports.commit(*origins())
        await held.settle(3, 500)
        assert "www.example.com" in held.text()
        assert "▶ running" in held.text()
        assert "starting" not in held.text()
        assert NONE_YET not in held.text()


async def test_the_end_of_the_run_before_is_no_reason_why_nothing_moves() -> None:
    reports, host = FakeReports(newest_run=ENDED), FakeHost()
    async with stage((120, 40), reports=reports, host=host) as held:
        assert "◐ starting" in held.text()
        assert "the run ended" not in held.text()
        reports.newest_run = run_view()
        reports.commit()
        await held.settle(2, 250)
        assert "▶ running" in held.text()


async def test_without_a_host_it_is_said_that_none_has_started() -> None:
    async with stage((120, 40), reports=beginning(None)) as held:
        assert "○ idle" in held.text()
        assert NONE_YET in held.text()
        assert "No origins yet" in held.text()


def test_an_engine_whose_run_was_seen_does_not_start_again_when_that_ends() -> None:
    room = HostedEngine(FakeHost())
    assert room.standing(None).starting
    room.started()
    assert room.standing(ENDED).starting
    assert room.standing(run_view()).mark.word == "running"
    over = replace(run_view(), live=False, finished_at=NOW, finish_reason="exhausted")
    assert room.standing(over).mark.word == "running", "its end is told by the engine itself"
    room.started()
    assert room.standing(over).starting, "it goes on"


def test_origins_never_come_without_the_run_they_are_of() -> None:
    clock = FrozenClock()
    reports = Beginning(rows={}, log=(), newest_run=None)
    shot = SnapshotReader(reports, clock).read(ReadingRequest((ORIGINS,)))
    assert len(shot.parts[ORIGINS]) == 11
    assert shot.run == run_view()


def test_a_run_is_read_with_the_first_commit_of_it_however_short_ago_the_last_look_was() -> None:
    clock = FrozenClock()
    reports = beginning(None)
    reader = SnapshotReader(reports, clock)
    first = reader.read(ReadingRequest((ORIGINS,)))
    assert first.run is None
    clock.move(10)
    reports.newest_run = run_view()
    reports.commit(*origins())
    shot = reader.read(ReadingRequest((ORIGINS,)))
    assert shot.run == run_view()
