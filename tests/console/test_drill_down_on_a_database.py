"""The views of failures and of one URL read a real database as they read the stand-in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.console.open_reports import OpenReports, one_page
from tests.console.support import Stage, stage
from tests.storage.making import T0, A, failed, refusal
from tui_crawler.console.failures.queries import CountedFailures, failure_groups, failure_window, retry_plan
from tui_crawler.console.rules.queries import refusals
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.urls.queries import FIRST_LINKS, links_of
from tui_crawler.domain.records.exit_code import ExitCode

ITEMS = (("pattern", "/items/{n}"),)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Path]:
    """A page that was crawled and links to four items, three of which failed; the fourth is refused by a rule."""
    async with one_page(path := tmp_path / "crawl.db", *(f"{A}/items/{n}" for n in range(4))) as store:
        *wrong, last = (await store.candidates(A, T0, 10, False)).pages
        for number, page in enumerate(wrong):
            await store.settle(failed(page, T0 + 20 + number, ExitCode.request_timeout))
        one = refusal(last, T0 + 30, ExitCode.skipped_by_rule)
        log = replace(one.attempt, message="rule /items/3: skip true", decided_by="main.yaml:3", ruleset_id=1)
        await store.settle(replace(one, attempt=log))
        yield path


@pytest.fixture
def reports(database: Path) -> OpenReports:
    return OpenReports(database, now=lambda: T0 + 100)


async def test_groups_windows_and_what_putting_back_means(reports: OpenReports) -> None:
    counted = failure_groups(("pattern",)).read(reports, T0 + 100)
    assert isinstance(counted, CountedFailures)
    (group,) = counted.count.groups
    assert (counted.at, group.key, group.count, group.recent, group.origins) == (T0 + 100, ITEMS, 3, 3, ((A, 3),))
    window = failure_window(ITEMS).read(reports, T0)
    assert ([page.url for page in window.pages], window.ended) == ([f"{A}/items/{n}" for n in range(3)], True)
    plan_of_it = retry_plan(ITEMS, group.origins, 1).read(reports, T0)
    assert plan_of_it.urls == tuple(f"{A}/items/{n}" for n in range(3))
    assert plan_of_it.origins[A].delay_ms == 1_000
    run = reports.run()
    assert run.tries == 3
    reports.close()


async def test_links_and_refusals(reports: OpenReports) -> None:
    (inward,) = links_of(f"{A}/items/1", True, FIRST_LINKS, 9).read(reports, T0)
    assert (inward.link.from_url, inward.title, inward.exit_code) == (f"{A}/", "a title", "file_ingested")
    assert len(links_of(f"{A}/", False, FIRST_LINKS, 9).read(reports, T0)) == 4
    (row,) = refusals(0).read(reports, T0).counts.rows
    assert (row.message, row.count, row.sample_url) == ("rule /items/3: skip true", 1, f"{A}/items/3")
    reports.close()


async def test_from_a_group_to_a_page_to_the_page_that_links_to_it(reports: OpenReports) -> None:
    shown: Any = reports
    async with stage((140, 45), reports=shown, keys="2" + " failures.group enter" * 4) as held:
        held.sees("/items/{n} · row 1 of 3", "cluster: /items/* (3 of 3)")
        await held.press("enter", "enter", rounds=3)
        held.sees(f"{A}/items/0", "depth 1 ◀ shortest")
        await held.press("url.tab_links", rounds=3)
        assert first_of(held, "#url-inlinks") == ["a", "/", "a title"]
        await held.press("enter", rounds=3)
        assert held.app.screen._url == f"{A}/"  # type: ignore[attr-defined]


def first_of(held: Stage, name: str) -> list[str]:
    """The first three cells of the first row."""
    table = held.app.screen.query_one(name, CrawlTable)
    row = table.row(table.row_order[0])
    return [cell if isinstance(cell, str) else cell.text for cell in row.cells[:3] if not isinstance(cell, tuple)]
