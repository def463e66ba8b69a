"""The parser of one command, and the options that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Any, NoReturn

from tui_crawler.cli.printer import Printer, standard_printer
from tui_crawler.cli.problem import ExitStatus, UsageProblem
from tui_crawler.domain.known_word import nearest

PROGRAM = "tui-crawler"
VALUE_OPTIONS = ("--db", "--config", "--workers", "--metrics", "--on-event")
"""The options before a command that take a value in the next word."""

MOST_WORKERS = 64
EVENTS = "one JSON object per event; the last is run_finished"
"""What `--json` of a crawl prints."""
_MOST_DIGITS = 15  # of epoch milliseconds: up to the year 33658
COMPLETION_VARIABLE = "_ARGCOMPLETE"
"""Set by the scripts of `completion` when a shell asks what a word may become."""

Execute = Callable[[argparse.Namespace, Printer], int]
"""What a command does: takes its options, answers the exit status."""


class CommandParser(argparse.ArgumentParser):
    """A parser that raises UsageProblem for a wrong option; options are never abbreviated. Those that every command
    takes come last."""

    _common: tuple[argparse.Action, ...] = ()

    def add_common(self, json: str, *, database: bool = True, of_group: bool = False) -> None:
        """Declare `--json` (unless it is empty: what it prints), `--db` and `--config`, and `--quiet`. `of_group`: the
        word before takes `--json`, too, so that it may stand on either side."""
        before = len(self._actions)
        if json:
            default = argparse.SUPPRESS if of_group else False
            self.add_argument("--json", action="store_true", default=default, help=f"{json}; messages go to stderr")
        (add_database if database else add_quiet)(self)
        self._common = tuple(self._actions[before:])

    def _add_action(self, action: Any) -> Any:
        super()._add_action(action)
        for actions in (self._actions, self._optionals._group_actions):
            actions.sort(key=self._common.__contains__)
        return action

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Do as argparse does, but raise UsageProblem with the nearest option for one that does not exist."""
        if self._subparsers is None and args is not None:  # else what stands behind the command is none of its own
            self.check_options(takewhile(lambda word: word != "--", args))
        found, rest = super().parse_known_args(args, namespace)
        self.check_options(rest)
        return found, rest

    def check_options(self, words: Iterable[str]) -> None:
        """Raise UsageProblem with the nearest option for the first of these words that is none of this command."""
        for word in words:
            name = word.partition("=")[0]
            if name.startswith("--") and " " not in word and name not in self._option_string_actions:
                options = self._option_string_actions.items()
                shown = [option[2:] for option, one in options if option[:2] == "--" and one.help != argparse.SUPPRESS]
                near = nearest(name[2:], shown)
                self.error(f"unrecognized arguments: {word}" + (f"; did you mean --{near}?" if near else ""))

    def error(self, message: str) -> NoReturn:
        """Raise UsageProblem with the message of argparse."""
        raise UsageProblem(message, hint=f"see {self.prog} --help")

    def _print_message(self, message: str, file: object = None) -> None:
        """A help text, or the version; argparse itself passes over what cannot be written."""
        printer = standard_printer()
        printer.text(message)
        if printer.failed:
            self.exit(ExitStatus.cannot_run)


class _HelpFormatter(argparse.HelpFormatter):
    """As argparse, but examples stay as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


class CommandSet:
    """The commands of a parser, or of a group of commands such as `db`."""

    def __init__(self, parser: CommandParser, *, required: bool = True) -> None:
        self._of_group = not required
        self._actions = parser.add_subparsers(
            title="commands", metavar="COMMAND", parser_class=CommandParser, required=required, prog=parser.prog
        )
        self.names: list[str] = []

    def add(
        self,
        name: str,
        summary: str,
        execute: Execute | None,
        description: str = "",
        examples: Sequence[str] = (),
        *,
        json: str = "one JSON value on stdout",
        database: bool = True,
    ) -> CommandParser:
        """Declare a command. `summary` is its line in the list, `description` opens its own help, `examples` are lines
        that do something real, as one types them; one that begins with the command is given the program's name. `json`
        says what `--json` prints, empty where there is none; `database`: it takes `--db` and `--config`."""
        self.names.append(name)
        parser: CommandParser = self._actions.add_parser(
            name,
            help=summary,
            description=description or f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=_HelpFormatter,
            allow_abbrev=False,
        )
        command = parser.prog.removeprefix(f"{PROGRAM} ")
        lines = (f"{PROGRAM} {line}" if line.startswith(command) else line for line in examples)
        parser.epilog = "\n  ".join(("examples:", *lines)) if examples else ""
        if execute is not None:
            parser.set_defaults(execute=execute)
            parser.add_common(json, database=database, of_group=self._of_group)
        return parser

    def group(
        self,
        name: str,
        summary: str,
        execute: Execute | None = None,
        description: str = "",
        examples: Sequence[str] = (),
    ) -> CommandSet:
        """Declare a group of commands under one word, which is a command by itself if it has an `execute`."""
        parser = self.add(name, summary, execute, description, examples)
        return CommandSet(parser, required=execute is None)


def add_database(parser: argparse.ArgumentParser) -> None:
    """`--db` and `--config`, on either side of the command; and `--quiet`."""
    db = "the database (else TUI_CRAWLER_DB, the one of --config, the one of ./tui-crawler.yaml, the only *.db here)"
    config = "a configuration file, for the database it names"
    parser.add_argument("--db", metavar="PATH", default=argparse.SUPPRESS, help=db)
    parser.add_argument("--config", metavar="CONFIG", default=argparse.SUPPRESS, help=config)
    add_quiet(parser)


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """`--quiet`."""
    quiet = "print only the result and errors"
    parser.add_argument("--quiet", action="store_true", default=argparse.SUPPRESS, help=quiet)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """`--workers`, of what crawls."""
    processes = "crawl with N processes that share the origins (default: 1); auto: one for each core but one"
    parser.add_argument("--workers", type=_workers, metavar="N", default=1, help=processes)


def _workers(text: str) -> int:
    """A number of workers; `auto` goes by the cores that this process may use. For `type=`."""
    if text != "auto":
        return positive(text)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(1, cores - 1), MOST_WORKERS)


def add_watching(parser: argparse.ArgumentParser) -> None:
    """`--metrics`, `--on-event` and `--allow-impolite`, of what crawls."""
    add_impolite(parser)
    metrics = "serve metrics for Prometheus while it crawls (docs/metrics.md), on loopback unless a host is named"
    alarms = "start this program, without a shell, and send it alarms as JSON lines on its stdin"
    parser.add_argument("--metrics", type=_address, metavar="[HOST:]PORT", help=metrics)
    parser.add_argument("--on-event", type=_command, metavar="COMMAND", default=(), help=alarms)


def _address(text: str) -> tuple[str, int]:
    host, _, number = text.rpartition(":")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", port(number)


def _command(text: str) -> tuple[str, ...]:
    """The words of a command as a POSIX shell parts them, with the program found; for `type=`."""
    import shlex
    import shutil

    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error
    found = shutil.which(parts[0]) if parts else None
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} names no program that can be started")
    return (found, *parts[1:])


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """What a person may decide for one run, over the configuration."""
    parser.add_argument("--max-requests", type=positive, metavar="N", help="end the run after N requests")
    parser.add_argument("--recheck", action="store_true", help="ask once in this run whether done pages have changed")
    parser.add_argument("--force-recrawl", action="store_true", help="fetch every done page once in this run")
    new_run = "begin a new run even if the last one could be continued"
    parser.add_argument("--new-run", action="store_true", help=new_run)
    parser.add_argument("--user-agent", metavar="UA", help="the User-Agent of this run")
    parser.add_argument("--own", action="store_true", help="the sites of the seeds are yours (own_sites)")
    add_ignore_database_name(parser)


def add_impolite(parser: argparse.ArgumentParser) -> None:
    """`--allow-impolite`, of what crawls or reads a configuration."""
    parser.add_argument("--allow-impolite", action="store_true", help="allow delays below 1 s, also outside loopback")


def add_ignore_database_name(parser: argparse.ArgumentParser) -> None:
    """`--ignore-database-name`, which takes the guard of design U off."""
    ignored = "open the database even if the configuration names another one"
    parser.add_argument("--ignore-database-name", action="store_true", help=ignored)


def positive(text: str) -> int:
    """A whole number from 1 on; for `type=`."""
    if text.strip("0"):
        return natural(text, "above 0")
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")


def natural(text: str, words: str = "from 0 on") -> int:
    """A whole number from 0 on; for `type=`."""
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {words}")


def duration(text: str) -> int:
    """Milliseconds of a duration as a configuration writes it (`30m`, `1 day`); for `type=`."""
    from tui_crawler.config.units import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error


def moment(text: str) -> int:
    """Epoch ms, or a date and perhaps a time (UTC unless it says otherwise), as epoch ms; for `type=`."""
    from datetime import UTC, datetime

    if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        return int(text)
    try:
        found = datetime.fromisoformat("" if text.isdigit() else text)
    except ValueError:
        wrong = f"{text!r} is neither epoch milliseconds nor a date like 2026-01-31"
        raise argparse.ArgumentTypeError(wrong) from None
    return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def port(text: str) -> int:
    """A TCP port from 1 to 65535; for `type=`."""
    number = positive(text)
    if number > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: it ends at 65535")
    return number


def words(text: str) -> tuple[str, ...]:
    """Names separated by commas; for `type=`."""
    return tuple(word.strip() for word in text.split(",") if word.strip())
