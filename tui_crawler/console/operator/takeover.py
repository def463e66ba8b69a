"""Crawling on in this console when nobody is at work for the run it shows: what is in the way, and the start.

Whoever it was that crawled is gone: another process, or the engine of this console, which has failed or was ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.operator.engine_host import EnginePhase
from tui_crawler.console.reading.failure_words import failure_words

if TYPE_CHECKING:
    from tui_crawler.console.operator.engine_host import HostedEngine
    from tui_crawler.console.panes.notice import Notify
    from tui_crawler.console.ports import EngineHost
    from tui_crawler.console.reading.snapshot import LiveState

INTERRUPTED = "interrupted"
"""The finish reason of a run that was told to end, and that goes on with the next start."""


@dataclass(eq=False)
class HostTakeover(Handles):
    """Makes a console that was attached the host of the crawl. `_successor` makes the engine of this console, None
    without a configuration for it (raises StorageFailure); None: this console only watches."""

    _hosting: HostedEngine
    _live_state: LiveState
    _successor: Callable[[], EngineHost | None] | None
    _tell: Notify
    _read_soon: Callable[[], None]

    @property
    def hindrance(self) -> str:
        """Why the crawl cannot be started here; empty when it can."""
        hosting, run = self._hosting, self._live_state.run
        if self._successor is None:
            return "this console is read-only"
        if hosting.phase is EnginePhase.ended and hosting.end.reason != INTERRUPTED:
            return "the run of this console has ended"
        if hosting.phase not in {EnginePhase.absent, EnginePhase.ended, EnginePhase.failed}:
            return "this console hosts the crawl already"
        if hosting.quitting:
            return "this console is being left"
        if run is None:
            return "no run has started yet"
        return f"{run.owner or 'another process'} crawls" if run.live else ""

    @handles("run.start")
    def start(self) -> None:
        """Hosts the engine from now on. A run that broke off is carried on as one that was killed: each origin waits
        its delay first. Whoever was quicker is attached to."""
        if self.hindrance or self._successor is None:
            return
        try:
            host = self._successor()
        except Exception as error:  # whatever fails below must not end the console
            self._tell("engine", f"The crawl cannot be started here: {failure_words(error)}", "error")
            return
        if host is None:
            self._tell("engine", "The database keeps no configuration: start it with `tui-crawler run CONFIG`", "error")
            return
        words = "a run starts here; each origin waits its delay first"
        if (run := self._live_state.run) is not None and not run.finished_at:
            words = f"run {run.run_id} continues here; each origin waits one full delay first"
        self._hosting.take_over(host)
        self._tell("engine", words, "accent")
        self._read_soon()
