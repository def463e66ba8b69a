"""Asks before something that is more than one key press: names the thing, the number, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from tui_crawler.console.safe_text import safe
from tui_crawler.console.screens.base import Dialog

if TYPE_CHECKING:
    from tui_crawler.console.intent import Intent, Question


class ConfirmScreen(Dialog):
    """Gives the intent that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "cancel", "Cancel", show=False),
        Binding("right,down,l,j", "app.focus_next", "Next", show=False),
        Binding("left,up,h,k", "app.focus_previous", "Previous", show=False),
        Binding("y", "yes", "Yes", show=False),
    ]

    def __init__(self, question: Question) -> None:
        """Takes what is asked."""
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question, its options, and a way out."""
        question = self._question
        with Vertical(classes="dialog") as box:
            box.border_title = Content(safe(question.title, 120))
            yield Static(Content(safe(question.text, 600)), classes="dialog-text")
            if question.note:
                yield Static(Content(safe(self.key_names.said(question.note), 300)), classes="dialog-note")
            with Horizontal(classes="dialog-buttons"):
                for index, (label, _) in enumerate(question.options):
                    yield Button(Content(safe(label)), id=f"option-{index}", compact=True, variant="primary")
                yield Button("Cancel", id="cancel", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Gives the chosen intent."""
        event.stop()
        chosen: Intent | None = None
        name = event.button.id or ""
        if name.startswith("option-"):
            chosen = self._question.options[int(name.removeprefix("option-"))][1]
        self.dismiss(chosen)

    def action_yes(self) -> None:
        """Chooses the first option."""
        self.dismiss(self._question.options[0][1])

    def action_cancel(self) -> None:
        """Chooses none."""
        self.dismiss(None)
