"""The tables as they were at a moment of the log, on a connection that only reads the file.

SQLite looks for a name among the TEMP tables first: TEMP views let the log through up to the moment, and TEMP tables
hold what is changed in place (origins, pages, jobs, runs, counts), made from the log. So every report answers as
of then. A move brings them from one moment to another: what the attempts in between have touched is made anew, or
everything, where these are many. Nothing of it is in the memory of this process but SQLite's cache: TEMP tables lie in
a file of their own that goes with the connection.

What no log keeps is as the file has it now: docs/replay.md.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tui_crawler.domain.pulse import MINUTE_MS
from tui_crawler.domain.replayed import PageFold, ReplayGoal, ReplayMoment, ReplaySpan
from tui_crawler.storage.driver import DATABASE_ERRORS, connection_of
from tui_crawler.storage.models import Session
from tui_crawler.storage.reader import Reader, Values
from tui_crawler.storage.replayed_move import MADE, Execute, Move, ReplayPlace, columns_of
from tui_crawler.storage.transaction import Row
from tui_crawler.storage.views import ALL_ORIGINS, RECENT_MINUTES, VIEWS

_SPAN_MS = 1_000  # what an attempt brought about is written down within this time after it
_NO_INDEX = frozenset({"page_done", "page_dripped", "origin_open"})  # of turns that nobody takes here
_AT, _ID = "(SELECT at FROM temp.moment)", "(SELECT attempt_id FROM temp.moment)"
_WHOLE = "(SELECT whole FROM temp.moment)"
_LASTS = {
    "heartbeat_at": f"MIN(s.heartbeat_at, {_AT})",
    **{
        name: f"CASE WHEN s.ended_at <= {_AT} THEN s.{name} ELSE {no} END"
        for name, no in (("ended_at", 0), ("clean", 0))
    },
}
"""What of a session was not so before its end."""
_VIEWED = {
    "attempt": f"SELECT * FROM main.attempt WHERE id <= {_ID}",
    "request": f"SELECT * FROM main.request WHERE attempt_id <= {_ID}",
    "attempt_result": f"SELECT * FROM main.attempt_result WHERE attempt_id <= {_ID}",
    "activity": f"SELECT * FROM main.activity WHERE at <= {_AT}",
    "operator_action": f"""SELECT id, at, who, action, target, command, "before",
    CASE WHEN applied_at <= {_AT} THEN "after" ELSE '' END AS "after",
    CASE WHEN applied_at <= {_AT} THEN error ELSE '' END AS error,
    CASE WHEN applied_at <= {_AT} THEN applied_at ELSE 0 END AS applied_at, undoes, undone
FROM main.operator_action WHERE at <= {_AT}""",
    "session": f"SELECT {columns_of(Session, 's', _LASTS, named=True)} FROM main.session s WHERE s.started_at <= {_AT}",
    "ruleset": f"SELECT * FROM main.ruleset WHERE at <= {_AT}",
    "exclusion": f"SELECT * FROM main.exclusion WHERE created_at <= {_AT}",
    "pulse": f"SELECT * FROM main.pulse WHERE at + length <= {_AT} OR {_WHOLE}",
    "gauge": f"SELECT * FROM main.gauge WHERE at + length <= {_AT} OR {_WHOLE}",
    "link": f"SELECT * FROM main.link WHERE first_seen_at <= {_AT}",
    "redirect": f"SELECT * FROM main.redirect WHERE seen_at <= {_AT}",
    "document": f"SELECT * FROM main.document WHERE stored_at <= {_AT}",
    "exit_minute": f"""SELECT origin_id, ended_at / {MINUTE_MS} AS minute, exit_code, COUNT(*) AS count
FROM main.attempt WHERE id > (SELECT recent_id FROM temp.moment) AND id <= {_ID} GROUP BY 1, 2, 3
UNION ALL SELECT {ALL_ORIGINS}, ended_at / {MINUTE_MS} AS minute, exit_code, COUNT(*)
FROM main.attempt WHERE id > (SELECT recent_id FROM temp.moment) AND id <= {_ID} GROUP BY 2, 3""",
}
"""The tables of which entries are let through up to the moment."""

_LATEST = """SELECT COALESCE((SELECT at FROM main.activity ORDER BY id DESC LIMIT 1), 0),
    COALESCE((SELECT MAX(applied_at) FROM main.operator_action), 0)"""
_MARKS = """SELECT {least}(at) FROM (SELECT {least}(at) AS at FROM main.activity WHERE origin_id = 0 AND at {sign} :at
UNION ALL SELECT {least}(at) FROM main.operator_action WHERE at {sign} :at)"""


class ReplayedReader(Reader):
    """A reader whose queries all go to the connection that has the tables as of then."""

    @contextmanager
    def moment(self) -> Iterator[Callable[[str, Values], Iterator[Row]]]:
        try:
            yield connection_of(self._database).execute
        except DATABASE_ERRORS as error:
            raise self._failure(error) from error

    @contextmanager
    def scratch(self) -> Iterator[Execute]:
        """What executes statements that change TEMP tables; all of them, or none where one fails or is stopped."""
        with self._lock:
            self._place.check()
            connection = connection_of(self._database)
            try:
                connection.execute("PRAGMA query_only = 0")  # the file itself was opened to be read alone
                connection.execute("BEGIN")
                yield connection.execute
                connection.execute("COMMIT")
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if isinstance(error, DATABASE_ERRORS):
                    raise self._failure(error) from error
                raise
            finally:
                connection.execute("PRAGMA query_only = 1")

    def define(self, now: Callable[[], int]) -> None:
        """The functions that the tables of then are made with; the clock of SQL says `now` (epoch ms)."""
        connection = connection_of(self._database)
        connection.create_function("julianday", 1, lambda _: now() / 86_400_000 + 2_440_587.5)
        connection.create_aggregate("page_fold", 3, PageFold)  # type: ignore[arg-type]  # the stubs know aggregates of one value


class ReplayedTables:
    """The tables as of then. Used in one thread."""

    def __init__(self, reader: ReplayedReader, run_id: int | None = None) -> None:
        """`run_id`: of which run the log is gone through; None: from the first entry to the last."""
        self._reader = reader
        self._run_id = run_id
        self._stand: ReplayPlace | None = None
        self._moves = 0
        reader.define(lambda: self.moment.at)
        with reader.scratch() as execute:
            _create(execute)

    @property
    def moment(self) -> ReplayMoment:
        """Where they stand."""
        return self._stand.moment if self._stand is not None else ReplayMoment()

    def span(self) -> ReplaySpan:
        """From where to where the log can be gone through now: while a run is at work the end moves on."""
        number, run_id = self._reader.number, self._run_id
        if run_id is None:
            before, last = 0, number("SELECT COALESCE(MAX(id), 0) FROM main.attempt")
        else:
            before, last = (self._last_by("attempt", "run_id", one) for one in (run_id - 1, run_id))
        among, values = ("WHERE id = ?", (run_id,)) if run_id is not None else ("", ())
        began = number(f"SELECT COALESCE(MIN(started_at), 0) FROM main.run {among}", values)
        ended = number(f"SELECT COALESCE(MAX(finished_at), 0) FROM main.run {among}", values)
        if run_id is None or run_id == number("SELECT COALESCE(MAX(id), 0) FROM main.run"):
            ended = max(ended, *self._reader.all(_LATEST)[0])
        if last > before:
            ended = max(ended, self._ended_at(last))
        return ReplaySpan(ReplayMoment(began, before), ReplayMoment(max(began, ended), last))

    def go(self, goal: ReplayGoal) -> ReplayMoment:
        """Goes there, as far as the log goes. Raises ReadingStopped, StorageFailure: then it stands where it was."""
        span = self.span()
        to = self._meant(goal, span)
        if self._stand is None or to != self.moment:
            self._move(to, whole=to == span.last)
        return self.moment

    def _meant(self, goal: ReplayGoal, span: ReplaySpan) -> ReplayMoment:
        here = self.moment
        if goal.at is not None:
            return self._up_to(goal.at, span)
        if goal.marks:
            least, sign = ("MIN", ">") if goal.marks > 0 else ("MAX", "<")
            at = self._reader.one(_MARKS.format(least=least, sign=sign), {"at": here.at})
            end = span.last if goal.marks > 0 else span.first
            return end if at is None or at[0] is None else self._up_to(at[0], span)
        problem = " AND problem = 1" if goal.failures else ""
        steps = goal.failures or goal.attempts
        way, order = (">", "") if steps > 0 else ("<", " DESC")
        text = f"SELECT id FROM main.attempt WHERE id {way} ?{problem} ORDER BY id{order} LIMIT 1 OFFSET ?"
        found = self._reader.one(text, (here.attempt_id, abs(steps) - 1))
        if found is None or found[0] <= span.first.attempt_id or found[0] > span.last.attempt_id:
            return here if problem else span.last if steps > 0 else span.first
        return self._just_after(found[0], span)

    def _just_after(self, attempt_id: int, span: ReplaySpan) -> ReplayMoment:
        """The moment of an attempt: after it, when what it brought about is written down, before the next one."""
        at, following = self._ended_at(attempt_id), self._ended_at(attempt_id + 1)
        if attempt_id == span.last.attempt_id:
            return span.last
        return ReplayMoment(max(at, min(at + _SPAN_MS, following - 1)), attempt_id)

    def _ended_at(self, attempt_id: int) -> int:
        text = "SELECT ended_at FROM main.attempt WHERE id >= ? ORDER BY id LIMIT 1"
        return int((self._reader.one(text, (attempt_id,)) or (0,))[0])

    def _up_to(self, at: int, span: ReplaySpan) -> ReplayMoment:
        at = max(span.first.at, min(at, span.last.at))
        if at >= span.last.at:
            return span.last
        found = self._last_by("attempt", "ended_at", at)
        return ReplayMoment(at, max(span.first.attempt_id, min(found, span.last.attempt_id)))

    def _last_by(self, table: str, column: str, at: int) -> int:
        """The last id of a table that grows with time, up to a time; found by halves."""
        text = f"SELECT id, {column} FROM main.{table} WHERE id >= ? ORDER BY id LIMIT 1"
        low, high = 0, self._reader.number(f"SELECT COALESCE(MAX(id), 0) FROM main.{table}")
        while low < high:
            middle = (low + high + 1) // 2
            found = self._reader.one(text, (middle,))
            if found is not None and found[1] <= at:
                low = found[0]
            else:
                high = middle - 1
        return low

    def _move(self, to: ReplayMoment, *, whole: bool) -> None:
        page_id = self._last_by("page", "created_at", to.at)
        recent_id = self._last_by("attempt", "ended_at", (to.at // MINUTE_MS - RECENT_MINUTES) * MINUTE_MS)
        with self._reader.scratch() as execute:
            execute("DELETE FROM temp.moment")
            values = (to.at, to.attempt_id, recent_id, whole)
            execute("INSERT INTO temp.moment (at, attempt_id, recent_id, whole) VALUES (?, ?, ?, ?)", values)
            stand = Move(execute, self._stand, to, page_id, self._moves + 1).carry_out()
        self._stand, self._moves = stand, self._moves + 1


def _create(execute: Execute) -> None:
    """The TEMP tables, empty, with the indices that reports go by, and the TEMP views."""
    execute("CREATE TEMP TABLE moment (at INTEGER, attempt_id INTEGER, recent_id INTEGER, whole INTEGER)")
    execute("INSERT INTO temp.moment VALUES (0, 0, 0, 0)")
    execute("CREATE TEMP TABLE touched (id INTEGER PRIMARY KEY)")
    made = ", ".join(f"'{name}'" for name in MADE)
    text = f"SELECT type, name, sql FROM main.sqlite_master WHERE tbl_name IN ({made}) AND sql <> '' ORDER BY type DESC"
    for kind, name, sql in execute(text).fetchall():
        if name not in _NO_INDEX:
            execute(re.sub(rf'{kind} "?{name}"?', f'{kind} temp."{name}"', sql, count=1, flags=re.IGNORECASE))
    for name, select in (*_VIEWED.items(), *VIEWS.items()):
        execute(f"CREATE TEMP VIEW {name} AS {select}")
