"""A read-only connection for reports, used from one thread at a time, whichever that is; and rows as records: each
column fills the field of its name, in whatever order both stand."""

import contextlib
import json
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from functools import cache, partial
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import ReadingStopped, StorageFailure
from tui_crawler.storage.db.clock import wall_clock
from tui_crawler.storage.db.database import connect_readonly, let_go_if_lost, open_readonly
from tui_crawler.storage.db.file_identity import FilePlace, has_log_file, put_log_away
from tui_crawler.storage.db.open_settings import USUAL, OpenSettings
from tui_crawler.storage.drivers.dialect import dialect_of
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, Row, Values, execute, stop_when, stopping, stream
from tui_crawler.storage.drivers.faults import storage_failure, was_cancelled

T = TypeVar("T")

_TRUTHS: Mapping[str, Callable[[Any], Any]] = {
    "bool": bool,
    "bool | None": lambda value: None if value is None else bool(value),
}
"""SQLite has no truth values: what fields take for a number, by the name of their type."""


def headers_of(text: str) -> tuple[tuple[str, str], ...]:
    """Headers as they are stored: a JSON list of pairs, empty for none."""
    return tuple((name, value) for name, value in json.loads(text)) if text else ()


class From(NamedTuple):
    """What a field is made of: these columns as they are stored (two names or more, with spaces), fields or not."""

    columns: str
    make: Callable[..., Any]


class RowMapper(Generic[T]):
    """How rows become records of a dataclass. `made` turns the value of a column into that of its field, where it is
    not stored as it is shown (`From`: the values of several); truth values need no mention. A field with a default may
    have no column."""

    def __init__(self, record: type[T], **made: Callable[[Any], Any] | From) -> None:
        self._record = record
        self._made = made
        self.of = cache(self._maker)
        """What makes a record of a row with these columns. TypeError: they are not those of the record."""

    def _maker(self, columns: tuple[str, ...]) -> Callable[[Row], T]:
        record, wanted = self._record, fields(self._record)  # type: ignore[arg-type]  # it is a dataclass
        several = {name: made for name, made in self._made.items() if isinstance(made, From)}
        alone = {name: made for name, made in self._made.items() if not isinstance(made, From)}
        left_out = [one for one in wanted if one.name not in columns]
        defaults = tuple(None if one.name in several else one.default for one in left_out)
        names = (*columns, *(one.name for one in left_out))
        of_fields = {one.name for one in wanted}.union(*(made.columns.split() for made in several.values()))
        if not of_fields.issuperset(columns) or len({*names}) < len(names) or MISSING in defaults:
            raise TypeError(f"columns {', '.join(columns)} do not make a {record.__name__}")
        pick = itemgetter(*(names.index(one.name) for one in wanted))
        turned = [
            (place, turn)
            for place, one in enumerate(wanted)
            if one.name in columns
            and (turn := alone.get(one.name) or _TRUTHS.get(getattr(one.type, "__name__", str(one.type))))
        ]
        composed = [
            (place, made.make, itemgetter(*map(columns.index, made.columns.split())))
            for place, one in enumerate(wanted)
            if (made := several.get(one.name))
        ]

        def make(row: Row) -> T:
            values = list(pick(row + defaults))
            for place, turn in turned:
                values[place] = turn(values[place])
            for place, compose, parts in composed:
                values[place] = compose(*parts(row))
            return record(*values)

        return make


Shape = type[T] | RowMapper[T]
"""What the rows of a query become: records of a class, or those of a mapper."""


def selected(record: Any, row: str, /, **made: str | None) -> str:
    """Return what is selected for a record: a field is the column of its name of a `row`, or `made` of something else;
    None: it has no column."""
    chosen = {one.name: made.get(one.name, f"{row}.{one.name}") for one in fields(record)}
    return ", ".join(f"{text} AS {name}" for name, text in chosen.items() if text is not None)


def among(column: str, numbers: Iterable[int]) -> str:
    """The condition that a column is one of these numbers, as SQL."""
    listed = ", ".join(str(int(number)) for number in sorted(numbers))
    return f"{column} IN ({listed})" if listed else "(0 = 1)"


@dataclass(frozen=True, slots=True)
class IdSpan:
    """At most `limit` entries older than `before_id` and newer than `after_id` (0: no bound), newest first unless
    `oldest_first`: the limit cuts off what comes last."""

    before_id: int = 0
    after_id: int = 0
    limit: int = 200
    oldest_first: bool = False

    @property
    def values(self) -> tuple[int, ...]:
        """The values of the conditions, and the limit."""
        return (*(value for value in (self.before_id, self.after_id) if value), self.limit)

    def ending(self, column: str, *conditions: str) -> str:
        """The rest of a query behind its tables: these conditions, whose values come first, bounds, order and limit."""
        bounds = [f"{column} {sign} ?" for sign, value in (("<", self.before_id), (">", self.after_id)) if value]
        where = " AND ".join((*conditions, *bounds))
        return f"{f' WHERE {where}' if where else ''} ORDER BY {column}{'' if self.oldest_first else ' DESC'} LIMIT ?"


EVERY = 2**62
"""As a limit: there is none."""


class Reader:
    """Executes queries; every error of the driver becomes a StorageFailure with a clear message."""

    def __init__(self, path: DatabasePlace, settings: OpenSettings = USUAL) -> None:
        self._path = path
        self._settings = settings
        self._found_log = has_log_file(path)
        self._database = open_readonly(path, settings)
        self._place = FilePlace(path)
        self._lock = threading.Lock()
        self._stops: Callable[[], bool] | None = None
        self.looked_for: tuple[str, int, tuple[int, ...] | None] = ("", 0, ())
        """The text `page_windows` looked for last, up to which URL, and the ids of those that hold it; None: many."""

    def close(self) -> None:
        """Closes the connection. The file stands alone again when it did before and nobody else has it open."""
        with self._lock:
            self._database.close()
        with contextlib.suppress(StorageFailure):
            self._place.check()
            if not self._found_log:
                put_log_away(self._path, only_empty=True)

    def free_bytes(self) -> int:
        """How much room is left where the database stands."""
        import shutil  # noqa: PLC0415  few ask

        return shutil.disk_usage(self._path.parent).free

    def stop_when(self, stops: Callable[[], bool]) -> None:
        """Has every query end with ReadingStopped as soon as `stops` answers True, which is asked now and then."""
        self._stops = stops
        stop_when(self._database, stops)

    def all(self, text: str, values: Values = ()) -> list[Row]:
        """All rows of a query. Raises ReadingStopped, StorageFailure."""
        return self._answer(text, values)[1]

    def records(self, shape: Shape[T], text: str, values: Values = ()) -> tuple[T, ...]:
        """The rows of a query as records, by the names of its columns."""
        columns, rows = self._answer(text, values)
        mapper = shape if isinstance(shape, RowMapper) else RowMapper(shape)
        return tuple(map(mapper.of(columns), rows))

    def record(self, shape: Shape[T], text: str, values: Values = ()) -> T | None:
        """The first of them."""
        return next(iter(self.records(shape, text, values)), None)

    def data_version(self) -> int:
        """A number that is another one after every commit of somebody else."""
        return self.number(dialect_of(self._database).last_commit)

    def columns(self, view: str) -> tuple[str, ...]:
        """The columns of a table or view."""
        return self._answer(f"SELECT * FROM {view} LIMIT 0", ())[0]  # noqa: S608  the name is one of ours

    def number(self, text: str, values: Values = ()) -> int:
        return int(self.all(text, values)[0][0])

    def origin_id(self, origin: str) -> int:
        """The id of an origin, 0 for one that is not known."""
        row = self.one("SELECT id FROM origin WHERE origin = ?", (origin,))
        return row[0] if row else 0

    def first_since(self, text: str, values: Sequence[Any], moment: int, low: int, high: int) -> int:
        """The first id, of those from `low` up to `high`, whose time is a moment or later: ids and times rise together.
        `text` answers id and time of the first row from an id on, which comes behind the `values`."""
        while low < high:
            middle = (low + high) // 2
            found = self.one(text, (*values, middle))
            if found is None or found[1] >= moment:
                high = middle
            else:
                low = found[0] + 1
        return low

    def one(self, text: str, values: Values = ()) -> Row | None:
        """The first row of a query."""
        return next(iter(self.all(text, values)), None)

    def _answer(self, text: str, values: Values) -> tuple[tuple[str, ...], list[Row]]:
        with self._lock:
            self._place.check()
            try:
                if self._stops is not None and self._stops():
                    raise ReadingStopped
                with stopping(self._database, self._stops):
                    cursor = execute(self._database, text, values)
                    return tuple(name for name, *_ in cursor.description or ()), cursor.fetchall()
            except DATABASE_ERRORS as error:
                let_go_if_lost(self._database)
                raise self._failure(error) from error

    def _failure(self, error: Exception) -> ReadingStopped | StorageFailure:
        return ReadingStopped() if was_cancelled(error) else storage_failure(error, self._path)

    def stream(self, text: str, values: Values = ()) -> Generator[Row, None, None]:
        """The rows of a query, a few at a time, as the database was when the first was taken. Raises as `all` does."""
        with self.moment() as ask:
            yield from ask(text, values)

    @contextmanager
    def moment(self) -> Iterator[Callable[[str, Values], Iterator[Row]]]:
        """What answers queries, a few rows at a time, all of the database as it was at the first. Raises as `all` does.

        A connection of its own: a query under way would keep all others on this one in the past, too.
        """
        try:
            with contextlib.closing(connect_readonly(self._path, self._settings)) as database:
                stop_when(database, self._stops)
                with stopping(database, self._stops):
                    execute(database, dialect_of(database).begin_reading)
                    yield partial(stream, database)
        except DATABASE_ERRORS as error:
            raise self._failure(error) from error


class SubjectReports:
    """What is read of one subject. Every method raises StorageFailure when the database cannot be read. An origin is
    named as in `v_origin`; an empty name means all."""

    def __init__(self, reader: Reader, now: Callable[[], int] = wall_clock) -> None:
        """`now` tells the epoch ms."""
        self._reader = reader
        self._now = now
