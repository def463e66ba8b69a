"""The engine over the real store in virtual time: the loop waits for the writer's thread, the answers are the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.engine.crawls import Crawling
from tests.storage.bench import GONE
from tests.storage.whole import assert_whole
from tests.support.memory_store import MemoryStore
from tests.support.simulated_web import linked_site
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.audit import audit
from tui_crawler.domain.history.run_totals import RunTotals
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.engine.clock import WALL_0, VirtualLoop, run_virtual
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings

ORIGINS = ["http://a.test", "http://b.test"]


def crawl_on(store, loop: VirtualLoop) -> Crawling:
    async def main() -> Crawling:
        crawling = Crawling(ORIGINS, linked_site(25), store=store)
        assert await crawling.run() == "exhausted"
        return crawling

    return run_virtual(main(), loop)


def test_a_whole_crawl_on_sqlite_is_that_of_the_memory_store(database_path: Path):
    loop = VirtualLoop()
    settings = StoreSettings(now=lambda: WALL_0 + round(loop.time() * 1000), owner=GONE)
    store = SqliteStore(database_path, settings)
    loop.watch(lambda: store.writer.outstanding)
    crawled = crawl_on(store, loop)
    store.close()
    loop.close()
    other = VirtualLoop()
    expected = crawl_on(MemoryStore(), other)
    other.close()
    assert crawled.web.pages() == expected.web.pages()
    assert len(crawled.web.pages()) == 50
    reports = Reports(database_path)
    proof = audit(reports.attempts_for_audit())
    assert [(one.origin, one.requests, one.ok) for one in proof] == [(origin, 26, True) for origin in ORIGINS]
    assert reports.totals().done == 50
    reports.close()
    assert_whole(database_path)


def test_what_is_counted_while_a_continued_run_goes_on_is_what_its_end_counts(database_path: Path):
    loop = VirtualLoop()
    settings = StoreSettings(now=lambda: WALL_0 + round(loop.time() * 1000), owner=GONE)

    async def crawl(store: SqliteStore, stops_after_s: float) -> tuple[str, list[Event]]:
        crawling = Crawling(ORIGINS, linked_site(12, faults=0.2, seed=3), store=store)

        async def operator(_: Crawling) -> None:
            await asyncio.sleep(stops_after_s)
            crawling.engine.stop(RunReason.interrupted, 1_000)

        run = crawling.run_with(operator) if stops_after_s else crawling.run()
        return await run, crawling.heard.events

    lives = []
    for stops_after_s, reason in ((8, "interrupted"), (0, "exhausted")):
        store = SqliteStore(database_path, settings)
        loop.watch(lambda store=store: store.writer.outstanding)
        ended, events = run_virtual(crawl(store, stops_after_s), loop)
        store.close()
        assert ended == reason
        before_the_end, over = RunTotals(), RunTotals()
        for event in events:
            over.take(event)
            if event.event != "run_finished":
                before_the_end.take(event)
        for name in ("turns", "pages_done", "pages_failed"):
            assert getattr(before_the_end, name) == getattr(over, name)
        assert over.continued is (reason == "exhausted")
        lives.append(over)
    loop.close()
    reports = Reports(database_path)
    run, totals = reports.run(), reports.totals()
    reports.close()
    assert lives[0].turns < lives[1].turns == run.requests
    assert (lives[1].pages_done, lives[1].pages_failed) == (totals.done, totals.failed)
