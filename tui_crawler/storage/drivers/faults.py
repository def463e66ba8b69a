"""What goes wrong with a database, in words a person can act on."""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tui_crawler.domain.records import failure as failures
from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace

BACKUP_PATTERN = ".schema*.bak"
_SPARE = 4  # descriptors


class ReadOnlyDatabase(failures.DatabaseUnusable):
    """The file or its folder cannot be written. It can still be opened as a viewer."""


class OlderDatabase(failures.StorageFailure):
    """The file has the schema of an earlier version: it is to be migrated before it can be read."""


def unfinished_copy(place: DatabasePlace) -> failures.NotOurDatabase:
    """What is wrong with a copy of a crawl that is being made, or was interrupted."""
    said = f"`tui-crawler db copy FROM {place}` goes on with it"
    return failures.NotOurDatabase(f"{place} is a copy of a crawl that is not finished; {said}")


def is_busy(error: BaseException) -> bool:
    """Whether another program holds a lock that will be given back."""
    return _sqlite(error)[0] in _BUSY or _server(error)[0] in _SERVER_BUSY


def is_no_database(error: BaseException) -> bool:
    """Whether the file is none of SQLite's."""
    return _sqlite(error)[0] == sqlite3.SQLITE_NOTADB


def storage_failure(error: BaseException, path: DatabasePlace) -> failures.StorageFailure:
    """The failure that stands for a driver's error, with what to do about it."""
    if isinstance(path, PostgresPlace):
        return _server_failure(error, path)
    code, said = _sqlite(error)
    match code:
        case sqlite3.SQLITE_FULL:
            return failures.StorageHeldUp(
                f"the disk is full: {path} takes no more; nothing was lost, it goes on when there is room"
            )
        case sqlite3.SQLITE_IOERR:
            return failures.StorageHeldUp(
                f"the disk of {path} has an I/O error ({said}); nothing was lost, a run that began waits"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return failures.DatabaseLocked(f"{path} is locked by another program")
        case sqlite3.SQLITE_READONLY:
            return ReadOnlyDatabase(f"the file or its folder is read-only: {path}")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            backups = sorted(path.parent.glob(path.name + BACKUP_PATTERN)) if path.parent.is_dir() else []
            none = "there is no backup beside it; `sqlite3 FILE .recover` may save what is readable"
            backup = f"the newest backup is {backups[-1]}" if backups else none
            return failures.DatabaseDamaged(f"{path} is damaged ({said}); {backup}")
        case sqlite3.SQLITE_CANTOPEN:
            return failures.StorageHeldUp(f"{path} cannot be opened: {said}")
        case sqlite3.SQLITE_ERROR | sqlite3.SQLITE_SCHEMA:
            return failures.DatabaseUnusable(f"{path} is not as this program makes it: {said}")
        case _:
            return failures.StorageFailure(f"{path}: {said}")


def _server_failure(error: BaseException, place: PostgresPlace) -> failures.StorageFailure:
    """The kind of a failure by its SQLSTATE (PostgreSQL, appendix A)."""
    state, text = _server(error)
    said = (text.strip() or "no reason is given").splitlines()[0]
    if state in _SERVER_BUSY:
        return failures.DatabaseLocked(f"{place} is locked by another program")
    if state == "42501":
        return ReadOnlyDatabase(f"this role may not do that in {place}: {said}")
    if state.startswith("XX") or state == "58P01":
        return failures.DatabaseDamaged(f"{place} is damaged ({said})")
    if state[:2] in _SERVER_UNUSABLE or state == "57P04":
        return failures.DatabaseUnusable(f"{place} cannot be used: {said}")
    if state == "25006" or state[:2] in _SERVER_PASSING:
        return failures.StorageHeldUp(
            f"{place} takes nothing now ({said}); nothing was lost, it continues when it does"
        )
    return failures.StorageFailure(f"{place}: {said}")


def was_cancelled(error: BaseException) -> bool:
    """Whether a statement was ended because nobody waits for it any more."""
    return _sqlite(error)[0] == sqlite3.SQLITE_INTERRUPT or _server(error)[0] == "57014"


_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_MEANS = {
    sqlite3.SQLITE_IOERR_SHMSIZE: sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_CORRUPTFS: sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_IOERR_DATA: sqlite3.SQLITE_CORRUPT,
}
"""Extended result codes that mean something else than their primary one."""
_SERVER_BUSY = frozenset({"55P03", "40001", "40P01"})
_SERVER_LOST = "08000"
_SERVER_PASSING = frozenset({"08", "53", "57", "58"})
_SERVER_UNUSABLE = frozenset({"28", "3D", "3F", "42"})  # this role, database, schema or table is not there
_CONNECTION_ERRORS = frozenset({"OperationalError", "ConnectionTimeout", "InterfaceError"})
_AFTERMATH = frozenset({sqlite3.SQLITE_ERROR, "25P01", "25P02"})
"""What the drivers say of a transaction in which something went wrong before, as when its ROLLBACK fails."""


def _sqlite(error: BaseException) -> tuple[int, str]:
    """The primary result code of SQLite, 0 for another error, and its text."""
    code, said = _said(error, lambda one: getattr(one, "sqlite_errorcode", 0)) or (0, str(error))
    return _MEANS.get(code, code & 0xFF), said


def _server(error: BaseException) -> tuple[str, str]:
    return _said(error, _state_of) or ("", str(error))


def _state_of(error: BaseException) -> str:
    state = getattr(error, "sqlstate", "")
    return state or (_SERVER_LOST if state is None and type(error).__name__ in _CONNECTION_ERRORS else "")


def _said(error: BaseException, code_of: Callable[[BaseException], Any]) -> tuple[Any, str] | None:
    """The code and text of what went wrong: peewee wraps errors, and one of the aftermath may hide the first."""
    found: list[tuple[Any, str]] = []
    seen: BaseException | None = error
    while seen is not None:
        if code := code_of(seen):
            found.append((code, str(seen)))
        seen = seen.__cause__ or seen.__context__
    return next((one for one in found if one[0] not in _AFTERMATH), found[0] if found else None)


@dataclass(slots=True)
class SpareDescriptors:
    """A few file descriptors that are kept for SQLite's own files, against the day when others have run out."""

    _kept: list[int] = field(default_factory=list)

    def keep(self) -> None:
        """Takes them, as far as there are any."""
        with contextlib.suppress(OSError):
            while len(self._kept) < _SPARE:
                self._kept.append(os.open(os.devnull, os.O_RDONLY))

    def release(self) -> None:
        """Lets go of them."""
        while self._kept:
            os.close(self._kept.pop())
