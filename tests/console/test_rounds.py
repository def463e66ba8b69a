"""How fast the console refreshes: slower while taking in and painting cost too much, shown beside the clock."""

from __future__ import annotations

from dataclasses import replace

from tests.console.sample_crawl import WWW
from tests.console.support import Stage, stage
from tui_crawler.console.panes.header import HeaderState, header_line
from tui_crawler.console.panes.line import Split
from tui_crawler.console.reading.poll_loop import ReadFailed
from tui_crawler.text.cells import cell_text
from tui_crawler.text.glyphs import state_mark


async def rounds(held: Stage, number: int, move_ms: int = 600) -> None:
    """Rounds in which something has changed, so that something is painted."""
    for _ in range(number):
        view = held.reports.rows[WWW]
        held.reports.commit(replace(view, done=view.done + 1))
        await held.settle(1, move_ms)
        await held.quiet()  # what a round costs is known once it is painted


async def test_rounds_that_cost_too_much_slow_it_down_and_calm_brings_it_back() -> None:
    async with stage((120, 30)) as held:
        pace = held.app.poll_timer
        await rounds(held, 2)
        assert pace.pace.hz == 10
        assert "/s slowed" not in held.text()
        held.clock.round_costs = 30
        await rounds(held, 1)
        assert pace.pace.hz == 10  # one slow round is a hiccup
        await rounds(held, 4)
        assert pace.pace.hz == 2
        assert "↻ 2/s slowed" in held.text()
        held.clock.round_costs = 0
        await rounds(held, 45)
        assert pace.pace.hz == 10
        assert "/s slowed" not in held.text()


async def test_a_slowed_console_waits_longer_before_it_reads() -> None:
    async with stage((120, 30)) as held:
        held.clock.round_costs = 60
        await rounds(held, 4)
        assert held.app.poll_timer.pace.hz == 2
        held.clock.move(300)
        held.app.beat()
        assert not held.app.poll_timer.under_way
        held.clock.move(300)
        held.app.beat()
        assert held.app.poll_timer.under_way
        await held.settle(1)


async def test_the_first_picture_of_a_screen_does_not_slow_it_down() -> None:
    async with stage((120, 30)) as held:
        await rounds(held, 1)
        await held.pilot.pause()
        held.app.poll_timer.new_screen = True
        held.clock.round_costs = 500
        await rounds(held, 1)
        await held.pilot.pause()
        assert held.app.poll_timer.pace.hz == 10


async def test_what_is_wanted_soon_does_not_wait_for_the_pace() -> None:
    async with stage((120, 30)) as held:
        held.clock.round_costs = 60
        await rounds(held, 4)
        held.app.read_soon()
        held.app.beat()
        assert held.app.poll_timer.under_way
        await held.settle(1)


async def test_a_reading_that_fails_is_told_once_and_holds_no_pace_against_the_screen() -> None:
    async with stage((120, 30)) as held:
        for _ in range(3):
            held.app.poll_timer.begin(ReadFailed("no such table"))
            held.app.poll_timer.end(0, painted=False)
        assert held.app.poll_timer.failure == "no such table"
        assert held.app.poll_timer.pace.failures == 3
        assert [notice.label for notice in held.app.notices] == ["The database cannot be read: no such table"]


def test_the_header_says_it_before_it_drops_what_matters_less() -> None:
    def header(hz: int, width: int) -> str:
        state = HeaderState("my-index", state_mark("crawling"), hz=hz)
        line = header_line(state, width)
        assert isinstance(line, Split)
        return cell_text(line.left) + cell_text(line.right)

    assert "slowed" not in header(10, 120)
    assert "↻ 5/s slowed" in header(5, 120)
    assert "↻ 2/s slowed" in header(2, 60)
