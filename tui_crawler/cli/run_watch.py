"""Watching a run from the command line: what its events add up to, and they themselves as lines in a pipe, as JSON for
programs, as progress on a terminal; then a summary."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Protocol

from tui_crawler.cli.printer import Printer, local_zone
from tui_crawler.cli.printer import as_json as json_text
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.run_totals import OriginProgress, RunTotals, complaint_of, number
from tui_crawler.domain.records.status_words import FinishReason, elsewhere_words, finish_words, run_end_words
from tui_crawler.text.coverage import coverage_lines
from tui_crawler.text.format import count, date_time, duration, elapsed, plural, seconds
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config

LONG_WAIT_MS = 30_000
"""A wait shorter than this is the usual delay and worth no line."""

HURRIED = frozenset({"operator", "interrupted"})
"""After these ends of a run (`run_finished`) nobody waits any more for who reads its output."""

_PLAIN: Mapping[str, str] = {
    "origin_paused": "paused {origin}",
    "origin_resumed": "resumed {origin}",
    "database_failed": "the database takes nothing: {message}",
    "database_restored": "the database takes rows again",
    "worker_ended": "{message}",
}


class RunListener(Protocol):
    """Who is told of a run. It calls `stop_run`, put there by whoever carries the run out, from within `on_event` when
    nobody reads its output any more."""

    stop_run: Callable[[], None]

    def on_event(self, event: Event) -> None:
        """Takes one event; raises nothing."""


def run_on() -> None:
    """What `stop_run` does before somebody carries the run out: nothing."""


class JsonLines:
    """One JSON object per event."""

    def __init__(self, printer: Printer) -> None:
        self.stop_run: Callable[[], None] = run_on
        self._printer = printer

    def on_event(self, event: Event) -> None:
        if complaint := complaint_of(event):
            self._printer.error(complaint)
        if event.event == "run_finished":
            self._printer.end(hurry=dict(event.extra).get("reason") in HURRIED)
        if not self._printer.closed and not self._printer.document(event.as_document()):
            self.stop_run()


class PlainLines:
    """One line per event that is worth one; a quiet printer gets none and only the ledger is kept."""

    def __init__(self, printer: Printer, ledger: RunTotals, zone: tzinfo) -> None:
        self.stop_run: Callable[[], None] = run_on
        self._printer, self._ledger, self._zone = printer, ledger, zone

    def on_event(self, event: Event) -> None:
        had_query = self._ledger.refused_query
        self._ledger.take(event)
        if self._ledger.refused_query and not had_query:
            self._printer.note(query_words(self._ledger.refused_query))
        if complaint := complaint_of(event):
            self._printer.error(complaint)
        if self._printer.quiet or self._printer.closed:
            return
        text = event_line(event)
        if text and not self._printer.line(f"{date_time(event.at, self._zone, offset=True)} {text}"):
            self.stop_run()


def query_words(url: str) -> str:
    """Return that URLs with a query are refused, and what allows them."""
    return f"URLs with a query are refused, first {safe(url, 200)}: policies.url_query_parameters allows them"


def event_line(event: Event) -> str:
    """An event as one line without its time; empty when it is worth none. Crawled strings are made safe."""
    extra = dict(event.extra)
    origin = safe(event.origin)
    match event.event:
        case "run_started":
            word = "run continued" if extra.get("continued") else "run started"
            return f"{word}: {plural(number(extra, 'origins', 0), 'origin')}"
        case "robots_fetched":
            return _attempt("robots", event, extra)
        case "attempt_finished":
            return _attempt(str(extra.get("kind", "page")), event, extra)
        case "todo_filled":
            todo, refused = number(extra, "todo", 0), number(extra, "refused", 0)
            return f"filled {origin}: {todo} on the todo list, {refused} refused" if todo or refused else ""
        case "origin_waiting":
            wait = number(extra, "until", 0) - event.at
            return f"waits {origin}: {duration(wait)}" if wait >= LONG_WAIT_MS else ""
        case "origin_started" if extra.get("paused"):
            return f"paused {origin}; tui-crawler resume continues it"
        case name if name in _PLAIN:
            return _PLAIN[name].format(origin=origin, message=safe(str(extra.get("message", ""))))
        case "output_left_out":
            return f"{plural(number(extra, 'lines', 0), 'line')} left out: the reader of this output is too slow"
        case "origin_finished":
            return (
                f"finished {origin}: {finish_words(safe(str(extra.get('reason', ''))))}; "
                f"{plural(number(extra, 'pages_done', 0), 'page')} done, {number(extra, 'pages_failed', 0)} failed"
            )
        case _:
            return ""


def _attempt(kind: str, event: Event, extra: Mapping[str, object]) -> str:
    status, took, message, cut = map(extra.get, ("http_status", "response_ms", "message", "cut"))
    new = number(extra, "new_pages", 0)
    notes = [f"{new} new"] if new else []
    if isinstance(message, str) and message:
        notes.append(safe(message, 200))
    if isinstance(cut, list):
        notes.append(f"cut: {', '.join(cut)}")
    return (
        f"{safe(kind):<6} {safe(event.exit_code):<24} {status if isinstance(status, int) else '-':>3} "
        f"{seconds(took) if isinstance(took, int) else '-':>6}  {safe(event.url, 2_048)}"
        + (f"  ({'; '.join(notes)})" if notes else "")
    )


NAMED = 20
"""So many origins of a kind are named; the others are counted."""


class _Notes(logging.Handler):
    """What parts of the program log goes to stderr as notes do: in plain characters, and without waiting."""

    def __init__(self, printer: Printer) -> None:
        super().__init__(logging.WARNING)
        self._printer = printer

    def emit(self, record: logging.LogRecord) -> None:
        self._printer.note(record.getMessage())


def watch(
    printer: Printer, as_json: bool, carry_out: Callable[[RunListener], int], config: Config | None = None
) -> int:
    """Hand `carry_out` the listener that fits stdout; return its exit status. Print the summary when the run is over;
    with `--json` the last event is it. No reader of either output holds up the run. A listener for a terminal has a
    method `on_alarm`; with `config` it signals the alarms that this asks for."""

    def left_out(lines: int) -> str:
        event = Event(time.time_ns() // 1_000_000, "output_left_out", extra=(("lines", lines),))
        return f"{json_text(event.as_document()) if as_json else event_line(event)}\n"

    before_stdout = printer.queue(left_out)
    logging.lastResort = _Notes(printer)
    if as_json:
        return carry_out(JsonLines(printer))
    ledger = RunTotals()
    if on_terminal() and not printer.quiet:
        from tui_crawler.cli.run_progress import ProgressDisplay, terminal_size

        signals = None
        if config is not None:
            from tui_crawler.text.terminal_signals import TerminalSignals

            ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
            signals = TerminalSignals(config.name, os.environ, config.alarms, ascii_only=ascii_only)
        with ProgressDisplay(before_stdout, ledger, terminal_size, signals=signals) as display:
            status = carry_out(display)
        if display.closed:
            return status
        for complaint in ledger.complaints:
            printer.error(complaint)
    else:
        status = carry_out(PlainLines(printer, ledger, local_zone()))
    printer.end(hurry=ledger.reason in HURRIED)
    if not printer.quiet:
        printer.lines(summary(ledger))
    return status


def on_terminal() -> bool:
    """Whether stdout is a terminal that can move its cursor."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in {"", "dumb"}


def summary(ledger: RunTotals) -> Iterator[str]:
    """The lines of the summary, fit to print."""
    yield f"run {safe(run_end_words(ledger.reason))}" if ledger.reason else "run ended (reason unknown)"
    pages = f"{count(ledger.pages_done)} done, {count(ledger.pages_failed)} failed"
    turns, took = f"{plural(ledger.turns, 'turn')} with a request", elapsed(ledger.elapsed_ms)
    begun = f"{turns} at {plural(len(ledger.origins), 'origin')} in {took}"
    yield f"  {turns} in this run, {took} since it was continued" if ledger.continued else f"  {begun}"
    yield f"  pages now: {pages}"
    if gave_up := [one for one in ledger.origins.values() if one.gave_up]:
        yield f"{plural(len(gave_up), 'origin')} stopped after errors:"
        yield from _named(gave_up)
        if any(one.pages_failed or not _lost_to_robots(one) for one in gave_up):
            yield "  failed pages: tui-crawler failures; retry them: tui-crawler retry --origin ORIGIN"
        if any(map(_lost_to_robots, gave_up)):
            yield "  robots.txt: requested again in the next run; in a live one after tui-crawler top-up ORIGIN"
    for reason in ("rate_limited", "excluded"):
        if others := [one for one in ledger.origins.values() if one.reason == reason]:
            yield f"{plural(len(others), 'origin')} ended early: {finish_words(reason)}"
            yield from _named(others)
    for one in ledger.origins.values():
        if words := elsewhere_words(one.not_canonical, one.pages_done + one.pages_failed, one.todo):
            yield f"⚠ {safe(one.origin)}: {words}"
    if ledger.coverage is not None:
        yield from coverage_lines(ledger.coverage)


def gave_up_words(one: OriginProgress) -> str:
    """Why an origin gave up: its finish reason, and the exit codes that used its patience up."""
    if _lost_to_robots(one):
        return safe(one.without_robots)
    causes = sorted(one.setbacks.items(), key=lambda item: -item[1])
    after = ", ".join(f"{number} × {code}" for code, number in causes)
    return finish_words(one.reason) + (f" after {after}" if after and one.reason == FinishReason.patience else "")


def _lost_to_robots(one: OriginProgress) -> bool:
    return one.reason == FinishReason.patience and bool(one.without_robots)


def _named(origins: Sequence[OriginProgress]) -> Iterator[str]:
    for one in origins[:NAMED]:
        why = f" {gave_up_words(one)};" if one.gave_up else ""
        todo = f", {count(one.todo)} on the todo list" if one.todo else ""
        yield (
            f"  {safe(one.origin)}:{why} {plural(one.pages_done, 'page')} done, {count(one.pages_failed)} failed{todo}"
        )
    if len(origins) > NAMED:
        yield f"  … and {plural(len(origins) - NAMED, 'more origin')}"
