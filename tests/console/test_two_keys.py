"""Two-key places: the second key, the menu that shows what it may be, and what ends the wait for it."""

from __future__ import annotations

import pytest
from textual import events

from tests.console.sample_crawl import API
from tests.console.support import Stage, stage
from tests.console.test_overview import select
from tests.console.test_typed_ahead import rush
from tui_crawler.console.action import Where
from tui_crawler.console.actions import actions_at
from tui_crawler.console.keymap import read_keymap
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.key_menu import KeyMenu
from tui_crawler.console.table.crawl_table import CrawlTable


def menu(held: Stage) -> str:
    """What the menu shows; empty: there is none."""
    return "\n".join(f"{one.border_title}\n{one.text}" for one in held.app.screen.query(KeyMenu))


async def test_a_menu_appears_when_the_second_key_does_not_come_and_does_what_is_pressed_then() -> None:
    async with stage((80, 24)) as held:
        await select(held, API)
        await held.press("o", rounds=0)
        await held.settle(3, 100)
        assert menu(held) == ""
        await held.settle(1, 120)
        assert menu(held).startswith("origin…")
        assert "t site tree" in menu(held)
        held.sees("t site tree", "o origin…")
        await held.press("t", rounds=2)
        assert held.on_top.WHERE is Where.tree
        assert menu(held) == ""


async def test_what_is_not_possible_is_in_the_menu_with_the_reason() -> None:
    async with stage((120, 40), readonly=True) as held:
        await select(held, API)
        await held.press("o")
        await held.settle(4, 120)
        held.sees("s stop — this console is read-only", "t site tree")
        assert "failure" not in menu(held)
        await held.press("escape", "g")
        await held.settle(4, 120)
        assert "o origin" in menu(held)
        assert "next attempt that failed" not in menu(held)


@pytest.mark.parametrize("size", [(40, 10), (60, 20), (120, 40)])
@pytest.mark.parametrize("first", ["o", "g", "t"])
async def test_a_menu_is_above_the_footer_with_all_its_keys(size: tuple[int, int], first: str) -> None:
    async with stage(size) as held:
        await held.press(first)
        await held.settle(4, 120)
        panel = held.app.screen.query_one(KeyMenu)
        assert panel.region.bottom == size[1] - 1
        assert panel.region.y >= 0
        shown = held.text().splitlines()[panel.region.y + 1 : -1]
        keys = {item.key for item in panel._items}
        assert keys >= {"o": {"t", "s"}, "g": {"e", "q"}, "t": {"c", "e"}}[first]
        assert sum(line.count(f" {key} ") for line in shown for key in keys if len(key) == 1) >= len(keys) - 6


@pytest.mark.parametrize("ends", ["escape", "z", "p"])
async def test_a_key_that_cannot_follow_ends_the_menu_and_does_nothing_itself(ends: str) -> None:
    async with stage((120, 40)) as held:
        await select(held, API)
        await held.press("l")
        await held.settle(4, 120)
        assert menu(held)
        await held.press(ends)
        assert menu(held) == ""
        assert held.journal.sent == []
        told = [notice.text for notice in held.app.notices]
        assert told == ([] if ends == "escape" else [f"l {ends} does nothing here; ? lists the keys"])
        await held.press("j", rounds=0)
        assert held.table("#origins").cursor_key != API, "the next key is a key again"


async def test_two_keys_typed_ahead_act_in_their_order() -> None:
    async with stage((120, 40)) as held:
        await held.settle(2)
        await rush(held, "g", "e", "5", "3", "g", "e", "g", "g", "j", "t", "u")
        assert held.on_top.WHERE is Where.urls
        assert held.table("#urls").cursor_index == 1
        assert not held.app.notices


async def test_a_first_key_is_text_where_one_types() -> None:
    async with stage((120, 40)) as held:
        await held.act("filter.open")
        await held.type("og")
        await held.settle(5, 120)
        assert menu(held) == ""
        assert held.app.screen.query_one(EntryLine).text == "og"


async def test_the_second_key_that_needs_a_name_opens_the_prompt() -> None:
    async with stage((120, 40)) as held:
        await rush(held, "g", "o", text="api.ex")
        line = held.app.screen.query_one(EntryLine)
        assert line.text == "origin api.ex"
        await held.press("enter", rounds=2)
        assert held.on_top.WHERE is Where.origin


async def test_a_dialog_that_opens_or_a_paste_ends_the_menu() -> None:
    async with stage((120, 40)) as held:
        await held.press("g")
        held.app.do("app.ask_quit")
        await held.settle(5, 120)
        await held.press("escape", "e")
        assert not held.app.screen.is_modal
        assert held.table("#origins").cursor_index == 0
        await held.press("g")
        held.app.post_message(events.Paste("e"))
        await held.settle(5, 120)
        assert menu(held) == ""


async def test_a_click_in_a_menu_does_what_its_key_does_and_one_in_the_footer_opens_it() -> None:
    async with stage((120, 40)) as held:
        await select(held, API)
        footer = held.text().splitlines()[-1]
        await held.pilot.click(offset=(footer.index("o origin…"), 39))
        await held.settle(1)
        lines = held.text().splitlines()
        row = next(y for y, line in enumerate(lines) if "t site tree" in line)
        await held.pilot.click(offset=(lines[row].index("t site tree") + 3, row))
        await held.settle(2)
        assert held.on_top.WHERE is Where.tree
        assert menu(held) == ""


async def test_a_click_elsewhere_ends_a_menu() -> None:
    async with stage((120, 40)) as held:
        await held.press("g")
        await held.settle(4, 120)
        await held.pilot.click(offset=(30, 6))
        await held.settle(1)
        assert menu(held) == ""


async def test_keys_of_an_operator_may_be_one_or_two_and_a_menu_may_have_another() -> None:
    own = {"origin.tree": "M", "sql.open": "ctrl+x s", "menu.go": "G", "view.freeze": "o z", "origin.stop": "none"}
    async with stage((120, 40), keymap=own) as held:
        names = held.app.appearance.key_names
        assert [names(one) for one in ("origin.tree", "sql.open", "move.last", "view.freeze", "origin.stop")] == [
            "M", "ctrl+x s", "end", "o z", ":stop",
        ]  # fmt: skip
        assert names.of("move.last") == ("end", "G e")
        table = held.app.screen.query_one("#origins", CrawlTable)
        await held.press("G", "e", rounds=0)
        assert table.cursor_index == table.row_count - 1
        await held.press("o", "z", rounds=0)
        assert held.on_top.frozen
        await held.press("o", "z", "ctrl+x", rounds=0)
        await held.settle(5, 120)
        assert "s sql" in menu(held).casefold()
        await held.press("s", rounds=2)
        assert held.on_top.WHERE is Where.sql


def test_a_first_key_that_does_something_by_itself_and_one_taken_from_a_menu_are_problems() -> None:
    problems = dict(read_keymap({"origin.tree": "p t", "view.freeze": "g"}).problems)
    assert problems == {
        "origin.tree": "p t cannot be typed: p is origin.toggle_pause (on Origins)",
        "view.freeze": "g is taken from menu.go (everywhere), which has no key now, nor has what is in that menu",
    }
    assert read_keymap({"origin.tree": "o t", "origin.stop": "o S"}).problems == ()


async def test_the_palette_has_every_action_of_the_screen_and_says_why_one_cannot_be_done() -> None:
    async with stage((120, 40), readonly=True) as held:
        await held.act("cmd.palette")
        entries = {entry.key: entry for entry in held.app.screen._entries}
        assert set(entries) >= {action.id for action in actions_at(Where.overview)}
        assert entries["origin.tree"].possible
        assert not entries["origin.stop"].possible
        await held.type("origin.stop")
        held.sees("stop", "— this console is read-only", "o s")
        await held.press("enter")
        assert held.told == "stop: this console is read-only"
