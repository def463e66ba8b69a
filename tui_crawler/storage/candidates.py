"""Which pages may go on a todo list: those with tries left and those that are due, minus the ignore list (U, B)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import peewee

from tui_crawler.domain.page import Candidates, TodoPage
from tui_crawler.domain.recrawl import NEVER, DueBounds, due_bounds
from tui_crawler.storage.claim import ONE, ZERO, Claim
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.models import Body, Document, Origin, Page, Url
from tui_crawler.storage.statements import slot
from tui_crawler.storage.transaction import Row, Transaction

_TODO = (
    Page.id,
    Page.job,
    Url.href,
    Page.depth,
    Page.nice,
    Page.seed,
    Page.attempts,
    Page.attempts_remaining,
    Page.redirect_hops,
    Page.item_pattern,
    Page.force,
    Page.last_contentful_at,
    Document.stored_at,
    Document.etag,
    Document.last_modified,
    Body.sha256,
)


def candidates(
    transaction: Transaction, claim: Claim, origin: str, now: int, limit: int, first_fill: bool
) -> Candidates:
    """Up to `limit` pages in the order (nice + attempts, not_before, age); seeds first in the first fill of a run."""
    row = transaction.one(_origin_id, {"origin": clean(origin)})
    if row is None:
        return Candidates(())
    due = _due_bounds(claim, now)
    values = {
        "origin_id": row[0],
        "run_id": claim.run_id,
        "now": now,
        "limit": limit,
        "crawled_before": due.crawled_before,
        "fresh_before": due.fresh_before,
    }
    if first_fill:
        rows = _best(transaction, (_pending_seeds, _done_seeds), values, limit)
        values["limit"] = limit - len(rows)
        rows += _best(transaction, (_pending_others, _done_others), values, values["limit"])
    else:
        rows = _best(transaction, (_pending, _done), values, limit)
    pages = tuple(todo_page(row, claim.tries) for row in rows)
    if pages:
        return Candidates(pages)
    later = transaction.one(_next_due, {"origin_id": row[0], "run_id": claim.run_id, "now": now})
    return Candidates((), later[0] if later else None)


def todo_page(row: Row, tries: int) -> TodoPage:
    """A row of `todo_query`. A done page that is due starts again: all its tries, no pattern, no force (G).

    Validators count only while the stored document is what the page last gave, and its body is still there.
    """
    page_id, job_id, url, depth, nice, seed, attempts, remaining, hops, pattern, force, contentful_at, *content = row
    stored_at, etag, last_modified, body = content[:4]
    if remaining == 0:
        attempts, remaining, pattern, force = 0, tries, "", 0
    if stored_at is None or stored_at != contentful_at:
        etag, last_modified, body = "", "", None
    return TodoPage(
        page_id,
        job_id,
        url,
        depth,
        nice,
        bool(seed),
        attempts,
        remaining,
        hops,
        pattern,
        bool(force),
        etag,
        last_modified,
        contentful_at,
        body is not None,
    )


def todo_query(*more: Any) -> Any:
    """Pages with what `todo_page` needs, and further columns after it."""
    return (
        Page.select(*_TODO, Page.not_before, *more)
        .join(Url, on=(Url.id == Page.url))
        .join(Document, peewee.JOIN.LEFT_OUTER, on=(Document.page == Page.id))
        .join(Body, peewee.JOIN.LEFT_OUTER, on=(Body.sha256 == Document.sha256))
    )


def is_due(claim: Claim, last_crawled_at: int, fresh_until: int, now: int) -> bool:
    """Whether a done page may be crawled again in this run, by interval, freshness or force."""
    return _due_bounds(claim, now).allow(last_crawled_at, fresh_until)


def _due_bounds(claim: Claim, now: int) -> DueBounds:
    return due_bounds(now, claim.recrawl_interval_ms, claim.respect_http_freshness, claim.forced_before)


def _best(
    transaction: Transaction, builds: tuple[Callable[[], Any], ...], values: dict[str, int], limit: int
) -> list[Row]:
    """The best rows of several queries together."""
    if limit <= 0:
        return []
    rows = [row for build in builds for row in transaction.all(build, values)]
    return sorted(rows, key=_rank)[:limit]


def _rank(row: Row) -> tuple[int, int, int]:
    attempts = row[6] if row[7] else 0
    return row[4] + attempts, row[16], row[0]


def _origin_id() -> Any:
    return Origin.select(Origin.id).where(Origin.origin == slot("origin"))


_Choice = Page.alias("choice")
_CHOICE_PRIORITY = _Choice.nice + _Choice.attempts


def _pending() -> Any:
    return _chosen(_open_choice(), _CHOICE_PRIORITY)


def _pending_seeds() -> Any:
    """The order is not that of an index: so the few seeds are found by theirs, and sorted."""
    return _chosen(_open_choice() & (_Choice.seed == ONE), _CHOICE_PRIORITY + ZERO)


def _pending_others() -> Any:
    return _chosen(_open_choice() & (_Choice.seed == ZERO), _CHOICE_PRIORITY)


def _done() -> Any:
    return _chosen(_due_choice(), _Choice.nice)


def _done_seeds() -> Any:
    return _chosen(_due_choice() & (_Choice.seed == ONE), _Choice.nice)


def _done_others() -> Any:
    return _chosen(_due_choice() & (_Choice.seed == ZERO), _Choice.nice)


def _chosen(condition: Any, priority: Any) -> Any:
    """The best pages by an index alone; what else is needed of them is looked up for those only."""
    now = (_Choice.not_before <= slot("now")) & (_Choice.ignored_run != slot("run_id"))
    best = _Choice.select(_Choice.id).where(condition & now)
    best = best.order_by(priority, _Choice.not_before, _Choice.id).limit(slot("limit"))
    return todo_query().where(Page.id.in_(best) & (Page.todo_order == ZERO))


def _open_choice() -> Any:
    return _is_open(_Choice) & (_Choice.todo_order == ZERO)


def _due_choice() -> Any:
    """A done page on the todo list is on the ignore list, too: the index alone can tell."""
    done = (_Choice.origin == slot("origin_id")) & (_Choice.status == ZERO) & (_Choice.attempts_remaining == ZERO)
    due = (_Choice.last_crawled_at <= slot("crawled_before")) & (_Choice.fresh_until <= slot("fresh_before"))
    return done & (_Choice.beyond_depth == ZERO) & due


def _next_due() -> Any:
    """The lower bound of the priority is none; it leads to the index of what is pending."""
    bound = (Page.nice + Page.attempts) > peewee.SQL(str(-NEVER))
    later = (Page.not_before > slot("now")) & (Page.ignored_run != slot("run_id")) & (Page.todo_order == ZERO)
    return Page.select(peewee.fn.MIN(Page.not_before)).where(_is_open(Page) & bound & later)


def _is_open(page: Any) -> Any:
    return (
        (page.origin == slot("origin_id"))
        & (page.status == ZERO)
        & (page.attempts_remaining > ZERO)
        & (page.beyond_depth == ZERO)
    )
