"""Cells and rows of a `CrawlTable`, and how a cell is laid out in a number of terminal cells. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.safe_text import ELLIPSIS, Align, clip, safe
from tui_crawler.console.table_cuts import clip_host, cut_place

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of text with a role of `theme.ROLES` and perhaps text attributes: `"error"`, `"muted bold"`.

    `short` stands for the text where the column is too narrow for it (`12k` for `12 004`).
    """

    text: str
    role: str = ""
    short: str = ""


Cell = str | Styled | tuple[str | Styled, ...]
"""What stands in one cell: text as it is (never markup), one styled piece, or several beside each other."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its key, one cell per column of the table, and the role of text that names none."""

    key: Hashable
    cells: tuple[Cell, ...]
    role: str = ""


class LateRow(Row):
    """A row whose cells are made when they are first looked at: of many rows only a few are ever on the screen."""

    __slots__ = ("_made", "_make")
    _make: Callable[[], Row]
    _made: Row | None

    def __init__(self, key: Hashable, make: Callable[[], Row]) -> None:
        """Takes the key, and what gives the row of that key, always the same."""
        for name, value in (("key", key), ("role", ""), ("_make", make), ("_made", None)):
            object.__setattr__(self, name, value)  # as a frozen dataclass does

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells; made once."""
        if self._made is None:
            object.__setattr__(self, "_made", self._make())
        made = self._made
        return () if made is None else made.cells


def cell_text(cell: Cell) -> str:
    """The whole text of a cell, as it is."""
    return "".join(part.text for part in cell_parts(cell))


Piece = tuple[str, str]
"""Text that is safe and clipped, and its role."""


def lay_out(cell: Cell, width: int, align: Align, *, place: bool = False, short: bool = False) -> list[Piece]:
    """Return the pieces of `cell` in exactly `width` terminal cells.

    Text is made safe, replaced by its short form when all of it does not fit (or when `short` form is asked for),
    then clipped with `…` and padded. `place`: the cell begins with a URL, a path or a host, which is cut in its middle.
    """
    parts = cell_parts(cell)
    pieces = [(safe(part.text), part.role) for part in parts]
    used = _width(pieces)
    if (short or used > width) and any(part.short for part in parts):
        parts = [Styled(part.short or part.text, part.role) for part in parts]
        pieces = [(safe(part.text), part.role) for part in parts]
        used = _width(pieces)
    if used > width:
        cut = cut_place([(part.text, part.role) for part in parts], width) if place and width > 0 else []
        pieces = cut or _clip_pieces(pieces, width)
        used = _width(pieces)
    blank = width - used
    before = {"left": 0, "right": blank, "center": blank // 2}[align]
    padded = [(" " * before, ""), *pieces, (" " * (blank - before), "")]
    return [piece for piece in padded if piece[0]]


def cell_parts(cell: Cell) -> Sequence[Styled]:
    """The pieces of a cell, as they are."""
    match cell:
        case str():
            return (Styled(cell),)
        case Styled():
            return (cell,)
        case _:
            return tuple(Styled(part) if isinstance(part, str) else part for part in cell)


def _width(pieces: Sequence[Piece]) -> int:
    return sum(cell_len(text) for text, _ in pieces)


def _clip_pieces(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """Return `pieces`, which are wider than `width`, cut to it; the last one left ends in `…`."""
    kept: list[Piece] = []
    room = width
    for text, role in pieces:
        used = cell_len(text)
        if used >= room:
            kept.append((clip_host(text, room) if used > room else clip(text + ELLIPSIS, room), role))
            break
        kept.append((text, role))
        room -= used
    return kept
