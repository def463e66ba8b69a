"""The pivot over pages, held against plain counting; sessions as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.console.page_holds import passes
from tests.storage.making import T0, A, crawled, fill_of, plan
from tui_crawler.domain.records.failure import ReadingStopped
from tui_crawler.domain.records.page_view import PageView
from tui_crawler.domain.rules.page_filter import PageFilter, read_page_filter, state_of
from tui_crawler.storage.db.reader import Reader
from tui_crawler.storage.reports import page_windows
from tui_crawler.storage.reports.jobs import JobReports
from tui_crawler.storage.reports.page_windows import PageWindowReports as PageWindows
from tui_crawler.storage.store import SqliteStore

SEEDS = tuple(f"https://{name}.example/{n}" for name in ("a", "b", "c") for n in range(6))


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    path = tmp_path / "crawl.db"
    store = SqliteStore(path)
    await store.begin_run(plan(*SEEDS))
    await store.end_run("exhausted", True)
    store.close()
    with closing(Reader(path)) as found:
        yield found


def read(text: str) -> PageFilter:
    found = read_page_filter(text)
    assert isinstance(found, PageFilter)
    return found


def value_of(page: PageView, field: str) -> str:
    status = "" if page.last_http_status is None else str(page.last_http_status)
    return {
        "state": state_of(page).value,
        "exit": page.last_exit_code,
        "status": status,
        "depth": str(page.depth),
        "origin": page.origin,
    }[field]


@pytest.mark.parametrize("field", ["state", "exit", "status", "depth", "origin"])
@pytest.mark.parametrize("text", ["", "origin:a.example", "/3", "re:/[12]$", "state:queued !/5", "origin:nowhere"])
async def test_it_is_plain_counting_of_the_pages_that_pass(reader: Reader, field: str, text: str) -> None:
    pages = PageWindows(reader).page_window(PageFilter(), 0, 100).pages
    names = frozenset(page.origin for page in pages)
    narrowing = read(text)
    expected = Counter(value_of(page, field) for page in pages if passes(narrowing, page, names))
    found = PageWindows(reader).page_counts(narrowing, field)
    assert Counter(dict(found.counts)) == expected
    assert found.values == len(expected)
    assert [number for _, number in found.counts] == sorted(expected.values(), reverse=True)


async def test_a_bounded_number_of_rows_is_looked_at_and_told(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_windows, "ROWS_COUNTED", 10)
    monkeypatch.setattr(page_windows, "MOST_VALUES", 1)
    found = PageWindows(reader).page_counts(PageFilter(), "origin")
    assert (found.looked_at, found.known, found.values) == (10, 18, 2)
    assert len(found.counts) == 1
    with pytest.raises(ValueError, match="not counted by"):
        PageWindows(reader).page_counts(PageFilter(), "title")


@pytest.mark.parametrize("text", ["", "origin:a.example", "/3", "re:/[12]$", "state:queued !/5", "origin:nowhere"])
@pytest.mark.parametrize("piece", [1, 7, 1_000])
async def test_matching_pages_are_counted_in_pieces(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, text: str, piece: int
) -> None:
    monkeypatch.setattr(page_windows, "STEP", piece)
    monkeypatch.setattr(page_windows, "LOOK_S", 0)
    narrowing, after = read(text), 0
    matched = looked_at = 0
    while True:
        tally = PageWindows(reader).page_tally(narrowing, after)
        assert tally.looked_at <= piece
        matched, looked_at, after = matched + tally.matched, looked_at + tally.looked_at, tally.last_id
        if tally.ended:
            break
    monkeypatch.setattr(page_windows, "LOOK_S", 60)
    assert matched == len(PageWindows(reader).page_window(narrowing, 0, 1_000).pages)
    assert looked_at <= tally.known == (6 if text == "origin:a.example" else 18)


async def test_a_text_that_few_urls_hold_is_looked_for_only_in_what_it_may_be_in(
    reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_windows, "STEP", 5)
    monkeypatch.setattr(page_windows, "LOOK_S", 0)
    for first, further in (("/3", {"/3 !a.example": "bc", "b.example/3": "b"}), ("later", {"later!_on": ""})):
        monkeypatch.setattr(page_windows, "MOST_URLS", 99)
        assert PageWindows(reader).page_window(read(first), 0, 9).ended
        monkeypatch.setattr(page_windows, "MOST_URLS", 0)
        assert PageWindows(reader).page_window(read("nowhere"), 0, 9).ended is False, (
            "too many to be looked through at once"
        )
        for text, names in further.items():
            window = PageWindows(reader).page_window(read(text), 0, 9)
            assert window.ended, "as far as it was looked for, it is known"
            assert [page.url for page in window.pages] == [f"https://{name}.example/3" for name in names]
    monkeypatch.setattr(page_windows, "MOST_URLS", 99)
    where = page_windows.where_of(page_windows.search_of(reader, read("b.example/3")))
    text = f"EXPLAIN QUERY PLAN SELECT p.id FROM page p JOIN url u ON u.id = p.url_id WHERE {where} AND p.id > 0"
    assert not any("rowid>" in row[3] for row in reader.all(f"{text} ORDER BY p.id", ("",))), "the others are passed by"
    store = SqliteStore(tmp_path / "crawl.db")
    await store.begin_run(plan(*SEEDS, "https://a.example/LATER!_on"))
    for text in ("later!_on", "later"):
        (page,) = PageWindows(reader).page_window(read(text), 0, 9).pages
        assert page.url == "https://a.example/LATER!_on"
    store.close()


async def test_a_reading_that_is_not_wanted_any_more_ends_amid_a_query(reader: Reader) -> None:
    asked = 0

    def stops() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3

    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    reader.stop_when(stops)
    with pytest.raises(ReadingStopped):
        reader.all(endless)
    assert reader.all("SELECT 1") == [(1,)], "the next one is read"
    asked = 1
    with pytest.raises(ReadingStopped):
        list(reader.stream(endless))
    asked = 2
    with pytest.raises(ReadingStopped):
        reader.all("SELECT 1")


async def test_sessions_tell_how_they_ended(reader: Reader) -> None:
    (row,) = JobReports(reader).sessions(10)
    assert row.ended_at >= row.heartbeat_at >= row.started_at > 0
    assert row.clean
    assert not row.rest
    assert row.pid > 0
    assert row.origins == 0


async def test_titles_narrow_pages(tmp_path: Path) -> None:
    path = tmp_path / "titles.db"
    store = SqliteStore(path)
    await store.begin_run(plan(*(f"{A}/{n}" for n in range(4))))
    pages = (await store.candidates(A, T0, 9, True)).pages
    await store.fill(fill_of(pages))
    for page, title in zip(pages, ("Summer sale", "Winter SALE 50%", "About_us"), strict=False):
        made = crawled(page, T0)
        assert made.document is not None
        await store.settle(replace(made, document=replace(made.document, title=title)))
    await store.end_run("exhausted", True)
    store.close()
    reader = Reader(path)
    every = PageWindows(reader).page_window(PageFilter(), 0, 100).pages
    for text in (
        "title:sale",
        "title:sale,about",
        "!title:sale",
        "title:50%",
        "title:t_u",
        "title:% state:done",
        "title:sale /0",
    ):
        narrowing = read(text)
        found = PageWindows(reader).page_window(narrowing, 0, 100).pages
        assert found == tuple(page for page in every if passes(narrowing, page, frozenset((A,)))), text
        assert PageWindows(reader).page_tally(narrowing, 0).matched == len(found)
        assert sum(number for _, number in PageWindows(reader).page_counts(narrowing, "state").counts) == len(found)
    reader.close()
