"""A screen whose rows are narrowed while a filter is typed."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual.timer import Timer

from tui_crawler.console.screens.waiting import RowsScreen

if TYPE_CHECKING:
    from tui_crawler.console.panes.entry import EntryLine

FILTER_S = 0.15
"""So long after the last key the rows are narrowed (CONSOLE.md, key map)."""


class LiveFilterScreen(RowsScreen):
    """Takes what is typed after `filter.open`; the screen says what it means for its rows."""

    _filter_timer: Timer | None = None

    @abstractmethod
    def _filter(self, text: str) -> None:
        """Narrows the rows; an empty text shows all."""

    def on_entry_line_changed(self, event: EntryLine.Changed) -> None:
        """Filters as one types, a moment after the last key."""
        if event.purpose == "filter":
            self._stop_waiting()
            self._filter_timer = self.set_timer(FILTER_S, lambda: self._filter(event.text))

    def on_entry_line_entered(self, event: EntryLine.Entered) -> None:
        """Keeps the filter."""
        if event.purpose == "filter":
            self._filter(event.text)
            self.focus_main()

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        """Takes the filter off."""
        if event.purpose == "filter":
            self._filter("")
            self.focus_main()

    def _stop_waiting(self) -> None:
        """What was typed last is not waited for any more."""
        if self._filter_timer is not None:
            self._filter_timer.stop()
            self._filter_timer = None
