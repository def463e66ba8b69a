"""Runs and the sessions that hold them: who may write, what a start continues, what it begins afresh. A session that
was killed is recognised by its process on the same machine, elsewhere by its lease (docs/behaviour.md)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import peewee

from tui_crawler import __version__
from tui_crawler.domain.crawl.job import JobPlan, JobState
from tui_crawler.domain.crawl.run import RunPlan, RunStart, StoredOrigin
from tui_crawler.domain.records.failure import RunHeld
from tui_crawler.domain.records.kept_config import written_config
from tui_crawler.domain.rules.robots import product_token
from tui_crawler.storage.crawl import former, origins, rulesets, stashes
from tui_crawler.storage.crawl.activity import ActivityEvent, note
from tui_crawler.storage.crawl.candidates import todo_head
from tui_crawler.storage.crawl.counters import forget_minutes, set_mark
from tui_crawler.storage.crawl.intake import Source, move_counters, queue_pages
from tui_crawler.storage.crawl.jobs import any_job, configure_jobs, hold_back, job_states
from tui_crawler.storage.crawl.rulesets import Edited
from tui_crawler.storage.crawl.urls import url_ids
from tui_crawler.storage.db.claim import CLAIMED, ONE, ZERO, Claim, count_work, require
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.clock import mono_clock
from tui_crawler.storage.db.owner import OpenSession, Owner
from tui_crawler.storage.db.statements import columns, updates
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import ExitCount, Job, Origin, Page, RobotsText, Run, Session

_CONTINUED = frozenset({"", "interrupted"})
_NO_RUN = -1  # no page is on the ignore list of this run
_PLANNED_TEXTS = columns(Run, "config_name config_text user_agent worker")
_PLANNED = columns(
    Run,
    "max_in_flight max_requests tries patience start_politeness recrawl_interval_ms respect_http_freshness",
    "force_recrawl",
)
"""What a run keeps of its plan, by the same names."""
_DEFAULTS = (3, 5, 2, 4 * 7 * 86_400_000, 1)  # tries, patience, politeness, recrawl interval (ms), freshness counts


@dataclass(frozen=True, slots=True)
class Starter:
    """Who starts a run, for how long (ms) its lease holds without a heartbeat, and its monotonic clock (ms).
    `token_hash` is the SHA-256 of what proves that it is the worker of its name, `free_bytes` the room on its disk."""

    owner: Owner
    lease_ms: int
    mono: Callable[[], int] = mono_clock
    token_hash: str = ""
    free_bytes: int = 0


def begin(transaction: Transaction, plan: RunPlan, starter: Starter) -> tuple[Claim, RunStart]:
    """Claims the database and starts a run, or continues the last one. Raises RunHeld."""
    unclean = _take_over(transaction, starter)
    edited = _edited(transaction, plan)
    main = JobPlan(plan.job, plan.seeds, max_depth=plan.max_depth)
    ids = configure_jobs(transaction, main, plan.jobs, plan.config_name, edited.configuration)
    job_id = ids[plan.job]
    run_id, continued, started_at = _choose_run(transaction, plan, job_id)
    event: ActivityEvent = "run_continued" if continued else "run_started"
    note(transaction, event, f"run {run_id}{plan.note and '; '}{plan.note}", run_id=run_id)
    former.begin(transaction, run_id, plan.keep_runs, continued)
    claim = open_session(transaction, starter, plan, run_id, job_id, started_at)
    release_pages(transaction)
    if not continued:  # the log itself keeps every attempt
        transaction.execute(ExitCount.delete().where(ExitCount.run_id < run_id))
    set_mark(transaction, "unverified", plan.unverified)
    in_force = rulesets.begin(transaction, claim, plan, edited)
    left_out = _gather(transaction, claim, plan, continued)
    for job in (main, *plan.jobs):
        _queue_seeds(transaction, claim, job, ids[job.name])
    hold_back(transaction, claim)
    stashes.drip_all(transaction, claim)
    jobs = job_states(transaction)
    stored = load_origins(transaction, claim)
    requests = transaction.fetch(Run.select(Run.requests).where(Run.id == run_id))[0][0]
    return claim, RunStart(
        run_id=run_id,
        continued=continued,
        unclean=unclean,
        origins=stored,
        requests=requests,
        notes=_notes(run_id, continued, unclean, left_out, [job for job in jobs if not claim.takes(job.tag)]),
        config_text=plan.config_text,
        jobs=jobs,
        rulesets=in_force,
    )


def release_pages(transaction: Transaction, *which: Any) -> None:
    """Pages that were claimed, or those of them for which this holds, are ready again."""
    ready = dict.fromkeys(columns(Page, "status claimed_at claimed_by"), 0)
    transaction.execute(Page.update(ready).where(Page.status == CLAIMED, *which))


def open_session(
    transaction: Transaction, starter: Starter, plan: RunPlan, run_id: int, job_id: int, started_at: int
) -> Claim:
    """A session that crawls for a run; answers what it holds. `started_at` is the run's (epoch ms)."""
    worked_ms, keeps_former = transaction.fetch(Run.select(Run.worked_ms, Run.keeps_former).where(Run.id == run_id))[0]
    return Claim(
        run_id=run_id,
        session_id=_open_session(transaction, starter, run_id, plan, rest=False),
        job_id=job_id,
        tries=plan.tries,
        patience=plan.patience,
        start_politeness=plan.start_politeness,
        recrawl_interval_ms=plan.recrawl_interval_ms,
        respect_http_freshness=plan.respect_http_freshness,
        forced_before=started_at if plan.force_recrawl else 0,
        tags=frozenset(clean(tag) for tag in plan.tags),
        matchonly=plan.matchonly,
        start_paths=plan.start_paths,
        shared=plan.shared,
        mono=starter.mono,
        worked_from=starter.mono() - worked_ms,
        keeps_former=bool(keeps_former),
    )


def begin_rest(transaction: Transaction, starter: Starter) -> tuple[Claim, RunStart]:
    """Claim the database without a run, to carry out what operators ask for; make and continue no run. The RunStart
    describes the last run, by whose numbers the claim goes; without one, by the defaults. Raises RunHeld."""
    unclean = _take_over(transaction, starter)
    chosen = columns(
        Run, "id job tries patience start_politeness recrawl_interval_ms respect_http_freshness requests config_text"
    )
    last = transaction.fetch(Run.select(*chosen).order_by(Run.id.desc()).limit(1))
    row = last[0] if last else (0, any_job(transaction), *_DEFAULTS, 0, "")
    session_id = _open_session(transaction, starter, row[0], None, rest=True)
    claim = Claim(row[0] or _NO_RUN, session_id, row[1], row[2], row[3], row[4], row[5], bool(row[6]), 0)
    stored = load_origins(transaction, claim)
    return claim, RunStart(
        run_id=row[0],
        continued=True,
        unclean=unclean,
        origins=stored,
        requests=row[7],
        config_text=row[8],
        jobs=job_states(transaction),
        rulesets=rulesets.current(transaction),
    )


def end_rest(transaction: Transaction, claim: Claim) -> None:
    """Gives the database back."""
    ended = {Session.ended_at: transaction.now, Session.clean: 1}
    transaction.execute(Session.update(ended).where(Session.id == claim.session_id))


def load_origins(
    transaction: Transaction, claim: Claim, origin_ids: Sequence[int] | None = None
) -> tuple[StoredOrigin, ...]:
    """The origins that take part in the run, or those of them with these ids, each with the head of its todo list."""
    mine, of_pages = Origin.participates == 1, Page.todo_order > ZERO
    if origin_ids is not None:
        mine &= Origin.id.in_(origin_ids)
        of_pages &= Page.origin.in_(origin_ids)
    seed = Page.select(ONE).where((Page.origin == Origin.id) & (Page.seed == ONE))
    more = (*columns(Origin, "pages_known done failed joined start_path"), peewee.fn.EXISTS(seed))
    rows = transaction.fetch(
        Origin.select(*origins.RECORD, *more)
        .join(RobotsText, peewee.JOIN.LEFT_OUTER, on=(RobotsText.origin == Origin.id))
        .where(mine)
        .order_by(Origin.id)
    )
    listed = {row[0] for row in transaction.fetch(Page.select(Page.origin).where(of_pages).distinct())}
    found = []
    for row in rows:
        pages_known, done, failed, joined, start_path, seeded = row[len(origins.RECORD) :]
        todo = todo_head(transaction, claim, row[0]) if row[0] in listed else ()
        counts, is_external = (pages_known, done, failed), joined == origins.EXTERNAL
        state = origins.record_of(row)
        found.append(
            StoredOrigin(state, todo, *counts, seeded=bool(seeded), external=is_external, start_path=start_path)
        )
    return tuple(found)


def add_origins(
    transaction: Transaction, claim: Claim, names: Sequence[str], external: bool = False, start_path: str = ""
) -> tuple[StoredOrigin, ...]:
    """Let origins join the run by hand, by a link or by the redirect of a seed, which gives a `start_path`; new ones
    start afresh. `external` ones are only checked; one that is so no longer is crawled from now on."""
    require(transaction, claim)
    ids = []
    for name in names:
        row = origins.ensure(transaction, name)
        if not row.participates or (row.joined == origins.EXTERNAL and not external):
            origins.join(transaction, claim, row, origins.EXTERNAL if external else "added")
            if start_path and name not in dict(claim.start_paths):
                named = {"origin_id": row.id, "origin": clean(name), "start_path": clean(start_path)}
                transaction.run(origins.set_start_path, named)
        ids.append(row.id)
    stored = {one.record.origin: one for one in load_origins(transaction, claim, ids)}
    return tuple(stored[clean(name)] for name in names)


def renew(transaction: Transaction, claim: Claim, in_flight: int = 0, free_bytes: int = 0) -> bool:
    """A heartbeat, with what is under way and the room on the disk; False when another owner has taken the database."""
    values = {"session_id": claim.session_id, "heartbeat_at": transaction.now}
    renewed = transaction.one(_renew, {**values, "in_flight": in_flight, "free_bytes": free_bytes}) is not None
    if renewed:
        count_work(transaction, claim)
    forget_minutes(transaction)
    return renewed


def end(transaction: Transaction, claim: Claim, reason: str, clean_end: bool) -> None:
    """Closes the run and the session. Raises StorageFailure when they are no longer ours."""
    require(transaction, claim)
    count_work(transaction, claim)
    now = transaction.now
    closed = {Run.finished_at: now, Run.finish_reason: reason, Run.clean: int(clean_end)}
    transaction.execute(Run.update(closed).where(Run.id == claim.run_id))
    note(transaction, "run_finished", reason, run_id=claim.run_id)
    close_session(transaction, claim, clean_end)
    landed = {Origin.in_flight_url: "", Origin.change: transaction.change}
    transaction.execute(Origin.update(landed).where(Origin.in_flight_url != ""))


def close_session(transaction: Transaction, claim: Claim, clean_end: bool) -> None:
    """Ends the session of a claim, in order or not."""
    transaction.held_by, now = 0, transaction.now
    ended = {Session.ended_at: now, Session.heartbeat_at: now, Session.clean: int(clean_end)}
    transaction.execute(Session.update(ended).where(Session.id == claim.session_id))


def _take_over(transaction: Transaction, starter: Starter) -> bool:
    """End the sessions of dead owners; return whether a last holder of an origin did not end in order. Raises
    RunHeld."""
    chosen = columns(Session, "run_id host machine pid process_started_ms started_at heartbeat_at lease_ms rest shared")
    still_open = Session.ended_at == ZERO
    for row in transaction.fetch(Session.select(*chosen).where(still_open)):
        hold = OpenSession(Owner(*row[1:5]), *row[5:])
        if hold.is_live(starter.owner, transaction.now):
            raise RunHeld(hold.describe())
        message = f"{hold.owner.describe()} was gone; taken over by {starter.owner.describe()}"
        note(transaction, "session_taken_over", message, run_id=row[0])
    by = f"taken over by {starter.owner.describe()}"
    ended = {Session.ended_at: transaction.now, Session.ended_by: by, Session.clean: 0}
    transaction.execute(Session.update(ended).where(still_open))
    held = Origin.select(Origin.id).where((Origin.session_id == Session.id) & (Origin.participates == 1))
    not_clean = (Session.rest == 0) & (Session.clean == 0) & peewee.fn.EXISTS(held)
    return bool(transaction.fetch(Session.select(Session.id).where(not_clean).limit(1)))


def _edited(transaction: Transaction, plan: RunPlan) -> Edited:
    """What is another than in the last run: pages that were refused may pass then (docs/behaviour.md)."""
    last = transaction.fetch(Run.select(Run.config_text, Run.user_agent).order_by(Run.id.desc()).limit(1))
    if not last:
        return Edited()
    config_text, user_agent = last[0]
    renamed = product_token(user_agent) != product_token(clean(plan.user_agent))
    return Edited(written_config(config_text) != clean(written_config(plan.config_text)), renamed)


def _choose_run(transaction: Transaction, plan: RunPlan, job_id: int) -> tuple[int, bool, int]:
    planned: dict[Any, Any] = {column: getattr(plan, column.name) for column in _PLANNED}
    planned |= {column: clean(getattr(plan, column.name)) for column in _PLANNED_TEXTS}
    chosen = (Run.id, Run.finish_reason, Run.clean, Run.started_at)
    last = transaction.fetch(Run.select(*chosen).order_by(Run.id.desc()).limit(1))
    if last and not plan.new_run:
        run_id, reason, clean_end, started_at = last[0]
        if reason in _CONTINUED or not clean_end:
            reopened = {Run.continued_at: transaction.now, Run.finished_at: 0, Run.finish_reason: "", Run.clean: 0}
            transaction.execute(Run.update(planned | reopened).where(Run.id == run_id))
            return run_id, True, started_at
    values = {**planned, Run.job: job_id, Run.started_at: transaction.now}
    return int(transaction.fetch(Run.insert(values).returning(Run.id))[0][0]), False, transaction.now


def _open_session(transaction: Transaction, starter: Starter, run_id: int, plan: RunPlan | None, *, rest: bool) -> int:
    owner = starter.owner
    worker, tags = (plan.worker, plan.tags) if plan else ("", ())
    values = {
        Session.run_id: run_id,
        Session.host: owner.host,
        Session.machine: owner.machine,
        Session.pid: owner.pid,
        Session.process_started_ms: owner.started_ms,
        Session.worker: clean(worker) or f"{owner.host}-{owner.pid}",
        Session.tags: clean(" ".join(tags)),
        Session.started_at: transaction.now,
        Session.heartbeat_at: transaction.now,
        Session.lease_ms: starter.lease_ms,
        Session.rest: int(rest),
        Session.crawl_settings: plan.crawl_settings if plan else "",
        Session.shared: int(plan is not None and plan.shared),
        Session.token_hash: starter.token_hash,
        Session.matchonly: int(plan is not None and plan.matchonly),
        Session.slots: plan.max_in_flight if plan else 0,
        Session.version: __version__,
        Session.free_bytes: starter.free_bytes,
    }
    return int(transaction.fetch(Session.insert(values).returning(Session.id))[0][0])


def _gather(transaction: Transaction, claim: Claim, plan: RunPlan, continued: bool) -> int:
    """Let the origins of seeds, those added by hand, and those to be checked take part; return how many no longer
    do."""
    seeds = [seed for seeds in (plan.seeds, *(job.seeds for job in plan.jobs)) for seed in seeds]
    wanted = dict.fromkeys(clean(seed.origin) for seed in seeds)
    known = transaction.fetch(Origin.select(Origin.id, Origin.origin, Origin.joined, Origin.participates))
    left_out = 0
    asked = [1] * plan.finds_sitemaps + [0] * plan.check_external
    before = transaction.now if plan.force_recrawl else transaction.now - plan.recrawl_interval_ms
    waits = (Page.attempts_remaining > 0) | (Page.last_crawled_at <= before) | (Page.sitemap == ONE)
    to_check = (Page.external == ONE) & (Page.status == ZERO) & waits & Page.sitemap.in_(asked)
    checked = {row[0] for row in transaction.fetch(Page.select(Page.origin).where(to_check).distinct())}
    for origin_id, name, joined, participates in known:
        if name in wanted:
            continue
        by_hand = joined == "added" and (participates or not continued)
        if by_hand or (joined != "added" and origin_id in checked):
            how = joined if by_hand else origins.EXTERNAL
            is_new = not (continued and participates)
            origins.join(transaction, claim, origins.ensure(transaction, name), how, afresh=is_new)
        elif participates:
            left_out += joined != origins.EXTERNAL
            changes = {Origin.participates: 0, Origin.in_flight_url: "", Origin.change: transaction.change}
            transaction.execute(Origin.update(changes).where(Origin.id == origin_id))
    for name in wanted:
        row = origins.ensure(transaction, name)
        origins.join(transaction, claim, row, "seed", afresh=not (continued and row.participates))
    _set_start_paths(transaction, claim)
    return left_out


def _set_start_paths(transaction: Transaction, claim: Claim) -> None:
    """The start paths of the configuration (G). One that is no longer configured is none; nor is one that an origin has
    which joined by the redirect of a seed, where no site has it any more."""
    configured = {clean(origin): clean(path) for origin, path in claim.start_paths}
    chosen = (Origin.id, Origin.origin, Origin.start_path, Origin.joined)
    for origin_id, name, path, joined in transaction.fetch(Origin.select(*chosen)):
        wanted = configured.get(name, path if joined == "added" and path in configured.values() else "")
        if path != wanted:
            changes = {Origin.start_path: wanted, Origin.change: transaction.change}
            transaction.execute(Origin.update(changes).where(Origin.id == origin_id))


def _queue_seeds(transaction: Transaction, claim: Claim, job: JobPlan, job_id: int) -> None:
    """The seeds of a job; an operator who has changed its niceness has changed theirs."""
    nice = transaction.fetch(Job.select(Job.nice).where(Job.id == job_id))[0][0]
    pages = tuple(replace(seed, seed=True, nice=seed.nice - job.nice + nice) for seed in job.seeds)
    ids = url_ids(transaction, {page.url_hash: clean(page.url) for page in pages})
    _, moves = queue_pages(transaction, claim, Source(job_id, None, transaction.now), pages, ids)
    move_counters(transaction, job_id, moves)


def _notes(
    run_id: int, continued: bool, unclean: bool, left_out: int, not_taken: Sequence[JobState]
) -> tuple[str, ...]:
    named = ", ".join(f"{job.name} ({job.tag or 'no tag'})" for job in not_taken[:5])
    notes = {
        f"run {run_id} was {'killed' if unclean else 'interrupted'}; it is continued": continued,
        f"{left_out} origins are no longer configured and take no part": left_out,
        f"jobs that this worker does not take, by their tags: {named}": not_taken,
    }
    return tuple(text for text, is_so in notes.items() if is_so)


_renew = updates(
    [Session.id],
    *columns(Session, "heartbeat_at in_flight free_bytes"),
    where=Session.ended_at == ZERO,
    returning=[Session.id],
)
