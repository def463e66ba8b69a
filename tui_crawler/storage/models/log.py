"""The crawl log and its surroundings: runs, sessions, attempts, requests, counts, the operator journal."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.storage.models.base import Row, flag, maybe, number, reference, text
from tui_crawler.storage.models.queue import Job, Origin, Page, Url


class Meta(Row):
    """Single values by name. `change` is the number of the last commit of the writer."""

    name: Any = peewee.TextField(primary_key=True)
    value: Any = number()

    class Meta:
        table_name = "meta"


class Run(Row):
    """One invocation, from start until exhausted or stopped, with the plan it was last started with.

    `requests` counts as `max_requests` does: attempts that made a request. `granted` are those that
    workers have taken. `clean` is 0 until it ended in order. `worked_ms` goes by a monotonic clock.
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

    class Meta:
        table_name = "run"


class Session(Row):
    """A process that holds, or held, the database. One heartbeat renews the lease of all its origins.

    `ended_at` is 0 while it lasts; `clean` says that it ended in order, `ended_by` who ended it if not itself.
    `rest`: it carries out what operators ask for while nobody runs, and makes no request. Without any run its
    `run_id` is 0.
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

    class Meta:
        table_name = "session"


Session.add_index(Session.index(Session.id, name="session_open", where=Session.ended_at == 0))


class Attempt(Row):
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

    class Meta:
        table_name = "attempt"


_impatient = Attempt.patience_after < Attempt.patience_before
_other_delay = Attempt.delay_ms_after != Attempt.delay_ms_before

Attempt.add_index(Attempt.index(Attempt.origin, Attempt.id, name="attempt_origin"))
Attempt.add_index(Attempt.index(Attempt.url, Attempt.id, name="attempt_url"))
Attempt.add_index(Attempt.index(Attempt.id, name="attempt_problem", where=Attempt.problem == 1))
Attempt.add_index(Attempt.index(Attempt.origin, Attempt.id, name="attempt_problem_origin", where=Attempt.problem == 1))
Attempt.add_index(Attempt.index(Attempt.origin, Attempt.id, name="attempt_patience", where=_impatient))
Attempt.add_index(Attempt.index(Attempt.origin, Attempt.id, name="attempt_delay", where=_other_delay))
Attempt.add_index(Attempt.index(Attempt.page, Attempt.id, name="attempt_cut", where=Attempt.cut != ""))


class Request(Row):
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

    class Meta:
        table_name = "request"
        indexes = ((("attempt",), False),)


class AttemptResult(Row):
    """A typed result of an attempt (B), idempotent by its id."""

    id: Any = peewee.TextField(primary_key=True)
    attempt: Any = reference(Attempt, "attempt_id")
    type: Any = peewee.TextField()
    value: Any = text()

    class Meta:
        table_name = "attempt_result"
        indexes = ((("attempt",), False),)


class ExitCount(Row):
    """How often an exit code ended an attempt of a run. `origin_id` 0 is the sum over all origins."""

    run_id: Any = peewee.BigIntegerField()
    origin_id: Any = peewee.BigIntegerField()
    exit_code: Any = peewee.BigIntegerField()
    count: Any = number()

    class Meta:
        table_name = "exit_count"
        primary_key = peewee.CompositeKey("run_id", "origin_id", "exit_code")
        without_rowid = True


class ExitMinute(Row):
    """The same by minute (epoch ms // 60000), kept for some minutes only."""

    origin_id: Any = peewee.BigIntegerField()
    minute: Any = peewee.BigIntegerField()
    exit_code: Any = peewee.BigIntegerField()
    count: Any = number()

    class Meta:
        table_name = "exit_minute"
        primary_key = peewee.CompositeKey("origin_id", "minute", "exit_code")
        without_rowid = True
        indexes = ((("minute",), False),)


class Activity(Row):
    """The activity log (R): what happened to runs, origins, jobs and pages beside the attempts. `origin_id` 0: none."""

    id: Any = peewee.BigAutoField()
    at: Any = number()
    run_id: Any = number()
    origin_id: Any = number()
    event: Any = peewee.TextField()
    message: Any = text()

    class Meta:
        table_name = "activity"


Activity.add_index(
    Activity.index(Activity.origin_id, Activity.id, name="activity_origin", where=Activity.origin_id > 0)
)


class OperatorAction(Row):
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

    class Meta:
        table_name = "operator_action"


OperatorAction.add_index(
    OperatorAction.index(OperatorAction.id, name="operator_action_waiting", where=OperatorAction.applied_at == 0)
)
