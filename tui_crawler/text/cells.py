"""Cells: text with roles of a theme, as tables, panes and the command line show it."""

from collections.abc import Sequence
from datetime import UTC, tzinfo

from tui_crawler.domain.record import dataclass
from tui_crawler.text.safe_text import readable_url


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


def cell_text(cell: Cell) -> str:
    """Return the whole text of a cell, unchanged."""
    return "".join(part.text for part in cell_parts(cell))


def cell_parts(cell: Cell, *, decoded: bool = False) -> Sequence[Styled]:
    """The pieces of a cell, as they are or with the URLs in them `decoded`."""
    if decoded:
        return [Styled(readable_url(one.text), one.role, one.short) for one in cell_parts(cell)]
    match cell:
        case str():
            return (Styled(cell),)
        case Styled():
            return (cell,)
        case _:
            return tuple(Styled(part) if isinstance(part, str) else part for part in cell)


@dataclass(frozen=True, slots=True)
class Present:
    """The time (epoch ms) and the time zone that cells are made for."""

    now: int = 0
    zone: tzinfo = UTC
