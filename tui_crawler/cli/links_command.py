"""`links`: who links to a URL, and what it links to."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from tui_crawler.cli.columns import columns
from tui_crawler.cli.database_choice import existing_database
from tui_crawler.cli.exit_status import ExitStatus
from tui_crawler.cli.options import CommandSet, add_database, add_json, positive
from tui_crawler.cli.printer import Printer

if TYPE_CHECKING:
    from tui_crawler.domain.page_view import LinkView

SHOWN = 50
"""So many links each way a person is shown, unless --limit says otherwise."""

_COLUMNS = ("from_url", "to_url", "kind", "nofollow", "text", "first_seen_at")
_URL_LENGTH = 2_048
_TEXT_LENGTH = 60


def declare(commands: CommandSet) -> None:
    """Declares the command."""
    parser = commands.add(
        "links",
        "show the links to a URL and from it",
        execute,
        "Shows who links to a URL and what it links to, with the kind of each link, its text, and when it was first "
        "seen. The URL need not be a page: links to other sites are recorded, too.",
    )
    parser.add_argument("url", metavar="URL", help="any URL")
    parser.add_argument(
        "--limit", type=positive, metavar="N", help=f"at most N each way (else {SHOWN}; with --json all of them)"
    )
    add_json(parser)
    add_database(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    """Carries out `links`."""
    database = existing_database(arguments)

    from tui_crawler.wiring import open_reports

    with closing(open_reports(database)) as reports:
        limit = arguments.limit or (None if arguments.json else SHOWN)
        inlinks = tuple(islice(reports.inlinks(arguments.url, limit), limit))
        outlinks = tuple(islice(reports.outlinks(arguments.url, limit), limit))
        counts = reports.link_counts(arguments.url)
    if arguments.json:
        printer.document(
            {
                "url": arguments.url,
                "inlinks": [_document(link) for link in inlinks],
                "outlinks": [_document(link) for link in outlinks],
            }
        )
    else:
        printer.lines(_lines(inlinks, outlinks, counts))
    return ExitStatus.ok


def _document(link: LinkView) -> dict[str, object]:
    return {name: getattr(link, name) for name in _COLUMNS}


def _lines(inlinks: Sequence[LinkView], outlinks: Sequence[LinkView], counts: tuple[int, int]) -> Iterator[str]:
    from tui_crawler.console.format import plural

    yield f"{plural(counts[0], 'link')} to it"
    yield from _table("FROM", [(link.from_url, link) for link in inlinks], counts[0])
    yield ""
    yield f"{plural(counts[1], 'link')} from it"
    yield from _table("TO", [(link.to_url, link) for link in outlinks], counts[1])


def _table(name: str, links: Sequence[tuple[str, LinkView]], total: int) -> Iterator[str]:
    from tui_crawler.console.format import count, date_time
    from tui_crawler.console.safe_text import safe

    if not links:
        return
    zone = datetime.now(UTC).astimezone().tzinfo or UTC
    rows = [
        (
            safe(link.kind) + (" nofollow" if link.nofollow else ""),
            date_time(link.first_seen_at, zone),
            safe(url, _URL_LENGTH),
            safe(link.text, _TEXT_LENGTH),
        )
        for url, link in links
    ]
    yield from columns(("KIND", "FIRST SEEN", name, "TEXT"), rows, frozenset())
    if len(links) < total:
        yield f"… and {count(total - len(links))} more (--limit)"
