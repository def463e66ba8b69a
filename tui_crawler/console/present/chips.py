"""Pieces of a bar that drop out by importance when there is not enough room. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.safe_text import safe
from tui_crawler.console.table_cells import Styled

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Chip:
    """Pieces that stay together. `priority` 0 is never dropped; of the others the greatest goes first."""

    parts: tuple[Styled, ...]
    priority: int = 0

    @property
    def width(self) -> int:
        """How many terminal cells it takes."""
        return sum(cell_len(safe(part.text)) for part in self.parts)


def chip(text: str, role: str = "", priority: int = 0) -> Chip:
    """A chip of one piece."""
    return Chip((Styled(text, role),), priority)


def pair(label: str, value: str, role: str = "", priority: int = 0) -> Chip:
    """A chip of a muted label and its value."""
    return Chip((Styled(f"{label} ", "muted"), Styled(value, role)), priority)


def fit_chips(
    left: Sequence[Chip], right: Sequence[Chip], width: int, gap: int = 2
) -> tuple[tuple[Styled, ...], tuple[Styled, ...]]:
    """The pieces of both sides of a bar that fit in `width` cells, separated by `gap` spaces."""
    sides = [list(left), list(right)]
    while _needed(sides, gap) > width:
        droppable = [(one.priority, side, index) for side in (0, 1) for index, one in enumerate(sides[side])]
        droppable = [item for item in droppable if item[0] > 0]
        if not droppable:
            break
        _, side, index = max(droppable)
        del sides[side][index]
    return _joined(sides[0], gap), _joined(sides[1], gap)


def _needed(sides: Sequence[Sequence[Chip]], gap: int) -> int:
    chips = [one for side in sides for one in side]
    return sum(one.width for one in chips) + gap * max(0, len(chips) - 1)


def _joined(chips: Sequence[Chip], gap: int) -> tuple[Styled, ...]:
    parts: list[Styled] = []
    for one in chips:
        if parts:
            parts.append(Styled(" " * gap))
        parts.extend(one.parts)
    return tuple(parts)
