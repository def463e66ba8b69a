"""What is painted and laid out anew, and what is not: keys answer at once only where little is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.screen import Screen

from tests.console.sample_crawl import WWW
from tests.console.support import stage
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.panes.lines import Lines


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


async def test_a_step_of_the_cursor_does_not_lay_the_screen_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage((120, 40)) as held:
        await held.press("j")
        await held.settle(12)
        laid_out: list[Screen[object]] = []
        lay_out = Screen._refresh_layout

        def note(self: Screen[object], *arguments: object, **options: object) -> None:
            laid_out.append(self)
            lay_out(self, *arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(Screen, "_refresh_layout", note)
        await held.press("j", "j", "k", "k", "k")
        assert not laid_out
        await held.pilot.resize_terminal(120, 20)
        await held.press("j")
        card = held.app.screen.query_one("#summary", Lines)
        assert card.virtual_size.height > card.size.height, "what does not fit scrolls, and is told"
        assert "lines more" in held.text()
