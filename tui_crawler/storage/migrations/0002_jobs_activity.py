"""Jobs, stashes, the activity log, the seen filter; indices that find the pages of one job alone."""

from tui_crawler.storage.migrations import statements

up = statements("""
ALTER TABLE "job" ADD COLUMN "resumed_concurrency" INTEGER;
ALTER TABLE "run" ADD COLUMN "granted" NUMBER;
ALTER TABLE "ruleset" ADD COLUMN "from_config" NUMBER;
ALTER TABLE "segment" ADD COLUMN "digest" STRING;
ALTER TABLE "segment" ADD COLUMN "path" STRING;
CREATE TABLE "dripfeed" (
    "job_id" INTEGER NOT NULL, "stash" TEXT NOT NULL, "ready" NUMBER, PRIMARY KEY ("job_id", "stash"), FOREIGN KEY
    ("job_id") REFERENCES "job" ("id")
);
CREATE TABLE "seen_filter" (
    "id" INTEGER NOT NULL PRIMARY KEY, "capacity" NUMBER, "error_rate" REAL NOT NULL, "count" NUMBER, "bits" BLOB NOT
    NULL
);
CREATE TABLE "activity" (
    "id" INTEGER NOT NULL PRIMARY KEY, "at" NUMBER, "run_id" NUMBER, "origin_id" NUMBER, "event" TEXT NOT NULL,
    "message" STRING
);
CREATE INDEX "origin_open" ON "origin" ("session_id") WHERE (("participates" = 1) AND ("finish_reason" = ''));
CREATE INDEX "activity_origin" ON "activity" ("origin_id", "id") WHERE ("origin_id" > 0);
DROP INDEX "page_pending";
CREATE INDEX "page_pending" ON "page" ("origin_id", "job_id", ("nice" + "attempts"), "not_before", "id",
    "ignored_run") WHERE ((("status" = 0) AND ("attempts_remaining" > 0)) AND ("beyond_depth" = 0));
DROP INDEX "page_done";
CREATE INDEX "page_done" ON "page" ("origin_id", "job_id", "last_crawled_at", "ignored_run", "fresh_until",
    "seed", "nice", "not_before", "status", "attempts_remaining", "beyond_depth") WHERE ((("status" = 0) AND
    ("attempts_remaining" = 0)) AND ("beyond_depth" = 0));
DROP INDEX "page_seed";
CREATE INDEX "page_seed" ON "page" ("origin_id", "job_id") WHERE ("seed" = 1);
DROP INDEX "page_stash";
CREATE INDEX "page_stash" ON "page" ("job_id", "stash", "id") WHERE ("status" = 4);
CREATE INDEX "page_dripped" ON "page" ("job_id", "stash") WHERE (((("stash" != '') AND ("status" <= 2)) AND
    ("attempts_remaining" > 0)) AND ("beyond_depth" = 0));
""")
