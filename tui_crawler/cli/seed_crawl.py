"""A crawl of seeds from the command line, without a configuration file: its settings, and the files named after its
site. What such a command does can be written as a configuration with the same keys (docs/site-audit.md)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import awaited, named_database, reports_of, tell_warnings
from tui_crawler.cli.options import add_watching, positive
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import ExitStatus, UsageProblem
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.seed_option import SEED_OPTIONS, option_of, settings_of
from tui_crawler.wiring.launch import Launch

if TYPE_CHECKING:
    from tui_crawler.config.problem import ConfigProblem
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
    for one in SEED_OPTIONS:
        default = f" (default: {one.default})" if one.default else ""
        if one.kind.value:
            parser.add_argument(one.option, metavar=one.kind.value, help=f"{one.help}{default}")
        else:
            parser.add_argument(one.option, action=argparse.BooleanOptionalAction, help=one.help)
    parser.add_argument("--own", action="store_true", help=f"the sites are yours: delays of {OWN_DELAY} instead of 1s")


def add_seed_run(parser: argparse.ArgumentParser) -> None:
    """What a crawl of seeds without the console takes."""
    add_seeds(parser)
    parser.add_argument("--max-requests", type=positive, metavar="N", help="end the run after N requests")
    add_watching(parser)


def config_of_seeds(
    arguments: argparse.Namespace, printer: Printer, name: str, suffix: str = "", **settings: object
) -> tuple[Config, DatabasePlace]:
    """Return the configuration of the seeds and its database, whose file name ends in `suffix`; print its warnings.
    `settings` are by dotted key; the options of the command line win over them. Raises UsageProblem."""
    from tui_crawler.config.load import config_from_seeds
    from tui_crawler.config.problem import ConfigErrors
    from tui_crawler.domain.url import CrawlUrl, read_seed

    database = awaited(named_database(arguments) or _file_of(arguments.urls[0], suffix), printer)
    given = {one.name: getattr(arguments, one.name) for one in SEED_OPTIONS}
    given = {option: value for option, value in given.items() if value is not None}
    chosen = given if suffix else _continued(database, given, arguments.own, printer)
    settings |= settings_of(chosen, impolite=arguments.allow_impolite)
    if arguments.own:  # short delays for the origins of the seeds, and for no other
        urls = map(read_seed, arguments.urls)
        own = list(dict.fromkeys(url.origin for url in urls if isinstance(url, CrawlUrl)))
        delay = settings.pop("delay.default", OWN_DELAY)
        hosts = [{"host": origin, "default_delay": delay} for origin in own]
        settings |= {"own_sites": own, "delay.floor": delay, "hosts": hosts}
    try:
        config = config_from_seeds(
            arguments.urls, database, name=name, overrides=settings, allow_impolite_cli=arguments.allow_impolite
        )
    except ConfigErrors as errors:
        told = (_in_words(problem, given, arguments.allow_impolite) for problem in errors.problems)
        raise UsageProblem(*dict.fromkeys(told)) from errors
    tell_warnings(config, printer)
    return config, database


def _continued(
    database: DatabasePlace, given: dict[str, str | bool], own: bool, printer: Printer
) -> dict[str, str | bool]:
    """Return the options that are given and, of the others, those of the last crawl in this database; print which
    these are, and which differ. Raises StorageFailure."""
    from tui_crawler.domain.records.kept_config import given_settings
    from tui_crawler.domain.records.seed_option import options_in
    from tui_crawler.storage.db.file_identity import FileState, examine

    state = examine(database)
    if state is FileState.older:
        printer.note(f"{database} is of an earlier version: the options of its last crawl are not continued")
    if state is not FileState.current:
        return given
    with reports_of(database) as reports:
        former = options_in(given_settings(reports.config_text()), own)
    for one in SEED_OPTIONS:
        if one.name in former and former[one.name] != given.get(one.name, former[one.name]):
            printer.note(f"{one.words(given[one.name])}: the last crawl had {one.words(former[one.name])}")
    if left := [one.words(former[one.name]) for one in SEED_OPTIONS if one.name in former.keys() - given.keys()]:
        printer.note(f"continues with {' '.join(left)}, as in the last crawl")
    return former | given


def _in_words(problem: ConfigProblem, given: Mapping[str, str | bool], impolite: bool) -> str:
    from tui_crawler.config.load import BELOW_FLOOR

    one = option_of(problem.key)
    if one is None or one.name not in given:
        return str(problem)
    hint = "--allow-impolite allows it, and --own where the sites are yours"
    if problem.key != BELOW_FLOOR or impolite:
        hint = problem.suggestion
    return f"{one.words(given[one.name])}: {problem.message}" + (f"; {hint}" if hint else "")


def run_seeds(
    arguments: argparse.Namespace, printer: Printer, purpose: str, output: str, settings: Mapping[str, object]
) -> tuple[int, DatabasePlace, Path | None]:
    """Crawl the seeds without the console; return the exit status, the database, and the file to write: that of
    `--output` (default: `output`), None after a run that did not finish. Raises UsageProblem."""
    from tui_crawler.cli.export_command import target_of
    from tui_crawler.cli.run_command import run_to_end

    most = {} if arguments.max_requests is None else {"crawl.max_requests": arguments.max_requests}
    config, database = config_of_seeds(arguments, printer, site_of(arguments), f"-{purpose}", **settings, **most)
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
