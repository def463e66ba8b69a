"""What a mouse does beside the tables: keys and places in the footer, and the way out of what lies over the rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events
from textual.widgets import TextArea

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, page
from tests.console.support import Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.dialogs.add import AddScreen
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.dialogs.help import HelpScreen
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.operator.intent import Confirmation
from tui_crawler.console.origin.screen import OriginScreen
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.screen.dialog import Dialog
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.url.screen import UrlScreen


def footer(held: Stage) -> str:
    return held.text().splitlines()[-1]


async def click_on(held: Stage, words: str, at: int = 0, times: int = 1) -> None:
    """Clicks on a cell of words in the footer."""
    line = footer(held)
    await held.pilot.click(offset=(line.index(words) + at, held.app.size.height - 1), times=times)
    await held.settle(2)


@pytest.mark.parametrize("at", [0, len("? help") - 1])
async def test_a_key_of_the_footer_is_clicked_from_its_first_cell_to_its_last(at: int) -> None:
    async with stage() as held:
        await click_on(held, "? help", at)
        assert isinstance(held.app.screen, HelpScreen)


async def test_what_stands_beside_a_key_is_no_key() -> None:
    async with stage() as held:
        await click_on(held, "? help", -1)
        await click_on(held, "? help", len("? help"))
        assert isinstance(held.app.screen, OverviewScreen)


async def test_a_place_in_the_footer_is_gone_back_to() -> None:
    async with stage((160, 40)) as held:
        held.app.go_to(Where.origin, API)
        await held.settle(2)
        held.app.go_to(Where.url, f"{API}/v2/items?page=18")
        await held.settle(2)
        await click_on(held, "/v2/items")
        assert isinstance(held.app.screen, UrlScreen), "one is there already"
        await click_on(held, "api.example.org", 3)
        assert isinstance(held.app.screen, OriginScreen)
        await click_on(held, "Origins")
        assert isinstance(held.app.screen, OverviewScreen)


async def test_a_place_that_was_closed_meanwhile_is_opened_anew() -> None:
    async with stage((160, 40)) as held:
        await held.press("2", "enter", "enter", rounds=2)
        assert isinstance(held.app.screen, UrlScreen)
        await held.press("1", "nav.earlier", rounds=2)
        assert isinstance(held.app.screen, UrlScreen)
        assert len(held.app.screen_stack) == 2, "the history makes it without what it came from"
        await click_on(held, "Failures")
        assert isinstance(held.app.screen, FailuresScreen)


async def test_a_draft_is_not_lost_by_a_click_on_where_it_came_from() -> None:
    async with stage((120, 40)) as held:
        await held.press("4", "rule.add", rounds=2)
        await held.type("/calendar/")
        await held.quiet()
        assert isinstance(held.app.screen, RuleEditorScreen)
        await click_on(held, "Rules")
        assert isinstance(held.app.screen, ConfirmScreen)
        assert "Discard the draft?" in held.text()


@pytest.mark.parametrize("action_id", ["help.keys", "help.pane", "cmd.palette", "focus.jump", "sort.pick",
                                       "table.pivot", "origin.stop", "app.ask_quit", "url.inspect_why"])  # fmt: skip
async def test_a_click_beside_a_dialog_leaves_it(action_id: str) -> None:
    async with stage() as held:
        held.app.dispatcher.do(action_id)
        await held.quiet()
        assert isinstance(held.app.screen, Dialog)
        await held.pilot.click(offset=(0, 0))
        await held.settle(1)
        assert isinstance(held.app.screen, OverviewScreen)
        assert held.journal.sent == []


async def test_a_click_that_went_astray_loses_no_seeds_and_one_in_a_dialog_leaves_nothing() -> None:
    async with stage() as held:
        await held.press("a")
        held.app.screen.query_one(TextArea).text = API
        await held.pilot.click(offset=(0, 0))
        await held.settle(1)
        assert isinstance(held.app.screen, AddScreen)
        await held.press("escape")
        held.app.push_screen(ConfirmScreen(Confirmation("Sure?", "It is much.", ())))
        await held.quiet()
        await held.pilot.click(".dialog-text")
        assert isinstance(held.app.screen, ConfirmScreen)


async def test_two_clicks_on_a_key_of_the_footer_open_what_one_opens() -> None:
    async with stage() as held:
        await click_on(held, "? help", times=2)
        assert isinstance(held.app.screen, HelpScreen)


async def wheel(held: Stage, table: CrawlTable, *, down: bool, steps: int) -> None:
    x, y = table.region.x + 5, table.region.y + 3
    kind = events.MouseScrollDown if down else events.MouseScrollUp
    for _ in range(steps):
        held.app.screen._forward_event(kind(table, x, y, 0, 1 if down else -1, 0, False, False, False))
        await held.quiet()


async def test_what_one_scrolled_to_stays_in_view_while_events_come_in_and_back_at_the_top_they_are_followed() -> None:
    async with stage((120, 30)) as held:
        table = held.app.screen.query_one("#events", CrawlTable)
        await wheel(held, table, down=True, steps=3)
        seen = list(table.visible_keys)
        assert seen[0] != table.row_order[0]
        newest = held.reports.log[0]
        for number in range(3):
            held.reports.commit(
                held.reports.rows[API], log=[replace(newest, attempt_id=9_000 + number, ended_at=held.clock.wall)]
            )
            await held.settle(8)
        assert 9_002 in table.row_order
        assert list(table.visible_keys) == seen
        await wheel(held, table, down=False, steps=12)
        held.reports.commit(held.reports.rows[API], log=[replace(newest, attempt_id=9_100, ended_at=held.clock.wall)])
        await held.settle(8)
        assert (table.cursor_key, table.visible_keys[0]) == (9_100, 9_100)


async def test_pages_one_scrolled_to_stay_in_view_while_they_change() -> None:
    reports = FakeReports(pages=tuple(page(n, f"{API}/p/{n}", "request_timeout") for n in range(1, 301)))
    async with stage((120, 30), reports=reports) as held:
        await held.press("3", "sort.reverse", rounds=3)
        table = held.app.screen.query_one("#urls", CrawlTable)
        await wheel(held, table, down=True, steps=4)
        seen = list(table.visible_keys)
        assert seen[0] != table.row_order[0]
        changed = [replace(one, title="anew") if one.page_id in seen else one for one in reports.pages]
        reports.pages = (*changed, page(301, f"{API}/p/301", "request_timeout"))
        reports.commit()
        await held.settle(12)
        assert "anew" in held.text()
        assert list(table.visible_keys) == seen
