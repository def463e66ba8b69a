"""Questions in SQL: answered when they only read, refused when they would change anything, always bounded."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.storage.making import plan
from tui_crawler.domain.records.database_place import PostgresPlace
from tui_crawler.domain.records.failure import QueryProblem, StorageFailure
from tui_crawler.storage.db.views import VIEWS
from tui_crawler.storage.reports import sql as query_room
from tui_crawler.storage.reports.sql import LONGEST_VALUE, QueryRunner
from tui_crawler.storage.store import SqliteStore

COUNT_FOR_EVER = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.db"
    store = SqliteStore(path)
    await store.begin_run(plan("https://a.example/", "https://b.example/x"))
    await store.end_run("exhausted", True)
    store.close()
    return path


def contents(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


async def test_what_reads_is_answered_with_names_values_and_time(database: Path) -> None:
    room = QueryRunner(database)
    answer = room.ask("SELECT url, depth, NULL AS gone, x'00ff' AS bytes FROM v_page ORDER BY url;")
    assert answer.columns == ("url", "depth", "gone", "bytes")
    assert answer.rows == (
        ("https://a.example/", 0, None, b"\x00\xff"),
        ("https://b.example/x", 0, None, b"\x00\xff"),
    )
    assert not answer.more
    assert answer.cut == 0
    assert answer.took_ms >= 0
    assert room.ask("EXPLAIN QUERY PLAN SELECT * FROM v_origin").rows
    assert room.ask("VALUES (1, 2)").rows == ((1, 2),)


async def test_the_schema_names_every_view_with_its_columns(database: Path) -> None:
    schema = dict(QueryRunner(database).schema())
    assert set(schema) == set(VIEWS)
    assert {"origin", "todo", "failed"} <= set(schema["v_origin"])
    with pytest.raises(StorageFailure):
        QueryRunner(database.with_name("none.db")).schema()


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("INSERT INTO meta VALUES ('a', 1)", "INSERT"),
        ("  -- a word\n update meta SET value = 1", "UPDATE"),
        ("DELETE FROM page", "DELETE"),
        ("DELETE FROM v_page", "DELETE"),
        ("REPLACE INTO meta VALUES ('a', 1)", "REPLACE"),
        ("WITH one AS (SELECT 1) DELETE FROM page", "DELETE"),
        ("INSERT INTO meta VALUES ('a', 1) RETURNING *", "INSERT"),
        ("CREATE TABLE t (a)", "CREATE"),
        ("CREATE TEMP TABLE t (a)", "CREATE"),
        ("DROP TABLE page", "DROP"),
        ("ALTER TABLE page ADD COLUMN x", "ALTER"),
        ("ATTACH '/tmp/other.db' AS other", "ATTACH"),
        ("VACUUM INTO '/tmp/other.db'", "VACUUM"),
        ("PRAGMA journal_mode = DELETE", "PRAGMA"),
        ("PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA"),
        ("BEGIN IMMEDIATE", "BEGIN"),
        ("REINDEX", "REINDEX"),
        ("SELECT load_extension('/tmp/x.so')", "load_extension"),
    ],
)
async def test_what_writes_is_refused_by_name_and_nothing_changes(database: Path, text: str, verb: str) -> None:
    before = contents(database)
    with pytest.raises(QueryProblem, match="only reading is possible here") as refused:
        QueryRunner(database).ask(text)
    assert f"{verb} is refused" in str(refused.value)
    assert contents(database) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no question"),
        (" ;; ", "there is no question"),
        ("-- only a word", "there is no question"),
        ("SELEC 1", "syntax error"),
        ("SELECT gone FROM v_page", "no such column"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("SELECT '\x00'", "null character"),
        ("SELECT '\ud800'", "surrogates"),
        ("SELECT zeroblob(100000000)", "too big"),
        (f"SELECT '{'x' * 100_000}'", "longer than"),
    ],
)
async def test_what_cannot_be_answered_has_one_line_that_says_why(database: Path, text: str, words: str) -> None:
    with pytest.raises(QueryProblem) as problem:
        QueryRunner(database).ask(text)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


async def test_time_is_bounded_and_another_thread_can_cancel(database: Path) -> None:
    ask_for_ever(QueryRunner(database))


def test_a_question_to_a_server_is_bounded_and_can_be_cancelled(server_place: PostgresPlace) -> None:
    ask_for_ever(QueryRunner(server_place))


def ask_for_ever(room: QueryRunner) -> None:
    with pytest.raises(QueryProblem, match="stopped after"):
        room.ask(COUNT_FOR_EVER, most_ms=20)
    caught: list[BaseException] = []

    def ask() -> None:
        try:
            room.ask(COUNT_FOR_EVER)
        except QueryProblem as stopped:
            caught.append(stopped)

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        room.cancel()
        thread.join(0.01)
    assert [str(one) for one in caught] == ["cancelled"]
    assert room.ask("SELECT 1").rows == ((1,),), "the next question is not cancelled"


async def test_rows_long_values_and_bytes_are_bounded(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = QueryRunner(database)
    numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100) SELECT x FROM c"
    answer = room.ask(numbers, most_rows=10)
    assert answer.more
    assert [row[0] for row in answer.rows] == list(range(1, 11))
    long = room.ask("SELECT printf('%.*c', 20000, 'x'), zeroblob(20000), 'short'")
    assert [len(value) for value in long.rows[0]] == [LONGEST_VALUE, LONGEST_VALUE, 5]
    assert long.cut == 2
    monkeypatch.setattr(query_room, "MOST_BYTES", 40)
    few = room.ask(numbers)
    assert few.more
    assert len(few.rows) == 6


async def test_it_reads_while_a_crawl_writes_and_blocks_nothing(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE meta SET value = 4711")
        assert QueryRunner(database).ask("SELECT COUNT(*) FROM v_page").rows == ((2,),)
        writer.execute("COMMIT")


async def test_text_that_is_no_utf8_is_made_visible(database: Path) -> None:
    assert QueryRunner(database).ask("SELECT CAST(x'61ff62' AS TEXT)").rows == (("a\\xffb",),)
