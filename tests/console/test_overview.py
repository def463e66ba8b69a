"""The overview: what it shows, what its keys ask for, and that the picture holds still when it should."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.sample_crawl import API, DOCS, NOW, WHO, WWW, attempt, origin, run_view
from tests.console.support import FakeReports, Stage, stage
from tui_crawler.console.keys import KeyNames
from tui_crawler.console.overview.summary import no_origin_lines
from tui_crawler.console.panes.line import Paragraph
from tui_crawler.console.panes.lines import Lines
from tui_crawler.domain.history.diagnosis import DiagnosisFacts
from tui_crawler.domain.records.command import (
    PauseOrigins,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    StopOrigins,
    TopUpPatience,
)
from tui_crawler.domain.records.page_view import RefusedView, TodoView


def trapped() -> FakeReports:
    """Reports of a crawl with an origin whose links the trap guard refuses."""
    trap = RefusedView(WWW, "trap_repeat", 180, f"{WWW}/a/a/a/a/")
    return FakeReports(facts=DiagnosisFacts(traps=(trap,)))


def order(held: Stage) -> list[str]:
    return [str(key) for key in held.table("#origins").row_order]


async def select(held: Stage, name: str) -> None:
    held.table("#origins").move_cursor(key=name)
    await held.quiet()


async def test_shows_every_origin_with_its_state_in_words() -> None:
    async with stage() as held:
        text = held.text()
        assert order(held)[:3] == [API, "https://down.example.com", DOCS]
        for words in (
            "⚠ failing  api.example.org",
            "✗ 5 errors",
            "‖ paused",
            "✓ finished",
            "●●○○○",
            "4.0s▲",
            "10.0sR",
        ):
            assert words in text
        held.sees("00:42:1", "2 Failures 15", "pending 1 201 324")


async def test_events_show_patience_lost_and_hostile_titles_as_they_are() -> None:
    async with stage((200, 50)) as held:
        held.sees("patience 3→2", "[bold red]Items[/] page 17 \\x1b[2J")


async def test_pause_is_about_the_selected_origin_only_and_is_shown_and_undone() -> None:
    async with stage() as held:
        await select(held, API)
        await held.decide("origin.toggle_pause")
        assert held.journal.sent == [PauseOrigins((API,))]
        assert held.journal.who == [WHO]
        await held.settle()
        held.sees("‖ paused   api.example.org", "✓ pause api.example.org  u undoes")
        await held.decide("journal.undo")
        assert held.journal.sent[-1] == ResumeOrigins((API,))
        await held.decide("journal.redo")
        assert held.journal.sent[-1] == PauseOrigins((API,))


async def test_pause_is_about_the_marked_origins_when_some_are_marked() -> None:
    async with stage() as held:
        await select(held, API)
        await held.press("space", rounds=0)
        await select(held, DOCS)
        await held.decide("space", "p")
        assert held.journal.sent == [PauseOrigins((API, DOCS))]


async def test_pause_all_then_undo_keeps_what_was_paused_before() -> None:
    async with stage() as held:
        await held.decide("all.toggle_pause")
        assert held.journal.sent == [PauseOrigins()]
        await held.decide("journal.undo")
        (back,) = held.journal.sent[1:]
        assert isinstance(back, ResumeOrigins)
        assert set(back.origins) == held.reports.rows.keys() - {"https://old.example.org"}


async def test_a_finished_origin_cannot_be_paused_and_the_reason_is_said() -> None:
    async with stage() as held:
        await select(held, "https://tiny.example")
        await held.press("p")
        assert "pause: the origin has finished" in held.text()
        assert held.journal.sent == []


async def test_stop_asks_first() -> None:
    async with stage() as held:
        await select(held, API)
        await held.press("origin.stop")
        held.sees("Stop api.example.org?", "1 640 pages stay pending")
        await held.decide("escape", "origin.stop", "y")
        assert held.journal.sent == [StopOrigins((API,))]


async def test_retry_of_an_origin_that_gave_up_offers_to_top_up_patience() -> None:
    async with stage() as held:
        down = "https://down.example.com"
        await select(held, down)
        await held.press("R")
        held.sees("Retry 4 failed pages?", "down.example.com stopped after errors")
        await held.decide("enter")
        assert held.journal.sent == [RetryPages(origins=(down,)), TopUpPatience((down,))]


async def test_top_up_is_for_origins_that_have_lost_patience() -> None:
    async with stage() as held:
        await select(held, DOCS)
        await held.press("origin.top_up")
        assert "top up: patience is full" in held.text()
        await select(held, API)
        await held.decide("origin.top_up")
        assert held.journal.sent == [TopUpPatience((API,))]


async def test_delay_goes_up_by_steps_and_never_below_what_robots_txt_asks() -> None:
    async with stage() as held:
        await select(held, DOCS)
        await held.press("D")
        assert "faster: you have not raised it" in held.text()
        await held.decide("d")
        assert held.journal.sent == [SetDelay(DOCS, 15_000)]
        await held.commit(replace(held.reports.rows[DOCS], operator_delay_ms=15_000, delay_ms=15_000))
        await held.decide("D")
        assert held.journal.sent[-1] == SetDelay(DOCS, 0)
        await held.decide("journal.undo")
        assert held.journal.sent[-1] == SetDelay(DOCS, 15_000)


async def test_filter_narrows_as_one_types_and_escape_takes_it_off() -> None:
    async with stage() as held:
        await held.press("/", "d", "o", "c", "s", rounds=0)
        await held.press("enter")
        assert order(held) == [DOCS]
        assert "filter: docs" in held.text()
        await held.press("escape")
        assert len(order(held)) == 11


async def test_filter_finds_states_too() -> None:
    async with stage() as held:
        await held.enter("/errors", rounds=0)
        assert order(held) == ["https://down.example.com"]


async def test_sort_is_chosen_from_a_list_turned_round_and_shown() -> None:
    async with stage() as held:
        await held.press("s")
        assert "Order by" in held.text()
        await held.press("up", "up", "up", "enter")  # from failed: done, pending, todo list
        assert order(held)[0] == WWW
        assert "by todo ▼" in held.text()
        await held.press("sort.reverse")
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


async def test_on_a_narrow_screen_the_title_leaves_the_tally_out_and_says_that_the_pane_is_enlarged() -> None:
    async with stage((60, 20)) as held:
        await held.press("+")
        held.sees("Origins · 11 · by fail ▼ · zoom full")


async def test_problems_only() -> None:
    async with stage(reports=trapped()) as held:
        await held.settle(3)
        await held.press("view.problems")
        assert set(order(held)) == {API, "https://down.example.com", "https://shop.example.net", WWW}
        assert "problems only" in held.text()
        await held.press("view.problems")
        assert len(order(held)) == 11


async def test_frozen_picture_holds_still_and_counts_what_it_missed() -> None:
    async with stage() as held:
        await held.press("f")
        before = str(held.table("#origins").row(DOCS))
        held.reports.commit(
            replace(held.reports.rows[DOCS], done=9_999), log=[attempt(401, f"{DOCS}/new", "file_ingested")]
        )
        await held.settle(12)
        assert str(held.table("#origins").row(DOCS)) == before
        assert "frozen · 1 changes" in held.text()
        assert "/new" not in held.text()
        await held.press("f")
        held.sees("9 999", "/new")


async def test_order_changes_neither_under_the_cursor_nor_right_after_a_key() -> None:
    async with stage() as held:
        await select(held, DOCS)
        await held.press("j", "k", rounds=0)
        await held.commit(replace(held.reports.rows[DOCS], failed=500), rounds=4)
        assert order(held)[0] != DOCS
        await held.settle(12)
        assert order(held)[0] == DOCS
        assert held.table("#origins").cursor_key == DOCS


async def test_only_what_changed_is_read() -> None:
    async with stage() as held:
        held.reports.asked.clear()
        await held.settle(5)
        assert held.reports.asked == []
        await held.commit(replace(held.reports.rows[WWW], done=88_121), rounds=3)
        assert held.reports.asked.count("origins_changed(1)") == 1
        assert "88 121" in held.text()


async def test_a_new_origin_appears() -> None:
    async with stage() as held:
        await held.commit(origin("https://new.example.org", failed=99), rounds=12)
        assert order(held)[0] == "https://new.example.org"


async def test_waits_under_ten_seconds_count_down() -> None:
    async with stage() as held:
        await held.commit(replace(held.reports.rows[DOCS], next_request_at=held.clock.wall + 8_000))
        await held.settle(5, move_ms=500)
        left = held.reports.rows[DOCS].next_request_at - held.clock.wall
        line = next(line for line in held.text().splitlines() if "docs.example.net" in line)
        assert f" {left / 1000:.1f}s" in line


async def test_next_error_goes_from_problem_to_problem() -> None:
    async with stage() as held:
        events = held.table("#events")
        await held.press("log.next_error", rounds=0)
        assert events.cursor_key == 400
        await held.press("log.next_error", rounds=0)
        assert events.cursor_key == 397
        await held.press("log.previous_error", rounds=0)
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
        held.sees("the run ended at 10:41 (finished; ", "○ idle")


async def test_attached_to_a_run_of_another_process() -> None:
    async with stage((200, 50)) as held:
        held.sees("● attached", "to process 4711 on host reef")


async def test_watching_only_refuses_to_write() -> None:
    async with stage(readonly=True) as held:
        await held.press("p")
        assert "pause: this console is read-only" in held.text()
        assert "p pause" not in held.text().splitlines()[-1]
        assert "read-only" in held.text()


def test_where_nothing_is_selected_only_a_filter_is_blamed() -> None:
    assert no_origin_lines(False, 0, narrowed=False, keys=KeyNames()) == []
    assert no_origin_lines(True, 10, narrowed=False, keys=KeyNames()) == []
    (line,) = no_origin_lines(True, 10, narrowed=True, keys=KeyNames())
    assert isinstance(line, Paragraph)
    assert line.text == "10 origins known, none matches."


async def test_an_empty_database_says_what_to_do() -> None:
    reports = FakeReports(rows={}, log=(), newest_run=None, pages=())
    async with stage(reports=reports) as held:
        held.sees("No origins yet", "a  add seeds", "no run has started yet")


async def test_an_error_of_the_engine_is_told_and_cannot_be_undone() -> None:
    async with stage() as held:
        held.journal.answer = "there is no such origin"
        await select(held, API)
        await held.decide("origin.toggle_pause")
        assert "✗ pause api.example.org: there is no such origin" in held.text()
        await held.press("journal.undo")
        assert (
            "undo: no action of this console to undo; for others: undo in Rules, or the opposite action" in held.text()
        )


async def test_a_wish_that_cannot_be_written_is_told() -> None:
    async with stage() as held:
        held.journal.failure = "database or disk is full"
        await select(held, API)
        await held.decide("origin.toggle_pause")
        assert "✗ pause api.example.org: database or disk is full" in held.text()


async def test_a_suspected_trap_is_named_beside_its_origin_and_explained_when_it_is_selected() -> None:
    async with stage((200, 50), reports=trapped()) as held:
        await held.settle(3)
        line = next(line for line in held.text().splitlines() if "www.example.com" in line and "crawling" in line)
        assert "⚠ trap suspected  requesting" in line
        assert "docs" not in "".join(one for one in held.text().splitlines() if "⚠ trap suspected" in one)
        await select(held, WWW)
        assert "180 links with a path" in held.on_top.query_one("#summary", Lines).text
        await select(held, DOCS)
        assert "links with a path" not in held.on_top.query_one("#summary", Lines).text


async def test_the_order_is_made_anew_on_coming_back_also_when_the_run_has_ended() -> None:
    async with stage(keys="2", rounds=2) as held:
        views = enumerate(held.reports.rows.values())
        await held.commit(*(replace(view, failed=n * 10, state="FINISHED") for n, view in views), rounds=3)
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
    async with stage(size, reports=trapped()) as held:
        await held.settle(3)
        await held.press("end", rounds=0)  # at 80 columns it is below the others
        await held.settle(1, move_ms=500)
        line = next(
            line
            for line in reversed(held.text().splitlines()[: held.table("#origins").region.bottom])
            if "www.example.com" in line
        )
        assert "⚠" in line[: line.index("www.example.com")]
        await held.press("?")
        await held.type("trap")
        assert "trap suspected" in held.text()


class _Turning(FakeReports):
    """Each commit is the end of a turn: another page comes next."""

    def todo(self, origin: str, limit: int) -> tuple[TodoView, ...]:
        return (TodoView(f"{origin}/page/{self.version + 1}", 1, 0, 0, 3, 0, False),)


async def test_the_page_that_comes_next_is_never_the_one_that_was_answered_last() -> None:
    reports = _Turning()
    async with stage((160, 50), reports=reports) as held:
        await select(held, API)
        await held.settle(2)
        for _ in range(5):
            last = f"{API}/page/{reports.version + 1}"
            reports.commit(origin(API, last_url=last, last_exit_code="file_ingested"))
            await held.settle(1)
            assert f"/page/{reports.version} " in held.text(), "its last answer"
            assert f"next     /page/{reports.version + 1}" in held.text()


def tall(held: Stage, pane: str) -> int:
    return held.app.screen.query_one(pane).region.height


async def test_the_origins_are_as_tall_as_their_rows_and_the_events_have_the_rest() -> None:
    async with stage((200, 60)) as held:
        body = tall(held, "#body")
        need = max(held.table("#origins").row_count, 8) + 3
        assert need <= tall(held, "#origins") <= body * 3 // 5 + 2
        assert tall(held, "#summary") == tall(held, "#origins")
        assert held.app.screen.query_one("#summary", Lines).more == "", "what stands beside them : ok"
        assert tall(held, "#origins") + tall(held, "#events") == body
        for size in ((80, 24), (120, 40)):
            await held.pilot.resize_terminal(*size)
            await held.quiet()
            body = tall(held, "#body")
            assert abs(tall(held, "#origins") - body * 3 / 5) <= 2
            assert tall(held, "#events") >= body * 2 // 5 - 2


async def test_the_origins_grow_as_they_come_and_are_less_only_when_shown_or_sized_anew() -> None:
    async with stage((80, 60)) as held:
        await held.press("j", rounds=1)
        first = tall(held, "#origins")
        assert first == held.table("#origins").row_count + 3
        held.reports.commit(
            *(replace(held.reports.rows[API], origin=f"https://n{number}.example") for number in range(9))
        )
        await held.settle(3, move_ms=1_500)
        assert tall(held, "#origins") == first + 9
        await held.press("/", *"api", "enter", rounds=2)
        assert tall(held, "#origins") == first + 9, "nothing jumps while one looks"
        await held.press("?", "escape", rounds=2)
        assert tall(held, "#origins") == first + 9, "a dialog is no other view"
        await held.press("2", "1", rounds=3)
        assert tall(held, "#origins") < first
        await held.press("escape", rounds=2)
        assert tall(held, "#origins") == first + 9
        held.reports.commit(
            *(replace(held.reports.rows[API], origin=f"https://m{number}.example") for number in range(90))
        )
        await held.settle(3, move_ms=1_500)
        assert abs(tall(held, "#origins") - tall(held, "#body") * 3 / 5) <= 2


async def test_low_the_origins_have_all_of_it() -> None:
    async with stage((60, 20)) as held:
        assert tall(held, "#origins") == tall(held, "#body") - 1


async def test_the_card_of_an_origin_says_that_most_of_its_pages_are_not_canonical() -> None:
    async with stage((160, 50)) as held:
        held.reports.commit(replace(held.reports.rows[API], done=40, failed=0, not_canonical=25))
        await select(held, API)
        await held.settle()
        held.sees("25 of 40 pages name")


async def test_origins_that_differ_by_the_scheme_alone_are_both_shown_with_it() -> None:
    secure, plain = "https://127.0.0.1:9306", "http://127.0.0.1:9306"
    reports = FakeReports()
    reports.commit(origin(secure))
    async with stage((120, 40), reports=reports) as held:
        await held.settle()
        assert "127.0.0.1:9306" in held.text()
        assert secure not in held.text()
        await held.commit(origin(plain), rounds=4, move_ms=1_200)
        held.sees("http 127.…:9306", "https 127…:9306")
    async with stage((200, 50), reports=reports) as held:
        assert secure in held.text()
        assert plain in held.text()


async def test_an_origin_without_a_robots_txt_to_be_had_is_among_the_failures() -> None:
    lost = origin(
        "https://lost.example", state="FINISHED", finish_reason="patience", patience=0, robots_status="unreachable"
    )
    reports = _Turning()
    reports.commit(replace(lost, robots_message="lost.example port 443: Connection refused", todo=1))
    async with stage((200, 50), reports=reports) as held:
        names = order(held)
        clean = [name for name in names if not held.app.live_state.origins[name].failed and name != lost.origin]
        assert all(names.index(lost.origin) < names.index(name) for name in clean)
        await select(held, lost.origin)
        await held.settle(2)
        words = " ".join(held.text().split())
        assert "robots.txt unreachable:" in words
        assert "connection refused" in words
        assert "/page/" not in held.text(), "the card of one that gave up names no page that comes next"
        assert "due again" not in held.text()
        await held.press("view.problems")
        assert lost.origin in order(held)


async def test_a_row_has_a_small_graph_of_its_rate_where_there_is_room() -> None:
    async with stage((250, 60)) as held:
        view = held.reports.rows[WWW]
        for step in range(1, 8):
            held.reports.commit(replace(view, requests=view.requests + step * step, last_response_ms=4**step))
            await held.settle(1, move_ms=5_000)
        row = next(line for line in held.text().split("\n") if "www.example.com" in line and "▶" in line)
        assert "▂▃" in row
        assert "░░░▒▓█" in row, "latency, darker for longer"
        assert " RATE " in held.text()
    async with stage((200, 60)) as held:
        assert " RATE " not in held.text(), "why it waits comes first"
