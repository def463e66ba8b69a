"""Questions in SQL as the console asks them: what went wrong becomes words of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.ports import QueryAnswer
from tui_crawler.storage.query_room import QueryProblem, QueryRoom

if TYPE_CHECKING:
    from pathlib import Path


class ConsoleQueries:
    """The query room of a database, as `console.ports.Queries`."""

    def __init__(self, database: Path) -> None:
        """Opens nothing yet."""
        self._room = QueryRoom(database)

    def schema(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The views and their columns. Raises StorageFailure."""
        return self._room.schema()

    def ask(self, text: str) -> QueryAnswer:
        """Answers one statement that reads. Raises StorageFailure."""
        try:
            found = self._room.ask(text)
        except QueryProblem as problem:
            return QueryAnswer(problem=str(problem))
        return QueryAnswer(found.columns, found.rows, found.more, found.cut, found.took_ms)

    def cancel(self) -> None:
        """Ends the question that is being answered."""
        self._room.cancel()
