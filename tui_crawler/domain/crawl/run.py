"""A run: one invocation of the crawler, from its start until exhausted or stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.domain.record import dataclass, field

if TYPE_CHECKING:
    from tui_crawler.domain.crawl.job import JobPlan, JobState
    from tui_crawler.domain.records.attempt import OriginRecord
    from tui_crawler.domain.records.page import NewPage, TodoPage
    from tui_crawler.domain.rules.policy import PolicySet
    from tui_crawler.domain.rules.ruleset import Ruleset


def _no_rules() -> PolicySet:
    from tui_crawler.domain.rules.policy import EMPTY  # noqa: PLC0415  the failures below are needed sooner than rules

    return EMPTY


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The plan of a run, for the store. `config_text` is the effective configuration (YAML or JSON text, and what the
    command line said behind COMMAND_LINE_MARK), kept for later.

    `new_run` ends a run that could be continued. `force_recrawl` makes every done page due once per run, without
    conditions unless it is a `recheck`. `seeds` are normalised and admitted; every origin of them joins, as
    do those of `jobs`, the jobs beside the one named `job`. `policies` hold for every job; `start_paths` are pairs
    of origin and path (G). A page whose URL has more than `max_url_length` characters is refused. With several
    `workers` each leases origins; one that `joins` takes part in the live run, one that `may_join` in that or, where
    nobody is at work, goes on with the last run, which others may join.
    """

    config_name: str
    user_agent: str
    job: str
    seeds: tuple[NewPage, ...]
    max_in_flight: int
    tries: int
    patience: int
    start_politeness: int
    recrawl_interval_ms: int
    new_run: bool = False
    force_recrawl: bool = False
    recheck: bool = False
    respect_http_freshness: bool = True
    max_requests: int | None = None
    max_depth: int | None = None
    config_text: str = ""
    worker: str = ""
    tags: tuple[str, ...] = ()
    matchonly: bool = False
    workers: int = 1
    joins: bool = False
    may_join: bool = False
    jobs: tuple[JobPlan, ...] = ()
    policies: PolicySet = field(default_factory=_no_rules)
    start_paths: tuple[tuple[str, str], ...] = ()
    max_url_length: int = 2048
    note: str = ""  # what the machine does not allow of it, in words
    check_external: bool = False
    finds_sitemaps: bool = False
    unverified: int = 0  # hosts whose certificates are not verified; -1: any
    crawl_settings: str = ""  # `SettingsByOrigin` as JSON, as the session keeps it
    keep_runs: int = 2  # so many runs can be compared

    @property
    def shared(self) -> bool:
        """Return whether several workers may crawl the run, each the origins it leases."""
        return self.workers > 1 or self.joins or self.may_join


@dataclass(frozen=True, slots=True)
class StoredOrigin:
    """An origin as the database has it: the durable state, the todo list in order, and known pages. `seeded`: a seed
    of a job is a page of it. `external`: links that leave the crawl lead there; it is not crawled."""

    record: OriginRecord
    todo: tuple[TodoPage, ...] = ()
    pages_known: int = 0
    done: int = 0
    failed: int = 0
    handed_on: bool = False  # another worker of this run held it before
    unclean: bool = False  # that worker did not end in order: a request may have been in flight
    seeded: bool = False
    external: bool = False
    start_path: str = ""


@dataclass(frozen=True, slots=True)
class RunStart:
    """The begun run, as the store returns it: the run, whether it continues one that was killed, and the origins.

    `unclean` is set when the former owner did not end cleanly: each origin that may have had a request in flight
    then waits one full delay first. `requests` counts the requests of the run so far (a continued run has some).
    """

    run_id: int
    continued: bool
    unclean: bool
    origins: tuple[StoredOrigin, ...]
    requests: int = 0
    notes: tuple[str, ...] = field(default=())
    config_text: str = ""
    jobs: tuple[JobState, ...] = ()
    rulesets: tuple[Ruleset, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """The effect of a committed attempt: pages by origin that are new or came out of a stash, and the counters of its
    own origin afterwards."""

    new_pages: tuple[tuple[str, int], ...] = ()
    pending: int = 0
    done: int = 0
    failed: int = 0
    blocked: int = 0
    stolen: bool = False  # another worker has taken the page: only someone_stole_my_work was stored
