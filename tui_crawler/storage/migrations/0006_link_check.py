"""The link check: pages that leave the crawl, the fragments that links name, and what they may name on a page. Until
now no page left the crawl, and fragments were not kept."""

from tui_crawler.storage.migrations import statements

up = statements("""
ALTER TABLE "page" ADD COLUMN "external" NUMBER;
CREATE INDEX "page_external" ON "page" ("origin_id", "last_crawled_at", "status", "attempts_remaining")
    WHERE ("external" = 1);
CREATE TABLE "page_anchors" ("url_id" INTEGER NOT NULL PRIMARY KEY, "names" BLOB NOT NULL, FOREIGN KEY ("url_id")
    REFERENCES "url" ("id"));
CREATE TABLE "fragment" ("to_url_id" INTEGER NOT NULL, "fragment" TEXT NOT NULL, "from_page_id" INTEGER NOT NULL,
    "text" STRING, "missing" NUMBER, PRIMARY KEY ("to_url_id", "fragment", "from_page_id"), FOREIGN KEY ("to_url_id")
    REFERENCES "url" ("id"), FOREIGN KEY ("from_page_id") REFERENCES "page" ("id")) WITHOUT ROWID;
CREATE INDEX "fragment_from_page_id" ON "fragment" ("from_page_id");
CREATE INDEX "fragment_missing" ON "fragment" ("to_url_id", "fragment") WHERE ("missing" = 1);
""")
