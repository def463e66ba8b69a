"""`run`: a crawl without the console."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.configuration import read_config, tell_warnings
from tui_crawler.cli.database_choice import database_of_run, existing_database, named_database
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
    parser.add_argument("file", metavar="CONFIG", nargs="?", help="the configuration (YAML)")
    parser.add_argument("--stored", action="store_true", help=argparse.SUPPRESS)
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
    if arguments.stored:
        config, database, text = _stored(arguments)
    else:
        if arguments.file is None:
            raise UsageProblem("the configuration is not named: CONFIG", hint="see tui-crawler run --help")
        config = read_config(
            arguments.file,
            overrides_of(arguments),
            allow_impolite=arguments.allow_impolite,
            elsewhere=named_database(arguments) is not None,
        )
        tell_warnings(config, printer)
        database, text = database_of_run(arguments, config), ""
    _check_workers(arguments.workers, config)

    from tui_crawler.cli.run_watch import watch
    from tui_crawler.wiring import RunOptions, run_headless

    options = RunOptions(
        new_run=arguments.new_run,
        config_text=text,
        workers=arguments.workers,
        joins=arguments.join is not None,
        worker_number=arguments.join or 1,
        worker_words=worker_words(arguments, database),
    )
    return watch(printer, arguments.json, lambda listener: run_headless(config, database, options, listener))


def _stored(arguments: argparse.Namespace) -> tuple[Config, Path, str]:
    """What a console that has left its run goes on with: the configuration the database keeps, and its text.

    Raises UsageProblem when it keeps none.
    """
    from tui_crawler.wiring import kept_config, open_reports

    database = existing_database(arguments)
    config = kept_config(database)
    if config is None or arguments.file is not None or arguments.workers > 1:
        raise UsageProblem(f"{database} keeps no configuration to go on with", hint="name one: tui-crawler run CONFIG")
    with contextlib.closing(open_reports(database)) as reports:
        return config, database, reports.config_text()


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
