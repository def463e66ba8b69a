"""From a configuration to its seeds, the filters, and the settings of each origin (delay, patience, tries): what
commands that only read need, too. And which rules decide over the URLs of a database. Loads no client."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tui_crawler.domain.records.failure import BadKeptConfig, NoSuchJob
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.config.sections import HostConfig
    from tui_crawler.domain.crawl.contract import Contract
    from tui_crawler.domain.crawl.origin import CrawlSettings, SettingsByOrigin
    from tui_crawler.domain.history.site_audit import CheckOutcome, LinkCheck
    from tui_crawler.domain.records.database_place import DatabasePlace
    from tui_crawler.domain.records.view import RunView
    from tui_crawler.domain.rules.admission import Admission
    from tui_crawler.domain.rules.exclusion import Exclusion
    from tui_crawler.domain.rules.policy import PolicySet
    from tui_crawler.storage.reports.reports import Reports


def seed_urls(config: Config) -> tuple[CrawlUrl, ...]:
    """The seeds of all jobs, normalised; the configuration has refused those that are no URLs."""
    return urls_of([*config.seeds, *(seed for job in config.jobs for seed in job.seeds)], config)


def urls_of(seeds: Iterable[str], config: Config) -> tuple[CrawlUrl, ...]:
    """The URLs of these texts, normalised, each once."""
    urls = (normalise(seed, None, config.crawl.max_url_length) for seed in seeds)
    return tuple({url.href: url for url in urls if isinstance(url, CrawlUrl)}.values())


def admission_of(config: Config, seeds: Sequence[CrawlUrl] | None = None) -> Admission:
    """All filters and policies, compiled; `seeds`: the URLs of `seed_urls`, where they are at hand. Raises BadPattern
    (which the configuration has ruled out)."""
    from tui_crawler.domain.rules.admission import Admission, Limits, Scope  # noqa: PLC0415  `rules show` admits nothing

    scope = Scope(
        frozenset(url.origin for url in (seed_urls(config) if seeds is None else seeds)),
        {site.origin: site.start_path for site in config.sites},
        frozenset() if config.crawl.obey_robots else frozenset(config.own_sites),
    )
    return Admission(config.policy_set, scope, Limits(**same_named(Limits, config.crawl)))


def located(source: str, config: Config) -> str:
    """What decided, with its line where it is a key that the configuration gives."""
    place = dict(config.sources).get(source)
    if place is None:
        return source
    line = place.rpartition(":")[2]
    return f"{source}, line {line} of the configuration" if line.isdigit() else place


def waived_rules(config: Config) -> str:
    """Return which rules are not obeyed, where, and what decided it (a place of the configuration or the command line);
    empty when all are."""
    rules = (("obey_robots", "robots.txt"), ("obey_nofollow", "noindex and nofollow"))
    off = [(f"crawl.{key}", what) for key, what in rules if not getattr(config.crawl, key)]
    sites = ", ".join(config.own_sites)
    said = ((key, what, located(key, config).removeprefix(f"{key}, ")) for key, what in off)
    return "; ".join(f"{what} not obeyed at {sites} ({key}: false, {by})" for key, what, by in said)


def same_named(record: Any, *sections: object, but: Container[str] = ()) -> dict[str, Any]:
    """The fields of a record that sections of a configuration have under the same names; `but` names others."""
    names = [one.name for one in fields(record) if one.name not in but]
    return {name: getattr(section, name) for section in sections for name in names if hasattr(section, name)}


def host_entries(config: Config) -> Callable[[CrawlUrl], tuple[HostConfig, ...]]:
    """The entries of `hosts` that hold for a URL: that of its origin, of its host and port, of its host."""
    by_name = {host.host: host for host in config.hosts}

    def entries_of(url: CrawlUrl) -> tuple[HostConfig, ...]:
        names = (url.origin, f"{url.host}:{url.port}", url.host)
        return tuple(by_name[name] for name in names if name in by_name)

    return entries_of


def settings_by_origin(config: Config) -> Callable[[str], CrawlSettings]:
    """The settings of each origin, also of those that join later. It is asked at every turn."""
    return cache(crawl_settings(config).of)


def crawl_settings(config: Config) -> SettingsByOrigin:
    """The same as a value: `hosts` replaces the default delay (R). A floor below one second applies only to own sites
    and, with `allow_impolite`, to loopback origins, unless the command line allows it for all."""
    from tui_crawler.domain.crawl.delay import DelaySettings  # noqa: PLC0415  who only reads has no turns
    from tui_crawler.domain.crawl.origin import POLITE_FLOOR_MS, CrawlSettings, SettingsByOrigin  # noqa: PLC0415  the same

    delay = config.delay
    common = CrawlSettings(
        delay=DelaySettings(
            **same_named(DelaySettings, delay),
            average_window=delay.average.window,
            average_factor=delay.average.factor,
            average_initial_ms=delay.average.initial_ms,
            average_floor_ms=delay.average.floor_ms,
        ),
        **same_named(CrawlSettings, config.crawl),
        robots_expiry_ms=config.robots.expiry_ms,
    )
    own = tuple((host.host, host.default_delay_ms) for host in config.hosts if host.default_delay_ms is not None)
    polite = delay.floor_ms < POLITE_FLOOR_MS and not config.impolite_everywhere
    return SettingsByOrigin(common, own, polite, config.own_sites, delay.allow_impolite)


def contract_of(config: Config, origin: str, user_agent: str) -> Contract:
    """The contract with one origin; `user_agent` is that of the run, empty for the configured one."""
    from tui_crawler.domain.crawl.contract import Contract  # noqa: PLC0415  few want it
    from tui_crawler.domain.history.site_audit import LINK_CHECKS  # noqa: PLC0415  few need it

    url = normalise(origin)
    host = "" if isinstance(url, InvalidUrl) else url.host
    return Contract(
        user_agent=user_agent or config.user_agent,
        delay=settings_by_origin(config)(origin).delay,
        delay_from="hosts" if any(one.host == host for one in config.hosts) else "delay.default",
        **same_named(Contract, config.crawl, config.network),
        robots_expiry_ms=config.robots.expiry_ms,
        robots_max_bytes=config.robots.max_bytes,
        not_checked=tuple(filter(None, (switched_off(check, config) for check in LINK_CHECKS))),
    )


@dataclass(frozen=True, slots=True)
class JobRules:
    """What decides over the URLs of a job: its ruleset (`ruleset_id` 0: none is stored yet, `own` is the configured
    one; without a configuration that is `kept` it is empty) and the exclusions that operators added."""

    job: str
    ruleset_id: int
    own: PolicySet
    added: tuple[Exclusion, ...] = ()
    kept: bool = True

    @property
    def policies(self) -> PolicySet:
        """All of it."""
        return self.own.with_exclusions(self.added)


def rules_in_force(reports: Reports, job: str = "") -> tuple[JobRules, ...]:
    """The rules of every job, that of the newest run first; of one job if it is named. A job that has no ruleset yet
    goes by the configuration. Raises NoSuchJob."""
    added = reports.exclusions()
    current = {one.job: JobRules(one.job, one.ruleset_id, one.policies, added) for one in reports.current_rulesets()}
    jobs = [str(row[0]) for row in reports.rows("v_job", ("job",))]
    if job and job not in jobs:
        raise NoSuchJob(f"there is no job named {job!r}")
    names = [job] if job else list(dict.fromkeys([*current, *jobs]))
    if names and current.keys() >= set(names):
        return tuple(current[name] for name in names)
    config = stored_config(reports.config_text(), reports.run())
    own, common = {one.name: one.rules for one in config.jobs}, config.policy_set
    for name in names or [config.name]:
        configured = replace(common, rules=(*common.rules, *own.get(name, ())))
        current.setdefault(name, JobRules(name, 0, configured, added, bool(config.text)))
    return tuple(current[name] for name in names or [config.name])


def read_kept(
    text: str, name: str, given: Mapping[str, object] | None = None, *, over: bool = False, impolite: bool = False
) -> Config | None:
    """Return the configuration of a run as the database keeps it, or None where an older version kept none.

    `given` has values of the command line by dotted key, which win. `over`: for the next run; `impolite`: with
    `--allow-impolite`. Raises BadKeptConfig.
    """
    from tui_crawler.config.load import read_config  # noqa: PLC0415  where rulesets are stored none is read
    from tui_crawler.config.problem import ConfigErrors  # noqa: PLC0415  the same

    if not text:
        return None
    try:
        return read_config(text, name, given=given, over=over, impolite=impolite)
    except ConfigErrors as errors:
        raise BadKeptConfig(
            f"the configuration that the database keeps cannot be read: {errors.problems[0]}; "
            "the next start with the configuration file (tui-crawler run CONFIG) stores it again"
        ) from errors


@lru_cache(4)  # it may be long, and is asked for again and again
def read_once(text: str, name: str) -> Config | None:
    """The same without values of a command line, and without reading an equal text again."""
    return read_kept(text, name)


def stored_config(text: str, run: RunView | None) -> Config:
    """The same, all defaults (and no text) where there is none: whoever shows what follows from that says so."""
    from tui_crawler.config.schema import Config  # noqa: PLC0415  where rulesets are stored none is read

    return (read_once(text, run.config_name) if run is not None else None) or Config(())


def switched_off(check: LinkCheck, config: Config) -> str:
    """The key by which a configuration switches a check off; empty where it is made."""
    if not attrgetter(check.key)(config):
        return check.key
    return "crawl.mode" if check.queues and config.crawl.mode == "offline" else ""


def checks_made(reports: Reports, run: int | None = None) -> list[CheckOutcome]:
    """The checks of a run (None: the newest), by the configurations that are kept of it and of those before it. Pages
    that were last read before a check was switched on are not checked, also where they did not change since."""
    from tui_crawler.domain.history.site_audit import LINK_CHECKS, CheckOutcome, CheckStatus  # noqa: PLC0415  few need it

    @cache
    def read(text: str, name: str) -> Config | None:
        with contextlib.suppress(BadKeptConfig):
            return read_once(text, name)
        return None

    runs = reports.kept_configs(run)
    configs = [read(text, name) for _, text, name in runs] or [None]

    def made(check: LinkCheck) -> CheckOutcome:
        off = [check.key if one is None else switched_off(check, one) for one in configs]
        if off[0]:
            return CheckOutcome(check, CheckStatus.not_checked if configs[0] else CheckStatus.unknown, off[0])
        since = next((number for number, key in enumerate(off) if key), 0)
        pages = reports.pages_read_before(runs[since - 1][0]) if since else 0
        return CheckOutcome(check, CheckStatus.partly_checked if pages else CheckStatus.checked, check.key, pages)

    return [made(check) for check in LINK_CHECKS]


def kept_config(
    database: DatabasePlace, given: Mapping[str, object] | None = None, *, new_run: bool = False, impolite: bool = False
) -> Config | None:
    """Return the same of a database for its next start, or for a `new_run`; `given` wins. Raises StorageFailure."""
    from tui_crawler.storage.reports.reports import Reports  # noqa: PLC0415  those that settings are for have one

    with contextlib.closing(Reports(database)) as reports:
        run, text = reports.run(), reports.config_text()
    return None if run is None else read_kept(text, run.config_name, given, over=run.over or new_run, impolite=impolite)
