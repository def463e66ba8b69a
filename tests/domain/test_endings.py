"""What is said of how crawls end (docs/behaviour.md)."""

from __future__ import annotations

import pytest

from tui_crawler.domain.records.status_words import elsewhere_words


@pytest.mark.parametrize(
    ("not_canonical", "ended", "left", "begins"),
    [
        (25, 40, 100, "25 of 40 pages name another URL as canonical and were dropped"),
        (20, 40, 0, ""),
        (19, 20, 100, ""),
        (19, 20, 0, ""),
        (3, 3, 0, "3 of 3 pages name"),
        (1, 1, 0, "its only page names another URL as canonical and was dropped"),
        (1, 1, 3, ""),
        (0, 0, 0, ""),
    ],
)
def test_an_origin_most_of_whose_pages_are_not_canonical_is_warned_of(
    not_canonical: int, ended: int, left: int, begins: str
) -> None:
    words = elsewhere_words(not_canonical, ended, left)
    assert words.startswith(begins)
    assert bool(words) == bool(begins)
    assert not words or "crawl.canonical: same_origin" in words
