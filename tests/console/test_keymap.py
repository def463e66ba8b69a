"""Key maps: the operator's keys over those of the table, and what is wrong with them."""

from __future__ import annotations

from tests.console.sample_crawl import WWW
from tests.console.support import stage
from tui_crawler.console.actions import ACTIONS, BY_ID
from tui_crawler.console.keymap import is_key, read_keymap
from tui_crawler.console.keys import canonical, key_name
from tui_crawler.console.table.crawl_table import CrawlTable


def test_every_key_of_the_table_is_a_key() -> None:
    for action in ACTIONS:
        assert all(is_key(key) for keys in canonical(action.keys) for key in keys.split()), action.id
    assert not is_key("foo")
    assert not is_key("hold+p")
    assert is_key("ctrl+alt+p")


def test_the_operators_keys_win_and_the_loser_is_named() -> None:
    keymap = read_keymap({"origin.stop": "p"})
    assert keymap.keys["origin.stop"] == "p"
    assert keymap.keys["origin.toggle_pause"] == ""
    assert keymap.own == {"origin.stop"}
    assert keymap.problems == (
        ("origin.stop", "p is taken from origin.toggle_pause (on Origins), which has no key now"),
    )
    assert keymap.for_textual()["origin.toggle_pause"] != ""


def test_a_key_that_meets_nobody_is_no_conflict() -> None:
    assert BY_ID["rules.test"].where.isdisjoint(BY_ID["origin.stop"].where)
    keymap = read_keymap({"rules.test": "o s"})
    assert keymap.problems == ()
    assert set(keymap.keys) == {"rules.test"}


def test_two_actions_may_change_places() -> None:
    keymap = read_keymap({"origin.stop": "p", "origin.toggle_pause": "o s"})
    assert keymap.problems == ()
    assert (keymap.keys["origin.stop"], keymap.keys["origin.toggle_pause"]) == ("p", "o s")


def test_the_same_key_twice_is_told_and_the_first_has_it() -> None:
    keymap = read_keymap({"origin.stop": "V", "origin.add": "V,a"})
    assert keymap.problems == (("origin.stop", "V is given to origin.add too (on Origins); origin.stop has it"),)
    assert "origin.add" not in keymap.keys  # it has a, as before
    everywhere = read_keymap({"view.freeze": "U", "theme.next": "U"})
    assert "(everywhere)" in everywhere.problems[0][1]


def test_what_is_no_action_or_no_key_is_told() -> None:
    keymap = read_keymap({"origin.halt": "p", "view.freeze": "foo", "sort.pick": "ctrl+i", "sort.reverse": "none"})
    assert [name for name, _ in keymap.problems] == ["origin.halt", "view.freeze", "sort.pick"]
    assert "a terminal cannot distinguish ctrl+i from tab" in dict(keymap.problems)["sort.pick"]
    assert keymap.keys == {"sort.reverse": ""}


def test_names_of_keys() -> None:
    assert [key_name(key) for key in ("alt+less_than_sign", "plus", "underscore", "+", "ctrl+underscore")] == [
        "alt+<",
        "+",
        "_",
        "+",
        "ctrl+_",
    ]
    assert [key_name(key) for key in ("space", "f1", "ctrl+@", "tab", "apostrophe")] == [
        "space",
        "f1",
        "ctrl+@",
        "tab",
        "'",
    ]


async def test_the_keys_of_tables_and_of_actions_can_be_changed() -> None:
    keymap = {"move.down": "ctrl+n", "move.last": "alt+greater_than_sign", "cmd.palette": "alt+x", "nav.back": "ctrl+g"}
    async with stage(keymap=keymap | {"journal.undo": "u"}) as held:
        table = held.app.screen.query_one("#origins", CrawlTable)
        await held.press("ctrl+n", "ctrl+n", "j", rounds=0)
        assert table.cursor_index == 2
        await held.press("move.last", rounds=0)
        assert table.cursor_index == table.row_count - 1
        await held.press("alt+x", rounds=0)
        assert held.app.screen.is_modal
        await held.press("ctrl+g", rounds=0)
        assert not held.app.screen.is_modal
        table.move_cursor(key=WWW)
        await held.press("p", rounds=0)
        await held.decided()
        await held.press("u", rounds=0)
        await held.decided()
        assert [type(command).__name__ for command in held.journal.sent] == ["PauseOrigins", "ResumeOrigins"]


async def test_an_action_without_a_key_is_still_in_the_help_sheet_and_does_nothing_by_key() -> None:
    async with stage((120, 40), keymap={"view.freeze": "p", "delay.up": "d,V"}) as held:
        assert "keymap: p is taken from origin.toggle_pause" in held.text()
        assert "keymap: p is taken from job.toggle_pause" in held.text()
        await held.press("?", rounds=0)
        await held.type("toggle_pause")
        assert "no key" in held.text()
        await held.press(*["backspace"] * 12, rounds=0)
        await held.type("view.freeze")
        assert "✎ p" in held.text()
        assert "changed keys: ✎ 2" in held.text()
        assert "3 problems in keymap" in held.text()
        await held.press(*["backspace"] * 11, rounds=0)
        await held.type("problem")
        assert "p is taken from job.toggle_pause" in held.text()
        await held.press("escape", rounds=0)
        await held.press("p", rounds=0)
        assert held.app.screen.frozen  # type: ignore[attr-defined]


async def test_the_footer_names_the_keys_that_hold() -> None:
    async with stage(keymap={"origin.toggle_pause": "ctrl+b", "help.keys": "f2"}) as held:
        assert "ctrl+b pause" in held.text()
        assert "f2 help" in held.text()
