"""Questions in SQL that an operator types: read-only, on a connection of their own, bounded in time, rows and bytes.

A statement is looked at by SQLite's authorizer while it is prepared: what does not read is refused before anything
runs. The connection is opened for reading only, so that not even a fault here could write.
"""

import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import QueryProblem
from tui_crawler.domain.records.operator_view import QueryAnswer
from tui_crawler.storage.db.database import connect_readonly
from tui_crawler.storage.db.open_settings import USUAL, OpenSettings
from tui_crawler.storage.db.views import VIEWS
from tui_crawler.storage.drivers.dialect import is_server
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, columns_of, connection_of, stop_when, stopping, told_of
from tui_crawler.storage.drivers.faults import was_cancelled

MOST_ROWS = 10_000
MOST_MS = 30_000
"""So long a question may take: while it reads, the write-ahead log of a crawl cannot be cut back."""
MOST_BYTES = 64 << 20
"""So much an answer may hold; further rows are left out."""
LONGEST_VALUE = 8_192
"""Longer texts and bytes are cut."""
LONGEST_TEXT = 100_000
"""A longer question is none."""

_LARGEST_VALUE = 16 << 20  # bytes, of what SQLite may make on the way: zeroblob, printf, group_concat
_PAGE_CACHE_KIB = 16_384
_AT_ONCE = 500  # rows that a server sends
_TOO_LATE_MS = 500  # a server ends by itself what goes on for so much longer than it may
_READS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_FUNCTION})
_NEVER = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})
_CHANGES: Mapping[int, str] = {
    sqlite3.SQLITE_INSERT: "INSERT",
    sqlite3.SQLITE_UPDATE: "UPDATE",
    sqlite3.SQLITE_DELETE: "DELETE",
}
_NO_QUESTION = "there is no question; for example: SELECT * FROM v_origin"
_CHANGING = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(INSERT|REPLACE|UPDATE|DELETE|CREATE|DROP|ALTER|ATTACH|DETACH|VACUUM|REINDEX|ANALYZE|"
    "PRAGMA|BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)(?![A-Z])",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(slots=True)
class QueryRunner:
    """Answers one question at a time, in whichever thread asks; `cancel` may come from another one."""

    _path: DatabasePlace
    _settings: OpenSettings = USUAL
    _stop: threading.Event = field(default_factory=threading.Event)

    def schema(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The views of docs/views.md with their columns. Raises StorageFailure."""
        with told_of(self._path), closing(connect_readonly(self._path, self._settings)) as database:
            return tuple((view, columns_of(database, view)) for view in VIEWS)

    def cancel(self) -> None:
        self._stop.set()

    def ask(self, text: str, *, most_rows: int = MOST_ROWS, most_ms: int = MOST_MS) -> QueryAnswer:
        """Return the result of one statement that reads. Raises QueryProblem, StorageFailure."""
        self._stop.clear()
        if not text.strip().strip(";").strip():
            raise QueryProblem(_NO_QUESTION)
        if len(text) > LONGEST_TEXT:
            raise QueryProblem(f"the question is longer than {LONGEST_TEXT} characters")
        if verb := _CHANGING.match(text):
            raise _refused(verb[1].upper())
        with told_of(self._path):
            database = connect_readonly(self._path, self._settings)
        began, denied = time.monotonic(), list[str]()

        def ends() -> bool:
            return self._stop.is_set() or time.monotonic() > began + most_ms / 1_000

        with closing(database):
            opened = _of_server(database, text, most_ms) if is_server(database) else _of_file(database, text, denied)
            stop_when(database, ends)
            try:
                with stopping(database, ends), opened as cursor:
                    if cursor.description is None:
                        raise QueryProblem(_NO_QUESTION)
                    return _taken(cursor, tuple(column[0] for column in cursor.description), most_rows, began)
            except (*DATABASE_ERRORS, connection_of(database).Error, sqlite3.Warning, ValueError) as error:
                if denied:
                    raise _refused(denied[0]) from error
                if was_cancelled(error):
                    late = f"stopped after {most_ms / 1_000:g} s; narrow it, with an index or a LIMIT"
                    raise QueryProblem("cancelled" if self._stop.is_set() else late) from error
                if "one statement at a time" in str(error):
                    raise QueryProblem("one statement at a time, please") from error
                said = str(error).strip() or "the database gives no reason"
                raise QueryProblem(said.splitlines()[0]) from error


@contextmanager
def _of_server(database: Any, text: str, most_ms: int) -> Iterator[Any]:
    """A cursor in a transaction that only reads: what is no query is no cursor. What else the text may see is up to the
    role that the connection has."""
    connection = connection_of(database)
    connection.execute(f"SET statement_timeout = {most_ms + _TOO_LATE_MS}")
    with connection.transaction(), connection.cursor(name="question") as cursor:
        connection.execute("SET TRANSACTION READ ONLY")
        cursor.itersize = _AT_ONCE
        cursor.execute(text.strip().rstrip(";"))
        yield cursor


@contextmanager
def _of_file(database: Any, text: str, denied: list[str]) -> Iterator[Any]:
    """A cursor of SQLite, on a connection that is used for nothing else; what is `denied` is noted."""
    connection = connection_of(database)
    connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
    connection.text_factory = lambda raw: raw.decode(errors="backslashreplace")  # what is no UTF-8 becomes visible
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)

    def allow(action: int, _one: str | None, other: str | None, *_: str | None) -> int:
        """Called by SQLite for everything a statement would do."""
        if action in _READS and not (action == sqlite3.SQLITE_FUNCTION and (other or "").lower() in _NEVER):
            return sqlite3.SQLITE_OK
        function = other if action == sqlite3.SQLITE_FUNCTION else None
        denied.append(function or _CHANGES.get(action, "what it does"))
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(allow)
    with closing(connection.execute(text)) as cursor:
        yield cursor


def _taken(answered: Any, columns: tuple[str, ...], most_rows: int, began: float) -> QueryAnswer:
    rows, held, cut, more = list[tuple[Any, ...]](), 0, 0, False
    for row in answered:
        if len(rows) >= most_rows or held > MOST_BYTES:
            more = True
            break
        short = tuple(value[:LONGEST_VALUE] if isinstance(value, str | bytes) else value for value in row)
        cut += sum(len(one) < len(value) for one, value in zip(short, row, strict=True) if hasattr(one, "__len__"))
        held += sum(len(value) if isinstance(value, str | bytes) else 8 for value in short)
        rows.append(short)
    return QueryAnswer(columns, tuple(rows), more, cut, round((time.monotonic() - began) * 1_000))


def _refused(what: str) -> QueryProblem:
    return QueryProblem(f"only reading is possible here: {what} is refused, nothing was changed")
