"""Patterns from users: one set answers like one by one, and nothing is silent about what it cannot do."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.rules.pattern import BadPattern, Pattern, PatternSet, escape, glob


def test_the_first_and_all_that_match() -> None:
    patterns = PatternSet(["/private/", r"\d{4}$", "private", "^https:"])
    assert patterns.all("http://h/private/2024") == [0, 1, 2]
    assert patterns.first("http://h/private/2024") == 0
    assert patterns.first("http://h/a-private-thing") == 2
    assert patterns.first("http://h/") is None
    assert patterns.all("http://h/") == []
    assert (len(patterns), patterns._set is not None) == (4, True)


def test_an_empty_set_never_matches() -> None:
    patterns = PatternSet([])
    assert (patterns.first(""), patterns.all("x"), len(patterns)) == (None, [], 0)


def test_an_empty_pattern_always_matches() -> None:
    assert PatternSet(["x", ""]).all("") == [1]


@pytest.mark.parametrize("text", ["", "\x00a\x00", "é", "\ud800", "😀", "a" * 100_000])
def test_any_text_can_be_searched(text: str) -> None:
    assert PatternSet(["a", "^", "zz"]).all(text) == ([0, 1] if "a" in text else [1])


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "missing ): ("),
        ("*", "no argument for repetition operator: *"),
        ("a(?=b)", "invalid perl operator: (?="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("x{2000}", "invalid repetition size: {2000}"),
        (r"\p{L}{900}", "pattern too large - compile failed"),
        ("\ud800", "contains a lone surrogate"),
    ],
)
def test_a_bad_pattern_says_what_is_wrong_and_writes_nothing(
    pattern: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for make in (lambda: Pattern(pattern), lambda: PatternSet(["fine", pattern])):
        with pytest.raises(BadPattern) as caught:
            make()
        assert (caught.value.pattern, caught.value.message) == (pattern, message)
        assert message in str(caught.value)
    assert capfd.readouterr() == ("", "")


MANY = [pattern for n in range(60) for pattern in (f"/(x|y)*{n}[a-z]+", f"^http.*{n}$", f"[?&]k{n}=[0-9a-f]+")]


def test_a_set_too_large_for_its_memory_answers_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    whole, split = PatternSet(MANY), PatternSet(MANY, memory=20_000)
    assert (whole._set is not None, split._set is not None) == (True, False)
    for text in ("http://h/xyx17ab", "http://h/?k59=0a", "http://h/nothing", "http://h/x0a1?k3=f&k4=59"):
        assert whole.all(text) == split.all(text)
        assert whole.first(text) == split.first(text)
    assert capfd.readouterr() == ("", "")


class OutOfMemory:
    """What RE2's set answers when its automaton outgrows its memory: the same as for no match."""

    def Match(self, text: bytes) -> None:  # noqa: N802  # the name is RE2's
        assert text


def test_a_search_that_runs_out_of_memory_is_not_taken_for_no_match() -> None:
    patterns = PatternSet(["a", "b", "c"])
    patterns._set = OutOfMemory()
    assert patterns.all("xbc") == [1, 2]
    assert patterns.first("xbc") == 1
    assert patterns.all("x") == []


@given(
    st.lists(st.sampled_from(["a", "b+", "^ab", "ba$", "a.b", "[^a]", "(ab)+", "c?", "é", r"\d"]), max_size=8),
    st.text("ab1é\n", max_size=8),
)
def test_a_set_answers_like_its_patterns_one_by_one(patterns: list[str], text: str) -> None:
    alone = [index for index, pattern in enumerate(patterns) if Pattern(pattern).search(text)]
    found = PatternSet(patterns)
    assert found.all(text) == alone
    assert found.first(text) == (alone[0] if alone else None)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.text(max_size=3))
def test_an_escaped_text_matches_itself_only(text: str, more: str) -> None:
    whole = Pattern(rf"\A{escape(text)}\z")
    assert whole.search(text)
    assert whole.search(text + more) == (more == "")


def test_a_lone_surrogate_cannot_be_escaped() -> None:
    with pytest.raises(BadPattern):
        escape("\udfff")


@pytest.mark.parametrize(
    ("shape", "text", "fits"),
    [
        ("*", "", True),
        ("*", "a/b\nc", True),
        ("/a/*/c", "/a/b/b/c", True),
        ("/a/*/c", "/a/c", False),
        ("/a?c", "/abc", True),
        ("/a?c", "/abbc", False),
        ("*.example.org", "www.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "www.example.org.evil", False),
        ("*.example.org", "www.exampleXorg", False),
        ("[ab]c", "bc", True),
        ("[ab]c", "cc", False),
        ("[!ab]c", "cc", True),
        ("[a-c]", "b", True),
        ("[]]", "]", True),
        (r"[\]", "\\", True),
        ("[^]", "^", True),
        ("[x", "[x", True),
        ("a.b", "axb", False),
    ],
)
def test_a_glob(shape: str, text: str, fits: bool) -> None:
    assert Pattern(glob(shape)).search(text) == fits


def test_backtracking_has_nothing_to_blow_up() -> None:
    assert not Pattern(r"^(a*)*b$").search("a" * 1_000_000)
    assert not PatternSet([r"(a+)+$x", r"(.*a){20}b"]).all("a" * 100_000)


@given(st.text("ab*?[]!x", max_size=8))
def test_any_glob_compiles_or_says_why(shape: str) -> None:
    try:
        pattern = Pattern(glob(shape))
    except BadPattern as bad:
        assert "[" in shape and bad.message
    else:
        if not re.search(r"[*?\[]", shape):
            assert pattern.search(shape)
