"""The pulse: what attempts come to by minute and hour, and what processes measure of themselves. Of what was logged
before, the newest attempts are counted; the activity log says so where there were more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tui_crawler.domain.history.pulse import KEPT_MS, PulseCount, packed
from tui_crawler.storage.migrations import statements

if TYPE_CHECKING:
    import peewee

MOST = 500_000
"""How many attempts are counted: some seconds."""

_tables = statements("""
CREATE TABLE "pulse" (
    "length" INTEGER NOT NULL, "at" INTEGER NOT NULL, "session_id" INTEGER NOT NULL, "job_id" INTEGER NOT NULL,
    "attempts" NUMBER, "pages" NUMBER, "failed" NUMBER, "bytes" NUMBER, "cells" BLOB NOT NULL, PRIMARY KEY ("length",
    "at", "session_id", "job_id")
) WITHOUT ROWID;
CREATE TABLE "gauge" (
    "length" INTEGER NOT NULL, "at" INTEGER NOT NULL, "session_id" INTEGER NOT NULL, "lag_ms" NUMBER, "commit_ms"
    NUMBER, "commit_jobs" NUMBER, "todo" INTEGER, "pending" INTEGER, "crawling" INTEGER, "waiting" INTEGER, "paused"
    INTEGER, "gave_up" INTEGER, "finished" INTEGER, PRIMARY KEY ("length", "at", "session_id")
) WITHOUT ROWID;
CREATE INDEX "activity_at" ON "activity" ("at") WHERE ("origin_id" = 0);
CREATE INDEX "operator_action_at" ON "operator_action" ("at");
""")

_LOGGED = """SELECT a.ended_at, a.session_id, COALESCE(p.job_id, r.job_id), a.kind, a.exit_code, a.requests, a.bytes,
    a.response_ms, q.sent_at, q.head_at, q.ended_at, q.dns_ms, q.connect_ms, q.tls_ms
FROM attempt a JOIN run r ON r.id = a.run_id LEFT JOIN page p ON p.id = a.page_id LEFT JOIN request q ON q.id =
    (SELECT MAX(id) FROM request WHERE attempt_id = a.id)
WHERE a.id > ? ORDER BY a.id"""
_ROW = 'INSERT INTO "pulse" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'
_SAID = 'INSERT INTO "activity" ("at", "event", "message") SELECT MAX(ended_at), ?, ? FROM "attempt"'


def up(migrator: Any, database: peewee.Database) -> None:
    """Makes the tables, and counts what was logged."""
    from tui_crawler.storage.drivers.driver import execute  # noqa: PLC0415  it loads peewee

    _tables(migrator, database)
    newest = execute(database, "SELECT COALESCE(MAX(id), 0) FROM attempt").fetchone()[0]
    counts: dict[tuple[int, int, int, int], PulseCount] = {}
    for ended_at, session, job, *row in execute(database, _LOGGED, (max(0, newest - MOST),)):
        one = PulseCount()
        one.add_logged(row)
        for length in KEPT_MS:
            counts.setdefault((length, ended_at - ended_at % length, session, job), PulseCount()).merge(one)
    for key, one in counts.items():
        execute(database, _ROW, (*key, one.attempts, one.pages, one.failed, one.bytes, packed(one.cells)))
    if newest > MOST:
        execute(database, _SAID, ("schema_upgraded", f"charts begin with the newest {MOST} attempts of {newest}"))
