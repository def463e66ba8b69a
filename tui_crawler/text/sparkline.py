"""Small pictures of characters: sparklines, bars, patience dots. Pure; each character is one cell wide."""

from collections.abc import Sequence
from math import ceil, isfinite

LEVELS = "▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉"
_MAX_DOTS = 10


def sparkline(values: Sequence[float | None], width: int) -> str:
    """Return the newest `width` of `values` (newest last) as a line of exactly `width` cells.

    The scale goes from zero to the greatest value shown. Zero and less is `▁`, everything above zero is at least `▂`:
    a little is never shown as nothing. None, NaN and infinity are gaps, missing values spaces.
    """
    shown = values[-width:] if width > 0 else ()
    finite = [one if one is not None and isfinite(one) else None for one in shown]
    highest, most = max((one for one in finite if one is not None), default=0.0), len(LEVELS) - 1
    levels = (" " if one is None else LEVELS[max(1, ceil(one / highest * most)) if one > 0 else 0] for one in finite)
    return "".join(levels).rjust(width)


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
