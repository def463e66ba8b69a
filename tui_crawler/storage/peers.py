"""Several workers over one database (B): who holds which origin, who leads, how many requests are left.

An origin belongs to the session in its row as long as that session is open. Nobody takes an origin from a live session;
what a dead one held is free, and comes as unclean: a request may have been in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import peewee

from tui_crawler.domain.failure import StorageFailure
from tui_crawler.domain.run import RunPlan, RunStart, StoredOrigin
from tui_crawler.domain.status import PageStatus
from tui_crawler.storage import origins, rulesets
from tui_crawler.storage.claim import ONE, ZERO, Claim, require
from tui_crawler.storage.jobs import job_states
from tui_crawler.storage.models import Job, OperatorAction, Origin, Page, Run, Session
from tui_crawler.storage.owner import OpenSession, Owner
from tui_crawler.storage.sessions import Starter, load_origins, open_session
from tui_crawler.storage.statements import columns, slot
from tui_crawler.storage.transaction import Transaction

GATHERING_MS = 10_000
"""So long after its start a run expects all its workers, and none takes more than its share of them."""

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Peers:
    """What a worker knows of the others: how many were started, and which origins belong together.

    `group_of` names the site of an origin: its origins stay in one hand, since robots.txt leads from one to another.
    """

    starter: Starter
    workers: int
    group_of: Callable[[str], str]


def open_to_all(transaction: Transaction, claim: Claim, start: RunStart) -> RunStart:
    """The leading worker has begun a run: its origins are free, each as its last holder left it, and so are the
    requests that earlier workers had taken and not made."""
    transaction.execute(Run.update({Run.granted: Run.requests}).where(Run.id == claim.run_id))
    return replace(start, origins=())


def join(transaction: Transaction, plan: RunPlan, starter: Starter) -> tuple[Claim, RunStart]:
    """Takes part in the live run. Raises StorageFailure when there is none."""
    live = [run_id for _, run_id, hold in _open_sessions(transaction) if hold.is_live(starter.owner, transaction.now)]
    if not live:
        raise StorageFailure("there is no live run to join")
    chosen = (Run.id, Run.job, Run.started_at, Run.continued_at, Run.config_text)
    run_id, job_id, started_at, continued_at, text = transaction.fetch(Run.select(*chosen).where(Run.id == live[0]))[0]
    claim = open_session(transaction, starter, plan, run_id, job_id, started_at)
    start = RunStart(
        run_id,
        continued=bool(continued_at),
        unclean=False,
        origins=(),
        config_text=text,
        jobs=job_states(transaction),
        rulesets=rulesets.current(transaction),
    )
    return claim, start


def take_origins(transaction: Transaction, claim: Claim, peers: Peers) -> tuple[StoredOrigin, ...]:
    """Leases free origins up to this worker's share: whole groups, those of its own groups first (stickiness)."""
    require(transaction, claim)
    _bury_dead(transaction, claim, peers.starter.owner)
    live = [session_id for session_id, _, _ in _open_sessions(transaction)]
    counts = _unfinished(transaction)
    if set(counts) <= set(live):
        return ()
    total, mine = sum(counts.values()), counts.get(claim.session_id, 0)
    started_at = transaction.fetch(Run.select(Run.started_at, Run.continued_at).where(Run.id == claim.run_id))[0]
    gathering = transaction.now - max(started_at) < GATHERING_MS
    share = -(-total // max(len(live), peers.workers if gathering else 1))
    return _lease(transaction, claim, peers, set(live), share - mine)


def are_free(transaction: Transaction, claim: Claim, peers: Peers) -> bool:
    """Whether the run has unfinished origins that no live session holds, or the session of a dead worker is open."""
    sessions, here = _open_sessions(transaction), peers.starter.owner
    live = {one for one, _, hold in sessions if one == claim.session_id or hold.is_live(here, transaction.now)}
    return len(live) < len(sessions) or not live.issuperset(_unfinished(transaction))


def is_leading(transaction: Transaction, claim: Claim) -> bool:
    """Whether this is the oldest open session of the run."""
    sessions = _open_sessions(transaction)
    return bool(sessions) and sessions[0][0] == claim.session_id


def others_at_work(transaction: Transaction, claim: Claim) -> bool:
    """Whether the run has unfinished origins in other hands, or in none."""
    return transaction.one(_elsewhere, {"session_id": claim.session_id}) is not None


def held_elsewhere(transaction: Transaction, claim: Claim, names: Sequence[str]) -> frozenset[str]:
    """Those of the origins named that take part and are not this session's."""
    mine = (Origin.participates == 1) & (Origin.session_id != claim.session_id)
    found: set[str] = set()
    for start in range(0, len(names), _CHUNK):
        chosen = Origin.origin.in_(list(names[start : start + _CHUNK]))
        found.update(row[0] for row in transaction.fetch(Origin.select(Origin.origin).where(mine & chosen)))
    return frozenset(found)


def take_requests(transaction: Transaction, claim: Claim, most: int) -> int:
    """Takes from the requests that the run may still make."""
    chosen = (Run.max_requests, Run.granted)
    limit, granted = transaction.fetch(Run.select(*chosen).where(Run.id == claim.run_id))[0]
    taken = most if limit is None else max(0, min(most, limit - granted))
    transaction.execute(Run.update({Run.granted: Run.granted + taken}).where(Run.id == claim.run_id))
    return taken


def claim_page(transaction: Transaction, claim: Claim, page_id: int, origin: str, url: str) -> bool:
    """Claims a page unless its job has as many in flight as it may, over all sessions, or another session has it."""
    require(transaction, claim)
    row = transaction.one(_page_and_limit, {"page_id": page_id})
    if row is None or (row[1] == PageStatus.CLAIMED and row[2] != claim.session_id):
        return False
    job_id, _, _, limit = row
    if limit is not None:
        in_flight = transaction.one(_in_flight, {"job_id": job_id, "page_id": page_id})
        if in_flight is not None and in_flight[0] >= limit:
            return False
    origins.mark_in_flight(transaction, origin, url)
    values = {"page_id": page_id, "claimed_at": transaction.now, "claimed_by": claim.session_id}
    transaction.run(_claim, values)
    return True


def last_action(transaction: Transaction) -> int:
    """The newest row of the operator journal; 0 when it is empty."""
    newest = transaction.one(_newest_action, {})
    return newest[0] if newest else 0


def leave(transaction: Transaction, claim: Claim, clean: bool) -> bool:
    """Ends this session; answers whether others go on with the run, which then stays open. Raises StorageFailure when
    the session is no longer ours."""
    require(transaction, claim)
    others = [session_id for session_id, _, _ in _open_sessions(transaction) if session_id != claim.session_id]
    if not others:
        return False
    ended = {Session.ended_at: transaction.now, Session.heartbeat_at: transaction.now, Session.clean: int(clean)}
    transaction.execute(Session.update(ended).where(Session.id == claim.session_id))
    landed = {Origin.in_flight_url: "", Origin.change: transaction.change}
    mine = (Origin.session_id == claim.session_id) & (Origin.in_flight_url != "")
    transaction.execute(Origin.update(landed).where(mine))
    return True


def _lease(transaction: Transaction, claim: Claim, peers: Peers, live: set[int], room: int) -> tuple[StoredOrigin, ...]:
    chosen = (Origin.id, Origin.origin, Origin.session_id, Origin.finish_reason)
    free: dict[str, list[tuple[int, int]]] = {}
    holders: dict[str, int] = {}
    for origin_id, name, session_id, finished in transaction.fetch(
        Origin.select(*chosen).where(Origin.participates == 1).order_by(Origin.id)
    ):
        group = peers.group_of(name)
        if session_id in live:
            holders[group] = session_id
        elif not finished:
            free.setdefault(group, []).append((origin_id, session_id))
    taken: list[tuple[int, int]] = []
    for group, members in free.items():
        holder = holders.get(group)
        if holder == claim.session_id or (holder is None and len(taken) < room):
            taken += members
    return tuple(_take(transaction, claim, *one) for one in taken)


def _take(transaction: Transaction, claim: Claim, origin_id: int, former: int) -> StoredOrigin:
    changes = {Origin.session_id: claim.session_id, Origin.epoch: Origin.epoch + 1, Origin.change: transaction.change}
    transaction.execute(Origin.update(changes).where(Origin.id == origin_id))
    session = transaction.fetch(Session.select(Session.run_id, Session.clean).where(Session.id == former))
    handed_on = bool(session) and session[0][0] == claim.run_id
    stored = load_origins(transaction, claim, (origin_id,))[0]
    return replace(stored, handed_on=handed_on, unclean=bool(session) and not session[0][1])


def _bury_dead(transaction: Transaction, claim: Claim, here: Owner) -> None:
    """Ends the sessions of dead workers and gives back what they had claimed."""
    for session_id, _, hold in _open_sessions(transaction):
        if session_id == claim.session_id or hold.is_live(here, transaction.now):
            continue
        by = f"found dead by {here.describe()}"
        ended = {Session.ended_at: transaction.now, Session.ended_by: by, Session.clean: 0}
        transaction.execute(Session.update(ended).where(Session.id == session_id))
        back = {Page.status: int(PageStatus.READY), Page.claimed_at: 0, Page.claimed_by: 0}
        claimed = (Page.status == peewee.SQL(str(int(PageStatus.CLAIMED)))) & (Page.claimed_by == session_id)
        transaction.execute(Page.update(back).where(claimed))
        landed = {Origin.in_flight_url: "", Origin.change: transaction.change}
        transaction.execute(Origin.update(landed).where(Origin.session_id == session_id))


def _open_sessions(transaction: Transaction) -> list[tuple[int, int, OpenSession]]:
    """The open sessions that crawl, oldest first: id, run, owner."""
    return [
        (row[0], row[1], OpenSession(Owner(*row[2:6]), row[6], row[7], row[8])) for row in transaction.all(_open, {})
    ]


def _unfinished(transaction: Transaction) -> dict[int, int]:
    """How many unfinished origins each session holds; those nobody holds are under the session that held them last."""
    counts: dict[int, int] = dict(transaction.all(_unfinished_by_session, {}))
    return counts


def _open() -> Any:
    chosen = columns(Session, "id run_id host machine pid process_started_ms started_at heartbeat_at lease_ms")
    return Session.select(*chosen).where((Session.ended_at == ZERO) & (Session.rest == ZERO)).order_by(Session.id)


def _newest_action() -> Any:
    return OperatorAction.select(peewee.fn.COALESCE(peewee.fn.MAX(OperatorAction.id), ZERO))


def _elsewhere() -> Any:
    others = Origin.session_id.is_null() | (Origin.session_id != slot("session_id"))
    return Origin.select(Origin.id).where(_is_unfinished() & others).limit(ONE)


def _is_unfinished() -> Any:
    return (Origin.participates == ONE) & (Origin.finish_reason == peewee.SQL("''"))


def _unfinished_by_session() -> Any:
    return (
        Origin.select(Origin.session_id, peewee.fn.COUNT(Origin.id)).where(_is_unfinished()).group_by(Origin.session_id)
    )


def _page_and_limit() -> Any:
    return (
        Page.select(Page.job, Page.status, Page.claimed_by, Job.concurrency)
        .join(Job, on=(Job.id == Page.job))
        .where(Page.id == slot("page_id"))
    )


def _in_flight() -> Any:
    claimed = Page.status == peewee.SQL(str(PageStatus.CLAIMED.value))
    others = (Page.job == slot("job_id")) & (Page.id != slot("page_id"))
    return Page.select(peewee.fn.COUNT(Page.id)).where(claimed & others)


def _claim() -> Any:
    changes = {
        Page.status: peewee.SQL(str(PageStatus.CLAIMED.value)),
        Page.claimed_at: slot("claimed_at"),
        Page.claimed_by: slot("claimed_by"),
    }
    return Page.update(changes).where(Page.id == slot("page_id"))
