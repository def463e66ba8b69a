"""Charts: as wide as asked, higher for more, in ASCII where there is nothing else."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui_crawler.text.charts import (
    Dots,
    Form,
    Mark,
    Series,
    axis,
    beside,
    chart,
    dots_of,
    heat,
    legend,
    plot,
    round_top,
    spread,
)

VALUES = st.lists(st.none() | st.floats(), max_size=50).map(tuple)
SERIES = st.lists(st.builds(Series, st.text(max_size=8), VALUES, st.just("ok"), st.sampled_from(Form)), max_size=4)
SHARES = st.floats(-0.5, 1.5)
PLAIN = st.text(st.characters(codec="ascii"), max_size=12)
MARKS = st.lists(st.builds(Mark, SHARES, PLAIN, st.sampled_from(["", "#", "*"])), max_size=6)


def text_of(lines: list[list[tuple[str, str]]]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


@given(
    SERIES, st.integers(-1, 70), st.integers(-1, 14), st.sampled_from(Dots), MARKS, st.none() | SHARES, st.booleans()
)
def test_a_chart_is_as_wide_and_as_high_as_asked(series, width, height, dots, marks, cursor, times):
    lines = text_of(chart(series, width, height, dots=dots, marks=marks, cursor=cursor, times=times))
    assert len(lines) == max(height, 0)
    assert {cell_len(line) for line in lines} <= {max(width, 0)}
    if dots is Dots.ascii:
        assert "".join(lines).isascii()


@given(
    st.lists(st.floats(0, 1e9), min_size=1, max_size=40), st.sampled_from(Dots), st.integers(1, 30), st.integers(1, 8)
)
def test_more_is_never_drawn_lower(values, dots, width, height):
    rising = Series("", tuple(sorted(values)))
    levels = [
        [line[at] != " " for line in text_of(plot([rising], width, height, dots=dots, top=max(values) or 1.0))].count(
            True
        )
        for at in range(width)
    ]
    assert levels == sorted(levels)


@given(st.floats(1e-9, 1e9), st.sampled_from(Dots), st.sampled_from(Form))
def test_a_little_is_never_nothing(value, dots, form):
    drawn = text_of(plot([Series("", (value,), "ok", form)], 8, 3, dots=dots, top=1e9))
    assert "".join(drawn).strip()


@given(st.lists(st.lists(st.floats(0, 100), min_size=3, max_size=3), min_size=1, max_size=6), st.integers(6, 20))
def test_each_layer_that_has_something_is_seen_and_all_fit(layers, height):
    series = [Series(str(at), tuple(values), str(at), Form.layer) for at, values in enumerate(layers)]
    lines = plot(series, 3, height, dots=Dots.braille, top=max(map(sum, zip(*layers, strict=True))) or 1.0)
    cells = [[role for text, role in line for _ in text] for line in lines]
    for column in range(3):
        seen = {row[column] for row in cells} - {""}
        has = {str(at) for at, values in enumerate(layers) if values[column] > 0}
        assert seen <= has
        if sum(values[column] for values in layers) > 0.99 * max(map(sum, zip(*layers, strict=True))):
            assert seen == has


def test_braille_has_two_columns_and_four_rows_in_a_cell():
    assert text_of(plot([Series("", (1, 2, 3, 4))], 2, 1, top=4)) == ["⣠⣾"]
    assert text_of(plot([Series("", (1, 4), form=Form.line)], 1, 1, top=4)) == ["⡸"]


def test_blocks_and_ascii_stand_for_braille():
    values = (1.0, 4.0, 2.0, None, 0.0)
    assert text_of(plot([Series("", values)], 5, 1, dots=Dots.blocks, top=4)) == ["▂█▄  "]
    assert text_of(plot([Series("", values)], 5, 1, dots=Dots.ascii, top=4)) == [".#:  "]
    assert text_of(plot([Series("", (1, 3, 4), form=Form.line)], 3, 1, dots=Dots.ascii, top=4)) == [".|'"]


def test_a_line_lies_over_an_area_with_the_dots_of_both():
    both = [Series("p50", (1.0, 1.0), "ok"), Series("p95", (4.0, 4.0), "client", Form.line)]
    assert plot(both, 1, 1, top=4) == [[("⣉", "client")]]


def test_layers_differ_without_colour():
    layers = [Series("timeout", (1.0,), "network", Form.layer), Series("server", (2.0,), "server", Form.layer)]
    assert text_of(plot(layers, 2, 3, top=3)) == ["▓▓", "▓▓", "██"]
    assert text_of(plot(layers, 2, 3, dots=Dots.ascii, top=3)) == ["||", "||", "##"]
    assert text_of(legend(layers, Dots.braille)) == ["█ timeout", "▓ server"]


def test_the_whole_chart():
    marks = [Mark(0, "09:30"), Mark(0.95, "10:21"), Mark(0.5, "you", "‖")]
    lines = text_of(chart([Series("pages", (5, 10, 20, 10))], 32, 6, marks=marks, cursor=0.75))
    assert lines == [
        "20┤              ⢸⣿⣿⣿⣿⣿⣿┊       ",
        "  │              ⢸⣿⣿⣿⣿⣿⣿┊       ",
        "10┤       ⢸⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿┊⣿⣿⣿⣿⣿⣿⣿",
        "  │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿┊⣿⣿⣿⣿⣿⣿⣿",
        " 0┼──────────────╂──────┊───────",
        "   09:30         ‖you      10:21",
    ]


def test_words_without_room_give_way_to_those_said_before():
    line = "".join(
        text for text, _ in beside(20, [Mark(0.5, "a long label", "✎"), Mark(0.6, "ruleset 3", "▶"), Mark(0, "09:30")])
    )
    assert cell_len(line) == 20
    assert line.startswith("09:30") and "✎a long label" in line and "▶" not in line


def test_marks_cross_the_axis():
    assert axis(4, [Mark(0.5, "", "‖", "paused"), Mark(0, "09:30")], None, Dots.braille) == [
        ("──", "faint"),
        ("╂", "paused"),
        ("─", "faint"),
    ]


@given(VALUES, st.integers(-1, 40))
def test_a_strip_is_as_wide_as_asked(values, width):
    assert len(heat(values, width)) == max(width, 0)


def test_a_strip_is_darker_for_more():
    assert heat([0, 1, 2, 3, 4, None], 6) == "·░▒▓█ "
    assert heat([0, 0.001, 4], 3) == "·░█"


def test_few_values_are_drawn_broad_and_of_many_the_greatest_stays():
    assert spread([1, 2], 4) == [1, 1, 2, 2]
    assert spread([1, 9, None, 2, nan, inf], 2) == [9, 2]
    assert spread([], 2) == [None, None]


@given(st.floats(1e-6, 1e15))
def test_the_top_is_round_and_above(value):
    assert value * (1 - 1e-6) <= round_top(value) <= value * 2 * (1 + 1e-6)


@pytest.mark.parametrize(
    ("value", "top"),
    [(0, 1), (nan, 1), (1, 1), (1.1, 1.2), (21.2, 30), (1_201, 1_600), (0.03, 0.03), (0.6, 0.6), (9, 10)],
)
def test_round_tops(value, top):
    assert round_top(value) == pytest.approx(top)


def test_what_a_terminal_can_show():
    assert dots_of({"TERM": "xterm-256color"}, True) is Dots.braille
    assert dots_of({"TERM": "linux"}, True) is Dots.blocks
    assert dots_of({}, False) is Dots.ascii
