"""Claims of pages that name a canonical URL of the crawl: what they gave is kept aside until it is known where that URL
leads (`domain.canonical`). A claim is looked at when a page that it awaits was crawled, and at the end of the run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import peewee
import zstandard

from tui_crawler.domain.attempt import Exchange
from tui_crawler.domain.canonical import ClaimState, Hop, decide
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.status import PageStatus
from tui_crawler.storage.candidates import is_due
from tui_crawler.storage.claim import ONE, ZERO, Claim, require
from tui_crawler.storage.models import CanonicalClaim, Origin, Page, Redirect
from tui_crawler.storage.rejudging import MOVED, Moving, run_in_chunks
from tui_crawler.storage.statements import among, columns, reads, slot, updates, upserts
from tui_crawler.storage.transaction import Row, Transaction

PIECE = 1_000
"""The most claims that one transaction decides."""

_RESTS = frozenset({PageStatus.READY, PageStatus.SKIPPED})
_OPEN, _NOWHERE, _IGNORED = (peewee.SQL(str(int(state))) for state in list(ClaimState)[:3])


def pack(answer: Exchange) -> bytes:
    """Return the compressed answer of a page (zstd), without its requests."""
    head = json.dumps([answer.http_status, answer.headers, answer.cut, answer.left_size])
    return zstandard.ZstdCompressor(level=1).compress(head.encode() + b"\n" + answer.body)


def kept_answer(transaction: Transaction, page_id: int) -> Exchange:
    """Return the answer that a page gave when it named its canonical URL; no request is in it."""
    row = transaction.one(_answer, {"page_id": page_id})
    if row is None or row[0] is None:
        raise LookupError(f"no answer of page {page_id} is kept")
    head, _, body = zstandard.ZstdDecompressor().decompress(row[0]).partition(b"\n")
    status, headers, cut, left_size = json.loads(head)
    pairs = tuple((name, value) for name, value in headers)
    return Exchange((), ExitCode.file_ingested, status, 0, pairs, body, cut=tuple(cut), left_size=left_size)


def keep(transaction: Transaction, page_id: int, origin_id: int, to_url: int, answer: bytes) -> None:
    """Keep what a page gave aside; its claim is looked at before the next fill."""
    transaction.insert(_keep, [(page_id, origin_id, to_url, int(ClaimState.open), 1, to_url, answer)])


def ignore(transaction: Transaction, claim: Claim, page_id: int) -> None:
    """Note that a page counts, since its canonical URL leads nowhere."""
    transaction.run(_ignore, {"page_id": page_id, "run_id": claim.run_id})


def crawled(transaction: Transaction, urls: Sequence[int], done: Sequence[int]) -> None:
    """Note that pages of these URLs (ids) were attempted: claims that await them are due. `done` pages (ids) have no
    claim any more."""
    run_in_chunks(transaction, _wake, urls)
    run_in_chunks(transaction, _drop, done)


def are_due(transaction: Transaction, origin: str) -> bool:
    """Return whether claims of pages of an origin are to be looked at."""
    return transaction.one(_first_due, {"origin": origin, "after": 0}) is not None


def with_open(transaction: Transaction, _: Claim) -> list[str]:
    """Return the origins whose pages have open claims."""
    return [row[0] for row in transaction.all(_with_open, {})]


def resolve(transaction: Transaction, claim: Claim, origin: str, after: int, last: bool = False) -> tuple[int, int]:
    """Decide claims of an origin from a page (id) on, PIECE at most: those that are due, or `last` all that are open,
    for nothing more will be crawled in this run. Pages whose canonical URL leads nowhere go back into the queue. Return
    their number, and after which page to continue (0: none is left)."""
    require(transaction, claim)
    rows = transaction.all(_all_open if last else _due, {"origin": origin, "after": after})
    moving, back, gone, again = Moving(claim.tries), list[Row](), list[int](), list[int]()
    for row in rows:
        page_id, job_id, todo_order, state, to_url, unscanned = row[0], row[1], *row[7:]
        found, at = decide(page_id, to_url, partial(_look, transaction, claim, job_id, last))
        if last and found is ClaimState.nowhere and unscanned and _look(transaction, claim, job_id, last, at) is None:
            found = ClaimState.open  # the offline mode has still to queue it
        if found is ClaimState.settled:
            again += [page_id] * (state == ClaimState.ignored)
            gone.append(page_id)
            continue
        decided = ClaimState.ignored if state == ClaimState.ignored else found
        transaction.run(_decided, {"page_id": page_id, "state": int(decided), "due": 0, "awaits": at})
        if decided is ClaimState.nowhere and row[3] in _RESTS and not todo_order:
            back.append(row)
    moving.put_back(transaction, back)
    moving.move_counters(transaction)
    run_in_chunks(transaction, _drop, gone)
    run_in_chunks(transaction, _ask_again, again)
    return len(back), rows[-1][0] if len(rows) == PIECE else 0


def _look(transaction: Transaction, claim: Claim, job_id: int, last: bool, url: int | None) -> Hop | None:
    row = transaction.one(_page_of, {"url_id": url, "job_id": job_id})
    if row is None:
        return None
    page_id, code, http_status, status, left, beyond, listed, ignored_run, crawled_at, fresh_until, to_url, state = row
    waits = status == PageStatus.STASHED and left > 0
    if not last and not beyond:
        due = ignored_run != claim.run_id and is_due(claim, crawled_at, fresh_until, transaction.now)
        waits |= status == PageStatus.CLAIMED or listed > 0 or (status == PageStatus.READY and (left > 0 or due))
    number = None if code is None else ExitCode(code)
    return Hop(page_id, number, http_status, waits, to_url, None if state is None else ClaimState(state))


def _claims(condition: Any) -> Any:
    """Claims of an origin with their pages, by page."""
    chosen = (*MOVED, Page.todo_order, CanonicalClaim.state, CanonicalClaim.to_url, Page.unscanned)
    of_origin = CanonicalClaim.origin == Origin.select(Origin.id).where(Origin.origin == slot("origin"))
    found = CanonicalClaim.select(*chosen).join(Page, on=(Page.id == CanonicalClaim.page))
    found = found.where(of_origin & condition & (CanonicalClaim.page > slot("after")))
    return found.order_by(CanonicalClaim.page).limit(peewee.SQL(str(PIECE)))


def _due() -> Any:
    return _claims((CanonicalClaim.due == ONE) & (CanonicalClaim.state != _NOWHERE))


def _all_open() -> Any:
    return _claims(CanonicalClaim.state == _OPEN)


def _first_due() -> Any:
    return _due().select(CanonicalClaim.page).limit(ONE)


def _with_open() -> Any:
    claimed = CanonicalClaim.select(ONE).where((CanonicalClaim.origin == Origin.id) & (CanonicalClaim.state == _OPEN))
    return Origin.select(Origin.origin).where(peewee.fn.EXISTS(claimed)).order_by(Origin.id)


def _page_of() -> Any:
    of_page = columns(
        Page,
        """id last_exit_code last_http_status status attempts_remaining beyond_depth todo_order ignored_run
last_crawled_at fresh_until""",
    )
    return (
        Page.select(*of_page, Redirect.to_url, CanonicalClaim.state)
        .join(Redirect, peewee.JOIN.LEFT_OUTER, on=(Redirect.page == Page.id))
        .join(CanonicalClaim, peewee.JOIN.LEFT_OUTER, on=(CanonicalClaim.page == Page.id))
        .where((Page.url == slot("url_id")) & (Page.job == slot("job_id")))
    )


def _ignore() -> Any:
    changes = {
        CanonicalClaim.state: _IGNORED,
        CanonicalClaim.run_id: slot("run_id"),
        CanonicalClaim.answer: peewee.SQL("NULL"),
    }
    return CanonicalClaim.update(changes).where(
        (CanonicalClaim.page == slot("page_id")) & (CanonicalClaim.state == _NOWHERE)
    )


def _wake(size: int) -> Any:
    return CanonicalClaim.update({CanonicalClaim.due: ONE}).where(among(CanonicalClaim.awaits, size))


def _drop(size: int) -> Any:
    return CanonicalClaim.delete().where(among(CanonicalClaim.page, size))


def _ask_again(size: int) -> Any:
    """Pages that are asked without conditions the next time, for what they said may count no more."""
    return Page.update({Page.last_contentful_at: ZERO}).where(among(Page.id, size))


_keep = upserts([CanonicalClaim.page], columns(CanonicalClaim, "origin to_url state due awaits answer"))
_answer = reads([CanonicalClaim.page], CanonicalClaim.answer)
_decided = updates([CanonicalClaim.page], *columns(CanonicalClaim, "state due awaits"))
