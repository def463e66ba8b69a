"""The panes of Pulse: charts with a cursor, and the exit codes of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import MouseDown, Resize
from textual.geometry import Size
from textual.message import Message

from tui_crawler.console.logs.attempts import mark_of, short_name
from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.border import write_pieces, write_title
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.zoom import zoom_words
from tui_crawler.console.pulse.rows import Chart, Charts, drawn, nothing_of, says_of
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.screen.span import SPAN_KEYS
from tui_crawler.domain.history.pulse import PulseOf
from tui_crawler.text.cells import Styled
from tui_crawler.text.charts import Piece
from tui_crawler.text.format import READING, compact, count
from tui_crawler.text.safe_text import fit
from tui_crawler.text.sparkline import bar

_SCALE = 6
"""The width of the scale, about, in cells."""
_FRAME = 7
"""Cells of the upper border without words: the legend has to fit between these and the name."""
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
        self._legend: list[tuple[Styled, ...]] = []

    @property
    def chart(self) -> Chart | None:
        """What it shows; None: nothing was read, or there is none of this kind for a part of the crawl."""
        return next((one for one in self._charts.all if one.id == self.chart_id), None) if self._charts else None

    @property
    def says_something(self) -> bool:
        """Whether it has a chart, or may have one."""
        return self._charts is None or self.chart is not None

    def tell(self, charts: Charts, cursor: int | None) -> None:
        """Shows this pulse, with the cursor at a step (None: at the present)."""
        self._charts, self._cursor = charts, cursor
        one = self._shown = self.chart
        if one is not None and self.is_mounted:
            zoom = zoom_words(self)
            name, says = one.name, says_of(one, self.console.appearance.dots, cursor)
            width = self.size.width or _UNKNOWN
            first, *self._legend = wrapped(says, width - len(name) - _FRAME, width)
            words = [(" · ", "muted"), *((piece.text, piece.role) for piece in first)] if first else []
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


class ExitsPane(ReachesConsole, Bar, can_focus=True):
    """How the attempts of the run ended, by exit code, the most frequent first."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.open_log", "Failures", show=False)]

    def __init__(self) -> None:
        super().__init__(id="chart-exits", classes="pane")
        self.says_something = True
        """Whether the pulse is of the whole crawl."""

    def tell(self, charts: Charts, _cursor: int | None) -> None:
        """Shows the codes of the run next to this pulse."""
        self.says_something = charts.pulse.of == PulseOf()
        self.lay_out()

    def count(self, counts: Mapping[str, float]) -> None:
        del counts  # they have no exit codes
        self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        totals = self.console.live_state.totals
        if totals is None:
            return (Styled(READING, "muted"),)
        codes = sorted(totals.exit_codes, key=lambda one: (-one[1], one[0]))
        whole = sum(number for _, number in codes)
        write_title(self, f"Exit codes of the run · {count(whole)}")
        shown = codes[: size.height - (len(codes) > size.height)]
        lines = [exit_line(name, number, whole, size.width) for name, number in shown]
        more = len(codes) - len(shown)
        return [*lines, *([Styled(f"{more} more", "muted")] if more else [])] or (Styled("no attempts yet", "muted"),)


def exit_line(name: str, number: int, whole: int, width: int) -> Line:
    """Return an exit code with how many attempts ended so, and a bar for their share."""
    mark, room = mark_of(name), min(23, width - 12)
    words = fit(f"{mark.glyph} {short_name(name)}", room)
    return Styled(words, mark.role), f" {compact(number):>5} ", Styled(bar(number / whole, width - room - 7), mark.role)


def wrapped(pieces: Sequence[Piece], first: int, width: int) -> Sequence[tuple[Styled, ...]]:
    """Return a legend in lines of `width` cells, the first one of `first` cells, without breaks within an entry."""
    lines, room = list[list[Styled]]([[]]), first
    for at in range(0, len(pieces), 3):  # what is drawn, its words, a gap
        one = [Styled(*piece) for piece in pieces[at : at + 2]]
        wide = sum(len(piece.text) for piece in one)
        if wide > room:
            lines.append([])
            room = width
        elif lines[-1]:
            lines[-1].append(Styled("  "))
        lines[-1] += one
        room -= wide + 2
    return [tuple(line) for line in lines]
