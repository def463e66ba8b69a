"""Wiring: the only place that knows every part. What the command line calls most stands here and loads when called."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

from tui_crawler.wiring.options import RunOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tui_crawler.config.schema import Config
    from tui_crawler.console.first_step import FirstStep, FromSeeds, Left
    from tui_crawler.domain.command import ActionResult, Command
    from tui_crawler.engine.ports import Listener
    from tui_crawler.export.output import Output
    from tui_crawler.storage.reports import Reports
    from tui_crawler.wiring.export import ExportPlan

__all__ = [
    "RunOptions",
    "carry_out",
    "config_from_first_seeds",
    "demo_console",
    "demo_headless",
    "demo_serve",
    "open_console",
    "open_reports",
    "open_welcome",
    "run_headless",
    "write_export",
]


def _prepare_for_screen() -> None:
    """Before Textual is loaded. Nothing that is loaded or made until the first picture stands is garbage. What a key
    has changed waits for its frame half as long as Textual lets it: at most 120 frames a second, where it has 60."""
    gc.disable()
    os.environ.setdefault("TEXTUAL_FPS", "120")


def open_reports(database: Path) -> Reports:
    """The read-only side of a database. Raises StorageFailure."""
    from tui_crawler.storage.reports import Reports

    return Reports(database)


def carry_out(database: Path, command: Command, who: str, patience_s: float = 3.0, undoes: int = 0) -> ActionResult:
    """Carries a command out: by the live run of the database, for which it waits `patience_s` seconds, or on the
    resting database. `undoes` names the action that it takes back. Raises StorageFailure, NotTakenUp."""
    from tui_crawler.wiring.steering import carry_out as steer

    return steer(database, command, who, patience_s, undoes)


def write_export(reports: Reports, plan: ExportPlan, output: Output) -> int:
    """Writes rows or bodies as `plan` asks; answers how many. Raises CannotWrite, ReaderGone, StorageFailure."""
    from tui_crawler.wiring.export import write_export as write

    return write(reports, plan, output)


def run_headless(config: Config, database: Path, options: RunOptions, listener: Listener) -> int:
    """Crawls without the console; answers the exit status. Raises RunHeld, StorageFailure."""
    from tui_crawler.wiring.headless import run_headless as run

    return run(config, database, options, listener)


def open_console(config: Config | None, database: Path, readonly: bool, options: RunOptions) -> int:
    """The console; answers the exit status. Raises StorageFailure."""
    _prepare_for_screen()
    from tui_crawler.wiring.console import open_console as open_it

    return open_it(config, database, readonly, options)


def open_welcome(folder: Path) -> FirstStep | Left:
    """The welcome screen of a folder without a crawl; answers what was chosen."""
    from tui_crawler.wiring.welcome import open_welcome as welcome

    return welcome(folder)


def config_from_first_seeds(folder: Path, step: FromSeeds) -> tuple[Config, Path, str]:
    """The configuration of seeds chosen there, its new database, and the text to be kept. Raises ConfigErrors."""
    from tui_crawler.wiring.welcome import Folder

    return Folder(folder).config_for(step)


def demo_console(database: Path | None, port: int | None) -> int:
    """The demo web and the console crawling it. Raises DemoUnavailable, StorageFailure."""
    _prepare_for_screen()
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
