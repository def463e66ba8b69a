"""The processes that hold, or held, the database: their sign of life, and how they ended."""

from __future__ import annotations

from dataclasses import dataclass

from tui_crawler.storage.reader import Reader

_SESSIONS = """
SELECT s.id, s.run_id, s.rest, s.worker, s.host, s.pid, s.started_at, s.heartbeat_at, s.lease_ms, s.ended_at, s.clean,
  s.ended_by, CASE WHEN s.ended_at <> 0 THEN 0 ELSE
    (SELECT COUNT(*) FROM origin o WHERE o.session_id = s.id AND o.participates = 1 AND o.finish_reason = '') END
FROM session s ORDER BY s.id DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A process. Times are epoch ms, `lease_ms` is how long it may be silent; `ended_at` 0 while it lasts.

    `rest`: it carries out what operators ask for and makes no request. `origins` are those it has now.
    """

    session_id: int
    run_id: int
    rest: bool
    worker: str
    host: str
    pid: int
    started_at: int
    heartbeat_at: int
    lease_ms: int
    ended_at: int
    clean: bool
    ended_by: str
    origins: int


def sessions(reader: Reader, limit: int) -> tuple[SessionRow, ...]:
    """The newest `limit` sessions, newest first. Raises StorageFailure."""
    rows = ([*row[:2], bool(row[2]), *row[3:10], bool(row[10]), *row[11:]] for row in reader.all(_SESSIONS, (limit,)))
    return tuple(SessionRow(*row) for row in rows)
