"""Windows of the log of attempts and of the activity, by keyset over the id, each looking at a bounded number of rows.

Problems and one origin are ways that an index serves: the rows on the way are counted first, so far the window reaches.
Only among these the rest is tried, of which no index knows: exit codes, events, a text. So no statement grows with the
log.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program and of integers only

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.operator_view import ActionView, ActivityView
from tui_crawler.domain.records.view import AttemptView, LogReach, LogStretch, LogTerms
from tui_crawler.storage.db.reader import IdSpan, Reader, Shape, SubjectReports, among, selected
from tui_crawler.storage.reports.overview import ATTEMPT, ATTEMPTS, OF_ORIGIN

T = TypeVar("T")

ACTIVITY = f"""SELECT {selected(ActivityView, "y", activity_id="y.id", origin="COALESCE(o.origin, '')")}
FROM activity y LEFT JOIN origin o ON o.id = y.origin_id"""

ACTIVITY_OF_ORIGIN = "y.origin_id > 0 AND y.origin_id = (SELECT id FROM origin WHERE origin = ?)"

_ACTIONS = f"""SELECT {selected(ActionView, "operator_action", action_id="id", applied="applied_at > 0")}
FROM operator_action"""

_SEARCHED = ("u.href", "a.message", "a.kind", "a.decided_by", "a.cut", "COALESCE(d.title, '')")
"""Where a text may occur in an attempt, beside the name of its exit code and its HTTP status."""

_LONGEST_PATTERN = 1_000  # characters: SQLite refuses patterns of more than 50,000 bytes
_NUMERIC = frozenset("-0123456789")
_BRACKETED = frozenset("*?[]{}()|+.$")  # what has a meaning in a pattern, of a server, too


@dataclass(slots=True)
class _Search:
    """Entries of a table (`name`, `short` in queries, `at` its column of the time) as SQL: `select` reads them whole,
    `ways` are conditions that an index serves, `conditions` those tried on each row it gives."""

    name: str
    short: str
    at: str
    select: str
    ways: list[str] = field(default_factory=list)
    way_values: list[Any] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


class LogReports(SubjectReports):
    """Attempts and activity that are looked for, the activity log, the operator journal."""

    def attempt_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[AttemptView]:
        """A window of the attempts that are meant."""
        search = _Search("attempt", "a", "ended_at", ATTEMPTS)
        if terms.origin:
            search.ways.append(OF_ORIGIN)
            search.way_values.append(terms.origin)
        if terms.problems:
            search.ways.append("a.problem = 1")
        if terms.exits:
            search.conditions.append(among("a.exit_code", (ExitCode[name] for name in terms.exits)))
        if terms.text:
            _add_text(search, terms.text)
        return _window(self._reader, search, reach, ATTEMPT, lambda view: (view.attempt_id, view.ended_at))

    def activity_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[ActivityView]:
        """A window of the activity that is meant; no text is looked for in it."""
        search = _Search("activity", "y", "at", ACTIVITY)
        if terms.origin:
            search.ways.append(ACTIVITY_OF_ORIGIN)
            search.way_values.append(terms.origin)
        if terms.events is not None:
            tried = ["y.event = ? AND y.message = ?" if message else "y.event = ?" for _, message in terms.events]
            search.conditions.append(f"({' OR '.join(tried) or '0 = 1'})")
            search.values += [value for pair in terms.events for value in pair if value]
        return _window(self._reader, search, reach, ActivityView, lambda view: (view.activity_id, view.at))

    def activity(
        self, limit: int = 200, origin: str = "", after_id: int = 0, before_id: int = 0
    ) -> tuple[ActivityView, ...]:
        """The activity log, newest first: between two entries (0: no bound), at one origin or anywhere."""
        span = IdSpan(before_id, after_id, limit)
        of_origin, values = ((ACTIVITY_OF_ORIGIN,), (origin,)) if origin else ((), ())
        text = f"{ACTIVITY}{span.ending('y.id', *of_origin)}"
        return self._reader.records(ActivityView, text, (*values, *span.values))

    def actions(
        self, limit: int = 200, before_id: int = 0, after_id: int = 0, oldest_first: bool = False
    ) -> tuple[ActionView, ...]:
        """The operator journal, newest or oldest first: before and after an entry (0: no bound)."""
        span = IdSpan(before_id, after_id, limit, oldest_first)
        return self._reader.records(ActionView, f"{_ACTIONS}{span.ending('id')}", span.values)


def _window(
    reader: Reader, search: _Search, reach: LogReach, shape: Shape[T], place: Callable[[T], tuple[int, int]]
) -> LogStretch[T]:
    """The rows that are meant among the next ones on the way; `place` is the id and the time of one."""
    table, number = search.name, f"{search.short}.id"
    sign, order = (">", "ASC") if reach.oldest_first else ("<", "DESC")
    bounds = " AND ".join((*search.ways, f"{number} {sign} ?")) if reach.edge else " AND ".join(search.ways)
    counted, low, high = reader.all(
        f"SELECT COUNT(*), MIN(id), MAX(id) FROM (SELECT {number} FROM {table} {search.short}"
        f" WHERE {bounds or '1 = 1'} ORDER BY {number} {order} LIMIT ?) w",
        (*search.way_values, *((reach.edge,) if reach.edge else ()), reach.look),
    )[0]
    if not counted:
        return LogStretch()
    first, last = (low, high) if reach.oldest_first else (high, low)
    where = " AND ".join((*search.ways, f"{number} BETWEEN ? AND ?", *search.conditions))
    values = (*search.way_values, low, high, *search.values, reach.limit)
    found = reader.records(shape, f"{search.select} WHERE {where} ORDER BY {number} {order} LIMIT ?", values)
    if len(found) >= reach.limit:
        last, at = place(found[-1])
        return LogStretch(found, first, last, at, counted, ended=False)
    at = reader.all(f"SELECT {search.at} FROM {table} WHERE id = ?", (last,))[0][0]
    return LogStretch(found, first, last, at, counted, ended=counted < reach.look)


def _add_text(search: _Search, text: str) -> None:
    """Only attempts that have a text, in any of the words that the console searches."""
    tried = [among("a.exit_code", codes)] if (codes := [code for code in ExitCode if text in code.name]) else []
    has, value = "instr(lower({}), ?) > 0", text
    if not text.isascii() and len(text) <= _LONGEST_PATTERN:  # `lower` may know the letters of ASCII only
        has, value = "glob(?, {})", f"*{''.join(map(_either_case, text))}*"
    tried += [has.format(column) for column in _SEARCHED]
    values = [value] * len(_SEARCHED)
    if _NUMERIC.issuperset(text):
        unknown = f"NOT {among('a.exit_code', ExitCode)}"  # of a newer program: the number is its name
        number = "instr(CAST(a.{} AS TEXT), ?) > 0"
        tried += [number.format("http_status"), f"({unknown} AND {number.format('exit_code')})"]
        values += [text, text]
    search.conditions.append(f"({' OR '.join(tried)})")
    search.values += values


def _either_case(char: str) -> str:
    cases = {char, *(one for one in (char.upper(), char.title()) if len(one) == 1)}
    return f"[{''.join(sorted(cases))}]" if len(cases) > 1 or char in _BRACKETED else char
