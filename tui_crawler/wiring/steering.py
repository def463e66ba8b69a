"""Carrying out what an operator asks for from the command line: by the live run, or on the resting database."""

import asyncio
import contextlib
import gc
import threading
import time
from collections.abc import Callable, Mapping

from tui_crawler.domain.records.command import ActionResult, Command
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import BadKeptConfig, DatabaseLocked, NotTakenUp, RunHeld
from tui_crawler.storage.db.file_identity import check_not_older
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.workers.journal import Journal
from tui_crawler.wiring.crawl import Crawl, NullListener
from tui_crawler.wiring.launch import Launch
from tui_crawler.wiring.origin_settings import stored_config

PATIENCE_S = 3.0
"""A live run looks at the journal several times a second."""
_LATER = "the next run applies it; not now: {}"
_LOOK_S = 0.05
_BUSY_MS = 250  # the console says at once that another program's lock is in the way, and tries again


def carry_out(
    database: DatabasePlace, command: Command, who: str, patience_s: float = PATIENCE_S, undoes: int = 0
) -> ActionResult:
    """Write a command into the operator journal and return what became of it. `undoes` names the action it takes back.

    A live run takes it up; on a resting database it is carried out here, by the same code. Raises StorageFailure;
    NotTakenUp when a live run does not take it up within `patience_s`; OlderDatabase: steering migrates no database.
    """
    check_not_older(database)
    with contextlib.closing(Journal(database)) as journal:
        action_id = journal.send(command, who, undoes)
        if journal.live_owner() is None:
            with contextlib.suppress(RunHeld):  # a run has begun this very moment: it takes the action up
                gc.freeze()  # what stands by now is not looked through for garbage after each of many commands
                try:
                    asyncio.run(_carry_out_at_rest(database, {action_id: command}))
                except BadKeptConfig as error:
                    raise NotTakenUp(_LATER.format(error)) from error
        end = time.monotonic() + patience_s
        while (result := journal.result(action_id)) is None:
            if time.monotonic() > end:
                raise NotTakenUp("the live run has not applied it yet; it stays in the journal and will be applied")
            time.sleep(_LOOK_S)
        return result


class SteeredJournal(Journal):
    """The console's Journal: while no engine runs, what is asked for is carried out when its result is looked for.
    `resting` says whether this process has no engine that could take it up; it is asked, and what waits carried out,
    under `turn`, so that an engine that begins here finds the database free."""

    def __init__(self, database: DatabasePlace, resting: Callable[[], bool], turn: threading.Lock) -> None:
        super().__init__(database, OpenSettings(busy_ms=_BUSY_MS), patience_s=0)
        self._resting, self._turn = resting, turn

    def result(self, action_id: int) -> ActionResult | None:
        """What became of an action, None while nobody has carried it out. Raises DatabaseLocked; NotTakenUp when it
        cannot be carried out here now: it stays in the journal, for the next run."""
        if (found := super().result(action_id)) is not None:
            return found
        try:
            with self._turn:  # where no crawl is running (any more), the action is carried out here
                if self._resting() and self.live_owner() is None:
                    with contextlib.suppress(RunHeld):  # a run has begun this very moment: it takes the action up
                        asyncio.run(_carry_out_at_rest(self.path))
        except DatabaseLocked:
            raise
        except Exception as error:
            raise NotTakenUp(_LATER.format(str(error) or type(error).__name__)) from error
        return super().result(action_id)


async def _carry_out_at_rest(database: DatabasePlace, handed: Mapping[int, Command] | None = None) -> None:
    """Everything that waits in the journal, carried out on the state the last run left, by its configuration."""
    with contextlib.closing(Reports(database)) as reports:
        run, text = reports.run(), reports.config_text()
    gc.disable()  # nearly all that is made of many URLs stays to the end
    try:
        await Crawl(stored_config(text, run), database, Launch(), NullListener()).rest(handed)
    finally:
        gc.collect()  # todo lists, which cycles hold: the next of many commands would load them beside these
        gc.enable()
