"""Pages that name a canonical URL have their answer kept aside until it is known where that URL leads."""

from tui_crawler.storage.migrations import statements

up = statements("""
CREATE TABLE "canonical_claim" ("page_id" INTEGER NOT NULL PRIMARY KEY, "to_url_id" INTEGER NOT NULL, "state"
    NUMBER, "awaits" NUMBER, "run_id" NUMBER, "answer" BLOB, FOREIGN KEY ("page_id") REFERENCES "page" ("id"), FOREIGN
    KEY ("to_url_id") REFERENCES "url" ("id"));
CREATE INDEX "canonical_claim_awaits_page_id" ON "canonical_claim" ("awaits", "page_id");
""")
