"""Columns arranged in a width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.console.present.url_rows import URL_COLUMNS
from tui_crawler.console.table_columns import Column, arrange

COLUMNS = (
    Column("state", "STATE", 11, 0, min_width=1),
    Column("origin", "ORIGIN", None, 0, min_width=16),
    Column("todo", "TODO", 7, 2, "right", min_width=4),
    Column("fail", "FAIL", 5, 1, "right"),
    Column("exit", "LAST EXIT", 20, 3),
)

ANY_COLUMNS = st.lists(
    st.builds(
        Column,
        id=st.integers().map(str),
        title=st.just("T"),
        width=st.none() | st.integers(-2, 40),
        priority=st.integers(0, 4),
        min_width=st.integers(-2, 45),
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
    layout = arrange(COLUMNS, 31)
    assert [(place.column.id, place.width) for place in layout.places] == [
        ("state", 1),
        ("origin", 17),
        ("todo", 4),
        ("fail", 5),
    ]


def test_of_equal_priorities_the_rightmost_is_dropped_first() -> None:
    same = [Column("a", "A", 10, 1), Column("b", "B", 10, 1), Column("c", "C", 10, 0)]
    assert [place.column.id for place in arrange(same, 25).places] == ["a", "c"]


def test_what_never_drops_is_cut_at_the_edge() -> None:
    layout = arrange(COLUMNS, 10)
    assert [(place.column.id, place.x, place.width) for place in layout.places] == [
        ("state", 0, 1),
        ("origin", 2, 8),
    ]
    assert arrange(COLUMNS, 1).places[0].width == 1
    assert arrange(COLUMNS, 0).places == ()
    assert arrange((), 50).places == ()


def test_without_a_flexible_column_fixed_ones_take_what_they_can() -> None:
    layout = arrange([Column("a", "A", 30, min_width=5), Column("b", "B", 10)], 30)
    assert [place.width for place in layout.places] == [18, 10]


def test_several_flexible_columns_share() -> None:
    layout = arrange([Column("a", "A"), Column("b", "B"), Column("c", "C")], 57)
    assert sum(place.width for place in layout.places) == 57 - 1 - 2
    assert max(p.width for p in layout.places) - min(p.width for p in layout.places) <= 1


@pytest.mark.parametrize(("width", "sizes"), [(60, [20, 36]), (64, [24, 36]), (72, [28, 40])])
def test_what_a_row_is_about_has_room_before_what_is_told_about_it(width: int, sizes: list[int]) -> None:
    columns = [Column("origin", "ORIGIN", None, 0, min_width=16), Column("why", "WHY", None, 13, min_width=36)]
    layout = arrange(columns, width)
    assert [place.width for place in layout.places] == sizes


def test_the_column_at_a_cell() -> None:
    layout = arrange(COLUMNS, 100)
    assert layout.column_at(0) is None
    found = [layout.column_at(x) for x in (2, 12, 14, 15, 99, 500)]
    assert [column.id for column in found if column] == ["state", "state", "state", "origin", "exit", "exit"]


@given(ANY_COLUMNS, st.integers(0, 200))
def test_columns_never_overlap_nor_leave_the_width(columns: list[Column], width: int) -> None:
    layout = arrange(columns, width)
    end = 0
    for place in layout.places:
        assert place.x >= end
        assert place.width >= 1
        assert columns[place.index] is place.column
        end = place.x + place.width
    assert end <= width
    least = sum(column.least + 1 for column in columns) - 1
    if least <= width - layout.gutter:
        assert len(layout.places) == len(columns), "nothing is dropped while it fits"


@pytest.mark.parametrize("width", [112, 114, 116, 118])
def test_the_headings_of_the_urls_are_whole_with_and_without_a_scrollbar(width: int) -> None:
    places = arrange(URL_COLUMNS, width).places
    assert [place.column.id for place in places if place.width < len(place.column.title)] == []
