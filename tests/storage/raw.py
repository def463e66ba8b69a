"""A database as it is, whatever its kind: SQL of the tests, past the store."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import peewee

from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.storage.db import postgres
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.drivers.driver import execute


class RawRow(tuple[Any, ...]):
    """A row, by place or by the name of a column."""

    names: tuple[str, ...]

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.names.index(key) if isinstance(key, str) else key)

    def keys(self) -> tuple[str, ...]:
        return self.names


def rows(place: DatabasePlace, text: str, *values: Any) -> list[RawRow]:
    """Executes SQL as SQLite reads it, in a transaction of its own; answers its rows, if it has any."""
    with closing(_connected(place)) as database:
        cursor = execute(database, text, values)
        if cursor.description is None:
            return []
        of_query = type("_Row", (RawRow,), {"names": tuple(column[0] for column in cursor.description)})
        return [of_query(row) for row in cursor.fetchall()]


def value(place: DatabasePlace, text: str, *values: Any) -> Any:
    """The first value of the first row."""
    return rows(place, text, *values)[0][0]


def _connected(place: DatabasePlace) -> Any:
    if isinstance(place, PostgresPlace):
        return postgres.connect(place, OpenSettings(), readonly=False)
    database = peewee.SqliteDatabase(str(place), thread_safe=False)
    database.connect()
    return database
