"""URLs, paths and hosts cut where they tell least apart: in their middle. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len, get_character_cell_size

from tui_crawler.console.safe_text import ELLIPSIS, clip, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        pieces.append((_safe_ends(text), role))
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


def _safe_ends(text: str) -> str:
    """`safe` of a text, of a long one of its beginning and its end."""
    if len(text) <= 2 * _END:
        return safe(text)
    return f"{safe(text[:_END], 10 * _END)}{ELLIPSIS}{safe(text[-_END:], 10 * _END)}"
