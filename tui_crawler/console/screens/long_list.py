"""What tables have in common that show a part of a long list and read on near its edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Hashable

    from tui_crawler.console.crawl_table import CrawlTable

AHEAD = 100
"""So many rows before the edge of what is held its neighbours are read."""


class LongList:
    """A table on what a book holds."""

    def __init__(self, table: CrawlTable) -> None:
        """What stands at the top of the table stays there when rows come in above."""
        self.table = table
        self._turned = True  # the rows shown are still those of the book before
        table.pins_top = True

    @property
    def in_part(self) -> bool:
        """Whether the rows are filtered or in an order of their own: nothing is read on then."""
        return self.table.order is not None or bool(self.table.needle)

    def _looked_at(self) -> Hashable:
        """The key of what is looked at: under the cursor, or the topmost row while that is out of view."""
        keys = self.table.visible_keys
        return self.table.cursor_key if self.table.cursor_key in keys or not keys else keys[0]

    def _stay_near(self, held: Container[Hashable]) -> None:
        """Where the row of the cursor is let go, the cursor goes to the nearest one in view."""
        table, visible = self.table, self.table.visible_keys
        key = table.cursor_key
        if visible and not self._turned and key not in visible and key not in held:
            top = round(table.scroll_y)
            table.move_cursor(index=top if table.cursor_index < top else top + len(visible) - 1)
