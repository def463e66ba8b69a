"""The frontier and what pages hold: URLs, origins, jobs, rules, pages (candidate, queue row and result in one), their
documents, links and redirects. First how columns are declared, the same for all tables.

Columns that are ordered or compared are NOT NULL with a sentinel (0 or ''), times are epoch ms, booleans are 0 and 1:
the same on SQLite and PostgreSQL.
"""

from __future__ import annotations

from typing import Any

import peewee


class Model(peewee.Model):
    """A table. The models are bound to no database: they declare the schema, and queries are made from them."""

    class Meta:
        legacy_table_names = False


def options(key: str = "", index: str = "", unique: str = "", *, rowid: bool = True, name: str = "") -> Any:
    """How a table is made: columns of its key, where that is of several, of an index that peewee names, and whether it
    has a row id. In these texts names of columns stand with spaces."""
    indexes = tuple((tuple(names.split()), once) for names, once in ((index, False), (unique, True)) if names)
    made: dict[str, Any] = {"indexes": indexes, "without_rowid": not rowid}
    made |= {"primary_key": peewee.CompositeKey(*key.split())} if key else {}
    return type("Meta", (), made | ({"table_name": name} if name else {}))


def add_index(name: str, model: Any, *fields: Any, where: Any = None) -> None:
    """An index on columns (texts of names) and expressions, in this order; on the rows where a condition holds."""
    named = (field.split() if isinstance(field, str) else [field] for field in fields)
    chosen = [getattr(model, one) if isinstance(one, str) else one for each in named for one in each]
    model.add_index(model.index(*chosen, name=name, where=where))


def number(default: int = 0) -> Any:
    """A 64-bit number with a default in the schema."""
    return peewee.BigIntegerField(constraints=[peewee.SQL(f"DEFAULT {default}")])


def flag() -> Any:
    """0 or 1, by default 0."""
    return peewee.SmallIntegerField(constraints=[peewee.SQL("DEFAULT 0")])


def maybe() -> Any:
    """A 64-bit number that may be unknown."""
    return peewee.BigIntegerField(null=True)


def text(default: str = "") -> Any:
    """A text with a default in the schema, by default empty."""
    return peewee.TextField(constraints=[peewee.SQL(f"DEFAULT '{default}'")])


def reference(model: Any, column: str, *, null: bool = False) -> Any:
    """A reference to the id of another row. Indices are declared where a query needs them."""
    return peewee.ForeignKeyField(model, column_name=column, null=null, index=False, lazy_load=False, backref="+")


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


class Ruleset(Model):
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
    Meta = options(index="job id")


class Origin(Model):
    """An origin crawler: its durable state (U), and counters kept by the transactions that change them.

    `participates`: it belongs to the newest run. `joined` is "seed", "added" or, where links that leave the crawl lead
    there, "external". `change` is the number of the last
    commit that touched the row. Several workers: nobody holds it while it is `free`; `session_id` held it last then,
    `former_session` before that. Origins of one `site` are in one hand. `wanted_session`: an operator wants it there.
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
    free: Any = flag()
    former_session: Any = number()
    wanted_session: Any = number()
    site: Any = text()
    Meta = options(index="change")


_unfinished = (Origin.participates == 1) & (Origin.finish_reason == "")

add_index("origin_open", Origin, "session_id", where=_unfinished)
add_index("origin_free", Origin, "next_request_at id", where=_unfinished & (Origin.free == 1))
add_index("origin_site", Origin, "site session_id")
add_index("origin_wanted", Origin, "wanted_session", where=Origin.wanted_session > 0)


class RobotsText(Model):
    """The body of robots.txt, zstd-compressed, apart from the row that every attempt rewrites."""

    origin: Any = peewee.ForeignKeyField(
        Origin, column_name="origin_id", primary_key=True, lazy_load=False, backref="+"
    )
    body: Any = peewee.BlobField()


class Page(Model):
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

    id: Any = peewee.AutoField()
    kind: Any = peewee.TextField()
    value: Any = peewee.TextField()
    reason: Any = text()
    who: Any = text()
    source: Any = text()
    created_at: Any = number()
    Meta = options(unique="kind value")


class Segment(Model):
    """A file of URLs written by the offline mode (M), consumed exactly once. `digest` is the SHA-256 of its content,
    `path` where it was written."""

    id: Any = peewee.AutoField()
    name: Any = peewee.TextField(unique=True)
    urls: Any = number()
    created_at: Any = number()
    consumed_at: Any = number()
    digest: Any = text()
    path: Any = text()


class SeenFilter(Model):
    """A Bloom filter of URLs (M), saved with the parameters that it was made for. `count`: how many it has taken."""

    id: Any = peewee.AutoField()
    capacity: Any = number()
    error_rate: Any = peewee.FloatField()
    count: Any = number()
    bits: Any = peewee.BlobField()


class Document(Model):
    """The document of a page, replaced as a whole by each contentful crawl (G, U).

    `stored_at` is that crawl's time; it equals the page's `last_contentful_at` while the document is what the page
    last gave. `valid` is NULL until validated, `parsed_at` -1 while that is to come. `incomplete` names what was cut.
    `scanned_at`: read by the offline mode.
    """

    page: Any = peewee.ForeignKeyField(Page, column_name="page_id", primary_key=True, lazy_load=False, backref="+")
    kind: Any = text()
    content_type: Any = text()
    charset: Any = text()
    title: Any = text()
    sha256: Any = text()
    size: Any = number()
    etag: Any = text()
    last_modified: Any = text()
    cache_control: Any = text()
    expires: Any = text()
    age: Any = text()
    content_location: Any = text()
    canonical: Any = text()
    noindex: Any = flag()
    nofollow: Any = flag()
    incomplete: Any = text()
    stored_at: Any = number()
    validation_type: Any = text()
    valid: Any = maybe()
    validation_errors: Any = text()
    parsed_at: Any = number()
    scanned_at: Any = number()


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

    url: Any = peewee.ForeignKeyField(Url, column_name="url_id", primary_key=True, lazy_load=False, backref="+")
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
    where that is to be looked at, -1 for none. `answer` (zstd) is what the page gave in the run `run_id`, as long as it
    is kept aside."""

    page: Any = peewee.ForeignKeyField(Page, column_name="page_id", primary_key=True, lazy_load=False, backref="+")
    to_url: Any = reference(Url, "to_url_id")
    state: Any = flag()
    awaits: Any = number()
    run_id: Any = number()
    answer: Any = peewee.BlobField(null=True)
    Meta = options(index="awaits page")


class DataBlock(Model):
    """A value that a data rule found in a document (R). `type`: link, video, picture, text."""

    id: Any = peewee.BigAutoField()
    page: Any = reference(Page, "page_id")
    name: Any = peewee.TextField()
    type: Any = peewee.TextField()
    place: Any = number()
    value: Any = text()
    Meta = options(unique="page name place")
