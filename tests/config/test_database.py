"""The database a configuration names, and the guard that keeps crawls apart."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tests.config.written import SEEDS, load_text, problem_of
from tui_crawler.config.database import guard_database
from tui_crawler.config.load import config_from_seeds


def test_a_path_is_relative_to_the_configuration(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    config = load_text(tmp_path, SEEDS + "database: data/x.db\n")
    assert config.database.location == str(tmp_path / "data" / "x.db")
    assert not (tmp_path / "data" / "x.db").exists()


def test_an_sqlite_file_and_an_empty_file_are_accepted(tmp_path):
    (tmp_path / "empty.db").touch()
    connection = sqlite3.connect(tmp_path / "full.db")
    connection.execute("create table t (a)")
    connection.commit()
    connection.close()
    for name in ("empty.db", "full.db"):
        assert load_text(tmp_path, SEEDS + f"database: {name}\n").database.given == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("other.txt", "is not an SQLite database"),
        (".", "is a folder"),
        ("/dev/null", "is a device"),
        ("fifo", "is a device"),
        ("none/x.db", "does not exist"),
        ("other.txt/x.db", "other.txt"),
        ("'file:x.db'", "expected the path"),
        ("':memory:'", "expected the path"),
        ("mysql://h/x", "expected the path"),
        ("'postgresql://h/x#y'", "expected the path"),
        ("''", "expected the path"),
        ("12", "expected the path"),
        ('"a\\nb"', "expected the path"),
        ("x" * 300, "cannot be read"),
    ],
)
def test_what_cannot_be_a_database_is_refused_and_left_alone(tmp_path, name, words):
    (tmp_path / "other.txt").write_text("SQLite format 2 something", encoding="utf-8")
    os.mkfifo(tmp_path / "fifo")
    problem = problem_of(tmp_path, SEEDS + f"database: {name}\n")
    assert (problem.key, problem.line, problem.column) == ("database", 3, 11)
    assert words in problem.message
    assert (tmp_path / "other.txt").read_text(encoding="utf-8") == "SQLite format 2 something"
    assert {entry.name for entry in tmp_path.iterdir()} == {"other.txt", "fifo", "crawl.yaml"}


def test_the_default_database_is_checked_too(tmp_path):
    (tmp_path / "crawl.db").mkdir()
    problem = problem_of(tmp_path, SEEDS)
    assert (problem.key, problem.line) == ("database", 1)
    assert "is a folder" in problem.message


def test_a_password_in_the_url_of_a_server_is_refused_and_not_told(tmp_path):
    problem = problem_of(tmp_path, SEEDS + "database: 'postgresql://me:secret@db.example.org/crawl'\n")
    assert (problem.key, problem.line) == ("database", 3)
    assert "${NAME}" in problem.suggestion
    assert "secret" not in str(problem)


def test_a_password_from_the_environment_stays_out_of_the_place_and_of_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("CRAWL_PASSWORD", "se/cret")
    config = load_text(tmp_path, SEEDS + "database: 'postgresql://me:${CRAWL_PASSWORD}@db.example.org:5433/crawl'\n")
    assert config.database.location == "postgresql://me@db.example.org:5433/crawl"
    assert config.database.password == "se/cret"
    assert "cret" not in repr(config.database)
    assert guard_database(config, "postgresql://me@db.example.org:5433/crawl") is None
    assert "other" in (guard_database(config, "postgresql://me@db.example.org:5433/other") or "")


def test_a_variable_that_is_missing_is_told(tmp_path):
    problem = problem_of(tmp_path, SEEDS + "database: 'postgresql://me:${NOT_THERE_AT_ALL}@h/crawl'\n")
    assert "NOT_THERE_AT_ALL" in problem.message


@pytest.mark.parametrize(
    ("given", "opened", "fits"),
    [
        ("x.db", "/a/b/x.db", True),
        ("b/x.db", "/a/b/x.db", True),
        ("./x.db", "/a/x.db", True),
        ("../x.db", "/a/x.db", True),
        ("x.db", "/a/y.db", False),
        ("x.db", "/a/xx.db", False),
        ("b/x.db", "/a/c/x.db", False),
    ],
)
def test_the_opened_database_ends_with_the_segments_of_the_configured_one(tmp_path, given, opened, fits):
    (tmp_path / "b").mkdir()
    config = load_text(tmp_path, SEEDS + f"database: {given}\n")
    refusal = guard_database(config, opened)
    assert (refusal is None) is fits
    if refusal:
        assert given in refusal
        assert opened in refusal
        assert "crawl.yaml:3" in refusal


def test_the_guard_follows_relative_and_linked_paths(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.db").touch()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "x.db")
    config = load_text(tmp_path, SEEDS + "database: real/x.db\n")
    monkeypatch.chdir(tmp_path / "real")
    assert guard_database(config, Path("x.db")) is None
    assert guard_database(config, tmp_path / "link.db") is None
    assert guard_database(config, Path("y.db")) is not None


def test_an_absolute_database_is_that_file_only(tmp_path):
    config = load_text(tmp_path, SEEDS + f"database: {tmp_path / 'x.db'}\n")
    assert guard_database(config, tmp_path / "x.db") is None
    assert guard_database(config, f"/other{tmp_path / 'x.db'}") is not None


def test_without_a_configured_database_every_one_fits(tmp_path):
    assert guard_database(load_text(tmp_path, SEEDS), "/anything.db") is None
    seeds = config_from_seeds(["http://127.0.0.1/"], tmp_path / "x.db")
    assert seeds.database.location == str(tmp_path / "x.db")
    assert guard_database(seeds, "/anything.db") is None
