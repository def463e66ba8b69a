"""A configuration in virtual time against the pages that a database has kept: nothing is requested."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tui_crawler.domain.history.run_totals import Rehearsal, Rehearsed
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.engine.clock import WALL_0, VirtualClock, VirtualLoop, run_virtual
from tui_crawler.engine.engine import Engine
from tui_crawler.fetch.headers import asked_wait_ms
from tui_crawler.storage.db.clock import wall_clock
from tui_crawler.storage.db.reader import Reader
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.storage.stored_web import StoredWeb
from tui_crawler.wiring.launch import Launch
from tui_crawler.wiring.origin_settings import admission_of
from tui_crawler.wiring.settings import engine_settings, fetcher_of

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config


def rehearse(config: Config, database: DatabasePlace) -> tuple[int, tuple[Rehearsed, ...]]:
    """Crawls by a configuration from stored pages into a database of its own, which is gone afterwards; answers how
    long (ms) it would take, and what would become of each origin. Raises StorageFailure."""
    settings = engine_settings(config, Launch(new_run=True))
    settings = replace(settings, store_bodies=frozenset(), by_address=False)
    told, loop = Rehearsal(), VirtualLoop()
    start_ms, skew_ms = round(loop.time() * 1000), wall_clock() - WALL_0 - round(loop.time() * 1000)
    clock = VirtualClock(skew_ms)

    def now() -> int:
        return WALL_0 + skew_ms + round(loop.time() * 1000)

    async def crawl(folder: str) -> None:
        reader = fetcher_of(config, (), lambda _: "", 1)
        read_sitemap = partial(reader.read, sitemap=True)
        web = StoredWeb(reports, rows, clock.now, config.crawl.canonical, asked_wait_ms, read_sitemap)
        store = SqliteStore(Path(folder) / "rehearsal.db", StoreSettings(now=now))
        loop.watch(lambda: store.writer.outstanding)
        try:
            await Engine(settings, admission_of(config), store, web, clock, told).run()
        finally:
            store.close()
        for origin, number in web.not_stored.items():
            told.origins[origin].not_stored = number

    with closing(Reports(database)) as reports, closing(Reader(database)) as rows, TemporaryDirectory() as folder:
        run_virtual(crawl(folder), loop)
        took = round(loop.time() * 1000) - start_ms
    loop.close()
    return took, tuple(one for _, one in sorted(told.origins.items()))
