"""Lanes in panes: the politeness of an origin over time, on a screen of its own or as one pane of the origin."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Size

from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.line import Line
from tui_crawler.console.reading.ask import Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.screen.span import SPAN_KEYS, SpanActions, SpanView
from tui_crawler.console.timeline.queries import lane_of
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.history.pulse import HOUR_MS
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.history.timeline import Timeline
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import READING
from tui_crawler.text.timeline import LABEL, cell_words, kept_words, lane


class LanePane(ReachesConsole, Bar, can_focus=True):
    """One lane; a click puts the cursor there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *SPAN_KEYS,
        Binding("j,down", "screen.go_to(1)", "Next lane", id="move.down", show=False),
        Binding("k,up", "screen.go_to(-1)", "Lane before", id="move.up", show=False),
        Binding("enter", "screen.open_lane", "Open", show=False),
    ]

    def __init__(self, origin: str, *, alone: bool = False, id: str | None = None, classes: str = "pane") -> None:
        """`origin` is raw text as stored; nothing was read of it yet. `alone`: the screen is of this origin, and
        nothing else on it reads the lane."""
        super().__init__(id=id, classes=classes)
        self.origin, self._alone = origin, alone
        self.timeline: Timeline | None = None
        self.cursor: int | None = None
        self.show_title()

    def tell(self, timeline: Timeline | None, cursor: int | None) -> None:
        """Shows this timeline (None: the one that is shown), with the cursor at a cell."""
        self.timeline, self.cursor = timeline or self.timeline, cursor
        self.show_title()
        if self.timeline is not None and self.is_mounted:
            self.lay_out()

    def show_title(self) -> None:
        """Says of what it is, and how the promises were kept."""
        kept = [kept_words(self.timeline)] if self.timeline is not None else []
        said = ""
        if self._alone and self.timeline is not None and self.cursor is not None:
            said = cell_words(self.timeline, self.cursor, self.console.clock.zone)
        title(self, " · ".join(["Politeness", *([] if self._alone else [host_of(self.origin)]), *kept]), said)

    def lines_for(self, size: Size) -> Sequence[Line]:
        if self.timeline is None:
            return (Styled(READING, "muted"),)
        console = self.console
        drawn = lane(
            self.timeline, size.height, dots=console.appearance.dots, cursor=self.cursor, zone=console.clock.zone
        )
        return [tuple(Styled(text, role) for text, role in line) for line in drawn]

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and isinstance(self.screen, LaneScreen):
            self.screen.action_move_to(max(0, offset.x - LABEL))


class LaneScreen(SpanActions):
    """What a screen with lanes does with them, all over one span."""

    LONGEST_MS = HOUR_MS

    def __init__(self) -> None:
        super().__init__()
        self.span = SpanView()

    @property
    @abstractmethod
    def lane(self) -> LanePane:
        """The lane that the cursor reads."""

    @property
    @abstractmethod
    def lane_width(self) -> int:
        """How wide lanes are, without their borders."""

    @abstractmethod
    def shown_lanes(self) -> Sequence[LanePane]:
        """The lanes that have room."""

    def lane_span(self, cells: int) -> TimeSpan:
        """Return the span that is shown in `cells` cells."""
        return TimeSpan.covering(*self.shown_until, cells)

    def read_lane(self, pane: LanePane) -> PaneReading[Timeline]:
        """What is read for a lane, while it has room."""

        def ask() -> Ask[Timeline] | None:
            if pane not in self.shown_lanes():
                return None
            return lane_of(pane.origin, self.lane_span(max(1, self.lane_width - LABEL)))

        return PaneReading(ask, lambda timeline: pane.tell(timeline, self.cell_of(timeline)), moves=True)

    def steps(self) -> TimeSpan | None:
        return self.lane.timeline.span if self.lane.timeline is not None else None

    def cell_of(self, timeline: Timeline) -> int | None:
        """The cell of the cursor, the first or the last one where it is outside."""
        return None if self.span.cursor is None else timeline.span.nearest(self.span.cursor)

    def show_span(self) -> None:
        for pane in self.shown_lanes():
            if pane.timeline is not None:
                pane.tell(None, self.cell_of(pane.timeline))
