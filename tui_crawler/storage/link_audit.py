"""The link check: URLs that are named and cannot be had, with who names them."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

from collections.abc import Iterator

from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.page_view import BrokenLink, Referrer, Referrers
from tui_crawler.storage.link_reports import inlink_count
from tui_crawler.storage.overview_reports import exit_name
from tui_crawler.storage.reader import Reader

_WINDOW = 500
_READ = (ExitCode.file_ingested, ExitCode.file_did_not_change, ExitCode.noindex)

_OLDEST = """p.failed = 1
    AND NOT EXISTS (SELECT 1 FROM page q WHERE q.url_hash = p.url_hash AND q.failed = 1 AND q.id < p.id)"""

BROKEN = f"""SELECT p.id, p.url_id, u.href, p.last_exit_code, p.last_http_status, p.external
FROM page p JOIN url u ON u.id = p.url_id WHERE {_OLDEST} AND p.id > ? AND p.external <= ?
ORDER BY p.id LIMIT ?"""
"""Failed pages by age, after one and with or without those that leave the crawl; of a URL that several jobs have the
oldest."""

REFERRING = """SELECT f.href, l.kind, l.text
FROM link l JOIN page p ON p.id = l.from_page_id JOIN url f ON f.id = p.url_id
WHERE l.to_url_id = ? ORDER BY l.from_page_id, l.kind LIMIT ?"""

REDIRECTING = """SELECT f.href, r.source, ''
FROM redirect r JOIN page p ON p.id = r.page_id JOIN url f ON f.id = p.url_id
WHERE r.to_url_id = ? ORDER BY r.page_id LIMIT ?"""

LISTING = """SELECT f.href, 'sitemap', ''
FROM page p JOIN page s ON s.id = p.found_on_page_id AND s.sitemap = 1 JOIN url f ON f.id = s.url_id WHERE p.id = ?"""


COUNT_BROKEN = f"""SELECT p.external, COUNT(*) FROM page p WHERE {_OLDEST}
    AND (EXISTS (SELECT 1 FROM link l WHERE l.to_url_id = p.url_id)
        OR EXISTS (SELECT 1 FROM redirect r WHERE r.to_url_id = p.url_id)
        OR EXISTS (SELECT 1 FROM page s WHERE s.id = p.found_on_page_id AND s.sitemap = 1))
GROUP BY p.external"""

_MISSING = f"""FROM fragment g JOIN url t ON t.id = g.to_url_id
    JOIN page p ON p.url_hash = t.hash AND p.last_exit_code IN ({", ".join(str(code.value) for code in _READ)})
WHERE g.missing = 1"""

COUNT_FRAGMENTS = f"SELECT COUNT(*) FROM (SELECT 1 {_MISSING} GROUP BY g.to_url_id, g.fragment)"

FRAGMENTS = f"""SELECT g.to_url_id, g.fragment, MIN(t.href), MIN(p.last_exit_code), MIN(p.last_http_status)
{_MISSING} AND (g.to_url_id, g.fragment) > (?, ?)
GROUP BY g.to_url_id, g.fragment ORDER BY g.to_url_id, g.fragment LIMIT ?"""
"""Fragments that no element of their page has, after one; only of pages whose content is known."""

NAMING = """SELECT f.href, 'a', g.text
FROM fragment g JOIN page p ON p.id = g.from_page_id JOIN url f ON f.id = p.url_id
WHERE g.to_url_id = ? AND g.fragment = ? ORDER BY g.from_page_id LIMIT ?"""

_COUNT_NAMING = "SELECT COUNT(*) FROM fragment WHERE to_url_id = ? AND fragment = ?"


def broken_counts(reader: Reader) -> dict[str, int]:
    """How many `broken_links` there are: of the crawl, those that leave it (external), and fragments."""
    pages: dict[int, int] = dict(reader.all(COUNT_BROKEN))
    fragments: int = reader.all(COUNT_FRAGMENTS)[0][0]
    return {"broken": pages.get(0, 0), "external": pages.get(1, 0), "fragments": fragments}


def broken_links(reader: Reader, limit: int, external: bool = False) -> Iterator[BrokenLink]:
    """Failed pages that a link, a redirect or a sitemap names, by age, in windows; each with at most `limit` of those
    that name it. `external`: also the URLs that leave the crawl. Then the fragments that are missing on their pages."""
    after = 0
    while rows := reader.all(BROKEN, (after, int(external), _WINDOW)):
        for page_id, url_id, href, code, http_status, leaves in rows:
            named_by = _referrers(reader, page_id, url_id, limit)
            if named_by.first:
                yield BrokenLink(href, exit_name(code), http_status, named_by, external=bool(leaves))
        after = rows[-1][0]
    yield from broken_fragments(reader, limit)


def broken_fragments(reader: Reader, limit: int) -> Iterator[BrokenLink]:
    """Fragments that links name and that their pages have not, in windows; each with at most `limit` of those links."""
    after = (0, "")
    while rows := reader.all(FRAGMENTS, (*after, _WINDOW)):
        for url_id, fragment, href, code, http_status in rows:
            first = tuple(Referrer(*row) for row in reader.all(NAMING, (url_id, fragment, limit)))
            named_by = Referrers(first, reader.all(_COUNT_NAMING, (url_id, fragment))[0][0] - len(first))
            yield BrokenLink(href, exit_name(code), http_status, named_by, fragment)
        after = rows[-1][:2]


def referrers_of(reader: Reader, page_id: int, limit: int) -> Referrers:
    """Who names a page: at most `limit` of them."""
    row = reader.one("SELECT url_id FROM page WHERE id = ?", (page_id,))
    return Referrers(()) if row is None else _referrers(reader, page_id, row[0], limit)


def _referrers(reader: Reader, page_id: int, url_id: int, limit: int) -> Referrers:
    """Links, then redirects; of a page that nothing else names the sitemap that it was found in."""
    links = reader.all(REFERRING, (url_id, limit))
    redirects = reader.all(REDIRECTING, (url_id, limit + 1))
    named_by = (links + redirects)[:limit] or reader.all(LISTING, (page_id,))
    linked = len(links) if len(links) < limit else inlink_count(reader, url_id)
    return Referrers(tuple(Referrer(*row) for row in named_by), max(0, linked + len(redirects) - len(named_by)))
