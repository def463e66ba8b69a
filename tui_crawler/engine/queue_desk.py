"""What operators ask of the queue: jobs, rulesets, stashes, pages in limbo, segments (B, M)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from tui_crawler.domain.command import (
    ApplyRules,
    Dripfeed,
    LoadSegment,
    ReclaimPages,
    SetJob,
    StashPages,
    SteerJobs,
    UnstashPages,
)
from tui_crawler.domain.job import JobState, QueueChange
from tui_crawler.domain.origin import FinishReason, OriginState, Takeover, record_of
from tui_crawler.domain.ruleset import Ruleset
from tui_crawler.domain.turn import finish, reopen
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.engine.ports import Clock, Store
from tui_crawler.engine.roster import Roster

QueueCommand = SetJob | SteerJobs | ApplyRules | StashPages | UnstashPages | Dripfeed | ReclaimPages | LoadSegment
Performed = tuple[object, object, tuple[str, ...]]
"""What was shown before and after, as JSON values, and which origins it concerns."""

_IDLE = frozenset({FinishReason.exhausted})
_ALLOWED_AGAIN = frozenset({FinishReason.exhausted, FinishReason.excluded})


class QueueDesk:
    """Carries out what concerns the queue on roster and store. Raises ValueError for what cannot be done."""

    def __init__(self, roster: Roster, store: Store, clock: Clock) -> None:
        self._roster = roster
        self._store = store
        self._clock = clock

    async def perform(self, command: QueueCommand, who: str) -> Performed:
        """Carries one command out."""
        match command:
            case SetJob() | SteerJobs():
                change = await self._store.change_job(command)
                await self.take_jobs(change.jobs)
                touched = await self.follow(change.queue, self._roster.states)
                return {"job": change.before}, {"job": change.after}, touched
            case ApplyRules():
                return await self._apply(command, who)
            case StashPages() | UnstashPages() | Dripfeed():
                return await self._moved(await self._store.stash(command))
            case ReclaimPages():
                return await self._moved(await self._store.reclaim(command))
            case LoadSegment(path=path):
                return await self._moved(await self.load(path))
            case _:
                assert_never(command)

    async def take_jobs(self, jobs: tuple[JobState, ...]) -> None:
        """Jobs as they stand now; another nice moves the pages on the todo lists, too, whose links inherit it."""
        before = self._roster.judges.jobs
        moved = {job.job_id: job.nice - before[job.job_id].nice for job in jobs if job.job_id in before}
        self._roster.judges.set_jobs(jobs)
        if not any(moved.values()):
            return
        for state in tuple(self._roster.states.values()):
            todo = tuple(replace(page, nice=page.nice + moved.get(page.job_id, 0)) for page in state.todo)
            self._roster.update(replace(state, todo=todo))

    async def load(self, path: str) -> QueueChange:
        """Takes a segment into the queue; its origins join the run. Raises BadSegment."""
        change = await self._store.load_segment(path)
        for origin, count in change.origins:
            await self.join(origin)
            self._roster.pages_known[origin] = self._roster.pages_known.get(origin, 0) + count
        return change

    async def join(self, origin: str) -> None:
        """Takes an origin into the run that was not in it. Among several workers one of them leases it later."""
        if origin in self._roster.states:
            return
        self._roster.judges.add_origin(origin)
        stored = await self._store.add_origin(origin)
        if self._roster.shared:
            return
        self._roster.enter(stored, Takeover(continued=False, unclean=False), self._clock.now())

    async def follow(self, change: QueueChange, wake: Iterable[str]) -> tuple[str, ...]:
        """Todo lists without the pages that left them; the origins named look for work again."""
        touched: list[str] = []
        named = set(wake)
        for name, old in tuple(self._roster.states.items()):
            state = old
            if change.unlisted and any(page.page_id in change.unlisted for page in state.todo):
                state = replace(state, todo=tuple(p for p in state.todo if p.page_id not in change.unlisted))
            if name in named:
                state = reopen(state, _IDLE)
            if state != old:
                await self._keep(state)
            if name in named or state != old:
                touched.append(name)
        return tuple(touched)

    async def readmit(self, names: Iterable[str]) -> tuple[str, ...]:
        """Origins that are no longer excluded go on; answers which."""
        back = []
        for name in names:
            state = self._roster.states[name]
            if state.finished is FinishReason.excluded and not self.excludes(name):
                await self._keep(reopen(state, _ALLOWED_AGAIN))
                back.append(name)
        return tuple(back)

    async def exclude(self, names: Iterable[str]) -> tuple[str, ...]:
        """Origins that are excluded now are finished; answers which."""
        ended = []
        for name in names:
            state = self._roster.states[name]
            if state.finished is not FinishReason.excluded and self.excludes(name):
                await self._keep(replace(finish(state, FinishReason.excluded), finished=FinishReason.excluded))
                ended.append(name)
        return tuple(ended)

    def excludes(self, origin: str) -> bool:
        """Whether the exclusion list holds for the origin itself."""
        url = normalise(origin)
        return not isinstance(url, InvalidUrl) and self._roster.judges.main.excludes(url) is not None

    async def adopt(self, rulesets: tuple[Ruleset, ...]) -> tuple[str, ...]:
        """Goes by these rulesets from now on: origins finish as excluded, or are no longer; all look for work."""
        self._roster.judges.adopt(rulesets, (), self._roster.settings.plan.job)
        names = tuple(self._roster.states)
        await self.exclude(names)
        await self.readmit(names)
        return await self.follow(QueueChange(), names)

    async def _apply(self, command: ApplyRules, who: str) -> Performed:
        rulesets = await self._store.apply_rules(command, who)
        touched = await self.adopt(rulesets)
        after = {one.job: one.ruleset_id for one in rulesets}
        return {"ruleset": command.base_id}, {"rulesets": after}, touched

    async def _moved(self, change: QueueChange) -> Performed:
        touched = await self.follow(change, [name for name, _ in change.origins])
        return {}, {"pages": dict(change.origins)}, touched

    async def _keep(self, state: OriginState) -> None:
        self._roster.update(state)
        await self._store.save_origin(record_of(state))


def as_json(value: object) -> str:
    """A value as the journal keeps it."""
    return json.dumps(value)
