"""The store behind the engine, over one SQLite file. It fits `engine.ports.Store` by shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tui_crawler.domain.attempt import FillRecord, OriginRecord, Settle
from tui_crawler.domain.command import ActionResult, PendingAction, RetryPages
from tui_crawler.domain.page import Candidates, NewPage, TodoPage
from tui_crawler.domain.policy import Exclusion
from tui_crawler.domain.run import NoSuchJob, RunPlan, RunStart, Settled, StorageFailure, StoredOrigin
from tui_crawler.storage import desk, sessions, settle
from tui_crawler.storage.candidates import candidates
from tui_crawler.storage.claim import Claim, require
from tui_crawler.storage.clock import wall_clock
from tui_crawler.storage.database import OpenSettings, open_writable
from tui_crawler.storage.models import Origin
from tui_crawler.storage.owner import Owner, this_process
from tui_crawler.storage.transaction import Transaction
from tui_crawler.storage.writer import Writer, WriterSettings


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How the store works. `lease_ms` is how long it holds the database without a heartbeat, seen from elsewhere.

    `now` gives epoch ms; `owner` None: this process.
    """

    opening: OpenSettings = field(default_factory=OpenSettings)
    writing: WriterSettings = field(default_factory=WriterSettings)
    lease_ms: int = 30_000
    now: Callable[[], int] = wall_clock
    owner: Owner | None = None


class SqliteStore:
    """Opens (makes, migrates) the database and starts its writer. `close` it when the run has ended.

    Raises NotOurDatabase, ReadOnlyDatabase, RunHeld (a migration during a live run) and StorageFailure.
    """

    def __init__(self, path: Path, settings: StoreSettings | None = None) -> None:
        self._settings = settings or StoreSettings()
        self._path = path
        database = open_writable(path, self._settings.opening)
        self._writer = Writer(database, path, self._settings.writing, self._settings.now)
        self._claim: Claim | None = None
        self._taken = 0

    @property
    def outstanding(self) -> int:
        """Awaited calls whose answers are not handed out yet: an event loop with its own time must wait for them."""
        return self._writer.outstanding

    @property
    def commits(self) -> tuple[int, int]:
        """How many transactions were committed, and how many calls they held."""
        return self._writer.commits

    def close(self) -> None:
        """Commits what waits and closes the database. Blocks until that is done."""
        self._writer.close()

    async def begin_run(self, plan: RunPlan) -> RunStart:
        """Claims the database and starts a run, or continues the last one. Raises RunHeld, StorageFailure."""
        starter = sessions.Starter(self._settings.owner or this_process(), self._settings.lease_ms)
        self._claim, start = await self._writer.write(lambda work: sessions.begin(work, plan, starter))
        self._taken = 0
        return start

    async def begin_rest(self) -> RunStart:
        """Claims the database while nobody runs, to carry out what operators ask for. Raises RunHeld, StorageFailure.

        The answer describes the last run; nothing of it is continued.
        """
        starter = sessions.Starter(self._settings.owner or this_process(), self._settings.lease_ms)
        self._claim, start = await self._writer.write(lambda work: sessions.begin_rest(work, starter))
        self._taken = 0
        return start

    async def end_rest(self) -> None:
        """Gives the database back after `begin_rest`."""
        claim = self._held()
        await self._writer.write(lambda work: sessions.end_rest(work, claim))

    async def candidates(self, origin: str, now: int, limit: int, first_fill: bool) -> Candidates:
        """Pages that may go on the todo list at `now` (epoch ms); seeds come first in the first fill of a run."""
        claim = self._held()
        return await self._writer.read(lambda work: candidates(work, claim, origin, now, limit, first_fill))

    async def fill(self, record: FillRecord) -> None:
        """Stores the outcome of a fill: `record.todo` is the todo list from now on, as a whole."""
        claim = self._held()
        await self._writer.write(lambda work: settle.store_fill(work, claim, record))

    async def settle(self, settle_value: Settle) -> Settled:
        """Stores one attempt, whole; answers where the counters of its origin stand now."""
        job = settle.SettleJob(self._held(), settle_value)
        return await self._writer.write(job, job.prepare)

    def mark_in_flight(self, page_id: int, origin: str, url: str) -> None:
        """For the eyes: rides in the next commit, is never waited for."""
        claim = self._held()
        self._writer.write_unawaited(
            partial(settle.mark_in_flight, claim=claim, page_id=page_id, origin=origin, url=url)
        )

    async def save_origin(self, record: OriginRecord) -> None:
        """Stores the state of an origin crawler without an attempt."""
        claim = self._held()
        await self._writer.write(lambda work: settle.save_origin(work, claim, record))

    async def add_pages(self, pages: Sequence[NewPage], job: str) -> tuple[TodoPage, ...]:
        """Seeds that came while the run is live; answers those now to be crawled that are on no todo list.

        `job` empty: the job of the run. Raises NoSuchJob.
        """
        claim = self._held()

        def work(transaction: Transaction) -> tuple[TodoPage, ...]:
            require(transaction, claim)
            job_id = sessions.job_named(transaction, job) if job else claim.job_id
            if job_id is None:
                raise NoSuchJob(f"there is no job named {job!r}")
            return desk.add_seeds(transaction, claim, job_id, pages)

        return await self._writer.write(work)

    async def add_origin(self, origin: str) -> StoredOrigin:
        """An origin that joins the run; what is kept of it from earlier runs comes back."""
        claim = self._held()
        return await self._writer.write(lambda work: sessions.add_origin(work, claim, origin))

    async def retry(self, selection: RetryPages) -> tuple[tuple[str, int], ...]:
        """Gives failed pages their tries back; answers how many pages of which origin."""
        claim = self._held()

        def work(transaction: Transaction) -> tuple[tuple[str, int], ...]:
            require(transaction, claim)
            return desk.retry(transaction, claim.tries, selection)

        return await self._writer.write(work)

    async def pages_known(self, origin: str) -> int:
        """How many pages of an origin are known (a kept counter, not a count)."""

        def work(transaction: Transaction) -> int:
            rows = transaction.fetch(Origin.select(Origin.pages_known).where(Origin.origin == origin))
            return int(rows[0][0]) if rows else 0

        return await self._writer.read(work)

    async def exclusions(self) -> tuple[Exclusion, ...]:
        """The exclusion list as operators have extended it."""
        return await self._writer.read(desk.exclusions)

    async def change_exclusion(self, exclusion: Exclusion, remove: bool) -> bool:
        """Adds or removes an entry of the exclusion list; answers whether anything changed."""
        return await self._writer.write(lambda work: desk.change_exclusion(work, exclusion, remove))

    async def take_actions(self) -> tuple[PendingAction, ...]:
        """What operators have asked for since the last call, oldest first. Rows that cannot be read are answered
        in the journal with their error."""
        after = self._taken
        actions, unreadable = await self._writer.read(lambda work: desk.waiting_actions(work, after))
        read = [action.action_id for action in actions] + [result.action_id for result in unreadable]
        self._taken = max(read, default=after)
        if unreadable:
            await self.finish_actions(unreadable)
        return actions

    async def finish_actions(self, results: Sequence[ActionResult]) -> None:
        """Writes into the journal what became of actions."""
        await self._writer.write(lambda work: desk.finish_actions(work, results))

    async def heartbeat(self) -> bool:
        """Renews the lease of this session; False when another owner has taken the database."""
        claim = self._held()
        return await self._writer.write(lambda work: sessions.renew(work, claim))

    async def end_run(self, reason: str, clean: bool) -> None:
        """Closes the run (`interrupted` and unclean ones are continued by the next start) and the session."""
        claim = self._held()
        await self._writer.write(lambda work: sessions.end(work, claim, reason, clean))

    def _held(self) -> Claim:
        if self._claim is None:
            raise StorageFailure(f"no run has begun on {self._path}")
        return self._claim
