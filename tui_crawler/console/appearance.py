"""How one console looks and which keys it obeys: the theme and the key map, from configuration, memory and `t`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.filter import LineFilter, Monochrome, NoColor

from tui_crawler.console.keys import KeyNames
from tui_crawler.console.theme import DARK, THEME_NAMES, THEMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.key_presets import KeyMap
    from tui_crawler.console.session import Session

_NO_COLOUR = NoColor()


def without_colour(filters: Sequence[LineFilter]) -> Sequence[LineFilter]:
    """The filters of an app; where they take hues out of what is painted (NO_COLOR), greys go, too."""
    return [_NO_COLOUR if isinstance(one, Monochrome) else one for one in filters]


def dress(app: App[Any], wanted: str) -> None:
    """Gives an app our themes and the wanted one (else the dark one) before it runs.

    Set later, the whole style sheet would be read a second time before the first picture.
    """
    for theme in THEMES:
        app.register_theme(theme)
    app.set_reactive(App.theme, wanted if wanted in app.available_themes else DARK.name)
    app.stylesheet.set_variables(app.get_css_variables())
    dark = app.current_theme.dark
    app.set_class(dark, "-dark-mode", update=False)
    app.set_class(not dark, "-light-mode", update=False)


class Appearance:
    """The theme and the keys of one console."""

    def __init__(self, app: CrawlerApp, written: Mapping[str, str], theme: str, session: Session) -> None:
        """`written` and `theme` are what the configuration says (empty: nothing), `session` what is remembered."""
        self._app = app
        self._written = written
        self._configured = theme
        kept = session.theme if session.theme_over == theme or not theme else ""
        self._wanted = kept or theme
        self.keymap: KeyMap | None = None
        self.own_keys: Mapping[str, str] = {}
        self.key_names = KeyNames()
        dress(app, self._wanted)

    def put_on(self) -> None:
        """Takes the keys; tells what could not be taken."""
        app = self._app
        if self._wanted and self._wanted not in app.available_themes:
            app.tell("theme", f"There is no theme {self._wanted}.", "warning")
        if self._written:
            self._take_keys()

    def next_theme(self) -> None:
        """The next theme of those that `t` goes through."""
        app = self._app
        here = THEME_NAMES.index(app.theme) if app.theme in THEME_NAMES else -1
        app.theme = THEME_NAMES[(here + 1) % len(THEME_NAMES)]
        app.tell("theme", f"theme {app.theme}")

    @property
    def chosen_theme(self) -> str:
        """The theme if it is not the one that holds anyway; empty otherwise."""
        return self._app.theme if self._app.theme != (self._configured or DARK.name) else ""

    @property
    def configured_theme(self) -> str:
        """The theme the configuration asks for; empty when it asks for none."""
        return self._configured

    def _take_keys(self) -> None:
        from tui_crawler.console.key_presets import read_keymap  # noqa: PLC0415  only where keys are changed

        self.keymap = read_keymap(self._written)
        self.own_keys = self.keymap.keys
        self.key_names = KeyNames(self.own_keys)
        self._app.set_keymap(self.keymap.for_textual())
        for name, words in self.keymap.problems:
            self._app.tell(f"keymap {name} {words}", f"keymap: {words}", "warning")
