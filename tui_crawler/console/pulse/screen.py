"""View 7: how the crawl goes over time. One cursor reads all charts; they follow the present until one moves back."""

from collections.abc import Iterable, Mapping, Sequence

from textual.containers import Grid, Vertical
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.handlers import handles
from tui_crawler.console.panes.line import Line, Split
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.pulse.chart_pane import ChartPane
from tui_crawler.console.pulse.queries import paces, pulse_of, scopes_of
from tui_crawler.console.pulse.rows import Charts, mark_words
from tui_crawler.console.pulse.wall import exits_of_run, wall_lines, wall_of
from tui_crawler.console.reading.ask import Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.screen.base import ConsoleScreen, title
from tui_crawler.console.screen.span import SpanActions
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.history.pulse import MOST_STEPS, SPANS_MS, LatencyPhase, Pace, Pulse, PulseOf
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.records.page_view import ExitCountView
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import count, date_time

CHART_LINES, CHART_CELLS = 8, 40
"""The least height and width of a chart in cells, with its border."""
WALL_LINES, _BESIDE_PACE, _COLUMNS = 14, 52, 3
"""The least height of the wall, the width of its columns without the pace, and the most columns of charts."""
_CHARTS = ("pages", "latency", "failures", "states", "exits", "queue", "bytes", "lag", "commits")
_OF_A_PART = frozenset({"chart-pages", "chart-latency", "chart-failures", "chart-bytes"})
"""The charts of an origin, a job or a worker."""
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
        self._phase = LatencyPhase.response
        self._paces = PaneReading(self._ask_paces, lambda _: self._show_wall(), moves=True)
        self.reads = (PaneReading(self._ask_pulse, self._show_pulse, moves=True), self._paces)
        self._charts: Charts | None = None
        self._wall_cells, self._wall_at = MOST_STEPS, 0

    def body(self) -> Iterable[Widget]:
        self._exits = CrawlTable(exits_of_run(()), id="chart-exits", classes="pane")
        self._panes = [self._exits if name == "exits" else ChartPane(name) for name in _CHARTS]
        self._grid = Grid(*self._panes, id="pulse-charts")
        self._wall = CrawlTable(wall_of(MOST_STEPS), id="pulse-wall", classes="pane")
        self._reading = Lines(id="pulse-reading", still=True)
        self._goal: Widget = self._panes[0]  # has room: the wall all of it, a chart with those next to it
        yield Vertical(self._grid, self._wall, self._reading, id="body")

    def crumbs(self) -> tuple[str, ...]:
        return ("Pulse",) if self._of.whole else ("Pulse", self._of.name)

    @property
    def _goals(self) -> Sequence[Widget]:
        """The panes of what the pulse is of, in the order in which one goes through them: the wall is the last."""
        if self._of.whole:
            return [*self._panes, self._wall]
        return [pane for pane in self._panes if pane.id in _OF_A_PART]

    def _ask_pulse(self) -> Ask[Pulse] | None:
        return pulse_of(self._of, *self.shown_until) if self.console.live_state.known else None

    def _ask_paces(self) -> Ask[Mapping[str, Pace]] | None:
        known = self._wall.display and self.console.live_state.known
        return paces(TimeSpan.covering(*self.shown_until, self._wall_cells)) if known else None

    def _show_wall(self) -> None:
        live = self.console.live_state
        if self._wall.display and live.known:
            lines = wall_lines(live.origins, self._paces.latest or {})
            self._wall.fill(lines, present(self.console.clock))
            shown = "" if len(lines) == len(live.origins) else f"{count(len(lines))} of "
            more = f"{self.key_names('pulse.wall')}: {'the charts' if self._goal is self._wall else 'these alone'}"
            title(self._wall, f"Origins over the span · {shown}{count(len(live.origins))} · {more}")

    def show_live(self) -> None:
        """Show the states of the origins and the exit codes, once a second."""
        now, totals = self.console.clock.mono_ms() // 1_000, self.console.live_state.totals
        if now == self._wall_at:
            return
        self._wall_at = now
        self._show_wall()
        if totals is not None:
            codes = sorted(totals.exit_codes, key=lambda one: (-one[1], one[0]))
            exits = [ExitCountView(name, number, 0) for name, number in codes]
            self._exits.fill(exits, present(self.console.clock), relation=exits_of_run(exits))
            title(self._exits, f"Exit codes of the run · {count(sum(one.run for one in exits))}")

    def _show_pulse(self, pulse: Pulse) -> None:
        self._charts = Charts(pulse, self.present(), self._phase)
        self._show()

    def fit(self, size: Size) -> None:
        super().fit(size)
        self._place_charts(size)
        self._show()

    def show_titles(self) -> None:
        """The line that reads the charts, which says whether they are held still."""
        if self._charts is not None and self.is_mounted:
            self._reading.show([self._reading_line(self._charts, self.cursor_cell)])

    def _place_charts(self, size: Size) -> None:
        """Gives as many charts as have room their places, and the rest to the wall, if that is worth it."""
        shown = [pane for pane in self._goals if pane is not self._wall]
        columns, height = min(max(1, size.width // CHART_CELLS), _COLUMNS, len(shown)), size.height - 4
        alone = self._goal is self._wall
        walled = alone or (self._of.whole and height >= 2 * CHART_LINES + WALL_LINES)
        high = height - max(WALL_LINES, height // 3) * walled
        room = columns * min(max(1, high // CHART_LINES), -(-len(shown) // columns))
        self._grid.styles.grid_size_columns = columns
        self._grid.display, self._wall.display = not alone, walled
        self._grid.styles.height = high if walled else "1fr"
        self._wall_cells = min(max(10, size.width - _BESIDE_PACE), MOST_STEPS)
        self._wall.set_relation(wall_of(self._wall_cells))
        first = 0 if alone else max(0, min(shown.index(self._goal) // room * room, len(shown) - room))
        for pane in self._panes:
            pane.display = not alone and pane in shown[first : first + room]
        self._show_wall()

    def _show(self) -> None:
        charts = self._charts
        if charts is None or not self.is_mounted:
            return
        for pane in self._grid.query(ChartPane):
            pane.tell(charts, self.cursor_cell)
        self.show_header()  # and what it counts, in the charts
        self.show_titles()

    def _reading_line(self, charts: Charts, at: int | None) -> Line:
        zone, pulse = self.console.clock.zone, charts.pulse
        marks = [] if at is None else [mark_words(mark, zone) for mark in charts.marks_at(at)]
        said = "  ".join([charts.reading(at, zone), *marks[-2:]])
        hidden = sum(not pane.display for pane in self._goals)
        words = (
            "a sample of attempts" if pulse.sampled else "",
            pulse.of.title,
            self.span_words,
            self.frozen_words,
            f"{self.key_names('focus.next')}: {hidden} more" if hidden else "",
        )
        return Split(Styled(said, "strong"), Styled(" · ".join(filter(None, words)), "muted"))

    def situation(self) -> Situation:
        return Situation(Where.pulse, newer=not self.follows)

    def chosen(self) -> Mapping[str, str]:
        return {
            "of": "" if self._of.whole else self._of.words,
            "span": str(self.chosen_ms or ""),
            "phase": self._phase.name if self._phase else "",
        }

    def choose(self, words: Mapping[str, str]) -> None:
        self._of = PulseOf.meant(words.get("of", "")) or PulseOf()
        if words.get("span", "").isdecimal() and int(words["span"]) in SPANS_MS:
            self.chosen_ms = int(words["span"])
        self._phase = LatencyPhase.__members__.get(words.get("phase", ""), LatencyPhase.response)

    def go_to_pane(self, step: int) -> None:
        goals = self._goals
        here = goals.index(self.focused) if self.focused in goals else 0
        goal = goals[(here + step) % len(goals)]
        if not goal.display:
            self._goal = goal
            self._place_charts(self.size)
            self.console.read_soon()
        goal.focus()
        self._show()

    @handles("pulse.wall")
    def _fill_with_wall(self) -> None:
        """The wall alone, or the charts again."""
        self._goal = self._wall if self._of.whole and self._goal is not self._wall else self._panes[0]
        self._place_charts(self.size)
        self._goal.focus()
        self.console.read_soon()

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
            self._show_pulse(self._charts.pulse)

    @handles("pulse.of")
    def _narrow(self, typed: str) -> None:
        """The whole crawl, or the part of it that is named: `origin O`, `job J`, `worker W`; without words it is asked
        for."""
        if not typed.strip():
            from tui_crawler.console.dialogs.choose import ChooseScreen  # noqa: PLC0415  not before it is needed

            names = scopes_of(self.console.live_state)[:_OFFERED]
            dialog = ChooseScreen("Pulse of", [(one, one) for one in names], self._of.words)
            self.app.push_screen(dialog, lambda one: self._narrow(str(one)) if one else None)
        elif (of := PulseOf.meant(typed)) is not None:
            self._of, self._charts, self._goal = of, None, self._panes[0]
            self._place_charts(self.size)
            self.read_anew()
        else:
            self.console.tell("no", "crawl, origin NAME, job NAME or worker NAME", "warning")

    def open_selected(self) -> None:
        if self.focused is self._wall:
            self.console.go_to(Where.origin, str(self._wall.cursor_key or ""))
        elif self.focused is self._exits:
            self.console.do(Where.failures.goes_there)
        elif self._charts is not None:
            cell = self.cursor_cell
            at = self._charts.pulse.span.at(self._charts.last if cell is None else cell)
            self.console.go_to(Where.logs, date_time(at, self.console.clock.zone))

    action_open_log = open_selected
