"""`TabBar`: the tabs of a screen in one line, each with its key. A click does what the key does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.geometry import Region
from textual.message import Message

from tui_crawler.console.panes.line import width_of
from tui_crawler.console.panes.lines import Lines
from tui_crawler.text.cells import Styled


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab: the action that opens it, its key, its name, and what it holds in a word (may be empty)."""

    action_id: str
    key: str
    name: str
    note: str = ""


class TabBar(Lines, can_focus=False):
    """The tab that is open has a mark before its name."""

    @dataclass
    class Pressed(Message):
        """A tab was clicked."""

        action_id: str

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._tabs: Sequence[Tab] = ()
        self._current = ""
        self._zones: list[tuple[int, int, str]] = []

    def tell(self, tabs: Sequence[Tab], current: str) -> None:
        """Shows tabs; `current` is the action id of the one that is open."""
        self._tabs, self._current = tabs, current
        self._arrange()

    def on_resize(self, _event: events.Resize) -> None:
        self._arrange()

    def _arrange(self) -> None:
        parts: list[Styled] = []
        self._zones, at = [], 0
        notes = sum(len(tab.note) + len(tab.name) + 7 for tab in self._tabs) <= self.size.width
        for tab in self._tabs:
            is_open = tab.action_id == self._current
            pieces = [
                Styled("▸" if is_open else " ", "accent"),
                Styled(f"{tab.key} ", "accent bold"),
                Styled(tab.name, "strong bold" if is_open else "muted"),
                Styled(f" {tab.note}" if tab.note and notes else "", "muted"),
                Styled("  "),
            ]
            width = width_of(tuple(pieces))
            self._zones.append((at, at + width, tab.action_id))
            at += width
            parts += pieces
        self.show([tuple(parts)])

    def places(self) -> list[tuple[str, Region]]:
        """The action id of each tab, and where it stands on the screen; nothing while the line is not shown."""
        x, y = self.content_region.offset
        zones = self._zones if self.region.area else []
        return [(action_id, Region(x + start, y, end - start, 1)) for start, end, action_id in zones]

    def on_click(self, event: events.Click) -> None:
        for start, end, action_id in self._zones:
            if start <= event.x - self.styles.padding.left < end:
                event.stop()
                self.post_message(self.Pressed(action_id))
