"""What pages hold: validation, data blocks, links by their difference; and what a sitemap says of pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.storage.bench import of_sqlite
from tests.storage.making import T0, WEEK, A, crawled, document, failed, link, new_page, plan, seed
from tests.storage.reading import data_of, pages_of, validation_of
from tests.storage.whole import assert_whole
from tests.storage.workbench import Workbench
from tui_crawler.domain.records.attempt import DataValue, Validation, ValidationError
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.crawl import candidates
from tui_crawler.storage.crawl.settle import SettleJob
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.drivers.driver import columns_of

HOME = f"{A}/"
BAD = Validation("html", (ValidationError(3, 7, "a tag that was never closed"), ValidationError(0, 0, "end")))
DATA = (DataValue("photos", "picture", 0, f"{A}/1.jpg"), DataValue("photos", "picture", 1, f"{A}/2.jpg"))


def found(workbench: Workbench, claim: Claim, now: int = T0) -> dict[str, TodoPage]:
    pages = workbench.work(lambda work: candidates.candidates(work, claim, A, now, 100, False)).pages
    return {page.url: page for page in pages}


def crawl(workbench: Workbench, claim: Claim, page: TodoPage, at: int, **more: Any) -> None:
    workbench.settle(claim, crawled(page, at, document=document(page, **more)))


@pytest.fixture
def home(workbench: Workbench) -> tuple[Claim, TodoPage]:
    claim, _ = workbench.begin(plan())
    return claim, found(workbench, claim)[HOME]


def test_a_document_is_stored_with_its_validation_and_its_data(workbench, reports, home):
    claim, page = home
    crawl(workbench, claim, page, T0 + 5, validation=BAD, data=DATA)
    assert validation_of(reports, HOME) == BAD
    assert data_of(reports, HOME) == DATA
    detail = reports.page_detail(HOME)
    assert (detail.validation, detail.data, detail.page.valid) == (BAD, DATA, 0)
    assert (detail.page.validation_type, detail.sitemap, detail.lastmod, detail.ruleset_id) == ("html", False, 0, 0)
    row = workbench.rows("SELECT validation_type, valid, validation_errors, parsed_at FROM document")
    assert row == [("html", 0, '[[3,7,"a tag that was never closed"],[0,0,"end"]]', T0 + 5)]


@pytest.mark.parametrize(("stored", "named"), [("html5", "html"), ("atom", "rss"), ("rss", "rss")])
def test_types_that_older_versions_stored_are_read_by_their_right_names(workbench, reports, home, stored, named):
    claim, page = home
    crawl(workbench, claim, page, T0, validation=replace(BAD, type=stored))
    assert validation_of(reports, HOME) == replace(BAD, type=named)
    assert [one.validation_type for one in pages_of(reports) if one.url == HOME] == [named]
    for view in ("v_page", "v_document", "crawler_urls"):
        assert workbench.rows(f"SELECT validation_type FROM {view} WHERE url = '{HOME}'") == [(named,)]


def test_valid_is_unknown_until_a_validator_has_looked(workbench, reports, home):
    claim, page = home
    crawl(workbench, claim, page, T0)
    assert validation_of(reports, HOME) is None
    assert workbench.rows("SELECT validation_type, valid, validation_errors, parsed_at FROM document") == [
        ("", None, "", 0)
    ]
    crawl(workbench, claim, page, T0 + 1, validation=Validation("css"))
    assert validation_of(reports, HOME) == Validation("css")
    crawl(workbench, claim, page, T0 + 2)
    assert validation_of(reports, HOME) is None
    assert validation_of(reports, f"{A}/unknown") is None


def test_the_first_twenty_errors_are_kept(workbench, reports, home):
    claim, page = home
    errors = tuple(ValidationError(line, 1, f"error \0 {line}") for line in range(30))
    crawl(workbench, claim, page, T0, validation=Validation("xml", errors))
    kept = validation_of(reports, HOME)
    assert [error.line for error in kept.errors] == list(range(20))
    assert kept.errors[0].message == "error \ufffd 0"


def test_data_blocks_are_replaced_as_a_whole(workbench, reports, home):
    claim, page = home
    crawl(workbench, claim, page, T0, data=DATA)
    other = (DataValue("text", "text", 0, "a\0b \ud800"), DataValue("photos", "link", 0, "x"))
    crawl(workbench, claim, page, T0 + 1, data=other)
    assert data_of(reports, HOME) == (
        DataValue("photos", "link", 0, "x"),
        DataValue("text", "text", 0, "a\ufffdb \ufffd"),
    )
    crawl(workbench, claim, page, T0 + 2)
    assert data_of(reports, HOME) == ()
    assert data_of(reports, f"{A}/unknown") == ()


def test_two_values_for_one_place_are_the_first(workbench, reports, home):
    claim, page = home
    crawl(workbench, claim, page, T0, data=(*DATA, DataValue("photos", "text", 1, "late")))
    assert data_of(reports, HOME) == DATA


def test_an_unchanged_page_keeps_what_was_found_in_it(workbench, reports, home):
    claim, page = home
    crawl(workbench, claim, page, T0, validation=BAD, data=DATA)
    workbench.settle(claim, failed(page, T0 + 5, ExitCode.file_did_not_change, 304))
    assert (validation_of(reports, HOME), data_of(reports, HOME)) == (BAD, DATA)


def test_a_document_that_goes_takes_its_data_along(workbench, reports, home):
    claim, page = home
    crawl(workbench, claim, page, T0, validation=BAD, data=DATA)
    workbench.settle(claim, crawled(page, T0 + 5, code=ExitCode.noindex, document=None, drop_document=True))
    assert (validation_of(reports, HOME), data_of(reports, HOME)) == (None, ())
    assert workbench.rows("SELECT COUNT(*) FROM data_block") == [(0,)]


@of_sqlite
def test_a_page_without_data_costs_no_statement_for_it(workbench, home):
    claim, page = home
    statements: list[str] = []
    transaction = workbench.transaction()
    connection = transaction._connection
    connection.set_trace_callback(statements.append)
    try:
        crawl(workbench, claim, page, T0)
        crawl(workbench, claim, page, T0 + 1, body=b"other")
        assert not [text for text in statements if "data_block" in text and not text.startswith("SELECT")]
        assert not [text for text in statements if "attempt_result" in text]
        crawl(workbench, claim, page, T0 + 2, data=DATA)
        assert len([text for text in statements if text.startswith("INSERT") and "data_block" in text]) == 1
    finally:
        connection.set_trace_callback(None)


def test_a_sitemap_becomes_a_page_of_its_kind_and_keeps_lastmod(workbench, reports, home):
    claim, page = home
    pages = (new_page(f"{A}/map.xml", 0, sitemap=True), new_page(f"{A}/1", 1, lastmod=T0 - 500))
    workbench.settle(claim, crawled(page, T0, new_pages=pages))
    todo = found(workbench, claim)
    assert {url: one.sitemap for url, one in todo.items() if url != HOME} == {f"{A}/map.xml": True, f"{A}/1": False}
    sitemap, plain = (reports.page_detail(text) for text in (f"{A}/map.xml", f"{A}/1"))
    assert (sitemap.sitemap, sitemap.lastmod, plain.sitemap, plain.lastmod) == (True, 0, False, T0 - 500)


def test_a_known_page_keeps_the_newer_lastmod_and_stays_what_it_is(workbench, home):
    claim, page = home
    first = (new_page(f"{A}/map.xml", 0, sitemap=True), new_page(f"{A}/1", 1, lastmod=T0 - 500))
    workbench.settle(claim, crawled(page, T0, new_pages=first))
    rows = "SELECT u.href, p.sitemap, p.lastmod FROM page p JOIN url u ON u.id = p.url_id WHERE p.id > 1 ORDER BY p.id"
    finds = (
        (new_page(f"{A}/map.xml", 1), new_page(f"{A}/1", 1, lastmod=T0 - 900)),
        (new_page(f"{A}/map.xml", 1, lastmod=T0), new_page(f"{A}/1", 1, sitemap=True)),
    )
    for pages in finds:
        workbench.settle(claim, crawled(page, T0 + 1, new_pages=pages))
    assert workbench.rows(rows) == [(f"{A}/map.xml", 1, T0), (f"{A}/1", 0, T0 - 500)]
    newer = (new_page(f"{A}/1", 5, lastmod=T0 + 7), new_page(f"{A}/1", 5, lastmod=T0 + 6))
    workbench.settle(claim, crawled(page, T0 + 2, new_pages=newer))
    assert workbench.rows(rows)[1] == (f"{A}/1", 0, T0 + 7)


def test_a_lastmod_after_the_last_crawl_is_left_for_the_next_run(workbench, home):
    claim, page = home
    workbench.settle(claim, crawled(page, T0, f"{A}/1"))
    one = found(workbench, claim)[f"{A}/1"]
    workbench.settle(claim, crawled(one, T0 + 1))
    before = dict(
        zip(_columns(workbench), workbench.rows("SELECT * FROM page WHERE id = ?", one.page_id)[0], strict=True)
    )
    workbench.settle(claim, crawled(page, T0 + 2, new_pages=(new_page(f"{A}/1", 1, lastmod=T0 + WEEK),)))
    after = dict(
        zip(_columns(workbench), workbench.rows("SELECT * FROM page WHERE id = ?", one.page_id)[0], strict=True)
    )
    assert after == before, "where it counts: it would be no news then"
    assert f"{A}/1" not in found(workbench, claim, T0 + WEEK)


def _columns(workbench: Workbench) -> list[str]:
    return list(columns_of(workbench._database, "page"))


@of_sqlite
def test_finds_without_news_write_nothing_to_known_pages(workbench, home):
    claim, page = home
    pages = (new_page(f"{A}/map.xml", 0, sitemap=True), new_page(f"{A}/1", 1, lastmod=T0))
    workbench.settle(claim, crawled(page, T0, new_pages=pages))
    statements: list[str] = []
    connection = workbench.transaction()._connection
    connection.set_trace_callback(statements.append)
    try:
        workbench.settle(claim, crawled(page, T0 + 1, new_pages=pages))
    finally:
        connection.set_trace_callback(None)
    updates = [text for text in statements if text.startswith('UPDATE "page"')]
    assert len(updates) == 1  # the page itself
    assert f'"id" = {page.page_id}' in updates[0]


def test_every_known_url_comes_in_windows(workbench, reports, home):
    claim, page = home
    workbench.settle(claim, crawled(page, T0, *(f"{A}/{n}" for n in range(5))))
    everything = reports.urls_known()
    assert everything[0] == (1, HOME, 1, "main", 20)
    assert everything[1] == (2, f"{A}/0", 0, "main", None)
    windows, after = [], 0
    while window := reports.urls_known(after, 2):
        windows.append(window)
        after = window[-1][0]
    assert [len(window) for window in windows] == [2, 2, 2]
    assert [row for window in windows for row in window] == everything


@pytest.fixture(scope="module")
def segment_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workbench, Claim]]:
    """A run that random examples use one after the other, each rolled back."""
    path = tmp_path_factory.mktemp("content") / "crawl.db"
    made = Workbench(path)
    claim, _ = made.begin(replace(plan(), seeds=(seed(HOME),)))
    yield made, claim
    made.close()
    assert_whole(path)


LINKS = st.lists(
    st.tuples(st.sampled_from(LinkKind), st.integers(0, 5), st.booleans(), st.sampled_from(["", "one", "two"])),
    max_size=8,
)
STEPS = st.lists(st.tuples(st.sampled_from(["crawl", "crawl", "crawl", "not_modified", "nofollow"]), LINKS), max_size=6)


@given(STEPS)
def test_links_are_diffed_whatever_the_crawls_find(segment_store, steps):
    """Kept links keep when they were first seen, gone ones are gone, a link that comes back is new (G)."""
    workbench, claim = segment_store
    oracle: dict[tuple[str, str], tuple[int, str, int]] = {}
    with workbench.scratch() as transaction:
        page = candidates.candidates(transaction, claim, A, T0, 1, False).pages[0]
        for number, (kind, links) in enumerate(steps):
            at = T0 + 1 + number
            if kind == "not_modified":
                made = failed(page, at, ExitCode.file_did_not_change, 304)
            else:
                kept = [] if kind == "nofollow" else links
                found_links = tuple(
                    link(f"{A}/{n}", kind, nofollow=nofollow, text=text) for kind, n, nofollow, text in kept
                )
                made = replace(crawled(page, at), links=found_links)
                seen: dict[tuple[str, str], tuple[int, str]] = {}
                for one in found_links:
                    seen.setdefault((one.kind.value, one.url.href), (int(one.nofollow), one.text))
                oracle = {key: (*values, oracle[key][2] if key in oracle else at) for key, values in seen.items()}
            job = SettleJob(claim, made)
            job.prepare(transaction)
            job(transaction)
            stored = "CASE frame WHEN 1 THEN 'frame' ELSE kind END"
            rows = workbench.rows(f"SELECT {stored}, to_url, nofollow, text, first_seen_at FROM v_link")
            assert {(row[0], row[1]): row[2:] for row in rows} == oracle


VALUES = st.lists(
    st.builds(
        DataValue,
        st.sampled_from(["a", "b"]),
        st.sampled_from(["link", "text"]),
        st.integers(0, 90),
        st.text(max_size=3),
    ),
    max_size=70,
    unique_by=lambda value: (value.name, value.place),
)


@given(st.lists(st.tuples(st.sampled_from(["crawl", "crawl", "drop", "keep"]), VALUES), max_size=5))
def test_data_blocks_are_those_of_the_last_document(segment_store, steps):
    workbench, claim = segment_store
    oracle: set[tuple[str, str, int, str]] = set()
    with workbench.scratch() as transaction:
        page = candidates.candidates(transaction, claim, A, T0, 1, False).pages[0]
        for number, (kind, values) in enumerate(steps):
            at = T0 + 1 + number
            match kind:
                case "crawl":
                    made = crawled(page, at, document=document(page, b"%d" % number, data=tuple(values)))
                    oracle = {(one.name, one.type, one.place, one.value.replace("\0", "\ufffd")) for one in values}
                case "drop":
                    made = crawled(page, at, code=ExitCode.noindex, document=None, drop_document=True)
                    oracle = set()
                case _:
                    made = failed(page, at, ExitCode.file_did_not_change, 304)
            job = SettleJob(claim, made)
            job.prepare(transaction)
            job(transaction)
            assert set(workbench.rows("SELECT name, type, place, value FROM data_block")) == oracle
