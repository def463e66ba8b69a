"""What operators ask for and what becomes of it: added seeds, exclusions, the journal's waiting rows."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import peewee

from tui_crawler.domain.crawl.job import JobChange
from tui_crawler.domain.records import command as commands
from tui_crawler.domain.records.page import NewPage, TodoPage
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.storage.crawl import intake, jobs, origins, stashes
from tui_crawler.storage.crawl.candidates import is_due, todo_page, todo_query
from tui_crawler.storage.crawl.counters import CounterChanges
from tui_crawler.storage.crawl.urls import store_urls
from tui_crawler.storage.db.claim import ONE, ZERO, Claim
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import among, builds, builds_among, columns, reads, slot, updates
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import Exclusion as ExclusionRow
from tui_crawler.storage.models import OperatorAction, Page, Url

_LONG = 10_000  # characters of a list of seeds, of which the journal keeps no more once they are added


def add_seeds(transaction: Transaction, claim: Claim, pages: Sequence[NewPage], job_name: str) -> tuple[int, ...]:
    """Add seeds to a live run; return which (hashes) are now to be crawled and are on no todo list, in their order.
    `job_name` empty: the job of the run. Raises NoSuchJob. Known pages are included when they have tries left, are due,
    or are forced (G); none of a job that is held, or that this session does not take."""
    job_id = jobs.job_id_of(transaction, claim, job_name)
    seeds = {page.url_hash: page if page.seed else replace(page, seed=True) for page in pages}
    for origin in dict.fromkeys(page.origin for page in seeds.values()):
        row = origins.ensure(transaction, origin)
        if not row.participates:
            origins.join(transaction, claim, row, "added")
    ids, new = store_urls(transaction, {key: clean(page.url) for key, page in seeds.items()})
    known = intake.find_known(transaction, job_id, [key for key in seeds if key not in new])
    listed = on_todo_lists(transaction, [page.page_id for page in known.values()])
    source = intake.Source(job_id, None, transaction.now)
    _, moves = intake.queue_pages(transaction, claim, source, seeds.values(), ids, known)
    intake.move_counters(transaction, job_id, moves)
    _wake(transaction, claim, job_id, {key: seeds[key] for key in known}, listed)
    later = [{"page_id": page.page_id, "not_before": seeds[key].not_before} for key, page in known.items()]
    transaction.run_many(_put_off, [row for row in later if row["not_before"]])
    job = _free_job(transaction, claim, job_id)
    if job is None:
        return ()
    fresh = (page for key, page in seeds.items() if key not in known and page.not_before <= transaction.now)
    is_open = {page.url_hash for page in fresh if not intake.is_beyond(page.depth, job.max_depth)}
    is_open.update(_to_be_crawled(transaction, claim, job_id, list(known)))
    return tuple(key for key in seeds if key in is_open)


def added_seeds(transaction: Transaction, claim: Claim, keys: Sequence[int], job_name: str) -> tuple[TodoPage, ...]:
    """Those of added seeds (hashes) that are still to be crawled and on no todo list, in their order."""
    job_id = jobs.job_id_of(transaction, claim, job_name)
    rows = _to_be_crawled(transaction, claim, job_id, keys) if _free_job(transaction, claim, job_id) else {}
    return tuple(todo_page(rows[key], claim.tries) for key in keys if key in rows)


def _free_job(transaction: Transaction, claim: Claim, job_id: int) -> jobs.JobRow | None:
    return next((one for one in jobs.job_rows(transaction) if one.job_id == job_id and one.is_free(claim)), None)


def change_job(transaction: Transaction, claim: Claim, command: commands.SetJob | commands.SteerJobs) -> JobChange:
    """Change jobs; let pages out of stashes for those beyond the depth now. Raises NoSuchJob, ValueError."""
    change = jobs.change_job(transaction, claim, command)
    counts = stashes.drip_all(transaction, claim) + Counter(dict(change.queue.origins))
    return replace(change, queue=replace(change.queue, origins=tuple(sorted(counts.items()))))


def exclusions(transaction: Transaction) -> tuple[Exclusion, ...]:
    """The exclusion list as operators have extended it, in the order of its making."""
    chosen = columns(ExclusionRow, "kind value reason who source")
    return tuple(Exclusion(*row) for row in transaction.fetch(ExclusionRow.select(*chosen).order_by(ExclusionRow.id)))


def change_exclusion(transaction: Transaction, exclusion: Exclusion, remove: bool) -> bool:
    """Adds or removes an entry; answers whether anything changed."""
    value = clean(exclusion.value)
    if remove:
        entry = (ExclusionRow.kind == exclusion.kind) & (ExclusionRow.value == value)
        return bool(transaction.fetch(ExclusionRow.delete().where(entry).returning(ExclusionRow.id)))
    said = {name: clean(getattr(exclusion, name)) for name in ("reason", "who", "source")}
    insert = ExclusionRow.insert(kind=exclusion.kind, value=value, created_at=transaction.now, **said)
    once = insert.on_conflict(action="nothing", conflict_target=[ExclusionRow.kind, ExclusionRow.value])
    return bool(transaction.fetch(once.returning(ExclusionRow.id)))


def waiting_actions(
    transaction: Transaction, after_id: int
) -> tuple[tuple[commands.PendingAction, ...], tuple[commands.ActionResult, ...]]:
    """The rows of the journal that wait, oldest first; and results for those that cannot be read."""
    actions: list[commands.PendingAction] = []
    unreadable: list[commands.ActionResult] = []
    for action_id, at, who, name, command in transaction.all(_waiting, {"after_id": after_id}):
        try:
            actions.append(commands.PendingAction(action_id, at, who, commands.from_json(name, command)))
        except commands.BadCommand as error:
            unreadable.append(commands.ActionResult(action_id, "", "", str(error)))
    return tuple(actions), tuple(unreadable)


def carried_out_actions(transaction: Transaction, after_id: int) -> tuple[int, tuple[commands.PendingAction, ...]]:
    """The rows after `after_id` carried out without error, up to the first that waits; the id of the last one read."""
    last = after_id
    actions: list[commands.PendingAction] = []
    for action_id, at, who, name, command, applied_at, error in transaction.all(_later, {"after_id": after_id}):
        if not applied_at:
            break
        last = action_id
        with suppress(commands.BadCommand):
            if not error:
                actions.append(commands.PendingAction(action_id, at, who, commands.from_json(name, command)))
    return last, tuple(actions)


def finish_actions(transaction: Transaction, results: Iterable[commands.ActionResult]) -> None:
    """Write results of actions into the journal; one that undoes another marks that, unless it failed."""
    for result in results:
        action = {"operator_action_id": result.action_id}
        said = {name: clean(getattr(result, name)) for name in ("before", "after", "error")}
        transaction.run(_finish_action, {**action, **said, "applied_at": transaction.now})
        if not result.error:
            for (long,) in transaction.all(_long_list, action):
                kept = commands.to_json(commands.AddSeeds(**json.loads(long)).shortened())
                transaction.run(_shorten, {**action, "command": kept})
            transaction.run(_take_back, action)


def on_todo_lists(transaction: Transaction, page_ids: Sequence[int]) -> frozenset[int]:
    return frozenset(row[0] for row in transaction.all_among(_on_lists, page_ids))


def _wake(
    transaction: Transaction, claim: Claim, job_id: int, known: Mapping[int, NewPage], listed: frozenset[int]
) -> None:
    """Known pages with tries left leave the ignore list; forced and skipped ones get their tries back."""
    woken: list[intake.Known] = []
    moves = CounterChanges()
    for key, page in intake.find_known(transaction, job_id, list(known)).items():
        if page.page_id in listed or page.status == PageStatus.STASHED:
            continue
        if known[key].force or page.status == PageStatus.SKIPPED:
            new = intake.again(page, claim, known[key])
        elif page.attempts_remaining:
            new = page._replace(ignored_run=0)
        else:
            continue
        woken.append(new)
        moves.add(page.origin_id, new.tally().minus(page.tally()))
    intake.update_known(transaction, woken)
    intake.move_counters(transaction, job_id, moves)


def _to_be_crawled(transaction: Transaction, claim: Claim, job_id: int, keys: Sequence[int]) -> dict[int, Row]:
    """The added pages that a fill would find, in the columns of `_added` under their hashes."""
    found: dict[int, Row] = {}
    for row in transaction.all_among(_added, keys, job_id):
        later = row[-1] == claim.run_id or row[17] > transaction.now
        if not later and (row[7] or is_due(claim, row[-3], row[-2], transaction.now)):
            found[row[-4]] = row
    return found


def _added(size: int) -> Any:
    chosen = among(Url.hash, size) & (Page.job == slot("job_id"))
    free = (Page.status == ZERO) & (Page.beyond_depth == ZERO) & (Page.todo_order == ZERO)
    query = todo_query(Url.hash, Page.last_crawled_at, Page.fresh_until, Page.ignored_run)
    return query.where(chosen & free)


_LATER = OperatorAction.id > slot("after_id")
_waiting = builds(
    OperatorAction.select(*columns(OperatorAction, "id at who action command"))
    .where((OperatorAction.applied_at == ZERO) & _LATER)
    .order_by(OperatorAction.id)
)
_later = builds(
    OperatorAction.select(*columns(OperatorAction, "id at who action command applied_at error"))
    .where(_LATER)
    .order_by(OperatorAction.id)
)
_long_list = reads(
    [OperatorAction.id],
    OperatorAction.command,
    where=(OperatorAction.action == peewee.SQL("'add'"))
    & (peewee.fn.LENGTH(OperatorAction.command) > peewee.SQL(str(_LONG))),
)
_By = OperatorAction.alias()
_TAKEN_BACK = _By.select(_By.undoes).where(_By.id == slot("operator_action_id"))
_take_back = builds(OperatorAction.update({OperatorAction.undone: ONE}).where(OperatorAction.id.in_(_TAKEN_BACK)))
_finish_action = updates([OperatorAction.id], *columns(OperatorAction, "before after error applied_at"))
_put_off = updates([Page.id], Page.not_before, to={Page.ignored_run: ZERO})
"""It also leaves the ignore list; the todo list is the engine's."""
_on_lists = builds_among(Page.select(Page.id), Page.id, Page.todo_order > ZERO)
_shorten = updates([OperatorAction.id], OperatorAction.command)
