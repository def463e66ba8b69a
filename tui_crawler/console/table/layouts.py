"""What an operator chose to see in the numbered views: filters and orders of tables, and what a view has beside them.

Each look is there again when its view is opened anew, in this console or the next time. Nothing here reads rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui_crawler.console import action
from tui_crawler.console.screen.lifetime import is_ready
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from tui_crawler.console.screen.base import ConsoleScreen

LONGEST = 500
"""A text with more characters is not remembered."""
MOST = 20
"""So many tables and words are remembered of a view."""
VIEWS = frozenset(where for where, view in action.VIEWS.items() if view.layout)
"""Views with a look of their own. The overview is never closed; its order and filter are in the session by name."""


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


class ViewLayouts:
    """The looks of the views of one console, by the names of their places."""

    def __init__(self, kept: Mapping[str, ViewLayout]) -> None:
        """`kept` are those of the last time."""
        self.kept = dict(kept)

    def keep(self, screen: ConsoleScreen) -> None:
        """Notes how a view looks, before it is closed."""
        if screen.WHERE not in VIEWS or not is_ready(screen):
            return
        view_layout = layout_of(screen)
        if view_layout == ViewLayout():
            self.kept.pop(screen.WHERE.name, None)
        else:
            self.kept[screen.WHERE.name] = view_layout

    def restore(self, screen: ConsoleScreen) -> None:
        """Makes a view that was opened anew look as it did; what it does not know any more is left out."""
        view_layout = self.kept.get(screen.WHERE.name)
        if view_layout is None or screen.WHERE not in VIEWS:
            return
        screen.choose(dict(view_layout.words))
        tables = {table.id: table for table in screen.query(CrawlTable)}
        for one in view_layout.tables:
            table = tables.get(one.table)
            if table is None:
                continue
            if one.needle:
                table.keep_only(one.needle)
            if one.column in {column.id for column in table.columns}:
                table.order_by(one.column, descending=one.descending)


def layout_of(screen: ConsoleScreen) -> ViewLayout:
    """How a view looks now."""
    tables = []
    for table in screen.query(CrawlTable):
        column, descending = table.order or ("", True)
        if table.id and (table.needle or column):
            tables.append(TableLayout(table.id, table.needle, column, descending))
    words = tuple((name, value) for name, value in sorted(screen.chosen().items()) if value)
    return ViewLayout(
        tuple(one for one in tables if len(one.needle) <= LONGEST),
        tuple((name, value) for name, value in words if len(value) <= LONGEST),
    )
