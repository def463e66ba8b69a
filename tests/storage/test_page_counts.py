"""The pivot over pages, held against plain counting; sessions as rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.console.page_holds import passes
from tests.storage.making import plan
from tui_crawler.domain.page_filter import PageFilter, read_page_filter, state_of
from tui_crawler.domain.page_view import PageView
from tui_crawler.storage import page_counts, page_windows
from tui_crawler.storage.page_windows import page_window
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.session_reports import sessions
from tui_crawler.storage.store import SqliteStore

SEEDS = tuple(f"https://{name}.example/{n}" for name in ("a", "b", "c") for n in range(6))


@pytest.fixture
async def reader(tmp_path: Path) -> Reader:
    path = tmp_path / "crawl.db"
    store = SqliteStore(path)
    await store.begin_run(plan(*SEEDS))
    await store.end_run("exhausted", True)
    store.close()
    return Reader(path)


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
    pages = page_window(reader, PageFilter(), 0, 100).pages
    names = frozenset(page.origin for page in pages)
    narrowing = read(text)
    expected = Counter(value_of(page, field) for page in pages if passes(narrowing, page, names))
    found = page_counts.page_counts(reader, narrowing, field)
    assert Counter(dict(found.counts)) == expected
    assert found.values == len(expected)
    assert [number for _, number in found.counts] == sorted(expected.values(), reverse=True)
    reader.close()


async def test_a_bounded_number_of_rows_is_looked_at_and_told(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_counts, "ROWS_COUNTED", 10)
    monkeypatch.setattr(page_counts, "MOST_VALUES", 1)
    found = page_counts.page_counts(reader, PageFilter(), "origin")
    assert (found.looked_at, found.known, found.values) == (10, 18, 2)
    assert len(found.counts) == 1
    with pytest.raises(ValueError, match="not counted by"):
        page_counts.page_counts(reader, PageFilter(), "title")
    reader.close()


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
        tally = page_counts.page_tally(reader, narrowing, after)
        assert tally.looked_at <= piece
        matched, looked_at, after = matched + tally.matched, looked_at + tally.looked_at, tally.last_id
        if tally.ended:
            break
    monkeypatch.setattr(page_windows, "LOOK_S", 60)
    assert matched == len(page_window(reader, narrowing, 0, 1_000).pages)
    assert looked_at <= tally.known == (6 if text == "origin:a.example" else 18)
    reader.close()


async def test_sessions_tell_how_they_ended(reader: Reader) -> None:
    (row,) = sessions(reader, 10)
    assert row.ended_at >= row.heartbeat_at >= row.started_at > 0
    assert row.clean
    assert not row.rest
    assert row.pid > 0
    assert row.origins == 0
    reader.close()
