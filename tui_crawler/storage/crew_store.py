"""What several workers of one run share, over the writer of this worker's store. Fits the engine's CrewStore."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tui_crawler.domain.command import PendingAction
from tui_crawler.domain.job import JobState
from tui_crawler.domain.ruleset import Ruleset
from tui_crawler.domain.run import StoredOrigin
from tui_crawler.storage import crew, desk, jobs, rulesets
from tui_crawler.storage.claim import Claim
from tui_crawler.storage.crew import Crew
from tui_crawler.storage.transaction import Transaction
from tui_crawler.storage.writer import Writer

LOOKS_BETWEEN_LEASES = 5  # origins are leased at every fifth look at the database


class CrewStore:
    """Every method returns after its transaction is committed. `held` gives the claim of the store."""

    def __init__(self, writer: Writer, held: Callable[[], Claim], members: Crew) -> None:
        self._writer = writer
        self._held = held
        self._members = members
        self._looks = 0
        self._followed = -1

    async def take_origins(self) -> tuple[StoredOrigin, ...]:
        """Leases origins that nobody holds, up to this worker's share; not at every look."""
        self._looks += 1
        if self._looks % LOOKS_BETWEEN_LEASES != 1:
            return ()
        claim, members = self._held(), self._members
        return await self._writer.write(lambda work: crew.take_origins(work, claim, members))

    async def is_leading(self) -> bool:
        """Whether this is the oldest open session of the run."""
        claim = self._held()
        return await self._writer.read(lambda work: crew.is_leading(work, claim))

    async def others_at_work(self) -> bool:
        """Whether the run has unfinished origins that this worker does not hold."""
        claim = self._held()
        return await self._writer.read(lambda work: crew.others_at_work(work, claim))

    async def held_elsewhere(self, origins: Sequence[str]) -> frozenset[str]:
        """Those of the origins named that take part in the run and are not this worker's."""
        claim = self._held()
        return await self._writer.read(lambda work: crew.held_elsewhere(work, claim, origins))

    async def followed_actions(self) -> tuple[PendingAction, ...]:
        """What the leading worker has carried out since the last call; nothing while this one leads."""
        claim, after = self._held(), self._followed

        def look(work: Transaction) -> tuple[int, tuple[PendingAction, ...]]:
            if after < 0 or crew.is_leading(work, claim):
                return crew.last_action(work), ()
            return desk.carried_out_actions(work, after)

        self._followed, actions = await self._writer.read(look)
        return actions

    async def take_requests(self, most: int) -> int:
        """Takes up to `most` of the requests the run may still make; answers how many."""
        claim = self._held()
        return await self._writer.write(lambda work: crew.take_requests(work, claim, most))

    async def claim_page(self, page_id: int, origin: str, url: str) -> bool:
        """Claims a page; False when its job has enough in flight, or another worker holds it."""
        claim = self._held()
        return await self._writer.write(lambda work: crew.claim_page(work, claim, page_id, origin, url))

    async def jobs(self) -> tuple[JobState, ...]:
        """All jobs as they stand."""
        return await self._writer.read(jobs.job_states)

    async def current_rules(self) -> tuple[Ruleset, ...]:
        """The rulesets in force."""
        return await self._writer.read(rulesets.current)

    async def on_todo_lists(self, page_ids: Sequence[int]) -> frozenset[int]:
        """Those of the pages named that are still on a todo list."""
        return await self._writer.read(lambda work: crew.on_todo_lists(work, page_ids))
