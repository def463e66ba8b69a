"""What SQLite and PostgreSQL write differently. Texts of ours are written as SQLite reads them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import peewee

_QUERY_HERE = {"?": "%s", "LIKE": "ILIKE", "CROSS JOIN": "JOIN", "NOT INDEXED": " "}
_QUERY_PARTS = re.compile(r"'[^']*'|\"[^\"]*\"|::|\?|:[a-z_]+|%|\bLIKE\b|\bCROSS JOIN\b|\bNOT INDEXED\b")
_SCHEMA_HERE = {
    " INTEGER NOT NULL PRIMARY KEY,": " BIGSERIAL PRIMARY KEY,",
    " WITHOUT ROWID": "",
    " INTEGER": " BIGINT",
    " BLOB": " BYTEA",
    " DATETIME": " TIMESTAMP",
    " TEXT": ' TEXT COLLATE "C"',
}
_SCHEMA_PARTS = re.compile(rf"(?:{'|'.join(_SCHEMA_HERE)})(?! COLLATE)")
_DECLARES = re.compile("CREATE TABLE|ALTER TABLE")


@dataclass(frozen=True, slots=True)
class Dialect:
    """One of the two. `query` turns a text of ours into one with its values by place (`?`) or by name (`:name`).

    Where an INSERT of many rows is refused, those before stay: what failed is rolled back by the owner of the
    transaction. Else SQLite copies each page that it touches, to be able to undo the statement alone.
    """

    query: Callable[[str], str]
    insert_many: str
    begin_reading: str  # a transaction whose queries all see one state
    last_commit: str  # a number that every commit of others changes
    takes_lists: bool  # as one value, for any number of rows or keys


@lru_cache(maxsize=2_048)
def _server_query(text: str) -> str:
    """LIKE of SQLite ignores case; a server needs no advice on the order of joins and on indices."""
    return _QUERY_PARTS.sub(_server_part, text)


def _server_part(found: re.Match[str]) -> str:
    part = found[0]
    if part[0] == ":" and part != "::":
        return f"%({part[1:]})s"
    return _QUERY_HERE.get(part) or part.replace("%", "%%")


_LAST_CHANGE = "SELECT value FROM meta WHERE name = 'change'"
_SQLITE = Dialect(str, "INSERT OR FAIL INTO", "BEGIN", "PRAGMA data_version", takes_lists=False)
_POSTGRES = Dialect(
    _server_query, "INSERT INTO", "BEGIN ISOLATION LEVEL REPEATABLE READ", _LAST_CHANGE, takes_lists=True
)


def is_server(database: peewee.Database) -> bool:
    """Whether it is a PostgreSQL database."""
    return not isinstance(database, peewee.SqliteDatabase)


def dialect_of(database: peewee.Database) -> Dialect:
    """Return the dialect of a database."""
    return _POSTGRES if is_server(database) else _SQLITE


def server_schema(text: str) -> str:
    """Return a text that declares a table, as PostgreSQL reads it; another one is unchanged."""
    return _SCHEMA_PARTS.sub(lambda found: _SCHEMA_HERE[found[0]], text) if _DECLARES.match(text) else text


def number_list(column: Iterable[Any]) -> str:
    """Return a list of numbers as PostgreSQL reads it: the driver would take ten times as long."""
    return f"{{{','.join(['NULL' if value is None else str(int(value)) for value in column])}}}"


def text_list(column: Sequence[Any]) -> Any:
    """Return a list of texts as PostgreSQL reads it; one with a NUL, the separator here, is left to the driver."""
    joined = None if None in column else "\0".join(column)
    if joined is None or joined.count("\0") != len(column) - 1:
        return list(column)
    quoted = joined.replace("\\", "\\\\").replace('"', '\\"').replace("\0", '","')
    return f'{{"{quoted}"}}'


WriteList = Callable[[Sequence[Any]], Any]
NUMBERS: tuple[str, WriteList] = ("bigint[]", number_list)
LISTS: dict[str, tuple[str, WriteList]] = {
    "TEXT": ("text[]", text_list),
    "BLOB": ("bytea[]", list),
    "DOUBLE": ("double precision[]", list),
}
"""How a server takes the values of a column of this type as one list, if they are no `NUMBERS`."""
