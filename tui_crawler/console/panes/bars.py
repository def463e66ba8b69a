"""The lines that every screen has: header, footer, and the message when there is no room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip

from tui_crawler.console.panes.footer import footer_line
from tui_crawler.console.panes.header import HeaderState, header_line
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import Lines
from tui_crawler.text.cells import Styled

if TYPE_CHECKING:
    from tui_crawler.console.panes.diagnosis import Offer
    from tui_crawler.domain.history.diagnosis import Diagnosis


class Bar(Lines, can_focus=False):
    """Lines that depend on the size. The first frame, which is painted before the first resize event, shows them."""

    class Opened(Lines.Opened):
        """A door of a bar was clicked: an action, or a place above this one."""

    MAKE: Callable[..., Line] = staticmethod(lambda *_: "")
    """What makes the line of a bar that has one, of what is kept and the width."""
    kept: tuple[Any, ...] = ()

    def keep(self, *kept: Any) -> None:
        """Show this; nothing is laid out when it is the same."""
        if kept != self.kept:
            self.kept = kept
            self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        """What is shown at this size."""
        return (self.MAKE(*self.kept, size.width),) if self.kept else ()

    def on_resize(self, _event: events.Resize) -> None:
        self.lay_out()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paints; the first time, what fits is chosen only now."""
        if not self.lines:
            self.replace_lines(self.lines_for(self.size))
        return super().render_lines(crop)

    def lay_out(self) -> None:
        """Shows what fits now."""
        if self.size.width:
            self.show(self.lines_for(self.size))


class HeaderBar(Bar, can_focus=False):
    """The first line of the screen."""

    MAKE = staticmethod(header_line)

    def tell(self, state: HeaderState) -> None:
        """Shows this state."""
        self.keep(state)


class FooterBar(Bar, can_focus=False):
    """The last line of the screen: where one is, and the keys that matter here. A click does what the key does, or goes
    back to a place above."""

    MAKE = staticmethod(footer_line)

    def tell(self, crumbs: Sequence[str], keys: Sequence[tuple[str, str, str]]) -> None:
        """Show `crumbs` (raw text) and `keys`: action id, key and label."""
        self.keep(tuple(crumbs), tuple(keys))


class DiagnosisBar(Bar, can_focus=False):
    """The line under the tabs, shown while something needs a person. A click on its words shows what that is."""

    def tell(self, diagnosis: Diagnosis | None, offers: Sequence[Offer]) -> None:
        """Show a diagnosis (None: hide the line) and the actions that help."""
        if diagnosis is not None:
            from tui_crawler.console.panes.diagnosis import diagnosis_line  # noqa: PLC0415  not before there is one

            self.MAKE = diagnosis_line
            self.keep(diagnosis, tuple(offers))
        self.display = diagnosis is not None


class TooSmall(Lines, can_focus=False):
    """What stands on a terminal that is too small."""

    def __init__(self) -> None:
        super().__init__(id="too-small")
        self.show([Styled("too small: 40×10 needed", "warning")])
