"""How far a pane scrolls, told to Textual without having it lay the whole screen out anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.scroll_view import ScrollView


def reach_over(pane: ScrollView, lines: int) -> None:
    """Has a pane scroll over so many lines.

    Textual answers a new `virtual_size` with a layout of the screen, some milliseconds at every step of a cursor. Only
    a pane whose height comes from its content needs that; for the others it happens when the scroll bar comes or goes.
    """
    size = Size(0, lines)
    if size == pane.virtual_size:
        return
    if pane.styles.is_auto_height or not pane.container_size.height:
        pane.virtual_size = size
    else:
        pane.set_reactive(Widget.virtual_size, size)
        pane._scroll_update(size)
