"""docs/keys.md: every action with its keys, made from the table of actions, and what the presets change."""

from __future__ import annotations

from collections.abc import Iterable

from tui_crawler.console.actions import ACTIONS, Topic, Where
from tui_crawler.console.key_presets import PRESETS, known_keys
from tui_crawler.console.keys import canonical, key_name, table_keys
from tui_crawler.console.welcome.actions import WELCOME


def keys_markdown() -> str:
    """docs/keys.md, made from the table of actions."""
    lines = [
        "# Keys",
        "",
        "Made from `tui_crawler/console/actions.py`; a test keeps this page equal to it. Every key can be changed by",
        "its id in the section `keymap` of the configuration.",
    ]
    for group in Topic:
        lines += ["", f"## {group.value}", "", "| key | id | what it does | where | command line | undo |"]
        lines.append("|---|---|---|---|---|---|")
        for action in (*ACTIONS, *WELCOME):
            if action.group is group:
                keys = " ".join(f"`{key_name(key)}`" for key in action.keys.split(",")) if action.keys else ""
                keys = keys or f"`:{action.word}`"
                where = ", ".join(w.value for w in Where if w in action.where) or "everywhere"
                command = f"`{action.command}`".replace("|", "\\|") if action.command else ""
                lines.append(f"| {keys} | {action.id} | {action.help} | {where} | {command} | {action.undo} |")
        if group is Topic.move:
            for binding in table_keys():
                keys = " ".join(f"`{key_name(key)}`" for key in binding.key.split(","))
                lines.append(f"| {keys} | {binding.id} | {binding.description} | lists | | |")
    return "\n".join([*lines, *_presets_markdown()]) + "\n"


def _presets_markdown() -> list[str]:
    """The lines of docs/keys.md on presets: what each of them changes."""
    _, usual = known_keys()
    names = [name for name in PRESETS if PRESETS[name]]
    lines = [
        "",
        "## Presets",
        "",
        f"`keymap: {{preset: {' | '.join(PRESETS)}}}` takes a whole set of keys; keys by id win over it, and `none` in "
        "place of",
        "a key takes the keys of an action away. `tui-crawler check` tells keys that are given twice.",
        "",
        f"| id | default | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for name in usual:
        if any(name in PRESETS[preset] for preset in names):
            cells = [_cell(usual[name]), *(_cell(canonical(PRESETS[one].get(name, ""))) for one in names)]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _cell(keys: Iterable[str]) -> str:
    return " ".join(f"`{key_name(key)}`" for key in keys)
