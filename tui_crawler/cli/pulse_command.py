"""`pulse`: how the crawl goes over time, as charts or as rows."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, known_jobs, known_origin, reports_of
from tui_crawler.cli.options import CommandSet, add_common, duration
from tui_crawler.cli.printer import Printer, local_zone, picked, safe, terminal_width
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.history.pulse import (
    HOUR_MS,
    SPANS_MS,
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
        "Charts of the span that ends now: pages and bytes a second, latency (p50 and p95), failures a minute by "
        "group, and of the whole crawl origins by state, pages that wait, how late the event loop was and the longest "
        "commit. With --json one row a step; of latency each phase is told.",
        examples=("pulse --span 15m", "pulse --origin https://example.org --span 1d --json | jq '.rows[].pages'"),
    )
    whose = parser.add_mutually_exclusive_group()
    for scope in (PulseScope.origin, PulseScope.job, PulseScope.worker):
        whose.add_argument(f"--{scope.name}", metavar="NAME", help=f"of this {scope.name} alone")
    span = "so long, 1m to 30d (default: 1h)"
    parser.add_argument("--span", type=duration, default=HOUR_MS, metavar="TIME", help=span)
    add_common(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.console.pulse.rows import Charts

    span: int = arguments.span
    if not SPANS_MS[0] <= span <= SPANS_MS[-1]:
        raise UsageProblem("--span: from 1m to 30d")
    named = {scope: getattr(arguments, scope.name, None) for scope in PulseScope if scope is not PulseScope.crawl}
    of = next((PulseOf(scope, name) for scope, name in named.items() if name), PulseOf())
    now = time.time_ns() // 1_000_000
    with reports_of(existing_database(arguments)) as reports:
        if of.scope is PulseScope.origin:
            of = PulseOf(of.scope, known_origin(of.name, reports))
        elif of.scope is PulseScope.job:
            known_jobs([of.name], reports)
        pulse, totals = reports.pulse(of, pulse_span(of, span, now)), reports.totals()
    charts = Charts(pulse, now)
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
        rates = {"pages_per_s": charts.pages[place], "bytes_per_s": charts.bytes[place], "latency_ms": latency}
        ends = {"exit_codes": count.names() if count else {}, "gauges": asdict(gauges) if gauges else None}
        counts = picked(count or PulseCount(), "attempts pages failed bytes")
        rows.append({"at": pulse.span.at(place)} | counts | rates | ends)
    marks = [{"at": mark.at, "kind": mark.kind.name, "words": mark.words, "who": mark.who} for mark in pulse.marks]
    document = {"of": pulse.of.scope.name, "name": pulse.of.name, **picked(pulse.span, "since until")}
    return document | picked(pulse, "step_ms sampled") | {"rows": rows, "marks": marks}


def _lines(charts: Charts) -> Iterator[str]:
    from tui_crawler.console.pulse.rows import drawn, legend_of, mark_words, title_of
    from tui_crawler.text.charts import dots_of

    pulse, zone = charts.pulse, local_zone()
    width = min(terminal_width() or _WIDTH, _LARGEST)
    dots = dots_of(os.environ, (sys.stdout.encoding or "").lower().startswith("utf"))
    sampled = ", from a sample of its attempts" if pulse.sampled else ""
    yield safe(f"{title_of(pulse)}: {charts.reading(charts.last, zone)}{sampled}")
    for one in charts.all:
        yield ""
        named = "".join(text for text, _ in legend_of(one, dots))
        yield safe(f"{one.name}: {one.says(charts.last)}{named and f'   {named}'}")
        for line in drawn(charts, one, width, _HEIGHT, dots, zone, None):
            yield safe("".join(text for text, _ in line).rstrip())
    yield from [""] * bool(pulse.marks)
    yield from (safe(mark_words(mark, zone)) for mark in pulse.marks)
