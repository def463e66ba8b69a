"""One transaction of the writer, as the jobs in it see it."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Any

import peewee

from tui_crawler.storage.db.memory import Memory
from tui_crawler.storage.db.statements import Statement, Values, compile_query, padded, slot, unnested
from tui_crawler.storage.drivers.dialect import dialect_of, number_list, text_list
from tui_crawler.storage.drivers.driver import Row as Row  # noqa: PLC0414  for who imports it from here
from tui_crawler.storage.drivers.driver import notify

Keys = Sequence[Any]  # numbers, or texts
_MOST_ROWS = 64
_PLACES = 256  # for the keys of a list in one statement


class Texts:
    """SQL texts of one database, each compiled when it is first needed and kept."""

    __slots__ = ("_by_column", "_kept", "database", "dialect")

    def __init__(self, database: peewee.Database) -> None:
        self.database = database
        self.dialect = dialect_of(database)
        self._by_column: dict[Callable[..., Any], Statement] = {}
        self._kept: dict[tuple[Callable[..., Any], int | None], Statement] = {}

    def of(self, build: Callable[..., Any], size: int | None = None) -> Statement:
        """The statement that `build()` describes, or `build(size)` where a list of values has `size` places."""
        key = (build, size)
        kept = self._kept.get(key)
        if kept is None:
            kept = compile_query(self.database, build() if size is None else build(size))
            if size:
                kept = replace(kept, text=kept.text.replace("INSERT INTO", self.dialect.insert_many, 1))
            self._kept[key] = kept
        return kept

    def of_rows(self, build: Callable[[], Any], key: str) -> Statement:
        """The UPDATE that `build()` describes, for any number of rows at a server, each found by the value `key`, which
        RETURNING has last."""
        kept = self._by_column.get(build)
        if kept is None:
            query, names = build(), tuple(dict.fromkeys(self.of(build).names))
            fields = query.table._meta.columns
            rows = unnested({name: fields[name].field_type if name in fields else "" for name in names})
            columns = ", ".join(f'"{name}"' for name in names)
            query = query.from_(peewee.NodeList((rows, peewee.SQL(f"AS v ({columns})"))))
            query = query.returning(*(query._returning or ()), slot(key))
            kept = self._by_column[build] = compile_query(self.database, query, lists="v")
        return kept


@dataclass(slots=True)
class Transaction:
    """Executes statements on the writer's connection. `now` is epoch ms, `change` the number of this commit, `memory`
    what is known of the database without asking it; `held_by` the session that was seen to be open in it."""

    _connection: sqlite3.Connection
    _texts: Texts
    now: int
    change: int = 0
    memory: Memory = field(default_factory=Memory)
    held_by: int = 0

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
        if rows and self._texts.dialect.takes_lists:
            self._by_lists(build, rows, key)
        else:
            self.run_many(build, rows)

    def each(self, build: Callable[[], Any], rows: Sequence[Values], key: str) -> dict[Any, Row]:
        """The same; answers what RETURNING names, under the value of `key`."""
        if not rows or not self._texts.dialect.takes_lists:
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
        if rows and self._texts.dialect.takes_lists:
            insert = self._texts.of(build, 0)
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

    def number(self, build: Callable[[], Any], values: Values = MappingProxyType({})) -> Any:
        """The first value of that row, 0 where there is none."""
        rows = self.all(build, values)
        return rows[0][0] if rows else 0

    def all(self, build: Callable[[], Any], values: Values) -> list[Row]:
        statement = self._texts.of(build)
        return self._connection.execute(statement.text, statement.ordered(values)).fetchall()

    def fetch(self, query: Any) -> list[Row]:
        """All rows of a query that is not kept as text: for what happens seldom."""
        return self.execute(query).fetchall()

    def execute(self, query: Any) -> sqlite3.Cursor:
        """Executes such a query."""
        return self._connection.execute(*query.bind(self._texts.database).sql())

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

    def all_among(self, build: Callable[[int], Any], keys: Keys, *values: Any) -> list[Row]:
        """All rows of a query for a list of keys, however long it is; `values` come after them."""
        rows: list[Row] = []
        for text, some in self._among(build, keys):
            rows += self._connection.execute(text, [*some, *values]).fetchall()
        return rows

    def run_among(self, build: Callable[[int], Any], keys: Keys, *values: Any) -> None:
        """Executes a statement for such a list; `values` come before it."""
        for text, some in self._among(build, keys):
            self._connection.execute(text, [*values, *some])

    def _among(self, build: Callable[[int], Any], keys: Keys) -> Iterator[tuple[str, Sequence[Any]]]:
        """Texts of a statement, each with the keys that it takes: a server takes all as one value."""
        if keys and self._texts.dialect.takes_lists:
            write = text_list if isinstance(keys[0], str) else number_list
            yield self._texts.of(build, 0).text, [write(keys)]
            return
        for start in range(0, len(keys), _PLACES):
            places = padded(keys[start : start + _PLACES])
            yield self._texts.of(build, len(places)).text, places
