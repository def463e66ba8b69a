"""Reports on pages: windows of them, one URL whole with its links and its path from a seed, and where any URL stands,
for the chain that says why it is (not) crawled."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import zstandard

from tui_crawler.domain.crawl.recovery import is_recoverable
from tui_crawler.domain.crawl.standing import PageStanding, Schedule, UrlStanding
from tui_crawler.domain.records.attempt import DataValue, Validation, ValidationError
from tui_crawler.domain.records.exit_code import code_of, exit_name
from tui_crawler.domain.records.page_view import Hop, LinkEnd, LinkView, PageDetail, PageView, RedirectView
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, InvalidUrl, normalise, url_hash
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.reader import EVERY, From, Reader, RowMapper, SubjectReports, among
from tui_crawler.storage.db.views import IS_CHECKED, PAGE_DUE_AT, VALIDATION_TYPE
from tui_crawler.storage.drivers.driver import Row
from tui_crawler.storage.reports.attempts import AttemptReports
from tui_crawler.storage.reports.links import (
    INLINKS,
    INWARD,
    OUTLINKS,
    OUTWARD,
    link_count,
    link_ends,
    links_in_windows,
    path_from_seed,
    referrals,
)
from tui_crawler.storage.reports.overview import ATTEMPT, ATTEMPTS

if TYPE_CHECKING:
    from tui_crawler.domain.rules.preview import KnownUrl

LINKS = 500
"""So many links of each kind, unless more are asked for."""

_REDIRECTS_SHOWN = 500
_ATTEMPTS = 100
PAGES = f"""SELECT p.id AS page_id, u.href AS url, o.origin, j.name AS job, p.status, p.attempts, p.attempts_remaining,
    p.nice, p.depth, p.not_before, p.last_exit_code, p.last_http_status, p.last_crawled_at,
    COALESCE({PAGE_DUE_AT}, 0) AS due_at, COALESCE(d.etag, '') AS etag,
    COALESCE(d.last_modified, '') AS last_modified, COALESCE(d.content_type, '') AS content_type, d.size,
    COALESCE(d.title, '') AS title, COALESCE(d.sha256, '') AS sha256, COALESCE(a.message, '') AS message,
    COALESCE({VALIDATION_TYPE}, '') AS validation_type, d.valid, a.response_ms AS took_ms, {IS_CHECKED},
    CASE WHEN p.todo_order = 0 THEN p.ignored_run ELSE 0 END AS ignored_in,
    COALESCE(d.incomplete, a.cut, '') AS incomplete
FROM page p JOIN url u ON u.id = p.url_id JOIN origin o ON o.id = p.origin_id JOIN job j ON j.id = p.job_id
    LEFT JOIN document d ON d.page_id = p.id LEFT JOIN attempt a ON a.id = p.last_attempt_id"""

_REDIRECTS = """SELECT f.href AS from_url, t.href AS to_url, r.to_fragment, r.permanent, r.source, r.seen_at
FROM redirect r JOIN page p ON p.id = r.page_id JOIN url f ON f.id = p.url_id JOIN url t ON t.id = r.to_url_id
WHERE r.page_id = ? OR r.to_url_id = ? LIMIT ?"""

_KNOWN = """SELECT p.id, u.href, p.seed, j.name, p.last_exit_code
FROM page p JOIN url u ON u.id = p.url_id JOIN job j ON j.id = p.job_id WHERE p.id > ? ORDER BY p.id LIMIT ?"""

_MORE = """SELECT p.lastmod, p.sitemap, COALESCE(a.ruleset_id, 0)
FROM page p LEFT JOIN attempt a ON a.id = p.last_attempt_id WHERE p.id = ?"""

OF_ORIGIN = "p.origin_id = (SELECT id FROM origin WHERE origin = ?)"

_PLACE = """SELECT COUNT(*) FROM page WHERE origin_id = (SELECT origin_id FROM page WHERE id = ?)
    AND todo_order > 0 AND todo_order <= (SELECT todo_order FROM page WHERE id = ?)"""
"""The place of a page on its todo list, 1 for the next one; 0 when it is on none."""


def pages_of_ids(reader: Reader, ids: Sequence[int]) -> tuple[PageView, ...]:
    """The pages with these ids, in their order; those that are gone are left out."""
    pages = reader.records(PAGE, f"{PAGES} WHERE {among('p.id', ids)}")
    found = {page.page_id: page for page in pages}
    return tuple(found[page_id] for page_id in ids if page_id in found)


@lru_cache
def recovers(status: int, attempts_remaining: int, code: int | None, http_status: int | None) -> bool:
    """Whether a page can recover, by its columns."""
    return is_recoverable(PageStatus(status), attempts_remaining, code_of(code) if code else None, http_status)


PAGE = RowMapper(
    PageView,
    status=lambda status: PageStatus(status).name,
    last_exit_code=exit_name,
    recoverable=From("status attempts_remaining last_exit_code last_http_status", recovers),
)
"""A page of a row that `PAGES` gave."""

_DATA = "SELECT name, type, place, value FROM data_block WHERE page_id = ? ORDER BY name, place"
_FIND_PAGE = "SELECT p.id, p.url_id FROM url u JOIN page p ON p.url_id = u.id WHERE u.hash = ? ORDER BY p.id LIMIT 1"


_ATTEMPTS_OF_PAGE = f"""{ATTEMPTS} WHERE a.url_id = (SELECT id FROM url WHERE hash = ?)
    AND (a.page_id IS NULL OR a.page_id = ?) ORDER BY a.id DESC LIMIT ?"""
"""The attempts for one URL that are of this page or of none (robots.txt, link checks), newest first."""
_ATTEMPTS_TOLD = 20
_REFERRALS_TOLD = 100

_SCHEDULE = """SELECT j.name AS job, r.started_at, r.recrawl_interval_ms, r.respect_http_freshness, r.force_recrawl
FROM run r JOIN job j ON j.id = r.job_id ORDER BY r.id DESC LIMIT 1"""

_STANDINGS = f"""SELECT p.id AS page_id, j.name AS job, p.status, p.attempts, p.attempts_remaining, p.nice, p.depth,
    p.seed, p.force, p.sitemap, p.beyond_depth, p.redirect_hops, p.not_before, p.last_exit_code, p.last_http_status,
    p.last_crawled_at, p.fresh_until, p.lastmod,
    p.ignored_run > 0 AND p.ignored_run = (SELECT MAX(id) FROM run) AS ignored, p.claimed_at, p.stash,
    {PAGE_DUE_AT} AS due_at, j.aborted, j.concurrency, j.max_depth, j.tag, p.external, p.todo_order AS queue_position
FROM page p JOIN job j ON j.id = p.job_id WHERE p.url_id = (SELECT id FROM url WHERE hash = ?)
ORDER BY j.id = (SELECT job_id FROM run ORDER BY id DESC LIMIT 1) DESC, p.id"""

_STANDING = RowMapper(PageStanding, status=PageStatus, last_exit_code=exit_name)


def known_rows(reader: Reader, text: str, url: str) -> list[Row]:
    """What a query by hash finds for a URL as it is written, else for its normalised form."""
    rows = reader.all(text, (url_hash(clean(url)),))
    parsed = normalise(url)
    if rows or isinstance(parsed, InvalidUrl):
        return rows
    return reader.all(text, (parsed.hash,))


class PageReports(SubjectReports):
    """Pages, links, and the standing of any URL. A URL may be given as it is written, normalised or not; of several
    jobs that have it the oldest page is meant."""

    def page_detail(self, url: str, links: int = LINKS, counted: int = EVERY) -> PageDetail | None:
        """One URL, whole, with at most `links` of each kind, counted up to `counted`; None: it is no page."""
        reader, (page_id, url_id) = self._reader, self._page_of(url)
        if not page_id:
            return None
        lastmod, sitemap, ruleset_id = reader.all(_MORE, (page_id,))[0]
        newest_first = f"{ATTEMPTS} WHERE a.url_id = ? ORDER BY a.id DESC LIMIT ?"
        attempts = reader.records(ATTEMPT, newest_first, (url_id, _ATTEMPTS))
        log = AttemptReports(reader)
        return PageDetail(
            page=reader.records(PAGE, f"{PAGES} WHERE p.id = ?", (page_id,))[0],
            attempts=attempts,
            requests=tuple(request for attempt in attempts for request in log.requests(attempt.attempt_id)),
            inlinks=tuple(links_in_windows(reader, INLINKS, url_id, links)),
            outlinks=tuple(links_in_windows(reader, OUTLINKS, page_id, links)),
            redirects=reader.records(RedirectView, _REDIRECTS, (page_id, url_id, _REDIRECTS_SHOWN)),
            path=path_from_seed(reader, page_id),
            inlink_count=link_count(reader, "to_url_id", url_id, counted),
            outlink_count=link_count(reader, "from_page_id", page_id, counted),
            validation=self._validation(page_id),
            data=reader.records(DataValue, _DATA, (page_id,)),
            lastmod=lastmod,
            sitemap=bool(sitemap),
            ruleset_id=ruleset_id,
        )

    def _validation(self, page_id: int) -> Validation | None:
        text = f"SELECT {VALIDATION_TYPE}, valid, validation_errors FROM document d WHERE page_id = ?"
        row = self._reader.one(text, (page_id,))
        if row is None or row[1] is None:
            return None
        errors = json.loads(row[2]) if row[2] else []
        return Validation(row[0], tuple(ValidationError(*error) for error in errors))

    def body(self, url: str) -> bytes | None:
        """The stored body of a page, None when there is none."""
        text = "SELECT b.zstd, b.size FROM document d JOIN body b ON b.sha256 = d.sha256 WHERE d.page_id = ?"
        row = self._reader.one(text, self._page_of(url)[:1])
        return None if row is None else zstandard.ZstdDecompressor().decompress(row[0], max_output_size=row[1])

    def robots_text(self, origin: str) -> bytes | None:
        """The stored robots.txt of an origin, None when none was fetched."""
        text = "SELECT t.body FROM robots_text t JOIN origin o ON o.id = t.origin_id WHERE o.origin = ?"
        row = self._reader.one(text, (origin,))
        return None if row is None else zstandard.ZstdDecompressor().decompress(row[0])

    def urls_known(self, after_id: int = 0, limit: int = 10_000) -> list[KnownUrl]:
        """A window of every page, by age, after page `after_id`, as bare rows: it is asked for every page there is."""
        return self._reader.all(_KNOWN, (after_id, limit))

    def inlinks(self, url: str, limit: int | None = None) -> Iterator[LinkView]:
        """Links to a URL, be it a page or not, read in windows; `limit` None: all of them."""
        return links_in_windows(self._reader, INLINKS, self._url_id(url), limit)

    def outlinks(self, url: str, limit: int | None = None) -> Iterator[LinkView]:
        """Links of a page, read in windows; `limit` None: all of them."""
        return links_in_windows(self._reader, OUTLINKS, self._page_of(url)[0], limit)

    def link_ends(self, url: str, inward: bool, after: tuple[int, str], limit: int) -> tuple[LinkEnd, ...]:
        """A window of the links to a URL, or of those it holds, after (0, "") or the last window, with what is known
        of their other ends."""
        key = self._url_id(url) if inward else self._page_of(url)[0]
        return link_ends(self._reader, INWARD if inward else OUTWARD, key, after, limit)

    def link_counts(self, url: str) -> tuple[int, int]:
        """How many links lead to a URL, and how many it holds."""
        ends = (("to_url_id", self._url_id(url)), ("from_page_id", self._page_of(url)[0]))
        inward, outward = (link_count(self._reader, end, key) for end, key in ends)
        return inward, outward

    def _page_of(self, url: str) -> tuple[int, int]:
        """Its id and that of its URL, 0 where there is none."""
        return next(((row[0], row[1]) for row in known_rows(self._reader, _FIND_PAGE, url)), (0, 0))

    def _url_id(self, url: str) -> int:
        return next((row[0] for row in known_rows(self._reader, "SELECT id FROM url WHERE hash = ?", url)), 0)

    def standing(self, url: str, job: str = "") -> UrlStanding:
        """What is known of a URL, as it is written or normalised: in the job named, else in the job of the newest run
        or any other one that has it as a page."""
        parsed = normalise(url, None, CLIENT_MAX_LENGTH)
        href = url if isinstance(parsed, InvalidUrl) else parsed.href
        origin = "" if isinstance(parsed, InvalidUrl) else parsed.origin
        reader, key = self._reader, url_hash(clean(href))
        pages = reader.records(_STANDING, _STANDINGS, (key,))
        page = next((page for page in pages if not job or page.job == clean(job)), None)
        if page is not None:
            place = reader.number(_PLACE, (page.page_id, page.page_id)) if page.queue_position else None
            page = replace(page, queue_position=place or None)
        url_id = reader.one("SELECT id FROM url WHERE hash = ?", (key,))
        named_by = referrals(reader, url_id[0], _REFERRALS_TOLD) if url_id else ()
        path: tuple[Hop, ...] = ()
        if page is not None:
            path = path_from_seed(reader, page.page_id)
        elif named_by:
            first = named_by[0]
            last = Hop(first.from_url, href, first.kind, first.depth, first.first_seen_at)
            path = (*path_from_seed(reader, first.from_page_id), last)
        known = reader.one("SELECT pages_known FROM origin WHERE origin = ?", (origin,))
        attempts = reader.records(ATTEMPT, _ATTEMPTS_OF_PAGE, (key, page and page.page_id, _ATTEMPTS_TOLD))
        schedule = reader.record(Schedule, _SCHEDULE) or Schedule()
        others = tuple(each.job for each in pages if page is None or each.job != page.job)
        return UrlStanding(schedule, page, named_by, path, attempts, known[0] if known else 0, others)
