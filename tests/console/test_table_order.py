"""Rows by a column: what a cell says is compared as a person reads it; the filter's words; the pivot."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tui_crawler.console.dialogs.pivot_rows import MOST_VALUES, pivot_of, pivot_rows, pivot_words
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.crawl_table import begins_with_the_greatest, in_place, order_key, ordered
from tui_crawler.console.table.filter_terms import needle_for, read_needle
from tui_crawler.text.columns import Column
from tui_crawler.text.format import count, duration, percent, size

COLUMNS = (Column("name", "NAME"), Column("size", "SIZE"))


@pytest.mark.parametrize(
    "texts",
    [
        ["-", "0", "9", "12", "1 204", "12 004", "1 204 331"],
        ["none", "-10", "-1", "0", "2.5"],
        ["0 B", "999 B", "18 KB", "2.1 MB", "3.0 GB"],
        ["31ms", "0.9s", "30.0s", "2m05s", "1h12m", "3d04h"],
        ["now", "4s ago", "2m ago", "3h ago"],
        ["<0.1%", "9.0%", "97.1%"],
        ["812", "1.2k", "12k", "1.2M"],
        ["1/5", "2/5", "5/5"],
        ["-", "2.0s", "4.0s▲", "10.0s R"],
        ["NULL", "7", "abc", "Abd"],
        ["✓ done", "✗ gave up", "▶ queued"],
        ["10:41:06", "10:41:07"],
    ],
)
def test_what_a_cell_says_is_compared(texts: list[str]) -> None:
    backwards = texts[::-1]
    assert sorted(backwards, key=order_key) == texts


@given(st.integers(-(10**15), 10**15), st.integers(-(10**15), 10**15))
def test_counted_numbers_are_ordered_as_numbers(one: int, other: int) -> None:
    assert (order_key(count(one)) < order_key(count(other))) == (one < other)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_sizes_and_durations_are_never_ordered_the_wrong_way_round(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert order_key(size(low)) <= order_key(size(high))
    assert order_key(duration(low)) <= order_key(duration(high))
    assert order_key(percent(low, 10**12)) <= order_key(percent(high, 10**12))


@given(st.text())
def test_any_text_has_a_place(text: str) -> None:
    assert order_key(text) <= order_key(text)


def test_rows_of_equal_cells_stay_as_they_came_and_short_rows_are_no_fault() -> None:
    rows = [Row(1, ("b", "2 KB")), Row(2, ("a", "2 KB")), Row(3, ("c",)), Row(4, ("d", "1 KB"))]
    assert [row.key for row in ordered(rows, COLUMNS, "size", descending=False)] == [3, 4, 1, 2]
    assert [row.key for row in ordered(rows, COLUMNS, "size", descending=True)] == [1, 2, 4, 3]
    assert [row.key for row in ordered(rows, COLUMNS, "gone", descending=True)] == [1, 2, 3, 4]
    assert begins_with_the_greatest(rows, COLUMNS, "size")
    assert not begins_with_the_greatest(rows, COLUMNS, "name")
    assert not begins_with_the_greatest(rows, COLUMNS, "gone")


# the words of a filter


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("time", True), ("!time", False), ("~tmt", True), ("exit:time", True), ("exit:=time", False),
        ('exit:="✗ timeout"', True), ('!exit:="✗ timeout"', False), ("status:=503", True), ("status:50", True),
        ("depth:=3", True), ("origin:a.example", True), ("state:retry", True), ("exit:re:^.*out$", True),
        ('"of two words"', True), ("two of", True), ('"two of"', False), ('"of two', True), ("nothing:=x", False),
    ],
)  # fmt: skip
def test_words_fields_and_wholes(text: str, kept: bool) -> None:
    row = {
        "exit": "✗ timeout", "status": "503", "depth": "3", "url": "https://a.example/x", "state": "↻ retry",
        "title": "title of two words",
    }  # fmt: skip
    assert read_needle(text, set(row)).keeps(row) is kept


def test_a_field_is_looked_for_in_the_column_that_says_the_same() -> None:
    assert read_needle("exit:time").keeps({"what": "✗ request_timeout"})
    assert read_needle("exit:time").keeps({"exit_code": "✗ request_timeout"})
    assert read_needle("state:pau").keeps({"status": "‖ paused"})
    assert not read_needle("state:pau").keeps({"tag": "paused"})


@given(st.text(), st.text())
@example('"\x0b', "")
@example('"\x1c\xa0', "")
def test_the_word_for_a_value_keeps_that_value_and_no_other(value: str, other: str) -> None:
    word = read_needle(needle_for("title", value), {"title"})
    assert word.keeps({"title": value})
    same = other.strip().casefold() == value.strip().casefold()
    assert same or not word.keeps({"title": other})


# the pivot


def test_values_are_counted_the_most_frequent_first() -> None:
    pivot = pivot_of(["b", " a", "b ", "", "c", "b", "a"], " held")
    assert pivot.counts == (("b", 3), ("a", 2), ("", 1), ("c", 1))
    assert pivot_words(pivot) == "4 values in 7 rows held"
    assert [row.key for row in pivot_rows(pivot)] == ["b", "a", "", "c"]
    assert pivot_rows(pivot_of([], "")) == []
    many = pivot_of(map(str, range(MOST_VALUES + 5)), "")
    assert len(many.counts) == MOST_VALUES
    assert "1 005 values, the 1 000 most frequent in 1 005 rows" in pivot_words(many)


@pytest.mark.parametrize(
    ("texts", "span", "counts"),
    [
        (["10:41:07.113", "10:41:07.900", "10:41:59.001"], "second", (("10:41:07", 2), ("10:41:59", 1))),
        (["10:41:07.113", "10:41:59.001", "11:02:00.000"], "minute", (("10:41", 2), ("11:02", 1))),
        (["10:41:07", "10:59:59", "16:02:00"], "hour", (("10", 2), ("16", 1))),
        (["2026-01-05 10:41:07", "2026-01-05 10:41:07"], "second", (("2026-01-05 10:41:07", 2),)),
        (["2026-01-05 23:41:07", "2026-01-05 23:50:00", "2026-01-06 01:00:00"], "minute", None),
        (["2026-01-05 10:41", "2026-01-05 10:59", "2026-01-06 10:41"], "hour", None),
        (["2025-12-05 10:41:07", "2025-12-05 23:59:59", "-", "2026-01-06 01:00:00"], "day", None),
        (["10:41:07", "yesterday"], "", None),
        (["2026-13-40 10:41:07", "2026-01-06 01:00:00"], "", None),
        (["-", ""], "", None),
    ],
)
def test_times_are_counted_by_a_span_that_fits_their_range(
    texts: list[str], span: str, counts: tuple[tuple[str, int], ...] | None
) -> None:
    pivot = pivot_of(texts, " held")
    assert pivot.span == span
    assert pivot.rows == len(texts)
    assert pivot_words(pivot).startswith(f"by {span} · " if span else f"{pivot.values} value")
    if counts is not None:
        assert pivot.counts == counts
    for value, number in pivot.counts:
        word = read_needle(needle_for("time", value, start=bool(pivot.span)), {"time"})
        assert sum(word.keeps({"time": text}) for text in texts) == number


def test_an_hour_is_shown_as_one() -> None:
    assert [str(row.cells[0].text) for row in pivot_rows(pivot_of(["10:41:07", "16:02:00"], ""))] == ["10:00", "16:00"]  # type: ignore[union-attr]  # the first cell is one piece


@given(st.lists(st.integers(0, 9), unique=True), st.lists(st.integers(0, 9)))
def test_rows_in_place_keep_the_order_shown_and_new_ones_come_last(shown: list[int], coming: list[int]) -> None:
    placed, new = in_place(shown, [Row(key, (str(at),)) for at, key in enumerate(coming)])
    keys = [row.key for row in placed]
    assert sorted(map(str, keys)) == sorted(map(str, set(coming)))
    stayed = [key for key in shown if key in coming]
    assert keys[: len(stayed)] == stayed
    assert keys[len(stayed) :] == [key for key in dict.fromkeys(coming) if key not in shown]
    assert new == len(keys) - len(stayed)
    assert {row.key: row.cells for row in placed} == {key: (str(at),) for at, key in enumerate(coming)}
