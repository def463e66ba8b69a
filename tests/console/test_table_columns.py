"""Columns arranged in a width."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.console.table.columns import Layout, Width, arrange
from tui_crawler.console.urls.rows import URLS
from tui_crawler.text import shown
from tui_crawler.text.columns import AnyColumn, Column

COLUMNS = (
    Column("state", "STATE", shown.plain(), 11, 0, min_width=1),
    Column("origin", "ORIGIN", shown.plain(), None, 0, min_width=16),
    Column("todo", "TODO", shown.plain(), 7, 2, "right", min_width=4),
    Column("fail", "FAIL", shown.plain(), 5, 1, "right"),
    Column("exit", "LAST EXIT", shown.plain(), 20, 3),
)

ANY_COLUMNS = st.lists(
    st.builds(
        Column,
        id=st.integers().map(str),
        title=st.just("T"),
        width=st.none() | st.integers(-2, 40),
        priority=st.integers(0, 4),
        min_width=st.integers(-2, 45),
        align=st.sampled_from(["left", "right"]),
        kind=st.sampled_from(["", "bar"]),
    ),
    max_size=8,
)


def ids(width: int) -> list[str]:
    return [place.column.id for place in arrange(COLUMNS, width).places]


def test_wide_columns_have_their_widths_and_the_flexible_one_the_rest() -> None:
    layout = arrange(COLUMNS, 100)
    assert [place.width for place in layout.places] == [11, 100 - 2 - 11 - 7 - 5 - 20 - 4 * 2, 7, 5, 20]
    assert layout.places[-1].x + layout.places[-1].width == 100
    assert layout.gutter == 2


def test_the_greatest_priority_is_dropped_first_and_0_never() -> None:
    assert ids(60) == ["state", "origin", "todo", "fail", "exit"]
    assert ids(48) == ["state", "origin", "todo", "fail"]
    assert ids(29) == ["state", "origin", "fail"]
    assert ids(20) == ["state", "origin"]


def test_columns_shrink_to_their_least_width_before_one_is_dropped() -> None:
    assert sizes(arrange(COLUMNS, 31)) == {"state": 1, "origin": 16, "todo": 4, "fail": 5}


def test_of_equal_priorities_the_rightmost_is_dropped_first() -> None:
    same = [Column(name, name, shown.plain(), 10, priority) for name, priority in (("a", 1), ("b", 1), ("c", 0))]
    assert [place.column.id for place in arrange(same, 25).places] == ["a", "c"]


def test_what_never_drops_is_cut_at_the_edge() -> None:
    layout = arrange(COLUMNS, 10)
    assert [(place.column.id, place.x, place.width) for place in layout.places] == [("state", 0, 1), ("origin", 2, 8)]
    assert arrange(COLUMNS, 1).places[0].width == 1
    assert arrange(COLUMNS, 0).places == ()
    assert arrange((), 50).places == ()


def test_without_a_flexible_column_fixed_ones_take_what_they_can() -> None:
    layout = arrange([Column("a", "A", shown.plain(), 30, min_width=5), Column("b", "B", shown.plain(), 10)], 30)
    assert [place.width for place in layout.places] == [18, 10]


def test_several_flexible_columns_share() -> None:
    layout = arrange([Column("a", "A"), Column("b", "B"), Column("c", "C")], 57)
    assert sum(place.width for place in layout.places) == 57 - 1 - 2
    assert max(p.width for p in layout.places) - min(p.width for p in layout.places) <= 1


@pytest.mark.parametrize(("width", "sizes"), [(60, [20, 36]), (64, [24, 36]), (72, [28, 40])])
def test_what_a_row_is_about_has_room_before_what_is_told_about_it(width: int, sizes: list[int]) -> None:
    columns = [
        Column("origin", "ORIGIN", shown.plain(), None, 0, min_width=16),
        Column("why", "WHY", shown.plain(), None, 13, min_width=36),
    ]
    layout = arrange(columns, width)
    assert [place.width for place in layout.places] == sizes


def test_the_column_at_a_cell() -> None:
    layout = arrange(COLUMNS, 100)
    assert layout.column_at(0) is None
    found = [layout.column_at(x) for x in (2, 12, 14, 15, 99, 500)]
    assert [column.id for column in found if column] == ["state", "state", "state", "origin", "exit", "exit"]


def sizes(layout: Layout) -> dict[str, int]:
    return {place.column.id: place.width for place in layout.places}


def gaps(layout: Layout) -> dict[str, int]:
    """The cells between each column and the one before it."""
    pairs = pairwise(layout.places)
    return {right.column.id: right.x - left.x - left.width for left, right in pairs}


COUNTS = (
    Column("name", "NAME", shown.plain(), 14, 0),
    Column("todo", "TODO", shown.plain(), 7, 0, "right", min_width=5),
    Column("done", "DONE", shown.plain(), 8, 0, "right", min_width=6),
    Column("state", "STATE", shown.plain(), 6, 0),
    Column("fail", "FAILED", shown.plain(), 6, 0, "right"),
)


def test_two_cells_stand_between_columns_of_numbers_where_one_would_make_them_one_number() -> None:
    seen = [Width(14, 14), Width(6, 3), Width(6, 3), Width(6, 6), Width(2, 2)]
    assert gaps(arrange(COUNTS, 60, seen)) == {"todo": 2, "done": 2, "state": 2, "fail": 2}
    tight = arrange(COUNTS, 1 + 14 + 6 + 6 + 6 + 6 + 5, seen)
    assert gaps(tight) == {"todo": 1, "done": 2, "state": 1, "fail": 1}
    assert (sizes(tight)["todo"], sizes(tight)["done"]) == (6, 6)


def test_numbers_give_up_digits_before_the_space_between_them() -> None:
    seen = [Width(14, 14), Width(6, 3), Width(6, 3), Width(6, 6), Width(2, 2)]
    tight = arrange(COUNTS, 1 + 14 + 5 + 6 + 6 + 6 + 5, seen)
    assert gaps(tight)["done"] == 2
    assert sizes(tight)["todo"] == 5, "the short form has room"
    tightest = arrange(COUNTS, 1 + 14 + 5 + 6 + 6 + 6 + 4, seen)
    assert gaps(tightest)["done"] == 1, "there is no room, and nothing that could be shorter"
    assert [place.column.id for place in tightest.places] == [column.id for column in COUNTS]


def test_a_number_far_from_the_one_before_it_needs_no_more_space() -> None:
    columns = [
        Column(name, title, shown.plain(), width, align="right")
        for name, title, width in (("a", "A", 5), ("b", "FAILED", 6))
    ]
    assert gaps(arrange(columns, 13, [Width(5, 5), Width(2, 2)])) == {"b": 1}
    assert gaps(arrange(columns, 13, [Width(5, 5), Width(6, 6)])) == {"b": 1}, "there is no room"
    assert gaps(arrange(columns, 14, [Width(5, 5), Width(6, 6)])) == {"b": 2}


def test_where_there_is_little_room_the_longest_numbers_keep_their_distance() -> None:
    columns = [
        Column(name, name, shown.plain(), width, align="right")
        for name, width in (("a", 4), ("b", 4), ("c", 5), ("d", 7))
    ]
    seen = [Width(4, 4), Width(4, 4), Width(5, 3), Width(7, 4)]
    assert gaps(arrange(columns, 1 + 20 + 3 + 1, seen)) == {"b": 1, "c": 1, "d": 2}
    assert gaps(arrange(columns, 1 + 20 + 3 + 2, seen)) == {"b": 1, "c": 2, "d": 2}


PAGES = (
    Column("origin", "ORIGIN", shown.plain(), 20, 2, min_width=14, kind="place"),
    Column("url", "URL", shown.plain(), None, 0, min_width=18, kind="place"),
    Column("tries", "TRIES", shown.plain(), 5, 1, "right"),
    Column("retry", "RETRY", shown.plain(), 14, 3, min_width=9),
    Column("message", "MESSAGE", shown.plain(), None, 8, min_width=20),
)


def test_no_column_has_more_than_it_shows_while_another_is_cut() -> None:
    seen = [Width(15, 15), Width(17, 17), Width(3, 3), Width(3, 3), Width(31, 31)]
    layout = arrange(PAGES, 2 + 15 + 17 + 5 + 6 + 31 + 4, seen)
    assert sizes(layout) == {"origin": 15, "url": 17, "tries": 5, "retry": 6, "message": 31}
    assert sizes(arrange(PAGES, layout.width - 3, seen))["message"] == 28


def test_the_numbers_stand_near_the_text_they_are_about() -> None:
    columns = (
        Column("origin", "ORIGIN", shown.plain(), None, 0, min_width=14),
        *COUNTS[1:3],
        Column("bar", "", shown.plain(), 12, 3, min_width=6),
    )
    seen = [Width(19, 19), Width(6, 3), Width(6, 3), Width(12, 6)]
    layout = arrange(columns, 150, seen)
    assert sizes(layout) == {"origin": 23, "todo": 6, "done": 6, "bar": 12}
    assert set(gaps(layout).values()) == {2}


def test_what_is_left_goes_to_what_is_wider_than_its_column_asks_for() -> None:
    columns = (
        Column("host", "HOST", shown.plain(), 10),
        Column("count", "COUNT", shown.plain(), 6, align="right"),
        Column("text", "TEXT"),
    )
    seen = [Width(25, 25), Width(9, 3), Width(12, 12)]
    assert sizes(arrange(columns, 60, seen)) == {"host": 25, "count": 9, "text": 20}
    assert sizes(arrange(columns, 42, seen))["text"] == 12


def test_the_last_text_has_what_is_left_over() -> None:
    layout = arrange(PAGES, 150, [Width(15, 15), Width(17, 17), Width(3, 3), Width(3, 3), Width(31, 31)])
    assert sizes(layout)["url"] == 17 + 4
    assert layout.places[-1].x + layout.places[-1].width == 150


def test_before_a_row_was_seen_columns_have_their_own_widths() -> None:
    assert arrange(COLUMNS, 100, ()) == arrange(COLUMNS, 100)
    assert sizes(arrange(COLUMNS, 100))["exit"] == 20
    assert sizes(arrange(COLUMNS, 100, [Width(0, 0)] * len(COLUMNS)))["exit"] == len("LAST EXIT") + 1


def test_a_column_that_holds_little_is_dropped_no_later_and_no_sooner() -> None:
    for width in range(120):
        kept = [place.column.id for place in arrange(COLUMNS, width).places]
        little = [place.column.id for place in arrange(COLUMNS, width, [Width(1, 1)] * len(COLUMNS)).places]
        assert set(kept) <= set(little), "what is at the edge may have room then"
        if sum(column.least + 1 for column in COLUMNS if column.priority == 0) <= width - 2:
            assert kept == little


NAMES = (
    Column("exit", "EXIT", shown.plain(), 29, 0, min_width=14, kind="bar"),
    Column("url", "URL", shown.plain(), None, 0, min_width=10),
)


@pytest.mark.parametrize(("width", "short", "size"), [(60, False, 23), (44, False, 23), (43, True, 14)])
def test_bars_are_in_their_short_form_all_of_them_or_none(width: int, short: bool, size: int) -> None:
    place = arrange(NAMES, width, [Width(23, 14), Width(19, 19)]).places[0]
    assert (place.short, place.width) == (short, size)


WIDTHS = st.builds(lambda whole, short: Width(whole, min(whole, short)), st.integers(0, 60), st.integers(0, 60))


@given(ANY_COLUMNS, st.integers(0, 200), st.just([]) | st.lists(WIDTHS, min_size=8, max_size=8))
def test_columns_never_overlap_nor_leave_the_width(columns: list[AnyColumn], width: int, seen: list[Width]) -> None:
    layout = arrange(columns, width, seen[: len(columns)])
    end = 0
    for place in layout.places:
        assert place.x >= end
        assert place.width >= 1
        assert columns[place.index] is place.column
        end = place.x + place.width
    assert end <= width
    least = sum(column.least + 1 for column in columns) - 1
    if not seen and least <= width - layout.gutter:
        assert len(layout.places) == len(columns), "nothing is dropped while it fits"


@pytest.mark.parametrize("width", [112, 114, 116, 118])
def test_the_headings_of_the_urls_are_whole_with_and_without_a_scrollbar(width: int) -> None:
    places = arrange(URLS.columns, width).places
    assert [place.column.id for place in places if place.width < len(place.column.title)] == []
