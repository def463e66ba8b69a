"""Hostile text made fit to show, and text cut and padded to cells.

Everything that came from the web, from a file or from the database passes `safe` before it is shown, printed or
logged. What cannot be shown as a plain character is spelled out in ASCII, as Python writes it in a string: `\\x1b`,
`\\n`, `\\u202e`, `\\ud800`, `\\U000e0041`. The stored value stays raw.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal
from urllib.parse import quote, unquote

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
_PICTURE = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55\u3030"
    "\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JOINING = re.compile("[\u200d\ufe00-\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff]")
_JOINERS = re.compile(
    "[\U0001f1e6-\U0001f1ff]{1,2}"  # a flag is two of them
    f"|(?<=[{_PICTURE}])(?:[\ufe0e\ufe0f]|[\U0001f3fb-\U0001f3ff]\ufe0f?)?(?:\u200d(?=[{_PICTURE}]))?"
    "|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    "|(?<=\U0001f3f4)\U000e0067\U000e0062[\U000e0063-\U000e0077]{3}\U000e007f"  # the flags of parts of Britain
    f"|(?<=[{_IDEOGRAPH}])[\ufe00-\ufe02\U000e0100-\U000e01ef]"
)
"""What makes one picture of several characters, or another form of one."""
_ENCODED = re.compile("(?:%[89A-F][0-9A-F])+")
_ALIKE = frozenset({"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK", "LATIN"})
"""Scripts whose letters look like those of the others, as the names of characters begin."""


def safe(text: str, limit: int = 512) -> str:
    """Return `text` as plain characters that a terminal shows one after the other and never obeys.

    What is longer than `limit` (characters) is cut and ends in `…`. Controls (C0, DEL, C1), format characters (bidi,
    zero width), tags, variation selectors, lone surrogates, private use, unassigned and line separators become ASCII
    escapes; other spaces a space. Emoji sequences are shown as their characters, without joiners, selectors and skin
    tones, and flags as their two letters: terminals differ in the cells they take. At most `MAX_MARKS` combining marks
    stay on a character, then `…`; a mark without a character gets `◌`. Calling it twice changes nothing more.
    """
    if limit <= 0:
        return ""
    if text.isascii() and text.isprintable():
        return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS
    plain = text[: 4 * limit]
    if _JOINING.search(plain):
        plain = _JOINERS.sub(_letters, plain)
    pieces = _spell(plain[:limit])
    length = sum(map(len, pieces))
    if length <= limit and len(plain) <= limit and len(text) <= 4 * limit:
        return "".join(pieces)
    while pieces and length >= limit:
        length -= len(pieces.pop())
    return "".join(pieces) + ELLIPSIS


def readable_url(text: str) -> str:
    """Return a URL with its percent-encoded UTF-8 as the characters it encodes, if typing them gives the same URL.

    What a reader could take for something else stays encoded: ASCII, spaces, invisible characters, mathematical
    signs, what Unicode normalises to other characters, and letters of scripts that look alike.
    """
    return _ENCODED.sub(_decoded, text) if "%" in text else text


def without_unseen(text: str) -> str:
    """Return `text` without the characters that `safe` would spell out (also line ends), and with at most `MAX_MARKS`
    on one, for places where text is edited: what is seen must be what is there."""
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
    room, end = cells - 1, 0
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
    room, start = cells - 1, len(text)
    while start and (room := room - get_character_cell_size(text[start - 1])) >= 0:
        start -= 1
    while start < len(text) and not get_character_cell_size(text[start]):
        start += 1
    return ELLIPSIS + text[start:]


def fit(text: str, cells: int, align: Align = "left") -> str:
    """Return `text` (already safe) clipped and padded with spaces to exactly `cells` terminal cells."""
    clipped = clip(text, cells)
    missing = max(cells, 0) - cell_len(clipped)
    before = {"left": 0, "right": missing, "center": missing // 2}[align]
    return " " * before + clipped + " " * (missing - before)


def _spell(text: str) -> list[str]:
    """Return the pieces that stand for `text`; no piece may be cut in two."""
    pieces: list[str] = []
    marks = 0
    for char in text:
        shown, is_mark = _shown(char)
        marks = marks + 1 if is_mark else 0
        if is_mark and not pieces:
            pieces.append(_MARK_BEARER)
        if marks <= MAX_MARKS:
            pieces.append(shown)
        elif marks == MAX_MARKS + 1:
            pieces.append(ELLIPSIS)
    return pieces


def _letters(joiner: re.Match[str]) -> str:
    """The letters of a flag, with a space before the next flag; nothing for what joins."""
    if not "\U0001f1e6" <= joiner[0] <= "\U0001f1ff\U0001f1ff":
        return ""
    letters = "".join(chr(ord(one) - 0x1F1E6 + ord("A")) for one in joiner[0])
    return letters + " " * ("\U0001f1e6" <= joiner.string[joiner.end() :][:1] <= "\U0001f1ff")


def _decoded(found: re.Match[str]) -> str:
    text = unquote(found[0], errors="replace")
    around = found.string[max(0, found.start() - 1) : found.start()] + found.string[found.end() :][:1]
    letters = [char for char in text + around if char.isalpha()]
    alike = _ALIKE & {unicodedata.name(char, "").split(" ")[0] for char in letters}
    stable = quote(text) == found[0] and unicodedata.is_normalized("NFKC", text) and not _shown(text[0])[1]
    if not stable or len(alike) > 1:
        return found[0]
    plain = safe(text, len(text)) == text
    return "".join(char if _is_plain(char, with_marks=plain) else quote(char) for char in text)


def _is_plain(char: str, *, with_marks: bool) -> bool:
    shown, is_mark = _shown(char)
    return shown == char and (with_marks or not is_mark) and unicodedata.category(char) != "Sm"


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
