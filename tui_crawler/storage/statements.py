"""SQL made from the models: built once per database and kept as text, executed in bulk on the hot paths.

A query is written in peewee with `slot("name")` where a value will stand. `compile_query` turns it into a
`Statement`: the text, and the names of its values in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeVar

import peewee

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Slot:
    name: str


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL text and how to order named values for it."""

    text: str
    names: tuple[str, ...]

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
    return peewee.Value(_Slot(name), converter=False)


def compile_query(database: peewee.Database, query: Any) -> Statement:
    """The text of a query for this database. Values that are no slots must be written as SQL, not as parameters."""
    text, parameters = query.bind(database).sql()
    names: list[str] = []
    for parameter in parameters:
        if not isinstance(parameter, _Slot):
            raise TypeError(f"a value that is no slot: {parameter!r} in {text}")
        names.append(parameter.name)
    return Statement(text, tuple(names))


def columns(model: Any, *names: str) -> tuple[Any, ...]:
    """Columns of a table by the names of their fields; in a text of `names` they stand with spaces."""
    return tuple(getattr(model, name) for text in names for name in text.split())


def slots(fields: Sequence[Any]) -> dict[Any, Any]:
    """Every column with a slot of its own name."""
    return {field: slot(field.column_name) for field in fields}


def insert_rows(fields: Sequence[Any], size: int) -> Any:
    """An INSERT of `size` rows, to which a conflict clause may be added."""
    model = fields[0].model
    row = tuple(slot(field.column_name) for field in fields)
    return model.insert_many([row] * size, fields=list(fields))


T = TypeVar("T", int, str)


def padded(values: Sequence[T]) -> list[T]:
    """The values, the last one repeated up to a power of two: so few texts serve lists of any length."""
    size: int = 1
    while size < len(values):
        size *= 2
    return list(values) + [values[-1]] * (size - len(values))
