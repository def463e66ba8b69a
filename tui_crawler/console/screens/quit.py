"""The way out: a question after ctrl+c, and the countdown while running requests end."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from tui_crawler.console.format import plural, seconds
from tui_crawler.console.screens.base import Dialog
from tui_crawler.console.sparkline import bar

_BAR = 30


class AskQuitScreen(Dialog):
    """Gives True when the operator wants to quit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "Stay", show=False),
        Binding("y,q", "answer(True)", "Quit", show=False),
        Binding("right,down,l,j", "app.focus_next", "Next", show=False),
        Binding("left,up,h,k", "app.focus_previous", "Previous", show=False),
    ]

    def __init__(self, at_work: bool) -> None:
        """`at_work`: quitting ends the run of this console."""
        super().__init__()
        self._at_work = at_work

    def compose(self) -> ComposeResult:
        """The question."""
        what = (
            "Requests under way get 5 seconds; the next start goes on where this run stopped."
            if self._at_work
            else "Nothing is running here that would stop."
        )
        with Vertical(classes="dialog") as box:
            box.border_title = Content("Quit?")
            yield Static(what, classes="dialog-text", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Button("Quit", id="quit", compact=True, variant="primary")
                yield Button("Stay", id="stay", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Gives the answer."""
        event.stop()
        self.dismiss(event.button.id == "quit")

    def action_answer(self, quit_now: bool) -> None:
        """Gives the answer."""
        self.dismiss(quit_now)


class QuitScreen(Dialog):
    """The countdown. `q` again, or ctrl+c, forces."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,ctrl+q", "force", "Force", show=False)]

    def compose(self) -> ComposeResult:
        """A line that counts down, and what a second key does."""
        with Vertical(classes="dialog") as box:
            box.border_title = Content("Finishing")
            yield Static("", id="countdown", markup=False)
            yield Static("q again: cancel them now", classes="dialog-note", markup=False)

    def tell(self, in_flight: int, remaining_ms: int, whole_ms: int, *, forced: bool) -> None:
        """Shows how much is left."""
        if forced:
            words = f"Cancelling {plural(in_flight, 'request')}…" if in_flight else "Writing the last results…"
        elif in_flight:
            words = f"Finishing {plural(in_flight, 'request')}… {seconds(remaining_ms)}"
        else:
            words = "Writing the last results…"
        gauge = bar(remaining_ms / whole_ms, _BAR, track="░") if whole_ms else ""
        self.query_one("#countdown", Static).update(Content(f"{words}\n{gauge}"))

    def action_force(self) -> None:
        """Cancels what is in flight."""
        self.console.way_out.force()
