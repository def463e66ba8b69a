"""What the word under the cursor may become: commands, options, and the values that are known.

argcomplete (Apache-2.0) walks the parser that the commands are declared in, and brings the scripts for the shells,
which set an environment variable and run the program; `parse` sees the variable and leads here. What is added is which
values a placeholder of the help means: ORIGIN is an origin everywhere. Where no database can be read they are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from argcomplete import io as diagnostics
from argcomplete.completers import SuppressCompleter
from argcomplete.finders import CompletionFinder
from argcomplete.lexers import split_line

from tui_crawler.cli.known_names import existing_database, reports_of

if TYPE_CHECKING:
    from tui_crawler.storage.reports.reports import Reports

MOST_VALUES = 1_000
"""So many names of a database are offered; who has more types another letter."""

Values = Callable[[str, argparse.Namespace], Iterable[str]]
"""What a word may become: from what is typed of it, and the options before it. What does not begin so is left out."""


def answer(
    parser_of: Callable[[Sequence[str]], argparse.ArgumentParser],
    exit_method: Callable[[int], Any] = os._exit,
    output: TextIO | None = None,
) -> None:
    """Print what the word under the cursor may become, by the shell's variables, and end the process. `parser_of`
    returns the parser for the words before the cursor (without the program's name). `output` is where the script reads,
    by default descriptor 8."""
    line, point = os.environ.get("COMP_LINE", ""), os.environ.get("COMP_POINT", "")
    before = split_line(line, int(point) if point.isdigit() else len(line))[3]
    parser = parser_of(before[1:])
    _attach(parser, first=True)
    asked: dict[str, Any] = {"always_complete_options": False, "default_completer": SuppressCompleter()}
    _Finder()(parser, exit_method=exit_method, output_stream=output, **asked)


class _Finder(CompletionFinder):
    """argcomplete with its diagnostic output (`_ARC_DEBUG`) on stderr; it would take descriptor 9 unasked."""

    def _init_debug_stream(self) -> None:
        diagnostics.debug_stream = sys.stderr


def _attach(parser: argparse.ArgumentParser, *, first: bool = False) -> None:
    """Give argcomplete the values of every option and word of a parser, and of the commands below it.

    `first`: a configuration file may stand in the place of a command.
    """
    for action in parser._actions:
        values = None
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                _attach(below)
            values = _BY_PLACEHOLDER["CONFIG"] if first else None
        elif parser.prog.endswith(" export") and action.dest == "format":
            values = _export_formats
        elif action.choices is None and action.nargs != 0:
            values = _BY_PLACEHOLDER.get(str(action.metavar)) or _BY_OPTION.get(action.dest)
        if values is not None:
            action.completer = partial(_completed, values)  # type: ignore[attr-defined]  # where argcomplete looks for it


def _completed(values: Values, prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """The values that begin with what is typed, without those a terminal would obey. Called by argcomplete."""
    try:
        return [value for value in values(prefix, parsed_args) if value.startswith(prefix) and value.isprintable()]
    except Exception:  # completion stays silent, whatever is wrong with a database or folder
        return []


def _listed(values: Values, prefix: str, arguments: argparse.Namespace) -> Iterator[str]:
    """Values separated by commas: the last one is completed."""
    head, comma, last = prefix.rpartition(",")
    chosen = head.split(",")
    return (head + comma + value for value in values(last, arguments) if value not in chosen)


def _paths(prefix: str, _: argparse.Namespace, suffixes: tuple[str, ...] = (), *, files: bool = True) -> Iterator[str]:
    """Folders, and files with one of these endings (none named: all), written as they are typed."""
    typed, slash, start = prefix.rpartition("/")
    for path in sorted(Path(typed + slash).expanduser().iterdir()):
        if not path.name.startswith(start) or (path.name.startswith(".") and not start):
            continue
        if path.is_dir():
            yield f"{typed}{slash}{path.name}/"
        elif files and (not suffixes or path.suffix in suffixes):
            yield f"{typed}{slash}{path.name}"


def _exit_codes(_: str, _arguments: argparse.Namespace) -> Iterable[str]:
    from tui_crawler.domain.records.exit_code import ExitCode

    return ExitCode.__members__


def _commands(_: str, _arguments: argparse.Namespace) -> Iterable[str]:
    from tui_crawler.cli.main import completed_by

    found = (action for action in completed_by([])._actions if isinstance(action, argparse._SubParsersAction))
    return (name for action in found for name in action.choices)


def _export_formats(_: str, arguments: argparse.Namespace) -> Iterable[str]:
    from tui_crawler.cli.export_command import formats_of

    return formats_of(getattr(arguments, "what", None))


def _groupings(_: str, _arguments: argparse.Namespace) -> Iterable[str]:
    from tui_crawler.cli.failures_command import GROUPINGS

    return GROUPINGS


def _stored(
    read: Callable[[Reports], Iterable[str]], prefix: str, arguments: argparse.Namespace, *, hosts: bool = False
) -> list[str]:
    """Names of a database that begin as typed, each once; with `hosts` else what stands behind their `://`."""
    chosen = argparse.Namespace(db=getattr(arguments, "db", None), config=getattr(arguments, "config", None))
    with reports_of(existing_database(chosen)) as reports:
        found = list(islice((name for name in read(reports) if name.startswith(prefix)), MOST_VALUES))
        if hosts and prefix and not found:
            names = (name.partition("://")[2] for name in read(reports))
            found = list(islice((name for name in names if name.startswith(prefix)), MOST_VALUES))
    return list(dict.fromkeys(found))


def _column(view: str, column: str, reports: Reports) -> Iterator[str]:
    return (str(row[0]) for row in reports.rows(view, (column,)))


_origins: Values = partial(_stored, partial(_column, "v_origin", "origin"), hosts=True)


_BY_PLACEHOLDER: Mapping[str, Values] = {
    "ORIGIN": _origins,
    "URL": partial(_stored, lambda reports: (f"{name}/" for name in _column("v_origin", "origin", reports))),
    "JOB": partial(_stored, partial(_column, "v_job", "job")),
    "STASH": partial(_stored, lambda reports: (stash.stash for stash in reports.stashes())),
    "CONFIG": partial(_paths, suffixes=(".yaml", ".yml")),
    "FILE": _paths,
    "DIR": partial(_paths, files=False),
    "CODE": _exit_codes,
    "CODES": partial(_listed, _exit_codes),
    "COMMAND": _commands,
}
_BY_OPTION: Mapping[str, Values] = {
    "db": partial(_paths, suffixes=(".db",)),
    "by": partial(_listed, _groupings),
    "exit_code": _exit_codes,
    "origin": _origins,
}
"""By the name of the option, where the placeholder does not tell."""
