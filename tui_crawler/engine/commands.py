"""Carrying out what operators ask for: rows of the journal, folded into the states of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from tui_crawler.domain.admission import Found
from tui_crawler.domain.attempt import FillRecord, OriginRecord
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
from tui_crawler.domain.endings import FinishReason
from tui_crawler.domain.exclusion import ExclusionIndex
from tui_crawler.domain.job import JobState, QueueChange
from tui_crawler.domain.origin import OriginState, record_of
from tui_crawler.domain.page import NewPage, TodoPage
from tui_crawler.domain.pattern import BadPattern
from tui_crawler.domain.policy import Exclusion
from tui_crawler.domain.ruleset import Ruleset
from tui_crawler.domain.turn import finish, refetch_robots, reopen, slow_down, top_up
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise
from tui_crawler.domain.verdict import Refused
from tui_crawler.engine.pieces import fold_origins, pieces
from tui_crawler.engine.ports import Clock, Store
from tui_crawler.engine.probes import Probes
from tui_crawler.engine.queue_desk import Performed, QueueCommand, QueueDesk, as_json
from tui_crawler.engine.roster import Roster

_OfOrigins = PauseOrigins | ResumeOrigins | StopOrigins | TopUpPatience | SetDelay | RefetchRobots
Steered = _OfOrigins | AddSeeds | RetryPages | Exclude | QueueCommand
_FRONT = 1_000  # so many added seeds of an origin go to the front of its todo list; more wait for the next fill
_SEEDS = 128  # so many are added at once
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
        return (await self._queue.adopt(rulesets))[0]

    async def load_segment(self, path: str) -> tuple[str, ...]:
        """Takes a segment into the queue by itself (M); answers the origins that have work again. Raises BadSegment."""
        change = await self._queue.load(path)
        return await self._queue.follow(change, [name for name, _ in change.origins])

    async def _perform(self, command: Steered, who: str) -> Performed:
        match command:
            case PauseOrigins(origins=origins):
                return await self._each(origins, _paused, lambda s: replace(s, paused=True))
            case ResumeOrigins(origins=origins):
                return await self._resume(origins)
            case StopOrigins(origins=origins):
                return await self._each(origins, _finish_reason, lambda s: finish(s, FinishReason.operator))
            case TopUpPatience(origins=origins):
                return await self._each(origins, lambda s: s.patience, self._topped_up)
            case RefetchRobots(origins=origins):
                return await self._each(origins, lambda s: s.robots.expires_at, refetch_robots)
            case SetDelay(origin=origin, delay_ms=ms):
                before, after, touched = await self._each(
                    (origin,), lambda s: s.pace.operator_ms, lambda s: self._slower(s, ms)
                )
                if origin in before:
                    after["in_force"] = self._roster.states[origin].delay_ms
                return before, after, touched
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
    ) -> tuple[dict[str, object], dict[str, object], tuple[str, ...]]:
        """Folds the states of the origins named (or all); answers the shown value before and after."""
        foreign = [name for name in origins if name not in self._roster.states]
        held = await self._elsewhere(foreign) if foreign else frozenset()
        unknown = [name for name in foreign if name not in held]
        if unknown:
            raise ValueError(f"not an origin of this crawl: {', '.join(unknown[:5])}")
        names = self._roster.named(origins) if origins else list(self._roster.states)
        before: dict[str, object] = {}
        after: dict[str, object] = dict.fromkeys(sorted(held), "passed on to the worker that holds it")
        for old, new in await fold_origins(self._roster, self._store, names, fold):
            before[old.origin], after[new.origin] = shown(old), shown(new)
        return before, after, tuple(names)

    async def _resume(self, origins: tuple[str, ...]) -> Performed:
        """Takes the pause off. At rest `let_go` says how many of the origins have something to do now that nobody does:
        for them alone another run may begin."""
        before, after, touched = await self._each(origins, _paused, _resumed)
        if not self.crawls:
            free = [name for name in before if self._roster.states[name].finished is None]
            going = await self._store.awake(free, self._clock.now().wall_ms)
            after |= {"let_go": len(going)} if going else {}
        return before, after, touched

    def _topped_up(self, state: OriginState) -> OriginState:
        return top_up(state, self._roster.settings.settings_of(state.origin))

    def _slower(self, state: OriginState, ms: int) -> OriginState:
        return slow_down(state, ms, self._clock.now(), self._roster.settings.settings_of(state.origin))

    async def _retry(self, command: RetryPages) -> Performed:
        counted = await self._store.retry(command)
        touched = tuple(name for name, _ in counted if name in self._roster.states)
        moved = frozenset(await self.bring_forward(command) if self.crawls else ())
        asleep = [name for name in touched if name not in moved]
        await fold_origins(self._roster, self._store, asleep, lambda state: reopen(state, _IDLE))
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
            held = named.intersection(page.page_id for page in state.todo)
            front = [page for page in back if page.page_id in held or page.page_id not in found.listed]
            moved[name] = frozenset(page.page_id for page in front)
            rest = [page for page in state.todo if page.page_id not in held] if held else state.todo
            self._roster.update(replace(state, todo=(*front, *rest)))

        for some in pieces(tuple(moved)):
            placed = []
            for state in map(self._roster.states.__getitem__, some):  # what turns have taken meanwhile is left out
                first = tuple(page.page_id for page in state.todo if page.page_id in moved[state.origin])
                placed.append((record_of(state), first))
            await self._store.put_first(placed)
        return tuple(moved)

    async def _add(self, command: AddSeeds) -> Performed:
        pages, refused = await self._read_seeds(command)
        if not pages and refused:
            raise ValueError("; ".join(refused[:5]))
        put_off = frozenset(pages) if command.not_before > self._clock.now().wall_ms else frozenset()
        front: dict[str, list[TodoPage]] = {page.origin: [] for page in pages.values()}
        number = 0
        for some in list(pieces(tuple(pages.values()), _SEEDS)) or [()]:  # without any, too, an unknown job is told
            added = await self._store.add_pages(some, command.job)
            number += len(added)
            self._roster.take_seeds(page.url for page in some)
            await self._to_front(some, added, front, put_off)
        return {}, {"added": number, "known": len(pages) - number, "refused": refused[:20]}, tuple(front)

    async def _read_seeds(self, command: AddSeeds) -> tuple[dict[str, NewPage], list[str]]:
        """The pages that are asked for, by URL, and why others are none. Their origins join the run."""
        urls: list[CrawlUrl] = []
        origins: dict[str, None] = {}
        refused: list[str] = []
        for some in pieces(command.urls, _SEEDS):
            for raw in some:
                url = normalise(raw, None, self._roster.judges.main.limits.max_url_length)
                if isinstance(url, InvalidUrl):
                    refused.append(f"{url.raw[:200]}: {url.reason}")
                else:
                    urls.append(url)
                    origins[url.origin] = None
            await asyncio.sleep(0)  # of many URLs, what turns have brought goes in between
        await self.join(origins)
        pages: dict[str, NewPage] = {}
        admission, job = self._roster.judges.named(command.job), self._roster.judges.job_named(command.job)
        for found in pieces(urls, _SEEDS):
            for url in found:
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
            await asyncio.sleep(0)
        return pages, refused

    async def join(self, origins: Iterable[str], external: bool = False) -> None:
        """Takes origins into the run that were not in it; `external` ones are not crawled, only checked."""
        await self._queue.join(origins, external)

    async def _to_front(
        self,
        seeds: Sequence[NewPage],
        added: Sequence[TodoPage],
        front: Mapping[str, list[TodoPage]],
        put_off: frozenset[str],
    ) -> None:
        """Added seeds come before what is on the todo lists of their origins, after those that are in `front` already
        (a page in flight keeps its place by its id); URLs that are put off leave them. Origins that another worker
        holds are left out: it finds them."""
        origins, new = {page.url: page.origin for page in seeds}, {page.origin: list[TodoPage]() for page in seeds}
        for page in added:
            if page.url in origins:
                new[origins[page.url]].append(page)
        for some in pieces([origin for origin in new if origin in self._roster.states]):
            placed: list[tuple[OriginRecord, tuple[int, ...]]] = []
            fills: list[FillRecord] = []
            for origin in some:
                state = reopen(self._roster.states[origin], _IDLE)
                leaves = bool(put_off) and any(page.url in put_off for page in state.todo)
                taken = new[origin] if leaves else new[origin][: max(0, _FRONT - len(front[origin]))]
                first: tuple[TodoPage, ...] = ()
                if taken or leaves:
                    listed = {page.page_id for page in state.todo}
                    first = (*(page for page in front[origin] if page.page_id in listed), *taken)
                    state = replace(state, todo=_in_front(first, state.todo, put_off))
                    front[origin].extend(taken)
                self._roster.update(state)
                ids = tuple(page.page_id for page in first)
                if leaves:
                    fills.append(FillRecord(record_of(state), ids, tuple(page.page_id for page in state.todo)))
                else:
                    placed.append((record_of(state), ids))
            await self._store.put_first(placed)
            await asyncio.gather(*map(self._store.fill, fills))

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
        after = {"changed": change is not None, "origins": list(concerned), "pages": dict(back.origins)}
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


def _in_front(pages: tuple[TodoPage, ...], todo: Iterable[TodoPage], put_off: frozenset[str]) -> tuple[TodoPage, ...]:
    """A todo list that begins with these pages, without those that are put off."""
    new = {page.page_id for page in pages}
    return pages + tuple(page for page in todo if page.page_id not in new and page.url not in put_off)
