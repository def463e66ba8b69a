"""The write-ahead log beside a database: whether it is there, and having SQLite put it away."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote


def has_log_file(path: Path) -> bool:
    """Whether a write-ahead log stands beside a database, be it empty."""
    return _log_of(path).exists()


def readonly_locations(path: Path) -> Iterator[str]:
    """Where SQLite is to look for a database that is only read. In a read-only folder without a write-ahead log the
    file is taken as it is, when it cannot be opened otherwise."""
    location = f"file:{quote(str(path.absolute()))}"
    yield f"{location}?mode=ro"
    if not _has_log(path) and not os.access(path.parent, os.W_OK):
        yield f"{location}?immutable=1"


def put_log_away(path: Path, *, only_empty: bool = False) -> None:
    """Has SQLite take the write-ahead log into the database and away, when nobody has that open any more.

    A connection that may not write cannot do so: where it closes last, the files of the log stay. `only_empty`: a log
    with something in it stays, so that the database is not written. Raises nothing: what cannot be put away stays.
    """
    if not has_log_file(path) or (only_empty and _has_log(path)):
        return
    location = f"file:{quote(str(path.absolute()))}?mode=rw"
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(location, timeout=0, uri=True)) as last:
        last.execute("PRAGMA query_only = 1")
        last.execute("SELECT COUNT(*) FROM sqlite_master")


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _has_log(path: Path) -> bool:
    try:
        return _log_of(path).stat().st_size > 0
    except OSError:
        return False
