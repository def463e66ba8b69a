"""The welcome as an app of its own: it runs before there is a database, and gives the first step that was chosen."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from tui_crawler.console.appearance import dress
from tui_crawler.console.failure_words import failure_words
from tui_crawler.console.first_step import FirstStep, Found, FoundFile, FromDemo, FromSeeds, Left, Threshold
from tui_crawler.console.screens.begin import FileScreen, FirstSeedsScreen, SeedsDraft
from tui_crawler.console.screens.lifetime import stands
from tui_crawler.console.screens.welcome import WelcomeScreen
from tui_crawler.console.terminal import catch_signals
from tui_crawler.console.terminal_app import TerminalApp
from tui_crawler.console.theme import DARK, LIGHT
from tui_crawler.console.way_out import HANGUP_STATUS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOOK_S = 0.5
_CRASHED = 3  # the exit status of what could not run


class WelcomeApp(TerminalApp[FirstStep | Left]):
    """The welcome. `run_to_end` runs it."""

    TITLE = "tui-crawler"
    CSS_PATH: ClassVar[list[str | PurePath]] = [
        Path(__file__).with_name(f"{part}.tcss") for part in ("console", "views")
    ]
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "step_back", "Back", show=False, priority=True),
        Binding("ctrl+q", "leave", "Quit", show=False, priority=True),
    ]

    def __init__(self, threshold: Threshold) -> None:
        """Makes it; the folder is looked into when the first picture stands."""
        super().__init__()
        dress(self, DARK.name)
        self.threshold = threshold
        self.found: Found | None = None
        self._draft = SeedsDraft()
        self._restore_signals: Callable[[], None] = lambda: None

    def run_to_end(self) -> FirstStep | Left:
        """Runs it until something was chosen (blocking)."""
        answer = self.run()
        return Left(_CRASHED) if answer is None else answer

    def get_default_screen(self) -> Screen[None]:
        """The ways to begin."""
        return WelcomeScreen(self.threshold.folder)

    def on_mount(self) -> None:
        """Looks into the folder after the first paint."""
        if not self.is_headless:
            self._restore_signals = catch_signals(self._caught)
            self.set_interval(_LOOK_S, self._look_at_terminal)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.run_worker(self._look(), name="look", exit_on_error=False)

    async def _look(self) -> None:
        try:
            self.found = await asyncio.to_thread(self.threshold.look)
        except Exception as error:  # noqa: BLE001, RUF100  whatever lies in a folder must not end the console
            self.found = Found(configurations=(FoundFile(".", failure_words(error), usable=False),))
        for screen in self.screen_stack:
            if isinstance(screen, WelcomeScreen) and stands(screen):
                screen.show_found(self.found)

    # the ways

    def ask_seeds(self) -> None:
        """Asks for seeds, beginning with what was typed before."""

        def answered(answer: object) -> None:
            if isinstance(answer, SeedsDraft):
                self._draft = answer
            elif isinstance(answer, FromSeeds):
                self.exit(answer)

        self.push_screen(FirstSeedsScreen(self.threshold, self._draft), answered)

    def ask_file(self, heading: str, verb: str, files: Sequence[FoundFile], make: Callable[[str], FirstStep]) -> None:
        """Asks for a file."""

        def answered(answer: object) -> None:
            if answer is not None:
                self.exit(answer)  # type: ignore[arg-type]  # the dialog gives a step or None

        self.push_screen(FileScreen(heading, verb, files, make, self.threshold), answered)

    def begin_demo(self) -> None:
        """Begins with the demo."""
        self.exit(FromDemo())

    def leave(self, exit_status: int = 0) -> None:
        """Leaves without having begun."""
        self.terminal_leaving()
        self.exit(Left(exit_status))

    # keys and signals

    def action_leave(self) -> None:
        """Leaves."""
        self.leave()

    def action_step_back(self) -> None:
        """Closes a dialog, with what was typed kept; leaves where there is none."""
        top = self.screen
        if isinstance(top, FirstSeedsScreen | FileScreen):
            top.action_cancel()
        else:
            self.leave()

    def action_next_theme(self) -> None:
        """The other one of our themes."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def _caught(self, status: int) -> None:
        """Takes a signal: runs in the main thread, at any point of what it does."""
        self.terminal_leaving()
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.leave, status)

    def _look_at_terminal(self) -> None:
        if self.terminal_lost:
            self.leave(HANGUP_STATUS)

    def on_unmount(self) -> None:
        """Gives the signals back."""
        self._restore_signals()
