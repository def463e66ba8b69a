"""What stands in the border of a pane. Textual paints a pane whole whenever its title is set, to whatever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui_crawler.text.safe_text import clip, safe

if TYPE_CHECKING:
    from textual.widget import Widget

    from tui_crawler.console.table.cells import Piece

_LONGEST, _LONGEST_NAME = 200, 32
ZOOMS = {"-zoom-half": "zoom half", "-zoom-full": "zoom full"}
"""The classes of an enlarged pane, and what its title says then."""


def zoom_words(pane: Widget) -> str:
    """What the title of a pane says of its zoom; empty when it is not enlarged."""
    return next((words for name, words in ZOOMS.items() if pane.has_class(name)), "")


def write_title(widget: Widget, text: str) -> None:
    """Writes the title (raw text), and how the pane is enlarged; nothing is painted when it says that already."""
    if (words := safe(" · ".join(filter(None, (text, zoom_words(widget)))), _LONGEST)) != title_of(widget):
        widget.border_title = Content(words)


def write_subtitle(widget: Widget, text: str) -> None:
    """Writes the words in the lower border, in the same way."""
    held = widget._border_subtitle
    if (words := safe(text, _LONGEST)) != (held.plain if held is not None else ""):
        widget.border_subtitle = Content(words)


def write_pieces(widget: Widget, pieces: Sequence[Piece]) -> None:
    """Writes a title of pieces with roles, in their colours."""
    words = [(safe(text), f"$role-{role}" if role else "") for text, role in pieces]
    if "".join(text for text, _ in words) != title_of(widget):
        widget.border_title = Content.assemble(*words)


def title_of(widget: Widget) -> str:
    """The text of the title; Textual's public name gives it as markup."""
    held = widget._border_title
    return held.plain if held is not None else ""


def pane_name(pane: Widget, *, whole: bool = False) -> str:
    """What a pane is called: its title, up to the first ` · ` unless the `whole` one is asked for."""
    name = title_of(pane)
    return clip(safe(name if whole else name.split(" · ", maxsplit=1)[0]), _LONGEST_NAME) or "pane"
