"""A run without the console: signals, exit status."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING

from tui_crawler.domain.run import RunReason, StorageFailure
from tui_crawler.storage.reports import Reports
from tui_crawler.wiring.crawl import DRAIN_MS, Crawl, Ended
from tui_crawler.wiring.workers import Workers, end_with_stdin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tui_crawler.config.schema import Config
    from tui_crawler.engine.ports import Listener
    from tui_crawler.wiring.options import RunOptions

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalledStop:
    """Ends a crawl at the first signal within the drain time, at the second at once."""

    def __init__(self, interrupt: Callable[[int], None]) -> None:
        """`interrupt` ends the crawl within so many ms."""
        self._interrupt = interrupt
        self.received: int | None = None

    def install(self) -> None:
        """Takes the signals over from the running loop (where the platform and the thread have them)."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                loop.add_signal_handler(number, self._on_signal, number)

    def _on_signal(self, number: int) -> None:
        drain = DRAIN_MS if self.received is None else 0
        self.received = self.received or number
        self._interrupt(drain)


def run_headless(config: Config, database: Path, options: RunOptions, listener: Listener) -> int:
    """Crawls until the end; blocking. Answers the exit status (CRAWL.md section 8).

    A listener with an attribute `stop_run` gets a function there that ends the run (a closed pipe).
    Raises RunHeld, StorageFailure.
    """
    ended, received = asyncio.run(_run(config, database, options, listener))
    if received is not None:
        return 128 + received
    if ended.reason is RunReason.error:
        return 3
    return 1 if ended.gave_up else 0


async def _run(config: Config, database: Path, options: RunOptions, listener: Listener) -> tuple[Ended, int | None]:
    """The run, and the signal that ended it."""
    leads = options.workers > 1 and not options.joins
    workers = Workers(options.worker_words, options.workers, listener) if leads else None
    crawl = Crawl(config, database, options, workers or listener)

    def interrupt(drain_ms: int = DRAIN_MS) -> None:
        crawl.engine.stop(RunReason.interrupted, drain_ms)
        if workers is not None:
            workers.stop()

    stop = SignalledStop(interrupt)
    stop.install()
    if hasattr(listener, "stop_run"):
        listener.stop_run = interrupt
    if options.joins:
        end_with_stdin(interrupt)
    if workers is None:
        return await crawl.run(), stop.received
    ended = Ended(RunReason.error, 0)
    try:
        ended = await crawl.run()
    except BaseException:
        workers.stop()
        raise
    finally:
        await workers.finish()
        ended = _end_of_run(database) or ended
        workers.tell_end(ended.reason.value)
    return ended, stop.received


def _end_of_run(database: Path) -> Ended | None:
    """What became of a run, whichever of its workers lived to its end; None where the database does not tell."""
    try:
        with contextlib.closing(Reports(database)) as reports:
            run = reports.run()
            return Ended(RunReason(run.finish_reason), reports.gave_up()) if run and run.finish_reason else None
    except (StorageFailure, ValueError):
        return None
