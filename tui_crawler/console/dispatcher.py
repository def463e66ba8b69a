"""Doing actions: by key, by click, from the palette, the help sheet or the prompt; and going from screen to screen."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.console.actions import BY_ID, Action, Situation, Where, why_not
from tui_crawler.console.frame import Frame
from tui_crawler.console.history import History, Place
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.screens.base import ConsoleScreen
from tui_crawler.console.screens.origin_actions import act_on_origins
from tui_crawler.console.screens.waiting import WaitingScreen

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.completion import Completion

MANY_SCREENS = 20
_TYPED_KEPT = 50
_BY_NAME = frozenset({Where.origin, Where.url, Where.why, Where.robots})
"""Screens that hold nothing but what they are named by: the history makes them again."""
_BESIDE = frozenset({"app.screenshot", "theme.next", "app.ask_quit"})
"""Actions that leave a line open in which something is typed."""


class Dispatcher:
    """Does actions of the table, each on the topmost screen that shows rows."""

    def __init__(self, app: CrawlerApp) -> None:
        """Takes the app."""
        self._app = app
        self.history = History(app)
        self._frame = Frame(app)
        self._typed: deque[str] = deque(maxlen=_TYPED_KEPT)  # what was typed after `:`, the newest last

    def do(self, action_id: str, argument: str = "") -> None:
        """Does an action, or says why not. `argument` is what was typed after its word."""
        app = self._app
        screen = app.console_screen
        action = BY_ID.get(action_id)
        if screen is None or action is None:
            return
        if not screen.is_mounted:
            screen.call_later(self.do, action_id, argument)  # once it is
            return
        for line in screen.query(EntryLine):
            if line.display and action_id == "nav.back":
                line.leave()
                return
            if action_id not in _BESIDE:
                line.make_way()
        if isinstance(screen, WaitingScreen) and screen.postpone(action_id, argument):
            return
        reason = why_not(action, app.situation(screen))
        if reason:
            app.tell("no", f"{action.label}: {reason}", "muted")
        elif not (
            (action_id == "nav.back" and self._step_back(screen))
            or screen.do(action_id, argument)
            or screen.table_filter.do(action_id, argument)
            or self.history.do(action_id)
            or self._frame.do(action_id, screen)
            or self._take_rows(action_id, argument, screen)
            or self._do_crawl(action_id, argument, screen)
            or self._go(action_id, argument)
        ):
            self._do_console(action_id, screen)
        if app.console_screen is screen:
            screen.tell_footer()

    def _step_back(self, screen: ConsoleScreen) -> bool:
        """What `esc` does before it leaves a screen: ends the zoom, a filter, marks. False when there was nothing."""
        if screen.zoom.leave() or screen.table_filter.leave():
            return True
        return not self._app.situation(screen).filtered and screen.leave_marks()

    def do_typed(self, text: str) -> None:
        """Does what was typed after `:`: the word of an action, and what it is about."""
        from tui_crawler.console.prompt import Prompt, Typed, takes_origin  # noqa: PLC0415  not before the first paint

        app = self._app
        screen = app.console_screen
        if screen is None:
            return
        if text.strip() and text not in list(self._typed)[-1:]:
            self._typed.append(text)
        match Prompt(app).read(text, screen):
            case Typed(action=action, argument=argument) if argument and takes_origin(action):
                self._do_about(action, argument, screen)
            case Typed(action=action, argument=argument):
                self.do(action.id, argument)
            case str() as refusal if refusal:
                app.tell("no", refusal, "warning")

    def _complete(self, text: str) -> Completion:
        from tui_crawler.console.prompt import Prompt  # noqa: PLC0415  not before the first paint

        return Prompt(self._app).complete(text)

    def _do_about(self, action: Action, origin: str, screen: ConsoleScreen) -> None:
        """Does an action on an origin that was named, whatever is selected."""
        app = self._app
        (view,) = app.wishes.as_asked((app.picture.origins[origin],))
        reason = why_not(action, replace(app.situation(screen), origins=(view,), failed=view.failed))
        if reason:
            app.tell("no", f"{action.label}: {reason}", "muted")
        elif action.id == "robots.view":
            self._go_to_robots(Situation(screen.WHERE, origins=(view,)))
        elif action.id == "view.overview":
            self.go_to_origin(origin)
        else:
            act_on_origins(app, action.id, (view,))

    def show_view(self, action_id: str) -> None:
        """Goes to a numbered view by the id of its action; nothing when there is none of that name."""
        if action_id in BY_ID:
            self._go_to_view(action_id)

    def go_back_to(self, crumbs: tuple[str, ...]) -> None:
        """Closes what lies over the screen of these crumbs, up to a draft of rules, which asks first. Where there is no
        such screen (the history made the one on top), goes to the view of that name, else back by one."""
        app = self._app
        below = [screen for screen in app.screen_stack[:-1] if isinstance(screen, ConsoleScreen)]
        if any(screen.crumbs() == crumbs for screen in below):
            while isinstance(top := app.screen, ConsoleScreen) and top.crumbs() != crumbs:
                if top.WHERE is Where.rule_draft:
                    self.do("nav.back")
                    return
                app.pop_screen()
            return
        views = [f"view.{where.name}" for where in Where if crumbs == (where.value,)]
        self.do(next((name for name in views if name in BY_ID), "nav.back"))

    def _go_deeper(self, screen: ConsoleScreen) -> None:
        """Shows a screen over the one on top; in its place where many lie over each other and nothing is lost by it."""
        app = self._app
        if len(app.screen_stack) >= MANY_SCREENS and getattr(app.screen, "WHERE", None) in _BY_NAME:
            app.switch_screen(screen)
        else:
            app.push_screen(screen)

    def _go_to_sql(self, question: str) -> None:
        """Goes where SQL is typed; `question` is asked at once."""
        from tui_crawler.console.screens.sql import SqlScreen  # noqa: PLC0415  not before it is needed

        if self._app.queries is not None:
            self._go_deeper(SqlScreen(self._app.queries, question))

    def go_to_origin(self, origin: str) -> None:
        """Shows an origin."""
        from tui_crawler.console.screens.origin import OriginScreen  # noqa: PLC0415  not before the first paint

        self._go_deeper(OriginScreen(origin))

    def go_to_url(self, url: str, tab: str = "why") -> None:
        """Shows a URL, first this tab of it; nothing when it is empty."""
        from tui_crawler.console.screens.url import UrlScreen  # noqa: PLC0415  not before the first paint

        screen = self._app.console_screen
        if url and screen is not None:
            self._go_deeper(UrlScreen(url, screen.crumbs(), tab))

    def go_to_why(self, url: object) -> None:
        """Shows why a URL is (not) crawled, be it known or not; nothing when it is none or empty."""
        from tui_crawler.console.present.urls import whole_url  # noqa: PLC0415  not before it is needed
        from tui_crawler.console.screens.why import WhyScreen  # noqa: PLC0415  the same

        screen = self._app.console_screen
        if isinstance(url, str) and url and screen is not None:
            url = whole_url(url, self._app.picture.origins)
            if isinstance(screen, WhyScreen):
                self._app.switch_screen(WhyScreen(url, screen.came_from))
            else:
                self._go_deeper(WhyScreen(url, screen.crumbs()))

    def _go_to_robots(self, now: Situation) -> None:
        """Shows robots.txt of the selected URL's origin, or of the selected origin."""
        from tui_crawler.console.screens.robots import RobotsScreen  # noqa: PLC0415  not before it is needed

        screen, url = self._app.console_screen, next(iter(now.urls), "")
        origin = now.origins[0].origin if now.origins else "/".join(url.split("/", 3)[:3])
        if origin:
            self._go_deeper(RobotsScreen(origin, url, screen.crumbs() if screen is not None else ()))
        else:
            self._app.tell("no", "robots.txt: nothing is selected", "muted")

    def _inspect(self, url: str, screen: ConsoleScreen) -> None:
        """Asks for a URL, beginning with the one under the cursor, unless one was typed already."""
        from tui_crawler.console.row_desk import url_under_cursor  # noqa: PLC0415  not before the first paint
        from tui_crawler.console.screens.why import AskUrlScreen  # noqa: PLC0415  not before it is needed

        if url:
            self.go_to_why(url)
        else:
            here = url_under_cursor(screen, screen.table_filter.table)
            self._app.push_screen(AskUrlScreen(here), self.go_to_why)

    def draft_rule(self, urls: tuple[str, ...]) -> None:
        """Begins a rule that skips these URLs and those alike."""
        from tui_crawler.console.rule_bench import Start  # noqa: PLC0415  not before it is needed
        from tui_crawler.console.rule_pattern import pattern_of  # noqa: PLC0415  the same
        from tui_crawler.console.screens.rule_editor import RuleEditorScreen  # noqa: PLC0415  the same

        if self._app.rules is not None:
            screen = self._app.console_screen
            if screen is not None:
                screen.marks.used()
            start = Start(typed=f"skip: {pattern_of(urls)}", types=True)
            self._app.push_screen(RuleEditorScreen(self._app.rules, "", start))

    def _take_rows(self, action_id: str, argument: str, screen: ConsoleScreen) -> bool:
        if action_id in {"sort.pick", "sort.reverse", "table.pivot"}:
            from tui_crawler.console.column_desk import ColumnDesk  # noqa: PLC0415  not before the first paint

            return ColumnDesk(self._app).do(action_id, argument, screen)
        if action_id not in {"copy.pick", "view.export"}:
            return False
        from tui_crawler.console.row_desk import RowDesk  # noqa: PLC0415  not before the first paint

        return RowDesk(self._app, self._app.memory.folder).do(action_id, argument, screen)

    def _do_crawl(self, action_id: str, argument: str, screen: ConsoleScreen) -> bool:
        wishes = self._app.wishes
        match action_id:
            case "all.toggle_pause":
                wishes.pause_all()
            case "all.pause" | "all.resume":
                wishes.pause_all(pauses=action_id == "all.pause")
            case "run.end":
                wishes.end_run()
            case "origin.add":
                wishes.add(argument)
            case "url.retry":
                now = self._app.situation(screen)
                wishes.retry(now.urls, screen.marks.used, now.failing, now.barred)
            case "url.inspect_why":
                self._inspect(argument, screen)
            case "robots.view":
                self._go_to_robots(self._app.situation(screen))
            case "rule.from_selection":
                self.draft_rule(self._app.situation(screen).urls)
            case "journal.undo":
                wishes.undo()
            case "journal.redo":
                wishes.redo()
            case _:
                return False
        return True

    def _go(self, action_id: str, argument: str) -> bool:
        app = self._app
        match action_id:
            case _ if self._go_to_view(action_id):
                pass
            case "sql.open":
                self._go_to_sql(argument)
            case "nav.back":
                if len(app.screen_stack) > 1:
                    app.pop_screen()
            case "run.start":
                app.succession.start()
            case "app.quit":
                app.way_out.begin()
            case "app.detach":
                app.way_out.detach()
            case "app.suspend":
                app.way_out.suspend()
            case "app.ask_quit":
                app.way_out.ask()
            case _:
                return False
        return True

    def _go_to_view(self, action_id: str) -> bool:
        """Goes to one of the numbered views; what lies over it is closed. False when it is none."""
        app = self._app
        kind = _view(action_id)
        if kind is None and action_id != "view.overview":
            return False
        while len(app.screen_stack) > 1:
            if kind is not None and isinstance(app.screen, kind):
                return True
            if kind is not None and len(app.screen_stack) == 2 and isinstance(app.screen, ConsoleScreen):
                app.switch_screen(self.history.screen_at(Place(kind)))
                return True
            app.pop_screen()
        if kind is not None:
            app.push_screen(self.history.screen_at(Place(kind)))
        return True

    def _do_console(self, action_id: str, screen: ConsoleScreen) -> None:
        app = self._app
        match action_id:
            case "view.freeze":
                screen.toggle_freeze()
                app.board.show_header(screen, app.clock.mono_ms())
            case "cmd.prompt":
                hint = "an action by its word: pause, add URL, sort todo"
                screen.query_one(EntryLine).open("command", ":", "", hint, self._complete, self._typed)
            case "cmd.palette":
                self._open_palette(screen)

    def _open_palette(self, screen: ConsoleScreen) -> None:
        from tui_crawler.console.screens.palette import ORIGIN, PaletteScreen  # noqa: PLC0415  not before it is needed

        app = self._app

        def chosen(key: object) -> None:
            if isinstance(key, str) and key.startswith(ORIGIN):
                self.go_to_origin(key.removeprefix(ORIGIN))
            elif isinstance(key, str):
                self.do(key)

        origins = sorted(app.picture.origins.values(), key=lambda view: view.origin)
        app.push_screen(PaletteScreen(app.situation(screen), app.own_keys, origins), chosen)


def _view(action_id: str) -> type[ConsoleScreen] | None:
    """The screen of a numbered view beside the overview; each is loaded when it is first wanted."""
    match action_id:
        case "view.failures":
            from tui_crawler.console.screens.failures import FailuresScreen  # noqa: PLC0415

            return FailuresScreen
        case "view.urls":
            from tui_crawler.console.screens.urls import UrlsScreen  # noqa: PLC0415

            return UrlsScreen
        case "view.rules":
            from tui_crawler.console.screens.rules import RulesScreen  # noqa: PLC0415

            return RulesScreen
        case "view.logs":
            from tui_crawler.console.screens.logs import LogsScreen  # noqa: PLC0415

            return LogsScreen
        case "view.stats":
            from tui_crawler.console.screens.stats import StatsScreen  # noqa: PLC0415

            return StatsScreen
        case _:
            return None
