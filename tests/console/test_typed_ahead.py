"""Keys typed in one go, before anything was read for the view they lead to: they go where they were meant."""

from __future__ import annotations

import threading

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.screen import Screen
from textual.widgets import Input, TextArea

from tests.console.sample_crawl import API
from tests.console.support import Stage, stage
from tests.console.test_overview import select
from tui_crawler.console.action import Where
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.jobs.screen import JobsScreen
from tui_crawler.console.keys import character_of
from tui_crawler.console.logs.screen import LogsScreen
from tui_crawler.console.origin.screen import OriginScreen, RobotsScreen
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.sql.screen import SqlScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.url.screen import UrlScreen
from tui_crawler.console.urls.screen import UrlsScreen
from tui_crawler.domain.records.command import RetryPages, SetJob

TEXT = "q1xX4z"
"""Among these characters are keys that quit, stop, exclude, undo and lead to other views."""


async def rush(held: Stage, *keys: str, text: str = "") -> None:
    """Keys, then a text, without a look at the screen in between; then it is read."""
    for key in keys:
        held.app.post_message(events.Key(key, key if len(key) == 1 else character_of(key)))
    for char in text:
        held.app.post_message(events.Key(char if char.isalnum() else _character_to_key(char), char))
    await held.quiet()
    await held.settle(5)


@pytest.mark.parametrize(("view", "table"), [("2", "#groups"), ("3", "#urls"), ("1", "#origins")])
async def test_moves_typed_right_after_a_view_was_chosen_are_made(view: str, table: str) -> None:
    async with stage((120, 40)) as held:
        await held.settle(2)
        await rush(held, "5", view, "home", "j", "j")
        rows = held.app.screen.query_one(table, CrawlTable)
        assert rows.cursor_index == 2


@pytest.mark.parametrize(("back", "key"), [("escape", "escape"), ("ctrl+g", "ctrl+g"), ("ctrl+g", "escape")])
async def test_a_key_that_goes_back_gives_up_keys_that_wait_for_rows(back: str, key: str) -> None:
    async with stage((120, 40), keymap={"nav.back": back}) as held:
        await held.settle(2)
        held.reports.gate = gate = threading.Event()
        try:
            await held.press("2", "j", "R", rounds=0)
            await held.press(key, "5", rounds=0)
            assert isinstance(held.app.screen, LogsScreen)
        finally:
            gate.set()
        await held.settle(3)
        assert isinstance(held.app.screen, LogsScreen), "nothing of what was given up is done later"


@pytest.mark.parametrize(
    ("keys", "kind", "purpose"),
    [
        (("3", "slash"), UrlsScreen, "filter"),
        (("2", "slash"), FailuresScreen, "table filter"),
        (("5", "l", "s"), LogsScreen, "search"),
        (("5", "slash"), LogsScreen, "table filter"),
        (("7", "o", "n"), JobsScreen, "nice"),
        (("7", "o", "d"), JobsScreen, "depth"),
        (("enter", "slash"), OriginScreen, "table filter"),
        (("enter", "o", "r", "o", "t"), RobotsScreen, "robots-url"),
        (("3", "enter", "colon"), UrlScreen, "command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
async def test_a_text_goes_into_the_line_its_key_opens(keys: tuple[str, ...], kind: type[Screen], purpose: str) -> None:
    async with stage((160, 40)) as held:
        await rush(held, *keys, text=TEXT)
        assert type(held.app.screen) is kind
        line = held.app.screen.query_one(EntryLine)
        assert line.display
        assert purpose in line.use.name or line.use.name.endswith(purpose)
        assert line.text.endswith(TEXT)
        assert held.journal.sent == []


@pytest.mark.parametrize("keys", [("2", "m"), ("3", "m"), ("3", "enter", "m"), ("enter", "m")], ids=" ".join)
async def test_a_text_goes_into_the_rule_that_its_key_begins(keys: tuple[str, ...]) -> None:
    async with stage((160, 40)) as held:
        await rush(held, *keys, text=TEXT)
        assert isinstance(held.app.screen, RuleEditorScreen)
        assert f"{TEXT}', skip: true}}" in held.app.screen.query_one(TextArea).text
        assert held.journal.sent == []


@pytest.mark.parametrize(("keys", "kind"), [("g q", SqlScreen), ("a", None), ("i", None), ("ctrl+p", None)])
async def test_a_text_goes_into_the_screen_its_key_opens(keys: str, kind: type[Screen] | None) -> None:
    async with stage((160, 40)) as held:
        await rush(held, "2", *keys.split(), text=TEXT)
        top = held.app.screen
        assert kind is None or type(top) is kind
        texts = [box.value for box in top.query(Input)] + [area.text for area in top.query(TextArea)]
        assert TEXT in texts
        assert held.journal.sent == []


async def test_a_number_typed_ahead_for_a_job_is_no_view() -> None:
    async with stage((160, 40)) as held:
        await rush(held, "7", "o", "n", "1", "5", "enter")
        assert isinstance(held.app.screen, JobsScreen)
        assert [command.nice for command in held.journal.sent if isinstance(command, SetJob)] == [15]


@pytest.mark.parametrize("reading", [True, False])
async def test_a_key_right_after_a_filter_meets_the_rows_that_it_keeps(reading: bool) -> None:
    async with stage((160, 40)) as held:
        await held.press("3", rounds=3)
        await held.type("/page=18")
        if reading:
            await held.press("enter", rounds=0)
            await held.press("j", "m", rounds=0)
        else:
            await rush(held, "enter", "m")
        await held.settle(3)
        assert isinstance(held.app.screen, RuleEditorScreen)
        assert "no URL is selected" not in held.text()


async def test_enter_right_after_a_filter_opens_the_first_of_its_rows() -> None:
    async with stage((160, 40)) as held:
        await held.press("3", rounds=3)
        await held.type("/page=18")
        await rush(held, "enter", "enter")
        await held.settle(3)
        top = held.app.console_screen
        assert isinstance(top, UrlScreen)
        assert top.situation().urls[0].endswith("page=18")


async def test_what_is_opened_is_there_for_the_next_key() -> None:
    async with stage((160, 40)) as held:
        await rush(held, "3", "enter", "o", "h")
        assert isinstance(held.app.screen, UrlScreen)
        assert "tab-headers" in {name for pane in held.app.screen.query("*") for name in pane.classes}


async def test_a_retry_typed_ahead_is_about_the_first_page_of_the_group_under_the_cursor() -> None:
    async with stage((160, 40)) as held:
        await rush(held, "2", "enter", "r")
        first = held.app.screen
        assert isinstance(first, FailuresScreen)
        (command,) = held.journal.sent
        assert isinstance(command, RetryPages)
        page = next(one for one in held.reports.pages if one.url == command.urls[0])
        assert first._group_table.cursor_key == (("exit_code", page.last_exit_code),)


async def test_the_cursor_has_moved_before_the_next_key_acts() -> None:
    async with stage((160, 40)) as held:
        await held.press("2", rounds=3)
        await rush(held, "j", "enter", "r", "right", "enter")  # its origin gave up: asked, and answered "Retry"
        screen = held.app.screen
        assert isinstance(screen, FailuresScreen)
        second = screen._group_table.row_order[1]
        assert screen._group_table.cursor_key == second
        (command,) = held.journal.sent
        assert isinstance(command, RetryPages)
        page = next(one for one in held.reports.pages if one.url == command.urls[0])
        assert second == (("exit_code", page.last_exit_code),)


async def test_the_answer_typed_ahead_meets_its_question() -> None:
    async with stage((160, 40)) as held:
        await rush(held, "2", "R")
        assert isinstance(held.app.screen, ConfirmScreen)
        await held.press("escape")
        await rush(held, "R", "y")
        assert isinstance(held.app.screen, FailuresScreen)
        assert len(held.journal.sent) == 1


async def test_esc_ends_the_wait_and_a_wait_is_told() -> None:
    async with stage((160, 40)) as held:
        await held.press("3", rounds=0)
        held.reports.failure = "disk I/O error"
        await rush(held, "m", text=TEXT)
        await held.settle(4, 600)
        assert isinstance(held.app.screen, UrlsScreen)
        assert "the rows are still being read; esc gives up waiting" in held.text()
        await held.press("escape", rounds=0)
        held.reports.failure = ""
        await held.settle(3, 6_000)
        assert isinstance(held.app.screen, UrlsScreen), "neither the rule nor the text after it is done any more"
        await held.press("j", "1")
        assert isinstance(held.app.screen, OverviewScreen)
        assert held.journal.sent == []


async def test_a_console_that_only_watches_refuses_at_once() -> None:
    async with stage((160, 40), readonly=True) as held:
        await held.press("3", "m", rounds=0)
        assert [notice.text.partition(":")[0] for notice in held.app.notices] == ["make rule"]


async def test_marks_set_in_one_go_are_all_set() -> None:
    async with stage((160, 40)) as held:
        await select(held, API)
        await rush(held, "space", "space", "space")
        assert held.app.screen.query_one("#origins", CrawlTable).mark_count == 3


async def test_an_action_waits_for_the_screen_that_is_being_made() -> None:
    async with stage((160, 40)) as held:
        await held.press("3", "enter", rounds=3)
        held.app.go_to(Where.url, f"{API}/another")
        top = held.app.screen
        assert not top.is_mounted
        held.app.dispatcher.do("url.tab_links")
        await held.quiet()
        assert held.app.screen is top
        assert "tab-links" in {name for pane in top.query("*") for name in pane.classes}


async def test_a_key_that_does_nothing_says_so_once() -> None:
    async with stage((120, 40)) as held:
        await held.press("9", rounds=1)
        assert "9 does nothing here; ? lists the keys" in held.text()
        assert [notice.text for notice in held.app.notices] == ["9 does nothing here; ? lists the keys"]
        held.clock.move(60_000)
        await held.settle(2)
        await held.press("9", "j", rounds=1)
        assert "does nothing here" not in held.text()
