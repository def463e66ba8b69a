"""Single numbers that are kept by name, such as how far something was read."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.storage.models import Meta
from tui_crawler.storage.statements import slot, slots
from tui_crawler.storage.transaction import Transaction


def mark(transaction: Transaction, name: str) -> int:
    """The number kept under a name, 0 when there is none."""
    row = transaction.one(_find, {"name": name})
    return row[0] if row else 0


def set_mark(transaction: Transaction, name: str, value: int) -> None:
    """Keeps a number under a name."""
    transaction.run(_keep, {"name": name, "value": value})


def _find() -> Any:
    return Meta.select(Meta.value).where(Meta.name == slot("name"))


def _keep() -> Any:
    return Meta.insert(slots([Meta.name, Meta.value])).on_conflict(
        conflict_target=[Meta.name], update={Meta.value: peewee.EXCLUDED.value}
    )
