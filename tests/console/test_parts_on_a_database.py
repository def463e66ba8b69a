"""The parts of views 5 and 6 read a real database as they read the stand-in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.crawls import claim_pages, store_crawl
from tests.storage.making import A
from tui_crawler.console.log_book import LogActions, LogBefore, LogBook, LogTail
from tui_crawler.console.ports import ValidationTotals
from tui_crawler.console.stat_parts import ExitCounts, Jobs, Limbo, Refusals, Runs, Stashes
from tui_crawler.wiring.console_reports import ConsoleReports

NOW = 1_767_609_667_000


@pytest.fixture
def reports(tmp_path: Path) -> Iterator[ConsoleReports]:
    path = store_crawl(tmp_path / "crawl.db")
    claim_pages(path, NOW)
    with closing(ConsoleReports(path)) as found:
        yield found


def test_runs_newest_first_with_how_they_ended(reports: ConsoleReports) -> None:
    (run,) = Runs().read(reports, NOW)
    assert (run.run_id, run.finish_reason, run.live) == (1, "exhausted", False)
    assert run.finished_at >= run.started_at > 0


def test_counters_jobs_limbo_and_stashes(reports: ConsoleReports) -> None:
    assert [job.job for job in Jobs().read(reports, NOW)] == ["main", "news"]
    assert {page.origin for page in Limbo().read(reports, NOW)} == {A}
    assert ExitCounts().read(reports, NOW) == ExitCounts(A).read(reports, NOW) == ()
    assert Refusals().read(reports, NOW) == ()
    assert Stashes().read(reports, NOW).at == NOW


def test_what_validators_said_is_summed_over_so_many_pages(reports: ConsoleReports, tmp_path: Path) -> None:
    columns = "page_id, validation_type, valid"
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as database, database:
        ids = [row[0] for row in database.execute("SELECT id FROM page ORDER BY id")]
        needed = [row[1] for row in database.execute("PRAGMA table_info(document)") if row[3] and row[4] is None]
        names = [name for name in needed if name not in columns]
        for page_id, kind, valid in zip(ids, ("html", "html", "json"), (1, 0, 1), strict=False):
            slots = ", ".join("?" * (3 + len(names)))
            text = f"INSERT INTO document ({columns}{''.join(f', {name}' for name in names)}) VALUES ({slots})"
            database.execute(text, (page_id, kind, valid, *(0 for _ in names)))
    assert reports.validations(len(ids) + 1) == ValidationTotals(len(ids), True, (("html", 1, 1), ("json", 1, 0)))
    assert reports.validations(2).pages == 2
    assert not reports.validations(2).whole


def test_the_log_from_its_end_and_back(reports: ConsoleReports) -> None:
    book = LogBook()
    book.take_tail(LogTail().read(reports, NOW), keep_end=True)
    book.take_actions(LogActions().read(reports, NOW))
    events = [line.text.split("\n")[0] for line in book.lines]
    assert "run_started" in events
    assert events[-1] == "run_finished"
    assert book.before is None
    assert LogBefore(1, NOW * 2).read(reports, NOW).floor == 0
    assert book.tail.read(reports, NOW).activity == ()
