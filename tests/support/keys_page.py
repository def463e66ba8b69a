"""docs/keys.md: every action with its keys, made from the table of actions."""

from __future__ import annotations

from tui_crawler.console.action import Topic, Where
from tui_crawler.console.actions import ACTIONS
from tui_crawler.console.keys import TABLE_BINDINGS, key_name
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
            for binding in TABLE_BINDINGS:
                keys = " ".join(f"`{key_name(key)}`" for key in binding.key.split(","))
                lines.append(f"| {keys} | {binding.id} | {binding.description} | lists | | |")
    below = [
        "",
        "## Changed keys",
        "",
        "`keymap: {journal.undo: u, nav.last: none}` gives an action another key (several with commas), or none.",
        "`tui-crawler check` names keys that are given twice.",
    ]
    return "\n".join([*lines, *below]) + "\n"
