"""Columns of a `CrawlTable` arranged in a width: the least important ones drop out first. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.safe_text import Align

FLEXIBLE_MINIMUM = 8
"""The least width of a flexible column that names none, in cells."""

_COMFORTABLE = 24
"""So many cells the only flexible column that is never dropped gets before others share what is left."""
_NARROW = 60
_TINY = 12


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    `width` is in cells; None takes what the others leave (shared when there are several). `priority` 0 is
    never dropped; of the others the greatest goes first. `min_width` (cells) is how far the column may shrink
    before anything is dropped; 0 means not below `width` (flexible: not below `FLEXIBLE_MINIMUM`). `short`
    stands for the title where the column is too narrow for it.
    """

    id: str
    title: str
    width: int | None = None
    priority: int = 0
    align: Align = "left"
    min_width: int = 0
    short: str = ""

    @property
    def least(self) -> int:
        """The width below which the column is rather dropped, in cells."""
        if self.width is None:
            return max(1, self.min_width or FLEXIBLE_MINIMUM)
        return max(1, min(self.min_width or self.width, self.width))

    @property
    def wanted(self) -> int:
        """The width the column asks for, in cells."""
        return self.least if self.width is None else max(1, self.width)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a column stands: its `index` among all columns, the first cell `x` and its `width`."""

    column: Column
    index: int
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns arranged in `width` cells, after a `gutter` of that many cells for the cursor and the mark."""

    width: int
    gutter: int
    places: tuple[Place, ...]

    def column_at(self, x: int) -> Column | None:
        """Return the column at cell `x` (the gap after a column is part of it), or None left of the first."""
        under = [place.column for place in self.places if place.x <= x]
        return under[-1] if under else None


def arrange(columns: Sequence[Column], width: int) -> Layout:
    """Return the columns that fit in `width` cells, with their widths.

    Columns shrink to their least width, then drop out by priority (of equal ones the rightmost), until the
    rest fits; what is left over widens fixed columns, each to its whole width, and then the flexible ones, the
    only one that is never dropped before the others. If even the columns that are never dropped do not fit,
    they are cut at the right edge.
    """
    gutter = 2 if width >= _NARROW else 1 if width >= _TINY else 0
    kept = list(enumerate(columns))
    while sum(column.least + 1 for _, column in kept) - 1 > width - gutter:
        droppable = [item for item in kept if item[1].priority > 0]
        if not droppable:
            break
        kept.remove(max(droppable, key=lambda item: (item[1].priority, item[0])))
    room = width - gutter
    wide = sum(column.wanted + 2 for _, column in kept) - 2 <= room
    gap = 2 if wide and width >= _NARROW else 1
    sizes = _sizes([column for _, column in kept], room - gap * (len(kept) - 1))
    places = []
    x = gutter
    for (index, column), size in zip(kept, sizes, strict=True):
        visible = min(size, width - x)
        if visible <= 0:
            break
        places.append(Place(column, index, x, visible))
        x += size + gap
    return Layout(max(width, 0), gutter, tuple(places))


def _sizes(columns: Sequence[Column], room: int) -> list[int]:
    """Return the width of each column; together at most `room` cells if the least widths allow it."""
    sizes = [column.least for column in columns]
    spare = max(0, room - sum(sizes))
    for index, column in enumerate(columns):
        more = column.wanted - sizes[index]
        if more <= spare:
            sizes[index] += more
            spare -= more
    flexible = [index for index, column in enumerate(columns) if column.width is None]
    for index, column in enumerate(columns if not flexible else ()):
        more = min(spare, column.wanted - sizes[index])
        sizes[index] += more
        spare -= more
    first = [index for index in flexible if columns[index].priority == 0]
    if len(first) == 1:  # what a row is about is told before what it is told about it
        more = min(spare, max(0, _COMFORTABLE - sizes[first[0]]))
        sizes[first[0]] += more
        spare -= more
    for position, index in enumerate(flexible):
        share = spare // (len(flexible) - position)
        sizes[index] += share
        spare -= share
    return sizes
