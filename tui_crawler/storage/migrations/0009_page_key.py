"""A page is found by its URL, not by the hash of that once more; indices end with the id of the page only once."""

from tui_crawler.storage.migrations import statements

up = statements("""
DROP INDEX "page_url_hash_origin_id_job_id";
ALTER TABLE "page" DROP COLUMN "url_hash";
-- SQLite writes 0 and 1 as a byte each where it drops a column, elsewhere as none: written once more, rows are short
UPDATE "page" SET "claimed_by" = "claimed_by";
CREATE UNIQUE INDEX "page_url_id_job_id" ON "page" ("url_id", "job_id");
DROP INDEX "page_origin";
CREATE INDEX "page_origin" ON "page" ("origin_id");
DROP INDEX "page_failed_origin";
CREATE INDEX "page_failed_origin" ON "page" ("origin_id") WHERE ("failed" = 1);
DROP INDEX "page_failed_code";
CREATE INDEX "page_failed_code" ON "page" ("last_exit_code") WHERE ("failed" = 1);
DROP INDEX "page_stash";
CREATE INDEX "page_stash" ON "page" ("job_id", "stash") WHERE ("status" = 4);
""")
