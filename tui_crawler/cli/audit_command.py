"""`audit`: the politeness proof."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, reports_of
from tui_crawler.cli.options import CommandSet
from tui_crawler.cli.printer import Printer, safe, terminal_width
from tui_crawler.cli.problem import ExitStatus
from tui_crawler.text.format import clock, count, phase, plural

if TYPE_CHECKING:
    from tui_crawler.domain.history.audit import Finding, OriginAudit
    from tui_crawler.domain.history.timeline import Timeline
    from tui_crawler.storage.reports.reports import Reports

    Drawn = tuple[OriginAudit, Timeline | None]

INDENT = 4
_COLUMNS, _HEIGHT, _TOLD = 120, 9, 20
_AT_ONCE = 30  # origins


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "audit",
        "prove that every delay was kept",
        execute,
        "Recomputes from the log, per origin, the gap from the end of each request to the next one, and compares "
        "it with the required delay. Exit status 1 if a gap is shorter than required (by more than the 1 ms that "
        "stored times are rounded to) or two requests overlap. A fluke retry is exempt. With --verbose each "
        "origin has a timeline of the newest run: the required delay (filled), the actual gaps (the line above "
        "it), requests (✗ 429 and 5xx, ⚠ timeouts, █ a gap that is too short), patience and state.",
        examples=("audit", "audit --verbose"),
    )
    parser.add_argument(
        "--verbose", action="store_true", help="list the violations and overlaps, with a timeline of each origin"
    )


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.history.audit import audit

    with reports_of(existing_database(arguments)) as reports:
        origins = audit(reports.attempts_for_audit())
        ok = all(one.ok for one in origins)
        drawn = _drawn(reports, origins) if arguments.verbose else ((one, None) for one in origins)
        if arguments.json:
            listed = [_document(*one, arguments.verbose) for one in drawn]
            printer.document({"ok": ok, "origins": listed})
        else:
            printer.lines(_lines(drawn, origins, arguments.verbose))
    return ExitStatus.ok if ok else ExitStatus.gave_up


def _drawn(reports: Reports, origins: Sequence[OriginAudit]) -> Iterator[Drawn]:
    """Origins with their timelines over the newest run; some are read at a time."""
    from tui_crawler.domain.history.idle_reason import end_of_run
    from tui_crawler.domain.history.span import TimeSpan
    from tui_crawler.text.timeline import LABEL

    run, columns = reports.run(), min(terminal_width() or _COLUMNS, _COLUMNS) - INDENT - LABEL
    for first in range(0, len(origins), _AT_ONCE):
        some = origins[first : first + _AT_ONCE]
        if run is None:
            yield from ((one, None) for one in some)
            continue
        span = TimeSpan(run.started_at, end_of_run(run, int(time.time() * 1_000)) + 1, max(columns, 20))
        yield from zip(some, reports.timelines([one.origin for one in some], span), strict=True)


def _document(one: OriginAudit, timeline: Timeline | None, verbose: bool) -> dict[str, object]:
    document = asdict(one) | ({} if timeline is None else {"timeline": timeline.document()})
    return {name: value for name, value in document.items() if verbose or name != "findings"}


def _lines(drawn: Iterable[Drawn], origins: Sequence[OriginAudit], verbose: bool) -> Iterator[str]:
    for one, timeline in drawn:
        gap = f"shortest gap {phase(one.min_gap_ms)}, promised {phase(one.promised_ms)}"
        verdict = "kept" if one.ok else f"{plural(one.violations, 'violation')}, {plural(one.overlaps, 'overlap')}"
        yield f"{'✓' if one.ok else '✗'} {safe(one.origin)}  {plural(one.requests, 'request')}  {gap}  {verdict}"
        if verbose:
            yield from map(_finding, one.findings)
            if left_out := one.violations + one.overlaps - len(one.findings):
                yield f"    … and {count(left_out)} more"
        if timeline is not None:
            yield from _lane(timeline)
    bad = sum(not one.ok for one in origins)
    said = f"promises were broken at {bad} of" if bad else "every delay was kept:"
    yield f"{said} {plural(len(origins), 'origin')}"


def _lane(timeline: Timeline) -> Iterator[str]:
    from tui_crawler.domain.history.timeline import LaneEvent
    from tui_crawler.text.charts import dots_of
    from tui_crawler.text.timeline import lane, mark_words

    utf8 = "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
    for line in lane(timeline, _HEIGHT, dots=dots_of(os.environ, utf8)):
        yield " " * INDENT + "".join(text for text, _ in line).rstrip()
    told = [mark for mark in timeline.marks if mark.event is not LaneEvent.broken_promise]
    for mark in told[:_TOLD]:
        yield f"    {clock(mark.at)} UTC  {mark_words(mark)}"
    if len(told) > _TOLD or timeline.marks_left_out:
        yield f"    … and {count(max(0, len(told) - _TOLD) + timeline.marks_left_out)} more"


def _finding(finding: Finding) -> str:
    kept, promised = finding.gap_ms, phase(finding.promised_ms)
    what = f"overlap of {phase(-kept)}" if kept < 0 else f"gap {phase(kept)} of {promised}"
    sent_at = clock(finding.sent_at, millis=True)
    return f"    {sent_at} UTC  {what}  {safe(finding.url)}  after {safe(finding.earlier_url)}"
