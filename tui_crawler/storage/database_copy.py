"""A crawl copied into another database: to a server, from one, from file to file.

A batch is one transaction, rows go in the order of their keys: what an interrupted copy has of a table is its
beginning. Until every row was read again and found the same, the copy has a schema version that no other command takes.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import peewee

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import NotOurDatabase, StorageFailure
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.database import is_private, open_readonly, open_writable
from tui_crawler.storage.db.file_identity import FileState, examine, put_log_away
from tui_crawler.storage.db.open_settings import Durability, OpenSettings
from tui_crawler.storage.db.owner import check_at_rest
from tui_crawler.storage.drivers.dialect import dialect_of, is_server
from tui_crawler.storage.drivers.driver import connection_of, execute, keep_number, stream, told_of
from tui_crawler.storage.models import MODELS, create_indexes
from tui_crawler.storage.queue.segments import SegmentStore

_COPY = OpenSettings(durability=Durability.full, unfinished=True)
_VERSION = OpenSettings().version
_BATCH_ROWS = 5_000
_BATCH_BYTES = 8 << 20
_OF_CRAWL = "name NOT IN ('schema', 'views') AND name NOT LIKE 'writer %' AND name NOT LIKE 'copy %'"
"""Of the single numbers those of the crawl; the others are of its database."""


@dataclass(slots=True)
class CopiedTable:
    """The rows of a table, counted and hashed: the sum of the hashes of its rows, whatever their order. A row counts as
    the text that Python writes its values as."""

    table: str
    rows: int = 0
    bytes: int = 0
    total: int = 0

    @property
    def hash(self) -> str:
        """128 bits as hexadecimal digits."""
        return f"{self.total % 2**128:032x}"

    def add(self, row: tuple[Any, ...]) -> int:
        """Takes a row; answers its size in bytes."""
        said = repr(row).encode()
        self.rows += 1
        self.bytes += len(said)
        self.total += int.from_bytes(blake2b(said, digest_size=16).digest())
        return len(said)


@dataclass(slots=True)
class CrawlCopy:
    """A copy that is whole. `there`: rows that an interrupted one had brought. `changed_texts` were no texts that every
    database takes. `segments`: the files that wait to be loaded, which are not copied."""

    tables: list[CopiedTable] = field(default_factory=list)
    there: int = 0
    changed_texts: int = 0
    segments: tuple[Path, ...] = ()


class _Table:
    def __init__(self, model: Any) -> None:
        fields, self.name = model._meta.sorted_fields, model._meta.table_name
        self.columns = ", ".join(f'"{field.column_name}"' for field in fields)
        key = ", ".join(f'"{field.column_name}"' for field in model._meta.get_primary_keys())
        self.texts = [index for index, field in enumerate(fields) if isinstance(field, peewee.TextField)]
        self.has_ids = isinstance(model._meta.primary_key, peewee.AutoField)
        self.at_once = 16 if any(isinstance(field, peewee.BlobField) for field in fields) else 2_000
        self.rows = f"{self.name} WHERE {_OF_CRAWL if self.name == 'meta' else '1 = 1'}"
        self.select = f"SELECT {self.columns} FROM {self.rows} ORDER BY {key}"  # noqa: S608  names of the models
        slots = ", ".join("?" * len(fields))
        self.insert = f"INSERT INTO {self.name} ({self.columns}) VALUES ({slots})"  # noqa: S608


_TABLES = tuple(map(_Table, MODELS))


def copy_crawl(
    source: DatabasePlace, target: DatabasePlace, tell: Callable[[int], None], *, passing: bool = False
) -> CrawlCopy:
    """Copies a crawl to where nothing is, or goes on with a copy of it that was interrupted; `tell` is told how many
    rows are copied so far. `passing`: as it is at this moment, though a process holds it, and without reading it again.

    Raises RunHeld for a crawl that a process holds; NotOurDatabase, OlderDatabase, StorageFailure.
    """
    with closing(open_readonly(source)) as read:
        if not passing:
            with told_of(source):
                check_at_rest(read)
        opening = replace(_COPY, private=is_private(source))
        with told_of(target), closing(open_writable(target, opening)) as write:
            made = _Copier(read, write, source, target, tell, passing).copy()
    put_log_away(source, only_empty=True)
    return made


@dataclass(slots=True)
class _Copier:
    """What goes wrong where nothing else is said goes wrong in the target."""

    _read: peewee.Database
    _write: peewee.Database
    _source: DatabasePlace
    _target: DatabasePlace
    _tell: Callable[[int], None]
    _passing: bool
    _copied: int = 0
    _made: CrawlCopy = field(default_factory=CrawlCopy)

    def copy(self) -> CrawlCopy:
        with told_of(self._source):
            if isinstance(connection := connection_of(self._read), sqlite3.Connection):
                connection.text_factory = lambda text: text.decode(errors="surrogateescape")
            execute(self._read, dialect_of(self._read).begin_reading)
            before = self._marks()
            waiting = execute(self._read, "SELECT path FROM segment WHERE consumed_at = 0 ORDER BY id").fetchall()
        self._made.segments = tuple(SegmentStore(self._source).found(clean(row[0])) for row in waiting)
        self._begin(before)
        for table in _TABLES:
            self._copy_table(table)
        for table, expected in zip(_TABLES, () if self._passing else self._made.tables, strict=False):
            self._verify(table, expected)
        create_indexes(self._write)
        with told_of(self._source):
            execute(self._read, "COMMIT")
            if not self._passing:
                check_at_rest(self._read)
                if self._marks() != before:
                    raise StorageFailure(f"{self._source} was changed meanwhile: asked for again, the copy begins anew")
        self._finish()
        return self._made

    def _marks(self) -> dict[str, int]:
        """By what the copy knows what it is a copy of: a crawl of this version, by its first session, and its state."""
        first = "SELECT host, machine, pid, process_started_ms, started_at FROM session ORDER BY id LIMIT 1"
        said = ascii((_VERSION, execute(self._read, first).fetchone())).encode()
        change = execute(self._read, "SELECT value FROM meta WHERE name = 'change'").fetchone()[0]
        return {"copy of": int.from_bytes(blake2b(said, digest_size=7).digest()), "copy change": change}

    def _begin(self, marks: dict[str, int]) -> None:
        """Begins anew what was not begun, or is a copy of another state. Raises NotOurDatabase."""
        if examine(self._target, _COPY) is not FileState.current:  # another process was faster
            raise NotOurDatabase(f"{self._target} holds a crawl already; it was not touched")
        noted = dict(execute(self._write, "SELECT name, value FROM meta WHERE name LIKE 'copy %'").fetchall())
        if noted.get("copy of", marks["copy of"]) != marks["copy of"]:
            raise NotOurDatabase(
                f"{self._target} is an unfinished copy of another crawl, or version; it was not touched"
            )
        if noted == marks:
            return
        with self._write.atomic():
            for table in _TABLES:
                execute(self._write, f"DELETE FROM {table.rows}")  # noqa: S608  names of the models
            for name, value in marks.items():
                keep_number(self._write, name, value)

    def _copy_table(self, table: _Table) -> None:
        """All rows are read, so that they are hashed; those that are there are not written again."""
        there = execute(self._write, f"SELECT COUNT(*) FROM {table.rows}").fetchone()[0]  # noqa: S608  as above
        found, batch, size = CopiedTable(table.name), [], 0
        with told_of(self._source):
            for stored in stream(self._read, table.select, at_once=table.at_once):
                row = stored if is_server(self._read) else self._cleaned(stored, table.texts)
                size += found.add(row)
                if found.rows > there:
                    batch.append(row)
                if len(batch) >= _BATCH_ROWS or size >= _BATCH_BYTES:
                    self._put(table, batch)
                    batch, size = [], 0
        self._put(table, batch)
        self._made.tables.append(found)
        self._made.there += there

    def _cleaned(self, row: tuple[Any, ...], texts: list[int]) -> tuple[Any, ...]:
        values = list(row)
        for index in texts:
            if values[index] and (text := clean(values[index])) != values[index]:
                self._made.changed_texts += 1
                values[index] = text
        return tuple(values)

    def _put(self, table: _Table, rows: list[tuple[Any, ...]]) -> None:
        with told_of(self._target), self._write.atomic():
            if is_server(self._write):
                connection_of(self._write).copy_in(table.name, table.columns, rows)
            else:
                connection_of(self._write).executemany(table.insert, rows)
        self._copied += len(rows)
        self._tell(self._copied)

    def _verify(self, table: _Table, expected: CopiedTable) -> None:
        """Raise StorageFailure when the copy of a table is not the same; the next one then begins anew."""
        found = CopiedTable(table.name)
        with self._write.atomic():
            for row in stream(self._write, table.select, at_once=table.at_once):
                found.add(row)
        if found != expected:
            keep_number(self._write, "copy change", -1)
            said = f"{found.rows} rows, hash {found.hash}, not {expected.rows}, hash {expected.hash}"
            raise StorageFailure(f"{table.name} has {said}: {self._target}, asked for again, begins anew")

    def _finish(self) -> None:
        with self._write.atomic():
            execute(self._write, "DELETE FROM meta WHERE name LIKE 'copy %'")
            if not is_server(self._write):
                execute(self._write, f"PRAGMA user_version = {_VERSION}")
                return
            for name in (table.name for table in _TABLES if table.has_ids):
                behind = f"pg_get_serial_sequence('{name}', 'id'), COALESCE(MAX(id), 1), MAX(id) IS NOT NULL"
                execute(self._write, f"SELECT setval({behind}) FROM {name}")  # noqa: S608  names of the models
            keep_number(self._write, "schema", _VERSION)
            execute(self._write, "ANALYZE")
