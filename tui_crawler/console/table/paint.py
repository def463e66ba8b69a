"""How a `CrawlTable` looks: roles become styles, cells become segments, lines become strips."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.strip import Strip

from tui_crawler.console.table.cells import Row, lay_out
from tui_crawler.console.theme import role_colours
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.text.glyphs import ASCENDING, CURSOR, DESCENDING, MARKED
from tui_crawler.text.safe_text import clip, fit, safe

if TYPE_CHECKING:
    from tui_crawler.console.table.columns import ColumnPlace, Layout
    from tui_crawler.text.columns import AnyColumn

Sort = tuple[str, bool]
"""The id of the column the rows are ordered by, and whether the order is descending."""

_ATTRIBUTES = frozenset({"bold", "dim", "italic", "underline", "strike", "reverse"})
_STRIPS_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles of one table under one theme. `cursor`, `mark` and the like are laid over `base`."""

    base: Style
    header: Style
    header_sorted: Style
    header_current: Style
    placeholder: Style
    cursor: Style
    gutter: Style
    mark: Style
    roles: Mapping[str, Style]
    decodes: bool = True
    """Whether URLs are shown in the characters that they encode: not where the terminal has ASCII alone."""


def role_styles(variables: Mapping[str, str], dark: bool) -> dict[str, Style]:
    """Return role -> style from the theme variables `role-…`, or our own colour where one is missing or bad."""
    styles = {}
    for role, colour in role_colours(dark).items():
        try:
            parsed = Color.parse(variables.get(f"role-{role}", colour))
        except ColorParseError:
            parsed = Color.parse(colour)
        styles[role] = Style(color=parsed.rich_color)
    return styles


def style_of(role: str, roles: Mapping[str, Style]) -> Style:
    """Return the colour and attributes that the words of `role` name; others say nothing."""
    words = (Style.parse(word) if word in _ATTRIBUTES else roles.get(word, Style.null()) for word in role.split())
    return sum(words, Style.null())


class TablePainter:
    """Paints the lines of a table under one palette and layout; keeps the rows painted last."""

    def __init__(self, palette: Palette, layout: Layout) -> None:
        self.palette, self.layout = palette, layout
        self._strips: dict[Hashable, tuple[Row, list[Segment]]] = {}
        self._styles: dict[str, Style] = {}
        self._message: tuple[str, int, list[Strip]] = ("", 0, [])

    def in_colours(self, palette: Palette) -> TablePainter:
        """Return this painter where only the cursor has another style, which rows are not kept with; else a new one."""
        if replace(palette, cursor=self.palette.cursor) != self.palette:
            return TablePainter(palette, self.layout)
        self.palette = palette
        return self

    def row(self, row: Row, *, cursor: bool, marked: bool, door: AnyColumn | None = None) -> Strip:
        """Return the line of `row`; the text is painted once per row value. Under the cursor the cell of `door` stands
        out."""
        kept = self._strips.get(row.key)
        if kept is None or kept[0] != row:
            kept = (row, self._paint(row))
            if len(self._strips) >= _STRIPS_KEPT:
                self._strips.clear()
            self._strips[row.key] = kept
        segments = self._gutter(cursor, marked) + kept[1]
        if cursor:
            segments = list(Segment.apply_style(segments, post_style=self.palette.cursor))
        strip = Strip(segments, self.layout.width)
        for place in (one for one in self.layout.places if one.column is door):
            over, end = self.palette.cursor, place.x + place.width
            blank = len(text := strip.crop(place.x, end).text) - len(text.lstrip())
            at = max(0, place.x + blank - 1)  # the sign before it is seen without colour, too
            sign = Strip([Segment(CURSOR, self.palette.gutter + over)])
            cell = strip.crop(at + 1, end).apply_style(Style(reverse=not over.reverse))
            strip = Strip.join([strip.crop(0, at), sign, cell, strip.crop(end)])
        return strip

    def header(self, sort: Sort | None, current: str | None) -> Strip:
        """Return the header line, with an arrow in the column of `sort`."""
        palette = self.palette
        segments = [Segment(" " * self.layout.gutter, palette.header)]
        end = self.layout.gutter
        for place in self.layout.places:
            column = place.column
            arrow, style = "", palette.header
            if sort is not None and sort[0] == column.id:
                arrow, style = DESCENDING if sort[1] else ASCENDING, palette.header_sorted
            if column.id == current:
                style += palette.header_current
            segments.append(Segment(" " * (place.x - end), palette.header))
            segments += _title(place, arrow, palette.header, style)
            end = place.x + place.width
        segments.append(Segment(" " * (self.layout.width - end), palette.header))
        return self._strip(segments)

    def message(self, text: str, height: int) -> list[Strip]:
        """Return `height` lines with `text` in their middle, wrapped to the width; made once for all its lines."""
        if self._message[:2] == (text, height):
            return self._message[2]
        width = self.layout.width
        wrapped: list[str] = []
        for paragraph in text.split("\n"):
            wrapped += textwrap.wrap(safe(paragraph), max(1, width - 4)) or [""]
        above = max(0, (height - len(wrapped)) // 2)
        lines = ([""] * above + wrapped + [""] * height)[: max(0, height)]
        style = self.palette.placeholder
        made = [self._strip([Segment(fit(line, width, "center"), style)]) for line in lines]
        self._message = (text, height, made)
        return made

    def blank(self) -> Strip:
        """Return an empty line."""
        return Strip.blank(self.layout.width, self.palette.base)

    def _paint(self, row: Row) -> list[Segment]:
        base = self.palette.base
        row_style = self._role_style(row.role, base) if row.role else base
        segments = []
        end = self.layout.gutter
        for place in self.layout.places:
            if place.x > end:
                segments.append(Segment(" " * (place.x - end), base))
            cell, column = row.cells[place.index] if place.index < len(row.cells) else "", place.column
            is_place, decoded = column.kind == "place", self.palette.decodes
            pieces = lay_out(cell, place.width, column.align, place=is_place, short=place.short, decoded=decoded)
            segments += [
                Segment(text, self._role_style(role, row_style) if role else row_style) for text, role in pieces
            ]
            end = place.x + place.width
        if self.layout.width > end:
            segments.append(Segment(" " * (self.layout.width - end), base))
        return list(Segment.simplify(segments))

    def _gutter(self, cursor: bool, marked: bool) -> list[Segment]:
        if not self.layout.gutter:
            return []
        glyph = MARKED if marked else CURSOR if cursor else " "
        style = self.palette.mark if marked else self.palette.gutter
        return [Segment(glyph.ljust(self.layout.gutter), style)]

    def _role_style(self, role: str, base: Style) -> Style:
        own = self._styles.get(role)
        if own is None:
            own = self._styles[role] = style_of(role, self.palette.roles)
        return base + own

    def _strip(self, segments: Iterable[Segment]) -> Strip:
        strip = Strip([segment for segment in segments if segment.text])
        return strip.adjust_cell_length(self.layout.width, self.palette.base)


def _title(place: ColumnPlace, arrow: str, plain: Style, style: Style) -> list[Segment]:
    room = place.width - len(arrow)
    title = safe(place.column.title)
    if cell_len(title) > room:
        title = safe(place.column.short) or title
        title = clip(title, room) if room > 1 else title[: max(room, 0)]
    blank = room - cell_len(title)
    before = {"left": 0, "right": blank, "center": blank // 2}[place.column.align]
    return [Segment(" " * before, plain), Segment(title + arrow, style), Segment(" " * (blank - before), plain)]
