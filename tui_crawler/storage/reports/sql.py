"""Questions in SQL that an operator types: read-only, on a connection of their own, bounded in time, rows and bytes.

A statement is looked at by SQLite's authorizer while it is prepared: what does not read is refused before anything
runs. The connection is opened for reading only, so that not even a fault here could write.
"""

import re
import sqlite3
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import QueryProblem
from tui_crawler.domain.records.operator_view import QueryAnswer
from tui_crawler.storage.db.database import connect_readonly
from tui_crawler.storage.db.open_settings import USUAL, OpenSettings
from tui_crawler.storage.db.views import VIEWS
from tui_crawler.storage.drivers.dialect import is_server
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, columns_of, connection_of, stopping, told_of
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
_LOOK_EVERY = 20_000  # instructions of SQLite's machine: well below a millisecond
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


class QueryStopped(QueryProblem):
    """It was cancelled."""


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
        """Answers one statement that reads. Raises QueryProblem, QueryStopped, StorageFailure."""
        self._stop.clear()
        if not text.strip().strip(";").strip():
            raise QueryProblem(_NO_QUESTION)
        if len(text) > LONGEST_TEXT:
            raise QueryProblem(f"the question is longer than {LONGEST_TEXT} characters")
        if verb := _CHANGING.match(text):
            raise _refused(verb[1].upper())
        with told_of(self._path):
            database = connect_readonly(self._path, self._settings)
        with closing(database):
            if is_server(database):
                return self._ask_server(database, text, most_rows, most_ms)
            return _Question(connection_of(database), self._stop, most_ms).answer(text, most_rows)

    def _ask_server(self, database: Any, text: str, most_rows: int, most_ms: int) -> QueryAnswer:
        """By a cursor in a transaction that only reads: what is no query is no cursor. What else the text may see is up
        to the role that the connection has."""
        connection, began = connection_of(database), time.monotonic()

        def late() -> bool:
            return self._stop.is_set() or time.monotonic() > began + most_ms / 1_000

        try:
            connection.execute(f"SET statement_timeout = {most_ms + _TOO_LATE_MS}")
            with stopping(database, late), connection.transaction(), connection.cursor(name="question") as cursor:
                connection.execute("SET TRANSACTION READ ONLY")
                cursor.itersize = _AT_ONCE
                cursor.execute(text.strip().rstrip(";"))
                return _taken(cursor, tuple(column.name for column in cursor.description or ()), most_rows, began)
        except (*DATABASE_ERRORS, connection.Error) as error:
            if was_cancelled(error):
                raise (QueryStopped("cancelled") if self._stop.is_set() else _too_long(most_ms)) from error
            raise QueryProblem(str(error).strip().splitlines()[0]) from error


@dataclass(slots=True)
class _Question:
    """One statement on a connection that is used for nothing else."""

    _connection: sqlite3.Connection
    _stop: threading.Event
    _most_ms: int
    _began: float = field(default_factory=time.monotonic)
    _late: bool = False
    _denied: str = ""

    def answer(self, text: str, most_rows: int) -> QueryAnswer:
        connection = self._connection
        connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
        connection.text_factory = lambda raw: raw.decode(errors="backslashreplace")  # what is no UTF-8 becomes visible
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(self._look, _LOOK_EVERY)
        connection.set_authorizer(self._allow)
        try:
            with closing(connection.execute(text)) as cursor:
                if cursor.description is None:
                    raise QueryProblem(_NO_QUESTION)
                return _taken(cursor, tuple(column[0] for column in cursor.description), most_rows, self._began)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise self._problem(error) from error

    def _look(self) -> int:
        """Called by SQLite now and then: another number than 0 ends the statement."""
        self._late = (time.monotonic() - self._began) * 1_000 > self._most_ms
        return int(self._late or self._stop.is_set())

    def _allow(self, action: int, one: str | None, other: str | None, *_: str | None) -> int:
        """Called by SQLite for everything a statement would do."""
        if action in _READS and not (action == sqlite3.SQLITE_FUNCTION and (other or "").lower() in _NEVER):
            return sqlite3.SQLITE_OK
        function = other if action == sqlite3.SQLITE_FUNCTION else None
        self._denied = self._denied or function or _CHANGES.get(action, "what it does")
        return sqlite3.SQLITE_DENY

    def _problem(self, error: BaseException) -> QueryProblem:
        if self._denied:
            return _refused(self._denied)
        if self._stop.is_set():
            return QueryStopped("cancelled")
        if self._late:
            return _too_long(self._most_ms)
        if "one statement at a time" in str(error):
            return QueryProblem("one statement at a time, please")
        return QueryProblem(" ".join(str(error).split()) or "SQLite gives no reason")


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


def _too_long(most_ms: int) -> QueryProblem:
    return QueryProblem(f"stopped after {most_ms / 1_000:g} s; narrow it, with an index or a LIMIT")


def _refused(what: str) -> QueryProblem:
    return QueryProblem(f"only reading is possible here: {what} is refused, nothing was changed")
