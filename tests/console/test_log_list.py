"""View 5 scrolls without end: the log as one list, held in part; what comes in moves nothing that is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import NOW
from tests.console.sample_log import activities
from tests.console.support import Stage, stage
from tests.console.test_logs import keys_of, many
from tui_crawler.console.logs import queries as log_parts
from tui_crawler.console.logs import window as log_window
from tui_crawler.console.reading import window as log_book


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows small enough to see many of them."""
    monkeypatch.setattr(log_parts, "PAGE", 120)
    monkeypatch.setattr(log_parts, "LOOK", 120)
    monkeypatch.setattr(log_book, "KEPT", 400)
    monkeypatch.setattr(log_window, "JOINED", 120)


def attempts_only(number: int) -> FakeReports:
    return FakeReports(log=many(1, number), happened=(), asked_for=())


def numbers(held: Stage) -> list[int]:
    found = [number for _, number in keys_of(held)]
    assert found == list(range(found[0], found[-1] + 1)), "no gap, no entry twice"
    return found


@pytest.mark.usefixtures("small")
async def test_it_scrolls_back_to_the_first_entry_and_on_to_the_end_and_is_never_held_whole() -> None:
    async with stage((100, 60), reports=attempts_only(1_500), keys="5") as held:
        table = held.table("#log")
        assert table.cursor_key == ("attempt", 1_500)
        for _ in range(40):
            table.action_move_pages(-2)
            await held.settle(1)
            assert len(numbers(held)) <= 400 + 240
            if table.cursor_key == ("attempt", 1):
                break
        assert table.cursor_key == ("attempt", 1)
        held.sees("○ not following", "loaded")
        assert numbers(held)[-1] < 1_000
        for _ in range(40):
            table.action_move_pages(2)
            await held.settle(1)
            assert len(numbers(held)) <= 400 + 240
            if table.cursor_key == ("attempt", 1_500):
                break
        assert table.cursor_key == ("attempt", 1_500)
        assert "● following" in held.text()
        assert numbers(held)[0] > 600


@pytest.mark.usefixtures("small")
async def test_the_first_and_the_newest_entry_are_a_key_away() -> None:
    async with stage(reports=attempts_only(3_000), keys="5 move.first") as held:
        assert held.table("#log").cursor_key == ("attempt", 1)
        assert "○ not following" in held.text()
        await held.press("move.last", rounds=3)
        assert held.table("#log").cursor_key == ("attempt", 3_000)
        assert "● following" in held.text()
        await held.press("home", "log.newest", rounds=3)
        assert held.table("#log").cursor_key == ("attempt", 3_000)


@pytest.mark.usefixtures("small")
async def test_what_comes_in_moves_nothing_that_is_read_and_is_counted() -> None:
    async with stage(reports=attempts_only(3_000), keys="5 k k", rounds=2) as held:
        at, top = held.table("#log").cursor_key, held.table("#log").visible_keys[0]
        await held.commit(log=many(3_001, 3_030), rounds=2, move_ms=300)
        assert (held.table("#log").cursor_key, held.table("#log").visible_keys[0]) == (at, top)
        assert "○ not following · 30 new" in held.text()
        assert numbers(held)[-1] == 3_030
        await held.press("move.first", rounds=3)
        await held.commit(log=many(3_031, 3_040), rounds=2, move_ms=300)
        assert "○ not following · 40 new" in held.text()
        assert held.table("#log").cursor_key == ("attempt", 1)
        assert numbers(held)[-1] < 400, "what is far away is counted, not held"
        await held.press("move.last", rounds=3)
        assert held.table("#log").cursor_key == ("attempt", 3_040)
        assert "new" not in held.text().splitlines()[3]
        assert "● following" in held.text()


@pytest.mark.usefixtures("small")
async def test_a_wheel_up_from_the_end_stays_where_it_is_while_entries_come_in() -> None:
    async with stage(reports=attempts_only(1_000), keys="5") as held:
        table = held.table("#log")
        for _ in range(6):
            table.scroll_to(y=max(0, table.scroll_y - 40), animate=False, force=True)
            await held.quiet()
            top = table.visible_keys[0]
            await held.settle(1)
            assert table.visible_keys[0] == top
        await held.commit(log=many(1_001, 1_020), rounds=2, move_ms=300)
        assert table.visible_keys[0] == top
        assert "20 new" in held.text()
        for _ in range(6):
            table.scroll_to(y=table.scroll_y + 60, animate=False, force=True)
            await held.settle(1)
        assert table.visible_keys[-1] == ("attempt", 1_020)


@pytest.mark.usefixtures("small")
async def test_more_than_a_window_at_once_while_it_follows_goes_to_the_end_anew() -> None:
    async with stage(reports=attempts_only(300), keys="5") as held:
        await held.commit(log=many(301, 2_000), rounds=4, move_ms=300)
        assert held.table("#log").cursor_key == ("attempt", 2_000)
        assert numbers(held)[0] > 1_500
        assert "● following" in held.text()


@pytest.mark.usefixtures("small")
async def test_a_sort_and_a_filter_hold_for_the_rows_held_and_say_so() -> None:
    async with stage((140, 40), reports=attempts_only(600), keys="5") as held:
        number = held.table("#log").row_count
        held.table("#log").order_by("text")
        await held.press("move.first", "move.last", rounds=2)
        assert held.table("#log").row_count == number, "nothing is read on while it is sorted"
        assert f"only the {number} rows loaded" in held.text()
        held.table("#log").order_by(None)
        await held.press("move.first", rounds=3)
        assert held.table("#log").cursor_key == ("attempt", 1)
        assert "rows loaded" not in held.text()


@pytest.mark.usefixtures("small")
async def test_errors_far_back_are_looked_for_on_and_on() -> None:
    reports = attempts_only(900)
    reports.log = tuple(replace(one, exit_code="request_timeout") for one in reports.log)
    reports.happened = (replace(activities()[2], at=NOW),)
    async with stage(reports=reports, keys="5 log.level log.level", rounds=2) as held:
        assert "searching…" in held.text()
        await held.settle(10)
        assert keys_of(held) == [("activity", 39)]
        assert "Log · ● following · 1 · errors only" in held.text()


@pytest.mark.usefixtures("small")
async def test_frozen_it_scrolls_on_through_what_was_there() -> None:
    async with stage(reports=attempts_only(600), keys="5 f") as held:
        held.reports.commit(log=many(601, 620))
        for _ in range(20):
            held.table("#log").action_move_pages(-2)
            await held.settle(1)
            if held.table("#log").cursor_key == ("attempt", 1):
                break
        assert held.table("#log").cursor_key == ("attempt", 1)
        assert "‖ frozen" in held.text()
        await held.press("f", rounds=2)
        assert "20 new" in held.text()
