"""Inputs of one line; loaded when the first is opened."""

from __future__ import annotations

from textual.widgets import Input

from tui_crawler.console.panes.typing import TakesText, plain_text


class PlainInput(TakesText, Input):
    """One line. Its cursor stands still: what blinks is painted for ever."""

    cursor_blink = False

    def update_node_styles(self, animate: bool = True) -> None:
        """Update its styles; not while it is made, since it is styled when it is mounted."""
        if self.parent is not None:
            super().update_node_styles(animate)

    def validate_value(self, value: str) -> str:
        """Drops what a terminal could obey."""
        return plain_text(value).replace("\n", " ")
