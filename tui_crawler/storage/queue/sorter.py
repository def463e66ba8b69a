"""A scratch database for more URLs than fit into memory: it merges what was found twice, and sorts. It is a temporary
file of SQLite's own, removed when it is closed or its process ends."""
# ruff: noqa: S608  # the column lists are those of this module

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.records.segment import SegmentPage

_CHUNK = 400  # of keys in one statement
_TABLES = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384; PRAGMA temp_store = FILE;
CREATE TABLE found (job INTEGER, key INTEGER, origin TEXT, rest TEXT, depth INTEGER, nice INTEGER, hops INTEGER,
    pattern TEXT, force INTEGER, not_before INTEGER, sitemap INTEGER, lastmod INTEGER, found_on TEXT);
CREATE UNIQUE INDEX found_key ON found (job, key);
CREATE TABLE pending (job INTEGER, key INTEGER, PRIMARY KEY (job, key)) WITHOUT ROWID;
CREATE TABLE visited (page_id INTEGER PRIMARY KEY, read_at INTEGER, document INTEGER);
"""
_KEPT = ("depth", "nice", "redirect_hops", "item_pattern", "force", "not_before", "sitemap", "lastmod")
_page_values = attrgetter(*_KEPT)
"""The fields of a page that stand in these columns, but the last."""

_INSERT = f"INSERT OR IGNORE INTO found VALUES ({', '.join('?' * (len(_KEPT) + 5))})"


def entry_of(url: str, key: int, origin: str, values: Sequence[Any]) -> SegmentPage:
    """A URL with its hash and origin as a segment holds it. `values` are those a database keeps of it: depth, nice,
    redirect hops, item pattern, force, not before, sitemap, lastmod, and the URL of the page that named it, if any."""
    *said, found_on = values
    kept: dict[str, Any] = dict(zip(_KEPT, said, strict=True))
    kept |= {name: bool(kept[name]) for name in ("force", "sitemap")}
    return SegmentPage(NewPage(url=url, url_hash=key, origin=origin, **kept), found_on or "")


class Sorter:
    """Usable from one thread at a time. Every method raises sqlite3.Error when there is no room for temporary files."""

    def __init__(self) -> None:
        self._scratch = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._scratch.executescript(_TABLES)
        self._scratch.execute("BEGIN")

    def close(self) -> None:
        """Forgets everything."""
        self._scratch.close()

    def add(self, job_id: int, entry: SegmentPage) -> bool:
        """Take a URL of a job; return whether it is new. Else keep the lowest depth, nice and hops, the newest
        `lastmod`."""
        page, found_on = entry.page, entry.found_on
        key = (job_id, page.url_hash, page.origin, page.url[len(page.origin) :])
        inserted = self._scratch.execute(_INSERT, (*key, *_page_values(page), found_on)).rowcount == 1
        if not inserted:
            self._scratch.execute(
                "UPDATE found SET found_on = CASE WHEN :depth < depth THEN :found_on ELSE found_on END,"
                " depth = min(depth, :depth), nice = min(nice, :nice), hops = min(hops, :hops),"
                " lastmod = max(lastmod, :lastmod) WHERE job = :job AND key = :key",
                {"job": job_id, "key": page.url_hash, "found_on": found_on, "hops": page.redirect_hops}
                | {name: getattr(page, name) for name in ("depth", "nice", "lastmod")},
            )
        return inserted

    def entries(self) -> Iterator[tuple[int, SegmentPage]]:
        """The URLs with the ids of their jobs, in the order of job, origin, URL."""
        rows = self._scratch.execute("SELECT * FROM found ORDER BY job, origin, rest")
        for job_id, key, origin, rest, *values in rows:
            yield job_id, entry_of(origin + rest, key, origin, values)

    def keys(self) -> Iterator[tuple[int, int]]:
        """Job id and URL hash of every URL."""
        yield from self._scratch.execute("SELECT job, key FROM found")

    def count(self) -> int:
        """How many URLs there are."""
        count: int = self._scratch.execute("SELECT COUNT(*) FROM found").fetchone()[0]
        return count

    def add_pending(self, job_id: int, keys: Iterable[int]) -> None:
        """Notes URL hashes that wait in a segment already."""
        self._scratch.executemany("INSERT OR IGNORE INTO pending VALUES (?, ?)", ((job_id, key) for key in keys))

    def pending(self, job_id: int, keys: Sequence[int]) -> set[int]:
        """Which of these hashes wait in a segment."""
        found: set[int] = set()
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            places = ", ".join("?" * len(chunk))
            query = f"SELECT key FROM pending WHERE job = ? AND key IN ({places})"
            found.update(row[0] for row in self._scratch.execute(query, (job_id, *chunk)))
        return found

    def visit(self, page_id: int, read_at: int, *, document: bool) -> bool:
        """Note a page whose links were taken as of that time (epoch ms); return whether it is new."""
        query = "INSERT OR IGNORE INTO visited VALUES (?, ?, ?)"
        return self._scratch.execute(query, (page_id, read_at, document)).rowcount == 1

    def visited(self) -> Iterator[tuple[int, int, bool]]:
        """The pages noted, with those times, and whether they had a document."""
        rows = self._scratch.execute("SELECT page_id, read_at, document FROM visited ORDER BY page_id")
        yield from ((page_id, read_at, bool(document)) for page_id, read_at, document in rows)
