"""When a screen has its widgets: it is there before they come, and still there while they go.

What comes late (a reading, an answer of a thread, a timer) asks here before it touches a screen. One that is closed
loses its widgets one by one, from their own tasks; one that is opened while the app is being left never gets any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events

if TYPE_CHECKING:
    from textual.screen import Screen

_ABOUT_WIDGETS = (events.Mount, events.Resize, events.ScreenResume, events.ScreenSuspend)


def is_ready(screen: Screen[Any]) -> bool:
    """Whether a screen has all its widgets and keeps them for now."""
    return screen.is_mounted and is_open(screen)


def is_stale(event: events.Event, screen: Screen[Any]) -> bool:
    """Whether an event finds nothing to be about: the screen is being taken away, perhaps before its widgets came."""
    return isinstance(event, _ABOUT_WIDGETS) and not is_open(screen)


def is_open(screen: Screen[Any]) -> bool:
    """Whether nobody closes a screen, nor leaves the app: if it lacks widgets, they are on their way."""
    return screen.display and screen.is_attached and screen.app.is_running
