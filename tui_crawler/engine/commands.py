"""Carrying out what operators ask for: rows of the journal, folded into the states of a run."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from tui_crawler.domain.crawl.job import QueueChange
from tui_crawler.domain.crawl.origin import OriginState, record_of
from tui_crawler.domain.crawl.turn import OriginCommand, obey, reopen
from tui_crawler.domain.records import command as commands
from tui_crawler.domain.records.attempt import FillRecord, OriginRecord
from tui_crawler.domain.records.failure import BadSegment
from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.rules.admission import Discovered
from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionIndex
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.verdict import Refused
from tui_crawler.domain.url import CrawlUrl, Href, InvalidUrl, normalise, url_hash
from tui_crawler.engine.origin_table import TOGETHER, OriginTable, fold_origins, pieces
from tui_crawler.engine.ports import Clock, Store
from tui_crawler.engine.probes import Probes
from tui_crawler.engine.queue_commands import Performed, QueueCommands

Steered = (
    OriginCommand | commands.AddSeeds | commands.RetryPages | commands.Exclude
    | commands.WorkerCommand | commands.QueueCommand
)  # fmt: skip
_FRONT = 1_000  # so many added seeds of an origin go to the front of its todo list; more wait for the next fill
_SEEDS = 1_000  # so many are added at once; while nobody crawls, each page of an index is written once for many:
_SEEDS_AT_REST = 20_000
_READ = 128  # so many URLs are looked at before turns go on
_FEW_SEEDS = 128  # no more than so many come next however long the todo lists are
_NEXT_AT_REST = 5_000  # of more, while nobody crawls, as many as fit into todo lists of so many pages over all
_IDLE = frozenset({FinishReason.exhausted})


_SHOWN: Mapping[type[OriginCommand], Callable[[OriginState], object]] = {
    commands.PauseOrigins: lambda state: state.paused,
    commands.ResumeOrigins: lambda state: state.paused,
    commands.StopOrigins: lambda state: state.finished.value if state.finished else None,
    commands.TopUpPatience: lambda state: state.patience,
    commands.RefetchRobots: lambda state: state.robots.expires_at,
    commands.SetDelay: lambda state: state.pace.operator_ms,
}
"""What the journal shows of an origin before and after each command."""
Elsewhere = Callable[[Sequence[str]], Awaitable[frozenset[str]]]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of one action, and the origins it concerns. `result` None: its answers are still to come."""

    result: commands.ActionResult | None
    command: commands.Command
    touched: tuple[str, ...] = ()


class CommandExecutor:
    """Carries out actions on the roster and the store. The engine tells the origins' new places afterwards."""

    def __init__(self, table: OriginTable, store: Store, clock: Clock, elsewhere: Elsewhere | None = None) -> None:
        """`elsewhere` returns which of the origins named another worker of the run holds."""
        self._table, self._store, self._clock, self._elsewhere = table, store, clock, elsewhere
        self.crawls = True
        """Whether there are turns to come: else pages that are put back wait for the todo lists of the next run."""
        self.queue = QueueCommands(table, store, clock)
        self.probes = Probes(table, clock)

    async def carry_out(self, action: commands.PendingAction) -> CommandResult:
        """Carry out one action; a command that cannot be is answered with its error, nothing is changed."""
        command = action.command
        try:
            if isinstance(command, commands.ProbeUrls):
                return CommandResult(None, command, self.probes.ask(action.action_id, command))
            before, after, touched = await self._perform(command, action.who)
        except (ValueError, BadPattern, BadSegment) as error:
            return CommandResult(commands.ActionResult(action.action_id, "", "", str(error)), command)
        result = commands.ActionResult(action.action_id, json.dumps(before), json.dumps(after))
        return CommandResult(result, command, touched)

    async def repeat(self, command: Steered, who: str) -> tuple[str, ...]:
        """Carry out again, on this worker's origins, what the leading worker has; return which it concerns."""
        return (await self._perform(command, who))[2]

    async def follow_exclusion(self, command: commands.Exclude, who: str) -> tuple[str, ...]:
        """The same for the exclusion list, which the leading worker has written already."""
        await self._take_exclusion(_exclusion_of(command, who), command.remove)
        names = tuple(self._table.states)
        return await self.queue.follow(QueueChange(), names)  # pages whose verdict is another one have come back

    async def _take_exclusion(self, exclusion: Exclusion, remove: bool, known: bool = False) -> tuple[str, ...]:
        """Go by an entry from now on, or no longer; return the origins it concerns."""
        names, job_filters = tuple(self._table.states), self._table.job_filters
        if remove:
            job_filters.readmit(exclusion.kind, exclusion.value)
            return await self.queue.readmit(names)
        if not known:
            job_filters.exclude((exclusion,))
        return await self.queue.exclude(names)

    async def load_segment(self, path: str) -> tuple[str, ...]:
        """Take a segment into the queue by itself (M); return the origins that have work again. Raises BadSegment."""
        change = await self.queue.load(path)
        return await self.queue.follow(change, [name for name, _ in change.origins])

    async def _perform(self, command: Steered, who: str) -> Performed:
        if isinstance(command, OriginCommand):
            return await self._steer(command)
        match command:
            case commands.RetryPages():
                return await self._retry(command)
            case commands.AddSeeds():
                return await self._add(command)
            case commands.Exclude():
                return await self._exclude(command, who)
            case commands.SteerWorkers() | commands.TagWorker() | commands.MoveOrigins():
                return *await self._store.steer_workers(command), ()
            case _:
                return await self.queue.perform(command, who)

    async def _steer(self, command: OriginCommand) -> Performed:
        """Fold the states of the origins named (or all); show a value of each before and after. Where no engine crawls,
        `let_go` is how many resumed origins have something to do: for them alone another run may begin."""

        def fold(state: OriginState) -> OriginState:
            return obey(state, command, self._clock.now(), self._table.settings.settings_of(state.origin))

        states, shown = self._table.states, _SHOWN[type(command)]
        origins = (command.origin,) if isinstance(command, commands.SetDelay) else command.origins
        held = await self._held_elsewhere([name for name in origins if name not in states])
        names = tuple(name for name in origins if name in states) if origins else tuple(states)
        before: dict[str, object] = {}
        after: dict[str, object] = dict.fromkeys(sorted(held), "passed on to the worker that holds it")
        for old, new in await fold_origins(self._table, self._store, names, fold):
            before[old.origin], after[new.origin] = shown(old), shown(new)
        if isinstance(command, commands.SetDelay) and before:
            after["in_force"] = states[command.origin].delay_ms
        if isinstance(command, commands.ResumeOrigins) and not self.crawls:
            free = [name for name in before if states[name].finished is None]
            going = await self._store.awake(free, self._clock.now().wall_ms)
            after |= {"let_go": len(going)} if going else {}
        return before, after, names

    async def _held_elsewhere(self, foreign: Sequence[str]) -> frozenset[str]:
        held = await self._elsewhere(foreign) if foreign and self._elsewhere else frozenset[str]()
        if unknown := [name for name in foreign if name not in held]:
            raise ValueError(f"not an origin of this crawl: {', '.join(unknown[:5])}")
        return held

    async def _retry(self, command: commands.RetryPages) -> Performed:
        counted = await self._store.retry(command)
        touched = tuple(name for name, _ in counted if name in self._table.states)
        moved = frozenset(await self.bring_forward(command) if self.crawls else ())
        asleep = [name for name in touched if name not in moved]
        await fold_origins(self._table, self._store, asleep, lambda state: reopen(state, _IDLE))
        return {}, {"retried": dict(counted)}, touched

    async def bring_forward(self, command: commands.RetryPages) -> tuple[str, ...]:
        """Pages that were put back come next at this worker's origins; answers at which. A page that stands on a todo
        list in the database alone is left out: its attempt is over, and about to be stored."""
        found = await self._store.put_back(command)
        moved: dict[str, frozenset[int]] = {}
        for name, back in found.origins:  # at once: what is awaited lets turns go on
            if name not in self._table.states:
                continue  # another worker holds it
            state = reopen(self._table.states[name], _IDLE)
            named = {page.page_id for page in back}
            held = named.intersection(page.page_id for page in state.todo)
            front = [page for page in back if page.page_id in held or page.page_id not in found.listed]
            moved[name] = frozenset(page.page_id for page in front)
            rest = [page for page in state.todo if page.page_id not in held] if held else state.todo
            self._table.update(replace(state, todo=(*front, *rest)))

        for some in pieces(tuple(moved)):
            placed = []
            for state in map(self._table.states.__getitem__, some):  # what turns have taken meanwhile is left out
                first = tuple(page.page_id for page in state.todo if page.page_id in moved[state.origin])
                placed.append((record_of(state), first))
            await self._store.put_first(placed)
        return tuple(moved)

    async def _add(self, command: commands.AddSeeds) -> Performed:
        pages, refused = await self._read_seeds(command)
        origins = {page.url_hash: page.origin for page in pages.values()}
        added: dict[str, list[int]] = {origin: [] for origin in origins.values()}
        size = _SEEDS if self.crawls else _SEEDS_AT_REST
        for some in list(pieces(tuple(pages.values()), size)) or [()]:  # without any, too, an unknown job is told
            for key in await self._store.add_pages(some, command.job):
                added[origins[key]].append(key)
        self._table.take_seeds(added)
        if command.not_before > self._clock.now().wall_ms:
            await self._put_off(tuple(added), frozenset(pages))
        else:
            await self._to_front(added, command.job, few=len(pages) <= _FEW_SEEDS)
        number = sum(map(len, added.values()))
        return {}, {"added": number, "known": len(pages) - number, "refused": refused[:20]}, tuple(added)

    async def _read_seeds(self, command: commands.AddSeeds) -> tuple[dict[str, NewPage], list[str]]:
        """The pages that are asked for, by URL, and why others are none. Their origins join the run."""
        urls: list[CrawlUrl] = []
        origins: dict[str, None] = {}
        refused: list[str] = []
        longest = self._table.job_filters.main.limits.max_url_length
        for some in pieces(command.urls, _READ):
            for raw in some:
                url = raw.url if isinstance(raw, Href) else normalise(raw, None, longest)
                if isinstance(url, InvalidUrl):
                    refused.append(f"{url.raw[:200]}: {url.reason}")
                else:
                    urls.append(url)
                    origins[url.origin] = None
            await asyncio.sleep(0)  # of many URLs, what turns have brought goes in between
        await self.queue.join(origins)
        pages: dict[str, NewPage] = {}
        admission, job = self._table.job_filters.named(command.job), self._table.job_filters.job_named(command.job)
        for found in pieces(urls, _READ):
            for url in found:
                if admission.bounds_origins:
                    verdict = admission.admit(Discovered(url, 0, None, self._table.pages_known.get(url.origin, 0)))
                else:
                    verdict = admission.admit_plain(url)
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
        if not pages and refused:
            raise ValueError("; ".join(refused[:5]))
        return pages, refused

    async def _to_front(self, added: Mapping[str, Sequence[int]], job: str, *, few: bool) -> None:
        """Added seeds (hashes by origin) come before what is on the todo lists of their origins; of many, as many as
        there is room for. Origins that another worker holds are left out: it finds them."""
        taken = 0 if few or self.crawls else sum(len(state.todo) for state in self._table.states.values())
        share = max(0, _NEXT_AT_REST - taken) // max(1, len(added)) + 1
        most = _FRONT if few or self.crawls else min(share, _FRONT)
        states = self._table.states
        taken_of = {name: len(states[name].todo) for name in added if name in states and not few}
        for some in _portions({name: keys[: max(0, most - taken_of.get(name, 0))] for name, keys in added.items()}):
            found = await self._store.added_pages([key for _, keys in some for key in keys], job)
            pages = {url_hash(page.url): page for page in found}
            placed: list[tuple[OriginRecord, tuple[int, ...]]] = []
            for origin, keys in some:
                if origin not in self._table.states:
                    continue
                state = reopen(self._table.states[origin], _IDLE)
                listed = {page.page_id for page in state.todo}  # a fill was faster
                first = tuple(pages[key] for key in keys if key in pages and pages[key].page_id not in listed)
                self._table.update(replace(state, todo=first + state.todo) if first else state)
                placed.append((record_of(state), tuple(page.page_id for page in first)))
            await self._store.put_first(placed)

    async def _put_off(self, origins: Sequence[str], urls: Set[str]) -> None:
        for some in pieces([origin for origin in origins if origin in self._table.states]):
            placed: list[tuple[OriginRecord, tuple[int, ...]]] = []
            fills: list[FillRecord] = []
            for origin in some:
                before = self._table.states[origin]
                state = reopen(replace(before, todo=tuple(one for one in before.todo if one.url not in urls)), _IDLE)
                self._table.update(state)
                if len(state.todo) < len(before.todo):
                    fills.append(FillRecord(record_of(state), (), tuple(page.page_id for page in state.todo)))
                else:
                    placed.append((record_of(state), ()))
            await self._store.put_first(placed)
            await asyncio.gather(*map(self._store.fill, fills))

    async def _exclude(self, command: commands.Exclude, who: str) -> Performed:
        exclusion = _exclusion_of(command, who)
        if not command.remove:
            ExclusionIndex((exclusion,))  # a value that is none of its kind changes nothing
        change = await self._store.change_exclusion(exclusion, command.remove)
        for entry in self._table.job_filters.main.policies.exclusions if command.remove and change is None else ():
            if (entry.kind, entry.value) == (exclusion.kind, exclusion.value):
                where = f" ({entry.source})" if entry.source else ""
                raise ValueError(f"{entry.kind} {entry.value} stands in the rules{where}: change it there")
        concerned = await self._take_exclusion(exclusion, command.remove, known=change is None)
        back = change or QueueChange()
        awake = await self.queue.follow(back, [name for name, _ in back.origins])
        after = {"changed": change is not None, "origins": list(concerned), "pages": dict(back.origins)}
        return {}, after, tuple(dict.fromkeys((*concerned, *awake)))


def _exclusion_of(command: commands.Exclude, who: str) -> Exclusion:
    match command.kind:
        case "domain" | "host" | "cidr" | "pattern" as kind:
            return Exclusion(kind, command.value, command.reason, who, "operator")
        case other:
            raise ValueError(f"unknown kind of exclusion: {other!r} (domain, host, cidr or pattern)")


def _portions(added: Mapping[str, Sequence[int]]) -> Iterator[list[tuple[str, Sequence[int]]]]:
    """Origins with their seeds, TOGETHER at most at once, and about _SEEDS seeds."""
    some: list[tuple[str, Sequence[int]]] = []
    for origin, keys in added.items():
        some.append((origin, keys))
        if len(some) == TOGETHER or sum(len(one) for _, one in some) >= _SEEDS:
            yield some
            some = []
    if some:
        yield some
