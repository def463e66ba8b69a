"""Failures in groups with their trend and origins, the pages of any group in windows, counts up to a bound."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, A, B, crawled, failed, plan, refusal
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.storage.reports import failures as failure_reports
from tui_crawler.storage.reports.failures import SPAN_MS, TREND_SPANS
from tui_crawler.storage.reports.reports import Reports

MINUTE = 60_000
NOW = T0 - T0 % SPAN_MS + SPAN_MS - 1  # the last moment of a span


async def many_failures(bench: DatabaseBench) -> None:
    """Six list pages of A with four statuses, and one page of B, failed at several times."""
    store = bench.open()
    await store.begin_run(plan(*(f"{A}/list/{n}" for n in range(6)), f"{B}/about"))
    whens = (NOW, NOW - 1, NOW - 6 * MINUTE, NOW - 6 * MINUTE, NOW - 56 * MINUTE, NOW - 3 * 60 * MINUTE)
    pages = (await store.candidates(A, T0, 10, True)).pages
    for number, (page, at) in enumerate(zip(pages, whens, strict=True)):
        code, status = (ExitCode.file_gone, 410) if number % 2 else (ExitCode.server_internal_error, 503)
        one = failed(page, at, code, status)
        await store.settle(replace(one, attempt=replace(one.attempt, message=f"HTTP {status}", response_ms=number)))
    (page,) = (await store.candidates(B, T0, 10, True)).pages
    await store.settle(failed(page, NOW - 10 * MINUTE, ExitCode.connection_failed))


async def test_groups_have_a_trend_of_fixed_spans_and_their_origins(
    database_bench: DatabaseBench, database_reports: Reports
) -> None:
    await many_failures(database_bench)
    counted = database_reports.failure_count(("pattern",), now=NOW)
    assert (counted.looked_at, counted.failed) == (7, 7)
    lists, about = counted.groups
    assert (lists.key, lists.count, lists.recent) == ((("pattern", "/list/{n}"),), 6, 2)
    assert lists.trend == (1, *(0,) * 9, 2, 2)
    assert len(lists.trend) == TREND_SPANS
    assert lists.origins == ((A, 6),)
    assert about.origins == ((B, 1),)
    (whole,) = database_reports.failure_count((), now=NOW).groups
    assert whole.origins == ((A, 6), (B, 1))


async def test_what_is_left_out_of_a_count_is_told(database_bench: DatabaseBench, database_reports: Reports) -> None:
    await many_failures(database_bench)
    counted = database_reports.failure_count(("exit_code",), 3, NOW)
    assert (counted.looked_at, counted.failed, sum(group.count for group in counted.groups)) == (3, 7, 3)


@pytest.mark.parametrize(
    ("within", "by", "counted"),
    [
        ((("origin", A),), ("exit_code",), {"file_gone": 3, "server_internal_error": 3}),
        ((("origin", B),), ("origin",), {B: 1}),
        ((("origin", A), ("origin", B)), ("origin",), {A: 6, B: 1}),
        ((("exit_code", "file_gone"), ("origin", A)), ("pattern",), {"/list/{n}": 3}),
        ((("message", "HTTP 503"),), ("origin",), {A: 3}),
        ((("pattern", "/list/{n}"), ("origin", A), ("origin", B)), ("http_status",), {"410": 3, "503": 3}),
        ((("origin", "https://unknown.example"),), ("origin",), {}),
    ],
)
async def test_failures_within_a_group_are_counted_alone_and_their_groups_name_it(
    within: tuple[tuple[str, str], ...],
    by: tuple[str, ...],
    counted: dict[str, int],
    database_bench: DatabaseBench,
    database_reports: Reports,
) -> None:
    await many_failures(database_bench)
    found = database_reports.failure_count(by, now=NOW, within=within)
    assert {group.key[0][1]: group.count for group in found.groups} == counted
    assert found.looked_at == found.failed, "nothing is left out"
    for group in found.groups:
        window = database_reports.failure_window(group.key, 0, 10)
        assert len(window.pages) == group.count, "its pages are those that were counted"


@pytest.mark.parametrize(
    ("key", "numbers"),
    [
        ((("http_status", "503"),), (0, 2, 4)),
        ((("http_status", ""),), (6,)),
        ((("message", "HTTP 410"),), (1, 3, 5)),
        ((("pattern", "/list/{n}"),), (0, 1, 2, 3, 4, 5)),
        ((("exit_code", "file_gone"),), (1, 3, 5)),
        ((("exit_code", "file_gone"), ("origin", B)), ()),
        ((("origin", A), ("pattern", "/list/{n}")), (0, 1, 2, 3, 4, 5)),
        ((("exit_code", "no such code"),), ()),
        ((), (0, 1, 2, 3, 4, 5, 6)),
    ],
)
async def test_the_pages_of_any_group_come_in_windows(
    database_bench: DatabaseBench, database_reports: Reports, key: tuple[tuple[str, str], ...], numbers: tuple[int, ...]
) -> None:
    await many_failures(database_bench)
    urls = [*(f"{A}/list/{n}" for n in range(6)), f"{B}/about"]
    found: list[str] = []
    after, windows = 0, 0
    while True:
        window = database_reports.failure_window(key, after, 2)
        assert len(window.pages) <= 2
        found += [page.url for page in window.pages]
        windows += 1
        if window.ended:
            break
        after = window.last_id
    assert found == [urls[number] for number in numbers]
    assert windows == max(1, -(-len(numbers) // 2))
    back: list[str] = []
    before = 0
    while True:
        window = database_reports.failure_window(key, before, 2, newest_first=True)
        back += [page.url for page in window.pages]
        if window.ended:
            break
        before = window.last_id
    assert back == found[::-1]


async def test_a_page_tells_how_long_its_last_attempt_took(
    database_bench: DatabaseBench, database_reports: Reports
) -> None:
    await many_failures(database_bench)
    assert [page.took_ms for page in database_reports.failure_window((("origin", A),)).pages] == [0, 1, 2, 3, 4, 5]


async def test_a_window_looks_at_so_many_pages_only_and_says_how_far(
    database_bench: DatabaseBench, database_reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    await many_failures(database_bench)
    monkeypatch.setattr(failure_reports, "LOOKED_AT", 4)
    monkeypatch.setattr(failure_reports, "_STEP", 2)
    none = database_reports.failure_window((("http_status", ""),), 0, 5)
    assert (none.pages, none.looked_at, none.ended) == ((), 4, False)
    rest = database_reports.failure_window((("http_status", ""),), none.last_id, 5)
    assert ([page.url for page in rest.pages], rest.ended) == ([f"{B}/about"], True)
    monkeypatch.setattr(failure_reports, "LOOKED_AT", 2)
    both = database_reports.failure_window((("exit_code", "file_gone"), ("origin", A)), 0, 5)
    assert ([page.url for page in both.pages], both.looked_at, both.ended) == ([f"{A}/list/1"], 2, False)


async def test_what_rules_refused_is_counted_by_its_words(
    database_bench: DatabaseBench, database_reports: Reports
) -> None:
    store = database_bench.open()
    await store.begin_run(plan(*(f"{A}/{n}" for n in range(5))))
    words = ("rule /x/: skip true", "rule /x/: skip true", "do_not_crawl: all", "robots.txt", "rule /x/: skip true")
    codes = (ExitCode.skipped_by_rule,) * 2 + (ExitCode.blocked_url_by_local_policy, ExitCode.blocked_by_robots_txt)
    pages = (await store.candidates(A, T0, 10, True)).pages
    for number, (page, said) in enumerate(zip(pages, words, strict=True)):
        one = refusal(page, T0 + number, (*codes, ExitCode.skipped_by_rule)[number])
        log = replace(one.attempt, message=said, decided_by="main.yaml:3", ruleset_id=number)
        await store.settle(replace(one, attempt=log))
    counts = database_reports.refusal_counts(100)
    assert (counts.looked_at, counts.known) == (5, 5)
    assert [(row.message, row.count, row.exit_code) for row in counts.rows] == [
        ("rule /x/: skip true", 3, "skipped_by_rule"),
        ("do_not_crawl: all", 1, "blocked_url_by_local_policy"),
    ]
    skip = counts.rows[0]
    assert (skip.last_at, skip.sample_url, skip.first_ruleset, skip.last_ruleset) == (T0 + 4, f"{A}/4", 0, 4)
    newest = database_reports.refusal_counts(2)
    assert (newest.looked_at, newest.known, [row.count for row in newest.rows]) == (2, 5, [1])


async def test_links_come_in_windows_with_what_is_known_of_their_other_ends(
    database_bench: DatabaseBench, database_reports: Reports
) -> None:
    store = database_bench.open()
    await store.begin_run(plan())
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    await store.settle(crawled(home, T0, *(f"{A}/{n}" for n in range(5))))
    for page in (await store.candidates(A, T0, 10, False)).pages[:2]:
        await store.settle(crawled(page, T0 + 1, f"{A}/"))
    urls: list[str] = []
    after = (0, "")
    while window := database_reports.link_ends(f"{A}/", False, after, 2):
        urls += [end.link.to_url for end in window]
        after = window[-1].after
    assert sorted(urls) == [f"{A}/{n}" for n in range(5)]
    known = {
        end.link.to_url: (end.title, end.exit_code) for end in database_reports.link_ends(f"{A}/", False, (0, ""), 9)
    }
    assert sorted(known.values()) == [("", "")] * 3 + [("a title", "file_ingested")] * 2
    inward = database_reports.link_ends(f"{A}/", True, (0, ""), 9)
    assert [(end.title, end.exit_code) for end in inward] == [("a title", "file_ingested")] * 2
    assert database_reports.link_ends(f"{A}/", True, inward[0].after, 9) == inward[1:]
    assert database_reports.link_ends("https://nowhere.example/", True, (0, ""), 9) == ()
    assert database_reports.link_ends("https://nowhere.example/", False, (0, ""), 9) == ()


async def test_a_page_can_be_read_without_its_links(database_bench: DatabaseBench, database_reports: Reports) -> None:
    store = database_bench.open()
    await store.begin_run(plan())
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    await store.settle(crawled(home, T0, *(f"{A}/{n}" for n in range(5))))
    detail = database_reports.page_detail(f"{A}/", 0, 3)
    assert (detail.outlinks, detail.outlink_count) == ((), 3)
    found = database_reports.page_detail(f"{A}/0", 0, 3)
    assert ([step.depth for step in found.path], found.inlink_count) == ([1], 1)


async def test_texts_are_looked_for_in_url_and_message_in_bounded_steps(
    database_bench: DatabaseBench, database_reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    await many_failures(database_bench)

    def found(*sought: str, by: str = "exit_code") -> dict[str, int]:
        counted = database_reports.failure_count((by,), None, NOW, sought)
        assert sum(group.count for group in counted.groups) == 7, "all are counted"
        return {dict(group.key)[by]: group.found for group in counted.groups if group.found}

    assert found() == {}
    assert found("/list/") == {"server_internal_error": 3, "file_gone": 3}
    assert found("/list/", "http 410") == {"file_gone": 3}, "all of them, whatever their case"
    assert found("about") == {"connection_failed": 1}
    assert found("/list/3", by="pattern") == {"/list/{n}": 1}
    assert found("nowhere") == {}
    monkeypatch.setattr(failure_reports, "LOOKED_AT", 2)
    monkeypatch.setattr(failure_reports, "_STEP", 2)
    key = (("origin", A),)
    first = database_reports.failure_window(key, sought=("/list/5",))
    assert (first.pages, first.looked_at, first.ended) == ((), 2, False)
    window, urls = first, []
    while not window.ended:
        window = database_reports.failure_window(key, window.last_id, sought=("/list/5",))
        urls += [page.url for page in window.pages]
    assert urls == [f"{A}/list/5"]
    back = database_reports.failure_window(key, 0, 1, newest_first=True, sought=("503",))
    assert [page.url for page in back.pages] == [f"{A}/list/4"]
