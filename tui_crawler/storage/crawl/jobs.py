"""Jobs (B): which there are, whose pages a session may crawl, and what the configuration and operators change of them.
A job that is paused, aborted, or of a tag that the session does not take has no page on a todo list."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import peewee

from tui_crawler.domain.crawl.job import JobChange, JobPlan, JobState, QueueChange
from tui_crawler.domain.known_word import nearest
from tui_crawler.domain.records.command import SetJob, SteerJobs
from tui_crawler.domain.records.failure import NoSuchJob
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.storage.crawl.activity import ActivityEvent, note
from tui_crawler.storage.crawl.counters import CounterChanges
from tui_crawler.storage.crawl.intake import change_max_depth, move_counters
from tui_crawler.storage.db.claim import ONE, ZERO, Claim, is_pending
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import builds, columns
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Job, Origin, Page

_NO_LIMIT = -1
_STORED = "nice max_depth concurrency tag note aborted resumed_concurrency"
_COLUMNS = (
    *columns(Job, "id name nice max_depth concurrency tag aborted ruleset_id note resumed_concurrency pending"),
    Job.done + Job.failed + Job.blocked,
)
_SHOWN = {name: name for name in ("nice", "depth", "concurrency", "tag", "note", "aborted")} | {"depth": "max_depth"}
_STEERED: dict[str, ActivityEvent] = {
    "pause": "job_paused",
    "resume": "job_resumed",
    "abort": "job_aborted",
    "unabort": "job_unaborted",
}


@dataclass(frozen=True, slots=True)
class JobRow(JobState):
    """A job as it is stored, in the order of `_COLUMNS`. `resumed_concurrency` is None unless an operator has paused
    the job; -1 is no limit. `attempted` counts pages that were ever attempted: only where it is not 0 can pages be
    due."""

    note: str = ""
    resumed_concurrency: int | None = None
    pending: int = 0
    attempted: int = 0

    def state(self) -> JobState:
        """The job as a run holds it."""
        return JobState(*(getattr(self, one.name) for one in fields(JobState)))

    def is_free(self, claim: Claim) -> bool:
        """Whether this session may crawl its pages."""
        return not self.held and claim.takes(self.tag)


def job_rows(transaction: Transaction) -> list[JobRow]:
    """All jobs, the oldest first."""
    rows = [JobRow(*row) for row in transaction.all(_jobs, {})]
    return [replace(row, aborted=bool(row.aborted)) for row in rows]


def job_states(transaction: Transaction) -> tuple[JobState, ...]:
    """All jobs as a run holds them."""
    return tuple(row.state() for row in job_rows(transaction))


def job_named(rows: Sequence[JobRow], name: str) -> JobRow:
    """The job of this name. Raises NoSuchJob, which names the nearest one there is."""
    named = {row.name: row for row in rows}
    if (wanted := clean(name)) in named:
        return named[wanted]
    names = [one for one in named if one]
    near = nearest(wanted, names)
    hint = f"did you mean {near!r}?" if near else f"there are {', '.join(sorted(names)[:10]) or 'none'}"
    raise NoSuchJob(f"there is no job named {name!r}; {hint}")


def job_id_of(transaction: Transaction, claim: Claim, name: str) -> int:
    """The id of a job; an empty name is the job of the run. Raises NoSuchJob."""
    return job_named(job_rows(transaction), name).job_id if name else claim.job_id


def any_job(transaction: Transaction) -> int:
    """A job for pages that are added before any run: the oldest, or a nameless one that the first run adopts."""
    rows = job_rows(transaction)
    return rows[0].job_id if rows else _add(transaction, JobPlan("", ()), "")


def configure_jobs(
    transaction: Transaction, main: JobPlan, others: Iterable[JobPlan], created_by: str, edited: bool
) -> dict[str, int]:
    """Make the jobs of a plan; return their ids by name, that of the run first. The configuration counts for a new job,
    or when it was `edited`; otherwise what operators have changed stays, and their pause and abort stay in any case."""
    ids: dict[str, int] = {}
    rows = {row.name: row for row in job_rows(transaction)}
    nameless = rows.get("") if clean(main.name) not in rows else None
    if nameless is not None:
        transaction.execute(Job.update({Job.name: clean(main.name)}).where(Job.id == nameless.job_id))
        rows[clean(main.name)] = nameless
    for plan in (main, *others):
        name = clean(plan.name)
        known = rows.get(name)
        if known is None:
            ids[plan.name] = _add(transaction, plan, created_by)
            note(transaction, "job_added", f"job {name}")
            continue
        ids[plan.name] = known.job_id
        if edited or known is nameless:
            _store(transaction, known, _configured(known, plan, is_main=plan is main))
    return ids


def hold_back(transaction: Transaction, claim: Claim) -> None:
    """Takes the pages of jobs that this session may not crawl off the todo lists."""
    for row in job_rows(transaction):
        if not row.is_free(claim):
            unlist(transaction, row.job_id)


def change_job(transaction: Transaction, claim: Claim, command: SetJob | SteerJobs) -> JobChange:
    """Change jobs as an operator asks. Raises NoSuchJob, ValueError; then nothing was changed. `queue.origins` counts
    the pending pages of jobs that were held or released, or that another depth affects."""
    rows = job_rows(transaction)
    if isinstance(command, SetJob):
        old = job_named(rows, command.job) if command.job else next(row for row in rows if row.job_id == claim.job_id)
        changes = [(old, _with(old, command))]
        event: ActivityEvent = "job_changed"
    else:
        if command.order not in _STEERED:
            raise ValueError(f"{command.order!r} is none of {', '.join(_STEERED)}")
        if not command.jobs:
            raise ValueError(f"name the jobs to {command.order}")
        event = _STEERED[command.order]
        named = [job_named(rows, name) for name in dict.fromkeys(command.jobs)]
        changes = [(old, _steered(old, command.order)) for old in named]
    before: dict[str, dict[str, object]] = {}
    after: dict[str, dict[str, object]] = {}
    counts, unlisted = Counter[str](), set[int]()
    for old, new in changes:
        if old == new:
            continue
        _store(transaction, old, new)
        keys = [key for key, name in _SHOWN.items() if getattr(old, name) != getattr(new, name)]
        before[old.name], after[old.name] = ({key: getattr(row, _SHOWN[key]) for key in keys} for row in (old, new))
        said = ", ".join(f"{key} {before[old.name][key]} -> {after[old.name][key]}" for key in after[old.name])
        note(transaction, event, f"job {old.name}: {said}", run_id=claim.run_id)
        if old.is_free(claim) and not new.is_free(claim):
            unlisted |= unlist(transaction, old.job_id)
        elif old.max_depth != new.max_depth:
            unlisted |= unlist(transaction, old.job_id, Page.beyond_depth == ONE)
        if old.is_free(claim) != new.is_free(claim) or old.max_depth != new.max_depth:
            counts.update(_pending(transaction, old.job_id))
    queue = QueueChange(tuple(sorted(counts.items())), frozenset(unlisted))
    return JobChange(job_states(transaction), before, after, queue)


def unlist(transaction: Transaction, job_id: int, *which: Any) -> set[int]:
    """Takes the pages of a job, or those of them for which this holds, off their todo lists; answers which. One that is
    in flight keeps its place until it is settled."""
    listed = (Page.todo_order > ZERO, Page.status == int(PageStatus.READY), Page.job == job_id, *which)
    rows = transaction.fetch(Page.select(Page.id, Page.origin).where(*listed))
    if rows:
        transaction.execute(Page.update({Page.todo_order: 0, Page.ignored_run: 0}).where(*listed))
        moves = CounterChanges(unlisted=Counter(origin_id for _, origin_id in rows))
        move_counters(transaction, job_id, moves)
    return {page_id for page_id, _ in rows}


def _with(old: JobRow, command: SetJob) -> JobRow:
    for name, value in (("depth", command.depth), ("concurrency", command.concurrency)):
        if value is not None and value < _NO_LIMIT:
            raise ValueError(f"{name} {value}: give 0 or more, or -1 for no limit")
    said = {"tag": command.tag, "note": command.note}
    texts: dict[str, Any] = {name: clean(text) for name, text in said.items() if text is not None}
    new = replace(old, nice=old.nice if command.nice is None else command.nice, **texts)
    if command.depth is not None:
        new = replace(new, max_depth=_limit(command.depth))
    if command.concurrency == 0:
        return _steered(new, "pause")
    if command.concurrency is not None:
        new = replace(new, concurrency=_limit(command.concurrency), resumed_concurrency=None)
    return new


def _limit(number: int | None) -> int | None:
    return None if number == _NO_LIMIT else number


def _steered(old: JobRow, order: str) -> JobRow:
    match order:
        case "pause" if old.concurrency != 0:
            former = _NO_LIMIT if old.concurrency is None else old.concurrency
            return replace(old, concurrency=0, resumed_concurrency=former)
        case "resume" if old.concurrency == 0:
            return replace(old, concurrency=_limit(old.resumed_concurrency), resumed_concurrency=None)
        case "abort" | "unabort":
            return replace(old, aborted=order == "abort")
        case _:
            return old


def _configured(old: JobRow, plan: JobPlan, is_main: bool) -> JobRow:
    if is_main:
        return replace(old, max_depth=plan.max_depth)
    new = replace(old, nice=plan.nice, max_depth=plan.max_depth, tag=clean(plan.tag), note=clean(plan.note))
    if old.resumed_concurrency is None or plan.concurrency == 0:
        return replace(new, concurrency=plan.concurrency, resumed_concurrency=None)
    return replace(new, resumed_concurrency=_NO_LIMIT if plan.concurrency is None else plan.concurrency)


def _store(transaction: Transaction, old: JobRow, new: JobRow) -> None:
    changed = [name for name in _STORED.split() if getattr(new, name) != getattr(old, name)]
    if changes := {getattr(Job, name): getattr(new, name) for name in changed}:
        transaction.execute(Job.update(changes).where(Job.id == old.job_id))
    if new.nice != old.nice:
        shifted = {Page.nice: Page.nice + (new.nice - old.nice)}
        transaction.execute(Page.update(shifted).where(Page.job == old.job_id))
    if new.max_depth != old.max_depth:
        move_counters(transaction, old.job_id, change_max_depth(transaction, old.job_id, new.max_depth))


def _pending(transaction: Transaction, job_id: int) -> dict[str, int]:
    pending = (Page.origin == Origin.id) & (Page.job == job_id) & is_pending(Page)
    count = Page.select(peewee.fn.COUNT(ONE)).where(pending)
    rows = transaction.fetch(Origin.select(Origin.origin, count).where(Origin.participates == 1))
    return {origin: number for origin, number in rows if number}


def _add(transaction: Transaction, plan: JobPlan, created_by: str) -> int:
    texts = {"name": plan.name, "tag": plan.tag, "note": plan.note, "created_by": created_by}
    numbers = {name: getattr(plan, name) for name in ("nice", "max_depth", "concurrency")}
    texts = {name: clean(text) for name, text in texts.items()}
    added = Job.insert(created_at=transaction.now, **texts, **numbers)
    return int(transaction.fetch(added.returning(Job.id))[0][0])


_jobs = builds(Job.select(*_COLUMNS).order_by(Job.id))
