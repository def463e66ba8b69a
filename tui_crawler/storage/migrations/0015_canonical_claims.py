"""Pages that name a canonical URL keep their answer aside until it is known where that URL leads."""

from __future__ import annotations

from tui_crawler.storage.migrations import statements

up = statements("""
CREATE TABLE "canonical_claim" ("page_id" INTEGER NOT NULL PRIMARY KEY, "origin_id" INTEGER NOT NULL,
    "to_url_id" INTEGER NOT NULL, "state" INTEGER NOT NULL DEFAULT 0, "due" INTEGER NOT NULL DEFAULT 0,
    "awaits" INTEGER NOT NULL DEFAULT 0, "run_id" INTEGER NOT NULL DEFAULT 0, "answer" BLOB,
    FOREIGN KEY ("page_id") REFERENCES "page" ("id"), FOREIGN KEY ("origin_id") REFERENCES "origin" ("id"),
    FOREIGN KEY ("to_url_id") REFERENCES "url" ("id"));
CREATE INDEX "canonical_claim_state" ON "canonical_claim" ("origin_id", "state", "page_id");
CREATE INDEX "canonical_claim_due" ON "canonical_claim" ("origin_id", "page_id") WHERE ("due" = 1);
CREATE INDEX "canonical_claim_awaits" ON "canonical_claim" ("awaits");
""")
