"""A stretch of time in steps of equal length: what charts and lanes are drawn over. Pure."""

from typing import Self

from tui_crawler.domain.record import dataclass


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From when to when (exclusive; epoch ms), in how many cells (at least one) of equal length."""

    since: int
    until: int
    cells: int

    @classmethod
    def ending(cls, end: int, cell_ms: int, cells: int) -> Self:
        """Return the cells up to the one of a moment. They begin at multiples of their length, so that they stay where
        they are as time passes."""
        until = (end // cell_ms + 1) * cell_ms
        return cls(until - cell_ms * cells, until, cells)

    @classmethod
    def covering(cls, length: int, end: int, cells: int) -> Self:
        """Return `cells` cells up to the one of a moment that cover at least `length` ms."""
        return cls.ending(end, max(1, -(-length // max(1, cells - 1))), cells)

    @property
    def cell_ms(self) -> float:
        """How long a cell is."""
        return max(1, self.until - self.since) / self.cells

    def cell(self, at: int) -> int:
        """Return the cell of a moment; -1 or less before the span, `cells` or more after it."""
        return (at - self.since) * self.cells // max(1, self.until - self.since)

    def nearest(self, at: int) -> int:
        """Return the cell of a moment, the first or the last one for one outside."""
        return min(max(self.cell(at), 0), self.cells - 1)

    def at(self, cell: int) -> int:
        """Return when a cell begins."""
        return self.since + cell * (self.until - self.since) // self.cells
