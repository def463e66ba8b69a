"""Cells and rows of a `CrawlTable`, and how a cell is laid out in a number of terminal cells. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence

from rich.cells import cell_len, get_character_cell_size

from tui_crawler.domain.record import dataclass
from tui_crawler.text.safe_text import ELLIPSIS, Align, clip, readable_url, safe


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


def lay_out(
    cell: Cell, width: int, align: Align, *, place: bool = False, short: bool = False, decoded: bool = False
) -> list[Piece]:
    """Return the pieces of `cell` in exactly `width` terminal cells.

    Text is made safe, replaced by its short form when all of it does not fit (or when `short` form is asked for),
    then clipped with `…` and padded. `place`: a URL, a path or a host, which is cut in its middle; perhaps `decoded`.
    """
    parts = cell_parts(cell, decoded=place and decoded)
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


_HOST_WITH_PORT = re.compile(r"[^/\s]+(:[0-9]{1,5})")
_LEAST_OF_HOST = 4
"""Cells of a host that are left beside its port, the `…` among them; else the port is cut, too."""
_ROOM_FOR_SCHEME = 24
"""Cells of a URL below which its end alone is shown: of its beginning little else than the scheme would be left."""
_END = 256
"""Characters of the beginning and of the end of a long text that are looked at."""


def clip_host(text: str, room: int) -> str:
    """Return `text` (already safe) cut to `room` cells; a host keeps its port, by which it is told from others on one
    machine."""
    port = _HOST_WITH_PORT.fullmatch(text)
    if port is None or room < len(port[1]) + _LEAST_OF_HOST:
        return clip(text, room)
    return clip(text[: port.start(1)], room - len(port[1])) + port[1]


def cut_place(parts: Sequence[tuple[str, str]], width: int) -> list[tuple[str, str]]:
    """Return the URL, path or host that `parts` (raw text and role) begin with, made safe and cut in its middle to
    `width` cells, and nothing of what follows; nothing at all if it fits, or if the parts begin with words."""
    pieces: list[tuple[str, str]] = []
    for text, role in parts:
        if " " in text:
            break
        if len(text) <= 2 * _END:
            pieces.append((safe(text), role))
        else:
            pieces.append((f"{safe(text[:_END], 10 * _END)}{ELLIPSIS}{safe(text[-_END:], 10 * _END)}", role))
    text = "".join(text for text, _ in pieces)
    if cell_len(text) <= width:
        return []
    port = _HOST_WITH_PORT.fullmatch(text)
    if port is not None and len(pieces) == 1 and width >= len(port[1]) + _LEAST_OF_HOST:
        return [(clip_host(text, width), pieces[0][1])]
    end, start = _ends(text, width - 1)
    kept: list[tuple[str, str]] = []
    at = 0
    for text, role in pieces:
        head, tail = text[: max(0, end - at)], text[max(0, start - at) :]
        if at <= end < at + len(text):
            head += ELLIPSIS
        kept.append((head + tail, role))
        at += len(text)
    return kept


def _ends(text: str, room: int) -> tuple[int, int]:
    """Where the beginning of a text ends and where its end begins, so that both fit into `room` cells, which is less
    than all of it has. No mark is parted from its bearer."""
    share = 0.6 if "/" in text else 0.5
    if "://" in text and room < _ROOM_FOR_SCHEME:
        share = 1.0
    tail = round(room * share)
    start = len(text)
    while start and (wide := get_character_cell_size(text[start - 1])) <= tail:
        tail -= wide
        start -= 1
    while start < len(text) and not get_character_cell_size(text[start]):
        start += 1
    head = room - cell_len(text[start:])
    end = 0
    while end < start and (wide := get_character_cell_size(text[end])) <= head:
        head -= wide
        end += 1
    return end, start
