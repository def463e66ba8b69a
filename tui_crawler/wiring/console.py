"""The console, joined to its database and to the engine it hosts."""

from __future__ import annotations

import contextlib
import getpass
import os
import sys
from functools import partial
from pathlib import Path

from tui_crawler.config.load import read_config
from tui_crawler.config.problem import ConfigErrors
from tui_crawler.config.schema import Config
from tui_crawler.console.app import CrawlerApp
from tui_crawler.console.exit_summary import ExitSummary
from tui_crawler.storage.database import OpenSettings, open_writable
from tui_crawler.storage.faults import ReadOnlyDatabase
from tui_crawler.storage.journal import Journal
from tui_crawler.storage.reports import Reports
from tui_crawler.wiring.demo import base_port_of, config_for, demo_database, free_base_port, start_web
from tui_crawler.wiring.host import ThreadHost
from tui_crawler.wiring.options import RunOptions
from tui_crawler.wiring.steering import SteeredJournal


def open_console(config: Config | None, database: Path, readonly: bool, options: RunOptions) -> int:
    """Opens the console and answers the exit status.

    A live run of the database is attached to. Otherwise the engine is started here: with `config`, or with the
    configuration the database keeps of its last run. A database that cannot be written is watched only.
    Raises StorageFailure before the screen is taken, when the database is none or cannot be opened.
    """
    summary = _show(config, database, readonly, options)
    for line in summary.lines():
        print(line)
    sys.stdout.flush()
    if summary.engine_stuck:
        os._exit(summary.exit_status or 3)
    return summary.exit_status


def demo_console(database: Path | None, port: int | None) -> int:
    """The demo web, and the console crawling it. Raises DemoUnavailable, StorageFailure."""
    kept = demo_database(database)
    base = port or base_port_of(kept) or free_base_port()
    with start_web(base, 1.0) as web:
        config, options = config_for(web, kept, headless=False)
        status = open_console(config, kept, False, options)
    print(f"The demo is kept in {kept}; go on with: tui-crawler demo --db {kept}")
    return 0 if status == 1 else status


def _show(config: Config | None, database: Path, readonly: bool, options: RunOptions) -> ExitSummary:
    writable = not readonly and _prepare(database)
    owner = _owner_of(database) if writable else None
    host: ThreadHost | None = None
    if writable and owner is None:
        config, options = (config, options) if config else _kept_config(database)
        host = ThreadHost(config, database, options) if config else None

    def resting() -> bool:
        return host is None or host.resting

    journal = partial(SteeredJournal, database, resting) if writable else None
    app = CrawlerApp(
        partial(Reports, database),
        journal,
        host,
        name=config.name if config else database.stem,
        who=_operator(),
        keymap=dict(config.keymap) if config else None,
        theme=_theme(config),
    )
    return app.run_to_end()


def _prepare(database: Path) -> bool:
    """Makes or migrates the database before the screen is taken; False when it can only be read."""
    try:
        open_writable(database, OpenSettings()).close()
    except ReadOnlyDatabase:
        return False
    return True


def _owner_of(database: Path) -> str | None:
    with contextlib.closing(Journal(database)) as journal:
        return journal.live_owner()


def _kept_config(database: Path) -> tuple[Config | None, RunOptions]:
    """The configuration of the last run, as the database keeps it; None when there is none that can be read."""
    with contextlib.closing(Reports(database)) as reports:
        text = reports.config_text()
    if not text:
        return None, RunOptions()
    try:
        return read_config(text, database.stem), RunOptions(config_text=text)
    except ConfigErrors:
        return None, RunOptions()


def _theme(config: Config | None) -> str:
    """The theme that was asked for; the default of the configuration is the console's own."""
    return config.theme if config is not None and config.source_of("theme") != "default" else ""


def _operator() -> str:
    """Who signs the operator journal."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "operator"
