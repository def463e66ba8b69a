"""The turns under way: each has a slot, and whatever happens in it, the slot is given back and the run goes on."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import assert_never

from tui_crawler.domain.crawl import turn as machine
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.crawl.scheduler import Released
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import DatabaseUnusable, OutOfDescriptors, StorageFailure, StorageHeldUp
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.engine import events
from tui_crawler.engine.origin_table import OriginTable
from tui_crawler.engine.peers import PeerWorker
from tui_crawler.engine.ports import Clock, Fetcher, Listener
from tui_crawler.engine.probes import Probes
from tui_crawler.engine.turns import TurnRunner
from tui_crawler.engine.waiting import JobPlaces, Waiting

_DESCRIPTORS_MS = 1_000  # so long a turn waits that could not open a connection


@dataclass(slots=True)
class Slots:
    """Starts turns of origins that are released, and performs them.

    `requests` counts the turns that made a request; `trouble` is why the database takes nothing, empty while it does;
    it does not have the state of the `unsaved` origins. `lost`: why outcomes of turns were not stored, which the end of
    the run did not wait for; `refused`: what the database said of the first attempt that it refused.
    """

    _table: OriginTable
    _runner: TurnRunner
    _waiting: Waiting
    _places: JobPlaces
    _probes: Probes
    _fetcher: Fetcher
    _clock: Clock
    _listener: Listener
    _turns: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    peers: PeerWorker | None = None
    is_stopping: Callable[[], bool] = lambda: False
    requests: int = 0
    trouble: str = ""
    lost: StorageFailure | None = None
    refused: str = ""
    unsaved: set[str] = field(default_factory=set)
    leaving: set[str] = field(default_factory=set)  # origins that have no more turns here

    def __len__(self) -> int:
        return len(self._turns)

    def start(self) -> bool:
        """Start the turn of the next origin that is released; False when there is none."""
        if (released := self._waiting.box.take(self._clock.now().mono_ms)) is None:
            return False
        self._turns[released.origin] = asyncio.create_task(self._turn(released), name=f"turn {released.origin}")
        return True

    def place(self, origin: str) -> None:
        """Where an origin waits for its next turn, after whatever has happened to it."""
        if origin not in self._turns:
            (self._waiting.leave if origin in self.leaving else self._waiting.place)(origin)

    def in_flight(self, origins: Iterable[str]) -> bool:
        return not self._turns.keys().isdisjoint(origins)

    async def end(self) -> None:
        """Cancel the requests under way and waits until all turns are over."""
        self._runner.cancel_requests()
        if self._turns:
            await asyncio.wait(tuple(self._turns.values()))

    async def _turn(self, released: Released) -> None:
        origin = released.origin
        try:
            await self._perform(origin)
            if self._table.states[origin].finished is not None:
                await self._fetcher.forget(origin)
        except OutOfDescriptors:  # what is in flight gives some back
            await self._clock.wait(asyncio.Event(), _DESCRIPTORS_MS)
        except StorageFailure as failure:
            self._lose_database(origin, failure)
        except Exception as error:
            try:
                await self._runner.give_up(origin, self._places.crawling.get(origin), error)
            except StorageFailure as failure:
                self._lose_database(origin, failure)
        finally:
            self._turns.pop(origin, None)
            self._waiting.box.hand_back(released.key, self._table.states[origin].release_ms)
            for name in (*self._places.land(origin), origin):
                self.place(name)
            self.wake.set()

    async def _perform(self, origin: str) -> None:
        """Fill and refusals cost nothing; the turn ends with its one request, or when there is nothing to do."""
        requested = False
        while True:
            turn = self._waiting.next_turn(origin)
            match turn:
                case machine.FillTodo():
                    await self._runner.fill(origin)
                case machine.FetchRobots() | machine.CrawlNext() | machine.CheckUrl() if (
                    requested or self.trouble or self.is_stopping()
                ):
                    return
                case machine.FetchRobots():
                    counts = await self._runner.robots(origin, turn)  # the sum is read after the wait
                    self.requests += counts
                    requested = True
                    self._drop_hopeless_probes(origin)
                case machine.CheckUrl(check=check):
                    exchange = await self._runner.check(origin, check)
                    if not exchange.doubted:  # else GET asks again and decides
                        self._probes.take(check, exchange)
                    requested = bool(exchange.requests)
                    self.requests += requested
                case machine.CrawlNext(page=page):
                    self._places.pick_up(origin, page)
                    if not await self._may_take(origin, page):
                        return
                    requested = await self._runner.crawl(origin, page)
                    self.requests += requested
                case machine.Sleep() | machine.Finish():
                    return
                case _:
                    assert_never(turn)

    async def _may_take(self, origin: str, page: TodoPage) -> bool:
        job = self._table.job_filters.jobs.get(page.job_id)
        if self.peers is None or job is None or job.concurrency is None:
            return True
        if await self.peers.store.claim_page(page.page_id, origin, page.url):
            return True
        self._table.denied.add(page.job_id)
        return False

    def _drop_hopeless_probes(self, origin: str) -> None:
        state = self._table.states[origin]
        if state.checks and state.hop is None and state.robots.rules is None:
            self._probes.give_up(origin, "robots.txt could not be fetched, so nothing else was asked")

    def _lose_database(self, origin: str, failure: StorageFailure) -> None:
        """Ask nothing more until the database takes rows again. Where it refuses an attempt the origin ends (exit code
        -3); where it takes nothing, for good or for longer than is waited for, the run ends, to be continued."""
        if isinstance(failure, StorageHeldUp | DatabaseUnusable):
            self.lost = failure
        else:
            state, settings = self._table.states[origin], self._table.settings.settings_of(origin)
            answer = machine.CrawlAnswer(0, ExitCode.database_error)
            self._table.update(machine.after_crawl(state, answer, self._clock.now(), settings))
            self.unsaved.add(origin)
            self.refused = self.refused or f"the database refused an attempt of {origin}: {failure}"
        self.hinder(str(failure))

    def hinder(self, trouble: str) -> None:
        """The database takes nothing, and why: no request is made until it does, which an empty text says."""
        if trouble != self.trouble:
            self.trouble = trouble
            at = self._clock.now().wall_ms
            failed = events.database_failed(at, trouble) if trouble else Event(at, "database_restored")
            self._listener.on_event(failed)
