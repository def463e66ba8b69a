"""When a page is asked for next: one truth for the lists of view 2 and 3, the todo list and the commands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.sample_crawl import API, NOW, origin, page, run_view
from tests.console.support import FakeReports, Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.page_view import TodoView
from tui_crawler.domain.records.view import RunView
from tui_crawler.text.cells import cell_text

TRIED = page(1, f"{API}/tried", "request_timeout", attempts=1, attempts_remaining=2)
WAITS = page(2, f"{API}/waits", "request_timeout", attempts=1, attempts_remaining=2, not_before=NOW + 120_000)
FRESH = page(3, f"{API}/fresh", "", attempts=0, attempts_remaining=3, last_crawled_at=0)
DONE = page(4, f"{API}/done", "file_ingested", attempts=1)
AGAIN = page(5, f"{API}/again", "file_ingested", attempts=1, last_crawled_at=NOW - 86_400_000 * 30)
CLAIMED = page(6, f"{API}/claimed", "request_timeout", attempts=1, attempts_remaining=2, status="CLAIMED")
SPENT = page(7, f"{API}/spent", "request_timeout")
EVERY = (TRIED, WAITS, FRESH, DONE, AGAIN, CLAIMED, SPENT)
TODO = tuple(
    TodoView(one.url, one.depth, one.nice, one.attempts, one.attempts_remaining, one.not_before, False)
    for one in (TRIED, WAITS, FRESH)
)
LIVE = run_view()
AT_REST = {
    "finished": run_view(live=False, finished_at=NOW, finish_reason="exhausted"),
    "interrupted": run_view(live=False, finished_at=NOW, finish_reason="interrupted"),
    "killed": run_view(live=False),
}


class _Crawl(FakeReports):
    """A todo list of its own."""

    def todo(self, origin: str, limit: int) -> tuple[TodoView, ...]:
        return TODO[:limit]


def crawl(run: RunView) -> FakeReports:
    return _Crawl(pages=EVERY, newest_run=run)


def cells(held: Stage, name: str, column: str) -> dict[str, str]:
    """A column of a table, by what stands in the column of URLs."""
    table = held.app.screen.query_one(name, CrawlTable)
    ids = [one.id for one in table.columns]
    at, url = ids.index(column), ids.index("url")
    rows = [row for row in map(table.row, table.row_order) if row is not None]
    return {cell_text(row.cells[url]).rpartition("/")[2]: cell_text(row.cells[at]) for row in rows}


async def test_while_a_run_is_live() -> None:
    async with stage((160, 40), reports=crawl(LIVE)) as held:
        await held.press("3", rounds=3)
        assert cells(held, "#urls", "due") == {
            "tried": "now",
            "waits": "+2m",
            "fresh": "now",
            "done": "+28d",
            "again": "now",
            "claimed": "-",
            "spent": "+28d",
        }
        held.app.go_to(Where.origin, API)
        await held.settle(3)
        assert cells(held, "#todo", "due") == {"tried": "now", "waits": "+2m", "fresh": "now"}


@pytest.mark.parametrize("ended", AT_REST)
async def test_where_nobody_crawls_nothing_is_due_now(ended: str) -> None:
    async with stage((160, 40), readonly=True, reports=crawl(AT_REST[ended])) as held:
        await held.press("2", rounds=3)
        failed = cells(held, "#pages", "retry")
        assert failed["tried"] == failed["claimed"] == "next run"
        await held.press("3", rounds=3)
        listed = cells(held, "#urls", "due")
        assert listed == {
            "tried": "next run",
            "waits": "+2m",
            "fresh": "next run",
            "done": "+28d",
            "again": "next run",
            "claimed": "next run",
            "spent": "+28d",
        }
        assert ", due in the next run" in held.text()
        held.app.go_to(Where.origin, API)
        await held.settle(3)
        assert cells(held, "#todo", "due") == {"tried": "next run", "waits": "+2m", "fresh": "next run"}


async def test_what_this_run_has_considered_is_due_in_the_next_one() -> None:
    reports = crawl(LIVE)
    reports.pages = tuple(replace(one, ignored_in=LIVE.run_id) for one in EVERY)
    async with stage((160, 40), reports=reports) as held:
        await held.press("3", rounds=3)
        listed = cells(held, "#urls", "due")
        assert (listed["tried"], listed["fresh"], listed["again"]) == ("next run",) * 3


async def test_an_open_todo_list_follows_the_run_and_its_origin() -> None:
    async with stage((160, 40), reports=crawl(LIVE)) as held:
        held.app.go_to(Where.origin, API)
        await held.settle(3)
        assert cells(held, "#todo", "due")["tried"] == "now"
        held.reports.commit(origin(API, paused=True))
        await held.settle(4, move_ms=1_100)
        assert cells(held, "#todo", "due")["tried"] == "paused"
        held.reports.newest_run = AT_REST["finished"]
        held.reports.commit(origin(API))
        await held.settle(4, move_ms=1_100)
        assert cells(held, "#todo", "due")["tried"] == "next run"


async def test_a_wait_on_the_todo_list_runs_down() -> None:
    async with stage((160, 40), reports=crawl(LIVE)) as held:
        held.app.go_to(Where.origin, API)
        await held.settle(3)
        await held.settle(2, move_ms=30_000)
        assert cells(held, "#todo", "due")["waits"] == "+59s"
