"""Keys that are named in words follow the operator's own key map: on every screen, and in every text of the console."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import pytest

import tui_crawler.console
from tests.console.support import Stage, stage
from tui_crawler.console.actions import ACTIONS, BY_ID
from tui_crawler.console.keymap import read_keymap
from tui_crawler.console.keys import USUAL, KeyNames, key_name

NEW_KEYS = [
    f"{held}+{key}"
    for held in ("alt", "ctrl+alt", "super", "hyper", "meta", "alt+super")
    for key in string.ascii_lowercase + string.digits
]
CHANGED = dict(zip(USUAL, NEW_KEYS, strict=False))
"""A key map in which every action has another key, and none of them one that another had."""
OLD = {key_name(key) for keys in USUAL.values() for key in keys.split(",")} - {
    *("", "esc", "enter", "tab", "shift+tab"),
    *":;-",
}
_OLD = "|".join(sorted(map(re.escape, OLD), key=len, reverse=True))
HINT = re.compile(
    rf"(?<![^\s(·])({_OLD})(?: and (?:{_OLD}))?(?: ([a-z]+s)\b(?! of|\.)|  ([a-z]+)\b| (again|in full)\b)"
)
"""A key with what it does: `z undoes`, `ctrl+l shows`, `u again`."""
PRESS = re.compile(rf"[Pp]ress (?:{_OLD})(?!\w)")
DOES = frozenset(
    {
        "add", "adds", "again", "all", "applies", "cancels", "carries", "change", "changes", "counts", "deletes",
        "discards", "drafts", "edits", "go", "gives", "in", "keeps", "keys", "leaves", "lists", "makes", "mark",
        "marks", "move", "moves", "opens", "orders", "puts", "see", "show", "shows", "stops", "takes", "tries",
        "turns", "undoes", "writes",
    }
)  # fmt: skip
"""What keys are said to do, on the screens below."""
FIXED = {
    ("add.py", "ctrl+s adds"),  # keys of dialogs and of lines, which no key map changes
    ("app.py", "ctrl+s begins"),
    ("quit.py", "d detaches"),
    ("quit.py", "q again"),
    ("quit.py", "5 seconds"),
    ("filter_terms.py", "! inverts"),  # what is typed in a filter
    ("rows.py", "! inverts"),
    ("help.toml", "- stands"),  # signs in columns
    ("help.toml", "+ marks"),
    ("help.toml", "+ is"),
    ("help.toml", "ctrl+z takes"),  # a key of the text of rules
    ("exit_summary.py", "; pages"),
    ("wishes.py", ": waits"),
    ("screen.py", "/ does"),
    ("seeking.py", "/ does"),
    ("seeking.py", "L shows"),
}
SCREENS = {
    "overview": (),
    "origin": ("nav.open",),
    "failures": ("view.failures",),
    "failures, pages": ("view.failures", "focus.next"),
    "URLs": ("view.urls",),
    "URL": ("view.failures", "focus.next", "nav.open"),
    "rules": ("view.rules",),
    "rule draft": ("view.rules", "rule.delete"),
    "entry": ("view.rules", "nav.open"),
    "jobs": ("view.jobs",),
    "stashes": ("view.jobs", "stats.count"),
    "robots": ("nav.open", "robots.view"),
    "SQL": ("sql.open",),
    "pivot": ("table.pivot",),
    "help of a pane": ("help.pane",),
    "help of the failures": ("view.failures", "help.pane"),
    "exclude": ("origin.exclude",),
    "stop": ("origin.stop",),
    "pause": ("origin.toggle_pause",),
    "retry": ("view.failures", "group.retry"),
}
"""What leads to a screen, from the overview."""


def test_the_key_map_of_these_tests_changes_every_key() -> None:
    read = read_keymap(CHANGED)
    assert read.problems == ()
    assert set(read.keys) == set(CHANGED) == set(USUAL)
    assert not OLD & {key_name(key) for keys in read.keys.values() for key in keys.split(",")}


def hints(text: str) -> set[str]:
    """The keys that are named with what they do."""
    named = (found for found in HINT.finditer(text) if not found[1].isdecimal())
    return {found[0] for found in named if (found[2] or found[3] or found[4]).split()[0] in DOES}


async def walk(held: Stage, steps: tuple[str, ...]) -> str:
    for step in steps:
        held.app.dispatcher.do(step)
        await held.settle(3)
    return held.text()


@pytest.mark.parametrize("name", SCREENS)
async def test_no_screen_names_a_key_that_is_another_one_now(name: str) -> None:
    async with stage((160, 50)) as held:
        usual = hints(await walk(held, SCREENS[name]))
    async with stage((160, 50), keymap=CHANGED) as held:
        text = await walk(held, SCREENS[name])
    assert not hints(text) & usual, "these do not follow the key map"
    for action_id in {action.id for action in ACTIONS if action.footer}:
        usual_key, label = key_name(BY_ID[action_id].keys.split(",")[0]), BY_ID[action_id].label
        if usual_key in OLD:
            assert f" {usual_key} {label} " not in text


async def test_the_key_of_undo_and_that_of_marks_are_named_as_they_were_changed() -> None:
    async with stage((160, 40), keymap={"journal.undo": "u", "mark.toggle": "ctrl+@"}) as held:
        held.app.dispatcher.do("origin.toggle_pause")
        await held.decided()
        await held.settle()
        assert "  u undoes" in held.text()
        held.app.dispatcher.do("view.rules")
        await held.settle(3)
        held.app.dispatcher.do("origin.exclude")
        assert "ctrl+@ marks one to compare with" in held.text()


def test_every_key_of_a_text_is_that_of_an_action() -> None:
    names = KeyNames()
    assert names("journal.undo") == "u"
    assert names("move.first") == "home"
    assert names("nav.open") == "enter"
    assert names.said("{rule.delete} puts it back; {no.action}, {}") == "o d puts it back; {no.action}, {}"
    gone = KeyNames({"journal.undo": "", "nav.later": ""})
    assert gone.said("undo: {journal.undo}") == "undo: :undo", "it can be typed at the prompt"
    assert gone("nav.later") == "(no key)"


def _texts() -> list[Path]:
    """The files of the console that hold texts."""
    home = Path(tui_crawler.console.__file__).parent
    return sorted(path for end in ("py", "toml") for path in home.rglob(f"*.{end}"))


def _strings(path: Path) -> list[str]:
    """The texts of a module that are no docstrings, or all of a file of texts."""
    if path.suffix == ".toml":
        return [path.read_text().replace("\\\n", "")]
    tree = ast.parse(path.read_text())
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
    return [node.value for node in found if isinstance(node.value, str)]


def test_no_text_of_the_console_has_a_key_of_the_table_written_into_it() -> None:
    written = {
        (path.name, f"{found[1]} {found[2] or found[3] or found[4]}")
        for path in _texts()
        for text in _strings(path)
        for found in HINT.finditer(text)
    }
    assert written - FIXED == set()
    assert not any(PRESS.search(text) for path in _texts() for text in _strings(path))


def test_every_key_that_a_text_leaves_open_is_known() -> None:
    open_keys = re.compile(r"\{([a-z]+\.[a-z_]+)\}")
    named = {name for path in _texts() for text in _strings(path) for name in open_keys.findall(text)}
    assert {"journal.undo", "rule.delete", "move.first"} <= named
    assert named <= set(USUAL) | {"action.id"}
