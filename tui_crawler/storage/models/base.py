"""What all tables have in common: how columns are declared.

Columns that are ordered or compared are NOT NULL with a sentinel (0 or ''), times are epoch ms, booleans are 0 and 1:
the same on SQLite and PostgreSQL.
"""

from __future__ import annotations

from typing import Any

import peewee


class Row(peewee.Model):
    """A table. The models are bound to no database: they declare the schema, and queries are made from them."""

    class Meta:
        legacy_table_names = False


def number(default: int = 0) -> Any:
    """A 64-bit number with a default in the schema."""
    return peewee.BigIntegerField(constraints=[peewee.SQL(f"DEFAULT {default}")])


def flag() -> Any:
    """0 or 1, by default 0."""
    return peewee.SmallIntegerField(constraints=[peewee.SQL("DEFAULT 0")])


def maybe() -> Any:
    """A 64-bit number that may be unknown."""
    return peewee.BigIntegerField(null=True)


def text(default: str = "") -> Any:
    """A text with a default in the schema, by default empty."""
    return peewee.TextField(constraints=[peewee.SQL(f"DEFAULT '{default}'")])


def reference(model: Any, column: str, *, null: bool = False) -> Any:
    """A reference to the id of another row. Indices are declared where a query needs them."""
    return peewee.ForeignKeyField(model, column_name=column, null=null, index=False, lazy_load=False, backref="+")
