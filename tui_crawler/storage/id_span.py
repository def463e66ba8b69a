"""A stretch of a list that is read by keyset over its ids, in either direction."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """At most `limit` entries older than `before_id` and newer than `after_id` (0: no bound), newest first unless
    `oldest_first`: the limit cuts off what comes last."""

    before_id: int = 0
    after_id: int = 0
    limit: int = 200
    oldest_first: bool = False

    def bounds(self, column: str) -> list[str]:
        """The conditions on the id, for the values of `values` but its last."""
        return [f"{column} {sign} ?" for sign, value in (("<", self.before_id), (">", self.after_id)) if value]

    @property
    def values(self) -> tuple[int, ...]:
        """The values of the conditions, and the limit."""
        return (*(value for value in (self.before_id, self.after_id) if value), self.limit)

    def ending(self, column: str, *conditions: str) -> str:
        """The rest of a query behind its tables: these conditions, whose values come first, bounds, order and limit."""
        where = " AND ".join((*conditions, *self.bounds(column)))
        return f"{f' WHERE {where}' if where else ''} ORDER BY {column}{'' if self.oldest_first else ' DESC'} LIMIT ?"
