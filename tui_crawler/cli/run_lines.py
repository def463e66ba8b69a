"""The events of a run as lines: plain ones for a pipe or a log file, JSON objects for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from types import MappingProxyType
from typing import Protocol

from tui_crawler.cli.printer import Printer
from tui_crawler.cli.run_ledger import RunLedger, complaint_of, number
from tui_crawler.console.format import clock, duration, plural, seconds
from tui_crawler.console.safe_text import safe
from tui_crawler.domain.endings import finish_words
from tui_crawler.domain.event import Event

LONG_WAIT_MS = 30_000
"""A wait shorter than this is the usual delay and worth no line."""

HURRIED = frozenset({"operator", "interrupted"})
"""After these ends of a run (`run_finished`) nobody waits any more for who reads its output."""

_PLAIN: Mapping[str, str] = MappingProxyType(
    {
        "origin_paused": "paused {origin}",
        "origin_resumed": "resumed {origin}",
        "database_failed": "the database takes nothing: {message}",
        "database_restored": "the database takes rows again",
        "worker_ended": "{message}",
    }
)


class RunListener(Protocol):
    """Who is told of a run. Whoever carries the run out puts a function into `stop_run` that ends it.

    The listener calls it, from within `on_event`, when nobody reads its output any more.
    """

    stop_run: Callable[[], None]

    def on_event(self, event: Event) -> None:
        """Takes one event; raises nothing."""
        ...


class JsonLines:
    """One JSON object per event."""

    def __init__(self, printer: Printer) -> None:
        self.stop_run: Callable[[], None] = run_on
        self._printer = printer

    def on_event(self, event: Event) -> None:
        """Prints the event at once."""
        if complaint := complaint_of(event):
            self._printer.error(complaint)
        if event.event == "run_finished":
            self._printer.end(hurry=dict(event.extra).get("reason") in HURRIED)
        if self._printer.closed:
            return
        if not self._printer.document(event.as_document()):
            self.stop_run()


class PlainLines:
    """One line per event that is worth one; a quiet printer gets none and only the ledger is kept."""

    def __init__(self, printer: Printer, ledger: RunLedger, zone: tzinfo) -> None:
        self.stop_run: Callable[[], None] = run_on
        self._printer = printer
        self._ledger = ledger
        self._zone = zone

    def on_event(self, event: Event) -> None:
        """Prints the event at once."""
        self._ledger.take(event)
        if complaint := complaint_of(event):
            self._printer.error(complaint)
        if self._printer.quiet or self._printer.closed:
            return
        text = event_line(event)
        if text and not self._printer.line(f"{clock(event.at, self._zone)} {text}"):
            self.stop_run()


def run_on() -> None:
    """What `stop_run` does before somebody carries the run out: nothing."""


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
            return f"paused {origin}, as it was left; tui-crawler resume takes it up again"
        case name if name in _PLAIN:
            return _PLAIN[name].format(origin=origin, message=safe(str(extra.get("message", ""))))
        case "output_left_out":
            return f"{plural(number(extra, 'lines', 0), 'line')} left out: nobody has read this output"
        case "origin_finished":
            return (
                f"finished {origin}: {finish_words(safe(str(extra.get('reason', ''))))}; "
                f"{plural(number(extra, 'pages_done', 0), 'page')} done, {number(extra, 'pages_failed', 0)} failed"
            )
        case _:
            return ""


def _attempt(kind: str, event: Event, extra: Mapping[str, object]) -> str:
    status = extra.get("http_status")
    took = extra.get("response_ms")
    words = [f"{safe(kind):<6} {safe(event.exit_code):<24} {status if isinstance(status, int) else '-':>3}"]
    words.append(f"{seconds(took) if isinstance(took, int) else '-':>6}  {safe(event.url, 2_048)}")
    new = number(extra, "new_pages", 0)
    notes = [f"{new} new"] if new else []
    message = extra.get("message")
    if isinstance(message, str) and message:
        notes.append(safe(message, 200))
    cut = extra.get("cut")
    if isinstance(cut, list):
        notes.append(f"cut: {', '.join(cut)}")
    return " ".join(words) + (f"  ({'; '.join(notes)})" if notes else "")
