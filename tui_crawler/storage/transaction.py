"""One transaction of the writer, as the jobs in it see it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import peewee

from tui_crawler.storage.driver import Row as Row  # noqa: PLC0414  for who imports it from here
from tui_crawler.storage.driver import is_server, notify
from tui_crawler.storage.memory import Memory
from tui_crawler.storage.statements import Statement, Values, compile_query, padded

_INSERT = re.compile(r"^INSERT INTO")
_VALUES = re.compile(r"VALUES \([%s, ]*\)")
_PLACE = re.compile("%s")
_AMONG = re.compile(r" IN \(%s\)")
_ARRAYS = {"TEXT": "text", "BLOB": "bytea", "DOUBLE": "double precision"}
_MOST_ROWS = 64
_PLACES = 256  # for the keys of a list in one statement


@dataclass(frozen=True, slots=True)
class ColumnStatement:
    """The text of a statement whose values come as a list for each column; what writes these, and their names."""

    text: str
    writers: tuple[Callable[[Sequence[Any]], Any], ...]
    names: tuple[str, ...] = ()

    def lists(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """The lists for rows, as texts but for those of bytes: the driver would take ten times as long."""
        return [write(column) for write, column in zip(self.writers, zip(*rows, strict=True), strict=True)]


def _lists(field_types: Iterable[str]) -> tuple[tuple[Callable[[Sequence[Any]], Any], ...], str]:
    """For columns of these types: what writes a list, and the text that makes rows of a list for each."""
    kinds = [_ARRAYS.get(one, "bigint") for one in field_types]
    writers = tuple({"bigint": _numbers, "text": text_list}.get(kind, list) for kind in kinds)
    return writers, f"unnest({', '.join(f'%s::{kind}[]' for kind in kinds)})"


def _numbers(column: Iterable[Any]) -> str:
    return f"{{{','.join(['NULL' if value is None else str(int(value)) for value in column])}}}"


def text_list(column: Sequence[Any]) -> Any:
    """A list of texts as PostgreSQL reads it; one with a NUL, which separates them here, is left to the driver."""
    joined = None if None in column else "\0".join(column)
    if joined is None or joined.count("\0") != len(column) - 1:
        return list(column)
    quoted = joined.replace("\\", "\\\\").replace('"', '\\"').replace("\0", '","')
    return f'{{"{quoted}"}}'


class Texts:
    """SQL texts of one database, each compiled when it is first needed and kept."""

    __slots__ = ("_by_column", "_kept", "database")

    def __init__(self, database: peewee.Database) -> None:
        self.database = database
        self._by_column: dict[Callable[..., Any], ColumnStatement] = {}
        self._kept: dict[tuple[Callable[..., Any], int], Statement] = {}

    def of(self, build: Callable[..., Any], size: int = 0) -> Statement:
        """The statement that `build()` describes, or `build(size)` where a list of values has `size` places.

        An INSERT of many rows that is refused leaves those before: what failed is rolled back by who holds the
        transaction. Else SQLite copies each page that it touches, to be able to take back the statement alone.
        """
        key = (build, size)
        kept = self._kept.get(key)
        if kept is None:
            kept = compile_query(self.database, build(size) if size else build())
            if size and isinstance(self.database, peewee.SqliteDatabase):
                kept = replace(kept, text=_INSERT.sub("INSERT OR FAIL INTO", kept.text))
            self._kept[key] = kept
        return kept

    def of_columns(self, build: Callable[[int], Any]) -> ColumnStatement:
        """The INSERT of any number of rows that `build(1)` describes, for a server: a list for each column."""
        kept = self._by_column.get(build)
        if kept is None:
            query = build(1)
            kinds, lists = _lists([column.field_type for column in query._columns])
            rows = f"SELECT * FROM {lists}"  # noqa: S608  places alone
            text = _VALUES.sub(rows, compile_query(self.database, query).text, count=1)
            kept = self._by_column[build] = ColumnStatement(text, kinds)
        return kept

    def of_rows(self, build: Callable[[], Any], key: str) -> ColumnStatement:
        """The UPDATE that `build()` describes, for any number of rows at a server, each found by the value `key`, which
        is answered behind what RETURNING names."""
        kept = self._by_column.get(build)
        if kept is None:
            query, statement = build(), self.of(build)
            fields, names = query.table._meta.columns, tuple(dict.fromkeys(statement.names))
            kinds, lists = _lists([fields[name].field_type if name in fields else "" for name in names])
            places = iter(statement.names)
            text = _PLACE.sub(lambda _: f"v.c{names.index(next(places)) + 1}", statement.text)
            columns = ", ".join(f"c{number + 1}" for number in range(len(names)))
            changes, _, rest = text.rpartition(" WHERE ")
            answer = "," if " RETURNING " in rest else " RETURNING"
            text = f"{changes} FROM {lists} AS v ({columns}) WHERE {rest}{answer} v.c{names.index(key) + 1}"
            kept = self._by_column[build] = ColumnStatement(text, kinds, names)
        return kept

    def of_keys(self, build: Callable[[int], Any]) -> str:
        """The text of a query for the keys of a list, for a server: the list is one value."""
        return _AMONG.sub(" = ANY(%s::bigint[])", self.of(build, 1).text, count=1)

    @property
    def are_server(self) -> bool:
        """Whether they are texts for a server."""
        return is_server(self.database)

    def at_once(self, query: Any) -> tuple[str, list[Any]]:
        """Text and parameters of a query that is needed once and not kept."""
        text, parameters = query.bind(self.database).sql()
        return text, parameters


class Pragmas:
    """Settings of a connection that change while it is open."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[str, int] = {}

    def set(self, connection: sqlite3.Connection, name: str, value: int) -> None:
        """Makes it so, if it is not. Outside of a transaction only."""
        if self._values.get(name) != value:
            connection.execute(f"PRAGMA {name} = {value}")
            self._values[name] = value


class Transaction:
    """Executes statements on the writer's connection. `now` is epoch ms, `change` the number of this commit, `memory`
    what is known of the database without asking it; `held_by` the session that was seen to be open in it."""

    __slots__ = ("_connection", "_texts", "change", "held_by", "memory", "now")

    def __init__(
        self, connection: sqlite3.Connection, texts: Texts, now: int, change: int = 0, memory: Memory | None = None
    ) -> None:
        self._connection = connection
        self._texts = texts
        self.memory = Memory() if memory is None else memory
        self.now = now
        self.change = change
        self.held_by = 0

    def run(self, build: Callable[[], Any], values: Values) -> None:
        """Executes one statement."""
        statement = self._texts.of(build)
        self._connection.execute(statement.text, statement.ordered(values))

    def run_many(self, build: Callable[[], Any], rows: Iterable[Values]) -> None:
        """Executes one statement for every set of values."""
        statement = self._texts.of(build)
        self._connection.executemany(statement.text, [statement.ordered(row) for row in rows])

    def run_each(self, build: Callable[[], Any], rows: Sequence[Values], key: str) -> None:
        """Executes an UPDATE for every set of values, each of one row and no two of the same, found by `key`."""
        if rows and self._texts.are_server:
            self._by_lists(build, rows, key)
        else:
            self.run_many(build, rows)

    def each(self, build: Callable[[], Any], rows: Sequence[Values], key: str) -> dict[Any, Row]:
        """The same; answers what RETURNING names, under the value of `key`."""
        if not rows or not self._texts.are_server:
            return {row[key]: answer for row in rows if (answer := self.one(build, row)) is not None}
        return {found[-1]: found[:-1] for found in self._by_lists(build, rows, key).fetchall()}

    def _by_lists(self, build: Callable[[], Any], rows: Sequence[Values], key: str) -> Any:
        change = self._texts.of_rows(build, key)
        lists = change.lists([[row[name] for name in change.names] for row in rows])
        return self._connection.execute(change.text, lists)

    def insert(self, build: Callable[[int], Any], rows: Sequence[Sequence[Any]]) -> None:
        """Inserts rows (values in the order of the columns) by few statements of many rows each.

        `build(size)` is an INSERT of `size` rows. Sizes are powers of two, so that few texts serve any number; a server
        takes all of them in one, as lists.
        """
        for _ in self._inserted(build, rows):
            pass

    def insert_returning(self, build: Callable[[int], Any], rows: Sequence[Sequence[Any]]) -> list[Row]:
        """The same; answers what RETURNING names of each row."""
        return [answer for cursor in self._inserted(build, rows) for answer in cursor.fetchall()]

    def _inserted(self, build: Callable[[int], Any], rows: Sequence[Sequence[Any]]) -> Iterator[Any]:
        if rows and self._texts.are_server:
            insert = self._texts.of_columns(build)
            yield self._connection.execute(insert.text, insert.lists(rows))
            return
        start = 0
        while start < len(rows):
            size = min(_MOST_ROWS, 1 << ((len(rows) - start).bit_length() - 1))
            values = list(chain.from_iterable(rows[start : start + size]))
            yield self._connection.execute(self._texts.of(build, size).text, values)
            start += size

    def one(self, build: Callable[[], Any], values: Values) -> Row | None:
        """The first row of a query, or of what RETURNING names."""
        rows = self.all(build, values)
        return rows[0] if rows else None

    def all(self, build: Callable[[], Any], values: Values) -> list[Row]:
        statement = self._texts.of(build)
        return self._connection.execute(statement.text, statement.ordered(values)).fetchall()

    def fetch(self, query: Any) -> list[Row]:
        """All rows of a query that is not kept as text: for what happens seldom."""
        text, parameters = self._texts.at_once(query)
        return self._connection.execute(text, parameters).fetchall()

    def execute(self, query: Any) -> None:
        """Executes such a query."""
        text, parameters = self._texts.at_once(query)
        self._connection.execute(text, parameters)

    def notify(self) -> None:
        """Tells other workers of the journal, outside of a transaction."""
        notify(self._texts.database)

    def send(self, build: Callable[[int], Any], size: int, values: Sequence[Any]) -> Callable[[], list[Row]]:
        """Executes a statement with `size` places for a list; `values` already stand in the order of the text. What is
        answered fetches its rows: for several queries sent before, a server is waited for once."""
        fetch: Callable[[], list[Row]] = self._connection.execute(self._texts.of(build, size).text, values).fetchall
        return fetch

    def all_of(self, build: Callable[[int], Any], size: int, values: Sequence[Any]) -> list[Row]:
        """All rows of such a query."""
        return self.send(build, size, values)()

    def all_among(self, build: Callable[[int], Any], keys: Sequence[int], *values: Any) -> list[Row]:
        """All rows of a query for a list of keys, however long it is; `values` come after them."""
        if self._texts.are_server:
            text = self._texts.of_keys(build)
            return self._connection.execute(text, [_numbers(keys), *values]).fetchall() if keys else []
        rows: list[Row] = []
        for start in range(0, len(keys), _PLACES):
            places = padded(keys[start : start + _PLACES])
            rows += self.all_of(build, len(places), [*places, *values])
        return rows
