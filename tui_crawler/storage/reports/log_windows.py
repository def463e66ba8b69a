"""Windows of the log of attempts and of the activity, by keyset over the id, each looking at a bounded number of rows.

Problems and one origin are ways that an index serves: the rows on the way are counted first, so far the window reaches.
Only among these the rest is tried, of which no index knows: exit codes, events, a text. So no statement grows with the
log. And the politeness of one origin over a span of time: however long that is, a bounded number of attempts is read.
"""

# ruff: noqa: S608  # the SQL is made of constants of this program and of integers only

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tui_crawler.domain.audit import SentRequest, judged
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.operator_view import ActionView, ActivityView
from tui_crawler.domain.timeline import Lane, LaneEvents, LaneSpan, Timeline, lane_events
from tui_crawler.domain.view import AttemptView, LogReach, LogStretch, LogTerms
from tui_crawler.storage.reader import IdSpan, Reader, SubjectReports, among
from tui_crawler.storage.records import RowMapper
from tui_crawler.storage.reports.attempts import SENT, sent_request
from tui_crawler.storage.reports.overview import ATTEMPT, ATTEMPTS, OF_ORIGIN, OverviewReports

T = TypeVar("T")

ACTIVITY = """SELECT y.id AS activity_id, y.at, y.event, COALESCE(o.origin, '') AS origin, y.run_id, y.message
FROM activity y LEFT JOIN origin o ON o.id = y.origin_id"""

ACTIVITY_OF_ORIGIN = "y.origin_id > 0 AND y.origin_id = (SELECT id FROM origin WHERE origin = ?)"

_ACTIONS = """SELECT id AS action_id, at, who, action, target, "before", "after", undone, applied_at > 0 AS applied,
    error, command, applied_at
FROM operator_action"""

_EVENT, _ACTION = RowMapper(ActivityView), RowMapper(ActionView)

_SEARCHED = ("u.href", "a.message", "a.kind", "a.decided_by", "a.cut", "COALESCE(d.title, '')")
"""Where a text may occur in an attempt, beside the name of its exit code and its HTTP status."""

_LONGEST_PATTERN = 1_000  # characters: SQLite refuses patterns of more than 50,000 bytes
_NUMERIC = frozenset("-0123456789")


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
        return _window(self._reader, search, reach, _EVENT, lambda view: (view.activity_id, view.at))

    def activity(
        self, limit: int = 200, origin: str = "", after_id: int = 0, before_id: int = 0
    ) -> tuple[ActivityView, ...]:
        """The activity log, newest first: between two entries (0: no bound), at one origin or anywhere."""
        span = IdSpan(before_id, after_id, limit)
        text = f"{ACTIVITY}{span.ending('y.id', *((ACTIVITY_OF_ORIGIN,) if origin else ()))}"
        return self._reader.records(_EVENT, text, (*((origin,) if origin else ()), *span.values))

    def actions(
        self, limit: int = 200, before_id: int = 0, after_id: int = 0, oldest_first: bool = False
    ) -> tuple[ActionView, ...]:
        """The operator journal, newest or oldest first: before and after an entry (0: no bound)."""
        span = IdSpan(before_id, after_id, limit, oldest_first)
        return self._reader.records(_ACTION, f"{_ACTIONS}{span.ending('id')}", span.values)


def _window(
    reader: Reader, search: _Search, reach: LogReach, shape: RowMapper[T], place: Callable[[T], tuple[int, int]]
) -> LogStretch[T]:
    """The rows that are meant among the next ones on the way; `place` is the id and the time of one."""
    table, number = search.name, f"{search.short}.id"
    sign, order = (">", "ASC") if reach.oldest_first else ("<", "DESC")
    bounds = " AND ".join((*search.ways, f"{number} {sign} ?")) if reach.edge else " AND ".join(search.ways)
    counted, low, high = reader.all(
        f"SELECT COUNT(*), MIN(id), MAX(id) FROM (SELECT {number} FROM {table} {search.short}"
        f" WHERE {bounds or '1 = 1'} ORDER BY {number} {order} LIMIT ?)",
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
    has, value = _text_condition(text)
    tried += [has.format(column) for column in _SEARCHED]
    values = [value] * len(_SEARCHED)
    if _NUMERIC.issuperset(text):
        unknown = f"NOT {among('a.exit_code', ExitCode)}"  # of a newer program: the number is its name
        tried += ["instr(a.http_status, ?) > 0", f"({unknown} AND instr(a.exit_code, ?) > 0)"]
        values += [text, text]
    search.conditions.append(f"({' OR '.join(tried)})")
    search.values += values


def _text_condition(text: str) -> tuple[str, str]:
    """When a column (`{}`) has a text (lower case), and the value of the condition. SQLite knows upper and lower case
    of ASCII only."""
    if text.isascii() or len(text) > _LONGEST_PATTERN:
        return "instr(lower({}), ?) > 0", text
    return "{} GLOB ?", f"*{''.join(map(_either_case, text))}*"


def _either_case(char: str) -> str:
    """A character in a pattern of GLOB: itself, in upper and in lower case."""
    cases = {char, *(one for one in (char.upper(), char.title()) if len(one) == 1)}
    return f"[{''.join(sorted(cases))}]" if len(cases) > 1 or char in "*?[" else char


LOOK = 6_000
"""So many attempts of an origin are read for a screen, the newest of a span."""

_BESIDE = 3  # attempts with requests before a span, and after it, that what lies in it is judged by
_NEWER = 2**62  # than any attempt
_MOST_ACTIONS, _ENDS, _ENDS_OF_ALL, _RUNS = 1_000, 200, 20_000, 50

_OF_ORIGIN = "origin_id = (SELECT id FROM origin WHERE origin = ?)"
FROM_ID = f"SELECT id, ended_at FROM attempt WHERE {_OF_ORIGIN} AND id >= ? ORDER BY id LIMIT 1"
NEWEST = f"SELECT COALESCE(MAX(id), 0) FROM attempt WHERE {_OF_ORIGIN}"
WINDOW = f"""SELECT COUNT(*), COALESCE(MIN(id), 0) FROM (
    SELECT id FROM attempt WHERE {_OF_ORIGIN} AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?)"""
BEFORE, AFTER = (
    f"""SELECT COALESCE({extreme}(id), 0) FROM (SELECT id FROM (SELECT id, requests FROM attempt
    WHERE {_OF_ORIGIN} AND id {sign} ? ORDER BY id {order} LIMIT {LOOK}) WHERE requests > 0 LIMIT {_BESIDE})"""
    for extreme, sign, order in (("MIN", "<", "DESC"), ("MAX", ">=", "ASC"))
)
OWN = SENT.format(asked=f"attempt a JOIN request r ON r.attempt_id = a.id AND a.{_OF_ORIGIN} AND a.id BETWEEN ? AND ?")
HOPS = SENT.format(
    asked=f"""(SELECT id FROM attempt WHERE kind = 'robots' AND requests > 1 AND id BETWEEN ? AND ?
    ORDER BY id DESC LIMIT {LOOK}) w JOIN attempt a ON a.id = w.id JOIN request r ON r.attempt_id = w.id"""
)

_OF_ORIGINS = """attempt a CROSS JOIN request r ON r.attempt_id = a.id AND (a.kind = 'robots' AND a.requests > 1
    OR a.origin_id IN (SELECT id FROM origin WHERE origin IN ({marks})))"""


class TimelineReports(SubjectReports):
    """What was asked of one origin, and when."""

    def timeline(self, origin: str, span: LaneSpan, look: int = LOOK) -> Timeline:
        """The politeness of an origin over a span of time: of the newest `look` attempts in it."""
        low, high = self._from(origin, span.since), self._from(origin, span.until)
        counted, oldest = self._reader.all(WINDOW, (origin, low, high, look))[0]
        cut = counted == look
        first = self._reader.number(BEFORE, (origin, oldest if cut else low))
        ids = first or (oldest if cut else 0), self._reader.number(AFTER, (origin, high)) or _NEWER
        rows = self._reader.all(OWN, (origin, *ids)), self._reader.all(HOPS, ids)
        own, hops = ([one for one in map(sent_request, each) if one.origin == origin] for each in rows)
        asked = sorted((*own, *(hop for hop in hops if hop.attempt_origin != origin)), key=_place)
        lane = Lane(origin, span, self._events((origin,), LogReports(self._reader).activity(_ENDS, origin))[origin])
        for gap in judged(asked):
            lane.add(gap)
        read_since = min((one.sent_at for one in own if one.attempt_id >= oldest), default=0)
        return lane.timeline(self._now(), read_since if cut else 0)

    def timelines(self, origins: Sequence[str], span: LaneSpan) -> tuple[Timeline, ...]:
        """The same of some origins, all that they were asked. Reads their whole log, streamed."""
        activity = LogReports(self._reader).activity(_ENDS_OF_ALL)
        lanes = {one: Lane(one, span, events) for one, events in self._events(origins, activity).items()}
        text = SENT.format(asked=_OF_ORIGINS.format(marks=", ".join("?" * len(lanes))))
        for gap in judged(map(sent_request, self._reader.stream(text, tuple(lanes)))):
            if gap.request.origin in lanes:
                lanes[gap.request.origin].add(gap)
        return tuple(lane.timeline(self._now()) for lane in lanes.values())

    def _events(self, origins: Sequence[str], activity: Sequence[ActivityView]) -> dict[str, LaneEvents]:
        """What befell origins beside their requests, as far as the newest entries of journal and log say."""
        overview = OverviewReports(self._reader, self._now)
        newest = overview.run()
        runs = (*overview.runs(_RUNS), *((newest,) if newest is not None else ()))
        actions = LogReports(self._reader).actions(_MOST_ACTIONS)
        return {one: lane_events(one, actions, activity, runs) for one in origins}

    def _from(self, origin: str, at: int) -> int:
        """The first attempt of an origin that ended at a time or later; behind the newest where none has. Attempts of
        an origin come one after the other, so a few looks into the index find it."""
        newest = self._reader.number(NEWEST, (origin,))
        return self._reader.first_since(FROM_ID, (origin,), at, 0, newest + 1)


def _place(request: SentRequest) -> tuple[int, int]:
    return request.sent_at, request.attempt_id
