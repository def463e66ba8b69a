"""How wide the cells are that a `CrawlTable` has shown: grows only, so that columns hold still while rows change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.safe_text import safe
from tui_crawler.console.table_cells import Cell, Row, cell_parts
from tui_crawler.console.table_sizes import Width

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


class SeenWidths:
    """The widest cells of so many columns, of the rows that were on the screen."""

    __slots__ = ("_last", "_short", "_whole")

    def __init__(self, columns: int) -> None:
        """Nothing was seen."""
        self._whole = [0] * columns
        self._short = [0] * columns
        self._last: dict[Hashable, Row] = {}

    @property
    def widths(self) -> Sequence[Width]:
        """By the index of the column; empty as long as no row was seen."""
        return [Width(*both) for both in zip(self._whole, self._short, strict=True)] if self._last else ()

    def take(self, rows: Iterable[Row]) -> bool:
        """Looks at the rows on the screen, at those that were there as they are only once; whether a width grew."""
        before = self._last
        self._last = {row.key: row for row in rows} or before
        grew = not before and bool(self._last)
        for key, row in self._last.items():
            if before.get(key) is not row:
                grew |= self._measure(row)
        return grew

    def take_one(self, row: Row) -> bool:
        """Looks at a row that comes in place of one on the screen; whether a width grew."""
        self._last[row.key] = row
        return self._measure(row)

    def _measure(self, row: Row) -> bool:
        grew = False
        for at, cell in enumerate(row.cells[: len(self._whole)]):
            whole, short = _width_of(cell)
            if whole > self._whole[at]:
                self._whole[at] = whole
                grew = True
            if short > self._short[at]:
                self._short[at] = short
                grew = True
        return grew


def _width_of(cell: Cell) -> tuple[int, int]:
    """The cells of a cell's text, and of its short form."""
    whole = short = 0
    for part in cell_parts(cell):
        own = _cells(part.text)
        whole += own
        short += _cells(part.short) if part.short else own
    return whole, short


def _cells(text: str) -> int:
    """The cells of a text made safe."""
    return min(len(text), 512) if text.isascii() and text.isprintable() else cell_len(safe(text))
