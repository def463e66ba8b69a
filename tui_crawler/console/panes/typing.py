"""Inputs whose text is made of plain characters, whatever is pasted into them."""

from __future__ import annotations

import unicodedata

from textual import events
from textual.widgets import Input, TextArea


def plain_text(text: str) -> str:
    """`text` without controls, format characters and lone surrogates; line ends become `\\n`, tabs a space."""
    lines = "\n".join(text.splitlines()).replace("\t", " ")
    return "".join(char for char in lines if char == "\n" or unicodedata.category(char)[0] != "C")


class PlainInput(Input):
    """One line. Its cursor stands still: what blinks is painted for ever."""

    cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Drops what a terminal could obey."""
        return plain_text(value).replace("\n", " ")


class PlainArea(TextArea):
    """Several lines."""

    def _on_paste(self, event: events.Paste) -> None:  # type: ignore[override]  # Textual calls both, this one first
        event.text = plain_text(event.text)
