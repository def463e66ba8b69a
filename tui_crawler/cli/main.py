"""From the words of the command line to an exit status: which word leads where. Nothing a person can type ends in a
traceback, and nothing heavy is imported, so that help answers at once."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tui_crawler import __version__
from tui_crawler.cli import console_command, known_names, options
from tui_crawler.cli.printer import Printer, as_json, standard_printer
from tui_crawler.cli.problem import CannotRun, ExitStatus, UsageProblem
from tui_crawler.domain.known_word import did_you_mean

_DESCRIPTION = """\
A terminal console for polite web crawling. Without a command it opens the console: if a live run
uses the database the console attaches to it, else it runs the crawl itself. Where there is
neither a configuration (tui-crawler.yaml) nor a database yet, it shows the ways to start.
"""
_COMMANDS = (
    "demo", "console", "run", "site_audit", "archive", "check", "status", "why", "steer", "failures", "links", "tree",
    "rules", "audit", "pulse", "report", "diff", "replay", "rehearse", "export", "exclude", "jobs", "pages", "queue",
    "log", "follow", "serve", "workers", "database", "completion",
)  # fmt: skip
"""The modules that declare commands, in the order of the list in the help."""
_OWN = {name: name for name in _COMMANDS if name not in {"console", "site_audit", "steer", "database"}}
_OWN |= {"crawl": "console"}
"""The modules of single commands, by the command: where it stands first, no other need be declared."""
_CONFIG_ENDS = (".yaml", ".yml")
_EPILOG = """\
first: tui-crawler crawl https://example.org/ crawls a site, tui-crawler demo shows one;
tui-crawler help COMMAND explains a command, with examples
with a screen reader: tui-crawler follow --plain prints one sentence per change

exit status: 0 finished or stopped by the operator, 1 an origin stopped after errors,
2 usage or configuration error, 3 could not run, 130 SIGINT, 143 SIGTERM, 129 SIGHUP
"""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The options that `words` (without the program's name) ask for; `execute` carries the command out. Raises
    UsageProblem; SystemExit after `--help` and `--version`."""
    if options.COMPLETION_VARIABLE in os.environ:
        return argparse.Namespace(quiet=False, execute=_complete)
    word = _first_word(words)
    asked = [word for word in words if word in {"-h", "--help", "--version"}]
    if not asked and (word is None or word.endswith(_CONFIG_ENDS)):
        return _console_parser().parse_args(words)  # the other commands need not be declared for it
    root, commands = _root((_OWN[word],) if words[:1] == [word] and word in _OWN else _COMMANDS)
    if word is None or (word not in commands.names and _is_config(word)):
        return root.parse_args(asked) if asked else _console_parser().parse_args(words)
    if word not in commands.names:
        root.check_options(words[: words.index(word)])
        hint = "a configuration file ends in .yaml or exists; see tui-crawler --help"
        hint = f"tui-crawler crawl {word} crawls it" if "://" in word else hint
        raise UsageProblem(f"unknown command {word!r}{did_you_mean(word, commands.names)}", hint=hint)
    return root.parse_args(words)


def _complete(_: argparse.Namespace, _printer: Printer) -> int:
    from tui_crawler.cli.word_completion import answer

    answer(completed_by)
    return ExitStatus.ok


def completed_by(words: Sequence[str]) -> options.CommandParser:
    """The parser that completes what follows `words`."""
    (root, commands), word = _root(), _first_word(words)
    by_console = word is not None and word not in commands.names and _is_config(word)
    return _console_parser() if by_console else root


def _root(modules: Sequence[str] = _COMMANDS) -> tuple[options.CommandParser, options.CommandSet]:
    parser = options.CommandParser(
        prog=options.PROGRAM,
        usage="%(prog)s [CONFIG] [--db PATH] [--readonly] [--workers N]\n       %(prog)s COMMAND [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{options.PROGRAM} {__version__}")
    options.add_database(parser)
    console_command.add_options(parser)
    parser.set_defaults(db=None, config=None, quiet=False)
    commands = options.CommandSet(parser)
    for name in modules:
        import_module(f"tui_crawler.cli.{name}_command").declare(commands)
    does = "show what a command does, with examples"
    about = commands.add("help", does, _help, examples=("help run",), json="", database=False)
    about.add_argument("words", metavar="COMMAND", nargs="*", help="a command, such as run or jobs set")
    return parser, commands


def _help(arguments: argparse.Namespace, _: Printer) -> int:
    parse([*arguments.words, "--help"])
    return ExitStatus.ok


def _console_parser() -> options.CommandParser:
    parser = options.CommandParser(prog=options.PROGRAM, add_help=False, allow_abbrev=False)
    parser.add_argument("file", metavar="CONFIG", nargs="?", default=None)
    options.add_database(parser)
    console_command.add_options(parser)
    parser.set_defaults(db=None, config=None, quiet=False, execute=console_command.open_on_config)
    return parser


def _first_word(words: Sequence[str]) -> str | None:
    skip = False
    for word in words:
        if not (skip or word.startswith("-")):
            return word
        skip = not skip and word in options.VALUE_OPTIONS
    return None


def _is_config(word: str) -> bool:
    try:
        return word.endswith(_CONFIG_ENDS) or Path(word).is_file()
    except OSError:  # a name no file can have
        return False


DEBUG_VARIABLE = "TUI_CRAWLER_DEBUG"


def main(words: Sequence[str] | None = None) -> int:
    """Carries out what `words` ask for (default: the words of this process); answers the exit status."""
    printer = standard_printer()
    try:
        status = _carry_out(words, printer)
        printer.finish()
    except KeyboardInterrupt:
        return ExitStatus.interrupted
    finally:
        printer.started()
    return ExitStatus.cannot_run if printer.failed else status


def _carry_out(given: Sequence[str] | None, printer: Printer) -> int:
    words = sys.argv[1:] if given is None else given
    try:
        arguments = parse(words)
        printer.quiet = bool(arguments.quiet)
        known_names.resolve_names(arguments)
        status: int = arguments.execute(arguments, printer)
    except SystemExit as end:  # --help and --version
        return end.code if isinstance(end.code, int) else ExitStatus.ok
    except UsageProblem as problem:
        return _fail(printer, words, ExitStatus.usage, problem.lines, problem.hint)
    except Exception as error:
        return _fail(printer, words, ExitStatus.cannot_run, *_explained(error))
    return status


def _fail(printer: Printer, words: Sequence[str], status: ExitStatus, lines: Sequence[str], hint: str = "") -> int:
    """Show an error, with --json as one JSON object on stderr; return the exit status."""
    if "--json" in words and "--join" not in words:  # the parent of a joining worker reads its error as text
        said = as_json({"error": {"message": "\n".join(lines), "hint": hint, "exit_status": status}})
        printer.detail(said, len(said))
        return status
    for line in lines[:1]:
        printer.error(line)
    for line in (*lines[1:], *([f"  {hint}"] if hint else [])):
        printer.detail(line)
    return status


def _explained(error: Exception) -> tuple[list[str], str]:
    expected = isinstance(error, CannotRun)
    known = expected or isinstance(error, OSError)
    said = str(error) if known else f"unexpected error, please report it: {type(error).__name__}: {error}"
    if not os.environ.get(DEBUG_VARIABLE):
        return [said], "" if expected else f"{DEBUG_VARIABLE}=1 shows where it happened"
    import traceback

    return [said, *"".join(traceback.format_exception(error)).splitlines()], ""
