"""What stays beside a database when the last of its users closes it: nothing, whoever that is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.view import RunView
from tui_crawler.storage.db.database import check_integrity, open_readonly, open_writable
from tui_crawler.storage.db.file_identity import FilePlace, put_log_away
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring.console import _put_log_away


@pytest.fixture
def path(tmp_path: Path) -> Path:
    open_writable(tmp_path / "crawl.db", OpenSettings()).close()
    return tmp_path / "crawl.db"


LOG = {"crawl.db-wal", "crawl.db-shm"}


def left(finished_at: int) -> ExitSummary:
    return ExitSummary(run=RunView(1, 1_000, finished_at, "", 9, "ua", "my-index", live=False))


def beside(path: Path) -> set[str]:
    return {file.name for file in path.parent.iterdir()} - {path.name}


def note(database: sqlite3.Connection) -> None:
    database.execute("INSERT INTO meta (name, value) VALUES ('kept', 7)")
    database.commit()


def read_to_the_end(path: Path) -> None:
    """Reads on while the writer closes, as a console does whose engine has ended."""
    with closing(open_readonly(path)) as reader:
        with closing(sqlite3.connect(path)) as writer:
            reader.execute_sql("SELECT * FROM meta").fetchall()
            note(writer)
        reader.execute_sql("SELECT * FROM meta").fetchall()


def test_a_reader_that_closes_last_leaves_the_log_and_it_is_put_away(path: Path) -> None:
    read_to_the_end(path)
    assert beside(path) == LOG
    put_log_away(path)
    assert beside(path) == set()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT value FROM meta WHERE name = 'kept'").fetchone() == (7,)


def test_who_only_watches_takes_away_an_empty_log_and_no_other(path: Path) -> None:
    open_readonly(path).close()
    before, changed = path.read_bytes(), path.stat().st_mtime_ns
    assert beside(path) == LOG
    put_log_away(path, only_empty=True)
    assert beside(path) == set()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, changed)
    read_to_the_end(path)
    put_log_away(path, only_empty=True)
    assert beside(path) == LOG
    assert path.read_bytes() == before


def test_reports_leave_one_file_where_they_found_one(path: Path) -> None:
    Reports(path).close()
    assert beside(path) == set()
    with closing(sqlite3.connect(path)) as writer:
        note(writer)
        Reports(path).close()
        assert beside(path) == LOG  # of a live run
    assert beside(path) == set()


def test_a_check_and_a_refusal_leave_one_file_where_they_found_one(path: Path) -> None:
    assert check_integrity(path).problems == ()
    assert beside(path) == set()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 1")
    with pytest.raises(StorageFailure, match="older schema"):
        Reports(path)
    assert beside(path) == set()


def test_reports_leave_a_log_as_they_found_it(path: Path) -> None:
    read_to_the_end(path)  # a log with something in it, of a run that broke off
    Reports(path).close()
    assert beside(path) == LOG
    assert path.with_name("crawl.db-wal").stat().st_size


def test_reports_touch_no_file_that_stands_there_instead(path: Path) -> None:
    reports = Reports(path)
    other = path.with_name("other.db")
    open_writable(other, OpenSettings()).close()
    other.replace(path)
    reports.close()
    assert beside(path) == LOG


def test_what_another_one_has_open_stays(path: Path) -> None:
    with closing(sqlite3.connect(path)) as writer:
        note(writer)
        put_log_away(path)
        assert beside(path) == LOG
        writer.execute("UPDATE meta SET value = 8 WHERE name = 'kept'")
        writer.commit()
    assert beside(path) == set()


def test_nothing_is_made_where_nothing_is(tmp_path: Path) -> None:
    put_log_away(tmp_path / "none.db")
    (tmp_path / "none.db-wal").write_bytes(b"x")
    put_log_away(tmp_path / "none.db")
    assert [file.name for file in tmp_path.iterdir()] == ["none.db-wal"]


@pytest.mark.parametrize(
    ("readonly", "finished_at", "in_log", "is_left"),
    [
        (False, 0, True, False),
        (True, 0, False, False),
        (True, 9_000, True, False),  # the run ended under the eyes of this console
        (True, 0, True, True),  # it broke off: nothing is changed
    ],
)
def test_a_console_that_was_left_leaves_one_file(
    readonly: bool, finished_at: int, in_log: bool, is_left: bool, path: Path
) -> None:
    place = FilePlace(path)
    if in_log:
        read_to_the_end(path)
    else:
        open_readonly(path).close()
    _put_log_away(path, place, left(finished_at), readonly)
    assert beside(path) == (LOG if is_left else set())


@pytest.mark.parametrize(
    "wrong", [{"engine_failure": "x"}, {"trouble": "x"}, {"crashed": True}, {"engine_stuck": True}]
)
def test_nothing_is_touched_after_something_went_wrong(wrong: dict[str, Any], path: Path) -> None:
    read_to_the_end(path)
    _put_log_away(path, FilePlace(path), replace(left(0), **wrong), False)
    assert beside(path) == LOG


def test_the_log_does_not_go_into_another_file(path: Path) -> None:
    place = FilePlace(path)
    read_to_the_end(path)
    other = path.with_name("other")
    other.write_bytes(b"another file " * 500)
    other.replace(path)
    _put_log_away(path, place, left(0), False)
    assert path.read_bytes() == b"another file " * 500
    assert beside(path) == LOG
