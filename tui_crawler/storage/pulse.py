"""The pulse of a crawl: what attempts come to by minute and hour, written in the transaction that stores them, and what
a process measures of itself, once a minute with its heartbeat.

Each row belongs to one session, which alone writes it: what it has counted so far is known (`Memory.counts`) and the
row is replaced. What was rolled back is read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import peewee

from tui_crawler.domain.pulse import KEPT_MS, MINUTE_MS, PulseCount, packed, unpacked
from tui_crawler.storage.models import Gauge, Origin, PulseRow
from tui_crawler.storage.statements import insert_rows, reads, slot, upserts
from tui_crawler.storage.transaction import Transaction

if TYPE_CHECKING:
    from tui_crawler.storage.claim import Claim
    from tui_crawler.storage.counters import CountedAttempt

_MOST_KNOWN = 64
_KEY = (PulseRow.length, PulseRow.at, PulseRow.session_id, PulseRow.job_id)
_sums_of = attrgetter("attempts", "pages", "failed", "bytes")
_SUMS = (PulseRow.attempts, PulseRow.pages, PulseRow.failed, PulseRow.bytes, PulseRow.cells)


def beat(transaction: Transaction, claim: Claim, attempts: Iterable[CountedAttempt]) -> None:
    """Counts attempts in the minutes and hours in which they ended."""
    known = transaction.memory.counts
    fresh: dict[tuple[int, int], PulseCount] = {}
    for _, job_id, attempt in attempts:
        minute = (attempt.ended_at // MINUTE_MS * MINUTE_MS, job_id)
        count = fresh.get(minute)
        if count is None:
            count = fresh[minute] = PulseCount()
        count.add_attempt(attempt)
    touched: dict[tuple[int, int, int, int], PulseCount] = {}
    for (at, job_id), count in fresh.items():
        for length in KEPT_MS:
            key = (length, at - at % length, claim.session_id, job_id)
            whole = touched[key] = touched.get(key) or known.get(key) or _stored(transaction, key)
            whole.merge(count)
    if len(known) > _MOST_KNOWN:
        known.clear()
    known.update(touched)
    transaction.insert(_keep, [(*key, *_sums_of(one), packed(one.cells)) for key, one in touched.items()])


def _stored(transaction: Transaction, key: tuple[int, int, int, int]) -> PulseCount:
    row = transaction.one(_find, dict(zip(("length", "at", "session_id", "job_id"), key, strict=True)))
    return PulseCount(row[0], row[1], row[2], row[3], unpacked(row[4])) if row else PulseCount()


def measure(transaction: Transaction, claim: Claim, lag_ms: int, commit_ms: int, commit_jobs: int) -> bool:
    """Keeps what a session has measured of itself since the last time; the first one in a minute looks at the crawl.
    True."""
    at = transaction.now - transaction.now % MINUTE_MS
    seen: tuple[Any, ...] = (None,) * len(_OF_CRAWL)
    if transaction.one(_any_gauge, {"at": at}) is None:
        seen = transaction.fetch(Origin.select(*_OF_CRAWL.values()).where(Origin.participates == peewee.SQL("1")))[0]
    own = (claim.session_id, lag_ms, commit_ms, commit_jobs)
    transaction.insert(_keep_gauge, [(length, at - at % length, *own, *seen) for length in KEPT_MS])
    return True


def _sum(condition: Any) -> Any:
    return peewee.fn.COALESCE(peewee.fn.SUM(peewee.Case(None, [(condition, 1)], 0)), 0)


_gave_up = Origin.finish_reason.in_(["patience", "database_error"])
_open = Origin.finish_reason == ""
_flying = Origin.in_flight_url != ""
_OF_CRAWL = {
    Gauge.todo: peewee.fn.COALESCE(peewee.fn.SUM(Origin.todo), 0),
    Gauge.pending: peewee.fn.COALESCE(peewee.fn.SUM(Origin.pending), 0),
    Gauge.crawling: _sum(_open & _flying),
    Gauge.waiting: _sum(_open & ~_flying & (Origin.paused == 0)),
    Gauge.paused: _sum(_open & ~_flying & (Origin.paused != 0)),
    Gauge.gave_up: _sum(_gave_up),
    Gauge.finished: _sum(~_open & ~_gave_up),
}


def _any_gauge() -> Any:
    minutes = Gauge.length == peewee.SQL(str(MINUTE_MS))
    return Gauge.select(Gauge.at).where(minutes & (Gauge.at == slot("at"))).limit(peewee.SQL("1"))


def _keep_gauge(size: int) -> Any:
    key, own = [Gauge.length, Gauge.at, Gauge.session_id], [Gauge.lag_ms, Gauge.commit_ms, Gauge.commit_jobs]
    now = peewee.EXCLUDED
    worst = {one: peewee.fn.MAX(one, getattr(now, one.column_name)) for one in own}
    last = {one: peewee.fn.COALESCE(getattr(now, one.column_name), one) for one in _OF_CRAWL}
    return insert_rows([*key, *own, *_OF_CRAWL], size).on_conflict(conflict_target=key, update=worst | last)


_find = reads(_KEY, *_SUMS)
_keep = upserts(_KEY, _SUMS)
