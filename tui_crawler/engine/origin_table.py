"""The origins of a run as the engine holds them between turns; long lists of them change piece by piece. And who
decides over URLs in a run: one set of filters per job (B), with the operator's exclusions on top (M)."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tui_crawler.domain.crawl.intake import Intake
from tui_crawler.domain.crawl.job import JobState
from tui_crawler.domain.crawl.origin import CrawlSettings, OriginState, Takeover, record_of, restore
from tui_crawler.domain.crawl.run import RunPlan, StoredOrigin
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records.content_kind import CanonicalRule, CookieMode, LinkKind
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.page import KnownPage
from tui_crawler.domain.records.status import RobotsStatus
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.rules.admission import Admission
from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionKind
from tui_crawler.domain.rules.policy import PolicySet
from tui_crawler.domain.rules.robots import ALLOW_ALL, RobotsRules, parse_robots, product_token
from tui_crawler.domain.rules.ruleset import Ruleset
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.engine.ports import Store

_REMEMBERED = 50_000  # origins in other hands


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of an engine. `settings_of` gives the settings of one origin; `key_of` its politeness key, from the
    origin and the address of its host (only looked up when `by_address` is set). With fewer unfinished origins than
    `min_origins`, the next segment is loaded (`load_next`), or the rest is saved as one and the run ends (M)."""

    plan: RunPlan
    settings_of: Callable[[str], CrawlSettings]
    key_of: Callable[[str, str | None], str]
    by_address: bool = False
    link_kinds_queued: frozenset[LinkKind] = frozenset({LinkKind.a})
    store_bodies: frozenset[str] = frozenset({"html", "xml", "css", "rss"})
    robots_max_bytes: int = 512_000
    sitemaps: bool = True
    finds_sitemaps: bool = False
    canonical: CanonicalRule = "obey"
    check_external: bool = False
    check_embedded: bool = False
    follows: Callable[[CrawlUrl, CrawlUrl], bool] = lambda *_: False
    cookies: CookieMode = "chain"
    registrable: Callable[[str], str | None] = lambda _: None
    offline: bool = False
    min_origins: int = 0
    load_next: bool = False
    fill_limit: int = 500
    poll_ms: int = 200
    heartbeat_ms: int = 5_000


@dataclass(slots=True)
class Counts:
    """Pages of one origin by outcome, as this engine has seen them committed. A link that was only checked is no page
    done; a broken one has failed."""

    done: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class FullJobs:
    """The jobs of which no more page may be in flight, as a set that is asked for one job at a time."""

    _is_full: Callable[[int], bool]

    def __contains__(self, job_id: object) -> bool:
        return isinstance(job_id, int) and self._is_full(job_id)


class OriginTable:
    """States by origin, the filters in force, and how many pages each origin has."""

    def __init__(
        self,
        settings: EngineSettings,
        admission: Admission,
        known_pages: Callable[[int], Mapping[int, KnownPage]] = lambda _: {},
    ) -> None:
        """`known_pages`: those of a job that are known to be stored, by the hash of their URL."""
        self._known_pages, self.settings = known_pages, settings
        self.job_filters = JobFilters(admission)
        self.states: dict[str, OriginState] = {}
        self.keys: dict[str, str] = {}
        self.pages_known: dict[str, int] = {}
        self.seed_hosts: set[str] = set()
        self.token = product_token(settings.plan.user_agent)
        self.full = FullJobs(self.is_full)
        self.shared = False  # several workers crawl this run, each the origins it has leased
        self.denied: set[int] = set()  # jobs with as many pages in flight as all workers together may have
        self.idle: dict[str, None] = {}  # origins without work, which may have got some from another worker
        self._ended: Counter[tuple[FinishReason | None, bool]] = Counter()  # how origins ended, whether external
        self.in_flight: Counter[int] = Counter()  # pages by job
        self._for_agents: dict[str, tuple[bytes, dict[str, RobotsRules]]] = {}
        self.joined: dict[str, bool] = {}  # origins in other hands that take part; whether external

    def enter(self, stored: StoredOrigin, takeover: Takeover, now: Moment) -> OriginState:
        """Take an origin into the run as the database has it."""
        record = stored.record
        rules = self.rules_of(record.robots.status, record.robots.body) if record.robots else None
        settings = self.settings.settings_of(record.origin)
        state = restore(record, stored.todo, rules, settings, takeover, now, stored.external)
        self.update(state)
        self.pages_known[state.origin] = stored.pages_known
        if stored.seeded:
            self.take_seeds((state.origin,))
        if not stored.external and state.origin not in self.job_filters.main.scope.origins:
            self.job_filters.add_origin(state.origin, stored.start_path)
        return state

    def takes_part(self, origin: str, *, external: bool) -> bool:
        """Return whether an origin has joined the run (`external`: be it only for checks) and is held here, or
        remembered to be in other hands. That it has joined stays true for the rest of the run."""
        state = self.states.get(origin)
        known = self.joined.get(origin) if state is None else state.external
        return known is not None and (external or not known)

    def remember_joined(self, origins: Iterable[str], external: bool) -> None:
        """Origins that have joined, of which the database is not told again by each page that names them."""
        if len(self.joined) >= _REMEMBERED:
            self.joined.clear()
        self.joined.update((name, external and self.joined.get(name, True)) for name in origins)

    def take_seeds(self, urls: Iterable[str]) -> None:
        """The hosts of these URLs are named by seeds from now on; what is no URL is passed over."""
        self.seed_hosts.update(url.host for url in map(normalise, urls) if isinstance(url, CrawlUrl))

    def rules_of(self, status: str, body: bytes) -> RobotsRules | None:
        """The rules that a kept robots.txt stands for; None where there are none to obey."""
        if status == RobotsStatus.parsed:
            return parse_robots(body, self.token, self.settings.robots_max_bytes)
        return ALLOW_ALL if status == RobotsStatus.unavailable else None

    def rules_for(self, origin: str, agent: str | None) -> RobotsRules | None:
        """The rules of an origin for the user agent that a rule gives a page; its group of robots.txt counts then."""
        robots = self.states[origin].robots
        token = self.token if agent is None else product_token(agent)
        if token == self.token or robots.rules is None or robots.status is not RobotsStatus.parsed:
            return robots.rules
        kept = self._for_agents.get(origin)
        if kept is None or kept[0] is not robots.body:
            kept = self._for_agents[origin] = (robots.body, {})
        if token not in kept[1]:
            kept[1][token] = parse_robots(robots.body, token, self.settings.robots_max_bytes)
        return kept[1][token]

    def intake(self, job_id: int) -> Intake:
        """Return what decides over the links of a page of this job, as it stands now."""
        settings = self.settings
        return Intake(
            self.job_filters.of(job_id),
            settings.link_kinds_queued,
            self.pages_known,
            queues=not settings.offline,
            check_external=settings.check_external,
            known=self._known_pages(job_id),
            check_embedded=settings.check_embedded,
            follows=settings.follows,
            finds_sitemaps=settings.finds_sitemaps,
        )

    def is_full(self, job_id: int) -> bool:
        """Return whether no more page of this job may be in flight now (B)."""
        job = self.job_filters.jobs.get(job_id)
        if job is None or job_id in self.denied:
            return job is not None
        return job.held or (job.concurrency is not None and self.in_flight[job_id] >= job.concurrency)

    def update(self, state: OriginState) -> OriginState:
        if (former := self.states.get(state.origin)) is not None:
            self._ended[former.finished, former.external] -= 1
        self._ended[state.finished, state.external] += 1
        if state.finished is FinishReason.exhausted or state.asleep_until:
            self.idle[state.origin] = None
        else:
            self.idle.pop(state.origin, None)
        self.states[state.origin] = state
        return state

    def leave(self, origin: str) -> None:
        """The origin is in other hands from now on."""
        state = self.states.pop(origin)
        self._ended[state.finished, state.external] -= 1
        self.joined[origin] = state.external
        for known in (self.keys, self.pages_known, self.idle):
            known.pop(origin, None)

    def all_finished(self) -> bool:
        """Return whether nothing is left to do. Paused origins are not finished."""
        return not self._ended[None, False] and not self._ended[None, True]

    def all_stopped(self) -> bool:
        """Return whether every origin was stopped by the operator."""
        stopped = self._ended[FinishReason.operator, False] + self._ended[FinishReason.operator, True]
        return bool(self.states) and stopped == len(self.states)

    def are_few(self) -> bool:
        """Return whether fewer origins than `min_origins` go on. Holds from the first finished one on: a crawl of few
        may begin. Those outside the crawl do not count."""
        ended = (number for (reason, external), number in self._ended.items() if reason is not None and not external)
        return self._ended[None, False] < self.settings.min_origins and any(ended)


T = TypeVar("T")
TOGETHER = 64
"""So many origins are stored at once."""


def pieces(items: Sequence[T], size: int | None = None) -> Iterator[Sequence[T]]:
    """The items in their order, `size` (None: TOGETHER) at a time."""
    size = size or TOGETHER
    for start in range(0, len(items), size):
        yield items[start : start + size]


async def fold_origins(
    table: OriginTable, store: Store, names: Sequence[str], fold: Callable[[OriginState], OriginState]
) -> list[tuple[OriginState, OriginState]]:
    """Change the states of origins and store them; return those that are another one now, before and after. Each holds
    as soon as its piece is begun. Raises StorageFailure; what was not stored is taken back, to be done again."""
    changed: list[tuple[OriginState, OriginState]] = []
    for some in pieces(names):
        folded = [(old, fold(old)) for old in map(table.states.__getitem__, some)]
        folded = [(old, new) for old, new in folded if new != old]
        for _, new in folded:
            table.update(new)
        if not folded:
            await asyncio.sleep(0)  # among many origins others have their turn
            continue
        try:
            await store.save_origins([record_of(new) for _, new in folded])
        except StorageFailure:
            for old, new in folded:
                if table.states[new.origin] is new:
                    table.update(old)
            raise
        changed += folded
    return changed


class JobFilters:
    """The filters in force, by job. Jobs with equal rules share one compiled set."""

    def __init__(self, configured: Admission) -> None:
        self.main = configured
        """The filters of the job named after the configuration; they decide for whole origins and for robots.txt."""
        self._given = configured.policies
        self._exclusions: tuple[Exclusion, ...] = ()
        self._by_job: dict[int, Admission] = {}
        self._rulesets: dict[int, int] = {}
        self.jobs: dict[int, JobState] = {}

    def of(self, job_id: int) -> Admission:
        return self._by_job.get(job_id, self.main)

    def job_named(self, name: str) -> JobState | None:
        """A job by its name, None for an empty or unknown one."""
        return next((one for one in self.jobs.values() if one.name == name), None)

    def named(self, name: str) -> Admission:
        """The filters of a job by its name; those of the run's job for an empty or unknown one."""
        job = self.job_named(name)
        return self.main if job is None else self.of(job.job_id)

    def ruleset_id(self, job_id: int) -> int:
        """The version of the rules a job goes by, 0 when there is none."""
        return self._rulesets.get(job_id, 0)

    def adopt(self, rulesets: Iterable[Ruleset], jobs: Iterable[JobState], main: str) -> None:
        """Take rulesets over; `main` names the job of the run. Raises BadPattern before anything is changed."""
        self.jobs = {job.job_id: job for job in jobs} or self.jobs
        ids = {job.name: job.job_id for job in self.jobs.values()}
        made: list[tuple[PolicySet, Admission]] = [(self._given, self.main)]
        by_job, versions, of_run = dict(self._by_job), dict(self._rulesets), self.main
        for ruleset in rulesets:
            admission = next((known for policies, known in made if policies == ruleset.policies), None)
            if admission is None:
                admission = Admission(ruleset.policies, self.main.scope, self.main.limits)
                for exclusion in self._exclusions:
                    admission = admission.with_exclusion(exclusion)
                made.append((ruleset.policies, admission))
            job_id = ids.get(ruleset.job)
            if job_id is not None:
                by_job[job_id], versions[job_id] = admission, ruleset.ruleset_id
            if ruleset.job == main:
                of_run, self._given = admission, ruleset.policies
        self._by_job, self._rulesets, self.main = by_job, versions, of_run

    def exclude(self, exclusions: Iterable[Exclusion]) -> None:
        """The exclusion list, longer. Raises BadPattern for a value that is none of its kind; nothing is changed."""
        added = tuple(exclusions)
        made = {id(one): one for one in self._all()}
        for key, admission in made.items():
            for exclusion in added:
                admission = admission.with_exclusion(exclusion)  # noqa: PLW2901  # each adds to the one before
            made[key] = admission
        self._replace(made)
        self._exclusions = (*self._exclusions, *added)

    def readmit(self, kind: ExclusionKind, value: str) -> None:
        """The exclusion list without these entries."""
        self._exclusions = tuple(one for one in self._exclusions if (one.kind, one.value) != (kind, value))
        self._replace({id(one): one.without_exclusion(kind, value) for one in self._all()})

    def add_origin(self, origin: str, start_path: str = "") -> None:
        """One origin more in scope, and perhaps its start path."""
        self._replace({id(one): one.with_origin(origin, start_path) for one in self._all()})

    def _all(self) -> list[Admission]:
        return list({id(one): one for one in (self.main, *self._by_job.values())}.values())

    def _replace(self, made: dict[int, Admission]) -> None:
        self._by_job = {job_id: made[id(one)] for job_id, one in self._by_job.items()}
        self.main = made[id(self.main)]
