"""One worker among several over one database (B): it leases origins, mirrors what the leading one was asked.

The leading worker (the oldest session of the run) carries the operator's wishes out; the others repeat, on the origins
they hold, what it has finished. No worker ever takes an origin from a live one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

from tui_crawler.domain.crawl.job import JobState, QueueChange
from tui_crawler.domain.crawl.run import StoredOrigin
from tui_crawler.domain.crawl.turn import OriginCommand
from tui_crawler.domain.records import command as commands
from tui_crawler.domain.records.worker import WorkerOrder, WorkerOrders
from tui_crawler.domain.rules.ruleset import Ruleset
from tui_crawler.engine.commands import CommandExecutor
from tui_crawler.engine.origin_table import OriginTable

_REQUESTS_AT_ONCE = 50  # of those a run may make, a worker takes so many at a time
_IDLE_AT_ONCE = 256  # of its idle origins it looks at so many at a time


class PeerStore(Protocol):
    """The part of the database that the workers of one run share. Raises StorageFailure as the Store does."""

    async def take_origins(self, *, idle: bool = False) -> tuple[StoredOrigin, ...]:
        """Lease free origins, up to this worker's share; whole groups of one site stay together. At each call where
        this worker is `idle`, else sometimes. What a dead worker held comes once, as unclean."""

    async def orders(self) -> WorkerOrders:
        """Return what an operator wants of this worker, and which origins are to go elsewhere, or have gone."""

    async def give_back(self, origins: Sequence[str]) -> None:
        """These origins are free for others; their states are stored, and nothing of them is in flight."""

    async def pass_on(self, origins: Sequence[str]) -> tuple[str, ...]:
        """Of origins that have nothing left for this worker gives those back that have something for another one, by
        its tags; answers which."""

    async def keep_apart(self, keys: Mapping[str, str]) -> tuple[str, ...]:
        """Tell the politeness keys of origins, which are addresses; those under a key that another worker holds are
        given back. Return which."""

    async def is_leading(self) -> bool:
        """Return whether this is the oldest live session of the run."""

    async def others_at_work(self) -> bool:
        """Return whether the run has unfinished origins that this worker does not hold."""

    async def held_elsewhere(self, origins: Sequence[str]) -> frozenset[str]:
        """Those of the origins named that take part in the run and are not this worker's."""

    async def followed_actions(self) -> tuple[commands.PendingAction, ...]:
        """Return what the leading worker has carried out since the last call, oldest first."""

    async def take_requests(self, most: int) -> int:
        """Take up to `most` of the requests the run may still make; return how many."""

    async def claim_page(self, page_id: int, origin: str, url: str) -> bool:
        """Claim a page before it is asked for; False when its job has as many in flight as it may, or another
        worker holds it."""

    async def jobs(self) -> tuple[JobState, ...]: ...

    async def current_rules(self) -> tuple[Ruleset, ...]: ...

    async def on_todo_lists(self, page_ids: Sequence[int]) -> frozenset[int]:
        """Those of the pages named that are still on a todo list."""


class PeerWorker:
    """This worker's part. `granted` counts the requests it may make of those of the run, None: no limit."""

    def __init__(self, table: OriginTable, executor: CommandExecutor, store: PeerStore) -> None:
        self._table, self._executor, self.store = table, executor, store
        self.others_at_work = True
        self.granted: int | None = 0 if table.settings.plan.max_requests is not None else None
        self.order = WorkerOrder.work
        self.gone: set[str] = set()  # origins that are here still, but in other hands
        self.is_spent = False
        """Whether the run has no request left that this worker could take."""

    async def provide(self, requests: int, under_way: int) -> None:
        """Take more of the run's requests before those it has are used up."""
        if self.granted is None or self.is_spent or self.granted - requests - under_way >= _REQUESTS_AT_ONCE // 2:
            return
        taken = await self.store.take_requests(_REQUESTS_AT_ONCE)
        self.granted += taken
        self.is_spent = taken == 0

    async def mirror(self, action: commands.PendingAction) -> tuple[commands.Command, tuple[str, ...]]:
        """Repeat on this worker's origins what the leading one has carried out; return which it concerns."""
        command = action.command
        queue, mine = self._executor.queue, tuple(self._table.states)
        match command:
            case commands.SetDelay(origin=origin):
                if origin in self._table.states:
                    return command, await self._executor.repeat(command, action.who)
            case _ if isinstance(command, OriginCommand):
                own = tuple(name for name in command.origins if name in self._table.states)
                if own or not command.origins:
                    return command, await self._executor.repeat(replace(command, origins=own), action.who)
            case commands.RetryPages():
                return command, await self._executor.bring_forward(command)
            case commands.AddSeeds(urls=urls):
                self._table.take_seeds(urls)
            case commands.Exclude():
                return command, await self._executor.follow_exclusion(command, action.who)
            case commands.ApplyRules():
                return command, (await queue.adopt(await self.store.current_rules()))[0]
            case commands.SetJob() | commands.SteerJobs() | commands.StashPages() | commands.ReclaimPages():
                await queue.take_jobs(await self.store.jobs())
                held = [page.page_id for state in self._table.states.values() for page in state.todo]
                listed = await self.store.on_todo_lists(held) if held else frozenset()
                unlisted = QueueChange((), frozenset(held) - listed)  # on no todo list any more in the database
                return command, await queue.follow(unlisted, mine)
        return command, ()

    def idle(self) -> tuple[str, ...]:
        """Some of this worker's origins that have nothing to do, and may have got something from another: others each
        time, until all were asked."""
        some = tuple(islice(self._table.idle, _IDLE_AT_ONCE))
        for name in some:
            self._table.idle[name] = self._table.idle.pop(name)
        return some
