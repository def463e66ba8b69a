"""The frontier: URLs, origins, jobs and their rules, and the pages: candidate, queue row and result in one."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.storage.models.base import Row, flag, maybe, number, reference, text

READY = 0
CLAIMED = 2
STASHED = 4


class Url(Row):
    """The text of a URL, stored once. A crawl finds it by its signed 64-bit hash, people by the text (decision 14)."""

    id: Any = peewee.BigAutoField()
    hash: Any = peewee.BigIntegerField(unique=True)
    href: Any = peewee.TextField()

    class Meta:
        table_name = "url"


Url.add_index(Url.index(Url.href, name="url_href"))


class Job(Row):
    """A group of pages with its own depth, niceness and rules (B). `max_depth` and `concurrency` NULL: no limit.

    `resumed_concurrency` is what a paused job (concurrency 0) goes back to.
    """

    id: Any = peewee.AutoField()
    name: Any = peewee.TextField(unique=True)
    note: Any = text()
    tag: Any = text()
    created_by: Any = text()
    created_at: Any = number()
    nice: Any = number()
    max_depth: Any = maybe()
    concurrency: Any = maybe()
    aborted: Any = flag()
    ruleset_id: Any = number()
    pending: Any = number()
    done: Any = number()
    failed: Any = number()
    blocked: Any = number()
    resumed_concurrency: Any = maybe()

    class Meta:
        table_name = "job"


class Ruleset(Row):
    """An immutable version of a job's rules (B). `parent_id` is the version it was made from, 0 for the first.

    `rules` is the JSON of a whole PolicySet; `from_config`: it was read from the configuration.
    """

    id: Any = peewee.AutoField()
    job: Any = reference(Job, "job_id")
    parent_id: Any = number()
    at: Any = number()
    who: Any = text()
    note: Any = text()
    rules: Any = text()
    from_config: Any = flag()

    class Meta:
        table_name = "ruleset"
        indexes = ((("job", "id"), False),)


class Origin(Row):
    """An origin crawler: its durable state (U), and counters kept by the transactions that change them.

    `participates`: it belongs to the newest run. `joined` is "seed", "added" or, where links that leave the crawl lead
    there, "external". `change` is the number of the last
    commit that touched the row.
    """

    id: Any = peewee.BigAutoField()
    origin: Any = peewee.TextField(unique=True)
    start_path: Any = text()
    participates: Any = flag()
    joined: Any = text()
    session_id: Any = number()
    epoch: Any = number()
    change: Any = number()
    finish_reason: Any = text()
    paused: Any = flag()
    paused_at: Any = number()
    paused_by: Any = text()
    patience: Any = number()
    politeness: Any = number()
    may_fall: Any = flag()
    rate_limits: Any = number()
    delay_ms: Any = number()
    delay_reason: Any = text()
    operator_delay_ms: Any = number()
    next_request_at: Any = number()
    last_request_at: Any = number()
    last_response_ms: Any = number()
    response_window: Any = text()
    asleep_until: Any = number()
    in_flight_url: Any = text()
    in_flight_since: Any = number()
    robots_status: Any = text("none")
    robots_http_status: Any = maybe()
    robots_fetched_at: Any = number()
    robots_expires_at: Any = number()
    crawl_delay_ms: Any = maybe()
    todo: Any = number()
    pending: Any = number()
    done: Any = number()
    failed: Any = number()
    blocked: Any = number()
    requests: Any = number()
    bytes: Any = number()
    attempts: Any = number()
    pages_known: Any = number()
    discovered: Any = number()
    last_url: Any = text()
    last_exit_code: Any = maybe()
    last_http_status: Any = maybe()
    last_attempt_at: Any = number()

    class Meta:
        table_name = "origin"
        indexes = ((("change",), False),)


_unfinished = (Origin.participates == 1) & (Origin.finish_reason == "")

Origin.add_index(Origin.index(Origin.session_id, name="origin_open", where=_unfinished))


class RobotsText(Row):
    """The body of robots.txt, zstd-compressed, apart from the row that every attempt rewrites."""

    origin: Any = peewee.ForeignKeyField(
        Origin, column_name="origin_id", primary_key=True, lazy_load=False, backref="+"
    )
    body: Any = peewee.BlobField()

    class Meta:
        table_name = "robots_text"


class Page(Row):
    """A URL known to a job. Done is READY with no attempt remaining (B).

    `todo_order` is its place on the todo list, 0 for none. `ignored_run` is the run on whose ignore list it is.
    `failed` and `beyond_depth` say which indices and counters it stands in. `found_on_page_id` is the page of its
    shortest discovery path, NULL for seeds. `stash` is the stash it is in or came out of. `unscanned`: it redirects or
    is noindex, and what it names was not read by the offline mode. `external`: it leaves the crawl and is checked only.
    """

    id: Any = peewee.BigAutoField()
    job: Any = reference(Job, "job_id")
    origin: Any = reference(Origin, "origin_id")
    url: Any = reference(Url, "url_id")
    url_hash: Any = peewee.BigIntegerField()
    status: Any = flag()
    attempts: Any = number()
    attempts_remaining: Any = number()
    nice: Any = number()
    depth: Any = number()
    seed: Any = flag()
    force: Any = flag()
    beyond_depth: Any = flag()
    failed: Any = flag()
    sitemap: Any = flag()
    redirect_hops: Any = number()
    not_before: Any = number()
    item_pattern: Any = text()
    last_exit_code: Any = maybe()
    last_http_status: Any = maybe()
    last_crawled_at: Any = number()
    last_contentful_at: Any = number()
    last_attempt_id: Any = number()
    fresh_until: Any = number()
    lastmod: Any = number()
    ignored_run: Any = number()
    todo_order: Any = number()
    claimed_at: Any = number()
    claimed_by: Any = number()
    stash: Any = text()
    found_on: Any = reference("self", "found_on_page_id", null=True)
    created_at: Any = number()
    unscanned: Any = flag()
    external: Any = flag()

    class Meta:
        table_name = "page"
        indexes = ((("url_hash", "origin", "job"), True),)


PRIORITY = Page.nice + Page.attempts
"""Lower is sooner (B)."""

_open = (Page.status == READY) & (Page.attempts_remaining > 0) & (Page.beyond_depth == 0)
_done = (Page.status == READY) & (Page.attempts_remaining == 0) & (Page.beyond_depth == 0)

_stashed = Page.status == STASHED
_dripped = (Page.stash != "") & (Page.status <= CLAIMED) & (Page.attempts_remaining > 0) & (Page.beyond_depth == 0)

Page.add_index(Page.index(Page.origin, Page.id, name="page_origin"))
# The job stands before the order: pages of a job that is held are then not even passed over.
Page.add_index(
    Page.index(
        Page.origin,
        Page.job,
        PRIORITY,
        Page.not_before,
        Page.id,
        Page.ignored_run,
        name="page_pending",
        where=_open,
    )
)
Page.add_index(
    Page.index(
        Page.origin,
        Page.job,
        Page.last_crawled_at,
        Page.ignored_run,
        Page.fresh_until,
        Page.seed,
        Page.nice,
        Page.not_before,
        Page.status,  # this and the next two only so that the index alone answers
        Page.attempts_remaining,
        Page.beyond_depth,
        name="page_done",
        where=_done,
    )
)
Page.add_index(Page.index(Page.origin, Page.todo_order, name="page_todo", where=Page.todo_order > 0))
Page.add_index(Page.index(Page.claimed_at, name="page_claimed", where=Page.status == CLAIMED))
Page.add_index(Page.index(Page.origin, Page.job, name="page_seed", where=Page.seed == 1))
Page.add_index(Page.index(Page.id, name="page_failed", where=Page.failed == 1))
Page.add_index(Page.index(Page.origin, Page.id, name="page_failed_origin", where=Page.failed == 1))
Page.add_index(Page.index(Page.last_exit_code, Page.id, name="page_failed_code", where=Page.failed == 1))
Page.add_index(Page.index(Page.job, Page.stash, Page.id, name="page_stash", where=_stashed))
Page.add_index(Page.index(Page.job, Page.stash, name="page_dripped", where=_dripped))
Page.add_index(Page.index(Page.id, name="page_unscanned", where=Page.unscanned == 1))
Page.add_index(
    Page.index(
        Page.origin,
        Page.last_crawled_at,
        Page.status,
        Page.attempts_remaining,
        name="page_external",
        where=Page.external == 1,
    )
)


class Dripfeed(Row):
    """How many pages of a stash are kept READY (B)."""

    job: Any = reference(Job, "job_id")
    stash: Any = peewee.TextField()
    ready: Any = number()

    class Meta:
        table_name = "dripfeed"
        primary_key = peewee.CompositeKey("job", "stash")


class Refused(Row):
    """Links that a filter refused, counted per reason under the origin of the page that held them."""

    origin: Any = reference(Origin, "origin_id")
    reason: Any = peewee.TextField()
    count: Any = number()
    sample_url: Any = text()

    class Meta:
        table_name = "refused"
        primary_key = peewee.CompositeKey("origin", "reason")


class Exclusion(Row):
    """The exclusion list as operators have extended it (M). `kind`: domain, host, cidr, pattern."""

    id: Any = peewee.AutoField()
    kind: Any = peewee.TextField()
    value: Any = peewee.TextField()
    reason: Any = text()
    who: Any = text()
    source: Any = text()
    created_at: Any = number()

    class Meta:
        table_name = "exclusion"
        indexes = ((("kind", "value"), True),)


class Segment(Row):
    """A file of URLs written by the offline mode (M), consumed exactly once. `digest` is the SHA-256 of its content,
    `path` where it was written."""

    id: Any = peewee.AutoField()
    name: Any = peewee.TextField(unique=True)
    urls: Any = number()
    created_at: Any = number()
    consumed_at: Any = number()
    digest: Any = text()
    path: Any = text()

    class Meta:
        table_name = "segment"


class SeenFilter(Row):
    """A Bloom filter of URLs (M), saved with the parameters that it was made for. `count`: how many it has taken."""

    id: Any = peewee.AutoField()
    capacity: Any = number()
    error_rate: Any = peewee.FloatField()
    count: Any = number()
    bits: Any = peewee.BlobField()

    class Meta:
        table_name = "seen_filter"
