"""A stretch of time that is looked at: it follows the present until one moves back, and a cursor reads it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import ceil

from textual.binding import Binding, BindingType

from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.domain.history.pulse import SPANS_MS
from tui_crawler.domain.history.span import TimeSpan

_AT_ONCE = 10
SPAN_KEYS: tuple[BindingType, ...] = (
    Binding("h,left", "screen.move(-1)", "Earlier", id="move.left", show=False),
    Binding("l,right", "screen.move(1)", "Later", id="move.right", show=False),
    Binding("ctrl+u,pageup", f"screen.move(-{_AT_ONCE})", "Ten earlier", id="move.page_up", show=False),
    Binding("ctrl+d,pagedown", f"screen.move({_AT_ONCE})", "Ten later", id="move.page_down", show=False),
    Binding("g,home", "screen.move_to(0)", "First", id="move.first", show=False),
    Binding("G,end", "screen.move_to(-1)", "Last", id="move.last", show=False),
)
"""The keys of a pane that shows one; its screen moves the cursor."""


@dataclass(slots=True)
class SpanView:
    """What is looked at: `length` ms (one of SPANS_MS) that end at `end` (None: at the present), and the `cursor`
    (None: at the present). Moments are epoch ms."""

    length: int
    end: int | None = None
    cursor: int | None = None

    @property
    def follows(self) -> bool:
        """Whether it ends at the present, and is read there."""
        return self.end is None and self.cursor is None

    @property
    def words(self) -> str:
        """Whether it does, in words."""
        return "follow ●" if self.follows else "follow ○"

    def follow(self) -> None:
        """Follows the present again."""
        self.end = self.cursor = None

    def centre(self, now: int) -> None:
        """Brings the cursor into the middle; beyond the present it follows again."""
        if self.cursor is None or self.cursor >= now:
            self.follow()
        else:
            end = self.cursor + self.length // 2
            self.end = end if end < now else None

    def change(self, by: int, now: int) -> None:
        """Takes the next longer (or shorter) span, around the cursor."""
        place = SPANS_MS.index(self.length) + by
        self.length = SPANS_MS[min(max(place, 0), len(SPANS_MS) - 1)]
        if self.cursor is not None:
            self.centre(now)


class SpanActions(Handles, ReachesConsole):
    """What a screen of one span does with it."""

    span: SpanView

    @abstractmethod
    def present(self) -> int:
        """Where time stands (epoch ms)."""

    @abstractmethod
    def steps(self) -> TimeSpan | None:
        """What is shown; None: nothing is."""

    @abstractmethod
    def show_span(self) -> None:
        """Shows what was read, with the cursor."""

    def action_move(self, by: int) -> None:
        """Moves the cursor by steps; beyond an edge the span moves."""
        shown, span = self.steps(), self.span
        if shown is None:
            return
        here = span.cursor if span.cursor is not None else min(self.present(), shown.until - 1)
        span.cursor = ceil(here + by * shown.cell_ms)
        if not shown.since <= span.cursor < shown.until:
            span.centre(self.present())
            self.console.read_soon()
        self.show_span()

    def action_move_to(self, place: int) -> None:
        if (shown := self.steps()) is not None:
            self.span.cursor = shown.since + ceil(place % shown.cells * shown.cell_ms)
            self.show_span()

    @handles("pulse.wider", 1)
    @handles("pulse.narrower", -1)
    def _change_span(self, by: int) -> None:
        self.span.change(by, self.present())
        self.read_anew()

    @handles("pulse.follow")
    def _follow(self) -> None:
        self.span.follow()
        self.read_anew()

    def read_anew(self) -> None:
        """Has another span read, and shows what is there meanwhile."""
        self.console.read_soon()
        self.show_span()
