"""`run`: a crawl without the console."""

from __future__ import annotations

import argparse

from tui_crawler.cli.configuration import read_config, tell_warnings
from tui_crawler.cli.database_choice import database_of_run
from tui_crawler.cli.options import CommandSet, add_database, add_json, add_run_options
from tui_crawler.cli.printer import Printer


def declare(commands: CommandSet) -> None:
    """Declares the command."""
    parser = commands.add(
        "run",
        "crawl without the console",
        execute,
        "Crawls what CONFIG says, without the console, until nothing is left, the request limit is reached, or it "
        "is stopped. A run that was killed is continued. On a terminal it shows its progress, in a pipe one line "
        "per event. The options win over the configuration.",
    )
    parser.add_argument("file", metavar="CONFIG", help="the configuration (YAML)")
    add_run_options(parser)
    add_json(parser, "one JSON object per event; the last is run_finished")
    add_database(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    """Carries out `run`."""
    config = read_config(arguments.file, overrides_of(arguments), allow_impolite=arguments.allow_impolite)
    tell_warnings(config, printer)
    database = database_of_run(arguments, config)

    from tui_crawler.cli.run_watch import watch
    from tui_crawler.wiring import RunOptions, run_headless

    options = RunOptions(new_run=arguments.new_run)
    return watch(printer, arguments.json, lambda listener: run_headless(config, database, options, listener))


def overrides_of(arguments: argparse.Namespace) -> dict[str, object]:
    """The values of the command line that win over the configuration, by dotted key."""
    given: dict[str, object] = {}
    if arguments.max_requests is not None:
        given["crawl.max_requests"] = arguments.max_requests
    if arguments.force_recrawl:
        given["crawl.force_recrawl"] = True
    if arguments.user_agent is not None:
        given["user_agent"] = arguments.user_agent
    return given
