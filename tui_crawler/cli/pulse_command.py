"""`pulse`: how the crawl goes over time, as charts or as rows."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, reports_of
from tui_crawler.cli.options import CommandSet, duration
from tui_crawler.cli.printer import Printer, local_zone, picked, safe, terminal_width
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.history.pulse import (
    HOUR_MS,
    SPANS_MS,
    STEPS_MS,
    LatencyPhase,
    Pulse,
    PulseCount,
    PulseOf,
    PulseScope,
    pulse_span,
)

if TYPE_CHECKING:
    from tui_crawler.console.pulse.rows import Charts

_WIDTH, _LARGEST = 100, 160
_HEIGHT = 7
_SHARES = ("p50", 0.5), ("p95", 0.95)


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "pulse",
        "show pages, bytes, latency and failures over time",
        execute,
        "Charts of the newest run, or of the span that ends with it: pages and bytes per second, latency (p50 and "
        "p95), failed attempts by group, and for the whole crawl origins by state, pending pages, event loop lag and "
        "the longest commit. With --json one row per step, with the latency of each phase.",
        examples=("pulse --span 15m", "pulse --origin https://example.org --span 1d --json | jq '.rows[].pages'"),
    )
    whose = parser.add_mutually_exclusive_group()
    for scope in (PulseScope.origin, PulseScope.job, PulseScope.worker):
        whose.add_argument(f"--{scope.name}", metavar="NAME", help=f"of this {scope.name} alone")
    span = "show the last 1m to 30d (default: the newest run)"
    parser.add_argument("--span", type=duration, metavar="TIME", help=span)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.console.pulse.rows import Charts
    from tui_crawler.domain.history.idle_reason import end_of_run

    span: int | None = arguments.span
    if span is not None and not SPANS_MS[0] <= span <= SPANS_MS[-1]:
        raise UsageProblem("--span: from 1m to 30d")
    scopes = (scope for scope in PulseScope if getattr(arguments, scope.name, None))
    of = next((PulseOf(scope, getattr(arguments, scope.name)) for scope in scopes), PulseOf())
    now = time.time_ns() // 1_000_000
    with reports_of(existing_database(arguments)) as reports:
        run = reports.run()
        end = now if run is None else end_of_run(run, now)
        age = HOUR_MS if run is None else max(STEPS_MS[0], end - run.started_at)
        pulse, totals = reports.pulse(of, pulse_span(of, span or age, end)), reports.totals()
    charts = Charts(pulse, end)
    charts.tell({"todo": totals.todo, "pending": totals.pending})
    document = _document(pulse, charts) if arguments.json else {}
    return printer.answer(arguments.json, document, _lines(charts))


def _document(pulse: Pulse, charts: Charts) -> dict[str, object]:
    rows = []
    for place, count in enumerate(pulse.counts):
        latency = {
            phase.name: {name: count.percentile(share, phase) if count else None for name, share in _SHARES}
            for phase in LatencyPhase
        }
        gauges = pulse.gauges[place]
        rates = {
            "pages_per_s": charts.rates.pages[place],
            "bytes_per_s": charts.rates.bytes[place],
            "latency_ms": latency,
        }
        ends = {"exit_codes": count.names() if count else {}, "gauges": asdict(gauges) if gauges else None}
        counts = picked(count or PulseCount(), "attempts pages failed bytes")
        rows.append({"at": pulse.span.at(place)} | counts | rates | ends)
    marks = [{"at": mark.at, "kind": mark.kind.name, "words": mark.words, "who": mark.who} for mark in pulse.marks]
    document = {"of": pulse.of.scope.name, "name": pulse.of.name, **picked(pulse.span, "since until")}
    return document | picked(pulse, "step_ms sampled") | {"rows": rows, "marks": marks}


def _lines(charts: Charts) -> Iterator[str]:
    from tui_crawler.console.pulse.rows import drawn, mark_words, nothing_of, says_of
    from tui_crawler.text.charts import dots_of

    pulse, zone = charts.pulse, local_zone()
    width = min(terminal_width() or _WIDTH, _LARGEST)
    dots = dots_of(os.environ, (sys.stdout.encoding or "").lower().startswith("utf"))
    sampled = ", from a sample of its attempts" if pulse.sampled else ""
    yield safe(f"{pulse.of.title}: {charts.reading(None, zone)}{sampled}")
    for one in charts.all:
        yield ""
        entries = ["".join(text for text, _ in entry) for entry in says_of(one, dots, None)]
        says = "  ".join(entries) if one.known else nothing_of(charts, one)
        yield safe(f"{one.name}: {says}")
        for line in drawn(charts, one, width, _HEIGHT, dots, zone, None) if one.known else ():
            yield safe("".join(text for text, _ in line).rstrip())
    yield from [""] * bool(pulse.marks)
    yield from (safe(mark_words(mark, zone)) for mark in pulse.marks)
