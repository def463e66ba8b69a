"""`audit`: the politeness proof."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, reports_of
from tui_crawler.cli.options import CommandSet, add_common
from tui_crawler.cli.printer import Printer, safe
from tui_crawler.cli.problem import ExitStatus
from tui_crawler.text.format import clock, count, phase, plural

if TYPE_CHECKING:
    from tui_crawler.domain.audit import Finding, OriginAudit


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "audit",
        "prove that every delay was kept",
        execute,
        "Recomputes from the log, per origin, the gap from the end of each request to the next one, and compares "
        "it with the delay that was promised. Exit status 1 if a gap is shorter than promised (by more than the "
        "1 ms that stored times are rounded to) or two requests overlap. A fluke retry is exempt.",
        examples=("audit", "audit --verbose"),
    )
    parser.add_argument("--verbose", action="store_true", help="list the violations and overlaps")
    add_common(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    """Carries out `audit`."""
    from tui_crawler.domain.audit import audit

    with reports_of(existing_database(arguments)) as reports:
        origins = audit(reports.attempts_for_audit())
    ok = all(one.ok for one in origins)
    if arguments.json:
        listed = [_document(one, arguments.verbose) for one in origins]
        printer.document({"ok": ok, "origins": listed})
    else:
        printer.lines(_lines(origins, ok, arguments.verbose))
    return ExitStatus.ok if ok else ExitStatus.gave_up


def _document(one: OriginAudit, verbose: bool) -> dict[str, object]:
    document = asdict(one)
    findings = document.pop("findings")
    return document | {"findings": findings} if verbose else document


def _lines(origins: tuple[OriginAudit, ...], ok: bool, verbose: bool) -> Iterator[str]:
    for one in origins:
        gap = f"shortest gap {phase(one.min_gap_ms)}, promised {phase(one.promised_ms)}"
        verdict = "kept" if one.ok else f"{plural(one.violations, 'violation')}, {plural(one.overlaps, 'overlap')}"
        yield f"{'✓' if one.ok else '✗'} {safe(one.origin)}  {plural(one.requests, 'request')}  {gap}  {verdict}"
        if verbose:
            yield from map(_finding, one.findings)
            left_out = one.violations + one.overlaps - len(one.findings)
            if left_out:
                yield f"    … and {count(left_out)} more"
    bad = sum(not one.ok for one in origins)
    if ok:
        yield f"every delay was kept: {plural(len(origins), 'origin')}"
    else:
        yield f"promises were broken at {bad} of {plural(len(origins), 'origin')}"


def _finding(finding: Finding) -> str:
    what = f"gap {phase(finding.gap_ms)} of {phase(finding.promised_ms)}"
    if finding.gap_ms < 0:
        what = f"overlap of {phase(-finding.gap_ms)}"
    return (
        f"    {clock(finding.sent_at, millis=True)} UTC  {what}  {safe(finding.url)}  after {safe(finding.earlier_url)}"
    )
