"""Rows of words in aligned columns, as wide as the terminal allows."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

GAP = 2
"""Cells between two columns."""


@dataclass(frozen=True, slots=True)
class Squeeze:
    """What a table gives up to fit in `width` cells: the columns `drops`, by index, the first of them first; and those
    of `shrinks` become narrower, down to so many cells, the first of them first. What is still too wide is cut."""

    width: int
    drops: tuple[int, ...]
    shrinks: Mapping[int, int]


def columns(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int], squeeze: Squeeze | None = None
) -> Iterator[str]:
    """The lines of a table of safe texts; the columns whose index is in `right` are numbers and end flush. Without a
    `squeeze` every column is as wide as its widest cell."""
    from rich.cells import cell_len

    from tui_crawler.console.safe_text import clip, fit

    whole = [max(map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    widths = dict(enumerate(whole)) if squeeze is None else _squeezed(whole, squeeze)
    for row in (header, *rows):
        cells = (fit(row[index], width, "right" if index in right else "left") for index, width in widths.items())
        line = (" " * GAP).join(cells).rstrip()
        yield line if squeeze is None else clip(line, squeeze.width)


def _squeezed(whole: Sequence[int], squeeze: Squeeze) -> dict[int, int]:
    """The columns that stay, with their widths."""
    left = dict(enumerate(whole))
    for index in squeeze.drops:
        if _total(min(width, squeeze.shrinks.get(one, width)) for one, width in left.items()) <= squeeze.width:
            break
        del left[index]
    for index, least in squeeze.shrinks.items():
        excess = _total(left.values()) - squeeze.width
        left[index] = max(min(least, left[index]), left[index] - max(0, excess))
    return left


def _total(widths: Iterable[int]) -> int:
    each = tuple(widths)
    return sum(each) + GAP * (len(each) - 1)


def terminal_width() -> int | None:
    """How wide the terminal on stdout is, in cells; None where there is none: lines are then as long as they are."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
