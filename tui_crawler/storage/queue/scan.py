"""`queue build` (M): write what unscanned documents and redirects name into segments.

It reads in windows, each a short read, so that a live run is not held up; one short transaction at the end registers
the segments, marks what was scanned and keeps the seen index. Killed before it, a build has changed nothing; after it,
the next build finishes the names of the files."""

import contextlib
import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import peewee

from tui_crawler.domain.crawl.intake import Find, Intake, admit
from tui_crawler.domain.records.attempt import RefusedCounts
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import BadSegment, StorageFailure
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.domain.records.segment import SegmentPage
from tui_crawler.domain.rules.admission import Admission
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, InvalidUrl, normalise
from tui_crawler.storage.crawl.counters import mark, set_mark
from tui_crawler.storage.crawl.crawl_log import count_refused
from tui_crawler.storage.db import segment_files
from tui_crawler.storage.db.claim import ONE, ZERO
from tui_crawler.storage.db.clock import wall_clock
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.statements import builds, columns, slot, updates
from tui_crawler.storage.db.transaction import Texts, Transaction
from tui_crawler.storage.db.writing import writing_of
from tui_crawler.storage.drivers.dialect import dialect_of
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, Row, connection_of, told_of
from tui_crawler.storage.drivers.faults import is_busy
from tui_crawler.storage.models import Document, Link, Origin, Page, Redirect, Url
from tui_crawler.storage.queue import segments
from tui_crawler.storage.queue.seen import SeenIndex, SeenSettings, open_seen, pages_among
from tui_crawler.storage.queue.segments import SegmentStore
from tui_crawler.storage.queue.sorter import Sorter

_PATIENCE_S = 30.0


class SideConnection:
    """Uses an open connection; `now` gives epoch ms. Every method raises the drivers' errors."""

    def __init__(self, database: peewee.Database, path: DatabasePlace, now: Callable[[], int]) -> None:
        self._connection = connection_of(database)
        self._writing = writing_of(database, path, now)
        self._begins_reading = dialect_of(database).begin_reading
        self._texts = Texts(database)
        self._now = now

    def loose(self) -> Transaction:
        """Statements that are each by themselves."""
        return Transaction(self._connection, self._texts, self._now())

    @contextlib.contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Reads that see one state of the database."""
        with self._between(partial(self._connection.execute, self._begins_reading)):
            yield self.loose()

    @contextlib.contextmanager
    def writing(self) -> Iterator[Transaction]:
        """One transaction; it waits half a minute for a lock that another program holds."""
        with self._between(partial(self._writing.begin, patient=True, apart=True)):
            transaction = self.loose()
            self._writing.number(transaction)
            yield transaction

    @contextlib.contextmanager
    def _between(self, begin: Callable[[], object]) -> Iterator[None]:
        self._patiently(begin)
        try:
            yield
            self._patiently(partial(self._connection.execute, "COMMIT"))
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _patiently(self, step: Callable[[], object]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                step()
            except DATABASE_ERRORS as error:
                if not is_busy(error) or time.monotonic() >= deadline:
                    raise
            else:
                return


_PARENT = (Page.id, Page.job, Url.href, *columns(Page, "depth nice redirect_hops item_pattern force sitemap origin"))
_Named = Mapping[int, Sequence[tuple[str, int]]]
"""URLs that pages name (text and hash), by page."""


class _Parent(NamedTuple):
    """A page that names others, with or without a document. `read_at` is when it last gave them (epoch ms)."""

    page: TodoPage
    origin_id: int
    read_at: int
    document: bool


def _parent(row: Row, *, document: bool) -> _Parent:
    page_id, job_id, url, depth, nice, hops, pattern, force, sitemap, origin_id, read_at = row
    known = (page_id, job_id, url, depth, nice)
    page = TodoPage(*known, redirect_hops=hops, item_pattern=pattern, force=bool(force), sitemap=bool(sitemap))
    return _Parent(page, origin_id, read_at, document)


def _named(transaction: Transaction, page: Any, page_ids: Sequence[int], *which: Any) -> _Named:
    """What pages name in a table, `page` is its column of them."""
    query = page.model.select(page, Url.href, Url.hash).join(Url, on=(Url.id == page.model.to_url))
    found: dict[int, list[tuple[str, int]]] = {}
    for page_id, *named in transaction.fetch(query.where(page.in_(list(page_ids)), *which)):
        found.setdefault(page_id, []).append((named[0], named[1]))
    return found


_unscanned = builds(
    Page.select(*_PARENT, Document.stored_at)
    .join(Document, on=(Document.page == Page.id))
    .switch(Page)
    .join(Url, on=(Url.id == Page.url))
    .where((Document.scanned_at == ZERO) & (Document.page > slot("after")))
    .order_by(Document.page)
    .limit(slot("limit"))
)
_bare = builds(
    Page.select(*_PARENT, Page.last_contentful_at)
    .join(Url, on=(Url.id == Page.url))
    .where((Page.unscanned == ONE) & (Page.id > slot("after")))
    .order_by(Page.id)
    .limit(slot("limit"))
)
_mark_page = updates([Page.id, Page.last_contentful_at], to={Page.unscanned: ZERO})
_mark_document = updates([Document.page, Document.stored_at], Document.scanned_at)
_REMEMBERED = 16_384  # URLs that were parsed: navigation repeats itself


class LinkScan:
    """Collects URLs in `sorter`. `admissions` are the filters by id of job, `pages_known` counts the pages of each
    origin. `found` counts the URLs named, each of which is refused, `known`, or in the sorter. `refused` counts by id
    of the origin of the page that named them."""

    def __init__(
        self,
        sorter: Sorter,
        seen: SeenIndex,
        admissions: Mapping[int, Admission],
        kinds: frozenset[LinkKind],
        pages_known: Mapping[str, int],
    ) -> None:
        self._sorter, self._seen = sorter, seen
        self.pages_known = Counter(pages_known)
        self._intakes = {job_id: Intake(one, kinds, self.pages_known) for job_id, one in admissions.items()}
        self.refused: dict[int, RefusedCounts] = defaultdict(RefusedCounts)
        self._url = lru_cache(_REMEMBERED)(lambda href: normalise(href, None, CLIENT_MAX_LENGTH))
        self.scanned = self.found = self.known = 0

    def take(self, parents: Sequence[_Parent], linked: _Named, sent: _Named) -> None:
        """What these pages name: links and redirects by id of page. A page is taken once."""
        known = self._known(parents, linked, sent)
        for parent in parents:
            page = parent.page
            if not self._sorter.visit(page.page_id, parent.read_at, document=parent.document):
                continue
            self.scanned += 1
            finds = [
                *self._finds(parent, linked, depth=page.depth + 1),
                *self._finds(parent, sent, depth=page.depth, hops=page.redirect_hops + 1, sitemap=page.sitemap),
            ]
            queue = admit(finds, page, self._intakes[page.job_id])
            for refused in queue.refused:
                self._refuse(parent, refused.reason, refused.sample_url, refused.count)
            self.found += len(queue.pages)
            for new in queue.pages:
                if new.url_hash in known[page.job_id] or not self._sorter.add(page.job_id, SegmentPage(new, page.url)):
                    self.known += 1
                else:
                    self.pages_known[new.origin] += 1

    def _known(self, parents: Iterable[_Parent], *named: _Named) -> dict[int, set[int]]:
        keys: dict[int, set[int]] = defaultdict(set)
        for page, *_ in parents:
            keys[page.job_id].update(key for by_page in named for _, key in by_page.get(page.page_id, ()))
        return {job_id: self._seen.known(job_id, sorted(of_job)) for job_id, of_job in keys.items()}

    def _finds(
        self, parent: _Parent, named: _Named, depth: int, hops: int = 0, *, sitemap: bool = False
    ) -> Iterator[Find]:
        for href, _ in named.get(parent.page.page_id, ()):
            url = self._url(href)
            if isinstance(url, InvalidUrl):  # a version with other rules for URLs stored it
                self._refuse(parent, "invalid_url", href)
            else:
                yield Find(url, depth, hops, sitemap)

    def _refuse(self, parent: _Parent, reason: str, href: str, count: int = 1) -> None:
        self.found += count
        self.refused[parent.origin_id].add(reason, href, count)


_AT_ONCE = 5_000  # URLs of segments, marks of pages
_BUILD_MARK = "queue_build"


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """How a build works. `output` None: the usual folder. `window` is how many pages are read at once."""

    output: Path | None = None
    segment_urls: int = 50_000
    link_kinds: frozenset[LinkKind] = frozenset({LinkKind.a})
    seen: SeenSettings = field(default_factory=SeenSettings)
    window: int = 50
    opening: OpenSettings = field(default_factory=OpenSettings)
    now: Callable[[], int] = wall_clock


@dataclass(frozen=True, slots=True)
class BuiltSegment:
    """A segment that was written."""

    path: Path
    urls: int


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build. `scanned` counts documents and pages without one, `found` the URLs they name."""

    scanned: int
    found: int
    known: int
    refused: int
    segments: tuple[BuiltSegment, ...]
    warnings: tuple[str, ...] = ()


def build_queue(path: DatabasePlace, settings: BuildSettings, admission_of: Callable[[str], Admission]) -> Built:
    """Build segments from what the database at `path` holds; `admission_of` gives the filters of a job by its name.
    Raises StorageFailure, also when another build has finished in between; then nothing was changed."""
    opened = contextlib.closing(open_writable(path, settings.opening))
    with told_of(path), opened as database, contextlib.closing(Sorter()) as sorter:
        return _Build(SideConnection(database, path, settings.now), path, settings, sorter).run(admission_of)


class _Build:
    """One build, from the first read to the names of its files. `_prefix` is that of its batch."""

    def __init__(self, beside: SideConnection, path: DatabasePlace, settings: BuildSettings, sorter: Sorter) -> None:
        self._beside, self._settings, self._sorter = beside, settings, sorter
        self._segment_store = SegmentStore(path, settings.output, settings.segment_urls)
        self._warnings: list[str] = []
        self._segment_store.made()
        with beside.writing() as transaction:
            self._prefix = segments.new_batch(transaction, path)
            self._builds_before = mark(transaction, _BUILD_MARK)
            self._jobs = segments.job_ids(transaction)
            self._waiting = segments.waiting(transaction, self._segment_store)

    def run(self, admission_of: Callable[[str], Admission]) -> Built:
        reader = self._beside.loose()
        segments.tidy(reader, self._segment_store, self._prefix)
        seen = open_seen(self._settings.seen, reader, self._sorter)
        admissions = {job_id: admission_of(name) for name, job_id in self._jobs.items()}
        known: dict[str, int] = dict(reader.fetch(Origin.select(Origin.origin, Origin.pages_known)))
        harvest = LinkScan(self._sorter, seen, admissions, self._settings.link_kinds, known)
        limited = any(one.limits.max_pages_per_origin is not None for one in admissions.values())
        self._take_waiting(harvest, seen, limited=limited)
        self._scan(harvest)
        try:
            built = self._write(harvest, seen)
        except (StorageFailure, *DATABASE_ERRORS):
            with contextlib.suppress(StorageFailure, *DATABASE_ERRORS):
                segments.tidy(self._beside.loose(), self._segment_store, self._prefix)
            raise
        refused = sum(one.count for of_origin in harvest.refused.values() for one in of_origin.all())
        warnings = (*self._warnings, *seen.warnings)
        return Built(harvest.scanned, harvest.found, harvest.known, refused, built, warnings)

    def _take_waiting(self, harvest: LinkScan, seen: SeenIndex, *, limited: bool) -> None:
        """What waits in segments is known; with a limit of pages it also counts for its origins."""
        transaction = self._beside.loose()
        for segment in self._waiting:
            if segment.segment_id <= seen.after_segment and not limited:
                continue
            try:
                job_id = self._jobs.get(segments.whole(segment).job, 0)
                for entries in segment_files.read_pages(segment.path, _AT_ONCE):
                    keys = [entry.page.url_hash for entry in entries]
                    seen.take_waiting(job_id, keys)
                    pages = pages_among(transaction, job_id, keys) if limited else set()
                    harvest.pages_known.update(one.page.origin for one in entries if one.page.url_hash not in pages)
            except BadSegment as error:
                self._warnings.append(f"a segment that waits to be loaded: {error}; its URLs count as not seen")

    def _scan(self, harvest: LinkScan) -> None:
        """Take documents not scanned before, then pages without one. Jobs made since the start are left for the next
        build."""
        followed = (Link.kind.in_(sorted(kind.value for kind in self._settings.link_kinds)), Link.nofollow == 0)
        jobs = frozenset(self._jobs.values())
        for pages, document in ((_unscanned, True), (_bare, False)):
            after = 0
            while True:
                with self._beside.reading() as transaction:
                    rows = transaction.all(pages, {"after": after, "limit": self._settings.window})
                    parents = [_parent(row, document=document) for row in rows]
                    ids = [row[0] for row in rows]
                    linked = _named(transaction, Link.from_page, ids, *followed)
                    sent = _named(transaction, Redirect.page, ids)
                if not parents:
                    break
                harvest.take([parent for parent in parents if parent.page.job_id in jobs], linked, sent)
                after = ids[-1]

    def _write(self, harvest: LinkScan, seen: SeenIndex) -> tuple[BuiltSegment, ...]:
        names = {job_id: name for name, job_id in self._jobs.items()}
        entries = ((names[job_id], entry) for job_id, entry in self._sorter.entries())
        folder = self._segment_store.place
        with contextlib.closing(segment_files.Batch(folder, self._prefix, self._settings.now())) as batch:
            batch.write(entries, self._settings.segment_urls)
            batch.hand_over()
            with self._beside.writing() as transaction:
                if mark(transaction, _BUILD_MARK) != self._builds_before:
                    raise StorageFailure("another queue build has finished meanwhile: nothing was changed")
                set_mark(transaction, _BUILD_MARK, self._builds_before + 1)
                last_segment = segments.register(transaction, self._segment_store, batch.heads)
                self._mark_scanned(transaction)
                for origin_id, refused in sorted(harvest.refused.items()):
                    count_refused(transaction, origin_id, refused.all())
                seen.add(self._sorter.keys())
                seen.save(transaction, last_segment)
            batch.publish()
            return tuple(BuiltSegment(segment_files.final_path(folder, h.name), h.urls) for h in batch.heads)

    def _mark_scanned(self, transaction: Transaction) -> None:
        """Notes which pages were scanned, with a document or without, if what they name is still what they gave."""
        visited, now = self._sorter.visited(), transaction.now
        while chunk := list(itertools.islice(visited, _AT_ONCE)):
            stored = ({"page_id": one, "stored_at": at, "scanned_at": now} for one, at, document in chunk if document)
            transaction.run_many(_mark_document, stored)
            bare = ({"page_id": one, "last_contentful_at": at} for one, at, document in chunk if not document)
            transaction.run_many(_mark_page, bare)
