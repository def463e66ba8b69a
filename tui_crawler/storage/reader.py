"""A read-only connection for reports. It is used from one thread at a time, whichever that is."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tui_crawler.storage.database import connect_readonly, open_readonly
from tui_crawler.storage.driver import DATABASE_ERRORS, connection_of
from tui_crawler.storage.faults import storage_failure
from tui_crawler.storage.file_place import FilePlace
from tui_crawler.storage.log_file import has_log_file, put_log_away
from tui_crawler.storage.open_settings import OpenSettings
from tui_crawler.storage.transaction import Row


class Reader:
    """Executes queries; every error of the driver becomes a StorageFailure with a clear message."""

    def __init__(self, path: Path, settings: OpenSettings | None = None) -> None:
        self._path = path
        self._settings = settings
        self._found_log = has_log_file(path)
        self._database = open_readonly(path, settings)
        self._place = FilePlace(path)
        self._lock = threading.Lock()

    def close(self) -> None:
        """Closes the connection. The file stands alone again when it did before and nobody else has it open."""
        with self._lock:
            self._database.close()
        if not self._found_log and self._place.is_same():
            put_log_away(self._path, only_empty=True)

    def free_bytes(self) -> int:
        """How much room is left where the database stands."""
        return shutil.disk_usage(self._path.parent).free

    def all(self, text: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        with self._lock:
            self._place.check()
            try:
                return connection_of(self._database).execute(text, values).fetchall()
            except DATABASE_ERRORS as error:
                raise storage_failure(error, self._path) from error

    def one(self, text: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a query."""
        rows = self.all(text, values)
        return rows[0] if rows else None

    def stream(self, text: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query, a few at a time, as the database was when the first was taken.

        A connection of its own: a query under way would keep all others on this one in the past, too.
        """
        try:
            database = connect_readonly(self._path, self._settings)
            try:
                yield from connection_of(database).execute(text, values)
            finally:
                database.close()
        except DATABASE_ERRORS as error:
            raise storage_failure(error, self._path) from error
