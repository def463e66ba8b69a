"""Small pictures of characters: sparklines, bars, patience dots. Pure; each character is one cell wide."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite

LEVELS = "▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉"
_MAX_DOTS = 10


def sparkline(values: Sequence[float | None], width: int, *, top: float | None = None) -> str:
    """Return the newest `width` of `values` (newest last) as a line of exactly `width` cells.

    The scale goes from zero to `top`, or to the greatest value shown. Zero and less is `▁`, everything above
    zero is at least `▂`: a little is never shown as nothing. None, NaN and infinity are gaps, missing values spaces.
    """
    shown = values[-width:] if width > 0 else ()
    finite = [value for value in shown if value is not None and isfinite(value)]
    highest = top if top is not None else max(finite, default=0.0)
    return "".join(_level(value, highest) for value in shown).rjust(width)


def bar(fraction: float, width: int, *, track: str = " ") -> str:
    """Return a horizontal bar of exactly `width` cells, filled from the left to `fraction` (0 to 1, clamped) in eighths
    of a cell: above zero at least one, below 1 never all. `track` fills the rest (one cell wide)."""
    if not 0 < fraction < 1 or width <= 0:
        return ("█" if fraction >= 1 else track) * width
    full, part = divmod(min(max(1, round(fraction * width * 8)), width * 8 - 1), 8)
    head = "█" * full + (_EIGHTHS[part] if part else "")
    return head + track * (width - len(head))


def patience_dots(left: int, maximum: int) -> str:
    """Return patience as dots, `●●○○○` for 2 of 5; a maximum over 10 is written `12/50`. `left` is clamped to
    0..`maximum`; a maximum of 0 or less gives an empty string."""
    filled = min(max(left, 0), maximum)
    return f"{filled}/{maximum}" if maximum > _MAX_DOTS else "●" * filled + "○" * (maximum - filled)


def _level(value: float | None, highest: float) -> str:
    if value is None or not isfinite(value):
        return " "
    if value <= 0 or highest <= 0:
        return LEVELS[0]
    steps = len(LEVELS) - 1
    return LEVELS[min(max(1, ceil(min(value / highest, 1.0) * steps)), steps)]
