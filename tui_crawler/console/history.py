"""Where the operator has been: `[` and `]` go back and on, `-` goes to the last place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.actions import Where
from tui_crawler.console.looks import VIEWS
from tui_crawler.console.screens.overview import OverviewScreen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.screens.base import ConsoleScreen

MOST = 100
KEPT = VIEWS | {Where.rules}
"""Views whose screens stay."""


@dataclass(frozen=True, slots=True)
class Place:
    """A screen that can be made again: its class, and what it was made of."""

    kind: Callable[..., ConsoleScreen]
    values: tuple[object, ...] = ()
    options: tuple[tuple[str, object], ...] = ()

    def make(self) -> ConsoleScreen:
        """The screen, made anew."""
        return self.kind(*self.values, **dict(self.options))


@dataclass(frozen=True, slots=True)
class Trail:
    """Places in the order they were gone to; `here` is the index of the present one (-1: none yet)."""

    places: tuple[Place, ...] = ()
    here: int = -1
    last: Place | None = None

    @property
    def place(self) -> Place | None:
        """The present place."""
        return self.places[self.here] if self.here >= 0 else None

    def went(self, place: Place) -> Trail:
        """The trail after another place; what lay ahead is dropped. Nothing changes at the same place."""
        if place == self.place:
            return self
        places = (*self.places[: self.here + 1], place)[-MOST:]
        return Trail(places, len(places) - 1, self.place)

    def moved(self, steps: int) -> Trail | None:
        """The trail with the place so many steps on (back if negative) as the present one; None beyond its ends."""
        here = self.here + steps
        return replace(self, here=here, last=self.place) if 0 <= here < len(self.places) else None


class History:
    """The trail of one console, and going along it."""

    def __init__(self, app: CrawlerApp) -> None:
        """Nobody was anywhere yet."""
        self._app = app
        self._views: dict[Place, ConsoleScreen] = {}
        self.trail = Trail()

    def came_up(self, screen: ConsoleScreen) -> None:
        """Notes where one is now; screens that only come up while others are closed do not count."""
        if self._app.console_screen is screen:
            made_of = ((), ()) if isinstance(screen, OverviewScreen) else screen.made_of
            self.trail = self.trail.went(Place(type(screen), *made_of))

    def screen_at(self, place: Place) -> ConsoleScreen:
        """The screen of a place: of a numbered view always the same, which keeps its widgets while it is hidden (and
        neither reads nor paints then); else a new one."""
        screen = self._views.get(place) or place.make()
        if screen.WHERE in KEPT and place not in self._views:
            self._views[place] = screen
            self._app.install_screen(screen, screen.WHERE.name)
        return screen

    def do(self, action_id: str) -> bool:
        """Does an action; False when it is none of these."""
        match action_id:
            case "nav.earlier" | "nav.later":
                moved = self.trail.moved(-1 if action_id == "nav.earlier" else 1)
                if moved is None:
                    self._app.tell("no", "the history ends here", "muted")
                else:
                    self.trail = moved
                    self._show(moved.place)
            case "nav.last":
                if self.trail.last is None:
                    self._app.tell("no", "there is no last place yet", "muted")
                self._show(self.trail.last)
            case _:
                return False
        return True

    def _show(self, place: Place | None) -> None:
        """Closes what lies over the overview and makes the screen of a place again."""
        if place is None:
            return
        app = self._app
        while len(app.screen_stack) > 1:
            app.pop_screen()
        if place.kind is not OverviewScreen:
            app.push_screen(self.screen_at(place))
