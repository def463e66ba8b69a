"""`queue build` (M): what documents not yet scanned, and redirects, name is written into segments.

Everything is read in windows, each a short read, so that a live run goes on; one short transaction at the end makes
the segments known, marks what was scanned and keeps the seen index. Killed before it, a build has changed nothing;
after it, the next build finishes what was left: the names of the files.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tui_crawler.domain.admission import Admission
from tui_crawler.domain.attempt import LinkKind
from tui_crawler.domain.run import BadSegment, StorageFailure
from tui_crawler.storage import scan_windows, segment_files, segments
from tui_crawler.storage.beside import Beside
from tui_crawler.storage.clock import wall_clock
from tui_crawler.storage.crawl_log import count_refused
from tui_crawler.storage.database import open_writable
from tui_crawler.storage.driver import DATABASE_ERRORS
from tui_crawler.storage.faults import storage_failure
from tui_crawler.storage.harvest import Harvest
from tui_crawler.storage.marks import mark, set_mark
from tui_crawler.storage.open_settings import OpenSettings
from tui_crawler.storage.seen import SeenIndex, SeenSettings, open_seen, pages_among
from tui_crawler.storage.segments import Shelf, Waiting
from tui_crawler.storage.sorter import Sorter
from tui_crawler.storage.transaction import Transaction

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
    """What a build came to. `scanned` counts documents and pages that redirect or are noindex, `found` the URLs they
    name: each of those was `refused` by a filter, or `known`, or stands in one of `segments`."""

    scanned: int
    found: int
    known: int
    refused: int
    segments: tuple[BuiltSegment, ...]
    warnings: tuple[str, ...] = ()


def build_queue(path: Path, settings: BuildSettings, admission_of: Callable[[str], Admission]) -> Built:
    """Builds segments from what the database at `path` holds; `admission_of` gives the filters of a job by its name.

    Raises StorageFailure, also when another build has finished meanwhile; then nothing was changed.
    """
    database = open_writable(path, settings.opening)
    try:
        with contextlib.closing(Sorter()) as sorter:
            return _Build(Beside(database, settings.now), path, settings, sorter).run(admission_of)
    except DATABASE_ERRORS as error:
        raise storage_failure(error, path) from error
    finally:
        database.close()


@dataclass(frozen=True, slots=True)
class _Start:
    """How the database stood when a build began. `prefix` is that of its batch, `generation` counts finished builds,
    `jobs` are ids by name, `waiting` the segments that wait."""

    prefix: str
    generation: int
    jobs: dict[str, int]
    waiting: tuple[Waiting, ...]


class _Build:
    """One build, from the first read to the names of its files."""

    def __init__(self, beside: Beside, path: Path, settings: BuildSettings, sorter: Sorter) -> None:
        self._beside = beside
        self._shelf = Shelf(path, settings.output, settings.segment_urls)
        self._settings = settings
        self._sorter = sorter
        self._warnings: list[str] = []

    def run(self, admission_of: Callable[[str], Admission]) -> Built:
        """The whole build."""
        self._shelf.made()
        with self._beside.writing() as transaction:
            start = _begin(transaction, self._shelf)
        segments.tidy(self._beside.loose(), self._shelf, start.prefix)
        seen = open_seen(self._settings.seen, self._beside.loose(), self._sorter)
        admissions = {job_id: admission_of(name) for name, job_id in start.jobs.items()}
        known = scan_windows.pages_by_origin(self._beside.loose())
        harvest = Harvest(self._sorter, seen, admissions, self._settings.link_kinds, known)
        limited = any(one.limits.max_pages_per_origin is not None for one in admissions.values())
        self._take_waiting(harvest, seen, start, limited=limited)
        self._scan(harvest, start)
        try:
            built = self._write(harvest, seen, start)
        except (StorageFailure, *DATABASE_ERRORS):
            with contextlib.suppress(StorageFailure, *DATABASE_ERRORS):
                segments.tidy(self._beside.loose(), self._shelf, start.prefix)
            raise
        warnings = (*self._warnings, *seen.warnings)
        return Built(harvest.scanned, harvest.found, harvest.known, harvest.refused, built, warnings)

    def _take_waiting(self, harvest: Harvest, seen: SeenIndex, start: _Start, *, limited: bool) -> None:
        """What waits in segments is known; with a limit of pages it also counts for its origins."""
        transaction = self._beside.loose()
        for segment in start.waiting:
            if segment.segment_id <= seen.after_segment and not limited:
                continue
            try:
                job_id = start.jobs.get(segments.whole(segment).job, 0)
                for entries in segment_files.read_pages(segment.path, _AT_ONCE):
                    keys = [entry.page.url_hash for entry in entries]
                    seen.take_waiting(job_id, keys)
                    pages = pages_among(transaction, job_id, keys) if limited else set()
                    harvest.count(entry.page.origin for entry in entries if entry.page.url_hash not in pages)
            except BadSegment as error:
                self._warnings.append(f"a segment that waits to be loaded: {error}; its URLs count as not seen")

    def _scan(self, harvest: Harvest, start: _Start) -> None:
        """Takes everything that was not scanned before: documents, then pages without one. Jobs that are younger than
        the beginning of the build are left for the next one."""
        kinds = [kind.value for kind in self._settings.link_kinds]
        jobs = frozenset(start.jobs.values())
        for look in (scan_windows.documents, scan_windows.without_document):
            after = 0
            while True:
                with self._beside.reading() as transaction:
                    parents = look(transaction, after, self._settings.window)
                    ids = [parent.page.page_id for parent in parents]
                    linked = scan_windows.links(transaction, ids, kinds)
                    sent = scan_windows.redirects(transaction, ids)
                if not parents:
                    break
                harvest.take([parent for parent in parents if parent.page.job_id in jobs], linked, sent)
                after = ids[-1]

    def _write(self, harvest: Harvest, seen: SeenIndex, start: _Start) -> tuple[BuiltSegment, ...]:
        """The files, the transaction that makes them known, their names."""
        names = {job_id: name for name, job_id in start.jobs.items()}
        entries = ((names[job_id], entry) for job_id, entry in self._sorter.entries())
        folder = self._shelf.place
        with contextlib.closing(segment_files.Batch(folder, start.prefix, self._settings.now())) as batch:
            batch.write(entries, self._settings.segment_urls)
            batch.hand_over()
            with self._beside.writing() as transaction:
                if mark(transaction, _BUILD_MARK) != start.generation:
                    raise StorageFailure("another queue build has finished meanwhile: nothing was changed")
                set_mark(transaction, _BUILD_MARK, start.generation + 1)
                last_segment = segments.register(transaction, self._shelf, batch.heads)
                self._store(transaction, harvest, seen, last_segment)
            batch.publish()
            return tuple(BuiltSegment(segment_files.final_path(folder, h.name), h.urls) for h in batch.heads)

    def _store(self, transaction: Transaction, harvest: Harvest, seen: SeenIndex, last_segment: int) -> None:
        """What was scanned, what was refused, and what is known from now on."""
        visited = self._sorter.visited()
        while chunk := list(itertools.islice(visited, _AT_ONCE)):
            scan_windows.mark_scanned(transaction, chunk)
        for origin_id, refused in harvest.refused_by_origin().items():
            count_refused(transaction, origin_id, refused)
        seen.add(self._sorter.keys())
        seen.save(transaction, last_segment)


def _begin(transaction: Transaction, shelf: Shelf) -> _Start:
    return _Start(
        prefix=segments.new_batch(transaction, shelf.database),
        generation=mark(transaction, _BUILD_MARK),
        jobs=segments.job_ids(transaction),
        waiting=segments.waiting(transaction, shelf),
    )
