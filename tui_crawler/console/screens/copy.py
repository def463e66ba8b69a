"""What to copy: a line above the footer that names the keys which follow. It goes by itself, or with any other key."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from tui_crawler.console.format import plural
from tui_crawler.console.screens.base import Dialog

OPTIONS: tuple[tuple[str, str, str], ...] = (
    ("u", "url", "URL"),
    ("c", "curl", "curl"),
    ("j", "json", "JSON"),
    ("r", "row", "row"),
)
"""Key, id and word of what can be copied."""
_MANY = {"URL": "URLs", "row": "rows"}
"""What there are more of when several rows are marked."""
SHOWN_S = 6.0
"""So long the keys are waited for."""


class _Option(Static):
    """One of them; a click copies it."""

    def __init__(self, key: str, name: str, words: str, *, many: bool) -> None:
        words = _MANY.get(words, words) if many else words
        super().__init__(Content.assemble((key, "$accent bold"), f" {words}"), classes="copy-option")
        self._what = name

    def on_click(self, event: events.Click) -> None:
        """Copies it."""
        event.stop()
        if isinstance(self.screen, CopyScreen):
            self.screen.action_choose(self._what)


class CopyScreen(Dialog):
    """Gives the id of what is to be copied, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"choose('{name}')", words, show=False) for key, name, words in OPTIONS),
        Binding("escape,q", "cancel", "Cancel", show=False),
    ]

    def __init__(self, rows: int, *, has_url: bool) -> None:
        """`rows` are marked (or 1: the one under the cursor); without a URL only JSON and text are offered."""
        super().__init__()
        self._rows = rows
        self._options = tuple(one for one in OPTIONS if has_url or one[1] in {"json", "row"})

    def compose(self) -> ComposeResult:
        """The keys in a line."""
        what = "Copy" if self._rows == 1 else f"Copy {plural(self._rows, 'row')}"
        with Horizontal(id="copy-hint"):
            yield Static(Content(f"{what}:"), classes="copy-option")
            for option in self._options:
                yield _Option(*option, many=self._rows > 1)
            yield Static(Content.styled("esc leaves", "$role-muted"), classes="copy-option")

    def on_mount(self) -> None:
        """Waits a few seconds."""
        self.set_timer(SHOWN_S, self.action_cancel)

    def on_key(self, event: events.Key) -> None:
        """Any other key leaves, and does what it always does."""
        if event.key not in self._bindings.key_to_bindings:
            event.stop()
            event.prevent_default()
            self.dismiss(None)
            self.app.post_message(events.Key(event.key, event.character))

    def action_choose(self, name: str) -> None:
        """Gives what a key means; nothing where it is not offered."""
        if name in {one[1] for one in self._options}:
            self.dismiss(name)

    def action_cancel(self) -> None:
        """Copies nothing."""
        self.dismiss(None)
