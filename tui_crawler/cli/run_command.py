"""`run`: a crawl without the console."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.configuration import read_config, tell_warnings
from tui_crawler.cli.database_choice import database_of_run
from tui_crawler.cli.options import CommandSet, add_database, add_json, add_run_options, positive
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config

MOST_WORKERS = 64


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
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        default=1,
        help="crawl with N processes, each of which takes its share of the origins",
    )
    parser.add_argument("--join", type=positive, metavar="NUMBER", help=argparse.SUPPRESS)
    add_json(parser, "one JSON object per event; the last is run_finished")
    add_database(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    """Carries out `run`."""
    config = read_config(arguments.file, overrides_of(arguments), allow_impolite=arguments.allow_impolite)
    tell_warnings(config, printer)
    database = database_of_run(arguments, config)
    _check_workers(arguments.workers, config)

    from tui_crawler.cli.run_watch import watch
    from tui_crawler.wiring import RunOptions, run_headless

    options = RunOptions(
        new_run=arguments.new_run,
        workers=arguments.workers,
        joins=arguments.join is not None,
        worker_number=arguments.join or 1,
        worker_words=worker_words(arguments, database),
    )
    return watch(printer, arguments.json, lambda listener: run_headless(config, database, options, listener))


def _check_workers(workers: int, config: Config) -> None:
    """Raises UsageProblem for what several workers cannot do together."""
    if workers == 1:
        return
    if workers > MOST_WORKERS:
        raise UsageProblem(f"--workers {workers}: at most {MOST_WORKERS} workers share one database")
    if config.crawl.politeness_key == "ip":
        raise UsageProblem(
            "--workers cannot be combined with crawl.politeness_key: ip",
            hint="which origins share an address is only known to the worker that has asked for it",
        )
    if config.queue.min_origins:
        raise UsageProblem("--workers cannot be combined with queue.min_origins: no worker sees all origins")


def worker_words(arguments: argparse.Namespace, database: Path) -> tuple[str, ...]:
    """The command line of one more worker of the same run, without its number at the end."""
    words = [sys.executable, "-m", "tui_crawler", "run", str(arguments.file), "--db", str(database), "--json"]
    words += ["--workers", str(arguments.workers), "--ignore-database-name"]
    if arguments.max_requests is not None:
        words += ["--max-requests", str(arguments.max_requests)]
    if arguments.force_recrawl:
        words.append("--force-recrawl")
    if arguments.user_agent is not None:
        words += ["--user-agent", arguments.user_agent]
    if arguments.allow_impolite:
        words.append("--allow-impolite")
    return (*words, "--join")


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
