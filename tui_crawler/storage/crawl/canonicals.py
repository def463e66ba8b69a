"""Claims of pages that name a canonical URL of the crawl: what they gave is kept aside until it is known where that URL
leads (`domain.canonical`). A claim is decided when the page that it awaits was attempted, or at the end of the run."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import peewee
import zstandard

from tui_crawler.domain.crawl.canonical import CanonicalHop, ClaimState, decide
from tui_crawler.domain.records.attempt import Exchange, PageOutcome, Settle
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.storage.crawl.candidates import is_due
from tui_crawler.storage.crawl.intake import MOVED, Moving
from tui_crawler.storage.db.claim import ONE, ZERO, Claim, require
from tui_crawler.storage.db.statements import builds, builds_among, columns, reads, slot, updates, upserts
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import CanonicalClaim, Page, Redirect

_PIECE = 1_000  # claims that one transaction decides
_LEFT_ALONE = frozenset({PageStatus.CLAIMED, PageStatus.STASHED})
_NOWHERE, _IGNORED = (peewee.SQL(str(int(state))) for state in (ClaimState.nowhere, ClaimState.ignored))


def pack(answer: Exchange) -> bytes:
    """Return the answer of a page, compressed (zstd)."""
    head = json.dumps([answer.http_status, answer.headers, answer.cut, answer.left_size])
    return zstandard.ZstdCompressor(level=1).compress(head.encode() + b"\n" + answer.body)


def kept_answer(transaction: Transaction, page_id: int) -> Exchange:
    """Return what a page gave when it named its canonical URL; no request is in it."""
    ((packed,),) = transaction.all(_answer, {"page_id": page_id})
    head, _, body = zstandard.ZstdDecompressor().decompress(packed).partition(b"\n")
    status, headers, cut, left = json.loads(head)
    pairs = tuple((name, value) for name, value in headers)
    return Exchange((), ExitCode.file_ingested, status, 0, pairs, body, cut=tuple(cut), left_size=left)


def keep(transaction: Transaction, claim: Claim, page_id: int, to_url: int, packed: bytes) -> None:
    """Keep what a page gave aside; its claim is decided before the next fill, or awaits another page from then on."""
    transaction.insert(_keep, [(page_id, to_url, int(ClaimState.open), 0, claim.run_id, packed)])


def attempted(transaction: Transaction, attempts: Sequence[tuple[PageOutcome, Settle]]) -> None:
    """Note attempts at pages: claims that await these are due. Pages with other content have no claim any more; one
    whose canonical leads nowhere counts from now on."""
    transaction.run_among(_wake, [outcome.page_id for outcome, _ in attempts])
    others = ((outcome, one) for outcome, one in attempts if outcome.contentful or outcome.unlinks)
    transaction.run_among(_drop, [outcome.page_id for outcome, one in others if not one.ignores])
    transaction.run_among(_ignore, [outcome.page_id for outcome, one in attempts if one.ignores])


def are_due(transaction: Transaction) -> bool:
    return transaction.one(_first_due, {}) is not None


def resolve(transaction: Transaction, claim: Claim, after: int, last: bool) -> tuple[int, int]:
    """Decide the claims that are due, `last` all that are open, as no other page will be crawled in this run. Pages
    whose canonical leads nowhere go back into the queue. Of many claims it takes some, of pages (ids) behind `after`:
    return how many went back, and where to continue (0: nowhere)."""
    require(transaction, claim)
    rows = transaction.all(_open if last else _due, {"after": after})
    back, gone = list[Row](), list[int]()
    for row in rows:
        page_id, job_id, status, listed, state, to_url, unscanned = row[0], row[1], row[4], *row[7:]
        found, at = decide(page_id, to_url, partial(_look, transaction, claim, last, job_id))
        if found is ClaimState.settled:
            gone.append(page_id)
            continue
        if at < 0 and unscanned:
            found = ClaimState.open  # the offline mode has still to queue it
        found = ClaimState(max(found, state))
        values = {"page_id": page_id, "before": state, "state": int(found), "awaits": at}
        is_ours = transaction.one(_decided, values) is not None  # else another worker has decided it meanwhile
        if is_ours and found is ClaimState.nowhere and status not in _LEFT_ALONE and not listed:
            back.append(row)
    transaction.run_among(_ask_again, [row[0] for row in rows if row[8] and row[0] in set(gone)])
    transaction.run_among(_drop, gone)
    moving = Moving()
    moving.put_back(transaction, back, claim.tries)
    moving.store(transaction)
    return len(back), rows[-1][0] if len(rows) == _PIECE else 0


def _look(transaction: Transaction, claim: Claim, last: bool, job_id: int, url: int) -> CanonicalHop | None:
    row = transaction.one(_page_of, {"url_id": url, "job_id": job_id})
    if row is None:
        return None
    page_id, code, http_status, status, left, beyond, listed, ignored_run, at, fresh_until, to_url, state = row
    waits = status == PageStatus.STASHED and left > 0
    if not last and not beyond:
        due = ignored_run != claim.run_id and is_due(claim, at, fresh_until, transaction.now)
        waits |= status == PageStatus.CLAIMED or listed > 0 or (status == PageStatus.READY and (left > 0 or due))
    number = None if code is None else ExitCode(code)
    return CanonicalHop(page_id, number, http_status, waits, to_url, None if state is None else ClaimState(state))


def _claims(condition: Any) -> Any:
    chosen = (*MOVED, Page.todo_order, CanonicalClaim.state, CanonicalClaim.to_url, Page.unscanned)
    found = CanonicalClaim.select(*chosen).join(Page, on=(Page.id == CanonicalClaim.page))
    found = found.where(condition & (CanonicalClaim.state != _NOWHERE) & (CanonicalClaim.page > slot("after")))
    return found.order_by(CanonicalClaim.page).limit(peewee.SQL(str(_PIECE)))


_first_due = builds(
    CanonicalClaim.select(CanonicalClaim.page)
    .where((CanonicalClaim.awaits == ZERO) & (CanonicalClaim.state != _NOWHERE))
    .limit(ONE)
)
_STATE = "id last_exit_code last_http_status status attempts_remaining beyond_depth todo_order ignored_run"
_page_of = builds(
    Page.select(*columns(Page, _STATE, "last_crawled_at fresh_until"), Redirect.to_url, CanonicalClaim.state)
    .join(Redirect, peewee.JOIN.LEFT_OUTER, on=(Redirect.page == Page.id))
    .join(CanonicalClaim, peewee.JOIN.LEFT_OUTER, on=(CanonicalClaim.page == Page.id))
    .where((Page.url == slot("url_id")) & (Page.job == slot("job_id")))
)
_wake = builds_among(CanonicalClaim.update({CanonicalClaim.awaits: ZERO}), CanonicalClaim.awaits)
_drop = builds_among(CanonicalClaim.delete(), CanonicalClaim.page)
_ignore = builds_among(
    CanonicalClaim.update({CanonicalClaim.state: _IGNORED, CanonicalClaim.answer: peewee.SQL("NULL")}),
    CanonicalClaim.page,
    CanonicalClaim.state == _NOWHERE,
)
_ask_again = builds_among(Page.update({Page.last_contentful_at: ZERO}), Page.id)
"""Pages that counted, and whose canonical has content now, are asked without conditions the next time."""
_keep = upserts([CanonicalClaim.page], columns(CanonicalClaim, "to_url state awaits run_id answer"))
_BEFORE, _STORED = CanonicalClaim.state == slot("before"), columns(CanonicalClaim, "state awaits")
_decided = updates([CanonicalClaim.page], *_STORED, where=_BEFORE, returning=[CanonicalClaim.page])
_answer = reads([CanonicalClaim.page], CanonicalClaim.answer)
_due = builds(_claims(CanonicalClaim.awaits == ZERO))
_open = builds(_claims((CanonicalClaim.state == ZERO) | (CanonicalClaim.awaits < ZERO)))
