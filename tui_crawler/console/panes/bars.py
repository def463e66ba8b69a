"""The lines that every screen has: header, footer, notices, and the message when there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Size
from textual.message import Message

from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.footer import Zone, footer_line
from tui_crawler.console.present.header import HeaderState, header_lines
from tui_crawler.console.present.line import width_of
from tui_crawler.console.table_cells import Styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.notice import Notice


class HeaderBar(Lines, can_focus=False):
    """The first lines of the screen."""

    def __init__(self) -> None:
        """Makes it empty, not yet told anything."""
        super().__init__(id="header")
        self._state: HeaderState | None = None

    def tell(self, state: HeaderState) -> None:
        """Shows this state."""
        self._state = state
        self._lay_out()

    def on_resize(self, event: events.Resize) -> None:
        """Chooses anew what fits."""
        self._lay_out()
        super().on_resize(event)

    def _lay_out(self) -> None:
        if self._state is not None and self.size.width:
            self.show(header_lines(self._state, self.size.width, tall=self.size.height > 1))


class FooterBar(Lines, can_focus=False):
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
        self._lay_out()

    def on_resize(self, event: events.Resize) -> None:
        """Chooses anew what fits."""
        self._lay_out()
        super().on_resize(event)

    def on_click(self, event: events.Click) -> None:
        """Does what the key under the pointer does."""
        for zone in self._zones:
            if zone.start <= event.x < zone.end:
                event.stop()
                self.post_message(self.Pressed(zone.action_id))

    def _lay_out(self) -> None:
        if self.size.width:
            line, self._zones = footer_line(self._crumbs, self._keys, self.size.width)
            self.show([line])


class NoticeBox(Lines, can_focus=False):
    """Up to three notices in the lower right corner."""

    def __init__(self) -> None:
        """Makes it empty and not displayed."""
        super().__init__(id="notices")
        self.display = False
        self._notices: tuple[Notice, ...] = ()

    def tell(self, notices: Sequence[Notice]) -> None:
        """Shows these notices, newest last."""
        self._notices = tuple(notices)
        self.show([(Styled("▎ ", notice.role), Styled(notice.label, notice.role)) for notice in notices])
        self.place(self.screen.size)

    def place(self, size: Size) -> None:
        """Takes its place on a screen of this size: from the border of the lowest pane upwards, where the first notice
        covers no row; above the entry line while that is open. A screen that is too small shows none."""
        self.display = bool(self._notices) and not self.screen.has_class("-tiny")
        if not self.display:
            return
        wanted = max(width_of(notice.label) for notice in self._notices) + 4
        width, height = min(wanted, max(1, size.width - 2)), len(self._notices)
        self.styles.width, self.styles.height = width, height
        below = 2 if any(entry.display for entry in self.screen.query(EntryLine)) else 1
        self.styles.offset = (size.width - width - 1, max(0, size.height - height - below))


class TooSmall(Lines, can_focus=False):
    """What stands on a terminal that is too small."""

    def __init__(self) -> None:
        """Makes the message."""
        super().__init__(id="too-small")
        self.show([Styled("too small: 40×10 needed", "warning")])
