"""From the words of the command line to an exit status. Nothing a person can type ends in a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tui_crawler.cli.parser import parse
from tui_crawler.cli.printer import Printer, standard_printer
from tui_crawler.cli.problem import CannotRun, ExitStatus, UsageProblem

DEBUG_VARIABLE = "TUI_CRAWLER_DEBUG"


def main(words: Sequence[str] | None = None) -> int:
    """Carries out what `words` ask for (default: the words of this process); answers the exit status."""
    printer = standard_printer()
    try:
        status = _carry_out(words, printer)
        printer.finish()
    except KeyboardInterrupt:
        return ExitStatus.interrupted
    return ExitStatus.cannot_run if printer.failed else status


def _carry_out(words: Sequence[str] | None, printer: Printer) -> int:
    try:
        arguments = parse(sys.argv[1:] if words is None else words)
        printer.quiet = bool(arguments.quiet)
        status: int = arguments.execute(arguments, printer)
    except SystemExit as end:  # --help and --version
        return end.code if isinstance(end.code, int) else ExitStatus.ok
    except UsageProblem as problem:
        _tell(problem, printer)
        return ExitStatus.usage
    except Exception as error:
        return _explain(error, printer)
    return status


def _tell(problem: UsageProblem, printer: Printer) -> None:
    for line in problem.lines[:1]:
        printer.error(line)
    for line in problem.lines[1:]:
        printer.detail(line)
    if problem.hint:
        printer.detail(f"  {problem.hint}")


def _explain(error: Exception, printer: Printer) -> int:
    """One line for what could not be done; with TUI_CRAWLER_DEBUG set, where it happened too."""
    from tui_crawler.domain.run import RunHeld, StorageFailure

    expected = isinstance(error, CannotRun | RunHeld | StorageFailure)
    if expected or isinstance(error, OSError):
        printer.error(str(error))
    else:
        printer.error(f"unexpected error, please report it: {type(error).__name__}: {error}")
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            printer.detail(line)
    elif not expected:
        printer.detail(f"  {DEBUG_VARIABLE}=1 shows where it happened")
    return ExitStatus.cannot_run
