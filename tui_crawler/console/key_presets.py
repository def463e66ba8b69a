"""Key maps: presets, the operator's own keys, and what is wrong with them. Pure, apart from the names of keys.

The operator's own keys win over a preset, a preset wins over the table of actions. An action that meets a stronger one
on a key, on some screen, does not have that key any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from textual.keys import Keys

from tui_crawler.console.actions import ACTIONS, Where
from tui_crawler.console.keys import canonical, character_of, key_name, table_keys

PRESET = "preset"
"""The key of `keymap` that names a preset; all others are ids of actions."""
NO_KEY = "none"
"""Written in place of a key: the action has none."""

PRESETS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "vim": {
        "move.page_down": "ctrl+f,pagedown",
        "move.page_up": "ctrl+b,pageup",
        "mark.range": "v,V",
        "journal.undo": "u",
        "journal.redo": "ctrl+r",
        "failures.count": "U",
        "stats.count": "U",
        "rules.bring_back": "U",
        "nav.earlier": "ctrl+o,[",
        "nav.last": "ctrl+circumflex_accent,-",
        "focus.next": "ctrl+w,tab",
        "focus.jump": "apostrophe",
        "zoom.in": "z,+",
        "zoom.out": "Z,_",
    },
    "emacs": {
        "move.down": "ctrl+n,down",
        "move.up": "ctrl+p,up",
        "move.right": "ctrl+f,right",
        "move.left": "ctrl+b,left",
        "move.page_down": "ctrl+v,pagedown",
        "move.page_up": "alt+v,pageup",
        # without the Kitty protocol a terminal's alt+< arrives as <
        "move.first": "home,alt+less_than_sign,less_than_sign",
        "move.last": "end,alt+greater_than_sign,greater_than_sign",
        "mark.toggle": "ctrl+@,space",
        "list.older": "alt+n",
        "list.newer": "alt+p",
        "log.newest": "alt+n",
        "filter.open": "ctrl+s,/",
        "log.search": "ctrl+s,/",
        "app.screenshot": "alt+s",
        "copy.pick": "alt+w,y",
        "journal.undo": "ctrl+underscore,z",
        "nav.back": "ctrl+g,escape",
        "cmd.palette": "alt+x",
    },
}
"""Preset -> action id -> keys."""

_SAME_BYTES = MappingProxyType({"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+j": "enter"})
_MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "meta", "hyper"})
_NAMED = frozenset(key.value for key in Keys)
_OWN, _PRESET, _TABLE = 2, 1, 0


@dataclass(frozen=True, slots=True)
class KeyMap:
    """The keys that hold. `keys`: action id -> keys of every action whose keys are not those of the table (empty: it
    has none). `own`: the ids whose keys the operator wrote. `problems`: id -> what is wrong, in words."""

    preset: str = "default"
    keys: Mapping[str, str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    problems: tuple[tuple[str, str], ...] = ()

    def for_textual(self) -> dict[str, str]:
        """The same for `App.set_keymap`, which cannot take a key away: such an action gets a key that nobody has."""
        return {name: keys or "no-key" for name, keys in self.keys.items()}


@dataclass(frozen=True, slots=True)
class _Claim:
    name: str
    places: frozenset[Where]
    rank: int


def read_keymap(written: Mapping[str, str]) -> KeyMap:
    """The key map of the configuration: `preset`, and action id -> keys, separated by commas."""
    problems: list[tuple[str, str]] = []
    preset = written.get(PRESET, "default")
    if preset not in PRESETS:
        problems.append((PRESET, f"there is no preset {preset}; there are {', '.join(PRESETS)}"))
        preset = "default"
    places, usual = known_keys()
    own: dict[str, tuple[str, ...]] = {}
    for name, keys in written.items():
        if name == PRESET:
            continue
        if name not in places:
            problems.append((name, f"there is no action {name}"))
        elif (read := _read_keys(name, keys, problems)) is not None:
            own[name] = read
    ranked = {name: (own[name], _OWN) for name in own}
    ranked |= {name: (canonical(keys), _PRESET) for name, keys in PRESETS[preset].items() if name not in own}
    ranked |= {name: (keys, _TABLE) for name, keys in usual.items() if name not in ranked}
    held = _share_out(ranked, places, problems)
    changed = {name: ",".join(held[name]) for name in usual if held[name] != usual[name]}
    return KeyMap(preset, changed, frozenset(own), tuple(problems))


def is_key(key: str) -> bool:
    """Whether a canonical name is that of a key."""
    *modifiers, last = key.split("+")
    known = len(last) == 1 or last in _NAMED or key in _NAMED or character_of(last) is not None
    return known and set(modifiers) <= _MODIFIERS


def known_keys() -> tuple[dict[str, frozenset[Where]], dict[str, tuple[str, ...]]]:
    """Of every action, those of tables among them: where it exists, and its keys."""
    places = {action.id: action.where or frozenset(Where) for action in ACTIONS}
    usual = {action.id: canonical(action.keys) for action in ACTIONS}
    for binding in table_keys():
        name = binding.id or ""
        places[name], usual[name] = frozenset(Where), canonical(binding.key)
    return places, usual


def _read_keys(name: str, keys: str, problems: list[tuple[str, str]]) -> tuple[str, ...] | None:
    """The keys an operator wrote for an action; None when none of them is one."""
    if keys.strip() == NO_KEY:
        return ()
    good = []
    for key in canonical(keys):
        if key in _SAME_BYTES:
            problems.append((name, f"a terminal cannot tell {key} from {_SAME_BYTES[key]}"))
        elif not is_key(key):
            problems.append((name, f"there is no key {key}"))
        else:
            good.append(key)
    return tuple(good) or None


def _share_out(
    ranked: Mapping[str, tuple[tuple[str, ...], int]],
    places: Mapping[str, frozenset[Where]],
    problems: list[tuple[str, str]],
) -> dict[str, tuple[str, ...]]:
    """Which keys each action keeps: the stronger claim has the key, among equals the one that stands first."""
    claims: dict[str, list[_Claim]] = {}
    for name, (keys, rank) in sorted(ranked.items(), key=lambda item: -item[1][1]):
        for key in keys:
            claims.setdefault(key, []).append(_Claim(name, places[name], rank))
    lost: dict[str, set[str]] = {}
    for key, rivals in claims.items():
        winners: list[_Claim] = []
        for claim in rivals:
            winner = next((one for one in winners if one.places & claim.places), None)
            if winner is None:
                winners.append(claim)
                continue
            lost.setdefault(claim.name, set()).add(key)
            if winner.rank == _OWN:
                left = [one for one in ranked[claim.name][0] if one not in lost[claim.name]]
                problems.append((winner.name, _taken(key, winner, claim, left)))
    return {name: tuple(key for key in keys if key not in lost.get(name, ())) for name, (keys, _) in ranked.items()}


def _taken(key: str, winner: _Claim, loser: _Claim, left: Iterable[str]) -> str:
    where = next(place for place in Where if place in winner.places & loser.places)
    on = "everywhere" if len(winner.places & loser.places) == len(Where) else f"on {where.value}"
    if loser.rank == _OWN:
        return f"{key_name(key)} is given to {loser.name} too ({on}); {winner.name} has it"
    rest = " or ".join(map(key_name, left))
    return f"{key_name(key)} is taken from {loser.name} ({on}), which has " + (f"{rest} left" if rest else "no key now")
