"""The lines that every screen has: header, footer, and the message when there is no room."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from tui_crawler.console.panes.footer import Zone, footer_line
from tui_crawler.console.panes.header import HeaderState, header_line
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import Lines
from tui_crawler.text.cells import Styled

if TYPE_CHECKING:
    from tui_crawler.console.panes.diagnosis import Offer
    from tui_crawler.domain.history.diagnosis import Diagnosis


class Bar(Lines, can_focus=False):
    """Lines that depend on the size. The first picture is painted before an event tells the size, and shows them. A
    click on one of the `zones` of its line does the action of that zone."""

    @dataclass
    class ActionPressed(Message):
        """The zone of an action was clicked."""

        action_id: str

    zones: tuple[Zone, ...] = ()

    @abstractmethod
    def lines_for(self, size: Size) -> Sequence[Line]:
        """What is shown at this size."""

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

    def press(self, zone: Zone) -> None:
        """Do what a click on a zone does."""
        self.post_message(self.ActionPressed(zone.action_id))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for zone in self.zones:
            if offset is not None and zone.start <= offset.x < zone.end:
                event.stop()
                self.press(zone)


class HeaderBar(Bar, can_focus=False):
    """The first line of the screen."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._state: HeaderState | None = None

    def tell(self, state: HeaderState) -> None:
        """Shows this state."""
        self._state = state
        self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        return () if self._state is None else (header_line(self._state, size.width),)


class FooterBar(Bar, can_focus=False):
    """The last line of the screen: where one is, and the keys that matter here. A click does what the key does, or goes
    back to a place above."""

    @dataclass
    class CrumbPressed(Message):
        """A place above this one was clicked: that of the first `depth` crumbs."""

        depth: int

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._crumbs: Sequence[str] = ()
        self._keys: Sequence[tuple[str, str, str]] = ()

    def tell(self, crumbs: Sequence[str], keys: Sequence[tuple[str, str, str]]) -> None:
        """Show `crumbs` (raw text) and `keys`: action id, key and label; nothing is laid out when they are the same."""
        before, self._crumbs, self._keys = (self._crumbs, self._keys), tuple(crumbs), tuple(keys)
        if before != (self._crumbs, self._keys):
            self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        """What fits, and where the keys are that can be clicked."""
        line, self.zones = footer_line(self._crumbs, self._keys, size.width)
        return (line,)

    def press(self, zone: Zone) -> None:
        if zone.action_id:
            super().press(zone)
        else:
            self.post_message(self.CrumbPressed(zone.depth))


class DiagnosisBar(Bar, can_focus=False):
    """The line under the tabs, shown while something needs a person. A click on its words shows what that is."""

    def __init__(self) -> None:
        super().__init__(id="diagnosis")
        self.display = False
        self._shown: tuple[Diagnosis | None, Sequence[Offer]] = None, ()

    def tell(self, diagnosis: Diagnosis | None, offers: Sequence[Offer]) -> None:
        """Show a diagnosis (None: hide the line) and the actions that help."""
        if self._shown != (diagnosis, offers):
            self._shown, self.display = (diagnosis, offers), diagnosis is not None
            self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        """What fits, and where it can be clicked."""
        diagnosis, offers = self._shown
        if diagnosis is None:
            return ()
        from tui_crawler.console.panes.diagnosis import diagnosis_line  # noqa: PLC0415  not before there is one

        line, self.zones = diagnosis_line(diagnosis, offers, size.width)
        return (line,)


class TooSmall(Lines, can_focus=False):
    """What stands on a terminal that is too small."""

    def __init__(self) -> None:
        super().__init__(id="too-small")
        self.show([Styled("too small: 40×10 needed", "warning")])
