"""Rows by key: order, the cursor that holds on to its key, marks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.rows import TableRows

KEYS = st.lists(st.integers(0, 12), unique=True, max_size=12)


def rows(keys: Sequence[Hashable]) -> list[Row]:
    return [Row(key, (str(key),)) for key in keys]


def table(keys: Sequence[Hashable], cursor: int = 0) -> TableRows:
    made = TableRows()
    made.replace(rows(keys), "first", False)
    made.move_to(cursor)
    return made


def test_an_empty_table_has_no_cursor() -> None:
    made = TableRows()
    assert (made.cursor_index, made.cursor_key, len(made)) == (-1, None, 0)
    assert not made.move_to(3)
    made.mark_range()
    made.mark_all()
    assert made.marks == frozenset()
    assert made.remove(["x"]) == 0


def test_the_cursor_of_a_lost_key_goes_to_the_same_index_or_the_last_row() -> None:
    made = table("abcd", 1)
    made.replace(rows("acd"), "pin", False)
    assert made.cursor_key == "c"
    made.move_to(2)
    made.replace(rows("ac"), "pin", False)
    assert made.cursor_key == "c"
    made.replace([], "pin", False)
    assert made.cursor_key is None
    made.replace(rows("xy"), "pin", False)
    assert made.cursor_key == "x"


def test_the_cursor_can_be_sent_to_either_end() -> None:
    made = table("abcd", 1)
    made.replace(rows("badc"), "last", False)
    assert made.cursor_key == "c"
    made.replace(rows("badc"), "first", False)
    assert made.cursor_key == "b"
    made.replace([], "last", False)
    assert made.cursor_index == -1


def test_of_equal_keys_the_last_row_counts_at_the_first_place() -> None:
    made = TableRows()
    made.replace([Row("a", ("1",)), Row("b", ("2",)), Row("a", ("3",))], "pin", False)
    assert list(made.order) == ["a", "b"]
    assert made.at(0).cells == ("3",)


def test_an_update_changes_neither_order_nor_cursor() -> None:
    made = table("abc", 2)
    before = made.update(Row("a", ("new",)))
    assert before is not None
    assert before.cells == ("a",)
    assert made.update(Row("z", ("new",))) is None
    row = made.get("a")
    assert row is not None
    assert row.cells == ("new",)
    assert made.get("z") is None
    assert (list(made.order), made.cursor_key) == (["a", "b", "c"], "c")


def test_removing_rows_keeps_the_cursor_near() -> None:
    made = table("abcdef", 3)
    assert made.remove(["a", "b", "zz"]) == 2
    assert (made.cursor_key, made.cursor_index) == ("d", 1)
    assert made.remove(["d", "c"]) == 2
    assert made.cursor_key == "e"
    made.remove(["e", "f"])
    assert made.cursor_key is None


def test_marks() -> None:
    made = table("abcdef", 1)
    made.toggle_mark(1)
    made.move_to(3)
    made.mark_range()
    assert made.marks == {"b", "c", "d"}
    made.toggle_mark(2)
    assert made.marks == {"b", "d"}
    assert "b" in made.marks
    assert "c" not in made.marks
    made.mark_all()
    assert made.marks == set("abcdef")
    made.mark_all()
    assert made.marks == set()
    made.mark_range()
    assert made.marks == {"c", "d"}, "from the row toggled last to the cursor"
    made.clear_marks()
    made.mark_range()
    assert made.marks == {"d"}


def test_removal_takes_marks_also_of_rows_outside_the_window() -> None:
    made = table("abc")
    made.mark_all()
    made.replace(rows("xyz"), "pin", keep_marks=True)
    assert made.remove(["a", "b"]) == 0
    assert made.marks == {"c"}


@given(KEYS, KEYS, st.integers(0, 12))
def test_the_cursor_is_always_on_a_row_and_keeps_its_key_if_it_can(
    before: list[int], after: list[int], index: int
) -> None:
    made = table(before, index)
    key = made.cursor_key
    made.replace(rows(after), "pin", False)
    assert (made.cursor_key is None) == (not after)
    if key in after:
        assert made.cursor_key == key
        assert made.index_of(key) == made.cursor_index


@given(KEYS, st.sets(st.integers(0, 12)), st.integers(0, 12))
def test_after_removal_the_cursor_is_on_its_key_or_the_next_one_left(
    keys: list[int], gone: set[int], index: int
) -> None:
    made = table(keys, index)
    place = made.cursor_index
    made.remove(gone)
    left = [key for key in keys if key not in gone]
    assert list(made.order) == left
    following = [key for key in keys[max(place, 0) :] if key not in gone]
    assert made.cursor_key == (following[0] if following else left[-1] if left else None)
