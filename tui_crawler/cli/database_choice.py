"""Which database a command is about (INTERFACE.md, Common)."""

from __future__ import annotations

import argparse
import os
import stat
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.configuration import DEFAULT_CONFIG, read_config
from tui_crawler.cli.problem import UsageProblem

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.storage.reports import Reports

DATABASE_VARIABLE = "TUI_CRAWLER_DB"
_NAMED = 5


def named_database(arguments: argparse.Namespace) -> Path | None:
    """What `--db`, else the environment, names. Raises UsageProblem for what is no file name."""
    text = arguments.db if arguments.db is not None else os.environ.get(DATABASE_VARIABLE) or None
    return None if text is None else _file(text)


def chosen_database(arguments: argparse.Namespace) -> Path:
    """`--db`, TUI_CRAWLER_DB, the database of `--config`, that of ./tui-crawler.yaml, or the only *.db here.

    The file need not exist. Raises UsageProblem when none of them leads to one database.
    """
    named = named_database(arguments)
    if named is not None:
        return named
    if arguments.config is not None:
        return configured_database(read_config(arguments.config, resolves=False))
    if Path(DEFAULT_CONFIG).is_file():
        return configured_database(read_config(DEFAULT_CONFIG, resolves=False))
    found = sorted(Path().glob("*.db"))
    if len(found) == 1:
        return found[0].absolute()
    if not found:
        raise UsageProblem(
            "no database is named and none is here",
            hint="name one with --db PATH, or begin a crawl: tui-crawler crawl URL",
        )
    names = ", ".join(path.name for path in found[:_NAMED]) + (" …" if len(found) > _NAMED else "")
    raise UsageProblem(f"{len(found)} databases are here: {names}", hint="name one with --db PATH")


def existing_database(arguments: argparse.Namespace) -> Path:
    """The chosen database, which has to exist. Raises UsageProblem."""
    return existing(chosen_database(arguments))


def existing(path: Path) -> Path:
    """`path`, if something is there. Raises UsageProblem."""
    if _mode(path) is None:
        raise UsageProblem(f"there is no database {path}", hint="tui-crawler run CONFIG makes one")
    return path


def reports_of(database: Path) -> closing[Reports]:
    """The reports on a database that exists, closed at the end of a `with`. Raises StorageFailure."""
    from tui_crawler.wiring import open_reports

    return closing(open_reports(database))


def database_of_run(arguments: argparse.Namespace, config: Config) -> Path:
    """`--db`, TUI_CRAWLER_DB, or the configuration's own database.

    Raises UsageProblem when that is not the database the configuration asks for (the guard of design U), unless
    `--ignore-database-name` is given.
    """
    from tui_crawler.config.database import guard_database

    path = named_database(arguments) or configured_database(config)
    refusal = None if arguments.ignore_database_name else guard_database(config, path)
    if refusal:
        raise UsageProblem(refusal, hint="--ignore-database-name uses it all the same")
    return path


def configured_database(config: Config) -> Path:
    """The file a configuration keeps its crawl in."""
    return _file(config.database.location)


def _file(text: str) -> Path:
    if not text or "\0" in text:
        raise UsageProblem("the name of the database is empty", hint="name a file with --db PATH")
    if text.startswith(("postgresql://", "postgres://")):
        raise UsageProblem(
            "this version keeps its crawls in SQLite files, not on a PostgreSQL server",
            hint="name a file with --db PATH",
        )
    path = Path(text).absolute()
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise UsageProblem(f"{path} is a folder, not a database", hint="name a file in it with --db PATH")
    return path


def _mode(path: Path) -> int | None:
    """What kind of file it is; None when there is none. Raises UsageProblem for a name that cannot be looked at."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageProblem(f"{path} cannot be opened: {error.strerror}") from error
