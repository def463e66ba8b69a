"""How many pages pass the filter of view 3, and when that is counted anew."""

from __future__ import annotations

import pytest

from tui_crawler.console.reading.ask import ReadingRequest
from tui_crawler.console.reading.refresh import Snapshot
from tui_crawler.console.urls.whole_list import RECOUNT_MS, MatchCount
from tui_crawler.domain.rules.page_filter import PageFilter, PageTally, read_page_filter

KNOWN = 1_000


class Counting(MatchCount):
    """What counts at a time that a test sets, and whether more is to be read soon."""

    def __init__(self) -> None:
        super().__init__(self.ask_on, lambda: self.now)
        self.now, self.asked_on = 0, False

    def ask_on(self) -> None:
        self.asked_on = True


def counting() -> Counting:
    narrowing = read_page_filter("depth:>2")
    assert isinstance(narrowing, PageFilter)
    matches = Counting()
    matches.look(narrowing)
    return matches


def read(matches: Counting, now: int, *, matched: int, last_id: int = 0) -> bool:
    """Take a piece; whether another one is to be counted."""
    matches.now, matches.asked_on = now, False
    (ask,) = matches.asks(frozen=False)
    tally = PageTally(matched, KNOWN // 2, KNOWN, last_id, ended=not last_id)
    matches.take(Snapshot(ReadingRequest(), 0, None, {ask: tally}), frozen=False)
    return matches.asked_on


def counts_again(matches: Counting, now: int) -> bool:
    matches.now, matches.asked_on = now, False
    matches.count_again()
    return matches.asked_on


def test_the_list_of_all_pages_is_not_counted() -> None:
    matches = Counting()
    matches.look(PageFilter())
    assert matches.asks(frozen=False) == ()
    assert not counts_again(matches, 10 * RECOUNT_MS)


def test_pieces_are_added_up() -> None:
    matches = counting()
    assert matches.found is None
    assert read(matches, 100, matched=3, last_id=500)
    assert matches.found == PageTally(3, KNOWN // 2, KNOWN, ended=False)
    assert not read(matches, 200, matched=4)
    assert matches.found == PageTally(7, KNOWN, KNOWN, ended=True)
    assert matches.asks(frozen=False) == ()


@pytest.mark.parametrize(("took", "holds"), [(100, RECOUNT_MS), (4_000, 40_000)])
def test_a_number_holds_for_a_while_and_longer_the_longer_it_took(took: int, holds: int) -> None:
    matches = counting()
    read(matches, 1_000, matched=3, last_id=500)
    read(matches, 1_000 + took, matched=4)
    assert not counts_again(matches, 1_000 + took + holds - 1)
    assert counts_again(matches, 1_000 + took + holds)
    assert not counts_again(matches, 1_000 + took + 9 * holds), "it is being counted"
    read(matches, 90_000, matched=1, last_id=500)
    assert matches.found == PageTally(7, KNOWN, KNOWN, ended=True), "the one before holds until it is done"
    read(matches, 90_001, matched=1)
    assert matches.found == PageTally(2, KNOWN, KNOWN, ended=True)
