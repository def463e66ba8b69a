"""From a configuration to what engine, filters and fetcher are told."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tui_crawler.config.problem import BadValue
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.crawl.scheduler import PolitenessMode, politeness_key
from tui_crawler.domain.records.attempt import Headers
from tui_crawler.domain.records.content_kind import OTHER
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.rules.robots import product_token
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.engine.origin_table import EngineSettings
from tui_crawler.fetch.address_guard import AddressGuard
from tui_crawler.fetch.client import HttpFetcher
from tui_crawler.fetch.limits import MIB, FetchLimits
from tui_crawler.fetch.tls import Access, Trust
from tui_crawler.wiring import origin_settings
from tui_crawler.wiring.public_suffix import registrable

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.config.sections import HostConfig, JobConfig
    from tui_crawler.fetch.transfer import Recorder
    from tui_crawler.wiring.launch import Launch

_SITEMAPS = {"auto": (True, True), "robots": (True, False), "off": (False, False)}  # read, and found
_PRIVATE: dict[str, Literal["auto"] | bool] = {"auto": "auto", "always": True, "never": False}


def _pages(seeds: Iterable[str], config: Config, nice: int = 0) -> tuple[NewPage, ...]:
    urls = origin_settings.urls_of(seeds, config)
    return tuple(NewPage(url.href, url.hash, url.origin, depth=0, nice=nice, seed=True) for url in urls)


def _key(mode: PolitenessMode, origin: str, address: str | None = None) -> str:
    url = normalise(origin)
    host = url.host if isinstance(url, CrawlUrl) else origin
    return politeness_key(mode, origin, host, registrable, address)


_site = partial(_key, "registrable_domain")


def _job_plan(job: JobConfig, config: Config) -> JobPlan:
    depth = config.crawl.max_depth if job.max_depth is None else job.max_depth
    seeds = _pages(job.seeds, config, job.nice)
    return JobPlan(job.name, seeds, job.nice, depth, job.concurrency, job.tag, job.note, job.rules)


def plan_of(config: Config, launch: Launch) -> RunPlan:
    force, recheck, name = config.crawl.force_recrawl, config.crawl.recheck, config.worker.name or ""
    if launch.workers > 1:  # each has a number; without any name the store makes one up
        name = f"{name or 'worker'}-{launch.join or 1}"
    return RunPlan(
        **origin_settings.same_named(
            RunPlan, config.crawl, config.worker, but=("max_in_flight", "force_recrawl", "recheck")
        ),
        new_run=launch.new_run,
        workers=launch.workers,
        joins=launch.join is not None,
        may_join=launch.may_join,
        force_recrawl=force or recheck,
        recheck=recheck and not force,
        config_name=config.name,
        user_agent=config.user_agent,
        job=config.name,
        seeds=_pages(config.seeds, config),
        max_in_flight=config.worker.slots or config.crawl.max_in_flight,
        start_politeness=config.delay.start_politeness,
        config_text=config.text,
        unverified=-1 if not config.network.verify else sum(host.verify is False for host in config.hosts),
        worker=name,
        jobs=tuple(_job_plan(job, config) for job in config.jobs),
        policies=config.policy_set,
        start_paths=tuple((site.origin, site.start_path) for site in config.sites),
        crawl_settings=origin_settings.crawl_settings(config).to_json(),
        note=origin_settings.waived_rules(config),
        finds_sitemaps=_SITEMAPS[config.crawl.sitemaps][1],
        keep_runs=config.storage.keep_runs,
    )


def sites(config: Config) -> Callable[[str], str]:
    """A function that names the site of an origin: its registrable domain. The origins of a site stay with one worker.
    An address or a name without such a domain is a site by itself: each origin of it, unless they share the delay."""
    by_origin = config.crawl.politeness_key == "origin"

    def site_of(origin: str) -> str:
        domain = _site(origin)
        alone = by_origin and registrable(domain) != domain
        return origin if alone else domain

    return site_of


def engine_settings(config: Config, launch: Launch) -> EngineSettings:
    mode, redirects = config.crawl.politeness_key, config.crawl.follow_seed_redirects

    def key_of(origin: str, address: str | None) -> str:
        return origin if mode == "origin" else _key(mode, origin, address)

    def follows(one: CrawlUrl, other: CrawlUrl) -> bool:
        return redirects == "any" or (redirects == "same_site" and _site(one.origin) == _site(other.origin))

    return EngineSettings(
        **origin_settings.same_named(EngineSettings, config.crawl, config.queue, but=("sitemaps", "link_kinds_queued")),
        plan=plan_of(config, launch),
        settings_of=origin_settings.settings_by_origin(config),
        key_of=key_of,
        by_address=mode == "ip",
        link_kinds_queued=config.crawl.page_kinds,
        store_bodies=frozenset(config.storage.store_bodies),
        robots_max_bytes=config.robots.max_bytes,
        heartbeat_ms=config.storage.lease_ms // 4,
        sitemaps=_SITEMAPS[config.crawl.sitemaps][0],
        finds_sitemaps=_SITEMAPS[config.crawl.sitemaps][1],
        follows=follows,
        registrable=registrable,
        offline=config.crawl.mode == "offline",
        load_next=config.queue.on_few_origins == "load_next",
    )


def fetcher_of(
    config: Config, seed_hosts: Container[str], excluded: Callable[[str], str], connections: int
) -> HttpFetcher:
    """The fetcher; `seed_hosts` may grow while the crawl runs, `excluded` answers what excludes an address."""
    network, reading = config.network, config.reading
    limits = FetchLimits(
        **origin_settings.same_named(FetchLimits, network, config.crawl, reading),
        max_wire_bytes=network.max_body_bytes,
        max_open_origins=connections,
        max_page_data_chars=100 * reading.max_data_chars,
    )
    recorder: Recorder | None = None
    keeps_errors = OTHER in config.storage.store_bodies
    if keeps_errors or config.storage.warc is not None:
        most = MIB if config.storage.warc is None else limits.max_wire_bytes
        limits = replace(limits, drain_bytes=most, drain_timeout_ms=limits.read_timeout_ms)
    if config.storage.warc is not None:
        from tui_crawler.export.warc import Archive  # noqa: PLC0415  few crawls need warcio
        from tui_crawler.export.warc_folder import WarcFolder  # noqa: PLC0415  the same

        archive = Archive(user_agent=config.user_agent, crawl=config.name, waived=origin_settings.waived_rules(config))
        recorder = WarcFolder(Path(config.storage.warc), archive)
    guard = AddressGuard(_PRIVATE[network.allow_private_addresses], seed_hosts, excluded)
    return HttpFetcher(
        limits,
        guard,
        product_token(config.user_agent),
        fluke_retry=config.crawl.fluke_retry,
        proxy=network.proxy,
        data_rules=config.data_rules,
        validate_kinds=frozenset(config.storage.validate),
        later=frozenset(config.storage.store_bodies),
        access=access_by_url(config),
        trust=Trust(network.ca_file or "", network.verify),
        recorder=recorder,
        keeps_errors=keeps_errors,
    )


def access_by_url(config: Config) -> Callable[[CrawlUrl], Access]:
    """How each origin is asked, by a URL of it; what is secret is looked up when it is first sent. Raises Refused."""
    entries_of, trust = origin_settings.host_entries(config), Trust(config.network.ca_file or "", config.network.verify)
    known: dict[str, Access] = {}

    def access_of(url: CrawlUrl) -> Access:
        if url.origin not in known:
            known[url.origin] = _access(entries_of(url), url, trust)
        return known[url.origin]

    common = Access(trust=trust)
    return access_of if config.hosts else lambda _: common


def _access(entries: tuple[HostConfig, ...], url: CrawlUrl, common: Trust) -> Access:
    """The secrets of the first entry that has any; those of a plain name are for its https origin only."""
    own = (_secret_fields(one) for one in entries if one.host != url.host or url.origin == f"https://{url.host}")
    trusted = Trust(
        next((one.ca_file for one in entries if one.ca_file is not None), common.ca_file),
        next((one.verify for one in entries if one.verify is not None), common.verify),
    )
    return Access(next(filter(None, own), ()), trusted)


def _secret_fields(host: HostConfig) -> Headers:
    fields = [(name, value.reveal()) for name, value in host.headers]
    if host.cookies:
        fields.append(("Cookie", "; ".join(f"{name}={value.reveal()}" for name, value in host.cookies)))
    if host.basic_auth is not None:
        pair = f"{host.basic_auth.user.reveal()}:{host.basic_auth.password.reveal()}".encode()
        fields.append(("Authorization", f"Basic {b64encode(pair).decode('ascii')}"))
    return tuple(fields)


def check_secrets(config: Config) -> None:
    """Raise StorageFailure where a secret is missing, which only a configuration that a database keeps can lack."""
    try:
        for host in config.hosts:
            _secret_fields(host)
    except BadValue as no:
        raise StorageFailure(str(no.problem())) from no
