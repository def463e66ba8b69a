"""How a writer's transactions begin and end: in an SQLite file, and on a PostgreSQL server.

In both one transaction writes at a time. SQLite has its lock for that; on a server each begins by raising the number of
the last commit, a row that stays locked until it ends. So what is read before it is written cannot change in between,
numbers of changes and ids become visible in their order, and nothing has to be run again because of another writer.
"""

import contextlib
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peewee

from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.domain.records.failure import DatabaseDamaged
from tui_crawler.storage.db.clock import wall_clock
from tui_crawler.storage.db.file_identity import FilePlace
from tui_crawler.storage.db.statements import builds, reads, slot, upserts
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, connection_of
from tui_crawler.storage.models import Meta

_LAGGED = (
    "the database has lost commits that were confirmed, as a fail-over to a server that lagged behind does: "
    "nothing more is stored; the next start goes on with what is there"
)
_OLD_MARK = 100_000
"""Commits: so much later what a writer has left of its last one is of no use."""


class AlreadyStored(Exception):
    """The last COMMIT, whose answer was lost, had been carried out."""


class Writing:
    """How a writer's transactions begin and end in its database. Every method raises DATABASE_ERRORS."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def check(self) -> None:
        """Raise StorageFailure when the file is no longer where it was; a server says so itself."""

    def begin(self, *, patient: bool, apart: bool) -> None:
        """Begin a transaction that writes. Not `patient`: a lock of another writer is not waited for. `apart`: jobs
        are run one by one, since something was refused."""

    def number(self, transaction: Transaction) -> None:
        """Give a transaction that has begun its number, and its time. Raise AlreadyStored."""

    def settle(self) -> None:
        """Wait for statements that were sent without waiting. Raise what became of any."""

    def commit(self) -> None:
        connection_of(self._database).execute("COMMIT")

    @property
    def is_lost(self) -> bool:
        """Whether the connection is of no use any more; that of a file never is."""
        return False

    def connect_anew(self) -> None:
        """Open the connection again."""
        self._database.close()
        self._database.connect()

    def close(self) -> None:
        self._database.close()


def writing_of(database: peewee.Database, place: DatabasePlace, now: Callable[[], int]) -> Writing:
    """How transactions are written there. `now` (epoch ms) stands for the clock of a server, too, if it is not that of
    this machine."""
    if isinstance(place, PostgresPlace):
        return ServerWriting(database, at_server=now is wall_clock)
    return FileWriting(database, place)


class FileWriting(Writing):
    """In a file."""

    def __init__(self, database: Any, path: Path) -> None:
        super().__init__(database)
        self._place = FilePlace(path)
        self._busy_ms = round(1000 * database.timeout)
        self._pragmas: dict[str, int] = {}  # of this connection

    def check(self) -> None:
        self._place.check()

    def begin(self, *, patient: bool, apart: bool) -> None:
        """SQLite looks for the row that a reference names only when jobs are run `apart`: what a transaction refers to
        it has read or made, and looking costs as much as many a row."""
        connection = connection_of(self._database)
        for name, value in (("busy_timeout", self._busy_ms if patient else 0), ("foreign_keys", int(apart))):
            if self._pragmas.get(name) != value:
                connection.execute(f"PRAGMA {name} = {value}")
                self._pragmas[name] = value
        connection.execute("BEGIN IMMEDIATE")

    def number(self, transaction: Transaction) -> None:
        transaction.change = transaction.number(_next_change, {"name": "change"})

    def connect_anew(self) -> None:
        super().connect_anew()
        self._pragmas.clear()


class ServerWriting(Writing):
    """On a server. `at_server`: transactions have the time of its clock.

    When the answer to a COMMIT is lost, nobody knows whether it was carried out. So each transaction also notes its
    number under the name of its writer, where the next one finds it.
    """

    def __init__(self, database: peewee.Database, *, at_server: bool) -> None:
        super().__init__(database)
        self._at_server = at_server
        self._mark = f"writer {secrets.token_hex(8)}"
        self._begun = self._committed = self._doubtful = self._transactions = 0

    def begin(self, *, patient: bool, apart: bool) -> None:
        """Statements are sent without waiting for each, unless jobs run `apart`; plans are made anew as tables grow."""
        connection = connection_of(self._database)
        self._transactions += 1
        if self._transactions.bit_count() == 1:
            connection.execute("DISCARD PLANS")
        if not apart:
            connection.send()
        connection.execute("BEGIN")

    def number(self, transaction: Transaction) -> None:
        row = transaction.one(_next_change_and_time, {"name": "change"}) or (0, transaction.now)
        if self._doubtful:
            noted, self._doubtful = transaction.one(_noted, {"name": self._mark}), 0
            if noted == (self._begun,):
                raise AlreadyStored
        if row[0] <= self._committed:
            raise DatabaseDamaged(_LAGGED)
        self._begun = transaction.change = row[0]
        if self._at_server:
            transaction.now = row[1]
        transaction.insert(_note, [(self._mark, transaction.change)])

    def settle(self) -> None:
        connection_of(self._database).sent()

    def commit(self) -> None:
        try:
            super().commit()
        except DATABASE_ERRORS:
            self._doubtful = True
            raise
        self._committed = self._begun

    @property
    def is_lost(self) -> bool:
        return bool(self._database.is_closed() or connection_of(self._database).closed)

    def close(self) -> None:
        """What is left of this writer goes, and of others that were killed."""
        mine = (Meta.name == self._mark) | ((Meta.name % "writer %") & (Meta.value < self._begun - _OLD_MARK))
        with contextlib.suppress(*DATABASE_ERRORS), contextlib.closing(self._database):
            Meta.delete().where(mine).execute(self._database)


_next_change = builds(
    Meta.update({Meta.value: Meta.value + peewee.SQL("1")}).where(Meta.name == slot("name")).returning(Meta.value)
)
_noted = reads([Meta.name], Meta.value)
_note = upserts([Meta.name], [Meta.value])
_next_change_and_time = builds(
    _next_change().returning(Meta.value, peewee.SQL("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"))
)
