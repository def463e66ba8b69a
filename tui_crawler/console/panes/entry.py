"""The line above the footer where a filter or a command is typed."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from tui_crawler.console.panes.typing import PlainInput
from tui_crawler.console.safe_text import safe

_LONGEST_LABEL = 80


class EntryLine(Horizontal):
    """A label (raw text) and an input; hidden until it is opened. `purpose` says what the text is for."""

    class Changed(Message):
        """The text changed."""

        def __init__(self, purpose: str, text: str) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text

    class Entered(Message):
        """Enter was pressed; the line is closed."""

        def __init__(self, purpose: str, text: str) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text

    class Left(Message):
        """The line was left with esc; what it had changed is to be taken back."""

        def __init__(self, purpose: str) -> None:
            super().__init__()
            self.purpose = purpose

    def __init__(self) -> None:
        """Makes it hidden."""
        super().__init__(id="entry")
        self.purpose = ""
        self.display = False

    def compose(self) -> ComposeResult:
        """A label and an input of one line."""
        yield Static("", id="entry-label", markup=False)
        yield PlainInput(id="entry-input", compact=True, select_on_focus=False)

    def open(self, purpose: str, label: str, text: str, hint: str) -> None:
        """Shows the line and puts the cursor into it."""
        self.purpose = purpose
        self.display = True
        self.query_one("#entry-label", Static).update(safe(label, _LONGEST_LABEL))
        box = self.query_one(Input)
        with box.prevent(Input.Changed):
            box.value = text
        box.placeholder = hint
        box.cursor_position = len(text)
        self.screen.set_focus(box)  # now, not with the next message: the next key may wait already

    def close(self) -> None:
        """Hides the line."""
        self.display = False

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tells what was typed."""
        event.stop()
        if self.display:
            self.post_message(self.Changed(self.purpose, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Closes the line and tells the text."""
        event.stop()
        self.close()
        self.post_message(self.Entered(self.purpose, event.value))

    def on_key(self, event: events.Key) -> None:
        """Esc leaves the line."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.close()
            self.post_message(self.Left(self.purpose))
