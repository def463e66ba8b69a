"""The pulse of a span: of the whole crawl, a job or a worker from kept counts; what is shorter than a minute, and one
origin, from the log.

Of the log a bounded number of rows is read. Where a span begins and ends in it is found by bisection, as attempts are
stored in the order in which they end, within seconds; a longer span is read as a sample: one attempt of each stretch
counts for all of it. Minutes and hours are few.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui_crawler.domain.history.pulse import (
    FINE_MS,
    HOUR_MS,
    MINUTE_MS,
    Gauges,
    MarkKind,
    Pace,
    Pulse,
    PulseCount,
    PulseMark,
    PulseOf,
    PulseScope,
    unpacked,
)
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.records.exit_code import code_of, is_problem
from tui_crawler.storage.db.reader import EVERY, SubjectReports

MOST_ROWS = 6_000
"""The most rows of minutes that are read; where a span has more, the hours are."""
MOST_LOGGED, MOST_PACED = 2_000, 4_000
"""How many attempts of the log are read for charts, and for the paces of all origins."""
MOST_MARKS = 200
_FAST = 2
"""Of a sample, the parts of the requests are read of one attempt in this many."""
_STRAY_MS = 5_000
"""So much earlier than one stored before it an attempt may have ended."""

_KEPT = "SELECT at, attempts, pages, failed, bytes, cells FROM pulse WHERE length = ? AND at >= ? AND at < ?"
_ONLY = {
    PulseScope.crawl: "",
    PulseScope.job: " AND job_id = (SELECT id FROM job WHERE name = ?)",
    PulseScope.worker: " AND session_id IN (SELECT id FROM session WHERE worker = ?)",
}
_LOGGED = """a.kind, a.exit_code, a.requests, a.bytes, a.response_ms, q.sent_at, q.head_at, q.ended_at, q.dns_ms,
    q.connect_ms, q.tls_ms
FROM {source} LEFT JOIN request q ON a.id % {fast} = 0 AND q.id = (SELECT MAX(id) FROM request WHERE attempt_id = a.id)
"""
_PACED = "o.origin, a.kind, a.exit_code FROM {source} JOIN origin o ON o.id = a.origin_id"
_ALL = "SELECT a.ended_at, 1, {logged} WHERE {way}a.id >= {begin} AND a.id < {end}"
_SOME = """WITH RECURSIVE place (low) AS (SELECT CAST({begin} AS BIGINT) UNION ALL SELECT low + {stride} FROM place
    WHERE low + {stride} < {end}),
chosen (id, number) AS (SELECT (SELECT a.id FROM attempt a WHERE {way}a.id >= low{shift} AND a.id < low + {stride}
    ORDER BY a.id LIMIT 1), {number} FROM place)
SELECT a.ended_at, number, {logged}"""
_SHIFT = " + low * 1103515245 % 2147483647 % {stride}"
"""Where in its stretch an attempt is chosen: origins take turns, and at equal distances some would never be met."""
_BEYOND = "SELECT a.id FROM attempt a WHERE {way}a.id >= ? AND a.id < ? ORDER BY a.id LIMIT 1 OFFSET ?"
_NUMBER = "(SELECT COUNT(*) FROM attempt a WHERE {way}a.id >= low AND a.id < low + {stride})"
_GAUGES = """SELECT (at - ?) / ?, MAX(todo), MAX(pending), MAX(crawling), MAX(waiting), MAX(paused), MAX(gave_up),
    MAX(finished), MAX(lag_ms), MAX(commit_ms), MAX(commit_jobs)
FROM gauge WHERE length = ? AND at >= ? AND at < ? GROUP BY 1 ORDER BY 1"""
_RUNS = "SELECT id, started_at, finished_at FROM run ORDER BY id DESC LIMIT 2"
_BEGINS = """SELECT MIN(at), (SELECT started_at FROM run ORDER BY id LIMIT 1) FROM pulse WHERE length = ?"""
_NEWEST = "at >= ? AND at < ? ORDER BY at DESC, id DESC LIMIT ?"
_EVENTS = f"SELECT at, event, message FROM activity WHERE origin_id = 0 AND {_NEWEST}"
_ACTIONS = f"SELECT at, action, target, who FROM operator_action WHERE {_NEWEST}"

_KINDS = {
    "run_started": MarkKind.run_started,
    "run_continued": MarkKind.run_started,
    "run_finished": MarkKind.run_ended,
    "session_taken_over": MarkKind.takeover,
    "ruleset_applied": MarkKind.ruleset,
    "job_paused": MarkKind.pause,
    "job_resumed": MarkKind.action,
}
"""The events that are marked. The others are actions of operators, which the journal has."""
_ACTION_KINDS = {"pause": MarkKind.pause}
_NOT_TWICE = frozenset({"rules", "steer_jobs"})
"""Actions that are events, too."""


class PulseReports(SubjectReports):
    """How the crawl went over a span."""

    def pulse(self, of: PulseOf, span: TimeSpan) -> Pulse:
        """A span in cells of domain.pulse.STEPS_MS (`pulse_span`); in cells of an hour where it has too many rows. One
        that begins with the newest run has the run before it, too."""
        found, runs = self._over(of, span), self._reader.all(_RUNS)
        if not runs or found.span.cell(runs[0][1]) != 0:
            return found
        found = replace(found, run_id=runs[0][0])
        if len(runs) == 1:
            return found
        (_, since, _), (run_id, before, ended) = runs
        shift = -(-(since - before) // found.step_ms) * found.step_ms
        of_earlier = TimeSpan(found.span.since - shift, found.span.until - shift, found.span.cells)
        ends = {"begins_at": before, "ends_at": ended or since}
        return replace(found, earlier=replace(self._over(of, of_earlier), run_id=run_id, **ends))

    def _over(self, of: PulseOf, span: TimeSpan) -> Pulse:
        since, until, step_ms = span.since, span.until, int(span.cell_ms)
        counts: list[PulseCount | None] | None
        sampled = False
        if of.scope is PulseScope.origin or step_ms < MINUTE_MS:
            counts, sampled = self._logged(of, span)
        elif (counts := self._kept(of, span)) is None:
            first, hours = since - since % HOUR_MS, -(-(until - since) // HOUR_MS) + 1
            return self._over(of, TimeSpan(first, first + HOUR_MS * hours, hours))
        kept, first_run = self._reader.one(_BEGINS, (MINUTE_MS,)) or (0, 0)
        begins = max(kept, first_run or 0) if kept else 0
        return Pulse(of, span, tuple(counts), self._gauges(span), self._marks(since, until), sampled, begins)

    def _gauges(self, span: TimeSpan) -> tuple[Gauges | None, ...]:
        """What was measured in each cell; in shorter cells it is as it was, until the next is due. While processes were
        young they measured more often: a minute with such a rest in it was not worked through."""
        step = int(span.cell_ms)
        fine = self._measured(span, FINE_MS) if step < MINUTE_MS else []
        coarse = self._measured(span, HOUR_MS if step >= HOUR_MS else MINUTE_MS)
        if fine:
            first, last = fine[0][0], fine[-1][0]
            coarse = [row for row in coarse if row[0] + row[1] <= first or row[0] > last]
        gauges: list[Gauges | None] = [None] * span.cells
        for place, reach, *values in (*coarse, *fine):
            if values[0] is not None:
                known = range(max(place, 0), max(0, min(place + reach, span.cells)))
                gauges[known.start : known.stop] = [Gauges(*values)] * len(known)
        return tuple(gauges)

    def _measured(self, span: TimeSpan, length: int) -> list[tuple[int, int, *tuple[int, ...]]]:
        """What was measured in each `length` ms: the cell, how many it is known for, the values."""
        step, known_ms = int(span.cell_ms), 2 * length if length == FINE_MS else length
        back = length if length > step else 0
        rows = self._reader.all(_GAUGES, (span.since, step, length, span.since - back, span.until))
        return [(row[0], max(1, known_ms // step), *row[1:]) for row in rows]

    def _kept(self, of: PulseOf, span: TimeSpan) -> list[PulseCount | None] | None:
        """From the rows of hours where a step has one, else of minutes; None where there are too many of these."""
        counts: list[PulseCount | None] = [None] * span.cells
        hours = span.cell_ms >= HOUR_MS
        values = (HOUR_MS if hours else MINUTE_MS, span.since, span.until, *((of.name,) if of.name else ()))
        rows = self._reader.all(f"{_KEPT}{_ONLY[of.scope]} LIMIT ?", (*values, EVERY if hours else MOST_ROWS))
        if len(rows) == MOST_ROWS and not hours:
            return None
        for at, attempts, pages, failed, size, cells in rows:
            place = span.cell(at)
            count = counts[place] = counts[place] or PulseCount()
            count.merge(PulseCount(attempts, pages, failed, size, unpacked(cells)))
        return counts

    def paces(self, span: TimeSpan) -> Mapping[str, Pace]:
        """By origin: its attempts in each cell of a span, of a long log by a sample."""
        found: dict[str, list[tuple[int, int]]] = {}
        for at, times, origin, kind, code in self._attempts("", span, _PACED, MOST_PACED)[0]:
            place, known = span.cell(at), code_of(code)
            if 0 <= place < span.cells:
                cells = found.setdefault(origin, [(0, 0)] * span.cells)
                number, failed = cells[place]
                bad = known is not None and is_problem(known, kind)
                cells[place] = number + times, failed + times * bad
        return found

    def _logged(self, of: PulseOf, span: TimeSpan) -> tuple[list[PulseCount | None], bool]:
        """From the log; whether not all of it was looked at."""
        way = ""
        if of.scope is PulseScope.origin:
            way = f"a.origin_id = {self._reader.origin_id(of.name)} AND "
        rows, whole = self._attempts(way, span, _LOGGED, MOST_LOGGED)
        counts: list[PulseCount | None] = [None] * span.cells
        for at, times, *row in rows:
            place = span.cell(at)
            if 0 <= place < span.cells:
                one, count = PulseCount(), counts[place] or PulseCount()
                one.add_logged(row)
                count.merge(one, times)
                counts[place] = count
        return counts, not whole

    def _attempts(self, way: str, span: TimeSpan, logged: str, most: int) -> tuple[Sequence[Sequence[Any]], bool]:
        """Return attempts about a span (its end, how many it counts for, what is `logged`); and whether it is all."""
        newest = self._reader.one(f"SELECT a.id FROM attempt a WHERE {way}1 = 1 ORDER BY a.id DESC LIMIT 1")
        end = (newest[0] if newest else 0) + 1
        probe = f"SELECT a.id, a.ended_at FROM attempt a WHERE {way}a.id >= ? ORDER BY a.id LIMIT 1"
        begin = self._reader.first_since(probe, (), span.since - _STRAY_MS, 0, end)
        end = self._reader.first_since(probe, (), span.until + _STRAY_MS, begin, end)
        whole = self._reader.one(_BEYOND.format(way=way), (begin, end, most)) is None
        stride = max(1, -(-(end - begin) // most))
        source = "attempt a" if whole else "chosen JOIN attempt a ON a.id = chosen.id"
        columns = logged.format(source=source, fast=1 if whole else _FAST)
        stands, shift = (_NUMBER.format(way=way, stride=stride), "") if way else (stride, _SHIFT.format(stride=stride))
        text = (_ALL if whole else _SOME).format(
            way=way, logged=columns, number=stands, begin=begin, end=end, stride=stride, shift=shift
        )
        return self._reader.all(text), whole

    def _marks(self, since: int, until: int) -> tuple[PulseMark, ...]:
        """The newest ones of the span, the oldest first."""
        events = self._reader.all(_EVENTS, (since, until, MOST_MARKS))
        marks = [PulseMark(at, _KINDS[event], message) for at, event, message in events if event in _KINDS]
        for at, action, target, who in self._reader.all(_ACTIONS, (since, until, MOST_MARKS)):
            if action not in _NOT_TWICE:
                kind = _ACTION_KINDS.get(action, MarkKind.action)
                marks.append(PulseMark(at, kind, f"{action} {target}".strip(), who))
        return tuple(sorted(marks, key=lambda mark: mark.at)[-MOST_MARKS:])
