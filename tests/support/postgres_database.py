"""A database on the server of the tests, one for each process: it is made once and emptied after each test, in a tenth
of the time that a copy of a template takes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tui_crawler.domain.records.database_place import PostgresPlace
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings

_OTHERS = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""
_TABLES = """SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
    AND relname NOT IN ('meta', 'schema_migration')"""
_ANEW = """SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'
    AND relnamespace = current_schema()::regnamespace AND relname NOT LIKE 'schema_migration%';
DELETE FROM meta WHERE name NOT IN ('schema', 'views', 'change');
UPDATE meta SET value = 0 WHERE name = 'change'"""


class EmptiedDatabase:
    """A database of this program without rows."""

    def __init__(self, url: str) -> None:
        self.place = PostgresPlace(url)
        open_writable(self.place, OpenSettings()).close()
        self._connection = psycopg.connect(url, autocommit=True)
        tables = sorted(row[0] for row in self._connection.execute(_TABLES))
        self._emptying = ";\n".join((*(f"DELETE FROM {table}" for table in tables), _ANEW))

    def empty(self) -> None:
        """As it was made; connections that a test has left open are ended."""
        self._connection.execute(_OTHERS)
        self._connection.execute(self._emptying)

    def close(self) -> None:
        self._connection.close()


@contextmanager
def made_database(server: str, options: str = "") -> Iterator[PostgresPlace]:
    """A new database beside the one that a URL names, without any schema; it is gone in the end. `options` are those of
    CREATE DATABASE."""
    name = f"tui_crawler_test_{os.getpid()}_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} {options}")
        try:
            yield PostgresPlace(urlunsplit(urlsplit(server)._replace(path=f"/{name}")))
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
