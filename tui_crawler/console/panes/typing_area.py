"""As `PlainInput`, for several lines. Apart from it, since Textual's area takes long to load."""

from textual import events
from textual.widgets import TextArea

from tui_crawler.console.panes.typing import TakesText, plain_text


class PlainArea(TakesText, TextArea):
    """Several lines."""

    def _on_paste(self, event: events.Paste) -> None:  # type: ignore[override]  # Textual calls both, this one first
        event.text = plain_text(event.text)
