"""Pages of which something was cut are counted by index."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.storage.driver import execute

_STEPS = (
    """CREATE INDEX "document_incomplete" ON "document" ("page_id") WHERE ("incomplete" != '')""",
    """CREATE INDEX "attempt_cut" ON "attempt" ("page_id", "id") WHERE ("cut" != '')""",
)


def up(_migrator: Any, database: peewee.Database) -> None:
    """Brings the schema of 0006 to this version."""
    for statement in _STEPS:
        execute(database, statement)
