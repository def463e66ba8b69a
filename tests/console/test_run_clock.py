"""The clock of a run in the header: how long it has worked."""

from __future__ import annotations

from dataclasses import replace

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import NOW, run_view
from tests.console.support import FrozenClock
from tui_crawler.console.operator.engine_host import HostedEngine
from tui_crawler.console.reading.ask import ReadingRequest
from tui_crawler.console.reading.refresh import TOTALS as ASKED_TOTALS
from tui_crawler.console.reading.refresh import Snapshot
from tui_crawler.console.reading.snapshot import EngineStanding, LiveState
from tui_crawler.domain.history.idle_reason import SILENT_MS
from tui_crawler.domain.records.view import RunView
from tui_crawler.text.glyphs import StateGlyph

_ENGINE = EngineStanding(StateGlyph("▶", "running", "active"))
TOTALS = FakeReports().totals()


def test_the_clock_of_a_run_does_not_go_back_when_its_engine_is_killed() -> None:
    clock = FrozenClock()
    picture = LiveState(clock, HostedEngine(None))

    def worked(run: RunView) -> int:
        picture.feed(Snapshot(ReadingRequest(), 1, run, {ASKED_TOTALS: TOTALS}))
        return picture.header("", _ENGINE, hz=10, stale_ms=0).worked_ms

    run = run_view(started_at=NOW - 60_000, heartbeat_at=NOW - 5_000, worked_ms=55_000)
    assert worked(run) == 60_000
    killed = replace(run, live=False)
    assert worked(killed) == 60_000, "it was seen at work, whatever its last heartbeat says"
    clock.move(10_000)
    assert worked(killed) == 60_000
    goes_on = replace(run, heartbeat_at=clock.wall)
    assert worked(goes_on) == 60_000
    clock.move(6_000)
    assert worked(goes_on) == 61_000
    assert worked(replace(goes_on, run_id=8, worked_ms=0, heartbeat_at=clock.wall)) == 0
    clock.move(86_400_000)
    assert worked(goes_on) <= 55_000 + SILENT_MS, "a clock that was set is no work"
