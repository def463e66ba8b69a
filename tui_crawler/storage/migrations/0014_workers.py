"""Workers by name, with what operators want of them; origins that are free, and which of them stay in one hand."""

from tui_crawler.storage.migrations import statements

up = statements("""
ALTER TABLE "session" ADD COLUMN "shared" NUMBER;
ALTER TABLE "session" ADD COLUMN "token_hash" STRING;
ALTER TABLE "session" ADD COLUMN "matchonly" NUMBER;
ALTER TABLE "session" ADD COLUMN "slots" NUMBER;
ALTER TABLE "session" ADD COLUMN "version" STRING;
ALTER TABLE "session" ADD COLUMN "free_bytes" NUMBER;
ALTER TABLE "session" ADD COLUMN "in_flight" NUMBER;
ALTER TABLE "session" ADD COLUMN "wanted" STRING;
ALTER TABLE "origin" ADD COLUMN "free" NUMBER;
ALTER TABLE "origin" ADD COLUMN "former_session" NUMBER;
ALTER TABLE "origin" ADD COLUMN "wanted_session" NUMBER;
ALTER TABLE "origin" ADD COLUMN "site" STRING;
CREATE INDEX "origin_free" ON "origin" ("next_request_at", "id")
    WHERE ((("participates" = 1) AND ("finish_reason" = '')) AND ("free" = 1));
CREATE INDEX "origin_site" ON "origin" ("site", "session_id");
CREATE INDEX "origin_wanted" ON "origin" ("wanted_session") WHERE ("wanted_session" > 0);
""")
