"""How the columns and indices of a table are declared. Columns that are ordered or compared are NOT NULL with a
sentinel (0 or ''), times are epoch ms, booleans are 0 and 1: the same on SQLite and PostgreSQL."""

from collections.abc import Callable
from typing import Any

import peewee


class Model(peewee.Model):
    """A table. The models are bound to no database: they declare the schema, and queries are made from them. One
    without a key has `id`, a number."""

    id: Any

    class Meta:
        legacy_table_names = False


def options(key: str = "", index: str = "", unique: str = "", *, rowid: bool = True, name: str = "") -> Any:
    """How a table is made: columns of its key, where that is of several, of an index that peewee names, and whether it
    has a row id. In these texts names of columns stand with spaces."""
    indexes = tuple((tuple(names.split()), once) for names, once in ((index, False), (unique, True)) if names)
    made: dict[str, Any] = {"indexes": indexes, "without_rowid": not rowid}
    made |= {"primary_key": peewee.CompositeKey(*key.split())} if key else {}
    return type("Meta", (), made | ({"table_name": name} if name else {}))


def add_index(name: str, model: Any, *fields: Any, where: Any = None) -> None:
    """An index on columns (texts of names) and expressions, in this order; on the rows where a condition holds."""
    named = (field.split() if isinstance(field, str) else [field] for field in fields)
    chosen = [getattr(model, one) if isinstance(one, str) else one for each in named for one in each]
    model.add_index(model.index(*chosen, name=name, where=where))


def several(column: Callable[[], Any], count: int) -> list[Any]:
    """Columns of one kind that follow each other in a table."""
    return [column() for _ in range(count)]


def number() -> Any:
    """A 64-bit number with a default in the schema."""
    return peewee.BigIntegerField(constraints=[peewee.SQL("DEFAULT 0")])


def flag() -> Any:
    """0 or 1, by default 0."""
    return peewee.SmallIntegerField(constraints=[peewee.SQL("DEFAULT 0")])


def maybe() -> Any:
    """A 64-bit number that may be unknown."""
    return peewee.BigIntegerField(null=True)


def text(default: str = "") -> Any:
    """A text with a default in the schema, by default empty."""
    return peewee.TextField(constraints=[peewee.SQL(f"DEFAULT '{default}'")])


def reference(model: Any, column: str, **more: Any) -> Any:
    """A reference to the id of another row. Indices are declared where a query needs them."""
    return peewee.ForeignKeyField(model, column_name=column, index=False, lazy_load=False, backref="+", **more)
