"""A read-only connection for reports. It is used from one thread at a time, whichever that is."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tui_crawler.storage.database import OpenSettings, open_readonly
from tui_crawler.storage.driver import connection_of
from tui_crawler.storage.faults import DATABASE_ERRORS, storage_failure
from tui_crawler.storage.transaction import Row

_CHUNK = 500


class Reader:
    """Executes queries; every error of the driver becomes a StorageFailure with a clear message."""

    def __init__(self, path: Path, settings: OpenSettings | None = None) -> None:
        self._path = path
        self._database = open_readonly(path, settings)
        self._lock = threading.Lock()

    def close(self) -> None:
        """Closes the connection."""
        with self._lock:
            self._database.close()

    def all(self, text: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        with self._lock:
            try:
                return connection_of(self._database).execute(text, values).fetchall()
            except DATABASE_ERRORS as error:
                raise storage_failure(error, self._path) from error

    def one(self, text: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a query."""
        rows = self.all(text, values)
        return rows[0] if rows else None

    def stream(self, text: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query, a few at a time: as the database was when it began."""
        try:
            with self._lock:
                cursor = connection_of(self._database).execute(text, values)
            while True:
                with self._lock:
                    rows = cursor.fetchmany(_CHUNK)
                if not rows:
                    return
                yield from rows
        except DATABASE_ERRORS as error:
            raise storage_failure(error, self._path) from error
