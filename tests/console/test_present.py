"""What rows become on the screen, where it is not seen on a screen of another test: rates, orders, states, bars."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.console.sample_crawl import API, NOW, attempt, origin, origins, page, run_view
from tests.console.support import FrozenClock
from tui_crawler.console.action import Where
from tui_crawler.console.actions import ORDERS
from tui_crawler.console.keys import footer_at
from tui_crawler.console.logs.attempts import exit_cell, exit_in_full, meaning
from tui_crawler.console.logs.rows import attempt_line, log_lines
from tui_crawler.console.operator.engine_host import HostedEngine
from tui_crawler.console.operator.retry_start import NextRequest
from tui_crawler.console.overview.order import SORT_COLUMNS, OverviewFilter, arrange
from tui_crawler.console.overview.rows import OVERVIEW, OriginLine, patience_words
from tui_crawler.console.panes.footer import footer_line
from tui_crawler.console.panes.header import HeaderState, eta_words, header_line
from tui_crawler.console.panes.line import doors_in
from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.console.panes.typing import plain_text
from tui_crawler.console.reading.ask import ReadingRequest
from tui_crawler.console.reading.refresh import ORIGINS, Snapshot
from tui_crawler.console.reading.snapshot import LiveState, RateMeter
from tui_crawler.console.table.cells import lay_out
from tui_crawler.console.urls.cells import host_of, path_of, whole_url
from tui_crawler.console.urls.rows import url_lines
from tui_crawler.domain.crawl.recovery import NextTry
from tui_crawler.domain.history.eta import Eta, Limit
from tui_crawler.domain.history.idle_reason import at_rest
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.status_words import outcome_words
from tui_crawler.text.cells import Present
from tui_crawler.text.glyphs import StateGlyph
from tui_crawler.text.safe_text import clip_left
from tui_crawler.text.standing import TALLIES, counted_as, is_problem, standing

TALLY = Counter(counted_as(view) for view in origins())


def test_a_rate_counts_whole_buckets_and_begins_with_the_first_value() -> None:
    meter = RateMeter()
    assert meter.rate(5_000) is None
    for second, counter in enumerate((100, 110, 130, 130)):
        meter.feed(counter, 5_000 + second * 1_000)
    assert meter.rate(8_999) == pytest.approx(30 / 3)
    assert meter.line(9_000, 6) == [None, None, 0, 10, 20, 0]
    meter.feed(5, 9_000)  # another database, or a new run
    assert meter.rate(9_500) is None


@given(st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 50)), min_size=1, max_size=60))
def test_a_rate_loses_nothing(steps: list[tuple[int, int]]) -> None:
    meter, now, counter = RateMeter(), 10_000, 0
    meter.feed(0, now)
    for wait, gain in steps:
        now += wait % 900
        counter += gain
        meter.feed(counter, now)
    line = meter.line(now + 1_000, 64)
    assert sum(value or 0 for value in line) == counter


def test_meters_of_origins_are_bounded() -> None:
    live = LiveState(FrozenClock(), HostedEngine(None))
    rows = tuple(origin(f"https://o{number}.example") for number in range(700))
    live.feed(Snapshot(ReadingRequest(), 0, None, {ORIGINS: rows}))
    assert rows[0].origin not in live.meters
    assert rows[-1].origin in live.meters


def test_an_origin_whose_jobs_are_paused_counts_as_paused() -> None:
    held = origin(API, asleep_until=HELD)
    assert standing(held).word == counted_as(held) == "paused"
    assert standing(replace(held, in_flight_url=f"{API}/x", state="BUSY")).word == "crawling", "what is under way ends"


def test_an_origin_that_takes_no_part_is_not_waited_for() -> None:
    assert counted_as(origin(API, state="IDLE", todo=3, pending=3)) == "finished"


def test_every_state_has_a_word_and_every_word_is_counted_once() -> None:
    words = {standing(view).word for view in origins()}
    assert words >= {"failing", "crawling", "waiting", "ready", "paused", "stopped: 5 errors", "finished"}
    assert {counted_as(view) for view in origins()} <= set(TALLIES)
    reasons = ("exhausted", "patience", "database_error", "excluded", "rate_limited", "max_requests", "operator")
    for reason in reasons:
        mark = standing(origin(API, state="FINISHED", finish_reason=reason))
        assert mark.glyph != "·"
    assert is_problem(origin(API, patience=4))
    assert not is_problem(origin(API, state="FINISHED", finish_reason="operator", patience=4))


@given(st.sampled_from([*SORT_COLUMNS]), st.booleans())
def test_any_order_keeps_all_and_turns_round(column: str, descending: bool) -> None:
    there = arrange(origins(), OverviewFilter(column, descending))
    assert {view.origin for view in there} == {view.origin for view in origins()}
    assert arrange(reversed(origins()), OverviewFilter(column, descending)) == there


def test_what_can_be_ordered_by_is_a_column() -> None:
    assert set(ORDERS) == set(SORT_COLUMNS)
    assert set(SORT_COLUMNS) <= {column.id for column in OVERVIEW.columns}


@pytest.mark.parametrize("code", ExitCode)
def test_every_exit_code_is_shown_in_words_and_by_its_name_in_details(code: ExitCode) -> None:
    assert exit_cell(code.name).text.endswith(f" {outcome_words(code.name)}")
    assert exit_in_full(code.name).text.endswith(f" {code.name}")
    assert len(outcome_words(code.name)) <= 12
    assert exit_cell("server_blamed_client").text == "× client error"
    assert meaning(code.name)


def test_details_tell_an_exit_code_in_full_where_the_rest_of_the_line_does_not_fit() -> None:
    failed = page(7, f"{API}/v2/items", "local_processing_error", message="the reading was given up " * 5)
    tried = attempt_line(attempt(7, f"{API}/v2/items", "local_processing_error", message=failed.message))
    for lines in (url_lines(failed, NextRequest(NextTry.final), UTC), log_lines(tried, UTC)):
        told = ["".join(text for text, _ in piece) for line in lines for piece in lay_out_line(line, 48)]
        assert any("local_processing_error" in one for one in told)


def test_an_exit_code_of_a_newer_version_is_shown_as_it_is() -> None:
    assert exit_cell("some_new_code").text == "· some new code"
    assert meaning("some_new_code") == ""


def test_urls_are_short_where_the_origin_is_known() -> None:
    assert path_of(f"{API}/a?b", API) == "/a?b"
    assert path_of(API, API) == "/"
    assert path_of(f"{API}.evil.example/a", API) == f"{API}.evil.example/a"
    assert host_of("https://a.example:444") == "a.example:444"
    assert host_of("http://a.example") == "a.example"


@given(st.integers(0, 200))
def test_the_footer_fits_its_width_and_its_doors_are_where_the_keys_stand(width: int) -> None:
    keys = [(action.id, action.keys.split(",")[0], action.label) for action in footer_at(Where.overview)]
    line = footer_line(("Origins", "x" * 60), keys, width)
    text = "".join(text for text, _ in lay_out_line(line, max(width, 1))[0])
    assert cell_len(text) == max(width, 1)
    for start, end, goal in doors_in(line):
        if goal == 1:
            assert text[start:end] == "Origins"
        elif width >= 40:
            action = next(one for one in keys if one[0] == goal)
            assert text[start:end] == f"{action[1]} {action[2]}"


@given(st.integers(44, 200))
def test_the_footer_keeps_the_place_and_the_keys_apart_and_cuts_the_place_at_its_left(width: int) -> None:
    keys = [(action.id, action.keys.split(",")[0], action.label) for action in footer_at(Where.overview)]
    crumbs = ("Origins", "api.example.org", "robots.txt")
    line = footer_line(crumbs, keys, width)
    text = "".join(text for text, _ in lay_out_line(line, width)[0])
    keys_at = min(start for start, _, goal in doors_in(line) if isinstance(goal, str))
    place = text[:keys_at].rstrip()
    assert keys_at - len(place) >= 3
    whole = " › ".join(crumbs)
    assert whole.endswith(place.removeprefix("…").removeprefix(" › "))
    assert width < 50 or "robots.txt" in place
    above = place.removeprefix("… › ").split(" › ")[:-1]
    assert [text[start:end] for start, end, goal in doors_in(line) if isinstance(goal, int)] == above


@given(st.text("ab文", max_size=30), st.integers(0, 40))
def test_a_text_cut_at_its_left_keeps_its_end(text: str, cells: int) -> None:
    cut = clip_left(text, cells)
    assert cell_len(cut) <= cells
    assert text.endswith(cut.removeprefix("…"))
    assert cut == text or cell_len(cut) >= cells - 1


@given(st.integers(0, 200))
def test_the_footer_leaves_no_key_out_that_has_room_and_keeps_their_order(width: int) -> None:
    keys = [(action.id, action.keys.split(",")[0], action.label) for action in footer_at(Where.overview)]
    doors = [*doors_in(footer_line(("Origins",), keys, width))]
    shown = [goal for _, _, goal in doors]
    assert shown == [name for name, _, _ in keys if name in shown]
    free = width - min(width // 3, len("Origins") + 3) - sum(end - start for start, end, _ in doors) - 2 * len(doors)
    assert all(len(f"{key} {label}") > free for name, key, label in keys if name not in shown)


@given(st.integers(1, 250))
def test_the_header_fits_every_width(width: int) -> None:
    state = HeaderState("a name", StateGlyph("▶", "running", "active"), run_view(), NOW, TALLY, idle="why")
    for pieces in lay_out_line(header_line(state, width), width):
        assert sum(cell_len(text) for text, _ in pieces) == width


def test_what_is_urgent_stays_in_a_narrow_header() -> None:
    def shown(state: HeaderState, width: int) -> str:
        return "".join(text for text, _ in lay_out_line(header_line(state, width), width)[0])

    mark = StateGlyph("✗", "engine failed", "error")
    failed = HeaderState("n", mark, run_view(), NOW, TALLY, stale_ms=4_200)
    assert "✗ engine failed" in shown(failed, 60)
    assert "⚠ stale 4 s" in shown(failed, 60)
    frozen = HeaderState("n", StateGlyph("▶", "running", "active"), run_view(), NOW, TALLY, frozen=True)
    assert "frozen" in shown(frozen, 40)
    watches = HeaderState("n", frozen.engine, run_view(), NOW, TALLY, requests_per_s=8.1, readonly=True)
    assert " 8.1/s" in shown(watches, 26)
    assert "read-only" in shown(watches, 40)


def test_the_clock_of_a_run_whose_engine_broke_off_stands_still() -> None:
    dead = run_view(live=False, started_at=NOW - 600_000, heartbeat_at=NOW - 540_000, worked_ms=60_000)
    rests = {counted_as(at_rest(view, dead)) for view in origins()}
    assert rests == {"waiting", "paused", "stopped: errors", "finished"}
    state = HeaderState(
        "n", StateGlyph("○", "idle", "muted"), dead, NOW, {"waiting": 7}, eta=Eta(None, None, Limit.resting)
    )
    text = " ".join("".join(text for text, _ in lay_out_line(header_line(state, 120), 120)[0]).split())
    assert "00:01:00" in text
    assert "ETA -" in text
    assert "limited" not in text


def test_eta_in_words() -> None:
    hour = 3_600_000
    assert eta_words(Eta(2 * hour, 18 * hour, Limit.delay)) == "2h–18h"
    assert eta_words(Eta(2 * hour, None, Limit.delay)) == "2h+"
    assert eta_words(Eta(None, None, Limit.paused)) == "-"
    assert eta_words(Eta(0, 0, Limit.none)) == "done"
    assert eta_words(None) == "-"


@given(st.text())
def test_what_is_typed_or_pasted_is_plain(text: str) -> None:
    plain = plain_text(text)
    assert all(char == "\n" or char.isprintable() or char.isspace() for char in plain)
    assert plain_text(plain).rstrip("\n") == plain.rstrip("\n")


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("a.example/x?y", "https://a.example/x?y"),
        ("a.example", "https://a.example/"),
        ("127.0.0.1:8080/z", "http://127.0.0.1:8080/z"),
        ("a.example.org/x", "a.example.org/x"),
        ("http://a.example/x", "http://a.example/x"),
    ],
)
def test_a_url_as_the_console_shows_it_is_of_the_origin_that_is_known(written: str, url: str) -> None:
    assert whole_url(written, ["https://a.example", "http://127.0.0.1:8080"]) == url


@pytest.mark.parametrize("width", [10, 14])
def test_the_state_comes_before_the_sign_of_a_trap_at_every_width(width: int) -> None:
    for view in origins():
        mark = standing(view)
        cell = OVERVIEW.cells(OriginLine(view, run_view(), suspected=True), Present(NOW))[0]
        text = "".join(piece for piece, _ in lay_out(cell, width, "left"))
        assert text.startswith(mark.glyph)
        assert text.rstrip().endswith("⚠")
        assert (mark.short or mark.word)[:4] in text
        assert "…" not in text


def test_patience_is_told_once() -> None:
    few, many = origin(API, patience=2, patience_max=5), origin(API, patience=20, patience_max=20)
    assert patience_words(few).text == "●●○○○ 2/5"
    assert patience_words(many).text == "20/20"
