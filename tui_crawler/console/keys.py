"""Keys of actions: as bindings for Textual, and as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from textual.binding import Binding
from textual.keys import REPLACED_KEYS, key_to_character

from tui_crawler.console.action import OVERLAY, VIEWS, Action, Where
from tui_crawler.console.actions import ACTIONS, BY_ID, actions_at

TABLE_BINDINGS = (
    Binding("j,down", "move_rows(1)", "Down", id="move.down", show=False),
    Binding("k,up", "move_rows(-1)", "Up", id="move.up", show=False),
    Binding("g,home", "move_first", "First row", id="move.first", show=False),
    Binding("G,end", "move_last", "Last row", id="move.last", show=False),
    Binding("ctrl+d", "move_pages(0.5)", "Half a page down", id="move.half_down", show=False),
    Binding("ctrl+u", "move_pages(-0.5)", "Half a page up", id="move.half_up", show=False),
    Binding("pagedown", "move_pages(1)", "Page down", id="move.page_down", show=False),
    Binding("pageup", "move_pages(-1)", "Page up", id="move.page_up", show=False),
    Binding("h,left", "move_columns(-1)", "Column left", id="move.left", show=False),
    Binding("l,right", "move_columns(1)", "Column right", id="move.right", show=False),
    Binding("space", "mark_toggle", "Mark", id="mark.toggle", show=False),
    Binding("v", "mark_range", "Mark to here", id="mark.range", show=False),
    Binding("asterisk", "mark_all", "Mark all", id="mark.all", show=False),
    Binding("ctrl+backslash", "mark_clear", "Clear marks", id="mark.clear", show=False),
)
"""The keys of a table that only tables have: moving and marking."""

OPENS_ENTRY = frozenset(
    {
        "filter.open", "cmd.prompt", "log.search", "job.nice", "job.depth", "job.concurrency", "rule.add",
        "rules.exclude", "rules.test", "sql.open", "log.filter", "robots.test", "worker.tags", "origin.move",
    }
)  # fmt: skip
"""Actions after which keys belong to an input: done before the next key is looked at, but never while one has focus."""

AT_ONCE = OPENS_ENTRY | {"app.ask_quit"}
"""Actions that come before whatever has the focus."""

_NAMES: Mapping[str, str] = {
    "escape": "esc",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "asterisk": "*",
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "exclamation_mark": "!",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "backslash": "\\",
}


@cache
def key_name(key: str) -> str:
    """A key of Textual as a person reads it."""
    head, plus, last = key.strip().rpartition("+")
    if last in _NAMES:
        return head + plus + _NAMES[last]
    char = character_of(last) if len(last) > 1 else None
    return head + plus + (char if char is not None and char.isprintable() and char != " " else last)


def character_of(key: str) -> str | None:
    """The character a key writes by its name; None when there is none."""
    return key_to_character(REPLACED_KEYS.get(key, key))


def canonical(keys: str) -> tuple[str, ...]:
    """Keys separated by commas, each by the name Textual gives it: `?` is `question_mark`."""
    parts = [part for part in keys.split(",") if part.strip()]
    return tuple(one.key for part in parts for one in Binding.make_bindings([Binding(part, "-")]))


class KeyNames:
    """The keys that hold, as a person reads them: called with the id of an action, gives the first of its keys."""

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        """`own` are the operator's keys that differ from the table's, by the id of the action."""
        self.own = own or {}

    def __call__(self, action_id: str) -> str:
        """The key; where it has none, what is typed for the action at the prompt."""
        word = BY_ID[action_id].word if action_id in BY_ID else ""
        return self.first(action_id) or (f":{word}" if word else "(no key)")

    def of(self, action_id: str) -> tuple[str, ...]:
        """All keys of an action."""
        return tuple(key_name(key) for key in self.written(action_id).split(",") if key.strip())

    def first(self, action_id: str) -> str:
        """The first key of an action; empty: it has none."""
        return next(iter(self.of(action_id)), "")

    def written(self, action_id: str) -> str:
        """The keys of an action as Textual takes them, separated by commas."""
        return self.own.get(action_id, _USUAL[action_id])

    def said(self, words: str) -> str:
        """Words of ours in which keys stand as `{action.id}`, with the operator's keys in their places."""
        return _IN_WORDS.sub(lambda found: self(found[1]) if found[1] in _USUAL else found[0], words)

    def in_footer(self, action_id: str) -> str:
        """The key the footer names for an action, empty when it has none; for the overlay those of the views, `1-6`."""
        if action_id == OVERLAY:
            keys = [self.first(where.goes_there) for where in VIEWS]
            if all(key == str(number) for number, key in enumerate(keys, 1)):
                return f"1-{len(keys)}"
        return self.first(action_id)


def bindings_of(actions: Iterable[Action]) -> list[Binding]:
    """The bindings of actions; each asks the app to do the action of its id. Those without a key have one that nobody
    can press: the operator's key map may give them another.

    `nav.open` has none: enter belongs to the table that has the focus.
    """
    return [
        Binding(one.keys or "no-key", f"app.do('{one.id}')", one.label, False, id=one.id, priority=one.id in AT_ONCE)
        for one in actions
        if one.id != "nav.open"
    ]


def only_at(where: Where) -> list[Binding]:
    """The bindings of one screen that not all have."""
    return bindings_of(action for action in actions_at(where) if action.where)


_USUAL: Mapping[str, str] = {action.id: action.keys for action in ACTIONS} | {
    str(binding.id): binding.key for binding in TABLE_BINDINGS
}
_IN_WORDS = re.compile(r"\{([a-z]+\.[a-z_]+)\}")

FIRST: Mapping[Where, tuple[str, ...]] = {
    Where.origin: ("origin.toggle_pause", "origin.stop", "delay.up", "robots.view", "url.retry", "origin.retry_failed"),
    Where.url: ("url.retry", "rule.from_selection", "copy.pick"),
}
"""What a screen is for: these actions come before those that other screens name first."""

_FIRST_AT = 20
"""Where they stand in the order of the table of actions: after what opens, and what ends a zoom."""


def footer_at(where: Where) -> tuple[Action, ...]:
    """The actions the footer of one screen names, in its order."""
    first = FIRST.get(where, ())

    def place(action: Action) -> tuple[int, int]:
        return (_FIRST_AT, first.index(action.id)) if action.id in first else (action.footer, len(first))

    return tuple(sorted((one for one in actions_at(where) if one.footer or one.id in first), key=place))
