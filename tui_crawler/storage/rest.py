"""The rest of a queue, saved as segments (M): its pages stay in the table with all they have, each in a stash named
after its segment, until that is loaded again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import peewee

from tui_crawler.domain.page import PageStatus
from tui_crawler.domain.segment import SegmentPage
from tui_crawler.storage.claim import ZERO, Claim, require
from tui_crawler.storage.counters import Moves, tally_of
from tui_crawler.storage.intake import move_counters
from tui_crawler.storage.models import Origin, Page, Url
from tui_crawler.storage.segment_files import Batch, final_path
from tui_crawler.storage.segments import Shelf, job_ids, register, stash_name
from tui_crawler.storage.sorter import Sorter, entry_of
from tui_crawler.storage.statements import padded, slot, slots
from tui_crawler.storage.transaction import Transaction

_CHUNK = 256  # of values in one statement
_STASHED = peewee.SQL(str(PageStatus.STASHED.value))


class Rest:
    """The pages that are pending, on their way into segments: `prepare` writes the files, calling it does the rest in
    a transaction; then `publish`, and at the end `close`. Raises StorageFailure.
    """

    def __init__(self, claim: Claim, shelf: Shelf, prefix: str) -> None:
        self._claim = claim
        self._shelf = shelf
        self._prefix = prefix
        self._sorter = Sorter()
        self._batch: Batch | None = None

    def prepare(self, transaction: Transaction) -> None:
        """Writes the segments under names that do not last; the database is only read."""
        require(transaction, self._claim)
        names = {job_id: name for name, job_id in job_ids(transaction).items()}
        for job_id, entry in _pending_pages(transaction, self._claim):
            self._sorter.add(job_id, entry)
        if not self._sorter.count():
            return
        folder = self._shelf.made()
        self._batch = Batch(folder, self._prefix, transaction.now)
        entries = ((names[job_id], entry) for job_id, entry in self._sorter.entries())
        self._batch.write(entries, self._shelf.segment_urls)

    def __call__(self, transaction: Transaction) -> str:
        """Registers the segments and puts their pages into stashes; answers the path of the first segment, empty when
        nothing was pending. A page that has changed since it was written stays as it is."""
        require(transaction, self._claim)
        if self._batch is None:
            return ""
        self._batch.hand_over()
        register(transaction, self._shelf, self._batch.heads)
        entries = self._sorter.entries()
        for head in self._batch.heads:
            for start in range(0, head.urls, _CHUNK):
                chunk = [next(entries) for _ in range(min(_CHUNK, head.urls - start))]
                keys = [entry.page.url_hash for _, entry in chunk]
                _stash(transaction, chunk[0][0], keys, stash_name(head.name))
        return str(final_path(self._shelf.place, self._batch.heads[0].name))

    def publish(self) -> None:
        """Gives the files their names."""
        if self._batch is not None:
            self._batch.publish()

    def close(self) -> None:
        """At the end, whatever has happened: after a failure only `segments.tidy` knows what to do with the files."""
        self._sorter.close()
        if self._batch is not None:
            self._batch.close()


def _stash(transaction: Transaction, job_id: int, keys: Sequence[int], stash: str) -> None:
    """Puts those of the pages that are still pending into a stash; they leave their todo lists."""
    places = padded(keys)
    moves = Moves()
    rows = []
    for page_id, origin_id, code, remaining, todo_order in transaction.all_of(_open, len(places), [*places, job_id]):
        before = tally_of(PageStatus.READY, remaining, code, 0)
        moves.add(origin_id, tally_of(PageStatus.STASHED, remaining, code, 0).minus(before))
        if todo_order:
            moves.unlisted[origin_id] = moves.unlisted.get(origin_id, 0) + 1
        rows.append({"page_id": page_id, "stash": stash})
    transaction.run_many(_put_aside, rows)
    move_counters(transaction, job_id, moves)


def _pending_pages(transaction: Transaction, claim: Claim) -> Iterator[tuple[int, SegmentPage]]:
    """Every page pending at an origin of this run, with its job; where several workers crawl it, at those of this
    one."""
    mine = Origin.participates == 1
    if claim.shared:
        mine &= Origin.session_id == claim.session_id
    for origin_id, origin in transaction.fetch(Origin.select(Origin.id, Origin.origin).where(mine)):
        ids = [row[0] for row in transaction.all(_open_ids, {"origin_id": origin_id})]
        for start in range(0, len(ids), _CHUNK):
            places = padded(ids[start : start + _CHUNK])
            for job_id, href, key, *values in transaction.all_of(_pages, len(places), places):
                yield job_id, entry_of(href, key, origin, values)


def _is_open() -> Any:
    open_pages = (Page.status == ZERO) & (Page.attempts_remaining > ZERO) & (Page.beyond_depth == ZERO)
    return open_pages & (Page.external == ZERO)


def _open_ids() -> Any:
    return Page.select(Page.id).where((Page.origin == slot("origin_id")) & _is_open())


def _open(size: int) -> Any:
    columns = (Page.id, Page.origin, Page.last_exit_code, Page.attempts_remaining, Page.todo_order)
    chosen = Page.url_hash.in_([slot("url_hash")] * size) & (Page.job == slot("job_id"))
    return Page.select(*columns).where(chosen & _is_open())


def _pages(size: int) -> Any:
    parent, parent_url = Page.alias("parent"), Url.alias("parent_url")
    columns = (
        Page.job,
        Url.href,
        Page.url_hash,
        Page.depth,
        Page.nice,
        Page.redirect_hops,
        Page.item_pattern,
        Page.force,
        Page.not_before,
        Page.sitemap,
        Page.lastmod,
        parent_url.href,
    )
    return (
        Page.select(*columns)
        .join(Url, on=(Url.id == Page.url))
        .join_from(Page, parent, peewee.JOIN.LEFT_OUTER, on=(parent.id == Page.found_on))
        .join_from(parent, parent_url, peewee.JOIN.LEFT_OUTER, on=(parent_url.id == parent.url))
        .where(Page.id.in_([slot("page_id")] * size))
    )


def _put_aside() -> Any:
    changes = {**slots([Page.stash]), Page.status: _STASHED, Page.todo_order: ZERO}
    return Page.update(changes).where(Page.id == slot("page_id"))
