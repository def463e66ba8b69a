"""View 7: what can be done with jobs, and the ledgers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import NOW
from tests.console.sample_log import jobs, operator_actions, refused_links, runs
from tests.console.support import Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.jobs.screen import read_number
from tui_crawler.console.operator.intent import set_jobs, shift_niceness, toggle_jobs
from tui_crawler.console.panes.zoom import panes_of
from tui_crawler.console.reading.snapshot import Rates
from tui_crawler.console.session import ConsoleSession, SessionFile
from tui_crawler.domain.records.command import SetJob, SteerJobs
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.relations.jobs import job_mark
from tui_crawler.text.relations.refused import by_reason
from tui_crawler.text.relations.runs import RUNS


def done_of(held: Stage) -> str:
    row = held.table("#jobs").row("my-index")
    return text_of(row.cells[7])


def text_of(cell: Cell) -> str:
    return cell.text if isinstance(cell, Styled) else str(cell)


# what is made of rows


def test_refused_links_are_summed_by_reason_with_the_sample_of_the_most_frequent_origin() -> None:
    first, *_, last = by_reason(refused_links())
    assert (first.reason, first.count, first.origins) == ("scope", 89_408, 2)
    assert first.sample_url == "https://elsewhere.example/x"
    assert last.reason == "invalid_url"
    assert by_reason(()) == ()


def test_a_job_says_where_it_stands() -> None:
    assert [job_mark(job).label for job in jobs()] == [
        "▶ active", "‖ paused", "◐ draining", "✓ finished", "✗ aborted",
    ]  # fmt: skip


def test_a_run_is_live_ended_or_was_never_finished() -> None:
    live, ended, _, lost = (RUNS.cells(replace(run, live=run.run_id == 7), Present(NOW)) for run in runs())
    assert [text_of(cells[4]) for cells in (live, ended, lost)] == ["▶ running", "✓ finished", "⚠ crawler died"]
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


async def test_jobs_and_a_ledger_are_on_one_screen() -> None:
    async with stage((140, 44), keys="7") as held:
        text = held.text()
        for words in (
            "Jobs · 5 · pages as they are now", "◐ draining",
            "Refused links · 4 · in all runs", "⊘ out of scope", "https://elsewhere.example/x",
        ):  # fmt: skip
            assert words in text, words


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_narrow_the_jobs_are_above_the_ledger(size: tuple[int, int]) -> None:
    async with stage(size, keys="7") as held:
        assert [pane.id for pane in panes_of(held.app.screen)] == ["jobs", "ledger"]
        assert held.app.screen.focused is held.table("#jobs")
        held.sees("Refused links · 4 · in all runs", "more t")


@pytest.mark.parametrize("way", ["6", "7", ":stats"])
async def test_who_knows_the_old_numbers_is_told_the_new_ones_once(way: str, tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/a.db")
    assert memory.keep(ConsoleSession(sort="todo"))
    async with stage(memory=memory) as held:
        if way == ":stats":
            await held.command("stats", rounds=1)
        else:
            await held.press(way)
        assert held.on_top.WHERE is (Where.pulse if way == "6" else Where.jobs)
        assert held.told == "6 is Pulse now; Stats became 7 Jobs (exit codes: 2 Failures, 6 Pulse)"
        shown = held.app.notices
        await held.press("1", "6", "7")
        assert [one for one in held.app.notices if one not in shown] == []
    async with stage() as held:
        await held.press("6", "7")
        assert held.app.notices == (), "who is here for the first time knows no others"


async def test_the_key_of_the_stats_in_a_keymap_is_that_of_the_jobs() -> None:
    async with stage(keymap={"view.stats": "f6"}) as held:
        await held.press("f6")
        assert held.on_top.WHERE is Where.jobs


async def test_ledgers_are_read_only_when_they_are_shown_and_stashes_counted_only_when_asked() -> None:
    async with stage((140, 44), keys="7", rounds=2) as held:
        assert "stashes()" not in held.reports.asked
        await held.press("stats.ledger", rounds=2)
        held.sees("Limbo · 3", "4m00s")
        await held.press("stats.ledger", rounds=2)
        assert "Stashes · 2 · counted at 10:41:07 · t n again" in held.text()
        await held.commit(rounds=3, move_ms=6_000)
        assert held.reports.asked.count("stashes()") == 1
        await held.press("stats.count", rounds=2)
        assert held.reports.asked.count("stashes()") == 2
        await held.press("stats.ledger", rounds=2)
        held.sees("Validation · 2 · first 200 000 pages at 10:41:", "81 400")
        await held.press("stats.count", rounds=2)
        assert held.reports.asked.count("validations(200000)") == 2
        await held.press("stats.ledger", rounds=2)
        held.sees("Runs · 4", "⚠ crawler died")
        await held.press("stats.ledger", rounds=2)
        assert "Actions of operators · 5" in held.text()
        await held.press("stats.ledger", rounds=2)
        assert "Refused links" in held.text()


async def test_a_list_that_is_asked_for_is_seen_where_it_stood_below() -> None:
    async with stage((80, 24), keys="7", rounds=2) as held:
        assert "Limbo" not in held.text()
        await held.press(":", *"show", "space", *"limbo", "enter", rounds=2)
        held.sees("Limbo", "4m00s")


async def test_actions_of_operators_tell_what_became_of_them_and_the_command_line() -> None:
    async with stage((200, 60), keys="7", rounds=2) as held:
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
    async with stage((140, 44), keys="7", rounds=2) as held:
        held.table("#ledger").focus()
        await held.press("enter", rounds=2)
        assert held.app.screen.WHERE.value == "URL"


async def test_jobs_are_paused_made_nicer_and_that_is_undone() -> None:
    async with stage((140, 44), keys="7", rounds=2) as held:
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
    async with stage((140, 44), keys="7", rounds=2) as held:
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
    async with stage((140, 44), keys="7", rounds=2) as held:
        held.table("#jobs").move_cursor(key="trial")
        await held.press("p", rounds=0)
        assert "tui-crawler jobs unabort" in held.text()
        assert held.journal.sent == []


async def test_who_only_watches_changes_no_job() -> None:
    async with stage((140, 44), readonly=True, keys="7", rounds=2) as held:
        await held.press("p", "job.nice", rounds=1)
        assert "this console is read-only" in held.text()


async def test_frozen_numbers_stand_still() -> None:
    async with stage((140, 44), keys="7", rounds=2) as held:
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
        await held.press("failures.group", "enter", rounds=2)
        assert "5 MIN" in held.text()


async def test_an_empty_crawl_has_words_for_everything() -> None:
    empty = FakeReports(rows={}, log=(), groups_of_pages=(), past_runs=(), newest_run=None)
    async with stage((140, 44), reports=empty, keys="7", rounds=2) as held:
        assert "no job yet" in held.text()
        ledgers = ["stats.ledger"] * 4
        for key in ("p", "job.later", "job.nice", "s", "enter", *ledgers, "stats.count"):
            await held.press(key, rounds=1)
        assert held.app.is_running
