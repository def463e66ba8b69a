"""Redirects and noindex pages note whether what they name was scanned, rather than how far the crawl log was read.
Whether an older page was crawled offline is not known: what was not scanned of it is scanned: no link is lost."""

from tui_crawler.storage.migrations import statements

up = statements("""
ALTER TABLE "page" ADD COLUMN "unscanned" NUMBER;
UPDATE "page" SET "unscanned" = 1 WHERE "id" IN (SELECT "page_id" FROM "attempt" WHERE
    "id" > COALESCE((SELECT "value" FROM "meta" WHERE "name" = 'scanned_attempt'), 0) AND
    "exit_code" IN (31, 32, 210, 211)) AND NOT EXISTS (SELECT 1 FROM "document" WHERE "page_id" = "page"."id");
DELETE FROM "meta" WHERE "name" = 'scanned_attempt';
CREATE INDEX "page_unscanned" ON "page" ("id") WHERE ("unscanned" = 1);
""")
