"""Work on a database beside a live run: short reads, and short transactions that wait for their turn."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

import peewee

from tui_crawler.storage.driver import DATABASE_ERRORS, connection_of
from tui_crawler.storage.faults import is_busy
from tui_crawler.storage.transaction import Texts, Transaction

_PATIENCE_S = 30.0


class Beside:
    """Uses an open connection; `now` gives epoch ms. Every method raises the drivers' errors."""

    def __init__(self, database: peewee.SqliteDatabase, now: Callable[[], int]) -> None:
        self._connection = connection_of(database)
        self._texts = Texts(database)
        self._now = now

    def loose(self) -> Transaction:
        """Statements that are each by themselves."""
        return Transaction(self._connection, self._texts, self._now())

    @contextlib.contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Reads that see one state of the database."""
        with self._between("BEGIN"):
            yield self.loose()

    @contextlib.contextmanager
    def writing(self) -> Iterator[Transaction]:
        """One transaction; it waits half a minute for a lock that another program holds."""
        with self._between("BEGIN IMMEDIATE"):
            yield self.loose()

    @contextlib.contextmanager
    def _between(self, begin: str) -> Iterator[None]:
        self._patiently(begin)
        try:
            yield
            self._patiently("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _patiently(self, text: str) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self._connection.execute(text)
            except DATABASE_ERRORS as error:
                if not is_busy(error) or time.monotonic() >= deadline:
                    raise
            else:
                return
