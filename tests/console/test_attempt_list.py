"""The attempts at one origin as one list that scrolls without end, newest first, held in part; what is new is told."""

from __future__ import annotations

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, attempt
from tests.console.support import Stage, stage
from tui_crawler.console.logs import window as log_window
from tui_crawler.console.origin.screen import OriginScreen
from tui_crawler.console.reading import window
from tui_crawler.console.reading.ask import WINDOW
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.view import AttemptView

KEPT = 500


@pytest.fixture(scope="module", autouse=True)
def small() -> object:
    """Little is held, so that it is let go soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "KEPT", KEPT)
        patch.setattr(log_window, "JOINED", WINDOW)
        yield


def some(first: int, last: int) -> tuple[AttemptView, ...]:
    """Attempts of these ids, newest first."""
    return tuple(attempt(n, f"{API}/p/{n}", "file_ingested") for n in range(last, first - 1, -1))


async def open_api(held: Stage) -> CrawlTable:
    held.table("#origins").move_cursor(key=API)
    await held.press("enter", rounds=3)
    assert isinstance(held.app.screen, OriginScreen)
    return held.table("#attempts")


def numbers(table: CrawlTable) -> list[int]:
    found = [key[1] for key in table.row_order if isinstance(key, tuple)]
    assert found == list(range(found[0], found[-1] - 1, -1)), "no gap, no attempt twice"
    return found


# the view


async def test_it_scrolls_to_the_oldest_and_back_and_is_never_held_whole() -> None:
    async with stage((140, 50), reports=FakeReports(log=some(1, 1_200))) as held:
        table = await open_api(held)
        assert table.row_order[0] == ("attempt", 1_200)
        for _ in range(25):
            table.action_move_pages(4)
            await held.settle(1)
            assert len(numbers(table)) <= KEPT + WINDOW
            if table.cursor_key == ("attempt", 1):
                break
        assert table.cursor_key == ("attempt", 1)
        assert table.row_order[0] != ("attempt", 1_200)
        for _ in range(25):
            table.action_move_pages(-4)
            await held.settle(1)
            assert len(numbers(table)) <= KEPT + WINDOW
            if table.cursor_key == ("attempt", 1_200):
                break
        assert table.cursor_key == ("attempt", 1_200)


async def test_the_oldest_and_the_newest_are_a_key_away_and_what_comes_in_is_told() -> None:
    async with stage((140, 50), reports=FakeReports(log=some(1, 1_200))) as held:
        table = await open_api(held)
        await held.press("move.last", rounds=2)
        assert table.cursor_key == ("attempt", 1)
        top = table.visible_keys[0]
        await held.commit(log=some(1_201, 1_207), rounds=3, move_ms=300)
        assert (table.cursor_key, table.visible_keys[0]) == (("attempt", 1), top)
        assert "Attempts · 7 new" in held.text()
        await held.press("move.first", rounds=2)
        assert table.cursor_key == ("attempt", 1_207)
        assert "7 new" not in held.text()
        await held.commit(log=some(1_208, 1_900), rounds=3, move_ms=300)
        assert table.cursor_key == ("attempt", 1_900), "more than a window at once: it begins anew at the newest"
        assert numbers(table)[-1] > 1_600


async def test_a_wheel_down_stays_where_it_is_while_attempts_come_in() -> None:
    async with stage((140, 50), reports=FakeReports(log=some(1, 1_200))) as held:
        table = await open_api(held)
        table.scroll_to(y=40, animate=False, force=True)
        await held.settle(1)
        top = table.visible_keys[0]
        await held.commit(log=some(1_201, 1_230), rounds=3, move_ms=300)
        assert table.visible_keys[0] == top
        assert "Attempts · 30 new" in held.text()


async def test_problems_only_and_a_sort_over_what_is_held() -> None:
    async with stage((140, 50), reports=FakeReports(log=some(1, 900))) as held:
        table = await open_api(held)
        number = table.row_count
        table.order_by("url")
        await held.press("move.last", rounds=2)
        assert table.row_count == number, "nothing is read on while it is sorted"
        held.app.screen.tick()  # type: ignore[attr-defined]
        assert f"only the {number} rows loaded" in held.text()
        table.order_by(None)
        await held.press("view.problems", rounds=3)
        held.sees("Attempts · problems only", "no attempts yet")
        await held.press("view.problems", rounds=3)
        assert table.row_order[0] == ("attempt", 900)
