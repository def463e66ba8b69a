"""The rest of a queue is saved as segments and comes back as it was; what cannot be saved stays in the queue."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.storage.making import T0, A, B, failed, fill_of, new_page
from tests.storage.offline import Crawl, Web, pages_of, rows, urls_of, value
from tests.storage.whole import assert_whole
from tui_crawler.domain.records.command import UnstashPages
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import BadSegment, StorageFailure
from tui_crawler.domain.records.segment import SUFFIX
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.segment_files import PART, Batch


def state(path: Path, *left_out: str) -> dict[str, tuple[Any, ...]]:
    """Everything about every page, but the columns named."""
    found = rows(path, "SELECT u.href AS url, p.* FROM page p JOIN url u ON u.id = p.url_id")
    return {row["url"]: tuple(row[key] for key in row.keys() if key not in left_out) for row in found}  # noqa: SIM118  # a Row iterates over values


async def busy(path: Path, **more: Any) -> Crawl:
    """A live run with pages of many kinds: crawled, failed with tries left, on a todo list, later, too deep."""
    crawl = await Crawl(path, Web(seeds=(f"{A}/", f"{A}/later", f"{B}/")), **more).begin(max_depth=3)
    await crawl.pages(1)
    store = crawl.store
    more_pages = (new_page(f"{A}/x", 2, item_pattern="/x", force=True), new_page(f"{A}/y", nice=-4, not_before=T0 + 9))
    await store.add_pages(more_pages, "")
    found = (await store.candidates(B, crawl.now, 10, False)).pages
    await store.settle(failed(found[0], crawl.now, ExitCode.request_timeout))
    todo = (await store.candidates(A, crawl.now, 10, False)).pages
    await store.fill(fill_of(todo))
    return crawl


async def test_the_rest_is_saved_and_comes_back_as_it_was(database_path):
    crawl = await busy(database_path)
    fleeting = ("todo_order", "ignored_run", "status", "stash")
    before, pending = state(database_path, *fleeting), value(database_path, "SELECT SUM(pending) FROM origin")
    path = await crawl.store.save_rest()
    assert Path(path).parent == database_path.parent / "segments"
    assert sorted(urls_of(Path(path))) == [f"{A}/later", f"{A}/x", f"{A}/y", f"{B}/"]
    assert state(database_path, *fleeting) == before
    assert value(database_path, "SELECT SUM(pending) FROM origin") == 0
    assert value(database_path, "SELECT SUM(todo) FROM origin") == 0
    for origin in (A, B):
        assert (await crawl.store.candidates(origin, T0 * 2, 10, False)).pages == ()
    assert await crawl.store.next_segment() == path
    assert_whole(database_path)
    await crawl.end("few_origins")
    again = await Crawl(database_path, crawl.web).begin(max_depth=3)
    assert (await again.store.load_segment(path)).origins == ((A, 3), (B, 1))
    assert state(database_path, *fleeting) == before
    assert value(database_path, "SELECT SUM(pending) FROM origin") == pending
    found = (await again.store.candidates(A, again.now, 10, False)).pages
    assert {page.url for page in found} >= {f"{A}/later", f"{A}/x"}
    with pytest.raises(BadSegment, match="already"):
        await again.store.load_segment(path)
    await again.end()
    assert_whole(database_path)


async def test_nothing_pending_is_no_segment(database_path):
    crawl = await Crawl(database_path, Web()).begin()
    await crawl.pages()
    assert await crawl.store.save_rest() == ""
    assert not (database_path.parent / "segments").exists()
    await crawl.end()


async def test_the_rest_is_cut_into_segments(database_path, tmp_path):
    web = Web(seeds=tuple(f"{A}/{n}" for n in range(5)))
    (tmp_path / "out").mkdir()
    crawl = await Crawl(database_path, web, segments=tmp_path / "out", segment_urls=2).begin()
    path = Path(await crawl.store.save_rest())
    assert path == min((tmp_path / "out").iterdir())
    counts = []
    while found := await crawl.store.next_segment():
        counts.append(dict((await crawl.store.load_segment(found)).origins)[A])
    assert counts == [2, 2, 1]
    assert len(await crawl.pages()) == 5
    await crawl.end()


async def test_what_an_operator_takes_out_of_the_stash_is_known_when_it_is_loaded(database_path):
    crawl = await Crawl(database_path, Web(seeds=(f"{A}/", f"{A}/1"))).begin()
    path = await crawl.store.save_rest()
    stash = value(database_path, "SELECT DISTINCT stash FROM page")
    assert stash == f"segment:{Path(path).stem}"
    assert (await crawl.store.stash(UnstashPages(stash, limit=1))).origins == ((A, 1),)
    assert (await crawl.store.load_segment(path)).origins == ((A, 1),)
    assert len(await crawl.pages()) == 2
    await crawl.end()
    assert_whole(database_path)


async def test_a_rest_can_be_loaded_into_another_database(database_path, tmp_path, template):
    crawl = await busy(database_path)
    path = await crawl.store.save_rest()
    await crawl.end()
    other = Path(shutil.copy(template, tmp_path / "other.db"))
    there = await Crawl(other, Web(seeds=(f"{B}/else",))).begin()
    assert (await there.store.load_segment(path)).origins == ((A, 3), (B, 1))
    found = pages_of(other)
    assert (found[f"{A}/y"]["nice"], found[f"{A}/y"]["not_before"], found[f"{A}/y"]["seed"]) == (-4, T0 + 9, 0)
    await there.end()


class Full(sqlite3.Connection):
    """Raises at the call of this number."""

    left = -1

    def _count(self) -> None:
        Full.left -= 1
        if Full.left == 0:
            error = sqlite3.OperationalError("database or disk is full (made by the test)")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().executemany(*arguments)


@pytest.mark.parametrize("file_fails", [False, True])
async def test_a_rest_that_cannot_be_saved_changes_nothing(database_path, monkeypatch, file_fails):
    crawl = await busy(database_path, opening=OpenSettings(connection=Full))
    monkeypatch.setattr(os, "fsync", lambda _: None)
    before = state(database_path)

    def no_room(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    failures = 0
    if file_fails:
        monkeypatch.setattr(os, "fsync", no_room)
        with pytest.raises(StorageFailure, match="disk is full"):
            await crawl.store.save_rest()
        monkeypatch.undo()
    else:
        for number in range(1, 200):
            monkeypatch.setattr(Full, "left", number)
            try:
                path = await crawl.store.save_rest()
            except StorageFailure:
                failures += 1
                assert state(database_path) == before
            else:
                break
        assert failures > 20
        monkeypatch.setattr(Full, "left", -1)
        await crawl.store.load_segment(path)
    folder = database_path.parent / "segments"
    assert [path.suffix for path in folder.iterdir()] == ([] if file_fails else [SUFFIX])
    assert_whole(database_path)
    await crawl.end()


async def test_the_file_of_a_rest_whose_owner_was_killed_is_found(database_path, monkeypatch):
    crawl = await busy(database_path)
    with monkeypatch.context() as dead:
        dead.setattr(Batch, "publish", lambda self: self._lock.close())
        dead.setattr(Batch, "close", lambda self: None)
        path = await crawl.store.save_rest()
    assert [one.suffix for one in (database_path.parent / "segments").iterdir()].count(PART) == 1
    await asyncio.to_thread(crawl.store.close)
    again = await Crawl(database_path, crawl.web).begin(max_depth=3)
    assert await again.store.next_segment() == path
    assert (await again.store.load_segment(path)).origins == ((A, 3), (B, 1))
    await again.end()
