"""View 7: how the crawl goes over time. One cursor reads all charts; they follow the present until one moves back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical
from textual.events import MouseDown
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.handlers import handles, handles_typed
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.line import Line, Split
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.pulse.queries import SpanPart
from tui_crawler.console.pulse.rows import Chart, Charts, drawn, legend_of, mark_words, title_of
from tui_crawler.console.reading.refresh import ReadingRequest, Snapshot
from tui_crawler.console.screen.base import ConsoleScreen, title
from tui_crawler.console.table.cells import Styled
from tui_crawler.domain.pulse import HOUR_MS, MINUTE_MS, SPANS_MS, LatencyPhase, Pulse, PulseOf, PulseScope, step_for
from tui_crawler.text.format import READING, coarse, date_time

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp

CHART_LINES = 9
"""A chart has at least so many lines, its border among them."""
WIDE_ENOUGH = 81
_CHARTS = ("pages", "latency", "failures", "states", "bytes", "queue", "lag", "commits")
_STEPS_AT_ONCE = 10
_YOUNG_MS = 15 * MINUTE_MS
"""The first span of a crawl that is younger."""
_ORIGINS_OFFERED = 500
"""More are named at the prompt."""


class ChartPane(Bar):
    """One chart; a click puts the cursor there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,left", "screen.move(-1)", "Earlier", id="move.left", show=False),
        Binding("l,right", "screen.move(1)", "Later", id="move.right", show=False),
        Binding("ctrl+u,pageup", f"screen.move(-{_STEPS_AT_ONCE})", "Ten earlier", id="move.page_up", show=False),
        Binding("ctrl+d,pagedown", f"screen.move({_STEPS_AT_ONCE})", "Ten later", id="move.page_down", show=False),
        Binding("g,home", "screen.move_to(0)", "First", id="move.first", show=False),
        Binding("G,end", "screen.move_to(-1)", "Last", id="move.last", show=False),
        Binding("enter", "screen.open_log", "Log", show=False),
    ]
    can_focus = True

    def __init__(self, chart_id: str) -> None:
        """Shows nothing yet."""
        super().__init__(id=f"chart-{chart_id}", classes="pane")
        self.chart_id = chart_id
        self._charts: Charts | None = None
        self._cursor: int | None = None

    @property
    def chart(self) -> Chart | None:
        """What it shows; None: nothing was read, or there is none of this kind for a part of the crawl."""
        return next((one for one in self._charts.all if one.id == self.chart_id), None) if self._charts else None

    def tell(self, charts: Charts, cursor: int | None) -> None:
        """Shows this pulse, with the cursor at a step (None: at the present)."""
        self._charts, self._cursor = charts, cursor
        one = self.chart
        if one is not None and self.is_mounted:
            said, dots = one.says(charts.last if cursor is None else cursor), cast("CrawlerApp", self.app).dots
            title(self, f"{one.name} · {said}", legend_of(one, dots))
            self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        """The chart in this size."""
        one, charts = self.chart, self._charts
        if one is None or charts is None:
            return (Styled(READING, "muted"),)
        app = cast("CrawlerApp", self.app)
        lines = drawn(charts, one, size.width, size.height, app.dots, app.clock.zone, self._cursor)
        return [tuple(Styled(text, role) for text, role in line) for line in lines]

    def on_mouse_down(self, event: MouseDown) -> None:
        """Puts the cursor where the pointer is."""
        offset = event.get_content_offset(self)
        if offset is not None and isinstance(self.screen, PulseScreen):
            self.screen.point_at(offset.x, self.size.width)


class PulseScreen(ConsoleScreen):
    """Charts of one span, of the whole crawl or of a part of it."""

    WHERE = Where.pulse
    HERE = frozenset({"view.pulse", "origin.add"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.pulse)]
    AUTO_FOCUS = "ChartPane"

    def __init__(self) -> None:
        """Follows the present of the whole crawl, over an hour."""
        super().__init__()
        self._of = PulseOf()
        self._span, self._chosen = HOUR_MS, False
        self._phase = LatencyPhase.response
        self._end: int | None = None  # where the span ends (epoch ms) once one has moved back
        self._cursor: int | None = None  # a moment (epoch ms); None: the present
        self._part: SpanPart | None = None
        self._charts: Charts | None = None
        self._first = 0  # the first of the charts that have room

    def body(self) -> Iterable[Widget]:
        """The charts, and the line that reads them."""
        self._panes = [ChartPane(name) for name in _CHARTS]
        self._reading = Lines(id="pulse-reading", still=True)
        yield Vertical(Grid(*self._panes, id="pulse-charts"), self._reading, id="body")

    def crumbs(self) -> tuple[str, ...]:
        return ("Pulse",) if self._of == PulseOf() else ("Pulse", self._of.name)

    # what is shown

    def wants(self) -> ReadingRequest:
        """The span; of one that follows the present the next step when it begins."""
        if self.frozen and self._part is not None:
            return ReadingRequest()
        step = step_for(self._span)
        if step < MINUTE_MS and self._of.scope in {PulseScope.job, PulseScope.worker}:
            step = MINUTE_MS
        steps = max(1, self._span // step)
        end = self._end if self._end is not None else self.console.clock.wall_ms()
        self._part = SpanPart(self._of, (end // step - steps + 1) * step, step, steps)
        return ReadingRequest(parts=(self._part,))

    def accepts(self, wants: ReadingRequest) -> bool:
        """What was read for the span as it was a moment ago is shown, too; the next reading has the next step."""
        mine = self.wants().parts
        return [self._alike(part) for part in wants.parts] == [self._alike(part) for part in mine]

    @staticmethod
    def _alike(part: object) -> object:
        return (part.of, part.step_ms, part.steps) if isinstance(part, SpanPart) else part

    def take(self, shot: Snapshot) -> None:
        pulse = next((one for part, one in shot.parts.items() if part == self._part), None)
        if isinstance(pulse, Pulse) and not self.frozen and (self._charts is None or self._charts.pulse is not pulse):
            now = self.console.clock.wall_ms()
            self._charts = Charts(pulse, now, self._phase)
            if not self._chosen and pulse.begins_at and now - pulse.begins_at < _YOUNG_MS:
                self._span = _YOUNG_MS
                self.console.read_soon()
            self._chosen = True
            self._show()

    def fit(self, size: Size) -> None:
        """As many charts as have room."""
        super().fit(size)
        self._place_charts(size)
        self._show()

    def toggle_freeze(self) -> None:
        """Says so, too."""
        super().toggle_freeze()
        self._show()

    def thaw(self) -> None:
        self.console.read_soon()

    def _place_charts(self, size: Size) -> None:
        shown = [pane for pane in self._panes if self._charts is None or pane.chart is not None or not pane.is_mounted]
        for pane in self._panes:
            pane.display = False
        columns = 1 if size.width < WIDE_ENOUGH else 2
        room = columns * max(1, (size.height - 4) // CHART_LINES)
        self._first = max(0, min(self._first, len(shown) - room))
        for pane in shown[self._first : self._first + room]:
            pane.display = True

    def _show(self) -> None:
        charts = self._charts
        if charts is None or not self.is_mounted:
            return
        at = None if self._cursor is None else charts.pulse.step_at(self._cursor)
        before = [pane.chart is None for pane in self._panes]
        for pane in self._panes:
            pane.tell(charts, at)
        if before != [pane.chart is None for pane in self._panes]:
            self._place_charts(self.size)
        self._reading.show([self._reading_line(charts, at)])

    def _reading_line(self, charts: Charts, at: int | None) -> Line:
        zone, pulse = self.console.clock.zone, charts.pulse
        place = charts.last if at is None else at
        marks = [] if at is None else [mark_words(mark, zone) for mark in charts.marks_at(place)]
        said = "  ".join([charts.reading(place, zone), *marks[-2:]])
        follows = "follow ●" if self._end is None and self._cursor is None else "follow ○"
        hidden = sum(not pane.display and pane.chart is not None for pane in self._panes)
        words = [
            *(["a sample of attempts"] if pulse.sampled else []),
            title_of(pulse),
            f"span {coarse(self._span)}",
            "‖ frozen" if self.frozen else follows,
            *([f"{self.key_names('focus.next')}: {hidden} more"] if hidden else []),
        ]
        return Split(Styled(said, "strong"), Styled(" · ".join(words), "muted"))

    # what is selected

    def situation(self) -> Situation:
        return Situation(Where.pulse, newer=self._end is not None or self._cursor is not None)

    def chosen(self) -> Mapping[str, str]:
        """Of what, and over which span."""
        return {
            "of": f"{self._of.scope.name} {self._of.name}" if self._of.name else "",
            "span": str(self._span) if self._span != HOUR_MS else "",
            "phase": self._phase.name if self._phase else "",
        }

    def choose(self, words: Mapping[str, str]) -> None:
        scope, _, name = words.get("of", "").partition(" ")
        if name and scope in PulseScope.__members__:
            self._of = PulseOf(PulseScope[scope], name)
        if words.get("span", "").isdecimal() and int(words["span"]) in SPANS_MS:
            self._span, self._chosen = int(words["span"]), True
        self._phase = LatencyPhase.__members__.get(words.get("phase", ""), LatencyPhase.response)

    # what is done

    def go_to_pane(self, step: int) -> None:
        """Goes to the next chart, also to one that has no room now."""
        panes = [pane for pane in self._panes if pane.chart is not None]
        if not panes:
            return
        here = panes.index(self.focused) if self.focused in panes else 0
        goal = (here + step) % len(panes)
        if not panes[goal].display:
            room = sum(pane.display for pane in panes)
            self._first = goal // room * room
            self._place_charts(self.size)
        panes[goal].focus()
        self._show()

    def action_move(self, by: int) -> None:
        """Moves the cursor by steps; beyond an edge the span moves."""
        charts = self._charts
        if charts is None:
            return
        pulse = charts.pulse
        here = charts.last if self._cursor is None else pulse.step_at(self._cursor)
        self._cursor = pulse.since + (here + by) * pulse.step_ms
        if not 0 <= here + by < len(pulse.counts):
            self._scrub(self._cursor)
        self._show()

    def action_move_to(self, place: int) -> None:
        """Moves the cursor to the first or (-1) the last step of the span."""
        if self._charts is not None:
            pulse = self._charts.pulse
            self._cursor = pulse.since if place >= 0 else pulse.until - pulse.step_ms
            self._show()

    def action_open_log(self) -> None:
        """Enter."""
        self.open_selected()

    def point_at(self, x: int, width: int) -> None:
        """Puts the cursor at a cell of a chart `width` cells wide; its scale at the left is about six."""
        if self._charts is not None and width > 0:
            pulse = self._charts.pulse
            share = min(max((x - 6) / max(1, width - 6), 0.0), 0.999)
            self._cursor = pulse.since + int(share * len(pulse.counts)) * pulse.step_ms
            self._show()

    def _scrub(self, at: int) -> None:
        """Moves the span so that a moment is in its middle, or follows again where that is the present."""
        now = self.console.clock.wall_ms()
        if at >= now:
            self._end = self._cursor = None
        else:
            end = at + self._span // 2
            self._end = end if end < now else None
        self.console.read_soon()

    @handles("pulse.wider", 1)
    @handles("pulse.narrower", -1)
    def _change_span(self, by: int) -> None:
        """The next longer or shorter span, around the cursor."""
        place = min(max(SPANS_MS.index(self._span) + by, 0), len(SPANS_MS) - 1)
        self._span = SPANS_MS[place]
        if self._cursor is not None:
            self._scrub(self._cursor)
        self._read_anew()

    @handles("pulse.follow")
    def _follow(self) -> None:
        self._end = self._cursor = None
        self._read_anew()

    @handles("pulse.latency")
    def _next_phase(self) -> None:
        """Latency as a whole, or by what takes it."""
        self._phase = LatencyPhase((self._phase + 1) % len(LatencyPhase))
        if self._charts is not None:
            self._charts = Charts(self._charts.pulse, self.console.clock.wall_ms(), self._phase)
            self._show()

    @handles_typed("pulse.of")
    def _narrow(self, typed: str) -> None:
        """The whole crawl, or the part of it that is named: `origin O`, `job J`, `worker W`; without words it is asked
        for."""
        scope, _, name = typed.strip().partition(" ")
        if not typed.strip():
            self._ask()
        elif scope == PulseScope.crawl.name or (scope in PulseScope.__members__ and name):
            self._of = PulseOf(PulseScope[scope], name.strip()) if name else PulseOf()
            self._charts, self._first = None, 0
            self._read_anew()
        else:
            self.console.tell("no", "crawl, origin NAME, job NAME or worker NAME", "warning")

    def _ask(self) -> None:
        from tui_crawler.console.dialogs.choose import ChooseScreen  # noqa: PLC0415  not before it is needed

        live = self.console.live_state
        workers = sorted({view.worker for view in live.origins.values() if view.worker})
        origins = islice(live.origins, _ORIGINS_OFFERED)
        names = ["crawl", *(f"worker {name}" for name in workers), *(f"origin {name}" for name in origins)]
        current = f"{self._of.scope.name} {self._of.name}".strip()
        dialog = ChooseScreen("Pulse of", [(name, name) for name in names], current)
        self.console.push_screen(dialog, lambda one: self._narrow(str(one)) if one else None)

    def open_selected(self) -> None:
        """The log at the moment of the cursor."""
        if self._charts is not None:
            charts = self._charts
            at = self._cursor if self._cursor is not None else charts.pulse.since + charts.last * charts.pulse.step_ms
            self.console.dispatcher.go_to_logs(date_time(at, self.console.clock.zone))

    def _read_anew(self) -> None:
        self.console.read_soon()
        self._show()
        self.tell_footer()
