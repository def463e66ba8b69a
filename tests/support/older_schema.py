"""A database as an earlier version left it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

ADDED = ("dns_ms", "connect_ms", "tls_ms", "connection_reused")
"""What migration 0004 added to `request`."""
OLDER = 3


def make_older(path: Path) -> None:
    """Brings a database back to schema 3."""
    with closing(sqlite3.connect(path)) as database, database:
        for view in ("v_request", "v_page"):
            database.execute(f"DROP VIEW {view}")
        for table in ("fragment", "page_anchors"):
            database.execute(f"DROP TABLE {table}")
        for index in ("page_external", "url_href", "document_incomplete", "attempt_cut", "document_waiting"):
            database.execute(f"DROP INDEX {index}")
        database.execute("ALTER TABLE page DROP COLUMN external")
        database.execute("ALTER TABLE run DROP COLUMN worked_ms")
        for name in ADDED:
            database.execute(f"ALTER TABLE request DROP COLUMN {name}")
        database.execute("DELETE FROM schema_migration WHERE name >= '0004'")
        database.execute(f"PRAGMA user_version = {OLDER}")
