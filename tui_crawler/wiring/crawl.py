"""One crawl, put together: store, fetcher, clock and engine around a configuration, and its life from start to end."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import secrets
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.status_words import GAVE_UP, Ended, RunReason
from tui_crawler.engine.clock import SystemClock
from tui_crawler.engine.engine import Engine
from tui_crawler.fetch.second_reading import SecondReader
from tui_crawler.storage.db.file_identity import FilePlace
from tui_crawler.storage.db.open_settings import Durability, OpenSettings
from tui_crawler.storage.db.writer import WriterSettings
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.wiring.origin_settings import admission_of, seed_urls
from tui_crawler.wiring.settings import check_secrets, engine_settings, fetcher_of, sites

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tui_crawler.config.schema import Config
    from tui_crawler.domain.crawl.event import Event
    from tui_crawler.domain.records.command import Command
    from tui_crawler.domain.url import CrawlUrl
    from tui_crawler.engine.ports import Clock, Listener
    from tui_crawler.wiring.launch import Launch

_GATHER_S = 0.3  # so long documents that are to be validated wait for others
_LOOK_S = 1.0  # how often the database is looked for in its folder, and for what other workers have stored
_FOREVER_MS = 10**12  # so long what was fetched waits for another program's lock, or for room on the disk
_KEPT_CONNECTIONS = 1_024
_RESERVED_FILES = 32  # for the database and its readers, name look-ups, modules that are loaded late, output

_log = logging.getLogger(__name__)


class NullListener:
    """A listener that listens to nothing: what has happened is read from the database."""

    def on_event(self, event: Event) -> None:
        """Lets an event pass."""


class SeedHosts:
    """The hosts that seeds name, as a set that is asked for one host at a time: seeds of the configuration, and those
    that operators have added."""

    def __init__(self, seeds: Iterable[CrawlUrl], crawl: Crawl) -> None:
        self._configured = frozenset(url.host for url in seeds)
        self._crawl = crawl

    def __contains__(self, host: object) -> bool:
        return host in self._configured or host in self._crawl.engine.table.seed_hosts


class Crawl:
    """A crawl of one configuration into one database. Made and run on one event loop."""

    def __init__(
        self, config: Config, database: DatabasePlace, launch: Launch, listener: Listener, clock: Clock | None = None
    ) -> None:
        """`clock` None: that of the machine. Raises StorageFailure when the database cannot be opened."""
        self._config, self._listener = config, listener
        secrets_sent = any(host.headers or host.cookies or host.basic_auth for host in config.hosts)
        opening = OpenSettings(durability=Durability(config.storage.durability), private=secrets_sent)
        several = launch.workers > 1 or launch.may_join
        token = launch.token or secrets.token_hex()
        storing = StoreSettings(
            opening=opening,
            writing=WriterSettings(patience_at_work_ms=_FOREVER_MS, shared=several),
            lease_ms=config.storage.lease_ms,
            token_hash=hashlib.sha256(token.encode()).hexdigest(),
            beats=True,
            segment_urls=config.queue.segment_urls,
        )
        self.store = SqliteStore(database, storing)
        self._place = FilePlace(database)
        if self.store.joins_live_runs:
            launch, several = replace(launch, may_join=True), True
        settings = engine_settings(config, launch)
        wanted = settings.plan.max_in_flight
        connections = _room_for(max(_KEPT_CONNECTIONS, 2 * wanted))
        if connections < wanted:
            why = "the system lets this process open no more files"
            notes = settings.plan.note, f"at most {connections} requests in flight, not {wanted}: {why}"
            note = "; ".join(filter(None, notes))
            settings = replace(settings, plan=replace(settings.plan, max_in_flight=connections, note=note))
        seeds = seed_urls(config)
        self._fetcher = fetcher_of(config, SeedHosts(seeds, self), self._excluded, connections)
        self._peers = self.store.peers(launch.workers, sites(config)) if several else None
        self._second = SecondReader(self._fetcher.setup)
        self._leads, self._over = launch.join is None, asyncio.Event()
        self._end: Event | None = None
        self._reading_again: asyncio.Task[None] | None = None
        admission, clock = admission_of(config, seeds), clock or SystemClock()
        self.engine = Engine(settings, admission, self.store, self._fetcher, clock, self, self._peers)
        self.store.in_flight = lambda: len(self.engine.slots)

    async def run(self) -> Ended:
        """Run until the end, then close everything. A run that ends by itself waits for the second reading of its last
        document; one that is stopped leaves that to the next start. Raises RunHeld, StorageFailure."""
        check_secrets(self._config)
        watch = asyncio.create_task(self._watch_place(), name="place of the database")
        if self._leads:
            self._reading_again = asyncio.create_task(self._read_again(), name="second readings")
        try:
            reason = await self.engine.run()
            self._check()
            self._over.set()
            if reason is not RunReason.error and self._reading_again is not None:
                self.store.waiting.set()
                await asyncio.wait([self._reading_again])
        finally:
            watch.cancel()
            await self._close()
            if self._end is not None:
                self._listener.on_event(self._end)
        states = self.engine.table.states.values()
        return Ended(reason, sum(state.finished in GAVE_UP for state in states))

    async def rest(self, handed: Mapping[int, Command] | None = None) -> None:
        """Carry out what waits in the journal while no engine crawls, then close everything. `handed`: see Engine.rest.
        Raises RunHeld, StorageFailure."""
        try:
            await self.engine.rest(handed or {})
        finally:
            await self._close()

    def on_event(self, event: Event) -> None:
        """Tells on what the engine tells; the end of the run when no document waits any more."""
        if event.event == "run_finished":
            self._end = event
        else:
            self._listener.on_event(event)

    def stop(self, reason: RunReason, drain_ms: int) -> None:
        """Takes no more URLs; for `drain_ms` requests under way may end, and documents that wait be seen to."""
        self.engine.stop(reason, drain_ms)
        if self._reading_again is not None:
            self._reading_again.get_loop().call_later(drain_ms / 1000, self._reading_again.cancel)

    async def _read_again(self) -> None:
        """Has validators and data rules look at stored documents, until the run is over and none waits."""
        store, over = self.store, False
        try:
            while not over:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_S if self._peers and self.engine.begun else None):
                        await store.waiting.wait()
                with contextlib.suppress(TimeoutError):  # for company
                    async with asyncio.timeout(_GATHER_S):
                        await self._over.wait()
                store.waiting.clear()
                over = self._over.is_set()
                if not over and self._peers is not None and not await self._peers.is_leading():
                    continue
                while some := await store.waiting_documents():
                    found = await self._second.read(some)
                    await store.store_second_readings(list(zip(some, found, strict=True)))
        except Exception as error:  # documents wait for the next start, the crawl goes on
            _log.warning("validation has stopped: %s", error)
        finally:
            await self._second.close()

    async def _watch_place(self) -> None:
        try:
            while True:
                await asyncio.sleep(_LOOK_S)
                self._check()
        except StorageFailure:
            self.stop(RunReason.error, 0)

    def _check(self) -> None:
        """Raises StorageFailure when the database is not the one any more, or no whole one."""
        self._place.check()
        if self.store.writer.damage is not None:
            raise self.store.writer.damage

    async def _close(self) -> None:
        if self._reading_again is not None:
            self._reading_again.cancel()
            await asyncio.gather(self._reading_again, return_exceptions=True)
        await self._fetcher.close()
        await asyncio.to_thread(self.store.close)

    def _excluded(self, address: str) -> str:
        found = self.engine.table.job_filters.main.excludes_address(address)
        return found.describe() if found else ""


def _room_for(wanted: int) -> int:
    """How many of `wanted` connections, which count as files, this process may have open, at least one. Raises the soft
    limit for them, if need be, as far as the hard one lets."""
    try:
        import resource  # noqa: PLC0415  only POSIX has it, and such a limit
    except ImportError:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_files = Path("/dev/fd")
    taken = (sum(1 for _ in open_files.iterdir()) if open_files.is_dir() else 0) + _RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < taken + wanted:
        soft = taken + wanted if hard == resource.RLIM_INFINITY else min(taken + wanted, hard)
        with contextlib.suppress(ValueError, OSError):  # a system may have another limit beside
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - taken))
