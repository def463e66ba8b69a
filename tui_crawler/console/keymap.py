"""The operator's own keys, and what is wrong with them. Pure, apart from the names of keys.

They win over the table of actions: an action that meets one of them on some screen does not have that key any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from textual.keys import Keys

from tui_crawler.console.action import Where
from tui_crawler.console.actions import ACTIONS
from tui_crawler.console.keys import TABLE_BINDINGS, canonical, character_of, key_name

NO_KEY = "none"
"""Written in place of a key: the action has none."""

_SAME_BYTES = MappingProxyType({"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+j": "enter"})
_MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "meta", "hyper"})
_NAMED = frozenset(key.value for key in Keys)


@dataclass(frozen=True, slots=True)
class KeyMap:
    """The keys that hold. `keys`: action id -> keys of every action whose keys are not those of the table (empty: it
    has none). `own`: the ids whose keys the operator wrote. `problems`: id -> what is wrong, in words."""

    keys: Mapping[str, str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    problems: tuple[tuple[str, str], ...] = ()

    @property
    def changed(self) -> frozenset[str]:
        """The actions whose keys the operator wrote, and wrote otherwise than they are anyway."""
        return self.own & self.keys.keys()

    def for_textual(self) -> dict[str, str]:
        """The same for `App.set_keymap`, which cannot take a key away: such an action gets a key that nobody has."""
        return {name: keys or "no-key" for name, keys in self.keys.items()}


def read_keymap(written: Mapping[str, str]) -> KeyMap:
    """The key map of the configuration: action id -> keys, separated by commas."""
    problems: list[tuple[str, str]] = []
    own: dict[str, tuple[str, ...]] = {}
    places = {action.id: action.where or frozenset(Where) for action in ACTIONS}
    usual = {action.id: canonical(action.keys) for action in ACTIONS}
    for binding in TABLE_BINDINGS:
        name = binding.id or ""
        places[name], usual[name] = frozenset(Where), canonical(binding.key)
    for name, keys in written.items():
        if name not in places:
            problems.append((name, f"unknown action {name}"))
        elif (read := _read_keys(name, keys, problems)) is not None:
            own[name] = read
    held = _share_out(own, usual, places, problems)
    changed = {name: ",".join(held[name]) for name in usual if held[name] != usual[name]}
    return KeyMap(changed, frozenset(own), tuple(problems))


def is_key(key: str) -> bool:
    """Whether a canonical name is that of a key."""
    *modifiers, last = key.split("+")
    known = len(last) == 1 or last in _NAMED or key in _NAMED or character_of(last) is not None
    return known and set(modifiers) <= _MODIFIERS


def _read_keys(name: str, keys: str, problems: list[tuple[str, str]]) -> tuple[str, ...] | None:
    """The keys an operator wrote for an action; None when none of them is one."""
    if keys.strip() == NO_KEY:
        return ()
    good = []
    for key in canonical(keys):
        if key in _SAME_BYTES:
            problems.append((name, f"a terminal cannot distinguish {key} from {_SAME_BYTES[key]}"))
        elif not is_key(key):
            problems.append((name, f"there is no key {key}"))
        else:
            good.append(key)
    return tuple(good) or None


def _share_out(
    own: Mapping[str, tuple[str, ...]],
    usual: Mapping[str, tuple[str, ...]],
    places: Mapping[str, frozenset[Where]],
    problems: list[tuple[str, str]],
) -> dict[str, tuple[str, ...]]:
    """The keys each action keeps: own ones come before those of the table, among equals the first one has the key."""
    wanted = {**own, **{name: keys for name, keys in usual.items() if name not in own}}
    holders: dict[str, list[str]] = {}
    taken: list[tuple[str, str, str]] = []
    for name, keys in wanted.items():
        for key in keys:
            winner = next((one for one in holders.get(key, ()) if places[one] & places[name]), None)
            if winner is None:
                holders.setdefault(key, []).append(name)
            else:
                taken.append((key, winner, name))
    held = {name: tuple(key for key in keys if name in holders[key]) for name, keys in wanted.items()}
    for key, winner, loser in taken:
        shared = places[winner] & places[loser]
        on = "everywhere" if len(shared) == len(Where) else f"on {next(one for one in Where if one in shared).value}"
        if loser in own:
            words = f"{key_name(key)} is given to {loser} too ({on}); {winner} has it"
        else:
            left = " or ".join(map(key_name, held[loser]))
            rest = f"{left} left" if left else "no key now"
            words = f"{key_name(key)} is taken from {loser} ({on}), which has {rest}"
        problems.append((winner, words))
    return held
