"""A server that was away: what reads a crawl and what asks operators' wishes of it say so, and go on by themselves."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from tui_crawler.domain.records.command import PauseOrigins
from tui_crawler.domain.records.database_place import PostgresPlace
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.workers.journal import Journal


def end_connections(place: PostgresPlace) -> None:
    with psycopg.connect(place.url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'tui-crawler'"
        )


def test_who_looks_on_goes_on(server_place: PostgresPlace) -> None:
    with closing(Reports(server_place)) as reports:
        before = reports.data_version()
        end_connections(server_place)
        with pytest.raises(StorageFailure):
            reports.data_version()
        assert reports.data_version() == before


def test_who_operates_goes_on_and_asks_nothing_twice(server_place: PostgresPlace) -> None:
    with closing(Journal(server_place)) as journal:
        first = journal.send(PauseOrigins(("https://a.example",)), "mara")
        end_connections(server_place)
        with pytest.raises(StorageFailure):
            journal.send(PauseOrigins(("https://b.example",)), "mara")
        assert journal.send(PauseOrigins(("https://c.example",)), "mara") > first
    with closing(Reports(server_place)) as reports:
        asked = [row[0] for row in reports.rows("v_operator_action", ("target",))]
    assert sorted(asked) == ["https://a.example", "https://c.example"]
