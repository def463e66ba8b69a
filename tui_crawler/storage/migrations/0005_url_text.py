"""URLs are found by their text, too, by who looks into the views (decision 14). A run keeps how long it has worked."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.storage.driver import execute

_STEPS = (
    """CREATE INDEX "url_href" ON "url" ("href")""",
    """ALTER TABLE "run" ADD COLUMN "worked_ms" INTEGER NOT NULL DEFAULT 0""",
    """UPDATE "run" SET "worked_ms" = (SELECT MAX(0, MIN(SUM(until - began), MAX(until) - MIN(began))) FROM (
    SELECT "started_at" AS began, CASE WHEN "ended_at" > 0 AND "ended_by" = '' THEN "ended_at"
    ELSE "heartbeat_at" END AS until FROM "session" WHERE "run_id" = "run"."id" AND "rest" = 0))
    WHERE EXISTS (SELECT 1 FROM "session" WHERE "run_id" = "run"."id" AND "rest" = 0)""",
)


def up(_migrator: Any, database: peewee.Database) -> None:
    """Brings the schema of 0004 to this version. How long older runs worked is told by their sessions' wall clock."""
    for statement in _STEPS:
        execute(database, " ".join(statement.split()))
