"""Requests note how they came by their connection: name look-up, TCP, TLS, or a kept one."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.storage.driver import execute

_COLUMNS = ("dns_ms", "connect_ms", "tls_ms", "connection_reused")


def up(_migrator: Any, database: peewee.Database) -> None:
    """Brings the schema of 0003 to this version. Of older requests nothing of this is known: NULL."""
    for column in _COLUMNS:
        execute(database, f'ALTER TABLE "request" ADD COLUMN "{column}" INTEGER')
