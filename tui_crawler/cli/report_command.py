"""`report`: the site audit as one file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui_crawler.cli.export_command import add_output, output_of, target_of
from tui_crawler.cli.known_names import existing_database, no_run, reports_of
from tui_crawler.cli.options import CommandSet, positive
from tui_crawler.cli.printer import Printer, safe
from tui_crawler.cli.problem import ExitStatus
from tui_crawler.text import format as words
from tui_crawler.text.format import size

if TYPE_CHECKING:
    from tui_crawler.domain.history.site_audit import Cell, ReportCell, SiteAudit
    from tui_crawler.storage.reports.reports import Reports

FORMATS = ("html", "md", "junit", "json")
ENDINGS = dict(zip(FORMATS, ("html", "md", "xml", "json"), strict=True))
_DESCRIPTION = """\
Writes one self-contained file: the coverage of the newest run, failures by cause, broken links with the pages
that contain them, slow pages, redirect chains and loops, titles, invalid documents, canonical and noindex, cut pages,
and the politeness proof. It describes the sites now; with --run what that run attempted. On a terminal a report
other than JSON is written into a file named after the database, in place of an older one.
"""


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "report",
        "write the site audit as HTML, Markdown, JUnit or JSON",
        execute,
        _DESCRIPTION,
        examples=("report --output report.html", "report --format junit > report.xml"),
        json="",
    )
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--format", metavar="FMT", choices=FORMATS, default="html", help="html (default), md, junit, json"
    )
    forms.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    add_output(parser)
    parser.add_argument("--run", type=positive, metavar="N", help="only what run N attempted (default: all runs)")


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    database = existing_database(arguments)
    if arguments.output is None and arguments.format != "json" and sys.stdout.isatty():
        stem = database.stem if isinstance(database, Path) else "crawl"
        arguments.output, arguments.force = f"{stem}-report.{ENDINGS[arguments.format]}", True
    path = target_of(arguments, database)

    with reports_of(database) as reports:
        audit = audit_of(reports, arguments.run)
    if audit is None:
        raise no_run(database, arguments.run)
    write_report(audit, path, arguments, printer)
    return ExitStatus.ok


def audit_of(reports: Reports, run: int | None = None) -> SiteAudit | None:
    """Return the site audit of a run (None: of all) with the checks that were made, that of the newest run with its
    coverage; None where there is no such run."""
    from tui_crawler.wiring.coverage import coverage_of
    from tui_crawler.wiring.origin_settings import checks_made

    audit, newest = reports.site_audit(run), reports.run()
    if audit is None:
        return None
    covered = coverage_of(reports) if newest is not None and run in {None, newest.run_id} else None
    return replace(audit, checks=checks_made(reports, run), coverage=covered)


def write_report(audit: SiteAudit, path: Path | None, arguments: argparse.Namespace, printer: Printer) -> None:
    """Write a report into a file (None: standard output) in the form that `--format` names."""
    from tui_crawler.export.report import report_html, report_json, report_junit, report_markdown

    forms = dict(zip(FORMATS, (report_html, report_markdown, report_junit, report_json), strict=True))
    charset = "ascii" if path is None and sys.stdout.encoding == "ascii" else "utf-8"
    with output_of(path, arguments) as output:
        for piece in forms[arguments.format](audit, shown):
            output.write(piece.encode(charset, "xmlcharrefreplace"))  # which all formats read
    printer.note(f"{size(output.bytes)} -> {output.name}")


def shown(kind: ReportCell, cell: Cell) -> str:
    """A value as plain characters; nothing for a text that is unknown, a dash for a number or a time."""
    from tui_crawler.domain.crawl.cut import cut_words
    from tui_crawler.text.sparkline import sparkline
    from tui_crawler.text.timeline import kept_words

    formats: dict[str, Callable[[Any], str]] = {"series": lambda counts: sparkline(counts, len(counts))}
    formats |= {"count": words.count, "bytes": words.size, "ms": words.phase}
    formats |= {"moment": words.date_time, "cut": cut_words, "timeline": kept_words}
    text = formats.get(kind.name, str)(cell)
    return safe(text, 1_000) if cell is not None or kind.name in formats else ""
