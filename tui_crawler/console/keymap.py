"""The operator's own keys, and what is wrong with them. Pure, apart from the names of keys.

They win over the table of actions: an action that meets one of them on some screen does not have that key any more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from textual.keys import Keys

from tui_crawler.console.action import FORMER_IDS, Where
from tui_crawler.console.actions import ACTIONS
from tui_crawler.console.keys import MENUS, NO_KEY, USUAL, canonical, character_of, key_name

_NONE = "none"
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
        return {name: keys or NO_KEY for name, keys in self.keys.items()}


def read_keymap(written: Mapping[str, str]) -> KeyMap:
    """The key map of the configuration: action id -> keys, separated by commas."""
    problems: list[tuple[str, str]] = []
    own: dict[str, tuple[str, ...]] = {}
    usual = {name: canonical(keys) for name, keys in USUAL.items()}
    places = dict.fromkeys(usual, frozenset(Where))
    places |= {action.id: action.where for action in ACTIONS if action.where}
    for former, keys in written.items():
        name = FORMER_IDS.get(former, former)
        if name not in places:
            problems.append((name, f"unknown action {name}"))
        elif (read := _read_keys(name, keys, problems)) is not None:
            own[name] = read
    held = _share_out(own, usual, places, problems)
    problems += _never_second(own, held, places)
    changed = {name: ",".join(held[name]) for name in usual if held[name] != usual[name]}
    return KeyMap(changed, frozenset(own), tuple(problems))


def is_key(key: str) -> bool:
    """Whether a canonical name is that of a key, or of two one after the other."""
    if " " in key:
        return key.count(" ") == 1 and all(map(is_key, key.split()))
    *modifiers, last = key.split("+")
    known = len(last) == 1 or last in _NAMED or key in _NAMED or character_of(last) is not None
    return known and set(modifiers) <= _MODIFIERS


def _read_keys(name: str, keys: str, problems: list[tuple[str, str]]) -> tuple[str, ...] | None:
    """The keys an operator wrote for an action; None when none of them is one."""
    if keys.strip() == _NONE:
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
        on = _shared(places[winner] & places[loser])
        if loser in own:
            words = f"{key_name(key)} is given to {loser} too ({on}); {winner} has it"
        else:
            left = " or ".join(map(key_name, held[loser]))
            rest = f"{left} left" if left else "no key now"
            rest += ", nor has what is in that menu" if loser in MENUS.values() and not left else ""
            words = f"{key_name(key)} is taken from {loser} ({on}), which has {rest}"
        problems.append((winner, words))
    return held


def _never_second(
    own: Mapping[str, tuple[str, ...]], held: Mapping[str, tuple[str, ...]], places: Mapping[str, frozenset[Where]]
) -> list[tuple[str, str]]:
    """Return the actions of two keys whose first key does something by itself, with the reason."""
    single = [(key, name) for name, keys in held.items() for key in keys if name not in MENUS.values()]
    return [
        (name, f"{key_name(key)} cannot be typed: {key_name(first)} is {other} ({_shared(shared)})")
        for name in own
        for key in held[name]
        for first, other in single
        if key.startswith(f"{first} ") and (shared := places[name] & places[other])
    ]


def _shared(places: frozenset[Where]) -> str:
    """The screens on which two actions meet, in words."""
    return "everywhere" if len(places) == len(Where) else f"on {next(one for one in Where if one in places).value}"
