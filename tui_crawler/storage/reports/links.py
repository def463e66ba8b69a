"""Reports on links: who names a URL, what a page names, the path of pages that led from a seed to one; and the link
check: URLs that are named and cannot be had."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter

from tui_crawler.domain.crawl.standing import Referral
from tui_crawler.domain.history.site_audit import chains
from tui_crawler.domain.records.exit_code import BLOCKED, UNLINKED, WALLS, ExitCode, exit_name
from tui_crawler.domain.records.page import EXTERNAL
from tui_crawler.domain.records.page_view import BrokenLink, Hop, LinkEnd, LinkView, Referrer, Referrers
from tui_crawler.domain.rules.verdict import Refusal
from tui_crawler.storage.db.reader import EVERY, From, Reader, RowMapper, SubjectReports, among
from tui_crawler.storage.db.views import IS_FRAME, LINK_KIND

WINDOW = 500
_HOPS = 20  # redirects that are followed back
_PATH = 200  # pages on a path from a seed; discovery paths are far shorter

LINK_COLUMNS = f"f.href AS from_url, t.href AS to_url, {LINK_KIND}, l.nofollow, l.text, l.first_seen_at, {IS_FRAME}"
"""A `LinkView` of link `l` between URLs `f` and `t`."""
_LINKS = """FROM link l JOIN page p ON p.id = l.from_page_id JOIN url f ON f.id = p.url_id
    JOIN url t ON t.id = l.to_url_id"""
_END_COLUMNS = f"{LINK_COLUMNS}, l.kind AS stored"
_TO_URL = "WHERE l.to_url_id = :of AND (l.from_page_id, l.kind) > (:id, :kind) ORDER BY l.from_page_id, l.kind LIMIT :n"
_OF_PAGE = "WHERE l.from_page_id = :of AND (l.kind, l.to_url_id) > (:kind, :id) ORDER BY l.kind, l.to_url_id LIMIT :n"
_ENDS = """SELECT f.href, t.href, p.sitemap + (SELECT COALESCE(SUM(c.sitemap), 0) FROM page c WHERE c.url_id = t.id)
FROM page p JOIN url f ON f.id = p.url_id JOIN url t ON t.id = ? WHERE p.id = ?"""
"""A sitemap that is named by `link rel=sitemap` is no link."""
_OTHER = "FROM page q LEFT JOIN document d ON d.page_id = q.id WHERE q.url_id = t.id ORDER BY q.id LIMIT 1"

INLINKS = f"SELECT {_END_COLUMNS}, l.from_page_id AS place, '' AS title, NULL AS exit_code {_LINKS} {_TO_URL}"
OUTLINKS = f"SELECT {_END_COLUMNS}, l.to_url_id AS place, '' AS title, NULL AS exit_code {_LINKS} {_OF_PAGE}"
INWARD = f"""SELECT {_END_COLUMNS}, l.from_page_id AS place, COALESCE(e.title, '') AS title,
    p.last_exit_code AS exit_code {_LINKS} LEFT JOIN document e ON e.page_id = p.id {_TO_URL}"""
OUTWARD = f"""SELECT {_END_COLUMNS}, l.to_url_id AS place, COALESCE((SELECT d.title {_OTHER}), '') AS title,
    (SELECT q.last_exit_code {_OTHER}) AS exit_code {_LINKS} {_OF_PAGE}"""
"""A window of the links to a URL, or of those of a page, by keyset: of an id, after a place and kind, so many; without
and with what is known of the other end."""

_NAMING = "p.id AS from_page_id, f.href AS from_url, o.origin AS from_origin, p.item_pattern"
_PAGES = "JOIN url f ON f.id = p.url_id JOIN origin o ON o.id = p.origin_id"
NAMED_BY_LINK = f"""SELECT {_NAMING}, l.kind, l.nofollow, 0 AS redirect_hops, p.depth + 1 AS depth, l.first_seen_at
FROM link l JOIN page p ON p.id = l.from_page_id {_PAGES}
WHERE l.to_url_id = ? ORDER BY l.from_page_id, l.kind LIMIT ?"""
NAMED_BY_REDIRECT = f"""SELECT {_NAMING}, r.source AS kind, 0 AS nofollow, p.redirect_hops + 1 AS redirect_hops,
    p.depth, r.seen_at AS first_seen_at, 1 AS redirect
FROM redirect r JOIN page p ON p.id = r.page_id {_PAGES} WHERE r.to_url_id = ? LIMIT ?"""

_END = RowMapper(
    LinkEnd,
    link=From(
        "from_url to_url kind nofollow text first_seen_at frame",
        lambda source, target, kind, nofollow, text, seen, frame: LinkView(
            source, target, kind, bool(nofollow), text, seen, bool(frame)
        ),
    ),
    exit_code=exit_name,
    after=From("place stored", lambda *after: after),
)


def links_in_windows(reader: Reader, text: str, key: int, limit: int | None) -> Iterator[LinkView]:
    """Links to a URL, be it a page or not, by the age of the page that holds them (INLINKS); or those of a page, by
    kind (OUTLINKS). A page that several jobs have may hold the same link once for each."""
    left, after = EVERY if limit is None else limit, (0, "")
    while left > 0:
        ends = link_ends(reader, text, key, after, min(WINDOW, left))
        yield from (end.link for end in ends)
        if len(ends) < WINDOW:
            return
        after, left = ends[-1].after, left - WINDOW


def link_ends(reader: Reader, text: str, key: int, after: tuple[int, str], limit: int) -> tuple[LinkEnd, ...]:
    """A window of links; `after` (0, "") is the first."""
    return reader.records(_END, text, {"of": key, "id": after[0], "kind": after[1], "n": limit})


def link_count(reader: Reader, end: str, of: int, most: int = EVERY) -> int:
    """How many links lead to a URL (`end` is `to_url_id`) or are on a page (`from_page_id`); counts no further than
    `most` (EVERY: all)."""
    return reader.number(f"SELECT COUNT(*) FROM (SELECT 1 FROM link WHERE {end} = ? LIMIT ?) l", (of, most))


def referrals(reader: Reader, url_id: int, limit: int) -> tuple[Referral, ...]:
    """Pages that name a URL by a link or a redirect, those nearest to a seed first; at most `limit` of each."""
    found = (reader.records(Referral, text, (url_id, limit)) for text in (NAMED_BY_LINK, NAMED_BY_REDIRECT))
    return tuple(sorted(chain(*found), key=attrgetter("depth", "first_seen_at", "from_page_id")))


def path_from_seed(reader: Reader, page_id: int) -> tuple[Hop, ...]:
    """The shortest discovery path to a page, first step first; none for a seed.

    A page is never passed twice.
    """
    steps: list[Hop] = []
    seen = {page_id}
    while len(steps) < _PATH:
        row = reader.one("SELECT found_on_page_id, url_id, depth FROM page WHERE id = ?", (page_id,))
        if row is None or row[0] is None or row[0] in seen:
            break
        steps.append(_step(reader, *row))
        page_id = row[0]
        seen.add(page_id)
    return tuple(reversed(steps))


def _step(reader: Reader, parent: int, url_id: int, depth: int) -> Hop:
    on_page = f"SELECT {LINK_COLUMNS} {_LINKS} WHERE l.from_page_id = ? AND l.to_url_id = ? ORDER BY l.kind LIMIT 1"
    if link := reader.record(LinkView, on_page, (parent, url_id)):
        return Hop(link.from_url, link.to_url, link.shown_kind, depth, link.first_seen_at)
    redirect = reader.one("SELECT source, seen_at FROM redirect WHERE page_id = ? AND to_url_id = ?", (parent, url_id))
    from_url, to_url, sitemap = reader.one(_ENDS, (url_id, parent)) or ("", "", 0)
    kind, at = redirect or ("sitemap" if sitemap else "gone", 0)
    return Hop(from_url, to_url, kind, depth, at)


_READ = (ExitCode.file_ingested, ExitCode.file_did_not_change, ExitCode.noindex)

_OLDEST = """p.failed = 1
    AND NOT EXISTS (SELECT 1 FROM page q WHERE q.url_id = p.url_id AND q.failed = 1 AND q.id < p.id)"""


def walled(page: str, status: str = "last_http_status") -> str:
    """The condition that a checked URL, in a row with this column, is behind a wall (`WALLS`)."""
    return f"({page}.external <> 0 AND {among(f'COALESCE({page}.{status}, 0)', WALLS)})"


def dead(page: str, status: str = "last_http_status", code: str = "last_exit_code") -> str:
    """The condition that a failed page is broken: neither behind a wall, nor a check that the address guard refused."""
    refused = f"{page}.external <> 0 AND {page}.{code} = {ExitCode.blocked_address.value}"
    return f"NOT {walled(page, status)} AND NOT ({refused})"


_LISTED = """SELECT p.id, p.url_id, u.href, p.last_exit_code, p.last_http_status, p.external
FROM page p JOIN url u ON u.id = p.url_id WHERE"""
BROKEN = f"""{_LISTED} {_OLDEST} AND {dead("p")} AND p.id > ? AND p.external <> ?
ORDER BY p.id LIMIT ?"""
"""Failed pages by age, after one and with or without those that leave the crawl; of a URL that several jobs have the
oldest."""

WALLED = BROKEN.replace(dead("p"), walled("p"))
"""The same of checked URLs behind a wall."""

REFERRING = f"""SELECT f.href AS url, {LINK_KIND}, l.text
FROM link l JOIN page p ON p.id = l.from_page_id JOIN url f ON f.id = p.url_id
WHERE l.to_url_id = ? ORDER BY l.from_page_id, l.kind LIMIT ?"""

REDIRECTING = """SELECT f.id, f.href, r.source
FROM redirect r JOIN page p ON p.id = r.page_id JOIN url f ON f.id = p.url_id
WHERE r.to_url_id = ? ORDER BY r.page_id LIMIT ?"""

CHAINED = """SELECT r.page_id, q.id FROM redirect r CROSS JOIN url t ON t.id = r.to_url_id
    CROSS JOIN page q ON q.url_id = t.id
WHERE r.source <> 'canonical'
    AND EXISTS (SELECT 1 FROM redirect n WHERE n.page_id = q.id AND n.source <> 'canonical')
ORDER BY r.page_id LIMIT 100000"""
"""Redirects to pages that redirect; more are not looked at."""

_TOO_LONG = """SELECT t.id, t.href, MIN(p.external)
FROM redirect r JOIN page p ON p.id = r.page_id JOIN url t ON t.id = r.to_url_id
WHERE (SELECT COUNT(*) FROM refused WHERE reason = 'redirect_hops') > 0 AND r.source <> 'canonical'
    AND p.redirect_hops = (SELECT MAX(redirect_hops) FROM page)
    AND EXISTS (SELECT 1 FROM refused f WHERE f.origin_id = p.origin_id AND f.reason = 'redirect_hops')
    AND NOT EXISTS (SELECT 1 FROM page q WHERE q.url_id = t.id) GROUP BY t.id, t.href ORDER BY t.id"""
"""Where the chains lead on that the limit of redirects cut off: at the page that came by the most."""

LISTED_BY = f"s.id = p.found_on_page_id AND s.sitemap = 1 AND NOT {among('s.last_exit_code', UNLINKED)}"
"""That page s is the sitemap that page p was found in, and is not gone: its entries are not stored as links."""

LISTING = f"""SELECT f.href AS url, 'sitemap' AS kind, '' AS text
FROM page p JOIN page s ON {LISTED_BY} JOIN url f ON f.id = s.url_id WHERE p.id = ?"""

NAMED = f"""(EXISTS (SELECT 1 FROM link l WHERE l.to_url_id = p.url_id)
    OR EXISTS (SELECT 1 FROM redirect r WHERE r.to_url_id = p.url_id)
    OR EXISTS (SELECT 1 FROM page s WHERE {LISTED_BY}))"""
COUNT_BROKEN = f"""SELECT p.external, COUNT(*) FROM page p WHERE {_OLDEST} AND {dead("p")} AND {NAMED}
GROUP BY p.external"""
_NOT_FOLLOWED = """SELECT COUNT(*) FROM redirect r JOIN page p ON p.id = r.page_id AND p.external <> 0
WHERE NOT EXISTS (SELECT 1 FROM page q WHERE q.url_id = r.to_url_id)"""
_NOT_ASKED = f"""SELECT p.last_exit_code, COUNT(*) FROM page p WHERE p.external <> 0
AND {among("p.last_exit_code", (*BLOCKED, ExitCode.blocked_address))} GROUP BY p.last_exit_code ORDER BY 2 DESC, 1"""

_MISSING = f"""FROM fragment g JOIN url t ON t.id = g.to_url_id
    JOIN page p ON p.url_id = t.id AND {among("p.last_exit_code", _READ)}
WHERE g.missing = 1"""

COUNT_FRAGMENTS = f"SELECT COUNT(*) FROM (SELECT 1 {_MISSING} GROUP BY g.to_url_id, g.fragment) m"
FRAGMENTS = f"""SELECT g.to_url_id, g.fragment, MIN(t.href), MIN(p.last_exit_code), MIN(p.last_http_status)
{_MISSING} AND (g.to_url_id, g.fragment) > (?, ?)
GROUP BY g.to_url_id, g.fragment ORDER BY g.to_url_id, g.fragment LIMIT ?"""
"""Fragments that no element of their page has, after one; only of pages whose content is known."""

NAMING = """SELECT f.href AS url, 'a' AS kind, g.text
FROM fragment g JOIN page p ON p.id = g.from_page_id JOIN url f ON f.id = p.url_id
WHERE g.to_url_id = ? AND g.fragment = ? ORDER BY g.from_page_id LIMIT ?"""

_ARRIVING = f"""WITH RECURSIVE arriving(url_id, fragment, named_url_id, page_url_id, hops) AS (
    SELECT g.to_url_id, g.fragment, g.to_url_id, 0, 0
    FROM redirect r JOIN page p ON p.id = r.page_id JOIN fragment g ON g.to_url_id = p.url_id
    UNION SELECT r.to_url_id, r.to_fragment, r.to_url_id, p.url_id, 0
    FROM redirect r JOIN page p ON p.id = r.page_id WHERE r.to_fragment <> '' AND r.source <> 'canonical'
    UNION SELECT r.to_url_id, a.fragment, a.named_url_id, a.page_url_id, a.hops + 1
    FROM arriving a JOIN page p ON p.url_id = a.url_id JOIN redirect r ON r.page_id = p.id
    WHERE r.source = 'location' AND r.to_fragment = '' AND a.hops < {_HOPS})
SELECT DISTINCT a.named_url_id, a.fragment, t.href, a.page_url_id, f.href, p.last_exit_code,
    p.last_http_status, n.names
FROM arriving a JOIN page p ON p.url_id = a.url_id AND {among("p.last_exit_code", _READ)}
    JOIN page_anchors n ON n.url_id = a.url_id JOIN url t ON t.id = a.named_url_id
    LEFT JOIN url f ON f.id = a.page_url_id ORDER BY 1, 2, 4"""
"""Fragments that arrive at a page by redirects: those of links to a URL that redirects, and those of redirects."""


def broken_fragments(reader: Reader, limit: int) -> Iterator[BrokenLink]:
    """Fragments that links name and that their pages have not, in windows; each with at most `limit` of those links."""
    after, count = (0, ""), "SELECT COUNT(*) FROM fragment WHERE to_url_id = ? AND fragment = ?"
    while rows := reader.all(FRAGMENTS, (*after, WINDOW)):
        for url_id, fragment, href, code, http_status in rows:
            first = reader.records(Referrer, NAMING, (url_id, fragment, limit))
            named_by = Referrers(first, reader.number(count, (url_id, fragment)) - len(first))
            yield BrokenLink(href, exit_name(code), http_status, named_by, fragment)
        after = rows[-1][:2]
    yield from _missing_behind_redirects(reader, limit)


def count_fragments(reader: Reader) -> int:
    """How many `broken_fragments` there are."""
    return reader.number(COUNT_FRAGMENTS) + sum(1 for _ in _missing_behind_redirects(reader, 1))


def _missing_behind_redirects(reader: Reader, limit: int) -> Iterator[BrokenLink]:
    """Fragments that arrive at their page by redirects. That of a Location replaces that of a link; a refresh carries
    only its own (HTML standard, navigation)."""
    from tui_crawler.storage.crawl.documents import lacks  # noqa: PLC0415  it brings all that writes

    for url_id, fragment, href, page_url_id, by_url, code, http_status, names in reader.all(_ARRIVING):
        if not lacks(names, fragment):
            continue
        first = reader.records(Referrer, NAMING, (url_id, fragment, limit))
        if page_url_id:
            links = referrers_of(reader, 0, page_url_id, limit).first
            first = tuple(replace(one, chain=(*one.chain, by_url)) for one in links)
        if first:
            yield BrokenLink(href, exit_name(code), http_status, Referrers(first), fragment)


def referrers_of(reader: Reader, page_id: int, url_id: int, limit: int) -> Referrers:
    """Links, then those to redirects that lead there, at most `limit`; of a page that nothing else names the sitemap
    that it was found in. A redirect that nothing links to names the URL itself."""
    found: list[Referrer] = []
    seen, more = {url_id}, 0
    waiting: list[tuple[int, Referrer | None, tuple[str, ...]]] = [(url_id, None, ())]
    for at, itself, way in waiting:
        links = [Referrer(url, kind, text, way) for url, kind, text in reader.all(REFERRING, (at, limit))]
        rows = reader.all(REDIRECTING, (at, limit + 1)) if len(way) < _HOPS else []
        hops = [row for row in rows if row[0] not in seen]
        seen.update(row[0] for row in hops)
        waiting += [(row[0], Referrer(row[1], row[2], "", way), (row[1], *way)) for row in hops]
        more += link_count(reader, "to_url_id", at) - len(links) if len(links) == limit else 0
        found += links or ([itself] if itself and not hops else [])
        if len(found) > limit:
            break
    named_by = tuple(found[:limit]) or reader.records(Referrer, LISTING, (page_id,))
    return Referrers(named_by, more + max(0, len(found) - limit))


def dead_ends(reader: Reader, limit: int, loops: Sequence[Sequence[int]]) -> Iterator[BrokenLink]:
    """Redirects that lead to no page: loops (ids of the pages passed), and chains longer than the limit."""
    for path in loops:
        pages = {row[0]: row[1:] for row in reader.all(f"{_LISTED} {among('p.id', path)}")}
        hrefs = [pages[page][1] for page in path]
        url_id, href, code, status, leaves = pages[path[0]]
        named_by, ways = referrers_of(reader, path[0], url_id, limit), (*hrefs[1:], href)
        yield BrokenLink(href, exit_name(code), status, named_by, external=leaves == EXTERNAL, leads_to=ways)
    for url_id, href, leaves in reader.all(_TOO_LONG):
        named_by = referrers_of(reader, 0, url_id, limit)
        yield BrokenLink(href, Refusal.redirect_hops.value, None, named_by, external=leaves == EXTERNAL)


class LinkAuditReports(SubjectReports):
    """Links that are broken, and who names a page."""

    def broken_counts(self) -> dict[str, int]:
        """How many `broken_links` there are: of the crawl, those that leave it (external), and fragments."""
        pages: dict[int, int] = dict(self._reader.all(COUNT_BROKEN))
        external = pages.pop(EXTERNAL, 0)
        ends = self._named_ends(1)
        led = sum(one.external for one in ends)
        counts = {"broken": sum(pages.values()) + len(ends) - led, "external": external + led}
        return counts | {"fragments": count_fragments(self._reader)}

    def broken_links(self, limit: int, external: bool = False) -> Iterator[BrokenLink]:
        """Failed pages that a link, a redirect or a sitemap names, by age, in windows; each with at most `limit` of
        those that name it. `external`: also the URLs that leave the crawl. Then redirects without end, and fragments
        that are missing on their pages."""
        yield from self._named(BROKEN, limit, external)
        yield from (one for one in self._named_ends(limit) if external or not one.external)
        yield from broken_fragments(self._reader, limit)

    def walls(self, limit: int, external: bool = False) -> Iterator[BrokenLink]:
        """Checked URLs that refuse the crawler (`WALLS`), as `broken_links` lists broken ones."""
        return self._named(WALLED, limit, external)

    def checks_refused(self) -> dict[str, int]:
        """How many URLs were not checked because robots.txt, the exclusion list, a rule or the address guard refused
        them, by the name of the exit code; and how many redirects were not followed."""
        left = self._reader.number(_NOT_FOLLOWED)
        found = {exit_name(code): number for code, number in self._reader.all(_NOT_ASKED)}
        return found | ({"redirect_not_followed": left} if left else {})

    def _named_ends(self, limit: int) -> list[BrokenLink]:
        _, loops = chains(self._reader.stream(CHAINED))
        return [one for one in dead_ends(self._reader, limit, loops) if one.referrers.first]

    def _named(self, query: str, limit: int, external: bool) -> Iterator[BrokenLink]:
        after, without = 0, -1 if external else EXTERNAL
        while rows := self._reader.all(query, (after, without, WINDOW)):
            for page_id, url_id, href, code, http_status, leaves in rows:
                named_by = referrers_of(self._reader, page_id, url_id, limit)
                if named_by.first:
                    yield BrokenLink(href, exit_name(code), http_status, named_by, external=leaves == EXTERNAL)
            after = rows[-1][0]

    def requisites_left_out(self) -> int:
        """How many images, styles, scripts and media files that pages name are not part of the crawl."""
        text = "SELECT COUNT(DISTINCT l.to_url_id) FROM link l WHERE l.kind NOT IN ('a', 'other')"
        return self._reader.number(f"{text} AND NOT EXISTS (SELECT 1 FROM page p WHERE p.url_id = l.to_url_id)")

    def referrers(self, page_id: int, limit: int) -> Referrers:
        """Who names a page, the first `limit` of them."""
        (url_id,) = self._reader.one("SELECT url_id FROM page WHERE id = ?", (page_id,)) or (0,)
        return referrers_of(self._reader, page_id, url_id, limit)

    def kept_configs(self, run: int | None) -> list[tuple[int, str, str]]:
        """Start (epoch ms), configuration and its name of a run (None: the newest) and of those before it."""
        text = "SELECT started_at, config_text, config_name FROM run WHERE id <= ? ORDER BY id DESC"
        return self._reader.all(text, (EVERY if run is None else run,))

    def pages_read_before(self, at: int) -> int:
        """How many HTML pages that are there were last read before a time (epoch ms). Looks at every document."""
        text = "SELECT COUNT(*) FROM page p JOIN document d ON d.page_id = p.id WHERE kind = 'html' AND stored_at < ?"
        return self._reader.number(f"{text} AND {among('p.last_exit_code', _READ)}", (at,))

    def pages_slower(self, ms: int) -> int:
        """How many pages took longer than `ms` in their last attempt. Looks at every page."""
        text = "SELECT COUNT(*) FROM page p JOIN attempt a ON a.id = p.last_attempt_id WHERE a.response_ms > ?"
        return self._reader.number(text, (ms,))
