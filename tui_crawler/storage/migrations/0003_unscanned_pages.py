"""Redirects and noindex pages note whether what they name was scanned, rather than how far the crawl log was read."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.storage.driver import execute

_STEPS = (
    """ALTER TABLE "page" ADD COLUMN "unscanned" INTEGER NOT NULL DEFAULT 0""",
    """UPDATE "page" SET "unscanned" = 1 WHERE "id" IN (SELECT "page_id" FROM "attempt" WHERE
    "id" > COALESCE((SELECT "value" FROM "meta" WHERE "name" = 'scanned_attempt'), 0) AND
    "exit_code" IN (31, 32, 210, 211)) AND NOT EXISTS (SELECT 1 FROM "document" WHERE "page_id" = "page"."id")""",
    """DELETE FROM "meta" WHERE "name" = 'scanned_attempt'""",
    """CREATE INDEX "page_unscanned" ON "page" ("id") WHERE ("unscanned" = 1)""",
)


def up(_migrator: Any, database: peewee.Database) -> None:
    """Brings the schema of 0002 to this version. Whether an older page was crawled offline is not known: what was not
    scanned of it is scanned, so that no link is lost."""
    for statement in _STEPS:
        execute(database, " ".join(statement.split()))
