"""The console: on a configuration (no command), on a database, or on seeds (`crawl`)."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli import known_names
from tui_crawler.cli.options import CommandSet, add_ignore_database_name, add_watching, add_workers
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.cli.seed_crawl import add_seeds, config_of_seeds
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.wiring.launch import Launch

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--readonly", action="store_true", help="read-only: start and change nothing")
    add_workers(parser)
    add_watching(parser)
    add_ignore_database_name(parser)


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "crawl",
        "open the console on these seeds, without a configuration file",
        crawl,
        "Opens the console and crawls from these seeds with the default settings. Without --db (or TUI_CRAWLER_DB) "
        "the crawl is kept in the current folder, in a database named after the first seed's host and port.",
        examples=("crawl https://example.org/", "crawl https://example.org/docs/ --db docs.db"),
        json="",
    )
    add_seeds(parser)
    add_watching(parser)


def open_on_config(arguments: argparse.Namespace, printer: Printer) -> int:
    """Opens the console on CONFIG, on the configuration found here, or on a database alone."""
    file = known_names.configuration_file(arguments)
    _start_for(file, printer)
    single = len(list(Path().glob("*.db"))) == 1
    if file is None and not arguments.readonly and not single and known_names.named_database(arguments) is None:
        return _welcome(arguments, printer)
    config, database = (
        known_names.configured(arguments, file, printer) if file else (None, known_names.existing_database(arguments))
    )
    if arguments.readonly:
        known_names.existing(database)
    known_names.awaited(database, printer)
    if arguments.workers > 1:
        from tui_crawler.cli.run_command import check_workers

        if config is None or arguments.readonly:
            raise UsageProblem("--workers: the configuration that they crawl is not named: CONFIG")
        check_workers(arguments.workers, config)
        arguments.file = file
    return _open(config, database, arguments, arguments.readonly)


def crawl(arguments: argparse.Namespace, printer: Printer) -> int:
    _start_for(None, printer)
    config, database = config_of_seeds(arguments, printer, "crawl")
    return _open(config, database, arguments)


def start(printer: Printer, instead: str) -> None:
    """Show that the console starts, before anything heavy is imported.

    Raises UsageProblem unless stdin and stdout are a terminal the console can draw on, or a browser shows it.
    """
    gc.disable()  # nothing that is loaded or made until the first picture is there is garbage
    if os.environ.get("TEXTUAL_DRIVER"):
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageProblem("the console needs a terminal, and this is none", hint=instead)
    if os.environ.get("TERM", "") in {"", "dumb"}:
        raise UsageProblem("the console cannot draw on this terminal (TERM is not set, or dumb)", hint=instead)
    printer.starting()


def _start_for(file: str | None, printer: Printer) -> None:
    start(printer, f"tui-crawler run {file or 'CONFIG'} crawls without it; tui-crawler status shows its progress")


def _open(config: Config | None, database: DatabasePlace, arguments: argparse.Namespace, readonly: bool = False) -> int:
    from tui_crawler.wiring.console import open_console

    return open_console(config, database, readonly, Launch.of(arguments))


def _welcome(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.console.welcome.app import WelcomeApp
    from tui_crawler.console.welcome.first_step import Cancelled, FromConfiguration, FromDatabase, FromDemo, FromSeeds
    from tui_crawler.wiring.welcome import Folder

    folder = Folder(Path.cwd(), impolite=arguments.allow_impolite)
    gc.enable()
    step = WelcomeApp(folder).run_to_end()
    gc.disable()
    printer.starting()
    match step:
        case Cancelled(exit_status=status):
            return status
        case FromSeeds():
            config, database = folder.config_for(step)
            known_names.tell_warnings(config, printer)
            return _open(config, database, arguments)
        case FromConfiguration(path=path) | FromDatabase(path=path):
            name = "file" if isinstance(step, FromConfiguration) else "db"
            setattr(arguments, name, os.path.expanduser(path))  # noqa: PTH111  a name of no user stays as it is
            return open_on_config(arguments, printer)
        case FromDemo():
            from tui_crawler.cli import demo_command, main

            return demo_command.execute(main.parse(("demo",)), printer)
