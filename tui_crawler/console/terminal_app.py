"""What every app of the console does on a terminal: it waits for a slow one, and writes nothing that it could obey."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import App, ReturnType

from tui_crawler.console.appearance import without_colour
from tui_crawler.console.crash_report import in_plain_characters
from tui_crawler.console.terminal import Outlet, PatientDriver, patient_driver
from tui_crawler.console.theme import role_variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.filter import LineFilter


class TerminalApp(App[ReturnType]):
    """An app on a terminal that may be slow, without colours, or gone."""

    def __init__(self) -> None:
        """Nothing is written before it runs."""
        super().__init__(driver_class=patient_driver())

    @property
    def back_keys(self) -> tuple[str, ...]:
        """The keys that go back, by Textual's names."""
        return ("escape",)

    @property
    def is_leaving(self) -> bool:
        """Whether it was left: screens that are open lose their widgets, one opened now gets none."""
        return self._exit or not self.is_running

    async def on_event(self, event: events.Event) -> None:
        """What is typed or clicked once it was left is nobody's."""
        if not (self.is_leaving and isinstance(event, events.InputEvent)):
            await super().on_event(event)

    @property
    def outlet(self) -> Outlet | None:
        """What is written to the terminal through; None where there is none."""
        return self._driver.outlet if isinstance(self._driver, PatientDriver) else None

    @property
    def terminal_lost(self) -> bool:
        """Whether the terminal takes nothing any more."""
        return isinstance(self._driver, PatientDriver) and self._driver.terminal_gone()

    def terminal_leaving(self, leaving: bool = True) -> None:
        """From now on the terminal is waited for only a moment; or again as long as it takes."""
        if self.outlet is not None:
            self.outlet.leaving = leaving

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colour roles, for themes that have none."""
        return role_variables(self.current_theme.dark)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """No colour at all under NO_COLOR, where Textual would send greys."""
        return without_colour(super().get_line_filters())

    def _print_error_renderables(self) -> None:
        """Textual prints what ended the app after the screen is gone; what was crawled may stand in it."""
        self._exit_renderables = in_plain_characters(self.error_console, self._exit_renderables)
        super()._print_error_renderables()
