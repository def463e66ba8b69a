"""What a person names, checked before anything is asked for: the configuration and the database a command is about
(docs/interface.md, Common), origins and jobs, exit codes, URLs, patterns, notes."""

from __future__ import annotations

import argparse
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.known_word import did_you_mean
from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace, parse_server_url

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.storage.reports.reports import Reports

DEFAULT_CONFIG = "tui-crawler.yaml"
"""The configuration that is looked for in the current folder."""


def configured(
    arguments: argparse.Namespace, file: str, printer: Printer, overrides: Mapping[str, object] | None = None
) -> tuple[Config, DatabasePlace]:
    """Return the configuration in `file`, with values of the command line by dotted key, and the database of its crawl;
    print its warnings. Raises UsageProblem with a line for each thing that is wrong."""
    from tui_crawler.config.load import load_config

    looks_at_files = named_database(arguments) is None  # else the configured one need not exist
    config = load_config(Path(file), overrides, arguments.allow_impolite, looks_at_files=looks_at_files)
    tell_warnings(config, printer)
    return config, database_of_run(arguments, config)


def tell_warnings(config: Config, printer: Printer) -> None:
    """Print what is doubtful in a configuration to stderr."""
    for warning in config.warnings:
        printer.note(f"warning: {warning}")


DATABASE_VARIABLE = "TUI_CRAWLER_DB"
PASSWORD_VARIABLE = "PGPASSWORD"  # noqa: S105  the variable that libpq reads
_NAMED, _RUNS_NAMED = 5, 20


def named_database(arguments: argparse.Namespace) -> DatabasePlace | None:
    """What `--db`, else the environment, names. Raises UsageProblem for what names none."""
    text = arguments.db if arguments.db is not None else os.environ.get(DATABASE_VARIABLE) or None
    return None if text is None else place_named(text)


def configuration_file(arguments: argparse.Namespace) -> str | None:
    """Return CONFIG or `--config`, else ./tui-crawler.yaml unless a database is named; None: there is none."""
    here = Path(DEFAULT_CONFIG).is_file() and named_database(arguments) is None
    return arguments.file or arguments.config or (DEFAULT_CONFIG if here else None)


def chosen_database(arguments: argparse.Namespace) -> DatabasePlace:
    """Return `--db`, TUI_CRAWLER_DB, the database of `--config`, that of ./tui-crawler.yaml, or the only *.db here.

    The file need not exist. Raises UsageProblem when none of them leads to one database.
    """
    named = named_database(arguments)
    if named is not None:
        return named
    config = arguments.config or (DEFAULT_CONFIG if Path(DEFAULT_CONFIG).is_file() else None)
    if config is not None:
        from tui_crawler.config.load import load_config

        return configured_database(load_config(Path(config), None, True, resolves=False))
    found = sorted(Path().glob("*.db"))
    if len(found) == 1:
        return found[0].absolute()
    hint = "name one with --db PATH"
    if not found:
        begin = "or begin a crawl: tui-crawler crawl URL, tui-crawler run CONFIG"
        raise UsageProblem("no database is named and none is here", hint=f"{hint}, {begin}")
    raise UsageProblem(f"{len(found)} databases are here: {_first([path.name for path in found])}", hint=hint)


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")


def existing_database(arguments: argparse.Namespace) -> DatabasePlace:
    """Return the chosen database, which has to exist. Raises UsageProblem."""
    return existing(chosen_database(arguments))


def existing(path: DatabasePlace) -> DatabasePlace:
    """Return `path`, if a file is there; a server says itself what it has. Raises UsageProblem."""
    if isinstance(path, Path) and not _mode(path):
        raise UsageProblem(f"there is no database {path}", hint="tui-crawler run CONFIG makes one")
    return path


def awaited(place: DatabasePlace, printer: Printer) -> DatabasePlace:
    """Return `place` when its server takes connections, for what crawls there. Raises StorageFailure."""
    if isinstance(place, PostgresPlace):
        from tui_crawler.storage.db.file_identity import server_module

        server_module().await_server(place, printer.note)
    return place


def reports_of(database: DatabasePlace) -> closing[Reports]:
    """Return the reports on a database that exists, closed at the end of a `with`. Raises StorageFailure."""
    from tui_crawler.storage.reports.reports import Reports

    return closing(Reports(database))


def no_run(database: DatabasePlace, run_id: int | None) -> UsageProblem:
    """Return the problem that there is no such run (None: none at all); the hint names the newest that there are."""
    with reports_of(database) as reports:
        newest = ", ".join(str(one.run_id) for one in reversed(reports.runs(_RUNS_NAMED)))
    named = f"there is no run {run_id} in {database}" if run_id else "there was no run yet"
    return UsageProblem(named, hint=f"runs: {newest}" if newest else "tui-crawler run CONFIG begins one")


def database_of_run(arguments: argparse.Namespace, config: Config) -> DatabasePlace:
    """Return `--db`, TUI_CRAWLER_DB, or the configuration's own database. Without `--ignore-database-name` raises
    UsageProblem when that is not the database the configuration asks for (the guard of design U)."""
    from tui_crawler.config.database import guard_database

    path = named_database(arguments) or configured_database(config)
    refusal = None if arguments.ignore_database_name else guard_database(config, path)
    if refusal:
        raise UsageProblem(refusal, hint="--ignore-database-name uses it all the same")
    return path


def configured_database(config: Config) -> DatabasePlace:
    """Where a configuration keeps its crawl."""
    if config.database.password:
        os.environ[PASSWORD_VARIABLE] = config.database.password
    return place_named(config.database.location)


def place_named(text: str) -> DatabasePlace:
    """Return the database of that name. A password in it goes into the environment, where the driver and the processes
    that are started look for it, and nowhere else."""
    if not text or "\0" in text:
        raise UsageProblem("the name of the database is empty", hint="name a file with --db PATH")
    if "://" in text:
        try:
            place, password = parse_server_url(text)
        except ValueError as problem:
            raise UsageProblem(f"--db is no URL of a database: {problem}") from problem
        if password:
            os.environ[PASSWORD_VARIABLE] = password
        return place
    path = Path(text).absolute()
    if stat.S_ISDIR(_mode(path)):
        raise UsageProblem(f"{path} is a folder, not a database", hint="name a file in it with --db PATH")
    return path


def _mode(path: Path) -> int:
    """Return what kind of file it is, 0 when there is none. Raises UsageProblem for a name that cannot be opened."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise UsageProblem(f"{path} cannot be opened: {error.strerror}") from error


_PORT = re.compile(r":\d+$")


def exit_code_name(text: str) -> str:
    """Return the exit code of that name (any case, `-` for `_`). Raises UsageProblem, for a number with what it may
    mean: an HTTP status, or the id of a code."""
    from tui_crawler.domain.records.exit_code import ExitCode

    names = ExitCode.__members__
    name = text.strip().lower().replace("-", "_")
    if name in names:
        return name
    status = int(name) if name.isascii() and name.isdigit() and len(name) <= 3 else 0
    meant = [f"exit code {status} is {ExitCode(status).name}"] if status in {*ExitCode} else []
    if 200 <= status <= 599:
        from tui_crawler.fetch.classify import exit_code_of_status

        code = exit_code_of_status(status, conditional=False, same_etag=False, location=None)
        meant.append(f"HTTP {status} is {code.name}")
    raise UsageProblem(f"unknown exit code {text!r}{'; ' * bool(meant)}{', '.join(meant) or did_you_mean(name, names)}")


def check_pattern(option: str, text: str) -> None:
    """Raise UsageProblem for a text that is no linear-time regular expression; `option` is how it was given."""
    from tui_crawler.domain.rules.pattern import BadPattern, Pattern

    try:
        Pattern(text)
    except BadPattern as error:
        raise UsageProblem(f"{option} {text!r}: {error.message}") from error


def one_line(option: str, text: str, longest: int) -> str:
    """Return a text of at most `longest` characters on one line. Raises UsageProblem; `option` is how it was given."""
    if len(text) > longest:
        raise UsageProblem(f"{option}: at most {longest} characters, these are {len(text)}")
    if not text.isprintable():
        raise UsageProblem(f"{option} contains a line break or control character")
    return text.strip()


def crawl_urls(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the URLs normalised, each once, in their order. Raises UsageProblem with a line for each that is none."""
    from tui_crawler.domain.url import CrawlUrl, normalise

    urls = [normalise(text) for text in texts]
    if bad := [f"{url.raw} {url.reason}" for url in urls if not isinstance(url, CrawlUrl)]:
        raise UsageProblem(*bad)
    return tuple(dict.fromkeys(url.href for url in urls if isinstance(url, CrawlUrl)))


def meant_url(text: str, reports: Reports) -> str:
    """Return the URL that a person names; without a scheme it is the seed that this would be (`read_seed`)."""
    from tui_crawler.domain.url import CrawlUrl, has_scheme, read_seed

    known = set() if has_scheme(text) else {one.origin for one in reports.origins_changed(0)}
    url = read_seed(text, known) if known else None
    return url.href if isinstance(url, CrawlUrl) else text


def resolve_names(arguments: argparse.Namespace) -> None:
    """Put the origins that are meant in place of those that a command names (an origin, a URL of it, or its host alone
    where only one origin has it), and check its jobs: each once. Raises UsageProblem."""
    given = {name: value for name in _IN_DATABASE if (value := getattr(arguments, name, None))}
    if not given:
        return
    with reports_of(existing_database(arguments)) as reports:
        for name, value in given.items():
            found = _IN_DATABASE[name]((value,) if isinstance(value, str) else value, reports)
            setattr(arguments, name, found[0] if isinstance(value, str) else found)


def _known_jobs(names: Iterable[str], reports: Reports) -> tuple[str, ...]:
    known = [str(row[0]) for row in reports.rows("v_job", ("job",))]
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            wrong = f"no job {name!r} is known here{did_you_mean(name, known)}"
            raise UsageProblem(wrong, hint="tui-crawler jobs lists them")
    return chosen


def _known_origins(texts: Iterable[str], reports: Reports) -> tuple[str, ...]:
    names = [one.origin for one in reports.origins_changed(0)]
    return tuple(dict.fromkeys(_known(text, names) for text in texts))


def _known(text: str, names: list[str]) -> str:
    from tui_crawler.domain.url import CrawlUrl, normalise, without_userinfo

    has_scheme = "://" in text
    url = normalise(text if has_scheme else f"https://{text}")
    same: list[str] = []
    if isinstance(url, CrawlUrl) and has_scheme:
        same = [url.origin] if url.origin in names else []
    elif isinstance(url, CrawlUrl):
        authority = url.origin.partition("://")[2]
        same = [name for name in names if name.partition("://")[2] == authority]
        same = same or [name for name in names if _PORT.sub("", name.partition("://")[2]) == authority]
    if len(same) == 1:
        return same[0]
    if same:
        raise UsageProblem(f"{text!r} means more than one origin: {_first(same)}", hint="name one whole")
    wrong = f"no origin {without_userinfo(text)!r} is known here{did_you_mean(text, names)}"
    raise UsageProblem(wrong, hint="tui-crawler status lists them")


_IN_DATABASE = {"origin": _known_origins, "origins": _known_origins, "job": _known_jobs, "jobs": _known_jobs}
"""Arguments that name what a database has."""
