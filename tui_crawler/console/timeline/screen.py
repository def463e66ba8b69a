"""The politeness of one origin over time, or of several, a lane each. One cursor reads all lanes; they follow the
present until one moves back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.containers import Vertical
from textual.events import DescendantFocus
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.panes.line import Split
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.timeline.lanes import LanePane, LaneScreen
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import clock, plural
from tui_crawler.text.timeline import cell_words, lane_legend, mark_words

LANE_LINES = 8
"""The least height of a lane with its border; lanes share what room there is."""
MOST_LINES = 18
"""From this height of a lane on, what happened is listed below it, if `_FEW` lines have room."""
_FEW = 3


class TimelineScreen(LaneScreen, ConsoleScreen):
    """Lanes of one span."""

    WHERE = Where.timeline
    HERE = frozenset({"origin.add"})
    AUTO_FOCUS = "LanePane"

    def __init__(self, origins: tuple[str, ...]) -> None:
        """`origins` are raw text as stored."""
        super().__init__()
        self._panes = [LanePane(origin) for origin in origins]
        self.reads = tuple(map(self.read_lane, self._panes))
        self._first = 0  # the first lane that has room

    def body(self) -> Iterable[Widget]:
        self._reading = Lines(id="lane-reading", still=True)
        self._marks = Lines(id="lane-marks", still=True)
        yield Vertical(*self._panes, self._reading, self._marks, id="body")

    def crumbs(self) -> tuple[str, ...]:
        return (*self.place.came_from, "Politeness")

    @property
    def lane_width(self) -> int:
        return self.size.width - 2

    def fit(self, size: Size) -> None:
        super().fit(size)
        self._place()
        self.show_titles()
        self.console.read_soon()

    def shown_lanes(self) -> Sequence[LanePane]:
        return [pane for pane in self._panes if pane.display]

    def _place(self) -> None:
        room = max(1, (self.size.height - 5) // LANE_LINES)
        self._first = max(0, min(self._first, len(self._panes) - room))
        for place, pane in enumerate(self._panes):
            pane.display = self._first <= place < self._first + room
        self._marks.display = self.size.height - 5 - len(self.shown_lanes()) * MOST_LINES >= _FEW

    def show_span(self) -> None:
        super().show_span()
        self.show_titles()
        self.tell_footer()

    def show_titles(self) -> None:
        """Whether it follows, or is held still, and what the cursor reads."""
        timeline = self.lane.timeline
        if timeline is None or not self.is_mounted:
            return
        zone, at = self.console.clock.zone, self.cell_of(timeline)
        hidden = sum(not pane.display for pane in self._panes)
        words = [
            *([f"{plural(hidden, 'lane')} more"] if hidden else []),
            self.frozen_words or self.span_words,
            *([f"read from {clock(timeline.read_since, zone)} on"] if timeline.read_since else []),
        ]
        said = cell_words(timeline, timeline.span.nearest(self.present()) if at is None else at, zone).split(" · ")
        what, more = Styled(" · ".join(said[:4]), "strong"), Styled(" · ".join(said[4:]), "muted")
        span = Styled(" · ".join(words), "muted")
        drawn_with = tuple(Styled(*one) for one in lane_legend(self.console.appearance.dots))
        beside = [Split(what, span), Split(more, drawn_with)]
        self._reading.show([what, more, Split(span, drawn_with)] if self.has_class("-narrow") else beside)
        marks = reversed(timeline.marks)
        self._marks.show([(Styled(f"{clock(one.at, zone)}  ", "muted"), mark_words(one)) for one in marks])

    @property
    def lane(self) -> LanePane:
        return self.focused if isinstance(self.focused, LanePane) else self._panes[self._first]

    def situation(self) -> Situation:
        view = self.console.live_state.origins.get(self.lane.origin)
        origins = (view,) if view is not None else ()
        return Situation(Where.timeline, origins=origins, newer=not self.span.follows)

    def on_descendant_focus(self, _event: DescendantFocus) -> None:
        self.show_titles()
        self.tell_footer()

    def go_to_pane(self, step: int) -> None:
        goal = (self._panes.index(self.lane) + step) % len(self._panes)
        if not self._panes[goal].display:
            shown = sum(pane.display for pane in self._panes)
            self._first = goal if goal < self._first else goal - shown + 1
            self._place()
            self.console.read_soon()
        self._panes[goal].focus()

    action_go_to = go_to_pane

    def open_selected(self) -> None:
        self.console.go_to(Where.origin, self.lane.origin)

    action_open_lane = open_selected
