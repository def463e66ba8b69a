"""Keys of actions: as bindings for Textual, and as a person reads them."""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from textual.binding import Binding
from textual.keys import REPLACED_KEYS, key_to_character

from tui_crawler.console.action import Action, Where
from tui_crawler.console.actions import ACTIONS, BY_ID, actions_at

NO_KEY = "no-key"
"""The key of a binding that has none: the operator's key map may give it one."""

TABLE_BINDINGS = (
    Binding("j,down", "move_rows(1)", "Down", id="move.down", show=False),
    Binding("k,up", "move_rows(-1)", "Up", id="move.up", show=False),
    Binding("home,g g", "move_first", "First row", id="move.first", show=False),
    Binding("end,g e", "move_last", "Last row", id="move.last", show=False),
    Binding(NO_KEY, "move_pages(0.5)", "Half a page down", id="move.half_down", show=False),
    Binding(NO_KEY, "move_pages(-0.5)", "Half a page up", id="move.half_up", show=False),
    Binding("pagedown", "move_pages(1)", "Page down", id="move.page_down", show=False),
    Binding("pageup", "move_pages(-1)", "Page up", id="move.page_up", show=False),
    Binding("left", "move_columns(-1)", "Column left", id="move.left", show=False),
    Binding("right", "move_columns(1)", "Column right", id="move.right", show=False),
    Binding("space", "mark_toggle", "Mark", id="mark.toggle", show=False),
    Binding("t v", "mark_range", "Mark to here", id="mark.range", show=False),
    Binding("t a", "mark_all", "Mark all", id="mark.all", show=False),
    Binding("t u", "mark_clear", "Clear marks", id="mark.clear", show=False),
)
"""The keys of a table that only tables have: moving and marking."""

ASKED_BY_KEY = frozenset(
    {"origin.open", "worker.open", "url.open", "failures.exit", "log.goto", "layout.keep", "layout.drop"}
)
"""Actions whose keys open the prompt with their word: what they are about is typed there."""

ASK_QUIT = "app.ask_quit"
"""The action whose key comes before whatever has the focus."""

MENUS: Mapping[str, str] = {"o": "menu.selected", "g": "menu.go", "l": "menu.log", "t": "menu.table", "y": "copy.pick"}
"""The menus: the first key of their places in the table of actions, and the action that opens each."""

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
    """A key of Textual, or two one after the other, as a person reads them."""
    if " " in key.strip():
        return " ".join(map(key_name, key.split()))
    head, plus, last = key.strip().rpartition("+")
    if last in _NAMES:
        return head + plus + _NAMES[last]
    char = character_of(last) if len(last) > 1 else None
    return head + plus + (char if char is not None and char.isprintable() and char != " " else last)


def character_of(key: str) -> str | None:
    """The character a key writes by its name; None when there is none."""
    return key_to_character(REPLACED_KEYS.get(key, key))


def canonical(keys: str) -> tuple[str, ...]:
    """Return keys separated by commas, each by the name Textual gives it: `?` is `question_mark`, `g ?` is
    `g question_mark`."""
    named = (Binding.make_bindings([Binding(key, "-") for key in part.split()]) for part in keys.split(","))
    return tuple(filter(None, (" ".join(one.key for one in part) for part in named)))


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
        """All keys of an action; the first of two is the one that opens the menu now."""
        return tuple(key_name(key) for key in map(self._reached, canonical(self.written(action_id))) if key)

    def first(self, action_id: str) -> str:
        """The first key of an action; empty: it has none."""
        return next(iter(self.of(action_id)), "")

    def written(self, action_id: str) -> str:
        """The keys of an action as Textual takes them, separated by commas."""
        return self.own.get(action_id, USUAL[action_id])

    def _reached(self, key: str) -> str:
        """The keys to press for a key of the table; empty: its menu has none."""
        first, space, second = key.partition(" ")
        if not space or first not in MENUS:
            return key
        opens = next(iter(canonical(self.written(MENUS[first]))), "")
        return f"{opens} {second}" if opens else ""

    def said(self, words: str) -> str:
        """Words of ours in which keys stand as `{action.id}`, with the operator's keys in their places."""
        return _IN_WORDS.sub(lambda found: self(found[1]) if found[1] in USUAL else found[0], words)


def bindings_of(actions: Iterable[Action]) -> list[Binding]:
    """The bindings of actions; each asks the app to do the action of its id, or opens the prompt for it. Those without
    a key have NO_KEY.

    `nav.open` has none: enter belongs to the table that has the focus.
    """
    bindings = []
    for one in (one for one in actions if one.id != "nav.open"):
        does = f"app.do('cmd.prompt', '{one.word} ')" if one.id in ASKED_BY_KEY else f"app.do('{one.id}')"
        keys = ",".join(canonical(one.keys)) or NO_KEY
        bindings.append(Binding(keys, does, one.label, False, id=one.id, priority=one.id == ASK_QUIT))
    return bindings


def only_at(where: Where) -> list[Binding]:
    """The bindings of one screen that not all have."""
    return bindings_of(action for action in actions_at(where) if action.where)


USUAL: Mapping[str, str] = {action.id: action.keys for action in ACTIONS} | {
    str(binding.id): binding.key.replace(NO_KEY, "") for binding in TABLE_BINDINGS
}
"""The keys of the table, by the id of an action."""
_IN_WORDS = re.compile(r"\{([a-z]+\.[a-z_]+)\}")

FIRST: Mapping[Where, tuple[str, ...]] = {
    Where.origin: ("origin.toggle_pause", "delay.up", "url.retry", "origin.retry_failed"),
    Where.logs: ("log.filter", "menu.log"),
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
