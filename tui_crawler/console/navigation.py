"""Going from screen to screen: by actions, by what a screen asks for, and along the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui_crawler.console.action import VIEWS, Situation, Where
from tui_crawler.console.handlers import Handles, handles, handles_each
from tui_crawler.console.routes import ROUTES, Supply
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.screen.places import ScreenHistory, ScreenPlace
from tui_crawler.domain.record import dataclass, field

if TYPE_CHECKING:
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.screen.stack import Screens

MANY_SCREENS = 20
_BY_NAME = frozenset({Where.origin, Where.tree, Where.url, Where.why, Where.robots, Where.timeline})
"""Screens that hold nothing but what they are named by: the history makes them again."""


@dataclass()
class Navigation(Handles):
    """The history of one console, and the ways from screen to screen. `_do` does an action with what was typed for it;
    `_replay_goes_to` goes to a time where this is a replay."""

    _screens: Screens
    _live_state: LiveState
    _supplies: Mapping[Supply, object | None]
    _do: Callable[[str, str], None]
    _replay_goes_to: Callable[[str], bool]
    _views: dict[Where, ConsoleScreen] = field(default_factory=dict)
    trail: ScreenHistory = ScreenHistory()

    def came_up(self, screen: ConsoleScreen) -> None:
        """Notes where one is now; screens that only come up while others are closed do not count."""
        if self._screens.console_screen is screen:
            self.trail = self.trail.went(screen.place)

    def view_of(self, screen: ConsoleScreen) -> Where:
        """Return the numbered view that a screen is, or lies over."""
        below = [one.WHERE for one in self._screens.screen_stack if isinstance(one, ConsoleScreen)]
        places = (screen.WHERE, *reversed(below))
        return next((where for where in places if where.view is not None), Where.overview)

    def screen_at(self, place: ScreenPlace) -> ConsoleScreen | None:
        """The screen of a place: of a numbered view always the same, which keeps its widgets while it is hidden (and
        neither reads nor paints then); else a new one. None: what it needs is not there."""
        route, where = ROUTES[place.where], place.where
        is_view = where.view is not None and not place.values
        if is_view and where in self._views:
            return self._views[where]
        needed = () if route.needs is None else (self._supplies[route.needs],)
        if None in needed:
            return None
        screen = route.load()(*needed, *place.values)
        screen.place = place
        if is_view:
            self._views[where] = screen
            self._screens.install_screen(screen, where.name)
        return screen

    def go_to(self, where: Where, *values: object) -> None:
        """Show a screen: a numbered view in place of another one, else over the one on top, as what is limited by
        `values` is. Nothing happens where it is named by an empty text, or needs what is not there."""
        match where, *values:
            case (Where.url | Where.why, "", *_):
                return
            case (Where.why, str(url)):
                self._show_over(where, self._whole(url))
            case (Where.logs, str(time)):
                self._show_over(where)
                self._seek_time(time)
            case (Where.rule_draft, about):
                self._draft_rule(about)
            case _ if where.view is not None and not values:
                self._go_to_view(where)
            case _:
                self._show_over(where, *values)

    def _show_over(self, where: Where, *values: object) -> None:
        """Shows a screen over the one on top; in its place where many lie over each other and nothing is lost by it."""
        screens, below = self._screens, self._screens.console_screen
        if below is not None and below.WHERE is where and below.again(*values):
            return
        place = ScreenPlace(where, values)
        if ROUTES[where].crumbs and below is not None:
            came_from = below.place.came_from if below.WHERE is where is Where.why else below.crumbs()
            place = ScreenPlace(where, values, came_from)
        screen = self.screen_at(place)
        if screen is None:
            return
        top = below.place if below is screens.screen and below is not None else None
        named = top is not None and (top.where in _BY_NAME or (top.where.view is not None and bool(top.values)))
        in_place = len(screens.screen_stack) >= MANY_SCREENS and named
        if in_place or (where is Where.why and below is not None and below.WHERE is where):
            screens.switch_screen(screen)
        else:
            screens.push_screen(screen)

    def _whole(self, url: str) -> str:
        from tui_crawler.console.urls.cells import whole_url  # noqa: PLC0415  not before it is needed

        return whole_url(url, self._live_state.origins)

    def _seek_time(self, time: str) -> None:
        from tui_crawler.console.logs.screen import LogsScreen  # noqa: PLC0415  not before it is needed

        if isinstance(screen := self._screens.console_screen, LogsScreen):
            screen.call_later(screen.go_to_time, time)

    def _draft_rule(self, about: object) -> None:
        """Draft a rule for a pattern, or a policy."""
        from tui_crawler.console.rules.draft import start_with_policy, start_with_rule  # noqa: PLC0415  not before it is needed
        from tui_crawler.domain.rules.policy import QueryPolicy  # noqa: PLC0415  the same

        if (screen := self._screens.console_screen) is not None:
            screen.marks.used()
        start = start_with_policy(about) if isinstance(about, QueryPolicy) else start_with_rule(str(about))
        self._show_over(Where.rule_draft, "", start)

    @handles_each({where.goes_there: where for where in VIEWS})
    def _open_view(self, now: Situation, where: Where) -> None:
        """Goes to a numbered view; failures are limited to those that are meant where one is."""
        self.go_to(where, *((now.failures,) if now.failures and where is Where.failures else ()))

    def _go_to_view(self, where: Where) -> None:
        """Goes to a numbered view, which lies right over the overview, in place of what lies there."""
        screens, over = self._screens, where is not Where.overview
        while len(screens.screen_stack) > 1:
            if over and isinstance(top := screens.screen, ROUTES[where].load()) and not top.place.values:
                top.again()
                return
            if over and len(screens.screen_stack) == 2 and isinstance(screens.screen, ConsoleScreen):
                break
            screens.pop_screen()
        if over and (screen := self.screen_at(ScreenPlace(where))) is not None:
            (screens.push_screen if len(screens.screen_stack) == 1 else screens.switch_screen)(screen)

    @handles("nav.earlier", -1)
    @handles("nav.later", 1)
    def go_along(self, steps: int) -> None:
        """Goes so many places on (back if negative)."""
        if (moved := self.trail.moved(steps)) is None:
            self._screens.tell("no", "the history ends here", "muted")
        else:
            self.trail = moved
            self._return_to(moved.place)

    @handles("nav.last")
    def go_to_last(self) -> None:
        """Goes to the place before this one."""
        if self.trail.last is None:
            self._screens.tell("no", "there is no last place yet", "muted")
        self._return_to(self.trail.last)

    def _return_to(self, place: ScreenPlace | None) -> None:
        if place is None:
            return
        while len(self._screens.screen_stack) > 1:
            self._screens.pop_screen()
        if place.where is not Where.overview and (screen := self.screen_at(place)) is not None:
            self._screens.push_screen(screen)

    @handles("origin.open", Where.origin)
    @handles("origin.tree", Where.tree)
    def _go_to_origin(self, now: Situation, where: Where) -> None:
        self.go_to(where, now.origins[0].origin)

    @handles("sql.open")
    def _go_to_sql(self, question: str) -> None:
        self.go_to(Where.sql, question)

    @handles("robots.view")
    def _go_to_robots(self, now: Situation) -> None:
        url = next(iter(now.urls), "")
        if origin := now.origins[0].origin if now.origins else "/".join(url.split("/", 3)[:3]):
            self.go_to(Where.robots, origin, url)
        else:
            self._screens.tell("no", "robots.txt: no origin is selected", "muted")

    @handles("url.inspect_why")
    def _inspect(self, url: str) -> None:
        """Asks for a URL, beginning with the one under the cursor, unless one was typed already."""
        from tui_crawler.console.table.row_actions import url_under_cursor  # noqa: PLC0415  not before the first paint
        from tui_crawler.console.url.why import AskUrlScreen  # noqa: PLC0415  not before it is needed

        screen = self._screens.console_screen
        if url:
            self.go_to(Where.why, url)
        elif screen is not None:
            here = url_under_cursor(screen, screen.table_filter.table)
            self._screens.push_screen(AskUrlScreen(here), lambda typed: self.go_to(Where.why, typed or ""))

    @handles("url.open")
    def _open_url(self, url: str) -> None:
        screen = self._screens.console_screen
        here = next(iter(screen.situation().urls), "") if screen is not None else ""
        self.go_to(Where.url, self._whole(url) or here)

    @handles("worker.open")
    def _open_worker(self, name: str) -> None:
        from tui_crawler.console.workers.screen import WorkersScreen  # noqa: PLC0415  not before it is needed

        self._go_to_view(Where.workers)
        if name and isinstance(screen := self._screens.console_screen, WorkersScreen):
            screen.call_later(screen.seek, name)

    @handles("failures.exit")
    def _go_to_failures(self, code: str) -> None:
        self._go_to_view(Where.failures)
        if code:
            self._do("filter.open", f"exit:{code}")

    @handles("log.goto")
    def _go_to_time(self, time: str) -> None:
        if not self._replay_goes_to(time):
            self._go_to_view(Where.logs)
            self._seek_time(time)
