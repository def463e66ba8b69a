"""Two runs compared in the console: origins, their pages that differ, the lines and links of one."""

from __future__ import annotations

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, NOW, WWW, run_view
from tests.console.support import Stage, stage
from tui_crawler.console.diff.screen import DiffScreen, PageDiffScreen
from tui_crawler.console.jobs.screen import JobsScreen
from tui_crawler.console.panes.lines import Lines, LongLines
from tui_crawler.console.url.screen import UrlScreen
from tui_crawler.domain.history.run_diff import ChangeKind


def shown(held: Stage, name: str) -> str:
    pane = held.app.screen.query_one(name, Lines)
    return pane.text


async def compared(held: Stage, words: str = "diff 6 7") -> None:
    await held.press(":", *words, "enter")
    await held.settle(3)


async def test_from_origins_to_pages_to_lines_and_links() -> None:
    async with stage() as held:
        await compared(held)
        assert isinstance(held.app.screen, DiffScreen)
        assert held.app.screen.crumbs() == ("Runs 6 and 7",)
        assert "~ 470 changed  + 14 new  − 3 gone  = 98 526" in shown(held, "#diff-summary")
        assert "run 6  1 548 requests in 1m11s" in shown(held, "#diff-summary")
        assert "+Disallow: /more" in shown(held, "#diff-robots")
        assert held.table("#diff-pages").row_count == 6
        await held.press("enter", "enter")
        await held.settle(2)
        assert isinstance(held.app.screen, PageDiffScreen)
        lines = held.app.screen.query_one("#diff-lines", LongLines).text
        assert "-<title>Deer</title>" in lines
        assert "+<title>Deer, and more</title>" in lines
        assert "\x1b" not in lines
        assert "Links from it: 3 new, 1 gone" in shown(held, "#diff-links")
        assert "title     − Deer" in shown(held, "#diff-facts")
        await held.press("enter")
        assert isinstance(held.app.screen, UrlScreen)
        await held.press("escape", "escape")
        assert isinstance(held.app.screen, DiffScreen)


async def test_many_pages_are_read_in_windows() -> None:
    async with stage() as held:
        await compared(held, "diff")
        held.table("#diff-origins").move_cursor(key=3)
        await held.settle(3)
        assert held.table("#diff-pages").row_count == 200
        await held.press("tab", "list.older")
        await held.settle(2)
        assert held.app.screen.situation().urls == (f"{WWW}/p201",)
        await held.press("list.older")
        await held.settle(2)
        assert held.table("#diff-pages").row_count == 50
        await held.press("list.newer", "list.newer")
        await held.settle(2)
        assert held.app.screen.situation().urls == (f"{WWW}/p1",)


async def test_a_live_run_is_a_snapshot_and_changes_come_first() -> None:
    async with stage() as held:
        await compared(held)
        assert "Runs 6 and 7 · run 7 is live: snapshot of 10:41:" in held.text()
        kinds = [row.record.difference.kind for row in held.table("#diff-pages").shown_rows()]
        order = [ChangeKind.CHANGED, ChangeKind.NEW, ChangeKind.GONE, None]
        assert kinds == sorted(kinds, key=order.index)
        origins = [row.record for row in held.table("#diff-origins").shown_rows()]
        differs = [bool(one.changed or one.new or one.gone) for one in origins]
        assert differs == sorted(differs, reverse=True)
        assert held.table("#diff-origins").cursor_index == 0, "what changed is looked at first"
    async with stage(reports=FakeReports(newest_run=run_view(live=False, finished_at=NOW))) as held:
        await compared(held)
        assert "snapshot" not in held.text()


async def test_what_cannot_be_compared_is_said() -> None:
    async with stage() as held:
        await compared(held, "diff 9")
        assert shown(held, "#diff-summary") == "there is no run 9"
        await held.press("escape")
        await compared(held, "diff seven")
        assert not isinstance(held.app.screen, DiffScreen)


@pytest.mark.parametrize("url", [f"{API}/slow", f"{API}/moved"])
async def test_pages_without_bodies_and_with_redirects(url: str) -> None:
    async with stage() as held:
        await compared(held)
        table = held.table("#diff-pages")
        held.app.screen.set_focus(table)
        table.move_cursor(key=next(row.key for row in table.shown_rows() if row.record.url == url))
        await held.press("enter")
        await held.settle(2)
        said = shown(held, "#diff-lines") if url.endswith("slow") else shown(held, "#diff-facts")
        assert ("the body of one of both runs is not stored" if url.endswith("slow") else f"+ {API}/there") in said


async def test_two_marked_runs_of_the_stats_are_compared() -> None:
    async with stage() as held:
        newest, middle, oldest = (one.run_id for one in held.reports.past_runs[:3])
        await held.press("7", ":", *"show runs", "enter")
        await held.settle(3)
        screen = held.app.screen
        assert isinstance(screen, JobsScreen)
        screen.query_one("#ledger").focus()
        await held.press("j", "space", "space", "enter")
        await held.settle(2)
        assert held.app.screen.crumbs() == (f"Runs {oldest} and {middle}",), newest
