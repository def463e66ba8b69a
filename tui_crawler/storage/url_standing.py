"""Where one URL stands, for the chain that says why it is (not) crawled: its page, its path, and who names it."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

from tui_crawler.domain.page import PageStatus
from tui_crawler.domain.standing import Hop, PageStanding, Schedule, UrlStanding
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, InvalidUrl, normalise, url_hash
from tui_crawler.storage.attempt_reports import attempts_of_page
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.link_reports import path_from_seed, referrals
from tui_crawler.storage.overview_reports import exit_name
from tui_crawler.storage.page_reports import place_of
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.transaction import Row
from tui_crawler.storage.views import PAGE_DUE_AT

ATTEMPTS = 20
REFERRALS = 100

_SCHEDULE = """SELECT j.name, r.started_at, r.recrawl_interval_ms, r.respect_http_freshness, r.force_recrawl
FROM run r JOIN job j ON j.id = r.job_id ORDER BY r.id DESC LIMIT 1"""

_PAGES = f"""SELECT p.id, j.name, p.status, p.attempts, p.attempts_remaining, p.nice, p.depth, p.seed, p.force,
    p.sitemap, p.beyond_depth, p.redirect_hops, p.not_before, p.last_exit_code, p.last_http_status, p.last_crawled_at,
    p.fresh_until, p.lastmod, p.ignored_run > 0 AND p.ignored_run = (SELECT MAX(id) FROM run), p.claimed_at, p.stash,
    {PAGE_DUE_AT}, j.aborted, j.concurrency, j.max_depth, j.tag, p.external, p.todo_order
FROM page p JOIN job j ON j.id = p.job_id WHERE p.url_hash = ?
ORDER BY j.id = (SELECT job_id FROM run ORDER BY id DESC LIMIT 1) DESC, p.id"""

_KNOWN_PAGES = "SELECT o.pages_known FROM origin o WHERE o.origin = ?"


def url_standing(reader: Reader, url: str, job: str) -> UrlStanding:
    """What is known of a URL, as it is written or normalised: in the job named, else in the job of the newest run or
    any other one that has it as a page."""
    parsed = normalise(url, None, CLIENT_MAX_LENGTH)
    href = url if isinstance(parsed, InvalidUrl) else parsed.href
    origin = "" if isinstance(parsed, InvalidUrl) else parsed.origin
    schedule = _schedule(reader)
    key = url_hash(clean(href))
    rows = reader.all(_PAGES, (key,))
    row = next((row for row in rows if not job or row[1] == clean(job)), None)
    page = None if row is None else _page(reader, row)
    url_id = reader.one("SELECT id FROM url WHERE hash = ?", (key,))
    named_by = referrals(reader, url_id[0], REFERRALS) if url_id else ()
    path: tuple[Hop, ...] = ()
    if page is not None:
        path = _hops(reader, page.page_id)
    elif named_by:
        first = named_by[0]
        path = (*_hops(reader, first.from_page_id), Hop(first.from_url, href, first.kind, first.depth))
    known = reader.one(_KNOWN_PAGES, (origin,))
    return UrlStanding(
        schedule,
        page,
        named_by,
        path,
        attempts_of_page(reader, key, page.page_id if page else None, ATTEMPTS),
        known[0] if known else 0,
        tuple(row[1] for row in rows if page is None or row[1] != page.job),
    )


def _schedule(reader: Reader) -> Schedule:
    row = reader.one(_SCHEDULE)
    return Schedule() if row is None else Schedule(row[0], row[1], row[2], bool(row[3]), bool(row[4]))


def _page(reader: Reader, row: Row) -> PageStanding:
    """The values of `_PAGES`, and the place on the todo list."""
    place = place_of(reader, row[0]) if row[27] > 0 else None
    values = [*row[:2], PageStatus(row[2]), *row[3:7], *map(bool, row[7:11]), *row[11:13], exit_name(row[13])]
    values += [*row[14:18], bool(row[18]), *row[19:22], place, bool(row[22]), *row[23:26], bool(row[26])]
    return PageStanding(*values)


def _hops(reader: Reader, page_id: int) -> tuple[Hop, ...]:
    """The path from a seed to a page."""
    return tuple(Hop(step.from_url, step.to_url, step.kind, depth) for step, depth in path_from_seed(reader, page_id))
