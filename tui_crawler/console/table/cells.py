"""Cells and rows of a `CrawlTable`, and how a cell is laid out in a number of terminal cells. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from rich.cells import cell_len, get_character_cell_size

from tui_crawler.text.cells import Cell, Styled, cell_parts
from tui_crawler.text.safe_text import ELLIPSIS, Align, clip, safe

if TYPE_CHECKING:
    from tui_crawler.text.cells import Present
    from tui_crawler.text.columns import Relation

R = TypeVar("R")


class Row:
    """One row: its key, one cell per column of the table, the role of text that names none, and the record it shows.

    `cells` may be a function: of many rows only a few are ever on the screen.
    """

    __slots__ = ("_cells", "_relation", "key", "record", "role")

    def __init__(self, key: Hashable, cells: tuple[Cell, ...] | Callable[[], tuple[Cell, ...]], role: str = "") -> None:
        self.key, self.role, self._cells = key, role, cells
        self.record: Any = None
        self._relation: Relation[Any] | None = None

    @classmethod
    def of(cls, relation: Relation[R], record: R, present: Present) -> Row:
        """Return the row of a record, whose cells are made when they are first looked at."""
        row = cls(relation.key(record), partial(relation.cells, record, present))
        row.record, row._relation = record, relation
        return row

    def in_role(self, role: str) -> Row:
        """Return this row in another role."""
        row = Row(self.key, self._cells, role)
        row.record, row._relation = self.record, self._relation
        return row

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells; made once."""
        if callable(self._cells):
            self._cells = self._cells()
        return self._cells

    @property
    def source(self) -> object | None:
        """The record as it was read, for copies and exports; None: the texts that are shown have to do."""
        return None if self._relation is None else self._relation.source(self.record)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and (self.key, self.role, self.cells) == (other.key, other.role, other.cells)

    __hash__ = None  # type: ignore[assignment]


def rows_of(relation: Relation[R], records: Iterable[R], present: Present) -> list[Row]:
    """Return records as rows, in their order."""
    return [Row.of(relation, record, present) for record in records]


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
    kept: list[Piece] = []
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
    tail, start = round(room * share), len(text)
    while start and (wide := get_character_cell_size(text[start - 1])) <= tail:
        tail -= wide
        start -= 1
    while start < len(text) and not get_character_cell_size(text[start]):
        start += 1
    head, end = room - cell_len(text[start:]), 0
    while end < start and (wide := get_character_cell_size(text[end])) <= head:
        head -= wide
        end += 1
    return end, start
