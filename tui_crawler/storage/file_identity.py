"""What stands at a path: a database of ours, and of which version. Nothing is changed; what is loaded here is little,
since a start that only watches asks before its first picture."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

from tui_crawler.domain.failure import NotOurDatabase, StorageFailure
from tui_crawler.storage.faults import OlderDatabase, is_no_database, storage_failure
from tui_crawler.storage.log_file import has_log_file, open_to_read, put_log_away
from tui_crawler.storage.migrations import latest_version
from tui_crawler.storage.open_settings import OpenSettings

APPLICATION_ID = 0x74756363  # "tucc", in the header of every database of ours
_SMALLEST = 512  # bytes, one page; SQLite itself takes a file of a few bytes for an empty database


class FileState(Enum):
    """What stands at a path."""

    absent = "absent"  # nothing, or an empty database: it becomes ours
    current = "current"
    older = "older"  # of an earlier schema: to be migrated


def examine(path: Path, settings: OpenSettings | None = None) -> FileState:
    """What stands at `path`, without changing it. Raises NotOurDatabase, StorageFailure.

    Only SQLite may open the file: a POSIX lock is gone when its process closes any descriptor of the file, and with
    the locks of a run in this process another one would take the write-ahead log in use for left over.
    """
    settings = settings or OpenSettings()
    try:
        status = path.stat()
    except FileNotFoundError:
        return FileState.absent
    except OSError as error:
        raise StorageFailure(f"{path} cannot be read: {error.strerror}") from error
    if stat.S_ISDIR(status.st_mode):
        raise NotOurDatabase(f"{path} is a folder, not a database")
    if not stat.S_ISREG(status.st_mode):
        raise NotOurDatabase(f"{path} is not a regular file")
    if status.st_size == 0:
        return FileState.absent
    if status.st_size < _SMALLEST:
        raise NotOurDatabase(f"{path} is not a database of tui-crawler; it was not touched")
    return _state_of(path, _identity(path, settings), latest_version(settings.migrations))


def check_current(path: Path, settings: OpenSettings | None = None) -> None:
    """That there is a database of ours and of this version. Raises NotOurDatabase, OlderDatabase, StorageFailure."""
    if check_not_older(path, settings) is FileState.absent:
        raise StorageFailure(f"there is no database at {path}")


def check_not_older(path: Path, settings: OpenSettings | None = None) -> FileState:
    """What stands at `path`. Raises OlderDatabase for an earlier schema, NotOurDatabase, StorageFailure."""
    settings, found_log = settings or OpenSettings(), has_log_file(path)
    state = examine(path, settings)
    if state is not FileState.older:
        return state
    found, latest = _identity(path, settings).version, latest_version(settings.migrations)
    if not found_log:
        put_log_away(path, only_empty=True)
    raise OlderDatabase(
        f"{path} has an older schema ({found}, this program reads {latest}): `tui-crawler db upgrade` migrates it, as "
        "a start that crawls does; a copy as it was is kept beside it"
    )


@dataclass(frozen=True, slots=True)
class _Identity:
    """The three numbers of an SQLite file that say whose it is."""

    application: int
    version: int
    schema: int


def _identity(path: Path, settings: OpenSettings) -> _Identity:
    try:
        return open_to_read(path, partial(_read_identity, settings), (sqlite3.Error,))
    except sqlite3.Error as error:
        if is_no_database(error):
            raise NotOurDatabase(f"{path} is not a database of tui-crawler; it was not touched") from error
        raise storage_failure(error, path) from error


def _read_identity(settings: OpenSettings, location: str) -> _Identity:
    opened = sqlite3.connect(location, timeout=settings.busy_ms / 1000, uri=True, factory=settings.connection)
    with contextlib.closing(opened) as connection:
        connection.execute("SELECT COUNT(*) FROM sqlite_master")
        names = ("application_id", "user_version", "schema_version")
        return _Identity(*(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names))


def _state_of(path: Path, found: _Identity, latest: int) -> FileState:
    if found == _Identity(0, 0, 0):
        return FileState.absent
    if found.application != APPLICATION_ID:
        raise NotOurDatabase(f"{path} is the database of another program; it was not touched")
    if found.version > latest:
        raise NotOurDatabase(
            f"{path} has schema {found.version}, this program knows {latest}: a newer tui-crawler made it; not touched"
        )
    return FileState.older if found.version < latest else FileState.current
