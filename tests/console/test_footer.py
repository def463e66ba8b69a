"""The footer: what a screen is for comes first, the place keeps its end, the menus are named on every screen."""

from __future__ import annotations

import pytest

from tests.console.sample_crawl import API
from tests.console.support import FrozenClock, Stage, stage
from tui_crawler.console.action import Need, Where
from tui_crawler.console.actions import BY_ID
from tui_crawler.console.keys import FIRST, footer_at
from tui_crawler.console.replay.player import ReplayPlayer, Replays
from tui_crawler.console.table.crawl_table import CrawlTable


def footer(held: Stage) -> str:
    return held.text().splitlines()[-1]


async def open_origin(held: Stage) -> None:
    held.app.screen.query_one("#origins", CrawlTable).move_cursor(key=API)
    await held.press("enter", rounds=2)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_an_origin_offers_what_is_done_to_it_before_new_seeds(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        await open_origin(held)
        assert "p pause" in footer(held)
        assert footer(held).find("a add") in {-1, *range(footer(held).index("p pause"), size[0])}
        assert "o origin…  g go to…  ? help  q quit" in footer(held)


async def test_enter_is_named_only_where_it_opens_something() -> None:
    async with stage((80, 24)) as held:
        await open_origin(held)
        held.app.screen.query_one("#attempts").focus()
        await held.quiet()
        assert "enter open" in footer(held)
        held.app.screen.query_one("#state").focus()
        await held.quiet()
        assert "enter open" not in footer(held), "the state has no rows"


async def test_a_url_offers_what_is_done_to_it_and_does_not_repeat_its_tabs() -> None:
    async with stage((80, 24)) as held:
        await held.press("2", "tab", "enter", rounds=2)
        assert "r retry  y copy…  o URL…" in footer(held)
        await held.pilot.resize_terminal(200, 60)
        await held.quiet()
        assert "r retry  m make rule  y copy…" in footer(held)
        for tab in ("attempts", "headers", "links", "body"):
            assert tab not in footer(held)


async def test_a_rule_is_made_from_the_marked_pages() -> None:
    async with stage((120, 40)) as held:
        await held.press("2", "tab", "space", "space", rounds=1)
        assert "m rule from 2" in footer(held)


async def test_the_place_is_cut_at_its_left() -> None:
    async with stage((80, 24)) as held:
        await open_origin(held)
        await held.act("robots.view", rounds=2)
        assert footer(held).startswith(" … › robots.txt   ")


def test_what_comes_first_exists_there() -> None:
    assert all(BY_ID[name].at(where) for where, names in FIRST.items() for name in names)
    assert [one.id for one in footer_at(Where.url) if Need.replay not in one.needs][:5] == [
        "run.start", "nav.open", "zoom.out", "url.retry", "rule.from_selection",
    ]  # fmt: skip


async def test_menus_end_in_dots_that_a_terminal_without_utf8_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    async with stage((120, 40)) as held:
        assert "o origin...  " in footer(held)


async def test_a_replay_names_first_how_it_is_played() -> None:
    async with stage((80, 24), replays=Replays(ReplayPlayer(FrozenClock()))) as held:
        assert footer(held).strip().startswith("f play  < back  > on")
        assert footer(held).count("f freeze") == 0


async def test_the_first_screen_names_what_slows_an_origin_down() -> None:
    async with stage((80, 24)) as held:
        assert "p pause  d slower  a add" in footer(held)
