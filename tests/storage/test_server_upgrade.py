"""`db upgrade` on a server, where workers may have a role that makes nothing."""

from __future__ import annotations

import os

import psycopg
import pytest

from tests.support.postgres_database import made_database
from tui_crawler.domain.records.database_place import PostgresPlace
from tui_crawler.storage.db.database import open_writable, upgrade
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.drivers.faults import ReadOnlyDatabase


def test_views_of_an_earlier_program_are_made_anew(server_place: PostgresPlace) -> None:
    with psycopg.connect(server_place.url, autocommit=True) as connection:
        now = connection.execute("SELECT value FROM meta WHERE name = 'views'").fetchone()
        connection.execute("DROP VIEW v_run")
        connection.execute("UPDATE meta SET value = 1 WHERE name = 'views'")
        assert upgrade(server_place) is None, "the schema was current"
        assert connection.execute("SELECT value FROM meta WHERE name = 'views'").fetchone() == now
        assert connection.execute("SELECT COUNT(*) FROM v_run").fetchone() == (0,)


def test_a_role_that_may_make_nothing_is_told_who_does(postgres_url: str) -> None:
    role = f"tui_crawler_test_worker_{os.getpid()}"
    with made_database(postgres_url) as place, psycopg.connect(place.url, autocommit=True) as connection:
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute(f"CREATE ROLE {role} LOGIN")
        try:
            with pytest.raises(ReadOnlyDatabase, match="db upgrade"):
                open_writable(PostgresPlace(place.url.replace("postgres@", f"{role}@", 1)), OpenSettings())
        finally:
            connection.execute(f"DROP ROLE {role}")
