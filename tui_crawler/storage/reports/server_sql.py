"""A question in SQL to a PostgreSQL server, on a connection of its own: a cursor in a transaction that only reads.

What is no query is no cursor, and the transaction writes nothing. What else the text may see is up to the role that the
connection has.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import peewee

from tui_crawler.domain.failure import QueryProblem
from tui_crawler.domain.operator_view import QueryAnswer
from tui_crawler.storage.driver import DATABASE_ERRORS, connection_of, stopping
from tui_crawler.storage.faults import was_cancelled

_AT_ONCE = 500
_TOO_LATE_MS = 500
"""The server ends by itself what goes on for so much longer than it may."""


def answer_at_server(
    database: peewee.Database,
    text: str,
    stops: Callable[[], bool],
    most_ms: int,
    take: Callable[[Any, tuple[str, ...]], QueryAnswer],
) -> QueryAnswer:
    """What `take` makes of the rows (an iterator) and the names of the columns. Raises QueryProblem, with the words of
    the server."""
    connection, end = connection_of(database), time.monotonic() + most_ms / 1_000

    def late() -> bool:
        return stops() or time.monotonic() > end

    try:
        connection.execute(f"SET statement_timeout = {most_ms + _TOO_LATE_MS}")
        with stopping(database, late), connection.transaction(), connection.cursor(name="question") as cursor:
            connection.execute("SET TRANSACTION READ ONLY")
            cursor.itersize = _AT_ONCE
            cursor.execute(text.strip().rstrip(";"))
            return take(cursor, tuple(column.name for column in cursor.description or ()))
    except (*DATABASE_ERRORS, connection.Error) as error:
        if was_cancelled(error):
            late_words = f"stopped after {most_ms / 1_000:g} s; narrow it, with an index or a LIMIT"
            raise QueryProblem("cancelled" if stops() else late_words) from error
        raise QueryProblem(str(error).strip().splitlines()[0]) from error
