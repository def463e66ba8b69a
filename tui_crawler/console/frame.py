"""What the frame of every screen does: focus and jumps, zoom, help, theme, the picture of the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.widget import Widget

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.screens.base import ConsoleScreen

# ruff: noqa: PLC0415  dialogs are loaded when they are first wanted


class Frame:
    """Does the actions that are about the screen, not about what it shows."""

    def __init__(self, app: CrawlerApp) -> None:
        """Takes the app."""
        self._app = app

    def do(self, action_id: str, screen: ConsoleScreen) -> bool:
        """Does an action; False when it is none of these."""
        match action_id:
            case "focus.next":
                screen.focus_next()
            case "focus.previous":
                screen.focus_previous()
            case "focus.jump":
                self._open_jump(screen)
            case "zoom.in":
                screen.zoom.grow()
                if screen.has_class("-narrow"):  # half of one column is not worth a step
                    screen.zoom.grow()
            case "zoom.out" if screen.has_class("-narrow"):
                screen.zoom.leave()
            case "zoom.out":
                screen.zoom.shrink()
            case "help.keys":
                self._open_help(screen)
            case "help.pane":
                self._open_pane_help(screen)
            case "theme.next":
                self._app.appearance.next_theme()
            case "app.screenshot":
                self._save_picture()
            case _:
                return False
        return True

    def _open_jump(self, screen: ConsoleScreen) -> None:
        from tui_crawler.console.screens.jump import JumpScreen

        def chosen(target: object) -> None:
            if isinstance(target, Widget):
                screen.set_focus(target)
            elif isinstance(target, str):
                self._app.dispatcher.do(target)

        self._app.push_screen(JumpScreen(screen, self._app.own_keys), chosen)

    def _open_help(self, screen: ConsoleScreen) -> None:
        from tui_crawler.console.screens.help import HelpScreen

        def chosen(key: object) -> None:
            if isinstance(key, str):
                self._app.dispatcher.do(key)

        self._app.push_screen(HelpScreen(self._app.situation(screen), self._app.appearance.keymap), chosen)

    def _open_pane_help(self, screen: ConsoleScreen) -> None:
        from tui_crawler.console.screens.pane_help import PaneHelpScreen

        app = self._app
        app.push_screen(PaneHelpScreen(screen.focused_pane, app.situation(screen), app.own_keys))

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
