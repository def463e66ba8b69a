"""Marks on every screen: told in title and footer, taken off by `esc` and by what was done with them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.events import MouseMove

from tests.console.sample_crawl import API, DOCS, WWW, origin
from tests.console.support import Stage, stage
from tests.console.test_overview import select
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.command import PauseOrigins


def titles(held: Stage) -> str:
    """What stands in the borders of the panes."""
    panes = held.app.screen.query(CrawlTable)
    return " ".join(pane._border_title.plain for pane in panes if pane._border_title is not None)


def footer(held: Stage) -> str:
    """The last line of the screen."""
    return held.text().splitlines()[-1]


async def mark(held: Stage, *origins: str) -> None:
    for name in origins:
        await select(held, name)
        await held.press("space", rounds=0)


async def test_title_and_footer_say_how_many_origins_are_marked_and_pausing_takes_the_marks_off() -> None:
    async with stage((200, 50)) as held:
        await mark(held, API, DOCS)
        await select(held, WWW)
        assert "by fail ▼" in titles(held)
        assert "· 2 marked" in titles(held)
        assert "p pause 2" in footer(held)
        await held.press("p")
        await held.decided()
        assert set(held.journal.sent[0].origins) == {API, DOCS}  # type: ignore[union-attr]  # the stand-in keeps any
        assert "marked" not in titles(held)
        assert held.table("#origins").marked == frozenset()
        assert "p pause  " in footer(held)
        await held.press("p")
        await held.decided()
        assert held.journal.sent[1] == PauseOrigins((WWW,))


async def test_the_footer_says_resume_where_all_targets_are_paused() -> None:
    async with stage((200, 50)) as held:
        held.reports.commit(replace(held.reports.rows[API], paused=True), replace(held.reports.rows[DOCS], paused=True))
        await held.settle(2)
        await select(held, API)
        assert "p resume  " in footer(held)
        await mark(held, API, DOCS)
        assert "p resume 2" in footer(held)
        await mark(held, WWW)
        assert "p pause 1" in footer(held), "only the one that is not paused"


async def test_escape_takes_marks_off_after_the_zoom_and_the_filter() -> None:
    async with stage((200, 50)) as held:
        await mark(held, API, DOCS)
        held.app.dispatcher.do("filter.open", "docs")
        await held.press("+", rounds=0)
        await held.press("escape", rounds=0)
        assert "zoom" not in titles(held)
        assert held.table("#origins").row_count == 1
        await held.press("escape", rounds=0)
        assert held.table("#origins").row_count == 11
        assert "2 marked" in titles(held)
        await held.press("escape", rounds=0)
        assert "marked" not in titles(held)


async def test_escape_takes_marks_off_before_it_leaves_a_screen() -> None:
    async with stage((200, 50)) as held:
        await held.press("3", rounds=3)
        await held.press("space", "space", rounds=1)
        assert "2 marked" in titles(held)
        assert titles(held).count("marked") == 1
        assert "r retry 2" in footer(held)
        await held.press("escape", rounds=1)
        assert held.app.screen.WHERE.value == "URLs"
        assert "marked" not in titles(held)
        await held.press("escape", rounds=1)
        assert held.app.screen.WHERE.value == "Origins"


async def test_marks_that_a_filter_drops_are_forgotten_everywhere() -> None:
    async with stage((200, 50)) as held:
        await held.press("3", rounds=3)
        shown = held.app.screen.query_one("#urls", CrawlTable)
        await held.press("space", "space", rounds=1)
        shown.keep_only("nothing fits this")
        await held.quiet()
        assert shown.marked == frozenset()
        assert "marked" not in titles(held)
        assert "retry 2" not in footer(held)


async def test_stopping_keeps_marks_until_it_was_carried_out() -> None:
    async with stage((200, 50)) as held:
        await mark(held, API, DOCS)
        await held.press("origin.stop", "escape")
        assert "2 marked" in titles(held), "nothing was done"
        await held.press("origin.stop", "y")
        await held.decided()
        assert held.journal.sent
        assert "marked" not in titles(held)


async def test_a_retry_of_marked_pages_takes_the_marks_off_and_a_copy_does_not() -> None:
    async with stage((200, 50)) as held:
        await held.press("2", "tab", rounds=2)
        await held.press("space", "space", rounds=1)
        assert "2 marked" in titles(held)
        assert "y copy 2" in footer(held)
        held.app.dispatcher.do("copy.pick", "url")
        await held.quiet()
        assert "2 marked" in titles(held)
        held.app.dispatcher.do("rule.from_selection")
        await held.settle(2)
        await held.press("escape", rounds=1)
        assert "marked" not in titles(held)


@pytest.mark.parametrize("keys", [("2",), ("4",), ("5",), ("7",), ("enter",)])
async def test_every_table_says_how_many_of_its_rows_are_marked(keys: tuple[str, ...]) -> None:
    async with stage((200, 50)) as held:
        await held.press(*keys, rounds=2)
        focused = held.app.focused
        assert isinstance(focused, CrawlTable)
        await held.press("mark.all", rounds=1)
        assert f"{focused.mark_count} marked" in titles(held)


async def test_rows_stand_still_while_some_are_marked_and_go_where_they_belong_a_second_after() -> None:
    async with stage((200, 50)) as held:
        await mark(held, DOCS, API)
        before = list(held.table("#origins").row_order)
        held.reports.commit(replace(held.reports.rows[API], failed=500), origin("https://new.example.org", failed=99))
        await held.settle(24)
        assert list(held.table("#origins").row_order) == [*before, "https://new.example.org"], "the new one at the end"
        assert "2 marked · order held · ▲ 1 new" in titles(held)
        assert "500" in held.text(), "what the rows say goes on"
        await held.press("escape", rounds=0)
        assert list(held.table("#origins").row_order)[: len(before)] == before, "not right after the key"
        await held.settle(12)
        assert list(held.table("#origins").row_order)[:2] == [API, "https://new.example.org"]
        assert "order held" not in titles(held)


async def test_an_order_asked_for_is_made_though_rows_are_marked() -> None:
    async with stage((200, 50)) as held:
        await mark(held, API)
        held.app.dispatcher.do("sort.pick", "origin")
        await held.quiet()
        shown = [str(key) for key in held.table("#origins").row_order]
        assert shown == sorted(shown, key=lambda name: name.partition("://")[2])
        assert held.table("#origins").marked == {API}
        assert "order held" not in titles(held)


async def test_what_a_filter_would_hide_now_stays_while_rows_are_marked() -> None:
    async with stage((200, 50)) as held:
        await held.press("view.problems", rounds=1)
        before = list(held.table("#origins").row_order)
        assert API in before
        await mark(held, "https://shop.example.net")
        await select(held, API)
        held.reports.commit(replace(held.reports.rows[API], patience=5, politeness=0, last_exit_code="file_ingested"))
        await held.settle(12)
        assert list(held.table("#origins").row_order) == before
        assert held.table("#origins").cursor_key == API
        await held.press("mark.clear")
        await held.settle(12)
        assert list(held.table("#origins").row_order) == [key for key in before if key != API]


async def test_failure_groups_keep_their_places_while_some_are_marked() -> None:
    async with stage((200, 50)) as held:
        await held.press("2", rounds=2)
        groups = held.app.screen.query_one("#groups", CrawlTable)
        before = list(groups.row_order)
        assert len(before) > 2
        await held.press("move.last", "space", rounds=0)
        last = next(one for one in held.reports.pages if (("exit_code", one.last_exit_code),) == before[-1])
        held.reports.pages += tuple(replace(last, page_id=9_000 + n, url=f"{last.url}/{n}") for n in range(99))
        held.reports.commit()
        await held.settle(12)
        assert list(groups.row_order) == before
        assert "1 marked · order held" in titles(held)
        await held.press("space", rounds=0)
        await held.settle(12)
        assert list(groups.row_order) == [before[-1], *before[:-1]]
        assert groups.cursor_key == before[-1]


async def test_rows_do_not_move_away_under_a_mouse_that_is_on_its_way_to_one() -> None:
    async with stage((120, 30)) as held:
        before = list(held.table("#origins").row_order)
        held.reports.commit(replace(held.reports.rows[API], failed=500))
        for step in range(15):
            held.app.post_message(MouseMove(None, 5, 4 + step % 5, 0, 1, 0, False, False, False, 5, 4 + step % 5))
            await held.settle(1)
        assert list(held.table("#origins").row_order) == before
        await held.settle(16)
        assert held.table("#origins").row_order[0] == API
