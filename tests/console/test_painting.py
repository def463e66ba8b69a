"""Titles of panes: what says the same again paints nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.sample_crawl import WWW
from tests.console.support import stage
from tui_crawler.console.crawl_table import CrawlTable


async def test_a_reading_paints_the_rows_that_changed_and_no_pane_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage((120, 40)) as held:
        await held.press("j")
        await held.settle(12)
        table = held.app.screen.query_one("#origins", CrawlTable)
        whole: list[CrawlTable] = []
        paint = CrawlTable.refresh

        def note(self: CrawlTable, *regions: object, **options: object) -> object:
            if not regions and self is table:
                whole.append(self)
            return paint(self, *regions, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(CrawlTable, "refresh", note)
        view = held.reports.rows[WWW]
        held.reports.commit(replace(view, done=view.done + 1))
        await held.settle(1)
        assert not whole
