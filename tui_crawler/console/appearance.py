"""How one console looks and which keys it obeys: the theme and the key map, from configuration, memory and `t`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.keys import KeyNames
from tui_crawler.console.theme import DARK, LIGHT, THEME_NAMES, THEMES, Colours
from tui_crawler.text.safe_text import ELLIPSIS

if TYPE_CHECKING:
    from tui_crawler.console.keymap import KeyMap
    from tui_crawler.console.panes.notice import Notify
    from tui_crawler.console.session import ConsoleSession
    from tui_crawler.console.terminal_app import TerminalApp


def dress(app: TerminalApp[Any], wanted: str) -> None:
    """Gives an app our themes and the wanted one (else the dark one) before it runs, in the colours of its terminal.

    Set later, the whole style sheet would be read a second time before the first picture.
    """
    for theme in THEMES:
        app.register_theme(theme)
    app.set_reactive(App.theme, wanted if wanted in app.available_themes else DARK.name)
    app.stylesheet.set_variables(app.get_css_variables())
    app.set_class(app.current_theme.dark, "-dark-mode", update=False)
    app.set_class(not app.current_theme.dark, "-light-mode", update=False)


class Appearance(Handles):
    """The theme and the keys of one console."""

    def __init__(
        self,
        app: TerminalApp[Any],
        tell: Notify,
        now_ms: Callable[[], int],
        written: Mapping[str, str],
        theme: str,
        session: ConsoleSession,
    ) -> None:
        """`app` is what is dressed, `written` and `theme` what the configuration says (empty: nothing), `session` what
        is remembered."""
        self._app, self._tell, self._now_ms = app, tell, now_ms
        self._written, self.configured_theme = written, theme
        kept = session.theme if session.theme_over == theme or not theme else ""
        self._wanted = kept or theme
        self.keymap: KeyMap | None = None
        self.key_names = KeyNames()
        self.dots, self.more = app.dots, "..." if app.ascii_only else ELLIPSIS
        dress(app, self._wanted)

    def put_on(self) -> None:
        """Takes the keys; tells what could not be taken."""
        app = self._app
        if self._wanted and self._wanted not in app.available_themes:
            self._tell("theme", f"There is no theme {self._wanted}.", "warning")
        if not self._written:
            return
        from tui_crawler.console.keymap import read_keymap  # noqa: PLC0415  only where keys are changed

        self.keymap = read_keymap(self._written)
        self.key_names = KeyNames(self.keymap.keys)
        app.back_keys = tuple(filter(None, self.key_names.written("nav.back").split(",")))
        app.set_keymap(self.keymap.for_textual())
        for name, words in self.keymap.problems:
            self._tell(f"keymap {name} {words}", f"keymap: {words}", "warning")

    @handles("theme.next")
    def next_theme(self) -> None:
        """The next theme of those that `t` goes through."""
        app = self._app
        names = THEME_NAMES if app.colours is not Colours.sixteen else (DARK.name, LIGHT.name)
        here = names.index(app.theme) if app.theme in names else -1
        app.theme = names[(here + 1) % len(names)]
        self._tell("theme", f"theme {app.theme}")

    @handles("app.screenshot")
    def save_picture(self) -> None:
        """Writes what the terminal shows into a file."""
        folder = Path("screenshots")
        try:
            folder.mkdir(exist_ok=True)
            path = folder / f"tui-crawler-{self._now_ms()}.svg"
            path.write_text(self._app.export_screenshot(), encoding="utf-8")
        except OSError as error:
            self._tell("picture", f"The picture could not be written: {error}", "error")
        else:
            self._tell("picture", f"written: {path}", "ok")

    @property
    def chosen_theme(self) -> str:
        """The theme if it is not the one that holds anyway; empty otherwise."""
        return self._app.theme if self._app.theme != (self.configured_theme or DARK.name) else ""
