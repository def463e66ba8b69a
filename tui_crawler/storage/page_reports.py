"""Reports on pages: windows of them, one URL whole with its links and its path from a seed."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache

import zstandard

from tui_crawler.domain.attempt import DataValue, Validation, ValidationError
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.page import PageStatus
from tui_crawler.domain.page_view import LinkEnd, LinkView, PageDetail, PageView, RedirectView
from tui_crawler.domain.recovery import is_recoverable
from tui_crawler.domain.url import InvalidUrl, normalise, url_hash
from tui_crawler.storage.attempt_reports import attempts_of_url, requests_of
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.link_reports import (
    inlink_count,
    inlinks,
    inward,
    outlink_count,
    outlinks,
    outward,
    path_from_seed,
)
from tui_crawler.storage.overview_reports import exit_name
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.transaction import Row
from tui_crawler.storage.views import PAGE_DUE_AT, VALIDATION_TYPE

_REDIRECTS_SHOWN = 500
_ATTEMPTS = 100
_CODES = frozenset(ExitCode)
PAGES = f"""SELECT p.id, u.href, o.origin, j.name, p.status, p.attempts, p.attempts_remaining, p.nice, p.depth,
    p.not_before, p.last_exit_code, p.last_http_status, p.last_crawled_at, COALESCE({PAGE_DUE_AT}, 0),
    COALESCE(d.etag, ''), COALESCE(d.last_modified, ''), COALESCE(d.content_type, ''), d.size,
    COALESCE(d.title, ''), COALESCE(d.sha256, ''), COALESCE(a.message, ''),
    COALESCE({VALIDATION_TYPE}, ''), d.valid, a.response_ms, p.external,
    CASE WHEN p.todo_order = 0 THEN p.ignored_run ELSE 0 END,
    COALESCE(d.incomplete, a.cut, '')
FROM page p JOIN url u ON u.id = p.url_id JOIN origin o ON o.id = p.origin_id JOIN job j ON j.id = p.job_id
    LEFT JOIN document d ON d.page_id = p.id LEFT JOIN attempt a ON a.id = p.last_attempt_id"""

_REDIRECTS = """SELECT f.href, t.href, r.to_fragment, r.permanent, r.source, r.seen_at
FROM redirect r JOIN page p ON p.id = r.page_id JOIN url f ON f.id = p.url_id JOIN url t ON t.id = r.to_url_id
WHERE r.page_id = ? OR r.to_url_id = ? LIMIT ?"""

_KNOWN = """SELECT p.id, u.href, p.seed, j.name, p.last_exit_code
FROM page p JOIN url u ON u.id = p.url_id JOIN job j ON j.id = p.job_id WHERE p.id > ? ORDER BY p.id LIMIT ?"""

_MORE = """SELECT p.lastmod, p.sitemap, COALESCE(a.ruleset_id, 0)
FROM page p LEFT JOIN attempt a ON a.id = p.last_attempt_id WHERE p.id = ?"""

OF_ORIGIN = "p.origin_id = (SELECT id FROM origin WHERE origin = ?)"

_PLACE = """SELECT COUNT(*) FROM page WHERE origin_id = (SELECT origin_id FROM page WHERE id = ?)
    AND todo_order > 0 AND todo_order <= (SELECT todo_order FROM page WHERE id = ?)"""

KnownUrl = tuple[int, str, int, str, int | None]
"""Id of the page, URL, 1 for a seed, name of the job, id of the last exit code (None: never attempted)."""


def pages(reader: Reader, origin: str, after_id: int, limit: int) -> tuple[PageView, ...]:
    """Pages by age: of one origin, or of all for an empty name; those after `after_id`."""
    of_origin = f"{OF_ORIGIN} AND " if origin else ""
    values = (origin, after_id, limit) if origin else (after_id, limit)
    rows = reader.all(f"{PAGES} WHERE {of_origin}p.id > ? ORDER BY p.id LIMIT ?", values)
    return tuple(page_view(row) for row in rows)


def pages_of_ids(reader: Reader, ids: Sequence[int]) -> tuple[PageView, ...]:
    """The pages with these ids, in their order; those that are gone are left out."""
    rows = reader.all(f"{PAGES} WHERE p.id IN ({', '.join(map(str, map(int, ids)))})")
    found = {row[0]: row for row in rows}
    return tuple(page_view(found[page_id]) for page_id in ids if page_id in found)


def page_detail(reader: Reader, url: str, links: int, counted: int = -1) -> PageDetail | None:
    """One URL, whole, with at most `links` of each kind, counted up to `counted` (-1: all); None when it is no page.
    The URL may be given as it is written, normalised or not."""
    found = _find_page(reader, url)
    if found is None:
        return None
    page_id, url_id = found
    row = reader.all(f"{PAGES} WHERE p.id = ?", (page_id,))[0]
    more = reader.all(_MORE, (page_id,))[0]
    attempts = attempts_of_url(reader, url_id, _ATTEMPTS)
    path = path_from_seed(reader, page_id)
    requests = tuple(request for attempt in attempts for request in requests_of(reader, attempt.attempt_id))
    return PageDetail(
        page=page_view(row),
        attempts=attempts,
        requests=requests,
        inlinks=tuple(inlinks(reader, url_id, links)),
        outlinks=tuple(outlinks(reader, page_id, links)),
        redirects=tuple(
            RedirectView(redirect[0], redirect[1], redirect[2], bool(redirect[3]), redirect[4], redirect[5])
            for redirect in reader.all(_REDIRECTS, (page_id, url_id, _REDIRECTS_SHOWN))
        ),
        path=tuple(step for step, _ in path),
        inlink_count=inlink_count(reader, url_id, counted),
        outlink_count=outlink_count(reader, page_id, counted),
        validation=_validation(reader, page_id),
        data=_data(reader, page_id),
        lastmod=more[0],
        sitemap=bool(more[1]),
        ruleset_id=more[2],
        path_depths=tuple(depth for _, depth in path),
    )


def validation(reader: Reader, url: str) -> Validation | None:
    """What a validator said of the stored document of a page; None when none has looked at it."""
    found = _find_page(reader, url)
    return None if found is None else _validation(reader, found[0])


def data_blocks(reader: Reader, url: str) -> tuple[DataValue, ...]:
    """What data rules found in the stored document of a page (R), by name and place."""
    found = _find_page(reader, url)
    return () if found is None else _data(reader, found[0])


def urls_known(reader: Reader, after_id: int, limit: int) -> list[KnownUrl]:
    """A window of all pages by age, as bare rows: it is asked for every page there is."""
    return reader.all(_KNOWN, (after_id, limit))


def links_to(reader: Reader, url: str, limit: int | None) -> Iterator[LinkView]:
    """Links to any URL that is known, be it a page or not; `limit` None: all of them."""
    row = next(iter(_known(reader, "SELECT id FROM url WHERE hash = ?", url)), None)
    return iter(()) if row is None else inlinks(reader, row[0], limit)


def links_from(reader: Reader, url: str, limit: int | None) -> Iterator[LinkView]:
    """Links of a page; `limit` None: all of them."""
    page = _find_page(reader, url)
    return iter(()) if page is None else outlinks(reader, page[0], limit)


def link_ends(reader: Reader, url: str, inwards: bool, after: tuple[int, str], limit: int) -> tuple[LinkEnd, ...]:
    """A window of the links to a URL, or of those it holds, with what is known of their other ends."""
    if not inwards:
        page = _find_page(reader, url)
        return () if page is None else outward(reader, page[0], after, limit)
    row = next(iter(_known(reader, "SELECT id FROM url WHERE hash = ?", url)), None)
    return () if row is None else inward(reader, row[0], after, limit)


def link_counts(reader: Reader, url: str) -> tuple[int, int]:
    """How many links lead to a URL, and how many it holds."""
    row = next(iter(_known(reader, "SELECT id FROM url WHERE hash = ?", url)), None)
    page = _find_page(reader, url)
    return inlink_count(reader, row[0]) if row else 0, outlink_count(reader, page[0]) if page else 0


def queue_position(reader: Reader, url: str) -> int | None:
    """The place of a page on its todo list, 1 for the next one; None when it is on none."""
    found = _find_page(reader, url)
    return None if found is None else place_of(reader, found[0])


def place_of(reader: Reader, page_id: int) -> int | None:
    """The same for the id of a page."""
    place: int = reader.all(_PLACE, (page_id, page_id))[0][0]
    return place or None


def body(reader: Reader, url: str) -> bytes | None:
    """The stored body of a page, None when there is none."""
    found = _find_page(reader, url)
    if found is None:
        return None
    row = reader.one(
        "SELECT b.zstd, b.size FROM document d JOIN body b ON b.sha256 = d.sha256 WHERE d.page_id = ?", found[:1]
    )
    return None if row is None else zstandard.ZstdDecompressor().decompress(row[0], max_output_size=row[1])


def robots_text(reader: Reader, origin: str) -> bytes | None:
    """The stored robots.txt of an origin, None when none was fetched."""
    row = reader.one(
        "SELECT t.body FROM robots_text t JOIN origin o ON o.id = t.origin_id WHERE o.origin = ?", (origin,)
    )
    return None if row is None else zstandard.ZstdDecompressor().decompress(row[0])


def _find_page(reader: Reader, url: str) -> tuple[int, int] | None:
    """Ids of the page and its URL; of several jobs the oldest page."""
    rows = _known(reader, "SELECT id, url_id FROM page WHERE url_hash = ? ORDER BY id LIMIT 1", url)
    return next(((row[0], row[1]) for row in rows), None)


def _known(reader: Reader, text: str, url: str) -> list[Row]:
    """What a query by hash finds for a URL as it is written, else for its normalised form."""
    rows = reader.all(text, (url_hash(clean(url)),))
    parsed = normalise(url)
    if rows or isinstance(parsed, InvalidUrl):
        return rows
    return reader.all(text, (parsed.hash,))


def _validation(reader: Reader, page_id: int) -> Validation | None:
    row = reader.one(
        f"SELECT {VALIDATION_TYPE}, valid, validation_errors FROM document d WHERE page_id = ?", (page_id,)
    )
    if row is None or row[1] is None:
        return None
    errors = json.loads(row[2]) if row[2] else []
    return Validation(row[0], bool(row[1]), tuple(ValidationError(*error) for error in errors))


def _data(reader: Reader, page_id: int) -> tuple[DataValue, ...]:
    text = "SELECT name, type, place, value FROM data_block WHERE page_id = ? ORDER BY name, place"
    return tuple(DataValue(*row) for row in reader.all(text, (page_id,)))


def page_view(row: Row) -> PageView:
    """A row of PAGES."""
    status = PageStatus(row[4])
    recoverable = recovers(row[4], row[6], row[10], row[11])
    values = [*row[:4], status.name, *row[5:10], exit_name(row[10]), *row[11:21], recoverable, *row[21:]]
    return PageView(*values)


@lru_cache
def recovers(status: int, attempts_remaining: int, code: int | None, http_status: int | None) -> bool:
    """Whether a page can recover, by its columns."""
    known = ExitCode(code) if code in _CODES else None
    return is_recoverable(PageStatus(status), attempts_remaining, known, http_status)
