"""All origins at a glance: one cell each in the order of their names, or of several the worst where they are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from textual.events import Click
from textual.geometry import Size
from textual.message import Message

from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.line import Line
from tui_crawler.console.table.cells import Styled
from tui_crawler.text.glyphs import StateGlyph
from tui_crawler.text.standing import severity, standing

if TYPE_CHECKING:
    from tui_crawler.domain.view import OriginView


class OriginStrip(Bar, can_focus=False):
    """A line above the table; a click goes to an origin, the worst of those that share a cell."""

    class Chosen(Message):
        """An origin was clicked."""

        def __init__(self, origin: str) -> None:
            super().__init__()
            self.origin = origin

    def __init__(self) -> None:
        """Shows nothing yet."""
        super().__init__(id="origin-strip")
        self._names: list[str] = []
        self._origins: Mapping[str, OriginView] = {}

    def tell(self, origins: Mapping[str, OriginView], *, wanted: bool) -> None:
        """Shows how these stand; not `wanted`: all of them have a row in view, or there is no room."""
        self.display = wanted
        self._origins = origins
        if wanted:
            if len(self._names) != len(origins):  # an origin is never taken away
                self._names = sorted(origins, key=lambda name: name.partition("://")[2])
            self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        """The line."""
        cells = [standing(self._origins[worst]) for worst in self._worst(size.width)]
        return [tuple(Styled(glyph * len(list(run)), role) for (glyph, role), run in groupby(cells, key=_drawn))]

    def on_click(self, event: Click) -> None:
        """Tells which origin was clicked."""
        worst = self._worst(self.size.width)
        if 0 <= event.x < len(worst):
            self.post_message(self.Chosen(worst[event.x]))

    def _worst(self, width: int) -> list[str]:
        """The origin of each cell: the one that stands worst."""
        each = -(-len(self._names) // max(1, width))
        groups = (self._names[first : first + each] for first in range(0, len(self._names), max(1, each)))
        return [min(group, key=lambda name: severity(self._origins[name])) for group in groups]


def _drawn(mark: StateGlyph) -> tuple[str, str]:
    return mark.glyph, mark.role
