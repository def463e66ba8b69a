"""The overview: what it shows, what its keys ask for, and that the picture holds still when it should."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.sample_crawl import API, DOCS, NOW, WHO, WWW, attempt, origin, run_view
from tests.console.support import FakeReports, Stage, stage
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.present.line import Prose
from tui_crawler.console.present.summary import no_origin_lines
from tui_crawler.domain.command import (
    PauseOrigins,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    StopOrigins,
    TopUpPatience,
)


def table(held: Stage) -> CrawlTable:
    return held.app.screen.query_one("#origins", CrawlTable)


def order(held: Stage) -> list[str]:
    return [str(key) for key in table(held).row_order]


async def select(held: Stage, name: str) -> None:
    table(held).move_cursor(key=name)
    await held.quiet()


async def test_shows_every_origin_with_its_state_in_words() -> None:
    async with stage() as held:
        text = held.text()
        assert order(held)[:3] == ["https://shop.example.net", "https://down.example.com", API]
        for words in ("⚠ impatient api.example.org", "✗ gave up", "‖ paused", "✓ finished", "●●○○○", "4.0s▲", "10.0sR"):
            assert words in text
        assert "run 7" in text
        assert "00:42:1" in text
        assert "pending 1 201 324" in text


async def test_events_show_patience_lost_and_hostile_titles_as_they_are() -> None:
    async with stage((200, 50)) as held:
        text = held.text()
        assert "patience 3→2" in text
        assert "[bold red]Items[/] page 17 \\x1b[2J" in text


async def test_pause_is_about_the_selected_origin_only_and_is_shown_and_undone() -> None:
    async with stage() as held:
        await select(held, API)
        await held.press("p")
        await held.decided()
        assert held.journal.sent == [PauseOrigins((API,))]
        assert held.journal.who == [WHO]
        await held.settle()
        assert "‖ paused    api.example.org" in held.text()
        assert "✓ pause api.example.org  z undoes" in held.text()
        await held.press("z")
        await held.decided()
        assert held.journal.sent[-1] == ResumeOrigins((API,))
        await held.press("Z")
        await held.decided()
        assert held.journal.sent[-1] == PauseOrigins((API,))


async def test_pause_is_about_the_marked_origins_when_some_are_marked() -> None:
    async with stage() as held:
        await select(held, API)
        await held.press("space", rounds=0)
        await select(held, DOCS)
        await held.press("space", "p")
        await held.decided()
        assert held.journal.sent == [PauseOrigins((API, DOCS))]


async def test_pause_all_then_undo_keeps_what_was_paused_before() -> None:
    async with stage() as held:
        await held.press("P")
        await held.decided()
        assert held.journal.sent == [PauseOrigins()]
        await held.press("z")
        await held.decided()
        assert held.journal.sent[1:] == [ResumeOrigins(), PauseOrigins(("https://old.example.org",))]


async def test_a_finished_origin_cannot_be_paused_and_the_reason_is_said() -> None:
    async with stage() as held:
        await select(held, "https://tiny.example")
        await held.press("p")
        assert "pause: the origin has finished" in held.text()
        assert held.journal.sent == []


async def test_stop_asks_first() -> None:
    async with stage() as held:
        await select(held, API)
        await held.press("x")
        assert "Stop api.example.org?" in held.text()
        assert "1 640 pages stay pending" in held.text()
        await held.press("escape", "x", "y")
        await held.decided()
        assert held.journal.sent == [StopOrigins((API,))]


async def test_retry_of_an_origin_that_gave_up_offers_to_top_up_patience() -> None:
    async with stage() as held:
        down = "https://down.example.com"
        await select(held, down)
        await held.press("R")
        assert "Retry 41 failed pages?" in held.text()
        assert "It gave up" in held.text()
        await held.press("enter")
        await held.decided()
        assert held.journal.sent == [RetryPages(origins=(down,)), TopUpPatience((down,))]


async def test_top_up_is_for_origins_that_have_lost_patience() -> None:
    async with stage() as held:
        await select(held, DOCS)
        await held.press("T")
        assert "top up: patience is full" in held.text()
        await select(held, API)
        await held.press("T")
        await held.decided()
        assert held.journal.sent == [TopUpPatience((API,))]


async def test_delay_goes_up_by_steps_and_never_below_what_robots_txt_asks() -> None:
    async with stage() as held:
        await select(held, DOCS)
        await held.press("D")
        assert "faster: you have not raised it" in held.text()
        await held.press("d")
        await held.decided()
        assert held.journal.sent == [SetDelay(DOCS, 15_000)]
        held.reports.commit(replace(held.reports.rows[DOCS], operator_delay_ms=15_000, delay_ms=15_000))
        await held.settle()
        await held.press("D")
        await held.decided()
        assert held.journal.sent[-1] == SetDelay(DOCS, 0)
        await held.press("z")
        await held.decided()
        assert held.journal.sent[-1] == SetDelay(DOCS, 15_000)


async def test_filter_narrows_as_one_types_and_escape_takes_it_off() -> None:
    async with stage() as held:
        await held.press("/", rounds=0)
        await held.press("d", "o", "c", "s", rounds=0)
        await held.press("enter")
        assert order(held) == [DOCS]
        assert "filter: docs" in held.text()
        await held.press("escape")
        assert len(order(held)) == 11


async def test_filter_finds_states_too() -> None:
    async with stage() as held:
        await held.type("/gave up")
        await held.press("enter", rounds=0)
        assert order(held) == ["https://down.example.com"]


async def test_sort_is_chosen_from_a_list_turned_round_and_shown() -> None:
    async with stage() as held:
        await held.press("s")
        assert "Order by" in held.text()
        await held.press("up", "up", "up", "enter")  # from failed: done, pending, todo list
        assert order(held)[0] == WWW
        assert "by todo ▼" in held.text()
        await held.press("S")
        assert order(held)[-1] == WWW
        assert "by todo ▲" in held.text()


async def test_a_click_on_a_header_orders_by_it() -> None:
    async with stage() as held:
        head = next(y for y, line in enumerate(held.text().splitlines()) if "DONE" in line)
        x = held.text().splitlines()[head].index("DONE")
        await held.pilot.click(offset=(x, head))
        await held.settle()
        assert order(held)[0] == WWW
        assert "by done ▼" in held.text()


async def test_problems_only() -> None:
    async with stage() as held:
        await held.press("!")
        trap = WWW  # looks like one
        assert set(order(held)) == {API, "https://down.example.com", "https://shop.example.net", trap}
        assert "problems only" in held.text()
        await held.press("!")
        assert len(order(held)) == 11


async def test_frozen_picture_holds_still_and_counts_what_it_missed() -> None:
    async with stage() as held:
        await held.press("f")
        before = str(table(held).row(DOCS))
        held.reports.commit(
            replace(held.reports.rows[DOCS], done=9_999), log=[attempt(401, f"{DOCS}/new", "file_ingested")]
        )
        await held.settle(12)
        assert str(table(held).row(DOCS)) == before
        assert "frozen · 1 changed" in held.text()
        assert "/new" not in held.text()
        await held.press("f")
        assert "9 999" in held.text()
        assert "/new" in held.text()


async def test_order_changes_neither_under_the_cursor_nor_right_after_a_key() -> None:
    async with stage() as held:
        await select(held, API)
        await held.press("j", "k", rounds=0)
        held.reports.commit(replace(held.reports.rows[API], failed=500))
        await held.settle(4)
        assert order(held)[0] != API
        await held.settle(12)
        assert order(held)[0] == API
        assert table(held).cursor_key == API


async def test_only_what_changed_is_read() -> None:
    async with stage() as held:
        held.reports.asked.clear()
        await held.settle(5)
        assert held.reports.asked == []
        held.reports.commit(replace(held.reports.rows[WWW], done=88_121))
        await held.settle(3)
        assert held.reports.asked.count("origins_changed(1)") == 1
        assert "88 121" in held.text()


async def test_a_new_origin_appears() -> None:
    async with stage() as held:
        held.reports.commit(origin("https://new.example.org", failed=99))
        await held.settle(12)
        assert order(held)[0] == "https://new.example.org"


async def test_waits_under_ten_seconds_count_down() -> None:
    async with stage() as held:
        held.reports.commit(replace(held.reports.rows[DOCS], next_request_at=held.clock.wall + 8_000))
        await held.settle()
        await held.settle(5, move_ms=500)
        left = held.reports.rows[DOCS].next_request_at - held.clock.wall
        line = next(line for line in held.text().splitlines() if "docs.example.net" in line)
        assert f" {left / 1000:.1f}s" in line


async def test_next_error_goes_from_problem_to_problem() -> None:
    async with stage() as held:
        events = held.app.screen.query_one("#events", CrawlTable)
        await held.press("e", rounds=0)
        assert events.cursor_key == 400
        await held.press("e", rounds=0)
        assert events.cursor_key == 397
        await held.press("E", rounds=0)
        assert events.cursor_key == 400


async def test_selected_origin_says_why_it_waits() -> None:
    async with stage() as held:
        await select(held, DOCS)
        assert "of 10 s" in held.text()
        await select(held, "https://old.example.org")
        assert "paused by you 10:12" in held.text()


async def test_a_crawl_that_stands_still_says_why() -> None:
    reports = FakeReports(newest_run=run_view(live=False, finish_reason="exhausted", finished_at=NOW))
    async with stage(reports=reports) as held:
        assert "no engine is at work: the run ended at 10:41 (finished)" in held.text()
        assert "○ resting" in held.text()


async def test_attached_to_a_run_of_another_process() -> None:
    async with stage((200, 50)) as held:
        assert "● attached" in held.text()
        assert "to process 4711 on host reef" in held.text()


async def test_watching_only_refuses_to_write() -> None:
    async with stage(readonly=True) as held:
        await held.press("p")
        assert "pause: this console only watches" in held.text()
        assert "p pause" not in held.text().splitlines()[-1]
        assert "watching only" in held.text()


def test_where_nothing_is_selected_only_a_filter_is_blamed() -> None:
    assert no_origin_lines(False, 0, narrowed=False) == []
    assert no_origin_lines(True, 10, narrowed=False) == []
    (line,) = no_origin_lines(True, 10, narrowed=True)
    assert isinstance(line, Prose)
    assert line.text == "10 origins known, none passes the filter."


async def test_an_empty_database_says_what_to_do() -> None:
    reports = FakeReports(rows={}, log=(), newest_run=None, pages=())
    async with stage(reports=reports) as held:
        assert "No origins yet" in held.text()
        assert "a  add seeds" in held.text()
        assert "no run has started yet" in held.text()


async def test_an_error_of_the_engine_is_told_and_cannot_be_undone() -> None:
    async with stage() as held:
        held.journal.answer = "there is no such origin"
        await select(held, API)
        await held.press("p")
        await held.decided()
        assert "✗ pause api.example.org: there is no such origin" in held.text()
        await held.press("z")
        assert "undo: nothing of this console to undo; what others did: undo in Rules, or the opposite" in held.text()


async def test_a_wish_that_cannot_be_written_is_told() -> None:
    async with stage() as held:
        held.journal.failure = "database or disk is full"
        await select(held, API)
        await held.press("p")
        await held.decided()
        assert "✗ pause api.example.org: database or disk is full" in held.text()


async def test_origins_that_give_up_are_told_in_one_notice_of_the_last_minute() -> None:
    async with stage() as held:
        assert "gave up:" not in held.text()
        rows = held.reports.rows
        held.reports.commit(replace(rows[API], state="FINISHED", finish_reason="patience", patience=0))
        await held.settle(2)
        assert "✗ gave up: api.example.org – ! shows problems" in held.text()
        held.reports.commit(replace(rows[DOCS], state="FINISHED", finish_reason="patience", patience=0))
        await held.settle(2)
        assert "✗ 2 origins gave up in 60 s, the last: docs.example.net – ! shows problems" in held.text()
        assert len(held.app.notices) == 1
        held.clock.move(90_000)
        held.reports.commit(replace(rows[WWW], state="FINISHED", finish_reason="patience", patience=0))
        await held.settle(2)
        assert "✗ gave up: www.example.com – ! shows problems" in held.text()


async def test_an_origin_that_gave_up_long_ago_in_another_view_is_told_no_more() -> None:
    async with stage() as held:
        await held.press("5")
        held.reports.commit(replace(held.reports.rows[API], state="FINISHED", finish_reason="patience", patience=0))
        await held.settle(2)
        held.clock.move(90_000)
        await held.press("1")
        await held.settle(2)
        assert "Origins · 11" in held.text()
        assert "gave up:" not in held.text()


async def test_a_suspected_trap_is_named_beside_its_origin_and_explained_when_it_is_selected() -> None:
    async with stage((200, 50)) as held:
        line = next(line for line in held.text().splitlines() if "www.example.com" in line and "crawling" in line)
        assert "⚠ trap suspected  requesting" in line
        assert "docs" not in "".join(one for one in held.text().splitlines() if "⚠ trap suspected" in one)
        await select(held, WWW)
        assert "180 links with a path" in held.text()
        await select(held, DOCS)
        assert "links with a path" not in held.text()


async def test_the_order_is_made_anew_on_coming_back_also_when_the_run_has_ended() -> None:
    async with stage() as held:
        await held.press("2", rounds=2)
        views = enumerate(held.reports.rows.values())
        held.reports.commit(*(replace(view, failed=n * 10, state="FINISHED") for n, view in views))
        await held.settle(3)
        await held.press("escape", rounds=1)
        failed = [held.reports.rows[name].failed for name in order(held)]
        assert failed == sorted(failed, reverse=True), "at once, though a key was pressed just now"


async def test_a_dialog_over_it_is_no_reason_for_another_order() -> None:
    async with stage() as held:
        before = order(held)
        await held.press("s", rounds=0)
        held.reports.commit(replace(held.reports.rows[API], failed=500))
        await held.press("escape", rounds=1)
        assert order(held) == before


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_the_sign_of_a_trap_takes_nothing_from_the_host_and_is_in_the_legend(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        line = next(line for line in held.text().splitlines()[2:] if "www.example.com" in line)
        assert "⚠" in line[: line.index("www.example.com")]
        await held.press("?")
        await held.type("trap")
        assert "trap suspected" in held.text()
