"""Which pages may go on a todo list: those with tries left and those that are due, minus the ignore list (U, B)."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import peewee

from tui_crawler.domain.crawl.canonical import ClaimState
from tui_crawler.domain.crawl.recrawl import NEVER, DueBounds, due_bounds
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.page import Candidates, TodoPage
from tui_crawler.storage.crawl.jobs import JobRow, job_rows
from tui_crawler.storage.db.claim import ONE, ZERO, Claim, is_pending
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import Build, BuildOf, builds, builds_among, columns, reads, slot
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import Body, CanonicalClaim, Document, Origin, Page, Url

HEAD = 32
"""So many pages of a todo list are loaded at a start; a fill takes the others up."""

_PAGE = "depth nice seed attempts attempts_remaining redirect_hops item_pattern force sitemap last_contentful_at"
_STORED = "stored_at etag last_modified"
_TODO = (Page.id, Page.job, Url.href, *columns(Page, _PAGE), *columns(Document, _STORED), Body.sha256)


def candidates(
    transaction: Transaction, claim: Claim, origin: str, now: int, limit: int, first_fill: bool
) -> Candidates:
    """Return up to `limit` pages in the order (nice + attempts, not_before, age) over all jobs; seeds come first in the
    first fill of a run. Pages of held jobs, or of jobs that this session does not take, are left out. The rest of a
    todo list that was loaded in part comes before all else."""
    row = transaction.one(_origin_id, {"origin": clean(origin)})
    if row is None:
        return Candidates(())
    if row[0] in claim.in_part and (listed := _listed_pages(transaction, claim, row[0], 2**62)):
        claim.in_part.discard(row[0])
        return Candidates(listed)
    jobs = job_rows(transaction)
    free = [job for job in jobs if job.is_free(claim)]
    due = _due_bounds(claim, now)
    values = {"origin_id": row[0], "run_id": claim.run_id, "now": now, "limit": limit}
    values |= {"crawled_before": due.crawled_before, "fresh_before": due.fresh_before}
    if first_fill:
        rows = _best(transaction, free, (_pending_seeds, _done_seeds), values)
        values["limit"] = limit - len(rows)
        rows += _best(transaction, free, (_pending_others, _done_others, _kept_sitemaps), values)
    else:
        rows = _best(transaction, free, (_pending, _done), values)
    pages = tuple(todo_page(row, claim.tries) for row in rows)
    if pages:
        return Candidates(pages)
    later = [transaction.one(_next_due, {**values, "job_id": job.job_id}) for job in free if job.pending]
    next_due = min((row[0] for row in later if row is not None and row[0] is not None), default=None)
    none = Candidates((), next_due, _any_held(transaction, claim, jobs, values))
    return replace(none, has_sitemap=none.exhausted and transaction.one(_sitemap, values) is not None)


def awake(
    transaction: Transaction, claim: Claim, origins: Sequence[str], now: int, jobs: Container[int] | None = None
) -> tuple[str, ...]:
    """Those of `origins` with a page for a fill at `now` (epoch ms), by indices alone; `jobs` (ids): for another
    worker."""
    due, rows = _due_bounds(claim, now), job_rows(transaction)
    free = [job for job in rows if (job.is_free(claim) if jobs is None else not job.held and job.job_id in jobs)]
    left = list(dict.fromkeys(clean(origin) for origin in origins))
    found: set[str] = set()
    for job in free:
        if job.pending:
            found.update(row[0] for row in transaction.all_among(_with_pending, left, job.job_id, now, claim.run_id))
        if job.attempted:
            values = (job.job_id, due.crawled_before, due.fresh_before, now, claim.run_id)
            found.update(row[0] for row in transaction.all_among(_with_due, left, *values))
    return tuple(origin for origin in origins if clean(origin) in found)


def todo_head(transaction: Transaction, claim: Claim, origin_id: int) -> tuple[TodoPage, ...]:
    """The first pages of the todo list of an origin: all of it, or `claim` knows that there may be more."""
    head = _listed_pages(transaction, claim, origin_id, HEAD)
    if len(head) == HEAD:
        claim.in_part.add(origin_id)
    return head


def _listed_pages(transaction: Transaction, claim: Claim, origin_id: int, most: int) -> tuple[TodoPage, ...]:
    rows = transaction.all(_listed, {"origin_id": origin_id, "limit": most})
    return tuple(todo_page(row, claim.tries) for row in rows)


def todo_page(row: Row, tries: int) -> TodoPage:
    """A row of `todo_query`. A done page that is due starts again: all its tries, no pattern, no force (G). Validators
    count only while the stored document is what the page last gave, and its body is still there."""
    page_id, job_id, url, depth, nice, seed, attempts, remaining, hops, pattern, force, sitemap, *content = row
    contentful_at, stored_at, etag, last_modified, body, _, external, ignores, claim = content[:9]
    if remaining == 0:
        attempts, remaining, pattern, force = 0, tries, "", 0
    if stored_at is None or stored_at != contentful_at:
        etag, last_modified, body = "", "", None
    known = (page_id, job_id, url, depth, nice, bool(seed), attempts, remaining, hops, pattern, bool(force))
    stored = (etag, last_modified, contentful_at, body is not None)
    return TodoPage(*known, bool(sitemap), *stored, external, ignores or "", claim == ClaimState.nowhere)


def todo_query(*more: Any) -> Any:
    """Pages with what `todo_page` needs, and further columns after it."""
    chosen = (*_TODO, Page.not_before, Page.external, _Canonical.href, CanonicalClaim.state, *more)
    query = Page.select(*chosen).join(Url, on=(Url.id == Page.url))
    for table, on in (
        (Document, Document.page == Page.id),
        (Body, Body.sha256 == Document.sha256),
        (CanonicalClaim, CanonicalClaim.page == Page.id),
        (_Canonical, (CanonicalClaim.to_url == _Canonical.id) & (CanonicalClaim.state > ZERO)),
    ):
        query = query.join(table, peewee.JOIN.LEFT_OUTER, on=on)
    return query


def is_due(claim: Claim, last_crawled_at: int, fresh_until: int, now: int) -> bool:
    """Whether a done page may be crawled again in this run, by interval, freshness or force."""
    return _due_bounds(claim, now).allow(last_crawled_at, fresh_until)


def _due_bounds(claim: Claim, now: int) -> DueBounds:
    return due_bounds(now, claim.recrawl_interval_ms, claim.respect_http_freshness, claim.forced_before)


def _best(
    transaction: Transaction, jobs: Sequence[JobRow], builds: tuple[Build, ...], values: Mapping[str, int]
) -> list[Row]:
    limit = values["limit"]
    if limit <= 0:
        return []
    rows: list[Row] = []
    for job in jobs:
        for build, any_there in zip(builds, (job.pending, job.attempted, job.attempted), strict=False):
            if any_there:
                rows += transaction.all(build, {**values, "job_id": job.job_id})
    return sorted(rows, key=lambda row: (row[4] + (row[6] if row[7] else 0), row[17], row[0]))[:limit]


def _any_held(transaction: Transaction, claim: Claim, jobs: Sequence[JobRow], values: Mapping[str, int]) -> bool:
    """Whether pages of jobs wait that an operator has paused, not those of aborted jobs or of jobs for other
    workers."""
    for job in jobs:
        if job.state().paused and claim.takes(job.tag):
            of_job = {**values, "job_id": job.job_id}
            if job.pending and transaction.one(_waiting, of_job):
                return True
            if job.attempted and transaction.one(_waiting_due, of_job):
                return True
    return False


_Choice = Page.alias("choice")
_Canonical = Url.alias("canonical")
_PRIORITY = _Choice.nice + _Choice.attempts
_ANY_PRIORITY = peewee.SQL(str(-NEVER)) < _PRIORITY
"""No bound at all: it leads to the index of what is pending."""
_UNLISTED = _Choice.todo_order == ZERO
_NOT_IGNORED = _Choice.ignored_run != slot("run_id")
_IS_NOW = (_Choice.not_before <= slot("now")) & _NOT_IGNORED
_IS_DONE = (_Choice.status == ZERO) & (_Choice.attempts_remaining == ZERO) & (_Choice.beyond_depth == ZERO)
_IS_DUE = (_Choice.last_crawled_at <= slot("crawled_before")) & (_Choice.fresh_until <= slot("fresh_before"))


def _of_job(origin: Any) -> Any:
    """The pages of a job at one origin."""
    return (_Choice.origin == origin) & (_Choice.job == slot("job_id"))


_OPEN = _of_job(slot("origin_id")) & is_pending(_Choice)
_DONE = _of_job(slot("origin_id")) & _IS_DONE
_DUE = _DONE & _IS_DUE
"""A done page on the todo list is on the ignore list, too: the index alone can tell."""


def _best_of(choice: Any, priority: Any) -> Build:
    """What builds a query of the best pages by an index alone; the rest is looked up for those only."""
    best = _Choice.select(_Choice.id).where(choice & _IS_NOW)
    best = best.order_by(priority, _Choice.not_before, _Choice.id).limit(slot("limit"))
    return builds(todo_query().where(Page.id.in_(best) & (Page.todo_order == ZERO)))


def _having(waits: Any) -> BuildOf:
    """What builds a query for those of N origins that have such a page."""
    there = _Choice.select(ONE).where(_of_job(Origin.id) & waits & _IS_NOW)
    return builds_among(Origin.select(Origin.origin), Origin.origin, peewee.fn.EXISTS(there))


_ON_LIST = (Page.origin == slot("origin_id")) & (Page.todo_order > ZERO)
_listed = builds(todo_query().where(_ON_LIST).order_by(Page.todo_order).limit(slot("limit")))
"""The lower bound leads to the index of todo lists."""
_FREE = _OPEN & _ANY_PRIORITY & _NOT_IGNORED & _UNLISTED
_next_due = builds(_Choice.select(peewee.fn.MIN(_Choice.not_before)).where(_FREE & (_Choice.not_before > slot("now"))))
_waiting = builds(_Choice.select(_Choice.id).where(_FREE).limit(ONE))
_waiting_due = builds(_Choice.select(_Choice.id).where(_DUE & _NOT_IGNORED).limit(ONE))
_pending = _best_of(_OPEN & _UNLISTED, _PRIORITY)
_pending_seeds = _best_of(_OPEN & _UNLISTED & (_Choice.seed == ONE), _PRIORITY + ZERO)
"""The order is not that of an index: so the few seeds are found by theirs, and sorted."""
_pending_others = _best_of(_OPEN & _UNLISTED & (_Choice.seed == ZERO), _PRIORITY)
_done = _best_of(_DUE, _Choice.nice)
_done_seeds = _best_of(_DUE & (_Choice.seed == ONE), _Choice.nice)
_done_others = _best_of(_DUE & (_Choice.seed == ZERO), _Choice.nice)
_kept_sitemaps = _best_of(_DONE & (_Choice.sitemap == ONE) & ~_IS_DUE, _Choice.nice)
"""Sitemaps that are not due: they are read in each run, as they say which pages have changed."""
_with_pending = _having(is_pending(_Choice) & _UNLISTED & _ANY_PRIORITY)
_with_due = _having(_IS_DONE & _IS_DUE)
_origin_id = reads([Origin.origin], Origin.id)
_sitemap = builds(Page.select(Page.id).where((Page.origin == slot("origin_id")) & (Page.sitemap == ONE)).limit(ONE))
