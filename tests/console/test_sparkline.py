"""Sparklines, bars and patience dots."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui_crawler.text.sparkline import LEVELS, bar, patience_dots, sparkline

VALUES = st.lists(st.none() | st.floats(), max_size=40)


def test_the_scale_goes_from_zero_to_the_greatest_value() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8) == LEVELS
    assert sparkline([5, 5, 5], 3) == "███"
    assert sparkline([0, 0, 0], 3) == "▁▁▁"


def test_a_little_is_not_nothing() -> None:
    assert sparkline([0, 0.001, 1_000], 3) == "▁▂█"


def test_the_newest_values_are_kept_and_a_short_line_begins_with_spaces() -> None:
    assert sparkline([9, 9, 0, 7], 2) == "▁█"
    assert sparkline([7], 4) == "   █"
    assert sparkline([], 3) == "   "
    assert sparkline([1], 0) == ""


def test_gaps() -> None:
    assert sparkline([None, nan, inf, 1], 4) == "   █"
    assert sparkline([-1, 1], 2) == "▁█"


@given(VALUES, st.integers(-2, 30))
def test_a_sparkline_is_always_as_wide_as_asked(values: list[float | None], width: int) -> None:
    line = sparkline(values, width)
    assert cell_len(line) == max(width, 0)
    assert set(line) <= set(LEVELS) | {" "}


@pytest.mark.parametrize(
    ("fraction", "drawn"),
    [
        (0, "    "),
        (0.0001, "▏   "),
        (0.5, "██  "),
        (0.28, "█▏  "),
        (0.9999, "███▉"),
        (1, "████"),
        (7, "████"),
        (-1, "    "),
        (nan, "    "),
        (inf, "████"),
    ],
)
def test_bar(fraction: float, drawn: str) -> None:
    assert bar(fraction, 4) == drawn


@given(st.floats(), st.integers(-2, 30))
def test_a_bar_is_always_as_wide_as_asked(fraction: float, width: int) -> None:
    assert cell_len(bar(fraction, width, track="░")) == max(width, 0)


def test_patience_dots() -> None:
    assert patience_dots(2, 5) == "●●○○○"
    assert patience_dots(-1, 3) == "○○○"
    assert patience_dots(9, 3) == "●●●"
    assert patience_dots(12, 50) == "12/50"
    assert patience_dots(1, 0) == ""
