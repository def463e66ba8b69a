"""Inputs of one line; loaded when the first is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events
from textual.suggester import Suggester
from textual.widgets import Input

from tui_crawler.console.panes.typing import TakesText, plain_text
from tui_crawler.console.urls.cells import bare_host

if TYPE_CHECKING:
    from tui_crawler.console.dialogs.completion import Completion


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


class Ghost(Suggester):
    """What the likeliest completion adds to a text; right at its end puts it in."""

    def __init__(self, complete: Callable[[str], Completion]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        """The text with the first word that fits, of an origin also its host; None: none begins so."""
        offered = self._complete(value)
        fragment = value[offered.start :]
        words = (form for word in offered.words for form in (word, bare_host(word)))
        fits = (word for word in words if fragment and word.casefold().startswith(fragment.casefold()))
        return next((value + plain_text(word[len(fragment) :]) for word in fits), None)


class EntryBox(PlainInput):
    """Takes enter before the next key is looked at: what is typed after it is no part of the text."""

    def complete_by(self, complete: Callable[[str], Completion] | None) -> None:
        """Show what the likeliest completion adds; None: complete nothing."""
        self.suggester = None if complete is None else Ghost(complete)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            await self.action_submit()
