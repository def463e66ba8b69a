"""Watching a run from the command line: progress on a terminal, lines in a pipe, JSON for programs, then a summary."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.printer import as_json as json_text
from tui_crawler.cli.run_ledger import OriginProgress, RunLedger
from tui_crawler.cli.run_lines import HURRIED, JsonLines, PlainLines, RunListener, event_line
from tui_crawler.console.format import count, elapsed, plural
from tui_crawler.console.safe_text import safe
from tui_crawler.domain.cut import cut_words
from tui_crawler.domain.endings import elsewhere_words, finish_words, run_end_words
from tui_crawler.domain.event import Event

NAMED = 20
"""So many origins of a kind are named; the others are counted."""


class _Notes(logging.Handler):
    """What parts of the program log goes to stderr as notes do: in plain characters, and without waiting."""

    def __init__(self, printer: Printer) -> None:
        super().__init__(logging.WARNING)
        self._printer = printer

    def emit(self, record: logging.LogRecord) -> None:
        """Prints it."""
        self._printer.note(record.getMessage())


def watch(printer: Printer, as_json: bool, carry_out: Callable[[RunListener], int]) -> int:
    """Hands `carry_out` the listener that fits stdout, and prints the summary when the run is over. No reader of either
    output holds the run.

    Answers the exit status that `carry_out` answers. `--json` prints no summary: the last event is it.
    """
    before_stdout = printer.queue(lambda number: _left_out(number, as_json=as_json))
    logging.lastResort = _Notes(printer)
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


def summary(ledger: RunLedger) -> Iterator[str]:
    """The lines of the summary, fit to print."""
    yield f"run {safe(run_end_words(ledger.reason))}" if ledger.reason else "run ended, and did not say how"
    pages = f"{count(ledger.pages_done)} done, {count(ledger.pages_failed)} failed"
    yield f"  {_work(ledger)}"
    yield f"  pages as they stand now: {pages}"
    if ledger.cut:
        cuts = ", ".join(f"{number} × {cut_words((name,))}" for name, number in ledger.cut.most_common())
        yield f"  not read whole: {cuts}"
    gave_up = [one for one in ledger.origins.values() if one.gave_up]
    if gave_up:
        yield f"{plural(len(gave_up), 'origin')} gave up:"
        yield from _named(gave_up)
        if any(one.pages_failed or not _lost_to_robots(one) for one in gave_up):
            yield "  what failed: tui-crawler failures; put it back: tui-crawler retry --origin ORIGIN"
        if any(map(_lost_to_robots, gave_up)):
            yield "  robots.txt: the next run asks for it again; in a live one after tui-crawler top-up ORIGIN"
    for reason in ("rate_limited", "excluded"):
        others = [one for one in ledger.origins.values() if one.reason == reason]
        if others:
            yield f"{plural(len(others), 'origin')} ended early: {finish_words(reason)}"
            yield from _named(others)
    for one in ledger.origins.values():
        if words := elsewhere_words(one.not_canonical, one.pages_done + one.pages_failed):
            yield f"⚠ {safe(one.origin)}: {words}"


def _work(ledger: RunLedger) -> str:
    """The turns that made a request, and in which time."""
    turns, took = f"{plural(ledger.turns, 'turn')} with a request", elapsed(ledger.elapsed_ms)
    if ledger.continued:
        return f"{turns} in this run, {took} since it was continued"
    return f"{turns} at {plural(len(ledger.origins), 'origin')} in {took}"


def gave_up_words(one: OriginProgress) -> str:
    """Why an origin gave up: its finish reason, and the exit codes that used its patience up."""
    if _lost_to_robots(one):
        return safe(one.without_robots)
    causes = sorted(one.setbacks.items(), key=lambda item: -item[1])
    after = ", ".join(f"{number} × {code}" for code, number in causes)
    return finish_words(one.reason) + (f" after {after}" if after and one.reason == "patience" else "")


def _lost_to_robots(one: OriginProgress) -> bool:
    """Whether it gave up because its robots.txt could not be had."""
    return one.reason == "patience" and bool(one.without_robots)


def _named(origins: Iterable[OriginProgress]) -> Iterator[str]:
    left_out = 0
    for index, one in enumerate(origins):
        if index >= NAMED:
            left_out += 1
            continue
        why = f" {gave_up_words(one)};" if one.gave_up else ""
        todo = f", {count(one.todo)} on the todo list" if one.todo else ""
        yield (
            f"  {safe(one.origin)}:{why} {plural(one.pages_done, 'page')} done, {count(one.pages_failed)} failed{todo}"
        )
    if left_out:
        yield f"  … and {plural(left_out, 'more origin')}"
