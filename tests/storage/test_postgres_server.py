"""The server that tests run on: shared, and gone with the last who uses it; in CI it may not be missing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psycopg
import pytest

from tests.storage.raw import rows, value
from tests.support.postgres_database import EmptiedDatabase
from tests.support.postgres_server import VARIABLE, NoServer, shared_server, unavailable


def test_in_ci_a_missing_server_fails_and_elsewhere_it_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no programs"):
        unavailable("no programs")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="no programs"):
        unavailable("no programs")


def test_in_ci_the_postgresql_half_runs(request: pytest.FixtureRequest) -> None:
    if "CI" in os.environ:
        assert request.getfixturevalue("postgres_url").startswith("postgresql:")


def test_a_server_is_shared_and_gone_with_its_last_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    try:
        with shared_server(tmp_path) as url:
            home = Path(url.rpartition("=")[2])
            with shared_server(tmp_path) as again, psycopg.connect(again) as connection:
                assert again == url
                assert connection.execute("SHOW fsync").fetchone() == ("off",)
            assert home.is_dir()
    except NoServer as error:
        unavailable(str(error))
    assert not home.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def test_the_server_that_the_environment_names_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "postgresql://somewhere/else")
    with shared_server(tmp_path) as url:
        assert url == "postgresql://somewhere/else"
    assert not list(tmp_path.iterdir())


def test_a_server_that_cannot_be_started_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(NoServer, match="cannot be started"), shared_server(tmp_path):
        pass


def test_an_emptied_database_is_as_it_was_made(emptied_database: EmptiedDatabase) -> None:
    place = emptied_database.place
    made = rows(place, "SELECT name, value FROM meta ORDER BY name")
    for _ in range(2):
        rows(place, "INSERT INTO operator_action (action) VALUES ('pause')")
        rows(place, "UPDATE meta SET value = 7 WHERE name = 'change'")
        assert value(place, "SELECT id FROM operator_action") == 1
        emptied_database.empty()
        assert rows(place, "SELECT * FROM operator_action") == []
        assert rows(place, "SELECT name, value FROM meta ORDER BY name") == made
