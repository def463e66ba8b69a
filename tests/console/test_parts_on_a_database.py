"""The parts of views 5 and 6 read a real database as they read the stand-in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.crawls import claim_pages, store_crawl
from tests.storage.making import A
from tui_crawler.console.jobs.queries import LEDGERS
from tui_crawler.console.logs.queries import BEGINNING, LogScope, log_actions, log_after
from tui_crawler.console.logs.window import LogListWindow
from tui_crawler.console.origin.queries import contract_of, robots_file, top_ups_of
from tui_crawler.console.overview.queries import next_page_of, recent_actions, summary_of
from tui_crawler.console.reading.refresh import JOBS
from tui_crawler.domain.records.command import PauseOrigins, TopUpPatience
from tui_crawler.domain.records.operator_view import ValidationTotals
from tui_crawler.storage.workers.journal import Journal
from tui_crawler.text.same_as import command_line_of
from tui_crawler.wiring.console_reports import ConsoleReports

NOW = 1_767_609_667_000


@pytest.fixture
def reports(tmp_path: Path) -> Iterator[ConsoleReports]:
    path = store_crawl(tmp_path / "crawl.db")
    claim_pages(path, NOW)
    with closing(ConsoleReports(path)) as found:
        yield found


def test_runs_newest_first_with_how_they_ended(reports: ConsoleReports) -> None:
    (run,) = LEDGERS["runs"].ask.read(reports, NOW)
    assert (run.run_id, run.finish_reason, run.live) == (1, "exhausted", False)
    assert run.finished_at >= run.started_at > 0


def test_counters_jobs_limbo_and_stashes(reports: ConsoleReports) -> None:
    assert [job.job for job in JOBS.read(reports, NOW)] == ["main", "news"]
    assert {page.origin for page in LEDGERS["limbo"].ask.read(reports, NOW)} == {A}
    assert LEDGERS["refused"].ask.read(reports, NOW) == ()
    assert LEDGERS["stashes"].ask.read(reports, NOW).at == NOW


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
    keyset = LogListWindow()
    keyset.take(keyset.begin, keyset.begin.read(reports, NOW))
    events = [line.text.split("\n")[0] for line in keyset.rows]
    assert "run_started" in events
    assert events[-1] == "run_finished"
    assert (keyset.above, keyset.whole) == (None, True)
    assert not keyset.take_actions(log_actions().read(reports, NOW))
    assert keyset.below is not None
    assert keyset.below.read(reports, NOW).lines == ()
    forward = log_after(BEGINNING, LogScope()).read(reports, NOW)
    assert (sorted(forward.lines, key=lambda line: line.order), forward.ended) == (list(keyset.rows), True)


def test_the_contract_is_that_of_the_stored_configuration(tmp_path: Path) -> None:
    text = (
        "seeds: [http://a.test/, http://b.test/]\nuser_agent: my-crawler (for https://example.net/why)\n"
        "delay: {default: 3s, crawl_delay_cap: 60s}\nhosts: [{host: a.test, default_delay: 9s}]\n"
        "robots: {max_bytes: 4096}\nnetwork: {total_timeout: 20s}\ncrawl: {politeness_key: host}\n"
    )
    path = store_crawl(tmp_path / "crawl.db")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE run SET config_text = ?, user_agent = 'bot (for https://example.net/)'", (text,))
    with closing(ConsoleReports(path)) as reports:
        found = contract_of("http://a.test").read(reports, NOW)
        assert (found.delay.default_ms, found.delay_from) == (9_000, "hosts")
        assert (found.user_agent, found.politeness_key) == ("bot (for https://example.net/)", "host")
        assert (found.total_timeout_ms, found.robots_max_bytes) == (20_000, 4_096)
        other = contract_of("http://b.test").read(reports, NOW)
        assert (other.delay.default_ms, other.delay_from) == (3_000, "delay.default")
        assert other.delay.crawl_delay_cap_ms == 60_000


def test_without_a_stored_configuration_the_contract_is_the_default(tmp_path: Path) -> None:
    with closing(ConsoleReports(store_crawl(tmp_path / "crawl.db"))) as reports:
        assert contract_of(A).read(reports, NOW).delay.default_ms == 1_000
        assert robots_file("http://nowhere.test", 0).read(reports, NOW) is None


def test_actions_come_with_what_was_asked_and_top_ups_are_found_among_them(tmp_path: Path) -> None:
    path = store_crawl(tmp_path / "crawl.db")
    with closing(Journal(path)) as journal:
        journal.send(PauseOrigins((A,)), "mara")
        number = journal.send(TopUpPatience((A,)), "mara")
    with closing(sqlite3.connect(path)) as database, database:
        values = (NOW, f'{{"{A}": 1}}', f'{{"{A}": 5}}', number)
        database.execute('UPDATE operator_action SET applied_at = ?, "before" = ?, "after" = ? WHERE id = ?', values)
    with closing(ConsoleReports(path)) as reports:
        top_up, pause = recent_actions(limit=2).read(reports, NOW)
        assert reports.actions(5, before_id=top_up.action_id)[0] == pause
        assert reports.actions(1, after_id=pause.action_id - 1, oldest_first=True) == (pause,)
        assert command_line_of(pause) == f"tui-crawler pause {A}"
        assert top_up.action == "top_up"
        (given,) = top_ups_of(A).read(reports, NOW)
        assert (given.who, given.before, given.after) == ("mara", 1, 5)
        assert top_ups_of("http://nowhere.test").read(reports, NOW) == ()


def test_the_card_of_an_origin_holds_its_next_page(reports: ConsoleReports) -> None:
    card = summary_of(A).read(reports, NOW)
    todo = reports.todo(A, 1)
    assert next_page_of(A).read(reports, NOW) == (todo[0].url if todo else "")
    assert card.suspicion is None
