"""View 2: the pages of a group as one list that scrolls without end, held in part; marks count what is acted on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, WWW, page
from tests.console.support import stage
from tui_crawler.console.failures.queries import GroupWindow
from tui_crawler.console.failures.rows import pages_nothing, place_words
from tui_crawler.console.reading import window as page_book
from tui_crawler.console.reading.ask import WINDOW
from tui_crawler.domain.records.command import RetryPages
from tui_crawler.domain.rules.page_filter import PageWindow

TIMEOUT = (("exit_code", "request_timeout"),)


def many(number: int, others: int = 1) -> FakeReports:
    """So many timeouts, and pages of another group."""
    timeouts = (page(n, f"{API}/p/{n}", "request_timeout") for n in range(1, number + 1))
    return FakeReports(pages=(*timeouts, *(page(90_000, f"{WWW}/gone", "file_gone"),) * others))


LISTS = pytest.mark.parametrize(("keys", "name"), [("2 enter", "#pages"), ("3", "#urls")])
"""The two lists of pages: those of a group, and all."""


@LISTS
async def test_pages_scroll_on_by_key_and_are_never_held_whole(
    monkeypatch: pytest.MonkeyPatch, keys: str, name: str
) -> None:
    monkeypatch.setattr(page_book, "KEPT", 600)
    async with stage((100, 70), reports=many(900, others=0), keys=keys) as held:
        table = held.table(name)
        assert "row 1 of 900" in held.text()
        assert table.row_count == WINDOW
        for _ in range(20):
            table.action_move_pages(4)
            await held.settle(1)
            order = list(table.row_order)
            assert order == list(range(order[0], order[-1] + 1)), "no gap, no page twice"
            assert len(order) <= 600 + WINDOW
            if table.cursor_key == 900:
                break
        assert table.cursor_key == 900
        assert "row 900 of 900" in held.text()
        assert table.row_order[0] > 200
        assert not any("900)" in one for one in held.reports.asked if "_window" in one), "the end is known"
        for _ in range(20):
            table.action_move_pages(-4)
            await held.settle(1)
            if table.cursor_key == 1:
                break
        assert table.cursor_key == 1
        assert "row 1 of 900" in held.text()


@LISTS
async def test_the_first_and_the_last_are_a_key_away(keys: str, name: str) -> None:
    async with stage((140, 40), reports=many(1_300, others=0), keys=f"{keys} end") as held:
        assert held.table(name).cursor_key == 1_300
        assert "row ~1 300 of 1 300" in held.text()
        assert held.table(name).row_order[0] > 1_000
        await held.press("move.first", rounds=3)
        assert (held.table(name).cursor_key, held.table(name).row_order[0]) == (1, 1)
        assert "row 1 of 1 300" in held.text()


@LISTS
async def test_a_wheel_scrolls_on_and_nothing_jumps(monkeypatch: pytest.MonkeyPatch, keys: str, name: str) -> None:
    monkeypatch.setattr(page_book, "KEPT", 400)
    async with stage((140, 40), reports=many(700, others=0), keys=keys) as held:
        table = held.table(name)
        for _ in range(10):
            table.scroll_to(y=table.scroll_y + 80, animate=False, force=True)
            await held.quiet()
            top = table.visible_keys[0]
            await held.settle(1)
            assert table.visible_keys[0] == top
        assert table.visible_keys[-1] == 700


async def test_a_sort_and_a_filter_hold_for_the_rows_held_and_say_so() -> None:
    async with stage((140, 40), reports=many(450), keys="2 enter") as held:
        number = held.table("#pages").row_count
        held.table("#pages").order_by("url")
        await held.press("j")
        assert f"only the {number} rows loaded" in held.text()
        await held.press("move.last")
        assert held.table("#pages").row_count == number, "nothing is read on while it is sorted"
        held.table("#pages").order_by(None)
        await held.press("j", rounds=3)
        assert "rows loaded" not in held.text()


async def test_marks_are_counted_and_retried_wherever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_book, "KEPT", 400)
    async with stage((160, 40), reports=many(1_300), keys="2 enter") as held:
        await held.press("space", "move.last", rounds=3)
        assert held.table("#pages").row(1) is None, "the marked page is let go"
        assert "1 marked" in held.text()
        await held.press("space", rounds=1)
        assert held.situation.urls == (f"{API}/p/1", f"{API}/p/1300")
        assert "2 marked" in held.text()
        await held.press("r")
        assert "Retry 2 failed pages?" in held.text()
        await held.decide("y")
        assert held.journal.sent == [RetryPages(urls=(f"{API}/p/1", f"{API}/p/1300"))]
        assert "marked" not in held.text().splitlines()[1]
        assert held.table("#pages").mark_count == 0
        assert held.situation.urls == (f"{API}/p/1300",), "now only the one under the cursor"


async def test_the_mark_of_a_page_that_failed_no_longer_goes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_book, "KEPT", 400)
    async with stage((140, 40), reports=many(1_200), keys="2 enter") as held:
        await held.press("space", "space", "space", rounds=0)
        rest = {one.page_id: one for one in held.reports.pages}
        held.reports.pages = tuple(one for number, one in rest.items() if number != 2)
        await held.commit(rounds=3, move_ms=1_100)
        assert held.situation.urls == (f"{API}/p/1", f"{API}/p/3")
        assert "2 marked" in held.text()
        await held.press("move.last", rounds=3)
        held.reports.pages = tuple(
            replace(one, last_exit_code="file_gone") if n == 3 else one for n, one in rest.items()
        )
        await held.commit(rounds=2, move_ms=1_100)
        assert held.situation.urls == (f"{API}/p/1", f"{API}/p/3"), "nobody has looked there"
        await held.press("move.first", rounds=3)
        assert held.situation.urls == (f"{API}/p/1",)
        assert held.table("#pages").marked == {1}


async def test_another_group_begins_at_its_first_page_without_marks() -> None:
    async with stage((140, 40), reports=many(450), keys="2 enter space j") as held:
        await held.press("escape", "escape", rounds=0)
        held.table("#groups").focus()
        await held.press("j", rounds=3)
        assert list(held.table("#pages").row_order) == [90_000]
        assert "gone · row 1 of 1" in held.text()
        assert held.situation.urls == (f"{WWW}/gone",)


async def test_what_fails_meanwhile_comes_in_without_moving_anything() -> None:
    async with stage((140, 40), reports=many(450), keys="2 enter") as held:
        await held.press("j", "j", rounds=0)
        held.reports.pages = (*held.reports.pages, page(95_000, f"{API}/late", "request_timeout"))
        await held.commit(rounds=3, move_ms=11_000)
        assert held.table("#pages").cursor_key == 3
        assert "row 3 of 451" in held.text()


async def test_frozen_one_scrolls_on_through_what_was_there() -> None:
    async with stage((140, 40), reports=many(450), keys="2 enter f") as held:
        held.reports.pages = tuple(replace(one, title="new") for one in held.reports.pages)
        await held.commit(rounds=2, move_ms=1_100)
        before = held.app.screen.missed  # type: ignore[attr-defined]
        assert before >= 1
        for _ in range(8):
            held.table("#pages").action_move_pages(3)
            await held.settle(1)
        assert held.table("#pages").row_count > WINDOW
        first = held.table("#pages").row_order[0]
        shown = held.app.screen._keyset.row(first)  # type: ignore[attr-defined]
        assert shown.title != "new"
        await held.press("f", rounds=1)
        assert held.app.screen._keyset.row(first).title == "new"  # type: ignore[attr-defined]


async def test_the_keys_for_windows_are_gone_here() -> None:
    async with stage((140, 40), reports=many(450), keys="2 enter") as held:
        before = held.table("#pages").row_order[0]
        await held.press(">", "<", rounds=2)
        assert held.table("#pages").row_order[0] == before
        assert "> more" not in held.text()


def test_what_is_said_of_a_group_that_no_index_knows() -> None:
    keyset = GroupWindow(TIMEOUT, 7)
    assert pages_nothing(None) == "no pages"
    assert pages_nothing(keyset) == "reading…"
    keyset.take(keyset.begin, PageWindow((), 100_000, 100_000, 123_456, ended=False))
    assert place_words(keyset, 0, whole=True) == "none among 100 000 failed pages yet, looking on"
    assert pages_nothing(keyset) == "looking for its pages…"
    below = keyset.below
    assert below is not None
    found = (page(200_000, f"{API}/x", "request_timeout"),)
    assert keyset.take(below, PageWindow(found, 100_000, 100_000, 223_456, ended=False))
    assert place_words(keyset, 0, whole=False) == "row 1 of 7+"
    last = keyset.below
    assert last is not None
    assert keyset.take(last, PageWindow((), 10, 10, 0, ended=True))
    assert (place_words(keyset, 0, whole=False), keyset.total) == ("row 1 of 1", 1)
    assert keyset.lacks(199_999)
    assert not keyset.lacks(200_000)
    empty = GroupWindow(TIMEOUT, 0)
    empty.take(empty.begin, PageWindow(()))
    assert (place_words(empty, 0, whole=True), pages_nothing(empty)) == ("none", "no pages")
