"""The two calls of peewee's database that its type stubs leave untyped, typed once, and the errors they raise."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import peewee

DATABASE_ERRORS = (sqlite3.Error, peewee.PeeweeException)
"""What the drivers raise."""


def execute(database: peewee.Database, text: str, values: Sequence[Any] = ()) -> Any:
    """Executes SQL text; answers the cursor. Raises the driver's errors as peewee's."""
    return database.execute_sql(text, values)  # type: ignore[no-untyped-call]  # untyped in the stubs


def connection_of(database: peewee.SqliteDatabase) -> sqlite3.Connection:
    """The driver's own connection, opened if it is not. Raises sqlite3 errors."""
    connection: sqlite3.Connection = database.connection()  # type: ignore[no-untyped-call]  # untyped in the stubs
    return connection
