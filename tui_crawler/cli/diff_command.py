"""`diff`: two runs compared, and one page of them down to its lines and links."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, reports_of
from tui_crawler.cli.options import CommandSet, positive
from tui_crawler.cli.printer import Printer, local_zone, picked, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.text.format import count

if TYPE_CHECKING:
    from tui_crawler.domain.history.run_diff import PageChange, PageDiff, RunSpan
    from tui_crawler.storage.reports.reports import Reports

SHOWN = 50
"""So many pages, and so many links each way, a person is shown, unless --limit says otherwise."""

_COUNTS = "origin new gone changed same failures_new failures_mended"
_LINKS = 10_000  # of one page, each way, as JSON
_LENGTH = 2_048


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "diff",
        "compare two runs: pages new, gone and changed, robots.txt, failures, speed",
        execute,
        "Compares two runs (default: the last two; one: it and the newest): which pages are changed (content "
        "hash, title, status, redirect target, canonical, links), new or gone, the lines of robots.txt that "
        "differ, new and fixed failures, and the speed of both. A page is gone when it returns 404 or 410, or was"
        " not requested again and is not linked any more. storage.keep_runs sets how many runs can be compared.",
        examples=("diff 6 7 --origin example.org", "diff --url https://example.org/page"),
    )
    parser.add_argument("runs", nargs="*", type=positive, metavar="RUN", help="the numbers of one or two runs")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--origin", default="", help="only this origin")
    only.add_argument("--url", metavar="URL", help="one page: its lines and links that differ")
    limit = f"at most N pages, or links (else {SHOWN}; with --json all of them)"
    parser.add_argument("--limit", type=positive, metavar="N", help=limit)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    if len(arguments.runs) > 2:
        raise UsageProblem("diff compares two runs", hint="see tui-crawler diff --help")
    with reports_of(existing_database(arguments)) as reports:
        span = reports.runs_compared(arguments.runs)
        if arguments.url is not None:
            page = reports.page_diff(span, arguments.url, arguments.limit or (_LINKS if arguments.json else SHOWN))
            if page is None:
                raise UsageProblem(f"{arguments.url} is no page of this crawl", hint="see tui-crawler why URL")
            return printer.answer(arguments.json, _one_document(page, span), _one_lines(page))
        where = reports.origin_id(arguments.origin) if arguments.origin else 0
        limit, paces = arguments.limit, (reports.run_pace(run) for run in (span.older, span.newer))
        robots, failures = reports.robots_diffs(span, where), islice(reports.failure_changes(span, where), limit)
        document = {
            "runs": [span.older, span.newer],
            "origins": (picked(one, _COUNTS) for one in reports.origin_diffs(span, where)),
            "pages": map(_page_document, reports.page_changes(span, where, limit=limit)),
            "robots": ({"origin": one.origin, "diff": "\n".join(one.diff)} for one in robots),
            "failures": ({"url": one.url, "failing": _failing(one) or None, **_ends(one)} for one in failures),
            "speed": (picked(one, "run_id requests worked_ms bytes response_ms failed") for one in paces),
        }
        return printer.answer(arguments.json, document, _lines(reports, span, where, limit or SHOWN))


def _lines(reports: Reports, span: RunSpan, origin_id: int, limit: int) -> Iterator[str]:
    from tui_crawler.text import run_diff as said

    now = int(time.time() * 1_000)
    yield from filter(None, (said.snapshot(span, reports.run(), now, local_zone()),))
    yield from (said.pace(reports.run_pace(run)) for run in (span.older, span.newer))
    diffs = reports.origin_diffs(span, origin_id)
    for one in diffs:
        yield f"{safe(one.origin, _LENGTH)}   {'  '.join(said.counts(one).values())}"
    for page in reports.page_changes(span, origin_id, limit=limit):
        yield safe(said.line(page), _LENGTH)
    if (total := sum(one.new + one.gone + one.changed for one in diffs)) > limit:
        yield f"… and {count(total - limit)} more (--limit)"
    for page in islice(reports.failure_changes(span, origin_id), limit):
        yield safe(f"failure {_failing(page)}   {page.url}   {said.ends(page)}", _LENGTH)
    for robots in reports.robots_diffs(span, origin_id):
        yield from ("", f"robots.txt of {safe(robots.origin, _LENGTH)}")
        yield from (safe(line, _LENGTH) for line in robots.diff)


def _failing(page: PageChange) -> str:
    return page.difference.failing.word if page.difference.failing else ""


def _page_document(page: PageChange) -> dict[str, object]:
    found = page.difference
    fields = [field.word for field in found.fields]
    return {"url": page.url, "change": found.kind.word if found.kind else None, "fields": fields, **_ends(page)}


def _ends(page: PageChange) -> dict[str, object]:
    from tui_crawler.domain.records.exit_code import exit_name

    both = ("before", page.before), ("after", page.after)
    ends = {key: {"exit_code": exit_name(one.exit_code) or None, "http_status": one.http_status} for key, one in both}
    return {**ends, "unreached": page.unreached}


def _one_document(page: PageDiff, span: RunSpan) -> dict[str, object]:
    """Return one page; `lines` is null where a body is not stored."""
    known = _page_document(page.change) if page.change else {"change": None, "fields": []}
    runs = [span.older, span.newer]
    document: dict[str, object] = {"runs": runs, "url": page.url, **known, "lines": page.changed_lines()}
    for name, links in ("outlinks", page.outlinks), ("inlinks", page.inlinks):
        both = ("new", links.new), ("gone", links.gone)
        document[name] = {key: [picked(one, "from_url to_url kind text") for one in some] for key, some in both}
    return document


def _one_lines(page: PageDiff) -> Iterator[str]:
    from tui_crawler.text import run_diff as said

    yield safe(said.line(page.change) if page.change else f"= {page.url}", _LENGTH)
    for name, before, after in page.texts():
        yield safe(f"{name}: {before or '-'} → {after or '-'}", _LENGTH)
    lines = page.changed_lines()
    yield from ("", *(safe(line, _LENGTH) for line in lines or [said.NO_BODY if lines is None else said.NO_LINE]))
    for words, links in ("links from it", page.outlinks), ("links to it", page.inlinks):
        yield f"{words}: {said.many(links)}"
        for sign, one in (*(("+", one) for one in links.new), *(("−", one) for one in links.gone)):
            end = one.to_url if links is page.outlinks else one.from_url
            yield safe(f"{sign} {one.kind:<8} {end}  {one.text}", _LENGTH)
