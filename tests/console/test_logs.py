"""View 5: one list by time of attempts, activity and actions; it follows, is bounded, searched and narrowed."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, DOCS, NOW, WHO, attempt
from tests.console.sample_log import activities, operator_actions
from tests.console.support import Stage, stage
from tui_crawler.console.logs.attempts import is_problem
from tui_crawler.console.logs.rows import (
    LOG,
    LogEntry,
    action_line,
    activity_line,
    attempt_line,
    concerns,
    histogram,
    log_lines,
    terms_of,
    underlined,
    url_of,
)
from tui_crawler.console.overview.events import EventsPane
from tui_crawler.console.panes.lines import Lines
from tui_crawler.domain.records.exit_code import DISPOSITIONS, ExitCode, Severity
from tui_crawler.domain.records.operator_view import ActionView
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.records.view import AttemptView
from tui_crawler.text.cells import Present, Styled, cell_text


def many(first: int, last: int) -> tuple[AttemptView, ...]:
    """Attempts of these ids, newest first, a second apart."""
    return tuple(
        attempt(number, f"{DOCS}/{number}", "file_ingested", ended_at=NOW + number * 1_000)
        for number in range(last, first - 1, -1)
    )


def keys_of(held: Stage) -> list[tuple[str, int]]:
    return [key for key in held.table("#log").row_order if isinstance(key, tuple)]


# one entry


def test_a_hit_is_underlined_wherever_it_occurs_and_hostile_case_changes_nothing() -> None:
    pieces = underlined((Styled("a TIMEout, timeout"), Styled("x", "muted")), "timeout")
    assert [piece.text for piece in pieces] == ["a ", "TIMEout", ", ", "timeout", "x"]
    assert pieces[1].role == "accent bold underline"
    assert underlined((Styled("İx"),), "x") == (Styled("İx"),)  # one letter that is two in lower case


def test_problems_are_failures_giving_up_lost_workers_and_refused_wishes() -> None:
    assert [activity_line(one).problem for one in activities()[:6]] == [False, False, True, True, True, False]
    assert [action_line(one).problem for one in operator_actions()] == [False, False, False, True, False]
    assert attempt_line(attempt(1, f"{API}/x", "request_timeout")).problem


def test_errors_are_what_the_table_of_exit_codes_says_however_they_are_shown() -> None:
    lines = {code.name: attempt_line(attempt(1, f"{API}/x", code.name)) for code in ExitCode}
    assert {name: line.level for name, line in lines.items()} == {
        code.name: row.severity for code, row in DISPOSITIONS.items()
    }
    errors = {name for name, line in lines.items() if line.level is Severity.error}
    assert {"database_error", "local_processing_error", "server_internal_error"} <= errors
    assert terms_of({Severity.error}, "").exits == errors
    ends = {one.value: replace(activities()[2], message=one.value) for one in FinishReason}
    failed = {value for value, end in ends.items() if activity_line(end).level is Severity.error}
    assert failed == {"patience", "database_error"}
    assert set(terms_of({Severity.error}, "").events or ()) == {("origin_finished", value) for value in failed}


def test_an_action_concerns_the_origins_it_names_and_all_when_it_names_none() -> None:
    def action(target: str, after: str = "") -> ActionView:
        return replace(operator_actions()[0], target=target, after=after)

    assert concerns(action("all"), API)
    assert concerns(action(f"{API}/v2/x"), API)
    assert concerns(action("2 origins", f'["{API}"]'), API)
    assert not concerns(action(f"{API}.evil.test/"), API)
    assert concerns(action("job archive"), "")


def test_an_action_for_a_url_is_of_its_origin_and_opens_the_url() -> None:
    retry, delay, job, *_ = map(action_line, operator_actions())
    assert (retry.origin, url_of(retry)) == (API, f"{API}/v2/items?page=3")
    assert (delay.origin, url_of(delay)) == ("https://wiki.example.edu", "")
    assert (job.origin, url_of(job)) == ("", "")


def test_time_is_of_the_day_with_milliseconds_or_how_long_ago() -> None:
    line = attempt_line(attempt(400, f"{API}/x", "file_ingested", ended_at=NOW - 4_000))
    clock, ago = (LOG.cells(LogEntry(line, relative=ago), Present(NOW))[0] for ago in (False, True))
    assert isinstance(clock, Styled)
    assert isinstance(ago, Styled)
    assert (clock.text, clock.short, ago.text) == ("10:41:03.000", "10:41:03", "4s ago")


# the screen


async def test_the_three_kinds_stand_in_one_list_newest_last() -> None:
    async with stage((140, 40), keys="5", rounds=2) as held:
        text = held.text()
        assert "Log · ● following · 27" in text
        for word in ("request_timeout", "run started", "origin finished", "✎ delay", f"by {WHO}", "◷ retry"):
            assert word in text
        times = [line.at for line in held.app.screen._keyset.rows]
        assert times == sorted(times)
        assert held.table("#log").cursor_index == held.table("#log").row_count - 1


async def test_the_title_tells_the_problems_among_the_rows_held_and_so_do_the_events() -> None:
    async with stage() as held:
        events = held.app.screen.query_one("#events", EventsPane)
        problems = len(events.bad)
        assert problems
        assert f"Events · {problems} problems among the newest {events.row_count}" in held.text()
        await held.press("5", rounds=2)
        lines = held.app.screen._keyset.rows
        among = sum(line.level > Severity.info for line in lines)
        assert f"Log · ● following · {len(lines)} · {among} problems" in held.text()
        await held.press("view.problems", rounds=2)
        assert f"following · {among} · warnings and errors" in held.text()


async def test_where_not_all_rows_are_held_the_problems_are_those_among_them() -> None:
    failed = tuple(attempt(number, f"{DOCS}/{number}", "file_not_found") for number in range(3_000, 400, -1))
    async with stage() as held:
        held.reports.commit(log=failed)
        await held.press("5", rounds=2)
        assert re.search(r"following · [\d ]+ loaded · [\d ]+ problems among them", held.text())


async def test_it_follows_at_its_end_and_stays_where_one_moved_up() -> None:
    async with stage(keys="5", rounds=2) as held:
        await held.commit(log=many(401, 402), rounds=2, move_ms=300)
        assert held.table("#log").cursor_key == ("attempt", 402)
        await held.press("k", rounds=0)
        assert "○ not following" in held.text()
        at = held.table("#log").cursor_key
        await held.commit(log=many(403, 410), rounds=2, move_ms=300)
        assert ("attempt", 410) in keys_of(held)
        assert held.table("#log").cursor_key == at
        await held.press("log.newest", rounds=0)
        assert held.table("#log").cursor_key == ("attempt", 410)
        assert "● following" in held.text()


async def test_frozen_it_reads_nothing_and_goes_on_where_it_stopped() -> None:
    async with stage(keys="5", rounds=2) as held:
        await held.press("f", rounds=1)
        assert "‖ frozen" in held.text()
        held.reports.commit(log=many(401, 402))
        held.reports.asked.clear()
        await held.settle(2, move_ms=300)
        assert not [one for one in held.reports.asked if not one.startswith("origins_changed")], "only the header"
        await held.press("f", rounds=2)
        assert held.table("#log").cursor_key == ("attempt", 402)


async def test_only_what_is_new_is_read_and_nothing_without_a_commit() -> None:
    async with stage(keys="5") as held:
        held.reports.asked.clear()
        await held.settle(3, move_ms=300)
        assert held.reports.asked == []
        await held.commit(log=many(401, 401), rounds=1, move_ms=300)
        assert "attempt_stretch(400, >, '')" in held.reports.asked


async def test_problems_only_and_the_way_from_problem_to_problem() -> None:
    async with stage((140, 40), keys="5", rounds=2) as held:
        await held.press("log.next_error", rounds=0)
        assert held.table("#log").cursor_key == ("attempt", 397)
        await held.press("log.previous_error", rounds=0)
        assert "no further error" in held.text()
        await held.press("log.next_warning", rounds=0)
        assert held.table("#log").cursor_key == ("attempt", 392)
        await held.press("log.previous_warning", rounds=0)
        assert held.table("#log").cursor_key == ("attempt", 400)
        await held.press("log.level", "log.level", rounds=2)
        assert "errors only" in held.text()
        assert " timeout " not in held.text()
        assert "✗ rules" in held.text()
        await held.press("log.level", "view.problems", rounds=2)
        assert "warnings and errors" in held.text()
        assert " ingested " not in held.text()
        assert "✗ rules" in held.text()
        await held.press("view.problems", rounds=2)
        assert " ingested " in held.text()


async def test_search_counts_hits_goes_from_one_to_the_next_and_esc_takes_it_back_first() -> None:
    async with stage((140, 40), keys="5", rounds=2) as held:
        await held.enter("lsTIMEOUT", rounds=1)
        assert "search timeout: 2 hits" in held.text()
        assert held.table("#log").cursor_key == ("attempt", 400)
        await held.press("n", rounds=0)
        assert held.table("#log").cursor_key == ("attempt", 392)
        await held.press("n", rounds=0)
        assert "no further hit of timeout" in held.text()
        await held.press("N", rounds=0)
        assert held.table("#log").cursor_key == ("attempt", 400)
        await held.press("escape", rounds=0)
        assert "hits" not in held.text()
        assert held.app.console_screen is held.app.screen
        await held.press("escape", rounds=0)
        assert held.app.screen.WHERE.value == "Origins"


async def test_it_is_narrowed_to_the_origin_of_the_entry_and_widened_again() -> None:
    async with stage((140, 40), keys="5", rounds=2) as held:
        held.table("#log").move_cursor(key=("attempt", 399))
        await held.press("log.origin", rounds=2)
        assert "docs.example.net" in held.text().splitlines()[3]
        assert [key for key in keys_of(held) if key[0] == "attempt"] == [("attempt", 388), ("attempt", 399)]
        await held.press("log.origin", rounds=2)
        assert ("attempt", 400) in keys_of(held)
        await held.command("only nowhere.test")
        assert "0 origins match nowhere.test" in held.text()


async def test_enter_opens_the_url_or_the_origin() -> None:
    async with stage((140, 40), keys="5", rounds=2) as held:
        held.table("#log").move_cursor(key=("attempt", 399))
        await held.press("enter", rounds=2)
        assert held.app.screen.WHERE.value == "URL"
        await held.press("escape", rounds=1)
        held.table("#log").move_cursor(key=("activity", 39))
        await held.press("enter", rounds=2)
        assert held.app.screen.WHERE.value == "Origin"
        await held.press("escape", rounds=1)
        held.table("#log").move_cursor(key=("activity", 34))
        await held.press("enter", rounds=1)
        assert "this entry has no origin" in held.text()


async def test_the_graph_tells_when_much_happened_and_how_bad_it_was() -> None:
    lines = [attempt_line(one) for one in many(1, 30)]
    bad = attempt(99, f"{API}/x", "server_internal_error", ended_at=NOW + 31_000)
    drawn = cell_text(histogram([*lines, attempt_line(bad)], 60, UTC))
    assert drawn.startswith("10:41:0")
    assert "✗ 1 error" in drawn
    assert set(drawn) & set("▁▂▃▄▅▆▇█")
    assert len(drawn) <= 60
    assert histogram([], 60, UTC) == ""
    assert "█" not in cell_text(histogram([attempt_line(bad)], 20, UTC)), "no room: only the ends"


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20)])
async def test_what_happened_is_readable_at_every_size(size: tuple[int, int]) -> None:
    async with stage(size, keys="5", rounds=2) as held:
        assert "/v2/items?page=18" in held.text()
        await held.press("log.time", rounds=1)
        assert "now" in held.text()


async def test_nothing_has_happened_yet() -> None:
    async with stage(reports=FakeReports(log=(), happened=(), asked_for=()), keys="5", rounds=2) as held:
        assert "no entries yet" in held.text()
        ids = ("log.next_error", "log.next_warning", "log.time", "log.origin", "log.level", "table.pivot")
        for key in (*ids, "n", "enter"):
            await held.press(key, rounds=0)
        assert held.app.is_running


def test_a_robots_txt_that_does_not_exist_is_no_problem_here_as_in_the_database() -> None:
    robots = attempt(1, f"{API}/robots.txt", "file_not_found", kind="robots")
    assert not attempt_line(robots).problem
    assert not is_problem(robots)
    assert is_problem(replace(robots, exit_code="request_timeout"))
    assert is_problem(replace(robots, kind="page"))
    assert not is_problem(replace(robots, exit_code="of_a_newer_program", kind="page"))


async def test_a_filter_is_named_in_the_title_and_what_is_counted_is_what_it_keeps() -> None:
    reports = FakeReports()
    good = tuple(attempt(n, f"{DOCS}/{n}", "file_ingested", ended_at=NOW - 40_000 + n) for n in range(901, 931))
    bad = tuple(
        attempt(n, f"{DOCS}/bad/{n}", "server_internal_error", ended_at=NOW - 60_000 + n) for n in range(801, 806)
    )
    reports.log = (*sorted((*good, *bad), key=lambda one: -one.attempt_id),)
    async with stage((160, 40), reports=reports, keys="5") as held:
        await held.enter("/exit:server", rounds=1)
        whole = len(held.table("#log").held_rows())
        assert f"/ exit:server: 5 of {whole} · 5 problems among them" in held.text()
        await held.enter("lsbad", rounds=1)
        assert "search bad: 5 hits among them" in held.text()
        await held.press("escape", "escape", rounds=1)
        assert "exit:server" not in held.text()


async def test_a_field_that_is_searched_for_says_where_fields_belong() -> None:
    async with stage((160, 40), keys="5") as held:
        await held.enter("lsexit:server", rounds=1)
        assert "exit: is a field of /; here it is searched as text" in held.text()


async def test_how_an_origin_ended_is_told_in_words_in_full_too() -> None:
    async with stage((160, 40), keys="5") as held:
        held.table("#log").move_cursor(key=("activity", 39))
        await held.quiet()
        entry = held.app.screen.query_one("#log-info", Lines).text
        assert "out of patience" in entry
        assert "\npatience" not in entry


def test_of_an_attempt_only_what_is_known_is_told() -> None:
    known = attempt(7, f"{DOCS}/a", "file_ingested")
    bare = replace(known, bytes=0, ruleset_id=0, response_ms=None, worker="")
    told = [cell_text(log_lines(attempt_line(one), UTC)[2][1]) for one in (known, bare)]  # type: ignore[index]
    assert told == ["attempt 7 · run 7 · ruleset 13 · 0.2s · 18 KB · worker w1", "attempt 7 · run 7"]
