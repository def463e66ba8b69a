"""The engine: the crawl loops of all origins over one scheduler. It knows ports, not screens. What it does
when few origins are left (M) stands first."""

import asyncio
from collections import deque
from collections.abc import Container, Iterable, Mapping, Sequence
from types import MappingProxyType

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.crawl.job import QueueChange
from tui_crawler.domain.crawl.origin import OriginState, Takeover, record_of, says_all
from tui_crawler.domain.crawl.run import RunStart, StoredOrigin
from tui_crawler.domain.crawl.scheduler import PenaltyBox
from tui_crawler.domain.crawl.turn import finish, reopen
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.command import Command, PauseOrigins, PendingAction, ResumeOrigins
from tui_crawler.domain.records.failure import BadSegment, DatabaseUnusable, StorageFailure
from tui_crawler.domain.records.status_words import FinishReason, RunReason
from tui_crawler.domain.records.worker import WorkerOrder, WorkerOrders
from tui_crawler.domain.rules.admission import Admission
from tui_crawler.engine import events
from tui_crawler.engine.commands import CommandExecutor, CommandResult
from tui_crawler.engine.cookies import ChainCookies
from tui_crawler.engine.origin_table import Counts, EngineSettings, OriginTable, fold_origins, pieces
from tui_crawler.engine.peers import PeerStore, PeerWorker
from tui_crawler.engine.ports import Clock, Fetcher, Listener, Store
from tui_crawler.engine.slots import Slots
from tui_crawler.engine.turns import TurnRunner
from tui_crawler.engine.waiting import JobPlaces, Waiting

_BY_ITSELF = frozenset({RunReason.exhausted, RunReason.operator, RunReason.error})
_CONTINUED = "what was not stored is asked for again: the next start continues this run with all that is left"
FEW_ORIGINS_DRAIN_MS = 5_000  # running requests may end for so long before the rest is saved
_OPENED = 512  # so many origins are stored at once as they begin
_STOPPED_DRAIN_MS = 3_500  # and for so long after the operator has stopped every origin
_ENDING = {WorkerOrder.drain: 600_000, WorkerOrder.stop: _STOPPED_DRAIN_MS}  # or told this worker to end
_HINTED_MS = 1_000  # where hints come, others are looked at so seldom, while nothing waits for them
_LEASE_LOST = (
    "the lease of this process ran out while it stood still: another one has taken over what it held and goes on with "
    "that; this one stores nothing more and ends"
)


class Engine:
    """Runs the crawl loops of a run until it is exhausted, stopped, or at its number of requests."""

    def __init__(
        self,
        settings: EngineSettings,
        admission: Admission,
        store: Store,
        fetcher: Fetcher,
        clock: Clock,
        listener: Listener,
        peers: PeerStore | None = None,
    ) -> None:
        """`peers`: what several workers of one run share; None: this engine crawls the run alone."""
        self._settings, self._store, self._fetcher = settings, store, fetcher
        self._clock, self._listener = clock, listener
        self.table = OriginTable(settings, admission, store.known_pages)
        cookies = ChainCookies(settings.cookies, settings.registrable)
        self._runner = TurnRunner(
            self.table, store, fetcher, clock, listener, cookies, self._join, self._awaken, self._is_elsewhere
        )
        self._executor = CommandExecutor(self.table, store, clock, peers.held_elsewhere if peers else None)
        self._peers = PeerWorker(self.table, self._executor, peers) if peers else None
        self.table.shared = peers is not None
        self._places = JobPlaces(self.table)
        box = PenaltyBox(settings.plan.max_in_flight)
        self._waiting = Waiting(self.table, self._places, self._runner.counts, clock, listener, box)
        probes = self._executor.probes
        self.slots = Slots(self.table, self._runner, self._waiting, self._places, probes, fetcher, clock, listener)
        self.slots.peers = self._peers
        self.slots.is_stopping = lambda: self._reason is not None or not self._may_ask()
        self._actions: deque[PendingAction] = deque()
        self._reason: RunReason | None = None
        self._complaint = self._segment_complaint = ""
        self.begun = False
        """Whether it has its run, which no other process can have meanwhile."""
        self._cancel_at: int | None = None
        self._continued = self._hinted = self._has_no_segment = False
        self._next_poll = self._next_heartbeat = 0

    def wake(self) -> None:
        """Look at the operator's journal at once. Call it on the engine's loop."""
        self._next_poll = 0
        self.slots.wake.set()

    def stop(self, reason: RunReason, drain_ms: int) -> None:
        """Take no more URLs; requests under way may end for `drain_ms`, then they are cancelled. A later call
        may only shorten the time. Call it on the engine's loop."""
        self._reason = self._reason or reason
        at = self._clock.now().mono_ms + max(0, drain_ms)
        self._cancel_at = at if self._cancel_at is None else min(at, self._cancel_at)
        if reason is not RunReason.few_origins:  # what is left is saved then, however long that waits
            self._store.give_up(drain_ms)
        self.slots.wake.set()

    async def run(self) -> RunReason:
        """The whole run. Raises RunHeld or StorageFailure when it cannot begin, DatabaseUnusable when it must end."""
        start = await self._store.begin_run(self._settings.plan)
        self.begun = True
        self._hinted = self._store.watch(self._on_held_up, self.wake)
        self.slots.requests = 0 if self._peers else start.requests
        self._continued = start.continued
        await self._take_rules(start)
        now = self._clock.now()
        size, note = len(start.origins), "; ".join(filter(None, (*start.notes, self._settings.plan.note)))
        self._listener.on_event(
            events.run_started(now.wall_ms, start.run_id, start.continued, size, start.requests, note)
        )
        reason = RunReason.error
        try:
            await self._enter(start.origins, start.continued, start.unclean)
            reason = await self._loop()
        finally:
            await self._close(reason)
        if isinstance(self.slots.lost, DatabaseUnusable):
            raise self.slots.lost
        return reason

    async def _enter(self, origins: Iterable[StoredOrigin], continued: bool, unclean: bool) -> None:
        now, entered, as_stored = self._clock.now(), [], set[str]()
        for stored in origins:
            takeover = Takeover(continued or stored.handed_on, unclean or stored.unclean)
            entered.append(self.table.enter(stored, takeover, now))
            if says_all(stored.record, entered[-1]):
                as_stored.add(stored.record.origin)
            self._runner.counts[stored.record.origin] = Counts(0 if stored.external else stored.done, stored.failed)
        await self._find_keys(entered)
        if self._peers is not None and self._settings.by_address and entered:
            keys = {one.origin: self.table.keys[one.origin] for one in entered}
            self._drop(await self._peers.store.keep_apart(keys))
            entered = [one for one in entered if one.origin in self.table.states]
        for some in pieces(entered, _OPENED):
            await self._open(some, as_stored)
            if self._peers is None and some[-1] is not entered[-1]:  # the first of many do not wait for the last
                await self._tend()
                self._start_turns()
                await asyncio.sleep(0)

    async def rest(self, handed: Mapping[int, Command] = MappingProxyType({})) -> None:
        """Carry out what waits in the journal on a database that no engine crawls; no request is made but probes.
        `handed` are commands of it, by action id, as this process made them: of their URLs none is parsed twice. Raises
        RunHeld or StorageFailure when it cannot begin."""
        self._waiting.crawls = self._executor.crawls = False
        start = await self._store.begin_rest()
        try:
            await self._take_rules(start)
            takeover = Takeover(continued=True, unclean=start.unclean)
            for stored in start.origins:
                self.table.enter(stored, takeover, self._clock.now())
            idle = [state for state in self.table.states.values() if state.finished is FinishReason.exhausted]
            await self._take_actions(handed)
            await self._let_rest(idle)
            while self._executor.probes.open and self._reason is None:
                self._start_turns()
                self.slots.wake.clear()
                now = self._clock.now().mono_ms
                release = self._waiting.box.next_release(now)
                await self._clock.wait(self.slots.wake, None if release is None else max(0, release - now))
                await self._finish_probes()
        finally:
            await self.slots.end()
            await self._store.end_rest()

    async def _let_rest(self, idle: Sequence[OriginState]) -> None:
        """Origins that had nothing left and look for work have finished again where there is none."""
        now = {one.origin: self.table.states[one.origin] for one in idle}
        same = [one.origin for one in idle if now[one.origin].robots == one.robots]
        looking = [name for name in same if now[name].finished is None]
        found = await self._store.awake(looking, self._clock.now().wall_ms)
        vain = [name for name in looking if name not in set(found)]
        await fold_origins(self.table, self._store, vain, lambda state: finish(state, FinishReason.exhausted))

    async def _take_rules(self, start: RunStart) -> None:
        job_filters = self.table.job_filters
        job_filters.adopt(start.rulesets, start.jobs, self._settings.plan.job)
        job_filters.exclude(await self._store.exclusions())

    async def _open(self, opening: Sequence[OriginState], as_stored: Container[str] = ()) -> None:
        """The first places of origins in the box; the database has those that are `as_stored`."""
        now = self._clock.now()
        await self._find_keys([state for state in opening if state.origin not in self.table.keys])
        for some in pieces(opening, _OPENED):
            for state in some:
                counts = self._runner.counts.get(state.origin, Counts())
                self._listener.on_event(events.origin_started(now.wall_ms, state, counts))
                if self._waiting.crawls and self._runner.is_excluded(state.origin):
                    await self._runner.refuse_all(state.origin)
            now_in_force = [self.table.states[state.origin] for state in some]
            pairs = zip(now_in_force, some, strict=True)
            if changed := [one for one, was in pairs if one is not was or one.origin not in as_stored]:
                await self._store.save_origins([record_of(state) for state in changed])
            for state in some:
                self.slots.place(state.origin)

    async def _find_keys(self, entered: Sequence[OriginState]) -> None:
        if not self._settings.by_address:  # nothing is waited for
            for state in entered:
                await self._waiting.find_key(state.origin, self._fetcher)
            return
        for some in pieces(entered, _OPENED):
            await asyncio.gather(*(self._waiting.find_key(state.origin, self._fetcher) for state in some))

    async def _join(self, origin: str, external: bool = False, start_path: str = "") -> None:
        if self.table.takes_part(origin, external=external):
            return
        await self._executor.queue.join((origin,), external, start_path)
        if origin in self.table.states:
            await self._open([self.table.states[origin]])
        elif self._peers is not None:  # it is leased, here or by another worker, before this one may end
            self._next_poll = 0

    async def _is_elsewhere(self, origin: str) -> bool:
        if self._peers is None or origin in self.table.states:
            return False
        return bool(await self._peers.store.held_elsewhere((origin,)))

    async def _awaken(self, origins: Iterable[str]) -> None:
        """Origins that got pages: those that had nothing left to do, or slept, go on."""
        for some in pieces([origin for origin in origins if origin in self.table.states]):
            known = map(self.table.states.__getitem__, some)
            idle = [one for one in known if one.finished is FinishReason.exhausted or one.asleep_until]
            awake = [self.table.update(reopen(one, frozenset({FinishReason.exhausted}))) for one in idle]
            if awake:
                await self._store.save_origins([record_of(state) for state in awake])
            for state in awake:
                self.slots.place(state.origin)

    async def _loop(self) -> RunReason:
        while True:
            await self._tend()
            self._start_turns()
            reason = self._ending()
            if reason in _BY_ITSELF and self._reason is None and await self._finds_more(reason):
                continue
            if reason is not None and not self.slots:
                return reason
            self.slots.wake.clear()
            await self._clock.wait(self.slots.wake, self._patience_of_loop())

    async def _finds_more(self, reason: RunReason) -> bool:
        """Before a run ends as exhausted: whether an operator has asked for something, or pages are back in the queue
        that their origins have not noticed."""
        try:
            if self._peers is None or await self._peers.store.is_leading():
                await self._take_actions()
            if not self.table.all_finished():
                return True
            idle = [name for name, one in self.table.states.items() if one.finished is FinishReason.exhausted]
            found = await self._store.awake(idle, self._clock.now().wall_ms)
            if not found and reason is RunReason.exhausted and await self._store.resolve_claims():
                found = await self._store.awake(idle, self._clock.now().wall_ms)
        except StorageFailure as failure:  # whether there is more is not known: it is asked again
            self._falter(failure)
            self.slots.wake.clear()
            await self._clock.wait(self.slots.wake, self._settings.poll_ms)
            return True
        await self._awaken(found)
        return bool(found)

    def _ending(self) -> RunReason | None:
        if self.slots.lost:
            self._reason = self._reason or RunReason.error
        if self._reason is not None:
            return self._reason
        if self._at_limit(0) and (self._peers is None or self._peers.is_spent):
            return RunReason.max_requests
        others = self._peers is not None and self._peers.others_at_work
        if self.table.all_finished() and not self.slots and not others:
            if self.table.all_stopped():
                return RunReason.operator
            refused = any(one.finished is FinishReason.database_error for one in self.table.states.values())
            return RunReason.error if refused else RunReason.exhausted
        if others or not self.table.all_stopped():
            self._cancel_at = None
        elif self._cancel_at is None:
            self._cancel_at = self._clock.now().mono_ms + _STOPPED_DRAIN_MS
        return None

    def _patience_of_loop(self) -> int:
        now = self._clock.now().mono_ms
        due = [self._poll_due(), self._next_heartbeat]
        if self._cancel_at is not None:
            due.append(self._cancel_at)
        release = self._waiting.box.next_release(now) if self._may_start() else None
        if release is not None:
            due.append(release)
        return max(0, min(due) - now)

    def _poll_due(self) -> int:
        """Return when operator and other workers are looked at next (monotonic ms)."""
        waits = self.table.all_finished() or self.table.idle or self.slots.leaving or not self._hinted
        return self._next_poll + (0 if waits or not self._next_poll else max(0, _HINTED_MS - self._settings.poll_ms))

    def _may_start(self) -> bool:
        at_work = self._reason is None and not self.slots.trouble and self._may_ask()
        return at_work and not self._at_limit(len(self.slots))

    def _may_ask(self) -> bool:
        return (self._peers is None or self._peers.order is WorkerOrder.work) and self._store.may_ask()

    def _on_held_up(self, trouble: str) -> None:
        """The database takes nothing for a while; when that has passed, a heartbeat finds out and goes on."""
        if trouble:
            self.slots.hinder(trouble)
        self.slots.wake.set()

    def _at_limit(self, under_way: int) -> bool:
        limit = self._settings.plan.max_requests if self._peers is None else self._peers.granted
        return limit is not None and self.slots.requests + under_way >= limit

    async def _tend(self) -> None:
        """What is due beside the turns: heartbeat, the operator's wishes, the end of the drain."""
        now = self._clock.now().mono_ms
        if self._cancel_at is not None and now >= self._cancel_at:
            self._cancel_at = None
            self._reason = self._reason or RunReason.operator
            self._runner.cancel_requests()
        try:
            if now >= self._next_heartbeat or self.slots.trouble:
                self._next_heartbeat = now + self._settings.heartbeat_ms
                await self._beat()
            if now >= self._poll_due():
                self._next_poll = now + self._settings.poll_ms
                if self._peers is not None:
                    await self._watch_peers(self._peers)
                if self._peers is None or await self._peers.store.is_leading():
                    await self._take_actions()
            if self.table.are_few() and self._reason is None:
                await self._mind_few_origins()
        except StorageFailure as failure:
            self._falter(failure)

    def _falter(self, failure: StorageFailure) -> None:
        """The database was asked in vain: it is asked again later, unless it is of no more use."""
        self.slots.hinder(str(failure))
        if isinstance(failure, DatabaseUnusable):
            self.slots.lost = failure
        self._next_heartbeat = self._next_poll = self._clock.now().mono_ms + self._settings.heartbeat_ms

    async def _watch_peers(self, peers: PeerWorker) -> None:
        """Among several workers: leases origins, repeats what the leading one did, wakes what others found work for."""
        for action in await peers.store.followed_actions():
            command, touched = await peers.mirror(action)
            await self._follow(CommandResult(None, command, touched))
        await self._obey(peers, await peers.store.orders())
        await peers.provide(self.slots.requests, len(self.slots))
        if self._reason is None:
            found = await peers.store.take_origins(idle=self.table.all_finished())
            await self._enter(found, self._continued, unclean=False)
        for origin in self._places.reconsider():
            self.slots.place(origin)
        idle = peers.idle()
        if idle:
            await self._awaken(await self._store.awake(idle, self._clock.now().wall_ms))
            over = [name for name in idle if self.table.states[name].finished is FinishReason.exhausted]
            self._drop(await peers.store.pass_on(over))
        peers.others_at_work = await peers.store.others_at_work()

    async def _obey(self, peers: PeerWorker, orders: WorkerOrders) -> None:
        """What is wanted of this worker. Origins that go elsewhere have no more turns, and are given back together, as
        soon as nothing of them is in flight."""
        before, peers.order, slots = peers.order, orders.order, self.slots
        if orders.order in _ENDING and orders.order is not before:
            self.stop(RunReason.interrupted, _ENDING[orders.order])
        if orders.unlisted:
            await self._executor.queue.follow(QueueChange((), orders.unlisted), tuple(self.table.states))
        peers.gone.update(orders.lost)
        peers.gone.intersection_update(self.table.states)
        stay = slots.leaving.intersection(self.table.states)
        slots.leaving = peers.gone.union(name for name in orders.leave if name in self.table.states)
        for name in self.table.states if orders.unlisted else stay ^ slots.leaving:
            slots.place(name)
        if slots.leaving and not slots.in_flight(slots.leaving):
            mine = slots.leaving - peers.gone
            await self._store.save_origins([record_of(self.table.states[name]) for name in mine])
            await peers.store.give_back(tuple(mine))
            self._drop(slots.leaving)

    def _drop(self, origins: Iterable[str]) -> None:
        now = self._clock.now().wall_ms
        for name in [name for name in origins if name in self.table.states]:
            self._listener.on_event(Event(now, "origin_left", name))
            self._waiting.leave(name)
            self.table.leave(name)
            self._runner.counts.pop(name, None)
            self.slots.unsaved.discard(name)

    async def _mind_few_origins(self) -> None:
        """Save the rest of the run, or load the oldest segment that was not consumed (M). Raises StorageFailure."""
        if not self._settings.load_next:
            if not self.table.all_finished():
                self.stop(RunReason.few_origins, FEW_ORIGINS_DRAIN_MS)
            return
        path = "" if self._has_no_segment else await self._store.next_segment()
        self._has_no_segment = not path
        try:
            loaded = await self._executor.load_segment(path) if path else ()
        except BadSegment as error:
            self._has_no_segment, self._segment_complaint, loaded = True, str(error), ()
        for origin in loaded:
            if origin not in self.table.keys:
                await self._open([self.table.states[origin]])
            self.slots.place(origin)

    async def _save_rest(self) -> None:
        """Save what is left as a segment; what cannot be saved stays in the queue for the next run."""
        try:
            await self._store.save_rest()
        except StorageFailure as error:
            self._segment_complaint = f"the rest could not be saved as a segment: {error}"

    async def _beat(self) -> None:
        """Renew the lease. What a full disk kept from being stored is stored as soon as there is room."""
        if not await self._store.heartbeat():
            await self._begin_again()
            return
        for origin in tuple(self.slots.unsaved):
            await self._store.save_origins([record_of(self.table.states[origin])])
            self.slots.unsaved.discard(origin)
        self.slots.hinder("")

    async def _begin_again(self) -> None:
        """Others have taken what this process held. A worker joins the run once more, with nothing, unless it was to
        end; who crawls alone ends."""
        if self._peers is None or self._reason is not None:
            self._runner.cancel_requests()
            self._reason, self._complaint = RunReason.error, _LEASE_LOST
            return
        await self.slots.end()
        self._drop(self.table.states)
        try:
            await self._store.begin_run(replace(self._settings.plan, joins=True))
        except StorageFailure as failure:
            self._reason, self._complaint = RunReason.error, f"{_LEASE_LOST}: {failure}"
        else:
            self._runner.cancelling = False

    async def _take_actions(self, handed: Mapping[int, Command] = MappingProxyType({})) -> None:
        """Carry out what waits in the journal; what a full disk interrupts is done when there is room again."""
        waiting = await self._store.take_actions()
        self._actions.extend(replace(one, command=handed.get(one.action_id, one.command)) for one in waiting)
        while self._actions:
            carried = await self._executor.carry_out(self._actions[0])
            await self._follow(carried)
            if carried.result is not None:
                await self._store.finish_actions([carried.result])
            self._actions.popleft()
        await self._finish_probes()

    async def _finish_probes(self) -> None:
        if results := self._executor.probes.finished():
            await self._store.finish_actions(results)

    async def _follow(self, carried: CommandResult) -> None:
        """Give the origins that an action concerned their new places, and tells of pauses."""
        self.table.joined.clear()  # what takes part is asked again
        now, states = self._clock.now(), self.table.states
        mine = [origin for origin in carried.touched if origin in states]  # the others are another worker's
        await self._open([states[origin] for origin in mine if origin not in self.table.keys])
        for origin in mine:
            self.slots.place(origin)
            if isinstance(carried.command, PauseOrigins):
                self._listener.on_event(Event(now.wall_ms, "origin_paused", origin))
            elif isinstance(carried.command, ResumeOrigins):
                self._listener.on_event(Event(now.wall_ms, "origin_resumed", origin))

    def _start_turns(self) -> None:
        while self._may_start() and self.slots.start():
            continue

    async def _close(self, reason: RunReason) -> None:
        """End what is still under way, writes the end of the run, and tells of it after it is committed."""
        await self.slots.end()
        try:
            led_on = [(one.origin, one.hop) for one in self.table.states.values() if one.hop is not None]
            for origin, hop in led_on:
                await self._runner.break_off(origin, hop)
            if reason is RunReason.max_requests:
                await self._finish_rest()
            if reason is RunReason.few_origins:
                await self._save_rest()
            await self._store.end_run(reason.value, not self.slots.trouble and not self.slots.lost)
        except StorageFailure as failure:
            self.slots.lost = self.slots.lost or failure
        finally:
            counts = self._runner.counts.values()
            done, failed = sum(c.done for c in counts), sum(c.failed for c in counts)
            reason = RunReason.error if isinstance(self.slots.lost, DatabaseUnusable) else reason
            lost, at = self.slots.lost, self._clock.now().wall_ms
            unstored = f"{lost}; {_CONTINUED}" if lost else self.slots.refused
            unstored = str(lost) if isinstance(lost, DatabaseUnusable) else unstored
            complaint = self._complaint or unstored or self._segment_complaint
            self._listener.on_event(events.run_finished(at, reason, self.slots.requests, done, failed, complaint))

    async def _finish_rest(self) -> None:
        def fold(state: OriginState) -> OriginState:
            return state if state.finished else finish(state, FinishReason.max_requests)

        now = self._clock.now()
        for _, state in await fold_origins(self.table, self._store, tuple(self.table.states), fold):
            self._waiting.tell_finished(state, now)
