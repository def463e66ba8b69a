"""A lane in a pane: the politeness of an origin over time, on a screen of its own or as one pane of the origin."""

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
from tui_crawler.console.screen.span import SPAN_KEYS, SpanActions
from tui_crawler.console.timeline.queries import lane_of
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.history.pulse import HOUR_MS
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.history.timeline import Timeline
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import READING
from tui_crawler.text.timeline import LABEL, cell_words, kept_words, lane


class LanePane(ReachesConsole, Bar, can_focus=True):
    """The lane of one origin; a click puts the cursor there."""

    BINDINGS: ClassVar[list[BindingType]] = [*SPAN_KEYS, Binding("enter", "screen.open_lane", "Open", show=False)]

    def __init__(self, origin: str, *, alone: bool = False, id: str | None = None, classes: str = "pane") -> None:
        """`origin` is raw text as stored; nothing was read of it yet. `alone`: the screen names the origin, and
        nothing else on it reads the lane."""
        super().__init__(id=id, classes=classes)
        self._origin, self._alone = origin, alone
        self.timeline: Timeline | None = None
        self.cursor: int | None = None
        self._show_title()

    def tell(self, timeline: Timeline, cursor: int | None) -> None:
        """Show a timeline, with the cursor at a cell."""
        self.timeline, self.cursor = timeline, cursor
        self._show_title()
        if self.is_mounted:
            self.lay_out()

    def _show_title(self) -> None:
        """Say of what it is, on which scale, and how the promises were kept."""
        name, kept, said = "(log scale)" if self._alone else f"· {host_of(self._origin)}", "", ""
        if self.timeline is not None:
            kept = kept_words(self.timeline)
            if self._alone and self.cursor is not None:
                said = cell_words(self.timeline, self.cursor, self.console.clock.zone)
        title(self, " · ".join(filter(None, (f"Politeness {name}", kept))), said)

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
    """What a screen with a lane does with it."""

    LONGEST_MS = HOUR_MS
    lane: LanePane

    def __init__(self, origin: str) -> None:
        """`origin` is raw text as stored."""
        super().__init__()
        self._origin = origin
        self.lane_read = PaneReading(self._ask_lane, lambda _: self.show_span(), moves=True)

    @property
    @abstractmethod
    def lane_width(self) -> int:
        """How wide the lane is, without its border; 0 where it has no room."""

    def lane_span(self, cells: int) -> TimeSpan:
        """Return the span that is shown in `cells` cells."""
        return TimeSpan.covering(*self.shown_until, cells)

    def _ask_lane(self) -> Ask[Timeline] | None:
        width = self.lane_width
        return lane_of(self._origin, self.lane_span(max(1, width - LABEL))) if width else None

    def steps(self) -> TimeSpan | None:
        timeline = self.lane_read.latest
        return timeline.span if timeline is not None else None

    def show_span(self) -> None:
        if (timeline := self.lane_read.latest) is not None:
            self.lane.tell(timeline, self.cursor_cell)
