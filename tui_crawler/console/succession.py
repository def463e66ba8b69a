"""Crawling on in this console when nobody is at work for the run it shows: what is in the way, and the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.engine_room import Phase
from tui_crawler.console.failure_words import failure_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.ports import EngineHost

ACTION = "run.start"


class Succession:
    """Makes a console that was attached the host of the crawl."""

    def __init__(self, app: CrawlerApp, successor: Callable[[], EngineHost | None] | None) -> None:
        """`successor` makes the engine of this console, None without a configuration for it; raises StorageFailure."""
        self._app = app
        self._successor = successor

    @property
    def hindrance(self) -> str:
        """Why the crawl cannot be started here; empty when it can."""
        room, run = self._app.room, self._app.picture.run
        if self._app.readonly or self._successor is None:
            return "this console only watches"
        if room.phase in {Phase.ended, Phase.failed}:
            return "the run of this console has ended"
        if room.phase is not Phase.absent:
            return "this console hosts the crawl already"
        if room.quitting:
            return "this console is being left"
        if run is None:
            return "no run has started yet"
        return f"{run.owner or 'another process'} crawls" if run.live else ""

    @property
    def hint(self) -> str:
        """How to go on here, for the line that says that nobody crawls; empty when it cannot be."""
        keys = self._app.own_keys.get(ACTION, "Y")
        return "" if self.hindrance or not keys else f"{keys.split(',', maxsplit=1)[0]} goes on here"

    def start(self) -> None:
        """Hosts the engine from now on. A run that broke off is carried on as one that was killed: each origin waits
        its delay first. Whoever was quicker is attached to."""
        app = self._app
        if self.hindrance or self._successor is None:
            return
        try:
            host = self._successor()
        except Exception as error:  # noqa: BLE001, RUF100  whatever fails below must not end the console
            app.tell("engine", f"The crawl cannot be started here: {failure_words(error)}", "error")
            return
        if host is None:
            app.tell("engine", "The database keeps no configuration: start it with `tui-crawler run CONFIG`", "error")
            return
        run = app.picture.run
        if run is not None and not run.finished_at:
            words = f"run {run.run_id} goes on here; each origin waits one full delay first"
        else:
            words = "a run starts here; each origin waits its delay first"
        app.room.take_over(host)
        app.tell("engine", words, "accent")
        app.read_soon()
