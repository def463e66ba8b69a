"""View 2: what is typed for the groups is looked for among their pages, too: in the database, and bounded."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, WWW, page
from tests.console.support import Stage, stage
from tui_crawler.console.failures.rows import GROUP_HINT, PAGE_HINT
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.table.crawl_table import LOOKING
from tui_crawler.console.table.filter_terms import read_needle

TIMEOUT, GONE = (("exit_code", "request_timeout"),), (("exit_code", "file_gone"),)


def crawl(number: int = 900) -> FakeReports:
    """Timeouts, a few of them at a basket, and one page that is gone."""
    timeouts = (page(n, f"{API}/p/{n}{'/basket' if n % 300 == 0 else ''}", "request_timeout") for n in range(1, number))
    gone = page(90_000, f"{WWW}/gone", "file_gone", message="410 Moved to the Attic")
    return FakeReports(pages=(*timeouts, gone))


def groups(held: Stage) -> list[Hashable]:
    return list(held.table("#groups").row_order)


async def look_for(held: Stage, text: str) -> None:
    await held.press("/", rounds=0)
    await held.enter(text, rounds=4)


async def test_part_of_a_url_keeps_the_groups_that_hold_it_and_of_these_the_pages_that_have_it() -> None:
    async with stage((160, 40), reports=crawl(), keys="2") as held:
        assert len(groups(held)) == 2
        await look_for(held, "BASKET")
        assert groups(held) == [TIMEOUT]
        row = held.table("#groups").row(TIMEOUT)
        assert "899" in str(row.cells[1]), "what a retry of the group puts back"
        assert list(held.table("#pages").row_order) == [300, 600]
        assert "timeout · row 1 of 2 with basket" in held.text()
        await held.press("ctrl+l", rounds=4)
        assert len(groups(held)) == 2
        assert "row 1 of 899" in held.text()


async def test_part_of_a_message_does_too() -> None:
    async with stage((160, 40), reports=crawl(), keys="2") as held:
        await look_for(held, "attic")
        assert groups(held) == [GONE]
        assert list(held.table("#pages").row_order) == [90_000]


async def test_a_group_that_says_itself_what_is_typed_keeps_all_its_pages() -> None:
    async with stage((160, 40), reports=crawl(20)) as held:
        held.reports.pages = (*held.reports.pages, page(95_000, f"{WWW}/x", "connection_failed", message="a timeout"))
        held.reports.commit()
        await held.press("2", rounds=3)
        await look_for(held, "timeout")
        assert set(groups(held)) == {TIMEOUT, (("exit_code", "connection_failed"),)}
        held.table("#groups").move_cursor(key=TIMEOUT)
        await held.settle(3)
        assert held.table("#pages").row_count == 19


async def test_what_is_nowhere_says_so_once_it_was_looked_for() -> None:
    async with stage((160, 40), reports=crawl(20), keys="2") as held:
        held.table("#groups").keep_only("nowhere")
        assert held.table("#groups").nothing_here() == LOOKING
        await held.settle(3)
        assert held.table("#groups").nothing_here() == "no matches (ctrl+l clears the filter)"
        assert "failure_count(exit_code, nowhere)" in held.reports.asked


async def test_fields_and_opposites_are_about_groups_and_nothing_is_read_for_them() -> None:
    async with stage((160, 40), reports=crawl(20), keys="2") as held:
        for text, left in (
            ("!timeout", [GONE]),
            ("exit:gone", [GONE]),
            ("~rqtmt", [TIMEOUT]),
            ("exit:request_timeout", [TIMEOUT]),
        ):
            await look_for(held, text)
            assert groups(held) == left
            await held.press("ctrl+l")
        assert not any("failure_count(exit_code, " in one for one in held.reports.asked)


async def test_a_frozen_picture_is_searched_too() -> None:
    async with stage((160, 40), reports=crawl(400), keys="2 f") as held:
        await look_for(held, "basket")
        assert groups(held) == [TIMEOUT]


async def test_the_line_says_what_can_be_typed() -> None:
    async with stage((160, 40), reports=crawl(20), keys="2") as held:
        await held.press("/", rounds=0)
        assert held.app.screen.query_one(EntryLine)._box.placeholder == GROUP_HINT
        await held.press("escape", "tab", rounds=2)
        await held.press("/", rounds=0)
        assert held.app.screen.query_one(EntryLine)._box.placeholder == PAGE_HINT


async def test_new_pages_are_found_as_they_fail() -> None:
    async with stage((160, 40), reports=crawl(20), keys="2") as held:
        await look_for(held, "basket")
        assert groups(held) == []
        held.reports.pages = tuple(
            replace(one, url=f"{one.url}/basket") if one.page_id == 90_000 else one for one in held.reports.pages
        )
        await held.commit(rounds=4, move_ms=1_100)
        assert groups(held) == [GONE]


def test_words_that_can_be_looked_for_elsewhere_are_mere_text() -> None:
    assert read_needle('Part "of A" url').plain == ("part", "of a", "url")
    for text in ("", "!part", "exit:x", "part re:x", "=whole", "~fzzy part"):
        assert read_needle(text).plain == ()
