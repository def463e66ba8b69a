"""Zoom: the pane with the focus gets half of the body, all of it, and its place again, on every screen."""

from __future__ import annotations

import pytest
from textual.widget import Widget

from tests.console.support import Stage, stage
from tests.console.test_sizes import SCREENS
from tui_crawler.console.panes.zoom import FULL, HALF, NORMAL, panes_of
from tui_crawler.console.screen.base import ConsoleScreen

SIZES = ((60, 20), (80, 24), (120, 40), (200, 60))


def screen_of(held: Stage) -> ConsoleScreen:
    return held.on_top


def regions(held: Stage) -> dict[str, tuple[int, int]]:
    """How wide and high each pane is; (0, 0): not on the screen."""
    return {pane.id or "": (pane.region.width, pane.region.height) for pane in panes_of(screen_of(held))}


async def test_a_pane_grows_to_half_and_to_all_and_shrinks_again() -> None:
    async with stage((120, 40)) as held:
        before = regions(held)
        body = screen_of(held).query_one("#body").region
        await held.press("tab", "tab", rounds=0)
        assert screen_of(held).focused is screen_of(held).query_one("#events")
        await held.press("+", rounds=1)
        assert screen_of(held).zoom.level == HALF
        half = regions(held)
        assert before["events"][1] < half["events"][1] < body.height
        assert half["events"][0] == body.width
        assert half["origins"][1] > 0
        assert "Events · 8 problems among the newest 19 · zoom half" in held.text()
        await held.press("+", rounds=1)
        assert regions(held)["events"] == body.size
        assert "zoom full" in held.text()
        assert "Origins · 11" not in held.text()
        await held.press("zoom.out", rounds=1)
        assert regions(held) == half
        await held.press("zoom.out", rounds=1)
        assert regions(held) == before
        assert "zoom" not in held.text().replace("+ zoom", "")


async def test_a_pane_that_has_half_anyway_gets_all_at_once() -> None:
    async with stage((120, 40)) as held:
        await held.press("+", rounds=1)
        assert screen_of(held).zoom.level == FULL
        assert "Events" not in held.text()
        await held.press("+", rounds=0)
        assert "the pane has the whole screen" in held.text()
        await held.press("zoom.out", rounds=1)
        assert screen_of(held).zoom.level == NORMAL
        await held.press("zoom.out", rounds=0)
        assert "no pane is enlarged" in held.text()


async def test_esc_leaves_the_zoom_before_anything_else() -> None:
    async with stage((120, 40)) as held:
        await held.press("2", "/", *"exit:timeout", "enter", rounds=1)
        assert screen_of(held).table_filter.filtered is not None
        await held.press("+", "+", "escape", rounds=1)
        assert screen_of(held).zoom.level == NORMAL
        assert screen_of(held).table_filter.filtered is not None
        await held.press("escape", rounds=1)
        assert screen_of(held).table_filter.filtered is None
        assert screen_of(held).WHERE.value == "Failures"


async def test_the_zoom_goes_with_the_focus() -> None:
    async with stage((120, 40)) as held:
        await held.press("+", rounds=1)
        await held.press("tab", rounds=1)
        screen = screen_of(held)
        assert screen.focused is screen.query_one("#summary")
        assert screen.zoom.level == FULL
        assert screen.query_one("#summary").region == screen.query_one("#body").region
        assert "zoom full" in held.text()
        await held.press("tab", "tab", rounds=1)
        assert screen.focused is screen.query_one("#origins")
        held.sees("─ Origins · 11 · by fail ▼ · ", " · zoom full ─")


async def test_rows_that_come_in_leave_the_title_marked() -> None:
    async with stage((120, 40)) as held:
        await held.press("tab", "tab", "+", rounds=3)
        held.reports.commit(*held.reports.rows.values())
        await held.settle(3)
        assert "zoom half" in held.text()


async def test_a_pane_that_the_layout_takes_away_takes_its_zoom_along() -> None:
    async with stage((120, 40)) as held:
        await held.press("tab", "+", "+", rounds=1)
        await held.pilot.resize_terminal(60, 20)
        await held.quiet()
        await held.settle(2)
        assert "shop.ex…ple.net" in held.text()
        screen = screen_of(held)
        assert screen.focused in panes_of(screen)
        assert ("zoom full" in str(held.table("#origins").border_title)) is (screen.zoom.level == FULL)


async def test_two_clicks_on_a_title_do_the_same() -> None:
    async with stage((120, 40)) as held:
        events = screen_of(held).query_one("#events")
        for level in (HALF, FULL, NORMAL):
            at = (events.region.x + 6, events.region.y)
            await held.pilot.click(offset=at, times=2)
            await held.quiet(2)
            assert screen_of(held).zoom.level == level
        assert screen_of(held).focused is events


def outside(held: Stage) -> list[str]:
    """The panes that reach out of the body; above and below only where nothing scrolls to what lies there."""
    screen = screen_of(held)
    body = screen.query_one("#body")
    found = []
    for pane in panes_of(screen):
        scrolls = any(isinstance(one, Widget) and one.max_scroll_y > 0 for one in pane.ancestors)
        across = body.region.x <= pane.region.x and pane.region.right <= body.region.right
        down = scrolls or (body.region.y <= pane.region.y and pane.region.bottom <= body.region.bottom)
        if pane.region.area and not (across and down):
            found.append(f"{pane.id} {pane.region} at {screen.zoom.level}")
    return found


@pytest.mark.parametrize("name", SCREENS)
async def test_every_pane_of_every_screen_fills_the_body_reaches_not_out_of_it_and_gives_it_back(name: str) -> None:
    async with stage(SIZES[-1]) as held:
        await held.press(*SCREENS[name][0], rounds=1)
        screen = screen_of(held)
        for size in SIZES:
            await held.pilot.resize_terminal(*size)
            await held.quiet()
            before = regions(held)
            for pane in panes_of(screen):
                screen.set_focus(pane)
                screen.zoom.grow()
                await held.quiet(1)
                assert not outside(held), (size, pane.id)
                if screen.zoom.level == HALF:
                    (width, height), (wide, high) = regions(held)[pane.id or ""], before[pane.id or ""]
                    assert width * height >= wide * high
                    screen.zoom.grow()
                    await held.quiet(1)
                    assert not outside(held), (size, pane.id)
                assert pane.region == screen.query_one("#body").region, (size, pane.id)
                screen.zoom.leave()
            await held.quiet(2)
            assert {name: wide for name, (wide, _) in regions(held).items()} == {
                name: wide for name, (wide, _) in before.items()
            }
