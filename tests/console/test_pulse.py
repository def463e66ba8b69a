"""View 7: what is drawn at each size, the cursor that reads all charts, spans, what it is of, and what enter opens."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC

import pytest
from rich.cells import cell_len

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, NOW, attempts, run_view
from tests.console.sample_pulse import BEGAN, pulse
from tests.console.support import Stage, stage
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.logs.screen import LogsScreen
from tui_crawler.console.origin.screen import OriginScreen
from tui_crawler.console.panes.bars import HeaderBar
from tui_crawler.console.pulse.chart_pane import ChartPane
from tui_crawler.console.pulse.rows import Charts, drawn, marks_of
from tui_crawler.console.pulse.screen import PulseScreen
from tui_crawler.console.pulse.wall import WallLine, pace_cell
from tui_crawler.domain.history.pulse import HOUR_MS, MINUTE_MS, LatencyPhase, PulseCount, PulseOf, PulseScope
from tui_crawler.text.cells import cell_text
from tui_crawler.text.charts import Dots
from tui_crawler.text.format import count, rate


def screen_of(held: Stage) -> PulseScreen:
    screen = held.app.screen
    assert isinstance(screen, PulseScreen)
    return screen


def shown(held: Stage) -> list[str]:
    return [pane.chart_id for pane in held.app.screen.query(ChartPane) if pane.display]


def reading(held: Stage) -> str:
    return held.app.screen.query_one("#pulse-reading").text  # type: ignore[attr-defined]


def says(held: Stage, chart_id: str) -> str:
    """What a chart says beside what it draws: in its title, or above the picture where that has no room."""
    pane = next(pane for pane in held.app.screen.query(ChartPane) if pane.chart_id == chart_id)
    return f"{pane._border_title} {' '.join(pane.text.split(chr(10))[:3])}"


def asked(reports: FakeReports) -> str:
    return [one for one in reports.asked if one.startswith("pulse")][-1]


# what is drawn of a pulse


@pytest.mark.parametrize("dots", Dots)
@pytest.mark.parametrize("of", [PulseOf(), PulseOf(PulseScope.origin, API)])
def test_every_chart_is_as_wide_as_asked(dots, of):
    charts = Charts(pulse(of, NOW - HOUR_MS, MINUTE_MS, 60), NOW)
    assert len(charts.all) == (8 if of == PulseOf() else 4)
    for one in charts.all:
        for width, height in ((40, 6), (57, 9), (98, 12)):
            lines = ["".join(text for text, _ in line) for line in drawn(charts, one, width, height, dots, UTC, 7)]
            assert len(lines) == height
            assert {cell_len(line) for line in lines} == {width}


def test_rates_are_of_the_time_that_was_known_and_is_over():
    now = NOW + 20_000
    seen = pulse(PulseOf(), NOW - 4 * MINUTE_MS, MINUTE_MS, 8)
    counts = tuple(PulseCount(60, 60, 0, 600) if one is not None else None for one in seen.counts)
    charts = Charts(replace(seen, counts=counts, marks=()), now)
    assert charts.rates.pages[0] == 1.0
    known = [one for one in charts.rates.pages if one is not None]
    assert len(known) <= 6
    assert charts.rates.pages[charts.last] is not None
    assert charts.rates.pages[-1] is None, "the future"


def test_before_anything_is_known_there_is_nothing_to_say():
    charts = Charts(pulse(PulseOf(), BEGAN - HOUR_MS, MINUTE_MS, 60), NOW)
    assert charts.reading(3, UTC).endswith("no data")


def test_marks_say_who_did_what_and_begin_with_the_ends_of_the_span():
    seen = pulse(PulseOf(), NOW - HOUR_MS, MINUTE_MS, 60)
    marks = marks_of(seen, UTC, 60)
    assert [mark.share for mark in marks[:2]] == [0.0, 1.0]
    assert [mark.glyph for mark in marks[2:6]] == ["↻", "✎", "‖", "▶"]
    assert Charts(seen, NOW).marks_at(seen.span.nearest(BEGAN))[0].words == "run 7"


def test_latency_is_told_by_what_takes_it():
    seen = pulse(PulseOf(), NOW - HOUR_MS, MINUTE_MS, 60)
    whole, dns = Charts(seen, NOW), Charts(seen, NOW, LatencyPhase.dns)
    assert whole.rates.p50[40] > dns.rates.p50[40]
    assert next(one for one in dns.all if one.id == "latency").name == "Latency: name look-up"


# the view


@pytest.mark.parametrize(
    ("size", "number"), [((80, 24), 4), ((120, 40), 5), ((200, 60), 8), ((60, 20), 2), ((250, 70), 8)]
)
async def test_as_many_charts_as_have_room(size, number):
    async with stage(size, keys="6") as held:
        assert len(shown(held)) == number
        assert ("more" in reading(held)) == (number < 8)
        assert held.app.screen.query_one("#pulse-wall").display == (size >= (120, 40))


async def test_tab_shows_the_charts_that_have_no_room():
    async with stage((80, 24), keys="6") as held:
        first = ["pages", "latency", "failures", "states"]
        assert shown(held) == first
        await held.press(*["tab"] * 4, rounds=2)
        assert not set(shown(held)) & set(first)
        await held.press("shift+tab", rounds=2)
        assert shown(held) == first


async def test_one_cursor_reads_all_charts_and_the_span_moves_with_it():
    reports = FakeReports()
    async with stage((120, 40), reports=reports, keys="6") as held:
        assert "follow ●" in reading(held)
        await held.press(*["left"] * 16, rounds=2)
        assert "failed attempts: timeout" in reading(held)
        assert "follow ○" in reading(held)
        assert "network" in says(held, "failures") and "waiting" in says(held, "states")
        await held.press("home", "left", rounds=3)
        assert screen_of(held).span_end is not None, "the span has moved back"
        await held.press("pulse.follow", rounds=3)
        assert "follow ●" in reading(held)


async def test_the_span_is_changed_and_remembered():
    reports = FakeReports()
    async with stage((120, 40), reports=reports, keys="6") as held:
        assert asked(reports) == "pulse(crawl , 60000, 44)", "the run, in minutes"
        assert "run 42m · follow ●" in reading(held)
        await held.press("+", rounds=3)
        assert asked(reports) == "pulse(crawl , 60000, 61)"
        await held.press("-", rounds=3)
        assert "run 42m" in reading(held)
        await held.press("-", rounds=3)
        assert asked(reports) == "pulse(crawl , 10000, 91)"
        await held.press("1", "6", rounds=3)
        assert "span 15m" in reading(held)
        await held.press(*["+"] * 12, rounds=3)
        assert "span 30d" in reading(held)


async def test_it_is_of_what_is_named_at_the_prompt():
    reports = FakeReports()
    async with stage((120, 40), reports=reports) as held:
        await held.enter(f":pulse origin {API}", rounds=4)
        assert screen_of(held).crumbs() == ("Pulse", API)
        assert asked(reports).startswith(f"pulse(origin {API}")
        assert shown(held) == ["pages", "latency", "failures", "bytes"]
        await held.enter(":of job my-index", rounds=4)
        assert asked(reports).startswith("pulse(job my-index, 60000")
        await held.enter(":of nonsense", rounds=3)
        assert screen_of(held)._of == PulseOf(PulseScope.job, "my-index")
        await held.press("pulse.of", "enter", rounds=3)
        assert "job my-index" in reading(held) or "whole crawl" in reading(held)
        await held.enter(":of crawl", rounds=4)
        assert len(shown(held)) == 5


async def test_enter_opens_the_log_at_that_moment():
    async with stage((120, 40), keys="6") as held:
        await held.press("left", rounds=2)
        moment = screen_of(held).cursor_at
        await held.press("enter", rounds=6)
        assert isinstance(held.app.screen, LogsScreen)
        table = held.table("#log")
        line = held.app.screen._keyset.row(table.cursor_key)
        assert line is not None and moment is not None
        later = [one.ended_at for one in attempts() if one.ended_at >= moment]
        assert line.at <= moment or line.at == min(later), "the entry beside that moment"
        assert not held.app.screen._list.following
        await held.press("escape", rounds=2)
        assert isinstance(held.app.screen, PulseScreen)


async def test_latency_phases_and_freezing():
    async with stage((120, 40), keys="6") as held:
        await held.press("pulse.latency", rounds=2)
        titles = [str(pane.border_title) for pane in held.app.screen.query(ChartPane)]
        assert any("name look-up" in one for one in titles)
        await held.press("f", rounds=2)
        assert "frozen" in reading(held)
        await held.press("f", rounds=2)
        assert "frozen" not in reading(held)


async def test_nothing_is_read_while_it_is_hidden():
    reports = FakeReports()
    async with stage((120, 40), reports=reports, keys="6") as held:
        await held.press("1", rounds=2)
        before = len([one for one in reports.asked if one.startswith("pulse")])
        for _ in range(5):
            reports.commit()
            held.clock.move(2_000)
            await held.settle(2)
        assert len([one for one in reports.asked if one.startswith("pulse")]) == before


async def test_a_click_puts_the_cursor_there():
    async with stage((120, 40), keys="6") as held:
        await held.pilot.click("#chart-pages", offset=(30, 3))
        await held.settle(2)
        assert screen_of(held).cursor_at is not None


async def test_what_stands_after_the_word_is_completed_and_jobs_are_offered():
    async with stage((200, 60), keys="6") as held:
        prompt = held.app.dispatcher._prompt()
        assert prompt.complete("pulse j", screen_of(held)).words[0] == "job my-index"
        assert prompt.complete("pulse origin api", screen_of(held)).words == (f"origin {API}",)
        await held.press("pulse.of", rounds=3)
        assert "job my-index" in held.text()
        latency = held.app.screen_stack[-2].query_one("#chart-latency", ChartPane)
        spans = {str(span.style) for span in latency._border_title.spans}
        assert {"$role-ok", "$role-client"} <= spans, "each name in the colour of its line"


async def test_a_chart_that_says_nothing_of_a_moment_is_called_by_its_name(monkeypatch):
    reports = FakeReports()
    whole = reports.pulse
    monkeypatch.setattr(reports, "pulse", lambda of, span: replace(whole(of, span), gauges=(None,) * span.cells))
    async with stage((200, 60), reports=reports, keys="6", rounds=4) as held:
        await held.press(*["left"] * 20, rounds=1)
        assert str(held.app.screen.query_one("#chart-states").border_title).strip() == "Origins"


async def test_at_rest_the_span_ends_with_the_run_however_long_ago_that_was():
    over = replace(run_view(), live=False, finished_at=NOW - 10 * MINUTE_MS, finish_reason="exhausted")
    async with stage((120, 40), reports=FakeReports(newest_run=over), keys="6") as held:
        assert "run 32m" in reading(held)
        held.clock.move(HOUR_MS)
        await held.settle(4)
        span = screen_of(held).steps()
        assert span is not None and 0 < span.until - over.finished_at <= span.cell_ms
        assert "now" not in says(held, "pages") and "mean" in says(held, "pages")


# the wall of origins, and exit codes


async def test_the_wall_has_a_line_for_each_origin_and_opens_it():
    async with stage((120, 40), keys="6") as held:
        wall = held.table("#pulse-wall")
        assert wall.row_count == len(held.reports.rows)
        lines = [line for line in held.text().split("\n") if "api.example.org" in line]
        assert "✗✗✗✗" in lines[0] and "█" in lines[0] and "failing" in lines[0]
        await held.press("shift+tab", "j", rounds=2)
        assert wall.has_focus
        opened = wall.cursor_key
        await held.press("enter", rounds=3)
        assert isinstance(held.app.screen, OriginScreen)
        assert held.app.screen.crumbs()[-1] in str(opened)


async def test_the_wall_fills_the_screen_and_where_there_is_little_room_it_is_a_tab_away():
    async with stage((80, 24), keys="6") as held:
        assert not held.app.screen.query_one("#pulse-wall").display
        await held.press("shift+tab", rounds=3)
        assert held.table("#pulse-wall").has_focus and shown(held) == []
        held.sees(*("busy.example.io", "www.example.com"))
        await held.press("tab", rounds=3)
        assert shown(held)[0] == "pages" and not held.app.screen.query_one("#pulse-wall").display
    async with stage((120, 40), keys="6") as held:
        await held.enter(":wall", rounds=3)
        assert shown(held) == []
        await held.enter(":wall", rounds=3)
        assert len(shown(held)) == 5


async def test_the_exit_codes_of_the_run_are_those_the_header_counts():
    async with stage((120, 40), keys="6") as held:
        totals = held.reports.totals()
        held.sees(f"Exit codes of the run · {count(sum(number for _, number in totals.exit_codes))}", "✓ ingested")
        held.app.screen.query_one("#chart-exits").focus()
        await held.press("enter", rounds=3)
        assert isinstance(held.app.screen, FailuresScreen)


def test_a_pace_has_spaces_before_the_first_attempt_and_crosses_where_half_failed():
    view = FakeReports().rows[API]
    cell = pace_cell(WallLine(view, ((0, 0), (4, 0), (0, 0), (2, 1), (1, 0))))
    assert cell_text(cell) == " █·✗▃"


# what is so now


def says_what_the_header_says(held: Stage) -> tuple[str, ...]:
    """Asserts that the charts of what waits and of states have the numbers of the header; returns these."""
    header = held.app.screen.query_one(HeaderBar).kept[0]
    assert header.totals is not None
    if any(pane.chart_id == "queue" and pane.display for pane in held.app.screen.query(ChartPane)):
        words = f"pending {count(header.totals.pending)}  ⠤ todo {count(header.totals.todo)}"
        assert words in says(held, "queue")
    counted = sorted(f"{word} {number}" for word, number in header.tally.items() if number)
    if header.requests_per_s is not None:
        assert f"now {rate(header.requests_per_s)} mean" in says(held, "pages")
    told = says(held, "states")
    assert all(words in told for words in counted), told
    return (str(header.totals.pending), *counted)


@pytest.mark.parametrize(("size", "view"), [((120, 40), "6"), ((200, 60), "6")], ids=str)
async def test_what_waits_and_how_origins_stand_is_said_as_the_header_has_it(size: tuple[int, int], view: str) -> None:
    async with stage(size) as held:
        await held.press(view, rounds=4)
        first = held.reports.rows[API]
        seen = {says_what_the_header_says(held)}
        for step, state in enumerate(("WAITING", "BUSY", "FINISHED", "WAITING"), 1):
            reason = "exhausted" if state == "FINISHED" else ""
            changed = replace(first, state=state, finish_reason=reason, pending=151 + step, todo=7 * step, patience=5)
            await held.commit(changed, rounds=3, move_ms=130)
            seen.add(says_what_the_header_says(held))
        assert len(seen) == 5
        await held.settle(2, move_ms=MINUTE_MS)  # the next step of the span
        says_what_the_header_says(held)


async def test_a_cursor_in_the_past_reads_the_gauges_of_then() -> None:
    async with stage((120, 40), keys="6") as held:

        def pending() -> list[str]:
            return re.findall(r"pending [0-9 ]+", says(held, "queue"))

        present = pending()
        await held.press(*["left"] * 20, rounds=1)
        then = pending()
        assert then != present
        await held.commit(replace(held.reports.rows[API], pending=1), rounds=3)
        assert pending() == then
        await held.press("pulse.follow", rounds=2)
        says_what_the_header_says(held)


def test_the_newest_step_of_gauges_is_what_is_counted_now() -> None:
    seen = pulse(PulseOf(), NOW - HOUR_MS, MINUTE_MS, 61)
    past = pulse(PulseOf(), NOW - 3 * HOUR_MS, MINUTE_MS, 60)
    for span, follows in ((seen, True), (past, False)):
        charts = Charts(span, NOW)
        queue = next(one for one in charts.all if one.id == "queue")
        charts.tell({"todo": 7, "pending": 151})
        told = next(one for one in charts.all if one.id == "queue")
        assert ("151" in told.says(charts.last)) is follows
        assert told.series[0].values[: charts.last] == queue.series[0].values[: charts.last]
