"""A crawl on a PostgreSQL server: its connections, making and migrating its schema, what goes wrong with it.

Values are sent and read as SQLite has them: every number has 64 bits, a truth is 0 or 1, text is ordered by its bytes.
There are no foreign key constraints: what a transaction refers to it has read or made (as on SQLite, where they are
off while a crawl writes), and a look at the row behind each reference costs as much as the row. `db check` looks.
"""

import hashlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import peewee
import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format, PGconn, Ping, TransactionStatus
from psycopg.types.numeric import Int8BinaryDumper

from tui_crawler.domain.records.database_place import PostgresPlace
from tui_crawler.domain.records.failure import NotOurDatabase, StorageFailure
from tui_crawler.storage.db.file_identity import FileState, state_of_version
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.views import VIEWS, create_views, drop_views
from tui_crawler.storage.drivers.dialect import server_schema
from tui_crawler.storage.drivers.driver import CHANNEL, DATABASE_ERRORS, execute, keep_number, told_of
from tui_crawler.storage.drivers.faults import ReadOnlyDatabase, storage_failure
from tui_crawler.storage.migrations import migrate, record_as_migrated

_NETWORK: dict[str, Any] = {"connect_timeout": 5, "tcp_user_timeout": 10_000, "keepalives_idle": 5}
_NETWORK |= {"keepalives_interval": 2, "keepalives_count": 3, "application_name": "tui-crawler"}
"""A server that does not answer is noticed after 5 s at the start (s), 10 s later (ms), 11 s when nothing is asked."""

STANDS_STILL_S = 10
"""A transaction of a worker that stands still is ended by the server after this, so that others can go on."""

STARTS_S = 300.0
"""How long a start waits for a server that restarts, which may have to recover first."""

_TRIES_AGAIN_S = 1.0
_LISTENS_S = 0.2  # who listens looks so often whether it is to end
_LISTENS_AGAIN_S = 2.0  # and waits so long where it cannot

_FUNCTIONS = """
CREATE OR REPLACE FUNCTION instr(TEXT, TEXT) RETURNS BIGINT LANGUAGE SQL IMMUTABLE AS
    $$ SELECT CAST(strpos($1, $2) AS BIGINT) $$;
CREATE OR REPLACE FUNCTION julianday(TEXT) RETURNS DOUBLE PRECISION LANGUAGE SQL STABLE AS
    $$ SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION) / 86400 + 2440587.5 $$;
CREATE OR REPLACE FUNCTION substr(TEXT, BIGINT) RETURNS TEXT LANGUAGE SQL IMMUTABLE AS
    $$ SELECT substr($1, CAST($2 AS INTEGER)) $$;
CREATE OR REPLACE FUNCTION glob(TEXT, TEXT) RETURNS BOOLEAN LANGUAGE SQL IMMUTABLE AS
    $$ SELECT $2 ~ replace(replace(trim(both '*' from $1), '\\', '\\\\'), '^', '\\^') $$;
CREATE OR REPLACE FUNCTION substr(TEXT, BIGINT, BIGINT) RETURNS TEXT LANGUAGE SQL IMMUTABLE AS
    $$ SELECT substr($1, CAST($2 AS INTEGER), CAST($3 AS INTEGER)) $$;
"""
"""What the texts of reports call as in SQLite."""
_VIEWS_NOW = int.from_bytes(hashlib.blake2b(repr((VIEWS, _FUNCTIONS)).encode(), digest_size=7).digest())


class _Number(Dumper):
    """A truth on its way, as a number."""

    format = Format.BINARY
    oid = 20  # of bigint

    def dump(self, obj: Any) -> bytes:
        return struct.pack("!q", obj)


class _Sum(Loader):
    """A sum or an average: a whole number where it is one."""

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text or b"N" in text else int(text)


class _Flag(Loader):
    """A truth, as SQLite answers it."""

    def load(self, data: Any) -> int:
        return int(bytes(data) == b"t")


@contextmanager
def _told_as_peewee() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise peewee.DatabaseError(str(error)) from error


class _Cursor(psycopg.Cursor[Any]):
    """One that raises what peewee raises."""

    @_told_as_peewee()
    def fetchall(self) -> list[Any]:
        return super().fetchall()


class PostgresConnection(psycopg.Connection[Any]):
    """A connection that raises what peewee raises, with the methods of SQLite's that the store calls."""

    sending: AbstractContextManager[psycopg.Pipeline] | None = None
    """While statements are sent without waiting for what becomes of those before."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, or it cannot be told because the connection is lost."""
        return self.sending is not None or self.info.transaction_status is not TransactionStatus.IDLE

    def send(self) -> None:
        """From now on only a statement whose rows are fetched is waited for; so what raises may be an earlier one."""
        self.sending = self.pipeline()
        self.sending.__enter__()

    def sent(self) -> None:
        """Waits for all statements. Raises what became of any."""
        sending, self.sending = self.sending, None
        if sending is not None:
            with _told_as_peewee():
                sending.__exit__(None, None, None)

    @_told_as_peewee()
    def execute(self, query: Any, params: Any = None, **kwargs: Any) -> Any:
        return super().execute(query, params, **kwargs)

    @_told_as_peewee()
    def executemany(self, query: Any, rows: Any) -> None:
        """Executes a text for every row, all on their way at once."""
        with self.cursor() as cursor:
            cursor.executemany(query, rows)

    def stream(self, query: str, params: Any, at_once: int) -> Iterator[Any]:
        """The rows of a query, so many fetched at once, within a transaction."""
        with _told_as_peewee(), self.cursor(name=token_hex(4)) as cursor:
            cursor.itersize = at_once
            cursor.execute(query, params)
            yield from cursor

    def copy_in(self, table: str, columns: str, rows: Iterable[Any]) -> None:
        """Takes rows in; in a text of `columns` stand quoted names."""
        copying = f"COPY {table} ({columns}) FROM STDIN"
        with _told_as_peewee(), self.cursor() as cursor, cursor.copy(copying) as copy:
            for row in rows:
                copy.write_row(row)


peewee.psycopg = psycopg  # type: ignore[attr-defined]  # it was kept from peewee when that was loaded


class NotifyListener:
    """A thread that calls `told` when somebody may have changed the journal, until it is ended: by a connection of its
    own, which is opened again when it is lost."""

    def __init__(self, place: PostgresPlace, told: Callable[[], None]) -> None:
        self._place = place
        self._told = told
        self._over = threading.Event()
        threading.Thread(target=self._live, name="listening", daemon=True).start()

    def end(self) -> None:
        """The thread ends, and its connection, within `_LISTENS_S`."""
        self._over.set()

    def _live(self) -> None:
        while not self._over.is_set():
            with suppress(psycopg.Error), psycopg.connect(self._place.url, autocommit=True, **_NETWORK) as connection:
                connection.execute(f"LISTEN {CHANNEL}")
                self._told()
                while not self._over.is_set():
                    for _ in connection.notifies(timeout=_LISTENS_S, stop_after=1):
                        self._told()
            self._over.wait(_LISTENS_AGAIN_S)


class _Driver(peewee.Psycopg3Adapter):
    txn_idle, txn_inerror, txn_unknown = TransactionStatus.IDLE, TransactionStatus.INERROR, TransactionStatus.UNKNOWN

    def connect(self, db: Any, **settings: Any) -> PostgresConnection:
        said = settings.pop("session", {})
        connection = PostgresConnection.connect(db.database, autocommit=True, cursor_factory=_Cursor, **_NETWORK)
        connection.adapters.register_dumper(int, Int8BinaryDumper)  # always 64 bits: a text is prepared once
        connection.adapters.register_dumper(bool, _Number)
        connection.adapters.register_loader("numeric", _Sum)
        connection.adapters.register_loader("bool", _Flag)
        for name, value in said.items():
            connection.execute(f"SET {name} = {value}")
        return connection


class PostgresDatabase(peewee.PostgresqlDatabase):
    """A database on a server as peewee knows it; `session` are settings of its connections."""

    field_types = {  # noqa: RUF012  as its base class declares it
        **peewee.PostgresqlDatabase.field_types,
        "TEXT": 'TEXT COLLATE "C"',
        "FLOAT": "DOUBLE PRECISION",
    }
    psycopg3_adapter = _Driver

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        """Executes a text of peewee's or of a migration: a schema is declared as SQLite has it."""
        return super().execute_sql(server_schema(sql), params)  # type: ignore[no-untyped-call]


def connect(place: PostgresPlace, settings: OpenSettings, *, readonly: bool) -> PostgresDatabase:
    """An open connection. Raises StorageFailure."""
    session = {
        "jit": "off",
        "idle_in_transaction_session_timeout": "0" if readonly else f"'{STANDS_STILL_S}s'",
        "lock_timeout": 0 if readonly else settings.busy_ms,
        "synchronous_commit": "on",  # a worker that outlives its server must not know more than that
        "default_transaction_read_only": "on" if readonly else "off",
    }
    database = PostgresDatabase(place.url, prefer_psycopg3=True, session=session, thread_safe=False)
    try:
        database.connect()
    except (psycopg.Error, *DATABASE_ERRORS) as error:
        said = str(error).replace(place.url, str(place)).strip().splitlines()[0]
        raise StorageFailure(f"{place} cannot be reached: {said}") from error
    return database


def await_server(place: PostgresPlace, tell: Callable[[str], object]) -> None:
    """Return when the server takes connections; `tell` gets one sentence before a wait. Raises StorageFailure: after
    `STARTS_S`, and at once for another reason, such as a wrong password."""
    until = 0.0
    while True:
        try:
            connect(place, OpenSettings(), readonly=True).close()
            break
        except StorageFailure as failure:
            if (until and time.monotonic() > until) or not _may_come(place):
                raise
            if not until:
                tell(f"{failure}; waiting for the server, at most {STARTS_S:.0f} s")
                until = time.monotonic() + STARTS_S
        time.sleep(_TRIES_AGAIN_S)


def _may_come(place: PostgresPlace) -> bool:
    """Whether the server starts or ends, which it says (57P03), or nothing listens at its (first) address. For an
    unknown host no wait helps, nor where something listens and the connection fails, as for want of a certificate."""
    state = PGconn.ping(make_conninfo(place.url, connect_timeout=_NETWORK["connect_timeout"]).encode())
    if state != Ping.NO_RESPONSE:
        return bool(state == Ping.REJECT)
    host, port = (str(conninfo_to_dict(place.url).get(name) or "").partition(",")[0] for name in ("host", "port"))
    if host[:1] in {"", "/"}:  # a Unix socket
        return Path(host or "/").exists()
    try:
        socket.create_connection((host, int(port or 5432)), _NETWORK["connect_timeout"]).close()
    except OSError as error:
        return not isinstance(error, socket.gaierror)
    return False


def open_writable(place: PostgresPlace, settings: OpenSettings) -> PostgresDatabase:
    """A connection that may write, to a schema of this version: made or migrated if need be.

    Raises NotOurDatabase, ReadOnlyDatabase, StorageFailure; RunHeld when a migration is needed during a live run.
    """
    database = connect(place, settings, readonly=False)
    try:
        state = _state_of(database, place, settings)
        if state is FileState.absent:
            _create(database, settings)
        elif state is FileState.older:
            upgrade(database, settings)
        elif not execute(database, "SELECT has_table_privilege('meta', 'UPDATE')").fetchone()[0]:
            raise ReadOnlyDatabase(f"this role may only read {place}")
        elif _number(database, "views") != _VIEWS_NOW:
            with database.atomic():
                _make_views(database)
    except BaseException as error:
        database.close()
        if not isinstance(error, DATABASE_ERRORS):
            raise
        failure = storage_failure(error, place)
        if isinstance(failure, ReadOnlyDatabase):
            raise ReadOnlyDatabase(f"{failure}; its owner makes what is missing: tui-crawler db upgrade") from error
        raise failure from error
    return database


def _state_of(database: PostgresDatabase, place: PostgresPlace, settings: OpenSettings) -> FileState:
    """What the schema is. Raises NotOurDatabase, and the driver's errors."""
    found = execute(database, "SELECT to_regclass('meta'), to_regclass('page')").fetchone()
    if found == (None, None):
        return FileState.absent
    version = _number(database, "schema") if found[0] else 0
    if not version:
        raise NotOurDatabase(f"{place} is the database of another program; it was not touched")
    return state_of_version(place, version, settings.version)


def examine_server(place: PostgresPlace, settings: OpenSettings) -> FileState:
    """What the database is, without changing it. Raises NotOurDatabase, StorageFailure."""
    with told_of(place), closing(connect(place, settings, readonly=True)) as database:
        return _state_of(database, place, settings)


def upgrade(database: PostgresDatabase, settings: OpenSettings) -> tuple[int, int]:
    """Runs the missing migrations; a version is raised with the last. Answers the versions before and after. Raises
    RunHeld."""
    from tui_crawler.storage.db.owner import check_at_rest  # noqa: PLC0415  seldom needed

    if settings.unfinished:
        raise NotOurDatabase(f"{PostgresPlace(database.database)} holds a crawl already; it was not touched")
    check_at_rest(database)
    before, latest = _number(database, "schema"), settings.version
    drop_views(database)
    migrate(database, settings.migrations)
    with database.atomic():
        _make_views(database)
        keep_number(database, "schema", latest)
    return before, latest


def upgrade_at(place: PostgresPlace, settings: OpenSettings) -> tuple[int, int]:
    """The same, by a connection of its own; makes a schema where there is none. Raises NotOurDatabase, StorageFailure,
    too."""
    with told_of(place), closing(connect(place, settings, readonly=False)) as database:
        if _state_of(database, place, settings) is not FileState.absent:
            return upgrade(database, settings)
        _create(database, settings)
        return 0, _number(database, "schema")


def look_at(database: PostgresDatabase) -> tuple[int, tuple[str, ...]]:
    """The version of the schema, and which rows refer to missing ones."""
    from tui_crawler.storage.models import MODELS  # noqa: PLC0415  seldom needed

    problems = []
    for field in (field for model in MODELS for field in model._meta.refs):
        table, column, parent = field.model._meta.table_name, field.column_name, field.rel_model._meta.table_name
        text = f"""SELECT COUNT(*) FROM {table} c WHERE c.{column} IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM {parent} p WHERE p.id = c.{column})"""  # noqa: S608  names of the models
        if broken := execute(database, text).fetchone()[0]:
            problems.append(f"{broken} rows of {table} refer by {column} to missing rows of {parent}")
    return _number(database, "schema"), tuple(problems)


def _create(database: PostgresDatabase, settings: OpenSettings) -> None:
    """The whole schema in one transaction, which one of several that begin at once makes."""
    from tui_crawler.storage.models import create_tables  # noqa: PLC0415  a database that is read needs no models

    with database.atomic():
        execute(database, "SELECT pg_advisory_xact_lock(1953852259)")  # a courtesy: without, the second start fails
        if execute(database, "SELECT to_regclass('meta')").fetchone()[0]:
            return
        create_tables(database, indexed=not settings.unfinished)
        record_as_migrated(database, settings.migrations)
        _make_views(database)
        keep_number(database, "change", 0)
        keep_number(database, "schema", settings.version)


def _make_views(database: PostgresDatabase) -> None:
    """Make the functions and views; foreign keys that the tables were declared with are dropped."""
    text = """SELECT conrelid::regclass::text, conname FROM pg_constraint
        WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"""
    for table, name in execute(database, text).fetchall():
        execute(database, f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    for function in filter(str.strip, _FUNCTIONS.split(";\n")):
        execute(database, function)
    create_views(database)
    keep_number(database, "views", _VIEWS_NOW)


def _number(database: PostgresDatabase, name: str) -> int:
    row = execute(database, "SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return row[0] if row else 0
