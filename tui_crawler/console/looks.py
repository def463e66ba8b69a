"""What an operator chose to see in the numbered views: filters and orders of tables, and what a view has beside them.

Each look is there again when its view is opened anew, in this console or the next time. Nothing here reads rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.actions import Where
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.screens.lifetime import stands

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.console.screens.base import ConsoleScreen

LONGEST = 500
"""A text with more characters is not remembered."""
MOST = 20
"""So many tables and words are remembered of a view."""
VIEWS = frozenset({Where.failures, Where.urls, Where.logs, Where.stats})
"""Views with a look of their own. The overview is never closed; its order and filter are in the session by name."""


@dataclass(frozen=True, slots=True)
class TableLook:
    """The filter of a table, and the column its rows are ordered by (empty: they stand as they come)."""

    table: str
    needle: str = ""
    column: str = ""
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Look:
    """The tables of a view that are filtered or ordered, and the names and values of what is the view's own."""

    tables: tuple[TableLook, ...] = ()
    words: tuple[tuple[str, str], ...] = ()


class Looks:
    """The looks of the views of one console, by the names of their places."""

    def __init__(self, kept: Mapping[str, Look]) -> None:
        """`kept` are those of the last time."""
        self.kept = dict(kept)

    def keep(self, screen: ConsoleScreen) -> None:
        """Notes how a view looks, before it is closed."""
        if screen.WHERE not in VIEWS or not stands(screen):
            return
        look = look_of(screen)
        if look == Look():
            self.kept.pop(screen.WHERE.name, None)
        else:
            self.kept[screen.WHERE.name] = look

    def restore(self, screen: ConsoleScreen) -> None:
        """Makes a view that was opened anew look as it did; what it does not know any more is left out."""
        look = self.kept.get(screen.WHERE.name)
        if look is None or screen.WHERE not in VIEWS:
            return
        screen.choose(dict(look.words))
        tables = {table.id: table for table in screen.query(CrawlTable)}
        for one in look.tables:
            table = tables.get(one.table)
            if table is None:
                continue
            if one.needle:
                table.keep_only(one.needle)
            if one.column in {column.id for column in table.columns}:
                table.order_by(one.column, descending=one.descending)


def look_of(screen: ConsoleScreen) -> Look:
    """How a view looks now."""
    tables = []
    for table in screen.query(CrawlTable):
        column, descending = table.order or ("", True)
        if table.id and (table.needle or column):
            tables.append(TableLook(table.id, table.needle, column, descending))
    words = tuple((name, value) for name, value in sorted(screen.chosen().items()) if value)
    return Look(
        tuple(one for one in tables if len(one.needle) <= LONGEST),
        tuple((name, value) for name, value in words if len(value) <= LONGEST),
    )
