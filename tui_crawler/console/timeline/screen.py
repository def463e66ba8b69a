"""The politeness of one origin over time, or of several, a lane each. One cursor reads all lanes; they follow the
present until one moves back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click, DescendantFocus
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.handlers import handles
from tui_crawler.console.keys import only_at
from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.line import Line, Split
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.reading.refresh import ReadingRequest, Snapshot
from tui_crawler.console.screen.base import ConsoleScreen, title
from tui_crawler.console.screen.stack import ReachesConsole
from tui_crawler.console.table.cells import Styled
from tui_crawler.console.timeline.queries import LanePart
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.idle_reason import end_of_run
from tui_crawler.domain.pulse import SPANS_MS
from tui_crawler.domain.timeline import LaneSpan, Timeline
from tui_crawler.text.format import READING, clock, coarse, plural
from tui_crawler.text.timeline import LABEL, cell_words, kept_words, lane, lane_legend

LANE_LINES = 8
"""A lane has at least so many lines, its border among them; where there is more room, all share it."""
_AT_ONCE = 10


class LanePane(ReachesConsole, Bar, can_focus=True):
    """One lane; a click puts the cursor there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,left", "screen.move(-1)", "Earlier", id="move.left", show=False),
        Binding("l,right", "screen.move(1)", "Later", id="move.right", show=False),
        Binding("ctrl+u,pageup", f"screen.move(-{_AT_ONCE})", "Ten earlier", id="move.page_up", show=False),
        Binding("ctrl+d,pagedown", f"screen.move({_AT_ONCE})", "Ten later", id="move.page_down", show=False),
        Binding("g,home", "screen.move_to(0)", "First", id="move.first", show=False),
        Binding("G,end", "screen.move_to(-1)", "Last", id="move.last", show=False),
        Binding("j,down", "screen.go_to(1)", "Next lane", id="move.down", show=False),
        Binding("k,up", "screen.go_to(-1)", "Lane before", id="move.up", show=False),
        Binding("enter", "screen.open_origin", "Open", show=False),
    ]

    def __init__(self, origin: str) -> None:
        """`origin` is raw text as stored; nothing was read of it yet."""
        super().__init__(classes="pane")
        self.origin = origin
        self.timeline: Timeline | None = None
        self.cursor: int | None = None

    def tell(self, timeline: Timeline | None, cursor: int | None) -> None:
        """Shows this timeline (None: the one that is shown), with the cursor at a cell."""
        self.timeline, self.cursor = timeline or self.timeline, cursor
        if self.timeline is not None and self.is_mounted:
            title(self, f"Politeness · {host_of(self.origin)} · {kept_words(self.timeline)}")
            self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        """The lane in this size."""
        if self.timeline is None:
            return (Styled(READING, "muted"),)
        console = self.console
        drawn = lane(self.timeline, size.height, dots=console.dots, cursor=self.cursor, zone=console.clock.zone)
        return [tuple(Styled(text, role) for text, role in line) for line in drawn]

    def on_click(self, event: Click) -> None:
        """Puts the cursor where the pointer is."""
        offset = event.get_content_offset(self)
        if offset is not None and isinstance(self.screen, TimelineScreen):
            self.screen.action_move_to(max(0, offset.x - LABEL))


class TimelineScreen(ConsoleScreen):
    """Lanes of one span."""

    WHERE = Where.timeline
    HERE = frozenset({"origin.add"})
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.timeline)]
    AUTO_FOCUS = "LanePane"

    def __init__(self, origins: tuple[str, ...], came_from: tuple[str, ...] = ("Overview",)) -> None:
        """`origins` are raw text as stored; `came_from` are crumbs."""
        super().__init__()
        self._came_from = came_from
        self._panes = [LanePane(origin) for origin in origins]
        self._span = 0  # chosen when the age of the run is known
        self._end: int | None = None  # where the span ends (epoch ms) once one has moved back
        self._cursor: int | None = None  # a moment (epoch ms); None: the present
        self._first = 0  # the first lane that has room

    def body(self) -> Iterable[Widget]:
        """The lanes, and the lines that read them."""
        self._reading = Lines(id="lane-reading", still=True)
        yield Vertical(*self._panes, self._reading, id="body")

    def on_mount(self) -> None:
        """Names the lanes."""
        for pane in self._panes:
            title(pane, f"Politeness · {host_of(pane.origin)}")

    def crumbs(self) -> tuple[str, ...]:
        return (*self._came_from, "Politeness")

    # what is shown

    @property
    def _cells(self) -> int:
        return max(1, self.size.width - 2 - LABEL)

    def _present(self) -> int:
        """Where time stands: now, or where the run has ended."""
        now, run = self.console.clock.wall_ms(), self.console.live_state.run
        return now if run is None or run.live else end_of_run(run, now)

    def span(self) -> LaneSpan:
        """What is shown; its cells begin at whole multiples of their length, so that they stay where they are."""
        now, run = self._present(), self.console.live_state.run
        if not self._span and run is not None:
            young = (one for one in SPANS_MS[:4] if one >= now - run.started_at)
            self._span = next(young, SPANS_MS[3])
        step = max(1, (self._span or SPANS_MS[3]) // self._cells)
        end = ((now if self._end is None else self._end) // step + 1) * step
        return LaneSpan(end - step * self._cells, end, self._cells)

    def wants(self) -> ReadingRequest:
        """The lanes that are seen."""
        if self.frozen:
            return ReadingRequest()
        span = self.span()
        return ReadingRequest(parts=tuple(LanePart(pane.origin, span) for pane in self._panes if pane.display))

    def accepts(self, wants: ReadingRequest) -> bool:
        """What was read for the span as it was a moment ago is shown, too; the next reading has the next cell."""
        return [_alike(part) for part in wants.parts] == [_alike(part) for part in self.wants().parts]

    def take(self, shot: Snapshot) -> None:
        found = {one.origin: one for one in shot.parts.values() if isinstance(one, Timeline)}
        for pane in self._panes:
            timeline = found.get(pane.origin)
            if timeline is not None and timeline is not pane.timeline and not self.frozen:
                pane.tell(timeline, self._cell_of(timeline))
        self._show_reading()

    def fit(self, size: Size) -> None:
        """As many lanes as have room."""
        super().fit(size)
        self._place()
        self._show_reading()
        self.console.read_soon()

    def thaw(self) -> None:
        self.console.read_soon()

    def tick(self) -> None:
        """Whether it follows, is held still."""
        self._show_reading()

    def _place(self) -> None:
        room = max(1, (self.size.height - 5) // LANE_LINES)
        self._first = max(0, min(self._first, len(self._panes) - room))
        for place, pane in enumerate(self._panes):
            pane.display = self._first <= place < self._first + room

    def _cell_of(self, timeline: Timeline) -> int | None:
        if self._cursor is None:
            return None
        return min(max(timeline.span.cell(self._cursor), 0), timeline.span.cells - 1)

    def _show(self) -> None:
        for pane in self._panes:
            if pane.timeline is not None:
                pane.tell(None, self._cell_of(pane.timeline))
        self._show_reading()
        self.tell_footer()

    def _show_reading(self) -> None:
        timeline = self._here.timeline
        if timeline is None or not self.is_mounted:
            return
        zone, at = self.console.clock.zone, self._cell_of(timeline)
        now = min(max(timeline.span.cell(self._present()), 0), timeline.span.cells - 1)
        follows = "follow ●" if self._end is None and self._cursor is None else "follow ○"
        hidden = sum(not pane.display for pane in self._panes)
        words = [
            *([f"read from {clock(timeline.read_since, zone)} on"] if timeline.read_since else []),
            *([f"{plural(hidden, 'lane')} more"] if hidden else []),
            f"span {coarse(self._span)}",
            "‖ frozen" if self.frozen else follows,
        ]
        said = cell_words(timeline, now if at is None else at, zone).split(" · ")
        drawn_with = tuple(Styled(*piece) for piece in lane_legend(self.console.dots))
        self._reading.show([
            Split(Styled(" · ".join(said[:4]), "strong"), Styled(" · ".join(words), "muted")),
            Split(Styled(" · ".join(said[4:]), "muted"), drawn_with),
        ])  # fmt: skip

    # what is selected

    @property
    def _here(self) -> LanePane:
        return self.focused if isinstance(self.focused, LanePane) else self._panes[self._first]

    def situation(self) -> Situation:
        """The origin of the lane, so that it can be paused here, too."""
        view = self.console.live_state.origins.get(self._here.origin)
        origins = (view,) if view is not None else ()
        return Situation(Where.timeline, origins=origins, newer=self._end is not None or self._cursor is not None)

    # what is done

    def on_descendant_focus(self, _event: DescendantFocus) -> None:
        self._show_reading()
        self.tell_footer()

    def go_to_pane(self, step: int) -> None:
        """Goes to the next lane, also to one that has no room now."""
        goal = (self._panes.index(self._here) + step) % len(self._panes)
        if not self._panes[goal].display:
            shown = sum(pane.display for pane in self._panes)
            self._first = goal if goal < self._first else goal - shown + 1
            self._place()
            self.console.read_soon()
        self._panes[goal].focus()

    def action_go_to(self, step: int) -> None:
        """Goes to the next lane, or the one before."""
        self.go_to_pane(step)

    def action_move(self, by: int) -> None:
        """Moves the cursor by cells; beyond an edge the span moves."""
        timeline = self._here.timeline
        if timeline is None:
            return
        span = timeline.span
        here = self._cursor if self._cursor is not None else min(self._present(), span.until - 1)
        self._cursor = round(here + by * span.cell_ms)
        if not span.since <= self._cursor < span.until:
            self._scrub()
        self._show()

    def action_move_to(self, place: int) -> None:
        """Moves the cursor to a cell, -1 is the last."""
        if (timeline := self._here.timeline) is not None:
            self._cursor = timeline.span.at(place % timeline.span.cells)
            self._show()

    def action_open_origin(self) -> None:
        """Enter."""
        self.open_selected()

    def open_selected(self) -> None:
        """The origin of the lane."""
        self.console.dispatcher.go_to_origin(self._here.origin)

    def _scrub(self) -> None:
        """Moves the span so that the cursor is in its middle; it follows again where that is the present."""
        now = self._present()
        if self._cursor is not None and self._cursor < now:
            end = self._cursor + self._span // 2
            self._end = end if end < now else None
        else:
            self._end = self._cursor = None
        self.console.read_soon()

    @handles("pulse.wider", 1)
    @handles("pulse.narrower", -1)
    def _change_span(self, by: int) -> None:
        """The next longer or shorter span, around the cursor."""
        place = SPANS_MS.index(self._span) if self._span in SPANS_MS else 3
        self._span = SPANS_MS[min(max(place + by, 0), len(SPANS_MS) - 1)]
        if self._cursor is not None:
            self._scrub()
        self._read_anew()

    @handles("pulse.follow")
    def _follow(self) -> None:
        self._end = self._cursor = None
        self._read_anew()

    def _read_anew(self) -> None:
        self.console.read_soon()
        self._show()


def _alike(part: object) -> object:
    """What makes a lane of a moment ago the same as this one."""
    return (part.origin, part.span.cells, part.span.until - part.span.since) if isinstance(part, LanePart) else part
