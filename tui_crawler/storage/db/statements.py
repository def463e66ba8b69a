"""SQL made from the models: built once per database and kept as text, executed in bulk on the hot paths.

A query is written in peewee with `slot("name")` where a value will stand. `compile_query` turns it into a
`Statement`: the text, and the names of its values in their order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, itemgetter
from types import MappingProxyType
from typing import Any, TypeVar

import peewee

from tui_crawler.storage.drivers.dialect import LISTS, NUMBERS, WriteList

Values = Mapping[str, Any]
Build = Callable[[], Any]
BuildOf = Callable[[int], Any]
"""What makes a query, as peewee has it; of N rows or keys (0: a list of any length, which a server takes). Its text is
kept under it (`Texts`)."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """The name of a value, and what writes a list of such values."""

    name: str
    write: WriteList = list


class _Place(peewee.Value):
    """The place of a value; in a text for many rows at a server, a column of the lists that are given."""

    def __sql__(self, context: Any) -> Any:
        if context.state.lists:
            return context.literal(f'{context.state.lists}."{self.value.name}"')
        return context.value(self.value, converter=False)


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL text and how to order named values for it, or to write lists of them."""

    text: str
    names: tuple[str, ...]
    writers: tuple[WriteList, ...]

    def lists(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """A list for each column of rows."""
        return [write(column) for write, column in zip(self.writers, zip(*rows, strict=True), strict=True)]

    def ordered(self, values: Values) -> Sequence[Any]:
        """The values in the order of the text. Raises KeyError for one that is missing."""
        match len(self.names):
            case 0:
                return ()
            case 1:
                return (values[self.names[0]],)
            case _:
                ordered: tuple[Any, ...] = itemgetter(*self.names)(values)
                return ordered


def slot(name: str) -> Any:
    """A place for a value, anywhere in a query."""
    return _Place(_Slot(name), converter=False)


def compile_query(database: peewee.Database, query: Any, *, lists: str = "") -> Statement:
    """The text of a query for this database. Values that are no slots must be written as SQL, not as parameters.
    `lists` is the name under which the query has the columns of its slots, if it has."""
    context: Any = database.get_sql_context(lists=lists)
    text, parameters = context.parse(query)
    for parameter in parameters:
        if not isinstance(parameter, _Slot):
            raise TypeError(f"a value that is no slot: {parameter!r} in {text}")
    return Statement(text, tuple(one.name for one in parameters), tuple(one.write for one in parameters))


def unnested(field_types: Mapping[str, str]) -> peewee.SQL:
    """Rows made of lists, at a server: of the slots of these names, for columns of these types."""
    lists = {name: LISTS.get(field_type, NUMBERS) for name, field_type in field_types.items()}
    places = ", ".join(f"%s::{kind}" for kind, _ in lists.values())
    return peewee.SQL(f"unnest({places})", [_Slot(name, write) for name, (_, write) in lists.items()])


def columns(model: Any, *names: str) -> tuple[Any, ...]:
    """Columns of a table by the names of their fields; in a text of `names` they stand with spaces."""
    return tuple(getattr(model, name) for text in names for name in text.split())


def slots(fields: Sequence[Any]) -> dict[Any, Any]:
    """Every column with a slot of its own name."""
    return {field: slot(field.column_name) for field in fields}


def adds(model: Any, *names: str) -> dict[Any, Any]:
    """Columns, each raised by the value of the slot `add_` and its name."""
    return {column: column + slot(f"add_{column.column_name}") for column in columns(model, *names)}


def insert_rows(fields: Sequence[Any], size: int) -> Any:
    """An INSERT of `size` rows (0: of lists), to which a conflict clause may be added."""
    model = fields[0].model
    if not size:
        rows = unnested({field.column_name: field.field_type for field in fields})
        return model.insert_from(peewee.Select([rows], [peewee.SQL("*")]), list(fields))
    row = tuple(slot(field.column_name) for field in fields)
    return model.insert_many([row] * size, fields=list(fields))


def matching(*key: Any) -> Any:
    """The condition that each of these columns has the value of its slot; the slot of an id is that of references."""
    return reduce(and_, (column == slot(_slot_name(column)) for column in key))


def among(column: Any, size: int) -> Any:
    """The condition that a column is one of `size` values (0: of a list)."""
    value = slot(_slot_name(column))
    if size:
        return column.in_([value] * size)
    return column == peewee.fn.ANY(value.cast(LISTS.get(column.field_type, NUMBERS)[0]))


def _slot_name(column: Any) -> str:
    name: str = column.column_name
    return name if name != "id" else f"{column.model._meta.table_name}_id"


def builds(query: Any) -> Build:
    """What builds this query: each time one of its own, which can be bound to a database."""
    return query.clone  # type: ignore[no-any-return]


def reads(key: Sequence[Any], *chosen: Any, where: Any = None) -> Build:
    """What builds a SELECT of columns by a key, and by a further condition."""
    return lambda: key[0].model.select(*chosen).where(_found(key, where))


def builds_among(query: Any, key: Any, *conditions: Any) -> BuildOf:
    """What builds this query for the rows of which a column is one of N values."""
    return lambda size: query.where(among(key, size), *conditions)


def reads_among(key: Any, *chosen: Any) -> BuildOf:
    """What builds a SELECT of columns for the rows of which one is one of N values."""
    return builds_among(key.model.select(*chosen), key)


def newest(model: Any) -> Build:
    """What builds a SELECT of the highest id of a table."""
    return lambda: model.select(model.id).order_by(model.id.desc()).limit(peewee.SQL("1"))


def deletes(*key: Any) -> Build:
    """What builds a DELETE by a key."""
    return lambda: key[0].model.delete().where(matching(*key))


def updates(
    key: Sequence[Any],
    *changed: Any,
    to: Mapping[Any, Any] = MappingProxyType({}),
    where: Any = None,
    returning: Sequence[Any] = (),
) -> Build:
    """What builds an UPDATE of columns by a key, and by a further condition: to the values of their slots, or `to` what
    is given."""
    return lambda: key[0].model.update({**slots(changed), **to}).where(_found(key, where)).returning(*returning)


def _found(key: Sequence[Any], where: Any) -> Any:
    return matching(*key) if where is None else matching(*key) & where


def inserts(fields: Sequence[Any], once: Sequence[Any] = ()) -> BuildOf:
    """What builds an INSERT of so many rows; one that is there by the key `once` stays."""
    if not once:
        return lambda size: insert_rows(fields, size)
    return lambda size: insert_rows(fields, size).on_conflict(action="nothing", conflict_target=once)


def upserts(key: Sequence[Any], changed: Sequence[Any]) -> BuildOf:
    """What builds an INSERT of so many rows; one that is there by the key is changed."""
    new = {column: getattr(peewee.EXCLUDED, column.column_name) for column in changed}
    return lambda size: insert_rows((*key, *changed), size).on_conflict(conflict_target=key, update=new)


def counts_up(key: Sequence[Any], counted: Any, *more: Any) -> BuildOf:
    """What builds an INSERT of so many counts, each of which adds to the one that is there by the key."""
    total = {counted: counted + getattr(peewee.EXCLUDED, counted.column_name)}
    fields = (*key, counted, *more)
    return lambda size: insert_rows(fields, size).on_conflict(conflict_target=key, update=total)


T = TypeVar("T", int, str)


def padded(values: Sequence[T]) -> list[T]:
    """The values, the last one repeated up to a power of two: so few texts serve lists of any length."""
    size: int = 1
    while size < len(values):
        size *= 2
    return list(values) + [values[-1]] * (size - len(values))
