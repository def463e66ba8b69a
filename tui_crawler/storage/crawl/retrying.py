"""Pages that operators put back, however many: looked for in windows and put back in pieces, each a call of the writer
of its own, so that what turns bring is stored in between. What is put back comes next (B)."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import peewee

from tui_crawler.domain.records.attempt import OriginRecord
from tui_crawler.domain.records.command import RETRIED_NEXT, RetryPages
from tui_crawler.domain.records.exit_code import CRAWLED, FAILURES, ExitCode
from tui_crawler.domain.records.page import RETRIED_AT_ONCE, PutBack, TodoPage
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.url import url_hash
from tui_crawler.storage.crawl import jobs, origins
from tui_crawler.storage.crawl.candidates import todo_page, todo_query
from tui_crawler.storage.crawl.intake import MOVED, Moving
from tui_crawler.storage.crawl.settle import TODO_BASE, put_on_lists
from tui_crawler.storage.crawl.urls import ids_of
from tui_crawler.storage.db.claim import ONE, ZERO, Claim, is_pending, require, sign_of_life
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import BuildOf, builds, builds_among, newest, padded, reads_among, slot
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.db.writer import Writer
from tui_crawler.storage.models import Attempt, Origin, Page

Ranked = tuple[int, int, int, int]
"""A page that waits, as it sorts: nice + attempts, not_before, id; and the id of its origin."""

_WINDOW = 20_000
"""So many pages are looked for at once: they are put back origin by origin, whose rows lie together."""
_PIECE = 1_000
"""So many are put back in one transaction."""
_LOOK = 4_000
"""At so many is looked at once to tell which come next."""
_SPAN = 100_000  # ids; so much of the table is looked through at once where no index leads to the pages
_STATEMENTS = 1_000  # as many sources are asked for a window at most
_CHUNK = 256
_RETRIED = frozenset({int(PageStatus.READY), int(PageStatus.SKIPPED)})
_STATE = (*MOVED, Page.failed, Page.last_attempt_id)


@dataclass(frozen=True, slots=True)
class _Source:
    """A statement that finds pages (origin, id) by id, from `after` on: of `values`, as many as it is told; where it
    `scans`, in so many ids, up to `last`."""

    build: BuildOf
    values: tuple[int, ...] = ()
    scans: bool = False
    last: int = 0

    def read(self, transaction: Transaction, after: int, limit: int) -> tuple[list[Row], int | None]:
        """The next pages, and after which to go on (None: there are no more)."""
        bound = after + _SPAN if self.scans else limit
        rows = transaction.all_of(self.build, len(self.values), [*self.values, after, bound])
        if self.scans:
            return rows, bound if bound < self.last else None
        return rows, rows[-1][1] if len(rows) == limit else None


@dataclass(frozen=True, slots=True)
class RetrySelection:
    """What a retry names: where its pages are found, and what must be true of each. `codes` None: all that failed;
    `origins` (ids) None: of all. What was attempted after `until` (id of an attempt) has failed since."""

    codes: frozenset[int] | None
    only_failed: bool
    origins: frozenset[int] | None
    until: int
    sources: tuple[_Source, ...] = ()

    def holds(self, row: Row) -> bool:
        """Whether a row that begins with `_STATE` is (still) one of the pages."""
        return (
            row[4] in _RETRIED
            and (bool(row[7]) or not self.only_failed)
            and (self.codes is None or row[6] in self.codes)
            and (self.origins is None or row[2] in self.origins)
            and row[8] <= self.until
        )


class Cursor(NamedTuple):
    """How far the pages of a retry were looked for."""

    source: int = 0
    after: int = 0


def meant(transaction: Transaction, selection: RetryPages) -> RetrySelection:
    """What a retry names: pages of exit codes, of URLs all but those that were crawled, else all failed ones."""
    codes: frozenset[int] | None = None
    if selection.exit_codes:
        codes = frozenset(int(code) for code in ExitCode if code.name in selection.exit_codes)
    elif selection.urls:
        codes = frozenset(int(code) for code in ExitCode if code not in CRAWLED)
    known = (origins.find(transaction, name) for name in dict.fromkeys(selection.origins))
    ids = frozenset(row.id for row in known if row is not None) if selection.origins else None
    until = transaction.number(_newest_attempt)
    named = RetrySelection(codes, codes is None or codes <= FAILURES, ids, until)
    return replace(named, sources=tuple(_sources(transaction, selection.urls, named)))


def _sources(transaction: Transaction, urls: Iterable[str], named: RetrySelection) -> Iterable[_Source]:
    codes, only_failed, ids = named.codes, named.only_failed, named.origins
    if urls:
        keys = sorted({url_hash(clean(url)) for url in urls})
        for start in range(0, len(keys), _CHUNK):
            yield _Source(_with_urls, tuple(padded(keys[start : start + _CHUNK])))
    elif codes is not None and ids is None:
        for code in sorted(codes):
            if only_failed:
                yield _Source(_failed_with, (code,))
        if not only_failed:
            places = tuple(padded(sorted(codes)))
            yield _Source(_scanned, places, scans=True, last=transaction.number(_newest_page))
    elif codes is None or codes:
        failed = transaction.all(_failed_origins, {}) if ids is None else ()
        for origin_id in sorted(ids or (row[0] for row in failed)):
            yield _Source(_failed_of if only_failed else _all_of, (origin_id,))


def window(transaction: Transaction, named: RetrySelection, cursor: Cursor) -> tuple[tuple[int, ...], Cursor | None]:
    """The ids of the next pages that may be meant, origin by origin, and where to go on (None: these are the last)."""
    found: list[Row] = []
    for _ in range(_STATEMENTS):
        if cursor.source == len(named.sources) or len(found) >= _WINDOW:
            break
        rows, after = named.sources[cursor.source].read(transaction, cursor.after, _WINDOW - len(found))
        found += rows
        cursor = Cursor(cursor.source + 1) if after is None else Cursor(cursor.source, after)
    found.sort()
    return tuple(row[1] for row in found), cursor if cursor.source < len(named.sources) else None


def put_back(transaction: Transaction, claim: Claim, named: RetrySelection, page_ids: Sequence[int]) -> dict[int, int]:
    """Give the pages that are still meant their tries back, off the ignore list; return how many of which origin
    (id)."""
    require(transaction, claim)
    moving = Moving()
    rows = [row for row in transaction.all_among(_state, page_ids) if named.holds(row)]
    moving.put_back(transaction, rows, claim.tries)
    moving.store(transaction)
    sign_of_life(transaction, claim)
    return Counter(row[2] for row in rows)


def waiting(
    transaction: Transaction, claim: Claim, named: RetrySelection, page_ids: Sequence[int], others: Iterable[Ranked]
) -> list[Ranked]:
    """Of the pages that are meant, wait, and may be crawled by this session, and the `others`: those that come next."""
    free = _free(transaction, claim)
    rows = transaction.all_among(_ranks, page_ids, claim.run_id, transaction.now)
    mine = [(row[9], row[10], row[0], row[2]) for row in rows if row[1] in free and named.holds(row)]
    return first_of([*others, *mine])


def first_of(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Those that come next, in their order: RETRIED_NEXT of each origin and RETRIED_AT_ONCE over all at most, the
    first of every origin before the second of any. Of many, piece by piece: no other page can push one forward."""
    of_origin: Counter[int] = Counter()
    places: list[tuple[int, Ranked]] = []
    for one in sorted(ranked):
        of_origin[one[3]] += 1
        if of_origin[one[3]] <= RETRIED_NEXT:
            places.append((of_origin[one[3]], one))
    return sorted(one for _, one in sorted(places)[:RETRIED_AT_ONCE])


def as_put_back(transaction: Transaction, claim: Claim, page_ids: Sequence[int]) -> PutBack:
    """Pages for their todo lists, in this order, as far as they still wait."""
    free = _free(transaction, claim)
    found: dict[int, tuple[int, TodoPage]] = {}
    listed: set[int] = set()
    for row in transaction.all_among(_todo, page_ids, claim.run_id, transaction.now):
        if row[1] in free:
            found[row[0]] = row[-2], todo_page(row, claim.tries)
            if row[-1]:
                listed.add(row[0])
    pages: dict[int, list[TodoPage]] = {}
    for page_id in page_ids:
        if page_id in found:
            origin_id, page = found[page_id]
            pages.setdefault(origin_id, []).append(page)
    names = _names(transaction, pages)
    return PutBack(tuple((names[one], tuple(theirs)) for one, theirs in pages.items()), frozenset(listed))


def put_first(transaction: Transaction, claim: Claim, placed: Iterable[tuple[OriginRecord, Sequence[int]]]) -> None:
    """Puts pages before all else on the todo list of their origin, in this order, and stores its state. What is on the
    list keeps its place, so that a long list costs no more than a short one."""
    require(transaction, claim)
    for record, page_ids in placed:
        row = origins.ensure(transaction, record.origin)
        added = 0
        if page_ids:
            first, before = transaction.one(_todo_list, {"origin_id": row.id}) or (None, 0)
            start = (TODO_BASE if first is None else first) - len(page_ids)
            places = ({"page_id": page_id, "todo_order": order} for order, page_id in enumerate(page_ids, start))
            transaction.run_many(put_on_lists, [place | {"run_id": claim.run_id} for place in places])
            _, after = transaction.one(_todo_list, {"origin_id": row.id}) or (None, 0)
            added = int(after - before)
        origins.write(transaction, origins.OriginChange(row, record, counted=origins.Counted(todo=added)))


@dataclass(frozen=True, slots=True)
class Retrying:
    """One retry on a live database: every step is a call of the writer, with room for others in between."""

    _writer: Writer
    _claim: Claim
    _selection: RetryPages

    async def put_back(self) -> tuple[tuple[str, int], ...]:
        """Give the pages that are still meant their tries back, off the ignore list; return how many of which origin
        (id)."""
        counts: Counter[int] = Counter()
        async for named, ids in self._pieces(_PIECE):
            back = partial(put_back, claim=self._claim, named=named, page_ids=ids)
            counts.update(await self._writer.write(back))
        names = await self._writer.read(partial(_names, origin_ids=counts))
        return tuple(sorted((names[origin_id], count) for origin_id, count in counts.items()))

    async def first(self) -> PutBack:
        """Those of the pages that wait, and come next."""
        ranked: list[Ranked] = []
        async for named, ids in self._pieces(_LOOK):
            look = partial(waiting, claim=self._claim, named=named, page_ids=ids, others=ranked)
            ranked = await self._writer.read(look)
        ids = [one[2] for one in ranked]
        return await self._writer.read(partial(as_put_back, claim=self._claim, page_ids=ids))

    async def _pieces(self, size: int) -> AsyncIterator[tuple[RetrySelection, Sequence[int]]]:
        named = await self._writer.read(partial(meant, selection=self._selection))
        cursor: Cursor | None = Cursor()
        while cursor is not None:
            ids, cursor = await self._writer.read(partial(window, named=named, cursor=cursor))
            for start in range(0, len(ids), size):
                yield named, ids[start : start + size]


def _free(transaction: Transaction, claim: Claim) -> frozenset[int]:
    return frozenset(job.job_id for job in jobs.job_rows(transaction) if job.is_free(claim))


def _names(transaction: Transaction, origin_ids: Iterable[int]) -> dict[int, str]:
    return dict(transaction.all_among(_origin_names, list(origin_ids)))


def _with_urls(size: int) -> Any:
    chosen = Page.url.in_(ids_of(size)) & (Page.id > slot("after"))
    return _FOUND.where(chosen).order_by(Page.id).limit(slot("limit"))


_FOUND = Page.select(Page.origin, Page.id)
_IN_PIECES = _FOUND.order_by(Page.id).limit(slot("limit"))
_failed_of = builds_among(_IN_PIECES, Page.origin, Page.failed == ONE, Page.id > slot("after"))
_all_of = builds_among(_IN_PIECES, Page.origin, Page.id > slot("after"))
_failed_with = builds_among(_IN_PIECES, Page.last_exit_code, Page.failed == ONE, Page.id > slot("after"))
_scanned = builds_among(_FOUND, Page.last_exit_code, Page.id > slot("after"), Page.id <= slot("bound"))
"""Pages by exit codes for which there is no index, in a stretch of the table."""
_LISTED_OR_FREE = (Page.todo_order > ZERO) | (Page.ignored_run != slot("run_id"))
_WAITS = is_pending(Page) & _LISTED_OR_FREE & (Page.not_before <= slot("now"))
_ranks = builds_among(Page.select(*_STATE, Page.nice + Page.attempts, Page.not_before), Page.id, _WAITS)
_todo = builds_among(todo_query(Page.origin, Page.todo_order), Page.id, _WAITS)


_LISTED = (Page.origin == slot("origin_id")) & (Page.todo_order > ZERO)
_todo_list = builds(Page.select(peewee.fn.MIN(Page.todo_order), peewee.fn.COUNT(Page.id)).where(_LISTED))
_newest_attempt = newest(Attempt)
_newest_page = newest(Page)
_state = reads_among(Page.id, *_STATE)
_origin_names = reads_among(Origin.id, Origin.id, Origin.origin)
_failed_origins = builds(Page.select(Page.origin).where(Page.failed == ONE).distinct().order_by(Page.origin))
