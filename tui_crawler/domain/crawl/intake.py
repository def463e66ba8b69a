"""From found links to pages: what a page, a sitemap or a robots.txt names, after all filters. Pure."""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tui_crawler.domain.records.attempt import FoundLink, Reading, RefusedCount, RefusedCounts
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.page import EMBEDDED, EXTERNAL, KnownPage, NewPage, TodoPage
from tui_crawler.domain.rules.admission import LENGTH_LIMIT, Admission, Discovered
from tui_crawler.domain.rules.verdict import Admitted, Refusal, Refused
from tui_crawler.domain.url import CrawlUrl, normalise

if TYPE_CHECKING:
    from tui_crawler.domain.rules.robots import RobotsRules

_MOST_SITEMAPS = 500  # of those that one robots.txt names
_SIGN_BYTES = 65_536
_PROLOG = rb"(?:\s++|\xef\xbb\xbf|\xff\xfe|\xfe\xff|<\?(?:(?!\?>).)*+\?>|<!--(?:(?!-->).)*+-->|<!DOCTYPE[^>]*+>)*+"
_SITEMAP = re.compile(_PROLOG + rb"<(?:[\w.-]++:)?+(?:urlset|sitemapindex)[\s/>]", re.DOTALL | re.IGNORECASE)
_URL_LIST = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+(?:https?://\S++\s*+)++", re.IGNORECASE)
_CALLED_SITEMAP = re.compile("sitemap", re.IGNORECASE)


def may_be_sitemap(page: TodoPage) -> bool:
    """Return whether to read a text or gzip file to find out: a seed, or a URL that contains "sitemap"."""
    return page.seed or _CALLED_SITEMAP.search(page.url) is not None


def is_sitemap(body: bytes, is_seed: bool) -> bool:
    """Return whether a body is a sitemap or an index, packed or not, whatever its type says; a seed may be a list of
    URLs, too. The first 64 KiB decide."""
    begin = body
    if begin.startswith(b"\x1f\x8b"):
        with contextlib.suppress(zlib.error):
            begin = zlib.decompressobj(31).decompress(begin, _SIGN_BYTES)
    if b"\0" in begin[:64]:  # UTF-16
        begin = begin[:_SIGN_BYTES].replace(b"\0", b"")
    if (is_one := _SITEMAP.match(begin, 0, _SIGN_BYTES) is not None) or not is_seed:
        return is_one
    begin = begin[:_SIGN_BYTES]
    return _URL_LIST.fullmatch(begin if len(begin) < _SIGN_BYTES else begin[: begin.rfind(b"\n") + 1]) is not None


@dataclass(frozen=True, slots=True)
class Intake:
    """The filters of found links: the policies, which kinds are queued, and how many pages each origin has.

    `queues` is false in offline mode (M): then nothing becomes a page. `check_external`: links that leave
    the crawl become pages that are only checked; `check_embedded`: so do links of kinds that are not queued, but a and
    other. `known` has pages by the hash of their URL, as far as they are known without asking: finds that are no news
    of them go no further. `follows` says whether a seed that redirects from the one URL to the other takes the crawl
    there. `finds_sitemaps`: sitemaps are also read where a page names them, and on hosts outside of the crawl, which
    are asked for nothing else.
    """

    admission: Admission
    link_kinds_queued: frozenset[LinkKind]
    pages_known: Mapping[str, int]
    queues: bool = True
    check_external: bool = False
    known: Mapping[int, KnownPage] = field(default_factory=dict)
    check_embedded: bool = False
    follows: Callable[[CrawlUrl, CrawlUrl], bool] = lambda *_: False
    finds_sitemaps: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """The links of a page after all filters: pages to be queued, and refusals counted by reason."""

    pages: tuple[NewPage, ...] = ()
    refused: tuple[RefusedCount, ...] = ()


class Find(NamedTuple):
    """A URL on its way through the filters, with what its page will hold. `leads`: a reader is led there, so that it is
    checked where it leaves the crawl; with `nofollow` that is all that may become of it. What is `embedded` is checked
    within the crawl, too, and never crawled. `joins`: see Discovered; `again`: see NewPage."""

    url: CrawlUrl
    depth: int
    hops: int = 0
    sitemap: bool = False
    lastmod: int = 0
    leads: bool = False
    nofollow: bool = False
    embedded: bool = False
    joins: str | None = None
    again: bool = False


def linked(links: Sequence[FoundLink], page: TodoPage, intake: Intake) -> Iterator[Find]:
    """The links of a page that may become pages."""
    depth, nice, kinds, known = page.depth + 1, page.nice, intake.link_kinds_queued, intake.known
    admission, quiet = intake.admission, None
    is_plain = bool(known) and not (page.item_pattern or page.force or admission.bounds_origins)
    for kind, url, _, nofollow in links:
        if kind not in kinds or (nofollow and not intake.check_external):
            continue
        if kind is LinkKind.frame and url.origin not in admission.scope.origins:  # embedded as an image is
            continue
        if is_plain and not nofollow:  # most links are of known pages: those that bring no news go no further
            standing = known.get(url.hash)
            if standing is not None and (standing is quiet or not standing.learns(nice, depth, 0, 0)):
                quiet = standing
                if type(admission.admit_plain(url)) is Admitted:
                    continue
        yield Find(url, depth, leads=True, nofollow=nofollow)
    embedded = links if intake.check_embedded else ()
    for kind, url, _, _ in embedded:  # after the links: what is crawled is not checked
        if (kind not in kinds or kind is LinkKind.frame) and kind not in (LinkKind.a, LinkKind.other):
            standing = known.get(url.hash)
            if standing is None or (standing.external and standing.learns(nice, page.depth, 0, 0, external=EMBEDDED)):
                yield Find(url, depth, leads=True, embedded=True)


def listed(reading: Reading, page: TodoPage) -> Iterator[Find]:
    """What a sitemap names. A sitemap in an index counts as a hop, so that indexes cannot nest without end."""
    for entry in reading.entries:
        if entry.sitemap:
            yield Find(entry.url, page.depth, page.redirect_hops + 1, True, entry.lastmod)
        else:
            yield Find(entry.url, page.depth + 1, lastmod=entry.lastmod)


def sitemaps_of(rules: RobotsRules, robots_url: CrawlUrl, intake: Intake) -> Queue:
    """The sitemaps that a robots.txt names, as pages of kind sitemap, after all filters."""
    if not intake.queues:
        return Queue()
    finds, invalid = list[Find](), RefusedCounts()
    for text in rules.sitemaps[:_MOST_SITEMAPS]:
        url = normalise(text, robots_url.href)
        if isinstance(url, CrawlUrl):
            finds.append(Find(url, 0, sitemap=True))
        else:
            invalid.add(Refusal.invalid_url, text[:500])
    queue = admit(finds, _NO_PAGE, intake)
    return Queue(queue.pages, (*queue.refused, *invalid.all()))


_NO_PAGE = TodoPage(0, 0, "")  # what robots.txt names has no parent page


def admit(finds: Iterable[Find], page: TodoPage, intake: Intake) -> Queue:
    """All filters over what was found; `page` is the parent, whose nice, pattern and force are inherited (B, G). What
    a page leads to that is only checked is only checked, too."""
    seen: set[str] = set()
    pages: list[NewPage] = []
    refused = RefusedCounts()
    added: dict[str, int] = {}
    admission = intake.admission
    is_plain = not (page.item_pattern or page.force or admission.bounds_origins)
    for find in finds:
        url = find.url
        if url.href in seen:
            continue
        known = 0
        verdict: Admitted | Refused | None
        if is_plain and not find.hops and not find.sitemap:
            verdict = admission.admit_plain(url)
        else:
            known = intake.pages_known.get(url.origin, 0) + added.get(url.origin, 0)
            found = Discovered(url, find.hops, page.item_pattern or None, known, find.sitemap, find.joins)
            verdict = admission.admit(found)
        leaves = isinstance(verdict, Refused) and verdict.reason is Refusal.scope
        checked = intake.check_external and find.leads and (leaves or page.is_check)
        external = EXTERNAL if checked or (intake.finds_sitemaps and find.sitemap and leaves) else 0
        if find.embedded and url.origin in admission.scope.origins:
            external = EMBEDDED
        if (find.nofollow or find.embedded) and not external:
            continue
        seen.add(url.href)
        if external:
            verdict = intake.admission.refuses_check(url, known, find.hops)
        if isinstance(verdict, Refused):
            refused.add(Refusal.url_length if verdict.source == LENGTH_LIMIT else verdict.reason, url.href)
            continue
        added[url.origin] = added.get(url.origin, 0) + 1
        pages.append(
            NewPage(
                url=url.href,
                url_hash=url.hash,
                origin=url.origin,
                depth=page.depth if external else find.depth,
                nice=page.nice,
                redirect_hops=find.hops,
                item_pattern="" if external else page.item_pattern,
                force=page.force and not external,
                sitemap=find.sitemap,
                lastmod=find.lastmod,
                external=external,
                start_path=find.joins or "",
                again=find.again,
            )
        )
    return Queue(tuple(pages), refused.all())
