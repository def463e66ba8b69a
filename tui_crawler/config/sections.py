"""The sections of a configuration: frozen values, and with them their keys, defaults, bounds and meaning.

Fields that end in `_ms` are milliseconds; their YAML key has no such ending.
"""

from typing import Literal, get_args

from tui_crawler.config import web_kinds as web
from tui_crawler.config.kinds import AutoFlag, Duration, Flag, Nullable, OneOf, Real, Size, Text, Whole, one_of
from tui_crawler.config.policies import RULES
from tui_crawler.config.table import ListOf, WordsOrAll, key, need, section, table_of
from tui_crawler.config.units import DAY, HOUR, KIB, MIB, MINUTE, SECOND, WEEK, YEAR
from tui_crawler.domain.history.alarm import AlarmKind
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.content_kind import OTHER, PAGE_KINDS, CanonicalRule, CookieMode, LinkKind, SitemapRule
from tui_crawler.domain.rules.policy import Rule

Mode = Literal["online", "offline"]
PolitenessKey = Literal["origin", "host", "registrable_domain", "ip"]
DelayModel = Literal["politeness", "running_average", "fixed"]
PrivateAddresses = Literal["auto", "always", "never"]
Durability = Literal["normal", "full"]
BodyKind = Literal["html", "xml", "css", "rss"]
SeedRedirects = Literal["same_site", "any", "never"]
SeenIndexKind = Literal["database", "memory", "bloom"]
OnFewOrigins = Literal["save_and_stop", "load_next"]

MAX_SEEDS = 1_000_000
MIN_ROBOTS_BYTES = 500 * KIB  # RFC 9309, 2.5: a crawler must read at least so much
NO_LIMIT = "no limit"
SEEDS = ListOf(web.Seed(), "http or https URLs", 1, MAX_SEEDS)


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """One site (G)."""

    origin: str = need(web.origin_kind, "The origin the setting is for.")
    start_path: str = need(web.start_path_kind, "Only URLs whose path begins with this are followed.")


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """The extent of a crawl: what, how often, how far. None means no limit."""

    mode: Mode = key(one_of(Mode), "online", "`online` queues the links it finds; `offline` stores pages only (M).")
    max_requests: int | None = key(
        Nullable(Whole(1), NO_LIMIT), None, "The run ends after this number of turns that made a request."
    )
    max_in_flight: int = key(
        Whole(1, 1000), 8, "Turns at once, over different politeness keys; 1 is plain turn-taking."
    )
    politeness_key: PolitenessKey = key(
        one_of(PolitenessKey), "origin", "What never gets two requests at once, and keeps the delay."
    )
    tries: int = key(Whole(1, 1000), 3, "Attempts of a page before it counts as failed for good.")
    patience: int = key(Whole(1, 1000), 5, "Persistent failures after which an origin stops for the run.")
    recrawl_interval_ms: int = key(
        Duration(0, 10 * YEAR), 4 * WEEK, "A page is due again after this time.", alias="shelf_life"
    )
    recheck: bool = key(Flag(), False, "Makes every page that is done due once per run, by conditional requests.")
    force_recrawl: bool = key(Flag(), False, "The same by requests without conditions: everything is fetched again.")
    respect_http_freshness: bool = key(Flag(), True, "A page is not due before its Cache-Control or Expires says so.")
    patience_reset_on_success: bool = key(Flag(), False, "A success refills the patience of its origin.")
    max_depth: int | None = key(Nullable(Whole(0), NO_LIMIT), None, "Links away from a seed; seeds have depth 0.")
    max_pages_per_origin: int | None = key(
        Nullable(Whole(1), NO_LIMIT), None, "Pages an origin may have; links beyond are refused and counted."
    )
    max_url_length: int = key(Whole(64, 65_536), 2048, "Longest URL, in characters.")
    max_redirect_hops: int = key(Whole(0, 100), 10, "Redirects in a row that are still queued.")
    follow_seed_redirects: SeedRedirects = key(
        one_of(SeedRedirects),
        "same_site",
        "Where a seed that redirects to another origin is followed, which then is crawled, too: `same_site` within its "
        "registrable domain or host, `any` everywhere, `never` nowhere.",
    )
    cookies: CookieMode = key(
        one_of(CookieMode),
        "chain",
        "Sends cookies that servers set back to them: `chain` within one chain of redirects, `origin` in the run of an "
        "origin, `off` never. They are kept in memory only.",
    )
    fluke_retry: bool = key(Flag(), True, "A failed connection is tried a second time at once.")
    obey_robots: bool = key(
        Flag(), True, "`false`: pages of own_sites are requested although robots.txt denies them; only for own_sites."
    )
    obey_nofollow: bool = key(
        Flag(),
        True,
        "`false`: noindex and nofollow (meta robots, X-Robots-Tag, rel) have no effect on own_sites; only for these.",
    )
    sitemaps: SitemapRule = key(
        one_of(SitemapRule, ("robots", "off")),
        "auto",
        "`auto` reads those that robots.txt or `link rel=sitemap` names, also on other hosts, seeds and linked files "
        "that are sitemaps, else /sitemap.xml; `robots` (true) those that robots.txt names on crawled origins.",
    )
    link_kinds_queued: tuple[str, ...] = key(
        ListOf(OneOf(tuple(kind.value for kind in PAGE_KINDS)), "link kinds", most=7),
        ("a",),
        "Kinds of link that become pages; the others are only recorded.",
    )
    follow_frames: bool = key(Flag(), True, "Frames and iframes of crawled origins become pages, as links do.")
    canonical: CanonicalRule = key(
        one_of(CanonicalRule),
        "obey",
        "A page that names another URL as canonical: `obey` queues that URL and drops the page once it has content; "
        "`same_origin` does so only within its own origin (a mirror, a staging site), `ignore` never, and both record "
        "the others.",
    )
    check_external: bool = key(
        Flag(), False, "Checks links that leave the crawl, politely: by HEAD, then GET, to the end of their redirects."
    )
    check_embedded: bool = key(
        Flag(), False, "Checks images, styles, scripts and media of pages; on other hosts only with check_external."
    )
    check_fragments: bool = key(
        Flag(), False, "Checks fragments (`#id`) of links to crawled pages against the ids of their target."
    )

    @property
    def page_kinds(self) -> frozenset[LinkKind]:
        """The kinds of link that become pages."""
        frames = self.follow_frames or LinkKind.object.value in self.link_kinds_queued
        return frozenset([*map(LinkKind, self.link_kinds_queued), *([LinkKind.frame] if frames else [])])


@dataclass(frozen=True, slots=True)
class AverageConfig:
    """The running-average model of the delay (M)."""

    window: int = key(Whole(1, 1000), 5, "Requests the mean is taken over.")
    factor: float = key(Real(0.0, 1000.0), 1.0, "The delay is the mean total time multiplied by this.")
    initial_ms: int = key(Duration(0, DAY), 60 * SECOND, "The delay after the first request to an origin.")
    floor_ms: int = key(Duration(0, DAY), 15 * SECOND, "The least delay of this model.")


@dataclass(frozen=True, slots=True)
class DelayConfig:
    """The delay between two requests to an origin."""

    model: DelayModel = key(
        one_of(DelayModel),
        "politeness",
        "`politeness`: response time × 2^politeness (U); `running_average` (M); `fixed`: the least delay.",
    )
    default_ms: int = key(Duration(0, WEEK), SECOND, "The least delay where robots.txt has no Crawl-delay.")
    floor_ms: int = key(
        Duration(0, WEEK), SECOND, "No delay is shorter. Below 1s only for own_sites; on loopback, with allow_impolite."
    )
    crawl_delay_cap_ms: int | None = key(
        Nullable(Duration(0, YEAR), "obeying any"), 120 * SECOND, "The longest Crawl-delay that is obeyed in full."
    )
    max_ms: int = key(
        Duration(0, YEAR), 180 * SECOND, "No delay is longer, unless Crawl-delay or default ask for more."
    )
    retry_after_max_ms: int = key(
        Duration(0, YEAR), 180 * SECOND, "A longer Retry-After ends the run of its origin as rate_limited."
    )
    start_politeness: int = key(Whole(0, 20), 2, "The politeness an origin begins with.")
    max_politeness: int = key(Whole(0, 20), 11, "The highest politeness that 429 responses set.")
    average: AverageConfig = section(AverageConfig, "Settings of the model `running_average`.")
    allow_impolite: bool = key(
        Flag(), False, "Allows floors below 1s; for origins that are not loopback only with --allow-impolite as well."
    )


@dataclass(frozen=True, slots=True)
class RobotsConfig:
    """Expiry and size of robots.txt."""

    expiry_ms: int = key(Duration(SECOND, DAY), 30 * MINUTE, "robots.txt is fetched again after this time.")
    max_bytes: int = key(Size(KIB, 16 * MIB), 512_000, "Bytes of robots.txt that are read (cut: body).")


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """Limits of one request."""

    connect_timeout_ms: int = key(Duration(1, HOUR), 10 * SECOND, "Longest wait for a connection.")
    read_timeout_ms: int = key(Duration(1, HOUR), 30 * SECOND, "Longest silence of a server.")
    total_timeout_ms: int = key(Duration(1, DAY), 60 * SECOND, "Longest exchange from first to last byte.")
    max_body_bytes: int = key(
        Size(KIB, 1024 * MIB),
        10 * MIB,
        "Longest body, decoded and on the wire (chunk framing: an eighth more, and 64 KiB); a longer one is not kept.",
    )
    max_header_bytes: int = key(
        Size(KIB, 16 * MIB),
        64 * KIB,
        "Longest header of a response; one with a longer is not understood (cut: headers).",
    )
    proxy: str | None = key(Nullable(web.proxy_kind, "no proxy"), None, "HTTP proxy for all requests.")
    allow_private_addresses: PrivateAddresses = key(
        AutoFlag(("auto",), ("always", "never")),
        "auto",
        "Requests to private and loopback addresses; `auto`: only where a seed itself names such a host, also one that "
        "was added later.",
    )
    ca_file: str | None = key(
        Nullable(web.certificate_kind, "none"),
        None,
        "Certificates that are trusted in addition to the system's and the packaged ones.",
    )
    verify: bool = key(
        Flag(), True, "Certificates are verified; `false` is shown as a warning all the time. Better is `ca_file`."
    )


@dataclass(frozen=True, slots=True)
class ReadingConfig:
    """Bounds of reading a body. What is left out is reported, by the names in the meanings of the keys."""

    max_input_bytes: int = key(Size(KIB, 1024 * MIB), 4 * MIB, "Bytes of a page that are parsed (cut: input).")
    max_tags: int = key(Whole(100, 100_000_000), 250_000, "Tags of a page that are parsed (cut: tags).")
    max_tag_bytes: int = key(
        Size(KIB, 16 * MIB), 64 * KIB, "Bytes of a tag that are read: a longer one loses its longest attributes."
    )
    max_tag_attributes: int = key(Whole(10, 100_000), 1_000, "Attributes of a tag that are still read (cut: tag).")
    max_links: int = key(Whole(1, 10_000_000), 10_000, "Different links of a page that are kept (cut: links).")
    max_title_bytes: int = key(Size(16, MIB), KIB, "Bytes of a title that are kept (cut: title).")
    max_sitemap_bytes: int = key(Size(KIB, 1024 * MIB), 50 * MIB, "Bytes of a sitemap, unpacked (cut: sitemap).")
    max_sitemap_urls: int = key(Whole(1, 10_000_000), 50_000, "URLs of one sitemap that are taken (cut: urls).")
    max_data_values: int = key(Whole(1, 10_000_000), 1_000, "Values of one data rule on a page (cut: data).")
    max_data_chars: int = key(Whole(1, 10_000_000), 10_000, "Characters of one; of a page 100 times that (cut: data).")
    data_deadline_ms: int = key(Duration(1, HOUR), 5 * SECOND, "Longest work of the data rules on a page (cut: data).")
    parse_deadline_ms: int = key(
        Duration(1, HOUR), MINUTE, "The last defence: a body that takes longer to read is left there (cut: deadline)."
    )


@dataclass(frozen=True, slots=True)
class StorageConfig:
    """The stored part of a crawl, and how safely it is stored."""

    store_bodies: tuple[str, ...] = key(
        WordsOrAll((*get_args(BodyKind), OTHER), "kinds of document"),
        get_args(BodyKind),
        "Kinds of document whose body is stored; `other` is all else (pictures, PDF, scripts), which is otherwise left "
        "on the wire once their head has come.",
    )
    validate: tuple[BodyKind, ...] = key(
        ListOf(one_of(BodyKind), "kinds of document", most=4),
        get_args(BodyKind),
        "Kinds of document that are checked for errors (G); none reads pages faster.",
    )
    durability: Durability = key(
        one_of(Durability), "normal", "`full` also keeps the last commits through a power loss; slower."
    )
    lease_ms: int = key(
        Duration(5 * SECOND, HOUR), 30 * SECOND, "A worker without a heartbeat for this long loses its origins."
    )
    limbo_ms: int = key(Duration(MINUTE, YEAR), DAY, "Pages claimed longer than this are listed for the operator.")
    keep_runs: int = key(
        Whole(1, 100),
        2,
        "How many runs, the newest ones, can be compared (tui-crawler diff): of each but the oldest, what it "
        "changed is kept in its previous state, at no cost for a page that stayed the same (docs/performance.md);"
        " 1 keeps nothing.",
    )
    warc: str | None = key(
        Nullable(web.folder_kind),
        None,
        "A folder, relative to this file, for web archives (WARC) of every response as it came (docs/archive.md).",
    )


@dataclass(frozen=True, slots=True)
class SeenIndexConfig:
    """The index of seen URLs of offline mode (M)."""

    kind: SeenIndexKind = key(one_of(SeenIndexKind), "database", "`database` and `memory` are exact.")
    capacity: int = key(Whole(1, 10_000_000_000), 10_000_000, "URLs the Bloom filter is made for.")
    error_rate: float = key(Real(1e-9, 0.5), 0.001, "Share of new URLs a full Bloom filter takes for known ones.")


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """Segments of offline mode (M)."""

    segment_urls: int = key(Whole(1, 10_000_000), 50_000, "URLs in one segment.")
    min_origins: int = key(Whole(0, 1_000_000), 0, "With fewer unfinished origins than this, `on_few_origins` happens.")
    on_few_origins: OnFewOrigins = key(
        one_of(OnFewOrigins), "save_and_stop", "Save the rest as a segment and stop, or load the next one."
    )


@dataclass(frozen=True, slots=True)
class BasicAuth:
    """Credentials of the Basic scheme (RFC 7617)."""

    user: web.Secret = need(web.USER, "The user name.")
    password: web.Secret = need(web.PASSWORD, "The password.")


@dataclass(frozen=True, slots=True)
class HostConfig:
    """Settings of one host; the entry of the origin wins, then that with the port. None: as elsewhere."""

    host: str = need(web.host_entry_kind, "The host on every port, the host on one port, or an origin.")
    default_delay_ms: int | None = key(
        Nullable(Duration(0, WEEK), "delay.default"), None, "Takes the place of delay.default."
    )
    ca_file: str | None = key(
        Nullable(web.certificate_kind, "network.ca_file"), None, "Takes the place of network.ca_file."
    )
    verify: bool | None = key(Nullable(Flag(), "network.verify"), None, "Takes the place of network.verify.")
    headers: tuple[tuple[str, web.Secret], ...] = key(
        web.HEADERS,
        (),
        "Sent with every request to this host, of a plain host name to its https origin only; never stored or shown.",
    )
    cookies: tuple[tuple[str, web.Secret], ...] = key(web.COOKIES, (), "Sent likewise, always exactly as written.")
    basic_auth: BasicAuth | None = key(
        Nullable(table_of(BasicAuth, quiet=True), "none"), None, "User name and password, sent likewise."
    )


@dataclass(frozen=True, slots=True)
class AlarmsConfig:
    """Alarms for a person who looks elsewhere: by the terminal, and for the program of `--on-event`."""

    events: tuple[str, ...] = key(
        ListOf(OneOf(tuple(kind.value for kind in AlarmKind)), "events", most=len(AlarmKind)),
        tuple(kind.value for kind in AlarmKind),
        "The kinds of alarms that are sent.",
    )
    min_free_disk: int = key(
        Size(0, 1024 * 1024 * MIB), 512 * MIB, "With less free space for the database `disk_nearly_full` is sent."
    )
    title: bool = key(Flag(), True, "The title of the terminal shows how many alarms are active: `✗2 ⚠1 my-index`.")
    bell: bool = key(Flag(), True, "The bell of the terminal rings, at most every 10 s.")
    notify: bool = key(Flag(), True, "The desktop notifies, likewise, where the terminal can ask it to (OSC 9, 777).")


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """A worker (B). None: a name is made up; as many slots as `crawl.max_in_flight`."""

    name: str | None = key(Nullable(Text("a name"), "a made-up name"), None, "Readable name of the worker.")
    tags: tuple[str, ...] = key(ListOf(Text("a tag"), "tags", most=100), (), "Jobs with one of these tags come here.")
    matchonly: bool = key(Flag(), False, "Takes only jobs of its tags; otherwise untagged ones too.")
    slots: int | None = key(Nullable(Whole(1, 1000), "max_in_flight"), None, "Turns of this worker at once.")


@dataclass(frozen=True, slots=True)
class JobConfig:
    """A group of pages with its own seeds (B). `max_depth` None: that of `crawl`; `concurrency` None: no limit."""

    name: str = need(Text("a name"), "Unique name of the job.")
    seeds: tuple[str, ...] = need(SEEDS, "Where the job begins.")
    nice: int = key(Whole(-1_000_000, 1_000_000), 0, "Lower is sooner.")
    max_depth: int | None = key(Nullable(Whole(0), "crawl.max_depth"), None, "Links away from a seed of the job.")
    concurrency: int | None = key(
        Nullable(Whole(0, 1_000_000), NO_LIMIT), None, "Pages in flight over all workers; 0 pauses the job."
    )
    tag: str = key(Text("a tag", shortest=0), "", "Only workers with this tag take the job.")
    note: str = key(Text("a note", longest=2000, shortest=0), "", "For the reader.")
    rules: tuple[Rule, ...] = key(RULES, (), "Rules of this job alone, judged after the common ones.")
