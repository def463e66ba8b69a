"""Documents that wait for validators and data rules (`parsed_at` -1) are found by index."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.storage.driver import execute


def up(_migrator: Any, database: peewee.Database) -> None:
    """Brings the schema of 0007 to this version."""
    execute(database, 'CREATE INDEX "document_waiting" ON "document" ("page_id") WHERE ("parsed_at" < 0)')
