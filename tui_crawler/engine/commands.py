"""Carrying out what operators ask for: rows of the journal, folded into the states of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from tui_crawler.domain.admission import Found
from tui_crawler.domain.attempt import FillRecord
from tui_crawler.domain.command import (
    ActionResult,
    AddSeeds,
    ApplyRules,
    Command,
    Dripfeed,
    Exclude,
    LoadSegment,
    PauseOrigins,
    PendingAction,
    ProbeUrls,
    ReclaimPages,
    RefetchRobots,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    SetJob,
    StashPages,
    SteerJobs,
    StopOrigins,
    TopUpPatience,
    UnstashPages,
)
from tui_crawler.domain.exclusion import ExclusionIndex
from tui_crawler.domain.job import JobState, QueueChange
from tui_crawler.domain.origin import FinishReason, OriginState, record_of
from tui_crawler.domain.page import NewPage, TodoPage
from tui_crawler.domain.pattern import BadPattern
from tui_crawler.domain.policy import Exclusion
from tui_crawler.domain.ruleset import Ruleset
from tui_crawler.domain.turn import finish, refetch_robots, reopen, slow_down, top_up
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise
from tui_crawler.domain.verdict import Refused
from tui_crawler.engine.ports import Clock, Store
from tui_crawler.engine.probes import Probes
from tui_crawler.engine.queue_desk import Performed, QueueCommand, QueueDesk, as_json
from tui_crawler.engine.roster import Roster

_OfOrigins = PauseOrigins | ResumeOrigins | StopOrigins | TopUpPatience | SetDelay | RefetchRobots
Steered = _OfOrigins | AddSeeds | RetryPages | Exclude | QueueCommand
_FRONT = 1_000  # so many added seeds go to the front of the todo list; more wait for the next fill
_TOGETHER = 64  # so many origins are stored at once, in one commit; what turns have brought goes in between
_IDLE = frozenset({FinishReason.exhausted})


Elsewhere = Callable[[Sequence[str]], Awaitable[frozenset[str]]]


async def _nowhere(origins: Sequence[str]) -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of one action, and which origins it concerns. `result` None: its answers are still to come."""

    result: ActionResult | None
    command: Command
    touched: tuple[str, ...] = ()


class CommandDesk:
    """Carries out actions on the roster and the store. The engine tells the origins' new places afterwards."""

    def __init__(self, roster: Roster, store: Store, clock: Clock, elsewhere: Elsewhere = _nowhere) -> None:
        """`elsewhere` answers which of the origins named another worker of the run holds."""
        self._roster = roster
        self._store = store
        self._clock = clock
        self._elsewhere = elsewhere
        self.crawls = True
        """Whether there are turns to come: else pages that are put back wait for the todo lists of the next run."""
        self._queue = QueueDesk(roster, store, clock)
        self.probes = Probes(roster, clock)

    async def carry_out(self, action: PendingAction) -> Carried:
        """Carries out one action; a command that cannot be is answered with its error, nothing is changed."""
        command = action.command
        try:
            if isinstance(command, ProbeUrls):
                return Carried(None, command, self.probes.ask(action.action_id, command))
            before, after, touched = await self._perform(command, action.who)
        except (ValueError, BadPattern) as error:
            return Carried(ActionResult(action.action_id, "", "", str(error)), command)
        result = ActionResult(action.action_id, as_json(before), as_json(after))
        return Carried(result, command, touched)

    async def repeat(self, command: Steered, who: str) -> tuple[str, ...]:
        """Carries out again, on this worker's origins, what the leading worker has; answers which it concerns."""
        return (await self._perform(command, who))[2]

    async def follow_exclusion(self, command: Exclude, who: str) -> tuple[str, ...]:
        """The same for the exclusion list, which the leading worker has written already."""
        exclusion, names = _exclusion_of(command, who), tuple(self._roster.states)
        if command.remove:
            self._roster.judges.readmit(exclusion.kind, exclusion.value)
            await self._queue.readmit(names)
        else:
            self._roster.judges.exclude((exclusion,))
            await self._queue.exclude(names)
        return await self._queue.follow(QueueChange(), names)  # pages whose verdict is another one have come back

    async def follow_jobs(self, jobs: tuple[JobState, ...]) -> None:
        """The same for jobs."""
        await self._queue.take_jobs(jobs)

    async def follow_queue(self, change: QueueChange, wake: Iterable[str]) -> tuple[str, ...]:
        """The same for pages that left their todo lists."""
        return await self._queue.follow(change, wake)

    async def follow_rules(self, rulesets: tuple[Ruleset, ...]) -> tuple[str, ...]:
        """The same for rulesets."""
        return await self._queue.adopt(rulesets)

    async def load_segment(self, path: str) -> tuple[str, ...]:
        """Takes a segment into the queue by itself (M); answers the origins that have work again. Raises BadSegment."""
        change = await self._queue.load(path)
        return await self._queue.follow(change, [name for name, _ in change.origins])

    async def _perform(self, command: Steered, who: str) -> Performed:
        match command:
            case PauseOrigins(origins=origins):
                return await self._each(origins, _paused, lambda s: replace(s, paused=True))
            case ResumeOrigins(origins=origins):
                return await self._each(origins, _paused, _resumed)
            case StopOrigins(origins=origins):
                return await self._each(origins, _finish_reason, lambda s: finish(s, FinishReason.operator))
            case TopUpPatience(origins=origins):
                return await self._each(origins, lambda s: s.patience, self._topped_up)
            case RefetchRobots(origins=origins):
                return await self._each(origins, lambda s: s.robots.expires_at, refetch_robots)
            case SetDelay(origin=origin, delay_ms=ms):
                return await self._each((origin,), lambda s: s.pace.operator_ms, lambda s: self._slower(s, ms))
            case RetryPages():
                return await self._retry(command)
            case AddSeeds():
                return await self._add(command)
            case Exclude():
                return await self._exclude(command, who)
            case (
                SetJob()
                | SteerJobs()
                | ApplyRules()
                | StashPages()
                | UnstashPages()
                | Dripfeed()
                | ReclaimPages()
                | LoadSegment()
            ):
                return await self._queue.perform(command, who)
            case _:
                assert_never(command)

    async def _each(
        self,
        origins: tuple[str, ...],
        shown: Callable[[OriginState], object],
        fold: Callable[[OriginState], OriginState],
    ) -> Performed:
        """Folds the states of the origins named (or all); answers the shown value before and after."""
        foreign = [name for name in origins if name not in self._roster.states]
        held = await self._elsewhere(foreign) if foreign else frozenset()
        unknown = [name for name in foreign if name not in held]
        if unknown:
            raise ValueError(f"not an origin of this crawl: {', '.join(unknown[:5])}")
        names = self._roster.named(origins) if origins else list(self._roster.states)
        before: dict[str, object] = {}
        after: dict[str, object] = dict.fromkeys(sorted(held), "passed on to the worker that holds it")
        for name in names:
            old = self._roster.states[name]
            new = fold(old)
            if new == old:
                continue
            self._roster.update(new)
            before[name], after[name] = shown(old), shown(new)
            await self._store.save_origin(record_of(new))
        return before, after, tuple(names)

    def _topped_up(self, state: OriginState) -> OriginState:
        return top_up(state, self._roster.settings.settings_of(state.origin))

    def _slower(self, state: OriginState, ms: int) -> OriginState:
        return slow_down(state, ms, self._clock.now(), self._roster.settings.settings_of(state.origin))

    async def _retry(self, command: RetryPages) -> Performed:
        counted = await self._store.retry(command)
        touched = tuple(name for name, _ in counted if name in self._roster.states)
        moved = frozenset(await self.bring_forward(command) if self.crawls else ())

        async def wake(name: str) -> None:
            state = self._roster.update(reopen(self._roster.states[name], _IDLE))
            await self._store.save_origin(record_of(state))

        await _for_each([name for name in touched if name not in moved], wake)
        return {}, {"retried": dict(counted)}, touched

    async def bring_forward(self, command: RetryPages) -> tuple[str, ...]:
        """Pages that were put back come next at this worker's origins; answers at which. A page that stands on a todo
        list in the database alone is left out: its attempt is over, and about to be stored."""
        found = await self._store.put_back(command)
        moved: dict[str, frozenset[int]] = {}
        for name, back in found.origins:  # at once: what is awaited lets turns go on
            if name not in self._roster.states:
                continue  # another worker holds it
            state = reopen(self._roster.states[name], _IDLE)
            named = {page.page_id for page in back}
            held = {page.page_id for page in state.todo if page.page_id in named}
            front = [page for page in back if page.page_id in held or page.page_id not in found.listed]
            moved[name] = frozenset(page.page_id for page in front)
            rest = [page for page in state.todo if page.page_id not in held] if held else state.todo
            self._roster.update(replace(state, todo=(*front, *rest)))

        async def store(name: str) -> None:
            """What turns have taken meanwhile is not written back: it is left out as the rest is handed over."""
            state = self._roster.states[name]
            first = tuple(page.page_id for page in state.todo if page.page_id in moved[name])
            await self._store.put_first(record_of(state), first)

        await _for_each(tuple(moved), store)
        return tuple(moved)

    async def _add(self, command: AddSeeds) -> Performed:
        urls: list[CrawlUrl] = []
        refused: list[str] = []
        for raw in command.urls:
            url = normalise(raw, None, self._roster.judges.main.limits.max_url_length)
            if isinstance(url, InvalidUrl):
                refused.append(f"{raw[:200]}: {url.reason}")
                continue
            urls.append(url)
        for origin in dict.fromkeys(url.origin for url in urls):
            await self.join(origin)
        pages: dict[str, NewPage] = {}
        admission, job = self._roster.judges.named(command.job), self._roster.judges.job_named(command.job)
        for url in urls:
            known = self._roster.pages_known.get(url.origin, 0)
            verdict = admission.admit(Found(url, 0, None, known))
            if isinstance(verdict, Refused):
                refused.append(f"{url.href}: {verdict.reason.value}: {verdict.detail}")
                continue
            pages[url.href] = NewPage(
                url.href,
                url.hash,
                url.origin,
                depth=0,
                nice=job.nice if job else 0,
                seed=True,
                item_pattern=command.pattern,
                force=command.force,
                not_before=command.not_before,
            )
        if not pages and refused:
            raise ValueError("; ".join(refused[:5]))
        added = await self._store.add_pages(tuple(pages.values()), command.job)
        touched = tuple(dict.fromkeys(page.origin for page in pages.values()))
        put_off = frozenset(pages) if command.not_before > self._clock.now().wall_ms else frozenset()
        mine: dict[str, list[TodoPage]] = {}
        for page in added:
            if page.url in pages:
                mine.setdefault(pages[page.url].origin, []).append(page)
        for origin in touched:
            await self._to_front(origin, tuple(mine.get(origin, ())), put_off)
        return {}, {"added": len(added), "known": len(pages) - len(added), "refused": refused[:20]}, touched

    async def join(self, origin: str) -> None:
        """Takes an origin into the run that was not in it."""
        await self._queue.join(origin)

    async def _to_front(self, origin: str, pages: tuple[TodoPage, ...], put_off: frozenset[str]) -> None:
        """Added seeds come before what is on the todo list (a page in flight keeps its place by its id); URLs that are
        put off leave it."""
        if origin not in self._roster.states:
            return  # another worker holds it, and finds them
        state = reopen(self._roster.states[origin], _IDLE)
        leaving = any(page.url in put_off for page in state.todo)
        if 0 < len(pages) <= _FRONT or leaving:
            new = {page.page_id for page in pages}
            state = replace(
                state, todo=pages + tuple(p for p in state.todo if p.page_id not in new and p.url not in put_off)
            )
            record = FillRecord(record_of(state), tuple(new), tuple(page.page_id for page in state.todo))
            self._roster.update(state)
            await self._store.fill(record)
            return
        self._roster.update(state)
        await self._store.save_origin(record_of(state))

    async def _exclude(self, command: Exclude, who: str) -> Performed:
        exclusion = _exclusion_of(command, who)
        names, judges = tuple(self._roster.states), self._roster.judges
        if not command.remove:
            ExclusionIndex((exclusion,))  # a value that is none of its kind changes nothing
        change = await self._store.change_exclusion(exclusion, command.remove)
        if command.remove:
            if change is None:
                self._refuse_removal(exclusion)
            judges.readmit(exclusion.kind, exclusion.value)
            concerned = await self._queue.readmit(names)
        else:
            if change is not None:
                judges.exclude((exclusion,))
            concerned = await self._queue.exclude(names)
        back = change or QueueChange()
        awake = await self._queue.follow(back, [name for name, _ in back.origins])
        after = {"changed": change is not None, "origins": list(concerned)}
        return {}, after, tuple(dict.fromkeys((*concerned, *awake)))

    def _refuse_removal(self, exclusion: Exclusion) -> None:
        """Raises ValueError for an entry of the rules: those are changed as rules."""
        for entry in self._roster.judges.main.policies.exclusions:
            if (entry.kind, entry.value) == (exclusion.kind, exclusion.value):
                where = f" ({entry.source})" if entry.source else ""
                raise ValueError(f"{entry.kind} {entry.value} stands in the rules{where}: change it there")


def _exclusion_of(command: Exclude, who: str) -> Exclusion:
    match command.kind:
        case "domain" | "host" | "cidr" | "pattern" as kind:
            return Exclusion(kind, command.value, command.reason, who, "operator")
        case other:
            raise ValueError(f"unknown kind of exclusion: {other!r} (domain, host, cidr or pattern)")


def _resumed(state: OriginState) -> OriginState:
    """Resume takes the pause off; an origin the operator had stopped goes on, too."""
    return reopen(replace(state, paused=False), frozenset({FinishReason.operator}))


def _paused(state: OriginState) -> object:
    return state.paused


def _finish_reason(state: OriginState) -> object:
    return state.finished.value if state.finished else None


async def _for_each(names: Sequence[str], store: Callable[[str], Awaitable[None]]) -> None:
    """Stores something of every origin named, _TOGETHER at a time."""
    for start in range(0, len(names), _TOGETHER):
        await asyncio.gather(*(store(name) for name in names[start : start + _TOGETHER]))
