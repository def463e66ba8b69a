"""What a person is shown: frozen rows made by the read-only reports, drawn by console and command line.

Strings are raw as stored (hostile); whoever draws them passes them through `safe`. Times are epoch ms, 0 = none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_crawler.domain.attempt import DataValue, Validation


@dataclass(frozen=True, slots=True)
class RunView:
    """A run (`v_run`) with what its session says. `live` is judged by the owner's process and heartbeat."""

    run_id: int
    started_at: int
    finished_at: int
    finish_reason: str
    requests: int
    user_agent: str
    config_name: str
    live: bool
    owner: str = ""  # "process 4711 on host h" of the live or last session
    heartbeat_at: int = 0
    max_in_flight: int = 0
    max_requests: int | None = None
    tries: int = 0  # how many a page gets when it is put back; 0: not told


@dataclass(frozen=True, slots=True)
class OriginView:
    """An origin as `v_origin` has it, with what the overview needs beside. `change` grows with each change."""

    origin: str
    change: int
    state: str  # IDLE, READY, WAITING, BUSY, FINISHED; RESTING when made by `idle_reason.at_rest`
    finish_reason: str
    paused: bool
    patience: int
    patience_max: int
    politeness: int
    delay_ms: int
    delay_reason: str
    operator_delay_ms: int
    next_request_at: int
    asleep_until: int
    robots_status: str
    robots_fetched_at: int
    robots_expires_at: int
    crawl_delay_ms: int | None
    todo: int
    pending: int
    done: int
    failed: int
    blocked: int
    requests: int
    bytes: int
    in_flight_url: str
    last_url: str
    last_exit_code: str
    last_http_status: int | None
    last_attempt_at: int
    last_response_ms: int
    paused_at: int = 0
    paused_by: str = ""
    worker: str = ""
    discovered: int = 0  # pages of this origin that became known in this run
    in_flight_since: int = 0  # when the request in flight was begun; says nothing while none is
    robots_http_status: int | None = None


@dataclass(frozen=True, slots=True)
class OriginChanges:
    """Origins that changed after a change number, and the newest number seen."""

    change: int
    rows: tuple[OriginView, ...]


@dataclass(frozen=True, slots=True)
class TotalsView:
    """Sums over all origins, kept incrementally. `exit_codes` counts the attempts of the newest run by name."""

    todo: int
    pending: int
    done: int
    failed: int
    blocked: int
    requests: int
    bytes: int
    attempts: int
    exit_codes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class AttemptView:
    """A row of `v_attempt`, with the title of the page it was for."""

    attempt_id: int
    run_id: int
    url: str
    origin: str
    kind: str
    exit_code: str
    exit_code_id: int
    http_status: int | None
    started_at: int
    ended_at: int
    response_ms: int | None
    bytes: int
    requests: int
    patience_after: int
    politeness_after: int
    delay_ms_after: int
    worker: str
    message: str
    patience_before: int = 0
    delay_reason: str = ""
    decided_by: str = ""
    new_pages: int = 0
    title: str = ""
    ruleset_id: int = 0


@dataclass(frozen=True, slots=True)
class RequestView:
    """A row of `v_request` with its headers, as sent and received."""

    request_id: int
    attempt_id: int
    url: str
    method: str
    sent_at: int
    head_at: int | None
    ended_at: int
    http_status: int | None
    conditional: bool
    fluke_retry: bool
    error: str
    remote_address: str = ""
    request_headers: tuple[tuple[str, str], ...] = ()
    response_headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TodoView:
    """A page of a todo list, in the order of the turns. `found_on` is the page that linked to it first."""

    url: str
    depth: int
    nice: int
    attempts: int
    attempts_remaining: int
    not_before: int
    seed: bool
    title: str = ""
    found_on: str = ""


@dataclass(frozen=True, slots=True)
class PageView:
    """A row of `v_page`, with the message of its last attempt."""

    page_id: int
    url: str
    origin: str
    job: str
    status: str
    attempts: int
    attempts_remaining: int
    nice: int
    depth: int
    not_before: int
    last_exit_code: str
    last_http_status: int | None
    last_crawled_at: int
    due_at: int
    etag: str = ""
    last_modified: str = ""
    content_type: str = ""
    size: int = 0
    title: str = ""
    sha256: str = ""
    message: str = ""
    recoverable: bool = False
    validation_type: str = ""
    valid: int | None = None  # 0 or 1; None until a validator has looked at it
    took_ms: int | None = None  # of the last attempt; None until there was one, and where it made no request


@dataclass(frozen=True, slots=True)
class LinkView:
    """A row of `v_link`."""

    from_url: str
    to_url: str
    kind: str
    nofollow: bool
    text: str
    first_seen_at: int


@dataclass(frozen=True, slots=True)
class RedirectView:
    """A row of `v_redirect`."""

    from_url: str
    to_url: str
    to_fragment: str
    permanent: bool
    source: str
    seen_at: int


@dataclass(frozen=True, slots=True)
class ExitCountView:
    """How often an exit code ended an attempt: in the newest run, and in the last five minutes."""

    exit_code: str
    run: int
    recent: int


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failed pages with one key. `key` holds name and value pairs of the grouping, in its order.

    `recent` of them failed last in the last five minutes. `trend` has the same for the twelve spans of five minutes up
    to the present one, that one last. `origins` are the pages of each origin, most pages first.
    """

    key: tuple[tuple[str, str], ...]
    count: int
    recoverable: int
    sample_url: str
    first_at: int
    last_at: int
    recent: int = 0
    trend: tuple[int, ...] = ()
    origins: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FailureCount:
    """Failed pages in groups, the largest first: `looked_at` of the `failed` that there are were counted."""

    groups: tuple[FailureGroup, ...]
    looked_at: int
    failed: int


@dataclass(frozen=True, slots=True)
class PageDetail:
    """One URL, whole: its row, attempts (newest first), their requests, links, and the path from a seed.

    `path_depths` are the depths of what each step of `path` leads to. `validation` and `data` are of the stored
    document. `lastmod` is what a sitemap says of it, `sitemap` that it is one itself, `ruleset_id` the rules its last
    attempt began with (0: none).
    """

    page: PageView
    attempts: tuple[AttemptView, ...]
    requests: tuple[RequestView, ...]
    inlinks: tuple[LinkView, ...]
    outlinks: tuple[LinkView, ...]
    redirects: tuple[RedirectView, ...]
    path: tuple[LinkView, ...]
    inlink_count: int = 0
    outlink_count: int = 0
    validation: Validation | None = None
    data: tuple[DataValue, ...] = ()
    lastmod: int = 0
    sitemap: bool = False
    ruleset_id: int = 0
    path_depths: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """A link with what is known of its other end: title, exit code (a name; empty: never tried), how it goes on.

    `after` is where the next window of links begins."""

    link: LinkView
    title: str
    exit_code: str
    after: tuple[int, str]


@dataclass(frozen=True, slots=True)
class RefusedView:
    """A row of `v_refused`."""

    origin: str
    reason: str
    count: int
    sample_url: str


@dataclass(frozen=True, slots=True)
class OriginHistory:
    """What the detail screen draws of the past of one origin, newest first."""

    patience: tuple[AttemptView, ...]  # attempts that cost patience
    delays: tuple[AttemptView, ...]  # attempts after which the delay was another one
    refused: tuple[RefusedView, ...] = field(default=())


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
