"""One crawl, put together: store, fetcher, clock and engine around a configuration, and its life from start to end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from tui_crawler.config.schema import Config
from tui_crawler.domain.origin import FinishReason
from tui_crawler.domain.run import RunReason
from tui_crawler.engine.clock import SystemClock
from tui_crawler.engine.engine import Engine
from tui_crawler.engine.ports import Listener
from tui_crawler.storage.database import Durability, OpenSettings
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.wiring.options import RunOptions
from tui_crawler.wiring.settings import admission_of, engine_settings, fetcher_of, seed_urls

DRAIN_MS = 5_000  # running requests may end for so long after a stop
_GAVE_UP = frozenset({FinishReason.patience, FinishReason.database_error})


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended. `gave_up` counts the origins that ended by patience or database_error."""

    reason: RunReason
    gave_up: int


class Crawl:
    """A crawl of one configuration into one database. Made and run on one event loop."""

    def __init__(self, config: Config, database: Path, options: RunOptions, listener: Listener) -> None:
        """Raises StorageFailure when the database cannot be opened."""
        self._config = config
        opening = OpenSettings(durability=Durability(config.storage.durability))
        self._store = SqliteStore(database, StoreSettings(opening=opening, lease_ms=config.storage.lease_ms))
        seed_hosts = {url.host for url in seed_urls(config)}
        self._fetcher = fetcher_of(config, seed_hosts, self._excluded)
        settings = engine_settings(config, options)
        self.engine = Engine(settings, admission_of(config), self._store, self._fetcher, SystemClock(), listener)

    async def run(self) -> Ended:
        """Runs until the end, then closes everything. Raises RunHeld, StorageFailure."""
        try:
            reason = await self.engine.run()
        finally:
            await self._fetcher.close()
            await asyncio.to_thread(self._store.close)
        states = self.engine.states.values()
        return Ended(reason, sum(state.finished in _GAVE_UP for state in states))

    def _excluded(self, address: str) -> str:
        found = self.engine.admission.excludes_address(address)
        return found.describe() if found else ""
