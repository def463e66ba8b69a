"""`safe`, `clip` and `fit`: the contract of corpora/terminal_injection.json, and properties over any text."""

from __future__ import annotations

import json
import string
import subprocess
import sys
import unicodedata
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui_crawler.text.safe_text import ELLIPSIS, MAX_MARKS, clip, fit, readable_url, safe

CORPUS = json.loads((Path(__file__).parent / "corpora" / "terminal_injection.json").read_text("utf-8"))
FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
NASTY = st.text(
    st.sampled_from("a é\u0301\u0302\u200d\ufe0f\x1b\x9b\u202e\ud800\ufffe\U000e0041日\U0001f600\u1160[]\\\n…"),
    max_size=60,
)


def forbidden(text: str) -> list[str]:
    return [char for char in text if unicodedata.category(char) in FORBIDDEN or ord(char) & 0xFFFE == 0xFFFE]


def longest_run_of_marks(text: str) -> int:
    runs = groupby(text, key=lambda char: unicodedata.category(char) in ("Mn", "Me") or cell_len(char) == 0)
    return max((len(list(run)) for is_mark, run in runs if is_mark), default=0)


@pytest.mark.parametrize("case", CORPUS["cases"], ids=lambda case: case["id"])
def test_every_injection_case_is_shown_and_not_obeyed(case: dict[str, str]) -> None:
    shown = safe(case["text"])
    assert not forbidden(shown)
    assert shown
    assert len(shown) <= 512
    assert fit(shown, 20) == clip(shown, 20) + " " * (20 - cell_len(clip(shown, 20)))
    if case["text"].isascii() and case["text"].isprintable():
        assert shown == case["text"][:511] + ELLIPSIS if len(case["text"]) > 512 else shown == case["text"]


def test_the_corpus_is_whole() -> None:
    assert len(CORPUS["cases"]) == CORPUS["count"] == 35


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;AA\x07", r"\x1b]52;c;AA\x07"),
        ("a\x7fb\x85c", r"a\x7fb\x85c"),
        ("line1\nline2\r\t", r"line1\nline2\r\t"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("a\u200bb\u200dc\ufeff", r"a\u200bb\u200dc\ufeff"),
        ("\ud800", r"\ud800"),
        ("\U000e0041\ufe0f", r"\U000e0041\ufe0f"),
        ("\ue000\U000f0000", r"\ue000\U000f0000"),
        ("\ufffe\uffff\U0001fffe", r"\ufffe\uffff\U0001fffe"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\U0001f1e9\U0001f1ea", "DE"),
        ("a\u00a0b\u3000c", "a b c"),
        ("Überall 日本 пример", "Überall 日本 пример"),
        ("e\u0301\u0302", "e\u0301\u0302"),
        ("e\u0301\u0302\u0303\u0304x", "e\u0301\u0302…x"),
        ("\u0301x", "◌\u0301x"),
        ("", ""),
    ],
)
def test_what_stands_for_what(text: str, shown: str) -> None:
    assert safe(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("⚠\ufe0f Warnung", "⚠ Warnung"),
        ("❤\ufe0e text", "❤ text"),
        ("👩\u200d👩\u200d👧\u200d👦 Familie", "👩👩👧👦 Familie"),
        ("❤\ufe0f\u200d🔥 heart", "❤🔥 heart"),
        ("🤷\U0001f3fd\u200d♀\ufe0f", "🤷♀"),
        ("👍\U0001f3fd", "👍"),
        ("1\ufe0f\u20e3 one", "1\u20e3 one"),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🏴"),
        ("葛\U000e0100城", "葛城"),
        ("🇩🇪 Deutschland", "DE Deutschland"),
        ("🇩🇪🇫🇷", "DE FR"),
        ("a\ufe0f", r"a\ufe0f"),
        ("🏴\U000e0061\U000e0062\U000e007f", r"🏴\U000e0061\U000e0062\U000e007f"),
        ("❤\ufe0f\ufe0f", r"❤\ufe0f"),
        ("👩\u200d", r"👩\u200d"),
        ("p\u200daypal \u202e👩", r"p\u200daypal \u202e👩"),
    ],
)
def test_an_emoji_sequence_is_shown_as_its_characters_and_nothing_else_is_hidden(text: str, shown: str) -> None:
    assert safe(text) == shown
    assert safe(shown) == shown
    assert all(unicodedata.category(one) != "Cf" for one in shown)


def test_a_long_emoji_sequence_at_the_limit_is_not_cut_into_escapes() -> None:
    assert safe("❤\ufe0f" * 10, 10) == "❤" * 10
    assert safe("❤\ufe0f" * 11, 10) == "❤" * 9 + ELLIPSIS
    assert safe("❤\ufe0f" * 10_000, 10) == "❤" * 9 + ELLIPSIS


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("/%E6%97%A5%E6%9C%AC/%E2%9A%A0%EF%B8%8F-x", "/日本/⚠%EF%B8%8F-x"),
        ("https://a.test:8080/caf%C3%A9?q=%D0%BF%D1%80%D0%B8#%E0%B8%94%E0%B8%B5", "https://a.test:8080/café?q=при#ดี"),
        ("/%D8%B9%D8%B1%D8%A8%D9%8A", "/عربي"),
        ("/100%25%20%2F%3F", "/100%25%20%2F%3F"),
        ("/%FC%E6", "/%FC%E6"),
        ("/%e6%97%a5", "/%e6%97%a5"),
        ("/e%CC%81", "/e%CC%81"),
        ("/%EF%BC%8Fadmin/%E2%88%95", "/%EF%BC%8Fadmin/%E2%88%95"),
        ("/a%E2%80%AEb%E2%80%8B%C2%A0%C2%AD", "/a%E2%80%AEb%E2%80%8B%C2%A0%C2%AD"),
        ("/%D0%B0dmin/p%D0%B0y/%CE%B1%D0%B0", "/%D0%B0dmin/p%D0%B0y/%CE%B1%D0%B0"),
        ("/%F0%9F%87%A9%F0%9F%87%AA", "/%F0%9F%87%A9%F0%9F%87%AA"),
        ("https://xn--e1awd7f.test/", "https://xn--e1awd7f.test/"),
        ("/%", "/%"),
    ],
)
def test_a_url_is_read_in_its_own_letters_where_they_are_unmistakable(url: str, shown: str) -> None:
    assert readable_url(url) == shown
    assert safe(shown) == shown
    assert quote(shown, safe=string.printable) == url


@given(ANY_TEXT)
def test_whatever_a_url_encodes_is_shown_in_plain_characters_and_encodes_to_it_again(text: str) -> None:
    url = "/" + quote(text, errors="replace")
    shown = readable_url(url)
    assert safe(shown) == shown
    assert quote(shown, safe=string.printable) == url


def test_no_character_of_the_first_planes_and_the_tags_gets_through() -> None:
    for code in (*range(0x20000), *range(0xE0000, 0xE1000), *range(0x10FF00, 0x110000)):
        shown = safe(chr(code))
        assert shown.isprintable(), hex(code)
        assert cell_len(shown) > 0, hex(code)


@pytest.mark.parametrize("limit", [0, 1, 2, 10])
@pytest.mark.parametrize("text", ["a" * 40, "\x1b" * 40, "é" * 40, "e" + "\u0301" * 40, "\U000e0041" * 3])
def test_the_answer_is_never_longer_than_the_limit_and_says_that_it_was_cut(text: str, limit: int) -> None:
    shown = safe(text, limit)
    assert len(shown) <= limit
    assert limit == 0 or shown.endswith(ELLIPSIS)
    assert "\\" not in shown or shown[:-1] in {r"\x1b", r"\x1b\x1b"}, "an escape is never cut in two"


@given(ANY_TEXT | NASTY, st.integers(0, 60))
def test_safe_text_has_no_forbidden_character_and_stays_as_it_is(text: str, limit: int) -> None:
    shown = safe(text, limit)
    assert not forbidden(shown)
    assert shown.isprintable()
    assert len(shown) <= limit
    assert safe(shown, limit) == shown
    assert longest_run_of_marks(shown) <= MAX_MARKS
    shown.encode("utf-8")


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=512))
def test_plain_ascii_comes_back_unchanged(text: str) -> None:
    assert safe(text) == text


@given(ANY_TEXT | NASTY, st.integers(-1, 40))
def test_clip_and_fit_keep_to_the_cells(text: str, cells: int) -> None:
    shown = safe(text)
    clipped = clip(shown, cells)
    assert cell_len(clipped) <= max(cells, 0)
    assert clipped == shown or clipped.endswith(ELLIPSIS) or cells <= 0
    for align in ("left", "right", "center"):
        assert cell_len(fit(shown, cells, align)) == max(cells, 0)


@pytest.mark.parametrize(
    ("text", "cells", "clipped"),
    [
        ("hello", 5, "hello"),
        ("hello", 4, "hel…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("hello", 1, "…"),
        ("日", 1, "…"),
        ("hello", 0, ""),
        ("é" * 3, 2, "é…"),
    ],
)
def test_clip(text: str, cells: int, clipped: str) -> None:
    assert clip(text, cells) == clipped


def test_fit_aligns() -> None:
    assert [fit("日", 5), fit("日", 5, "right"), fit("日", 5, "center")] == ["日   ", "   日", " 日  "]


def test_the_command_line_can_use_it_without_textual() -> None:
    code = "import sys, tui_crawler.text.safe_text; sys.exit('textual' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
