"""The engine: the crawl loops of all origins over one scheduler. It knows ports, not screens."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import assert_never

from tui_crawler.domain.admission import Admission
from tui_crawler.domain.command import PauseOrigins, PendingAction, ResumeOrigins
from tui_crawler.domain.event import Event
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.origin import FinishReason, OriginState, Takeover, record_of
from tui_crawler.domain.run import RunReason, StorageFailure
from tui_crawler.domain.scheduler import PenaltyBox, Released
from tui_crawler.domain.turn import (
    CrawlAnswer,
    CrawlUrl,
    FetchRobots,
    FillTodo,
    Finish,
    Rest,
    RestReason,
    after_crawl,
    finish,
    next_turn,
)
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.engine import events
from tui_crawler.engine.commands import Carried, CommandDesk
from tui_crawler.engine.ports import Clock, Fetcher, Listener, Store
from tui_crawler.engine.roster import Counts, EngineSettings, Roster
from tui_crawler.engine.turns import TurnRunner


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
    ) -> None:
        self._settings = settings
        self._store = store
        self._fetcher = fetcher
        self._clock = clock
        self._listener = listener
        self._roster = Roster(settings, admission)
        self._runner = TurnRunner(self._roster, store, fetcher, clock, listener, self._join)
        self._desk = CommandDesk(self._roster, store, clock)
        self._box = PenaltyBox(settings.plan.max_in_flight)
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._told_finished: set[str] = set()
        self._unsaved: set[str] = set()
        self._actions: deque[PendingAction] = deque()
        self._requests = 0
        self._reason: RunReason | None = None
        self._cancel_at: int | None = None
        self._storage_ok = True
        self._next_poll = 0
        self._next_heartbeat = 0

    @property
    def in_flight(self) -> int:
        """How many turns are under way."""
        return len(self._turns)

    @property
    def states(self) -> dict[str, OriginState]:
        """The states of the origins, as they stand now."""
        return dict(self._roster.states)

    @property
    def admission(self) -> Admission:
        """The filters in force now."""
        return self._roster.admission

    def wake(self) -> None:
        """Looks at the operator's journal at once. Call it on the engine's loop."""
        self._next_poll = 0
        self._wake.set()

    def stop(self, reason: RunReason, drain_ms: int) -> None:
        """Takes no more URLs; requests under way may end for `drain_ms`, then they are cancelled. A later call
        may only shorten the time. Call it on the engine's loop."""
        self._reason = self._reason or reason
        at = self._clock.now().mono_ms + max(0, drain_ms)
        self._cancel_at = at if self._cancel_at is None else min(at, self._cancel_at)
        self._wake.set()

    async def run(self) -> RunReason:
        """The whole run. Raises RunHeld or StorageFailure when it cannot begin."""
        start = await self._store.begin_run(self._settings.plan)
        self._requests = start.requests
        for exclusion in await self._store.exclusions():
            self._roster.admission = self._roster.admission.with_exclusion(exclusion)
        now = self._clock.now()
        self._tell(events.run_started(now.wall_ms, start.run_id, start.continued, len(start.origins)))
        reason = RunReason.error
        try:
            takeover = Takeover(start.continued, start.unclean)
            for stored in start.origins:
                self._roster.enter(stored, takeover, now)
                self._runner.counts[stored.record.origin] = Counts(stored.done, stored.failed)
            await asyncio.gather(*(self._open(state, now) for state in self._roster.states.values()))
            reason = await self._loop()
        finally:
            await self._close(reason)
        return reason

    async def _open(self, state: OriginState, now: Moment) -> None:
        """An origin's first place in the box; its gap holds for everyone under its key."""
        await self._find_key(state.origin)
        self._box.hold(self._roster.keys[state.origin], state.release_ms)
        self._tell(events.origin_started(now.wall_ms, state))
        if self._runner.is_excluded(state.origin):
            await self._runner.refuse_all(state.origin)
        await self._store.save_origin(record_of(self._roster.states[state.origin]))
        self._place(state.origin)

    async def _find_key(self, origin: str) -> None:
        address = None
        if self._settings.by_address:
            url = normalise(origin)
            address = None if isinstance(url, InvalidUrl) else await self._fetcher.address(url.host)
        self._roster.keys[origin] = self._settings.key_of(origin, address)

    async def _join(self, origin: str) -> None:
        """An origin that was first linked or added while the run is live."""
        if origin in self._roster.states:
            return
        await self._desk.join(origin)
        await self._open(self._roster.states[origin], self._clock.now())

    async def _loop(self) -> RunReason:
        while True:
            await self._tend()
            self._start_turns()
            reason = self._ending()
            if reason is not None and not self._turns:
                return reason
            self._wake.clear()
            await self._clock.wait(self._wake, self._patience_of_loop())

    def _ending(self) -> RunReason | None:
        """Why the run ends now, None while there is more to do."""
        if self._reason is not None:
            return self._reason
        if self._at_limit(0):
            return RunReason.max_requests
        if self._roster.all_finished() and not self._turns:
            return RunReason.operator if self._roster.all_stopped() else RunReason.exhausted
        return None

    def _patience_of_loop(self) -> int:
        """How long the loop may wait for something to happen (ms)."""
        now = self._clock.now().mono_ms
        due = [self._next_poll, self._next_heartbeat]
        if self._cancel_at is not None:
            due.append(self._cancel_at)
        release = self._box.next_release(now) if self._may_start() else None
        if release is not None:
            due.append(release)
        return max(0, min(due) - now)

    def _may_start(self) -> bool:
        return self._reason is None and self._storage_ok and not self._at_limit(len(self._turns))

    def _at_limit(self, under_way: int) -> bool:
        limit = self._settings.plan.max_requests
        return limit is not None and self._requests + under_way >= limit

    async def _tend(self) -> None:
        """What is due beside the turns: heartbeat, the operator's wishes, the end of the drain."""
        now = self._clock.now().mono_ms
        if self._cancel_at is not None and now >= self._cancel_at:
            self._cancel_at = None
            self._runner.cancel_requests()
        try:
            if now >= self._next_heartbeat or not self._storage_ok:
                self._next_heartbeat = now + self._settings.heartbeat_ms
                await self._beat()
            if now >= self._next_poll:
                self._next_poll = now + self._settings.poll_ms
                await self._take_actions()
        except StorageFailure:
            self._storage_ok = False
            self._next_heartbeat = self._next_poll = self._clock.now().mono_ms + self._settings.heartbeat_ms

    async def _beat(self) -> None:
        """Renews the lease. What a full disk kept from being stored is stored as soon as there is room."""
        if not await self._store.heartbeat():
            self._reason = RunReason.error
            self._runner.cancel_requests()
            return
        for origin in tuple(self._unsaved):
            await self._store.save_origin(record_of(self._roster.states[origin]))
            self._unsaved.discard(origin)
        self._storage_ok = True

    async def _take_actions(self) -> None:
        """Carries out what waits in the journal; what a full disk interrupts is done when there is room again."""
        self._actions.extend(await self._store.take_actions())
        while self._actions:
            carried = await self._desk.carry_out(self._actions[0])
            await self._follow(carried)
            await self._store.finish_actions([carried.result])
            self._actions.popleft()

    async def _follow(self, carried: Carried) -> None:
        """Gives the origins that an action concerned their new places, and tells of pauses."""
        now = self._clock.now()
        for origin in carried.touched:
            if origin not in self._roster.keys:
                await self._open(self._roster.states[origin], now)
            self._place(origin)
            match carried.command:
                case PauseOrigins():
                    self._tell(events.origin_paused(now.wall_ms, origin))
                case ResumeOrigins():
                    self._tell(events.origin_resumed(now.wall_ms, origin))
                case _:
                    continue

    def _start_turns(self) -> None:
        while self._may_start():
            released = self._box.take(self._clock.now().mono_ms)
            if released is None:
                return
            task = asyncio.create_task(self._turn(released), name=f"turn {released.origin}")
            self._turns[released.origin] = task

    async def _turn(self, released: Released) -> None:
        """One turn in a slot. Whatever happens in it, the slot is given back and the run goes on."""
        origin = released.origin
        try:
            await self._perform(origin)
        except StorageFailure:
            self._lose_database(origin)
        except Exception as error:
            await self._give_up(origin, error)
        finally:
            state = self._roster.states[origin]
            self._turns.pop(origin, None)
            self._box.hand_back(released.key, state.release_ms)
            self._place(origin)
            self._wake.set()

    async def _perform(self, origin: str) -> None:
        """Fills and refusals cost nothing; the turn ends with its one request, or when there is nothing to do."""
        requested = False
        while True:
            turn = next_turn(self._roster.states[origin], self._clock.now())
            match turn:
                case FillTodo():
                    await self._runner.fill(origin)
                case FetchRobots() | CrawlUrl() if requested or self._reason is not None:
                    return
                case FetchRobots():
                    counts = await self._runner.robots(origin, turn)
                    self._requests += counts
                    requested = True
                case CrawlUrl(page=page):
                    requested = await self._runner.crawl(origin, page)
                    self._requests += requested
                case Rest() | Finish():
                    return
                case _:
                    assert_never(turn)

    def _lose_database(self, origin: str) -> None:
        """The database did not take an attempt: exit code -3. Nothing more is asked until it takes rows again."""
        answer = CrawlAnswer(0, ExitCode.database_error)
        state = self._roster.states[origin]
        settings = self._settings.settings_of(origin)
        self._roster.update(after_crawl(state, answer, self._clock.now(), settings))
        self._unsaved.add(origin)
        self._storage_ok = False

    async def _give_up(self, origin: str, error: Exception) -> None:
        state = self._roster.states[origin]
        page = state.todo[0] if state.todo else None
        try:
            await self._runner.give_up(origin, page, error)
        except StorageFailure:
            self._lose_database(origin)

    def _place(self, origin: str) -> None:
        """Where an origin waits for its next turn, after whatever has happened to it."""
        if origin in self._turns:
            return
        now = self._clock.now()
        state = self._roster.states[origin]
        turn = next_turn(state, now)
        match turn:
            case Finish():
                self._box.remove(origin)
                self._tell_finished(state, now)
                return
            case Rest(until_ms=None):
                self._box.remove(origin)
                return
            case Rest(until_ms=int(until), reason=reason):
                ready = until
                self._tell_waiting(state, until, reason, now)
            case _:
                ready = now.mono_ms
        self._told_finished.discard(origin)
        self._box.put(origin, self._key_of(state), ready)

    def _key_of(self, state: OriginState) -> str:
        """The politeness key of the next turn: that of the hop while a redirect of robots.txt is followed."""
        if state.hop is None:
            return self._roster.keys[state.origin]
        target = state.hop.url.origin
        return self._roster.keys.get(target) or self._settings.key_of(target, None)

    def _tell_waiting(self, state: OriginState, until_ms: int, reason: RestReason, now: Moment) -> None:
        until = now.wall_ms + until_ms - now.mono_ms
        self._tell(events.origin_waiting(now.wall_ms, state.origin, until, reason.value))

    def _tell_finished(self, state: OriginState, now: Moment) -> None:
        if state.origin in self._told_finished:
            return
        self._told_finished.add(state.origin)
        counts = self._runner.counts.get(state.origin, Counts())
        self._tell(events.origin_finished(now.wall_ms, state, counts))

    def _tell(self, event: Event) -> None:
        self._listener.on_event(event)

    async def _close(self, reason: RunReason) -> None:
        """Ends what is still under way, writes the end of the run, and tells of it after it is committed."""
        self._runner.cancel_requests()
        if self._turns:
            await asyncio.wait(tuple(self._turns.values()))
        try:
            if reason is RunReason.max_requests:
                await self._finish_rest()
            await self._store.end_run(reason.value, self._storage_ok)
        except StorageFailure:
            return
        finally:
            counts = self._runner.counts.values()
            done, failed = sum(c.done for c in counts), sum(c.failed for c in counts)
            self._tell(events.run_finished(self._clock.now().wall_ms, reason, self._requests, done, failed))

    async def _finish_rest(self) -> None:
        now = self._clock.now()
        for state in tuple(self._roster.states.values()):
            if state.finished is None:
                ended = self._roster.update(finish(state, FinishReason.max_requests))
                await self._store.save_origin(record_of(ended))
                self._tell_finished(ended, now)
