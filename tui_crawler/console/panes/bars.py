"""The lines that every screen has: header, footer, notices, and the message when there is no room."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from tui_crawler.console.notice import GAP, rows_of
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.footer import Zone, footer_line
from tui_crawler.console.present.header import HeaderState, header_lines
from tui_crawler.console.present.line import Line, width_of
from tui_crawler.console.table_cells import Styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.notice import Notice


class Bar(Lines, can_focus=False):
    """Lines that depend on the size. The first picture is painted before an event tells the size, and shows them."""

    @abstractmethod
    def lines_for(self, size: Size) -> Sequence[Line]:
        """What is shown at this size."""

    def on_resize(self, event: events.Resize) -> None:
        """Chooses anew what fits."""
        self.lay_out()
        super().on_resize(event)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paints; the first time, what fits is chosen only now."""
        if not self.lines:
            self.replace_lines(self.lines_for(self.size))
        return super().render_lines(crop)

    def lay_out(self) -> None:
        """Shows what fits now."""
        if self.size.width:
            self.show(self.lines_for(self.size))


class HeaderBar(Bar, can_focus=False):
    """The first lines of the screen."""

    def __init__(self) -> None:
        """Makes it empty, not yet told anything."""
        super().__init__(id="header")
        self._state: HeaderState | None = None

    def tell(self, state: HeaderState) -> None:
        """Shows this state."""
        self._state = state
        self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        """What fits."""
        return () if self._state is None else header_lines(self._state, size.width, tall=size.height > 1)


class FooterBar(Bar, can_focus=False):
    """The last line of the screen: where one is, and the keys that matter here. A click does what the key does."""

    class Pressed(Message):
        """A key was clicked."""

        def __init__(self, action_id: str) -> None:
            super().__init__()
            self.action_id = action_id

    def __init__(self) -> None:
        """Makes it empty."""
        super().__init__(id="footer")
        self._crumbs: tuple[str, ...] = ()
        self._keys: tuple[tuple[str, str, str], ...] = ()
        self._zones: tuple[Zone, ...] = ()

    def tell(self, crumbs: Sequence[str], keys: Sequence[tuple[str, str, str]]) -> None:
        """Shows `crumbs` (raw text) and `keys`: action id, key and label."""
        self._crumbs, self._keys = tuple(crumbs), tuple(keys)
        self.lay_out()

    def next_key(self, x: int) -> int:
        """Where the first key begins that stands wholly at or right of cell `x`; the width where there is none."""
        return min((zone.start for zone in self._zones if zone.start >= x), default=self.size.width)

    def lines_for(self, size: Size) -> Sequence[Line]:
        """What fits, and where the keys are that can be clicked."""
        line, self._zones = footer_line(self._crumbs, self._keys, size.width)
        return (line,)

    def on_click(self, event: events.Click) -> None:
        """Does what the key under the pointer does."""
        for zone in self._zones:
            if zone.start <= event.x < zone.end:
                event.stop()
                self.post_message(self.Pressed(zone.action_id))


class NoticeBox(Lines, can_focus=False):
    """Up to three notices, at the left of the lowest line that belongs to no row."""

    def __init__(self) -> None:
        """Makes it empty and not displayed."""
        super().__init__(id="notices")
        self.display = False
        self._notices: tuple[Notice, ...] = ()

    def tell(self, notices: Sequence[Notice]) -> None:
        """Shows these notices, newest last."""
        self._notices = tuple(notices)
        self.place(self.screen.size)

    def place(self, size: Size) -> None:
        """Takes its place on a screen of this size, and grows upwards from there: the border of the lowest pane, or,
        where panes have none there, what the footer says of where one is. The entry line stays whole while it is open.
        A screen that is too small shows none."""
        self.display = bool(self._notices) and not self.screen.has_class("-tiny")
        if not self.display:
            return
        rows = rows_of(self._notices, size.width - 2)
        self.show([tuple(part for notice in row for part in _pieces(notice)) for row in rows])
        wanted = max(sum(width_of(notice.label) + GAP for notice in row) for row in rows)
        width, height = min(wanted, max(1, size.width - 2)), len(rows)
        entry = any(entry.display for entry in self.screen.query(EntryLine))
        below = (2 if entry else 1) if not self.screen.has_class("-narrow") or (entry and height > 1) else 0
        if not below:
            width = self.screen.query_one(FooterBar).next_key(width)
        self.styles.width, self.styles.height = width, height
        self.styles.offset = (1, max(0, size.height - height - below))


def _pieces(notice: Notice) -> tuple[Styled, ...]:
    return (Styled("▎ ", notice.role), Styled(notice.label, notice.role), Styled("  "))


class TooSmall(Lines, can_focus=False):
    """What stands on a terminal that is too small."""

    def __init__(self) -> None:
        """Makes the message."""
        super().__init__(id="too-small")
        self.show([Styled("too small: 40×10 needed", "warning")])
