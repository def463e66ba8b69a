"""Queries in SQL from the console: run in a thread, one at a time, and kept in a history."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tui_crawler.console.reading.failure_words import failure_words
from tui_crawler.console.session import write_privately

if TYPE_CHECKING:
    from pathlib import Path

    from tui_crawler.console.ports import Queries
    from tui_crawler.domain.records.operator_view import QueryAnswer

MOST_KEPT = 200
MOST_BYTES = 262_144
"""A longer file is not a history."""
_FILE = "sql-history.json"

Schema = tuple[tuple[str, tuple[str, ...]], ...]


class QuerySession:
    """Runs queries and keeps their history. `folder` None: only until the console is left. Knows no screen."""

    def __init__(self, factory: Callable[[], Queries], folder: Path | None) -> None:
        """`factory` is called once, for the first query. Nothing is read before."""
        self._factory = factory
        self._file = None if folder is None else folder / _FILE
        self._one_at_a_time = threading.Lock()
        self._schema: Schema = ()
        self._cancelled = False  # also what waits for its thread yet
        self.draft = ""
        """The text of the editor when it was left."""

    @cached_property
    def _queries(self) -> Queries:
        return self._factory()

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The history, also of earlier sessions, the newest query last."""
        if self._file is None:
            return ()
        try:
            with self._file.open("rb") as opened:
                found = json.loads(opened.read(MOST_BYTES + 1))
        except (OSError, ValueError, RecursionError):
            return ()
        return tuple(one for one in found if isinstance(one, str))[-MOST_KEPT:] if isinstance(found, list) else ()

    def ask(self, text: str) -> QueryAnswer:
        """Return the result of a query. Blocking; a failure becomes the problem of the result."""
        from tui_crawler.domain.records.operator_view import QueryAnswer  # noqa: PLC0415  not before the first paint

        with self._one_at_a_time:
            if self._cancelled:
                return QueryAnswer(problem="cancelled")
            try:
                return self._queries.ask(text)
            except Exception as error:  # whatever fails below must not end the console
                return QueryAnswer(problem=failure_words(error))

    def schema(self) -> Schema:
        """Return the views and their columns, read once; empty when they cannot be read. Blocking."""
        if not self._schema:
            try:
                self._schema = self._queries.schema()
            except Exception:  # only completion and the catalogue need it
                return ()
        return self._schema

    def cancel(self) -> None:
        """End the running query (from any thread)."""
        self._cancelled = True
        if "_queries" in vars(self):
            self._queries.cancel()

    def remember(self, text: str) -> None:
        """Keep a query that will be run now; one that was run before moves to the end."""
        self._cancelled = False
        self.asked = (*(one for one in self.asked if one != text), text)[-MOST_KEPT:]
        if self._file is not None:
            kept: Sequence[str] = self.asked
            while len(written := json.dumps(kept, ensure_ascii=True)) > MOST_BYTES:
                kept = kept[1:]
            write_privately(self._file, written)
