"""Cells laid out in a number of terminal cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui_crawler.console.table.cells import Row, lay_out
from tui_crawler.text.cells import Cell, Styled, cell_text
from tui_crawler.text.safe_text import Align

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


def test_a_place_is_shown_in_its_own_letters_and_the_cell_keeps_the_raw_form() -> None:
    cell = "a.test/%E6%97%A5%E6%9C%AC/" + "x" * 30 + "%C3%A9"
    wide = "".join(part for part, _ in lay_out(cell, 60, "left", place=True, decoded=True))
    narrow = "".join(part for part, _ in lay_out(cell, 20, "left", place=True, decoded=True))
    assert wide.rstrip() == "a.test/日本/" + "x" * 30 + "é"
    assert (narrow[:6], narrow.rstrip()[-1], cell_len(narrow)) == ("a.test", "é", 20)
    assert "".join(part for part, _ in lay_out(cell, 70, "left", place=True)).rstrip() == cell
    assert cell_text(cell) == cell


@given(CELLS, st.integers(0, 30), st.sampled_from(["left", "right", "center"]))
def test_a_cell_is_always_as_wide_as_asked(cell: Cell, width: int, align: Align) -> None:
    laid_out = text(cell, width, align)
    assert cell_len(laid_out) == width
    assert laid_out.isprintable()


def test_a_row_makes_its_cells_once_and_only_when_they_are_looked_at() -> None:
    made: list[str] = []

    def cells() -> tuple[Cell, ...]:
        made.append("row")
        return ("a", "b")

    row = Row("key", cells)
    assert (row.key, row.role, made) == ("key", "", [])
    assert row.cells == ("a", "b") == row.cells
    assert made == ["row"]
    assert row == Row("key", ("a", "b"))
    assert row != Row("key", ("a", "c"))


def test_a_host_that_is_cut_keeps_its_port() -> None:
    def shown(cell: Cell, width: int) -> str:
        return "".join(text for text, _ in lay_out(cell, width, "left"))

    assert shown("127.0.0.1:24601", 15) == "127.0.0.1:24601"
    assert shown("127.0.0.1:24601", 14) == "127.0.0…:24601"
    assert shown(Styled("127.0.0.1:24602", "strong"), 10) == "127…:24602"
    assert shown("127.0.0.1:24601", 9) == "127.0.0.…", "too little of the host would be left"
    assert shown("https://127.0.0.1:24601/a:80", 14) == "https://127.0…"
    assert shown("say 10:41", 8) == "say 10:…"


def cut(cell: Cell, width: int) -> str:
    return "".join(piece for piece, _ in lay_out(cell, width, "left", place=True))


def test_paths_urls_and_hosts_are_cut_in_the_middle_for_they_differ_at_their_ends() -> None:
    assert cut("/v2/items?page=18", 15) == "/v2/it…?page=18"
    assert cut("/v2/items?page=18", 0) == ""
    assert cut("/v2/items?page=18", 17) == "/v2/items?page=18"
    assert cut("https://api.example.org/p/12", 15) == "…ample.org/p/12"
    assert cut("https://api.example.org/v2/items?page=18", 30) == "https://api.…/v2/items?page=18"
    assert cut("api.example.org", 13) == "api.ex…le.org"
    assert cut(Styled("127.0.0.1:24602", "strong"), 10) == "127…:24602"


def test_words_in_such_a_column_are_cut_at_their_end() -> None:
    assert cut("tui-crawler retry 'https://api.example.org/'", 20) == "tui-crawler retry '…"
    assert cut((Styled("/v2/items?page=18"), Styled("  "), Styled("30.0s")), 20) == "/v2/items?page=18  …"
    assert cut((Styled("/v2/items?page=18"), Styled("  "), Styled("30.0s")), 12) == "/v2/…page=18"


def test_what_is_underlined_in_a_url_keeps_its_role_where_it_is_left() -> None:
    cell = (Styled("/v2/"), Styled("items", "accent"), Styled("?page=18"))
    assert lay_out(cell, 12, "left", place=True) == [("/v2/", ""), ("…", "accent"), ("page=18", "")]
    assert lay_out(cell, 15, "left", place=True) == [("/v2/", ""), ("it…", "accent"), ("?page=18", "")]


def test_a_cut_parts_no_mark_from_its_bearer_and_no_wide_character() -> None:
    assert cut("/日本語日本語日本語", 10) == "/日本…本語"
    assert cut("/aaaaaaaaaae\u0301b", 6) == "/a…ae\u0301b"
    assert cut("/aaaaaaaaaae\u0301b", 4) == "/…e\u0301b"


def test_the_end_of_a_very_long_url_is_its_end() -> None:
    url = "https://api.example.org/" + "a" * 70_000 + "/end"
    assert cut(url, 20).endswith("a/end")
    assert cut("/" + "\x1b" * 5_000 + "z", 20).endswith(r"\x1bz")


def test_hostile_urls_are_safe_wherever_they_are_cut() -> None:
    for width in range(30):
        shown = cut("https://a.example/\x1b[31m\u202e\ud800/e\u0301\u0301\u0301", width)
        assert shown.isprintable()
        assert cell_len(shown) == width


def test_a_short_form_that_is_asked_for_stands_though_there_is_room() -> None:
    cell = Styled("⚠ request_timeout", "network", short="⚠ timeout")
    assert lay_out(cell, 20, "left", short=True) == [("⚠ timeout", "network"), (" " * 11, "")]
    assert lay_out("⚠ other", 20, "left", short=True)[0] == ("⚠ other", "")


@given(CELLS, st.integers(0, 30), st.booleans(), st.booleans())
def test_a_place_is_always_as_wide_as_asked(cell: Cell, width: int, place: bool, short: bool) -> None:
    laid_out = "".join(piece for piece, _ in lay_out(cell, width, "left", place=place, short=short))
    assert cell_len(laid_out) == width
    assert laid_out.isprintable()
