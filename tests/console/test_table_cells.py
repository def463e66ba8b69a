"""Cells laid out in a number of terminal cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui_crawler.console.safe_text import Align
from tui_crawler.console.table_cells import Cell, LateRow, Row, Styled, lay_out

TEXTS = st.text(st.sampled_from("ab 日é\u0301\x1b[\n\u202e"), max_size=12)
STYLED = st.builds(Styled, TEXTS, st.sampled_from(["", "ok", "error"]), TEXTS)
CELLS = TEXTS | STYLED | st.lists(TEXTS | STYLED, max_size=4).map(tuple)


def text(cell: Cell, width: int, align: Align = "left") -> str:
    return "".join(part for part, _ in lay_out(cell, width, align))


def test_plain_text_is_padded_and_clipped() -> None:
    assert text("abc", 5) == "abc  "
    assert text("abc", 5, "right") == "  abc"
    assert text("abc", 5, "center") == " abc "
    assert text("abcdef", 5) == "abcd…"
    assert text("", 2) == "  "
    assert text("abc", 0) == ""


def test_pieces_keep_their_roles() -> None:
    cell = (Styled("4.0s", "strong"), Styled("▲", "warning"), "!")
    assert lay_out(cell, 8, "right") == [("  ", ""), ("4.0s", "strong"), ("▲", "warning"), ("!", "")]


def test_the_short_form_stands_in_where_the_text_does_not_fit() -> None:
    cell = Styled("12 004", "ok", "12k")
    assert lay_out(cell, 6, "right") == [("12 004", "ok")]
    assert lay_out(cell, 5, "right") == [("  ", ""), ("12k", "ok")]
    assert text(cell, 2) == "1…"
    assert text((Styled("▶ crawling", "", "▶"), " x"), 6) == "▶ x   "


def test_cut_pieces_end_in_an_ellipsis() -> None:
    assert text(("abc", "def"), 5) == "abcd…"
    assert text(("abc", "def"), 3) == "ab…"
    assert text(("abc", "", "def"), 4) == "abc…"
    assert text(("日本", "x"), 4) == "日…" + " "


def test_hostile_text_is_made_safe() -> None:
    assert text("a\x1b[31m\n", 20) == r"a\x1b[31m\n".ljust(20)


@given(CELLS, st.integers(0, 30), st.sampled_from(["left", "right", "center"]))
def test_a_cell_is_always_as_wide_as_asked(cell: Cell, width: int, align: Align) -> None:
    laid_out = text(cell, width, align)
    assert cell_len(laid_out) == width
    assert laid_out.isprintable()


def test_a_late_row_makes_its_cells_once_and_only_when_they_are_looked_at():
    made: list[str] = []

    def make() -> Row:
        made.append("row")
        return Row("key", ("a", "b"))

    row = LateRow("key", make)
    assert (row.key, row.role, made) == ("key", "", [])
    assert row.cells == ("a", "b") == row.cells
    assert made == ["row"]
    assert row == LateRow("key", lambda: Row("key", ("a", "b")))
    assert row != LateRow("key", lambda: Row("key", ("a", "c")))


def test_a_host_that_is_cut_keeps_its_port() -> None:
    def shown(cell: Cell, width: int) -> str:
        return "".join(text for text, _ in lay_out(cell, width, "left"))

    assert shown("127.0.0.1:24601", 15) == "127.0.0.1:24601"
    assert shown("127.0.0.1:24601", 14) == "127.0.0…:24601"
    assert shown(Styled("127.0.0.1:24602", "strong"), 10) == "127…:24602"
    assert shown("127.0.0.1:24601", 9) == "127.0.0.…", "too little of the host would be left"
    assert shown("https://127.0.0.1:24601/a:80", 14) == "https://127.0…"
    assert shown("say 10:41", 8) == "say 10:…"
