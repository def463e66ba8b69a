"""The politeness of one origin over time. A cursor reads the lane, which follows the present until one moves back."""

from collections.abc import Iterable

from textual.containers import Vertical
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.panes.line import Split
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.timeline.lanes import LanePane, LaneScreen
from tui_crawler.text.cells import Styled
from tui_crawler.text.charts import legend
from tui_crawler.text.format import clock
from tui_crawler.text.timeline import SERIES, cell_words, mark_words

LEAST_LINES = 26
"""The least height of a screen that lists below the lane what happened."""


class TimelineScreen(LaneScreen, ConsoleScreen):
    """A lane, what the cursor reads, and what happened."""

    WHERE = Where.timeline
    HERE = frozenset({"origin.add"})
    AUTO_FOCUS = "LanePane"

    def body(self) -> Iterable[Widget]:
        self.lane = LanePane(self._origin)
        self.reads = (self.lane_read,)
        self._reading = Lines(id="lane-reading", still=True)
        self._marks = Lines(id="lane-marks", still=True)
        yield Vertical(self.lane, self._reading, self._marks, id="body")

    def crumbs(self) -> tuple[str, ...]:
        return (*self.place.came_from, "Politeness")

    @property
    def lane_width(self) -> int:
        return self.size.width - 2

    def fit(self, size: Size) -> None:
        super().fit(size)
        self._marks.display = size.height >= LEAST_LINES
        self.show_titles()
        self.console.read_soon()

    def show_span(self) -> None:
        super().show_span()
        self.show_titles()
        self.tell_footer()

    def show_titles(self) -> None:
        """Show whether it follows, or is held still, and what the cursor reads."""
        timeline, at = self.lane.timeline, self.lane.cursor
        if timeline is None or not self.is_mounted:
            return
        zone = self.console.clock.zone
        since = f"read from {clock(timeline.read_since, zone)} on" if timeline.read_since else ""
        said = cell_words(timeline, timeline.span.nearest(self.present()) if at is None else at, zone).split(" · ")
        what, more = Styled(" · ".join(said[:4]), "strong"), Styled(" · ".join(said[4:]), "muted")
        span = Styled(" · ".join(filter(None, (self.frozen_words or self.span_words, since))), "muted")
        entries = legend(SERIES, self.console.appearance.dots)
        drawn_with = (
            Styled("log scale", "muted"),
            *(Styled(*piece) for entry in entries for piece in (("  ", ""), *entry)),
        )
        beside = [Split(what, span), Split(more, drawn_with)]
        self._reading.show([what, more, Split(span, drawn_with)] if self.has_class("-narrow") else beside)
        marks = reversed(timeline.marks)
        self._marks.show([(Styled(f"{clock(one.at, zone)}  ", "muted"), mark_words(one)) for one in marks])

    def situation(self) -> Situation:
        view = self.console.live_state.origins.get(self._origin)
        origins = (view,) if view is not None else ()
        return Situation(Where.timeline, origins=origins, newer=not self.follows)

    def open_selected(self) -> None:
        self.console.go_to(Where.origin, self._origin)

    action_open_lane = open_selected
