"""The schema as peewee models: they declare tables and indices, and SQL is made from them. First the frontier and what
pages hold: URLs, origins, jobs, rules, pages (candidate, queue row and result in one), their documents, links and
redirects. Then the crawl log and its surroundings: runs, sessions, attempts, requests, counts, the operator journal.
"""

from typing import Any

import peewee

from tui_crawler.domain.records.exit_code import AttemptKind
from tui_crawler.storage.models.columns import Model, add_index, flag, maybe, number, options, reference, several, text

READY = 0
CLAIMED = 2
STASHED = 4


class Url(Model):
    """The text of a URL, stored once. A crawl finds it by its signed 64-bit hash, people by the text (decision 14)."""

    id: Any = peewee.BigAutoField()
    hash: Any = peewee.BigIntegerField(unique=True)
    href: Any = peewee.TextField()


add_index("url_href", Url, "href")


class Job(Model):
    """A group of pages with its own depth, niceness and rules (B). `max_depth` and `concurrency` NULL: no limit.
    `resumed_concurrency` is what a paused job (concurrency 0) goes back to."""

    name: Any = peewee.TextField(unique=True)
    note, tag, created_by = several(text, 3)
    created_at, nice = several(number, 2)
    max_depth, concurrency = several(maybe, 2)
    aborted: Any = flag()
    ruleset_id, pending, done, failed, blocked = several(number, 5)
    resumed_concurrency: Any = maybe()


class Ruleset(Model):
    """An immutable version of a job's rules (B). `parent_id` is the version it was made from, 0 for the first. `rules`
    is the JSON of a whole PolicySet; `from_config`: it was read from the configuration."""

    job: Any = reference(Job, "job_id")
    parent_id, at = several(number, 2)
    who, note, rules = several(text, 3)
    from_config: Any = flag()
    Meta = options(index="job id")


class Origin(Model):
    """An origin crawler: its durable state (U), and counters kept by the transactions that change them. `participates`:
    it belongs to the newest run. `joined` is "seed", "added" or, for links that leave the crawl, "external". `change`
    is the number of the last commit that touched the row. Several workers: no session holds it while it is `free`;
    `session_id` held it last then, `former_session` before that. Origins of one `site` are held together.
    `wanted_session`: an operator wants it there."""

    id: Any = peewee.BigAutoField()
    origin: Any = peewee.TextField(unique=True)
    start_path: Any = text()
    participates: Any = flag()
    joined: Any = text()
    session_id, epoch, change = several(number, 3)
    finish_reason: Any = text()
    paused: Any = flag()
    paused_at: Any = number()
    paused_by: Any = text()
    patience, politeness = several(number, 2)
    may_fall: Any = flag()
    rate_limits, delay_ms = several(number, 2)
    delay_reason: Any = text()
    operator_delay_ms, next_request_at, last_request_at, last_response_ms = several(number, 4)
    response_window: Any = text()
    asleep_until: Any = number()
    in_flight_url: Any = text()
    in_flight_since: Any = number()
    robots_status: Any = text("none")
    robots_http_status: Any = maybe()
    robots_fetched_at, robots_expires_at = several(number, 2)
    crawl_delay_ms: Any = maybe()
    todo, pending, done, failed, blocked, requests, bytes, attempts, pages_known, discovered = several(number, 10)
    last_url: Any = text()
    last_exit_code, last_http_status = several(maybe, 2)
    last_attempt_at: Any = number()
    free: Any = flag()
    former_session, wanted_session = several(number, 2)
    site: Any = text()
    Meta = options(index="change")


_unfinished = (Origin.participates == 1) & (Origin.finish_reason == "")

add_index("origin_open", Origin, "session_id", where=_unfinished)
add_index("origin_free", Origin, "next_request_at id", where=_unfinished & (Origin.free == 1))
add_index("origin_site", Origin, "site session_id")
add_index("origin_wanted", Origin, "wanted_session", where=Origin.wanted_session > 0)


class RobotsText(Model):
    """The body of robots.txt, zstd-compressed, apart from the row that every attempt rewrites."""

    origin: Any = reference(Origin, "origin_id", primary_key=True)
    body: Any = peewee.BlobField()


class Page(Model):
    """A URL known to a job. Done is READY with no attempt remaining (B). `todo_order` is its place on the todo list, 0
    for none. `ignored_run` is the run on whose ignore list it is. `failed` and `beyond_depth` say in which indices and
    counters it is. `found_on_page_id` is the page of its shortest discovery path, NULL for seeds. `stash` is the stash
    it is in or came out of. `unscanned`: it redirects or is noindex, and the offline mode has not read what it names.
    `external`: it leaves the crawl and is checked only."""

    id: Any = peewee.BigAutoField()
    job: Any = reference(Job, "job_id")
    origin: Any = reference(Origin, "origin_id")
    url: Any = reference(Url, "url_id")
    status: Any = flag()
    attempts, attempts_remaining, nice, depth = several(number, 4)
    seed, force, beyond_depth, failed, sitemap = several(flag, 5)
    redirect_hops, not_before = several(number, 2)
    item_pattern: Any = text()
    last_exit_code, last_http_status = several(maybe, 2)
    last_crawled_at, last_contentful_at, last_attempt_id, fresh_until, lastmod = several(number, 5)
    ignored_run, todo_order, claimed_at, claimed_by = several(number, 4)
    stash: Any = text()
    found_on: Any = reference("self", "found_on_page_id", null=True)
    created_at: Any = number()
    unscanned, external = several(flag, 2)
    Meta = options(unique="url job")


PRIORITY = Page.nice + Page.attempts
"""Lower is sooner (B)."""

_open = (Page.status == READY) & (Page.attempts_remaining > 0) & (Page.beyond_depth == 0)
_done = (Page.status == READY) & (Page.attempts_remaining == 0) & (Page.beyond_depth == 0)

_stashed = Page.status == STASHED
_dripped = (Page.stash != "") & (Page.status <= CLAIMED) & (Page.attempts_remaining > 0) & (Page.beyond_depth == 0)

# An index ends with the id anyway: it stands in one only where something comes after it.
add_index("page_origin", Page, "origin")
# The job stands before the order: pages of a job that is held are then not even passed over.
add_index("page_pending", Page, "origin job", PRIORITY, "not_before id ignored_run", where=_open)
# the last three of these only so that the index alone answers
add_index(
    "page_done",
    Page,
    "origin job last_crawled_at ignored_run fresh_until seed nice not_before status attempts_remaining beyond_depth",
    where=_done,
)
add_index("page_todo", Page, "origin todo_order", where=Page.todo_order > 0)
add_index("page_claimed", Page, "claimed_at", where=Page.status == CLAIMED)
add_index("page_seed", Page, "origin job", where=Page.seed == 1)
add_index("page_sitemap", Page, "origin job", where=Page.sitemap == 1)
add_index("page_failed", Page, "id", where=Page.failed == 1)
add_index("page_failed_origin", Page, "origin", where=Page.failed == 1)
add_index("page_failed_code", Page, "last_exit_code", where=Page.failed == 1)
add_index("page_stash", Page, "job stash", where=_stashed)
add_index("page_dripped", Page, "job stash", where=_dripped)
add_index("page_unscanned", Page, "id", where=Page.unscanned == 1)
add_index("page_external", Page, "origin last_crawled_at status attempts_remaining", where=Page.external == 1)


class Dripfeed(Model):
    """How many pages of a stash are kept READY (B)."""

    job: Any = reference(Job, "job_id")
    stash: Any = peewee.TextField()
    ready: Any = number()
    Meta = options(key="job stash")


class Refused(Model):
    """Links that a filter refused, counted per reason under the origin of the page that held them."""

    origin: Any = reference(Origin, "origin_id")
    reason: Any = peewee.TextField()
    count: Any = number()
    sample_url: Any = text()
    Meta = options(key="origin reason")


class Exclusion(Model):
    """The exclusion list as operators have extended it (M). `kind`: domain, host, cidr, pattern."""

    kind, value = several(peewee.TextField, 2)
    reason, who, source = several(text, 3)
    created_at: Any = number()
    Meta = options(unique="kind value")


class Segment(Model):
    """A file of URLs written by the offline mode (M), consumed exactly once. `digest` is the SHA-256 of its content,
    `path` where it was written."""

    name: Any = peewee.TextField(unique=True)
    urls, created_at, consumed_at = several(number, 3)
    digest, path = several(text, 2)


class SeenFilter(Model):
    """A Bloom filter of URLs (M), saved with the parameters that it was made for. `count`: how many it has taken."""

    capacity: Any = number()
    error_rate: Any = peewee.FloatField()
    count: Any = number()
    bits: Any = peewee.BlobField()


class Document(Model):
    """The document of a page, replaced by each contentful crawl (G, U). `stored_at` is that crawl's time; it equals the
    page's `last_contentful_at` while the document is what the page last gave. `valid` is NULL until validated,
    `parsed_at` -1 while that is to come. `incomplete` names what was cut. `scanned_at`: read by the offline mode."""

    page: Any = reference(Page, "page_id", primary_key=True)
    kind, content_type, charset, title, sha256 = several(text, 5)
    size: Any = number()
    etag, last_modified, cache_control, expires, age, content_location, canonical = several(text, 7)
    noindex, nofollow = several(flag, 2)
    incomplete: Any = text()
    stored_at: Any = number()
    validation_type: Any = text()
    valid: Any = maybe()
    validation_errors: Any = text()
    parsed_at, scanned_at = several(number, 2)


add_index("document_sha256", Document, "sha256")
add_index("document_unscanned", Document, "page", where=Document.scanned_at == 0)
add_index("document_waiting", Document, "page", where=Document.parsed_at < 0)
add_index("document_incomplete", Document, "page", where=Document.incomplete != "")


class Body(Model):
    """A body, zstd-compressed, once per content. `size` is its length in bytes before compression."""

    sha256: Any = peewee.TextField(primary_key=True)
    size: Any = number()
    zstd: Any = peewee.BlobField()


class Link(Model):
    """A link of a page; diffed by each contentful crawl, so that a kept one keeps `first_seen_at` (G)."""

    from_page: Any = reference(Page, "from_page_id")
    kind: Any = peewee.TextField()
    to_url: Any = reference(Url, "to_url_id")
    nofollow: Any = flag()
    text: Any = text()
    first_seen_at: Any = number()
    Meta = options(key="from_page kind to_url", index="to_url", rowid=False)


class PageAnchors(Model):
    """What a fragment may name on a page: the hashes of its ids and names, 8 bytes each; of URLs that are checked."""

    url: Any = reference(Url, "url_id", primary_key=True)
    names: Any = peewee.BlobField()


class Fragment(Model):
    """A fragment that links of a page name, and the text of the first. `missing`: the page they lead to has it not."""

    to_url: Any = reference(Url, "to_url_id")
    fragment: Any = peewee.TextField()
    from_page: Any = reference(Page, "from_page_id")
    text: Any = text()
    missing: Any = flag()
    Meta = options(key="to_url fragment from_page", index="from_page", rowid=False)


add_index("fragment_missing", Fragment, "to_url fragment", where=Fragment.missing == 1)


class Redirect(Model):
    """Where a page sends its reader. `source`: location, meta_refresh, refresh_header, canonical."""

    page: Any = reference(Page, "page_id")
    source: Any = peewee.TextField()
    to_url: Any = reference(Url, "to_url_id")
    to_fragment: Any = text()
    permanent: Any = flag()
    seen_at: Any = number()
    Meta = options(key="page source to_url", index="to_url")


class CanonicalClaim(Model):
    """The canonical URL of the crawl that a page names. `state` is a ClaimState, `awaits` the page that decides it, 0
    when it is due, -1 for none. `answer` (zstd) is what the page gave in the run `run_id`, while it is kept aside."""

    page: Any = reference(Page, "page_id", primary_key=True)
    to_url: Any = reference(Url, "to_url_id")
    state: Any = flag()
    awaits, run_id = several(number, 2)
    answer: Any = peewee.BlobField(null=True)
    Meta = options(index="awaits page")


class DataBlock(Model):
    """A value that a data rule found in a document (R). `type`: link, video, picture, text."""

    id: Any = peewee.BigAutoField()
    page: Any = reference(Page, "page_id")
    name, type = several(peewee.TextField, 2)
    place: Any = number()
    value: Any = text()
    Meta = options(unique="page name place")


class Meta(Model):
    """Single values by name. `change` is the number of the last commit of the writer."""

    name: Any = peewee.TextField(primary_key=True)
    value: Any = number()


class Run(Model):
    """One invocation, from start until exhausted or stopped, with the plan it was last started with. `requests` counts
    attempts that made a request, as `max_requests` does. `granted` are those that workers have taken. `clean` is 0
    until it ended in order. `worked_ms` goes by a monotonic clock. `keeps_former`: what it has changed is kept as it
    was before."""

    job: Any = reference(Job, "job_id")
    started_at, continued_at, finished_at = several(number, 3)
    finish_reason: Any = text()
    clean: Any = flag()
    requests, attempts = several(number, 2)
    config_name, config_text, user_agent, worker = several(text, 4)
    max_in_flight: Any = number()
    max_requests: Any = maybe()
    tries, patience, start_politeness, recrawl_interval_ms = several(number, 4)
    respect_http_freshness, force_recrawl = several(flag, 2)
    granted, worked_ms = several(number, 2)
    keeps_former: Any = flag()


class Session(Model):
    """A process that holds, or held, the database. One heartbeat renews the lease of all its origins. `ended_at` is 0
    while it lasts; `clean`: it ended in order, `ended_by` who ended it if not itself. `rest`: it carries out operators'
    commands without a run and makes no request. Without any run its `run_id` is 0. `crawl_settings` is a
    SettingsByOrigin as JSON, to replay its log. `shared`: others may join its run. `token_hash` is the SHA-256 of what
    proves that it is the worker of its name. `wanted` is a WorkerOrder."""

    run_id: Any = number()
    rest: Any = flag()
    host, machine = several(text, 2)
    pid, process_started_ms = several(number, 2)
    worker, tags = several(text, 2)
    started_at, heartbeat_at, lease_ms, ended_at = several(number, 4)
    clean: Any = flag()
    ended_by, crawl_settings = several(text, 2)
    shared: Any = flag()
    token_hash: Any = text()
    matchonly: Any = flag()
    slots: Any = number()
    version: Any = text()
    free_bytes, in_flight = several(number, 2)
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
    started_at, ended_at = several(number, 2)
    response_ms: Any = maybe()
    bytes, requests = several(number, 2)
    patience_before, patience_after, politeness_after, delay_ms_before, delay_ms_after = several(number, 5)
    delay_reason: Any = text()
    new_pages, ruleset_id = several(number, 2)
    problem: Any = flag()
    message, decided_by, cut = several(text, 3)


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
    """One HTTP exchange inside an attempt. Headers are JSON lists of pairs. `connection_reused` is NULL if unknown
    (before schema 4)."""

    id: Any = peewee.BigAutoField()
    attempt: Any = reference(Attempt, "attempt_id")
    url: Any = reference(Url, "url_id")
    method: Any = peewee.TextField()
    sent_at: Any = number()
    head_at: Any = maybe()
    ended_at: Any = number()
    http_status: Any = maybe()
    conditional, fluke_retry = several(flag, 2)
    error, remote_address, request_headers, response_headers = several(text, 4)
    dns_ms, connect_ms, tls_ms, connection_reused = several(maybe, 4)
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

    run_id, origin_id, exit_code = several(peewee.BigIntegerField, 3)
    count: Any = number()
    Meta = options(key="run_id origin_id exit_code", rowid=False)


class ExitMinute(Model):
    """The same by minute (epoch ms // 60000), kept for some minutes only."""

    origin_id, minute, exit_code = several(peewee.BigIntegerField, 3)
    count: Any = number()
    Meta = options(key="origin_id minute exit_code", index="minute", rowid=False)


class PulseRow(Model):
    """What a session has counted of a job in a stretch of time that begins at `at` (epoch ms) and lasts `length` (ms):
    a minute, an hour. `cells` as `domain.pulse` packs them."""

    length, at, session_id, job_id = several(peewee.BigIntegerField, 4)
    attempts, pages, failed, bytes = several(number, 4)
    cells: Any = peewee.BlobField()
    Meta = options(key="length at session_id job_id", rowid=False, name="pulse")


class Gauge(Model):
    """What a session has measured of itself in the minute or hour (`length`) that begins at `at` (epoch ms): the worst.
    And what the first one of a minute found of the whole crawl; NULL in the rows of the others."""

    length, at, session_id = several(peewee.BigIntegerField, 3)
    lag_ms, commit_ms, commit_jobs = several(number, 3)
    todo, pending, crawling, waiting, paused, gave_up, finished = several(maybe, 7)
    Meta = options(key="length at session_id", rowid=False)


class Activity(Model):
    """The activity log (R): what happened to runs, origins, jobs and pages beside the attempts. `origin_id` 0: none."""

    id: Any = peewee.BigAutoField()
    at, run_id, origin_id = several(number, 3)
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
    target, command, before, after, error = several(text, 5)
    applied_at, undoes = several(number, 2)
    undone: Any = flag()


add_index("operator_action_at", OperatorAction, "at")
add_index("operator_action_waiting", OperatorAction, "id", where=OperatorAction.applied_at == 0)


class FormerPage(Model):
    """A page as it was before a run changed it. `exit_code` NULL: it was never crawled. `redirect` is where it sent its
    reader, `canonical` what it named as that; `links`: the run has changed its links."""

    run_id, origin_id = several(peewee.BigIntegerField, 2)
    page: Any = reference(Page, "page_id")
    exit_code, http_status = several(maybe, 2)
    sha256, title, canonical = several(text, 3)
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

    run_id, origin_id = several(peewee.BigIntegerField, 2)
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
