"""What every app of the console does on a terminal: it waits for a slow one, and writes nothing that it could obey."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from rich.segment import Segment, Segments
from textual import events, on
from textual._styles_cache import StylesCache
from textual.app import App, ReturnType
from textual.driver import Driver
from textual.filter import ANSIToTruecolor, Monochrome

from tui_crawler.console.terminal import PatientDriver, TerminalFile, patient_driver
from tui_crawler.console.theme import Colours, filters_for, fitted, role_variables
from tui_crawler.text.charts import dots_of
from tui_crawler.text.safe_text import safe
from tui_crawler.text.terminal_charset import has_utf8

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from textual.filter import LineFilter
    from textual.theme import Theme

    from tui_crawler.text.terminal_signals import TerminalSignals


_LONGEST = 8_192  # characters of one piece
MOST_LEFT = 16  # screens, of about 1 MB each
MOST_YOUNG, MOST_TIMES = 4_000, 10  # objects of the youngest generation; collections of the younger one


def release_left_widgets(kind: type = StylesCache) -> None:
    """Let Textual forget the painted lines of widgets that are gone (docs/decisions/0024).

    It caches by the painter of a widget what depends on two colours alone. A version that does not is left unchanged.
    """
    found = vars(kind).get("get_inner_outer")
    if isinstance(found, type(lru_cache(len))):
        of_colours = lru_cache(1_024)(partial(found.__wrapped__, kind))
        kind.get_inner_outer = staticmethod(of_colours)  # type: ignore[attr-defined]  # it is one of StylesCache


release_left_widgets()


def in_plain_characters(console: Console, reports: Iterable[RenderableType]) -> list[RenderableType]:
    """The reports as `console` would print them, without anything a terminal could obey.

    The message of an error, and the lines of code and values around it, may hold any text that was crawled.
    """
    return [
        Segments(
            Segment("\n".join(safe(line, _LONGEST) for line in piece.text.split("\n")), piece.style)
            for piece in console.render(report)
            if not piece.is_control
        )
        for report in reports
    ]


class TerminalApp(App[ReturnType]):
    """An app on a terminal that may be slow, without colours, or gone."""

    colours = Colours.all

    def __init__(self) -> None:
        """Nothing is written before it runs. What the terminal shows is said by COLORTERM, TERM, NO_COLOR and the
        locale."""
        self._themes: dict[tuple[str, Colours], Theme] = {}
        super().__init__(driver_class=patient_driver())
        self._disable_tooltips = self._disable_notifications = True  # two widgets of each screen, never shown
        without = self.no_color or os.environ.get("TERM", "").startswith("vt")
        self.colours = Colours(None if without else self.console.color_system)
        self.no_color = self.colours is Colours.none
        self.ascii_only = not has_utf8(os.environ)
        self.dots = dots_of(os.environ, not self.ascii_only)
        self.shown_by = tuple(filters_for(self.colours, self.ascii_only))
        self.signals: TerminalSignals | None = None
        self.left_screens = 0
        """How many screens were closed since their widgets were collected."""
        self.back_keys: tuple[str, ...] = ("escape",)
        """The keys that go back, by Textual's names."""

    @property
    def is_leaving(self) -> bool:
        """Whether it was left: screens that are open lose their widgets, one opened now gets none."""
        return self._exit or not self.is_running

    async def on_event(self, event: events.Event) -> None:
        """What is typed or clicked once it was left is nobody's."""
        if not (self.is_leaving and isinstance(event, events.InputEvent)):
            await super().on_event(event)

    @on(Driver.SignalResume)
    def paint_anew(self) -> None:
        """Back in the foreground of the shell: the terminal has nothing of what was painted."""
        for screen in self.screen_stack:
            screen.refresh(layout=True)

    @property
    def outlet(self) -> TerminalFile | None:
        """What is written to the terminal through; None where there is none."""
        return self._driver.outlet if isinstance(self._driver, PatientDriver) else None

    def signal(self, made: Callable[[TerminalSignals], str]) -> None:
        """Tells the terminal something beside what it shows, if there is anything to tell."""
        if self.outlet is not None and self._driver is not None and self.signals is not None:
            self._driver.write(made(self.signals))

    def terminal_waited_ms(self) -> int:
        """How long the terminal has let its writer wait so far."""
        return 0 if self.outlet is None else self.outlet.waited_ms

    @property
    def terminal_lost(self) -> bool:
        """Whether the terminal takes nothing any more."""
        return isinstance(self._driver, PatientDriver) and self._driver.terminal_gone()

    def terminal_leaving(self, leaving: bool = True) -> None:
        """From now on the terminal is waited for only a moment; or again as long as it takes."""
        if self.outlet is not None:
            self.outlet.leaving = leaving

    def collect_garbage(self, *, pausing: bool, calm: bool) -> None:
        """Collect garbage while the operator is `pausing`, so that no key waits for it (docs/decisions/0024).

        The widgets of closed screens hold each other; those that watch the app are held by it until then. To collect
        them takes tens of milliseconds, so it waits until the operator is `calm`, or until there are many.
        """
        counts = gc.get_count()
        if self.left_screens >= (1 if calm else MOST_LEFT):
            self.left_screens = 0
            for watchers in getattr(self, "__watchers", {}).values():
                watchers[:] = [one for one in watchers if one[0].is_running]
            gc.collect()
        elif pausing and counts[0] >= MOST_YOUNG:
            gc.collect(max((older for older in (1, 2) if calm and counts[older] >= MOST_TIMES), default=0))

    def get_theme(self, theme_name: str) -> Theme | None:
        """The theme, as this terminal can show it."""
        key = theme_name, self.colours
        if key not in self._themes and (theme := super().get_theme(theme_name)) is not None:  # slow; each rule asks
            self._themes[key] = theme if self.colours is Colours.all else fitted(theme, self.colours)
        return self._themes.get(key)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colour roles, for themes that have none."""
        return role_variables(self.current_theme.dark)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Those of Textual, except its greys for NO_COLOR and its own idea of the 16 colours, and those that this
        terminal needs."""
        unwanted = (Monochrome, ANSIToTruecolor) if self.colours is Colours.sixteen else Monochrome
        return [*(one for one in super().get_line_filters() if not isinstance(one, unwanted)), *self.shown_by]

    def _print_error_renderables(self) -> None:
        """Textual prints what ended the app after the screen is gone; what was crawled may stand in it."""
        self._exit_renderables = in_plain_characters(self.error_console, self._exit_renderables)
        super()._print_error_renderables()
