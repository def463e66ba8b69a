"""Charts of characters: areas, lines and stacks over a stretch of time, with a scale, an axis and marks. Pure.

A chart is a list of lines, a line a list of pieces (text and its role). Areas and lines are drawn with the dots of a
cell; the layers of a stack differ by their fillings, not by colour alone. With `Dots.ascii` all of it is ASCII.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import accumulate, groupby
from math import ceil, floor, isfinite, log10

from rich.cells import cell_len

from tui_crawler.domain.record import dataclass
from tui_crawler.text.format import compact
from tui_crawler.text.safe_text import safe

Piece = tuple[str, str]
"""Text, one cell for a character but in labels, and its role (`theme.ROLES`); empty is plain text."""


class Dots(Enum):
    """What charts are drawn with; the value is how many dots a cell has across and up."""

    braille = (2, 4)
    blocks = (1, 8)
    ascii = (1, 4)


class Form(Enum):
    """How a series is drawn: filled from zero up, as a line, as a layer on those before it, or as dashes on top."""

    area = 1
    line = 2
    layer = 3
    dashes = 4


@dataclass(frozen=True, slots=True)
class Series:
    """Values over a chart's whole stretch of time, the oldest first, None where nothing is known."""

    name: str
    values: tuple[float | None, ...]
    role: str = "accent"
    form: Form = Form.area


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at a share (0 to 1) of the axis: a glyph, perhaps words; `label` alone is a time."""

    share: float
    label: str
    glyph: str = ""
    role: str = "muted"


def amount(value: float) -> str:
    """Return a number for a scale: `0`, `1.5`, `20`, `1.5k`."""
    return compact(value) if value >= 10 or value == int(value) else f"{value:.2g}"


def dots_of(environ: Mapping[str, str], utf8: bool) -> Dots:
    """What a terminal can show: the console of Linux and a DEC terminal have no braille in their fonts."""
    if not utf8:
        return Dots.ascii
    return Dots.blocks if environ.get("TERM", "").startswith(("linux", "vt")) else Dots.braille


def chart(  # what there is to say of a chart
    series: Sequence[Series],
    width: int,
    height: int,
    *,
    dots: Dots = Dots.braille,
    top: float | None = None,
    scale: Callable[[float], str] = amount,
    marks: Sequence[Mark] = (),
    cursor: float | None = None,
    times: bool = True,
) -> list[list[Piece]]:
    """Return `height` lines of exactly `width` cells: the scale at the left, what is drawn, the axis below it, and with
    `times` a line of what `marks` say, in the order of their importance.

    The scale goes from zero to `top`, or to a round number above all values. `cursor` is a share of the axis.
    """
    rows = height - 1 - times
    greatest = round_top(_greatest(series)) if top is None else top
    high, middle, zero = (safe(scale(one)) for one in (greatest, greatest / 2, 0))
    room = max(map(cell_len, (high, middle, zero)))
    if rows < 1 or width < room + 3:
        return [[(" " * max(width, 0), "")] for _ in range(max(height, 0))]
    across = width - room - 1
    body = plot(series, across, rows, dots=dots, top=greatest, cursor=cursor)
    tee, wall, cross = "||+" if dots is Dots.ascii else "┤│┼"
    names = {0: high} | ({rows // 2: middle} if rows > 8 or rows in {4, 6, 8} else {})
    lines = [
        [(names.get(row, "").rjust(room), "muted"), (tee if row in names else wall, "faint"), *drawn]
        for row, drawn in enumerate(body)
    ]
    lines.append([(zero.rjust(room), "muted"), (cross, "faint"), *axis(across, marks, cursor, dots)])
    return lines + [[(" " * (room + 1), ""), *beside(across, marks)]] * times


def plot(
    series: Sequence[Series],
    width: int,
    height: int,
    *,
    dots: Dots = Dots.braille,
    top: float,
    cursor: float | None = None,
) -> list[list[Piece]]:
    """Return what is drawn of the series alone, `height` lines of `width` cells; the last of them lies on top."""
    layers = [one for one in series if one.form is Form.layer]
    cells = _stack(layers, width, height, dots, top) if layers else [[(" ", "")] * width for _ in range(height)]
    for one in series:
        if one.form is Form.dashes:  # a character in each column: without colours it differs from what it covers, too
            for at, value in enumerate(spread(one.values, width)):
                if value is not None:
                    cells[height - max(1, _level(value, top, height, whole=True))][at] = (_DASHES[dots], one.role)
        elif one.form is not Form.layer:
            _draw(cells, one, dots, top)
    if cursor is not None:
        at = _place(cursor, width)
        for row in cells:
            row[at] = ("!" if dots is Dots.ascii else "┊", "strong")
    return [joined(row) for row in cells]


def axis(width: int, marks: Iterable[Mark], cursor: float | None, dots: Dots) -> list[Piece]:
    """Return the axis as a line of `width` cells, crossed where something with a glyph happened, and at the cursor."""
    plain, crossed, pointed = "-+!" if dots is Dots.ascii else "─╂┊"
    cells = [(plain, "faint")] * width
    for mark in marks:
        if mark.glyph:
            cells[_place(mark.share, width)] = (crossed, mark.role)
    if cursor is not None:
        cells[_place(cursor, width)] = (pointed, "strong")
    return joined(cells)


def beside(width: int, marks: Iterable[Mark]) -> list[Piece]:
    """Return what the marks say, each where it stands, in `width` cells: the first ones as far as there is room; one
    with a glyph but no room for its words has its glyph alone."""
    taken: list[tuple[int, int, Piece]] = []
    for mark in marks:
        for words in dict.fromkeys((f"{mark.glyph}{mark.label}", mark.glyph)):
            text = safe(words, 40)
            wide = cell_len(text)
            start = min(_place(mark.share, width), width - wide)
            free = start >= 0 and all(start > after or start + wide < before for before, after, _ in taken)
            if wide and free:
                taken.append((start, start + wide, (text, mark.role)))
                break
    line, at = list[Piece](), 0
    for start, end, piece in (*sorted(taken), (width, width, ("", ""))):
        line += [(" " * (start - at), ""), piece]
        at = end
    return [piece for piece in line if piece[0]]


def legend(series: Sequence[Series], dots: Dots, says: Sequence[str] = ()) -> list[list[Piece]]:
    """Return the names of the series, each with what it is drawn with, and what it `says` (empty: leave it out)."""
    entries, at = list[list[Piece]](), 0
    for place, one in enumerate(series):
        layer = one.form is Form.layer
        fill = _FILLS[dots is Dots.ascii][at % _FILL_COUNT]
        line = _DASHES[dots] if one.form is Form.dashes else _character(dots, _SAMPLES[dots].get(one.form, 0))
        at += layer
        if not says or says[place]:
            words = " ".join(filter(None, (one.name, *says[place : place + 1])))
            entries.append([(f"{fill if layer else line} ", one.role), (safe(words), "muted")])
    return entries


def heat(values: Sequence[float | None], width: int, *, top: float | None = None) -> str:
    """Return a strip of `width` cells: the darker, the more; nothing known is a space, a little is never nothing."""
    shades, shown = "·░▒▓█", spread(values, width)
    highest = top if top is not None else max((one for one in shown if one is not None), default=0.0)
    return "".join(" " if one is None else shades[_level(one, highest, len(shades) - 1)] for one in shown)


def spread(values: Sequence[float | None], columns: int) -> list[float | None]:
    """Return the values over `columns` columns: few are drawn broad, of more than fit the greatest stays."""
    number = len(values)
    found: list[float | None] = []
    for column in range(columns):
        first = column * number // columns
        stretch = values[first : max(first + 1, (column + 1) * number // columns)]
        found.append(max((one for one in stretch if one is not None and isfinite(one)), default=None))
    return found


def round_top(value: float) -> float:
    """Return the least of 1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10, 12 … (and of their tenths) that is not less."""
    if not (isfinite(value) and value > 0):
        return 1.0
    unit = 10.0 ** floor(log10(value))
    return next(
        (unit * step for step in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8) if value <= unit * step * (1 + 1e-9)), unit * 10
    )


_FILLS = {True: "#|:.=_", False: "█▓▒░▄▁"}
_FILL_COUNT = 6
_BRAILLE = (0x40, 0x04, 0x02, 0x01, 0x80, 0x20, 0x10, 0x08)
"""What the dots of a cell add to U+2800: those of the left half from below, then those of the right half."""
_DASHES = {Dots.braille: "╌", Dots.blocks: "≈", Dots.ascii: "~"}
_BELOW = {Dots.blocks: " ▁▂▃▄▅▆▇█", Dots.ascii: " .:|#"}
"""Cells filled from below, by how many of their dots."""
_SAMPLES = {
    Dots.braille: {Form.area: 0x33, Form.line: 0x22},
    Dots.blocks: {Form.area: 0x0F, Form.line: 0xF0},
    Dots.ascii: {Form.area: 0x0F, Form.line: 0x02},
}


def _draw(cells: list[list[Piece]], series: Series, dots: Dots, top: float) -> None:
    across, up = dots.value
    height, width = len(cells), len(cells[0])
    masks = [[0] * width for _ in range(height)]
    before: int | None = None
    for column, value in enumerate(spread(series.values, width * across)):
        if value is None:
            before = None
            continue
        level = _level(value, top, height * up)
        low, high = 0, level
        if series.form is not Form.area:  # the dot of the value, and up or down to that of the column before
            high = max(level, 1)
            low = high - 1 if before is None or before >= high else before
            before, high = high, max(high, (before or 0) - 1)
        for dot in range(low, high):
            row, part = divmod(dot, up)
            masks[height - 1 - row][column // across] |= 1 << (column % across * up + part)
    for line, masked in zip(cells, masks, strict=True):
        for at, mask in enumerate(masked):
            if mask:
                below, above = line[at][0], _character(dots, mask)
                both = min(below, above) >= "\u2800" and max(below, above) <= "\u28ff"  # both are seen of braille alone
                line[at] = (chr(ord(below) | ord(above)) if both else above, series.role)


@cache
def _character(dots: Dots, mask: int) -> str:
    """The character with the dots of a mask: bit by bit from below, the left half first."""
    if dots is Dots.braille:
        return chr(0x2800 + sum(dot for bit, dot in enumerate(_BRAILLE) if mask >> bit & 1))
    up = dots.value[1]
    if not mask & (mask + 1):
        return _BELOW[dots][mask.bit_length()]
    if dots is Dots.ascii:
        return "|" if mask.bit_count() > 1 else ".--'"[mask.bit_length() - 1]
    low, high = mask & ((1 << up // 2) - 1), mask >> up // 2
    return "█" if low and high else "▀" if high else "▄"


def _stack(layers: Sequence[Series], width: int, height: int, dots: Dots, top: float) -> list[list[Piece]]:
    """Layers on each other, whole cells each: nothing above zero has none while there are cells enough."""
    fills = _FILLS[dots is Dots.ascii]
    drawn: list[list[Piece]] = []
    for values in zip(*(spread(one.values, width) for one in layers), strict=True):
        amounts = [max(value or 0.0, 0.0) for value in values]
        cells = _shares(amounts, _level(sum(amounts), top, height, whole=True))
        column = [(fills[at % _FILL_COUNT], layers[at].role) for at, number in enumerate(cells) for _ in range(number)]
        drawn.append(column + [(" ", "")] * (height - len(column)))
    return [[column[row] for column in drawn] for row in reversed(range(height))]


def _shares(amounts: Sequence[float], cells: int) -> list[int]:
    """So many cells shared out by amounts; who has any has one, as long as the greatest can spare it."""
    whole = sum(amounts)
    if not whole or not cells:
        return [0] * len(amounts)
    ends = [round(part / whole * cells) for part in accumulate(amounts)]
    shares = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    for at, amount in enumerate(amounts):
        most = max(range(len(shares)), key=shares.__getitem__)
        if amount > 0 and not shares[at] and shares[most] > 1:
            shares[most] -= 1
            shares[at] = 1
    return shares


def _level(value: float, top: float, most: int, *, whole: bool = False) -> int:
    """How many of `most` steps a value reaches: none at zero or less, else at least one."""
    if not value > 0 or not top > 0:
        return 0
    steps = min(value / top, 1.0) * most
    return min(max(1, ceil(steps - 1e-9) if whole else round(steps)), most)


def _greatest(series: Sequence[Series]) -> float:
    alone = [value for one in series if one.form is not Form.layer for value in one.values if value is not None]
    layers = (one.values for one in series if one.form is Form.layer)
    stacked = [sum(value or 0.0 for value in values) for values in zip(*layers, strict=False)]
    return max((value for value in (*alone, *stacked) if isfinite(value)), default=0.0)


def _place(share: float, width: int) -> int:
    return min(max(int(share * width), 0), width - 1)


def joined(cells: Iterable[Piece]) -> list[Piece]:
    """Return cells as pieces, those of one role that follow each other as one."""
    return [("".join(text for text, _ in run), role) for role, run in groupby(cells, key=lambda cell: cell[1])]
