"""What a retry does in many calls of the writer, on one connection without it."""

from __future__ import annotations

from collections.abc import Iterator

from tui_crawler.domain.records.command import RetryPages
from tui_crawler.domain.records.page import PutBack
from tui_crawler.storage.crawl import retrying
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.db.transaction import Transaction


def pieces(transaction: Transaction, named: retrying.RetrySelection) -> Iterator[tuple[int, ...]]:
    """The windows, one after the other."""
    cursor: retrying.Cursor | None = retrying.Cursor()
    while cursor is not None:
        ids, cursor = retrying.window(transaction, named, cursor)
        yield ids


def put_back(transaction: Transaction, claim: Claim, selection: RetryPages) -> dict[int, int]:
    """Answers how many of which origin (id)."""
    counts: dict[int, int] = {}
    named = retrying.meant(transaction, selection)
    for ids in pieces(transaction, named):
        for origin_id, number in retrying.put_back(transaction, claim, named, ids).items():
            counts[origin_id] = counts.get(origin_id, 0) + number
    return counts


def first(transaction: Transaction, claim: Claim, selection: RetryPages) -> PutBack:
    """Those that come next."""
    named = retrying.meant(transaction, selection)
    ranked: list[retrying.Ranked] = []
    for ids in pieces(transaction, named):
        ranked = retrying.waiting(transaction, claim, named, ids, ranked)
    return retrying.as_put_back(transaction, claim, [one[2] for one in ranked])
