"""Views keep their widgets while they are hidden: what that saves, and what must not be seen of it."""

from __future__ import annotations

import re

import pytest

from tests.console.support import Stage, stage
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.table.crawl_table import CrawlTable


@pytest.mark.parametrize("key", ["2", "3", "4", "5"])
async def test_a_view_that_is_left_is_the_same_when_it_is_wanted_again(key: str) -> None:
    async with stage((140, 40)) as held:
        await held.settle(3)
        overview = set(held.reports.asked)
        await held.press(key, rounds=3)
        screen, text = held.app.screen, body(held)
        own = set(held.reports.asked) - overview
        assert own
        await held.press("1", rounds=3)
        asked = len(held.reports.asked)
        await held.settle(5, move_ms=5_000)
        assert not own.intersection(held.reports.asked[asked:]), "nothing is read for a hidden view"
        await held.press(key, rounds=3)
        assert held.app.screen is screen
        assert body(held) == text
        assert own.intersection(held.reports.asked[asked:]), "it is read anew once it is shown"


def body(held: Stage) -> list[str]:
    """What is shown, without the header, and the times of how long ago."""
    return [re.sub(r"\d+ ?[smh]\b|:\d\d| ", "", line) for line in held.text().splitlines()[2:]]


async def test_from_view_to_view_marks_and_a_held_picture_do_not_outlast_the_view() -> None:
    async with stage((140, 40)) as held:
        await held.press("3", "space", "j", "f", rounds=3)
        screen = held.app.screen
        table = screen.query_one("#urls", CrawlTable)
        here = table.cursor_key
        assert table.mark_count == 1
        assert screen.frozen
        await held.press("6", "3", rounds=3)
        assert held.app.screen is screen
        assert (table.mark_count, screen.frozen, table.cursor_key) == (0, False, here)
        assert len(held.app.screen_stack) == 2


async def test_a_question_that_was_waited_for_is_not_asked_after_the_view_was_left() -> None:
    async with stage((140, 40)) as held:
        await held.press("2", rounds=3)
        held.app.dispatcher.do("group.retry")
        held.app.dispatcher.do("view.overview")
        held.app.dispatcher.do("view.failures")
        await held.settle(5)
        assert isinstance(held.app.screen, FailuresScreen)


async def test_size_and_theme_that_change_meanwhile_hold_for_a_hidden_view() -> None:
    async with stage((140, 40)) as held:
        await held.press("3", rounds=3)
        await held.press("1", "theme.next", rounds=2)
        await held.pilot.resize_terminal(60, 20)
        await held.press("3", rounds=3)
        again = held.app.export_screenshot()
        theme = held.app.theme
    async with stage((60, 20)) as other:
        other.app.theme = theme
        await other.press("3", rounds=3)
        assert theme != "textual-dark"
        fresh = other.app.export_screenshot()
    assert _styles(again) == _styles(fresh)


def _styles(picture: str) -> list[str]:
    """The colours of a picture, without the names that Rich makes up."""
    return sorted(line.split("{", 1)[1] for line in picture.splitlines() if "-r" in line and "{" in line)
