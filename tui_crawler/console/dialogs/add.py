"""Adds seeds: paste as many as you like, see what becomes of each line before anything is sent."""

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, TextArea

from tui_crawler.console.dialogs.seeds import Seeds, read_seeds, seeds_lines
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.typing_area import PlainArea
from tui_crawler.console.screen.dialog import Dialog, dialog_box
from tui_crawler.text.format import plural


class AddScreen(Dialog):
    """Gives a tuple of normalised URLs, or None."""

    LEFT_BY_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "add", "Add", show=False),
        Binding("tab", "app.focus_next", "Next", show=False, priority=True),  # before the next key is looked at
    ]

    def __init__(self, text: str, known_origins: tuple[str, ...]) -> None:
        """`text` is what stands there at first; `known_origins` tells which origins are new."""
        super().__init__()
        self._text, self._known = text, known_origins
        self.seeds = Seeds()

    def compose(self) -> ComposeResult:
        with dialog_box("Add seeds", "one URL per line · ctrl+s adds · esc leaves", "wide"):
            yield PlainArea(self._text, id="seeds", compact=True, tab_behavior="focus", placeholder="https://…")
            yield Lines(id="seeds-preview")
            yield from self.more()
            with Horizontal(classes="dialog-buttons"):
                yield Button("Add", id="add", compact=True, variant="primary", disabled=True)
                yield Button("Cancel", id="cancel", compact=True)

    def more(self) -> Iterable[Widget]:
        """What else is asked."""
        return ()

    def on_mount(self) -> None:
        self.query_one("#seeds-preview").can_focus = False
        self.query_one(TextArea).focus()
        self._judge()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._judge()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "add":
            self.action_add()
        else:
            self.action_cancel()

    def action_add(self) -> None:
        if self.seeds.urls:
            self.dismiss(self.seeds.urls)

    def _judge(self) -> None:
        self.seeds = read_seeds(self.query_one(TextArea).text, self._known)
        self.query_one("#seeds-preview", Lines).show(seeds_lines(self.seeds))
        button = self.query_one("#add", Button)
        button.disabled = not self.seeds.urls
        button.label = Content(f"Add {plural(len(self.seeds.urls), 'seed')}" if self.seeds.urls else "Add")
        button.refresh(layout=True)
