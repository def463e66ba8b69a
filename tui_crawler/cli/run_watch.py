"""Watching a run from the command line: progress on a terminal, lines in a pipe, JSON for programs, then a summary."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.printer import as_json as json_text
from tui_crawler.cli.run_ledger import RunLedger
from tui_crawler.cli.run_lines import HURRIED, JsonLines, PlainLines, RunListener, event_line
from tui_crawler.cli.run_summary import summary
from tui_crawler.domain.event import Event


def watch(printer: Printer, as_json: bool, carry_out: Callable[[RunListener], int]) -> int:
    """Hands `carry_out` the listener that fits stdout, and prints the summary when the run is over. No reader of either
    output holds the run.

    Answers the exit status that `carry_out` answers. `--json` prints no summary: the last event is it.
    """
    before_stdout = printer.queue(lambda number: _left_out(number, as_json=as_json))
    if as_json:
        return carry_out(JsonLines(printer))
    ledger = RunLedger()
    if on_terminal() and not printer.quiet:
        from tui_crawler.cli.run_progress import ProgressDisplay, terminal_size

        with ProgressDisplay(before_stdout, ledger, terminal_size) as display:
            status = carry_out(display)
        if display.closed:
            return status
        for complaint in ledger.complaints:
            printer.error(complaint)
    else:
        zone = datetime.now(UTC).astimezone().tzinfo or UTC
        status = carry_out(PlainLines(printer, ledger, zone))
    printer.end(hurry=ledger.reason in HURRIED)
    if not printer.quiet:
        printer.lines(summary(ledger))
    return status


def _left_out(number: int, *, as_json: bool) -> str:
    """The piece that stands for as many lines of the output."""
    event = Event(time.time_ns() // 1_000_000, "output_left_out", extra=(("lines", number),))
    return (json_text(event.as_document()) if as_json else event_line(event)) + "\n"


def on_terminal() -> bool:
    """Whether stdout is a terminal that can move its cursor."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in {"", "dumb"}
