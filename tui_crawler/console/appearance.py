"""How one console looks and which keys it obeys: the theme and the key map, from configuration, memory and `t`; and how
that is shown on a terminal of few colours, or without UTF-8."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color, Lab, rgb_to_lab
from textual.filter import LineFilter, NoColor

from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.keys import KeyNames
from tui_crawler.console.theme import DARK, LIGHT, ROLES, THEME_NAMES, THEMES, Colours, in_sixteen
from tui_crawler.text.glyphs import in_ascii

if TYPE_CHECKING:
    from textual.theme import Theme

    from tui_crawler.console.keymap import KeyMap
    from tui_crawler.console.screen.stack import Notify
    from tui_crawler.console.session import ConsoleSession
    from tui_crawler.console.terminal_app import TerminalApp

_NO_COLOUR = NoColor()
_READABLE = 4.5


class InAscii(LineFilter):
    """Paints everything in ASCII: glyphs, borders, and what was crawled."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # Textual's own
        """The segments, each in as many cells."""
        return [one if one.text.isascii() else Segment(in_ascii(one.text), *one[1:]) for one in segments]


class InManyColours(LineFilter):
    """Paints every colour in that of the 240 fixed ones of a terminal which looks most like it (CIELAB)."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # Textual's own
        return [Segment(text, style and _in_many(style), control) for text, style, control in segments]


@lru_cache(4096)
def _in_many(style: Style) -> Style:
    colours = (colour and colour.triplet and nearest_of_many(colour.triplet) for colour in (style.color, style.bgcolor))
    return style + Style.from_color(*colours)


def nearest_of_many(wanted: tuple[int, int, int]) -> RichColor:
    """The colour from 16 to 255 (those below are the terminal's own) that looks most like one in red, green, blue."""
    return RichColor.from_ansi(_by_likeness(wanted)[0])


@lru_cache(4096)
def _by_likeness(wanted: tuple[int, int, int]) -> list[int]:
    lab = rgb_to_lab(Color(*wanted))
    return sorted(_fixed(), key=lambda number: sum((a - b) ** 2 for a, b in zip(lab, _fixed()[number], strict=True)))


@lru_cache(1)
def _fixed() -> dict[int, Lab]:
    return {number: rgb_to_lab(Color(*RichColor.from_ansi(number).get_truecolor())) for number in range(16, 256)}


def in_many(theme: Theme) -> Theme:
    """A theme of ours in fixed colours of a terminal: cursors differ from what lies below, and roles among each other;
    each role has a contrast of 4.5:1 at least (WCAG 2.2 AA) on all of them."""
    own = theme.variables
    grounds = (own[f"{name}-background"] for name in ("block-cursor-blurred", "footer"))
    below = _apart((str(theme.background), own["primary-muted"], *grounds), lambda _: True)
    lights = [_luminance(colour) for colour in below.values()]
    changed = below | _apart(
        (own[f"role-{role}"] for role in ROLES),
        lambda colour: all(_contrast(_luminance(colour), light) >= _READABLE for light in lights),
    )
    named = {field: changed.get(getattr(theme, field), getattr(theme, field)) for field in ("background", "primary")}
    return replace(theme, **named, variables={name: changed.get(colour, colour) for name, colour in own.items()})


def _apart(wanted: Iterable[str], fits: Callable[[str], bool]) -> dict[str, str]:
    """For each colour the most alike one that fits and that stands for no other."""
    found: dict[str, str] = {}
    for colour in dict.fromkeys(wanted):
        alike = (RichColor.from_ansi(number).get_truecolor().hex for number in _by_likeness(Color.parse(colour).rgb))
        found[colour] = next(one for one in alike if one not in found.values() and fits(one))
    return found


def _luminance(colour: str) -> float:
    parts = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in Color.parse(colour).normalized
    )  # WCAG 2.2
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def _contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def fitted(theme: Theme, colours: Colours) -> Theme:
    """What is shown of a theme where there are so many colours."""
    if colours is Colours.sixteen:
        return in_sixteen(theme)
    return in_many(theme) if colours is Colours.many and "role-ok" in theme.variables else theme


def filters_for(colours: Colours, ascii_only: bool) -> list[LineFilter]:
    """What everything that is painted goes through, for a terminal of so many colours, with UTF-8 or without."""
    hues: dict[Colours, LineFilter] = {Colours.none: _NO_COLOUR, Colours.many: InManyColours()}
    return [*([hues[colours]] if colours in hues else []), *([InAscii()] if ascii_only else [])]


def dress(app: TerminalApp[Any], wanted: str) -> None:
    """Gives an app our themes and the wanted one (else the dark one) before it runs, in the colours of its terminal.

    Set later, the whole style sheet would be read a second time before the first picture.
    """
    for theme in THEMES:
        app.register_theme(theme)
    app.set_reactive(App.theme, wanted if wanted in app.available_themes else DARK.name)
    app.stylesheet.set_variables(app.get_css_variables())
    dark = app.current_theme.dark
    app.set_class(dark, "-dark-mode", update=False)
    app.set_class(not dark, "-light-mode", update=False)


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
        self.own_keys: Mapping[str, str] = {}
        self.key_names = KeyNames()
        dress(app, self._wanted)

    def put_on(self) -> None:
        """Takes the keys; tells what could not be taken."""
        app = self._app
        if self._wanted and self._wanted not in app.available_themes:
            self._tell("theme", f"There is no theme {self._wanted}.", "warning")
        if self._written:
            self._take_keys()

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

    def _take_keys(self) -> None:
        from tui_crawler.console.keymap import read_keymap  # noqa: PLC0415  only where keys are changed

        self.keymap = read_keymap(self._written)
        self.own_keys = self.keymap.keys
        self.key_names = KeyNames(self.own_keys)
        self._app.back_keys = tuple(filter(None, self.own_keys.get("nav.back", "escape").split(",")))
        self._app.set_keymap(self.keymap.for_textual())
        for name, words in self.keymap.problems:
            self._tell(f"keymap {name} {words}", f"keymap: {words}", "warning")
