"""A writer on a PostgreSQL server: connections that are lost, answers that are lost, others that stand still."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import peewee
import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tui_crawler.domain.records.command import StopOrigins
from tui_crawler.domain.records.database_place import PostgresPlace
from tui_crawler.domain.records.failure import DatabaseDamaged, StorageFailure
from tui_crawler.storage.crawl.activity import note
from tui_crawler.storage.db import postgres
from tui_crawler.storage.db.clock import wall_clock
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.db.writer import Writer, WriterSettings
from tui_crawler.storage.drivers.dialect import text_list
from tui_crawler.storage.drivers.faults import ReadOnlyDatabase
from tui_crawler.storage.models import Meta
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.workers.journal import Journal

PATIENT = WriterSettings(patience_ms=60_000, patience_at_work_ms=60_000, here=False)


@pytest.fixture
def writer(server_place: PostgresPlace) -> Iterator[Writer]:
    made = Writer(open_writable(server_place, OpenSettings()), server_place, PATIENT, wall_clock)
    yield made
    made.close()


def tell(transaction: Transaction) -> int:
    note(transaction, "run_started", "", run_id=0)
    return transaction.change


def asked(place: PostgresPlace, text: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(place.url, autocommit=True) as connection:
        return connection.execute(text).fetchall()


def told(place: PostgresPlace) -> int:
    return int(asked(place, "SELECT COUNT(*) FROM activity")[0][0])


OURS = "application_name = 'tui-crawler' AND datname = current_database()"


async def test_a_connection_that_is_cut_is_opened_again_and_nothing_is_stored_twice(writer, server_place):
    first = await writer.write(tell)
    assert asked(server_place, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {OURS}")
    assert await writer.write(tell) == first + 1
    assert told(server_place) == 2


async def test_a_server_that_has_lost_what_was_committed_is_written_no_more(writer, server_place):
    await writer.write(tell)
    last = await writer.write(tell)
    asked(server_place, f"UPDATE meta SET value = {last - 2} WHERE name = 'change' RETURNING value")
    for _ in range(2):
        with pytest.raises(DatabaseDamaged, match="lost commits"):
            await writer.write(tell)
    assert writer.damage is not None
    assert told(server_place) == 2


async def test_what_is_read_is_read_again_by_a_new_connection(writer, server_place):
    await writer.write(tell)
    asked(server_place, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {OURS}")
    assert await writer.read(lambda work: work.change) == 0


@pytest.mark.parametrize("carried_out", [True, False])
async def test_when_the_answer_to_a_commit_is_lost_it_is_looked_whether_it_was_carried_out(
    writer, server_place, monkeypatch, carried_out
):
    await writer.write(tell)
    execute = postgres.PostgresConnection.execute
    lost = []

    def once(self: Any, query: Any, *values: Any, **more: Any) -> Any:
        if query != "COMMIT" or lost:
            return execute(self, query, *values, **more)
        lost.append(carried_out)
        if carried_out:
            execute(self, query)
        self.close()
        raise peewee.DatabaseError("gone") from psycopg.OperationalError("gone")

    monkeypatch.setattr(postgres.PostgresConnection, "execute", once)
    await asyncio.gather(*(writer.write(tell) for _ in range(3)))
    await writer.write(tell)
    assert lost == [carried_out]
    assert told(server_place) == 5


async def test_who_stands_still_in_a_transaction_holds_the_others_up_for_a_while_only(
    server_place, monkeypatch, writer
):
    monkeypatch.setattr(postgres, "STANDS_STILL_S", 1)
    still = open_writable(server_place, OpenSettings())
    still.connection().execute("BEGIN")
    still.connection().execute("UPDATE meta SET value = value + 1 WHERE name = 'change'")
    await writer.write(tell)
    with pytest.raises(peewee.PeeweeException):
        still.connection().execute("COMMIT")
    assert told(server_place) == 1


async def test_who_comes_while_the_lock_is_waited_for_is_in_the_same_commit(writer, server_place):
    def refuse(transaction: Transaction) -> None:
        raise ValueError("cannot be prepared")

    prepared: list[str] = []
    first = await writer.write(tell)
    with psycopg.connect(server_place.url) as other:
        other.execute("UPDATE meta SET value = value + 1 WHERE name = 'change'")
        waiting = asyncio.ensure_future(writer.write(tell, brief=True))
        await asyncio.to_thread(wait_for_a_lock, server_place)
        late = [
            asyncio.ensure_future(writer.write(tell, prepare, brief=True))
            for prepare in (None, refuse, lambda transaction: prepared.append("late"))
        ]
        of_operators = asyncio.ensure_future(writer.write(tell))
        behind_it = asyncio.ensure_future(writer.write(tell, brief=True))
        await asyncio.sleep(0)
        assert writer.outstanding == 6
        other.commit()
    assert [await waiting, await late[0], await late[2]] == [first + 2] * 3
    with pytest.raises(ValueError, match="cannot be prepared"):
        await late[1]
    assert [await of_operators, await behind_it] == [first + 3] * 2
    assert prepared == ["late"]
    assert told(server_place) == 6


def wait_for_a_lock(place: PostgresPlace) -> None:
    while not asked(place, f"SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND {OURS}"):
        pass


async def test_a_bug_fails_those_who_came_late_too(writer, server_place, monkeypatch, caplog):
    def give_way(*_: object) -> bool:
        raise ZeroDivisionError

    monkeypatch.setattr(Writer, "_together", give_way)
    with psycopg.connect(server_place.url) as other:
        other.execute("UPDATE meta SET value = value + 1 WHERE name = 'change'")
        first = asyncio.ensure_future(writer.write(tell))
        await asyncio.to_thread(wait_for_a_lock, server_place)
        late = asyncio.ensure_future(writer.write(tell, brief=True))
        await asyncio.sleep(0)
    for one in (first, late):
        with pytest.raises(ZeroDivisionError):
            await one


async def test_transactions_have_the_time_of_the_server(writer, server_place):
    now = await writer.write(lambda work: work.now)
    [(later,)] = asked(server_place, "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)")
    assert later - 60_000 < now <= later


def test_a_writer_leaves_nothing_of_itself_behind(server_place):
    made = Writer(open_writable(server_place, OpenSettings()), server_place, PATIENT, wall_clock)
    asyncio.run(made.write(tell))
    assert asked(server_place, "SELECT COUNT(*) FROM meta WHERE name LIKE 'writer %'") == [(1,)]
    made.close()
    assert asked(server_place, "SELECT COUNT(*) FROM meta WHERE name LIKE 'writer %'") == [(0,)]


def test_what_operators_ask_for_becomes_visible_in_its_order(server_place):
    """Ids come before commits: who read a later one must not find an earlier one after it."""
    journal = Journal(server_place, OpenSettings(busy_ms=100), patience_s=0.0)
    with psycopg.connect(server_place.url) as other:
        other.execute("UPDATE meta SET value = value + 1 WHERE name = 'change'")
        with pytest.raises(StorageFailure):
            journal.send(StopOrigins(), "me")
    assert journal.send(StopOrigins(), "me") > 0
    journal.close()


def test_a_role_that_may_only_read_is_told_what_it_may_not(server_place):
    asked(server_place, "SELECT 1")
    with psycopg.connect(server_place.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS tui_crawler_test_reader")
        connection.execute("CREATE ROLE tui_crawler_test_reader LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO tui_crawler_test_reader")
        place = PostgresPlace(server_place.url.replace("postgres@", "tui_crawler_test_reader@", 1))
        try:
            with pytest.raises(ReadOnlyDatabase, match="this role may only read"):
                Journal(place, OpenSettings())
            Reports(place).close()
        finally:
            connection.execute("DROP OWNED BY tui_crawler_test_reader")
            connection.execute("DROP ROLE tui_crawler_test_reader")


async def test_a_statement_that_nobody_waits_for_fails_for_its_own_job_alone(writer, server_place):
    async def twice(name: str) -> int:
        def work(transaction: Transaction) -> int:
            transaction.execute(Meta.insert(name=name, value=1))
            return tell(transaction)

        return await writer.write(work)

    await twice("one")
    results = await asyncio.gather(twice("two"), twice("one"), twice("three"), return_exceptions=True)
    assert [type(result) for result in results] == [int, StorageFailure, int]
    assert told(server_place) == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1))
@example(texts=[None])
@example(texts=["", None])
@example(texts=["", "NULL", "null", '"', "\\", '\\"', "{}", ",", " a ", "\n"])
def test_a_list_of_texts_comes_as_it_was_sent(server_connection, texts):
    rows = server_connection.execute("SELECT unnest(%s::text[])", [text_list(texts)]).fetchall()
    assert [text for (text,) in rows] == texts


@pytest.fixture(scope="module")
def server_connection(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres_url) as connection:
        yield connection
