"""Opening a database: may it be written; connections with the right settings; making and migrating one.

A file that is not ours is refused and not touched, one of a newer version too; an older one is copied and migrated.
"""

import contextlib
import glob
import os
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import peewee

from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.domain.records.failure import NotOurDatabase, StorageFailure
from tui_crawler.storage.db import file_identity
from tui_crawler.storage.db.open_settings import USUAL, OpenSettings
from tui_crawler.storage.db.owner import check_at_rest
from tui_crawler.storage.db.views import create_views, drop_views, views_are_current
from tui_crawler.storage.drivers.dialect import is_server
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, connection_of, execute, told_of
from tui_crawler.storage.drivers.faults import BACKUP_PATTERN, ReadOnlyDatabase, storage_failure
from tui_crawler.storage.migrations import migrate, record_as_migrated

_WAL_LIMIT = 64 << 20  # bytes; a larger write-ahead log is cut back after a checkpoint
_CHECKPOINT_PAGES = 4_000  # 16 MiB of write-ahead log: the pages of indices that are rewritten often go home once
_CACHE_KIB = 32_768
_CACHED_STATEMENTS = 512  # more than the writer's texts in all their sizes


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A migration that was carried out; the copy of the database as it was lies at `backup`."""

    from_version: int
    to_version: int
    backup: Path | None


def open_writable(path: DatabasePlace, settings: OpenSettings) -> peewee.Database:
    """A connection that may write, to a database of this version: made or migrated if need be.

    Raises NotOurDatabase, ReadOnlyDatabase, StorageFailure; RunHeld when a migration is needed during a live run.
    """
    if isinstance(path, PostgresPlace):
        return cast(peewee.Database, file_identity.server_module().open_writable(path, settings))
    state = file_identity.examine(path, settings)
    if not path.parent.is_dir():
        raise StorageFailure(f"the folder {path.parent} does not exist")
    _check_may_be_written(path)
    database = _writable(path, settings)
    try:
        database.connect()
        if state is file_identity.FileState.absent:
            _create(database, settings)
        elif state is file_identity.FileState.older:
            _upgrade(database, path, settings)
        elif not views_are_current(database):
            with database.atomic("IMMEDIATE"):
                create_views(database)
    except BaseException as error:
        database.close()
        if isinstance(error, DATABASE_ERRORS):
            raise storage_failure(error, path) from error
        raise
    return database


def is_private(path: DatabasePlace) -> bool:
    """Whether there is a file that only its owner may read."""
    return isinstance(path, Path) and path.exists() and not path.stat().st_mode & 0o077


def _keep_private(path: Path) -> None:
    """Let only their owner read the files of a database (SQLite makes its log as the database is), and whatever this
    process makes from now on, such as backups and segments. Raises StorageFailure."""
    os.umask(0o077)
    try:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{path}{suffix}").chmod(0o600)
    except OSError as error:
        raise StorageFailure(f"only its owner can keep {path} from being read by others: {error.strerror}") from error


def _check_may_be_written(path: Path) -> None:
    for what, place in (("file", path), ("folder", path.parent)):
        if place.exists() and not os.access(place, os.W_OK):
            raise ReadOnlyDatabase(f"the {what} is read-only: {place}")


def upgrade(path: DatabasePlace, settings: OpenSettings = USUAL) -> Upgrade | None:
    """Migrates an older database after a backup copy beside it; None when there is nothing to do.

    Raises NotOurDatabase, RunHeld, StorageFailure.
    """
    state = file_identity.examine(path, settings)
    if isinstance(path, PostgresPlace):
        if state is file_identity.FileState.current:
            file_identity.server_module().open_writable(path, settings).close()  # with the views of this version
            return None
        before, latest = file_identity.server_module().upgrade_at(path, settings)
        return Upgrade(before, latest, None)
    if state is not file_identity.FileState.older:
        return None
    _check_may_be_written(path)
    with told_of(path), contextlib.closing(_writable(path, settings)) as database:
        database.connect()
        return _upgrade(database, path, settings)


def connect_readonly(path: DatabasePlace, settings: OpenSettings = USUAL) -> peewee.Database:
    """A connection that never writes. In a read-only folder without a write-ahead log a file is taken as it is.

    Raises StorageFailure when there is no such file, and the drivers' errors.
    """
    if isinstance(path, PostgresPlace):
        return cast(peewee.Database, file_identity.server_module().connect(path, settings, readonly=True))
    if not path.is_file():
        raise StorageFailure(f"there is no database at {path}")
    return file_identity.open_to_read(path, partial(_connect_readonly, settings), DATABASE_ERRORS)


def open_readonly(path: DatabasePlace, settings: OpenSettings = USUAL) -> peewee.Database:
    """The same, after making sure that the file is ours and of this version.

    Raises NotOurDatabase, OlderDatabase, StorageFailure.
    """
    file_identity.check_current(path, settings)
    with told_of(path):
        return connect_readonly(path, settings)


def let_go_if_lost(database: peewee.Database) -> None:
    """Closes a connection that its server has ended: what is asked next opens another one."""
    if is_server(database) and not database.is_closed() and connection_of(database).closed:
        database.close()


def _writable(path: Path, settings: OpenSettings) -> peewee.SqliteDatabase:
    if settings.private or is_private(path):
        _keep_private(path)
    pragmas = (
        ("journal_mode", "WAL"),
        ("synchronous", settings.durability.name.upper()),
        ("foreign_keys", int(not settings.unfinished)),
        ("busy_timeout", settings.busy_ms),
        ("journal_size_limit", _WAL_LIMIT),
        ("wal_autocheckpoint", _CHECKPOINT_PAGES),
        ("cache_size", -_CACHE_KIB),
    )
    return _sqlite(str(path), settings, pragmas, cached_statements=_CACHED_STATEMENTS)


def _sqlite(location: str, settings: OpenSettings, pragmas: Any, **more: Any) -> peewee.SqliteDatabase:
    more |= {"timeout": settings.busy_ms / 1000, "check_same_thread": False, "factory": settings.connection}
    return peewee.SqliteDatabase(location, pragmas=pragmas, thread_safe=False, **more)


def _connect_readonly(settings: OpenSettings, location: str) -> peewee.SqliteDatabase:
    pragmas = (("query_only", 1), ("busy_timeout", settings.busy_ms))
    database = _sqlite(location, settings, pragmas, uri=True)
    try:
        database.connect()
        execute(database, "SELECT COUNT(*) FROM sqlite_master")
    except DATABASE_ERRORS:
        database.close()
        raise
    return database


def _create(database: peewee.SqliteDatabase, settings: OpenSettings) -> None:
    """The whole schema in one transaction: a start that is killed leaves an empty database or a complete one."""
    from tui_crawler.storage.models import Meta, create_tables  # noqa: PLC0415  a database that is read needs no models

    with database.atomic("IMMEDIATE"):
        if database.pragma("application_id"):
            return  # another process was faster
        create_tables(database, indexed=not settings.unfinished)
        record_as_migrated(database, settings.migrations)
        create_views(database)
        Meta.insert({Meta.name: "change", Meta.value: 0}).execute(database)
        database.pragma("application_id", file_identity.APPLICATION_ID)
        database.pragma("user_version", settings.version)


def _upgrade(database: peewee.SqliteDatabase, path: Path, settings: OpenSettings) -> Upgrade:
    """Copies the database beside itself, then runs the missing migrations; `user_version` is raised last. The activity
    log tells it: a console that migrates begins to crawl at once."""
    from tui_crawler.storage.db.clean_text import clean  # noqa: PLC0415  a database that is read needs no models
    from tui_crawler.storage.models import Activity  # noqa: PLC0415

    if settings.unfinished:
        raise NotOurDatabase(f"{path} holds a crawl already; it was not touched")
    check_at_rest(database)
    now = int(datetime.now(UTC).timestamp() * 1000)
    before, latest = database.pragma("user_version"), settings.version
    backup = _back_up(database, path, before, settings)
    drop_views(database)
    migrate(database, settings.migrations)
    said = f"schema {before} is now {latest}, backup: {backup.name}"
    with database.atomic("IMMEDIATE"):
        create_views(database)
        Activity.insert(at=now, run_id=0, origin_id=0, event="schema_upgraded", message=clean(said)).execute(database)
        database.pragma("user_version", latest)
    return Upgrade(before, latest, backup)


def _back_up(database: peewee.SqliteDatabase, path: Path, version: int, settings: OpenSettings) -> Path:
    """Under its name stands a whole copy or none. While it is made this process alone may write: what others have left
    half done is removed."""
    from tui_crawler.storage.db.segment_files import sync  # noqa: PLC0415  it parses URLs, which a reader does not

    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    backup = path.with_name(f"{path.name}.schema{version}-{stamp}.bak")
    draft = backup.with_name(f"{backup.name}.part")
    with database.atomic("IMMEDIATE"):
        for left in path.parent.glob(f"{glob.escape(path.name)}{BACKUP_PATTERN}.part*"):
            left.unlink()
        source, target = sqlite3.connect(path, factory=settings.connection), sqlite3.connect(draft)
        try:
            with contextlib.closing(source), contextlib.closing(target):
                source.backup(target)
            sync(draft)
            draft.rename(backup)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    sync(path.parent)
    return backup


@dataclass(frozen=True, slots=True)
class IntegrityCheck:
    """What was found; no problems when all is well. `schema` is the file's own version, `latest` this program's."""

    problems: tuple[str, ...]
    schema: int
    latest: int


def check_integrity(path: DatabasePlace, settings: OpenSettings = USUAL) -> IntegrityCheck:
    """What integrity_check and foreign_key_check find wrong. Changes nothing. Raises NotOurDatabase, StorageFailure."""
    found_log = file_identity.has_log_file(path)
    if file_identity.examine(path, settings) is file_identity.FileState.absent:
        raise StorageFailure(f"there is no database at {path}")
    with told_of(path):
        database: Any = connect_readonly(path, settings)
        try:
            if isinstance(path, PostgresPlace):
                schema, broken = file_identity.server_module().look_at(database)
                return IntegrityCheck(broken, schema, settings.version)
            said = [str(row[0]) for row in execute(database, "PRAGMA integrity_check").fetchall()]
            problems = [problem for problem in said if problem != "ok"]
            broken = execute(database, "PRAGMA foreign_key_check").fetchall()
            problems += [f"{table} row {row} refers to a missing row of {parent}" for table, row, parent, _ in broken]
            return IntegrityCheck(tuple(problems), database.pragma("user_version"), settings.version)
        finally:
            database.close()
            if not found_log:
                file_identity.put_log_away(path, only_empty=True)
