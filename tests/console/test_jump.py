"""The jump overlay: a letter for every pane, the keys of tabs and views; one key or a click goes there."""

from __future__ import annotations

import pytest
from textual.events import MouseDown, MouseUp
from textual.geometry import Region
from textual.widget import Widget

from tests.console.support import Stage, stage
from tui_crawler.console.dialogs.jump import LETTERS, JumpLabel, JumpScreen, targets_of
from tui_crawler.console.panes.key_menu import KeyMenu
from tui_crawler.console.panes.zoom import panes_of

SIZES = ((40, 10), (60, 20), (80, 24), (120, 40), (200, 60))


def labels(held: Stage) -> dict[str, Region]:
    return {label.target.key: label.region for label in held.app.screen.query(JumpLabel)}


def test_there_are_letters_enough_and_each_is_one() -> None:
    assert len(LETTERS) == len(set(LETTERS)) == 26


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_pane_has_a_letter_that_can_be_read(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        screen = held.on_top
        panes = panes_of(screen)
        await held.press("focus.jump", rounds=0)
        assert isinstance(held.app.screen, JumpScreen)
        shown = labels(held)
        assert list(shown) == list(LETTERS[: len(panes)])
        whole = Region(0, 0, *size)
        for pane, region in zip(panes, shown.values(), strict=True):
            assert region.area
            assert region in whole
            assert region in pane.region
        assert held.app.screen.query_one(KeyMenu).region in whole
        for words in ("1 origins", "2 failures", "7 jobs"):
            assert words in held.text()


async def test_a_letter_goes_to_its_pane() -> None:
    async with stage((120, 40)) as held:
        await held.press("focus.jump", "d", rounds=0)
        screen = held.app.console_screen
        assert screen is held.app.screen
        assert screen.focused is screen.query_one("#events")
        await held.press("focus.jump", "A", rounds=0)  # with caps lock, too
        assert screen.focused is screen.query_one("#origins")


async def test_a_number_goes_to_its_view_and_esc_leaves() -> None:
    async with stage((120, 40)) as held:
        await held.press("focus.jump", "escape", rounds=0)
        assert held.app.screen is held.app.console_screen
        await held.press("focus.jump", "m", rounds=0)
        assert isinstance(held.app.screen, JumpScreen)  # nothing is there
        await held.press("2", rounds=1)
        assert held.app.screen.query("#groups")


async def test_tabs_have_their_keys() -> None:
    async with stage((120, 40)) as held:
        await held.press("2", "tab", "enter", rounds=1)
        await held.press("focus.jump", rounds=0)
        assert {"W", "A", "H", "L", "B"} <= set(labels(held))
        await held.press("L", rounds=1)
        assert held.app.screen.query_one("#url-links").display
        assert held.app.screen.query_one("#body").has_class("tab-links")


async def test_a_double_click_beside_it_leaves_it_only() -> None:
    async with stage((120, 40)) as held:
        await held.press("enter", rounds=0)
        below = held.app.screen
        for depth in (1, 0):
            await held.press("focus.jump", rounds=0)
            for kind in (MouseDown, MouseUp) * 2:
                held.app.post_message(kind(None, 2, 30, 0, 0, 1, False, False, False, 2, 30))
            await held.quiet()
            assert held.app.screen is below, depth
            await held.press("escape", rounds=0)
            below = held.app.screen


async def test_a_click_jumps_and_a_click_beside_leaves() -> None:
    async with stage((120, 40)) as held:
        await held.press("focus.jump", rounds=0)
        x, y = labels(held)["d"].center
        await held.pilot.click(offset=(int(x), int(y)))
        await held.quiet()
        screen = held.app.console_screen
        assert held.app.screen is screen
        assert screen.focused is screen.query_one("#events")
        await held.press("focus.jump", rounds=0)
        await held.pilot.click(offset=(2, 30))
        await held.quiet()
        assert held.app.screen is screen
        await held.press("focus.jump", rounds=0)
        box = held.app.screen.query_one(KeyMenu)
        line = held.text().splitlines()[box.region.y + 1]
        await held.pilot.click(offset=(line.index("failures"), box.region.y + 1))
        await held.quiet()
        await held.settle()
        assert held.app.screen.query("#groups")


async def test_panes_behind_an_enlarged_one_stand_in_the_box_and_the_zoom_goes_along() -> None:
    async with stage((120, 40)) as held:
        await held.press("+", "focus.jump", rounds=1)
        assert list(labels(held)) == ["a"]
        assert "d Events" in held.text()
        await held.press("d", rounds=1)
        screen = held.on_top
        assert screen.focused is screen.query_one("#events")
        assert "zoom full" in held.text()


async def test_keys_of_views_are_the_operators() -> None:
    async with stage((120, 40), keymap={"view.failures": "F2"}) as held:
        assert held.app.appearance.key_names.own == {}  # there is no such key: the usual one holds
        assert "there is no key F2" in held.text()
    async with stage((120, 40), keymap={"view.failures": "f2"}) as held:
        screen = held.on_top
        found = {target.key: target.goal for target in targets_of(screen, held.app.appearance.key_names)}
        assert found["f2"] == "view.failures"
        await held.press("focus.jump", "f2", rounds=1)
        assert held.app.screen.query("#groups")


async def test_panes_scrolled_out_of_view_stand_in_the_box_also_after_a_resize() -> None:
    async with stage((120, 40)) as held:
        await held.press("enter", "focus.jump", rounds=1)
        wide = labels(held)
        assert len(wide) >= 4
        for size in ((60, 20), (80, 24), (120, 40)):
            await held.pilot.resize_terminal(*size)
            await held.quiet()
            screen = held.on_top
            box = held.app.screen.query_one(KeyMenu)
            for label in held.app.screen.query(JumpLabel):
                assert isinstance(label.target.goal, Widget)
                assert label.region in label.target.goal.region, "on the pane it goes to"
                assert not label.region.overlaps(box.region) or label.region.y == label.target.goal.region.y
            unseen = [pane for pane in panes_of(screen) if not screen.find_widget(pane).visible_region.area]
            assert box.text.count("▼") >= len(unseen)
            assert box.region in Region(0, 0, *size)
        assert labels(held) == wide
        await held.pilot.resize_terminal(60, 20)
        await held.quiet()
        assert screen is not None
        last = panes_of(screen)[-1]
        await held.press(LETTERS[len(panes_of(screen)) - 1], rounds=1)
        assert screen.focused is last
        assert last.region.y < 20, "it is scrolled to"
