"""docs/keys.md: every action with its keys on one page, made from the table of actions."""

from __future__ import annotations

from collections.abc import Iterable

from tui_crawler.console.action import VIEWS, Action, Where
from tui_crawler.console.actions import ACTIONS, BY_ID
from tui_crawler.console.keys import MENUS, TABLE_BINDINGS, USUAL, canonical, key_name
from tui_crawler.console.welcome.actions import WELCOME

_MANY = 8
"""So many screens are not named one by one."""


def keys_markdown() -> str:
    """Return docs/keys.md, made from the table of actions."""
    lines = [
        "# Keys",
        "",
        "Made from `tui_crawler/console/actions.py`; a test keeps this page equal to it. In the console, `?` shows the",
        "keys of a screen with what each does and why it cannot be done now, and `ctrl+p` finds any action.",
        "",
        "| key | what it does | id |",
        "|---|---|---|",
        *_single_keys(),
        "",
        "Menus: press the first key, then the second. After 0.4 s a panel shows what may follow; `esc` closes it.",
        "",
        "| first key | second key |",
        "|---|---|",
        *(_menu(first, BY_ID[menu]) for first, menu in MENUS.items()),
        "",
        f"Without a key, typed after `:`: {_listed(_typed())}.",
        f"On the welcome screen: {_listed(f'`{_keys(one.keys)}` {one.id}' for one in WELCOME)}.",
        "",
        "`keymap: {journal.undo: U, origin.tree: o b, nav.last: none}` in the configuration gives actions other keys",
        "(one, or two with a space; several with commas), or none. `tui-crawler check` names keys that conflict.",
    ]
    return "\n".join(lines) + "\n"


def _single_keys() -> Iterable[str]:
    """A row for each letter or other key, with the actions it does, small and capital."""
    moves = (f"`{_keys(USUAL[str(one.id)])}` {one.id}" for one in TABLE_BINDINGS if USUAL[str(one.id)])
    yield f"| arrows … | move and mark rows | {_listed(moves)} |"
    views = {where.goes_there: where.value for where in VIEWS}
    yield f"| `1` … `{len(VIEWS)}` | {_listed(views.values())} | {_listed(views)} |"
    done: dict[str, dict[str, list[Action]]] = {}
    for action in ACTIONS:
        if action.keys and " " not in action.keys and action.id not in {*views, *MENUS.values()}:
            done.setdefault(action.keys.lower(), {}).setdefault(action.keys, []).append(action)
    for one in done.values():
        does = "; ".join(f"{actions[0].label}: {actions[0].help}" for actions in one.values())
        names = _listed(action.id for actions in one.values() for action in actions)
        yield f"| {' '.join(f'`{_keys(keys)}`' for keys in one)} | {does} | {names} |"


def _menu(first: str, menu: Action) -> str:
    """The row of a menu: its places by the screens where they are."""
    places: dict[str, list[str]] = {}
    for action in (one for one in ACTIONS if one.keys.startswith(f"{first} ")):
        where = _listed(one.value for one in Where if one in action.where) if len(action.where) < _MANY else "All"
        second = key_name(canonical(action.keys)[0].split()[1])
        places.setdefault(where or "All", []).append(f"`{second}` {action.label} ({action.id})")
    cells = (f"{where}: {_listed(listed)}" for where, listed in places.items())
    return f"| `{first}` {menu.label}… ({menu.id}) | {'. '.join(cells)} |"


def _typed() -> Iterable[str]:
    sorts = [one.id for one in ACTIONS if one.id.startswith("sort.") and not one.keys]
    words = [f"`:{one.word}` {one.id}" for one in ACTIONS if not one.keys and one.word]
    moves = [str(one.id) for one in TABLE_BINDINGS if not USUAL[str(one.id)]]
    return [*words, f"`:sort COLUMN` {_listed(sorts)}", *moves]


def _keys(keys: str) -> str:
    return "` `".join(map(key_name, canonical(keys)))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
