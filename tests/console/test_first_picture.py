"""What is on the screen before anything was read: neither header nor tables say anything of the crawl."""

from __future__ import annotations

import threading

import pytest

from tests.console.support import FakeReports, FrozenClock, Stage, StageApp, stage
from tui_crawler.console.app import EngineAccess, Operator, Presentation, ReadingSources
from tui_crawler.console.table.crawl_table import CrawlTable

EMPTY = (
    "no job yet", "no rules", "no versions", "nothing has happened", "todo list is empty", "never tried",
    "no attempts", "nothing to order", "no pages", "nothing has failed", "no link to it", "holds no links",
)  # fmt: skip


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40)], ids=str)
async def test_the_first_picture_has_no_numbers_and_the_next_has_all(size: tuple[int, int]) -> None:
    reports, clock, gate = FakeReports(), FrozenClock(), threading.Event()
    reports.gate = gate
    app = StageApp(
        ReadingSources(lambda: reports), Operator(), EngineAccess(), Presentation("my-index"), clock, beating=False
    )
    app.tell_me()
    async with app.run_test(size=size) as pilot:
        held = Stage(app, reports, None, clock, None, pilot)  # type: ignore[arg-type]  # it only watches
        try:
            await held.quiet()
            header, *below = held.text().splitlines()
            assert not any(char.isdigit() for char in header), header
            assert "reading…" in "\n".join(below)
            assert not any(words in held.text() for words in EMPTY)
        finally:
            gate.set()
        await held.settle(2)
        header, *below = held.text().splitlines()
        assert "◷ 5" in header or "▶ 1" in header
        assert "reading…" not in "\n".join(below)
        assert "shop.example.n" in "\n".join(below)


@pytest.mark.parametrize("keys", [("2",), ("3",), ("4",), ("5",), ("6",), ("enter",), ("2", "tab", "enter")], ids=str)
async def test_a_view_that_nothing_was_read_for_says_nothing_of_its_rows(keys: tuple[str, ...]) -> None:
    async with stage((200, 60)) as held:
        await held.press(*keys[:-1], rounds=2)
        await held.press(keys[-1], rounds=0)
        tables = list(held.app.screen.query(CrawlTable))
        assert tables
        assert all(table.row_count or table.nothing_here() == "reading…" for table in tables)
        assert not any(words in held.text() for words in EMPTY)
        await held.settle(3)
        assert "reading…" not in held.text()
