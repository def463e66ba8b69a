"""Pieces of a bar that drop out by importance when there is not enough room. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.safe_text import safe
from tui_crawler.console.table_cells import Styled

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPACT = 4
"""The widest number that `format.compact` gives, in cells."""


@dataclass(frozen=True, slots=True)
class Chip:
    """Pieces that stay together. `priority` 0 is never dropped; of the others the greatest goes first.

    Where there is no room for its whole words, the `short` ones of its parts stand there.
    """

    parts: tuple[Styled, ...]
    priority: int = 0

    @property
    def width(self) -> int:
        """How many terminal cells it takes."""
        return sum(cell_len(safe(part.text)) for part in self.parts)

    @property
    def shortened(self) -> Chip:
        """The same in its short words."""
        return Chip(tuple(Styled(part.short or part.text, part.role) for part in self.parts), self.priority)


def chip(text: str, role: str = "", priority: int = 0, width: int = 0) -> Chip:
    """A chip of one piece; a shorter text is filled up to `width` cells, so that what stands beside it stays there."""
    return Chip((Styled(text.ljust(width), role),), priority)


def pair(label: str, value: Styled, priority: int = 0, width: int = 0, short: str = "") -> Chip:
    """A chip of a muted label, perhaps with a short one, and its value in at least `width` cells.

    Of a value that has a short form the short one is filled up to COMPACT cells.
    """
    filled = Styled(value.text.ljust(width), value.role, short=value.short.ljust(COMPACT) if value.short else "")
    return Chip((Styled(f"{label} ", "muted", short=f"{short} " if short else ""), filled), priority)


def fit_chips(
    left: Sequence[Chip], right: Sequence[Chip], width: int, gap: int = 2
) -> tuple[tuple[Styled, ...], tuple[Styled, ...]]:
    """The pieces of both sides of a bar that fit in `width` cells, separated by `gap` spaces: one that has no room is
    left out, those after it in priority are not. What room is left goes to whole words in place of short ones."""
    sides = (left, right)
    ranked = sorted((one.priority, side, index) for side in (0, 1) for index, one in enumerate(sides[side]))
    kept: dict[tuple[int, int], Chip] = {}
    room = width + gap
    for priority, side, index in ranked:
        one = sides[side][index].shortened
        if one.width + gap <= room or not priority:
            kept[side, index] = one
            room -= one.width + gap
    for place, one in kept.items():
        whole = sides[place[0]][place[1]]
        if whole.width - one.width <= room:
            kept[place] = whole
            room -= whole.width - one.width
    at_left, at_right = ([kept[side, at] for at in range(len(sides[side])) if (side, at) in kept] for side in (0, 1))
    return _joined(at_left, gap), _joined(at_right, gap)


def _joined(chips: Sequence[Chip], gap: int) -> tuple[Styled, ...]:
    parts: list[Styled] = []
    for one in chips:
        if parts:
            parts.append(Styled(" " * gap))
        parts.extend(one.parts)
    return tuple(parts)
