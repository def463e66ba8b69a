"""What operators, jobs and processes have done, as reports show it: actions, jobs, pages in limbo, stashes, the
activity log, sessions, what validators said, answers to questions in SQL."""

from tui_crawler.domain.record import dataclass


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
    applied_at: int = 0  # 0: it waits


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


@dataclass(frozen=True, slots=True)
class SessionView:
    """A process that holds, or held, the database. Times are epoch ms, `lease_ms` is how long it may be silent;
    `ended_at` 0 while it lasts, `clean`: it ended in order, `ended_by` who ended it if not itself.

    `rest`: it applies operator commands and makes no request. `origins` are those it has now. `cpu_ms` is the
    processor time it has used, None where it is not at work or not on the machine of who asks.
    """

    session_id: int
    run_id: int
    rest: bool
    worker: str
    host: str
    pid: int
    started_at: int
    heartbeat_at: int
    lease_ms: int
    ended_at: int
    clean: bool
    ended_by: str
    origins: int
    cpu_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ValidationTotals:
    """The results of validators: validator, documents it found valid, documents it did not. `pages` were looked at;
    `whole`: these are all pages. `waiting` documents are still to be looked at."""

    pages: int
    whole: bool
    sums: tuple[tuple[str, int, int], ...]
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The result of a query in SQL: names of columns, rows of None, numbers, texts and bytes, how long it took in ms.

    `more`: there are further rows; `cut` values were shortened. `problem` is why there is no answer, in one line.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    more: bool = False
    cut: int = 0
    took_ms: int = 0
    problem: str = ""
