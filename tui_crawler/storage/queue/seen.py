"""The seen index (M): which URLs a job knows already, as a page or in a segment that waits to be loaded.

A URL is its 64-bit hash, as everywhere in the store, so an index of hashes is as exact as the table of pages.
`database` asks that table, `memory` has read its hashes at the start, `bloom` keeps a filter from build to build: it
never takes a known URL for a new one, and a new one for a known one about as often as its error rate says."""

import math
import operator
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import peewee
from rbloom import Bloom

from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.crawl.counters import mark, set_mark
from tui_crawler.storage.crawl.urls import pages_by_hash
from tui_crawler.storage.db.statements import builds, columns, slot
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Page, SeenFilter, Url
from tui_crawler.storage.queue.sorter import Sorter

SeenKind = Literal["database", "memory", "bloom"]

_WINDOW = 20_000  # pages read at once
_PAGE_MARK = "seen_page"
_SEGMENT_MARK = "seen_segment"
_SPREAD = 0x9E3779B97F4A7C15  # odd: jobs with the same URL get keys far apart
_MASK = (1 << 64) - 1
_LOWEST = -(1 << 63)
_LONGEST_VALUE = 999_000_000  # bytes; SQLite takes values of up to 1,000,000,000


@dataclass(frozen=True, slots=True)
class SeenSettings:
    """Which index. `capacity` and `error_rate` are of the Bloom filter."""

    kind: SeenKind = "database"
    capacity: int = 10_000_000
    error_rate: float = 0.001


class SeenIndex:
    """Exact: asks the table of pages, and the sorter for what waits in segments. Keys are URL hashes."""

    after_segment = 0
    """URLs of waiting segments with a higher id are to be handed to it."""

    def __init__(self, settings: SeenSettings, transaction: Transaction, sorter: Sorter) -> None:
        self._settings, self._transaction, self._sorter = settings, transaction, sorter

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its user should know of it now."""
        return ()

    def take_waiting(self, job_id: int, keys: Sequence[int]) -> None:
        """URLs that wait in a segment."""
        self._sorter.add_pending(job_id, keys)

    def known(self, job_id: int, keys: Sequence[int]) -> set[int]:
        """Which of these URLs the job knows."""
        return self._sorter.pending(job_id, keys) | pages_among(self._transaction, job_id, keys)

    def add(self, found: Iterable[tuple[int, int]]) -> None:
        """URLs (job id and key) that are about to be stored in segments, which keep them."""

    def save(self, transaction: Transaction, last_segment: int) -> None:
        """Keeps it for the next build, in the transaction that makes those segments known, up to this id."""


def pages_among(transaction: Transaction, job_id: int, keys: Sequence[int]) -> set[int]:
    """Which of these URL hashes are pages of a job."""
    return {row[0] for row in transaction.all_among(_find, keys, job_id)}


class MemorySeen(SeenIndex):
    """Exact, and quick where pages are many: eight bytes of memory for each of them. It is read again at each start."""

    def __init__(self, settings: SeenSettings, transaction: Transaction, sorter: Sorter) -> None:
        super().__init__(settings, transaction, sorter)
        self._pages: dict[int, array[int]] = {}
        last = (_LOWEST, 0)
        while rows := transaction.all(_ordered, {"limit": _WINDOW, "hash": last[0], "job": last[1]}):
            for key, job_id in rows:
                self._pages.setdefault(job_id, array("q")).append(key)
            last = rows[-1]

    def known(self, job_id: int, keys: Sequence[int]) -> set[int]:
        found = self._sorter.pending(job_id, keys)
        pages = self._pages.get(job_id, array("q"))
        for key in keys:
            place = bisect_left(pages, key)
            if place < len(pages) and pages[place] == key:
                found.add(key)
        return found


class BloomSeen(SeenIndex):
    """A filter kept in the database; with other parameters it is made again from pages and waiting segments."""

    def __init__(self, settings: SeenSettings, transaction: Transaction, sorter: Sorter) -> None:
        super().__init__(settings, transaction, sorter)
        size = math.ceil(-settings.capacity * math.log(settings.error_rate) / math.log(2) ** 2 / 8)
        if size > _LONGEST_VALUE:
            raise StorageFailure(
                f"seen_index: a Bloom filter for {settings.capacity} URLs at error_rate {settings.error_rate:g} takes "
                f"{size >> 20} MiB, the database keeps {_LONGEST_VALUE >> 20} MiB: lower capacity or raise error_rate"
            )
        self._filter = Bloom(settings.capacity, settings.error_rate, operator.index)
        self._count = self._last_page = 0
        self._load(transaction)
        while rows := transaction.all(_pages_after, {"after": self._last_page, "limit": _WINDOW}):
            self.add((job_id, key) for _, job_id, key in rows)
            self._last_page = rows[-1][0]

    @property
    def warnings(self) -> tuple[str, ...]:
        if self._count < self._settings.capacity:
            return ()
        return (
            f"seen_index: the Bloom filter holds {self._count} URLs and was made for {self._settings.capacity}: more "
            f"new URLs are taken for known ones than error_rate {self._settings.error_rate:g} says. A higher "
            "seen_index.capacity makes it anew",
        )

    def take_waiting(self, job_id: int, keys: Sequence[int]) -> None:
        self.add((job_id, key) for key in keys)

    def known(self, job_id: int, keys: Sequence[int]) -> set[int]:
        return {key for key in keys if _spread(job_id, key) in self._filter}

    def add(self, found: Iterable[tuple[int, int]]) -> None:
        seen = self._filter
        for job_id, key in found:
            spread = _spread(job_id, key)
            if spread not in seen:
                seen.add(spread)
                self._count += 1

    def save(self, transaction: Transaction, last_segment: int) -> None:
        values = {
            SeenFilter.capacity: self._settings.capacity,
            SeenFilter.error_rate: self._settings.error_rate,
            SeenFilter.count: self._count,
            SeenFilter.bits: sqlite3.Binary(self._filter.save_bytes()),
        }
        transaction.execute(SeenFilter.delete())
        transaction.execute(SeenFilter.insert(values))
        set_mark(transaction, _PAGE_MARK, self._last_page)
        set_mark(transaction, _SEGMENT_MARK, last_segment)

    def _load(self, transaction: Transaction) -> None:
        """Take the stored filter over if it is intact and of these parameters; else this one stays empty."""
        chosen = columns(SeenFilter, "capacity error_rate count bits")
        rows = transaction.fetch(SeenFilter.select(*chosen).order_by(SeenFilter.id.desc()).limit(1))
        if not rows or rows[0][:2] != (self._settings.capacity, self._settings.error_rate):
            return
        bits, empty = bytes(rows[0][3]), self._filter.save_bytes()
        if len(bits) != len(empty) or bits[:8] != empty[:8]:
            return  # another version of the library wrote it
        self._filter = Bloom.load_bytes(bits, operator.index)
        self._count = rows[0][2]
        self._last_page = mark(transaction, _PAGE_MARK)
        self.after_segment = mark(transaction, _SEGMENT_MARK)


def _spread(job_id: int, key: int) -> int:
    """One number for job and URL; the filter takes any of 128 bits."""
    return key ^ (job_id * _SPREAD & _MASK)


_KEY = (Url.hash, Page.job)
_ordered = builds(
    Url.select(*_KEY)
    .join(Page, on=(Page.url == Url.id))
    .where(Url.hash >= slot("hash"))
    .where(peewee.Expression(peewee.Tuple(*_KEY), peewee.OP.GT, peewee.Tuple(slot("hash"), slot("job"))))
    .order_by(*_KEY)
    .limit(slot("limit"))
)
"""A window of the pages by the hash of their URL, which indices alone answer."""
_pages_after = builds(
    Page.select(Page.id, Page.job, Url.hash)
    .join(Url, on=(Url.id == Page.url))
    .where(Page.id > slot("after"))
    .order_by(Page.id)
    .limit(slot("limit"))
)
_find = pages_by_hash(Url.hash)


_KINDS: Mapping[SeenKind, type[SeenIndex]] = {"database": SeenIndex, "memory": MemorySeen, "bloom": BloomSeen}


def open_seen(settings: SeenSettings, transaction: Transaction, sorter: Sorter) -> SeenIndex:
    """The index, up to date with the table of pages. Raises StorageFailure for a filter that cannot be kept."""
    return _KINDS[settings.kind](settings, transaction, sorter)
