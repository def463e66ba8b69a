"""The rest of a queue, saved as segments (M): its pages stay in the table with all they have, each in a stash named
after its segment, until that is loaded again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import peewee

from tui_crawler.domain.segment import SegmentPage
from tui_crawler.domain.status import PageStatus
from tui_crawler.storage.claim import ZERO, Claim, require
from tui_crawler.storage.counters import CounterChanges, tally_of
from tui_crawler.storage.intake import move_counters
from tui_crawler.storage.models import Origin, Page, Url
from tui_crawler.storage.segment_files import Batch, final_path
from tui_crawler.storage.segments import SegmentStore, job_ids, register, stash_name
from tui_crawler.storage.sorter import Sorter, entry_of
from tui_crawler.storage.statements import columns, slot, slots
from tui_crawler.storage.transaction import Transaction
from tui_crawler.storage.urls import ids_of

_CHUNK = 256  # of values in one statement
_STASHED = peewee.SQL(str(PageStatus.STASHED.value))


class PendingSegments:
    """The pages that are pending, on their way into segments: `prepare` writes the files, calling it does the rest in
    a transaction; then `publish`, and at the end `close`. Raises StorageFailure.
    """

    def __init__(self, claim: Claim, segment_store: SegmentStore, prefix: str) -> None:
        self._claim = claim
        self._segment_store = segment_store
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
        folder = self._segment_store.made()
        self._batch = Batch(folder, self._prefix, transaction.now)
        entries = ((names[job_id], entry) for job_id, entry in self._sorter.entries())
        self._batch.write(entries, self._segment_store.segment_urls)

    def __call__(self, transaction: Transaction) -> str:
        """Registers the segments and puts their pages into stashes; answers the path of the first segment, empty when
        nothing was pending. A page that has changed since it was written stays as it is."""
        require(transaction, self._claim)
        if self._batch is None:
            return ""
        self._batch.hand_over()
        register(transaction, self._segment_store, self._batch.heads)
        entries = self._sorter.entries()
        for head in self._batch.heads:
            for start in range(0, head.urls, _CHUNK):
                chunk = [next(entries) for _ in range(min(_CHUNK, head.urls - start))]
                keys = [entry.page.url_hash for _, entry in chunk]
                _stash(transaction, chunk[0][0], keys, stash_name(head.name))
        return str(final_path(self._segment_store.place, self._batch.heads[0].name))

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
    moves = CounterChanges()
    rows = []
    for page_id, origin_id, code, remaining, todo_order in transaction.all_among(_open, keys, job_id):
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
            for job_id, href, key, *values in transaction.all_among(_pages, ids[start : start + _CHUNK]):
                yield job_id, entry_of(href, key, origin, values)


def _is_open() -> Any:
    open_pages = (Page.status == ZERO) & (Page.attempts_remaining > ZERO) & (Page.beyond_depth == ZERO)
    return open_pages & (Page.external == ZERO)


def _open_ids() -> Any:
    return Page.select(Page.id).where((Page.origin == slot("origin_id")) & _is_open())


def _open(size: int) -> Any:
    meant = Page.url.in_(ids_of(size)) & (Page.job == slot("job_id"))
    chosen = columns(Page, "id origin last_exit_code attempts_remaining todo_order")
    return Page.select(*chosen).where(meant & _is_open())


def _pages(size: int) -> Any:
    parent, parent_url = Page.alias("parent"), Url.alias("parent_url")
    chosen = (
        Page.job,
        Url.href,
        Url.hash,
        *columns(Page, "depth nice redirect_hops item_pattern force not_before sitemap lastmod"),
        parent_url.href,
    )
    return (
        Page.select(*chosen)
        .join(Url, on=(Url.id == Page.url))
        .join_from(Page, parent, peewee.JOIN.LEFT_OUTER, on=(parent.id == Page.found_on))
        .join_from(parent, parent_url, peewee.JOIN.LEFT_OUTER, on=(parent_url.id == parent.url))
        .where(Page.id.in_([slot("page_id")] * size))
    )


def _put_aside() -> Any:
    changes = {**slots([Page.stash]), Page.status: _STASHED, Page.todo_order: ZERO}
    return Page.update(changes).where(Page.id == slot("page_id"))
