"""Hostile text made fit to show, and text cut and padded to cells.

Everything that came from the web, from a file or from the database passes `safe` before it is shown in a
widget, printed or logged. What cannot be shown as a plain character is spelled out in ASCII, as Python writes
it in a string: `\\x1b`, `\\n`, `\\u202e`, `\\ud800`, `\\U000e0041`. The stored value stays raw. The module
needs no Textual.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Literal

from rich.cells import cell_len, get_character_cell_size

ELLIPSIS = "…"
MAX_MARKS = 2
"""How many combining marks may sit on one character."""

Align = Literal["left", "right", "center"]

_MARK_BEARER = "◌"
_UNSEEN: tuple[tuple[int, int], ...] = (
    # Printable by category, but without a picture or of unsure width: Default_Ignorable_Code_Point of Unicode
    # (format characters, category Cf, need no line here), flag letters and skin tones.
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0x1F1E6, 0x1F1FF),  # regional indicators: a pair is one flag, of one, two or four cells
    (0x1F3FB, 0x1F3FF),  # skin tones: merge with the character before on some terminals
    (0xE0000, 0xE0FFF),  # tags and variation selectors supplement
)


def safe(text: str, limit: int = 512) -> str:
    """Return `text` as plain characters that a terminal shows one after the other and never obeys.

    `limit` is the greatest length of the answer in characters; what is longer is cut and ends in `…`.
    Controls (C0, DEL, C1), format characters (bidi, zero width), tags, variation selectors, lone surrogates,
    private use, unassigned and line separators become ASCII escapes. Other spaces become a space. At most
    `MAX_MARKS` combining marks stay on a character, `…` stands for the rest; a mark without a character gets
    `◌`. Printable ASCII comes back unchanged. Calling it twice changes nothing more.
    """
    if limit <= 0:
        return ""
    if text.isascii() and text.isprintable():
        return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS
    pieces = _spell(text[:limit])
    length = sum(map(len, pieces))
    if length <= limit and len(text) <= limit:
        return "".join(pieces)
    while pieces and length >= limit:
        length -= len(pieces.pop())
    return "".join(pieces) + ELLIPSIS


def without_unseen(text: str) -> str:
    """Return `text` without the characters that `safe` would spell out, and with at most `MAX_MARKS` on one.

    For places where text is edited, and what is seen must be what is there: line ends are lost, too, and other
    spaces become a space.
    """
    kept: list[str] = []
    marks = 0
    for char in text:
        shown, is_mark = _shown(char)
        if char != "\\" and shown.startswith("\\"):
            continue
        marks = marks + 1 if is_mark else 0
        if marks <= MAX_MARKS:
            kept.append(shown)
    return "".join(kept)


def clip(text: str, cells: int) -> str:
    """Return `text` (already safe) in at most `cells` terminal cells; what is cut off ends in `…`."""
    if cells <= 0:
        return ""
    if text.isascii():
        return text if len(text) <= cells else text[: cells - 1] + ELLIPSIS
    if cell_len(text) <= cells:
        return text
    room = cells - 1
    end = 0
    for end, char in enumerate(text):  # noqa: B007  the index is needed after the loop
        room -= get_character_cell_size(char)
        if room < 0:
            break
    return text[:end] + ELLIPSIS


def clip_left(text: str, cells: int) -> str:
    """Return the end of `text` (already safe) in at most `cells` terminal cells; what is cut off is `…` before it."""
    if cells <= 0:
        return ""
    if cell_len(text) <= cells:
        return text
    room = cells - 1
    start = len(text)
    while start and (room := room - get_character_cell_size(text[start - 1])) >= 0:
        start -= 1
    while start < len(text) and not get_character_cell_size(text[start]):
        start += 1
    return ELLIPSIS + text[start:]


def fit(text: str, cells: int, align: Align = "left") -> str:
    """Return `text` (already safe) clipped and padded with spaces to exactly `cells` terminal cells."""
    clipped = clip(text, cells)
    missing = max(cells, 0) - cell_len(clipped)
    match align:
        case "left":
            return clipped + " " * missing
        case "right":
            return " " * missing + clipped
        case "center":
            return " " * (missing // 2) + clipped + " " * (missing - missing // 2)


def _spell(text: str) -> list[str]:
    """Return the pieces that stand for `text`; no piece may be cut in two."""
    pieces: list[str] = []
    marks = 0
    for char in text:
        shown, is_mark = _shown(char)
        if not is_mark:
            marks = 0
            pieces.append(shown)
            continue
        marks += 1
        if not pieces:
            pieces.append(_MARK_BEARER)
        if marks <= MAX_MARKS:
            pieces.append(shown)
        elif marks == MAX_MARKS + 1:
            pieces.append(ELLIPSIS)
    return pieces


@lru_cache(maxsize=8192)
def _shown(char: str) -> tuple[str, bool]:
    """Return what stands for one character, and whether it sits on the character before it."""
    category = unicodedata.category(char)
    if category == "Zs":
        return " ", False
    code = ord(char)
    if not char.isprintable() or any(first <= code <= last for first, last in _UNSEEN):
        return char.encode("unicode_escape").decode("ascii"), False
    return char, category in ("Mn", "Me") or get_character_cell_size(char) == 0


def yaml_quoted(text: str, *, only_ascii: bool = False) -> str:
    """A double-quoted scalar of YAML; what is not printable, or (`only_ascii`) no ASCII, has its code point instead."""
    plain = {one for one in text if one.isprintable() and (one.isascii() or not only_ascii)}
    parts = (f"\\{one}" if one in '"\\' else one if one in plain else f"\\U{ord(one):08x}" for one in text)
    return f'"{"".join(parts)}"'
