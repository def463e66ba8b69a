"""How runs and origins end: every reason has its words, and they are the same wherever it is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import pytest

from tests.console.sample_crawl import API, NOW, origin, run_view
from tui_crawler.cli.run_watch import summary
from tui_crawler.console.logs.rows import LOG, LogEntry, activity_line
from tui_crawler.console.operator.engine_host import EngineEnd, EnginePhase, HostedEngine
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.idle_reason import idle_reason, idle_reason_of_run
from tui_crawler.domain.history.run_totals import RunTotals
from tui_crawler.domain.records.operator_view import ActivityView
from tui_crawler.domain.records.status_words import (
    BROKEN_OFF,
    FinishReason,
    RunReason,
    ends_words,
    finish_words,
    origin_end,
    origin_end_words,
    run_end,
    run_end_words,
    run_word,
    what_happened,
)
from tui_crawler.domain.records.view import TotalsView
from tui_crawler.text.cells import Present, cell_text
from tui_crawler.text.relations.runs import RUNS
from tui_crawler.text.standing import standing

REASONS = tuple(reason.value for reason in RunReason)


@pytest.mark.parametrize("reason", REASONS)
def test_every_end_of_a_run_has_a_word_and_a_why_of_its_own(reason: str):
    word, why = run_end(reason)
    assert word
    assert why
    assert "_" not in word
    assert run_end_words(reason) == f"{word}, {why}"
    assert len({run_end(one) for one in REASONS}) == len(REASONS)


def test_what_is_unknown_is_told_as_it_is():
    assert run_end("of_another_version") == ("of another version", "")
    assert run_end_words("of_another_version") == "of another version"
    assert run_end_words("") == "ended"


@pytest.mark.parametrize("reason", REASONS)
def test_all_that_tell_the_end_of_a_run_use_the_same_words(reason: str):
    word, why = run_end(reason)
    run = run_view(live=False, finished_at=NOW, finish_reason=reason)
    assert run_word(run) == word
    told = ExitSummary(run=run, now=NOW).lines()[0]
    assert f": {word} after " in told
    assert told.endswith(f"; {why}.")
    assert idle_reason_of_run((), NOW, run, zone=UTC).endswith(f"({word})")
    assert cell_text(RUNS.cells(run, Present(NOW))[4]).endswith(f" {word}")
    ledger = RunTotals()
    ledger.take(Event(1, "run_finished", extra=(("reason", reason),)))
    assert next(iter(summary(ledger))) == f"run {word}, {why}"
    logged = ActivityView(1, NOW, "run_finished", "", 7, reason)
    assert what_happened(logged) == f"{word}, {why}"
    assert f"{word}, {why}" in " ".join(map(cell_text, LOG.cells(LogEntry(activity_line(logged)), Present(NOW))))
    room = HostedEngine(None)
    room.phase, room.end = EnginePhase.ended, EngineEnd(reason=reason)
    assert room.standing(run).mark.word == word


def test_a_run_has_nothing_more_to_do_only_where_no_page_is_pending():
    assert run_end("exhausted") == ("finished", "nothing left in this run")
    assert run_end("exhausted", 0) == ("finished", "nothing more to do")
    assert run_end("exhausted", 1) == ("finished", "1 page waits for the next")
    assert run_end_words("exhausted", 82) == "finished, 82 pages wait for the next"
    assert run_end("operator", 82) == run_end("operator")
    run = run_view(live=False, finished_at=NOW, finish_reason="exhausted")
    left = TotalsView(0, 82, 3, 4, 5, 6, 7_000, 8)
    assert ExitSummary(run=run, now=NOW, totals=left).lines()[0].endswith("; 82 pages wait for the next.")
    none = replace(left, pending=0)
    assert ExitSummary(run=run, now=NOW, totals=none).lines()[0].endswith("; nothing more to do.")


def test_several_origins_that_ended_in_different_ways_are_counted_each_way():
    assert ends_words(()) == ""
    assert ends_words(["exhausted"]) == "1 has finished"
    assert (
        ends_words(["exhausted", "patience", "exhausted", "patience", "exhausted"])
        == "2 stopped after errors, 3 have finished"
    )
    assert ends_words(["exhausted", "operator"], "origin/origins") == "1 origin was stopped, 1 has finished"
    assert ends_words(["of_another_version"] * 2, "origin/origins") == "2 origins have ended"
    every = [reason.value for reason in FinishReason]
    assert len(ends_words(every).split(", ")) == len(every)


def test_a_run_that_goes_on_or_broke_off():
    run = run_view()
    assert run_word(run) == "running"
    gone = replace(run, live=False)
    assert run_word(gone) == BROKEN_OFF
    assert f": {BROKEN_OFF} after " in ExitSummary(run=gone, now=NOW).lines()[0]
    assert ExitSummary(run=gone, now=NOW).lines()[0].endswith("; the next start continues it.")
    assert BROKEN_OFF in cell_text(RUNS.cells(gone, Present(NOW))[4])


@pytest.mark.parametrize("reason", [reason.value for reason in FinishReason])
def test_the_log_tells_the_end_of_an_origin_in_the_words_of_the_overview(reason: str):
    assert "_" not in finish_words(reason)
    logged = ActivityView(1, NOW, "origin_finished", "https://a.example", 7, reason)
    assert what_happened(logged) == finish_words(reason)


@pytest.mark.parametrize("reason", [reason.value for reason in FinishReason])
def test_the_state_of_an_origin_and_why_say_the_same_end(reason: str):
    ended = origin(API, state="FINISHED", finish_reason=reason, pending=0)
    word, why = origin_end(reason), idle_reason(ended, NOW, run_view())
    assert standing(ended).word == word
    told = origin_end_words(reason, why)
    assert told in {why, f"{word}, {why}"}
    assert told.startswith(word)
    assert told.count(word) == 1
