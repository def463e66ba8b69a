"""Columns of a `CrawlTable` arranged in a width: the least important ones drop out first. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tui_crawler.console.table_sizes import Width, Wish, share_out, wish_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.safe_text import Align

FLEXIBLE_MINIMUM = 8
"""The least width of a flexible column that names none, in cells."""

_NARROW = 60
_TINY = 12
_AIR = 4
"""Cells left after the widest text of a flexible column that others follow: the eye finds from it to its numbers."""

Kind = Literal["", "place", "name", "word"]
"""What stands in a column. `place`: a URL, a path or a host, cut in the middle, for such differ at their ends. `name`:
all cells take their short form as soon as one of those that were shown does not fit; `word`: they always do, since
another column beside it has no room for names."""


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
    kind: Kind = ""

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
    """Where a column stands: its `index` among all columns, the first cell `x` and its `width`.

    `short`: all its cells stand in their short form.
    """

    column: Column
    index: int
    x: int
    width: int
    short: bool = False


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


def arrange(columns: Sequence[Column], width: int, seen: Sequence[Width] = ()) -> Layout:
    """Return the columns that fit in `width` cells, with their widths.

    Columns shrink to their least width, then drop out by priority (of equal ones the rightmost), until the
    rest fits. `seen` is how wide their cells are, by index (empty: not known yet): no column gets more than that as
    long as another is cut, fixed ones first (see `share_out`). If even the columns that are never dropped do not fit,
    they are cut at the right edge. Between two columns of numbers stand two cells where there is room, for there may
    be a space in a number, too.
    """
    gutter = 2 if width >= _NARROW else 1 if width >= _TINY else 0
    room = width - gutter
    kept = _kept(columns, room)
    wishes = [wish_of(column, seen[index] if index < len(seen) else None) for index, column in kept]
    wide = sum(column.wanted + 2 for _, column in kept) - 2 <= room
    gaps = [2] * len(kept) if wide and width >= _NARROW else _gaps(wishes, room)
    sizes, spare = share_out(wishes, room - sum(gaps[1:]))
    if width >= _NARROW and spare >= gaps[1:].count(1):
        spare -= gaps[1:].count(1)
        gaps = [2] * len(kept)
    _spread(sizes, wishes, spare)
    places = []
    x = gutter
    for at, ((index, column), size) in enumerate(zip(kept, sizes, strict=True)):
        x += gaps[at] if at else 0
        visible = min(size, width - x)
        if visible <= 0:
            break
        places.append(Place(column, index, x, visible, _is_short(wishes[at], visible)))
        x += size
    return Layout(max(width, 0), gutter, tuple(places))


def _is_short(wish: Wish, size: int) -> bool:
    return wish.column.kind == "word" or (wish.column.kind == "name" and size < wish.whole)


def _kept(columns: Sequence[Column], room: int) -> list[tuple[int, Column]]:
    """The columns that fit in `room` cells at their least widths, with their indexes. What they hold does not count:
    no column comes or goes while rows do."""
    kept = list(enumerate(columns))
    while sum(column.least + 1 for _, column in kept) - 1 > room:
        droppable = [item for item in kept if item[1].priority > 0]
        if not droppable:
            break
        kept.remove(max(droppable, key=lambda item: (item[1].priority, item[0])))
    return kept


def _gaps(wishes: Sequence[Wish], room: int) -> list[int]:
    """The cells before each column: one, and two between numbers that would else look like one, as room allows; the
    longest numbers come first, for they hold spaces."""
    gaps = [1] * len(wishes)
    spare = room - sum(wish.low for wish in wishes) - len(wishes) + 1
    pairs = [at for at in range(1, len(wishes)) if wishes[at - 1].column.align == wishes[at].column.align == "right"]
    touching = [at for at in pairs if wishes[at].low <= wishes[at].whole]
    for at in sorted(touching, key=lambda at: -wishes[at].whole)[: max(0, spare)]:
        gaps[at] += 1
    return gaps


def _spread(sizes: list[int], wishes: Sequence[Wish], spare: int) -> None:
    """Leaves some air after flexible columns; the last column, if it is flexible, gets what is left over."""
    last = len(wishes) - 1
    for at, wish in enumerate(wishes):
        if wish.column.width is None and wish.column.align == "left":
            more = spare if at == last else min(spare, _AIR)
            sizes[at] += more
            spare -= more
