"""The two themes of the console and its colour roles.

A role is what a colour means (`ok`, `server`, `muted`), never a colour by name. Style sheets write it as
`$role-ok`, cells of a `CrawlTable` name it. Every role except `faint` has a contrast of at least 4.5:1 (WCAG
2.2 AA) on the background, on panels and on both cursors.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from textual.theme import Theme

_DARK_ROLES = MappingProxyType(
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
        # states
        "active": "#8ccf96",
        "waiting": "#8fb8ee",
        "paused": "#b9a9ec",
        "warning": "#e6bd72",
        "error": "#f0918f",
        # text
        "strong": "#eef2f8",
        "accent": "#8fb8ee",
        "muted": "#9aa6b8",
        "faint": "#76839a",
    }
)
_LIGHT_ROLES = MappingProxyType(
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
        "active": "#1f6b33",
        "waiting": "#215a9c",
        "paused": "#583fa3",
        "warning": "#7d5200",
        "error": "#a3242e",
        "strong": "#12161d",
        "accent": "#215a9c",
        "muted": "#525b6a",
        "faint": "#7a8088",
    }
)
ROLES: tuple[str, ...] = tuple(_DARK_ROLES)
"""Every role there is."""

GROUP_ROLES: tuple[str, ...] = ROLES[:9]
"""The roles that are groups of exit codes."""


def role_colours(dark: bool) -> Mapping[str, str]:
    """Return role -> colour (`#rrggbb`) for a dark or a light theme, ours or another."""
    return _DARK_ROLES if dark else _LIGHT_ROLES


def role_variables(dark: bool) -> dict[str, str]:
    """Return the roles as theme variables, `role-ok` and so on.

    An app returns them from `get_theme_variable_defaults`, so that `$role-…` exists in Textual's own themes
    too.
    """
    return {f"role-{role}": colour for role, colour in role_colours(dark).items()}


DARK = Theme(
    name="tui-crawler-dark",
    dark=True,
    primary="#8fb8ee",
    secondary="#b9a9ec",
    accent="#e6bd72",
    success="#8ccf96",
    warning="#e6bd72",
    error="#f0918f",
    foreground="#d4dbe6",
    background="#11151b",
    surface="#161b23",
    panel="#1d242e",
    variables={
        **role_variables(dark=True),
        "text-muted": "#9aa6b8",
        "text-disabled": "#76839a",
        "primary-muted": "#2a3b54",
        "block-cursor-foreground": "#eef2f8",
        "block-cursor-background": "#2a3b54",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": "#d4dbe6",
        "block-cursor-blurred-background": "#1f2733",
        "block-cursor-blurred-text-style": "none",
        "border": "#5f86bd",
        "border-blurred": "#364253",
        "footer-background": "#1d242e",
        "footer-foreground": "#9aa6b8",
        "footer-key-foreground": "#8fb8ee",
        "footer-description-foreground": "#9aa6b8",
        "input-selection-background": "#35507a",
        "scrollbar": "#3a4658",
        "scrollbar-hover": "#4d5c73",
        "scrollbar-active": "#8fb8ee",
        "scrollbar-background": "#161b23",
        "scrollbar-background-hover": "#1d242e",
        "scrollbar-background-active": "#1d242e",
        "scrollbar-corner-color": "#161b23",
    },
)
"""The calm dark theme."""

LIGHT = Theme(
    name="tui-crawler-light",
    dark=False,
    primary="#215a9c",
    secondary="#583fa3",
    accent="#7d5200",
    success="#1f6b33",
    warning="#7d5200",
    error="#a3242e",
    foreground="#262c36",
    background="#f4f2ec",
    surface="#fbfaf6",
    panel="#e9e6dd",
    variables={
        **role_variables(dark=False),
        "text-muted": "#525b6a",
        "text-disabled": "#7a8088",
        "primary-muted": "#d3e0f0",
        "block-cursor-foreground": "#12161d",
        "block-cursor-background": "#d3e0f0",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": "#262c36",
        "block-cursor-blurred-background": "#e9e9e6",
        "block-cursor-blurred-text-style": "none",
        "border": "#4d7fba",
        "border-blurred": "#c6c0b2",
        "footer-background": "#e9e6dd",
        "footer-foreground": "#525b6a",
        "footer-key-foreground": "#215a9c",
        "footer-description-foreground": "#525b6a",
        "input-selection-background": "#b9d0ec",
        "scrollbar": "#c3bfb3",
        "scrollbar-hover": "#aaa698",
        "scrollbar-active": "#215a9c",
        "scrollbar-background": "#f4f2ec",
        "scrollbar-background-hover": "#e9e6dd",
        "scrollbar-background-active": "#e9e6dd",
        "scrollbar-corner-color": "#f4f2ec",
    },
)
"""The calm light theme."""

THEMES: tuple[Theme, ...] = (DARK, LIGHT)
"""Our themes, to be registered by the app."""
