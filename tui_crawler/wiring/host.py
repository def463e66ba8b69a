"""The engine as the console hosts it: in a thread worker, on an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tui_crawler.config.schema import Config
    from tui_crawler.wiring.crawl import Crawl, Ended
    from tui_crawler.wiring.options import RunOptions


class ThreadHost:
    """Fits the console's EngineHost. All methods but `run` may be called from any thread, at any time."""

    def __init__(
        self, config: Config, database: Path, options: RunOptions, before: Callable[[], object] | None = None
    ) -> None:
        """`before` is called before each run, in the thread of `run`, once `resting` is no longer true."""
        self._before = before
        self._config = config
        self._database = database
        self._options = options
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._crawl: Crawl | None = None
        self._stop_first: int | None = None
        self._trouble = ""
        self.ended: Ended | None = None
        self._over = False

    def run(self) -> str:
        """Runs the engine until it ends; blocking. Answers the run's finish reason. Raises RunHeld, StorageFailure."""
        self.ended, self._over = None, False
        try:
            if self._before is not None:
                self._before()
            self.ended = asyncio.run(self._run())
        finally:
            with self._lock:
                self._trouble = self._crawl.engine.trouble if self._crawl is not None else ""
                self._loop = self._crawl = self._stop_first = None
            self._over = True
        return self.ended.reason.value if self.ended else ""

    def wake(self) -> None:
        """Tells the engine that the journal has new rows."""
        self._call(lambda crawl: crawl.engine.wake())

    def stop(self, drain_ms: int) -> None:
        """Takes no more URLs, lets running requests end for `drain_ms`, then cancels them."""
        from tui_crawler.domain.run import RunReason  # noqa: PLC0415  the screen does not wait for it

        with self._lock:
            self._stop_first = drain_ms
        self._call(lambda crawl: crawl.stop(RunReason.interrupted, drain_ms))

    @property
    def running(self) -> bool:
        """Whether the engine has its run."""
        crawl = self._crawl
        return crawl is not None and crawl.engine.begun

    @property
    def resting(self) -> bool:
        """Whether its run is over: it neither crawls nor is about to."""
        return self._over

    @property
    def in_flight(self) -> int:
        """How many turns are under way."""
        crawl = self._crawl
        return crawl.engine.in_flight if crawl is not None else 0

    @property
    def trouble(self) -> str:
        """Why the database does not take what is crawled, or did not to the end; empty while it does."""
        crawl = self._crawl
        return crawl.engine.trouble if crawl is not None else self._trouble

    @property
    def locked_since(self) -> int:
        """Since when (epoch ms) another program's lock keeps the database from taking anything; 0 while none does."""
        crawl = self._crawl
        return crawl.locked_since if crawl is not None else 0

    async def _run(self) -> Ended:
        from tui_crawler.domain.run import RunReason  # noqa: PLC0415  the screen does not wait for it
        from tui_crawler.wiring.crawl import Crawl, Silence  # noqa: PLC0415  the screen does not wait for the engine

        crawl = Crawl(self._config, self._database, self._options, Silence())
        with self._lock:
            self._loop, self._crawl = asyncio.get_running_loop(), crawl
            stop_first = self._stop_first
        if stop_first is not None:
            crawl.stop(RunReason.interrupted, stop_first)
        return await crawl.run()

    def _call(self, act: Callable[[Crawl], None]) -> None:
        with self._lock:
            loop, crawl = self._loop, self._crawl
            if loop is not None and crawl is not None and not loop.is_closed():
                loop.call_soon_threadsafe(act, crawl)
