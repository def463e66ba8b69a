"""Which database a command is about."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.cli.conftest import CONFIG, Say
from tests.support.postgres_database import made_database


def path(say: Say, *words: str) -> str:
    said = say("db", "path", *words)
    assert (said.status, said.err) == (0, "")
    return said.out.strip()


def test_the_order_of_precedence(here: Path, say: Say, monkeypatch: pytest.MonkeyPatch):
    (here / "only.db").touch()
    assert path(say) == str(here / "only.db")
    (here / "tui-crawler.yaml").write_text(CONFIG + "database: default.db\n")
    assert path(say) == str(here / "default.db")
    (here / "other.yaml").write_text(CONFIG)
    assert path(say, "--config", "other.yaml") == str(here / "other.db")
    monkeypatch.setenv("TUI_CRAWLER_DB", "variable.db")
    assert path(say, "--config", "other.yaml") == str(here / "variable.db")
    assert path(say, "--config", "other.yaml", "--db", "named.db") == str(here / "named.db")


def test_an_empty_variable_names_nothing(here: Path, say: Say, monkeypatch: pytest.MonkeyPatch):
    (here / "only.db").touch()
    monkeypatch.setenv("TUI_CRAWLER_DB", "")
    assert path(say) == str(here / "only.db")


@pytest.mark.parametrize("command", ["status", "jobs", "why http://h/", "queue load one.segment"])
def test_no_database_at_all(command: str, say: Say):
    say(*command.split()).refused("no database is named and none is here", "tui-crawler crawl URL")


@pytest.mark.parametrize("command", ["run my.yaml --workers 99", "queue build my.yaml", "check my.yaml"])
@pytest.mark.parametrize("database", ["none/x.db", "folder/x.db"])
def test_with_another_database_the_place_of_the_configured_one_need_not_exist(
    here: Path, command: str, database: str, say: Say
):
    """The commands end at their next step: too many workers, no database yet, or well."""
    (here / "folder" / "x.db").mkdir(parents=True)
    (here / "my.yaml").write_text(CONFIG + f"database: {database}\n")
    assert "my.yaml:3:" in say(*command.split()).err
    said = say("--db", f"elsewhere/{database}", *command.split())
    assert "my.yaml:3:" not in said.err
    assert any(words in said.err for words in ("at most 64 workers", "there is no database", "is valid"))
    assert "does not belong to this configuration" in say("run", "my.yaml", "--db", "y.db").err


def test_several_databases_are_named(here: Path, say: Say):
    for name in ("a.db", "b.db"):
        (here / name).touch()
    say("status").refused("2 databases are here: a.db, b.db", "--db")


@pytest.mark.parametrize("command", ["status", "failures", "audit", "pause --all", "retry --origin x", "add http://h/"])
def test_a_named_database_that_does_not_exist_is_an_error(here: Path, command: str, say: Say):
    say(*command.split(), "--db", "missing.db").refused(f"there is no database {here / 'missing.db'}")
    assert not list(here.iterdir())


def test_a_path_through_a_file_does_not_exist_either(here: Path, say: Say):
    (here / "file").touch()
    assert say("status", "--db", "file/x.db").status == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is empty"),
        ("postgresql://host:port/crawl", "no URL of a database"),
        (".", "is a folder"),
        ("x" * 5_000, "cannot be opened"),
    ],
)
def test_names_that_are_no_database(name: str, message: str, say: Say):
    say("status", "--db", name).refused(message)


def test_a_configuration_with_mistakes_is_told(here: Path, say: Say):
    (here / "tui-crawler.yaml").write_text("seeds: [https://example.org/]\nsedes: []\n")
    say("status").refused("tui-crawler.yaml:2:1", "sedes")


def test_db_path_as_json(here: Path, say: Say):
    assert say("db", "path", "--db", "x.db", "--json").document == {"path": str(here / "x.db"), "exists": False}


def test_a_password_in_a_url_goes_to_the_driver_by_the_environment_and_is_not_shown(monkeypatch, say: Say):
    monkeypatch.setenv("PGPASSWORD", "")
    said = say("db", "path", "--db", "postgresql://me:s%2Fecret@db.example.org/crawl", "--json")
    assert os.environ["PGPASSWORD"] == "s/ecret"
    assert json.loads(said.out) == {"path": "postgresql://me@db.example.org/crawl", "exists": True}


def test_no_message_quotes_the_password_of_a_url_that_is_none(say: Say):
    for url in ("postgresql://me:hush/hush@db/crawl", "mysql://me:hush@db/crawl", "postgresql://me:hush@[db/crawl"):
        said = say("status", "--db", url)
        assert said.status == 2
        assert "hush" not in said.err


def test_the_paths_of_certificates_are_not_printed(here: Path, postgres_url: str, say: Say):
    (here / "keys").mkdir()
    with made_database(postgres_url) as place:
        more = urlencode({name: str(here / "keys" / name) for name in ("sslcert", "sslkey", "sslrootcert", "passfile")})
        url = f"{place.url}{'&' if '?' in place.url else '?'}{more}"
        (here / "my.yaml").write_text(f"seeds: [https://example.org/]\ndatabase: {url}\n")
        missing = url.replace("/tui_crawler_test", "/no_tui_crawler_test")
        for words in (
            ("db", "path"), ("db", "path", "--json"), ("db", "upgrade"), ("db", "check"), ("db", "check", "--json"),
            ("status",), ("status", "--json"), ("workers",), ("worker",), ("log",), ("run",),
            ("rules", "show"),
        ):  # fmt: skip
            for one in (url, missing):
                said = say(*words, "--db", one)
                assert "keys" not in said.out + said.err, words
        for words in (("check", "my.yaml"), ("check", "my.yaml", "--json"), ("run", "my.yaml", "--db", missing)):
            said = say(*words)
            assert "keys" not in said.out + said.err, words
