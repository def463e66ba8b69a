"""A crawl of seeds from the command line, without a configuration file: its settings, and the files named after its
site. What such a command does can be written as a configuration with the same keys (docs/site-audit.md)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import awaited, named_database, tell_warnings
from tui_crawler.cli.options import add_database, add_json, add_watching, positive
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import ExitStatus, UsageProblem
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.wiring.launch import Launch

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config

OWN_DELAY = "100ms"
"""The delay of own sites."""
ENDING: Mapping[str, object] = {
    "crawl.max_depth": 25,
    "crawl.max_pages_per_origin": 10_000,
    "policies.url_query_parameters": [{"allow_any": True}],
}
"""URLs with any query, within bounds that end what has no end, such as a calendar with a link to the next month."""


def add_seeds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("urls", metavar="URL", nargs="+", help="a seed")
    parser.add_argument("--own", action="store_true", help=f"the sites are yours: delays of {OWN_DELAY} instead of 1s")


def add_seed_run(parser: argparse.ArgumentParser) -> None:
    """What a crawl of seeds without the console takes."""
    add_seeds(parser)
    parser.add_argument("--max-requests", type=positive, metavar="N", help="end the run after N requests")
    parser.add_argument("--user-agent", metavar="UA", help="the User-Agent of this run")
    add_watching(parser)
    add_json(parser, "one JSON object per event; the last is run_finished")
    add_database(parser)


def config_of_seeds(
    arguments: argparse.Namespace, printer: Printer, name: str, suffix: str = "", **settings: object
) -> tuple[Config, DatabasePlace]:
    """Return the configuration of the seeds and its database, whose file name ends in `suffix`; print its warnings.
    `settings` are by dotted key. Raises UsageProblem."""
    from tui_crawler.config.load import config_from_seeds
    from tui_crawler.config.problem import ConfigErrors
    from tui_crawler.domain.url import CrawlUrl, read_seed

    if arguments.own:  # short delays for the origins of the seeds, and for no other
        urls = map(read_seed, arguments.urls)
        own = list(dict.fromkeys(url.origin for url in urls if isinstance(url, CrawlUrl)))
        hosts = [{"host": origin, "default_delay": OWN_DELAY} for origin in own]
        settings |= {"own_sites": own, "delay.floor": OWN_DELAY, "hosts": hosts}
    database = named_database(arguments) or _file_of(arguments.urls[0], suffix)
    try:
        config = config_from_seeds(
            arguments.urls, database, name=name, overrides=settings, allow_impolite_cli=arguments.allow_impolite
        )
    except ConfigErrors as errors:
        raise UsageProblem(*(str(problem) for problem in errors.problems)) from errors
    tell_warnings(config, printer)
    return config, awaited(database, printer)


def run_seeds(
    arguments: argparse.Namespace, printer: Printer, purpose: str, output: str, settings: Mapping[str, object]
) -> tuple[int, DatabasePlace, Path | None]:
    """Crawl the seeds without the console; return the exit status, the database, and the file to write: that of
    `--output` (default: `output`), None after a run that did not finish. Raises UsageProblem."""
    from tui_crawler.cli.export_command import target_of
    from tui_crawler.cli.run_command import run_to_end

    options = {"crawl.max_requests": arguments.max_requests, "user_agent": arguments.user_agent}
    given = dict(settings) | {key: value for key, value in options.items() if value is not None}
    config, database = config_of_seeds(arguments, printer, site_of(arguments), f"-{purpose}", **given)
    arguments.output = arguments.output or output
    path = target_of(arguments, database)
    if path is None:
        raise UsageProblem("--output -: standard output shows the run", hint=f"name a file, such as {output}")
    status = run_to_end(config, database, Launch.of(arguments), arguments, printer)
    printer.finish()  # what is printed now follows the last line of the run
    if status in {ExitStatus.ok, 1}:
        return status, database, path
    printer.note(f"{path} was not written: the run did not finish")
    return status, database, None


def site_of(arguments: argparse.Namespace) -> str:
    """Return what files are named after: the host of the first seed, and a port that is not the default."""
    from tui_crawler.domain.url import file_stem, read_seed

    return file_stem(read_seed(arguments.urls[0]))


def _file_of(seed: str, suffix: str) -> Path:
    """Return the database in the current folder for a seed. Older versions named it after the host alone: such a file
    that has crawled this port is used until there is one of the new name."""
    from tui_crawler.domain.url import InvalidUrl, file_stem, read_seed
    from tui_crawler.storage.db.file_identity import knows_origin

    url = read_seed(seed)
    names = (f"{file_stem(url)}{suffix}.db", f"{file_stem(url, with_port=False)}{suffix}.db")
    path, former = (Path(name).absolute() for name in names)
    is_kept = not path.exists() and not isinstance(url, InvalidUrl) and knows_origin(former, url.origin)
    return former if is_kept else path
