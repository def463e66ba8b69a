"""What a session holds: the run it works for, with the plan's numbers that the queries need."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import peewee

from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.storage.db.clock import mono_clock
from tui_crawler.storage.db.statements import builds, reads, slot, updates
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Origin, Run, Session

SIGN_MS = 1_000


@dataclass(frozen=True, slots=True)
class Claim:
    """A run as its session holds it. `forced_before` (epoch ms): done pages crawled earlier are due; 0 for none.

    `tags` and `matchonly` say which jobs the session takes (B); tags of None: it takes every job. `start_paths` are
    pairs of origin and path (G). `shared`: several workers crawl the run, origins that join are nobody's at first.
    `worked_from` is when the run would have begun by `mono` (ms) if it had worked without a rest. `in_part`: the ids of
    origins of whose todo list only the head was loaded. `epochs`: those of the origins it has leased, by their ids;
    `lost`: names of some that it does not hold any more. `keeps_former`: what is changed is kept as it was before.
    """

    run_id: int
    session_id: int
    job_id: int
    tries: int
    patience: int
    start_politeness: int
    recrawl_interval_ms: int
    respect_http_freshness: bool
    forced_before: int
    tags: frozenset[str] | None = None
    matchonly: bool = False
    start_paths: tuple[tuple[str, str], ...] = ()
    shared: bool = False
    mono: Callable[[], int] = mono_clock
    worked_from: int = 0
    in_part: set[int] = field(default_factory=set)
    keeps_former: bool = False
    epochs: dict[int, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def takes(self, tag: str) -> bool:
        """Whether the session crawls jobs of this tag: its own tags, and without `matchonly` untagged ones, too."""
        return self.tags is None or (tag in self.tags if tag else not self.matchonly)


def require(transaction: Transaction, claim: Claim) -> None:
    """Raises StorageFailure when the session has ended or another owner has taken the database: then nothing that
    it still brings may be stored."""
    if transaction.held_by == claim.session_id:
        return
    row = transaction.one(_ended, {"session_id": claim.session_id})
    if row is None or row[0]:
        by = f" ({row[1]})" if row and row[1] else ""
        raise StorageFailure(f"this session no longer holds the database{by}: nothing was stored")
    transaction.held_by = claim.session_id


def holds(transaction: Transaction, claim: Claim, origin_id: int) -> bool:
    """Whether a worker among several still has the lease of an origin by which it was given it; alone it always has."""
    if not claim.shared:
        return True
    row = transaction.one(_epoch, {"origin_id": origin_id, "session_id": claim.session_id})
    return row is not None and row[0] == claim.epochs.get(origin_id)


def sign_of_life(transaction: Transaction, claim: Claim) -> None:
    """What is stored says that the session lives, as a heartbeat does: should it be killed, it is known to have worked
    until then. Once in `SIGN_MS`."""
    now, memory = transaction.now, transaction.memory
    if 0 <= now - memory.signed_at < SIGN_MS:
        return
    values = {"session_id": claim.session_id, "heartbeat_at": now, "before": now - SIGN_MS}
    if transaction.one(_sign, values) is not None:
        memory.signed_at = now
        count_work(transaction, claim)


def count_work(transaction: Transaction, claim: Claim) -> None:
    """Notes how long the run has worked. Of workers side by side each counts the whole run: the longest holds."""
    transaction.run(_work, {"worked_ms": claim.mono() - claim.worked_from, "run_id": claim.run_id})


ZERO, ONE, EMPTY = peewee.SQL("0"), peewee.SQL("1"), peewee.SQL("''")
CLAIMED, STASHED = (peewee.SQL(str(status.value)) for status in (PageStatus.CLAIMED, PageStatus.STASHED))
"""Written into the text: a partial index serves a condition only when its number is no parameter."""


def is_pending(page: Any) -> Any:
    """The condition that a page waits for an attempt, as the indices of pending pages have it."""
    return (page.status == ZERO) & (page.attempts_remaining > ZERO) & (page.beyond_depth == ZERO)


_work = updates([Run.id], Run.worked_ms, where=Run.worked_ms < slot("worked_ms"))
_SILENT = (Session.ended_at == ZERO) & (Session.heartbeat_at <= slot("before"))
_sign = updates([Session.id], Session.heartbeat_at, where=_SILENT, returning=[Session.id])
_ended = reads([Session.id], Session.ended_at, Session.ended_by)
_HELD = (Origin.id == slot("origin_id")) & (Origin.session_id == slot("session_id")) & (Origin.free == ZERO)
_OF_SESSION = Origin.select(Origin.epoch).join(Session, on=(Session.id == Origin.session_id))
_epoch = builds(_OF_SESSION.where(_HELD & (Session.ended_at == ZERO)))
