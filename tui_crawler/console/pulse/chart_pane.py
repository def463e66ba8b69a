"""One chart in a pane: on view 7, where its cursor can be moved, and beside other things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import MouseDown
from textual.geometry import Size
from textual.message import Message

from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.border import write_pieces
from tui_crawler.console.panes.line import Line
from tui_crawler.console.pulse.rows import Chart, Charts, drawn, legend_of, title_of
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.screen.span import SPAN_KEYS
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import READING

_SCALE = 6
"""About so many cells the scale takes."""


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

    @property
    def chart(self) -> Chart | None:
        """What it shows; None: nothing was read, or there is none of this kind for a part of the crawl."""
        return next((one for one in self._charts.all if one.id == self.chart_id), None) if self._charts else None

    def tell(self, charts: Charts, cursor: int | None) -> None:
        """Shows this pulse, with the cursor at a step (None: at the present)."""
        self._charts, self._cursor = charts, cursor
        one = self._shown = self.chart
        if one is not None and self.is_mounted:
            of = title_of(charts.pulse) if self._alone else ""
            title(self, " · ".join(filter(None, (one.name, of, one.says(charts.last if cursor is None else cursor)))))
            write_pieces(self, legend_of(one, self.console.appearance.dots))
            self.lay_out()

    def count(self, counts: Mapping[str, int]) -> None:
        if self._charts is not None:
            self._charts.tell(counts)
            if self.chart is not self._shown:
                self.tell(self._charts, self._cursor)

    def lines_for(self, size: Size) -> Sequence[Line]:
        one, charts, console = self.chart, self._charts, self.console
        if one is None or charts is None:
            return (Styled(READING, "muted"),)
        lines = drawn(charts, one, size.width, size.height, console.appearance.dots, console.clock.zone, self._cursor)
        return [tuple(Styled(text, role) for text, role in line) for line in lines]

    def on_mouse_down(self, event: MouseDown) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            share = (offset.x - _SCALE) / max(1, self.size.width - _SCALE)
            self.post_message(self.Pressed(min(max(share, 0.0), 0.999)))
