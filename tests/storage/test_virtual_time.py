"""The engine over the real store in virtual time: the loop waits for the writer's thread, the answers are the same."""

from __future__ import annotations

from pathlib import Path

from tests.engine.crawls import Crawling
from tests.storage.bench import GONE
from tests.storage.whole import assert_whole
from tests.support.memory_store import MemoryStore
from tests.support.simulated_web import linked_site
from tests.support.virtual_time import WALL_0, VirtualLoop, run_virtual
from tui_crawler.domain.audit import audit
from tui_crawler.storage.reports import Reports
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
    loop.watch(lambda: store.outstanding)
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
