"""Which keys the footer of a screen names, the most important first. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tui_crawler.console.actions import ACTIONS, OVERLAY, Action, Where, actions_at
from tui_crawler.console.keys import keys_of

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST: Mapping[Where, tuple[str, ...]] = MappingProxyType(
    {
        Where.origin: (
            "origin.toggle_pause",
            "origin.stop",
            "delay.up",
            "robots.view",
            "url.retry",
            "origin.retry_failed",
        ),
        Where.url: ("url.retry", "rule.from_selection", "copy.pick"),
    }
)
"""What a screen is for: these actions come before those that other screens name first."""

_FIRST_AT = 20
"""Where they stand in the order of the table of actions: after what opens, and what ends a zoom."""

VIEWS = frozenset(action.id for action in ACTIONS if action.id.startswith("view.") and action.keys.isdigit())
"""The numbered views. One place of the footer stands for all of them."""


def footer_at(where: Where) -> tuple[Action, ...]:
    """The actions the footer of one screen names, in its order."""
    first = FIRST.get(where, ())

    def place(action: Action) -> tuple[int, int]:
        return (_FIRST_AT, first.index(action.id)) if action.id in first else (action.footer, len(first))

    return tuple(sorted((one for one in actions_at(where) if one.footer or one.id in first), key=place))


def named_key(action: Action, keymap: Mapping[str, str]) -> str:
    """The key the footer names for an action, empty when it has none; for the overlay those of the views, `1-6`.

    `keymap` is action id -> keys of the actions whose keys are not those of the table.
    """
    keys = [next(iter(keys_of(one.id, one.keys, keymap)), "") for one in ACTIONS if one.id in VIEWS]
    if action.id == OVERLAY and all(key == str(number) for number, key in enumerate(keys, 1)):
        return f"1-{len(keys)}"
    return next(iter(keys_of(action.id, action.keys, keymap)), "")
