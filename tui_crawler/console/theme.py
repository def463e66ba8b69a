"""The themes of the console and their colour roles.

A role is what a colour means (`ok`, `server`, `muted`), never a colour by name. Style sheets write it as
`$role-ok`, cells of a `CrawlTable` name it. Every role has a contrast of at least 4.5:1 (WCAG 2.2 AA) on the
background, on panels and on both cursors, in the two themes of high contrast of at least 7:1 (AAA).

With 256 colours a theme is shown in the nearest of them. With 16 all themes are one dark and one light one, out of the
terminal's own colours by their names: of what they look like nothing is known.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import lru_cache
from types import MappingProxyType

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color, Lab, rgb_to_lab
from textual.filter import LineFilter, NoColor
from textual.theme import Theme

from tui_crawler.domain.record import replace
from tui_crawler.text.glyphs import in_ascii


class Colours(Enum):
    """How many colours a terminal shows; the value is what `rich.console.Console.color_system` calls them."""

    none = None
    sixteen = "standard"
    many = "256"
    all = "truecolor"


_NAMES = ("dark", "light", "contrast-dark", "contrast-light", "sixteen-dark", "sixteen-light")
_TABLE = """
ok               #8ccf96  #1f6b33  #7ef29a        #0a4a1c         bright_green    green
redirect         #74c5d0  #0f6570  #6fe6f5        #07454d         cyan            cyan
unchanged        #9db4cf  #475a73  #b8d4ff        #2b3d57         green           bright_blue
client           #e6bd72  #7d5200  #ffd25e        #573800         bright_yellow   yellow
server           #f0918f  #a3242e  #ff9e9e        #7c0d17         bright_red      red
network          #e39cc6  #8f2a68  #ff9fe0        #6d1450         bright_magenta  magenta
blocked          #b9a9ec  #583fa3  #cdbcff        #3f2585         magenta         bright_magenta
dropped          #b5a893  #655744  #e0d3b8        #473b28         bright_blue     bright_black
local            #ea9f6d  #94430d  #ffb070        #6b2c00         yellow          bright_red
strong           #eef2f8  #12161d  #ffffff        #000000         bright_white    black
accent           #8fb8ee  #215a9c  #9cc9ff        #0b3c78         bright_cyan     blue
muted            #a5b0c1  #4a5361  #d6dbe4        #333a45         white           black
faint            #919db0  #5d6571  #b9c0cc        #414852         bright_black    bright_black
background       #11151b  #f4f2ec  #000000        #ffffff         black           bright_white
surface          #161b23  #fbfaf6  #0a0a0a        #ffffff         black           bright_white
panel            #1d242e  #e9e6dd  #141414        #f0f0f0         black           bright_white
foreground       #d4dbe6  #262c36  #ffffff        #000000         white           black
cursor           #24344c  #d9e4f3  #1d2a44        #d6e6ff         cyan            blue
cursor_blurred   #1f2733  #e9e9e6  #22262e        #e6e8ec         blue            cyan
border           #5f86bd  #4d7fba  #ffffff        #000000         bright_cyan     blue
border_blurred   #364253  #c6c0b2  #8b94a3        #6b7280         bright_black    bright_black
selection        #35507a  #b9d0ec  #29406e        #bcd6ff         blue            cyan
scrollbar        #3a4658  #c3bfb3  #8b94a3        #6b7280         bright_black    bright_black
scrollbar_hover  #4d5c73  #aaa698  #b9c0cc        #414852         white           black
trough           #161b23  #f4f2ec  #141414        #f0f0f0         black           white
trough_hover     #1d242e  #e9e6dd  #22262e        #e6e8ec         black           white
"""
"""The colours of each theme, one a column: of groups of exit codes, of text, and those that are no roles. The themes
of 16 colours have the terminal's own, by their names."""
_ROLES = 13
_STATES = {"active": "ok", "waiting": "accent", "paused": "blocked", "warning": "client", "error": "server"}
"""The roles of states, and whose colours they have."""


def _column(number: int) -> tuple[Mapping[str, str], Mapping[str, str]]:
    cells = [line.split() for line in _TABLE.split("\n") if line]
    found = {row[0]: row[number] if row[number][0] == "#" else f"ansi_{row[number]}" for row in cells}
    roles = {name: found[name] for name in list(found)[:_ROLES]}
    return MappingProxyType(roles | {state: roles[other] for state, other in _STATES.items()}), found


_COLOURS = {name: _column(number) for number, name in enumerate(_NAMES, 1)}
ROLES: tuple[str, ...] = tuple(_COLOURS["dark"][0])
"""Every role there is."""


def role_colours(dark: bool) -> Mapping[str, str]:
    """Return role -> colour (`#rrggbb`) for a dark or a light theme that has none of its own."""
    return _COLOURS["dark" if dark else "light"][0]


def role_variables(dark: bool) -> dict[str, str]:
    """Return the roles as theme variables, `role-ok` and so on.

    An app returns them from `get_theme_variable_defaults`, so that `$role-…` exists in Textual's own themes
    too.
    """
    return {f"role-{role}": colour for role, colour in role_colours(dark).items()}


def _theme(name: str) -> Theme:
    roles, ground = _COLOURS[name]
    return Theme(
        name=f"tui-crawler-{name}",
        dark=name.endswith("dark"),
        primary=roles["accent"],
        secondary=roles["blocked"],
        accent=roles["warning"],
        success=roles["ok"],
        warning=roles["warning"],
        error=roles["error"],
        foreground=ground["foreground"],
        background=ground["background"],
        surface=ground["surface"],
        panel=ground["panel"],
        variables={
            **{f"role-{role}": colour for role, colour in roles.items()},
            "text-muted": roles["muted"],
            "text-disabled": roles["faint"],
            "primary-muted": ground["cursor"],
            "block-cursor-foreground": roles["strong"],
            "block-cursor-background": ground["cursor"],
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-foreground": ground["foreground"],
            "block-cursor-blurred-background": ground["cursor_blurred"],
            "block-cursor-blurred-text-style": "none",
            "border": ground["border"],
            "border-blurred": ground["border_blurred"],
            "footer-background": ground["panel"],
            "footer-foreground": roles["muted"],
            "footer-key-foreground": roles["accent"],
            "footer-description-foreground": roles["muted"],
            "input-selection-background": ground["selection"],
            "scrollbar": ground["scrollbar"],
            "scrollbar-hover": ground["scrollbar_hover"],
            "scrollbar-active": roles["accent"],
            "scrollbar-background": ground["trough"],
            "scrollbar-background-hover": ground["trough_hover"],
            "scrollbar-background-active": ground["trough_hover"],
            "scrollbar-corner-color": ground["trough"],
        },
    )


DARK, LIGHT, CONTRAST_DARK, CONTRAST_LIGHT, *_IN_NAMES = (_theme(name) for name in _NAMES)
"""The calm dark theme and the calm light one, high contrast on black and on white; and those of 16 colours."""
_CURSOR_TEXT = {True: ("ansi_black", "ansi_bright_white"), False: ("ansi_bright_white", "ansi_black")}


def in_sixteen(theme: Theme) -> Theme:
    """Return what stands for a theme, under its name, where there are 16 colours.

    A row under the cursor has one colour on the cursor's: not every role could be read there.
    """
    named = _IN_NAMES[not theme.dark]
    focused, blurred = _CURSOR_TEXT[theme.dark]
    own = {
        "block-cursor-foreground": focused,
        "block-cursor-blurred-foreground": blurred,
        "input-selection-foreground": blurred,
        "surface": named.surface or "",
        "panel": named.panel or "",
        "text": named.foreground or "",
        "ansi-background": named.background or "",
        "ansi-foreground": named.foreground or "",
        "link-color": named.primary,
    }
    return replace(named, name=theme.name, ansi=True, variables={**named.variables, **own})


THEMES: tuple[Theme, ...] = (DARK, LIGHT, CONTRAST_DARK, CONTRAST_LIGHT)
"""Our themes, to be registered by the app."""

THEME_NAMES = (*(theme.name for theme in THEMES), "textual-dark", "textual-light", "nord", "gruvbox", "solarized-light")
"""What `t` goes through; any other theme of Textual can be named in the configuration."""


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
