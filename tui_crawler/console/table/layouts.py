"""What an operator chose to see in the numbered views: filters and orders of tables, and what a view has beside them.

Each look is there again when its view is opened anew, in this console or the next time. Nothing here reads rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tui_crawler.domain.record import dataclass

LONGEST = 500
"""A text with more characters is not remembered."""
MOST = 20
"""So many tables and words are remembered of a view."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The filter of a table, and the column its rows are ordered by (empty: they stand as they come)."""

    table: str
    needle: str = ""
    column: str = ""
    descending: bool = True


@dataclass(frozen=True, slots=True)
class ViewLayout:
    """The tables of a view that are filtered or ordered, and the names and values of what is the view's own."""

    tables: tuple[TableLayout, ...] = ()
    words: tuple[tuple[str, str], ...] = ()

    @classmethod
    def bounded(cls, tables: Iterable[TableLayout], words: Mapping[str, str]) -> ViewLayout:
        """Return the layout without what is too long to be remembered."""
        return cls(
            tuple(one for one in tables if len(one.needle) <= LONGEST),
            tuple((name, value) for name, value in sorted(words.items()) if value and len(value) <= LONGEST),
        )
