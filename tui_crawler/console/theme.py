"""The themes of the console and their colour roles.

A role is what a colour means (`ok`, `server`, `muted`), never a colour by name. Style sheets write it as
`$role-ok`, cells of a `CrawlTable` name it. Every role has a contrast of at least 4.5:1 (WCAG 2.2 AA) on the
background, on panels and on both cursors, in the two themes of high contrast of at least 7:1 (AAA).

With 256 colours a theme is shown in the nearest of them. With 16 all themes are one dark and one light one, out of the
terminal's own colours by their names: of what they look like nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from textual.theme import Theme

from tui_crawler.domain.record import dataclass, replace


class Colours(Enum):
    """How many colours a terminal shows; the value is what `rich.console.Console.color_system` calls them."""

    none = None
    sixteen = "standard"
    many = "256"
    all = "truecolor"


_STATES = {"active": "ok", "waiting": "accent", "paused": "blocked", "warning": "client", "error": "server"}
"""The roles of states, and whose colours they have."""


def _with_states(roles: dict[str, str]) -> Mapping[str, str]:
    return MappingProxyType(roles | {state: roles[other] for state, other in _STATES.items()})


_DARK_ROLES = _with_states(
    {
        # groups of exit codes
        "ok": "#8ccf96",
        "redirect": "#74c5d0",
        "unchanged": "#9db4cf",
        "client": "#e6bd72",
        "server": "#f0918f",
        "network": "#e39cc6",
        "blocked": "#b9a9ec",
        "dropped": "#b5a893",
        "local": "#ea9f6d",
        # text
        "strong": "#eef2f8",
        "accent": "#8fb8ee",
        "muted": "#a5b0c1",
        "faint": "#919db0",
    }
)
_LIGHT_ROLES = _with_states(
    {
        "ok": "#1f6b33",
        "redirect": "#0f6570",
        "unchanged": "#475a73",
        "client": "#7d5200",
        "server": "#a3242e",
        "network": "#8f2a68",
        "blocked": "#583fa3",
        "dropped": "#655744",
        "local": "#94430d",
        "strong": "#12161d",
        "accent": "#215a9c",
        "muted": "#4a5361",
        "faint": "#5d6571",
    }
)
_CONTRAST_DARK_ROLES = _with_states(
    {
        "ok": "#7ef29a",
        "redirect": "#6fe6f5",
        "unchanged": "#b8d4ff",
        "client": "#ffd25e",
        "server": "#ff9e9e",
        "network": "#ff9fe0",
        "blocked": "#cdbcff",
        "dropped": "#e0d3b8",
        "local": "#ffb070",
        "strong": "#ffffff",
        "accent": "#9cc9ff",
        "muted": "#d6dbe4",
        "faint": "#b9c0cc",
    }
)
_CONTRAST_LIGHT_ROLES = _with_states(
    {
        "ok": "#0a4a1c",
        "redirect": "#07454d",
        "unchanged": "#2b3d57",
        "client": "#573800",
        "server": "#7c0d17",
        "network": "#6d1450",
        "blocked": "#3f2585",
        "dropped": "#473b28",
        "local": "#6b2c00",
        "strong": "#000000",
        "accent": "#0b3c78",
        "muted": "#333a45",
        "faint": "#414852",
    }
)
_DARK_NAMES = _with_states(
    {
        "ok": "ansi_bright_green",
        "redirect": "ansi_cyan",
        "unchanged": "ansi_green",
        "client": "ansi_bright_yellow",
        "server": "ansi_bright_red",
        "network": "ansi_bright_magenta",
        "blocked": "ansi_magenta",
        "dropped": "ansi_bright_blue",
        "local": "ansi_yellow",
        "strong": "ansi_bright_white",
        "accent": "ansi_bright_cyan",
        "muted": "ansi_white",
        "faint": "ansi_bright_black",
    }
)
_LIGHT_NAMES = _with_states(
    {
        "ok": "ansi_green",
        "redirect": "ansi_cyan",
        "unchanged": "ansi_bright_blue",
        "client": "ansi_yellow",
        "server": "ansi_red",
        "network": "ansi_magenta",
        "blocked": "ansi_bright_magenta",
        "dropped": "ansi_bright_black",
        "local": "ansi_bright_red",
        "strong": "ansi_black",
        "accent": "ansi_blue",
        "muted": "ansi_black",
        "faint": "ansi_bright_black",
    }
)
ROLES: tuple[str, ...] = tuple(_DARK_ROLES)
"""Every role there is."""

GROUP_ROLES: tuple[str, ...] = ROLES[:9]
"""The roles that are groups of exit codes."""


def role_colours(dark: bool) -> Mapping[str, str]:
    """Return role -> colour (`#rrggbb`) for a dark or a light theme that has none of its own."""
    return _DARK_ROLES if dark else _LIGHT_ROLES


def role_variables(dark: bool) -> dict[str, str]:
    """Return the roles as theme variables, `role-ok` and so on.

    An app returns them from `get_theme_variable_defaults`, so that `$role-…` exists in Textual's own themes
    too.
    """
    return {f"role-{role}": colour for role, colour in role_colours(dark).items()}


@dataclass(frozen=True, slots=True)
class _ThemeColours:
    """The colours of a theme that are not roles."""

    background: str
    surface: str
    panel: str
    foreground: str
    cursor: str
    cursor_blurred: str
    border: str
    border_blurred: str
    selection: str
    scrollbar: str
    scrollbar_hover: str
    trough: str
    trough_hover: str


def _theme(name: str, roles: Mapping[str, str], ground: _ThemeColours, *, dark: bool) -> Theme:
    return Theme(
        name=name,
        dark=dark,
        primary=roles["accent"],
        secondary=roles["blocked"],
        accent=roles["warning"],
        success=roles["ok"],
        warning=roles["warning"],
        error=roles["error"],
        foreground=ground.foreground,
        background=ground.background,
        surface=ground.surface,
        panel=ground.panel,
        variables={
            **{f"role-{role}": colour for role, colour in roles.items()},
            "text-muted": roles["muted"],
            "text-disabled": roles["faint"],
            "primary-muted": ground.cursor,
            "block-cursor-foreground": roles["strong"],
            "block-cursor-background": ground.cursor,
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-foreground": ground.foreground,
            "block-cursor-blurred-background": ground.cursor_blurred,
            "block-cursor-blurred-text-style": "none",
            "border": ground.border,
            "border-blurred": ground.border_blurred,
            "footer-background": ground.panel,
            "footer-foreground": roles["muted"],
            "footer-key-foreground": roles["accent"],
            "footer-description-foreground": roles["muted"],
            "input-selection-background": ground.selection,
            "scrollbar": ground.scrollbar,
            "scrollbar-hover": ground.scrollbar_hover,
            "scrollbar-active": roles["accent"],
            "scrollbar-background": ground.trough,
            "scrollbar-background-hover": ground.trough_hover,
            "scrollbar-background-active": ground.trough_hover,
            "scrollbar-corner-color": ground.trough,
        },
    )


DARK = _theme(
    "tui-crawler-dark",
    _DARK_ROLES,
    _ThemeColours(
        background="#11151b",
        surface="#161b23",
        panel="#1d242e",
        foreground="#d4dbe6",
        cursor="#24344c",
        cursor_blurred="#1f2733",
        border="#5f86bd",
        border_blurred="#364253",
        selection="#35507a",
        scrollbar="#3a4658",
        scrollbar_hover="#4d5c73",
        trough="#161b23",
        trough_hover="#1d242e",
    ),
    dark=True,
)
"""The calm dark theme."""

LIGHT = _theme(
    "tui-crawler-light",
    _LIGHT_ROLES,
    _ThemeColours(
        background="#f4f2ec",
        surface="#fbfaf6",
        panel="#e9e6dd",
        foreground="#262c36",
        cursor="#d9e4f3",
        cursor_blurred="#e9e9e6",
        border="#4d7fba",
        border_blurred="#c6c0b2",
        selection="#b9d0ec",
        scrollbar="#c3bfb3",
        scrollbar_hover="#aaa698",
        trough="#f4f2ec",
        trough_hover="#e9e6dd",
    ),
    dark=False,
)
"""The calm light theme."""

CONTRAST_DARK = _theme(
    "tui-crawler-contrast-dark",
    _CONTRAST_DARK_ROLES,
    _ThemeColours(
        background="#000000",
        surface="#0a0a0a",
        panel="#141414",
        foreground="#ffffff",
        cursor="#1d2a44",
        cursor_blurred="#22262e",
        border="#ffffff",
        border_blurred="#8b94a3",
        selection="#29406e",
        scrollbar="#8b94a3",
        scrollbar_hover="#b9c0cc",
        trough="#141414",
        trough_hover="#22262e",
    ),
    dark=True,
)
"""High contrast on black."""

CONTRAST_LIGHT = _theme(
    "tui-crawler-contrast-light",
    _CONTRAST_LIGHT_ROLES,
    _ThemeColours(
        background="#ffffff",
        surface="#ffffff",
        panel="#f0f0f0",
        foreground="#000000",
        cursor="#d6e6ff",
        cursor_blurred="#e6e8ec",
        border="#000000",
        border_blurred="#6b7280",
        selection="#bcd6ff",
        scrollbar="#6b7280",
        scrollbar_hover="#414852",
        trough="#f0f0f0",
        trough_hover="#e6e8ec",
    ),
    dark=False,
)
"""High contrast on white."""

_IN_NAMES = {
    True: _theme(
        "sixteen-dark",
        _DARK_NAMES,
        _ThemeColours(
            background="ansi_black",
            surface="ansi_black",
            panel="ansi_black",
            foreground="ansi_white",
            cursor="ansi_cyan",
            cursor_blurred="ansi_blue",
            border="ansi_bright_cyan",
            border_blurred="ansi_bright_black",
            selection="ansi_blue",
            scrollbar="ansi_bright_black",
            scrollbar_hover="ansi_white",
            trough="ansi_black",
            trough_hover="ansi_black",
        ),
        dark=True,
    ),
    False: _theme(
        "sixteen-light",
        _LIGHT_NAMES,
        _ThemeColours(
            background="ansi_bright_white",
            surface="ansi_bright_white",
            panel="ansi_bright_white",
            foreground="ansi_black",
            cursor="ansi_blue",
            cursor_blurred="ansi_cyan",
            border="ansi_blue",
            border_blurred="ansi_bright_black",
            selection="ansi_cyan",
            scrollbar="ansi_bright_black",
            scrollbar_hover="ansi_black",
            trough="ansi_white",
            trough_hover="ansi_white",
        ),
        dark=False,
    ),
}
_CURSOR_TEXT = {True: ("ansi_black", "ansi_bright_white"), False: ("ansi_bright_white", "ansi_black")}


def in_sixteen(theme: Theme) -> Theme:
    """Return what stands for a theme, under its name, where there are 16 colours.

    A row under the cursor has one colour on the cursor's: not every role could be read there.
    """
    named = _IN_NAMES[theme.dark]
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
