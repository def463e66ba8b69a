"""The demo web beside a crawl of it: served again where its crawl goes on without it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tui_crawler.config.schema import Config
    from tui_crawler.demo.process import DemoProcess


class WebBeside:
    """Fits Company. Ends the web it has started, unless that was left to another process."""

    def __init__(self, web: DemoProcess | None = None) -> None:
        """`web` is one that is served already, and stays with whoever started it."""
        self._web = web
        self._own = False

    def serve(self, config: Config, database: Path) -> None:
        """Serves the demo web where the crawl of one begins or goes on, at the ports that the database knows; for any
        other crawl nothing. Where the ports are taken somebody else serves it. Blocks for about a second."""
        from tui_crawler.demo.configuration import USER_AGENT  # noqa: PLC0415  not before the first paint

        if self._web is not None or config.user_agent != USER_AGENT:
            return
        from tui_crawler.wiring.demo import DemoUnavailable, base_port_of, start_web  # noqa: PLC0415  the same

        base = base_port_of(database)
        if base is not None:
            with contextlib.suppress(DemoUnavailable):
                self._web, self._own = start_web(base, 1.0), True

    @property
    def lifeline(self) -> int | None:
        """The file descriptor that keeps the web serving; None without a web."""
        return None if self._web is None else self._web.lifeline

    def leave(self) -> None:
        """Lets go of the web: the run that was left to itself holds it now."""
        if self._web is not None:
            self._web.leave()

    def close(self) -> None:
        """Ends the web that was started here."""
        if self._web is not None and self._own:
            self._web.close()
