"""Asks before something large: it is done only when its number is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from tui_crawler.console.format import count
from tui_crawler.console.panes.typing import PlainInput
from tui_crawler.console.safe_text import safe
from tui_crawler.console.screens.base import Dialog

if TYPE_CHECKING:
    from tui_crawler.console.intent import Question


class TypeCountScreen(Dialog):
    """Gives the intent of the question's only option, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, question: Question, number: int) -> None:
        """`number` is what has to be typed, with or without spaces."""
        super().__init__()
        self._question = question
        self._number = number

    def compose(self) -> ComposeResult:
        """What is asked, and where the number is typed."""
        question = self._question
        with Vertical(classes="dialog") as box:
            box.border_title = Content(safe(question.title, 120))
            box.border_subtitle = Content("enter does it · esc leaves")
            yield Static(Content(safe(question.text, 600)), classes="dialog-text")
            if question.note:
                yield Static(Content(safe(self.key_names.said(question.note), 600)), classes="dialog-note")
            yield Static(Content(f"Type {count(self._number)} to go on:"), id="count-label")
            yield PlainInput(id="count", compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        """The number is typed at once."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Goes on with the right number; says so with another one."""
        event.stop()
        if "".join(event.value.split()) == str(self._number):
            self.dismiss(self._question.options[0][1])
        else:
            self.query_one("#count-label", Static).update(Content(f"That is not {count(self._number)}; type it:"))

    def action_cancel(self) -> None:
        """Chooses none."""
        self.dismiss(None)
