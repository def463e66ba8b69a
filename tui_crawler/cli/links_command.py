"""`links`: who links to a URL and what it links to, and which links are broken."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import crawl_urls, existing_database, meant_url, reports_of
from tui_crawler.cli.options import CommandSet, add_common, positive
from tui_crawler.cli.printer import Printer, columns, local_zone, picked, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.text.format import count, date_time, plural

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import BrokenLink, LinkView, Referrers

SHOWN = 50
"""So many links each way a person is shown, unless --limit says otherwise."""

_COLUMNS = "from_url to_url kind nofollow text first_seen_at frame"
_URL_LENGTH = 2_048
_TEXT_LENGTH = 60


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "links",
        "show the links to a URL and from it, or those that are broken",
        execute,
        "Shows who links to a URL and what it links to, with the kind of each link, its text, and when it was first "
        "seen. The URL need not be a page: links to other sites are recorded, too. With --broken every URL that is "
        "named by a page and cannot be had, with who names it.",
        examples=("links https://example.org/page", "links --broken"),
    )
    parser.add_argument("url", nargs="?", metavar="URL", help="any URL")
    parser.add_argument("--broken", action="store_true", help="list the URLs that are named and cannot be had")
    parser.add_argument(
        "--external", action="store_true", help="with --broken: also links that leave the crawl (crawl.check_external)"
    )
    parser.add_argument(
        "--limit",
        type=positive,
        metavar="N",
        help=f"at most N each way (else {SHOWN}; with --json all of them), or of those that name a URL (else {SHOWN})",
    )
    add_common(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    if (arguments.url is not None) == arguments.broken:
        raise UsageProblem("links wants a URL, or --broken", hint="see tui-crawler links --help")
    if arguments.external and not arguments.broken:
        raise UsageProblem("--external goes with --broken")
    with reports_of(existing_database(arguments)) as reports:
        if arguments.broken:
            from tui_crawler.wiring.origin_settings import checks_made

            broken = reports.broken_links(arguments.limit or SHOWN, arguments.external)
            unmade = [one for one in checks_made(reports) if one.words]
            external = 0 if arguments.external else reports.broken_counts()["external"]
            left = [f"{one.check.title}: {one.words}" for one in unmade]
            left += [f"{plural(external, 'broken link')} to other sites (--external)"] if external else []
            left += [f"{plural(pending, 'page')} not crawled yet"] if (pending := reports.totals().pending) else []
            refused = reports.checks_refused()
            left += [f"{plural(number, 'URL')} refused: {name}" for name, number in refused.items()]
            walls = list(reports.walls(arguments.limit or SHOWN, arguments.external))
            head = f"{plural(len(walls), 'link')} not counted as broken, because the server refuses the crawler:"
            refusing = [head, *chain.from_iterable(map(_named_lines, walls))] if walls else []
            lines = chain(_broken_lines(broken), refusing, ["not looked at: " + "; ".join(left)] * bool(left))
            counted = {"external_left_out": external, "pending": pending, "refused": refused}
            listed = {"not_checked": [{"check": one.check.name, **one.document} for one in unmade]}
            listed["walls"] = [*map(_broken_document, walls)]
            return printer.answer(arguments.json, {"broken": map(_broken_document, broken), **listed, **counted}, lines)
        arguments.url = meant_url(arguments.url, reports)
        limit = arguments.limit or (None if arguments.json else SHOWN)
        inlinks = tuple(islice(reports.inlinks(arguments.url, limit), limit))
        outlinks = tuple(islice(reports.outlinks(arguments.url, limit), limit))
        counts = reports.link_counts(arguments.url)
        if counts == (0, 0):
            crawl_urls((arguments.url,))  # what is no URL has no links, unless a page has it as one
    document = {
        "url": arguments.url,
        "inlinks": [picked(link, _COLUMNS) for link in inlinks],
        "outlinks": [picked(link, _COLUMNS) for link in outlinks],
    }
    lines = chain(
        [f"{plural(counts[0], 'link')} to it"],
        _table("FROM", [(link.from_url, link) for link in inlinks], counts[0]),
        ["", f"{plural(counts[1], 'link')} from it"],
        _table("TO", [(link.to_url, link) for link in outlinks], counts[1]),
    )
    return printer.answer(arguments.json, document, lines)


def referrers_document(referrers: Referrers) -> dict[str, object]:
    """Who names a URL, as members of its document; how many were left out is told where there are any."""
    named_by = [picked(one, "url kind text chain") for one in referrers.first]
    return {"referrers": named_by, **({"more_referrers": referrers.more} if referrers.more else {})}


def referrer_lines(referrers: Referrers) -> Iterator[str]:
    """The same for people, to stand under their URL."""
    for one in referrers.first:
        text = f'  "{safe(one.text, _TEXT_LENGTH)}"' if one.text else ""
        yield f"    {safe(one.kind):<8} {safe(one.url, _URL_LENGTH)}{text}{_arrows(one.chain)}"
    if referrers.more:
        yield f"    … and {count(referrers.more)} more"


def _arrows(urls: Sequence[str]) -> str:
    return "".join(f" → {safe(url, _URL_LENGTH)}" for url in urls)


def _broken_document(broken: BrokenLink) -> dict[str, object]:
    document = picked(broken, "url exit_code http_status") | {"fragment": broken.fragment or None}
    return document | picked(broken, "external leads_to") | referrers_document(broken.referrers)


def _broken_lines(links: Iterator[BrokenLink]) -> Iterator[str]:
    found = 0
    for one in links:
        found += 1
        yield from _named_lines(one)
    yield f"{plural(found, 'broken link')}" if found else "no link is broken"


def _named_lines(one: BrokenLink) -> Iterator[str]:
    status = "-" if one.http_status is None else one.http_status
    what = "no such fragment" if one.fragment else one.exit_code
    fragment = f"#{safe(one.fragment, _TEXT_LENGTH)}" if one.fragment else ""
    yield f"{safe(what):<24} {status:>3}  {safe(one.url, _URL_LENGTH)}{fragment}{_arrows(one.leads_to)}"
    yield from referrer_lines(one.referrers)


def _table(name: str, links: Sequence[tuple[str, LinkView]], total: int) -> Iterator[str]:
    if not links:
        return
    zone = local_zone()
    rows = [
        (
            safe(link.shown_kind) + (" nofollow" if link.nofollow else ""),
            date_time(link.first_seen_at, zone),
            safe(url, _URL_LENGTH),
            safe(link.text, _TEXT_LENGTH),
        )
        for url, link in links
    ]
    yield from columns(("KIND", "FIRST SEEN", name, "TEXT"), rows, frozenset())
    if len(links) < total:
        yield f"… and {count(total - len(links))} more (--limit)"
