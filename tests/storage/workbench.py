"""The writer's connection without its thread: transactions by hand, and several sessions on one database."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from tests.storage.bench import GONE
from tests.storage.making import T0
from tui_crawler.domain.crawl.run import RunPlan, RunStart, Settled
from tui_crawler.domain.records.attempt import Settle
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.storage.crawl.settle import SettleJob
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.transaction import Row, Texts, Transaction
from tui_crawler.storage.drivers.dialect import is_server
from tui_crawler.storage.drivers.driver import connection_of, execute
from tui_crawler.storage.models import Session
from tui_crawler.storage.workers import sessions

T = TypeVar("T")


class Workbench:
    """One connection that writes; `now` is the clock (epoch ms)."""

    def __init__(self, place: DatabasePlace) -> None:
        self.place = place
        self.now = T0
        self._database = open_writable(place, OpenSettings())
        self._texts = Texts(self._database)
        self._change = 0

    def close(self) -> None:
        self._database.close()

    def transaction(self) -> Transaction:
        self._change += 1
        return Transaction(connection_of(self._database), self._texts, self.now, self._change)

    def _begin(self) -> None:
        connection_of(self._database).execute("BEGIN" if is_server(self._database) else "BEGIN IMMEDIATE")

    def work(self, work: Callable[[Transaction], T]) -> T:
        """One committed transaction; it is rolled back when `work` raises."""
        self._begin()
        try:
            result = work(self.transaction())
        except BaseException:
            connection_of(self._database).execute("ROLLBACK")
            raise
        connection_of(self._database).execute("COMMIT")
        return result

    @contextmanager
    def scratch(self) -> Iterator[Transaction]:
        """A transaction that is rolled back, so that the next example finds the database as it was."""
        self._begin()
        try:
            yield self.transaction()
        finally:
            connection_of(self._database).execute("ROLLBACK")

    def begin(self, plan: RunPlan) -> tuple[Claim, RunStart]:
        """A start whose owner counts as gone as soon as the next one looks."""
        return self.work(lambda work: sessions.begin(work, plan, sessions.Starter(GONE, 30_000)))

    def second_session(self, claim: Claim) -> Claim:
        """Another worker of the same run, beside the first."""
        values = {Session.run_id: claim.run_id, Session.worker: "other", Session.started_at: self.now}
        rows = self.work(lambda work: work.fetch(Session.insert(values).returning(Session.id)))
        return dataclasses.replace(claim, session_id=rows[0][0])

    def settle(self, claim: Claim, settle: Settle) -> Settled:
        job = SettleJob(claim, settle)
        job.prepare(self.transaction())
        return self.work(job)

    def rows(self, text: str, *values: Any) -> list[Row]:
        cursor = execute(self._database, text, values)
        return cursor.fetchall() if cursor.description else []
