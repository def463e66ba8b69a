"""The list of all pages, held in part: no gap, no page twice, bounded, in either direction, whatever comes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, page
from tui_crawler.console import page_book
from tui_crawler.console.page_book import PageBook
from tui_crawler.console.present.url_rows import position_words
from tui_crawler.console.url_parts import UrlWindow
from tui_crawler.domain.page_filter import PageFilter, PageWindow, read_page_filter

KEPT, WINDOW = 40, 10


@pytest.fixture(scope="module", autouse=True)
def small() -> object:
    """Windows small enough to see many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_book, "KEPT", KEPT)
        patch.setattr(page_book, "WINDOW", WINDOW)
        yield


def made(number: int) -> FakeReports:
    return FakeReports(pages=tuple(page(2 * n, f"{API}/p/{n}", "request_timeout") for n in range(1, number + 1)))


def read(reports: FakeReports, part: UrlWindow) -> PageWindow:
    return reports.page_window(part.narrowing, part.after_id, WINDOW, part.newest_first)


def ids(book: PageBook) -> list[int]:
    return [one.page_id for one in book.pages]


def narrowing(text: str) -> PageFilter:
    found = read_page_filter(text)
    assert isinstance(found, PageFilter)
    return found


STEPS = st.lists(st.sampled_from(["below", "above", "again", "end", "grow", "fill"]), max_size=60)


@given(steps=STEPS, number=st.integers(0, 90), newest=st.booleans(), from_end=st.booleans())
@settings(max_examples=120, deadline=None)
def test_what_is_held_is_always_a_stretch_of_the_list(
    steps: list[str], number: int, newest: bool, from_end: bool
) -> None:
    reports = made(number)
    book = PageBook(newest_first=newest, from_end=from_end)
    assert book.take(book.begin, read(reports, book.begin))
    for step in steps:
        every = sorted((one.page_id for one in reports.pages), reverse=newest)
        part = None
        match step:
            case "below":
                part = book.below
            case "above":
                part = book.above
            case "again" if book.pages:
                part = book.again(book.pages[len(book.pages) // 2].page_id)
            case "end":
                part = book.end_again
            case "grow":
                last = max((one.page_id for one in reports.pages), default=0)
                reports.pages = (*reports.pages, page(last + 2, f"{API}/n/{last}", "request_timeout"))
            case "fill" if reports.pages:
                odd = reports.pages[len(reports.pages) // 2].page_id + 1
                if all(one.page_id != odd for one in reports.pages):
                    reports.pages = (*reports.pages, page(odd, f"{API}/odd/{odd}", "request_timeout"))
        if part is not None:
            book.take(part, read(reports, part))
        held = ids(book)
        assert len(set(held)) == len(held)
        assert held == sorted(held, reverse=newest)
        assert set(held) <= {*every, *(one.page_id for one in reports.pages)}
        assert len(held) <= KEPT + 2 * WINDOW
        if not {"grow", "fill"} & set(steps) and held:
            first = every.index(held[0])
            assert held == every[first : first + len(held)], "there is no gap"
            if book.first is not None and book.exact:
                assert book.first == first + 1
            assert book.at_first == (first == 0) or not held
            if book.below is None:
                assert held[-1] == every[-1]


def test_reading_on_reaches_every_page_and_back() -> None:
    reports, book = made(200), PageBook()
    book.take(book.begin, read(reports, book.begin))
    seen: set[int] = set(ids(book))
    while (below := book.below) is not None:
        book.take(below, read(reports, below))
        seen |= set(ids(book))
    assert seen == {one.page_id for one in reports.pages}
    assert (book.first or 0) + len(book.pages) - 1 == 200
    assert position_words(book, len(book.pages) - 1) == "row 200 of 200"
    while (above := book.above) is not None:
        book.take(above, read(reports, above))
    assert book.first == 1
    assert ids(book)[0] == 2
    assert book.below is not None


def test_the_end_is_reached_without_what_lies_before_and_its_place_is_about_known() -> None:
    reports, book = made(200), PageBook(from_end=True)
    book.take(book.begin, read(reports, book.begin))
    assert ids(book)[-1] == 400
    assert (book.first, book.exact) == (191, False)
    assert position_words(book, 0) == "row ~191 of 200"
    filtered = PageBook(narrowing("/p/1"), from_end=True)
    filtered.take(filtered.begin, read(reports, filtered.begin))
    assert filtered.first is None
    assert position_words(filtered, 0).startswith("row 10 from the end · looked at ")


def test_a_page_that_changed_is_shown_anew_and_one_that_passes_no_more_is_gone() -> None:
    reports, book = made(30), PageBook(narrowing("exit:timeout"))
    book.take(book.begin, read(reports, book.begin))
    again = book.again(ids(book)[3])
    assert again is not None
    assert not book.take(again, read(reports, again)), "nothing is new"
    pages = list(reports.pages)
    pages[3] = replace(pages[3], last_exit_code="file_ingested")
    pages[4] = replace(pages[4], title="another")
    reports.pages = tuple(pages)
    assert book.take(again, read(reports, again))
    assert pages[3].page_id not in ids(book)
    held = book.page(pages[4].page_id)
    assert held is not None
    assert held.title == "another"
    assert book.page("no id") is None


def test_a_window_of_another_list_is_not_taken() -> None:
    reports, book = made(30), PageBook()
    other = UrlWindow(narrowing("/p/1"))
    assert not book.take(other, read(reports, other))
    late = UrlWindow(PageFilter(), 40)
    assert not book.take(late, read(reports, late)), "it does not begin there"
    book.take(book.begin, read(reports, book.begin))
    assert not book.take(late, read(reports, late)), "it touches nothing that is held"
