"""Segments as the database knows them (M): registered when they are written, consumed exactly once when loaded. The
rest of a queue is saved as segments, too: its pages stay in the table, each in a stash named after its segment, until
that is loaded again."""

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import peewee

from tui_crawler.domain.crawl.job import QueueChange
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import BadSegment, StorageFailure
from tui_crawler.domain.records.segment import SegmentHead, SegmentPage, name_stem
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.url import url_hash
from tui_crawler.storage.crawl import origins
from tui_crawler.storage.crawl.activity import newest_run, note
from tui_crawler.storage.crawl.counters import CounterChanges, mark, set_mark, tally_of
from tui_crawler.storage.crawl.intake import Source, move_counters, queue_pages
from tui_crawler.storage.crawl.stashes import put_aside
from tui_crawler.storage.crawl.urls import pages_by_hash, url_ids
from tui_crawler.storage.db import segment_files
from tui_crawler.storage.db.claim import STASHED, ZERO, Claim, is_pending, require
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.segment_files import Batch, final_path
from tui_crawler.storage.db.statements import builds, builds_among, columns, slot, updates
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Job, Origin, Page, Segment, Url
from tui_crawler.storage.queue.sorter import Sorter, entry_of

_CHUNK = 256  # of values in one statement
_LOADED_AT_ONCE = 2_048
_TOKEN_MARK = "segment_token"  # noqa: S105  # no secret: it tells the segments of one database from those of others
_BATCH_MARK = "segment_batch"


@dataclass(frozen=True, slots=True)
class SegmentStore:
    """Where the segments of `database` lie: in `folder`, by default in `segments` beside it; `segment_urls` in each."""

    database: DatabasePlace
    folder: Path | None = None
    segment_urls: int = 50_000

    @property
    def place(self) -> Path:
        """The folder, which may not exist."""
        return self.folder or self.database.parent / "segments"

    def made(self) -> Path:
        """The folder, which is made if it is the usual one. Raises StorageFailure."""
        if self.folder is None:
            try:
                self.place.mkdir(exist_ok=True)
            except OSError as error:
                raise segment_files.write_failure(error, self.place) from error
        if not self.place.is_dir():
            raise StorageFailure(f"the folder {self.place} does not exist")
        return self.place

    def kept(self, path: Path) -> str:
        """A path as the database keeps it: relative to itself where it can be, so that both may be moved together."""
        whole, home = path.absolute(), self.database.parent.absolute()
        beside = isinstance(self.database, Path) and whole.is_relative_to(home)
        return clean(str(whole.relative_to(home) if beside else whole))

    def found(self, kept: str) -> Path:
        return self.database.parent.absolute() / kept


class ReadySegment(NamedTuple):
    """A registered segment that was not consumed."""

    segment_id: int
    name: str
    digest: str
    path: Path


def new_batch(transaction: Transaction, database: DatabasePlace) -> str:
    """What the names of the segments of the next batch begin with; no other batch of any database gets the same."""
    token = mark(transaction, _TOKEN_MARK)
    if not token:
        token = secrets.randbits(32) | 1
        set_mark(transaction, _TOKEN_MARK, token)
    batch = mark(transaction, _BATCH_MARK) + 1
    set_mark(transaction, _BATCH_MARK, batch)
    return f"{name_stem(database.stem)}-{token:08x}-{batch:05}"


def tidy(transaction: Transaction, segment_store: SegmentStore, prefix: str) -> None:
    """Finish what killed batches have left: registered files get their names, others in the folder are removed.
    `prefix` is that of a batch of this database. Raises StorageFailure."""
    registered = {row[0] for row in transaction.fetch(Segment.select(Segment.name))}
    for part in segment_files.dead_parts(segment_store.place, prefix.rpartition("-")[0] + "-"):
        path = part.with_name(part.name.removesuffix(segment_files.PART))
        if path.stem in registered:
            segment_files.publish(path)
        else:
            segment_files.remove(part)
    for segment in waiting(transaction, segment_store):
        _publish(segment.path)


def register(transaction: Transaction, segment_store: SegmentStore, heads: Sequence[SegmentHead]) -> int:
    """Makes segments known that are written and not published yet; answers the highest id of all segments."""
    for head in heads:
        _insert(transaction, head, segment_store.kept(final_path(segment_store.place, head.name)), 0)
        note(transaction, "segment_saved", f"{head.name}: {head.urls} URLs", run_id=newest_run(transaction))
    return int(transaction.fetch(Segment.select(peewee.fn.MAX(Segment.id)))[0][0] or 0)


def waiting(transaction: Transaction, segment_store: SegmentStore) -> tuple[ReadySegment, ...]:
    """The segments that were not consumed, oldest first."""
    chosen = Segment.select(*columns(Segment, "id name digest path"))
    rows = transaction.fetch(chosen.where(Segment.consumed_at == 0).order_by(Segment.id))
    return tuple(ReadySegment(one, name, digest, segment_store.found(path)) for one, name, digest, path in rows)


def whole(segment: ReadySegment) -> SegmentHead:
    """The head of a segment whose file is there, whole, and still the one that was registered. Raises BadSegment."""
    head = segment_files.verify(segment.path)
    if (head.name, head.digest) != (segment.name, segment.digest):
        raise BadSegment(f"{segment.path} is not segment {segment.name}")
    return head


def next_waiting(transaction: Transaction, segment_store: SegmentStore) -> str:
    """The path of the oldest segment that waits and is whole; empty when there is none."""
    for segment in waiting(transaction, segment_store):
        _publish(segment.path)
        with suppress(BadSegment):
            whole(segment)
            return str(segment.path)
    return ""


def job_ids(transaction: Transaction) -> dict[str, int]:
    """The id of each job, under its name."""
    return dict(transaction.fetch(Job.select(Job.name, Job.id)))


def load(transaction: Transaction, claim: Claim, file: str) -> QueueChange:
    """Take the URLs of a segment into the queue; return how many pages of which origin are new, or are back.

    Pages go to the job that the segment names, else to that of the run. A new origin joins the run as an added one. One
    that the configuration has left out stays out: its pages are kept, and not returned. Raises BadSegment for no
    segment, a damaged one, one of a newer format, or one that was consumed before."""
    require(transaction, claim)
    path = Path(file)
    if transaction.fetch(Segment.select(Segment.id).where(Segment.name == path.stem)):
        _publish(path)
    head = segment_files.read_head(path)
    _refuse_consumed(transaction, head, path)
    job_id = job_ids(transaction).get(clean(head.job), claim.job_id)
    loaded = _unstash(transaction, job_id, head.name)
    for entries in segment_files.read_pages(path, _LOADED_AT_ONCE):
        loaded.update(_queue(transaction, claim, job_id, entries))
    taking_part = {name: count for name, count in loaded.items() if _takes_part(transaction, claim, name)}
    consumed = {Segment.consumed_at: transaction.now}
    if not transaction.fetch(Segment.update(consumed).where(Segment.name == head.name).returning(Segment.id)):
        _insert(transaction, head, "", transaction.now)
    message = f"{head.name}: {loaded.total()} of {head.urls} URLs"
    if left_out := loaded.total() - sum(taking_part.values()):
        message += f"; {left_out} of them are of origins that are no longer configured"
    note(transaction, "segment_loaded", message, run_id=claim.run_id)
    return QueueChange(tuple(sorted(taking_part.items())))


def _publish(path: Path) -> None:
    """A segment whose batch was killed after it was registered gets its name; a live batch may be doing so, too."""
    if not path.exists():
        segment_files.publish(path)


def _insert(transaction: Transaction, head: SegmentHead, path: str, consumed_at: int) -> None:
    known = {"name": head.name, "digest": head.digest, "urls": head.urls, "created_at": head.created_at}
    transaction.execute(Segment.insert(path=path, consumed_at=consumed_at, **known))


def _refuse_consumed(transaction: Transaction, head: SegmentHead, path: Path) -> None:
    """Raises BadSegment for a segment that was loaded before, or that is not the one registered under its name."""
    known = Segment.select(Segment.digest, Segment.consumed_at).where(Segment.name == head.name)
    for digest, consumed_at in transaction.fetch(known):
        if digest != head.digest:
            raise BadSegment(f"{path}: another segment is known by its name, {head.name}")
        if consumed_at:
            at = datetime.fromtimestamp(consumed_at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            raise BadSegment(f"{path}: segment {head.name} was loaded already, {at}")


def _queue(transaction: Transaction, claim: Claim, job_id: int, entries: Sequence[SegmentPage]) -> Counter[str]:
    pages = [replace(entry.page, seed=False) for entry in entries]
    ids = url_ids(transaction, {page.url_hash: clean(page.url) for page in pages})
    counts, moves = queue_pages(transaction, claim, Source(job_id, None, transaction.now), pages, ids)
    move_counters(transaction, job_id, moves)
    parents = {url_hash(clean(entry.found_on)) for entry in entries if entry.found_on}
    known: dict[int, int] = dict(transaction.all_among(_find_ids, sorted(parents), job_id))
    rows = (
        {"job_id": job_id, "url_id": ids[entry.page.url_hash], "depth": entry.page.depth, "parent": parent}
        for entry in entries
        if entry.found_on and (parent := known.get(url_hash(clean(entry.found_on)))) is not None
    )
    transaction.run_many(_set_found_on, rows)
    return counts


def _takes_part(transaction: Transaction, claim: Claim, origin: str) -> bool:
    row = origins.ensure(transaction, origin)
    if not row.participates and not row.joined:
        origins.join(transaction, claim, row, "added")
    return bool(row.participates or not row.joined)


def stash_name(segment: str) -> str:
    """The stash of the pages that a segment keeps aside."""
    return f"segment:{segment}"


def _unstash(transaction: Transaction, job_id: int, segment: str) -> Counter[str]:
    """The pages that this segment has kept aside are READY again; return how many of which origin."""
    kept = (Page.job == job_id) & (Page.stash == stash_name(segment)) & (Page.status == STASHED)
    alike = (Page.origin, Origin.origin, *columns(Page, "attempts_remaining last_exit_code beyond_depth"))
    counted = Page.select(*alike, peewee.fn.COUNT(Page.id)).join(Origin, on=(Origin.id == Page.origin))
    counts, moves = Counter[str](), CounterChanges()
    for origin_id, origin, *state, count in transaction.fetch(counted.where(kept).group_by(*alike)):
        ready, stashed = (tally_of(status, *state) for status in (PageStatus.READY, PageStatus.STASHED))
        moves.add(origin_id, ready.minus(stashed), count)
        counts[origin] += count
    ready_now = {Page.status: PageStatus.READY.value, Page.stash: "", Page.ignored_run: 0}
    transaction.execute(Page.update(ready_now).where(kept))
    move_counters(transaction, job_id, moves)
    return counts


_set_found_on = updates(
    [Page.job, Page.url, Page.depth],
    to={Page.found_on: slot("parent")},
    where=Page.found_on.is_null() & (Page.seed == ZERO) & (Page.id != slot("parent")),
)
"""A page that came with a segment gets the page that named it; one that is known better keeps what it has."""


@dataclass(slots=True)
class PendingSegments:
    """The pending pages on their way into segments: `prepare` writes the files, calling it does the rest in a
    transaction; then `publish`, and at the end `close`. Raises StorageFailure."""

    _claim: Claim
    _segment_store: SegmentStore
    _prefix: str
    _sorter: Sorter = field(default_factory=Sorter)
    _batch: Batch | None = None

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
                put_aside(transaction, chunk[0][0], keys, stash_name(head.name))
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


def _pending_pages(transaction: Transaction, claim: Claim) -> Iterator[tuple[int, SegmentPage]]:
    """Every page pending at the origins of this run (of this worker, if there are several), with its job."""
    mine = Origin.participates == 1
    if claim.shared:
        mine &= Origin.session_id == claim.session_id
    for origin_id, origin in transaction.fetch(Origin.select(Origin.id, Origin.origin).where(mine)):
        ids = [row[0] for row in transaction.all(_open_ids, {"origin_id": origin_id})]
        for start in range(0, len(ids), _CHUNK):
            for job_id, href, key, *values in transaction.all_among(_pages, ids[start : start + _CHUNK]):
                yield job_id, entry_of(href, key, origin, values)


_IS_OPEN = is_pending(Page) & (Page.external == ZERO)


_Parent, _ParentUrl = Page.alias("parent"), Url.alias("parent_url")
_KEPT = columns(Page, "depth nice redirect_hops item_pattern force not_before sitemap lastmod")
_pages = builds_among(
    Page.select(Page.job, Url.href, Url.hash, *_KEPT, _ParentUrl.href)
    .join(Url, on=(Url.id == Page.url))
    .join_from(Page, _Parent, peewee.JOIN.LEFT_OUTER, on=(_Parent.id == Page.found_on))
    .join_from(_Parent, _ParentUrl, peewee.JOIN.LEFT_OUTER, on=(_ParentUrl.id == _Parent.url)),
    Page.id,
)
_find_ids = pages_by_hash(Url.hash, Page.id)
_open_ids = builds(Page.select(Page.id).where((Page.origin == slot("origin_id")) & _IS_OPEN))
