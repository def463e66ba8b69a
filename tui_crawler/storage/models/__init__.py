"""The schema as peewee models: they declare tables and indices, and SQL is made from them. Here the crawl log and its
surroundings: runs, sessions, attempts, requests, counts, the operator journal."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.domain.records.exit_code import AttemptKind
from tui_crawler.storage.models.queue import (
    PRIORITY,
    Body,
    CanonicalClaim,
    DataBlock,
    Document,
    Dripfeed,
    Exclusion,
    Fragment,
    Job,
    Link,
    Model,
    Origin,
    Page,
    PageAnchors,
    Redirect,
    Refused,
    RobotsText,
    Ruleset,
    SeenFilter,
    Segment,
    Url,
    add_index,
    flag,
    maybe,
    number,
    options,
    reference,
    text,
)

__all__ = [
    "MODELS", "PRIORITY", "Body", "CanonicalClaim", "DataBlock", "Document", "Dripfeed", "Exclusion", "FormerLink",
    "FormerPage", "FormerRobots", "Fragment", "Job", "Link", "Origin", "Page", "PageAnchors", "Redirect", "Refused",
    "RobotsText", "Ruleset", "SeenFilter", "Segment", "Url", "create_tables",
]  # fmt: skip


class Meta(Model):
    """Single values by name. `change` is the number of the last commit of the writer."""

    name: Any = peewee.TextField(primary_key=True)
    value: Any = number()


class Run(Model):
    """One invocation, from start until exhausted or stopped, with the plan it was last started with.

    `requests` counts as `max_requests` does: attempts that made a request. `granted` are those that
    workers have taken. `clean` is 0 until it ended in order. `worked_ms` goes by a monotonic clock. `keeps_former`:
    what it has changed is kept as it was before.
    """

    id: Any = peewee.AutoField()
    job: Any = reference(Job, "job_id")
    started_at: Any = number()
    continued_at: Any = number()
    finished_at: Any = number()
    finish_reason: Any = text()
    clean: Any = flag()
    requests: Any = number()
    attempts: Any = number()
    config_name: Any = text()
    config_text: Any = text()
    user_agent: Any = text()
    worker: Any = text()
    max_in_flight: Any = number()
    max_requests: Any = maybe()
    tries: Any = number()
    patience: Any = number()
    start_politeness: Any = number()
    recrawl_interval_ms: Any = number()
    respect_http_freshness: Any = flag()
    force_recrawl: Any = flag()
    granted: Any = number()
    worked_ms: Any = number()
    keeps_former: Any = flag()


class Session(Model):
    """A process that holds, or held, the database. One heartbeat renews the lease of all its origins.

    `ended_at` is 0 while it lasts; `clean` says that it ended in order, `ended_by` who ended it if not itself.
    `rest`: it carries out what operators ask for while nobody runs, and makes no request. Without any run its
    `run_id` is 0. `crawl_settings` is a SettingsByOrigin as JSON: by what its log can be folded again.
    `shared`: others may join its run. `token_hash` is the SHA-256 of what proves that it is the worker of its name.
    `wanted` is a WorkerOrder.
    """

    id: Any = peewee.AutoField()
    run_id: Any = number()
    rest: Any = flag()
    host: Any = text()
    machine: Any = text()
    pid: Any = number()
    process_started_ms: Any = number()
    worker: Any = text()
    tags: Any = text()
    started_at: Any = number()
    heartbeat_at: Any = number()
    lease_ms: Any = number()
    ended_at: Any = number()
    clean: Any = flag()
    ended_by: Any = text()
    crawl_settings: Any = text()
    shared: Any = flag()
    token_hash: Any = text()
    matchonly: Any = flag()
    slots: Any = number()
    version: Any = text()
    free_bytes: Any = number()
    in_flight: Any = number()
    wanted: Any = text()


add_index("session_open", Session, "id", where=Session.ended_at == 0)


class Attempt(Model):
    """One entry of the append-only crawl log. `problem` marks failures, for the problem list."""

    id: Any = peewee.BigAutoField()
    run: Any = reference(Run, "run_id")
    session: Any = reference(Session, "session_id")
    origin: Any = reference(Origin, "origin_id")
    url: Any = reference(Url, "url_id")
    page: Any = reference(Page, "page_id", null=True)
    kind: Any = peewee.TextField()
    exit_code: Any = peewee.BigIntegerField()
    http_status: Any = maybe()
    started_at: Any = number()
    ended_at: Any = number()
    response_ms: Any = maybe()
    bytes: Any = number()
    requests: Any = number()
    patience_before: Any = number()
    patience_after: Any = number()
    politeness_after: Any = number()
    delay_ms_before: Any = number()
    delay_ms_after: Any = number()
    delay_reason: Any = text()
    new_pages: Any = number()
    ruleset_id: Any = number()
    problem: Any = flag()
    message: Any = text()
    decided_by: Any = text()
    cut: Any = text()


_impatient = Attempt.patience_after < Attempt.patience_before
_other_delay = Attempt.delay_ms_after != Attempt.delay_ms_before

add_index("attempt_origin", Attempt, "origin id")
add_index("attempt_url", Attempt, "url id")
add_index("attempt_problem", Attempt, "id", where=Attempt.problem == 1)
add_index("attempt_problem_origin", Attempt, "origin id", where=Attempt.problem == 1)
add_index("attempt_patience", Attempt, "origin id", where=_impatient)
add_index("attempt_delay", Attempt, "origin id", where=_other_delay)
add_index("attempt_hops", Attempt, "id", where=(Attempt.kind == AttemptKind.robots.value) & (Attempt.requests > 1))
add_index("attempt_cut", Attempt, "page id", where=Attempt.cut != "")


class Request(Model):
    """One HTTP exchange inside an attempt. Headers are JSON lists of pairs.

    `connection_reused` is NULL where nobody noted how the request came by its connection (before schema 4).
    """

    id: Any = peewee.BigAutoField()
    attempt: Any = reference(Attempt, "attempt_id")
    url: Any = reference(Url, "url_id")
    method: Any = peewee.TextField()
    sent_at: Any = number()
    head_at: Any = maybe()
    ended_at: Any = number()
    http_status: Any = maybe()
    conditional: Any = flag()
    fluke_retry: Any = flag()
    error: Any = text()
    remote_address: Any = text()
    request_headers: Any = text()
    response_headers: Any = text()
    dns_ms: Any = maybe()
    connect_ms: Any = maybe()
    tls_ms: Any = maybe()
    connection_reused: Any = maybe()
    Meta = options(index="attempt")


class AttemptResult(Model):
    """A typed result of an attempt (B), idempotent by its id."""

    id: Any = peewee.TextField(primary_key=True)
    attempt: Any = reference(Attempt, "attempt_id")
    type: Any = peewee.TextField()
    value: Any = text()
    Meta = options(index="attempt")


class ExitCount(Model):
    """How often an exit code ended an attempt of a run. `origin_id` 0 is the sum over all origins."""

    run_id: Any = peewee.BigIntegerField()
    origin_id: Any = peewee.BigIntegerField()
    exit_code: Any = peewee.BigIntegerField()
    count: Any = number()
    Meta = options(key="run_id origin_id exit_code", rowid=False)


class ExitMinute(Model):
    """The same by minute (epoch ms // 60000), kept for some minutes only."""

    origin_id: Any = peewee.BigIntegerField()
    minute: Any = peewee.BigIntegerField()
    exit_code: Any = peewee.BigIntegerField()
    count: Any = number()
    Meta = options(key="origin_id minute exit_code", index="minute", rowid=False)


class PulseRow(Model):
    """What a session has counted of a job in a stretch of time that begins at `at` (epoch ms) and lasts `length` (ms):
    a minute, an hour. `cells` as `domain.pulse` packs them."""

    length: Any = peewee.BigIntegerField()
    at: Any = peewee.BigIntegerField()
    session_id: Any = peewee.BigIntegerField()
    job_id: Any = peewee.BigIntegerField()
    attempts: Any = number()
    pages: Any = number()
    failed: Any = number()
    bytes: Any = number()
    cells: Any = peewee.BlobField()
    Meta = options(key="length at session_id job_id", rowid=False, name="pulse")


class Gauge(Model):
    """What a session has measured of itself in the minute or hour (`length`) that begins at `at` (epoch ms): the worst.
    And what the first one of a minute found of the whole crawl; NULL in the rows of the others."""

    length: Any = peewee.BigIntegerField()
    at: Any = peewee.BigIntegerField()
    session_id: Any = peewee.BigIntegerField()
    lag_ms: Any = number()
    commit_ms: Any = number()
    commit_jobs: Any = number()
    todo: Any = maybe()
    pending: Any = maybe()
    crawling: Any = maybe()
    waiting: Any = maybe()
    paused: Any = maybe()
    gave_up: Any = maybe()
    finished: Any = maybe()
    Meta = options(key="length at session_id", rowid=False)


class Activity(Model):
    """The activity log (R): what happened to runs, origins, jobs and pages beside the attempts. `origin_id` 0: none."""

    id: Any = peewee.BigAutoField()
    at: Any = number()
    run_id: Any = number()
    origin_id: Any = number()
    event: Any = peewee.TextField()
    message: Any = text()


add_index("activity_origin", Activity, "origin_id id", where=Activity.origin_id > 0)
add_index("activity_at", Activity, "at", where=Activity.origin_id == 0)


class OperatorAction(Model):
    """The operator journal: what was asked, and what became of it. `applied_at` 0: it waits."""

    id: Any = peewee.BigAutoField()
    at: Any = number()
    who: Any = text()
    action: Any = peewee.TextField()
    target: Any = text()
    command: Any = text()
    before: Any = text()
    after: Any = text()
    error: Any = text()
    applied_at: Any = number()
    undoes: Any = number()
    undone: Any = flag()


add_index("operator_action_at", OperatorAction, "at")
add_index("operator_action_waiting", OperatorAction, "id", where=OperatorAction.applied_at == 0)


class FormerPage(Model):
    """A page as it was before a run changed it. `exit_code` NULL: it was never crawled. `redirect` is where it sent its
    reader, `canonical` what it named as that; `links`: the run has changed its links."""

    run_id: Any = peewee.BigIntegerField()
    origin_id: Any = peewee.BigIntegerField()
    page: Any = reference(Page, "page_id")
    exit_code: Any = maybe()
    http_status: Any = maybe()
    sha256: Any = text()
    title: Any = text()
    canonical: Any = text()
    redirect: Any = reference(Url, "redirect_id", null=True)
    links: Any = flag()
    Meta = options(key="run_id origin_id page", rowid=False)


add_index("former_page_sha256", FormerPage, "sha256", where=FormerPage.sha256 != "")


class FormerLink(Model):
    """A link that a run has taken from its page."""

    run_id: Any = peewee.BigIntegerField()
    from_page: Any = reference(Page, "from_page_id")
    kind: Any = peewee.TextField()
    to_url: Any = reference(Url, "to_url_id")
    nofollow: Any = flag()
    text: Any = text()
    first_seen_at: Any = number()
    Meta = options(key="run_id from_page kind to_url", index="to_url", rowid=False)


class FormerRobots(Model):
    """The body of a robots.txt (zstd) as it was before a run found another one."""

    run_id: Any = peewee.BigIntegerField()
    origin_id: Any = peewee.BigIntegerField()
    body: Any = peewee.BlobField()
    Meta = options(key="run_id origin_id", rowid=False)


MODELS: tuple[type[peewee.Model], ...] = tuple(Model.__subclasses__())
"""All tables, in the order of their references, which is that of their declarations."""


def create_tables(database: peewee.Database, *, indexed: bool = True) -> None:
    """Creates all tables, in the order of their references, and their indices unless these come later."""
    for model in MODELS:
        peewee.SchemaManager(model, database).create_table(safe=False)
    if indexed:
        create_indexes(database)


def create_indexes(database: peewee.Database) -> None:
    """Creates the indices that are missing."""
    for model in MODELS:
        peewee.SchemaManager(model, database).create_indexes()
