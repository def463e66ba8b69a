"""The politeness over time: the lane, the cursor, spans, following; and how a lane is drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from tests.console.sample_crawl import API, MINUTE, NOW, SECOND, WWW, run_view
from tests.console.sample_timeline import LIMITED, timeline
from tests.console.support import FakeReports, Stage, stage
from tui_crawler.console.origin.screen import OriginScreen
from tui_crawler.console.timeline.lanes import LanePane
from tui_crawler.console.timeline.screen import TimelineScreen
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.history.timeline import LaneEvent, LaneMark
from tui_crawler.text.charts import Dots
from tui_crawler.text.timeline import LABEL, cell_words, kept_words, lane, mark_words

HOUR_SPAN = TimeSpan(NOW - 60 * MINUTE, NOW, 100)


async def open_timeline(held: Stage, *keys: str) -> TimelineScreen:
    held.table("#origins").move_cursor(key=API)
    await held.press(*keys, "timeline.open", rounds=3)
    screen = held.app.screen
    assert isinstance(screen, TimelineScreen)
    return screen


async def test_the_origin_under_the_cursor_has_a_lane() -> None:
    async with stage((120, 40)) as held:
        await open_timeline(held)
        text = held.text()
        assert "Politeness · api.example.org · kept 673 of 673 · min gap 2.0s, required 2.0s" in text
        assert "✗" in next(line for line in text.split("\n") if "requests" in line)
        held.sees("run 42m · follow ●", "log scale", "Origins › Politeness")
        await held.press("enter", rounds=2)
        assert isinstance(held.app.screen, OriginScreen)
        await held.press("timeline.open", "left", rounds=2)
        lane_here = held.app.screen.query_one("#lane", LanePane)
        assert lane_here.has_focus and lane_here.cursor is not None
        assert "Politeness (log scale) · kept 673 of 673" in held.text()
        assert " requests · " in str(lane_here.border_subtitle)
        await held.press("timeline.open", rounds=2)
        assert "Origins › api.example.org › Politeness" in held.text()


async def test_a_young_run_is_seen_in_a_span_as_short_as_it_is_old() -> None:
    reports = FakeReports(newest_run=replace(run_view(), started_at=NOW - 90 * SECOND))
    async with stage((80, 24), reports=reports) as held:
        await open_timeline(held)
        assert "run 2m · follow ●" in held.text()
        await held.press("+", rounds=1)
        assert "span 5m" in held.text(), "until another one is chosen"


async def test_a_lane_alone_has_all_the_room_and_at_80_columns_no_words_are_cut() -> None:
    async with stage((200, 60)) as held:
        screen = await open_timeline(held)
        pane = screen.lane
        listed = screen.query_one("#lane-marks")
        assert listed.region.height == len(pane.timeline.marks if pane.timeline else ())
        assert pane.region.height >= 40
        await held.pilot.resize_terminal(80, 24)
        await held.settle(2)
        screen.action_move_to(screen.lane.timeline.span.cell(LIMITED) if screen.lane.timeline else 0)
        await held.settle(1)
        held.sees("kept 673 of 673 · min gap 2.0s, required 2.0s", "delay 2.0s → 3m00s: Retry-After")


async def test_on_a_narrow_screen_the_lane_of_an_origin_has_a_screen_of_its_own() -> None:
    async with stage((80, 24)) as held:
        held.table("#origins").move_cursor(key=API)
        await held.press("enter", rounds=3)
        await held.act("timeline.open", rounds=3)
        assert isinstance(held.app.screen, TimelineScreen)


async def test_the_cursor_says_what_was_and_why() -> None:
    async with stage((120, 40)) as held:
        screen = await open_timeline(held)
        shown = screen.lane.timeline
        assert shown is not None
        screen.action_move_to(shown.span.cell(LIMITED + MINUTE))
        await held.settle(1)
        held.sees("0 requests · delay 3m00s · Retry-After", "patience 5 · ◷ waiting", "follow ○")
        await held.press("pulse.follow", rounds=1)
        assert "follow ●" in held.text()


async def test_spans_are_longer_and_shorter_around_the_cursor_and_move_with_it() -> None:
    async with stage((120, 40)) as held:
        screen = await open_timeline(held)
        await held.press("-", "-", rounds=2)
        assert "span 5m" in held.text()
        before = screen.lane_span(100)
        await held.press("home", "left", rounds=2)
        after = screen.lane_span(100)
        assert after.until - after.since == before.until - before.since
        assert after.since < before.since <= after.until
        await held.press("-", "-", "-", rounds=1)
        assert "span 1m" in held.text()
        await held.press(*"+++++++++++++", rounds=1)
        assert "span 30d" in held.text()
        await held.press("pulse.follow", "end", "right", rounds=1)
        assert "follow ●" in held.text(), "beyond the present it follows again"


async def test_held_still_nothing_is_read_and_at_rest_it_ends_with_the_run() -> None:
    async with stage((120, 40)) as held:
        screen = await open_timeline(held)
        await held.press("f", rounds=1)
        screen.tick()
        await held.quiet()
        assert "‖ frozen" in held.text()
        assert screen.wants() == ()
        await held.press("f", rounds=1)
        assert screen.wants() != ()
        held.clock.move(10 * MINUTE)
        assert screen.lane_span(100).until > NOW + 9 * MINUTE


@pytest.mark.parametrize("height", range(1, 16))
@pytest.mark.parametrize("dots", Dots)
def test_a_lane_has_the_size_that_is_asked_for(height: int, dots: Dots) -> None:
    drawn = lane(timeline(API, HOUR_SPAN), height, dots=dots, cursor=40)
    assert len(drawn) == min(height, len(drawn)) <= height
    assert {cell_len("".join(text for text, _ in line)) for line in drawn} == {100 + LABEL}
    assert dots is not Dots.ascii or all(text.isascii() for line in drawn for text, _ in line)


def test_a_lane_in_text() -> None:
    text = ["".join(piece for piece, _ in line).rstrip() for line in lane(timeline(WWW, HOUR_SPAN), 6)]
    assert text[0].startswith("    1.2s┤")
    assert "‖‖‖" in text[-1]
    assert cell_words(timeline(WWW, HOUR_SPAN), 78).endswith("patience 5 · ‖ paused")
    assert kept_words(timeline(API, TimeSpan(0, 1_000, 3))) == "kept 0 of 0"


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (LaneMark(1, LaneEvent.slower, 1_000, 180_000, "retry_after"), "delay 1.0s → 3m00s: Retry-After"),
        (LaneMark(1, LaneEvent.slower, 1_000, 4_000, "default"), "delay 1.0s → 4.0s"),
        (LaneMark(1, LaneEvent.slower, 1, 2_000, "\x1b[2J"), "delay 1ms → 2.0s: \\x1b[2J"),
        (LaneMark(1, LaneEvent.impatient, 5, 4, "request_timeout"), "patience 5 → 4: request_timeout"),
        (LaneMark(1, LaneEvent.takeover), "another worker took over"),
        (LaneMark(1, LaneEvent.next_run, 1, 2), "run 2"),
        (LaneMark(1, LaneEvent.pause_begun), "paused"),
        (LaneMark(1, LaneEvent.pause_over), "resumed"),
        (LaneMark(1, LaneEvent.origin_over, reason="patience"), "out of patience"),
        (LaneMark(1, LaneEvent.broken_promise, 1_000, 400), "gap 400ms, required 1.0s"),
        (LaneMark(1, LaneEvent.broken_promise, 1_000, -40), "overlap of 40ms, required 1.0s"),
    ],
)
def test_what_happened_in_words(mark: LaneMark, words: str) -> None:
    assert mark_words(mark) == words
