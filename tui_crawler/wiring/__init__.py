"""Wiring: the only place that knows every part. The command line calls these; each loads what it needs when called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.wiring.options import RunOptions

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.domain.command import ActionResult, Command
    from tui_crawler.engine.ports import Listener
    from tui_crawler.storage.journal import Journal
    from tui_crawler.storage.reports import Reports

__all__ = [
    "RunOptions",
    "carry_out",
    "demo_console",
    "demo_headless",
    "demo_serve",
    "open_console",
    "open_journal",
    "open_reports",
    "run_headless",
]


def open_reports(database: Path) -> Reports:
    """The read-only side of a database. Raises StorageFailure."""
    from tui_crawler.storage.reports import Reports

    return Reports(database)


def open_journal(database: Path) -> Journal:
    """Where the operator's wishes are written. Raises StorageFailure."""
    from tui_crawler.storage.journal import Journal

    return Journal(database)


def carry_out(database: Path, command: Command, who: str) -> ActionResult:
    """Carries a command out: by the live run of the database, or on the resting database. Raises StorageFailure."""
    from tui_crawler.wiring.steering import carry_out as steer

    return steer(database, command, who)


def run_headless(config: Config, database: Path, options: RunOptions, listener: Listener) -> int:
    """Crawls without the console; answers the exit status. Raises RunHeld, StorageFailure."""
    from tui_crawler.wiring.headless import run_headless as run

    return run(config, database, options, listener)


def open_console(config: Config | None, database: Path, readonly: bool, options: RunOptions) -> int:
    """The console; answers the exit status. Raises StorageFailure."""
    from tui_crawler.wiring.console import open_console as open_it

    return open_it(config, database, readonly, options)


def demo_console(database: Path | None, port: int | None) -> int:
    """The demo web and the console crawling it. Raises DemoUnavailable, StorageFailure."""
    from tui_crawler.wiring.console import demo_console as open_demo

    return open_demo(database, port)


def demo_headless(database: Path | None, port: int | None, listener: Listener) -> int:
    """The demo web and a crawl of it without the console. Raises DemoUnavailable, StorageFailure."""
    from tui_crawler.wiring.demo import demo_headless as run

    return run(database, port, listener)


def demo_serve(port: int | None, access_log: Path | None, announce: Callable[[Sequence[str]], None]) -> int:
    """Serves the demo web until a signal comes. Raises DemoUnavailable."""
    from tui_crawler.wiring.demo import demo_serve as serve

    return serve(port, access_log, announce)
