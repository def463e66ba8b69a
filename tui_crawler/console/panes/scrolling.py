"""How far a pane scrolls, told to Textual without having it lay the whole screen out anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.panes.zoom import panes_of

if TYPE_CHECKING:
    from textual.screen import Screen
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
        pane._layout_updates += 1  # Textual counts one of two wishes for a layout, and caches the height by the count
        pane.virtual_size = size
    else:
        pane.set_reactive(Widget.virtual_size, size)
        pane._scroll_update(size)


LEAST_LINES = 4
"""So much of a pane is in view at least: its border, its header, and two rows."""


def bring_into_view(screen: Screen[Any], filtered: Widget | None) -> None:
    """Gives the focus to a pane that is displayed when none has it, and scrolls it to where it can be seen.

    While one types below the body, it is the table that is `filtered` that can be seen.
    """
    panes = panes_of(screen)
    if not panes or not screen.is_current:
        return
    focused = screen.focused
    # Lost: nothing has it, or a pane that is not displayed.
    lost = focused is None or (focused not in panes and any(node.id == "body" for node in focused.ancestors))
    if screen.app.app_focus and lost:
        screen.set_focus(main_pane(screen, panes))
    focused = screen.focused if screen.focused in panes else filtered
    if focused is not None and focused in panes and not _first_rows_seen(focused):
        focused.scroll_visible(animate=False, top=True)


def main_pane(screen: Screen[Any], panes: list[Widget]) -> Widget:
    """The pane a view begins with, of those that are displayed."""
    return next((pane for pane in screen.query(str(screen.AUTO_FOCUS)) if pane in panes), panes[0])


def _first_rows_seen(pane: Widget) -> bool:
    seen = pane.region
    for node in pane.ancestors:
        seen = seen.intersection(getattr(node, "scrollable_content_region", seen))
        if getattr(node, "id", "") == "body":
            break
    least = min(pane.region.height, LEAST_LINES)
    return seen.y == pane.region.y and seen.height >= least
