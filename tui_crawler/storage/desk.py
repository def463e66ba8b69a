"""What operators ask for and what becomes of it: added seeds, exclusions, the journal's waiting rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tui_crawler.domain.command import (
    ActionResult,
    BadCommand,
    PendingAction,
    SetJob,
    SteerJobs,
    from_json,
)
from tui_crawler.domain.job import JobChange
from tui_crawler.domain.page import NewPage, PageStatus, TodoPage
from tui_crawler.domain.policy import Exclusion
from tui_crawler.storage import jobs, origins, stashes
from tui_crawler.storage.candidates import is_due, todo_page, todo_query
from tui_crawler.storage.claim import ONE, ZERO, Claim
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.counters import Moves
from tui_crawler.storage.intake import (
    Known,
    Source,
    again,
    find_known,
    move_counters,
    queue_pages,
    update_known,
)
from tui_crawler.storage.models import Exclusion as ExclusionRow
from tui_crawler.storage.models import OperatorAction, Page
from tui_crawler.storage.statements import padded, slot, slots
from tui_crawler.storage.transaction import Transaction
from tui_crawler.storage.urls import url_ids

_CHUNK = 256


def add_seeds(transaction: Transaction, claim: Claim, job_id: int, pages: Sequence[NewPage]) -> tuple[TodoPage, ...]:
    """Adds seeds to a live run; answers those that are now to be crawled and are on no todo list, in their order.

    Known pages come along when they have tries left, when they are due, or when they are forced (G). Of a job that
    is held, or that this session does not take, none comes along.
    """
    seeds = {page.url_hash: replace(page, seed=True) for page in pages}
    if not seeds:
        return ()
    for origin in dict.fromkeys(page.origin for page in seeds.values()):
        row = origins.ensure(transaction, origin)
        if not row.participates:
            origins.join(transaction, claim, row, "added")
            origins.start_afresh(transaction, claim, row.id)
    ids = url_ids(transaction, {key: clean(page.url) for key, page in seeds.items()})
    known = find_known(transaction, job_id, list(seeds))
    listed = _listed(transaction, known)
    _, moves = queue_pages(transaction, claim, Source(job_id, None, transaction.now), seeds.values(), ids)
    move_counters(transaction, job_id, moves)
    _wake(transaction, claim, job_id, [(page, seeds[key]) for key, page in known.items()], listed)
    later = [{"page_id": page.page_id, "not_before": seeds[key].not_before} for key, page in known.items()]
    transaction.run_many(_put_off, [row for row in later if row["not_before"]])
    if not any(job.job_id == job_id and job.is_free(claim) for job in jobs.job_rows(transaction)):
        return ()
    return _to_be_crawled(transaction, claim, job_id, list(seeds), listed)


def change_job(transaction: Transaction, claim: Claim, command: SetJob | SteerJobs) -> JobChange:
    """Changes jobs, and lets pages out of their stashes in the place of those that another depth took away. Raises
    NoSuchJob, ValueError; then nothing was changed."""
    change = jobs.change_job(transaction, claim, command)
    counts = dict(change.queue.origins)
    for origin, count in stashes.drip_all(transaction, claim).items():
        counts[origin] = counts.get(origin, 0) + count
    return replace(change, queue=replace(change.queue, origins=tuple(sorted(counts.items()))))


def exclusions(transaction: Transaction) -> tuple[Exclusion, ...]:
    """The exclusion list as operators have extended it, in the order of its making."""
    columns = (
        ExclusionRow.kind,
        ExclusionRow.value,
        ExclusionRow.reason,
        ExclusionRow.who,
        ExclusionRow.source,
    )
    return tuple(Exclusion(*row) for row in transaction.fetch(ExclusionRow.select(*columns).order_by(ExclusionRow.id)))


def change_exclusion(transaction: Transaction, exclusion: Exclusion, remove: bool) -> bool:
    """Adds or removes an entry; answers whether anything changed."""
    value = clean(exclusion.value)
    if remove:
        entry = (ExclusionRow.kind == exclusion.kind) & (ExclusionRow.value == value)
        return transaction.execute(ExclusionRow.delete().where(entry)) > 0
    values = {
        ExclusionRow.kind: exclusion.kind,
        ExclusionRow.value: value,
        ExclusionRow.reason: clean(exclusion.reason),
        ExclusionRow.who: clean(exclusion.who),
        ExclusionRow.source: clean(exclusion.source),
        ExclusionRow.created_at: transaction.now,
    }
    insert = ExclusionRow.insert(values).on_conflict(
        action="nothing", conflict_target=[ExclusionRow.kind, ExclusionRow.value]
    )
    return bool(transaction.fetch(insert.returning(ExclusionRow.id)))


def waiting_actions(
    transaction: Transaction, after_id: int
) -> tuple[tuple[PendingAction, ...], tuple[ActionResult, ...]]:
    """The rows of the journal that wait, oldest first; and results for those that cannot be read."""
    actions: list[PendingAction] = []
    unreadable: list[ActionResult] = []
    for action_id, at, who, name, command in transaction.all(_waiting, {"after_id": after_id}):
        try:
            actions.append(PendingAction(action_id, at, who, from_json(name, command)))
        except BadCommand as error:
            unreadable.append(ActionResult(action_id, "", "", str(error)))
    return tuple(actions), tuple(unreadable)


def carried_out_actions(transaction: Transaction, after_id: int) -> tuple[int, tuple[PendingAction, ...]]:
    """The rows after `after_id` that were carried out without an error, up to the first that still waits; and the id
    of the last one looked at."""
    last = after_id
    actions: list[PendingAction] = []
    for action_id, at, who, name, command, applied_at, error in transaction.all(_later, {"after_id": after_id}):
        if not applied_at:
            break
        last = action_id
        with suppress(BadCommand):
            if not error:
                actions.append(PendingAction(action_id, at, who, from_json(name, command)))
    return last, tuple(actions)


def finish_actions(transaction: Transaction, results: Iterable[ActionResult]) -> None:
    """Writes into the journal what became of actions; one that takes another one back marks that when it was carried
    out without an error."""
    done = list(results)
    rows = (
        {
            "action_id": result.action_id,
            "before": clean(result.before),
            "after": clean(result.after),
            "error": clean(result.error),
            "applied_at": transaction.now,
        }
        for result in done
    )
    transaction.run_many(_finish_action, rows)
    transaction.run_many(_take_back, ({"action_id": result.action_id} for result in done if not result.error))


def _listed(transaction: Transaction, known: Mapping[int, Known]) -> set[int]:
    """Which of known pages stand on a todo list."""
    ids = [page.page_id for page in known.values()]
    listed: set[int] = set()
    for start in range(0, len(ids), _CHUNK):
        places = padded(ids[start : start + _CHUNK])
        listed.update(row[0] for row in transaction.all_of(_on_lists, len(places), places))
    return listed


def _wake(
    transaction: Transaction,
    claim: Claim,
    job_id: int,
    known: Sequence[tuple[Known, NewPage]],
    listed: set[int],
) -> None:
    """Known pages with tries left leave the ignore list; forced and skipped ones get their tries back."""
    current = find_known(transaction, job_id, [page.url_hash for page, _ in known])
    woken: list[Known] = []
    moves = Moves()
    for before, wanted in known:
        page = current[before.url_hash]
        if page.page_id in listed or page.status == PageStatus.STASHED:
            continue
        if wanted.force or page.status == PageStatus.SKIPPED:
            new = again(page, claim, wanted)
        elif page.attempts_remaining:
            new = replace(page, ignored_run=0)
        else:
            continue
        woken.append(new)
        moves.add(page.origin_id, new.tally().minus(page.tally()))
    update_known(transaction, woken)
    move_counters(transaction, job_id, moves)


def _to_be_crawled(
    transaction: Transaction, claim: Claim, job_id: int, keys: Sequence[int], listed: set[int]
) -> tuple[TodoPage, ...]:
    """The added pages that a fill would find, in the order they were given."""
    rows: dict[int, Any] = {}
    for start in range(0, len(keys), _CHUNK):
        places = padded(keys[start : start + _CHUNK])
        for row in transaction.all_of(_added, len(places), [*places, job_id]):
            rows[row[19]] = row
    found = []
    for key in keys:
        if key not in rows:
            continue
        row = rows[key]
        if row[0] in listed or row[22] == claim.run_id or row[17] > transaction.now:
            continue
        if row[7] or is_due(claim, row[20], row[21], transaction.now):
            found.append(todo_page(row, claim.tries))
    return tuple(found)


def _on_lists(size: int) -> Any:
    return Page.select(Page.id).where(Page.id.in_([slot("page_id")] * size) & (Page.todo_order > ZERO))


def _added(size: int) -> Any:
    chosen = Page.url_hash.in_([slot("url_hash")] * size) & (Page.job == slot("job_id"))
    free = (Page.status == ZERO) & (Page.beyond_depth == ZERO)
    query = todo_query(Page.url_hash, Page.last_crawled_at, Page.fresh_until, Page.ignored_run)
    return query.where(chosen & free)


def _put_off() -> Any:
    """It also leaves the ignore list; the todo list is the engine's."""
    return Page.update({Page.not_before: slot("not_before"), Page.ignored_run: ZERO}).where(Page.id == slot("page_id"))


def _waiting() -> Any:
    waits = (OperatorAction.applied_at == ZERO) & (OperatorAction.id > slot("after_id"))
    columns = (
        OperatorAction.id,
        OperatorAction.at,
        OperatorAction.who,
        OperatorAction.action,
        OperatorAction.command,
    )
    return OperatorAction.select(*columns).where(waits).order_by(OperatorAction.id)


def _later() -> Any:
    columns = (
        OperatorAction.id,
        OperatorAction.at,
        OperatorAction.who,
        OperatorAction.action,
        OperatorAction.command,
        OperatorAction.applied_at,
        OperatorAction.error,
    )
    return OperatorAction.select(*columns).where(OperatorAction.id > slot("after_id")).order_by(OperatorAction.id)


def _finish_action() -> Any:
    columns = (OperatorAction.before, OperatorAction.after, OperatorAction.error, OperatorAction.applied_at)
    return OperatorAction.update(slots(columns)).where(OperatorAction.id == slot("action_id"))


def _take_back() -> Any:
    by = OperatorAction.alias()
    taken_back = by.select(by.undoes).where(by.id == slot("action_id"))
    return OperatorAction.update({OperatorAction.undone: ONE}).where(OperatorAction.id.in_(taken_back))
