"""A whole configuration: the frozen value, the table of all its keys, and those of its data rules (R)."""

# ruff: noqa: RUF009 (key, need and section make dataclass fields, as dataclasses.field does)

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from tui_crawler.config import sections
from tui_crawler.config.database import Database, DatabaseName
from tui_crawler.config.kinds import THEMES, Keymap, Nullable, OneOf, Regex, Text, ValueKind, text_kind
from tui_crawler.config.policies import EXCLUSIONS, POLICIES, RULES, WHITELIST, PoliciesConfig
from tui_crawler.config.problem import BadValue, ConfigProblem, SourcePlace
from tui_crawler.config.reader import ConfigReader
from tui_crawler.config.sections import SEEDS, HostConfig, JobConfig, SiteConfig
from tui_crawler.config.table import ConfigKey, ListOf, Table, key, need, places_of, section, table_of
from tui_crawler.config.tree import Node
from tui_crawler.config.web_kinds import host_kind, origin_kind, user_agent_kind
from tui_crawler.domain.records.content_kind import DataRule, DataType
from tui_crawler.domain.records.status_words import UNCONFIGURED_USER_AGENT
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import PolicySet, Rule, Whitelist

DEFAULT = "default"
_EXPRESSIONS = ("css", "xpath", "regex")
_LONGEST = 2000  # characters of an expression


@text_kind("a CSS selector such as img.photo::attr(src)", minLength=1, maxLength=_LONGEST)
def css_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """A CSS selector, with parsel's `::text` and `::attr(name)`."""
    from cssselect import SelectorError  # noqa: PLC0415  large, and few crawls take data out of pages
    from parsel.csstranslator import HTMLTranslator  # noqa: PLC0415  the same

    _check_length(text, node, css_kind)
    try:
        HTMLTranslator().css_to_xpath(text)
    except (SelectorError, RecursionError) as error:
        raise BadValue(node.mark, f"not a CSS selector: {error}") from None
    return text


@text_kind("an XPath expression such as //img/@src", minLength=1, maxLength=_LONGEST)
def xpath_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """An XPath 1.0 expression."""
    from lxml import etree  # noqa: PLC0415  large, and few crawls take data out of pages

    _check_length(text, node, xpath_kind)
    try:
        etree.XPath(text)
    except (etree.XPathError, ValueError) as error:
        raise BadValue(node.mark, f"not an XPath expression: {error}") from None
    return text


def _check_length(text: str, node: Node, kind: ValueKind) -> None:
    if not 1 <= len(text) <= _LONGEST:
        raise BadValue(node.mark, f"expected {kind.accepts}, of 1 to {_LONGEST} characters")


def _build_data_rule(values: Mapping[str, Any], mark: SourcePlace) -> DataRule:
    given = [name for name in _EXPRESSIONS if values[name] is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise BadValue(mark, f"expected one of {', '.join(_EXPRESSIONS)}, found {found}", "one rule for each")
    return DataRule(**values, source=mark.place)


_DATA_RULE_KEYS = (
    ConfigKey("host", host_kind, "The host whose pages are read.", required=True),
    ConfigKey("name", Text("a name"), "Name of the data block.", required=True),
    ConfigKey("type", OneOf(get_args(DataType)), "What the values are.", required=True),
    ConfigKey("css", Nullable(css_kind), "CSS selector, with ::text or ::attr(name)."),
    ConfigKey("xpath", Nullable(xpath_kind), "XPath expression."),
    ConfigKey("regex", Nullable(Regex()), "Regular expression; its first group, else the whole match."),
)
DATA_RULES = ListOf(Table(_DATA_RULE_KEYS, _build_data_rule), "data rules")
"""What is taken out of the pages of a host."""


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration that was accepted. Durations are integer ms, sizes integer bytes, None is "no limit".

    `seeds` are as they were written. `file` is the path of the configuration, empty for `config_from_seeds`.
    `sources` pairs each given key with its place (`file:line`, "command line"); what is not in it is a default.
    `impolite_everywhere` is the command line's `--allow-impolite`: without it `delay.floor_ms` and
    `delay.average.floor_ms` below 1000 apply to `own_sites` only, and with `allow_impolite` to loopback origins.
    `text` is what was read, as it may be stored: without secrets.
    """

    seeds: tuple[str, ...] = need(SEEDS, "Where the crawl begins; their origins are crawled.")
    name: str = key(Text("a name"), "", "Name of the crawl and of its job; by default the file's name.")
    description: str = key(Text("a text", 10_000, 0, lines=True), "", "What the crawl is for.")
    user_agent: str = key(
        user_agent_kind,
        UNCONFIGURED_USER_AGENT,
        "User-Agent header, best {project}-crawler (for {url that explains it}).",
    )
    database: Database = key(
        DatabaseName(), Database(""), "The database, relative to this file; by default its name with .db."
    )
    sites: tuple[SiteConfig, ...] = key(ListOf(table_of(SiteConfig), "sites"), (), "Settings of one origin each.")
    own_sites: tuple[str, ...] = key(
        ListOf(origin_kind, "origins"),
        (),
        "Origins that are yours: delays below 1s, obey_robots and obey_nofollow: false are accepted for these.",
    )
    crawl: sections.CrawlConfig = section(sections.CrawlConfig, "What is crawled, how often, how far.")
    delay: sections.DelayConfig = section(sections.DelayConfig, "How long an origin is left alone after a request.")
    robots: sections.RobotsConfig = section(sections.RobotsConfig, "How robots.txt is kept.")
    network: sections.NetworkConfig = section(sections.NetworkConfig, "Limits of one request.")
    reading: sections.ReadingConfig = section(sections.ReadingConfig, "How much is read of what was fetched.")
    storage: sections.StorageConfig = section(sections.StorageConfig, "What is kept, and how safely.")
    seen_index: sections.SeenIndexConfig = section(sections.SeenIndexConfig, "How offline mode knows URLs it has seen.")
    queue: sections.QueueConfig = section(sections.QueueConfig, "Segments of offline mode.")
    hosts: tuple[HostConfig, ...] = key(ListOf(table_of(HostConfig), "hosts"), (), "Settings of one host each.")
    worker: sections.WorkerConfig = section(sections.WorkerConfig, "Who crawls.")
    alarms: sections.AlarmsConfig = section(
        sections.AlarmsConfig, "Alarms that are sent to programs and shown by the terminal."
    )
    policies: PoliciesConfig = key(POLICIES, PoliciesConfig(), "What is never requested, and which queries may be.")
    exclusions: tuple[Exclusion, ...] = key(
        EXCLUSIONS, (), "The exclusion list. It overrides everything else; each entry is of one kind."
    )
    whitelist: Whitelist | None = key(WHITELIST, None, "Hosts that may join the crawl, and patterns URLs must match.")
    rules: tuple[Rule, ...] = key(RULES, (), "Settings for URLs; of all that match, the last value given wins.")
    data_rules: tuple[DataRule, ...] = key(DATA_RULES, (), "What is extracted from pages; one expression each.")
    jobs: tuple[JobConfig, ...] = key(
        ListOf(table_of(JobConfig), "jobs", most=10_000), (), "More jobs than the one named after the crawl."
    )
    keymap: tuple[tuple[str, str], ...] = key(
        Keymap(Text("a key such as p or ctrl+s"), "a mapping of actions to keys"),
        (),
        "Keys of the console by action, such as `{origin.stop: ctrl+x, origin.tree: o b}`; several with commas, or "
        "`none`.",
    )
    theme: str = key(OneOf(THEMES), "textual-dark", "Theme of the console; where none is given, the first.")
    file: str = ""
    text: str = field(default="", repr=False, compare=False)
    sources: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    warnings: tuple[ConfigProblem, ...] = field(default=(), compare=False)
    impolite_everywhere: bool = False

    @property
    def policy_set(self) -> PolicySet:
        """Policies, exclusions, whitelist and rules as the domain takes them (rules of jobs not among them)."""
        return PolicySet(
            self.policies.do_not_crawl, self.policies.url_query_parameters, self.exclusions, self.whitelist, self.rules
        )

    def source_of(self, key: str) -> str:
        """Return where a dotted key was given: `file:line`, "command line", or "default"."""
        return dict(self.sources).get(key, DEFAULT)


ROOT = table_of(Config)
PLACES = places_of(ROOT)
