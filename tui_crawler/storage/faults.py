"""What goes wrong with a database, in words a person can act on."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from tui_crawler.domain.database_place import DatabasePlace, PostgresPlace
from tui_crawler.domain.failure import DatabaseDamaged, DatabaseLocked, NotOurDatabase, StorageFailure, StorageHeldUp

BACKUP_PATTERN = ".schema*.bak"
_SPARE = 4  # descriptors


class ReadOnlyDatabase(StorageFailure):
    """The file or its folder cannot be written. It can still be opened as a viewer."""


class OlderDatabase(StorageFailure):
    """The file has the schema of an earlier version: it is to be migrated before it can be read."""


def unfinished_copy(place: DatabasePlace) -> NotOurDatabase:
    """What is wrong with a copy of a crawl that is being made, or was interrupted."""
    said = f"`tui-crawler db copy FROM {place}` goes on with it"
    return NotOurDatabase(f"{place} is a copy of a crawl that is not finished; {said}")


def is_busy(error: BaseException) -> bool:
    """Whether another program holds a lock that will be given back."""
    return _code(error) in _BUSY or _server_state(error) in _SERVER_BUSY


def is_no_database(error: BaseException) -> bool:
    """Whether the file is none of SQLite's."""
    return _code(error) == sqlite3.SQLITE_NOTADB


def storage_failure(error: BaseException, path: DatabasePlace) -> StorageFailure:
    """The failure that stands for a driver's error, with what to do about it."""
    if isinstance(path, PostgresPlace):
        return _server_failure(error, path)
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


def _server_failure(error: BaseException, place: PostgresPlace) -> StorageFailure:
    """By the state that the server tells (PostgreSQL, appendix A); without one the connection is lost."""
    state, said = _server_state(error), (str(error).strip() or "no reason is given").splitlines()[0]
    if state in _SERVER_BUSY:
        return DatabaseLocked(f"{place} is locked by another program")
    if state is None or state == "25006" or state[:2] in {"08", "53", "57", "58"}:
        return StorageHeldUp(f"{place} takes nothing now ({said}); nothing was lost, it goes on when it does")
    if state == "42501":
        return ReadOnlyDatabase(f"this role may not do that in {place}: {said}")
    if state.startswith("XX"):
        return DatabaseDamaged(f"{place} is damaged ({said})")
    return StorageFailure(f"{place}: {said}")


def was_cancelled(error: BaseException) -> bool:
    """Whether a statement was ended because nobody waits for it any more."""
    return _code(error) == sqlite3.SQLITE_INTERRUPT or _server_state(error) == "57014"


def _server_state(error: BaseException) -> str | None:
    """The five characters by which a PostgreSQL server says what is wrong; "" for an error that is none of a lost
    connection."""
    seen: BaseException | None = error
    while seen is not None:
        state = getattr(seen, "sqlstate", "")
        if state or (state is None and type(seen).__name__ in _CONNECTION_ERRORS):
            return state or None
        seen = seen.__cause__ or seen.__context__
    return ""


_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_SERVER_BUSY = frozenset({"55P03", "40001", "40P01"})
_CONNECTION_ERRORS = frozenset({"OperationalError", "ConnectionTimeout", "InterfaceError"})


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
