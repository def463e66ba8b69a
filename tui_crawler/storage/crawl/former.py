"""What a run changes is kept as it was: pages, the links taken from them, robots.txt. So two runs can be compared.

A page that a run changes, or crawls for the first time, gets a row of what it was before, once in a run: the state
after run R is that in the first row of a later run, else that of the page itself. A body that such a row names is not
dropped. The first run of a database keeps nothing, nor does any with `storage.keep_runs: 1`.

Old rows are purged in pieces, each a transaction: a run that keeps nothing any more is marked first, so that another
process can continue a purge that was killed."""

from collections.abc import Iterable, Sequence
from typing import Any

import peewee

from tui_crawler.domain.history.run_diff import same_end
from tui_crawler.domain.records.attempt import PageOutcome
from tui_crawler.storage.db.claim import EMPTY, ONE, ZERO, Claim
from tui_crawler.storage.db.statements import Build, BuildOf, among, builds, columns, deletes, inserts, reads, slot
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import (
    Body,
    Document,
    FormerLink,
    FormerPage,
    FormerRobots,
    Page,
    Redirect,
    RobotsText,
    Run,
    Url,
)

PIECE = 200
"""So many rows of each table one transaction purges: a few milliseconds."""

_KEY = "run_id origin_id page"
_STATE = "exit_code http_status sha256 title canonical redirect links"
_LINK = columns(FormerLink, "run_id from_page kind to_url nofollow text first_seen_at")
_PAGE_KEY = tuple(column.column_name for column in columns(FormerPage, _KEY))
_LINK_KEY = tuple(column.column_name for column in _LINK[:4])


def begin(transaction: Transaction, run_id: int, keep_runs: int, continued: bool) -> None:
    """What the run that begins, or is continued, will keep, and which older ones keep nothing any more."""
    if not continued:
        older = peewee.fn.EXISTS(Run.select(ONE).where(Run.id < run_id))
        transaction.execute(Run.update({Run.keeps_former: older.cast("INTEGER")}).where(Run.id == run_id))
    past = (Run.id <= run_id - keep_runs + 1) & (Run.keeps_former == ONE)
    transaction.execute(Run.update({Run.keeps_former: 0}).where(past))


def purge(transaction: Transaction) -> bool:
    """Takes a piece of what no run keeps any more away; answers whether there may be more of it."""
    past = {"run_id": transaction.all(_horizon, {})[0][0]}
    pages, links = transaction.all(_past_pages, past), transaction.all(_past_links, past)
    transaction.run_many(_delete_page, [dict(zip(_PAGE_KEY, row, strict=False)) for row in pages])
    transaction.run_many(_delete_link, [dict(zip(_LINK_KEY, row, strict=True)) for row in links])
    transaction.run(_purge_robots, past)
    for sha256 in {row[-1] for row in pages if row[-1]}:
        drop_body(transaction, sha256)
    return bool(pages or links)


def drop_body(transaction: Transaction, sha256: str) -> None:
    """Removes a body that no document and no former state of a page refers to."""
    values = {"sha256": sha256}
    if transaction.one(_document_with, values) is None and transaction.one(_state_with, values) is None:
        transaction.run(_delete_body, values)


class Keeper:
    """Keeps what attempts are about to change, if their run keeps anything. Call each method before its change."""

    __slots__ = ("_run_id", "_transaction", "keeps")

    def __init__(self, transaction: Transaction, claim: Claim) -> None:
        self._transaction, self._run_id, self.keeps = transaction, claim.run_id, claim.keeps_former

    def ended(self, attempts: Iterable[tuple[tuple[int | None, int | None], PageOutcome]]) -> None:
        """Attempts at pages, each with the exit code and HTTP status that the last one before ended with."""
        if self.keeps:
            self.pages([now.page_id for was, now in attempts if not same_end(was, (now.exit_code, now.http_status))])

    def pages(self, page_ids: Sequence[int]) -> None:
        """Pages whose state changes."""
        if self.keeps:
            self._transaction.run_among(_copy_pages, page_ids, self._run_id)

    def links(self, page_ids: Sequence[int], gone: Sequence[Row]) -> None:
        """Pages whose links change, and the links that go (page, kind, URL, nofollow, text, first seen)."""
        if not self.keeps or not page_ids:
            return
        self._transaction.run_among(_copy_relinked, page_ids, self._run_id)
        self._transaction.insert(_insert_links, [(self._run_id, *row) for row in gone])
        self.unnamed(sorted({row[2] for row in gone}))

    def unnamed(self, url_ids: Sequence[int]) -> None:
        """URLs that a page names no longer."""
        if self.keeps:
            self._transaction.run_among(_copy_named, url_ids, self._run_id)

    def redirect(self, page_id: int, to_url: int) -> None:
        """A page that redirects to this URL from now on."""
        former = [row[0] for row in self._transaction.all(_redirects, {"page_id": page_id})] if self.keeps else []
        if former and former != [to_url]:
            self.pages([page_id])
            self.unnamed([one for one in former if one != to_url])

    def robots(self, origin_id: int, body: bytes) -> None:
        """An origin whose robots.txt has this body (zstd) from now on."""
        if self.keeps:
            self._transaction.run(_copy_robots, {"run_id": self._run_id, "origin_id": origin_id, "body": body})


_CANONICAL = peewee.SQL("'canonical'")


def _states(key: Any, *which: Any, links: Any = ZERO) -> BuildOf:
    """What builds an INSERT of pages as they are, for a run and N pages; those that have a row keep it, `links` 1 notes
    in it that theirs change. What is only checked is no page of the crawl."""
    named = Redirect.select(Url.href).join(Url, on=(Url.id == Redirect.to_url)).where(Redirect.page == Page.id)
    sent = Redirect.select(Redirect.to_url).where((Redirect.page == Page.id) & (Redirect.source != _CANONICAL))
    canonical = named.where(Redirect.source == _CANONICAL).limit(ONE)
    query = Page.select(
        slot("run_id"),
        *columns(Page, "origin id last_exit_code last_http_status"),
        peewee.fn.COALESCE(Document.sha256, EMPTY),
        peewee.fn.COALESCE(Document.title, EMPTY),
        peewee.fn.COALESCE(peewee.fn.NULLIF(Document.canonical, EMPTY), canonical, EMPTY),
        sent.limit(ONE),
        links,
    ).join(Document, peewee.JOIN.LEFT_OUTER, on=(Document.page == Page.id))
    target = columns(FormerPage, _KEY)
    known = {"action": "nothing"} if links is ZERO else {"update": {FormerPage.links: ONE}}

    def copied(size: int) -> Any:
        chosen = query.where(among(key, size), Page.external == ZERO, *which)
        rows = FormerPage.insert_from(chosen, (*target, *columns(FormerPage, _STATE)))
        return rows.on_conflict(conflict_target=target, **known)

    return copied


_OTHER = (RobotsText.origin == slot("origin_id")) & (RobotsText.body != slot("body"))
_ROBOTS = columns(FormerRobots, "run_id origin_id body")
_copy_robots = builds(
    FormerRobots.insert_from(
        RobotsText.select(slot("run_id"), RobotsText.origin, RobotsText.body).where(_OTHER), _ROBOTS
    ).on_conflict(action="nothing", conflict_target=_ROBOTS[:2])
)
_KEEPING = Run.select(peewee.fn.MIN(Run.id)).where(Run.keeps_former == ONE)
_horizon = builds(Run.select(peewee.fn.COALESCE(_KEEPING, peewee.fn.MAX(Run.id) + ONE, ZERO)))
"""The oldest run that keeps something; what older ones kept is to go."""


def _past(key: Sequence[Any], *more: Any) -> Build:
    """What builds a SELECT of a piece of what the runs before one keep, by its key."""
    model = key[0].model
    past = model.run_id < slot("run_id")
    return lambda: model.select(*key, *more).where(past).order_by(*key).limit(peewee.SQL(str(PIECE)))


_WITH = (FormerPage.sha256 == slot("sha256")) & (FormerPage.sha256 != EMPTY)
_state_with = builds(FormerPage.select(FormerPage.page).where(_WITH).limit(ONE))
_copy_pages = _states(Page.id)
_copy_named = _states(Page.url, Page.last_exit_code.is_null(False))
_copy_relinked = _states(Page.id, links=ONE)
_past_pages = _past(columns(FormerPage, _KEY), FormerPage.sha256)
_past_links = _past(_LINK[:4])
_insert_links = inserts(_LINK, once=_LINK[:4])
_redirects = reads([Redirect.page], Redirect.to_url)
_delete_page = deletes(*columns(FormerPage, _KEY))
_delete_link = deletes(*_LINK[:4])
_delete_body = deletes(Body.sha256)
_purge_robots = builds(FormerRobots.delete().where(FormerRobots.run_id < slot("run_id")))
_document_with = builds(Document.select(Document.page).where(Document.sha256 == slot("sha256")).limit(ONE))
