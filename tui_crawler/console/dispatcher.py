"""Doing actions: by key, by click, from the palette, the help sheet or the prompt; and going from screen to screen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from textual.widget import Widget

from tui_crawler.console.action import VIEWS
from tui_crawler.console.actions import BY_ID, Situation, Where, why_not
from tui_crawler.console.handlers import Handles, handles, handles_selected, handles_typed
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.screen.waiting import WaitingScreen
from tui_crawler.domain.record import dataclass, replace

if TYPE_CHECKING:
    from tui_crawler.console.appearance import Appearance
    from tui_crawler.console.dialogs.prompt import Prompt
    from tui_crawler.console.ports import RuleQueries
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.replay.player import ReplayControls
    from tui_crawler.console.screen.stack import Screens
    from tui_crawler.console.sql.queries import QuerySession


MOST = 100


@dataclass(frozen=True, slots=True)
class ScreenPlace:
    """A screen that can be made again: its class, and what it was made of."""

    kind: Callable[..., ConsoleScreen]
    values: tuple[object, ...] = ()
    options: tuple[tuple[str, object], ...] = ()

    def make(self) -> ConsoleScreen:
        """The screen, made anew."""
        return self.kind(*self.values, **dict(self.options))


@dataclass(frozen=True, slots=True)
class ScreenHistory:
    """Places in the order they were gone to; `here` is the index of the present one (-1: none yet)."""

    places: tuple[ScreenPlace, ...] = ()
    here: int = -1
    last: ScreenPlace | None = None

    @property
    def place(self) -> ScreenPlace | None:
        """The present place."""
        return self.places[self.here] if self.here >= 0 else None

    def went(self, place: ScreenPlace) -> ScreenHistory:
        """The trail after another place; what lay ahead is dropped. Nothing changes at the same place."""
        if place == self.place:
            return self
        places = (*self.places[: self.here + 1], place)[-MOST:]
        return ScreenHistory(places, len(places) - 1, self.place)

    def moved(self, steps: int) -> ScreenHistory | None:
        """The trail with the place so many steps on (back if negative) as the present one; None beyond its ends."""
        here = self.here + steps
        return replace(self, here=here, last=self.place) if 0 <= here < len(self.places) else None


class History(Handles):
    """The trail of one console, and going along it."""

    def __init__(self, screens: Screens) -> None:
        self._screens = screens
        self._views: dict[ScreenPlace, ConsoleScreen] = {}
        self.trail = ScreenHistory()

    def came_up(self, screen: ConsoleScreen) -> None:
        """Notes where one is now; screens that only come up while others are closed do not count."""
        if self._screens.console_screen is screen:
            made_of = ((), ()) if isinstance(screen, OverviewScreen) else screen.made_of
            self.trail = self.trail.went(ScreenPlace(type(screen), *made_of))

    def screen_at(self, place: ScreenPlace) -> ConsoleScreen:
        """The screen of a place: of a numbered view always the same, which keeps its widgets while it is hidden (and
        neither reads nor paints then); else a new one."""
        screen = self._views.get(place) or place.make()
        if screen.WHERE.view is not None and place not in self._views:
            self._views[place] = screen
            self._screens.install_screen(screen, screen.WHERE.name)
        return screen

    @handles("nav.earlier", -1)
    @handles("nav.later", 1)
    def go_along(self, steps: int) -> None:
        """Goes so many places on (back if negative)."""
        moved = self.trail.moved(steps)
        if moved is None:
            self._screens.tell("no", "the history ends here", "muted")
        else:
            self.trail = moved
            self._show(moved.place)

    @handles("nav.last")
    def go_to_last(self) -> None:
        """Goes to the place before this one."""
        if self.trail.last is None:
            self._screens.tell("no", "there is no last place yet", "muted")
        self._show(self.trail.last)

    def _show(self, place: ScreenPlace | None) -> None:
        """Closes what lies over the overview and makes the screen of a place again."""
        if place is None:
            return
        while len(self._screens.screen_stack) > 1:
            self._screens.pop_screen()
        if place.kind is not OverviewScreen:
            self._screens.push_screen(self.screen_at(place))


MANY_SCREENS = 20
_TYPED_KEPT = 50
_DIGITS = 10  # of the number of a run
_MOST_LANES = 50
_BY_NAME = frozenset({Where.origin, Where.tree, Where.url, Where.why, Where.robots, Where.timeline})
"""Screens that hold nothing but what they are named by: the history makes them again."""
_BESIDE = frozenset({"app.screenshot", "theme.next", "app.ask_quit"})
"""Actions that leave a line open in which something is typed."""


GoesTo = TypeVar("GoesTo", bound=Callable[[Any, Where], None])


def _handles_views(method: GoesTo) -> GoesTo:
    for where in VIEWS:
        handles(where.goes_there, where)(method)
    return method


class Dispatcher(Handles):
    """Does actions of the table, each on the topmost screen that shows rows."""

    def __init__(
        self,
        screens: Screens,
        others: tuple[Handles, ...],
        late: tuple[Callable[[], Handles], ...],
        situation: Callable[[ConsoleScreen, str], Situation],
        live_state: LiveState,
        appearance: Appearance,
        queries: QuerySession | None,
        rules: RuleQueries | None,
        replay: ReplayControls,
    ) -> None:
        """`others` do actions wherever one is; `late` are others that are made when they are first needed."""
        self._screens, self._late, self._situation = screens, late, situation
        self._live_state, self._appearance, self._queries, self._rules = live_state, appearance, queries, rules
        self.history = History(screens)
        self._others, self._replay = (self.history, *others, replay), replay
        self._typed: deque[str] = deque(maxlen=_TYPED_KEPT)  # what was typed after `:`, the newest last

    def do(self, action_id: str, typed: str = "", about: str = "") -> None:
        """Has who handles an action do it: the screen, or what there is one of; or says why not. `typed` is what stood
        after its word; it is `about` an origin or a worker, whatever is selected, where one is named."""
        screens, action = self._screens, BY_ID.get(action_id)
        screen = screens.console_screen
        if screen is None or action is None:
            return
        if not screen.is_mounted:
            screen.call_later(self.do, action_id, typed, about)  # once it is
            return
        for line in screen.query(EntryLine):
            if line.display and action_id == "nav.back":
                line.leave()
                return
            if line.display and action_id not in _BESIDE:
                line.make_way()
        if (
            not about
            and isinstance(screen, WaitingScreen)
            and screen.lacks(action_id)
            and screen.postpone(action_id, typed)
        ):
            return
        now = self._situation(screen, about)
        if reason := why_not(action, now):
            screens.tell("no", f"{action.label}: {reason}", "muted")
        else:
            others = chain((screen, self, *self._others), (made() for made in self._late))
            any(one.perform(action_id, typed, now) for one in others)
        if screens.console_screen is screen:
            screen.tell_footer()

    def do_typed(self, text: str) -> None:
        """Does what was typed after `:`: the word of an action, and what it is about."""
        from tui_crawler.console.dialogs.prompt import Typed  # noqa: PLC0415  not before the first paint

        screens = self._screens
        screen = screens.console_screen
        if screen is None:
            return
        if text.strip() and text not in list(self._typed)[-1:]:
            self._typed.append(text)
        match self._prompt().read(text, screen):
            case Typed(action=action, about=origin) if origin and action.id == "view.overview":
                self.go_to_origin(origin)
            case Typed(action=action, argument=argument) if argument and action.id == Where.pulse.goes_there:
                self.do(action.id)
                self.do("pulse.of", argument)
            case Typed(action=action, argument=argument, about=about):
                self.do(action.id, argument, about)
            case str() as refusal if refusal:
                screens.tell("no", refusal, "warning")

    def _prompt(self) -> Prompt:
        from tui_crawler.console.dialogs.prompt import Prompt  # noqa: PLC0415  not before the first paint

        return Prompt(self._live_state, self._appearance.key_names)

    def show_view(self, action_id: str) -> None:
        """Goes to a numbered view by the id of its action; nothing when there is none of that name."""
        if action_id in BY_ID:
            self.perform(action_id, "", Situation(Where.overview))

    def go_back_to(self, crumbs: tuple[str, ...]) -> None:
        """Closes what lies over the screen of these crumbs, up to a draft of rules, which asks first. Where there is no
        such screen (the history made the one on top), goes to the view of that name, else back by one."""
        screens = self._screens
        below = [screen for screen in screens.screen_stack[:-1] if isinstance(screen, ConsoleScreen)]
        if any(screen.crumbs() == crumbs for screen in below):
            while isinstance(top := screens.screen, ConsoleScreen) and top.crumbs() != crumbs:
                if top.WHERE is Where.rule_draft:
                    self.do(Where.rules.goes_there)
                    return
                screens.pop_screen()
            return
        views = (where.goes_there for where in VIEWS if crumbs == (where.value,))
        self.do(next(views, "nav.back"))

    def _go_deeper(self, screen: ConsoleScreen) -> None:
        """Shows a screen over the one on top; in its place where many lie over each other and nothing is lost by it."""
        screens = self._screens
        if len(screens.screen_stack) >= MANY_SCREENS and getattr(screens.screen, "WHERE", None) in _BY_NAME:
            screens.switch_screen(screen)
        else:
            screens.push_screen(screen)

    def go_to_sql(self, question: str) -> None:
        """Goes where SQL is typed; `question` is asked at once."""
        from tui_crawler.console.sql.screen import SqlScreen  # noqa: PLC0415  not before it is needed

        if self._queries is not None:
            self._go_deeper(SqlScreen(self._queries, question))

    def go_to_diff(self, runs: tuple[int, ...]) -> None:
        """Compares two runs; one with the newest, or the last two."""
        from tui_crawler.console.diff.screen import DiffScreen  # noqa: PLC0415  not before it is needed

        self._go_deeper(DiffScreen(runs))

    def compare_typed(self, text: str) -> None:
        """Compares the runs whose numbers were typed, or the last two."""
        words = text.split()
        if all(word.isascii() and word.isdigit() and len(word) < _DIGITS for word in words) and len(words) <= 2:
            self.go_to_diff(tuple(map(int, words[:2])))
        else:
            self._screens.tell("no", "diff: the numbers of one or two runs are wanted", "warning")

    def go_to_origin(self, origin: str) -> None:
        """Shows an origin."""
        from tui_crawler.console.origin.screen import OriginScreen  # noqa: PLC0415  not before the first paint

        self._go_deeper(OriginScreen(origin))

    def go_to_timeline(self, origins: tuple[str, ...]) -> None:
        """Shows the politeness of origins over time."""
        from tui_crawler.console.timeline.screen import TimelineScreen  # noqa: PLC0415  not before it is needed

        screen = self._screens.console_screen
        if origins and screen is not None:
            self._go_deeper(TimelineScreen(origins[:_MOST_LANES], screen.crumbs()))

    def go_to_logs(self, time: str) -> None:
        """Shows the log at a time, over the screen on top."""
        from tui_crawler.console.logs.screen import LogsScreen  # noqa: PLC0415  not before the first paint

        screen = LogsScreen()
        self._go_deeper(screen)
        screen.call_later(screen.go_to_time, time)

    def go_to_url(self, url: str, tab: str = "why") -> None:
        """Shows a URL, first this tab of it; nothing when it is empty."""
        from tui_crawler.console.url.screen import UrlScreen  # noqa: PLC0415  not before the first paint

        screen = self._screens.console_screen
        if url and screen is not None:
            self._go_deeper(UrlScreen(url, screen.crumbs(), tab))

    def go_to_why(self, url: object) -> None:
        """Shows why a URL is (not) crawled, be it known or not; nothing when it is none or empty."""
        from tui_crawler.console.url.why import WhyScreen  # noqa: PLC0415  the same
        from tui_crawler.console.urls.cells import whole_url  # noqa: PLC0415  not before it is needed

        screen = self._screens.console_screen
        if isinstance(url, str) and url and screen is not None:
            url = whole_url(url, self._live_state.origins)
            if isinstance(screen, WhyScreen):
                self._screens.switch_screen(WhyScreen(url, screen.came_from))
            else:
                self._go_deeper(WhyScreen(url, screen.crumbs()))

    @handles_selected("robots.view")
    def _go_to_robots(self, now: Situation) -> None:
        from tui_crawler.console.origin.screen import RobotsScreen  # noqa: PLC0415  not before it is needed

        screen, url = self._screens.console_screen, next(iter(now.urls), "")
        origin = now.origins[0].origin if now.origins else "/".join(url.split("/", 3)[:3])
        if origin:
            self._go_deeper(RobotsScreen(origin, url, screen.crumbs() if screen is not None else ()))
        else:
            self._screens.tell("no", "robots.txt: nothing is selected", "muted")

    @handles_typed("url.inspect_why")
    def _inspect(self, url: str) -> None:
        """Asks for a URL, beginning with the one under the cursor, unless one was typed already."""
        from tui_crawler.console.table.row_actions import url_under_cursor  # noqa: PLC0415  not before the first paint
        from tui_crawler.console.url.why import AskUrlScreen  # noqa: PLC0415  not before it is needed

        screen = self._screens.console_screen
        if url:
            self.go_to_why(url)
        elif screen is not None:
            here = url_under_cursor(screen, screen.table_filter.table)
            self._screens.push_screen(AskUrlScreen(here), self.go_to_why)

    @handles_selected("origin.open")
    def _open_origin(self, now: Situation) -> None:
        self.go_to_origin(now.origins[0].origin)

    @handles_typed("worker.open")
    def _open_worker(self, name: str) -> None:
        from tui_crawler.console.workers.screen import WorkersScreen  # noqa: PLC0415  not before it is needed

        self._go_to_view(Where.workers)
        if name and isinstance(screen := self._screens.console_screen, WorkersScreen):
            screen.call_later(screen.seek, name)

    @handles_typed("url.open")
    def _open_url(self, url: str) -> None:
        from tui_crawler.console.urls.cells import whole_url  # noqa: PLC0415  not before it is needed

        screen = self._screens.console_screen
        here = next(iter(screen.situation().urls), "") if screen is not None else ""
        self.go_to_url(whole_url(url, self._live_state.origins) or here)

    @handles_typed("failures.exit")
    def _go_to_failures(self, code: str) -> None:
        self._go_to_view(Where.failures)
        if code:
            self.do("filter.open", f"exit:{code}")

    @handles_typed("log.goto")
    def _go_to_time(self, text: str) -> None:
        """Shows the log at a time; a replay goes there."""
        from tui_crawler.console.logs.screen import LogsScreen  # noqa: PLC0415  not before it is needed

        if self._replay.go_to_time(text):
            return
        self._go_to_view(Where.logs)
        if isinstance(screen := self._screens.console_screen, LogsScreen):
            screen.call_later(screen.go_to_time, text)

    @handles_selected("origin.tree")
    def _go_to_tree(self, now: Situation) -> None:
        from tui_crawler.console.tree.screen import TreeScreen  # noqa: PLC0415  not before it is needed

        self._go_deeper(TreeScreen(now.origins[0].origin))

    def draft_rule(self, pattern: str) -> None:
        """Begins a rule that skips the URLs of a pattern."""
        from tui_crawler.console.rules.draft import start_with_rule  # noqa: PLC0415  not before it is needed
        from tui_crawler.console.rules.editor import RuleEditorScreen  # noqa: PLC0415  the same

        if self._rules is not None:
            screen = self._screens.console_screen
            if screen is not None:
                screen.marks.used()
            self._screens.push_screen(RuleEditorScreen(self._rules, "", start_with_rule(pattern)))

    @_handles_views
    def _go_to_view(self, where: Where) -> None:
        screens = self._screens
        kind: type[ConsoleScreen] | None = None  # the overview lies below them all
        if where.view is not None and where is not Where.overview:
            module, _, name = where.view.screen.rpartition(".")
            kind = getattr(import_module(f"{__package__}.{module}"), name)
        while len(screens.screen_stack) > 1:
            if kind is not None and isinstance(screens.screen, kind):
                return
            if kind is not None and len(screens.screen_stack) == 2 and isinstance(screens.screen, ConsoleScreen):
                screens.switch_screen(self.history.screen_at(ScreenPlace(kind)))
                return
            screens.pop_screen()
        if kind is not None:
            screens.push_screen(self.history.screen_at(ScreenPlace(kind)))

    # dialogs are loaded when they are first wanted

    @handles("cmd.prompt")
    def _open_prompt(self) -> None:
        hint = "an action by its word: pause, add URL, sort todo"
        if (screen := self._screens.console_screen) is not None:
            use = EntryUse("command", self.do_typed, left=lambda: None, passing=True)
            complete = partial(self._prompt().complete, screen=screen)
            screen.query_one(EntryLine).open(use, ":", "", hint, complete, self._typed)

    def _chosen(self, target: object) -> None:
        if isinstance(target, Widget):
            target.screen.set_focus(target)
        elif isinstance(target, str):
            self.do(target)

    @handles_selected("cmd.palette")
    def _open_palette(self, now: Situation) -> None:
        from tui_crawler.console.dialogs.search import ORIGIN, PaletteScreen  # noqa: PLC0415

        def chosen(key: object) -> None:
            if isinstance(key, str) and key.startswith(ORIGIN):
                self.go_to_origin(key.removeprefix(ORIGIN))
            else:
                self._chosen(key)

        screens = self._screens
        origins = sorted(self._live_state.origins.values(), key=lambda view: view.origin)
        screens.push_screen(PaletteScreen(now, self._appearance.own_keys, origins), chosen)

    @handles("focus.jump")
    def _open_jump(self) -> None:
        from tui_crawler.console.dialogs.jump import JumpScreen  # noqa: PLC0415

        screens = self._screens
        if (screen := screens.console_screen) is not None:
            screens.push_screen(JumpScreen(screen, self._appearance.own_keys), self._chosen)

    @handles_selected("help.keys")
    def _open_help(self, now: Situation) -> None:
        from tui_crawler.console.dialogs.help import HelpScreen  # noqa: PLC0415

        self._screens.push_screen(HelpScreen(now, self._appearance.keymap), self._chosen)

    @handles_selected("help.pane")
    def _open_pane_help(self, now: Situation) -> None:
        from tui_crawler.console.dialogs.pane_help import PaneHelpScreen  # noqa: PLC0415

        screens = self._screens
        if (screen := screens.console_screen) is not None:
            screens.push_screen(PaneHelpScreen(screen, now, self._appearance.own_keys))
