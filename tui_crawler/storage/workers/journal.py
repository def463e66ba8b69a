"""The operator journal from outside: what is asked for is written as a row, and its result is read back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.storage.db.clock import wall_clock
from tui_crawler.storage.db.database import let_go_if_lost, open_writable
from tui_crawler.storage.db.file_identity import FilePlace
from tui_crawler.storage.db.open_settings import USUAL, OpenSettings
from tui_crawler.storage.db.owner import open_holds, this_process
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, notify
from tui_crawler.storage.drivers.faults import is_busy, storage_failure

if TYPE_CHECKING:
    from tui_crawler.domain.records.command import ActionResult, Command

T = TypeVar("T")

_PATIENCE_S = 10.0


class Journal:
    """Writes commands in short transactions, with or without a live engine. Usable from one thread at a time. Making it
    raises NotOurDatabase, ReadOnlyDatabase, StorageFailure; every method StorageFailure; DatabaseLocked when another
    program's lock outlasts `patience_s` seconds."""

    def __init__(
        self,
        path: DatabasePlace,
        settings: OpenSettings = USUAL,
        now: Callable[[], int] = wall_clock,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self.path, self._patience_s, self._now = path, patience_s, now
        self._database = open_writable(path, settings)
        self._place = FilePlace(path)
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def send(self, command: Command, who: str, undoes: int = 0) -> int:
        """Write a command; return its action id. `undoes`: the action that it takes back, marked once that is done."""
        from tui_crawler.domain.records.command import action_of, to_json  # noqa: PLC0415  see `live_owner`
        from tui_crawler.storage.db.clean_text import clean  # noqa: PLC0415  the same
        from tui_crawler.storage.models import Meta, OperatorAction  # noqa: PLC0415  the same

        name, target = action_of(command)
        query = OperatorAction.insert(
            at=self._now(), who=clean(who), action=name, target=clean(target), command=to_json(command), undoes=undoes
        )
        raised = Meta.update({Meta.value: Meta.value + 1}).where(Meta.name == "change")

        def write() -> int:
            """Its id becomes visible after those before it: on a server the number of changes is a lock."""
            with self._database.atomic():
                raised.execute(self._database)
                action_id = int(query.execute(self._database))
            notify(self._database)
            return action_id

        return self._patiently(write)

    def result(self, action_id: int) -> ActionResult | None:
        """What became of an action, None while nobody has carried it out."""
        from tui_crawler.domain.records.command import ActionResult  # noqa: PLC0415  see `live_owner`
        from tui_crawler.storage.models import OperatorAction  # noqa: PLC0415  the same

        chosen = OperatorAction.select(OperatorAction.before, OperatorAction.after, OperatorAction.error)
        query = chosen.where((OperatorAction.id == action_id) & (OperatorAction.applied_at > 0)).tuples()
        rows: list[tuple[Any, ...]] = self._patiently(lambda: list(query.execute(self._database)))
        return ActionResult(action_id, *rows[0]) if rows else None

    def live_owner(self) -> str | None:
        """The process whose run holds the database ("process 4711 on host h"), None if there is none. A console asks
        before its first paint: what this does not need is loaded by the other methods."""
        for hold in self._patiently(lambda: open_holds(self._database)):
            if not hold.rest and hold.is_live(this_process(), self._now()):
                return hold.owner.describe()
        return None

    def _patiently(self, work: Callable[[], T]) -> T:
        """Do a piece of work, repeatedly while another program holds a lock, as long as patience lasts."""
        end = time.monotonic() + self._patience_s
        with self._lock:
            while True:
                try:
                    self._place.check()
                    return work()
                except DATABASE_ERRORS as error:
                    let_go_if_lost(self._database)
                    if not is_busy(error) or time.monotonic() >= end:
                        raise storage_failure(error, self.path) from error
