"""Numbers, sizes, durations and times in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta, timezone
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.text import format as words

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


@pytest.mark.parametrize(
    ("say", "value", "said"),
    [
        (words.count, 0, "0"),
        (words.count, 12_004, "12 004"),
        (words.count, -1_204_331, "-1 204 331"),
        (words.compact, 812, "812"),
        (words.compact, 999.4, "999"),
        (words.compact, 999.6, "1.0k"),
        (words.compact, 12_004, "12k"),
        (words.compact, 9_960, "10k"),
        (words.compact, 999_499, "999k"),
        (words.compact, 999_501, "1.0M"),
        (words.compact, 1_204_331, "1.2M"),
        (words.compact, -1_204, "-1.2k"),
        (words.size, 0, "0 B"),
        (words.size, 18_000, "18 KB"),
        (words.size, 2_100_000, "2.1 MB"),
        (words.rate, 18.44, "18.4"),
        (words.rate, 1_204.4, "1 204"),
        (words.seconds, 300, "0.3s"),
        (words.seconds, 30_000, "30.0s"),
        (words.seconds, 59_949, "59.9s"),
        (words.seconds, 59_960, "1m00s"),
        (words.seconds, 125_000, "2m05s"),
        (words.phase, 31, "31ms"),
        (words.phase, 999.6, "1.0s"),
        (words.phase, 1_240, "1.2s"),
        (words.duration, 45 * SECOND, "45s"),
        (words.duration, 59_600, "1m00s"),
        (words.duration, HOUR + 12 * MINUTE, "1h12m"),
        (words.duration, 3 * DAY + 4 * HOUR, "3d04h"),
        (words.duration, -90 * SECOND, "-1m30s"),
        (words.coarse, 0, "0s"),
        (words.coarse, 59_600, "1m"),
        (words.coarse, 18 * HOUR, "18h"),
        (words.coarse, 3 * DAY, "3d"),
        (words.coarse, -2 * MINUTE, "-2m"),
        (words.due, -5, "now"),
        (words.due, 2 * MINUTE, "+2m"),
        (words.ago, 100, "now"),
        (words.ago, 4 * SECOND, "4s ago"),
        (words.elapsed, 42 * MINUTE + 10 * SECOND, "00:42:10"),
        (words.elapsed, 3 * DAY + 4 * HOUR, "3d 04:00:00"),
        (words.elapsed, -1, "00:00:00"),
    ],
)
def test_in_words(say: Callable[[float | None], str], value: float, said: str) -> None:
    assert say(value) == said


@pytest.mark.parametrize("say", [words.compact, words.size, words.rate, words.seconds, words.phase])
@pytest.mark.parametrize("absent", [None, nan, inf, -inf])
def test_what_is_absent_is_a_dash(say: Callable[[float | None], str], absent: float | None) -> None:
    assert say(absent) == words.ABSENT


@pytest.mark.parametrize("say", [words.duration, words.coarse, words.due, words.ago, words.elapsed])
@pytest.mark.parametrize("absent", [None, nan])
def test_an_absent_duration_is_a_dash(say: Callable[[float | None], str], absent: float | None) -> None:
    assert say(absent) == words.ABSENT
    assert words.count(None) == words.clock(None) == words.date_time(None) == words.ABSENT


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (971, 1000, "97.1%"),
        (0, 5, "0.0%"),
        (5, 5, "100.0%"),
        (99_999, 100_000, "99.9%"),
        (1, 100_000, "<0.1%"),
        (1, 0, "-"),
        (nan, 1, "-"),
        (3, 2, "150.0%"),
    ],
)
def test_percent(part: float, whole: float, said: str) -> None:
    assert words.percent(part, whole) == said


def test_plural_and_span() -> None:
    assert words.plural(1, "origin") == "1 origin"
    assert words.plural(4_410, "URL") == "4 410 URLs"
    assert words.plural(2, "entry", "entries") == "2 entries"
    assert words.span(2 * HOUR, 18 * HOUR) == "2h–18h"
    assert words.span(2 * HOUR, 2 * HOUR + 60) == "2h"


def test_times_are_those_of_the_zone() -> None:
    moment = 1_767_606_067_113  # 2026-01-05 09:41:07.113 UTC
    zone = timezone(timedelta(hours=1))
    assert words.clock(moment) == "09:41:07"
    assert words.clock(moment, zone) == "10:41:07"
    assert words.clock(moment, zone, millis=True) == "10:41:07.113"
    assert words.date_time(moment, zone) == "2026-01-05 10:41:07"
    assert words.clock(-1) == "23:59:59"


@pytest.mark.parametrize("moment", [10**18, -(10**18), 2**63 - 1])
def test_a_time_out_of_range_is_a_dash(moment: int) -> None:
    assert words.clock(moment) == words.date_time(moment) == words.ABSENT


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_compact_number_is_short(number: int) -> None:
    assert len(words.compact(number).lstrip("-")) <= 4


def test_a_typed_time_is_the_last_one_before_now_and_means_all_of_its_minute() -> None:
    now = 1_767_609_667_000  # 2026-01-05 10:41:07 UTC
    said = {
        text: words.time_meant(text, now, UTC)
        for text in ("10:21", "10:41:07", "23:59", "2026-01-04 10:21", "-5m", "-2 h")
    }
    assert {text: words.date_time(at) for text, at in said.items()} == {
        "10:21": "2026-01-05 10:21:59",
        "10:41:07": "2026-01-05 10:41:07",
        "23:59": "2026-01-04 23:59:59",
        "2026-01-04 10:21": "2026-01-04 10:21:59",
        "-5m": "2026-01-05 10:36:07",
        "-2 h": "2026-01-05 08:41:07",
    }
    assert [words.time_meant(text, now, UTC) for text in ("", "soon", "25:00", "10:61", "2026-02-30 10:00", "-5")] == [
        None
    ] * 6
