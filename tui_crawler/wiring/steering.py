"""Carrying out what an operator asks for from the command line: by the live run, or on the resting database."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from tui_crawler.config.load import read_config
from tui_crawler.config.problem import ConfigErrors
from tui_crawler.domain.admission import Admission, Limits, Scope
from tui_crawler.domain.command import ActionResult, Command
from tui_crawler.domain.origin import CrawlSettings, Takeover
from tui_crawler.domain.policy import EMPTY
from tui_crawler.domain.run import NotTakenUp, RunHeld, RunPlan, RunStart
from tui_crawler.engine.clock import SystemClock
from tui_crawler.engine.commands import CommandDesk
from tui_crawler.engine.roster import EngineSettings, Roster
from tui_crawler.storage.journal import Journal
from tui_crawler.storage.store import SqliteStore
from tui_crawler.wiring.options import RunOptions
from tui_crawler.wiring.settings import admission_of, engine_settings

_PATIENCE_S = 3.0  # a live run looks at the journal several times a second
_LOOK_S = 0.05


def carry_out(database: Path, command: Command, who: str) -> ActionResult:
    """Writes a command into the operator journal and answers what became of it.

    A live run takes it up; on a resting database it is carried out here, by the same code. When a live run does not
    answer in time the action stays in the journal: NotTakenUp. Raises StorageFailure, NotTakenUp.
    """
    with contextlib.closing(Journal(database)) as journal:
        action_id = journal.send(command, who)
        if journal.live_owner() is None:
            with contextlib.suppress(RunHeld):  # a run has begun this very moment: it takes the action up
                asyncio.run(_carry_out_at_rest(database))
        result = _await_result(journal, action_id)
        if result is None:
            raise NotTakenUp("the live run has not taken it up yet; it stays in the journal and will be carried out")
        return result


class SteeredJournal:
    """The journal as the console writes it: while no engine runs, what is asked for is carried out at once.

    `resting` says whether the engine of this process is (still, or again) none that could take it up.
    Fits the console's Journal. Raises StorageFailure.
    """

    def __init__(self, database: Path, resting: Callable[[], bool]) -> None:
        self._database = database
        self._resting = resting
        self._journal = Journal(database)

    def send(self, command: Command, who: str) -> int:
        """Writes a command; answers its action id."""
        action_id = self._journal.send(command, who)
        if self._resting() and self._journal.live_owner() is None:
            with contextlib.suppress(RunHeld):  # a run has begun this very moment: it takes the action up
                asyncio.run(_carry_out_at_rest(self._database))
        return action_id

    def result(self, action_id: int) -> ActionResult | None:
        """What became of an action, None while nobody has carried it out."""
        return self._journal.result(action_id)

    def close(self) -> None:
        """Closes the connection."""
        self._journal.close()


def _await_result(journal: Journal, action_id: int) -> ActionResult | None:
    end = time.monotonic() + _PATIENCE_S
    while True:
        result = journal.result(action_id)
        if result is not None or time.monotonic() > end:
            return result
        time.sleep(_LOOK_S)


async def _carry_out_at_rest(database: Path) -> None:
    """Everything that waits in the journal, carried out on the state the last run left."""
    store = SqliteStore(database)
    try:
        start = await store.begin_rest()
        clock = SystemClock()
        settings, admission = _as_configured(start)
        for exclusion in await store.exclusions():
            admission = admission.with_exclusion(exclusion)
        roster = Roster(settings, admission)
        for stored in start.origins:
            roster.enter(stored, Takeover(continued=True, unclean=False), clock.now())
            roster.admission = roster.admission.with_origin(stored.record.origin)
        desk = CommandDesk(roster, store, clock)
        results = [(await desk.carry_out(action)).result for action in await store.take_actions()]
        await store.finish_actions(results)
        await store.end_rest()
    finally:
        await asyncio.to_thread(store.close)


def _as_configured(start: RunStart) -> tuple[EngineSettings, Admission]:
    """Settings and filters of the last run's configuration, as the database keeps it; defaults if it has none."""
    if start.config_text:
        with contextlib.suppress(ConfigErrors):
            config = read_config(start.config_text, "stored")
            return engine_settings(config, RunOptions(config_text=start.config_text)), admission_of(config)
    settings = CrawlSettings()
    plan = RunPlan("", "", "", (), 1, settings.tries, settings.patience, 2, 0)
    plain = EngineSettings(plan, lambda origin: settings, lambda origin, address: origin)
    return plain, Admission(EMPTY, Scope(frozenset()), Limits())
