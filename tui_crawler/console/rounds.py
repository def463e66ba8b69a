"""Rounds of the console: when it reads, one reading at a time, and how fast, by what taking in and painting cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.console.pace import STALE_MS, Pace
from tui_crawler.console.poller import Answer, Poller, ReadFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.ports import Reports
    from tui_crawler.console.screens.base import ConsoleScreen


class Rounds:
    """Asks for readings and times them."""

    def __init__(self, app: CrawlerApp, factory: Callable[[], Reports], deliver: Callable[[Answer], object]) -> None:
        """`factory` is called once, in the reading thread; so is `deliver`, with every answer."""
        self._app = app
        self.poller = Poller(factory, app.clock, deliver)
        self.pace = Pace()
        self.failure = ""
        self.locked_since = 0
        """Since when (epoch ms) another program's lock keeps this from reading; 0 while none does."""
        self.damaged = False
        """Whether the database was found to be no whole one any more."""
        self.stale = False
        self._asked = False
        self._ask_at = 0
        self._began = self._ended = 0
        self._waited = self._spent = 0
        self._new_screen = True

    @property
    def under_way(self) -> bool:
        """Whether a reading is under way or was not yet taken in."""
        return self.poller.busy or self._asked

    def ask_if_due(self, screen: ConsoleScreen, now: int) -> None:
        """Asks for what a screen wants, when it is time (`now`: monotonic ms)."""
        if now >= self._ask_at:
            self.ask(screen)

    def ask(self, screen: ConsoleScreen | None, *, at_once: bool = False) -> bool:
        """Asks for what a screen wants, `at_once` whatever was read a moment ago; False when that cannot be."""
        if screen is not None and not self._asked:
            wants = screen.wants()
            self._asked = self.poller.ask(replace(wants, at_once=True) if at_once else wants)
            self._ask_at = self._ask_at or self._asked  # what is wanted from now on is for the next one
        return self._asked

    def soon(self) -> None:
        """With the next beat, not later."""
        self._ask_at = 0

    def for_new_screen(self) -> None:
        """Another screen is on top: it is read for at once; what its first picture costs says nothing of the pace."""
        self._ask_at = 0
        self._new_screen = True

    def begin(self, answer: Answer) -> None:
        """An answer is about to be taken in."""
        self._asked = False
        self._began = self._app.clock.busy_ms()
        if not isinstance(answer, ReadFailed):
            self.failure, self.locked_since, self.damaged = "", 0, False
            return
        self.damaged = answer.damaged
        self.pace = self.pace.locked() if answer.locked else self.pace.failed()
        if answer.locked:  # the header says so, as long as it lasts
            self.failure, self.locked_since = answer.message, self.locked_since or self._app.clock.wall_ms()
            return
        self.locked_since = 0
        if answer.message != self.failure:
            self.failure = answer.message
            self._app.tell("database", f"The database cannot be read: {answer.message}", "error")

    def end(self, read_ms: int, *, painted: bool) -> None:
        """It was taken in; `read_ms` is how long the reading took. Not `painted`: nothing changed on the screen."""
        self._ended = self._app.clock.mono_ms()
        if self._ask_at or self.failure:  # nothing is wanted sooner, or it cannot be had
            self._ask_at = self._ended + self.pace.wait_ms
        if self.failure:
            return
        if painted:
            first, self._new_screen = self._new_screen, False
            self._app.call_after_refresh(self._over, self._began, read_ms, counts=not first)
        else:
            self._over(self._began, read_ms)

    def look_at_age(self, age_ms: int) -> int:
        """How old the picture is (ms) if that is too old, else 0."""
        self.stale = age_ms >= STALE_MS and (self._asked or bool(self.failure))
        return age_ms if self.stale else 0

    def _over(self, began: int, read_ms: int, *, counts: bool = True) -> None:
        """Everything is painted: what it cost the loop, and how long the terminal made the writer wait, is the pace."""
        spent = self._app.clock.busy_ms() - began + self._waited_for_terminal()
        before, self._spent = self._spent, spent if counts else 0
        self.pace = self.pace.after(min(before, self._spent), read_ms)  # one slow round among quick ones is a hiccup
        if self._ask_at:  # nothing is wanted sooner
            self._ask_at = self._ended + self.pace.wait_ms

    def _waited_for_terminal(self) -> int:
        outlet, before = self._app.outlet, self._waited
        self._waited = outlet.waited_ms if outlet is not None else 0
        return self._waited - before
