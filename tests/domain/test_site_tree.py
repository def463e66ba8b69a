"""Branches of a site: every URL in one of them, counts that add up, whatever stands in paths and queries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.history.site_tree import (
    OWN_PAGES,
    BranchCounts,
    BranchTally,
    end_of,
    is_prefix,
    name_below,
    total,
)

A = "https://a.example"
PARTS = st.sampled_from(["a", "b", "", "a-b", "%2F", "%3F", "...", ";x=1", "~", "\u00fc", "0"])
PATHS = st.lists(PARTS, min_size=1, max_size=5).map("/".join)
QUERIES = st.one_of(st.just(""), st.sampled_from(["?", "?q=1", "?u=/a/b", "?q?", "?/"]))
URLS = st.builds(lambda path, query: f"{A}/{path}{query}", PATHS, QUERIES)
COUNTS = st.builds(BranchCounts, *[st.integers(0, 99)] * 9)


def below(prefix: str, urls: list[str]) -> dict[str, list[str]]:
    """The URLs of a branch by the names of those right below it."""
    found: dict[str, list[str]] = {}
    for url in urls:
        found.setdefault(name_below(prefix, url), []).append(url)
    return found


@given(st.lists(URLS, unique=True))
def test_every_url_is_on_every_level_in_one_branch_and_at_last_among_own_pages(urls: list[str]) -> None:
    left = [(f"{A}/", urls)]
    seen: list[str] = []
    while left:
        prefix, held = left.pop()
        for name, members in below(prefix, held).items():
            if name == OWN_PAGES:
                seen += members
                continue
            assert name[-1] in "/?"
            assert is_prefix(prefix + name, A)
            assert all(url.startswith(prefix + name) for url in members)
            assert all(not url.startswith(prefix + name) for url in held if url not in members)
            left.append((prefix + name, members))
    assert sorted(seen) == sorted(urls)


@given(st.lists(URLS), URLS)
def test_a_range_of_texts_is_a_branch(urls: list[str], one: str) -> None:
    prefix = f"{A}/" + name_below(f"{A}/", one)
    assert [url for url in urls if prefix <= url < end_of(prefix)] == [url for url in urls if url.startswith(prefix)]


@given(st.lists(st.tuples(URLS, COUNTS)), st.integers(1, 7), st.integers(0, 4))
def test_pieces_add_up_to_their_branch(counted: list[tuple[str, BranchCounts]], size: int, most: int) -> None:
    tally = BranchTally()
    for at in range(0, len(counted), size):
        piece: dict[str, BranchCounts] = {}
        for url, counts in counted[at : at + size]:
            name = name_below(f"{A}/", url)
            piece[name] = total((piece.get(name, BranchCounts()), counts))
        tally = tally.plus(BranchTally(piece, len(piece), counted[at][0], ended=False), most)
    assert tally.total == total(counts for _, counts in counted)
    names = [name for name in dict.fromkeys(name_below(f"{A}/", url) for url, _ in counted) if name]
    assert len(set(tally.counts) - {OWN_PAGES}) == min(most, len(names))


def test_a_query_parts_nothing_and_an_escaped_slash_neither() -> None:
    assert name_below(f"{A}/", f"{A}/search?u=/a/b") == "search?"
    assert name_below(f"{A}/", f"{A}/?q") == "?"
    assert name_below(f"{A}/", f"{A}/a%2Fb/c") == "a%2Fb/"
    assert name_below(f"{A}/", f"{A}//c") == "/"
    assert name_below(f"{A}/a?", f"{A}/a?b/c?d") == OWN_PAGES
    assert [is_prefix(text, A) for text in (f"{A}/a", f"{A}/a?b/", A, f"{A}x/", "")] == [False] * 5


def test_means_are_of_what_was_timed_and_growth_is_by_the_minute() -> None:
    assert BranchCounts().mean_ms is None
    assert BranchCounts(timed=3, response_ms=301, fresh=10).mean_ms == 100
    assert BranchCounts(fresh=10).growth == 2.0
