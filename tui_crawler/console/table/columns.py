"""Columns of a `CrawlTable` arranged in a width: the least important ones drop out first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from tui_crawler.domain.record import dataclass
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from tui_crawler.text.columns import AnyColumn


_NARROW = 60
_TINY = 12
_AIR = 4
"""Cells left after the widest text of a flexible column that others follow: the eye finds from it to its numbers."""


@dataclass(frozen=True, slots=True)
class ColumnPlace:
    """Where a column stands: its `index` among all columns, the first cell `x` and its `width`; `short`: all its cells
    in their short form."""

    column: AnyColumn
    index: int
    x: int
    width: int
    short: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns arranged in `width` cells, after a `gutter` of that many cells for the cursor and the mark."""

    width: int
    gutter: int
    places: tuple[ColumnPlace, ...]

    def column_at(self, x: int) -> AnyColumn | None:
        """Return the column at cell `x` (the gap after a column is part of it), or None left of the first."""
        under = [place.column for place in self.places if place.x <= x]
        return under[-1] if under else None


def arrange(columns: Sequence[AnyColumn], width: int, seen: Sequence[Width] = ()) -> Layout:
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
    column_sizes = [column_size_of(column, seen[index] if index < len(seen) else None) for index, column in kept]
    wide = sum(column.wanted + 2 for _, column in kept) - 2 <= room
    gaps = [2] * len(kept) if wide and width >= _NARROW else _gaps(column_sizes, room)
    sizes, spare = share_out(column_sizes, room - sum(gaps[1:]))
    if width >= _NARROW and spare >= gaps[1:].count(1):
        spare -= gaps[1:].count(1)
        gaps = [2] * len(kept)
    _spread(sizes, column_sizes, spare)
    places = []
    x = gutter
    for at, ((index, column), size) in enumerate(zip(kept, sizes, strict=True)):
        x += gaps[at] if at else 0
        visible = min(size, width - x)
        if visible <= 0:
            break
        short = column.kind == "bar" and visible < column_sizes[at].whole
        places.append(ColumnPlace(column, index, x, visible, short))
        x += size
    return Layout(max(width, 0), gutter, tuple(places))


def _kept(columns: Sequence[AnyColumn], room: int) -> list[tuple[int, AnyColumn]]:
    """The columns that fit in `room` cells at their least widths, with their indexes. What they hold does not count:
    no column comes or goes while rows do."""
    kept = list(enumerate(columns))
    while sum(column.least + 1 for _, column in kept) - 1 > room:
        if not (droppable := [item for item in kept if item[1].priority > 0]):
            break
        kept.remove(max(droppable, key=lambda item: (item[1].priority, item[0])))
    return kept


def _gaps(column_sizes: Sequence[ColumnSize], room: int) -> list[int]:
    """The cells before each column: one, and two between numbers that would else look like one, as room allows; the
    longest numbers come first, for they hold spaces."""
    gaps = [1] * len(column_sizes)
    spare = room - sum(column_size.low for column_size in column_sizes) - len(column_sizes) + 1
    aligned = [column_size.column.align == "right" for column_size in column_sizes]
    pairs = (at for at in range(1, len(column_sizes)) if aligned[at - 1] and aligned[at])
    touching = [at for at in pairs if column_sizes[at].low <= column_sizes[at].whole]
    for at in sorted(touching, key=lambda at: -column_sizes[at].whole)[: max(0, spare)]:
        gaps[at] += 1
    return gaps


def _spread(sizes: list[int], column_sizes: Sequence[ColumnSize], spare: int) -> None:
    """Leaves some air after flexible columns; the last column, if it is flexible, gets what is left over."""
    for at, column_size in enumerate(column_sizes):
        if column_size.column.width is None and column_size.column.align == "left":
            more = spare if column_size is column_sizes[-1] else min(spare, _AIR)
            sizes[at] += more
            spare -= more


_COMFORTABLE = 24
"""So many cells the only flexible column that is never dropped gets before others share what is left."""
_ENDLESS = 1_000_000
"""Cells: what a flexible column asks for as long as nothing was seen in it."""


class Width(NamedTuple):
    """The widest cell of a column, in terminal cells: its `whole` text, and its `short` form."""

    whole: int
    short: int


@dataclass(frozen=True, slots=True)
class ColumnSize:
    """What a column asks for, in cells: `low` at least, `short` for the short form of all its cells, then `wanted`.

    `whole` is what nothing in it would be cut with, `title` what its title needs.
    """

    column: AnyColumn
    low: int
    short: int
    wanted: int
    whole: int
    title: int


def column_size_of(column: AnyColumn, seen: Width | None) -> ColumnSize:
    """The size of a column in which this was seen; None: nothing was seen yet."""
    title = cell_len(safe(column.title))
    head = cell_len(safe(column.short or column.title)) + 1  # an arrow may follow it
    most = _ENDLESS if column.width is None else column.wanted
    if seen is None:
        return ColumnSize(column, column.least, most, most, most, title)
    wanted = min(most, max(seen.whole, head))
    low = min(column.least, wanted)
    return ColumnSize(column, low, min(wanted, max(low, seen.short)), wanted, seen.whole, title)


def share_out(column_sizes: Sequence[ColumnSize], room: int) -> tuple[list[int], int]:
    """Return the width of each column, together at most `room` cells if the least ones allow it, and what is left.

    The only flexible column that is never dropped gets some first: what a row is about is told before what it is told
    about it. Then fixed columns get what they want, from left to right, each whole or not at all, and flexible ones
    share. What is left goes to those that are cut, then to titles.
    """
    sizes = [column_size.low for column_size in column_sizes]
    spare = max(0, room - sum(sizes))
    flexible = [at for at, column_size in enumerate(column_sizes) if column_size.column.width is None]
    first = [at for at in flexible if column_sizes[at].column.priority == 0]
    if len(first) == 1:
        spare = _fill(sizes, {first[0]: min(_COMFORTABLE, column_sizes[first[0]].wanted)}, spare)
    for at, column_size in enumerate(column_sizes):
        if column_size.column.width is not None:
            spare = _give(sizes, at, column_size, spare, column_size.wanted)
    spare = _fill(sizes, {at: column_sizes[at].wanted for at in flexible}, spare)
    cut = {at: column_size.whole for at, column_size in enumerate(column_sizes) if column_size.column.kind != "bar"}
    spare = _fill(sizes, cut, spare)
    for at, column_size in enumerate(column_sizes):
        if sizes[at] < column_size.title <= sizes[at] + spare:
            spare -= column_size.title - sizes[at]
            sizes[at] = column_size.title
    return sizes, spare


def _give(sizes: list[int], at: int, column_size: ColumnSize, spare: int, goal: int) -> int:
    """Widens one column to its goal, or to its short form, or not at all; returns what is left."""
    for size in (goal, column_size.short):
        more = size - sizes[at]
        if 0 < more <= spare:
            sizes[at] += more
            return spare - more
    return spare


def _fill(sizes: list[int], goals: Mapping[int, int], spare: int) -> int:
    while spare > 0 and (lacking := [at for at, goal in goals.items() if sizes[at] < goal]):
        share = max(1, spare // len(lacking))
        for at in lacking:
            more = min(share, goals[at] - sizes[at], spare)
            sizes[at] += more
            spare -= more
    return spare
