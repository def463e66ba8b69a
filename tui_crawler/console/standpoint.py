"""What actions depend on: what the screen on top stands on, and what the console as a whole does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_crawler.console.actions import Situation
    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.picture import Picture
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
        no_pause=_no_pause(app.picture),
        no_end=_no_end(app),
        queries=app.queries is not None,
        zoom=screen.zoom.level,
        marked=screen.marks.count,
        marked_here=screen.marks.focused_count,
        filtered=found.filtered or screen.table_filter.filtered is not None,
    )


def _no_pause(picture: Picture) -> str:
    """Why no origin of the crawl can be paused; empty: some can."""
    if picture.unfinished:
        return ""
    return "every origin has ended its run" if picture.origins else "there are no origins yet"


def _no_end(app: CrawlerApp) -> str:
    """Why there is no run that could be ended; empty: there is."""
    if app.room.quitting:
        return "this console is being left"
    return "" if app.picture.run is not None and app.room.is_crawling(app.picture.run) else "no run is at work"
