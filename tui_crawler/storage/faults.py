"""What goes wrong with a database, in words a person can act on."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from tui_crawler.domain.failure import DatabaseDamaged, DatabaseLocked, StorageFailure, StorageHeldUp

BACKUP_PATTERN = ".schema*.bak"
_SPARE = 4  # descriptors


class ReadOnlyDatabase(StorageFailure):
    """The file or its folder cannot be written. It can still be opened as a viewer."""


class OlderDatabase(StorageFailure):
    """The file has the schema of an earlier version: it is to be migrated before it can be read."""


def is_busy(error: BaseException) -> bool:
    """Whether another program holds a lock that will be given back."""
    return _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}


def is_no_database(error: BaseException) -> bool:
    """Whether the file is none of SQLite's."""
    return _code(error) == sqlite3.SQLITE_NOTADB


def storage_failure(error: BaseException, path: Path) -> StorageFailure:
    """The failure that stands for a driver's error, with what to do about it."""
    match _code(error):
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR_SHMSIZE:
            return StorageHeldUp(
                f"the disk is full: {path} takes no more; nothing was lost, it goes on when there is room"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return DatabaseLocked(f"{path} is locked by another program")
        case sqlite3.SQLITE_READONLY:
            return ReadOnlyDatabase(f"the file or its folder is read-only: {path}")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return DatabaseDamaged(f"{path} is damaged ({error}); {_backup_of(path)}")
        case sqlite3.SQLITE_CANTOPEN:
            return StorageHeldUp(f"{path} cannot be opened: {error}")
        case _:
            return StorageFailure(f"{path}: {error}")


def _code(error: BaseException) -> int | None:
    """The primary SQLite result code of an error, also of one that peewee has wrapped."""
    seen: BaseException | None = error
    while seen is not None:
        code = getattr(seen, "sqlite_errorcode", None)
        if isinstance(code, int):
            return code if code == sqlite3.SQLITE_IOERR_SHMSIZE else code & 0xFF
        seen = seen.__cause__ or seen.__context__
    return None


def _backup_of(path: Path) -> str:
    backups = sorted(path.parent.glob(path.name + BACKUP_PATTERN)) if path.parent.is_dir() else []
    if backups:
        return f"the newest backup is {backups[-1]}"
    return "there is no backup beside it; `sqlite3 FILE .recover` may save what is readable"


class SpareDescriptors:
    """A few file descriptors that are kept for SQLite's own files, against the day when others have run out."""

    def __init__(self) -> None:
        self._kept: list[int] = []

    def keep(self) -> None:
        """Takes them, as far as there are any."""
        with contextlib.suppress(OSError):
            while len(self._kept) < _SPARE:
                self._kept.append(os.open(os.devnull, os.O_RDONLY))

    def release(self) -> None:
        """Lets go of them."""
        while self._kept:
            os.close(self._kept.pop())
