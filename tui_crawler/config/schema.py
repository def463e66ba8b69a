"""A whole configuration: the frozen value, and the table of all its keys."""

# ruff: noqa: RUF009 (key, need and section make dataclass fields, as dataclasses.field does)

from __future__ import annotations

from dataclasses import dataclass, field

from tui_crawler.config.data_rules import DATA_RULES
from tui_crawler.config.database import Database, DatabaseName
from tui_crawler.config.kinds import KEY_PRESETS, THEMES, Choice, Keymap, Pairs, Text
from tui_crawler.config.policies import EXCLUSIONS, POLICIES, RULES, WHITELIST, PoliciesConfig
from tui_crawler.config.problem import ConfigProblem
from tui_crawler.config.sections import (
    SEEDS,
    CrawlConfig,
    DelayConfig,
    HostConfig,
    JobConfig,
    NetworkConfig,
    QueueConfig,
    ReadingConfig,
    RobotsConfig,
    SeenIndexConfig,
    SiteConfig,
    StorageConfig,
    WorkerConfig,
)
from tui_crawler.config.table import ListOf, key, need, places_of, section, table_of
from tui_crawler.config.web_kinds import UserAgent
from tui_crawler.domain.data_rule import DataRule
from tui_crawler.domain.policy import Exclusion, PolicySet, Rule, Whitelist
from tui_crawler.domain.user_agent import UNCONFIGURED_USER_AGENT

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration that was accepted. Durations are integer ms, sizes integer bytes, None is "no limit".

    `seeds` are as they were written. `file` is the path of the configuration, empty for `config_from_seeds`.
    `sources` pairs each given key with its place (`file:line`, "command line"); what is not in it is a default.
    `impolite_everywhere` is the command line's `--allow-impolite`: without it `delay.floor_ms` and
    `delay.average.floor_ms` below 1000 hold for loopback origins only. `text` is what was read, as it may be stored:
    without secrets.
    """

    seeds: tuple[str, ...] = need(SEEDS, "Where the crawl begins; their origins are crawled.")
    name: str = key(Text("a name"), "", "Name of the crawl and of its job; by default the file's name.")
    description: str = key(Text("a text", 10_000, 0, lines=True), "", "What the crawl is for.")
    user_agent: str = key(
        UserAgent(), UNCONFIGURED_USER_AGENT, "User-Agent header, best {project}-crawler (for {url that explains it})."
    )
    database: Database = key(
        DatabaseName(), Database(""), "The database, relative to this file; by default its name with .db."
    )
    sites: tuple[SiteConfig, ...] = key(ListOf(table_of(SiteConfig), "sites"), (), "Settings of one origin each.")
    crawl: CrawlConfig = section(CrawlConfig, "What is crawled, how often, how far.")
    delay: DelayConfig = section(DelayConfig, "How long an origin is left alone after a request.")
    robots: RobotsConfig = section(RobotsConfig, "How robots.txt is kept.")
    network: NetworkConfig = section(NetworkConfig, "Limits of one request.")
    reading: ReadingConfig = section(ReadingConfig, "How much is read of what was fetched.")
    storage: StorageConfig = section(StorageConfig, "What is kept, and how safely.")
    seen_index: SeenIndexConfig = section(SeenIndexConfig, "How offline mode knows URLs it has seen.")
    queue: QueueConfig = section(QueueConfig, "Segments of offline mode.")
    hosts: tuple[HostConfig, ...] = key(ListOf(table_of(HostConfig), "hosts"), (), "Settings of one host each.")
    worker: WorkerConfig = section(WorkerConfig, "Who crawls.")
    policies: PoliciesConfig = key(POLICIES, PoliciesConfig(), "What is never requested, and which queries may be.")
    exclusions: tuple[Exclusion, ...] = key(
        EXCLUSIONS, (), "The exclusion list. It overrides everything else; each entry is of one kind."
    )
    whitelist: Whitelist | None = key(WHITELIST, None, "Hosts that may join the crawl, and patterns URLs must match.")
    rules: tuple[Rule, ...] = key(RULES, (), "Settings for URLs; of all that match, the last value given wins.")
    data_rules: tuple[DataRule, ...] = key(DATA_RULES, (), "What is taken out of pages; one expression each.")
    jobs: tuple[JobConfig, ...] = key(
        ListOf(table_of(JobConfig), "jobs", most=10_000), (), "More jobs than the one named after the crawl."
    )
    keymap: tuple[tuple[str, str], ...] = key(
        Keymap(Pairs(Text("a key such as p or ctrl+s"), "a mapping of actions to keys"), Choice(KEY_PRESETS)),
        (),
        "Keys of the console by action, such as `{preset: vim, origin.stop: ctrl+x}`; several with commas, or `none`.",
    )
    theme: str = key(Choice(THEMES), "textual-dark", "Theme of the console; where none is given, the first.")
    file: str = ""
    text: str = field(default="", repr=False, compare=False)
    sources: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    warnings: tuple[ConfigProblem, ...] = field(default=(), compare=False)
    impolite_everywhere: bool = False

    @property
    def policy_set(self) -> PolicySet:
        """Policies, exclusions, whitelist and rules as the domain takes them (rules of jobs not among them)."""
        return PolicySet(
            self.policies.do_not_crawl,
            self.policies.url_query_parameters,
            self.exclusions,
            self.whitelist,
            self.rules,
        )

    def source_of(self, key: str) -> str:
        """Where a dotted key was given: `file:line`, "command line", or "default"."""
        return dict(self.sources).get(key, DEFAULT)


ROOT = table_of(Config)
PLACES = places_of(ROOT)
