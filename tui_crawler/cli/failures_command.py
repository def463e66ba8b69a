"""`failures`: failed pages, grouped or listed."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, exit_code_name, reports_of
from tui_crawler.cli.links_command import SHOWN, referrer_lines, referrers_document
from tui_crawler.cli.options import CommandSet, words
from tui_crawler.cli.printer import Printer, columns, local_zone, picked, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.known_word import did_you_mean
from tui_crawler.text.format import count, date_time, plural

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import FailureGroup, PageView, Referrers
    from tui_crawler.storage.reports.reports import Reports

    _NamedBy = Callable[[int, int], Referrers]

GROUPINGS = ("exit_code", "origin", "pattern", "http_status", "message")
_WINDOW = 500
_ORIGINS_KEPT = 1_024
_GROUP = "count recoverable sample_url first_at last_at"
_PAGE = """url origin job status attempts attempts_remaining nice depth not_before last_exit_code last_http_status
last_crawled_at due_at etag last_modified content_type size title sha256 validation_type valid external incomplete
message"""


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "failures",
        "show failed pages, grouped or listed",
        execute,
        "Groups the failed pages, or lists them. A page is retryable unless its exit code is final (404 is, see "
        "docs/exit-codes.md): with tries left it is requested again in this run or the next one, without tries "
        "after tui-crawler retry. A final one is requested again after tui-crawler retry, or when its recrawl is "
        "due.",
        examples=("failures --by http_status,pattern", "failures --list --referrers --json > failures.json"),
    )
    ways = parser.add_mutually_exclusive_group()
    keys = (
        "group by any of exit_code, origin, http_status, message, and pattern: the path with {n} for numbers and {id} "
        "for UUIDs and digests, {slug} for titles in words and for single words next to them, ?* after a page that "
        "takes a query (default: exit_code,origin)"
    )
    ways.add_argument("--by", type=words, metavar="KEYS", default=("exit_code", "origin"), help=keys)
    ways.add_argument("--list", action="store_true", help="list the pages")
    parser.add_argument("--referrers", action="store_true", help=f"with --list: who names each, {SHOWN} at most")
    parser.add_argument("--exit-code", metavar="NAME", default="", help="with --list: only this exit code")
    parser.add_argument("--origin", default="", help="with --list: only this origin")


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    by = _grouping(arguments.by)
    if not arguments.list and (arguments.exit_code or arguments.origin or arguments.referrers):
        raise UsageProblem("--exit-code, --origin and --referrers are of a list", hint="add --list")
    code = exit_code_name(arguments.exit_code) if arguments.exit_code else ""
    with reports_of(existing_database(arguments)) as reports:
        if not arguments.list:
            groups = reports.failure_count(by, None).groups
            documents = [{"key": dict(group.key)} | picked(group, _GROUP) for group in groups]
            return printer.answer(arguments.json, {"groups": documents}, _group_lines(groups, by))
        pages = _pages(reports, code, arguments.origin)
        named_by = reports.referrers if arguments.referrers else None
        lines = _page_lines(pages, reports, named_by, time.time_ns() // 1_000_000)
        listed = (_page_document(page, reports, named_by) for page in pages)
        return printer.answer(arguments.json, {"pages": listed}, lines)


def _grouping(by: tuple[str, ...]) -> tuple[str, ...]:
    hint = f"keys: {', '.join(GROUPINGS)}"
    for key in by:
        if key not in GROUPINGS:
            raise UsageProblem(f"cannot group by {key!r}{did_you_mean(key, GROUPINGS)}", hint=hint)
    if not by:
        raise UsageProblem("--by names no key", hint=hint)
    return tuple(dict.fromkeys(by))


def _pages(reports: Reports, code: str, origin: str) -> Iterator[PageView]:
    key = [(name, value) for name, value in (("exit_code", code), ("origin", origin)) if value]
    after, ended = 0, False
    while not ended:
        window = reports.failure_window(key, after, _WINDOW)
        yield from window.pages
        after, ended = window.last_id, window.ended


def _page_document(page: PageView, reports: Reports, named_by: _NamedBy | None) -> dict[str, object]:
    """Return a row of v_page (None where the view has no value), and who names it."""
    document = picked(page, _PAGE) | reports.page_past(page.page_id)
    document |= {name: document[name] or None for name in ("last_crawled_at", "due_at", "validation_type")}
    return document | (referrers_document(named_by(page.page_id, SHOWN)) if named_by else {})


def _page_lines(pages: Iterator[PageView], reports: Reports, named_by: _NamedBy | None, now: int) -> Iterator[str]:
    from tui_crawler.console.failures.rows import retry_cell
    from tui_crawler.console.operator.engine_host import EnginePhase
    from tui_crawler.console.operator.retry_start import outlook_of, retry_start_of

    run = reports.run()
    retry_start, run_id = retry_start_of(EnginePhase.absent, False, run), run.run_id if run is not None else 0
    origin_of = lru_cache(_ORIGINS_KEPT)(reports.origin)
    for page in pages:
        outlook = outlook_of(page, now, origin_of(page.origin), retry_start, run_id)
        message = f"  ({safe(page.message, 200)})" if page.message else ""
        status = page.last_http_status if page.last_http_status is not None else "-"
        tries = f"{plural(page.attempts, 'try', 'tries')}, retry: {retry_cell(page, now, outlook).text}"
        yield f"{safe(page.last_exit_code):<24} {status:>3}  {tries}  {safe(page.url, 2_048)}{message}"
        if named_by:
            yield from referrer_lines(named_by(page.page_id, SHOWN))


def _group_lines(groups: tuple[FailureGroup, ...], by: tuple[str, ...]) -> Iterator[str]:
    zone, rows = local_zone(), []
    for group in groups:
        key = dict(group.key)
        named = (safe(key.get(name, "")) for name in by)
        ends = date_time(group.last_at, zone), safe(group.sample_url)
        rows.append((count(group.count), count(group.recoverable), *named, *ends))
    header = ("PAGES", "RECOVERABLE", *(key.replace("_", " ").upper() for key in by), "LAST", "SAMPLE")
    yield from columns(header, rows, frozenset({0, 1})) if rows else ("no page has failed",)
