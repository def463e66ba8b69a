"""Segments on the disk and in the database: loaded exactly once, whole or not at all."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.storage.making import T0, A, B, C, new_page
from tests.storage.offline import Crawl, Web, build, crawl_offline, pages_of, rows, value
from tests.storage.whole import assert_whole
from tui_crawler.domain.records.failure import BadSegment, StorageFailure
from tui_crawler.domain.records.segment import SUFFIX, SegmentPage
from tui_crawler.storage.db import segment_files
from tui_crawler.storage.db.segment_files import PART, Batch, final_path, part_path, read_head, read_pages, verify
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore

WEB = Web({f"{A}/": (f"{A}/1", f"{A}/2"), f"{A}/1": (f"{A}/3", f"{B}/1")}, seeds=(f"{A}/", f"{B}/"))


def write_segment(folder: Path, *entries: SegmentPage, job: str = "main", name: str = "x-0000beef-00001") -> Path:
    """A segment as another database would have written it."""
    batch = Batch(folder, name, T0)
    batch.write(((job, entry) for entry in sorted(entries, key=lambda e: (e.page.origin, e.page.url))), 1_000_000)
    batch.hand_over()
    batch.publish()
    batch.close()
    return final_path(folder, batch.heads[0].name)


def entry(text: str, depth: int = 1, found_on: str = "", **more: Any) -> SegmentPage:
    return SegmentPage(new_page(text, depth, **more), found_on)


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    return write_segment(tmp_path, entry(f"{A}/1"), entry(f"{A}/2", 4, nice=-2), entry(f"{B}/1"))


def picture(path: Path) -> list[Any]:
    """All that loading could change."""
    tables = ("page", "url", "segment", "origin", "job", "activity")
    return [[tuple(row) for row in rows(path, f"SELECT * FROM {table}")] for table in tables]


# files (their texts: tests/domain/test_segment.py)


def test_a_segment_is_read_as_it_was_written(tmp_path):
    written = [entry(f"{A}/{n:05}", n, f"{A}/from", nice=n) for n in range(2_500)]
    path = write_segment(tmp_path, *written)
    head = read_head(path)
    assert (head.urls, head.job, head.created_at) == (2_500, "main", T0)
    assert verify(path) == head
    chunks = list(read_pages(path, 1_000))
    assert [len(chunk) for chunk in chunks] == [1_000, 1_000, 500]
    assert [one for chunk in chunks for one in chunk] == written
    assert not list(tmp_path.glob(f"*{PART}"))


def test_whatever_byte_is_changed_it_is_seen(segment, tmp_path):
    whole = segment.read_bytes()
    damaged = tmp_path / f"damaged{SUFFIX}"
    for place in range(len(whole)):
        changed = bytes([whole[place] ^ 1])
        damaged.write_bytes(whole[:place] + changed + whole[place + 1 :])
        for read in (verify, lambda path: list(read_pages(path, 10))):
            with pytest.raises(BadSegment):
                read(damaged)


@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b[: len(b) // 2], lambda b: b + b.splitlines(True)[-1]])
def test_a_segment_that_was_cut_or_grew_is_damaged(segment, change):
    segment.write_bytes(change(segment.read_bytes()))
    with pytest.raises(BadSegment, match="damaged"):
        list(read_pages(segment, 10))


def test_what_is_no_file_says_so(tmp_path):
    for path, said in ((tmp_path, "is not a file"), (tmp_path / "none", "does not exist")):
        with pytest.raises(BadSegment, match=said):
            read_head(path)
    (tmp_path / "empty").touch()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 5_000)
    for name in ("empty", "binary"):
        with pytest.raises(BadSegment, match="not a segment"):
            read_head(tmp_path / name)


def test_a_batch_that_is_not_handed_over_leaves_nothing(tmp_path):
    batch = Batch(tmp_path, "x-0000beef-00001", T0)
    batch.write([("main", entry(f"{A}/{n}")) for n in range(5)], 2)
    assert len(list(tmp_path.iterdir())) == 4
    batch.close()
    assert not list(tmp_path.iterdir())


def test_the_parts_of_a_live_batch_are_not_taken_for_dead(tmp_path):
    batch = Batch(tmp_path, "x-0000beef-00001", T0)
    batch.write([("main", entry(f"{A}/1"))], 10)
    part = part_path(final_path(tmp_path, batch.heads[0].name))
    assert segment_files.dead_parts(tmp_path, "x-0000beef-") == ()
    batch._lock.close()  # its process has ended
    assert segment_files.dead_parts(tmp_path, "x-0000beef-") == (part,)
    assert segment_files.dead_parts(tmp_path, "x-0000dead-") == ()
    assert list(tmp_path.iterdir()) == [part], "the lock that was left is gone"


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    for place, said in (("file", "cannot be written"), ("none", "does not exist")):
        with pytest.raises(StorageFailure, match=said):
            Batch(tmp_path / place, "x", T0)


# loading


async def test_loading_makes_pages(database_path, segment):
    crawl = await Crawl(database_path, WEB).begin(max_depth=3)
    change = await crawl.store.load_segment(str(segment))
    assert change.origins == ((A, 2), (B, 1))
    found = pages_of(database_path)
    assert (found[f"{A}/1"]["depth"], found[f"{A}/1"]["attempts_remaining"], found[f"{A}/1"]["seed"]) == (1, 3, 0)
    assert (found[f"{A}/2"]["nice"], found[f"{A}/2"]["beyond_depth"]) == (-2, 1)
    todo = await crawl.store.candidates(A, T0, 10, False)
    assert [page.url for page in todo.pages] == [f"{A}/", f"{A}/1"]
    await crawl.end()
    assert_whole(database_path)
    assert value(database_path, "SELECT message FROM activity WHERE event = 'segment_loaded'").endswith("3 of 3 URLs")


async def test_a_segment_is_loaded_once_whatever_it_is_called(database_path, segment, tmp_path):
    copy = shutil.copy(segment, tmp_path / "another name.txt")
    crawl = await Crawl(database_path, WEB).begin()
    await crawl.store.load_segment(str(segment))
    before = picture(database_path)
    for again in (segment, copy):
        with pytest.raises(BadSegment, match="was loaded already, 2027-01-15 08:00:00 UTC"):
            await crawl.store.load_segment(str(again))
    assert picture(database_path) == before
    await crawl.end()


async def test_another_segment_of_the_same_name_is_refused(database_path, segment, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    other = write_segment(tmp_path / "elsewhere", entry(f"{A}/other"))
    crawl = await Crawl(database_path, WEB).begin()
    await crawl.store.load_segment(str(segment))
    with pytest.raises(BadSegment, match="another segment is known by its name"):
        await crawl.store.load_segment(str(other))
    await crawl.end()


async def test_a_damaged_segment_changes_nothing(database_path, tmp_path, monkeypatch):
    monkeypatch.setattr("tui_crawler.storage.queue.segments._LOADED_AT_ONCE", 2)
    path = write_segment(tmp_path, *(entry(f"{C}/{n}") for n in range(9)))
    text = path.read_bytes()
    path.write_bytes(text.replace(f"{C}\t/8".encode(), f"{C}\t/9".encode()))
    crawl = await Crawl(database_path, WEB).begin()
    before = picture(database_path)
    with pytest.raises(BadSegment, match="digest"):
        await crawl.store.load_segment(str(path))
    assert picture(database_path) == before, "neither pages nor an origin"
    path.write_bytes(text)
    assert (await crawl.store.load_segment(str(path))).origins == ((C, 9),)
    await crawl.end()


async def test_what_is_known_keeps_the_better_of_both(database_path, tmp_path):
    crawl = await Crawl(database_path, WEB).begin()
    await crawl.store.load_segment(str(write_segment(tmp_path, entry(f"{A}/1", 5), entry(f"{A}/2", 5))))
    second = (entry(f"{A}/1", 2, f"{A}/", nice=-1), entry(f"{A}/2", 7), entry(f"{A}/3", 6, f"{A}/1"))
    change = await crawl.store.load_segment(str(write_segment(tmp_path, *second, name="x-0000beef-00002")))
    assert change.origins == ((A, 1),)
    found = pages_of(database_path)
    assert [(found[f"{A}/{n}"]["depth"], found[f"{A}/{n}"]["nice"]) for n in (1, 2, 3)] == [(2, -1), (5, 0), (6, 0)]
    assert found[f"{A}/1"]["found_on_page_id"] == found[f"{A}/"]["id"]
    assert found[f"{A}/3"]["found_on_page_id"] == found[f"{A}/1"]["id"]
    await crawl.end()
    assert_whole(database_path)


async def test_where_a_page_was_found_survives_the_segment(database_path):
    await crawl_offline(database_path, WEB)
    for _ in range(2):
        build(database_path, A, B)
        crawl = await Crawl(database_path, WEB).begin()
        while path := await crawl.store.next_segment():
            await crawl.store.load_segment(path)
        await crawl.pages()
        await crawl.end()
    reports = Reports(database_path)
    detail = reports.page_detail(f"{A}/3")
    reports.close()
    assert [step.from_url for step in detail.path] == [f"{A}/", f"{A}/1"]


async def test_an_origin_that_is_new_joins_and_one_that_was_left_out_does_not(database_path, tmp_path):
    path = write_segment(tmp_path, *(entry(f"{origin}/new") for origin in (A, B, C)))
    await crawl_offline(database_path, replace(WEB, seeds=(f"{A}/", f"{B}/")))
    crawl = await Crawl(database_path, replace(WEB, seeds=(f"{A}/",))).begin()
    change = await crawl.store.load_segment(str(path))
    assert change.origins == ((A, 1), (C, 1))
    assert "1 of them are of origins that are no longer configured" in value(
        database_path, "SELECT message FROM activity WHERE event = 'segment_loaded'"
    )
    await crawl.end()
    again = await Crawl(database_path, replace(WEB, seeds=(f"{A}/",))).begin()
    assert [one.record.origin for one in again.start.origins] == [A, C], "it stays in the crawl"
    await again.end()
    back = await Crawl(database_path, WEB).begin()
    found = await back.store.candidates(B, back.now, 10, False)
    assert [page.url for page in found.pages] == [f"{B}/new"], "nothing is lost"
    await back.end()


async def test_it_is_loaded_at_rest_and_before_any_run(database_path, segment):
    store = SqliteStore(database_path)
    await store.begin_rest()
    assert (await store.load_segment(str(segment))).origins == ((A, 2), (B, 1))
    await store.end_rest()
    await asyncio.to_thread(store.close)
    assert sorted(await crawl_offline(database_path, Web(seeds=(f"{A}/",)))) == [
        f"{A}/",
        f"{A}/1",
        f"{A}/2",
        f"{B}/1",
    ]


async def test_pages_go_to_the_job_that_the_segment_names(database_path, tmp_path):
    await crawl_offline(database_path, WEB, job="news")
    crawl = await Crawl(database_path, WEB).begin()
    await crawl.store.load_segment(str(write_segment(tmp_path, entry(f"{A}/n"), job="news")))
    await crawl.store.load_segment(str(write_segment(tmp_path, entry(f"{A}/u"), job="unknown", name="y-1-1")))
    await crawl.end()
    jobs = {row["url"]: row["job"] for row in rows(database_path, "SELECT url, job FROM v_page WHERE depth = 1")}
    assert jobs == {f"{A}/n": "news", f"{A}/u": "main"}


async def test_the_next_segment_is_the_oldest_that_is_whole(database_path):
    await crawl_offline(database_path, Web({f"{A}/": tuple(f"{A}/{n}" for n in range(4))}))
    first, second, third, fourth = (one.path for one in build(database_path, segment_urls=1).segments)
    crawl = await Crawl(database_path, WEB).begin()
    assert await crawl.store.next_segment() == str(first)
    first.unlink()
    second.write_bytes(second.read_bytes().replace(b"/1", b"/9"))
    assert await crawl.store.next_segment() == str(third)
    third.replace(part_path(third))
    assert await crawl.store.next_segment() == str(third), "a build was killed before it named its file"
    await crawl.store.load_segment(str(third))
    fourth.write_bytes(third.read_bytes())
    assert await crawl.store.next_segment() == "", "another segment lies in its place"
    await crawl.end()


async def test_a_path_that_a_build_could_not_name_is_loaded(database_path):
    await crawl_offline(database_path, WEB)
    (built,) = build(database_path, A, B).segments
    built.path.replace(part_path(built.path))
    crawl = await Crawl(database_path, WEB).begin()
    assert (await crawl.store.load_segment(str(built.path))).origins == ((A, 2),)
    await crawl.end()


async def test_database_and_segments_may_be_moved_together(database_path, tmp_path):
    await crawl_offline(database_path, WEB)
    build(database_path, A, B)
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("crawl.db", "segments"):
        (tmp_path / name).replace(moved / name)
    crawl = await Crawl(moved / "crawl.db", WEB).begin()
    assert Path(await crawl.store.next_segment()).parent == moved / "segments"
    await crawl.end()


def test_reports_list_the_segments(database_path, segment):
    asyncio.run(crawl_offline(database_path, WEB))
    (built,) = build(database_path, A, B).segments
    reports = Reports(database_path)
    (row,) = reports.segments()
    assert (row.name, row.urls, row.consumed_at) == (built.path.stem, built.urls, 0)
    assert row.path == f"segments/{built.path.name}"
    assert reports.origins_added() == {}
    reports.close()
