"""URLs are found by their text, too, by who looks into the views (decision 14). A run keeps how long it has worked; of
older runs the wall clock of their sessions tells it."""

from tui_crawler.storage.migrations import statements

up = statements("""
CREATE INDEX "url_href" ON "url" ("href");
ALTER TABLE "run" ADD COLUMN "worked_ms" NUMBER;
UPDATE "run" SET "worked_ms" = (SELECT MAX(0, MIN(SUM(until - began), MAX(until) - MIN(began))) FROM (
    SELECT "started_at" AS began, CASE WHEN "ended_at" > 0 AND "ended_by" = '' THEN "ended_at"
    ELSE "heartbeat_at" END AS until FROM "session" WHERE "run_id" = "run"."id" AND "rest" = 0))
    WHERE EXISTS (SELECT 1 FROM "session" WHERE "run_id" = "run"."id" AND "rest" = 0);
""")
