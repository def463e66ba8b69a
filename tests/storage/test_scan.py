"""`queue build`: what is scanned, and what becomes of each link."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.storage.making import T0, A, B, C, crawled, fill_of, new_page, plan
from tests.storage.offline import (
    Crawl,
    Web,
    admission,
    build,
    built_urls,
    crawl_offline,
    links_with,
    rows,
    urls_of,
    value,
)
from tests.storage.whole import assert_whole
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.segment import SegmentPage, parse_line
from tui_crawler.domain.rules.policy import PolicySet, Rule, Whitelist
from tui_crawler.storage.db.database import upgrade
from tui_crawler.storage.queue import scan
from tui_crawler.storage.queue.scan import Built
from tui_crawler.storage.store import SqliteStore

KINDS = ("database", "memory", "bloom")


async def crawl_and_build(path: Path, web: Web, **more: Any) -> Built:
    """A whole run, and a build of what it has found."""
    await crawl_offline(path, web)
    return build(path, **more)


def before_the_write(monkeypatch: pytest.MonkeyPatch, step: Callable[[], Any]) -> None:
    """Does something once, when a build has scanned everything."""
    write = scan._Build._write

    def interrupted(self: Any, *arguments: Any) -> Any:
        monkeypatch.undo()
        step()
        return write(self, *arguments)

    monkeypatch.setattr(scan._Build, "_write", interrupted)


def entries(path: Path) -> dict[str, SegmentPage]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [parse_line(line) for line in lines if not line.startswith("#")]
    return {entry.page.url: entry for entry in found}


async def test_what_a_crawl_would_have_queued_stands_in_the_segment(database_path):
    web = Web({f"{A}/": (f"{A}/b", f"{A}/a?x=1", f"{A}/", f"{B}/away")})
    assert await crawl_offline(database_path, web) == [f"{A}/"]
    built = build(database_path)
    assert (built.scanned, built.found, built.known, built.refused) == (1, 4, 1, 1)
    (segment,) = built.segments
    assert segment.urls == 2
    assert segment.path.parent == database_path.parent / "segments"
    assert urls_of(segment.path) == [f"{A}/a?x=1", f"{A}/b"]
    found = entries(segment.path)[f"{A}/b"]
    assert (found.page.depth, found.page.seed, found.found_on) == (1, False, f"{A}/")
    assert value(database_path, "SELECT COUNT(*) FROM page") == 1, "nothing is queued before it is loaded"
    refused = rows(database_path, "SELECT origin, reason, count, sample_url FROM v_refused")
    assert [tuple(row) for row in refused] == [(A, "scope", 1, f"{B}/away")]
    assert_whole(database_path)


async def test_what_was_scanned_is_not_scanned_again_until_it_changes(database_path):
    web = Web({f"{A}/": (f"{A}/b", f"{B}/away")})
    assert len((await crawl_and_build(database_path, web)).segments) == 1
    again = build(database_path)
    assert again == replace(again, scanned=0, found=0, known=0, refused=0, segments=())
    assert value(database_path, "SELECT count FROM v_refused") == 1, "no refusal is counted twice"
    web.links[f"{A}/"] = (f"{A}/b", f"{A}/c")
    await crawl_offline(database_path, web, force_recrawl=True)
    more = build(database_path)
    assert (more.scanned, more.found, more.known, built_urls(more)) == (1, 2, 1, [f"{A}/c"])


async def test_a_page_without_a_document_is_scanned_again_only_after_it_was_crawled_again(database_path):
    web = Web(redirects={f"{A}/": f"{B}/away"})
    await crawl_offline(database_path, web)
    assert [build(database_path).scanned for _ in range(2)] == [1, 0]
    await crawl_offline(database_path, web, force_recrawl=True)
    assert [build(database_path).scanned for _ in range(2)] == [1, 0]
    assert value(database_path, "SELECT count FROM v_refused") == 2


async def test_a_redirect_that_changes_under_a_build_is_left_for_the_next(database_path, monkeypatch):
    web = Web(redirects={f"{A}/": f"{A}/1"})
    crawl = await Crawl(database_path, web).begin()
    (page,) = (await crawl.store.candidates(A, T0, 10, True)).pages
    await crawl.store.settle(web.answer(page, T0 + 1))
    loop = asyncio.get_running_loop()

    def crawled_again() -> None:
        web.redirects[f"{A}/"] = f"{A}/2"
        asyncio.run_coroutine_threadsafe(crawl.store.settle(web.answer(page, T0 + 50)), loop).result(20)

    before_the_write(monkeypatch, crawled_again)
    assert built_urls(await asyncio.to_thread(build, database_path)) == [f"{A}/1"]
    assert [built_urls(await asyncio.to_thread(build, database_path)) for _ in range(2)] == [[f"{A}/2"], []]
    await crawl.end()


async def test_what_an_older_version_has_not_scanned_is_scanned_after_the_migration(database_path):
    """Schema 2 knew up to which attempt everything was scanned."""
    web = Web(redirects={f"{A}/": f"{A}/old"}, seeds=(f"{A}/", f"{A}/page"))
    await crawl_and_build(database_path, web)
    attempts = value(database_path, "SELECT MAX(id) FROM attempt")
    web.redirects[f"{A}/new"] = f"{A}/target"
    web.seeds += (f"{A}/new",)
    await crawl_offline(database_path, web)
    database = sqlite3.connect(database_path)
    database.executescript(
        "DROP INDEX page_unscanned; ALTER TABLE page DROP COLUMN unscanned; PRAGMA user_version = 2;"
        "DELETE FROM schema_migration WHERE name LIKE '0003%';"
        f"INSERT INTO meta VALUES ('scanned_attempt', {attempts});"
    )
    database.close()
    assert upgrade(database_path) is not None
    assert (built_urls(build(database_path)), build(database_path).scanned) == ([f"{A}/target"], 0)
    assert value(database_path, "SELECT COUNT(*) FROM meta WHERE name = 'scanned_attempt'") == 0


async def test_kinds_nofollow_and_noindex(database_path):
    crawl = await Crawl(database_path, Web(seeds=(f"{A}/", f"{A}/hidden"), noindex=frozenset({f"{A}/hidden"}))).begin()
    crawl.web.links = {f"{A}/hidden": (f"{A}/from-noindex",)}
    pages = (await crawl.store.candidates(A, T0, 10, True)).pages
    mixed = links_with(
        (f"{A}/page", LinkKind.a, False),
        (f"{A}/picture", LinkKind.img, False),
        (f"{A}/film", LinkKind.video, False),
        (f"{A}/not", LinkKind.a, True),
        (f"{A}/both", LinkKind.img, False),
        (f"{A}/both", LinkKind.a, True),
    )
    await crawl.store.settle(replace(crawled(pages[0], T0 + 1), links=mixed, new_pages=()))
    await crawl.store.settle(crawl.web.answer(pages[1], T0 + 2))
    await crawl.end()
    built = build(database_path, link_kinds=frozenset({LinkKind.a, LinkKind.img}))
    assert built_urls(built) == [f"{A}/both", f"{A}/from-noindex", f"{A}/page", f"{A}/picture"]
    assert built.scanned == 2


async def test_redirects_keep_the_depth_and_count_hops(database_path):
    web = Web({f"{A}/": (f"{A}/1",)}, {f"{A}/1": f"{A}/2", f"{A}/2": f"{A}/3", f"{A}/3": f"{A}/4"})
    await crawl_offline(database_path, web)
    for number, hops in ((1, 0), (2, 1), (3, 2)):
        built = build(database_path, admitting=admission(A, max_redirect_hops=2))
        (found,) = entries(built.segments[0].path).values()
        assert (found.page.url, found.page.depth, found.page.redirect_hops) == (f"{A}/{number}", 1, hops)
        assert found.found_on == (f"{A}/{number - 1}" if number > 1 else f"{A}/")
        await load_all(database_path)
        await crawl_offline(database_path, web)
    last = build(database_path, admitting=admission(A, max_redirect_hops=2))
    assert (last.scanned, last.refused, last.segments) == (1, 1, ())
    assert value(database_path, "SELECT count FROM v_refused WHERE reason = 'redirect_hops'") == 1


async def load_all(path: Path) -> None:
    store = SqliteStore(path)
    await store.begin_rest()
    while found := await store.next_segment():
        await store.load_segment(found)
    await store.end_rest()
    await asyncio.to_thread(store.close)


async def test_the_filters_are_those_of_a_crawl(database_path):
    policies = PolicySet(
        whitelist=Whitelist(domains=("*.b.example", "b.example")), rules=(Rule("/refused", accept=False),)
    )
    web = Web({f"{A}/": (f"{A}/refused", f"{A}/x/x/x/x", f"{B}/joins", f"{C}/out", f"{A}/fine")})
    built = await crawl_and_build(database_path, web, admitting=admission(A, policies=policies))
    assert built_urls(built) == [f"{A}/fine", f"{B}/joins"]
    counted = {row["reason"]: row["count"] for row in rows(database_path, "SELECT * FROM v_refused")}
    assert counted == {"rule_accept": 1, "trap_repeat": 1, "scope": 1}


async def test_pattern_and_force_are_inherited_and_narrow(database_path):
    web = Web({f"{A}/list": (f"{A}/item/1", f"{A}/about")}, seeds=(f"{A}/",))
    crawl = await Crawl(database_path, web).begin()
    item = replace(new_page(f"{A}/list", 0), item_pattern="/item/", force=True, nice=-3)
    await crawl.store.add_pages((item,), "")
    await crawl.pages()
    await crawl.end()
    built = build(database_path)
    (found,) = entries(built.segments[0].path).values()
    assert (found.page.url, found.page.item_pattern, found.page.force) == (f"{A}/item/1", "/item/", True)
    assert value(database_path, "SELECT reason FROM v_refused") == "item_pattern"


async def test_the_shortest_path_and_the_lowest_nice_are_kept(database_path):
    web = Web({f"{A}/": (f"{A}/1",), f"{A}/1": (f"{A}/2",), f"{A}/2": (f"{A}/new",), f"{A}/late": (f"{A}/new",)})
    await crawl_offline(database_path, web)
    for _ in range(2):
        build(database_path)
        await load_all(database_path)
        await crawl_offline(database_path, web)
    web.seeds += (f"{A}/late",)
    (found,) = entries((await crawl_and_build(database_path, web)).segments[0].path).values()
    assert (found.page.url, found.page.depth, found.found_on) == (f"{A}/new", 1, f"{A}/late")


@pytest.mark.parametrize("kind", KINDS)
async def test_an_origin_is_full_with_its_pages_and_those_that_wait(database_path, kind):
    web = Web({f"{A}/": tuple(f"{A}/{n}" for n in range(5)), f"{A}/more": tuple(f"{A}/m{n}" for n in range(5))})
    seen = scan.SeenSettings(kind, 1_000, 1e-6)
    await crawl_offline(database_path, web)
    full = admission(A, max_pages_per_origin=6)
    assert len(built_urls(build(database_path, admitting=full, seen=seen))) == 5
    web.seeds += (f"{A}/more",)
    built = await crawl_and_build(database_path, web, admitting=admission(A, max_pages_per_origin=9), seen=seen)
    assert (len(built_urls(built)), built.refused) == (2, 3)
    assert value(database_path, "SELECT count FROM v_refused WHERE reason = 'origin_full'") == 3


@pytest.mark.parametrize("kind", KINDS)
async def test_what_waits_in_a_segment_is_known(database_path, kind):
    seen = scan.SeenSettings(kind, 1_000, 1e-6)
    web = Web({f"{A}/": (f"{A}/1", f"{A}/2"), f"{A}/other": (f"{A}/2", f"{A}/3")})
    assert built_urls(await crawl_and_build(database_path, web, seen=seen)) == [f"{A}/1", f"{A}/2"]
    web.seeds += (f"{A}/other",)
    assert built_urls(await crawl_and_build(database_path, web, seen=seen)) == [f"{A}/3"]


@pytest.mark.parametrize("damaged", [None, b"\t/3\t"])
async def test_of_a_waiting_segment_that_is_gone_or_damaged_nothing_counts(database_path, damaged):
    web = Web({f"{A}/": (f"{A}/1", f"{A}/2"), f"{A}/other": (f"{A}/1", f"{A}/2")})
    (segment,) = (await crawl_and_build(database_path, web)).segments
    if damaged is None:
        segment.path.unlink()
    else:
        segment.path.write_bytes(segment.path.read_bytes().replace(b"\t/2\t", damaged))
    web.seeds += (f"{A}/other",)
    built = await crawl_and_build(database_path, web)
    assert built_urls(built) == [f"{A}/1", f"{A}/2"], "found again they are queued again"
    assert ("damaged" if damaged else "does not exist; its URLs count as not seen") in built.warnings[0]


async def test_segments_are_sorted_and_cut(database_path):
    links = tuple(f"{origin}/{n}" for origin in (B, A, f"{A}:8080") for n in range(3))
    await crawl_offline(database_path, Web({f"{A}/": links}))
    built = build(database_path, A, B, f"{A}:8080", segment_urls=4)
    assert [segment.urls for segment in built.segments] == [4, 4, 1]
    assert built_urls(built) == [f"{origin}/{n}" for origin in (A, f"{A}:8080", B) for n in range(3)]
    for segment in built.segments:
        lines = segment.path.read_bytes().splitlines()
        assert lines == sorted(lines)


async def test_jobs_have_filters_and_segments_of_their_own(database_path):
    web = Web({f"{A}/": (f"{A}/1", f"{A}/2"), f"{A}/job": (f"{A}/1", f"{A}/no")})
    crawl = await Crawl(database_path, web).begin()
    await crawl.pages()
    await crawl.end()
    web.seeds = (f"{A}/job",)
    await crawl_offline(database_path, web, job="other")
    by_job = {"main": admission(A), "other": admission(A, policies=PolicySet(rules=(Rule("/no", accept=False),)))}
    built = scan.build_queue(database_path, scan.BuildSettings(), by_job.__getitem__)
    assert [urls_of(segment.path) for segment in built.segments] == [[f"{A}/1", f"{A}/2"], [f"{A}/1"]]
    await load_all(database_path)
    pages = rows(database_path, "SELECT job, url FROM v_page ORDER BY job, url")
    assert Counter(row["job"] for row in pages) == {"main": 3, "other": 2}


async def test_another_folder(database_path, tmp_path):
    await crawl_offline(database_path, Web({f"{A}/": (f"{A}/1",)}))
    with pytest.raises(StorageFailure, match="does not exist"):
        build(database_path, output=tmp_path / "none")
    (tmp_path / "out").mkdir()
    built = build(database_path, output=tmp_path / "out")
    assert built.segments[0].path.parent == tmp_path / "out"
    assert not (database_path.parent / "segments").exists()
    await load_all(database_path)
    assert value(database_path, "SELECT COUNT(*) FROM page") == 2


async def test_a_live_run_goes_on_and_keeps_what_it_changes(database_path, monkeypatch):
    """A document that is crawled again while a build is under way stays unscanned."""
    web = Web({f"{A}/": (f"{A}/1",), f"{A}/s": ()}, seeds=(f"{A}/", f"{A}/s"))
    crawl = await Crawl(database_path, web).begin()
    pages = (await crawl.store.candidates(A, T0, 10, True)).pages
    await crawl.store.fill(fill_of(pages))
    for page in pages:
        await crawl.store.settle(web.answer(page, T0 + 1))
    loop = asyncio.get_running_loop()

    def crawled_again() -> None:
        web.links[f"{A}/"] = (f"{A}/1", f"{A}/2")
        asyncio.run_coroutine_threadsafe(crawl.store.settle(web.answer(pages[0], T0 + 50)), loop).result(20)

    before_the_write(monkeypatch, crawled_again)
    assert built_urls(await asyncio.to_thread(build, database_path)) == [f"{A}/1"]
    again = await asyncio.to_thread(build, database_path)
    assert (again.scanned, built_urls(again)) == (1, [f"{A}/2"])
    await crawl.end()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_segment_that_is_loaded_meanwhile_is_known(database_path, monkeypatch, kind):
    web = Web({f"{A}/": (f"{A}/1",), f"{A}/other": (f"{A}/1",)})
    await crawl_offline(database_path, web)
    seen = scan.SeenSettings(kind, 1_000, 1e-6)
    (segment,) = build(database_path, seen=seen).segments
    web.seeds += (f"{A}/other",)
    await crawl_offline(database_path, web)
    loop = asyncio.get_running_loop()
    open_seen = scan.open_seen

    def then_load(*arguments: Any) -> Any:
        index = open_seen(*arguments)
        asyncio.run_coroutine_threadsafe(load_all(database_path), loop).result(20)
        return index

    monkeypatch.setattr(scan, "open_seen", then_load)
    built = await asyncio.to_thread(build, database_path, seen=seen)
    assert (built.known, built.segments) == (1, ())
    assert value(database_path, "SELECT COUNT(*) FROM segment WHERE consumed_at > 0") == 1
    assert segment.urls == 1


async def test_two_builds_at_once_cannot_both_be_right(database_path, monkeypatch):
    await crawl_offline(database_path, Web({f"{A}/": (f"{A}/1", f"{A}/2")}))
    before_the_write(monkeypatch, lambda: build(database_path))
    with pytest.raises(StorageFailure, match="another queue build"):
        build(database_path)
    folder = database_path.parent / "segments"
    assert [path.suffix for path in folder.iterdir()] == [".segment"], "nothing of the other is left, nor is touched"
    assert value(database_path, "SELECT SUM(urls) FROM segment") == 2


async def test_a_killed_batch_of_another_database_is_left_alone(database_path, tmp_path):
    await crawl_offline(database_path, Web({f"{A}/": (f"{A}/1",)}))
    folder = tmp_path / "segments"
    folder.mkdir()
    strange = folder / "crawl-00000001-00001-00001.segment.part"
    strange.write_text("of somebody else")
    build(database_path)
    assert strange.exists()


async def test_it_holds_with_an_empty_database(database_path):
    store = SqliteStore(database_path)
    await store.begin_run(plan(f"{A}/"))
    await store.end_run("exhausted", True)
    await asyncio.to_thread(store.close)
    built = build(database_path)
    assert (built.scanned, built.segments) == (0, ())
