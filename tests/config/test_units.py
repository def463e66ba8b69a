"""Durations and sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.config.units import parse_duration, parse_size, show_duration, show_size


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("0", 0),
        ("250ms", 250),
        ("1s", 1_000),
        ("1.5s", 1_500),
        ("30m", 1_800_000),
        ("2 h", 7_200_000),
        ("1 day", 86_400_000),
        ("4 weeks", 2_419_200_000),
        ("1 hour 30 minutes", 5_400_000),
        ("1h 30m", 5_400_000),
        ("  10   seconds ", 10_000),
        ("1 month", 30 * 86_400_000),
        ("1 year 2 months", 425 * 86_400_000),
        ("0s", 0),
    ],
)
def test_durations(text, ms):
    assert parse_duration(text) == ms


@pytest.mark.parametrize(
    "text", ["", "10", "s", "1 mont", "1S", "-1s", "1s,2s", "1h30m", "1e3s", "0.0001ms", "fast", "1:30"]
)
def test_no_durations(text):
    with pytest.raises(ValueError, match=r"duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512000", 512_000),
        ("0", 0),
        ("10MiB", 10_485_760),
        ("10 mib", 10_485_760),
        ("1.5KiB", 1_536),
        ("500KB", 500_000),
        ("2GB", 2_000_000_000),
        ("7B", 7),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "-1", "10 parsecs", "1.5", "MiB", "10MiB extra", "1e3"])
def test_no_sizes(text):
    with pytest.raises(ValueError, match=r"size"):
        parse_size(text)


@given(st.integers(0, 10**13))
def test_what_is_shown_reads_back(number):
    assert parse_duration(show_duration(number)) == number
    assert parse_size(show_size(number)) == number


def test_the_largest_fitting_unit_is_shown():
    assert [show_duration(ms) for ms in (0, 250, 90_000, 1_800_000, 86_400_000, 2_419_200_000)] == [
        "0",
        "250ms",
        "90s",
        "30m",
        "1 day",
        "4 weeks",
    ]
    assert [show_size(size) for size in (512_000, 10_485_760, 1_024, 5)] == ["512000", "10MiB", "1KiB", "5"]
