"""A screen as text: its characters line by line, and the style of every cell.

All looks of one size stand together, as long as they have the same characters: a change of a word changes one line for
all of them, a change of a colour only the list of styles at the end. The styles of a line are runs of cells,
`ab12 cd3`; what `ab` is in each look is said at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any
from zlib import crc32

from rich.cells import cell_len
from rich.style import Style

ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike", "blink", "overline")

Line = tuple[str, list[str]]
"""Its characters, and the style of each cell."""
ViewLayouts = Mapping[str, list[Line]]
"""The lines of one screen by the name of the look."""


def screen_lines(app: Any) -> list[Line]:
    """Return what is on the screen, as `App.export_screenshot` takes it."""
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    known: dict[Style | None, str] = {}
    lines = []
    for strips in update.strips:
        text, cells = "", list[str]()
        for segment in (segment for strip in strips for segment in strip if not segment.control):
            if segment.style not in known:
                known[segment.style] = _style(segment.style or Style())
            text += segment.text
            cells += [known[segment.style]] * cell_len(segment.text)
        lines.append((text.rstrip(" "), cells))
    return lines


def _style(style: Style) -> str:
    fore, back = (colour.name if colour else "default" for colour in (style.color, style.bgcolor))
    return " ".join([f"{fore} on {back}", *(name for name in ATTRIBUTES if getattr(style, name))])


def write_screens(screens: Mapping[str, ViewLayouts]) -> str:
    """Return the screens as text; they are named by their size."""
    names: dict[tuple[str, ...], str] = {}
    written = [line for size, looks in screens.items() for line in _write_screen(size, looks, names)]
    written += ["== styles", *sorted(f"{name}  {'  |  '.join(styles)}" for styles, name in names.items())]
    return "\n".join(written) + "\n"


def _write_screen(size: str, looks: ViewLayouts, names: dict[tuple[str, ...], str]) -> Iterator[str]:
    """Yield the lines of one size; `names` of styles are added to."""
    by_text: dict[tuple[str, ...], list[str]] = {}
    for look, lines in looks.items():
        by_text.setdefault(tuple(text for text, _ in lines), []).append(look)
    for texts, alike in by_text.items():
        yield f"== {size} {' | '.join(alike)}"
        yield from texts
        yield "-- styles"
        cells = zip(*([styled for _, styled in looks[look]] for look in alike), strict=True)
        runs = [_write_runs(list(zip(*line, strict=True)), names) for line in cells]
        for run, at in groupby(range(len(runs)), runs.__getitem__):
            first, *others = (number + 1 for number in at)
            yield f"{first}-{others[-1]} {run}" if others else f"{first} {run}"


def _write_runs(cells: list[tuple[str, ...]], names: dict[tuple[str, ...], str]) -> str:
    return " ".join(f"{_name(styles, names)}{len(list(run))}" for styles, run in groupby(cells))


def _name(styles: tuple[str, ...], names: dict[tuple[str, ...], str]) -> str:
    """Two letters that are made from the styles, so that they stay when others come or go."""
    number = crc32("|".join(styles).encode())
    while styles not in names:
        name = chr(97 + number % 26) + chr(97 + number // 26 % 26)
        if name not in names.values():
            names[styles] = name
        number += 1
    return names[styles]
