"""The figures of the header: what each counts, in the words of every other place, and that no room is wasted."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, NOW, origins, run_view
from tests.console.support import stage
from tests.console.test_present import TALLY
from tui_crawler.console.action import Where
from tui_crawler.console.actions import ORDERS
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.console.overview.queries import OriginSummary
from tui_crawler.console.overview.rows import OVERVIEW
from tui_crawler.console.overview.summary import card_lines, summary_lines
from tui_crawler.console.panes.header import Chip, HeaderState, chip, fit_chips, header_lines
from tui_crawler.console.panes.line import Split
from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.history.eta import Eta, Limit
from tui_crawler.domain.records.page_view import ExitCountView
from tui_crawler.domain.records.view import TotalsView
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import count
from tui_crawler.text.glyphs import StateGlyph, state_mark

TOTALS = FakeReports().totals()
RUNNING = StateGlyph("▶", "running", "active")


def shown(state: HeaderState, width: int, *, tall: bool = True) -> str:
    lines = header_lines(state, width, tall=tall)
    return "\n".join("".join(text for text, _ in lay_out_line(line, width)[0]) for line in lines)


def state_of(totals: TotalsView | None = TOTALS, **changes: object) -> HeaderState:
    return replace(HeaderState("my-index", RUNNING, run_view(), NOW, TALLY, totals), **changes)  # type: ignore[arg-type]


async def test_pages_that_wait_have_one_word_everywhere() -> None:
    assert f"todo {count(TOTALS.todo)}" in shown(state_of(), 200)
    assert f"pending {count(TOTALS.pending)}" in shown(state_of(), 200)
    assert next(column.title for column in OVERVIEW.columns if column.id == "pending") == "PENDING"
    assert ORDERS["pending"][1] == "pending"
    assert "2 pending." in "\n".join(ExitSummary(totals=replace(TOTALS, pending=2)).lines())
    card = ("pending  1 640", "todo     812")
    async with stage((200, 60)) as held:
        held.app.screen.query_one("#origins", CrawlTable).move_cursor(key=API)
        await held.quiet()
        text = held.text()
        assert "queue" not in text.lower()
        assert all(words in text for words in card)
        held.app.go_to(Where.origin, API)
        await held.settle(3)
        assert all(words in held.text() for words in card)


def test_shares_are_of_what_made_a_request_and_pages_are_called_pages() -> None:
    codes = (("file_ingested", 30), ("file_not_found", 10), ("blocked_by_robots_txt", 960))
    totals = replace(TOTALS, done=25, failed=75, blocked=900, exit_codes=codes)
    text = shown(state_of(totals, run=run_view(requests=40)), 200)
    assert "ok 75.0%" in text
    assert "client 25.0%" in text
    assert "of 40 turns with a request" in text
    assert "failed pages 75 (75.0%)" in text
    assert "blocked pages 900" in text, "the sum of the column BLOCKED"


@pytest.mark.parametrize("width", [80, 120, 200])
def test_shares_are_named_by_the_class_of_the_exit_code_not_by_a_status(width: int) -> None:
    """An answer with status 200 that makes no sense counts as the server's."""
    totals = replace(TOTALS, exit_codes=(("file_ingested", 75), ("did_not_understand_answer", 25)))
    text = shown(state_of(totals, run=run_view(requests=100)), width, tall=width > 80)
    assert not re.search("[345]xx", text)
    assert width == 80 or "server 25.0%" in text


@pytest.mark.parametrize("width", range(58, 260, 6))
def test_no_share_of_pages_stands_beside_those_of_turns_without_its_name(width: int) -> None:
    """3 % of the turns that failed are not 3 % of the pages."""
    codes = (("file_ingested", 97_000), ("file_not_found", 3_000))
    totals = replace(TOTALS, done=90_000, failed=10_000, blocked=5, exit_codes=codes)
    text = shown(state_of(totals, run=run_view(requests=100_000)), width, tall=width > 80)
    assert "10.0%" not in text.replace("failed pages 10 000 (10.0%)", "")
    if "fail" in text:
        assert "fail 10k" in text or "failed pages 10 000 (10.0%)" in text, "the sum of the column FAIL"


def test_pages_that_failed_are_not_told_before_they_are_read() -> None:
    assert "failed pages -  " in shown(state_of(None), 250)
    assert "failed pages 0  " in shown(state_of(TotalsView(0, 0, 0, 0, 0, 0, 0, 0)), 250), "no page has ended"


def test_a_run_that_has_only_refused_has_no_shares() -> None:
    totals = replace(TOTALS, exit_codes=(("blocked_by_robots_txt", 960),))
    text = shown(state_of(totals, run=run_view(requests=0)), 200)
    assert "ok -" in text
    assert "%" not in text.splitlines()[1]


def test_counts_read_a_moment_after_the_run_are_no_more_than_all() -> None:
    totals = replace(TOTALS, exit_codes=(("file_ingested", 41),))
    assert "ok 100% " in shown(state_of(totals, run=run_view(requests=40)), 200)


chips = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 60)), max_size=9)


@given(chips, chips, st.integers(0, 200))
def test_a_part_is_left_out_only_where_it_has_no_room(
    left: list[tuple[int, int]], right: list[tuple[int, int]], width: int
) -> None:
    sides = tuple([chip(f"{chr(97 + at)}" * size, str(side), priority) for at, (size, priority) in enumerate(of)]
                  for side, of in enumerate((left, right)))  # fmt: skip
    line = fit_chips(*sides, width)
    kept = [one for one in (*line.left, *line.right) if isinstance(one, Styled) and one.text.strip()]
    used = sum(len(part.text) for part in kept) + 2 * max(0, len(kept) - 1)
    there = {(part.role, part.text) for part in kept}

    def is_kept(one: Chip) -> bool:
        return (one.parts[0].role, one.parts[0].text) in there

    for one in (*sides[0], *sides[1]):
        if not is_kept(one):
            assert one.priority
            assert used + one.width + 2 * bool(kept) > width, "it would fit"


@pytest.mark.parametrize("width", range(90, 200, 5))
def test_a_count_stays_while_there_is_room_for_it(width: int) -> None:
    line = shown(state_of(tally={**TALLY, "finished": 0}), width).splitlines()[0]
    gap = max(len(blank) for blank in re.findall(" +", line))
    assert "✓ 0" in line or gap < 2 + len("✓ 0") + 2


NUMBERS = st.sampled_from([0, 1, 9, 10, 812, 999, 1_000, 12_004, 300_000])
FIELDS = (
    *(
        "▶ ",
        "◷ ",
        "‖ ",
        "⚠ ",
        "✗ ",
        "✓ ",
        "url/s",
        "/s ",
        "fail",
        "todo",
        "pending",
        "ETA",
        "ok ",
        "redirect",
        "client",
        "server",
    ),
    *("network", "with a request", "blocked"),
)


@st.composite
def moments(draw: st.DrawFn) -> HeaderState:
    """A crawl of 40 origins at any moment of one run."""
    left, tally = 40, dict.fromkeys(TALLY, 0)
    for word in ("crawling", "waiting", "paused", "failing", "stopped: errors"):
        tally[word] = draw(st.integers(0, left))
        left -= tally[word]
    tally["finished"] = left
    codes = tuple((name, draw(NUMBERS)) for name in ("file_ingested", "redirect", "file_not_found"))
    eta = draw(st.sampled_from([None, Eta(4_000, None, Limit.delay, API), Eta(7_200_000, 64_800_000, Limit.slots)]))
    counts = TotalsView(*(draw(NUMBERS) for _ in range(8)), codes)
    rates = {
        "requests_per_s": draw(st.none() | st.floats(0, 9_999)),
        "bytes_per_s": draw(st.none() | st.floats(0, 9e9)),
    }
    line = draw(st.sampled_from([(), (None, 1.0), (1.0,) * 32]))
    read_ms = draw(st.integers(0, 5_000))
    return state_of(counts, tally=tally, line=line, eta=eta, read_ms=read_ms, **rates)


@pytest.mark.parametrize(("width", "tall"), [(58, False), (78, False), (118, True), (198, True)])
@given(moments(), moments())
def test_the_fields_stay_where_they_are_whatever_they_count(
    width: int, tall: bool, one: HeaderState, other: HeaderState
) -> None:
    texts = [shown(state, width, tall=tall).splitlines() for state in (one, other)]
    for first, second in zip(*texts, strict=True):
        places = [[line.find(field) for field in FIELDS] for line in (first, second)]
        assert places[0] == places[1], f"\n{first}\n{second}"


@pytest.mark.parametrize("word", ["crawling", "waiting", "paused", "failing", "stopped: errors", "finished"])
def test_a_count_of_none_stands_there_dimmed(word: str) -> None:
    tally = {**TALLY, word: 0}
    for width in (118, 198):
        line, _ = header_lines(state_of(tally=tally), width, tall=True)
        assert isinstance(line, Split)
        found = [part for part in line.left if part.text.startswith(state_mark(word).glyph)]
        assert [part.role for part in found] == ["faint"]
        assert found[0].text.split()[1] == "0"


def test_the_card_of_an_origin_says_what_counts_in_which_time() -> None:
    view = replace(origins()[0], requests=66)
    lines = summary_lines(view, NOW, run_view(), UTC, "", None, ())
    told = ["".join(text for text, _ in lay_out_line(line, 30)[0]).rstrip() for line in lines]
    assert "requests 66 in all runs" in told
    card = OriginSummary((ExitCountView("file_ingested", 371, 2),))
    told = ["".join(text for text, _ in lay_out_line(line, 30)[0]).rstrip() for line in card_lines(card)]
    assert told[-2:] == ["attempts in this run", "✓ file_ingested ×371"]


def test_nothing_is_called_done_while_pages_are_pending() -> None:
    over = Eta(0, 0, Limit.none)
    assert "ETA -" in shown(state_of(replace(TOTALS, pending=28), eta=over), 200)
    assert "ETA done" in shown(state_of(replace(TOTALS, pending=0), eta=over), 200)


def test_the_clock_of_a_run_leaves_out_the_rest_between_two_sessions() -> None:
    run = run_view(started_at=NOW - 8 * 3_600_000, heartbeat_at=NOW, worked_ms=3_600_000)
    assert "01:00:00" in shown(state_of(run=run), 200)
    assert "after 01:00:00" in ExitSummary(run=run, now=NOW).lines()[0]


@pytest.mark.parametrize(
    ("width", "tall"), [(38, False), (58, False), (78, False), (98, True), (118, True), (198, True)]
)
@given(moments(), st.sampled_from(["my-index", "the-crawl-of-everything-there-is-in-europe", "ネットワーク索引"]))
def test_the_name_of_the_crawl_is_the_last_to_go(width: int, tall: bool, state: HeaderState, name: str) -> None:
    line = shown(replace(state, name=name), width, tall=tall).splitlines()[0]
    assert name in line or f"{name[:5]}" in line.split("…")[0]


def test_a_long_name_is_cut_before_a_count_goes_and_whole_where_there_is_room() -> None:
    state = state_of(name="the-crawl-of-everything-in-eu")
    assert shown(state, 118).startswith("the-crawl-of-ev…  ")
    assert "✓ 2" in shown(state, 118)
    assert "  the-crawl-of-everything-in-eu  " in shown(state, 198)


@pytest.mark.parametrize("idle", ["", "nothing is left to do"])
@pytest.mark.parametrize("width", range(60, 220, 7))
def test_who_crawls_and_the_process_stand_together(width: int, idle: str) -> None:
    line = shown(
        state_of(engine=StateGlyph("●", "attached", "active"), idle=idle, readonly=True, attached=True), width
    ).splitlines()[1]
    owner = f"to {run_view().owner}"
    assert owner not in line or line.startswith(f"● attached  {owner}")
    assert owner in line or width < 178
