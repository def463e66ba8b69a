"""What has the focus is on the screen, in every view and at every size; one origin in tabs when narrow."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from tests.console.sample_crawl import API
from tests.console.support import Stage, stage
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.zoom import panes_of
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.text.cells import cell_text

SIZES = ((60, 20), (80, 24), (120, 40), (200, 60))
VIEWS = {
    "overview": (),
    "origin": ("enter",),
    "origin, another pane": ("enter", "tab"),
    "origin, filtered": ("enter", "/", *"exit:timeout", "enter"),
    "origin, enlarged": ("enter", "+"),
    "failures": ("2",),
    "failures, pages": ("2", "tab"),
    "failures, enlarged": ("2", "tab", "+"),
    "url": ("2", "tab", "enter"),
    "url, attempts": ("2", "tab", "enter", "url.tab_attempts"),
    "url, headers": ("2", "tab", "enter", "url.tab_headers"),
    "url, links": ("2", "tab", "enter", "url.tab_links"),
    "url, body": ("2", "tab", "enter", "url.tab_body"),
    "why": ("2", "tab", "enter", "i", "enter"),
    "urls": ("3",),
    "rules": ("4",),
    "rule draft": ("4", "rule.delete"),
    "logs": ("5",),
    "jobs": ("7",),
    "workers": ("8",),
    "jobs, ledger": ("7", "tab", "/"),
    "robots.txt": ("enter", "robots.view"),
    "sql": ("sql.open",),
}
"""Keys that lead to a view."""


def seen(held: Stage) -> bool:
    """Whether the pane that has the focus, or that is filtered, begins inside the visible body, with a row."""
    screen = held.on_top
    body = screen.query_one("#body").region
    pane = screen.focused if screen.focused in body_panes(held) else screen.table_filter.table
    assert pane is not None
    shown = held.app.screen.find_widget(pane).visible_region
    return shown in body and shown.y == pane.region.y and shown.height >= min(pane.region.height, 3) > 0


def body_panes(held: Stage) -> list[object]:
    screen = held.on_top
    return list(screen.query("#body .pane"))


async def resize(held: Stage, width: int, height: int) -> None:
    await held.pilot.resize_terminal(width, height)
    await held.quiet()


@pytest.mark.parametrize("view", VIEWS)
async def test_what_has_the_focus_is_on_the_screen(view: str) -> None:
    async with stage(SIZES[1]) as held:
        await held.press(*VIEWS[view], rounds=1)
        unseen = [] if seen(held) else ["at first"]
        for size in (SIZES[2], SIZES[0], SIZES[3]):
            await resize(held, *size)
            if not seen(held):
                unseen.append(str(size))
    assert not unseen


@pytest.mark.usefixtures("painted_when_quiet")
async def test_narrow_one_origin_shows_all_that_matters_at_once() -> None:
    async with stage(SIZES[1]) as held:
        held.app.screen.query_one("#origins", CrawlTable).move_cursor(key=API)
        await held.press("enter", rounds=2)
        held.sees("⚠ failing ●●○○○ 2/5", "delay 4.0s", "Todo", "Attempts by exit", "3→2 timeout 10:41", "patience 3→2")
        assert held.focused == "attempts"
        await held.press("tab", "enter", rounds=2)
        assert held.app.screen.query("#url-trace"), "the first page of its todo list"


@pytest.mark.usefixtures("painted_when_quiet")
async def test_narrow_a_filter_of_an_origin_shows_what_it_filters() -> None:
    async with stage(SIZES[0]) as held:
        held.app.screen.query_one("#origins", CrawlTable).move_cursor(key=API)
        await held.press("enter", "/", *"exit:timeout", "enter", rounds=1)
        attempts = held.table("#attempts")
        assert {cell_text(attempts.row(key).cells[1]) for key in attempts.row_order} == {"⚠ timeout"}


async def test_a_narrow_origin_has_todo_exit_codes_and_why_over_the_attempts_and_the_focus_stays() -> None:
    async with stage(SIZES[2]) as held:
        await held.press("enter", rounds=1)
        assert shown(held) == ["state", "todo", "lane", "attempts", "exits"]
        todo = held.app.screen.query_one("#todo")
        todo.focus()
        for width in (80, 60):
            await resize(held, width, 24)
            assert shown(held) == ["todo", "exits", "state", "attempts"]
            upper, lower = ("todo", "exits", "state"), held.app.screen.query_one("#attempts").region
            tops = {held.app.screen.query_one(f"#{name}").region.y for name in upper}
            assert len(tops) == 1, "they are next to each other"
            assert lower.y > tops.pop()
            assert (lower.width, held.app.screen.focused) == (width, todo)
        await resize(held, *SIZES[3])
        assert shown(held) == ["state", "todo", "lane", "attempts", "exits"]


async def test_panes_of_a_small_origin_are_below_each_other_and_tab_brings_each_into_view() -> None:
    async with stage((40, 10)) as held:
        await held.press("enter", rounds=1)
        seen = set()
        for _ in range(4):
            await held.press("tab", rounds=1)
            pane = held.app.screen.focused
            seen.add(pane.id)
            view, (x, y) = held.app.screen.query_one("#origin-panes").content_region, pane.region.offset
            assert view.contains_point((x, y + 2)), pane.id
        assert seen == {"todo", "exits", "state", "attempts"}


@pytest.mark.parametrize("tab", ["url.tab_why", "url.tab_body"])
async def test_a_filter_of_a_url_opens_the_list_that_is_filtered(tab: str) -> None:
    async with stage(SIZES[0]) as held:
        await held.press("2", "tab", "enter", tab, rounds=1)
        await held.press("/", *"timeout", "enter", rounds=1)
        assert held.app.screen.query_one("#body").has_class("tab-attempts")
        assert held.app.screen.focused is held.app.screen.query_one("#url-attempts")
        assert held.text().splitlines()[-1].startswith(" / timeout")


async def test_where_there_is_no_list_that_is_said() -> None:
    async with stage(SIZES[2]) as held:
        await held.press("enter", "robots.view", "/", rounds=1)
        assert held.told == "no list is shown here"


async def test_narrow_a_pane_is_enlarged_in_one_step_and_put_back_in_one() -> None:
    async with stage(SIZES[1]) as held:
        await held.press("2", "+", rounds=1)
        screen = held.on_top
        assert screen.query_one("#groups").outer_size == screen.query_one("#body").size
        await held.press("zoom.out", rounds=1)
        assert screen.zoom.level == 0


def shown(held: Stage) -> list[str | None]:
    """The panes of the origin that are on the screen."""
    return [pane.id for pane in panes_of(held.app.screen)]


class OneLine(App[None]):
    """A pane that is shown when it has something to say."""

    CSS = "#told { height: auto; display: none; }"

    def compose(self) -> ComposeResult:
        yield Lines(id="told")


async def test_words_are_in_view_where_the_screen_is_laid_out_between_them_and_their_pane() -> None:
    app = OneLine()
    async with app.run_test(size=(40, 10)) as pilot:
        told = app.query_one("#told", Lines)
        told.show(["it is wrong"])
        told.display = True
        app.screen._clear_arrangement_cache()
        app.screen._refresh_layout()  # as when the focus has moved in the same moment
        await pilot.pause()
        assert told.size.height == 1
