"""The panes of Pulse: charts with a cursor."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.events import MouseDown, Resize
from textual.geometry import Size
from textual.message import Message

from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.border import write_pieces, zoom_words
from tui_crawler.console.panes.line import Flow, Line
from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.console.pulse.rows import Chart, Charts, drawn, nothing_of, says_of
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.screen.span import SPAN_KEYS
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import READING

_SCALE = 6
"""The width of the scale, about, in cells."""
_FRAME = 7
"""Cells of the upper border without words: the legend has to fit between these and the name."""
_GAP = 2
"""Cells between the entries of a legend."""
_UNKNOWN = 200
"""The width assumed before the first layout."""


class ChartPane(ReachesConsole, Bar, can_focus=True):
    """One chart."""

    BINDINGS: ClassVar[list[BindingType]] = [*SPAN_KEYS, Binding("enter", "screen.open_log", "Log", show=False)]

    class Pressed(Message):
        """A place was clicked, a share (0 to 1) of the span."""

        def __init__(self, share: float) -> None:
            super().__init__()
            self.share = share

    def __init__(self, chart_id: str) -> None:
        """Shows nothing yet."""
        super().__init__(id=f"chart-{chart_id}", classes="pane")
        self.chart_id = chart_id
        self._charts: Charts | None = None
        self._shown: Chart | None = None
        self._cursor: int | None = None
        self._legend: Sequence[Line] = ()  # what of it has no room in the title

    @property
    def chart(self) -> Chart | None:
        """What it shows; None: nothing was read, or there is none of this kind for a part of the crawl."""
        return next((one for one in self._charts.all if one.id == self.chart_id), None) if self._charts else None

    def tell(self, charts: Charts, cursor: int | None) -> None:
        """Show a pulse, with the cursor at a step (None: at the present)."""
        self._charts, self._cursor = charts, cursor
        one = self._shown = self.chart
        if one is not None and self.is_mounted:
            zoom, entries = zoom_words(self), says_of(one, self.console.appearance.dots, cursor)
            room = (self.size.width or _UNKNOWN) - len(one.name) - _FRAME
            ends = accumulate(sum(cell_len(text) for text, _ in entry) + _GAP for entry in entries)
            fit = sum(end - _GAP <= room for end in ends)
            words = [piece for entry in entries[:fit] for piece in ((" " * _GAP, ""), *entry)][1:]
            said = [(" · ", "muted"), *words] if words else []
            write_pieces(self, [(one.name, ""), *said, (zoom and f" · {zoom}", "")])
            rest = tuple(tuple(Styled(*piece) for piece in entry) for entry in entries[fit:])
            self._legend = [Flow(rest, _GAP)] if rest else []
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
        height = size.height - sum(len(lay_out_line(line, size.width)) for line in self._legend)
        lines = drawn(charts, one, size.width, height, console.appearance.dots, console.clock.zone, self._cursor)
        return [*self._legend, *(tuple(Styled(text, role) for text, role in line) for line in lines)]

    def on_mouse_down(self, event: MouseDown) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            share = (offset.x - _SCALE) / max(1, self.size.width - _SCALE)
            self.post_message(self.Pressed(min(max(share, 0.0), 0.999)))
