"""Which worker holds which origin (B): leased in batches, the best first, given back, taken over from the dead.

An origin that takes part is free, or held by the session in its row, whose one heartbeat renews all its leases. A live
session keeps its origins; those of a dead one come as unclean: a request may have been in flight. The origins of one
site (of one address, if that is the politeness key) are never held by two workers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import peewee

from tui_crawler.domain.crawl.run import StoredOrigin
from tui_crawler.storage.crawl.activity import note
from tui_crawler.storage.crawl.candidates import awake
from tui_crawler.storage.crawl.jobs import job_rows, unlist
from tui_crawler.storage.db.claim import EMPTY, ONE, ZERO, Claim, is_pending, require
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.owner import OpenSession, Owner
from tui_crawler.storage.db.statements import builds, columns, slot, updates
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import Job, Origin, Page, Run, Session
from tui_crawler.storage.workers.sessions import Starter, load_origins, release_pages

GATHERING_MS = 10_000
"""So long after its start a run expects all its workers, and none takes more than its share of them."""
BATCH = 256
_LOOKED_AT = 64  # of at least so many of the soonest the one of the lowest nice comes first
_MANY = 1 << 30
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Peers:
    """What a worker knows of the others: how many were started, and which origins belong together. `group_of` names the
    site of an origin: a site is held by one worker, since robots.txt leads from one origin to another."""

    starter: Starter
    workers: int
    group_of: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Member:
    """An open session, the jobs whose pages it takes, by its tags, and those that it leaves (ids)."""

    session_id: int
    run_id: int
    hold: OpenSession
    name: str
    token_hash: str
    taken: tuple[int, ...] = ()
    left: tuple[int, ...] = ()

    def suits(self, origin: Any, _: Any = None) -> Any:
        """The condition for a free origin: pages of its jobs; or of no other, if it has not just given the origin
        back."""
        none_left = ~_has_open(origin, self.left) & (origin.session_id != self.session_id)
        return _has_open(origin, self.taken) | none_left if self.left else origin.free == ONE


def members(transaction: Transaction) -> list[Member]:
    """The open sessions that crawl, oldest first."""
    jobs = [job for job in job_rows(transaction) if not job.aborted]
    found = []
    for session_id, run_id, name, token_hash, tags, matchonly, *held in transaction.all(_open, {}):
        taken = tuple(one.job_id for one in jobs if (one.tag in tags.split() if one.tag else not matchonly))
        left = tuple(one.job_id for one in jobs if one.job_id not in taken)
        hold = OpenSession(Owner(*held[:4]), *held[4:])
        found.append(Member(session_id, run_id, hold, name, token_hash, taken, left))
    return found


def _dead(transaction: Transaction, claim: Claim, here: Owner) -> list[Member]:
    others = (one for one in members(transaction) if one.session_id != claim.session_id)
    return [one for one in others if not one.hold.is_live(here, transaction.now)]


def take_origins(transaction: Transaction, claim: Claim, peers: Peers) -> tuple[StoredOrigin, ...]:
    """Lease free origins: of its own sites and those wanted here, then the best up to its share, then those left
    over."""
    require(transaction, claim)
    here = peers.starter.owner
    for one in _dead(transaction, claim, here):
        bury(transaction, one, f"found dead by {here.describe()}")
    nameless = transaction.all(_nameless, {})
    transaction.run_many(_set_site, [{"site": clean(peers.group_of(name)), "origin": name} for (name,) in nameless])
    known = members(transaction)
    me = next(one for one in known if one.session_id == claim.session_id)
    taken = lease(transaction, claim, _MANY, me, _belongs)
    held: dict[int, int] = dict(transaction.all(_held_by_session, {}))
    room = _share(transaction, claim, peers, len(known)) - held.get(claim.session_id, 0)
    while room > 0 and (some := lease(transaction, claim, min(room, BATCH), me)):
        taken += some
        room -= len(some)
    if others := [one for one in known if one.left != me.left]:
        taken += lease(transaction, claim, _MANY, me, lambda origin, _: ~_any_suits(others, origin))
    taken += lease(transaction, claim, _MANY, me, _belongs) if taken else []
    return _load(transaction, claim, me, taken)


def lease(transaction: Transaction, claim: Claim, most: int, me: Member, *more: Callable[..., Any]) -> list[Row]:
    """Leases up to `most` free origins that suit, in one statement: id, name, epoch, former session. Of the soonest the
    lowest nice comes first. `more` are conditions on an origin for a session."""
    window, at, change = max(_LOOKED_AT, 2 * most), transaction.now, transaction.change
    if me.left or more:
        rows = transaction.fetch(_leasing(claim.session_id, at, change, most, window, me.suits, *more))
    else:
        values = {"me": claim.session_id, "now": at, "change": change, "most": most, "window": window}
        rows = transaction.all(_lease, values)
    claim.epochs.update((row[0], row[2]) for row in rows)
    return rows


def are_free(transaction: Transaction, claim: Claim, peers: Peers) -> bool:
    """Whether the run has origins that no session holds, or the session of a dead worker is open."""
    return bool(_dead(transaction, claim, peers.starter.owner)) or transaction.one(_free, {}) is not None


def others_at_work(transaction: Transaction, claim: Claim) -> bool:
    """Whether the run has unfinished origins in other hands, or in none and some worker takes them."""
    if transaction.one(_elsewhere, {"session_id": claim.session_id}) is not None:
        return True
    suits = _is_free(Origin) & _any_suits(members(transaction), Origin)
    return bool(transaction.fetch(Origin.select(Origin.id).where(suits).limit(1)))


def give_back(transaction: Transaction, claim: Claim, names: Iterable[str]) -> None:
    """Origins that this session holds are free; their states are stored, and nothing is in flight."""
    require(transaction, claim)
    _release(transaction, claim, names)


def leaves_any(transaction: Transaction, claim: Claim) -> bool:
    """Whether there are jobs that this session does not take."""
    return any(not claim.takes(job.tag) for job in job_rows(transaction))


def pass_on(transaction: Transaction, claim: Claim, names: Sequence[str]) -> tuple[str, ...]:
    """Of origins that have nothing left for this worker those are free from now on that have something for another one,
    each with its site, unless more of that is under way here. Answers which."""
    require(transaction, claim)
    known = members(transaction)
    me = next(one for one in known if one.session_id == claim.session_id)
    wanted = frozenset(me.left).intersection(*[[job for one in known for job in one.taken]])
    if not wanted:
        return ()
    found = awake(transaction, claim, names, transaction.now, wanted)
    same, busy = Origin.alias("same"), Origin.alias("busy")
    waits = peewee.fn.EXISTS(same.select(ONE).where((same.site == Origin.site) & _is_free(same)))
    mine = is_held(busy, claim.session_id) & (busy.site == Origin.site) & (busy.finish_reason == "")
    asked = Origin.origin.in_(list(map(clean, found))) | (Origin.origin.in_(list(map(clean, names))) & waits)
    sites = Origin.select(Origin.site).where(asked & ~peewee.fn.EXISTS(busy.select(ONE).where(mine)))
    chosen = [row[0] for row in transaction.fetch(sites.distinct())]
    again = Origin.update({Origin.finish_reason: "", Origin.change: transaction.change})
    transaction.execute(again.where(Origin.origin.in_(list(map(clean, found))) & Origin.site.in_(chosen)))
    return _release(transaction, claim, _of_sites(transaction, chosen, is_held(Origin, claim.session_id)))


def keep_apart(transaction: Transaction, claim: Claim, keys: Mapping[str, str]) -> tuple[str, ...]:
    """Store the politeness keys of leased origins; give back those whose key another session holds, return which."""
    require(transaction, claim)
    transaction.run_many(_set_site, ({"site": clean(key), "origin": clean(one)} for one, key in keys.items()))
    other = Origin.alias("other")
    elsewhere = (other.site == Origin.site) & (other.session_id != claim.session_id) & is_held(other)
    return _release(transaction, claim, keys, peewee.fn.EXISTS(other.select(ONE).where(elsewhere)))


def surplus(transaction: Transaction, claim: Claim, peers: Peers) -> tuple[str, ...]:
    """The origins, by site, beyond this worker's share while another one lacks some, unless jobs differ; due last
    first."""
    known = members(transaction)
    fair = _share(transaction, claim, peers, len(known))
    held: dict[int, int] = dict(transaction.all(_held_by_session, {}))
    excess = held.get(claim.session_id, 0) - fair
    if excess <= 0 or any(one.left for one in known) or min(held.get(one.session_id, 0) for one in known) >= fair - 1:
        return ()
    size, due = peewee.fn.COUNT(Origin.id), peewee.fn.MAX(Origin.next_request_at)
    mine, chosen = is_held(Origin, claim.session_id) & (Origin.wanted_session == 0), []
    sites = Origin.select(Origin.site, size).where(mine & (Origin.finish_reason == "")).group_by(Origin.site)
    for site, number in transaction.fetch(sites.order_by(due.desc())):
        if number <= excess:
            chosen.append(site)
            excess -= number
    return _of_sites(transaction, chosen, mine)


def bury(transaction: Transaction, dead: Member, by: str) -> None:
    """Ends the session of a worker that is gone, gives back what it had claimed, and frees what it held."""
    ended = {Session.ended_at: transaction.now, Session.ended_by: by, Session.clean: 0}
    transaction.execute(Session.update(ended).where(Session.id == dead.session_id))
    note(transaction, "session_taken_over", by, run_id=dead.run_id)
    release_pages(transaction, Page.claimed_by == dead.session_id)
    set_free(transaction, dead.session_id)


def set_free(transaction: Transaction, session_id: int) -> None:
    """All that a session that has ended held is free, and nobody wants anything to go there."""
    landed = Origin.update({Origin.free: 1, Origin.in_flight_url: "", Origin.change: transaction.change})
    transaction.execute(landed.where(is_held(Origin, session_id)))
    stays = Origin.update({Origin.wanted_session: 0, Origin.change: transaction.change})
    transaction.execute(stays.where(Origin.wanted_session == session_id))


def _share(transaction: Transaction, claim: Claim, peers: Peers, live: int) -> int:
    total: int = transaction.all(_unfinished, {})[0][0]
    started_at = transaction.fetch(Run.select(Run.started_at, Run.continued_at).where(Run.id == claim.run_id))[0]
    gathering = transaction.now - max(started_at) < GATHERING_MS
    return -(-total // max(live, peers.workers if gathering else 1))


def _of_sites(transaction: Transaction, sites: Sequence[str], which: Any) -> tuple[str, ...]:
    rows = transaction.fetch(Origin.select(Origin.origin).where(which & Origin.site.in_(sites)))
    return tuple(name for (name,) in rows)


def _release(transaction: Transaction, claim: Claim, names: Iterable[str], more: Any = None) -> tuple[str, ...]:
    """Free those of the origins named that this session holds and for which `more` holds; return which."""
    wanted, rows = list(map(clean, names)), list[Row]()
    changes = {Origin.free: 1, Origin.in_flight_url: "", Origin.change: transaction.change}
    for start in range(0, len(wanted), _CHUNK):
        mine = is_held(Origin, claim.session_id) & Origin.origin.in_(wanted[start : start + _CHUNK])
        query = Origin.update(changes).where(mine if more is None else mine & more)
        rows += transaction.fetch(query.returning(Origin.id, Origin.origin))
    for origin_id, _ in rows:
        claim.epochs.pop(origin_id, None)
    return tuple(name for _, name in rows)


def _load(transaction: Transaction, claim: Claim, me: Member, rows: Sequence[Row]) -> tuple[StoredOrigin, ...]:
    """Leased origins as their last holders left them; pages of jobs that are not taken here leave the todo lists."""
    ended, found = dict[int, Row](), list[StoredOrigin]()
    for start in range(0, len(rows), _CHUNK):
        some = rows[start : start + _CHUNK]
        ids = [row[0] for row in some]
        for job_id in me.left:
            unlist(transaction, job_id, Page.origin.in_(ids))
        query = Session.select(*columns(Session, "id run_id clean ended_at"))
        formers = transaction.fetch(query.where(Session.id.in_(sorted({row[3] for row in some}))))
        ended |= {row[0]: row for row in formers}
        former_of = {row[1]: ended.get(row[3], (0, 0, 1, 1)) for row in some}
        for stored in load_origins(transaction, claim, ids):
            _, run_id, clean_end, ended_at = former_of[stored.record.origin]
            unclean = bool(ended_at) and not clean_end
            found.append(replace(stored, handed_on=run_id == claim.run_id, unclean=unclean))
    return tuple(found)


class _SkipLocked(peewee.Node):
    """A number of rows, locked where the database has row locks; those that another transaction has are skipped."""

    def __init__(self, number: Any) -> None:
        self._number = number

    def __sql__(self, ctx: Any) -> Any:
        ctx.sql(self._number)
        return ctx.literal(" FOR UPDATE SKIP LOCKED") if ctx.state.for_update else ctx


def _is_free(origin: Any) -> Any:
    return (origin.participates == ONE) & (origin.finish_reason == EMPTY) & (origin.free == ONE)


def is_held(origin: Any, session_id: Any = None) -> Any:
    """The condition that a session holds an origin, this one if it is named."""
    held = (origin.participates == ONE) & (origin.free == ZERO)
    return held if session_id is None else held & (origin.session_id == session_id)


def _has_open(origin: Any, jobs: Sequence[int]) -> Any:
    page = Page.alias("open_page")
    of_jobs = (page.origin == origin.id) & page.job.in_(list(jobs))
    return peewee.fn.EXISTS(page.select(ONE).where(of_jobs & is_pending(page)))


def _any_suits(some: Sequence[Member], origin: Any) -> Any:
    return reduce(or_, (one.suits(origin) for one in some))


def _belongs(origin: Any, session: Any) -> Any:
    own = Origin.alias("own")
    same = is_held(own, session) & (own.site == origin.site)
    return (origin.wanted_session == session) | peewee.fn.EXISTS(own.select(ONE).where(same))


def _nice(origin_id: Any) -> Any:
    """The lowest niceness, with the tries made, of the open pages of an origin, by an index for each job."""
    page = Page.alias("nice_page")
    priority = page.nice + page.attempts
    first = page.select(priority).where((page.origin == origin_id) & (page.job == Job.id) & is_pending(page))
    return Job.select(peewee.fn.COALESCE(peewee.fn.MIN(first.order_by(priority).limit(ONE)), peewee.SQL(str(_MANY))))


def _leasing(me: Any, now: Any, change: Any, most: Any, window: Any, *more: Callable[..., Any]) -> Any:
    one, other = Origin.alias("one"), Origin.alias("other")
    elsewhere = is_held(other) & (other.site == one.site) & (other.session_id != me)
    free = _is_free(one) & one.wanted_session.in_([ZERO, me]) & ~peewee.fn.EXISTS(other.select(ONE).where(elsewhere))
    for condition in more:
        free &= condition(one, me)
    soonest = one.select(one.id, one.next_request_at).where(free).order_by(one.next_request_at, one.id)
    soonest = soonest.limit(_SkipLocked(window)).alias("soonest")
    later = peewee.Case(None, [(soonest.c.next_request_at > now, ONE)], ZERO)
    order = (later, _nice(soonest.c.id), soonest.c.next_request_at, soonest.c.id)
    best = peewee.Select([soonest], [soonest.c.id]).order_by(*order)
    changes = {Origin.former_session: Origin.session_id, Origin.session_id: me, Origin.free: ZERO}
    changes |= {Origin.epoch: Origin.epoch + ONE, Origin.change: change}
    answered = columns(Origin, "id origin epoch former_session")
    return Origin.update(changes).where(Origin.id.in_(best.limit(most))).returning(*answered)


_HOLD = "host machine pid process_started_ms started_at heartbeat_at lease_ms rest shared"
_open = builds(
    Session.select(*columns(Session, "id run_id worker token_hash tags matchonly", _HOLD))
    .where((Session.ended_at == ZERO) & (Session.rest == ZERO))
    .order_by(Session.id)
)
_TO_DO = (Origin.participates == ONE) & (Origin.finish_reason == EMPTY)
_HELD = is_held(Origin) & (Origin.finish_reason == EMPTY)
_elsewhere = builds(Origin.select(Origin.id).where(_HELD & (Origin.session_id != slot("session_id"))).limit(ONE))
_unfinished = builds(Origin.select(peewee.fn.COUNT(Origin.id)).where(_TO_DO))
_held_by_session = builds(
    Origin.select(Origin.session_id, peewee.fn.COUNT(Origin.id)).where(_HELD).group_by(Origin.session_id)
)
_set_site = updates([Origin.origin], Origin.site)
_lease = builds(_leasing(slot("me"), slot("now"), slot("change"), slot("most"), slot("window")))
_free = builds(Origin.select(Origin.id).where(_is_free(Origin)).limit(ONE))
_nameless = builds(Origin.select(Origin.origin).where((Origin.site == EMPTY) & (Origin.participates == ONE)))
