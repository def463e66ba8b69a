"""The write-ahead log beside a database: whether it is there, reading with or without one, and having SQLite put it
away."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

T = TypeVar("T")


def has_log_file(path: Path) -> bool:
    """Whether a write-ahead log stands beside a database, be it empty."""
    return _log_of(path).exists()


def open_to_read(path: Path, attempt: Callable[[str], T], errors: tuple[type[Exception], ...]) -> T:
    """What `attempt` answers, which opens a database only to read it where it is told to look for it (a URI). In a
    read-only folder without a write-ahead log it is tried again with the file taken as it is, when the first try ended
    in one of the errors. Raises what the last try does."""
    location = f"file:{quote(str(path.absolute()))}"
    as_it_is = not _has_log(path) and not os.access(path.parent, os.W_OK)
    try:
        return attempt(f"{location}?mode=ro")
    except errors:
        if not as_it_is:
            raise
        return attempt(f"{location}?immutable=1")


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
