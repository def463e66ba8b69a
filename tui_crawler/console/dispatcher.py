"""Doing actions: by key, by click, from the palette, the help sheet or the prompt."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from textual.widget import Widget

from tui_crawler.console.action import VIEWS, Need, Situation, Where, why_not
from tui_crawler.console.actions import BY_ID
from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.panes.entry import EntryLine, EntryUse
from tui_crawler.console.screen.base import ConsoleScreen
from tui_crawler.console.screen.waiting import WaitingScreen
from tui_crawler.console.session import ConsoleSession
from tui_crawler.domain.record import dataclass, field

if TYPE_CHECKING:
    from tui_crawler.console.appearance import Appearance
    from tui_crawler.console.dialogs.prompt import Prompt
    from tui_crawler.console.navigation import Navigation
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.console.screen.stack import Screens


_TYPED_KEPT = 50
_RENUMBERED = frozenset({Where.pulse.goes_there, Where.jobs.goes_there})
_NUMBERS = """{view.pulse} is Pulse now; Stats became {view.jobs} Jobs \
(exit codes: {view.failures} Failures, {view.pulse} Pulse)"""
_BESIDE = frozenset({"app.screenshot", "theme.next", "app.ask_quit"})
"""Actions that leave a line open in which something is typed."""


@dataclass()
class Dispatcher(Handles):
    """Does actions of the table, each on the topmost screen that shows rows. `_others` do actions wherever one is;
    `_late` are others that are made when they are first needed."""

    _screens: Screens
    _others: tuple[Handles, ...]
    _late: tuple[Callable[[], Handles], ...]
    _situation: Callable[[ConsoleScreen, str], Situation]
    _live_state: LiveState
    _appearance: Appearance
    _navigation: Navigation
    _tells_numbers: bool = True
    _typed: deque[str] = field(default_factory=partial(deque[str], maxlen=_TYPED_KEPT))  # after `:`, the newest last

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
        if not about and isinstance(screen, WaitingScreen) and screen.postpone(action_id, typed):
            return
        self._tell_numbers(action_id, screen)
        now = self._situation(screen, about)
        if action_id == "view.freeze" and not Need.replay.lacking(now):
            action_id = "replay.play"
        if reason := why_not(action, now):
            screens.tell("no", f"{action.label}: {reason}", "muted")
        else:
            others = chain((screen, self, self._navigation, *self._others), (made() for made in self._late))
            any(one.perform(action_id, typed, now) for one in others)
        if screens.console_screen is screen:
            screen.tell_footer()

    def _tell_numbers(self, action_id: str, screen: ConsoleScreen) -> None:
        """Say once that views have other numbers than before, to a person who has been here before."""
        if action_id in _RENUMBERED and self._tells_numbers and screen.console.memory.last != ConsoleSession():
            self._tells_numbers = False
            self._screens.tell("views", self._appearance.key_names.said(_NUMBERS))

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
                self._navigation.go_to(Where.origin, origin)
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
            self._navigation.perform(action_id, "", Situation(Where.overview))

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
        self.do(next((where.goes_there for where in VIEWS if crumbs == (where.value,)), "nav.back"))

    # dialogs are loaded when they are first wanted

    @handles("cmd.prompt")
    def _open_prompt(self, text: str) -> None:
        hint = "an action by its word: pause, add URL, sort todo"
        if (screen := self._screens.console_screen) is not None:
            use = EntryUse("command", self.do_typed, left=lambda: None, passing=True)
            complete = partial(self._prompt().complete, screen=screen)
            screen.query_one(EntryLine).open(use, ":", text, hint, complete, self._typed)

    def _chosen(self, target: object) -> None:
        if isinstance(target, Widget):
            target.screen.set_focus(target)
        elif isinstance(target, str):
            self.do(target)

    @handles("cmd.palette")
    def _open_palette(self, now: Situation) -> None:
        from tui_crawler.console.dialogs.search import ORIGIN, PaletteScreen  # noqa: PLC0415

        def chosen(key: object) -> None:
            if isinstance(key, str) and key.startswith(ORIGIN):
                self._navigation.go_to(Where.origin, key.removeprefix(ORIGIN))
            else:
                self._chosen(key)

        origins = sorted(self._live_state.origins.values(), key=lambda view: view.origin)
        self._screens.push_screen(PaletteScreen(now, self._appearance.key_names, origins), chosen)

    @handles("menu.selected", "o")
    @handles("menu.go", "g")
    @handles("menu.log", "l")
    @handles("menu.table", "t")
    def _open_menu(self, first: str) -> None:
        self._screens.begin_menu(first)

    @handles("focus.jump")
    def _open_jump(self) -> None:
        from tui_crawler.console.dialogs.jump import JumpScreen  # noqa: PLC0415

        if (screen := self._screens.console_screen) is not None:
            self._screens.push_screen(JumpScreen(screen, self._appearance.key_names), self._chosen)

    @handles("help.keys")
    def _open_help(self, now: Situation) -> None:
        from tui_crawler.console.dialogs.help import HelpScreen  # noqa: PLC0415

        self._screens.push_screen(HelpScreen(now, self._appearance.keymap), self._chosen)

    @handles("help.pane")
    def _open_pane_help(self, now: Situation) -> None:
        from tui_crawler.console.dialogs.pane_help import PaneHelpScreen  # noqa: PLC0415

        if (screen := self._screens.console_screen) is not None:
            self._screens.push_screen(PaneHelpScreen(screen, now, self._appearance.key_names))
