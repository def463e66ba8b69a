"""What the data tools of the console read from a real database: sessions, actions, counted pages, questions in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.crawls import store_crawl
from tests.storage.making import A
from tui_crawler.console.jobs.queries import LEDGERS
from tui_crawler.console.sql.queries import QuerySession
from tui_crawler.console.urls.queries import PageListWindow, page_counts_of
from tui_crawler.console.workers.queries import SESSIONS
from tui_crawler.domain.rules.page_filter import PageFilter
from tui_crawler.storage.reports.sql import QueryRunner
from tui_crawler.wiring.console_reports import ConsoleReports

NOW = 1_767_609_667_000


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return store_crawl(tmp_path / "crawl.db")


@pytest.fixture
def reports(database: Path) -> Iterator[ConsoleReports]:
    with closing(ConsoleReports(database)) as found:
        yield found


def test_sessions_and_actions(reports: ConsoleReports) -> None:
    (session, *_) = SESSIONS.read(reports, NOW)
    assert session.clean
    assert session.host
    assert session.ended_at >= session.started_at > 0
    assert LEDGERS["actions"].ask.read(reports, NOW) == ()


def test_a_book_holds_all_pages_and_the_pivot_counts_them(reports: ConsoleReports) -> None:
    keyset = PageListWindow()
    assert keyset.take(keyset.begin, keyset.begin.read(reports, NOW))
    assert keyset.at_first
    assert keyset.at_last
    backwards = PageListWindow(newest_first=True)
    assert backwards.take(backwards.begin, backwards.begin.read(reports, NOW))
    assert [page.page_id for page in backwards.rows] == [page.page_id for page in keyset.rows][::-1]
    counts = page_counts_of(PageFilter(), "origin").read(reports, NOW)
    assert dict(counts.counts)[A] == sum(page.origin == A for page in keyset.rows)
    assert counts.looked_at == len(keyset.rows)


def test_questions_are_answered_and_problems_are_words(database: Path) -> None:
    room = QueryRunner(database)
    queries = QuerySession(lambda: room, None)
    assert "v_page" in dict(queries.schema())
    answer = queries.ask("SELECT COUNT(*) AS n FROM v_page")
    assert answer.columns == ("n",)
    assert answer.rows[0][0]
    refused = queries.ask("DELETE FROM page")
    assert refused.problem == "only reading is possible here: DELETE is refused, nothing was changed"
    room.cancel()
    assert queries.ask("SELECT 1").rows == ((1,),)
