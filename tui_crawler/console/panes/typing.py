"""Inputs whose text is made of plain characters, whatever is pasted into them."""

from __future__ import annotations

from textual.widgets import Input

from tui_crawler.text.safe_text import without_unseen


def plain_text(text: str) -> str:
    """`text` without controls and whatever else is not seen; line ends become `\\n`, tabs a space."""
    return "\n".join(without_unseen(line.replace("\t", " ")) for line in text.splitlines())


class TakesText:
    """What has keys of its own for all that can be typed."""


class PlainInput(TakesText, Input):
    """One line. Its cursor stands still: what blinks is painted for ever."""

    cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Drops what a terminal could obey."""
        return plain_text(value).replace("\n", " ")
