"""`e`, `w`, `n` in view 5 go on in the database where the rows held end, and bring the window to what they find."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import NOW
from tests.console.support import Stage, stage
from tests.console.test_logs import keys_of, many
from tui_crawler.console.logs import queries as log_parts
from tui_crawler.console.logs import seeking as log_seeking
from tui_crawler.console.logs import window as log_window
from tui_crawler.console.reading import window as log_book
from tui_crawler.console.session import SessionFile
from tui_crawler.text.cells import cell_text
from tui_crawler.text.format import date_time

LOOKING = "◷ searching"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and pieces small enough to see many of them."""
    monkeypatch.setattr(log_parts, "PAGE", 120)
    monkeypatch.setattr(log_parts, "LOOK", 120)
    monkeypatch.setattr(log_book, "KEPT", 400)
    monkeypatch.setattr(log_window, "JOINED", 120)
    monkeypatch.setattr(log_seeking, "MOST", log_seeking.FEWEST)


def with_ends(number: int, **ends: str) -> FakeReports:
    """So many attempts, of which some (`_7`) ended otherwise."""
    codes = {int(name[1:]): code for name, code in ends.items()}
    log = many(1, number)
    log = tuple(replace(one, exit_code=codes[one.attempt_id]) if one.attempt_id in codes else one for one in log)
    return FakeReports(log=log, happened=(), asked_for=())


async def looked(held: Stage) -> int:
    """Lets it look to the end; answers in how many readings it said that it is looking."""
    for said in range(100):
        if LOOKING not in held.text():
            await held.settle(2)
            return said
        await held.settle(1)
    raise AssertionError("it looks without end")


async def test_the_next_error_is_found_wherever_it_is_and_has_the_cursor_in_the_middle() -> None:
    reports = with_ends(3_000, _2500="request_timeout", _200="server_internal_error", _90="server_internal_error")
    async with stage(reports=reports, keys="5", rounds=2) as held:
        assert ("attempt", 200) not in keys_of(held)
        await held.press("log.next_error", rounds=0)
        await looked(held)
        table = held.table("#log")
        assert table.cursor_key == ("attempt", 200)
        visible = table.visible_keys
        assert 3 <= visible.index(("attempt", 200)) < len(visible) - 3
        held.sees("○ not following", "loaded")
        found = [number for _, number in keys_of(held)]
        assert found == list(range(found[0], found[-1] + 1))
        await held.press("log.next_error", rounds=0)
        await looked(held)
        assert table.cursor_key == ("attempt", 90)
        await held.press("log.next_error", rounds=0)
        await looked(held)
        assert "no further error" in held.text()
        assert table.cursor_key == ("attempt", 90)
        await held.press("log.next_warning", rounds=0)
        assert "no further warning in this list" in held.text(), "the beginning is held"
        await held.press("log.previous_warning", rounds=0)
        await looked(held)
        assert table.cursor_key == ("attempt", 2_500)
        await held.press("log.previous_warning", rounds=0)
        await looked(held)
        assert "searched up to its end" in held.text()
        await held.press("log.previous_error", rounds=0)
        assert table.cursor_key == ("attempt", 2_500)


async def test_it_says_that_it_is_looking_and_how_far_and_esc_stops_it() -> None:
    async with stage((140, 30), reports=with_ends(6_000, _3="server_internal_error"), keys="5", rounds=2) as held:
        await held.enter("lsdocs.example.net/3x", rounds=3)
        held.sees(f"{LOOKING} hit of docs.example.net/… 1 5", "rows read, esc stops")
        asked = len(held.reports.asked)
        await held.press("escape", rounds=2)
        assert LOOKING not in held.text()
        assert "search stopped" in held.text()
        assert "search docs.example.net/3x: 0 hits loaded" in held.text(), "esc has stopped the looking, no more"
        assert not [one for one in held.reports.asked[asked:] if "3x" in one]
        assert held.table("#log").cursor_key == ("attempt", 6_000)
        await held.press("escape", rounds=0)
        assert "hits" not in held.text()


async def test_a_new_search_takes_the_place_of_the_one_before() -> None:
    reports = with_ends(6_000, _4000="request_timeout")
    async with stage((140, 30), reports=reports, keys="5", rounds=2) as held:
        await held.enter("lsnowhere", rounds=1)
        assert f"{LOOKING} hit of nowhere" in held.text()
        await held.press("log.next_warning", rounds=0)
        assert f"{LOOKING} warning" in held.text()
        await looked(held)
        assert held.table("#log").cursor_key == ("attempt", 4_000)
        await held.press("log.next_error", rounds=0)
        assert f"{LOOKING} error" in held.text()
        await held.press("move.last", rounds=3)
        assert LOOKING not in held.text()
        assert held.table("#log").cursor_key == ("attempt", 6_000)


async def test_a_search_whose_hits_are_not_held_goes_to_the_nearest_and_on_and_counts_only_what_is_held() -> None:
    reports = with_ends(3_000)
    log = [replace(one, title="A Quince") if one.attempt_id in {2_000, 1_000} else one for one in reports.log]
    reports.log = tuple(log)
    async with stage((140, 30), reports=reports, keys="5", rounds=2) as held:
        await held.enter("lsQUINCE", rounds=0)
        await looked(held)
        assert held.table("#log").cursor_key == ("attempt", 2_000)
        assert "search quince: 1 hit loaded" in held.text()
        await held.press("n", rounds=0)
        await looked(held)
        assert held.table("#log").cursor_key == ("attempt", 1_000)
        await held.press("n", rounds=0)
        await looked(held)
        assert "no further hit of quince" in held.text()
        await held.press("move.first", rounds=3)
        await held.press("log.search", rounds=0)
        await held.enter("", rounds=0)
        await looked(held)
        assert held.table("#log").cursor_key == ("attempt", 1_000), "there is none older: the newer one"


async def test_what_comes_in_meanwhile_is_news_and_following_goes_on_until_it_arrives() -> None:
    reports = with_ends(3_000, _400="server_internal_error")
    async with stage(reports=reports, keys="5", rounds=2) as held:
        await held.press("log.next_error", rounds=0)
        held.reports.commit(log=many(3_001, 3_005))
        assert LOOKING in held.text()
        await held.settle(1, move_ms=300)
        await looked(held)
        assert held.table("#log").cursor_key == ("attempt", 400)
        await held.commit(log=many(3_006, 3_010), rounds=2, move_ms=300)
        assert held.table("#log").cursor_key == ("attempt", 400)
        assert "5 new" in held.text()


async def test_frozen_it_looks_too() -> None:
    async with stage(reports=with_ends(3_000, _400="server_internal_error"), keys="5 f", rounds=2) as held:
        await held.press("log.next_error", rounds=1)
        await looked(held)
        assert held.table("#log").cursor_key == ("attempt", 400)
        assert "‖ frozen" in held.text()


async def test_among_errors_only_there_is_no_warning_to_go_to_and_hits_are_errors() -> None:
    reports = with_ends(3_000, _400="server_internal_error", _300="request_timeout", _200="server_internal_error")
    async with stage((140, 30), reports=reports, keys="5 log.level log.level") as held:
        await held.press("log.next_warning", rounds=0)
        assert "errors only are shown; L shows everything" in held.text()
        asked = len(held.reports.asked)
        await held.enter("lstimeout", rounds=0)
        await looked(held)
        assert "no further hit of timeout" in held.text()
        assert [key for key in keys_of(held) if key[0] == "attempt"] == [("attempt", 200), ("attempt", 400)]
        assert len(held.reports.asked) - asked < 20


async def test_where_rows_are_filtered_or_ordered_it_stays_among_them_and_says_so() -> None:
    async with stage((140, 30), reports=with_ends(3_000, _400="server_internal_error"), keys="5", rounds=2) as held:
        held.table("#log").order_by("text")
        await held.press("log.next_error", rounds=2)
        assert "no further error among the rows shown" in held.text()
        assert LOOKING not in held.text()
        held.table("#log").order_by(None)
        await held.press("log.next_error", rounds=0)
        assert LOOKING in held.text()
        held.table("#log").order_by("text")
        at = held.table("#log").cursor_key
        await looked(held)
        assert held.table("#log").cursor_key == at, "what was found is not among the rows shown"


async def test_narrowed_to_an_origin_it_looks_there() -> None:
    reports = with_ends(3_000, _400="server_internal_error", _300="server_internal_error")
    other = "https://other.example"
    reports.log = tuple(
        replace(one, origin=other, url=f"{other}/{one.attempt_id}")
        if one.attempt_id % 2 or one.attempt_id == 300
        else one
        for one in reports.log
    )
    async with stage((140, 30), reports=reports, keys="5", rounds=2) as held:
        held.table("#log").move_cursor(key=("attempt", 2_999))
        await held.press("log.origin", rounds=2)
        await held.press("log.next_error", rounds=0)
        await looked(held)
        assert held.table("#log").cursor_key == ("attempt", 300)
        assert "other.example" in held.text().splitlines()[3]


async def test_left_for_a_url_it_looks_no_further() -> None:
    async with stage(reports=with_ends(6_000, _40="server_internal_error"), keys="5", rounds=2) as held:
        await held.press("log.next_error", "enter", rounds=0)
        assert held.app.screen.WHERE.value == "URL"
        await held.press("escape", rounds=3)
        assert held.app.screen.WHERE.value == "Logs"
        assert LOOKING not in held.text()
        assert held.table("#log").cursor_key == ("attempt", 6_000)


def test_the_sample_is_in_time() -> None:
    newest, oldest = many(1, 2)
    assert newest.ended_at > oldest.ended_at > NOW


async def test_a_time_that_is_typed_is_gone_to_wherever_it_is() -> None:
    async with stage(reports=FakeReports(log=many(1, 3_000), happened=(), asked_for=()), keys="5", rounds=2) as held:
        first = next(one for one in held.reports.log if one.attempt_id == 300)
        await held.command(f"goto {date_time(first.ended_at)}", rounds=4)
        found = held.table("#log").cursor_key
        line = next(one for one in held.reports.log if one.attempt_id == found[1])  # type: ignore[index]  # a pair
        assert abs(line.ended_at - first.ended_at) < 1_000
        await held.command("goto soon")
        assert "goto soon: not a time" in held.text()
        await held.command("goto 1999-01-01 10:00", rounds=3)
        assert "the log starts later" in held.text()


def told(held: Stage, key: object) -> str:
    row = held.table("#log").row(key)
    return cell_text(row.cells[3])


async def test_bookmarks_are_gone_round_from_anywhere_and_last(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/a.db")
    async with stage(reports=FakeReports(log=many(1, 3_000), happened=(), asked_for=()), memory=memory) as held:
        await held.press("5", rounds=2)
        await held.press("log.next_bookmark", rounds=0)
        assert "no bookmarks" in held.text()
        await held.press("k", "log.bookmark", rounds=1)
        near = held.table("#log").cursor_key
        await held.command("goto 2026-01-05 10:46:07", rounds=4)
        far = held.table("#log").cursor_key
        await held.press("log.bookmark", rounds=1)
        assert "2 bookmarks" in held.text()
        assert far != near
        for expected in (near, far, near):
            await held.press("log.next_bookmark", rounds=4)
            assert held.table("#log").cursor_key == expected
        await held.press("log.bookmark", rounds=1)
        assert "1 bookmark" in held.text()
        assert "◆ " not in told(held, near)
        await held.press("q", rounds=0)
        await held.gone()
    async with stage(reports=FakeReports(log=many(1, 3_000), happened=(), asked_for=()), memory=memory) as held:
        await held.press("5", rounds=2)
        assert "1 bookmark" in held.text()
        await held.press("log.next_bookmark", rounds=4)
        assert held.table("#log").cursor_key == far
        assert told(held, far).startswith("◆ ")
