"""Events as lines, and what happens when nobody reads them."""

from __future__ import annotations

import io
import json
from datetime import UTC, timedelta, timezone

import pytest

from tests.cli.test_printer import HOSTILE, Broken
from tests.support.event_names import EVENT_NAMES
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.run_watch import JsonLines, PlainLines, event_line
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.run_totals import RunTotals

A = "https://a.example.org"


def event(name: str, code: str = "", **extra: object) -> Event:
    return Event(1_000, name, A, f"{A}/x", code, tuple(extra.items()))


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (event("run_started", continued=False, origins=3), "run started: 3 origins"),
        (event("run_started", continued=True, origins=1), "run continued: 1 origin"),
        (event("origin_started", todo=3), ""),
        (
            event("origin_started", todo=3, paused=True),
            f"paused {A}; tui-crawler resume continues it",
        ),
        (event("todo_filled", todo=12, refused=2), f"filled {A}: 12 on the todo list, 2 refused"),
        (event("todo_filled", todo=0, refused=0), ""),
        (event("origin_waiting", until=2_200), ""),
        (event("origin_waiting", until=121_000), f"waits {A}: 2m00s"),
        (event("origin_paused"), f"paused {A}"),
        (event("origin_resumed"), f"resumed {A}"),
        (
            event("origin_finished", reason="patience", pages_done=1, pages_failed=5),
            f"finished {A}: out of patience; 1 page done, 5 failed",
        ),
        (event("run_finished", reason="exhausted"), ""),
        (
            event("attempt_finished", "file_ingested", kind="page", http_status=200, response_ms=310, new_pages=7),
            f"page   file_ingested            200   0.3s  {A}/x  (7 new)",
        ),
        (
            event("attempt_finished", "blocked_by_robots_txt", kind="page", http_status=None, response_ms=None),
            f"page   blocked_by_robots_txt      -      -  {A}/x",
        ),
        (
            event("robots_fetched", "connection_failed", http_status=None, response_ms=4, message="refused"),
            f"robots connection_failed          -   0.0s  {A}/x  (refused)",
        ),
        (
            Event(1_000, "database_failed", extra=(("message", "the disk is full"),)),
            "the database takes nothing: the disk is full",
        ),
        (Event(1_000, "database_restored"), "the database takes rows again"),
    ],
)
def test_lines(one: Event, line: str):
    assert event_line(one) == line


@pytest.mark.parametrize("name", EVENT_NAMES)
def test_crawled_text_never_reaches_the_terminal_raw(name: str):
    for text in HOSTILE:
        one = Event(1_000, name, text, text, text, (("reason", text), ("kind", text), ("message", text), ("todo", 1)))
        assert event_line(one).isprintable(), text


def test_plain_lines_carry_the_time_and_feed_the_ledger():
    out, ledger = io.StringIO(), RunTotals()
    listener = PlainLines(Printer(out, io.StringIO()), ledger, UTC)
    listener.on_event(event("origin_paused"))
    assert out.getvalue() == f"1970-01-01T00:00:01+00:00 paused {A}\n"
    PlainLines(Printer(out, io.StringIO()), ledger, timezone(timedelta(hours=-3.5))).on_event(event("origin_paused"))
    assert out.getvalue().splitlines()[1] == f"1969-12-31T20:30:01-03:30 paused {A}"
    assert ledger.origins[A].state == "paused"


def test_quiet_keeps_the_ledger_only():
    out, ledger = io.StringIO(), RunTotals()
    PlainLines(Printer(out, io.StringIO(), quiet=True), ledger, UTC).on_event(event("origin_paused"))
    assert out.getvalue() == ""
    assert ledger.origins[A].state == "paused"


def test_json_lines_are_the_documents_of_the_events():
    out = io.StringIO()
    listener = JsonLines(Printer(out, io.StringIO()))
    listener.on_event(event("attempt_finished", "file_ingested", kind="page"))
    listener.on_event(Event(2_000, "run_finished", extra=(("reason", "exhausted"), ("requests", 1))))
    first, last = map(json.loads, out.getvalue().splitlines())
    assert first == {
        "at": 1_000,
        "event": "attempt_finished",
        "origin": A,
        "url": f"{A}/x",
        "exit_code": "file_ingested",
        "kind": "page",
    }
    assert last == {"at": 2_000, "event": "run_finished", "reason": "exhausted", "requests": 1}


@pytest.mark.parametrize("kind", ["plain", "json"])
def test_a_reader_that_leaves_stops_the_run_once(kind: str):
    printer = Printer(Broken(), io.StringIO())
    listener = JsonLines(printer) if kind == "json" else PlainLines(printer, RunTotals(), UTC)
    stops: list[None] = []
    listener.stop_run = lambda: stops.append(None)
    for _ in range(3):
        listener.on_event(event("origin_paused"))
    assert len(stops) == 1


def test_a_listener_nobody_runs_stops_nothing():
    listener = JsonLines(Printer(Broken(), io.StringIO()))
    listener.on_event(event("origin_paused"))
    listener.on_event(event("origin_paused"))


def test_refused_queries_are_named_once_with_what_allows_them() -> None:
    err, ledger = io.StringIO(), RunTotals()
    listener = PlainLines(Printer(io.StringIO(), err), ledger, UTC)
    for number in range(3):
        listener.on_event(Event(1, "attempt_finished", A, f"{A}/?page={number}", "blocked_url_by_local_policy"))
    assert err.getvalue().count("policies.url_query_parameters allows them") == 1
    assert "?page=0" in err.getvalue()
