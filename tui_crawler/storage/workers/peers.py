"""Several workers over one database (B): who joins, who leads, how many requests are left, what operators want."""

from collections.abc import Sequence
from dataclasses import replace

import peewee

from tui_crawler.domain.crawl.run import RunPlan, RunStart
from tui_crawler.domain.records.command import MoveOrigins, SteerWorkers, TagWorker, WorkerCommand
from tui_crawler.domain.records.failure import RunHeld, StorageFailure
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.records.status_words import FinishReason, RunReason
from tui_crawler.domain.records.worker import WorkerOrder
from tui_crawler.storage.crawl import rulesets
from tui_crawler.storage.crawl.jobs import job_rows, job_states, unlist
from tui_crawler.storage.crawl.settle import mark_in_flight
from tui_crawler.storage.db.claim import CLAIMED, ONE, ZERO, Claim, require
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.owner import Owner
from tui_crawler.storage.db.statements import builds, builds_among, columns, newest, reads, slot
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Job, OperatorAction, Origin, Page, Run, Session
from tui_crawler.storage.workers.leases import Member, bury, is_held, members, set_free
from tui_crawler.storage.workers.sessions import Starter, close_session, open_session

_ORDERS = {"resume": WorkerOrder.work, "pause": WorkerOrder.pause, "drain": WorkerOrder.drain, "stop": WorkerOrder.stop}


def open_to_all(transaction: Transaction, claim: Claim, start: RunStart) -> RunStart:
    """The leading worker has begun a run: its origins are free, and so are requests that were granted and not made."""
    transaction.execute(Run.update({Run.granted: Run.requests}).where(Run.id == claim.run_id))
    changes = {Origin.free: 1, Origin.wanted_session: 0, Origin.site: "", Origin.change: transaction.change}
    transaction.execute(Origin.update(changes).where(Origin.participates == 1))
    return replace(start, origins=())


def is_live(transaction: Transaction, here: Owner) -> bool:
    """Whether there is a run that a worker can join. Raises RunHeld when its worker crawls alone."""
    live = [one for one in members(transaction) if one.hold.is_live(here, transaction.now)]
    alone = [one for one in live if not one.hold.shared]
    if alone:
        raise RunHeld(f"{alone[0].hold.describe()}; it takes no other workers (`run --workers 2` does)")
    return bool(live)


def join(transaction: Transaction, plan: RunPlan, starter: Starter) -> tuple[Claim, RunStart]:
    """Takes part in the live run. Raises StorageFailure when there is none, or a live worker has its name."""
    live = [one for one in members(transaction) if one.hold.is_live(starter.owner, transaction.now)]
    if not live:
        raise StorageFailure("there is no live run to join")
    for one in live:  # no two workers have one name
        if plan.worker and one.name == clean(plan.worker):
            if not starter.token_hash or one.token_hash != starter.token_hash:
                named = f"{one.name} ({one.hold.owner.describe()})"
                raise StorageFailure(f"a live worker is named {named}: choose another name")
            # who has the token of a live worker is that one, started again: it takes over
            bury(transaction, one, f"started again as {starter.owner.describe()}")
    run_id, chosen = live[0].run_id, columns(Run, "job started_at continued_at config_text")
    ((job_id, started_at, continued_at, text),) = transaction.fetch(Run.select(*chosen).where(Run.id == run_id))
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


def is_leading(transaction: Transaction, claim: Claim) -> bool:
    """Whether this is the oldest open session of the run."""
    known = members(transaction)
    return bool(known) and known[0].session_id == claim.session_id


def held_elsewhere(transaction: Transaction, claim: Claim, names: Sequence[str]) -> frozenset[str]:
    """Those of the origins named that take part and are not this session's."""
    return frozenset(row[0] for row in transaction.all_among(_elsewhere, names, claim.session_id))


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
    mark_in_flight(transaction, claim, page_id, origin, url, anew=True)
    return True


def orders(transaction: Transaction, claim: Claim) -> tuple[WorkerOrder, tuple[str, ...], frozenset[str], bool]:
    """What an operator wants of this worker: its order, origins that are to go to another one; its tags, and whether it
    takes only jobs of these. One that was ended is to ask nothing."""
    row = transaction.one(_wanted, {"session_id": claim.session_id})
    if row is None:
        return WorkerOrder.pause, (), claim.tags or frozenset(), claim.matchonly
    moved = tuple(name for (name,) in transaction.all(_moved, {"session_id": claim.session_id}))
    return WorkerOrder(row[0]), moved, frozenset(row[1].split()), bool(row[2])


def unlist_untaken(transaction: Transaction, claim: Claim) -> frozenset[int]:
    """Takes the pages of jobs that this worker does not take off the todo lists of its origins; answers which."""
    require(transaction, claim)
    mine = Page.origin.in_(Origin.select(Origin.id).where(is_held(Origin, claim.session_id)))
    held = [job.job_id for job in job_rows(transaction) if not job.is_free(claim)]
    return frozenset(page_id for job_id in held for page_id in unlist(transaction, job_id, mine))


def steer(transaction: Transaction, claim: Claim, command: WorkerCommand) -> tuple[dict[str, str], dict[str, str]]:
    """Writes down what an operator wants of workers, who see it when they look; answers what was and what is. Raises
    ValueError for a worker that is not at work, or an origin that is none."""
    require(transaction, claim)
    live = {one.name: one for one in members(transaction)}
    names = [clean(name) for name in (command.workers if isinstance(command, SteerWorkers) else (command.worker,))]
    if unknown := [name for name in names if name not in live]:
        raise ValueError(f"no worker of this name is at work: {', '.join(unknown)}")
    if alone := [name for name in names if not live[name].hold.shared]:
        raise ValueError(f"{', '.join(alone)} crawls alone: it takes no orders, its origins do (`pause`, `stop`)")
    chosen = Session.id.in_([live[name].session_id for name in names])
    if isinstance(command, MoveOrigins):
        return _move(transaction, live[names[0]], command.origins)
    if isinstance(command, TagWorker):
        column, value = Session.tags, clean(" ".join(command.tags))
    elif command.order in _ORDERS:
        column, value = Session.wanted, _ORDERS[command.order]
    else:
        raise ValueError(f"workers cannot be told to {command.order}")
    before: dict[str, str] = dict(transaction.fetch(Session.select(Session.worker, column).where(chosen)))
    transaction.execute(Session.update({column: value}).where(chosen))
    return before, dict.fromkeys(names, value)


def _move(transaction: Transaction, to: Member, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    wanted = [clean(name) for name in names]
    holder = Session.select(Session.worker).where(Session.id == Origin.session_id)
    known = Origin.select(Origin.origin, Origin.site, holder).where(
        Origin.origin.in_(wanted) & (Origin.participates == 1)
    )
    rows = transaction.fetch(known)
    if unknown := set(wanted) - {row[0] for row in rows}:
        raise ValueError(f"not an origin of this crawl: {', '.join(sorted(unknown))}")
    together = Origin.origin.in_(wanted) | Origin.site.in_([site for _, site, _ in rows if site])
    changes = {Origin.wanted_session: to.session_id, Origin.change: transaction.change}
    transaction.execute(Origin.update(changes).where(together & (Origin.participates == 1)))
    return {name: worker or "" for name, _, worker in rows}, dict.fromkeys(wanted, to.name)


def last_action(transaction: Transaction) -> int:
    """The newest row of the operator journal; 0 when it is empty."""
    return int(transaction.number(_newest_action))


def leave(transaction: Transaction, claim: Claim, clean: bool) -> bool:
    """End this session; return whether others continue the run. Raises StorageFailure if it is no longer ours."""
    require(transaction, claim)
    if not any(one.session_id != claim.session_id for one in members(transaction)):
        return False
    close_session(transaction, claim, clean)
    set_free(transaction, claim.session_id)
    return True


def end_reason(transaction: Transaction, claim: Claim, reason: str) -> str:
    """Why a run of several workers ends: stopped by operators everywhere, or refused by the database at any worker."""
    if not claim.shared or reason not in (RunReason.exhausted, RunReason.operator):
        return reason
    found = transaction.fetch(Origin.select(Origin.finish_reason).where(Origin.participates == 1).distinct())
    if (FinishReason.database_error,) in found:
        return RunReason.error
    return RunReason.operator if found == [(FinishReason.operator,)] else RunReason.exhausted


_AWAY = (Origin.wanted_session > ZERO) & (Origin.wanted_session != slot("session_id"))
_moved = builds(Origin.select(Origin.origin).where(_AWAY & is_held(Origin, slot("session_id"))))
_OTHERS = (Page.job == slot("job_id")) & (Page.id != slot("page_id"))
_in_flight = builds(Page.select(peewee.fn.COUNT(Page.id)).where((Page.status == CLAIMED) & _OTHERS))
_wanted = reads([Session.id], Session.wanted, Session.tags, Session.matchonly, where=Session.ended_at == ZERO)
_elsewhere = builds_among(
    Origin.select(Origin.origin),
    Origin.origin,
    Origin.participates == ONE,
    (Origin.session_id != slot("session_id")) | (Origin.free == ONE),
)
_newest_action = newest(OperatorAction)
_page_and_limit = builds(
    Page.select(Page.job, Page.status, Page.claimed_by, Job.concurrency)
    .join(Job, on=Job.id == Page.job)
    .where(Page.id == slot("page_id"))
)
