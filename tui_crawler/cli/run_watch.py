"""Watching a run from the command line: progress on a terminal, lines in a pipe, JSON for programs, then a summary."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.run_ledger import RunLedger
from tui_crawler.cli.run_lines import JsonLines, PlainLines, RunListener
from tui_crawler.cli.run_summary import summary


def watch(printer: Printer, as_json: bool, carry_out: Callable[[RunListener], int]) -> int:
    """Hands `carry_out` the listener that fits stdout, and prints the summary when the run is over.

    Answers the exit status that `carry_out` answers. `--json` prints no summary: the last event is it.
    """
    if as_json:
        return carry_out(JsonLines(printer))
    ledger = RunLedger()
    if on_terminal() and not printer.quiet:
        from tui_crawler.cli.run_progress import ProgressDisplay, terminal_size

        with ProgressDisplay(sys.stdout, ledger, terminal_size) as display:
            status = carry_out(display)
        if display.closed:
            return status
    else:
        zone = datetime.now(UTC).astimezone().tzinfo or UTC
        status = carry_out(PlainLines(printer, ledger, zone))
    if not printer.quiet:
        printer.lines(summary(ledger))
    return status


def on_terminal() -> bool:
    """Whether stdout is a terminal that can move its cursor."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in {"", "dumb"}
