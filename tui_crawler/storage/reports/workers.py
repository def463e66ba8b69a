"""Report on the workers of a crawl: who they are, what they hold and how fast they are."""

from __future__ import annotations

from dataclasses import replace

from tui_crawler.domain.pulse import MINUTE_MS
from tui_crawler.domain.worker import WorkerView, state_of
from tui_crawler.storage.reader import SubjectReports
from tui_crawler.storage.records import RowMapper

_WORKERS = """SELECT s.id AS session_id, s.worker AS name, s.wanted AS state, s.slots, s.in_flight, s.lease_ms, s.host,
    (SELECT COUNT(*) FROM origin o WHERE o.session_id = s.id AND o.participates = 1 AND o.finish_reason = ''
        AND o.free = 0) AS origins,
    (SELECT COALESCE(SUM(p.pages), 0) FROM pulse p WHERE p.length = ? AND p.at >= ? AND p.session_id = s.id)
        AS pages_per_minute, s.heartbeat_at AS heartbeat_age_ms, s.pid, s.version, s.tags, s.matchonly, s.free_bytes,
    s.started_at, s.run_id, s.shared FROM session s WHERE s.ended_at = 0 AND s.rest = 0 ORDER BY s.id"""
_WORKER = RowMapper(WorkerView, tags=lambda text: tuple(text.split()))


class WorkerReports(SubjectReports):
    """The workers that have not ended."""

    def workers(self) -> tuple[WorkerView, ...]:
        """All of them, the oldest first. One that was killed is silent until another takes over what it held."""
        now = self._now()
        since = now - now % MINUTE_MS - MINUTE_MS
        found: list[WorkerView] = []
        for one in self._reader.records(_WORKER, _WORKERS, (MINUTE_MS, since)):
            age_ms, counted_ms = max(0, now - one.heartbeat_age_ms), max(1_000, now - max(since, one.started_at))
            state, pace = state_of(one.state, silent=age_ms > one.lease_ms), one.pages_per_minute * MINUTE_MS
            view = replace(one, state=state, heartbeat_age_ms=age_ms, leads=not found)
            found.append(replace(view, pages_per_minute=round(pace / counted_ms, 1)))
        return tuple(found)
