"""What operators ask of the queue: jobs, rulesets, stashes, pages in limbo, segments (B, M)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from tui_crawler.domain.crawl.job import JobState, QueueChange
from tui_crawler.domain.crawl.origin import OriginState, Takeover
from tui_crawler.domain.crawl.turn import finish, reopen
from tui_crawler.domain.records import command as commands
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.rules.ruleset import Ruleset
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.engine.origin_table import OriginTable, fold_origins, pieces
from tui_crawler.engine.ports import Clock, Store

Performed = tuple[object, object, tuple[str, ...]]
"""What was shown before and after, as JSON values, and which origins it concerns."""

_IDLE = frozenset({FinishReason.exhausted})
_ALLOWED_AGAIN = frozenset({FinishReason.exhausted, FinishReason.excluded})


@dataclass(slots=True)
class QueueCommands:
    """Carries out what concerns the queue on roster and store. Raises ValueError for what cannot be done."""

    _table: OriginTable
    _store: Store
    _clock: Clock

    async def perform(self, command: commands.QueueCommand, who: str) -> Performed:
        match command:
            case commands.SetJob() | commands.SteerJobs():
                change = await self._store.change_job(command)
                await self.take_jobs(change.jobs)
                touched = await self.follow(change.queue, self._table.states)
                return {"job": change.before}, {"job": change.after}, touched
            case commands.ApplyRules():
                rulesets, moved = await self._store.apply_rules(command, who)
                touched, back = await self.adopt(rulesets)
                versions = {one.job: one.ruleset_id for one in rulesets}
                after = {"rulesets": versions, "origins": list(back), "pages": dict(moved.origins)}
                return {"ruleset": command.base_id}, after, touched
            case commands.StashPages() | commands.UnstashPages() | commands.SetDripfeed():
                moved = await self._store.stash(command)
            case commands.ReclaimPages():
                moved = await self._store.reclaim(command)
            case commands.LoadSegment(path=path):
                moved = await self.load(path)
            case _:
                assert_never(command)
        return {}, {"pages": dict(moved.origins)}, await self.follow(moved, [name for name, _ in moved.origins])

    async def take_jobs(self, jobs: tuple[JobState, ...]) -> None:
        """Jobs as they stand now; another nice moves the pages on the todo lists, too, whose links inherit it."""
        before = self._table.job_filters.jobs
        moved = {job.job_id: job.nice - before[job.job_id].nice for job in jobs if job.job_id in before}
        self._table.job_filters.jobs = {job.job_id: job for job in jobs}
        if not any(moved.values()):
            return
        for state in tuple(self._table.states.values()):
            todo = tuple(replace(page, nice=page.nice + moved.get(page.job_id, 0)) for page in state.todo)
            self._table.update(replace(state, todo=todo))

    async def load(self, path: str) -> QueueChange:
        """Take a segment into the queue; its origins join the run. Raises BadSegment."""
        change = await self._store.load_segment(path)
        await self.join(origin for origin, _ in change.origins)
        for origin, count in change.origins:
            self._table.pages_known[origin] = self._table.pages_known.get(origin, 0) + count
        return change

    async def join(self, origins: Iterable[str], external: bool = False, start_path: str = "") -> None:
        """Take origins into the run that were not in it, or were `external` and are no longer. Among several
        workers one of them leases each later. `start_path`: what they get."""
        states = self._table.states
        checked = {origin for origin, state in states.items() if state.external} if not external else set[str]()
        new = [origin for origin in dict.fromkeys(origins) if origin not in states or origin in checked]
        for some in pieces(new):
            for origin in some if not external else ():
                self._table.job_filters.add_origin(origin, start_path)
            stored = await self._store.add_origins(some, external, start_path)
            for origin in checked.intersection(some):
                self._table.update(replace(states[origin], external=False))
            if self._table.shared:
                self._table.remember_joined(some, external)
                continue
            for one in stored:
                if one.record.origin not in self._table.states:
                    self._table.enter(one, Takeover(continued=False, unclean=False), self._clock.now())

    async def follow(self, change: QueueChange, wake: Iterable[str]) -> tuple[str, ...]:
        """Todo lists without the pages that left them; the origins named look for work again."""
        named = set(wake)

        def fold(state: OriginState) -> OriginState:
            if change.unlisted and any(page.page_id in change.unlisted for page in state.todo):
                state = replace(state, todo=tuple(p for p in state.todo if p.page_id not in change.unlisted))
            return reopen(state, _IDLE) if state.origin in named else state

        names = tuple(self._table.states)
        changed = frozenset(await self._fold(names, fold))
        return tuple(name for name in names if name in named or name in changed)

    async def readmit(self, names: Iterable[str]) -> tuple[str, ...]:
        """Origins that are no longer excluded go on; answers which."""

        def fold(state: OriginState) -> OriginState:
            back = state.finished is FinishReason.excluded and not self.excludes(state.origin)
            return reopen(state, _ALLOWED_AGAIN) if back else state

        return await self._fold(names, fold)

    async def exclude(self, names: Iterable[str]) -> tuple[str, ...]:
        """Origins that are excluded now are finished; answers which."""

        def fold(state: OriginState) -> OriginState:
            if state.finished is FinishReason.excluded or not self.excludes(state.origin):
                return state
            return replace(finish(state, FinishReason.excluded), finished=FinishReason.excluded)

        return await self._fold(names, fold)

    def excludes(self, origin: str) -> bool:
        """Return whether the exclusion list holds for the origin itself."""
        url = normalise(origin)
        return not isinstance(url, InvalidUrl) and self._table.job_filters.main.excludes(url) is not None

    async def adopt(self, rulesets: tuple[Ruleset, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Go by these rulesets from now on: origins finish as excluded, or are no longer; all look for work. Answers
        which it concerns, and which are no longer excluded."""
        self._table.job_filters.adopt(rulesets, (), self._table.settings.plan.job)
        names = tuple(self._table.states)
        await self.exclude(names)
        back = await self.readmit(names)
        return await self.follow(QueueChange(), names), back

    async def _fold(self, names: Iterable[str], fold: Callable[[OriginState], OriginState]) -> tuple[str, ...]:
        changed = await fold_origins(self._table, self._store, tuple(names), fold)
        return tuple(new.origin for _, new in changed)
