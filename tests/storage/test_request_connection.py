"""How a request came by its connection, from the settle step to the view; and in databases of before that was noted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.storage.bench import DatabaseBench, of_sqlite
from tests.storage.making import T0, A, crawled, plan, request
from tests.storage.raw import RawRow, rows
from tests.storage.workbench import Workbench
from tests.support.older_schema import make_older
from tui_crawler.domain.records.attempt import RequestRecord
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.crawl import candidates
from tui_crawler.storage.db.database import open_readonly, upgrade
from tui_crawler.storage.reports.reports import Reports

NEW = {"dns_ms": 1, "connect_ms": 20, "tls_ms": 31, "connection_reused": False, "remote_address": "203.0.113.7"}
KEPT = {"connection_reused": True, "remote_address": "203.0.113.7"}
NAMES = ("remote_address", "dns_ms", "connect_ms", "tls_ms", "connection_reused")


async def settle(bench: DatabaseBench, at: int, *connections: dict[str, object]) -> None:
    """An attempt whose requests had these connections."""
    store = bench.open()
    await store.begin_run(plan())
    (page,) = (await store.candidates(A, at, 1, True)).pages
    made = crawled(page, at)
    asked = tuple(request(page.url, at + n, **connection) for n, connection in enumerate(connections))
    await store.settle(replace(made, attempt=replace(made.attempt, requests=asked)))
    await store.end_run("exhausted", True)


def seen(place: DatabasePlace) -> list[RawRow]:
    return rows(place, f"SELECT {', '.join(NAMES)} FROM v_request ORDER BY request_id")


def asked(place: DatabasePlace, attempt_id: int) -> tuple[RequestRecord, ...]:
    reports = Reports(place)
    found = reports.requests(attempt_id)
    reports.close()
    return found


async def test_the_view_and_the_report_tell_a_new_connection_from_a_kept_and_from_an_unknown_one(
    database_bench: DatabaseBench,
) -> None:
    await settle(database_bench, T0, NEW, KEPT, {})
    assert seen(database_bench.place) == [
        ("203.0.113.7", 1, 20, 31, 0), ("203.0.113.7", None, None, None, 1), ("", None, None, None, None),
    ]  # fmt: skip
    found = asked(database_bench.place, 1)
    assert [tuple(getattr(one, name) for name in NAMES) for one in found] == [
        ("203.0.113.7", 1, 20, 31, False), ("203.0.113.7", None, None, None, True), ("", None, None, None, None),
    ]  # fmt: skip


@of_sqlite
def test_the_requests_of_an_attempt_are_one_statement(workbench: Workbench) -> None:
    claim, _ = workbench.begin(plan())
    (page,) = workbench.work(lambda work: candidates.candidates(work, claim, A, T0, 1, False)).pages
    made = crawled(page, T0)
    requests = tuple(request(page.url, T0 + n, **connection) for n, connection in enumerate((NEW, KEPT)))
    statements: list[str] = []
    connection = workbench.transaction()._connection
    connection.set_trace_callback(statements.append)
    workbench.settle(claim, replace(made, attempt=replace(made.attempt, requests=requests)))
    connection.set_trace_callback(None)
    assert len([text for text in statements if 'INTO "request"' in text]) == 1
    assert len(seen(workbench.place)) == 2


@of_sqlite
async def test_an_older_database_keeps_its_requests_and_knows_nothing_of_their_connections(
    database_bench: DatabaseBench,
) -> None:
    path = database_bench.place
    await settle(database_bench, T0, NEW)
    database_bench.stores.pop().close()
    make_older(path)
    with pytest.raises(StorageFailure, match="older schema"):
        open_readonly(path)
    done = upgrade(path)
    assert (done.from_version, done.backup.is_file()) == (3, True)
    assert upgrade(path) is None
    assert seen(path) == [("203.0.113.7", None, None, None, None)]
    (old,) = asked(path, 1)
    assert (old.http_status, old.connection_reused, old.connect_ms) == (200, None, None)
    database_bench.now = later = T0 + 10**10
    await settle(database_bench, later, KEPT)
    assert seen(path)[1:] == [("203.0.113.7", None, None, None, 1)]
