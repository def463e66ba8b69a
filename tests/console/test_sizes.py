"""From 40×10 to 250×70, and what is smaller: nothing raises, and what matters is still there."""

from __future__ import annotations

import random

import pytest

from tests.console.support import Stage, stage

SCREENS = {
    "overview": ((), ("?", "s")),
    "origin": (("enter",), ("origin.stop",)),
    "failures": (("2",), ("R",)),
    "rules": (("4",), ("rules.test",)),
    "rule draft": (("4", "rule.delete"), ("rule.edit", "rules.test")),
    "url": (("2", "tab", "enter"), ("a", "ctrl+p")),
    "url body": (("2", "tab", "enter", "url.tab_body"), ("i",)),
    "urls": (("3",), ("/", "i")),
    "why": (("i", "enter"), ("i",)),
    "logs": (("5",), ("?",)),
    "jobs": (("7",), ("a",)),
    "robots": (("enter", "robots.view"), ("robots.test",)),
}
"""Keys that lead to a screen, and the dialogs opened over it."""


pytestmark = pytest.mark.usefixtures("painted_when_quiet")


async def resize(held: Stage, width: int, height: int) -> None:
    await held.pilot.resize_terminal(width, height)
    await held.quiet()


async def test_narrow_is_one_column_with_the_reason_below_the_table() -> None:
    async with stage((60, 20)) as held:
        assert held.app.screen.has_class("-narrow")
        text = held.text()
        assert "shop.ex" in text
        assert {"STATE", "ORIGIN", "TODO", "PAT", "NEXT"} <= {*text.splitlines()[3].split()}
        assert "⚠ failing  " in text.splitlines()[-2]
        assert "Events" not in text
        assert "q quit" in text.splitlines()[-1]


async def test_eighty_columns_are_narrow_and_eighty_one_are_not() -> None:
    async with stage((80, 24)) as held:
        assert held.app.screen.has_class("-narrow")
        assert "Events" in held.text()
        await resize(held, 81, 24)
        assert not held.app.screen.has_class("-narrow")
        assert "◷ waiting" in held.text()


async def test_too_small_is_one_line() -> None:
    async with stage((39, 20)) as held:
        assert held.text().strip() == "too small: 40×10 needed"
        await resize(held, 40, 9)
        assert held.text().strip() == "too small: 40×10 needed"
        await resize(held, 40, 10)
        assert "example" in held.text()
        await resize(held, 1, 1)
        await resize(held, 120, 40)
        assert "api.example.org" in held.text()


async def test_too_small_under_a_dialog_too() -> None:
    async with stage() as held:
        await held.press("?")
        await resize(held, 20, 5)
        await resize(held, 120, 40)
        assert "Keys · Origins" in held.text()
        await held.press("escape")
        assert "api.example.org" in held.text()


@pytest.mark.parametrize("name", SCREENS)
async def test_a_storm_of_sizes_raises_nothing(name: str) -> None:
    storm = random.Random(name)
    keys, dialogs = SCREENS[name]
    async with stage() as held:
        await held.press(*keys, rounds=2)
        for dialog in ("", *dialogs):
            if dialog:
                await held.press(dialog, rounds=0)
            for _ in range(3):
                await resize(held, storm.choice((1, 39, 40, 80, 81, 120, 250)), storm.choice((1, 9, 10, 24, 70)))
                await held.settle(1)
            if dialog:
                await held.press("escape", rounds=0)
        await resize(held, 120, 40)
        assert held.app.is_running
        assert len(held.text().splitlines()) == 40


async def test_a_screen_hidden_during_a_resize_fits_when_it_comes_back() -> None:
    async with stage((120, 40)) as held:
        await held.press("2", rounds=2)
        await resize(held, 60, 20)
        await held.press("escape", rounds=2)
        assert held.app.screen.has_class("-narrow")
        assert "shop.ex" in held.text()


async def test_notices_are_not_drawn_where_nothing_else_fits_and_cover_no_row_else() -> None:
    async with stage((120, 30)) as held:
        held.app.tell("one", "something was done")
        await held.quiet()
        lines = held.text().splitlines()
        assert "something was done" in lines[-2], "on the border of the lowest pane"
        await resize(held, 30, 8)
        assert held.text().strip() == "too small: 40×10 needed"[:30]
        held.app.tell("two", "another thing")
        await held.quiet()
        assert "another" not in held.text()
        await resize(held, 120, 30)
        assert "another thing" in held.text()
        await held.press("/", rounds=0)
        lines = held.text().splitlines()
        assert "another thing" in lines[-3], "the entry line stays whole"
