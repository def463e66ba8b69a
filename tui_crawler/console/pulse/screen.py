"""View 7: how the crawl goes over time. One cursor reads all charts; they follow the present until one moves back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from textual.containers import Grid, Vertical
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.handlers import handles
from tui_crawler.console.panes.line import Line, Split
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.pulse.chart_pane import ChartPane
from tui_crawler.console.pulse.queries import pulse_of, scopes_of
from tui_crawler.console.pulse.rows import Charts, mark_words, title_of
from tui_crawler.console.reading.ask import Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.screen.span import SpanActions, SpanView
from tui_crawler.domain.history.pulse import SPANS_MS, LatencyPhase, PulseOf, PulseScope
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import date_time

if TYPE_CHECKING:
    from tui_crawler.domain.history.pulse import Pulse
    from tui_crawler.domain.history.span import TimeSpan

CHART_LINES, CHART_CELLS = 9, 40
"""A chart has at least so many lines and cells, its border among them."""
_CHARTS = ("pages", "latency", "failures", "states", "queue", "bytes", "lag", "commits")
_OFFERED = 500
"""More are named at the prompt."""


class PulseScreen(SpanActions, ConsoleScreen):
    """Charts of one span, of the whole crawl or of a part of it."""

    WHERE = Where.pulse
    HERE = frozenset({"view.pulse", "origin.add"})
    AUTO_FOCUS = "ChartPane"

    def __init__(self) -> None:
        super().__init__()
        self._of = PulseOf()
        self.span = SpanView()
        self._phase = LatencyPhase.response
        self.reads = (PaneReading(self._ask_pulse, self._take, moves=True),)
        self._charts: Charts | None = None
        self._first = 0  # the first of the charts that have room

    def body(self) -> Iterable[Widget]:
        self._panes = [ChartPane(name) for name in _CHARTS]
        self._reading = Lines(id="pulse-reading", still=True)
        yield Vertical(Grid(*self._panes, id="pulse-charts"), self._reading, id="body")

    def crumbs(self) -> tuple[str, ...]:
        return ("Pulse",) if self._of == PulseOf() else ("Pulse", self._of.name)

    def _ask_pulse(self) -> Ask[Pulse] | None:
        if not self.console.live_state.known:
            return None
        end = self.span.end if self.span.end is not None else self.present()
        return pulse_of(self._of, self.span.chosen or self.run_length(), end)

    def _take(self, pulse: Pulse) -> None:
        self._charts = Charts(pulse, self.present(), self._phase)
        self._show()

    def fit(self, size: Size) -> None:
        super().fit(size)
        self._place_charts(size)
        self._show()

    def show_titles(self) -> None:
        """The line that reads the charts, which says whether they are held still."""
        if self._charts is not None and self.is_mounted:
            self._reading.show([self._reading_line(self._charts, self._cursor_step(self._charts))])

    def _cursor_step(self, charts: Charts) -> int | None:
        return None if self.span.cursor is None else charts.pulse.span.nearest(self.span.cursor)

    def _place_charts(self, size: Size) -> None:
        shown = [pane for pane in self._panes if self._charts is None or pane.chart is not None or not pane.is_mounted]
        columns = min(max(1, size.width // CHART_CELLS), len(shown))
        room = columns * max(1, (size.height - 4) // CHART_LINES)
        self.query_one(Grid).styles.grid_size_columns = columns
        self._first = max(0, min(self._first, len(shown) - room))
        for pane in self._panes:
            pane.display = pane in shown[self._first : self._first + room]

    def _show(self) -> None:
        charts = self._charts
        if charts is None or not self.is_mounted:
            return
        at, before = self._cursor_step(charts), [pane.chart is None for pane in self._panes]
        for pane in self._panes:
            pane.tell(charts, at)
        if before != [pane.chart is None for pane in self._panes]:
            self._place_charts(self.size)
        self.show_header()  # and what it counts, in the charts
        self.show_titles()

    def _reading_line(self, charts: Charts, at: int | None) -> Line:
        zone, pulse = self.console.clock.zone, charts.pulse
        marks = [] if at is None else [mark_words(mark, zone) for mark in charts.marks_at(at)]
        said = "  ".join([charts.reading(at, zone), *marks[-2:]])
        hidden = sum(not pane.display and pane.chart is not None for pane in self._panes)
        words = (
            "a sample of attempts" if pulse.sampled else "",
            title_of(pulse),
            self.span_words,
            self.frozen_words,
            f"{self.key_names('focus.next')}: {hidden} more" if hidden else "",
        )
        return Split(Styled(said, "strong"), Styled(" · ".join(filter(None, words)), "muted"))

    def situation(self) -> Situation:
        return Situation(Where.pulse, newer=not self.span.follows)

    def chosen(self) -> Mapping[str, str]:
        return {
            "of": f"{self._of.scope.name} {self._of.name}" if self._of.name else "",
            "span": str(self.span.chosen or ""),
            "phase": self._phase.name if self._phase else "",
        }

    def choose(self, words: Mapping[str, str]) -> None:
        scope, _, name = words.get("of", "").partition(" ")
        if name and scope in PulseScope.__members__:
            self._of = PulseOf(PulseScope[scope], name)
        if words.get("span", "").isdecimal() and int(words["span"]) in SPANS_MS:
            self.span.chosen = int(words["span"])
        self._phase = LatencyPhase.__members__.get(words.get("phase", ""), LatencyPhase.response)

    def go_to_pane(self, step: int) -> None:
        panes = [pane for pane in self._panes if pane.chart is not None]
        if panes:
            goal = ((panes.index(self.focused) if self.focused in panes else 0) + step) % len(panes)
            if not panes[goal].display:
                room = sum(pane.display for pane in panes)
                self._first = goal // room * room
                self._place_charts(self.size)
            panes[goal].focus()
            self._show()

    def steps(self) -> TimeSpan | None:
        return self._charts.pulse.span if self._charts is not None else None

    def show_span(self) -> None:
        self._show()
        self.tell_footer()

    def on_chart_pane_pressed(self, event: ChartPane.Pressed) -> None:
        if self._charts is not None:
            self.action_move_to(int(event.share * len(self._charts.pulse.counts)))

    @handles("pulse.latency")
    def _next_phase(self) -> None:
        self._phase = LatencyPhase((self._phase + 1) % len(LatencyPhase))
        if self._charts is not None:
            self._charts = Charts(self._charts.pulse, self.present(), self._phase)
            self._show()

    @handles("pulse.of")
    def _narrow(self, typed: str) -> None:
        """The whole crawl, or the part of it that is named: `origin O`, `job J`, `worker W`; without words it is asked
        for."""
        scope, _, name = typed.strip().partition(" ")
        if not typed.strip():
            from tui_crawler.console.dialogs.choose import ChooseScreen  # noqa: PLC0415  not before it is needed

            names = scopes_of(self.console.live_state)[:_OFFERED]
            here = f"{self._of.scope.name} {self._of.name}".strip()
            dialog = ChooseScreen("Pulse of", [(one, one) for one in names], here)
            self.app.push_screen(dialog, lambda one: self._narrow(str(one)) if one else None)
        elif scope == PulseScope.crawl.name or (scope in PulseScope.__members__ and name):
            self._of = PulseOf(PulseScope[scope], name.strip()) if name else PulseOf()
            self._charts, self._first = None, 0
            self.read_anew()
        else:
            self.console.tell("no", "crawl, origin NAME, job NAME or worker NAME", "warning")

    def open_selected(self) -> None:
        if self._charts is not None:
            pulse, cursor = self._charts.pulse, self.span.cursor
            at = pulse.span.at(self._charts.last if cursor is None else pulse.span.nearest(cursor))
            self.console.go_to(Where.logs, date_time(at, self.console.clock.zone))

    action_open_log = open_selected
