"""The figures of the header: what each counts, in the words of every other place, and that no room is wasted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, NOW, origins, run_view
from tests.console.support import stage
from tests.console.test_present import TALLY
from tui_crawler.console.action import VIEWS, Where
from tui_crawler.console.actions import ORDERS
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.console.overview.queries import OriginSummary
from tui_crawler.console.overview.rows import OVERVIEW, OriginLine
from tui_crawler.console.overview.summary import card_lines, summary_lines
from tui_crawler.console.panes.header import Chip, HeaderState, chip, fit_chips, header_line
from tui_crawler.console.panes.line import doors_in
from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.console.panes.tabs import tab_line, view_tabs
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.history.eta import Eta, Limit
from tui_crawler.domain.records.page_view import ExitCountView
from tui_crawler.domain.records.view import TotalsView
from tui_crawler.text.cells import Present, Styled, cell_text
from tui_crawler.text.format import count
from tui_crawler.text.glyphs import StateGlyph

TOTALS = FakeReports().totals()
RUNNING = StateGlyph("▶", "running", "active")


def shown(state: HeaderState, width: int) -> str:
    return "".join(text for text, _ in lay_out_line(header_line(state, width), width)[0])


def state_of(totals: TotalsView | None = TOTALS, **changes: object) -> HeaderState:
    return replace(HeaderState("my-index", RUNNING, run_view(), NOW, TALLY, totals), **changes)  # type: ignore[arg-type]


async def test_pages_that_wait_have_one_word_everywhere() -> None:
    assert f"todo {count(TOTALS.todo)}" in shown(state_of(), 200)
    assert f"pending {count(TOTALS.pending)}" in shown(state_of(), 200)
    assert next(column.title for column in OVERVIEW.columns if column.id == "pending") == "PENDING"
    assert ORDERS["pending"] == "pending"
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


def test_pages_are_not_counted_before_they_are_read() -> None:
    assert "pending - " in shown(state_of(None), 200)
    assert "pending 0 " in shown(state_of(TotalsView(0, 0, 0, 0, 0, 0, 0, 0)), 200)


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


NUMBERS = st.sampled_from([0, 1, 9, 10, 812, 999, 1_000, 12_004, 300_000])
FIELDS = ("running", "/s  ", "ETA", "todo", "pending", "00:42:1")


@st.composite
def moments(draw: st.DrawFn) -> HeaderState:
    """A crawl of 40 origins at any moment of one run."""
    eta = draw(st.sampled_from([None, Eta(4_000, None, Limit.delay, API), Eta(7_200_000, 64_800_000, Limit.slots)]))
    counts = TotalsView(*(draw(NUMBERS) for _ in range(8)))
    rates = {
        "requests_per_s": draw(st.none() | st.floats(0, 9_999)),
        "bytes_per_s": draw(st.none() | st.floats(0, 9e9)),
    }
    line = draw(st.sampled_from([(), (None, 1.0), (1.0,) * 32]))
    return state_of(counts, line=line, eta=eta, **rates)


@pytest.mark.parametrize("width", [38, 58, 78, 118, 198])
@given(moments(), moments())
def test_the_fields_stay_where_they_are_whatever_they_count(width: int, one: HeaderState, other: HeaderState) -> None:
    first, second = (shown(state, width) for state in (one, other))
    places = [[line.find(field) for field in FIELDS] for line in (first, second)]
    assert places[0] == places[1], f"\n{first}\n{second}"


def test_the_card_of_an_origin_says_what_counts_in_which_time() -> None:
    view = replace(origins()[0], requests=66)
    lines = summary_lines(OriginLine(view, run_view()), Present(NOW))
    told = ["".join(text for text, _ in lay_out_line(line, 30)[0]).rstrip() for line in lines]
    assert "requests 66 in all runs" in told
    card = OriginSummary((ExitCountView("file_ingested", 371, 2),))
    told = ["".join(text for text, _ in lay_out_line(line, 30)[0]).rstrip() for line in card_lines(card)]
    assert told[-2:] == ["attempts in this run", "✓ ingested ×371"]


def test_nothing_is_called_done_while_pages_are_pending() -> None:
    over = Eta(0, 0, Limit.none)
    assert "ETA       -" in shown(state_of(replace(TOTALS, pending=28), eta=over), 200)
    assert "ETA    done" in shown(state_of(replace(TOTALS, pending=0), eta=over), 200)


def test_the_clock_of_a_run_leaves_out_the_rest_between_two_sessions() -> None:
    run = run_view(started_at=NOW - 8 * 3_600_000, heartbeat_at=NOW, worked_ms=3_600_000)
    assert "01:00:00" in shown(state_of(run=run), 200)
    assert "after 01:00:00" in ExitSummary(run=run, now=NOW).lines()[0]


@pytest.mark.parametrize("width", [38, 58, 78, 98, 118, 198])
@given(moments(), st.sampled_from(["my-index", "the-crawl-of-everything-there-is-in-europe", "ネットワーク索引"]))
def test_the_name_of_the_crawl_is_the_last_to_go(width: int, state: HeaderState, name: str) -> None:
    line = shown(replace(state, name=name), width)
    assert name in line or f"{name[:5]}" in line.split("…")[0]


def test_what_limits_the_crawl_is_said_at_80_columns() -> None:
    state = state_of(eta=Eta(7_200_000, 64_800_000, Limit.delay), requests_per_s=8.1, bytes_per_s=498_000.0)
    words = " ".join(shown(state, 78).split())
    assert words == "my-index ▶ running 8.1/s 498 KB/s ETA 2h–18h (limited by delay)"


def test_a_long_name_is_whole_where_there_is_room() -> None:
    state = state_of(name="the-crawl-of-everything-in-eu")
    assert shown(state, 58).startswith("the-crawl-o…  ")
    assert shown(state, 198).startswith("the-crawl-of-everything-in-eu  ")


@pytest.mark.parametrize("idle", ["", "nothing is left to do"])
@pytest.mark.parametrize("width", range(60, 220, 7))
def test_who_crawls_and_the_process_stand_together(width: int, idle: str) -> None:
    engine = StateGlyph("●", "attached", "active")
    line = shown(state_of(engine=engine, idle=idle, readonly=True, attached=True), width)
    owner = f"to {run_view().owner}"
    assert owner not in line or f"● attached  {owner}" in line
    assert owner in line or width < 178


# the line of tabs

KEYS = {where.goes_there: view.key for where, view in VIEWS.items()} | {"help.keys": "?"}


def tabs_at(width: int, state: HeaderState, current: Where = Where.overview) -> str:
    line = tab_line(*view_tabs(state, current, KEYS.__getitem__), width)
    text = cell_text(line)  # type: ignore[arg-type]
    assert len(text) <= width
    assert all(text[start + 1] == KEYS[goal] for start, _, goal in doors_in(line))
    return text


@pytest.mark.parametrize("width", range(40, 251, 3))
@given(st.sampled_from(list(VIEWS)), st.integers(1, 40), st.booleans())
def test_every_tab_is_there_at_every_width_and_the_open_one_is_named(
    width: int, current: Where, workers: int, read: bool
) -> None:
    state = state_of(replace(TOTALS, known=250_000, failed=104_000) if read else None, rules=12, workers=workers)
    text = tabs_at(width, state, current)
    wanted = [view.key for where, view in VIEWS.items() if where in (current, *(() if workers < 2 else VIEWS))
              or where is not Where.workers]  # fmt: skip
    assert all(f" {key}" in text or f"▸{key}" in text for key in wanted)
    assert f"▸{current.view.key} {current.value[:4]}" in text  # type: ignore[union-attr]


def test_the_tabs_at_80_columns_have_their_names_and_counts() -> None:
    state = state_of(replace(TOTALS, known=14_203, failed=15), rules=12)
    words = " ".join(tabs_at(80, state).split())
    assert words == "▸1 Origins 11 2 Failures 15 3 URLs 14k 4 Rules v12 5 Logs 6 Pulse 7 Jobs"
    assert tabs_at(120, state).endswith("│ ? help")


def test_a_tab_stays_where_it_is_while_its_count_grows() -> None:
    few, many = (replace(TOTALS, known=known, failed=failed) for known, failed in ((0, 0), (250_000, 9_999)))
    for width in (60, 80, 120):
        first, second = (tabs_at(width, state_of(totals)) for totals in (few, many))
        assert [first.find(f" {key} ") for key in "234567"] == [second.find(f" {key} ") for key in "234567"]
