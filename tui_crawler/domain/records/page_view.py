"""Pages and links as reports show them: one URL whole, lists of them, what failed and what was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.domain.record import dataclass, field

if TYPE_CHECKING:
    from tui_crawler.domain.records.attempt import DataValue, RequestRecord, Validation
    from tui_crawler.domain.records.view import AttemptView


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
    size: int | None = None  # of the body, bytes; None where nothing was stored
    title: str = ""
    sha256: str = ""
    message: str = ""
    recoverable: bool = False
    validation_type: str = ""
    valid: int | None = None  # 0 or 1; None until a validator has looked at it
    took_ms: int | None = None  # of the last attempt; None until there was one, and where it made no request
    external: int = 0  # 1: it is checked only
    ignored_in: int = 0  # the run whose ignore list it is on; 0: on none, or on a todo list
    incomplete: str = ""  # names of `domain.cut`, with commas


@dataclass(frozen=True, slots=True)
class LinkView:
    """A row of `v_link`."""

    from_url: str
    to_url: str
    kind: str
    nofollow: bool
    text: str
    first_seen_at: int
    frame: bool = False

    @property
    def shown_kind(self) -> str:
        """Its kind as a person reads it."""
        return "frame" if self.frame else self.kind


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the path from a seed: how `from_url` led to `to_url`, when first, and the depth it has there."""

    from_url: str
    to_url: str
    kind: str
    depth: int
    first_seen_at: int = 0


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
    """The number of attempts with an exit code: in the newest run, and in the last five minutes."""

    exit_code: str
    run: int
    recent: int


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failed pages with one key. `key` holds name and value pairs of the grouping, in its order. `found` of them hold
    what was looked for (0 also where nothing was).

    `recoverable` of them can recover (`domain.recovery`). `recent` of them failed last in the last five minutes.
    `trend` has the same for the twelve spans of five minutes up to the present one, that one last. `origins` are the
    pages of each origin, most pages first.
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
    found: int = 0


@dataclass(frozen=True, slots=True)
class FailureCount:
    """Failed pages in groups, the largest first: `looked_at` of the `failed` that there are were counted."""

    groups: tuple[FailureGroup, ...]
    looked_at: int
    failed: int


@dataclass(frozen=True, slots=True)
class PageDetail:
    """One URL, whole: its row, attempts (newest first), their requests, links, and the path from a seed.

    `validation` and `data` are of the stored document. `lastmod` is what a sitemap says of it, `sitemap` that it is one
    itself, `ruleset_id` the rules its last attempt began with (0: none).
    """

    page: PageView
    attempts: tuple[AttemptView, ...]
    requests: tuple[RequestRecord, ...]
    inlinks: tuple[LinkView, ...]
    outlinks: tuple[LinkView, ...]
    redirects: tuple[RedirectView, ...]
    path: tuple[Hop, ...]
    inlink_count: int = 0
    outlink_count: int = 0
    validation: Validation | None = None
    data: tuple[DataValue, ...] = ()
    lastmod: int = 0
    sitemap: bool = False
    ruleset_id: int = 0


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """A link with what is known of its other end: title, exit code (a name; empty: never tried), how it goes on.

    `after` is where the next window of links begins."""

    link: LinkView
    title: str
    exit_code: str
    after: tuple[int, str]


@dataclass(frozen=True, slots=True)
class Referrer:
    """A page that names a URL: its URL, how (a kind of link, the source of a redirect, or sitemap), and the text of
    the link as it was crawled. `chain`: the redirects between, the one that is named first."""

    url: str
    kind: str
    text: str
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Referrers:
    """The first of those that name a URL, the oldest page first; `more` of them were left out."""

    first: tuple[Referrer, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A URL that is named and cannot be had. `exit_code` is a name, `http_status` None where there was no answer."""

    url: str
    exit_code: str
    http_status: int | None
    referrers: Referrers
    fragment: str = ""  # not empty: the page can be had, what is looked for on it is not there
    external: bool = False  # it leaves the crawl
    leads_to: tuple[str, ...] = ()  # a circle of redirects: what follows, up to the URL itself


@dataclass(frozen=True, slots=True)
class RefusedView:
    """A row of `v_refused`."""

    origin: str
    reason: str
    count: int
    sample_url: str


@dataclass(frozen=True, slots=True)
class OriginHistory:
    """The past of one origin for its screen, newest first."""

    patience: tuple[AttemptView, ...]  # attempts that cost patience
    delays: tuple[AttemptView, ...]  # attempts after which the delay was another one
    refused: tuple[RefusedView, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """Attempts that rules refused with the same words: the newest of them, how many, and by which versions."""

    exit_code: str
    decided_by: str
    message: str
    count: int
    last_at: int
    sample_url: str
    first_ruleset: int
    last_ruleset: int


@dataclass(frozen=True, slots=True)
class RefusalCounts:
    """The refusals by rules among the newest `looked_at` attempts of the log, which has `known` of them."""

    rows: tuple[RefusalCount, ...]
    looked_at: int
    known: int
