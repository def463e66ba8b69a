"""The list of all pages, held in part: no gap, no page twice, bounded, in either direction, whatever comes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, page
from tui_crawler.console.reading import window as page_book
from tui_crawler.console.reading.ask import PageAsk
from tui_crawler.console.urls import queries as url_queries
from tui_crawler.console.urls.queries import PageListWindow, url_window
from tui_crawler.console.urls.rows import position_words
from tui_crawler.domain.rules.page_filter import PageFilter, PageWindow, read_page_filter

KEPT, WINDOW = 40, 10


@pytest.fixture(scope="module", autouse=True)
def small() -> object:
    """Windows small enough to see many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_book, "KEPT", KEPT)
        patch.setattr(page_book, "WINDOW", WINDOW)
        patch.setattr(url_queries, "WINDOW", WINDOW)
        yield


def made(number: int) -> FakeReports:
    return FakeReports(pages=tuple(page(2 * n, f"{API}/p/{n}", "request_timeout") for n in range(1, number + 1)))


def read(reports: FakeReports, part: PageAsk) -> PageWindow:
    return part.read(reports, 0)


def ids(keyset: PageListWindow) -> list[int]:
    return [one.page_id for one in keyset.rows]


def narrowing(text: str) -> PageFilter:
    found = read_page_filter(text)
    assert isinstance(found, PageFilter)
    return found


STEPS = st.lists(st.sampled_from(["below", "above", "again", "end", "grow", "fill"]), max_size=60)
LOOKED_AT = {"below": -1, "above": 0}


@given(steps=STEPS, number=st.integers(0, 90), newest=st.booleans(), from_end=st.booleans())
def test_what_is_held_is_always_a_stretch_of_the_list(
    steps: list[str], number: int, newest: bool, from_end: bool
) -> None:
    reports = made(number)
    keyset = PageListWindow(newest_first=newest, from_end=from_end)
    assert keyset.take(keyset.begin, read(reports, keyset.begin))
    for step in steps:
        every = sorted((one.page_id for one in reports.pages), reverse=newest)
        part = None
        match step:
            case "below":
                part = keyset.below
            case "above":
                part = keyset.above
            case "again" if keyset.rows:
                part = keyset.again(keyset.rows[len(keyset.rows) // 2].page_id)
            case "end":
                part = keyset.end_again
            case "grow":
                last = max((one.page_id for one in reports.pages), default=0)
                reports.pages = (*reports.pages, page(last + 2, f"{API}/n/{last}", "request_timeout"))
            case "fill" if reports.pages:
                odd = reports.pages[len(reports.pages) // 2].page_id + 1
                if all(one.page_id != odd for one in reports.pages):
                    reports.pages = (*reports.pages, page(odd, f"{API}/odd/{odd}", "request_timeout"))
        if part is not None:
            keyset.take(part, read(reports, part))
        if held := ids(keyset):
            anchor = held[LOOKED_AT.get(step, len(held) // 2)]
            keyset.let_go(anchor)
            assert keyset.row(anchor) is not None
        held = ids(keyset)
        assert len(set(held)) == len(held)
        assert held == sorted(held, reverse=newest)
        assert set(held) <= {*every, *(one.page_id for one in reports.pages)}
        assert len(held) <= KEPT + 2 * WINDOW
        if not {"grow", "fill"} & set(steps) and held:
            first = every.index(held[0])
            assert held == every[first : first + len(held)], "there is no gap"
            if keyset.first is not None and keyset.exact:
                assert keyset.first == first + 1
            assert keyset.at_first == (first == 0) or not held
            if keyset.below is None:
                assert held[-1] == every[-1]


def test_reading_on_reaches_every_page_and_back() -> None:
    reports, keyset = made(200), PageListWindow()
    keyset.take(keyset.begin, read(reports, keyset.begin))
    seen: set[int] = set(ids(keyset))
    while (below := keyset.below) is not None:
        keyset.take(below, read(reports, below))
        seen |= set(ids(keyset))
        keyset.let_go(ids(keyset)[-1])
    assert seen == {one.page_id for one in reports.pages}
    assert (keyset.first or 0) + len(keyset.rows) - 1 == 200
    assert position_words(keyset, len(keyset.rows) - 1) == "row 200 of 200"
    while (above := keyset.above) is not None:
        keyset.take(above, read(reports, above))
        keyset.let_go(ids(keyset)[0])
    assert keyset.first == 1
    assert ids(keyset)[0] == 2
    assert keyset.below is not None


def test_the_end_is_reached_without_what_lies_before_and_its_place_is_about_known() -> None:
    reports, keyset = made(200), PageListWindow(from_end=True)
    keyset.take(keyset.begin, read(reports, keyset.begin))
    assert ids(keyset)[-1] == 400
    assert (keyset.first, keyset.exact) == (191, False)
    assert position_words(keyset, 0) == "row ~191 of 200"
    filtered = PageListWindow(narrowing("/p/1"), from_end=True)
    filtered.take(filtered.begin, read(reports, filtered.begin))
    assert filtered.first is None
    assert position_words(filtered, 0).startswith("row 10 from the end · looked at ")


def test_a_page_that_changed_is_shown_anew_and_one_that_passes_no_more_is_gone() -> None:
    reports, keyset = made(30), PageListWindow(narrowing("exit:timeout"))
    keyset.take(keyset.begin, read(reports, keyset.begin))
    again = keyset.again(ids(keyset)[3])
    assert again is not None
    assert not keyset.take(again, read(reports, again)), "nothing is new"
    pages = list(reports.pages)
    pages[3] = replace(pages[3], last_exit_code="file_ingested")
    pages[4] = replace(pages[4], title="another")
    reports.pages = tuple(pages)
    assert keyset.take(again, read(reports, again))
    assert pages[3].page_id not in ids(keyset)
    held = keyset.row(pages[4].page_id)
    assert held.title == "another"
    assert keyset.row("no id") is None


def test_a_window_of_another_list_is_not_taken() -> None:
    reports, keyset = made(30), PageListWindow()
    other = url_window(narrowing("/p/1"))
    assert not keyset.take(other, read(reports, other))
    late = url_window(PageFilter()).at(40, newest_first=False)
    assert not keyset.take(late, read(reports, late)), "it does not begin there"
    keyset.take(keyset.begin, read(reports, keyset.begin))
    assert not keyset.take(late, read(reports, late)), "it touches nothing that is held"
