"""A stored body as lines: as text with the numbers of its lines, or as bytes in hex. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len, get_character_cell_size

from tui_crawler.console.format import count, size
from tui_crawler.console.safe_text import safe
from tui_crawler.console.table_cells import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui_crawler.console.present.line import Line

MOST_LINES = 6_000
_GUTTER = 5
_BREAK = re.compile(r"\r\n|\r|\n")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_OF_THE_WEB = re.compile(
    r"utf-?(8|16|16le|16be)|(us-)?ascii|iso-?8859-?\d{1,2}|latin-?\d|windows-?125\d|koi8-[ru]|shift[-_]?jis|"
    r"euc-(jp|kr)|gb(2312|k|18030)|big5",
    re.IGNORECASE,
)
"""Charsets that are decoded; others of Python's take long, or are no text."""


def text_lines(data: bytes, whole: int, content_type: str, width: int) -> list[Line]:
    """The text of `data`, the first bytes of a body of `whole` bytes, in rows of at most `width` cells."""
    rows: list[Line] = []
    room = max(8, width - _GUTTER - 1)
    for number, text in enumerate(_BREAK.split(_decoded(data, content_type)), 1):
        for index, piece in enumerate(_pieces(text, room)):
            head = str(number) if index == 0 else ""
            rows.append((Styled(f"{head:>{_GUTTER}} ", "faint"), piece))
        if len(rows) >= MOST_LINES:
            break
    return [*rows[:MOST_LINES], *_rest(len(data), whole, cut=len(rows) >= MOST_LINES)]


def looks_binary(data: bytes) -> bool:
    """Whether bytes are better shown as such."""
    return b"\0" in data[:4_096]


def hex_lines(data: bytes, whole: int, width: int) -> list[Line]:
    """Offset, bytes and printable ASCII of `data`, in rows of 16, 8 or 4 bytes as `width` allows."""
    per_row = next((number for number in (16, 8) if number * 4 + 11 <= width), 4)
    rows: list[Line] = []
    for at in range(0, len(data), per_row):
        part = data[at : at + per_row]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        rows.append(
            (Styled(f"{at:08x}  ", "faint"), f"{part.hex(' '):{per_row * 3 - 1}}", Styled(f"  {shown}", "muted"))
        )
    return [*rows, *_rest(len(data), whole, cut=False)]


def _rest(shown: int, whole: int, *, cut: bool) -> list[Line]:
    if cut:
        return ["", Styled(f"… the first {count(MOST_LINES)} rows of {size(whole)}", "muted")]
    if shown < whole:
        return ["", Styled(f"… the first {size(shown)} of {size(whole)}", "muted")]
    return []


def _decoded(data: bytes, content_type: str) -> str:
    """The text in the charset it says it has, else as UTF-8; what is not of it is shown as U+FFFD."""
    found = _CHARSET.search(content_type)
    named = found[1] if found and _OF_THE_WEB.fullmatch(found[1]) else "utf-8"
    try:
        return data.decode(named, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


def _pieces(text: str, room: int) -> Iterator[str]:
    """A line made safe, in pieces of at most `room` cells; at least one."""
    plain = text.expandtabs(4)
    shown = plain if plain.isascii() and plain.isprintable() else safe(plain, len(plain) * 10 + 1)
    if cell_len(shown) == len(shown):
        yield from (shown[at : at + room] for at in range(0, max(1, len(shown)), room))
        return
    piece, used = "", 0
    for char in shown:
        cells = get_character_cell_size(char)
        if used + cells > room:
            yield piece
            piece, used = "", 0
        piece, used = piece + char, used + cells
    yield piece
