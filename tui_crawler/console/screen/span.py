"""A stretch of time that is shown: the run, or a part of it that a person chose. It follows the present, which is the
end of the run once that is over, until one moves back; a cursor reads it."""

from abc import abstractmethod
from math import ceil
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.domain.history.idle_reason import end_of_run
from tui_crawler.domain.history.pulse import SPANS_MS
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.text.format import coarse

_AT_ONCE = 10
_LEAST_MS = 10_000
"""A run that has just begun is shown as if it had this age."""
SPAN_KEYS: tuple[BindingType, ...] = (
    Binding("left", "screen.move(-1)", "Earlier", id="move.left", show=False),
    Binding("right", "screen.move(1)", "Later", id="move.right", show=False),
    Binding("pageup", f"screen.move(-{_AT_ONCE})", "Ten earlier", id="move.page_up", show=False),
    Binding("pagedown", f"screen.move({_AT_ONCE})", "Ten later", id="move.page_down", show=False),
    Binding("home,g g", "screen.move_to(0)", "First", id="move.first", show=False),
    Binding("end,g e", "screen.follow", "Present", id="move.last", show=False),
)
"""The keys of a pane that shows one; its screen moves the cursor."""


class SpanActions(Handles, ReachesConsole):
    """What a screen of one span does with it. Moments are epoch ms."""

    chosen_ms: int | None = None
    """How long the span is, one of SPANS_MS; None: as long as the run."""
    span_end: int | None = None
    cursor_at: int | None = None
    """When the span ends and where it is read; None: at the present."""
    LONGEST_MS: ClassVar[int] = SPANS_MS[-1]
    """Of a longer run the last part is shown at first."""

    @abstractmethod
    def steps(self) -> TimeSpan | None:
        """What is shown; None: nothing is."""

    @abstractmethod
    def show_span(self) -> None:
        """Shows what was read, with the cursor."""

    @property
    def follows(self) -> bool:
        """Whether the span ends at the present, and is read there."""
        return self.span_end is None and self.cursor_at is None

    @property
    def cursor_cell(self) -> int | None:
        """The cell of the cursor, the first or the last one where it is outside; None: at the present."""
        shown, at = self.steps(), self.cursor_at
        return None if shown is None or at is None else shown.nearest(at)

    def present(self) -> int:
        """Return the present (epoch ms): now, or the end of the run once it is over."""
        now, run = self.console.clock.wall_ms(), self.console.live_state.run
        return now if run is None or run.live else end_of_run(run, now)

    def run_length(self) -> int:
        """Return how long (ms) the run has been, or the last part of it that is shown."""
        run = self.console.live_state.run
        since = self.present() - run.started_at if run is not None else SPANS_MS[0]
        return min(max(_LEAST_MS, since), self.LONGEST_MS)

    @property
    def shown_until(self) -> tuple[int, int]:
        """How long (ms) what is shown is, and when it ends (epoch ms)."""
        return self.chosen_ms or self.run_length(), self.present() if self.span_end is None else self.span_end

    @property
    def span_words(self) -> str:
        """How long the span is, and whether it follows the present."""
        shown, run = self.chosen_ms, self.run_length()
        whole = shown is None and run < self.LONGEST_MS
        return f"{'run' if whole else 'span'} {coarse(shown or run)} · follow {'●' if self.follows else '○'}"

    def action_move(self, by: int) -> None:
        """Moves the cursor by steps; beyond an edge the span moves."""
        if (shown := self.steps()) is None:
            return
        here = self.cursor_at if self.cursor_at is not None else min(self.present(), shown.until - 1)
        self.cursor_at = ceil(here + by * shown.cell_ms)
        if not shown.since <= self.cursor_at < shown.until:
            self._centre()
            self.console.read_soon()
        self.show_span()

    def action_move_to(self, place: int) -> None:
        if (shown := self.steps()) is not None:
            self.cursor_at = shown.since + ceil(place % shown.cells * shown.cell_ms)
            self.show_span()

    def _centre(self) -> None:
        """Brings the cursor into the middle; beyond the present the span follows again."""
        now, at = self.present(), self.cursor_at
        if at is None or at >= now:
            self.span_end = self.cursor_at = None
        else:
            end = at + (self.chosen_ms or self.run_length()) // 2
            self.span_end = end if end < now else None

    @handles("pulse.wider", 1)
    @handles("pulse.narrower", -1)
    def _change_span(self, by: int) -> None:
        """Takes the next longer or shorter span around the cursor; the run is one of them, by its length."""
        run = self.run_length()
        lengths = sorted({*SPANS_MS, run})
        length = lengths[min(max(lengths.index(self.chosen_ms or run) + by, 0), len(lengths) - 1)]
        self.chosen_ms = None if length == run else length
        if self.cursor_at is not None:
            self._centre()
        self.read_anew()

    @handles("pulse.follow")
    def action_follow(self) -> None:
        """Follow the present again."""
        self.span_end = self.cursor_at = None
        self.read_anew()

    def read_anew(self) -> None:
        """Has another span read, and shows what is there meanwhile."""
        self.console.read_soon()
        self.show_span()
