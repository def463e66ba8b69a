"""Doing actions: by key, by click, from the palette, the help sheet or the prompt; and going from screen to screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.console.actions import BY_ID, find_action, why_not
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.screens.base import ConsoleScreen
from tui_crawler.console.theme import DARK, LIGHT

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp

THEME_NAMES = (DARK.name, LIGHT.name, "textual-dark", "textual-light", "nord", "gruvbox", "solarized-light")
"""What `t` goes through; any other theme of Textual can be named in the configuration."""


class Dispatcher:
    """Does actions of the table, each on the topmost screen that shows rows."""

    def __init__(self, app: CrawlerApp) -> None:
        """Takes the app."""
        self._app = app

    def do(self, action_id: str, argument: str = "") -> None:
        """Does an action, or says why not. `argument` is what was typed after its word."""
        app = self._app
        screen = app.console_screen
        action = BY_ID.get(action_id)
        if screen is None or action is None:
            return
        reason = why_not(action, app.situation(screen))
        if reason:
            app.tell("no", f"{action.label}: {reason}", "muted")
        elif not (
            screen.do(action_id, argument) or self._do_crawl(action_id, argument, screen) or self._go(action_id, screen)
        ):
            self._do_console(action_id, screen)
        if app.console_screen is screen:
            screen.tell_footer()

    def do_typed(self, text: str) -> None:
        """Does what was typed after `:`: the word of an action, and what it is about."""
        app = self._app
        screen = app.console_screen
        if screen is None:
            return
        screen.focus_main()
        word, _, argument = text.strip().partition(" ")
        action = find_action(word, screen.WHERE)
        if action is not None:
            self.do(action.id, argument.strip())
        elif word:
            app.tell("no", f"there is no action {word} here; ? lists them", "warning")

    def go_to_origin(self, origin: str) -> None:
        """Shows an origin."""
        from tui_crawler.console.screens.origin import OriginScreen  # noqa: PLC0415  not before the first paint

        self._app.push_screen(OriginScreen(origin))

    def go_to_url(self, url: str) -> None:
        """Shows a URL; nothing when it is empty."""
        from tui_crawler.console.screens.url import UrlScreen  # noqa: PLC0415  not before the first paint

        screen = self._app.console_screen
        if url and screen is not None:
            self._app.push_screen(UrlScreen(url, screen.crumbs()))

    def _do_crawl(self, action_id: str, argument: str, screen: ConsoleScreen) -> bool:
        wishes = self._app.wishes
        match action_id:
            case "all.toggle_pause":
                wishes.pause_all()
            case "origin.add":
                wishes.add(argument)
            case "url.retry":
                wishes.retry(self._app.situation(screen).urls)
            case "journal.undo":
                wishes.undo()
            case "journal.redo":
                wishes.redo()
            case _:
                return False
        return True

    def _go(self, action_id: str, screen: ConsoleScreen) -> bool:
        app = self._app
        match action_id:
            case _ if self._go_to_view(action_id):
                pass
            case "nav.back":
                if len(app.screen_stack) > 1:
                    app.pop_screen()
            case "focus.next":
                screen.focus_next()
            case "focus.previous":
                screen.focus_previous()
            case "app.quit":
                app.way_out.begin()
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
            app.pop_screen()
        if kind is not None:
            app.push_screen(kind())
        return True

    def _do_console(self, action_id: str, screen: ConsoleScreen) -> None:
        app = self._app
        match action_id:
            case "view.freeze":
                screen.toggle_freeze()
                app.show_header(screen, app.clock.mono_ms())
            case "cmd.prompt":
                hint = "an action by its word: pause, add URL, sort todo"
                screen.query_one(EntryLine).open("command", ":", "", hint)
            case "cmd.palette":
                self._open_palette(screen)
            case "help.keys":
                self._open_help(screen)
            case "theme.next":
                here = THEME_NAMES.index(app.theme) if app.theme in THEME_NAMES else -1
                app.theme = THEME_NAMES[(here + 1) % len(THEME_NAMES)]
                app.tell("theme", f"theme {app.theme}")
            case "app.screenshot":
                self._save_picture()

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

    def _open_help(self, screen: ConsoleScreen) -> None:
        from tui_crawler.console.screens.help import HelpScreen  # noqa: PLC0415  not before it is needed

        def chosen(key: object) -> None:
            if isinstance(key, str):
                self.do(key)

        self._app.push_screen(HelpScreen(self._app.situation(screen), self._app.own_keys), chosen)

    def _save_picture(self) -> None:
        app = self._app
        folder = Path("screenshots")
        try:
            folder.mkdir(exist_ok=True)
            path = folder / f"tui-crawler-{app.clock.wall_ms()}.svg"
            path.write_text(app.export_screenshot(), encoding="utf-8")
        except OSError as error:
            app.tell("picture", f"The picture could not be written: {error}", "error")
        else:
            app.tell("picture", f"written: {path}", "ok")


def _view(action_id: str) -> type[ConsoleScreen] | None:
    """The screen of a numbered view beside the overview; each is loaded when it is first wanted."""
    match action_id:
        case "view.failures":
            from tui_crawler.console.screens.failures import FailuresScreen  # noqa: PLC0415

            return FailuresScreen
        case _:
            return None
