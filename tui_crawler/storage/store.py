"""The store behind the engine, over one database. It fits `engine.ports.Store` by shape."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, TypeVarTuple

from tui_crawler.domain.crawl.job import QueueChange
from tui_crawler.domain.crawl.run import RunPlan, RunStart, Settled, StoredOrigin
from tui_crawler.domain.history.pulse import FINE_MS, MINUTE_MS, YOUNG_MS
from tui_crawler.domain.records.attempt import FillRecord, OriginRecord, Reading, Settle, WaitingDocument
from tui_crawler.domain.records.command import ActionResult, ApplyRules, PendingAction, RetryPages
from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.page import Candidates, PutBack
from tui_crawler.domain.records.worker import WorkerOrders
from tui_crawler.domain.rules.ruleset import Ruleset
from tui_crawler.storage.crawl import (
    canonicals,
    documents,
    former,
    operator_actions,
    rejudging,
    retrying,
    rulesets,
    settle,
    stashes,
)
from tui_crawler.storage.crawl.candidates import awake as awake_origins
from tui_crawler.storage.crawl.candidates import candidates
from tui_crawler.storage.crawl.counters import measure
from tui_crawler.storage.crawl.jobs import job_states
from tui_crawler.storage.crawl.retrying import Retrying
from tui_crawler.storage.db.claim import Claim, require
from tui_crawler.storage.db.clock import mono_clock, wall_clock
from tui_crawler.storage.db.database import connect_readonly, open_writable
from tui_crawler.storage.db.file_identity import server_module
from tui_crawler.storage.db.open_settings import Durability, OpenSettings
from tui_crawler.storage.db.owner import Owner, this_process
from tui_crawler.storage.db.transaction import Texts, Transaction
from tui_crawler.storage.db.writer import Writer, WriterSettings
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, connection_of
from tui_crawler.storage.queue import segments
from tui_crawler.storage.queue.segments import PendingSegments, SegmentStore
from tui_crawler.storage.workers import leases, peers, sessions
from tui_crawler.storage.workers.heartbeat import MOST_MS, Heartbeat, Lease, lease_clock
from tui_crawler.storage.workers.leases import Peers


def foresee(
    path: DatabasePlace, settings: OpenSettings, claim: Claim, command: ApplyRules
) -> rulesets.RuleEstimate | None:
    """What the edit does to the pages that are refused now. None where it cannot be made, or they cannot be read: its
    transaction says why, or judges them itself. Blocking; any thread may call it."""
    passing = (ValueError, StorageFailure, *DATABASE_ERRORS)
    with contextlib.suppress(*passing), contextlib.closing(connect_readonly(path, settings)) as database:
        return rulesets.foresee(Transaction(connection_of(database), Texts(database), 0), claim, command)
    return None


T = TypeVar("T")
Ts = TypeVarTuple("Ts")
P = ParamSpec("P")


@dataclass(slots=True)
class _Steps:
    """Steps of a run over its writer, with the claim that is held. Each returns when it is committed."""

    writer: Writer
    path: DatabasePlace
    claim: Claim | None = None

    def held(self) -> Claim:
        if self.claim is None:
            raise StorageFailure(f"no run has begun on {self.path}")
        return self.claim

    async def read(self, step: Callable[[Transaction, Claim, *Ts], T], *args: *Ts, brief: bool = False) -> T:
        claim = self.held()
        return await self.writer.read(lambda work: step(work, claim, *args), brief=brief)

    async def write(
        self, step: Callable[[Transaction, Claim, *Ts], T], *args: *Ts, brief: bool = False, checked: bool = False
    ) -> T:
        """Return what a step that writes returns; `checked`: it fails where the database is no longer ours."""
        claim = self.held()

        def work(transaction: Transaction) -> T:
            if checked:
                require(transaction, claim)
            return step(transaction, claim, *args)

        return await self.writer.write(work, brief=brief)


Step = Callable[Concatenate[Transaction, Claim, P], T]
Method = Callable[Concatenate["SqliteStore | PeerStore", P], Coroutine[Any, Any, T]]


def _reads(step: Step[P, T]) -> Method[P, T]:
    """Return the method of a store that is this step, which reads little."""

    async def read(self: SqliteStore | PeerStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._steps.read(lambda work, claim: step(work, claim, *args, **kwargs), brief=True)

    return read


def _writes(step: Step[P, T], *, brief: bool = False, checked: bool = False) -> Method[P, T]:
    """Return the method of a store that is this step, which writes."""

    async def write(self: SqliteStore | PeerStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        def work(transaction: Transaction, claim: Claim) -> T:
            return step(transaction, claim, *args, **kwargs)

        return await self._steps.write(work, brief=brief, checked=checked)

    return write


def _looks_up(look: Callable[Concatenate[Transaction, P], T], *, brief: bool = False) -> Method[P, T]:
    """Return the method of a store that reads what is the same for every session."""

    async def read(self: SqliteStore | PeerStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._steps.writer.read(lambda work: look(work, *args, **kwargs), brief=brief)

    return read


LOOKS_BETWEEN_LEASES = 5  # origins are leased at every fifth look at a file, at each one at a server


@dataclass(slots=True)
class PeerStore:
    """Fits the engine's PeerStore, which describes the methods. Each returns when it is committed. What they ask is
    brief: the thread, if called for that, would store attempts as well, at twice the cost."""

    _steps: _Steps
    _members: Peers
    _looks_between: int  # origins are leased at every Nth look
    _looks: int = 0
    _followed: int = -1

    give_back = _writes(leases.give_back)
    keep_apart = _writes(leases.keep_apart)
    is_leading = _reads(peers.is_leading)
    others_at_work = _reads(leases.others_at_work)
    held_elsewhere = _reads(peers.held_elsewhere)
    take_requests = _writes(peers.take_requests, brief=True)
    claim_page = _writes(peers.claim_page, brief=True)
    jobs = _looks_up(job_states, brief=True)
    current_rules = _looks_up(rulesets.current)
    on_todo_lists = _looks_up(operator_actions.on_todo_lists)

    async def take_origins(self, *, idle: bool = False) -> tuple[StoredOrigin, ...]:
        """Leases origins that nobody holds, up to this worker's share; not at every look, unless it is `idle`."""
        self._looks += 1
        if not idle and (self._looks - 1) % self._looks_between:
            return ()
        if not await self._steps.read(leases.are_free, self._members, brief=True):
            return ()
        return await self._steps.write(leases.take_origins, self._members)

    async def orders(self) -> WorkerOrders:
        balances = self._looks % self._looks_between == 0

        def look(work: Transaction, claim: Claim) -> tuple[WorkerOrders, Claim | None]:
            order, leave, tags, matchonly = peers.orders(work, claim)
            gone = tuple(claim.lost)
            claim.lost.clear()
            if balances and not leave:
                leave = leases.surplus(work, claim, self._members)
            stays = (tags, matchonly) == (claim.tags, claim.matchonly)
            return WorkerOrders(order, leave, gone), None if stays else replace(claim, tags=tags, matchonly=matchonly)

        orders, other = await self._steps.read(look, brief=True)
        if other is not None:
            self._steps.claim = other
            orders = replace(orders, unlisted=await self._steps.write(peers.unlist_untaken))
        return orders

    async def pass_on(self, origins: Sequence[str]) -> tuple[str, ...]:
        if not origins or not await self._steps.read(leases.leaves_any, brief=True):
            return ()
        return await self._steps.write(leases.pass_on, origins)

    async def followed_actions(self) -> tuple[PendingAction, ...]:
        after = self._followed

        def look(work: Transaction, claim: Claim) -> tuple[int, tuple[PendingAction, ...]]:
            if after < 0 or peers.is_leading(work, claim):
                return peers.last_action(work), ()
            return operator_actions.carried_out_actions(work, after)

        self._followed, actions = await self._steps.read(look, brief=True)
        return actions


_PURGED_AT_START = 5  # pieces of what older runs kept; then one with each look at the journal
_FEW = 20  # refusals of a fill, or origins: they are brief


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How the store works. `lease_ms` is how long it holds the database without a heartbeat, seen from elsewhere.

    `now` gives epoch ms, `mono` monotonic ms, as `lease_clock` does by which the lease runs out; `owner` None: this
    process. `beats`: a thread renews the lease of a worker among several; `token_hash` is the SHA-256 of what proves
    that it is the worker of its name. `segments` is where the rest of the queue is saved, in files of `segment_urls`
    each; None: in the folder `segments` beside the database.
    """

    opening: OpenSettings = field(default_factory=OpenSettings)
    writing: WriterSettings = field(default_factory=WriterSettings)
    lease_ms: int = 30_000
    now: Callable[[], int] = wall_clock
    mono: Callable[[], int] = mono_clock
    lease_clock: Callable[[], int] = lease_clock
    owner: Owner | None = None
    token_hash: str = ""
    beats: bool = False
    segments: Path | None = None
    segment_urls: int = 50_000


class SqliteStore:
    """Opens (makes, migrates) the database and starts its writer. `close` it when the run has ended. Fits the engine's
    Store: what a method does stands there.

    Raises NotOurDatabase, ReadOnlyDatabase, RunHeld (a migration during a live run) and StorageFailure.
    """

    kept_answer = _looks_up(canonicals.kept_answer, brief=True)
    waiting_documents = _looks_up(documents.waiting_documents, brief=True)
    exclusions = _looks_up(operator_actions.exclusions)
    awake = _reads(awake_origins)
    steer_workers = _writes(peers.steer)
    end_rest = _writes(sessions.end_rest)
    add_origins = _writes(sessions.add_origins)
    put_first = _writes(retrying.put_first)
    change_exclusion = _writes(rulesets.change_exclusion, checked=True)
    change_job = _writes(operator_actions.change_job, checked=True)
    stash = _writes(stashes.change_stash, checked=True)
    reclaim = _writes(stashes.reclaim, checked=True)
    add_pages = _writes(operator_actions.add_seeds, checked=True)
    added_pages = _reads(operator_actions.added_seeds)
    load_segment = _writes(segments.load, checked=True)

    def __init__(self, path: DatabasePlace, settings: StoreSettings | None = None) -> None:
        self._settings = settings or StoreSettings()
        self._path = path
        database = open_writable(path, self._settings.opening)
        waits_for_disk = isinstance(path, PostgresPlace) or self._settings.opening.durability is Durability.full
        writing = replace(self._settings.writing, here=False) if waits_for_disk else self._settings.writing
        self.writer = Writer(database, path, writing, self._settings.now)
        self._steps = _Steps(self.writer, path)
        self._segment_store = SegmentStore(path, self._settings.segments, self._settings.segment_urls)
        self._lease = Lease(self._settings.lease_ms, self._settings.lease_clock)
        self.may_ask, self.known_pages = self._lease.holds, self.writer.memory.pages_of
        self._heart: Heartbeat | None = None
        self._listener: Any = None
        self.in_flight: Callable[[], int] = lambda: 0
        """How many turns are under way, for heartbeats to tell; any thread calls it."""
        self._taken = 0
        self._purges = False  # there may be something to purge
        self._marks: dict[str, tuple[int, str]] = {}
        self._marking = False
        self._measured, self._opened_at = 0, self._settings.now()  # the step (since the epoch) whose gauges are kept
        self.waiting = asyncio.Event()
        """Set when documents may have come that wait for validators and data rules."""

    @property
    def joins_live_runs(self) -> bool:
        """Whether a second run on the database takes part in the live one; else it is refused."""
        return isinstance(self._path, PostgresPlace)

    def watch(self, told: Callable[[str], None], hinted: Callable[[], None]) -> bool:
        loop = asyncio.get_running_loop()

        def tell(what: Callable[..., None], *args: str) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(what, *args)

        self.writer.told = partial(tell, told)
        if isinstance(self._path, PostgresPlace):
            self._listener = server_module().NotifyListener(self._path, partial(tell, hinted))
        return self._listener is not None

    def give_up(self, after_ms: int) -> None:
        self.writer.give_up(after_ms / 1000)

    def close(self) -> None:
        """Commits what waits and closes the database. Blocks until that is done."""
        for thread in filter(None, (self._heart, self._listener)):
            thread.end()
        self.writer.close()

    async def begin_run(self, plan: RunPlan) -> RunStart:
        starter = self._starter()

        def work(transaction: Transaction) -> tuple[Claim, RunStart]:
            if plan.joins or (plan.may_join and peers.is_live(transaction, starter.owner)):
                return peers.join(transaction, plan, starter)
            claim, start = sessions.begin(transaction, plan, starter)
            return claim, peers.open_to_all(transaction, claim, start) if plan.shared else start

        self._steps.claim, start = await self.writer.write(work)
        if plan.shared and self._settings.beats and self._heart is None:
            self._heart = Heartbeat(self._beat, min(MOST_MS, self._settings.lease_ms // 4))
        self._taken = 0
        self.waiting.set()
        self._purges = True
        await self._purge(_PURGED_AT_START)
        return start

    def peers(self, workers: int, group_of: Callable[[str], str]) -> PeerStore:
        """What several workers of one run share; `group_of` names the site of an origin, which stays in one hand."""
        members = Peers(self._starter(), workers, group_of)
        looks = 1 if self.joins_live_runs else LOOKS_BETWEEN_LEASES
        return PeerStore(self._steps, members, looks)

    async def begin_rest(self) -> RunStart:
        starter = self._starter()
        self._steps.claim, start = await self.writer.write(lambda work: sessions.begin_rest(work, starter))
        self._taken = 0
        return start

    async def candidates(self, origin: str, now: int, limit: int, first_fill: bool) -> Candidates:
        def look(work: Transaction, claim: Claim) -> Candidates | None:
            return None if canonicals.are_due(work) else candidates(work, claim, origin, now, limit, first_fill)

        while (found := await self._steps.read(look, brief=True)) is None:
            await self.resolve_claims(last=False)
        return found

    async def resolve_claims(self, *, last: bool = True) -> int:
        back, after = await self._steps.write(canonicals.resolve, 0, last)
        while after:
            more, after = await self._steps.write(canonicals.resolve, after, last)
            back += more
        return back

    async def fill(self, record: FillRecord) -> Settled:
        return await self._steps.write(settle.store_fill, record, brief=len(record.refusals) < _FEW)

    async def settle(self, settle_value: Settle) -> Settled:
        job = settle.SettleJob(self._steps.held(), settle_value)
        self._marks.pop(settle_value.origin.origin, None)
        prepare = None if settle_value.body is None else job.prepare
        settled = await self.writer.write(job, prepare, brief=job.is_brief)
        if settle_value.document is not None and settle_value.document.waits:
            self.waiting.set()
        return settled

    async def store_second_readings(self, readings: Sequence[tuple[WaitingDocument, Reading | None]]) -> None:
        """Stores what they say of documents that wait; None: they are not asked again."""

        def work(transaction: Transaction) -> None:
            for document, found in readings:
                documents.store_second_reading(transaction, document, found)

        await self.writer.write(work, brief=not any(found and found.data for _, found in readings))

    def mark_in_flight(self, page_id: int, origin: str, url: str) -> None:
        """For the eyes: rides in a later commit, is never waited for. One whose attempt is over by then is not made."""
        claim = self._steps.held()
        self._marks[origin] = (page_id, url)
        if not self._marking:
            self._marking = True
            self.writer.write_unawaited(partial(self._mark, claim=claim))

    def _mark(self, transaction: Transaction, claim: Claim) -> None:
        self._marking = False
        with contextlib.suppress(KeyError):  # the event loop takes marks away meanwhile
            while True:
                origin, (page_id, url) = self._marks.popitem()
                settle.mark_in_flight(transaction, claim, page_id, origin, url)

    async def save_origins(self, records: Sequence[OriginRecord]) -> None:
        await self._steps.write(settle.save_origins, records, brief=len(records) < _FEW)

    async def retry(self, selection: RetryPages) -> tuple[tuple[str, int], ...]:
        return await Retrying(self.writer, self._steps.held(), selection).put_back()

    async def put_back(self, selection: RetryPages) -> PutBack:
        return await Retrying(self.writer, self._steps.held(), selection).first()

    async def save_rest(self) -> str:
        """Saves the pages that are still pending as segments (M); answers the path of the first, empty when there
        were none. They stay out of the queue until those segments are loaded."""
        claim, segment_store = self._steps.held(), self._segment_store
        prefix = await self.writer.write(lambda work: segments.new_batch(work, self._path))
        with contextlib.closing(PendingSegments(claim, segment_store, prefix)) as rest:
            try:
                path = await self.writer.write(rest, rest.prepare)
            except Exception:
                rest.close()
                with contextlib.suppress(StorageFailure):
                    await self.writer.read(lambda work: segments.tidy(work, segment_store, prefix))
                raise
            rest.publish()
        return path

    async def next_segment(self) -> str:
        return await self.writer.read(lambda work: segments.next_waiting(work, self._segment_store))

    async def apply_rules(self, command: ApplyRules, who: str) -> tuple[tuple[Ruleset, ...], QueueChange]:
        claim, estimate = self._steps.held(), None
        if await self.writer.read(rejudging.are_many):  # judged in a thread of its own, so that the writer is free
            estimate = await asyncio.to_thread(foresee, self._path, self._settings.opening, claim, command)
        return await self._steps.write(rulesets.apply, command, who, estimate, checked=True)

    async def take_actions(self) -> tuple[PendingAction, ...]:
        """What operators have asked for since the last call, oldest first. Rows that cannot be read are answered
        in the journal with their error."""
        await self._purge(1)
        after = self._taken
        actions, unreadable = await self.writer.read(
            lambda work: operator_actions.waiting_actions(work, after), brief=True
        )
        read = [action.action_id for action in actions] + [result.action_id for result in unreadable]
        self._taken = max(read, default=after)
        if unreadable:
            await self.finish_actions(unreadable)
        return actions

    async def _purge(self, pieces: int) -> None:
        """Takes away some of what older runs kept; others write in between."""
        while self._purges and pieces > 0:
            pieces -= 1
            self._purges = await self.writer.write(former.purge, brief=True)

    async def finish_actions(self, results: Sequence[ActionResult]) -> None:
        await self.writer.write(lambda work: operator_actions.finish_actions(work, results))
        if self._listener is not None:
            await self.writer.read(Transaction.notify)

    async def heartbeat(self) -> bool:
        """Once a minute, more often at first, keep what the writer has measured, for which all origins are read."""
        now = self._settings.now()
        length = FINE_MS if now - self._opened_at < YOUNG_MS else MINUTE_MS
        renewed = await self._beat(brief=True)
        if renewed and now // length != self._measured:
            self._measured = now // length
            load = self.writer.load.take()
            await self._steps.write(lambda work, claim: measure(work, claim, length, *load))
        return renewed

    async def _beat(self, *, brief: bool = False) -> bool:
        told = self.in_flight(), self._free_bytes()
        return await self._lease.renewed_by(self._steps.write(sessions.renew, *told, brief=brief))

    def _free_bytes(self) -> int:
        return shutil.disk_usage(self._path.parent).free

    async def end_run(self, reason: str, clean: bool) -> None:
        def work(transaction: Transaction, claim: Claim) -> None:
            if not peers.leave(transaction, claim, clean):
                sessions.end(transaction, claim, peers.end_reason(transaction, claim, reason), clean)

        await self._steps.write(work)

    def _starter(self) -> sessions.Starter:
        settings = self._settings
        owner, free = settings.owner or this_process(), self._free_bytes()
        return sessions.Starter(owner, settings.lease_ms, settings.mono, settings.token_hash, free)
