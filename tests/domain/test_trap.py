"""Whether an origin looks like a trap: what counts as evidence, and what does not."""

from __future__ import annotations

from tests.console.sample_crawl import attempt
from tui_crawler.domain.history.trap import LEAST_PAGES, LEAST_REFUSED, guard_suspicions, shape_of, suspect
from tui_crawler.domain.records.page_view import RefusedView

A = "https://a.example"


def month(number: int, **changes: object) -> object:
    values: dict[str, object] = {"new_pages": 1, "title": f"Calendar {number}", **changes}
    return attempt(number, f"{A}/calendar/{2000 + number}/{number % 12}", "file_ingested", **values)


def refused(reason: str, count: int) -> RefusedView:
    return RefusedView(A, reason, count, f"{A}/x/{reason}")


def test_numbers_and_long_hexadecimal_words_of_a_path_are_left_open() -> None:
    assert shape_of("/calendar/2026/1?day=17") == "/calendar/{n}/{n}?day={n}"
    assert shape_of("/s/9f2c4a71bb/faded") == "/s/{n}/faded"


def test_an_endless_calendar_is_suspected_with_its_numbers() -> None:
    found = suspect(A, (), [month(n) for n in range(LEAST_PAGES)])  # type: ignore[misc]  # made by keyword
    assert found.evidence == ("/calendar/{n}/{n}: 30 of the last 30 pages, 1.0 new ones from each, one title",)
    assert found.sample_url == f"{A}/calendar/2000/0"


def test_too_few_pages_an_end_in_sight_or_titles_of_their_own_speak_against_it() -> None:
    few = [month(n) for n in range(LEAST_PAGES - 1)]
    ending = [month(n, new_pages=n % 2) for n in range(60)]
    named = [month(n, title=f"Product {chr(97 + n // 26)}{chr(97 + n % 26)}") for n in range(60)]
    refusals = [month(n, requests=0) for n in range(60)]
    for pages in (few, ending, named, refusals, []):
        assert suspect(A, (), pages) is None  # type: ignore[arg-type]  # made by keyword
    many = [attempt(n, f"{A}/page-{chr(97 + n % 26)}", "file_ingested", new_pages=2) for n in range(60)]
    assert suspect(A, (), many) is None


def test_pages_of_another_origin_do_not_count() -> None:
    pages = [month(n) for n in range(LEAST_PAGES)]
    assert suspect("https://b.example", [refused("trap_repeat", 99)], pages) is None  # type: ignore[arg-type]  # made by keyword


def test_refusals_of_the_guard_count_when_they_are_many_or_of_both_kinds() -> None:
    assert suspect(A, [refused("trap_repeat", LEAST_REFUSED - 1), refused("scope", 9_000)], ()) is None
    assert suspect(A, [refused("origin_full", 5_000)], ()) is None
    one = suspect(A, [refused("trap_repeat", LEAST_REFUSED)], ())
    assert one.evidence == ("20 links with a path segment more than 3 times",)
    both = guard_suspicions([refused("trap_depth", 1), refused("trap_repeat", 1)])[A]
    assert both.evidence == ("1 link with more than 20 path segments", "1 link with a path segment more than 3 times")
