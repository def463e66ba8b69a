"""How many cells each column of a `CrawlTable` gets: by what was seen in it, and by what it asks for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from tui_crawler.console.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tui_crawler.console.table_columns import Column

_COMFORTABLE = 24
"""So many cells the only flexible column that is never dropped gets before others share what is left."""
_ENDLESS = 1_000_000
"""Cells: what a flexible column asks for as long as nothing was seen in it."""


class Width(NamedTuple):
    """The widest cell of a column, in terminal cells: its `whole` text, and its `short` form."""

    whole: int
    short: int


@dataclass(frozen=True, slots=True)
class Wish:
    """What a column asks for, in cells: `low` at least, `short` for the short form of all its cells, then `wanted`.

    `whole` is what nothing in it would be cut with, `title` what its title needs.
    """

    column: Column
    low: int
    short: int
    wanted: int
    whole: int
    title: int


def wish_of(column: Column, seen: Width | None) -> Wish:
    """The wish of a column in which this was seen; None: nothing was seen yet."""
    title = cell_len(safe(column.title))
    head = cell_len(safe(column.short or column.title)) + 1  # an arrow may follow it
    most = _ENDLESS if column.width is None else column.wanted
    if seen is not None and column.kind == "word":
        seen = Width(seen.short, seen.short)
    if seen is None:
        return Wish(column, column.least, most, most, most, title)
    wanted = min(most, max(seen.whole, head))
    if column.kind == "name" and wanted < seen.whole:
        wanted = min(most, max(seen.short, head))
    low = min(column.least, wanted)
    return Wish(column, low, min(wanted, max(low, seen.short)), wanted, seen.whole, title)


def share_out(wishes: Sequence[Wish], room: int) -> tuple[list[int], int]:
    """Return the width of each column, together at most `room` cells if the least ones allow it, and what is left.

    The only flexible column that is never dropped gets some first: what a row is about is told before what it is told
    about it. Then fixed columns get what they want, from left to right, each whole or not at all, and flexible ones
    share. What is left goes to those that are cut, then to titles.
    """
    sizes = [wish.low for wish in wishes]
    spare = max(0, room - sum(sizes))
    flexible = [at for at, wish in enumerate(wishes) if wish.column.width is None]
    first = [at for at in flexible if wishes[at].column.priority == 0]
    if len(first) == 1:
        wish = wishes[first[0]]
        if wish.column.kind == "name":
            spare = _give(sizes, first[0], wish, spare, wish.wanted)
        else:
            spare = _fill(sizes, {first[0]: min(_COMFORTABLE, wish.wanted)}, spare)
    for at, wish in enumerate(wishes):
        if wish.column.width is not None:
            spare = _give(sizes, at, wish, spare, wish.wanted)
    goals = {at: wishes[at].wanted for at in flexible}
    tried = sizes.copy()
    _fill(tried, goals, spare)
    for at in flexible:  # a part of what whole names need helps nobody
        if wishes[at].column.kind == "name" and tried[at] < wishes[at].wanted:
            goals[at] = max(sizes[at], wishes[at].short)
    spare = _fill(sizes, goals, spare)
    for at, wish in enumerate(wishes):
        if wish.column.kind == "name":
            spare = _give(sizes, at, wish, spare, wish.whole)
    others = {at: wish.whole for at, wish in enumerate(wishes) if wish.column.kind != "name"}
    spare = _fill(sizes, others, spare)
    for at, wish in enumerate(wishes):
        if sizes[at] < wish.title <= sizes[at] + spare:
            spare -= wish.title - sizes[at]
            sizes[at] = wish.title
    return sizes, spare


def _give(sizes: list[int], at: int, wish: Wish, spare: int, goal: int) -> int:
    """Widens one column to its goal, or to its short form, or not at all; returns what is left."""
    for size in (goal, wish.short):
        more = size - sizes[at]
        if 0 < more <= spare:
            sizes[at] += more
            return spare - more
    return spare


def _fill(sizes: list[int], goals: Mapping[int, int], spare: int) -> int:
    """Widens columns evenly up to their goals; returns what is left."""
    while spare > 0 and (lacking := [at for at, goal in goals.items() if sizes[at] < goal]):
        share = max(1, spare // len(lacking))
        for at in lacking:
            more = min(share, goals[at] - sizes[at], spare)
            sizes[at] += more
            spare -= more
    return spare
