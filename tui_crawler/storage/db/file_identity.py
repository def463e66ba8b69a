"""What stands at a path: a database of ours, and of which version; its write-ahead log beside it; whether an open
database still stands there, and who else writes it. What is loaded here is little, since a start that only watches asks
before its first picture."""

import contextlib
import os
import sqlite3
import stat
from collections.abc import Callable
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.domain.records.failure import DatabaseUnusable, NotOurDatabase, StorageFailure
from tui_crawler.storage.db.open_settings import UNFINISHED, USUAL, OpenSettings
from tui_crawler.storage.drivers.faults import OlderDatabase, is_no_database, storage_failure, unfinished_copy

T = TypeVar("T")


def server_module() -> Any:
    """What knows databases on a server; it loads their driver, which is an extra. Raises StorageFailure."""
    try:
        from tui_crawler.storage.db import postgres  # noqa: PLC0415
    except ImportError as error:
        raise StorageFailure("PostgreSQL needs an extra: pip install 'tui-crawler[postgres]'") from error
    return postgres


def uri_of(path: Path, option: str) -> str:
    """Return a file as SQLite opens it with an option."""
    return f"file:{quote(str(path.absolute()))}?{option}"


def has_log_file(path: DatabasePlace) -> bool:
    """Whether a write-ahead log stands beside a database, be it empty."""
    return isinstance(path, Path) and _log_of(path).exists()


def open_to_read(path: Path, attempt: Callable[[str], T], errors: tuple[type[Exception], ...]) -> T:
    """What `attempt` answers, which opens a database only to read it where it is told to look for it (a URI). In a
    read-only folder without a write-ahead log it is tried again with the file taken as it is, when the first try ended
    in one of the errors. Raises what the last try does."""
    as_it_is = not _has_log(path) and not os.access(path.parent, os.W_OK)
    try:
        return attempt(uri_of(path, "mode=ro"))
    except errors:
        if not as_it_is:
            raise
        return attempt(uri_of(path, "immutable=1"))


def put_log_away(path: DatabasePlace, *, only_empty: bool = False) -> None:
    """Has SQLite take the write-ahead log into the database and away, when nobody has that open any more.

    A connection that may not write cannot do so: where it closes last, the files of the log stay. `only_empty`: a log
    with something in it stays, so that the database is not written. Raises nothing: what cannot be put away stays.
    """
    if isinstance(path, PostgresPlace) or not has_log_file(path) or (only_empty and _has_log(path)):
        return
    opened = partial(sqlite3.connect, uri_of(path, "mode=rw"), timeout=0, uri=True)
    with contextlib.suppress(sqlite3.Error), contextlib.closing(opened()) as last:
        last.execute("PRAGMA query_only = 1")
        last.execute("SELECT COUNT(*) FROM sqlite_master")


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _has_log(path: Path) -> bool:
    try:
        return _log_of(path).stat().st_size > 0
    except OSError:
        return False


class FilePlace:
    """Remembers which file stands at `path`; made when the database has just been opened. A server says itself when a
    database is gone."""

    def __init__(self, path: DatabasePlace) -> None:
        self._path = path
        self._file: os.stat_result | None = None
        if isinstance(path, Path):
            with contextlib.suppress(OSError):
                self._file = path.stat()

    def check(self) -> None:
        """Raises StorageFailure when the file was deleted, moved away or replaced. Looks at the folder, not inside."""
        if isinstance(self._path, PostgresPlace):
            return
        become = "replaced by another file"
        try:
            if self._file is not None and os.path.samestat(self._path.stat(), self._file):
                return
        except (FileNotFoundError, NotADirectoryError):
            become = "deleted or moved away"
        except OSError:  # of the disk: SQLite says what is wrong with that
            return
        raise DatabaseUnusable(f"the database was {become} while it was open: {self._path}")


def knows_origin(path: Path, origin: str) -> bool:
    """Whether a database file of any schema version has crawled an origin; False where the file cannot be read."""

    def ask(location: str) -> bool:
        with contextlib.closing(sqlite3.connect(location, timeout=0, uri=True)) as database:
            found = database.execute("SELECT 1 FROM origin WHERE origin = ? AND joined <> 'external'", (origin,))
            return found.fetchone() is not None

    with contextlib.suppress(sqlite3.Error):
        return path.is_file() and open_to_read(path, ask, (sqlite3.Error,))
    return False


APPLICATION_ID = 0x74756363  # "tucc", in the header of every database of ours
_SMALLEST = 512  # bytes, one page; SQLite itself takes a file of a few bytes for an empty database


class FileState(Enum):
    """What stands at a path."""

    absent = "absent"  # nothing, or an empty database: it becomes ours
    current = "current"
    older = "older"  # of an earlier schema: to be migrated


def examine(path: DatabasePlace, settings: OpenSettings = USUAL) -> FileState:
    """What stands at `path`, without changing it. Raises NotOurDatabase, StorageFailure.

    Only SQLite may open the file: a POSIX lock is gone when its process closes any descriptor of the file, and with
    the locks of a run in this process another one would take the write-ahead log in use for left over.
    """
    if isinstance(path, PostgresPlace):
        state: FileState = server_module().examine_server(path, settings)
        return state
    try:
        status = path.stat()
    except FileNotFoundError:
        return FileState.absent
    except OSError as error:
        raise StorageFailure(f"{path} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        is_folder = stat.S_ISDIR(status.st_mode)
        raise NotOurDatabase(f"{path} is {'a folder, not a database' if is_folder else 'not a regular file'}")
    if status.st_size == 0:
        return FileState.absent
    other = NotOurDatabase(f"{path} is not a database of tui-crawler; it was not touched")
    if status.st_size < _SMALLEST:
        raise other
    try:
        application, version, schema = open_to_read(path, partial(_read_identity, settings), (sqlite3.Error,))
    except sqlite3.Error as error:
        raise (other if is_no_database(error) else storage_failure(error, path)) from error
    if not (application or version or schema):
        return FileState.absent
    if application != APPLICATION_ID:
        raise NotOurDatabase(f"{path} is the database of another program; it was not touched")
    return state_of_version(path, version, settings.version)


def check_current(path: DatabasePlace, settings: OpenSettings = USUAL) -> None:
    """That there is a database of ours and of this version. Raises NotOurDatabase, OlderDatabase, StorageFailure."""
    if check_not_older(path, settings) is FileState.absent:
        raise StorageFailure(f"there is no database at {path}")


def check_not_older(path: DatabasePlace, settings: OpenSettings = USUAL) -> FileState:
    """What stands at `path`. Raises OlderDatabase for an earlier schema, NotOurDatabase, StorageFailure."""
    found_log = has_log_file(path)
    state = examine(path, settings)
    if state is not FileState.older:
        return state
    if not found_log:
        put_log_away(path, only_empty=True)
    raise OlderDatabase(
        f"{path} has an older schema than this program reads ({settings.version}): `tui-crawler db "
        "upgrade` migrates it, as a start that crawls does; a copy of a file as it was is kept beside it"
    )


def _read_identity(settings: OpenSettings, location: str) -> tuple[int, ...]:
    """The three numbers of an SQLite file that say whose it is: of the application, its version, and the schema."""
    opened = sqlite3.connect(location, timeout=settings.busy_ms / 1000, uri=True, factory=settings.connection)
    with contextlib.closing(opened) as connection:
        connection.execute("SELECT COUNT(*) FROM sqlite_master")
        names = ("application_id", "user_version", "schema_version")
        return tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)


def state_of_version(place: DatabasePlace, version: int, latest: int) -> FileState:
    """Return whether a schema is older or current. Raise NotOurDatabase for a newer one, and an unfinished copy."""
    if version == UNFINISHED > latest:
        raise unfinished_copy(place)
    if version > latest:
        raise NotOurDatabase(
            f"{place} has schema {version}, this program knows {latest}: a newer tui-crawler made it; not touched"
        )
    return FileState.older if version < latest else FileState.current


_PROCESSES = Path("/proc")  # of Linux; elsewhere, and across process namespaces, nobody is found
_WRITE_BYTE = "120"  # of the index of the write-ahead log (SQLite, wal.c: WAL_WRITE_LOCK)


def write_lock_holder(database: Path, processes: Path = _PROCESSES) -> int:
    """The process that may write to the database just now and shuts all others out; 0: none, or it cannot be told.

    An inode has its number on one device only. Some file systems (btrfs, overlayfs) tell another device of a file than
    the list of locks does: then the process must have the file open.
    """
    index = database.with_name(f"{database.name}-shm")
    try:
        file = index.stat()
        listed = (processes / "locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    device = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}"
    elsewhere: list[int] = []
    for line in listed.splitlines():
        words = line.split()  # "5: POSIX ADVISORY WRITE 4366 fe:00:2162840 120 120"; who only waits has an arrow more
        if len(words) != 8 or words[1:4] != ["POSIX", "ADVISORY", "WRITE"] or not words[4].isdecimal():
            continue
        on, _, inode = words[5].rpartition(":")
        if inode == str(file.st_ino) and words[6] == _WRITE_BYTE:
            if on == device:
                return int(words[4])
            elsewhere.append(int(words[4]))
    return next((process for process in elsewhere if _has_open(processes / str(process), index, file)), 0)


def _has_open(process: Path, index: Path, file: os.stat_result) -> bool:
    """Whether a process has a file open, as far as its descriptors may be seen; only one of that name is looked at."""
    try:
        descriptors = list((process / "fd").iterdir())
    except OSError:
        return False
    for descriptor in descriptors:
        with contextlib.suppress(OSError):  # closed meanwhile
            if descriptor.readlink().name == index.name and os.path.samestat(descriptor.stat(), file):
                return True
    return False
