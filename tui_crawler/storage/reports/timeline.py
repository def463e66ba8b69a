"""The politeness of one origin over a span of time: however long that is, a bounded number of attempts is read."""
# ruff: noqa: S608  # the SQL is made of constants of this program and of integers only

from collections.abc import Sequence
from operator import attrgetter

from tui_crawler.domain.history.audit import judged
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.history.timeline import Lane, LaneEvents, Timeline, lane_events
from tui_crawler.domain.records.operator_view import ActivityView
from tui_crawler.storage.db.reader import SubjectReports
from tui_crawler.storage.reports.attempts import SENT, sent_request
from tui_crawler.storage.reports.log_windows import LogReports
from tui_crawler.storage.reports.overview import OverviewReports

LOOK = 6_000
"""So many attempts of an origin are read for a screen, the newest of a span."""

_BESIDE = 3  # attempts with requests before a span, and after it, that what lies in it is judged by
_NEWER = 2**62  # than any attempt
_MOST_ACTIONS, _ENDS, _ENDS_OF_ALL, _RUNS = 1_000, 200, 20_000, 50

_OF_ORIGIN = "origin_id = (SELECT id FROM origin WHERE origin = ?)"
FROM_ID = f"SELECT id, ended_at FROM attempt WHERE {_OF_ORIGIN} AND id >= ? ORDER BY id LIMIT 1"
NEWEST = f"SELECT COALESCE(MAX(id), 0) FROM attempt WHERE {_OF_ORIGIN}"
WINDOW = f"""SELECT COUNT(*), COALESCE(MIN(id), 0) FROM (
    SELECT id FROM attempt WHERE {_OF_ORIGIN} AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?) w"""
BEFORE, AFTER = (
    f"""SELECT COALESCE({extreme}(id), 0) FROM (SELECT id FROM (SELECT id, requests FROM attempt
    WHERE {_OF_ORIGIN} AND id {sign} ? ORDER BY id {order} LIMIT {LOOK}) l WHERE requests > 0 LIMIT {_BESIDE}) b"""
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

    def timeline(self, origin: str, span: TimeSpan, look: int = LOOK) -> Timeline:
        """The politeness of an origin over a span of time: of the newest `look` attempts in it."""
        low, high = self._from(origin, span.since), self._from(origin, span.until)
        counted, oldest = self._reader.all(WINDOW, (origin, low, high, look))[0]
        cut = counted == look
        first = self._reader.number(BEFORE, (origin, oldest if cut else low))
        ids = first or (oldest if cut else 0), self._reader.number(AFTER, (origin, high)) or _NEWER
        rows = self._reader.all(OWN, (origin, *ids)), self._reader.all(HOPS, ids)
        own, hops = ([one for one in map(sent_request, each) if one.origin == origin] for each in rows)
        asked = sorted(
            (*own, *(hop for hop in hops if hop.attempt_origin != origin)), key=attrgetter("sent_at", "attempt_id")
        )
        lane = Lane(origin, span, self._events((origin,), LogReports(self._reader).activity(_ENDS, origin))[origin])
        for gap in judged(asked):
            lane.add(gap)
        read_since = min((one.sent_at for one in own if one.attempt_id >= oldest), default=0)
        return lane.timeline(self._now(), read_since if cut else 0)

    def timelines(self, origins: Sequence[str], span: TimeSpan) -> tuple[Timeline, ...]:
        """The same of some origins, all that they were asked. Reads their whole log, streamed."""
        activity = LogReports(self._reader).activity(_ENDS_OF_ALL)
        lanes = {one: Lane(one, span, events) for one, events in self._events(origins, activity).items()}
        text = SENT.format(asked=_OF_ORIGINS.format(marks=", ".join("?" * len(lanes)) or "NULL"))
        for gap in judged(map(sent_request, self._reader.stream(text, tuple(lanes)))):
            if gap.request.origin in lanes:
                lanes[gap.request.origin].add(gap)
        return tuple(lane.timeline(self._now()) for lane in lanes.values())

    def _events(self, origins: Sequence[str], activity: Sequence[ActivityView]) -> dict[str, LaneEvents]:
        overview = OverviewReports(self._reader, self._now)
        runs = (*overview.runs(_RUNS), *filter(None, (overview.run(),)))
        actions = LogReports(self._reader).actions(_MOST_ACTIONS)
        return {one: lane_events(one, actions, activity, runs) for one in origins}

    def _from(self, origin: str, at: int) -> int:
        """The first attempt of an origin that ended at a time or later; behind the newest where none has. Attempts of
        an origin come one after the other, so a few looks into the index find it."""
        newest = self._reader.number(NEWEST, (origin,))
        return self._reader.first_since(FROM_ID, (origin,), at, 0, newest + 1)
