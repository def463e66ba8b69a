"""Workers by name, with what operators want of them; origins that are free, and which of them stay in one hand."""

from __future__ import annotations

from tui_crawler.storage.migrations import statements

up = statements("""
ALTER TABLE "session" ADD COLUMN "shared" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "session" ADD COLUMN "token_hash" TEXT NOT NULL DEFAULT '';
ALTER TABLE "session" ADD COLUMN "matchonly" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "session" ADD COLUMN "slots" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "session" ADD COLUMN "version" TEXT NOT NULL DEFAULT '';
ALTER TABLE "session" ADD COLUMN "free_bytes" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "session" ADD COLUMN "in_flight" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "session" ADD COLUMN "wanted" TEXT NOT NULL DEFAULT '';
ALTER TABLE "origin" ADD COLUMN "free" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "origin" ADD COLUMN "former_session" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "origin" ADD COLUMN "wanted_session" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "origin" ADD COLUMN "site" TEXT NOT NULL DEFAULT '';
CREATE INDEX "origin_free" ON "origin" ("next_request_at", "id")
    WHERE ((("participates" = 1) AND ("finish_reason" = '')) AND ("free" = 1));
CREATE INDEX "origin_site" ON "origin" ("site", "session_id");
CREATE INDEX "origin_wanted" ON "origin" ("wanted_session") WHERE ("wanted_session" > 0);
""")
