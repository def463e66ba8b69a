"""Counts that are kept: of jobs, runs, and exit codes per origin, run and minute; single numbers by name; and the
pulse: what attempts come to by minute and hour, and what a process measures of itself with its heartbeat.

Only its own session writes a row of the pulse: what it has counted is known (`Memory.counts`) and the row is replaced.
What was rolled back is read again."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

import peewee

from tui_crawler.domain.history.pulse import KEPT_MS, MINUTE_MS, PulseCount, packed, unpacked
from tui_crawler.domain.records.attempt import AttemptRecord
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import Tally, tally
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.records.status_words import GAVE_UP
from tui_crawler.storage.crawl.activity import newest_run, note
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.db.statements import (
    adds,
    builds,
    columns,
    counts_up,
    insert_rows,
    reads,
    slot,
    updates,
    upserts,
)
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.db.views import ALL_ORIGINS, RECENT_MINUTES
from tui_crawler.storage.models import ExitCount, ExitMinute, Gauge, Job, Meta, Origin, PulseRow, Run


def tally_of(
    status: int, attempts_remaining: int, exit_code: int | None, beyond_depth: int, external: int = 0
) -> Tally:
    """`domain.page.tally` of a row; a page beyond its job's depth does not count as pending."""
    code = None if exit_code is None else ExitCode(exit_code)
    counted = tally(PageStatus(status), attempts_remaining, code, external)
    return counted._replace(pending=0) if beyond_depth else counted


@dataclass(slots=True)
class CounterChanges:
    """How the counters of origins change, by id: of their pages, of new pages, of pages that leave the todo list."""

    changes: defaultdict[int, Tally] = field(default_factory=lambda: defaultdict(Tally))
    added: Counter[int] = field(default_factory=Counter)
    unlisted: Counter[int] = field(default_factory=Counter)

    def add(self, origin_id: int, change: Tally, times: int = 1) -> None:
        """Add a change of an origin, that of `times` pages."""
        self.changes[origin_id] = self.changes[origin_id].plus(change, times)

    def total(self) -> Tally:
        total = Tally()
        for change in self.changes.values():
            total = total.plus(change)
        return total


class CountedAttempt(NamedTuple):
    """An attempt with the ids of its origin and of its job."""

    origin_id: int
    job_id: int
    attempt: AttemptRecord


def adding(change: Tally) -> dict[str, int]:
    """The values by which the counters of pages move, for queries with slots of these names."""
    return dict(zip(_ADDED, change, strict=True))


def add_to_job(transaction: Transaction, job_id: int, change: Tally) -> None:
    """Moves the counters of a job; the log says when it has nothing pending any more."""
    if change == Tally():
        return
    row = transaction.one(_add_to_job, {"job_id": job_id, **adding(change)})
    if row is not None and row[1] == 0 and change.pending < 0:
        message = f"job {row[0]}: nothing pending, {row[2]} pages done"
        note(transaction, "job_finished", message, run_id=newest_run(transaction))


def count_attempts(transaction: Transaction, claim: Claim, attempts: Sequence[CountedAttempt]) -> None:
    """Counts attempts for their run, in the pulse of their jobs, and their exit codes for their origins and for all."""
    if not attempts:
        return
    made = sum(bool(one.attempt.requests) for one in attempts)
    transaction.run(_add_to_run, {"run_id": claim.run_id, "add_attempts": len(attempts), "add_requests": made})
    codes, exits = Counter[tuple[int, int, int]](), Counter[tuple[int, int, int]]()
    for origin_id, _, attempt in attempts:
        for name in (origin_id, ALL_ORIGINS):
            codes[(name, attempt.ended_at // MINUTE_MS, attempt.exit_code.value)] += 1
    for (name, _, code), count in codes.items():
        exits[(claim.run_id, name, code)] += count
    transaction.insert(_count_exit, [(*key, count) for key, count in exits.items()])
    transaction.insert(_count_minute, [(*key, count) for key, count in codes.items()])
    _beat(transaction, claim, attempts)


def forget_minutes(transaction: Transaction) -> None:
    """Takes away the minutes that nobody looks at any more."""
    transaction.run(_forget_minutes, {"before": transaction.now // MINUTE_MS - 2 * RECENT_MINUTES})


def mark(transaction: Transaction, name: str) -> int:
    """The number kept under a name, 0 when there is none."""
    return int(transaction.number(_find_mark, {"name": name}))


def set_mark(transaction: Transaction, name: str, value: int) -> None:
    """Keeps a number under a name."""
    transaction.insert(_keep_mark, [(name, value)])


_ADDED = tuple(f"add_{name}" for name in Tally._fields)
_JOB = (Job.name, Job.pending, Job.done)
_add_to_job = updates([Job.id], to=adds(Job, *Tally._fields), returning=_JOB)
_add_to_run = updates([Run.id], to=adds(Run, "attempts requests"))
_count_exit = counts_up(columns(ExitCount, "run_id origin_id exit_code"), ExitCount.count)
_count_minute = counts_up(columns(ExitMinute, "origin_id minute exit_code"), ExitMinute.count)
_find_mark = reads([Meta.name], Meta.value)
_keep_mark = upserts([Meta.name], [Meta.value])


_MOST_KNOWN = 64
_KEY_NAMES = "length at session_id job_id"
_KEY, _SUMS = columns(PulseRow, _KEY_NAMES), columns(PulseRow, "attempts pages failed bytes cells")
_sums_of = attrgetter("attempts", "pages", "failed", "bytes")


def _beat(transaction: Transaction, claim: Claim, attempts: Iterable[CountedAttempt]) -> None:
    """Counts attempts in the minutes and hours in which they ended."""
    known = transaction.memory.counts
    fresh: dict[tuple[int, int], PulseCount] = defaultdict(PulseCount)
    for _, job_id, attempt in attempts:
        fresh[attempt.ended_at // MINUTE_MS * MINUTE_MS, job_id].add_attempt(attempt)
    touched: dict[tuple[int, int, int, int], PulseCount] = {}
    for (at, job_id), count in fresh.items():
        for length in KEPT_MS:
            key = (length, at - at % length, claim.session_id, job_id)
            whole = touched[key] = touched.get(key) or known.get(key) or _stored(transaction, key)
            whole.merge(count)
    if len(known) > _MOST_KNOWN:
        known.clear()
    known.update(touched)
    transaction.insert(_keep_pulse, [(*key, *_sums_of(one), packed(one.cells)) for key, one in touched.items()])


def _stored(transaction: Transaction, key: tuple[int, int, int, int]) -> PulseCount:
    row = transaction.one(_find_pulse, dict(zip(_KEY_NAMES.split(), key, strict=True)))
    return PulseCount(row[0], row[1], row[2], row[3], unpacked(row[4])) if row else PulseCount()


def measure(transaction: Transaction, claim: Claim, length: int, lag_ms: int, commit_ms: int, commit_jobs: int) -> None:
    """Keep what a session has measured of itself; the first one in `length` ms looks at the crawl, too."""
    now = transaction.now
    seen: tuple[Any, ...] = (None,) * len(_OF_CRAWL)
    if transaction.one(_any_gauge, {"length": length, "at": now - now % length}) is None:
        seen = transaction.fetch(Origin.select(*_OF_CRAWL.values()).where(Origin.participates == peewee.SQL("1")))[0]
    own = (claim.session_id, lag_ms, commit_ms, commit_jobs)
    lengths = dict.fromkeys((length, *KEPT_MS))
    transaction.insert(_keep_gauge, [(one, now - now % one, *own, *seen) for one in lengths])


def _sum(condition: Any) -> Any:
    return peewee.fn.COALESCE(peewee.fn.SUM(peewee.Case(None, [(condition, 1)], 0)), 0)


_gave_up = Origin.finish_reason.in_(sorted(GAVE_UP))
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


_any_gauge = reads(columns(Gauge, "length at"), Gauge.session_id)


def _keep_gauge(size: int) -> Any:
    key, own = columns(Gauge, "length at session_id"), columns(Gauge, "lag_ms commit_ms commit_jobs")
    new = {one: getattr(peewee.EXCLUDED, one.column_name) for one in (*own, *_OF_CRAWL)}
    worst = {one: peewee.Case(None, [(one < new[one], new[one])], one) for one in own}
    last = {one: peewee.fn.COALESCE(new[one], one) for one in _OF_CRAWL}
    return insert_rows([*key, *own, *_OF_CRAWL], size).on_conflict(conflict_target=key, update=worst | last)


_find_pulse = reads(_KEY, *_SUMS)
_keep_pulse = upserts(_KEY, _SUMS)
_forget_minutes = builds(ExitMinute.delete().where(ExitMinute.minute < slot("before")))
