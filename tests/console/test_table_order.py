"""Rows by a column: what a cell says is compared as a person reads it; the filter's words; the pivot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.console.sample_relations import texts_of
from tui_crawler.console.dialogs.pivot_rows import MOST_VALUES, pivot_of, pivot_words, values_of
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.crawl_table import CrawlTable, in_place
from tui_crawler.console.table.filter_terms import needle_for, read_needle
from tui_crawler.text.cells import Present
from tui_crawler.text.columns import Column, Relation

VALUE = Column("value", "VALUE", value=itemgetter(1))
RELATION = Relation[tuple[int, object]]((VALUE,), itemgetter(0))


def ordered(records: Iterable[tuple[int, object]], *, descending: bool | None = None) -> CrawlTable:
    table = CrawlTable(RELATION)
    table.fill(records, Present())
    table.order_by("value", descending=descending)
    return table


def shown_order(values: Sequence[object], *, descending: bool) -> list[object]:
    return [values[key] for key in ordered(enumerate(values), descending=descending).row_order if isinstance(key, int)]


@pytest.mark.parametrize(
    "values",
    [[-10, 0, 2.5, 12, 1_204_331], ["Abd", "abe", "B"], [3, "a"], [False, True], [b"a", b"b"]],
)
def test_rows_are_ordered_by_value_and_a_missing_one_is_the_last_in_both_directions(values: list[object]) -> None:
    assert shown_order([None, *reversed(values), ""], descending=False) == [*values, None, ""]
    assert shown_order(["", *values, None], descending=True) == [*reversed(values), "", None]


def test_rows_of_equal_values_stay_as_they_came() -> None:
    for descending in (False, True):
        rows = ordered([(1, "a"), (2, "a"), (3, None), (4, "A")], descending=descending)
        assert rows.row_order == [1, 2, 4, 3]


@pytest.mark.parametrize(("values", "greatest"), [([1, 2, None], True), (["a", 1, "b"], False), ([None], False)])
def test_an_order_begins_with_the_greatest_where_values_are_numbers(values: list[object], greatest: bool) -> None:
    assert ordered(enumerate(values)).order == ("value", greatest)


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
    pivot = pivot_of(["b", " a", "b ", "", "c", "b", "a"], " loaded")
    assert pivot.counts == (("b", 3), ("a", 2), ("", 1), ("c", 1))
    assert pivot_words(pivot) == "4 values in 7 rows loaded"
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
    pivot = pivot_of(["10:41:07", "16:02:00"], "")
    assert [texts_of(values_of(pivot), value)["value"] for value in pivot.counts] == ["10:00", "16:00"]


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
