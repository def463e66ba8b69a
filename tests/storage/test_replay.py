"""The log of whole lives of crawls, folded again, gives what is stored; and what is changed by hand is found.

`TUI_CRAWLER_SIMULATIONS=1500 pytest tests/storage/test_replay.py` folds that many lives.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.storage.lives import Life
from tui_crawler.domain.history.replay import Findings
from tui_crawler.wiring.replay import check_replay

LIVES = int(os.environ.get("TUI_CRAWLER_SIMULATIONS", "8"))
ROW = {
    "patience": 3,
    "politeness": 9,
    "may_fall": 0,
    "rate_limits": 6,
    "delay_ms": 777,
    "operator_delay_ms": 55,
    "last_request_at": 9,
    "last_response_ms": 31,
    "response_window": "[1, 2]",
    "paused": 1,
    "finish_reason": "'patience'",
    "robots_status": "'unreachable'",
    "robots_fetched_at": 8,
    "robots_expires_at": 8,
    "crawl_delay_ms": 4_000,
    "requests": 99,
    "bytes": 98,
    "attempts": 97,
    "done": 96,
    "failed": 95,
    "blocked": 94,
    "last_url": "'http://a.test/other'",
    "last_exit_code": 44,
    "last_http_status": 418,
    "last_attempt_at": 7,
    "next_request_at": 6,
    "delay_reason": "'cap'",
}


def checked(path: Path, run_id: int | None = None) -> Findings:
    found = check_replay(path, run_id)
    return found[1]


@pytest.mark.parametrize("seed", range(LIVES))
def test_what_is_stored_of_a_life_follows_from_its_log(seed: int, tmp_path: Path):
    findings = checked(Life(tmp_path, seed).run())
    assert findings.differences == []
    assert findings.found == 0


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one start that came to its end."""
    life = Life(tmp_path_factory.mktemp("life"), 2)
    life.lives, life.operates = ["ends"], False
    return life.run()


def changed(finished: Path, folder: Path, text: str) -> Path:
    path = folder / "changed.db"
    with closing(sqlite3.connect(finished)) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
        with copy:
            copy.execute(text)
    return path


@pytest.mark.parametrize("column", ROW)
def test_a_changed_row_is_found(column: str, finished: Path, tmp_path: Path):
    value = ROW[column] if str(ROW[column])[:1] != "[" else f"'{ROW[column]}'"
    path = changed(finished, tmp_path, f"UPDATE origin SET {column} = {value} WHERE id = 1")
    findings = checked(path)
    assert [one.field for one in findings.differences] == [column]
    assert findings.differences[0].origin == "http://a.test"


@pytest.mark.parametrize("column", ["patience_after", "politeness_after", "delay_ms_after"])
def test_a_changed_attempt_is_found_and_told_once(column: str, finished: Path, tmp_path: Path):
    path = changed(finished, tmp_path, f"UPDATE attempt SET {column} = {column} + 3 WHERE id = 4")
    first = checked(path).differences[0]
    assert (first.field, first.attempt_id, first.stored) == (column, 4, first.folded + 3)  # type: ignore[operator]


def test_an_attempt_that_is_missing_is_found(finished: Path, tmp_path: Path):
    path = changed(finished, tmp_path, "UPDATE attempt SET exit_code = 50, http_status = 500 WHERE id = 4")
    assert {"patience_after", "server_internal_error", "file_ingested"} & {
        one.field.removeprefix("exits.") for one in checked(path).differences
    }
    path = changed(finished, tmp_path / "..", "UPDATE run SET requests = requests + 1")
    assert [(one.origin, one.field) for one in checked(path).differences] == [("", "requests")]


def test_a_session_of_an_older_version_goes_by_the_configuration(finished: Path, tmp_path: Path):
    assert checked(changed(finished, tmp_path, "UPDATE session SET crawl_settings = ''")).found == 0


def test_there_is_no_such_run(finished: Path):
    assert check_replay(finished, 17) is None
