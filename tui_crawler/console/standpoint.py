"""What actions depend on: what the screen on top stands on, and what the console as a whole does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_crawler.console.actions import Situation
    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.screens.base import ConsoleScreen


def situation_of(app: CrawlerApp, screen: ConsoleScreen) -> Situation:
    """The situation of a screen, with what only the console knows."""
    found, stack = screen.situation(), app.undo_stack
    if stack is not None:
        origins = app.wishes.as_asked(found.origins)
        found = replace(found, origins=origins, undo=stack.next_undo, no_undo=stack.why_none, redo=stack.next_redo)
    return replace(
        found,
        readonly=app.readonly,
        watches=app.watches,
        no_start=app.succession.hindrance,
        hindrance=app.way_out.hindrance,
        queries=app.queries is not None,
        zoom=screen.zoom.level,
        marked=screen.marks.count,
        marked_here=screen.marks.focused_count,
        filtered=found.filtered or screen.table_filter.filtered is not None,
    )
