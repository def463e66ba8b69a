"""What the drivers of the two databases do differently: executing, streaming and stopping queries, and their errors."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import peewee

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.storage.drivers.dialect import dialect_of, is_server
from tui_crawler.storage.drivers.faults import storage_failure

DATABASE_ERRORS = (sqlite3.Error, peewee.PeeweeException)
"""What the drivers raise."""

Values = Sequence[Any] | Mapping[str, Any]
"""What stands for the slots of a text, by place (`?`) or by name (`:name`)."""

Row = tuple[Any, ...]

CHANNEL = "tui_crawler"  # of NOTIFY and LISTEN
_ROWS_AT_ONCE = 2_000
_LOOK_EVERY = 100_000  # instructions of SQLite's machine: a millisecond or two
_LOOK_S = 0.05


def execute(database: peewee.Database, text: str, values: Values = ()) -> Any:
    """Executes SQL text as SQLite reads it; answers the cursor. Raises DATABASE_ERRORS."""
    return connection_of(database).execute(dialect_of(database).query(text), values)


@contextmanager
def told_of(place: DatabasePlace) -> Iterator[None]:
    """What goes wrong in a database is told of its place: raises StorageFailure in place of DATABASE_ERRORS."""
    try:
        yield
    except DATABASE_ERRORS as error:
        raise storage_failure(error, place) from error


def columns_of(database: peewee.Database, table: str) -> tuple[str, ...]:
    """The names of the columns of a table or view. Raises DATABASE_ERRORS."""
    found = execute(database, f"SELECT * FROM {table} LIMIT 0").description  # noqa: S608  the name is one of ours
    return tuple(column[0] for column in found)


def stream(database: peewee.Database, text: str, values: Values = (), at_once: int = _ROWS_AT_ONCE) -> Iterator[Any]:
    """The rows of a query, fetched a few at a time, within a transaction. Raises DATABASE_ERRORS."""
    if is_server(database):
        yield from connection_of(database).stream(dialect_of(database).query(text), values, at_once)
    else:
        yield from execute(database, text, values)


@contextmanager
def stopping(database: peewee.Database, stops: Callable[[], bool] | None) -> Iterator[None]:
    """Has a query of a server that is under way meanwhile end as soon as `stops` answers True, which is asked now and
    then in another thread. SQLite asks by itself (`stop_when`)."""
    if stops is None or not is_server(database):
        yield
    else:
        connection, over = connection_of(database), threading.Event()

        def look() -> None:
            while not over.wait(_LOOK_S):
                if stops():
                    connection.cancel_safe()
                    return

        watch = threading.Thread(target=look, daemon=True)
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()


def stop_when(database: peewee.Database, stops: Callable[[], bool] | None) -> None:
    """Has SQLite end each query from now on as soon as `stops` answers True."""
    if not is_server(database):
        connection_of(database).set_progress_handler(stops, _LOOK_EVERY)


def connection_of(database: peewee.Database) -> Any:
    """The driver's own connection, opened if it is not: an sqlite3.Connection, or a PostgresConnection, which has its
    methods `execute`, `executemany` and `in_transaction`. Raises DATABASE_ERRORS."""
    return database.connection()  # type: ignore[no-untyped-call]  # untyped in the stubs


def notify(database: peewee.Database) -> None:
    """Tells those who listen at a server that the journal has changed: a hint, without which they find it, too."""
    if is_server(database):
        with suppress(*DATABASE_ERRORS):
            connection_of(database).execute(f"NOTIFY {CHANNEL}")


def keep_number(database: peewee.Database, name: str, value: int) -> None:
    """Keep a single number of a database in place of the former one. Raises DATABASE_ERRORS."""
    text = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    execute(database, text, (name, value))
