"""`links`: who links to a URL and what it links to, and which links are broken."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import crawl_urls, existing_database, meant_url, reports_of
from tui_crawler.cli.options import CommandSet, positive
from tui_crawler.cli.printer import Printer, columns, local_zone, picked, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.text.format import count, date_time, plural

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import BrokenLink, LinkView, Referrers
    from tui_crawler.storage.reports.reports import Reports

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
    external = "with --broken: also links that leave the crawl (crawl.check_external)"
    limit = f"at most N each way (else {SHOWN}; with --json all of them), or of those that name a URL (else {SHOWN})"
    parser.add_argument("--external", action="store_true", help=external)
    parser.add_argument("--limit", type=positive, metavar="N", help=limit)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    if (arguments.url is not None) == arguments.broken:
        raise UsageProblem("links wants a URL, or --broken", hint="see tui-crawler links --help")
    if arguments.external and not arguments.broken:
        raise UsageProblem("--external goes with --broken")
    with reports_of(existing_database(arguments)) as reports:
        if arguments.broken:
            return _broken(reports, arguments, printer)
        arguments.url = meant_url(arguments.url, reports)
        limit = arguments.limit or (None if arguments.json else SHOWN)
        inlinks = tuple(islice(reports.inlinks(arguments.url, limit), limit))
        outlinks = tuple(islice(reports.outlinks(arguments.url, limit), limit))
        counts = reports.link_counts(arguments.url)
        if counts == (0, 0):
            crawl_urls((arguments.url,))  # what is no URL has no links, unless a page has it as one
    document: dict[str, object] = {"url": arguments.url}
    document |= {"inlinks": [picked(one, _COLUMNS) for one in inlinks]}
    document |= {"outlinks": [picked(one, _COLUMNS) for one in outlinks]}
    heads = [[f"{plural(counts[0], 'link')} to it"], ["", f"{plural(counts[1], 'link')} from it"]]
    tables = _table("FROM", "from_url", inlinks, counts[0]), _table("TO", "to_url", outlinks, counts[1])
    return printer.answer(arguments.json, document, chain(heads[0], tables[0], heads[1], tables[1]))


def _broken(reports: Reports, arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.wiring.origin_settings import checks_made

    limit, pending, refused = arguments.limit or SHOWN, reports.totals().pending, reports.checks_refused()
    broken, walls = reports.broken_links(limit, arguments.external), [*reports.walls(limit, arguments.external)]
    unmade = [one for one in checks_made(reports) if one.words]
    external = 0 if arguments.external else reports.broken_counts()["external"]
    document: dict[str, object] = {"broken": map(_broken_document, broken)}
    document |= {"not_checked": [{"check": one.check.name, **one.document} for one in unmade]}
    document |= {"walls": [*map(_broken_document, walls)], "external_left_out": external}
    document |= {"pending": pending, "refused": refused}

    def lines() -> Iterator[str]:
        found = 0
        for one in broken:
            found += 1
            yield from _named_lines(one)
        yield f"{plural(found, 'broken link')}" if found else "no link is broken"
        if walls:
            yield f"{plural(len(walls), 'link')} not counted as broken, because the server refuses the crawler:"
        yield from chain.from_iterable(map(_named_lines, walls))
        left = [f"{one.check.title}: {one.words}" for one in unmade]
        left += [f"{plural(external, 'broken link')} to other sites (--external)"] * bool(external)
        left += [f"{plural(pending, 'page')} not crawled yet"] * bool(pending)
        left += [f"{plural(number, 'URL')} refused: {name}" for name, number in refused.items()]
        if left:
            yield "not looked at: " + "; ".join(left)

    return printer.answer(arguments.json, document, lines())


def referrers_document(referrers: Referrers) -> dict[str, object]:
    """Return who names a URL, as members of its document, with how many were left out where there are any."""
    named_by = [picked(one, "url kind text chain") for one in referrers.first]
    return {"referrers": named_by, **({"more_referrers": referrers.more} if referrers.more else {})}


def referrer_lines(referrers: Referrers) -> Iterator[str]:
    """Return the same for people, as lines below their URL."""
    for one in referrers.first:
        text = f'  "{safe(one.text, _TEXT_LENGTH)}"' if one.text else ""
        yield f"    {safe(one.kind):<8} {_arrows((one.url, *one.chain), text)}"
    if referrers.more:
        yield f"    … and {count(referrers.more)} more"


def _arrows(urls: Iterable[str], behind_first: str = "") -> str:
    first, *others = (safe(url, _URL_LENGTH) for url in urls)
    return " → ".join((first + behind_first, *others))


def _broken_document(broken: BrokenLink) -> dict[str, object]:
    document = picked(broken, "url exit_code http_status") | {"fragment": broken.fragment or None}
    return document | picked(broken, "external leads_to") | referrers_document(broken.referrers)


def _named_lines(one: BrokenLink) -> Iterator[str]:
    status = "-" if one.http_status is None else one.http_status
    what = "no such fragment" if one.fragment else one.exit_code
    fragment = f"#{safe(one.fragment, _TEXT_LENGTH)}" if one.fragment else ""
    yield f"{safe(what):<24} {status:>3}  {_arrows((one.url, *one.leads_to), fragment)}"
    yield from referrer_lines(one.referrers)


def _table(title: str, end: str, links: Sequence[LinkView], total: int) -> Iterator[str]:
    if not links:
        return
    zone, rows = local_zone(), []
    for link in links:
        kind = safe(link.shown_kind) + " nofollow" * link.nofollow
        url = safe(getattr(link, end), _URL_LENGTH)
        rows.append((kind, date_time(link.first_seen_at, zone), url, safe(link.text, _TEXT_LENGTH)))
    yield from columns(("KIND", "FIRST SEEN", title, "TEXT"), rows, frozenset())
    if len(links) < total:
        yield f"… and {count(total - len(links))} more (--limit)"
