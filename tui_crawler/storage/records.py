"""Rows of a query as records: each column fills the field of its name, in whatever order both stand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from tui_crawler.storage.transaction import Row

T = TypeVar("T")

_TRUTHS: Mapping[str, Callable[[Any], Any]] = {
    "bool": bool,
    "bool | None": lambda value: None if value is None else bool(value),
}
"""SQLite has no truth values: what fields of these types take for a number."""


def headers_of(text: str) -> tuple[tuple[str, str], ...]:
    """Headers as they are stored: a JSON list of pairs, empty for none."""
    return tuple((name, value) for name, value in json.loads(text)) if text else ()


class From(NamedTuple):
    """What a field is made of: these columns as they are stored (two names or more, with spaces), fields or not."""

    columns: str
    make: Callable[..., Any]


class RowMapper(Generic[T]):
    """How rows become records of a dataclass. `made` turns the value of a column into that of its field, where it is
    not stored as it is shown (`From`: the values of several); truth values need no mention. A field with a default may
    have no column."""

    def __init__(self, record: Callable[..., T], **made: Callable[[Any], Any] | From) -> None:
        self._record = record
        self._made = made
        self._makers: dict[tuple[str, ...], Callable[[Row], T]] = {}

    def of(self, columns: tuple[str, ...]) -> Callable[[Row], T]:
        """What makes a record of a row with these columns. TypeError: they are not those of the record."""
        maker = self._makers.get(columns)
        if maker is None:
            maker = self._makers[columns] = self._maker(columns)
        return maker

    def _maker(self, columns: tuple[str, ...]) -> Callable[[Row], T]:
        record, wanted = self._record, fields(self._record)  # type: ignore[arg-type]  # it is a dataclass
        several = {name: made for name, made in self._made.items() if isinstance(made, From)}
        alone = {name: made for name, made in self._made.items() if not isinstance(made, From)}
        left_out = [one for one in wanted if one.name not in columns]
        defaults = tuple(None if one.name in several else one.default for one in left_out)
        names = (*columns, *(one.name for one in left_out))
        of_fields = {one.name for one in wanted}.union(*(made.columns.split() for made in several.values()))
        if not of_fields.issuperset(columns) or len({*names}) < len(names) or MISSING in defaults:
            raise TypeError(f"columns {', '.join(columns)} do not make a {getattr(record, '__name__', record)}")
        pick = itemgetter(*(names.index(one.name) for one in wanted))
        turned = [
            (place, turn)
            for place, one in enumerate(wanted)
            if one.name in columns and (turn := alone.get(one.name) or _TRUTHS.get(str(one.type)))
        ]
        composed = [
            (place, made.make, itemgetter(*map(columns.index, made.columns.split())))
            for place, one in enumerate(wanted)
            if (made := several.get(one.name))
        ]

        def make(row: Row) -> T:
            values = list(pick(row + defaults))
            for place, turn in turned:
                values[place] = turn(values[place])
            for place, compose, parts in composed:
                values[place] = compose(*parts(row))
            return record(*values)

        return make
