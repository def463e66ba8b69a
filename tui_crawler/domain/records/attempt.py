"""Attempts: what one turn leaves behind. These values are what fetching gives, and what the settle step stores."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import FAILURES, AttemptKind, ExitCode

if TYPE_CHECKING:
    from tui_crawler.domain.records.page import NewPage
    from tui_crawler.domain.records.status import PageStatus
    from tui_crawler.domain.url import CrawlUrl


Headers = tuple[tuple[str, str], ...]


_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")


def is_field_value(text: str) -> bool:
    """Return whether a header field may hold a text: it has no control character but the tab (RFC 9110, 5.5)."""
    return _CONTROL.search(text) is None


def first_values(headers: Headers) -> dict[str, str]:
    """The first value of each field, by its name in lower case."""
    return {name.lower(): value for name, value in reversed(headers)}


class RedirectSource(Enum):
    """The source of a redirect; the value is the name in `v_redirect.source`."""

    location = "location"
    meta_refresh = "meta_refresh"
    refresh_header = "refresh_header"
    canonical = "canonical"


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One exchange that the engine asks for. `conditional_etag` and `conditional_since` are sent verbatim (R)."""

    url: CrawlUrl
    user_agent: str
    method: str = "GET"
    conditional_etag: str = ""
    conditional_since: str = ""
    max_body_bytes: int | None = None  # None: the configured bound; robots.txt has its own
    truncate: bool = False  # robots.txt: what is over the bound is cut, not an error
    cookies: str = field(default="", repr=False)  # that servers set, as a Cookie field
    as_text: bool = False  # robots.txt: it is text whatever its Content-Type says
    any_kind: bool = True  # False: a body whose Content-Type says that nobody reads or stores it is left on the wire
    status_only: bool = False  # a check: the status decides, the body is left where it is


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One HTTP exchange inside an attempt (`v_request`). Times are epoch ms.

    `dns_ms`, `connect_ms` (TCP alone) and `tls_ms` are whole ms of the monotonic clock, also where the step failed;
    None for a step that was not taken, so for all of a kept connection. `connection_reused` says whether it was one;
    None where the request got none or nobody noted it. `remote_address` is what was connected to, "" before that.
    Behind a proxy all of these are of the connection to the proxy.
    """

    url: str
    method: str
    sent_at: int
    head_at: int | None
    ended_at: int
    http_status: int | None
    conditional: bool = False
    fluke_retry: bool = False
    error: str = ""
    remote_address: str = ""
    request_headers: Headers = ()
    response_headers: Headers = ()
    dns_ms: int | None = None
    connect_ms: int | None = None
    tls_ms: int | None = None
    connection_reused: bool | None = None
    request_id: int = 0  # as it is stored, of the attempt `attempt_id`
    attempt_id: int = 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """An answer to a fetch: of one request, or of two when the first was a fluke (U).

    `exit_code` is decided by phase and status alone (docs/behaviour.md); reading the body may replace a 2xx code.
    `response_ms` is the monotonic time of the last request: connecting, and from sending it until the end of the answer
    came to the socket; not what this process did meanwhile, nor the look-up of the name, unless there was no answer.
    `body` is decoded (content coding) and bounded; of an error or a redirect only where it is kept.
    `retry_after_ms` is already a wait, whatever form the header had.
    `cut` names what was cut ("body", "headers"), never silently. `left_size` is the Content-Length (0: not told) of a
    body that was left on the wire, as nobody wants its kind; None where the body was read. `untrusted`: why
    the certificate of the host cannot be verified, so that asking again in this run is no use. `notes` are oddities of
    the answer that cost nothing, in words for the message of the attempt.
    """

    requests: tuple[RequestRecord, ...]
    exit_code: ExitCode
    http_status: int | None
    response_ms: int
    headers: Headers = ()
    body: bytes = b""
    wire_bytes: int = 0
    location: CrawlUrl | None = None
    retry_after_ms: int | None = None
    message: str = ""
    cut: tuple[str, ...] = ()
    left_size: int | None = None
    untrusted: str = ""
    notes: tuple[str, ...] = ()

    @property
    def in_vain(self) -> bool:
        """Return whether the host could not be reached, or did not respond to GET in time. Only this costs patience for
        a check: a host that is down would otherwise be waited for once for each link."""
        late = self.exit_code is ExitCode.request_timeout
        reached = [one.method for one in self.requests if one.remote_address]
        return self.http_status is None and not ("HEAD" in reached or (reached and not late))

    @property
    def doubted(self) -> bool:
        """Return whether HEAD failed, or led to its own URL: servers that serve GET do that, so GET decides."""
        last = self.requests[-1:]
        by_head = last and last[0].method == "HEAD" and (self.http_status or last[0].remote_address)
        failed = self.exit_code in FAILURES or (self.location and last and self.location.href == last[0].url)
        return bool(by_head and failed and not self.untrusted)

    def header(self, name: str) -> str:
        """The first value of a response header (any case), or an empty string."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")


@dataclass(frozen=True, slots=True)
class RefusedCount:
    """Links of one attempt that a filter refused, counted under the origin of the page that held them."""

    reason: str
    count: int
    sample_url: str


class RefusedCounts(dict[str, tuple[int, str]]):
    """Refused links counted by reason, each reason with the first link that it refused."""

    def add(self, reason: str, link: str, count: int = 1) -> None:
        """Count more links."""
        before, first = self.get(reason, (0, link))
        self[reason] = (before + count, first)

    def all(self) -> tuple[RefusedCount, ...]:
        """Return what was counted, in the order of the reasons met."""
        return tuple(RefusedCount(reason, *counted) for reason, counted in self.items())


class FoundLink(NamedTuple):
    """A link of a page, resolved against its base. `text` is cleaned anchor text, at most 200 characters."""

    kind: LinkKind
    url: CrawlUrl
    text: str = ""
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class DataValue:
    """One value that a data rule found (R). `type`: link, video, picture, text; `place` counts those of one rule
    from 0."""

    name: str
    type: str
    place: int
    value: str


@dataclass(frozen=True, slots=True)
class ValidationError:
    """A fault that a validator found; line and column count from 1, 0 where it cannot say."""

    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of a validator for a body (G): `type` is html, xml, css or rss (also Atom), `errors` the first 20."""

    type: str
    errors: tuple[ValidationError, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether it found no fault."""
        return not self.errors


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """A URL that a sitemap names. `sitemap`: it is a sitemap itself (an index names those). `lastmod` is epoch ms,
    0 when it says nothing that can be read."""

    url: CrawlUrl
    lastmod: int = 0
    sitemap: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a body as the extractor read it.

    `kind` is html, xml, css, rss or other. `exit_code` is file_ingested, file_of_unknown_type or
    local_processing_error. `refresh` is a meta refresh or Refresh header, which are redirects. `incomplete` names
    what was cut or given up ("links", "title", "depth", "deadline").
    """

    kind: str
    exit_code: ExitCode
    content_type: str = ""
    charset: str = ""
    title: str = ""
    canonical: CrawlUrl | None = None
    refresh: CrawlUrl | None = None
    refresh_source: RedirectSource | None = None
    noindex: bool = False
    nofollow: bool = False
    links: tuple[FoundLink, ...] = ()
    refused: tuple[RefusedCount, ...] = ()  # links that are no URLs, or too long ones
    incomplete: tuple[str, ...] = ()
    message: str = ""
    data: tuple[DataValue, ...] = ()
    validation: Validation | None = None
    waits: bool = False  # validators and data rules are still to be asked, where the body is stored
    entries: tuple[SitemapEntry, ...] = ()  # only of what was read as a sitemap
    sitemaps: tuple[CrawlUrl, ...] = ()  # link rel=sitemap
    fragments: tuple[FoundLink, ...] | None = None  # the first link for each fragment of a URL; None: not wanted
    anchors: tuple[str, ...] | None = None  # what a fragment may name here; None: not known


CRAWL_DELAY = "crawl_delay_ms"
ERROR_BODY = "error_body"
"""The body of an error or a redirect: compressed (zlib), as base64."""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """A typed result of an attempt (B). `type`: status_code, final_url, outlinks, requisites, custom_js, error_body,
    and of a robots.txt crawl_delay_ms; its id is made of the attempt and the type: storing it twice changes nothing."""

    type: str
    value: str


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One entry of the append-only crawl log (`v_attempt`). Times are epoch ms; `page_id` is None for robots.txt."""

    origin: str
    url: str
    kind: AttemptKind
    exit_code: ExitCode
    started_at: int
    ended_at: int
    page_id: int | None = None
    http_status: int | None = None
    response_ms: int | None = None
    bytes: int = 0
    requests: tuple[RequestRecord, ...] = ()
    patience_before: int = 0
    patience_after: int = 0
    politeness_after: int = 0
    delay_ms_after: int = 0
    delay_reason: str = ""
    new_pages: int = 0
    message: str = ""
    decided_by: str = ""  # for a refusal: file:line and pattern, or the robots.txt line
    cut: tuple[str, ...] = ()
    ruleset_id: int = 0  # the ruleset the attempt began with (B), 0 when there was none
    results: tuple[AttemptResult, ...] = ()


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """The state of a page after an attempt. `forget_ignored` takes it off the ignore list of this run (U)."""

    page_id: int
    status: PageStatus
    attempts: int
    attempts_remaining: int
    exit_code: ExitCode
    http_status: int | None
    crawled_at: int
    contentful: bool
    forget_ignored: bool = False
    stays: bool = False  # a check that GET has to decide: it keeps its place on the todo list and has not failed yet
    fresh_until: int = 0  # HTTP freshness as epoch ms, 0 when none was given
    depth: int | None = None  # the depth from which the depths of the found pages were counted
    unscanned: bool = False  # without a document it names URLs that wait for the offline mode (M)
    unlinks: bool = False  # it is gone or refused: its links, fragments and redirects are deleted
    sitemap: bool = False  # it is one, which may have shown when it was read


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A page's document: replaced as a whole by each contentful crawl (G, U). `body` None: metadata only."""

    page_id: int
    kind: str
    content_type: str
    charset: str
    title: str
    sha256: str
    size: int
    etag: str = ""
    last_modified: str = ""
    cache_control: str = ""
    expires: str = ""
    age: str = ""
    content_location: str = ""
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False
    incomplete: tuple[str, ...] = ()
    body: bytes | None = None
    validation: Validation | None = None
    data: tuple[DataValue, ...] = ()
    waits: bool = False  # validators and data rules come later, to the stored body
    scanned: bool = False  # its links were queued; otherwise they wait for the offline mode (M)


@dataclass(frozen=True, slots=True)
class WaitingDocument:
    """A stored document that waits for validators and data rules; `packed` is its body of `size` bytes (zstd)."""

    page_id: int
    url: str
    sha256: str
    content_type: str
    charset: str
    size: int
    packed: bytes


@dataclass(frozen=True, slots=True)
class RedirectRecord:
    """A redirect of a page (`v_redirect`); the fragment of the target is kept here only."""

    to_url: str
    to_fragment: str
    permanent: bool
    source: RedirectSource


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """robots.txt of an origin as it is kept. Times are epoch ms. `status` is a name of RobotsStatus."""

    status: str
    http_status: int | None
    fetched_at: int
    expires_at: int
    body: bytes
    crawl_delay_ms: int | None


@dataclass(frozen=True, slots=True)
class OriginRecord:
    """The durable part of an origin crawler, written with every attempt. `next_request_at` is epoch ms."""

    origin: str
    finish_reason: str
    paused: bool
    patience: int
    politeness: int
    may_fall: bool
    rate_limits: int
    delay_ms: int
    delay_reason: str
    operator_delay_ms: int
    next_request_at: int
    last_request_at: int
    last_response_ms: int
    response_window: tuple[int, ...] = ()
    asleep_until: int = 0
    robots: RobotsRecord | None = None
    in_flight_url: str = ""


@dataclass(frozen=True, slots=True)
class Settle:
    """Everything one attempt changes: ONE transaction (G).

    `links` None leaves the stored links as they are (not modified, failures); a tuple replaces them by a diff. So do
    `fragments` with `anchors`, what a fragment may name on the page.
    `drop_document` removes the stored document (not_canonical, noindex). `claim` is the answer, to be kept aside, of a
    page whose canonical URL belongs to the crawl. `ignores`: the page names a canonical URL that leads nowhere.
    The page leaves the todo list and is no longer CLAIMED, unless the attempt was cancelled: then it keeps its place.
    """

    attempt: AttemptRecord
    origin: OriginRecord
    page: PageOutcome | None = None
    document: DocumentRecord | None = None
    drop_document: bool = False
    links: tuple[FoundLink, ...] | None = None
    fragments: tuple[FoundLink, ...] | None = None
    anchors: tuple[str, ...] | None = None
    new_pages: tuple[NewPage, ...] = ()
    redirect: RedirectRecord | None = None
    refused: tuple[RefusedCount, ...] = ()
    save_robots: bool = False
    claim: Exchange | None = None
    ignores: bool = False

    @property
    def body(self) -> bytes | None:
        """The body that is to be stored, if any."""
        kept = self.document or self.claim
        return None if kept is None else kept.body


@dataclass(frozen=True, slots=True)
class FillRecord:
    """The outcome of a fill: what went on the ignore list, what became the todo list (in order), what was refused."""

    origin: OriginRecord
    ignored: tuple[int, ...]
    todo: tuple[int, ...]
    refusals: tuple[Settle, ...] = field(default=())
