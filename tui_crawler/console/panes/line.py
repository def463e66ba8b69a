"""Lines of text that are not rows of a table: what a `Lines` pane shows. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass as derived_dataclass
from itertools import groupby

from rich.cells import cell_len

from tui_crawler.domain.record import dataclass
from tui_crawler.text.cells import Cell, Styled, cell_parts
from tui_crawler.text.safe_text import safe

LABEL = 9
"""How wide a label is before its value, in cells."""


@dataclass(frozen=True, slots=True)
class Split:
    """A line with a part at the left edge and a part at the right edge; the right one is kept whole."""

    left: Cell
    right: Cell


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text that is wrapped to the width, with a role; following lines are indented by `indent` cells."""

    text: str
    role: str = ""
    indent: int = 0
    most: int = 6


@dataclass(frozen=True, slots=True)
class HangingText:
    """Text that is wrapped beside a head of `width` cells; following lines stand under the text.

    A `tail` stands at the right edge, muted, in at most half of the room; the text is then one line and cut.
    """

    head: Cell
    width: int
    text: str
    role: str = ""
    most: int = 6
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """Pieces beside each other, as many in a line as fit whole; what follows stands in the next line."""

    pieces: tuple[Cell, ...]
    gap: int = 2


@derived_dataclass(frozen=True, slots=True)
class Door(Styled):
    """Text that a click opens something by: the `goal` is the id of an action, the column whose rows are counted, or
    how many crumbs lead there."""

    goal: str | int = ""


Line = Cell | Split | Paragraph | HangingText | Flow


def as_door(cell: Cell, goal: str | int) -> tuple[Door, ...]:
    """Return a cell in which a click on any part opens the same."""
    return tuple(Door(part.text, part.role, part.short, goal) for part in cell_parts(cell))


def doors_in(line: Line) -> Iterator[tuple[int, int, str | int]]:
    """Yield the cells `start` to before `end` of each door of a line that is not cut, and its goal."""
    end = 0
    parts = line if isinstance(line, tuple) else ()
    for goal, run in groupby(parts, key=lambda part: part.goal if isinstance(part, Door) else None):
        start, end = end, end + width_of(tuple(run))
        if goal is not None:
            yield start, end, goal


def width_of(cell: Cell) -> int:
    """How many terminal cells a cell takes when nothing is cut."""
    parts = (cell,) if not isinstance(cell, tuple) else cell
    return sum(cell_len(safe(part if isinstance(part, str) else part.text)) for part in parts)


def fact(label: str, *value: str | Styled) -> tuple[str | Styled, ...]:
    """A line of a label and its value."""
    return (Styled(label.ljust(LABEL), "muted"), *value)


def heading(text: str) -> Cell:
    """A line that begins a section."""
    return Styled(text, "accent bold")
