"""A crawl copied between SQLite and PostgreSQL: equal in everything, resumed wherever it was interrupted, refused where
it would lie."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import peewee
import psycopg
import pytest

from tests.storage.bench import GONE
from tests.storage.making import T0, A, B, crawled, failed, fill_of, plan
from tests.storage.whole import assert_whole
from tests.support.postgres_database import made_database
from tui_crawler.domain.records.attempt import Settle
from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import NotOurDatabase, RunHeld, StorageFailure
from tui_crawler.storage import database_copy
from tui_crawler.storage.database_copy import CrawlCopy, copy_crawl
from tui_crawler.storage.db.database import connect_readonly, open_readonly, open_writable, upgrade
from tui_crawler.storage.db.file_identity import examine
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.views import VIEWS
from tui_crawler.storage.drivers.driver import execute
from tui_crawler.storage.drivers.faults import OlderDatabase
from tui_crawler.storage.models import MODELS
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings

ROOT = Path(__file__).parents[2]
WORDS = ("", "plain", "größer 😀", 'a "quoted" \\ \t\n line', "x" * 5_000)
BYTES = (b"", bytes(range(256)), b"\\x00\n\t")


class Interrupted(Exception):
    """What comes between."""


@pytest.fixture
def server(postgres_url: str) -> Iterator[PostgresPlace]:
    """An empty database on a server."""
    with made_database(postgres_url) as place:
        yield place


@pytest.fixture(params=["file", "server"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> DatabasePlace:
    """Where nothing is, on each kind of database in turn."""
    place: DatabasePlace = tmp_path / "target.db"
    return place if request.param == "file" else request.getfixturevalue("server")


def opened(place: DatabasePlace) -> SqliteStore:
    return SqliteStore(place, StoreSettings(owner=GONE))


async def crawl(place: DatabasePlace, pages: int) -> None:
    """Begins or goes on with a crawl of two origins: so many pages of the first, of which one fails."""
    store = opened(place)
    await store.begin_run(plan(f"{A}/", f"{B}/"))
    left = pages
    while left > 0:
        todo = (await store.candidates(A, T0, 20, True)).pages
        await store.fill(fill_of(todo))
        for page in todo[:left]:
            links = [f"{page.url}{n}/" for n in range(3)]
            made: Settle = crawled(page, T0 + left, *links)
            gone = failed(page, T0 + left, ExitCode.file_not_found, 404)
            await store.settle(gone if page.url.endswith("/1/") else made)
        left -= len(todo)
    await store.end_run("interrupted", True)
    store.close()


@pytest.fixture
async def source(database_path: Path) -> Path:
    """A crawl in a file, which nobody holds."""
    await crawl(database_path, 12)
    return database_path


def copied(source: DatabasePlace, target: DatabasePlace, tell: Callable[[int], None] = lambda _: None) -> CrawlCopy:
    return copy_crawl(source, target, tell)


def rows_of(place: DatabasePlace) -> dict[str, list[Any]]:
    """All rows of all tables, but what a database notes of itself."""
    with closing(open_readonly(place)) as database:
        found = {}
        for model in MODELS:
            names = ", ".join(f'"{field.column_name}"' for field in model._meta.sorted_fields)
            rows = execute(database, f"SELECT {names} FROM {model._meta.table_name}").fetchall()
            found[model._meta.table_name] = sorted(map(repr, rows))
        found["meta"] = [row for row in found["meta"] if "'schema'" not in row and "'views'" not in row]
        return found


def schema_of(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


def fill_every_table(path: Path) -> None:
    """Three rows in each table, of every kind of value a column may hold."""
    with closing(sqlite3.connect(path)) as database, database:
        for number, model in enumerate(MODELS):
            fields = model._meta.sorted_fields
            names = ", ".join(f'"{field.column_name}"' for field in fields)
            for turn in range(3):
                values = [value_of(field, turn, number + place) for place, field in enumerate(fields)]
                slots = ", ".join("?" * len(values))
                database.execute(f"INSERT INTO {model._meta.table_name} ({names}) VALUES ({slots})", values)


def value_of(field: Any, turn: int, place: int) -> Any:
    if isinstance(field, peewee.AutoField):
        return 1_000_000 + turn
    if field.null and turn == 1:
        return None
    if isinstance(field, peewee.TextField):
        return f"{WORDS[(turn + place) % len(WORDS)]}{turn}"
    if isinstance(field, peewee.BlobField):
        return BYTES[(turn + place) % len(BYTES)]
    if isinstance(field, peewee.FloatField):
        return (0.001, 1 / 3, 1e-9)[turn]
    if isinstance(field, peewee.SmallIntegerField):
        return turn
    return (70_000 + turn, -(2**63) + turn, 2**63 - 1 - turn)[(turn + place) % 3]


def test_every_table_is_the_same_there_and_back(source: Path, server: PostgresPlace, tmp_path: Path) -> None:
    fill_every_table(source)
    before = rows_of(source)
    assert all(before.values())
    there = copied(source, server)
    assert rows_of(server) == before
    assert {table.table: table.rows for table in there.tables} == {name: len(rows) for name, rows in before.items()}
    back = copied(server, tmp_path / "back.db")
    assert rows_of(tmp_path / "back.db") == before
    assert back.tables == there.tables
    assert (there.there, there.changed_texts) == (0, 0)


def test_a_copy_answers_as_the_crawl_does(source: Path, server: PostgresPlace, tmp_path: Path) -> None:
    copied(source, server)
    copied(server, tmp_path / "back.db")
    assert_whole(tmp_path / "back.db")
    assert sorted(schema_of(tmp_path / "back.db")) == sorted(schema_of(source))
    told = [answers_of(place) for place in (source, server, tmp_path / "back.db")]
    assert told[0] == told[1] == told[2]
    assert {path.name for path in tmp_path.iterdir()} == {"crawl.db", "back.db"}, "no log file is left beside them"


def answers_of(place: DatabasePlace) -> list[Any]:
    with closing(Reports(place, now=lambda: T0)) as reports:
        views = {name: sorted(map(repr, reports.rows(name))) for name in VIEWS}
        asked = (reports.run(), reports.totals(), reports.origins_changed(0), reports.failure_window())
        return [views, *asked, list(reports.attempts_for_audit()), reports.todo(A)]


async def test_a_copy_goes_on_crawling_and_comes_back(source: Path, server: PostgresPlace, tmp_path: Path) -> None:
    copied(source, server)
    await crawl(server, 9)
    copied(server, tmp_path / "back.db")
    assert_whole(tmp_path / "back.db")
    await crawl(tmp_path / "back.db", 9)
    assert_whole(tmp_path / "back.db")
    attempts = [len(rows_of(place)["attempt"]) for place in (source, server, tmp_path / "back.db")]
    assert attempts[0] < attempts[1] < attempts[2]


def stop_at(rows: int) -> Callable[[int], None]:
    def tell(done: int) -> None:
        if done >= rows:
            raise Interrupted

    return tell


def test_it_goes_on_wherever_it_was_interrupted(
    source: Path, target: DatabasePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_copy, "_BATCH_ROWS", 7)
    total, there = sum(map(len, rows_of(source).values())), 0
    while True:
        try:
            made = copied(source, target, stop_at(40))
            break
        except Interrupted:
            with closing(connect_readonly(target)) as database:
                held = sum(
                    execute(database, f"SELECT COUNT(*) FROM {m._meta.table_name}").fetchone()[0] for m in MODELS
                )
            assert held > there
            there = held
    assert 0 < total - 40 < made.there < total
    assert rows_of(target) == rows_of(source)


@pytest.mark.parametrize("step", ["_put", "_verify", "create_indexes", "_finish"])
def test_it_goes_on_after_any_step(
    step: str, source: Path, target: DatabasePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = database_copy if step == "create_indexes" else database_copy._Copier
    done = getattr(owner, step)

    def interrupted(*arguments: Any) -> None:
        done(*arguments)
        raise Interrupted

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, interrupted)
        with pytest.raises(Interrupted):
            copied(source, target)
    if step != "_finish":
        assert copied(source, target).there > 0
    assert rows_of(target) == rows_of(source)


def test_killed_it_goes_on(source: Path, target: DatabasePlace) -> None:
    code = (
        "import os, sys; from pathlib import Path; from tui_crawler.storage import database_copy as c\n"
        "from tui_crawler.domain.records.database_place import PostgresPlace\n"
        "c._BATCH_ROWS = 5; where = sys.argv[2]\n"
        "place = PostgresPlace(where) if '://' in where else Path(where)\n"
        "c.copy_crawl(Path(sys.argv[1]), place, lambda rows: rows > 60 and os.kill(os.getpid(), 9))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(source), str(target)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert copied(source, target).there > 60
    assert rows_of(target) == rows_of(source)


def test_until_it_is_whole_nobody_takes_it(source: Path, target: DatabasePlace) -> None:
    with pytest.raises(Interrupted):
        copied(source, target, stop_at(1))
    for attempt in (SqliteStore, Reports, upgrade, examine, lambda place: copied(place, source.with_name("x.db"))):
        with pytest.raises(NotOurDatabase, match=r"db copy FROM .* goes on with it"):
            attempt(target)


def test_what_else_is_there_is_not_touched(source: Path, target: DatabasePlace, tmp_path: Path) -> None:
    open_writable(target, OpenSettings()).close()
    before = rows_of(target)
    with pytest.raises(NotOurDatabase, match="holds a crawl already"):
        copied(source, target)
    assert rows_of(target) == before
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as raw:
        raw.execute("CREATE TABLE bookmarks (id)")
    digest = hashlib.sha256(other.read_bytes()).digest()
    for one, two in ((source, other), (other, tmp_path / "new.db"), (source, source)):
        with pytest.raises(NotOurDatabase):
            copied(one, two)
    assert hashlib.sha256(other.read_bytes()).digest() == digest
    with pytest.raises(StorageFailure, match="no database"):
        copied(tmp_path / "nowhere.db", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


async def test_an_unfinished_copy_of_another_crawl_is_not_touched(
    source: Path, target: DatabasePlace, tmp_path: Path
) -> None:
    with pytest.raises(Interrupted):
        copied(source, target, stop_at(1))
    open_writable(tmp_path / "other.db", OpenSettings()).close()
    await crawl(tmp_path / "other.db", 1)
    with closing(sqlite3.connect(tmp_path / "other.db")) as other, other:
        other.execute("UPDATE session SET started_at = started_at - 1")
    with pytest.raises(NotOurDatabase, match="of another crawl"):
        copied(tmp_path / "other.db", target)
    assert copied(source, target).there > 0


def test_an_older_crawl_is_upgraded_first(source: Path, target: DatabasePlace) -> None:
    with closing(sqlite3.connect(source)) as raw:
        raw.execute("PRAGMA user_version = 3")
    with pytest.raises(OlderDatabase, match="db upgrade"):
        copied(source, target)


@pytest.mark.parametrize("held", ["file", "server"])
async def test_a_crawl_that_a_process_holds_is_refused(
    held: str, source: Path, server: PostgresPlace, tmp_path: Path
) -> None:
    place, target = (source, server) if held == "file" else (server, tmp_path / "target.db")
    store = SqliteStore(place)
    await store.begin_run(plan(f"{A}/"))
    with pytest.raises(RunHeld, match=f"process {os.getpid()}"):
        copied(place, target)
    await store.end_run("interrupted", True)
    store.close()
    copied(place, target)
    assert rows_of(target) == rows_of(place)


async def test_for_a_look_a_crawl_that_goes_on_is_copied_as_it_is(server: PostgresPlace, tmp_path: Path) -> None:
    store = SqliteStore(server)
    await store.begin_run(plan(f"{A}/"))
    before, after = rows_of(server), []

    def go_on(_: int) -> None:
        with psycopg.connect(server.url) as connection:
            connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'change'")
            after.append(connection.execute("UPDATE page SET nice = nice + 1 RETURNING nice").fetchone())

    copy_crawl(server, tmp_path / "look.db", go_on, passing=True)
    assert after
    before["meta"] = [row for row in before["meta"] if "writer" not in row]  # the mark of a connection
    assert rows_of(tmp_path / "look.db") == before
    assert_whole(tmp_path / "look.db")
    await store.end_run("interrupted", True)
    store.close()


@pytest.mark.parametrize("held", [True, False])
def test_what_begins_meanwhile_is_noticed(held: bool, source: Path, target: DatabasePlace) -> None:
    def begin(_: int) -> None:
        with closing(sqlite3.connect(source)) as database, database:
            database.execute("UPDATE meta SET value = value + 1 WHERE name = 'change'")
            database.execute("UPDATE page SET nice = nice + 1")
            if held:
                database.execute("INSERT INTO session (host, heartbeat_at) VALUES ('elsewhere', 1 << 60)")

    with pytest.raises(RunHeld if held else StorageFailure, match="holds" if held else "changed meanwhile"):
        copied(source, target, begin)
    with closing(sqlite3.connect(source)) as database, database:
        database.execute("UPDATE session SET ended_at = 1")
    assert copied(source, target).there == 0, "what was copied is not of this state"
    assert rows_of(target) == rows_of(source)


def test_a_copy_that_is_not_the_same_is_noticed(source: Path, target: DatabasePlace) -> None:
    with pytest.raises(Interrupted):
        copied(source, target, stop_at(100))
    text = "UPDATE url SET href = 'https://elsewhere.example/' WHERE id = 2"
    if isinstance(target, Path):
        with closing(sqlite3.connect(target)) as database, database:
            database.execute(text)
    else:
        with psycopg.connect(target.url) as connection:
            connection.execute(text)
    with pytest.raises(StorageFailure, match=r"url has .* begins anew"):
        copied(source, target)
    with pytest.raises(NotOurDatabase, match="not finished"):
        Reports(target)
    assert copied(source, target).there == 0
    assert rows_of(target) == rows_of(source)


def test_texts_that_not_every_database_takes_become_others(source: Path, target: DatabasePlace) -> None:
    with closing(sqlite3.connect(source)) as database, database:
        for page, said in enumerate((b"a\0b", b"\xed\xa0\x80!", b"\xff"), 1):
            database.execute("UPDATE page SET item_pattern = CAST(? AS TEXT) WHERE id = ?", (said, page))
    made = copied(source, target)
    assert made.changed_texts == 3
    with closing(open_readonly(target)) as database:
        said = execute(database, "SELECT item_pattern FROM page WHERE id <= 3 ORDER BY id").fetchall()
    assert [row[0] for row in said] == ["a\ufffdb", "\ufffd\ufffd\ufffd!", "\ufffd"]


def test_files_of_segments_that_wait_are_named(source: Path, target: DatabasePlace) -> None:
    with closing(sqlite3.connect(source)) as database, database:
        database.execute("INSERT INTO segment (name, consumed_at, path) VALUES ('one', 0, 'segments/one.segment')")
        database.execute("INSERT INTO segment (name, consumed_at, path) VALUES ('two', 5, 'segments/two.segment')")
    assert copied(source, target).segments == (source.parent / "segments" / "one.segment",)
