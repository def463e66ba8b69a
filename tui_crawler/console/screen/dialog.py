"""A screen over another one, and the classes of a screen by its size."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, cast

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen
from textual.strip import Strip

from tui_crawler.console.screen.lifetime import is_stale
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.theme import Colours

if TYPE_CHECKING:
    from textual.filter import LineFilter

    from tui_crawler.console.terminal_app import TerminalApp

NARROW_BELOW = 81
LOW_BELOW = 24
LEAST = Size(40, 10)


def size_classes(size: Size) -> dict[str, bool]:
    """The classes a screen has at a size: `-narrow`, `-low`, `-tiny`."""
    tiny = size.width < LEAST.width or size.height < LEAST.height
    return {"-tiny": tiny, "-narrow": size.width < NARROW_BELOW, "-low": size.height < LOW_BELOW}


def dialog_box(title: str, hint: str = "", kind: str = "") -> Vertical:
    """Return the box of a dialog for what it shows: its title above, and below it what its keys do."""
    box = Vertical(classes=f"dialog {kind}".strip())
    box.border_title = Content(title)
    if hint:
        box.border_subtitle = Content(hint)
    return box


@lru_cache(1_024)
def _dimmed(style: Style, color: Color, shown_by: tuple[LineFilter, ...]) -> Style:
    pieces = [*BackgroundScreen.process_segments([Segment(" ", style)], color)]
    for one in shown_by:
        pieces = one.apply(pieces, color)
    return pieces[0].style or Style()


class Dialog(ReachesConsole, ModalScreen[object], inherit_bindings=False):
    """A screen over another one. What leaves it with esc does so with a click beside it."""

    LEFT_BY_CLICK: ClassVar[bool] = True
    """False where much may be typed, which a click that went astray must not lose; there is a button then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("tab", "app.focus_next", "Next", show=False),
        Binding("shift+tab", "app.focus_previous", "Previous", show=False),
    ]

    async def on_event(self, event: events.Event) -> None:
        if not is_stale(event, self):
            await super().on_event(event)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of the screen behind it, dimmed: each of their few styles once, not each of many pieces."""
        app, color = cast("TerminalApp[object]", self.app), self.styles.background
        if self not in app.screen_stack[1:]:
            return super().render_lines(crop)
        behind = app.screen_stack[app.screen_stack.index(self) - 1]._compositor.render_strips(self.size)
        dimmed = (
            Strip([Segment(one.text, _dimmed(one.style or Style(), color, app.shown_by)) for one in line])
            for line in behind
        )
        seen = [line.crop(crop.x, crop.right) for line in islice(dimmed, crop.y, crop.bottom)]
        lines = [line.adjust_cell_length(crop.width) for line in seen]  # what is behind may not have this size yet
        return [*lines, *[Strip.blank(crop.width)] * (crop.height - len(lines))]

    def on_compose(self) -> None:
        """Choose the layout before there are widgets, which are then styled once."""
        self.update_classes(size_classes(self.app.size), animate=False)
        app = cast("TerminalApp[object]", self.app)
        if app.colours is Colours.sixteen:  # of which none is what shines through a veil
            self.styles.background = "transparent"

    def on_mount(self) -> None:
        """The keys that go back elsewhere do here what esc does."""
        app = cast("TerminalApp[object]", self.app)
        bound = self._bindings.key_to_bindings
        for key in app.back_keys:
            if key not in bound:
                bound[key] = [replace(one, key=key) for one in bound.get("escape", ())]

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Comes to the top with the styles that it has: a new theme is put on all screens of the stack."""
        event.refresh_styles = False

    def on_resize(self, event: events.Resize) -> None:
        self.update_classes(size_classes(event.size), animate=False)

    async def on_click(self, event: events.Click) -> None:
        """Leaves, if it was beside everything; not with the second click of two: the first one opened it."""
        leaves = self._bindings.key_to_bindings.get("escape")
        if event.widget is self and event.chain % 2 and self.LEFT_BY_CLICK and leaves:
            await self.run_action(leaves[0].action)

    def action_cancel(self) -> None:
        self.dismiss(None)

    def dismiss(self, result: object = None) -> AwaitComplete:
        """Closes it with its answer. Only once: a second click or key that was on its way would close what is below."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
