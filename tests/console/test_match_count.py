"""How many pages pass the filter of view 3, and when that is counted anew."""

from __future__ import annotations

import pytest

from tui_crawler.console.urls.whole_list import RECOUNT_MS, MatchCount
from tui_crawler.domain.page_filter import PageFilter, PageTally, read_page_filter

KNOWN = 1_000


def counting() -> MatchCount:
    narrowing = read_page_filter("depth:>2")
    assert isinstance(narrowing, PageFilter)
    matches = MatchCount()
    matches.look(narrowing)
    return matches


def read(matches: MatchCount, now: int, *, matched: int, last_id: int = 0) -> bool:
    (part,) = matches.parts
    return matches.take({part: PageTally(matched, KNOWN // 2, KNOWN, last_id, ended=not last_id)}, now)


def test_the_list_of_all_pages_is_not_counted() -> None:
    matches = MatchCount()
    matches.look(PageFilter())
    assert matches.parts == ()
    assert not matches.go_on(10 * RECOUNT_MS)


def test_pieces_are_added_up() -> None:
    matches = counting()
    assert matches.found is None
    assert read(matches, 100, matched=3, last_id=500)
    assert matches.found == PageTally(3, KNOWN // 2, KNOWN, ended=False)
    assert not read(matches, 200, matched=4)
    assert matches.found == PageTally(7, KNOWN, KNOWN, ended=True)
    assert matches.parts == ()


@pytest.mark.parametrize(("took", "holds"), [(100, RECOUNT_MS), (4_000, 40_000)])
def test_a_number_holds_for_a_while_and_longer_the_longer_it_took(took: int, holds: int) -> None:
    matches = counting()
    read(matches, 1_000, matched=3, last_id=500)
    read(matches, 1_000 + took, matched=4)
    assert not matches.go_on(1_000 + took + holds - 1)
    assert matches.go_on(1_000 + took + holds)
    assert not matches.go_on(1_000 + took + 9 * holds), "it is being counted"
    read(matches, 90_000, matched=1, last_id=500)
    assert matches.found == PageTally(7, KNOWN, KNOWN, ended=True), "the one before holds until it is done"
    read(matches, 90_001, matched=1)
    assert matches.found == PageTally(2, KNOWN, KNOWN, ended=True)
