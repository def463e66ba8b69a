"""One chart in a pane: on view 7, where its cursor can be moved, and beside other things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import MouseDown, Resize
from textual.geometry import Size
from textual.message import Message

from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.border import write_pieces
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.zoom import zoom_words
from tui_crawler.console.pulse.rows import Chart, Charts, drawn, nothing_of, says_of, title_of
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.screen.span import SPAN_KEYS
from tui_crawler.text.cells import Styled
from tui_crawler.text.charts import Piece
from tui_crawler.text.format import READING

_SCALE = 6
"""About so many cells the scale takes."""
_FRAME = 7
"""Cells of the upper border that have no words: what is said beside the name has to fit between them."""


class ChartPane(ReachesConsole, Bar):
    """One chart."""

    BINDINGS: ClassVar[list[BindingType]] = [*SPAN_KEYS, Binding("enter", "screen.open_log", "Log", show=False)]

    class Pressed(Message):
        """A place was clicked, a share (0 to 1) of the span."""

        def __init__(self, share: float) -> None:
            super().__init__()
            self.share = share

    def __init__(self, chart_id: str, *, alone: bool = False) -> None:
        """Shows nothing yet. `alone`: nothing else here says of what it is, or has a cursor."""
        super().__init__(id=f"chart-{chart_id}", classes="pane")
        self.chart_id, self._alone = chart_id, alone
        self.can_focus = not alone
        self._charts: Charts | None = None
        self._shown: Chart | None = None
        self._cursor: int | None = None
        self._legend: Sequence[Line] = ()

    @property
    def chart(self) -> Chart | None:
        """What it shows; None: nothing was read, or there is none of this kind for a part of the crawl."""
        return next((one for one in self._charts.all if one.id == self.chart_id), None) if self._charts else None

    def tell(self, charts: Charts, cursor: int | None) -> None:
        """Shows this pulse, with the cursor at a step (None: at the present)."""
        self._charts, self._cursor = charts, cursor
        one = self._shown = self.chart
        if one is not None and self.is_mounted:
            of = f" · {title_of(charts.pulse)}" if self._alone else ""
            zoom = zoom_words(self)
            name, says = f"{one.name}{of}", says_of(one, self.console.appearance.dots, cursor)
            fits = len(name) + sum(len(text) for text, _ in says) + _FRAME <= (self.size.width or 200)
            self._legend = () if fits else wrapped(says, self.size.width)
            words = [(" · ", "muted"), *says] if says and fits else []
            write_pieces(self, [(name, ""), *words, (f" · {zoom}" if zoom else "", "")])
            self.lay_out()

    def on_resize(self, _event: Resize) -> None:
        if self._charts is not None:
            self.tell(self._charts, self._cursor)

    def count(self, counts: Mapping[str, float]) -> None:
        if self._charts is not None:
            self._charts.tell(counts)
            if self.chart is not self._shown:
                self.tell(self._charts, self._cursor)

    def lines_for(self, size: Size) -> Sequence[Line]:
        one, charts, console = self.chart, self._charts, self.console
        if one is None or charts is None:
            return (Styled(READING, "muted"),)
        if not one.known:
            return (Styled(nothing_of(charts, one), "muted"),)
        legend, dots, zone = self._legend, console.appearance.dots, console.clock.zone
        lines = drawn(charts, one, size.width, size.height - len(legend), dots, zone, self._cursor)
        return [*legend, *(tuple(Styled(text, role) for text, role in line) for line in lines)]

    def on_mouse_down(self, event: MouseDown) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            share = (offset.x - _SCALE) / max(1, self.size.width - _SCALE)
            self.post_message(self.Pressed(min(max(share, 0.0), 0.999)))


def wrapped(pieces: Sequence[Piece], width: int) -> Sequence[Line]:
    """Return a legend in lines of so many cells; what is drawn and what it says stay together."""
    lines, room = list[list[Styled]]([[]]), width
    for at in range(0, len(pieces), 3):  # what is drawn, its words, a gap
        one = [Styled(*piece) for piece in pieces[at : at + 2]]
        wide = sum(len(piece.text) for piece in one)
        if wide > room and lines[-1]:
            lines.append([])
            room = width
        elif lines[-1]:
            lines[-1].append(Styled("  "))
        lines[-1] += one
        room -= wide + 2
    return [tuple(line) for line in lines]
