"""View 6: how attempts ended, the busiest origins, what can be done with jobs, and the ledgers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, NOW, WWW, origin, origins
from tests.console.sample_log import jobs, operator_actions, refused_links, runs
from tests.console.support import Stage, stage
from tui_crawler.console.operator.intent import set_jobs, shift_niceness, toggle_jobs
from tui_crawler.console.panes.zoom import panes_of
from tui_crawler.console.reading.snapshot import Rates
from tui_crawler.console.stats.rows import top_origins
from tui_crawler.console.stats.screen import read_number
from tui_crawler.domain.records.command import SetJob, SteerJobs
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.format import count
from tui_crawler.text.relations.jobs import job_mark
from tui_crawler.text.relations.refused import by_reason
from tui_crawler.text.relations.runs import RUNS


def done_of(held: Stage) -> str:
    row = held.table("#jobs").row("my-index")
    return text_of(row.cells[7])


def text_of(cell: Cell) -> str:
    return cell.text if isinstance(cell, Styled) else str(cell)


# what is made of rows


def test_top_lists_name_the_greatest_and_nobody_without_any() -> None:
    views = origins()
    assert [view.origin for view in top_origins(views, "bytes")][:2] == [WWW, "https://docs.example.net"]
    failed = top_origins(views, "failed")
    assert [view.failed for view in failed] == sorted((view.failed for view in views if view.failed), reverse=True)
    assert top_origins([origin(API)], "requests") == []


def test_refused_links_are_summed_by_reason_with_the_sample_of_the_most_frequent_origin() -> None:
    first, *_, last = by_reason(refused_links())
    assert (first.reason, first.count, first.origins, first.most) == ("scope", 89_408, 2, WWW)
    assert first.sample_url == "https://elsewhere.example/x"
    assert last.reason == "invalid_url"
    assert by_reason(()) == ()


def test_a_job_says_where_it_stands() -> None:
    assert [job_mark(job).label for job in jobs()] == [
        "▶ active", "‖ paused", "◐ draining", "✓ finished", "✗ aborted",
    ]  # fmt: skip


def test_a_run_is_live_ended_or_was_never_finished() -> None:
    live, ended, _, lost = (RUNS.cells(replace(run, live=run.run_id == 7), Present(NOW)) for run in runs())
    assert [text_of(cells[4]) for cells in (live, ended, lost)] == ["▶ running", "✓ finished", "⚠ broken off"]
    assert [text_of(cells[2]) for cells in (live, ended, lost)] == ["42m10s", "2h00m", "-"]


def test_rates_begin_anew_when_nobody_has_looked_for_a_while() -> None:
    rates = Rates()
    assert rates.of({"w1": 0}, 0) == {"w1": None}
    assert rates.of({"w1": 50}, 1_000) == {"w1": 0}
    assert rates.of({"w1": 150, "w2": 900}, 2_000) == {"w1": 25, "w2": None}
    assert rates.of({"w2": 90_000}, 60_000) == {"w2": None}
    assert rates.of({"w2": 90_007}, 61_000) == {"w2": 0}
    assert rates.of({"w2": 90_007}, 62_000) == {"w2": 3.5}


@pytest.mark.parametrize(("text", "number"), [("12", 12), (" -3 ", -3), ("", None), ("none", None), ("1e3", None)])
def test_numbers_as_they_are_typed(text: str, number: int | None) -> None:
    assert read_number(text) == number
    assert read_number("9" * 30) is None
    assert read_number("²") is None


# what is asked of the engine


def test_pause_of_jobs_leaves_paused_and_aborted_ones_alone_and_is_undone() -> None:
    intent = toggle_jobs(jobs())
    assert intent is not None
    names = ("my-index", "press", "events")
    assert (intent.commands, intent.inverse) == ((SteerJobs("pause", names),), (SteerJobs("resume", names),))
    paused = toggle_jobs([jobs()[1]])
    assert (paused.commands, paused.says) == ((SteerJobs("resume", ("archive",)),), "resume job archive")
    assert toggle_jobs([jobs()[4]]) is None


def test_values_of_jobs_are_set_and_put_back_no_limit_included() -> None:
    my_index, archive, press, *_ = jobs()
    depth = set_jobs((my_index, press), "depth", None)
    assert depth.commands == (SetJob("my-index", depth=-1), SetJob("press", depth=-1))
    assert depth.inverse == (SetJob("my-index", depth=8), SetJob("press", depth=2))
    assert set_jobs((archive,), "depth", None) is None
    at_once = set_jobs((my_index,), "concurrency", 3)
    assert at_once.says == "concurrency of job my-index: none → 3"
    assert at_once.inverse == (SetJob("my-index", concurrency=-1),)
    later = shift_niceness((press,), 10)
    assert (later.commands, later.inverse) == ((SetJob("press", nice=0),), (SetJob("press", nice=-10),))
    assert shift_niceness((), 10) is None


# the screen


async def test_everything_is_on_one_screen() -> None:
    async with stage((140, 44), keys="6") as held:
        text = held.text()
        for words in (
            "Exit codes · this run", "91 204", "5 211", "Exit codes · www.example.com · this run",
            "Jobs · 5 · pages as they are now", "◐ draining",
            "Origins by requests · in all runs", "Refused links · 4 · in all runs", "⊘ scope", "https://elsewhere.example/x",
        ):  # fmt: skip
            assert words in text, words


async def test_the_exit_codes_of_the_origin_under_the_cursor_stand_beside_those_of_all() -> None:
    async with stage((140, 44), keys="6", rounds=2) as held:
        held.table("#top-origins").move_cursor(key=API)
        await held.settle(2, move_ms=300)
        assert "Exit codes · api.example.org · this run" in held.text()
        assert held.table("#own-exits").row_count == 7
        assert held.table("#all-exits").row_count == 10


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_narrow_the_jobs_come_first_and_one_table_of_exit_codes_whose_subject_a_key_changes(
    size: tuple[int, int],
) -> None:
    async with stage(size, keys="6") as held:
        shown = [pane.id for pane in panes_of(held.app.screen)]
        assert shown == ["jobs", "all-exits", "top-origins", "ledger"]
        assert held.app.screen.focused is held.table("#jobs")
        assert held.table("#jobs").region.y == 1
        assert "Exit codes · this run · O: www.example.com" in held.text()
        await held.press("stats.exits", rounds=1)
        assert [pane.id for pane in panes_of(held.app.screen)] == ["jobs", "own-exits", "top-origins", "ledger"]
        assert held.app.screen.focused is held.table("#own-exits")
        assert "Exit codes · www.example.com · O: all origins" in held.text()
        await held.press("stats.exits", rounds=1)
        assert "Exit codes · this run · O: www.example.com" in held.text()
        await held.press("tab", "tab", rounds=1)
        assert "Refused links · 4 · in all runs · c: more t" in held.text()


async def test_where_both_tables_of_exit_codes_are_shown_the_key_goes_from_one_to_the_other() -> None:
    async with stage((120, 40), keys="6 stats.exits", rounds=2) as held:
        assert held.app.screen.focused is held.table("#own-exits")
        assert "c: more tables (5)" in held.text()
        await held.press("stats.exits", rounds=1)
        assert held.app.screen.focused is held.table("#all-exits")


async def test_origins_are_ordered_by_requests_bytes_and_failures() -> None:
    async with stage((140, 44), keys="6", rounds=2) as held:
        held.table("#top-origins").focus()
        await held.press("s", "j", "enter", rounds=1)
        assert "Origins by bytes · in all runs" in held.text()
        await held.press("sort.reverse", rounds=1)
        assert "Origins by failed pages · as they stand" in held.text()
        assert held.table("#top-origins").row_order[0] == "https://api.example.org"
        held.table("#top-origins").focus()
        await held.press("enter", rounds=2)
        assert held.app.screen.WHERE.value == "Origin"


async def test_ledgers_are_read_only_when_they_are_shown_and_stashes_counted_only_when_asked() -> None:
    async with stage((140, 44), keys="6", rounds=2) as held:
        assert "stashes()" not in held.reports.asked
        await held.press("stats.ledger", rounds=2)
        held.sees("Limbo · 3", "4m00s")
        await held.press("stats.ledger", rounds=2)
        assert "Stashes · 2 · counted at 10:41:07 · u again" in held.text()
        await held.commit(rounds=3, move_ms=6_000)
        assert held.reports.asked.count("stashes()") == 1
        await held.press("stats.count", rounds=2)
        assert held.reports.asked.count("stashes()") == 2
        await held.press("stats.ledger", rounds=2)
        held.sees("Validation · 2 · first 200 000 pages at 10:41:", "81 400")
        await held.press("stats.count", rounds=2)
        assert held.reports.asked.count("validations(200000)") == 2
        await held.press("stats.ledger", rounds=2)
        held.sees("Runs · 4", "⚠ broken off")
        await held.press("stats.ledger", rounds=2)
        assert "Actions of operators · 5" in held.text()
        await held.press("stats.ledger", rounds=2)
        assert "Refused links" in held.text()


async def test_a_list_that_is_asked_for_is_seen_where_it_stood_below() -> None:
    async with stage((80, 24), keys="6", rounds=2) as held:
        assert "Limbo" not in held.text()
        await held.press(":", *"show", "space", *"limbo", "enter", rounds=2)
        held.sees("Limbo", "4m00s")


async def test_actions_of_operators_tell_what_became_of_them_and_the_command_line() -> None:
    async with stage((200, 60), keys="6", rounds=2) as held:
        await held.command("show actions", rounds=2)
        table = held.table("#ledger")
        fields = {key: table.fields_of(row) for key in table.row_order if (row := table.row(key)) is not None}
        states = {key: one["state"] for key, one in fields.items()}
        assert states == {9: "◷ waits", 8: "✎ done", 7: "↻ undone", 6: "✗ refused", 5: "✎ done"}
        assert fields[5]["same"] == "tui-crawler pause https://old.example.org"
        assert "not the current one any more" in fields[6]["same"]
        assert table.source(9) == operator_actions()[0]
        table.focus()
        await held.press("enter", rounds=2)
        assert held.app.screen.WHERE.value == "URL"


async def test_enter_on_a_refused_link_opens_its_sample() -> None:
    async with stage((140, 44), keys="6", rounds=2) as held:
        held.table("#ledger").focus()
        await held.press("enter", rounds=2)
        assert held.app.screen.WHERE.value == "URL"


async def test_jobs_are_paused_made_nicer_and_that_is_undone() -> None:
    async with stage((140, 44), keys="6", rounds=2) as held:
        await held.decide("p", rounds=0)
        assert held.journal.sent[-1] == SteerJobs("pause", ("my-index",))
        await held.decide("job.later", rounds=0)
        assert held.journal.sent[-1] == SetJob("my-index", nice=10)
        await held.decide("journal.undo", rounds=0)
        assert held.journal.sent[-1] == SetJob("my-index", nice=0)
        await held.press("j", "space", "space", rounds=0)
        await held.decide("job.sooner", rounds=0)
        assert held.journal.sent[-2:] == [SetJob("archive", nice=10), SetJob("press", nice=-20)]


async def test_numbers_of_a_job_are_typed_and_bad_ones_refused() -> None:
    async with stage((140, 44), keys="6", rounds=2) as held:
        await held.press("job.depth", rounds=0)
        held.sees("depth of job my-index", "now 8 · links away")
        await held.type("none")
        await held.decide("enter", rounds=0)
        assert held.journal.sent == [SetJob("my-index", depth=-1)]
        await held.press("job.concurrency", "enter", "job.concurrency", "escape", rounds=0)
        assert len(held.journal.sent) == 1
        await held.command("concurrency -4")
        assert "not -4" in held.text()
        await held.command("nice none")
        await held.command("concurrency none")
        assert "none already" in held.text()
        assert len(held.journal.sent) == 1
        await held.command("nice -7", decided=True)
        assert held.journal.sent[-1] == SetJob("my-index", nice=-7)


async def test_an_aborted_job_says_how_it_is_taken_up() -> None:
    async with stage((140, 44), keys="6", rounds=2) as held:
        held.table("#jobs").move_cursor(key="trial")
        await held.press("p", rounds=0)
        assert "tui-crawler jobs unabort" in held.text()
        assert held.journal.sent == []


async def test_who_only_watches_changes_no_job() -> None:
    async with stage((140, 44), readonly=True, keys="6", rounds=2) as held:
        await held.press("p", "job.nice", rounds=1)
        assert "this console is read-only" in held.text()


async def test_frozen_numbers_stand_still() -> None:
    async with stage((140, 44), keys="6", rounds=2) as held:
        await held.press("f", rounds=1)
        first = held.reports.groups_of_pages[0]
        held.reports.groups_of_pages = (replace(first, done=102_777), *held.reports.groups_of_pages[1:])
        await held.commit(rounds=2, move_ms=1_100)
        assert done_of(held) == "101 019"
        await held.press("f", rounds=1)
        assert done_of(held) == "102 777"


async def test_groups_of_failures_show_the_pages_of_the_last_five_minutes() -> None:
    async with stage((140, 40), keys="2", rounds=2) as held:
        assert "5 MIN" in held.text()
        row = held.table("#groups").row((("exit_code", "request_timeout"),))
        assert text_of(row.cells[2]) == "2"
        await held.press("failures.group", rounds=2)
        assert "5 MIN" in held.text()


async def test_an_empty_crawl_has_words_for_everything() -> None:
    empty = FakeReports(rows={}, log=(), groups_of_pages=(), past_runs=(), newest_run=None)
    async with stage((140, 44), reports=empty, keys="6", rounds=2) as held:
        assert "no job yet" in held.text()
        ledgers = ["stats.ledger"] * 4
        for key in ("p", "job.later", "job.nice", "s", "enter", *ledgers, "stats.count"):
            await held.press(key, rounds=1)
        assert held.app.is_running


async def test_numbers_of_origins_and_jobs_follow_the_header_while_keys_are_pressed() -> None:
    async with stage((120, 40), keys="6", rounds=4) as held:
        top = held.table("#top-origins")
        order = list(top.row_order)
        view = held.reports.rows[API]
        for more in (1, 2, 3):
            await held.press("j", rounds=0)
            await held.commit(replace(view, requests=view.requests + more), rounds=2)
            row = top.row(API)
            assert row is not None
            assert top.fields_of(row)["requests"] == count(view.requests + more)
        assert list(top.row_order) == order
