"""What operators and jobs have done, as reports show it: actions, jobs, pages in limbo, stashes, the activity log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActionView:
    """A row of `v_operator_action`."""

    action_id: int
    at: int
    who: str
    action: str
    target: str
    before: str
    after: str
    undone: bool
    applied: bool
    error: str = ""
    command: str = ""  # what was asked, as `domain.command.from_json` reads it


@dataclass(frozen=True, slots=True)
class JobView:
    """A row of `v_job`, with what stands beside it. `depth` and `concurrency` None: no limit; concurrency 0: paused."""

    job: str
    status: str
    nice: int
    depth: int | None
    concurrency: int | None
    tag: str
    pending: int
    claimed: int
    done: int
    failed: int
    blocked: int
    ruleset_id: int
    aborted: bool
    note: str
    created_by: str
    created_at: int


@dataclass(frozen=True, slots=True)
class LimboView:
    """A page that a worker has claimed and not settled. `age_ms` is how long ago it was claimed."""

    url: str
    origin: str
    job: str
    worker: str
    claimed_at: int
    age_ms: int


@dataclass(frozen=True, slots=True)
class StashView:
    """A stash of a job (B): pages in it, pages that dripped out and are not crawled yet, how many its dripfeed keeps
    READY (0: it has none)."""

    job: str
    stash: str
    pages: int
    ready: int
    dripfeed: int


@dataclass(frozen=True, slots=True)
class ActivityView:
    """A row of `v_activity`: what happened beside the attempts."""

    activity_id: int
    at: int
    event: str
    origin: str
    run_id: int
    message: str
