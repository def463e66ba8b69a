"""What happens when few origins are left (M): the rest is saved as a segment, or the next segment is loaded."""

from __future__ import annotations

from tui_crawler.domain.failure import BadSegment, StorageFailure
from tui_crawler.engine.commands import CommandExecutor
from tui_crawler.engine.origin_table import OriginTable
from tui_crawler.engine.ports import Store


class FewOrigins:
    """Saves the rest of a run, or loads the next one."""

    def __init__(self, table: OriginTable, store: Store, executor: CommandExecutor) -> None:
        self._table = table
        self._store = store
        self._executor = executor
        self._exhausted = False
        self.complaint = ""

    async def save_rest(self) -> None:
        """Saves what is left as a segment; what cannot be saved stays in the queue for the next run."""
        try:
            await self._store.save_rest()
        except StorageFailure as error:
            self.complaint = f"the rest could not be saved as a segment: {error}"

    async def load_next(self) -> tuple[str, ...]:
        """Loads the oldest segment that was not consumed; answers the origins that have work. Raises StorageFailure."""
        if self._exhausted:
            return ()
        path = await self._store.next_segment()
        self._exhausted = not path
        if not path:
            return ()
        try:
            return await self._executor.load_segment(path)
        except BadSegment as error:
            self._exhausted, self.complaint = True, str(error)
            return ()
