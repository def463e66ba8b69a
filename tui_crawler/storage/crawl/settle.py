"""The settle step: everything one attempt changes, in one transaction (G). And the fill, which is a row of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from tui_crawler.domain.crawl.run import Settled
from tui_crawler.domain.records.attempt import AttemptRecord, FillRecord, OriginRecord, PageOutcome, Settle
from tui_crawler.domain.records.exit_code import FAILURES, UNTOUCHED, AttemptKind, ExitCode
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.page import NewPage, Tally
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.url import url_hash
from tui_crawler.storage.crawl import canonicals, documents, origins, stashes
from tui_crawler.storage.crawl.activity import note
from tui_crawler.storage.crawl.counters import CountedAttempt, add_to_job, count_attempts, tally_of
from tui_crawler.storage.crawl.crawl_log import count_refused, log_attempt
from tui_crawler.storage.crawl.former import Keeper
from tui_crawler.storage.crawl.intake import Source, queue_pages
from tui_crawler.storage.crawl.origins import Counted, OriginChange, OriginRow, Pauses
from tui_crawler.storage.crawl.urls import hashes, url_ids
from tui_crawler.storage.db.claim import CLAIMED, ZERO, Claim, holds, require, sign_of_life
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import builds_among, columns, reads, slot, updates
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Attempt, Origin, Page, Session

TODO_BASE = 2**40
"""The place of the first page of a fill on its todo list; before it there is room."""

_BRIEF_BYTES, _BRIEF_ROWS = 256 * 1024, 1_000
_OUTCOME = columns(
    Page,
    """status attempts attempts_remaining failed last_exit_code last_http_status last_crawled_at
last_contentful_at last_attempt_id fresh_until not_before ignored_run todo_order unscanned sitemap""",
)


class PageState(NamedTuple):
    """A page before its attempt is stored."""

    origin_id: int
    job_id: int
    status: int
    attempts_remaining: int
    last_exit_code: int | None
    beyond_depth: int
    todo_order: int
    last_contentful_at: int
    last_attempt_id: int
    claimed_by: int
    stash: str
    depth: int
    unscanned: int
    last_http_status: int | None
    external: int

    def tally(self) -> Tally:
        """What it adds to the counters of its origin."""
        return tally_of(self.status, self.attempts_remaining, self.last_exit_code, self.beyond_depth, self.external)

    def tally_after(self, outcome: PageOutcome) -> Tally:
        """What it adds to them after an attempt."""
        code = outcome.exit_code.value
        return tally_of(outcome.status.value, outcome.attempts_remaining, code, self.beyond_depth, self.external)

    def ended(self) -> tuple[int | None, int | None]:
        """Exit code and HTTP status of its last attempt, None before the first."""
        return self.last_exit_code, self.last_http_status


STATE = columns(Page, "origin job", *PageState._fields[2:])


@dataclass(slots=True)
class SettleJob:
    """One attempt on its way into the database."""

    claim: Claim
    settle: Settle
    packed: bytes | None = None

    @staticmethod
    def together(transaction: Transaction, jobs: Sequence[SettleJob]) -> list[Settled]:
        """Stores many attempts as one; answers for each what it would have answered."""
        from tui_crawler.storage.crawl.settle_group import settle_together  # noqa: PLC0415  it is made of this module

        return settle_together(transaction, jobs)

    @property
    def is_brief(self) -> bool:
        """Whether it takes no more than a few milliseconds."""
        links = self.settle.links or ()
        return len(self.settle.body or b"") < _BRIEF_BYTES and len(links) + len(self.settle.new_pages) < _BRIEF_ROWS

    def prepare(self, _: Transaction) -> None:
        """Compresses the body before the transaction begins."""
        if self.settle.document is not None:
            self.packed = documents.pack(self.settle.document)
        if self.settle.claim is not None:
            self.packed = canonicals.pack(self.settle.claim)

    def __call__(self, transaction: Transaction) -> Settled:
        """Store the attempt. Of a page that another worker has taken only someone_stole_my_work is stored, of an origin
        whose lease is lost nothing. Raises StorageFailure when the database is no longer ours, or the page has moved to
        another origin."""
        settle, claim, attempt = self.settle, self.claim, self.settle.attempt
        row = origins.ensure(transaction, settle.origin.origin)
        if not holds(transaction, claim, row.id):
            return _note_late(transaction, claim, settle, row.id)
        require(transaction, claim)
        sign_of_life(transaction, claim)
        page = _page_of(transaction, settle.page.page_id, row) if settle.page is not None else None
        if page is not None and _is_taken(transaction, claim, page, attempt):
            return _store_late(transaction, claim, settle, row, page.job_id)
        ids = url_ids(transaction, _hrefs(settle))
        source = Source(page.job_id if page else claim.job_id, attempt.page_id, attempt.ended_at)
        new_pages, moves = queue_pages(transaction, claim, source, _lowered(settle, page), ids)
        if settle.new_pages and settle.page is not None:
            page = _page_of(transaction, settle.page.page_id, row)  # it may have found itself
        attempt_id = log_attempt(transaction, claim, attempt, row, ids, new_pages.total())
        change, left_todo = _store(transaction, claim, settle, row, page, attempt_id)
        count_attempts(transaction, claim, [CountedAttempt(row.id, source.job_id, attempt)])
        moves.add(row.id, change)
        if page is not None and page.stash:
            new_pages.update(stashes.drip(transaction, claim, page.job_id, page.stash))
        add_to_job(transaction, source.job_id, moves.total())
        counted = Counted(-left_todo, moves.added.pop(row.id, 0), len(attempt.requests), attempt.bytes, 1)
        written = OriginChange(row, settle.origin, moves.changes.pop(row.id), counted, attempt)
        counters = origins.write(transaction, written)
        origins.move(transaction, moves)
        keeper = Keeper(transaction, claim)
        if settle.page is not None:
            self._store_content(transaction, settle.page, ids, keeper)
        if settle.save_robots:
            origins.write_robots(transaction, row.id, settle.origin.robots, keeper)
        return Settled(tuple(sorted(new_pages.items())), *counters)

    def _store_content(
        self, transaction: Transaction, outcome: PageOutcome, ids: dict[int, int], keeper: Keeper
    ) -> None:
        settle, at = self.settle, outcome.crawled_at
        if settle.drop_document:
            documents.drop_document(transaction, outcome.page_id)
        again = [outcome.page_id]
        if settle.document is not None:
            documents.store_documents(transaction, [(settle.document, self.packed, at)], again, keeper)
        if settle.links is not None:
            to_urls = (ids[link.url.hash] for link in settle.links)
            rows = documents.link_rows(outcome.page_id, settle.links, to_urls, at)
            documents.store_links(transaction, rows, again, keeper)
        if settle.fragments is not None:
            documents.store_fragments(transaction, outcome.page_id, settle, settle.fragments, ids)
        if settle.redirect is not None:
            to_url = ids[url_hash(clean(settle.redirect.to_url))]
            documents.store_redirect(transaction, outcome.page_id, settle.redirect, to_url, at, keeper)
            if settle.claim is not None:
                packed = self.packed or canonicals.pack(settle.claim)
                canonicals.keep(transaction, self.claim, outcome.page_id, to_url, packed)
        elif outcome.contentful:
            documents.drop_redirects(transaction, again, keeper)


def store_fill(transaction: Transaction, claim: Claim, record: FillRecord) -> Settled:
    """Stores a fill: the ignore list, the todo list as a whole, the refusals, the state of the origin; answers where
    its counters stand now. What stood on a list that was loaded in part is found again by a later fill."""
    require(transaction, claim)
    row = origins.ensure(transaction, record.origin.origin)
    if not holds(transaction, claim, row.id):
        claim.lost.append(record.origin.origin)
        return Settled()
    emptied = _free_todo if row.id in claim.in_part else origins.clear_todo
    before = len(transaction.all(emptied, {"origin_id": row.id}))
    places = {page_id: TODO_BASE + place for place, page_id in enumerate(record.todo)}
    moves = [
        {"page_id": page_id, "run_id": claim.run_id, "todo_order": places.get(page_id, 0)}
        for page_id in dict.fromkeys((*record.ignored, *record.todo))
    ]
    transaction.run_each(put_on_lists, moves, "page_id")
    change = Tally()
    logged: list[CountedAttempt] = []
    dripping: set[tuple[int, str]] = set()
    for refusal in record.refusals:
        if refusal.page is None:
            raise ValueError("a refusal is of a page")
        page = _page_of(transaction, refusal.page.page_id, row)
        attempt_id = log_attempt(transaction, claim, refusal.attempt, row, url_ids(transaction, _hrefs(refusal)), 0)
        moved, _ = _store(transaction, claim, refusal, row, page, attempt_id)
        add_to_job(transaction, page.job_id, moved)
        change = change.plus(moved)
        logged.append(CountedAttempt(row.id, page.job_id, refusal.attempt))
        if page.stash:
            dripping.add((page.job_id, page.stash))
    count_attempts(transaction, claim, logged)
    for job_id, stash in sorted(dripping):
        stashes.drip(transaction, claim, job_id, stash)
    counted = Counted(todo=len(places) - before, attempts=len(record.refusals))
    last = record.refusals[-1].attempt if record.refusals else None
    return Settled((), *origins.write(transaction, OriginChange(row, record.origin, change, counted, last)))


def save_origins(transaction: Transaction, claim: Claim, records: Iterable[OriginRecord]) -> None:
    """Writes the states of origins without an attempt; not of those whose lease is lost."""
    require(transaction, claim)
    pauses = Pauses(transaction)
    for record in records:
        row = origins.ensure(transaction, record.origin)
        if holds(transaction, claim, row.id):
            origins.write(transaction, OriginChange(row, record), pauses)


def mark_in_flight(
    transaction: Transaction, claim: Claim, page_id: int, origin: str, url: str, *, anew: bool = False
) -> None:
    """For the eyes: the page, and the URL of its origin that is being asked for. `anew`: also one that is claimed."""
    require(transaction, claim)
    shown = {"in_flight_url": clean(url), "in_flight_since": transaction.now, "change": transaction.change}
    transaction.run(_mark_in_flight, {"origin": clean(origin), **shown})
    values = {"page_id": page_id, "claimed_at": transaction.now, "claimed_by": claim.session_id}
    transaction.run(_claim_again if anew else _claim_page, values)


def _is_taken(transaction: Transaction, claim: Claim, page: PageState, attempt: AttemptRecord) -> bool:
    """Whether another worker holds the page, or has crawled it since this attempt began (B): it was reclaimed. A quick
    attempt has often no claim, as its mark is not waited for. Sessions that ended before this one began cannot have
    taken anything, whatever the clock said then."""
    if page.status == PageStatus.CLAIMED:
        return page.claimed_by != claim.session_id
    return any(ended_at > attempt.started_at for ended_at in attempts_of_rivals(transaction, claim, [page]).values())


def attempts_of_rivals(transaction: Transaction, claim: Claim, pages: Iterable[PageState]) -> dict[int, int]:
    """When the last attempts at pages ended that sessions beside this one have made, by the ids of the attempts."""
    last = [page.last_attempt_id for page in pages if page.last_attempt_id]
    return dict(transaction.all_among(_of_rivals, last, claim.session_id, claim.session_id))


def _lowered(settle: Settle, page: PageState | None) -> Sequence[NewPage]:
    """The pages an attempt found, by the depth its page has now: a shorter path may have been found meanwhile (B)."""
    if page is None or settle.page is None or settle.page.depth is None or page.depth >= settle.page.depth:
        return settle.new_pages
    shorter = settle.page.depth - page.depth
    return tuple(replace(found, depth=found.depth - shorter) for found in settle.new_pages)


def _store_late(transaction: Transaction, claim: Claim, settle: Settle, row: OriginRow, job_id: int) -> Settled:
    """A late finish: log its requests and keep the gap they ask for; the page and its content stay (B)."""
    stolen, message = ExitCode.someone_stole_my_work, "another worker has taken the page; the result was"
    message = f"{message} {settle.attempt.exit_code.name}"
    attempt = replace(settle.attempt, exit_code=stolen, message=message, new_pages=0, results=())
    urls = url_ids(transaction, hashes([attempt.url, *(request.url for request in attempt.requests)]))
    log_attempt(transaction, claim, attempt, row, urls, 0)
    count_attempts(transaction, claim, [CountedAttempt(row.id, job_id, attempt)])
    later = max(settle.origin.next_request_at, transaction.number(_next_request_at, {"origin_id": row.id}))
    counted = Counted(requests=len(attempt.requests), bytes=attempt.bytes, attempts=1)
    record = replace(settle.origin, next_request_at=later)
    written = OriginChange(row, record, counted=counted, last=attempt)
    return Settled((), *origins.write(transaction, written), stolen=True)


def _note_late(transaction: Transaction, claim: Claim, settle: Settle, origin_id: int) -> Settled:
    """What comes after the lease of an origin was lost changes nothing; the log of activity says what it was."""
    attempt = settle.attempt
    late = "came after the lease of this origin was lost, nothing was stored"
    note(transaction, "late_write", f"{attempt.exit_code.name} {attempt.url}: {late}", origin_id, claim.run_id)
    claim.lost.append(settle.origin.origin)
    return Settled(stolen=True)


def _page_of(transaction: Transaction, page_id: int, row: OriginRow) -> PageState:
    found = transaction.one(_page_state, {"page_id": page_id})
    if found is None or found[0] != row.id:
        raise StorageFailure(f"page {page_id} is not, or no longer, a page of this origin: nothing was stored")
    return PageState(*found)


def _hrefs(settle: Settle) -> dict[int, str]:
    attempt = settle.attempt
    named = hashes([attempt.url, *(request.url for request in attempt.requests)])
    named.update((page.url_hash, clean(page.url)) for page in settle.new_pages)
    named.update((link.url.hash, link.url.href) for link in settle.links or ())
    if settle.redirect is not None:
        named.update(hashes([settle.redirect.to_url]))
    return named


def _store(
    transaction: Transaction, claim: Claim, settle: Settle, row: OriginRow, page: PageState | None, attempt_id: int
) -> tuple[Tally, int]:
    """The refusals and the page; answers how the counters change and whether the page left the todo list."""
    attempt = settle.attempt
    count_refused(transaction, row.id, settle.refused)
    outcome = outcome_for(settle, page)
    if outcome is None or page is None:
        return Tally(), 0
    if attempt.exit_code in UNTOUCHED:
        return _give_back(transaction, page, outcome, attempt_id, attempt.exit_code)
    if outcome.stays:  # GET asks for a checked page next; its last result stays
        after = page._replace(status=int(outcome.status), attempts_remaining=outcome.attempts_remaining)
        left = {"status": after.status, "attempts": outcome.attempts, "attempts_remaining": after.attempts_remaining}
        transaction.run(_wait_for_get, {"page_id": outcome.page_id, **left})
        return after.tally().minus(page.tally()), 0
    (keeper := Keeper(transaction, claim)).ended([(page.ended(), outcome)])
    transaction.run(update_page, page_values(claim, page, outcome, attempt_id))
    canonicals.attempted(transaction, [(outcome, settle)])
    if outcome.unlinks and page.last_attempt_id and not page.unscanned:
        documents.drop_links(transaction, [outcome.page_id], keeper)
    return page.tally_after(outcome).minus(page.tally()), int(page.todo_order > 0)


def _give_back(
    transaction: Transaction, page: PageState, outcome: PageOutcome, attempt_id: int, code: ExitCode
) -> tuple[Tally, int]:
    """A page that was not crawled is as it was before; cancelled, it also keeps its place on the todo list."""
    keeps = code is ExitCode.cancelled
    status = PageStatus.READY if page.status == PageStatus.CLAIMED else PageStatus(page.status)
    values = {"status": int(status), "last_attempt_id": attempt_id, "todo_order": page.todo_order if keeps else 0}
    transaction.run(_return_page, {"page_id": outcome.page_id, **values})
    return Tally(), int(page.todo_order > 0 and not keeps)


def outcome_for(settle: Settle, page: PageState | None) -> PageOutcome | None:
    """Return how an attempt leaves its page; a page that was linked while it was checked is still to be crawled."""
    if settle.page is not None and page is not None and settle.attempt.kind is AttemptKind.check and not page.external:
        return replace(settle.page, attempts_remaining=page.attempts_remaining, forget_ignored=True, stays=False)
    return settle.page


def page_values(claim: Claim, page: PageState, outcome: PageOutcome, attempt_id: int) -> dict[str, Any]:
    """How an attempt leaves its page, for `update_page`."""
    return {
        "page_id": outcome.page_id,
        "status": int(outcome.status),
        "attempts": outcome.attempts,
        "attempts_remaining": outcome.attempts_remaining,
        "failed": outcome.exit_code in FAILURES,
        "last_exit_code": outcome.exit_code.value,
        "last_http_status": outcome.http_status,
        "last_crawled_at": outcome.crawled_at,
        "last_contentful_at": outcome.crawled_at if outcome.contentful else page.last_contentful_at,
        "last_attempt_id": attempt_id,
        "fresh_until": outcome.fresh_until,
        "not_before": 0,
        "ignored_run": 0 if outcome.forget_ignored else claim.run_id,
        "todo_order": 0,
        "unscanned": outcome.unscanned if outcome.contentful else page.unscanned,
        "sitemap": outcome.sitemap,
    }


_free_todo = partial(origins.clear_todo, Page.ignored_run)
_of_rivals = builds_among(
    Attempt.select(Attempt.id, Attempt.ended_at).join(Session, on=(Session.id == Attempt.session)),
    Attempt.id,
    Attempt.session != slot("session_id"),
    (Session.id > slot("session_id")) | (Session.ended_at == ZERO),
)
_page_state = reads([Page.id], *STATE)
_next_request_at = reads([Origin.id], Origin.next_request_at)
_RELEASED = {Page.claimed_at: ZERO, Page.claimed_by: ZERO}
_return_page = updates([Page.id], Page.status, Page.last_attempt_id, Page.todo_order, to=_RELEASED)
_wait_for_get = updates(
    [Page.id], *columns(Page, "status attempts attempts_remaining"), to={**_RELEASED, Page.ignored_run: ZERO}
)
put_on_lists = updates([Page.id], Page.todo_order, to={Page.ignored_run: slot("run_id")})
_CLAIMED = {Page.status: CLAIMED}
_mark_in_flight = updates([Origin.origin], *columns(Origin, "in_flight_url in_flight_since change"))
_claim_again = updates([Page.id], Page.claimed_at, Page.claimed_by, to=_CLAIMED)
_claim_page = updates([Page.id], Page.claimed_at, Page.claimed_by, to=_CLAIMED, where=Page.status == ZERO)
update_page = updates([Page.id], *_OUTCOME, to=_RELEASED)
"""An UPDATE of a page by `page_values`."""
