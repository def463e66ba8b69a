"""What narrows a list of pages: the words, and the database that keeps what they mean."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.page_holds import passes
from tests.console.sample_crawl import API, page
from tests.console.sample_relations import texts_of
from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, A, B, crawled, failed, fill_of, plan, refusal
from tests.storage.reading import pages_of
from tui_crawler.console.keys import KeyNames
from tui_crawler.console.operator.retry_start import NextRequest
from tui_crawler.console.urls.queries import PageListWindow
from tui_crawler.console.urls.rows import URLS, PageLine, nothing_words, position_words
from tui_crawler.domain.crawl.recovery import NextTry
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page_view import PageView
from tui_crawler.domain.rules.page_filter import (
    ExitTerm,
    FilterProblem,
    Measure,
    NumberTerm,
    PageFilter,
    PageListState,
    PageWindow,
    StateTerm,
    TextOf,
    TextTerm,
    read_page_filter,
    state_of,
)
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.reports import page_windows
from tui_crawler.storage.reports.reports import Reports

# what a line of text means


def part(text: str, inverted: bool = False) -> TextTerm:
    """A text that is part of URLs."""
    return TextTerm(TextOf.in_url, (text,), inverted)


def test_words_of_a_filter() -> None:
    assert read_page_filter("") == read_page_filter("  ") == PageFilter()
    assert read_page_filter("items !user") == PageFilter((part("items"), part("user", True)))
    assert read_page_filter("http://x") == PageFilter((part("http://x"),))
    assert read_page_filter("title:Sale,b !title:x") == PageFilter(
        (TextTerm(TextOf.in_title, ("Sale", "b")), TextTerm(TextOf.in_title, ("x",), True))
    )
    assert read_page_filter("!") == PageFilter((part("!"),))
    assert read_page_filter("depth:>3,1") == PageFilter((NumberTerm(Measure.depth, ((4, 2**31), (1, 1))),))
    assert read_page_filter("depth:<=3") == PageFilter((NumberTerm(Measure.depth, ((0, 3),)),))
    assert read_page_filter("!status:4xx,500-503,none") == PageFilter(
        (NumberTerm(Measure.status, ((400, 499), (500, 503)), True, True),)
    )
    assert read_page_filter("origin:API.example.org") == PageFilter((TextTerm(TextOf.of_origin, ("api.example.org",)),))
    assert read_page_filter("!~a.b") == PageFilter((TextTerm(TextOf.as_pattern, (r"(?i)a.*\..*b",), True),))
    assert read_page_filter("~") == PageFilter((part("~"),))
    assert read_page_filter("re:/p[0-9]+$") == PageFilter((TextTerm(TextOf.as_pattern, ("/p[0-9]+$",)),))
    assert read_page_filter("state:st") == PageFilter((StateTerm(frozenset({PageListState.stashed})),))


def test_exit_codes_are_named_whole_in_groups_or_in_part() -> None:
    def codes(text: str) -> frozenset[ExitCode]:
        read = read_page_filter(f"exit:{text}")
        assert isinstance(read, PageFilter)
        (term,) = read.terms
        assert isinstance(term, ExitTerm)
        return term.codes

    assert codes("redirect") == {ExitCode.redirect}
    assert codes("101") == codes("request_timeout") == codes("timeout") == {ExitCode.request_timeout}
    assert codes("network") == {
        ExitCode.connection_failed,
        ExitCode.request_timeout,
        ExitCode.error_reading_response,
    }
    assert codes("rate_limited,not_found") == {ExitCode.rate_limited, ExitCode.file_not_found}
    never = read_page_filter("exit:none")
    assert never == PageFilter((ExitTerm(frozenset(), True),))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exit:nonsense", "no exit code is called nonsense"),
        ("status:4x", "status: 4x is no number"),
        ("depth:deep", "depth: deep is no number"),
        ("depth:>", "depth: > is no number"),
        ("state:odd", "no state odd"),
        ("re:(", "re: "),
        ("foo:", "no such field: foo; there are exit: status: depth: origin: state: title: re:"),
        ("name:home", "no such field: name"),
        ("!size:>10", "no such field: size"),
        ("re:(?=x)", "re: "),
        ("a " * 21, "more than 20 words"),
    ],
)
def test_what_is_not_understood_is_said(text: str, words: str) -> None:
    read = read_page_filter(text)
    assert isinstance(read, FilterProblem)
    assert words in read.message


@pytest.mark.parametrize(
    "text", ["https://a.example/x", "localhost:8080", "127.0.0.1:93", "wiki/Talk:Main", ":", "a-b:c"]
)
def test_a_part_of_a_url_with_a_colon_is_no_field(text: str) -> None:
    assert read_page_filter(text) == PageFilter((part(text),))


def test_a_field_without_a_value_yet_narrows_nothing() -> None:
    for field in ("exit", "status", "depth", "origin", "state", "re"):
        assert read_page_filter(f"{field}:") == read_page_filter(f"!{field}:,") == PageFilter()


@given(st.text(max_size=60))
def test_any_text_is_a_filter_or_a_problem(text: str) -> None:
    read = read_page_filter(text)
    assert isinstance(read, PageFilter | FilterProblem)
    if isinstance(read, PageFilter):
        passes(read, page(1, f"{API}/x", "request_timeout"), frozenset())


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"status": "STASHED"}, PageListState.stashed),
        ({"status": "SKIPPED"}, PageListState.skipped),
        ({"status": "CLAIMED"}, PageListState.claimed),
        ({"attempts_remaining": 2}, PageListState.retry),
        ({"attempts_remaining": 2, "last_exit_code": ""}, PageListState.queued),
        ({"last_exit_code": "file_ingested"}, PageListState.done),
        ({"last_exit_code": "blocked_by_robots_txt"}, PageListState.blocked),
        ({"last_exit_code": "of_a_newer_version"}, PageListState.done),
        ({}, PageListState.failed),
    ],
)
def test_the_state_of_a_page(changes: dict[str, object], state: PageListState) -> None:
    one = replace(page(1, f"{API}/x", "request_timeout"), **changes)  # type: ignore[arg-type]  # by name
    assert state_of(one) is state
    assert state.value in texts_of(URLS, PageLine(one, NextRequest(NextTry.now)))["state"]


# against a real database


@pytest.fixture
async def reports(tmp_path: Path) -> AsyncIterator[Reports]:
    """A database with pages in most states, at two origins."""
    path = tmp_path / "crawl.db"
    open_writable(path, OpenSettings()).close()
    bench = DatabaseBench(path)
    store = bench.open()
    await store.begin_run(plan(f"{A}/", f"{B}/Shop"))
    ends = (
        ExitCode.file_not_found,
        ExitCode.request_timeout,
        ExitCode.server_internal_error,
        ExitCode.blocked_by_robots_txt,
        ExitCode.skipped_by_rule,
    )
    for origin in (A, B):
        (home,) = (await store.candidates(origin, T0, 10, True)).pages
        await store.fill(fill_of((home,), origin))
        await store.settle(crawled(home, T0 + 10, *(f"{origin}/items/{n}?page={n}" for n in range(12))))
        found = (await store.candidates(origin, T0 + 20, 100, False)).pages
        await store.fill(fill_of(found, origin))
        for number, (one, code) in enumerate(zip(found, ends * 2, strict=False)):
            if code in {ExitCode.blocked_by_robots_txt, ExitCode.skipped_by_rule}:
                await store.settle(refusal(one, T0 + 30 + number, code))
            else:
                status = {ExitCode.file_not_found: 404, ExitCode.server_internal_error: 500}.get(code)
                await store.settle(failed(one, T0 + 30 + number, code, status))
    made = Reports(path, now=lambda: T0 + 100)
    yield made
    made.close()
    bench.close()


def walk(reports: Reports, narrowing: PageFilter, limit: int, *, newest_first: bool = False) -> list[PageView]:
    """All windows one after the other."""
    found: list[PageView] = []
    after = 0
    while True:
        window = reports.page_window(narrowing, after, limit, newest_first)
        found += window.pages
        if window.ended:
            return found
        assert window.last_id != after
        after = window.last_id


FILTERS = [
    "",
    "%",
    "1_page !!",
    "=1" + 10_000 * "x",
    "items !/1",
    "ITEMS/3",
    "exit:network",
    "exit:not_found,none",
    "!exit:timeout",
    "!exit:none",
    "status:404",
    "!status:404",
    "status:none,5xx",
    "depth:0",
    "depth:>0 !depth:2-9",
    f"origin:{A}",
    "origin:a.example/ state:failed",
    "origin:example",
    "!origin:b.example",
    "origin:nowhere",
    "origin:a.example origin:b.example",
    "state:retry,failed",
    "state:blocked,skipped",
    "!state:queued",
    "state:done re:/$",
    r"re:[13]\?page=\d$ !re:11",
    "exit:timeout 1 origin:a.example",
]


@pytest.mark.parametrize("text", FILTERS)
async def test_the_database_keeps_what_the_words_mean(
    text: str, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrowing = read_page_filter(text)
    assert isinstance(narrowing, PageFilter)
    known = pages_of(reports)
    assert len(known) == 26
    wanted = [one for one in known if passes(narrowing, one, frozenset({A, B}))]
    assert walk(reports, narrowing, 1_000) == wanted
    for step, look_s, few in ((3, 60, 200), (2, 0, 0)):
        reports._reader.looked_for = ("", 0, ())
        monkeypatch.setattr(page_windows, "STEP", step)
        monkeypatch.setattr(page_windows, "LOOK_S", look_s)
        monkeypatch.setattr(page_windows, "FEW", few)
        assert walk(reports, narrowing, 3) == wanted
        assert walk(reports, narrowing, 3, newest_first=True) == wanted[::-1]


async def test_every_state_but_those_of_live_and_stashed_pages_was_tried(reports: Reports) -> None:
    states = {state_of(one) for one in pages_of(reports)}
    assert states >= set(PageListState) - {PageListState.claimed, PageListState.stashed}


async def test_a_window_says_how_far_it_looked(reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_windows, "STEP", 10)
    monkeypatch.setattr(page_windows, "LOOK_S", 0)
    narrowing = read_page_filter("re:nowhere-to-be-found")
    assert isinstance(narrowing, PageFilter)
    window = reports.page_window(narrowing, 0, 200)
    assert (window.pages, window.looked_at, window.known, window.ended) == ((), 10, 26, False)
    keyset = PageListWindow(narrowing)
    keyset.take(keyset.begin, window)
    assert position_words(keyset, 0) == "none · looked at 10 of 26 rows"
    assert nothing_words(keyset, KeyNames()).startswith("Nothing among 10 of 26 rows yet; looking on.")
    assert walk(reports, narrowing, 200) == []


async def test_failures_and_an_origin_are_found_by_their_index(reports: Reports) -> None:
    narrowing = read_page_filter("state:failed nothing")
    assert isinstance(narrowing, PageFilter)
    window = reports.page_window(narrowing, 0, 200)
    assert window.looked_at == window.known == reports.totals().failed == 12
    at_one = read_page_filter("origin:a.example nothing")
    assert isinstance(at_one, PageFilter)
    assert reports.page_window(at_one, 0, 200).looked_at == 13


def test_a_plain_word_that_is_a_state_and_finds_nothing_is_told_how_to_narrow_by_state() -> None:
    def said(text: str) -> str:
        narrowing = read_page_filter(text)
        assert isinstance(narrowing, PageFilter)
        keyset = PageListWindow(narrowing)
        keyset.take(keyset.begin, PageWindow((), 26, 26))
        return nothing_words(keyset, KeyNames())

    hint = "No URL or title contains this · state:blocked narrows by state."
    assert said("blocked").startswith(hint)
    assert said("Blocked /news").startswith(hint)
    assert "state:retry state:done narrows" in said("retry done")
    for other in ("block", "!blocked", "state:blocked", "exit:timeout"):
        assert said(other).startswith("No URL passes the filter.")
