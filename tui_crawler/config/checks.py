"""What must hold between keys, and what is only doubtful: checked once every single value is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tui_crawler.config.problem import Mark
from tui_crawler.config.reader import Reader
from tui_crawler.config.schema import Config
from tui_crawler.config.sections import MIN_ROBOTS_BYTES
from tui_crawler.config.units import SECOND, show_duration
from tui_crawler.config.web_kinds import LONGEST_URL, is_loopback
from tui_crawler.domain.endings import UNVERIFIED
from tui_crawler.domain.exclusion import host_name
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise
from tui_crawler.domain.user_agent import NOBODY, UNCONFIGURED_USER_AGENT

_ALLOW = "delay.allow_impolite"


def check_config(config: Config, reader: Reader, start: Mark) -> None:
    """Reports to `reader` what contradicts itself. `start` is the place of what has no place of its own."""
    _check_delays(config, reader, start)
    _check_seeds(config, reader, start)
    _check_names(config, reader, start)
    _check_hosts(config, reader, start)
    _warn(config, reader, start)


def _check_delays(config: Config, reader: Reader, start: Mark) -> None:
    delay = config.delay
    for key, floor in (("delay.floor", delay.floor_ms), ("delay.average.floor", delay.average.floor_ms)):
        if floor < SECOND and not delay.allow_impolite:
            message = f"a floor of {show_duration(floor)}, below 1s, needs {_ALLOW}: true"
            reader.report(reader.mark_of(key, start), key, message, "which is for loopback origins")
    if delay.max_ms < delay.floor_ms:
        message = f"{show_duration(delay.max_ms)} is shorter than delay.floor ({show_duration(delay.floor_ms)})"
        reader.report(_mark(reader, start, "delay.max", "delay.floor"), "delay.max", message)
    if delay.start_politeness > delay.max_politeness:
        message = f"{delay.start_politeness} is more than delay.max_politeness ({delay.max_politeness})"
        mark = _mark(reader, start, "delay.start_politeness", "delay.max_politeness")
        reader.report(mark, "delay.start_politeness", message)
    if delay.allow_impolite and not config.impolite_everywhere:
        _check_loopback(config, reader, start)


def _check_loopback(config: Config, reader: Reader, start: Mark) -> None:
    """`allow_impolite` is for loopback origins: names the first seed or whitelisted domain that is none."""
    for key, mark, url in _all_seeds(config, reader, start):
        if isinstance(url, CrawlUrl) and not is_loopback(url.host):
            message = f"the seed {url.href} is not loopback, so {_ALLOW} is not accepted"
            reader.report(mark, key, message, "remove it, or say --allow-impolite on the command line as well")
            return
    for index, domain in enumerate(config.whitelist.domains if config.whitelist else ()):
        if not is_loopback(host_name(domain)):
            key = f"whitelist.domains[{index}]"
            message = f"the domain {domain} is not loopback, so {_ALLOW} is not accepted"
            mark = _item_mark(reader, "whitelist.domains", index, start)
            reader.report(mark, key, message, "remove it, or say --allow-impolite on the command line as well")
            return


def _check_seeds(config: Config, reader: Reader, start: Mark) -> None:
    longest = config.crawl.max_url_length
    for key, mark, url in _all_seeds(config, reader, start, longest):
        if not isinstance(url, CrawlUrl):
            reader.report(mark, key, f"the seed {url.reason}", "raise crawl.max_url_length")


def _check_names(config: Config, reader: Reader, start: Mark) -> None:
    jobs = [job.name for job in config.jobs]
    _refuse_repeated(reader, "jobs", "name", jobs, start)
    if config.name in jobs:
        index = jobs.index(config.name)
        message = f"{config.name} is the name of the whole crawl's own job"
        reader.report(_item_mark(reader, "jobs", index, start), f"jobs[{index}].name", message, "take another name")
    _refuse_repeated(reader, "hosts", "host", [host.host for host in config.hosts], start)
    _refuse_repeated(reader, "sites", "origin", [site.origin for site in config.sites], start)


def _check_hosts(config: Config, reader: Reader, start: Mark) -> None:
    unverified = [] if config.network.verify else [("network.verify", reader.mark_of("network.verify", start))]
    for index, host in enumerate(config.hosts):
        mark = _item_mark(reader, "hosts", index, start)
        if host.basic_auth is not None and "authorization" in {name.lower() for name, _ in host.headers}:
            message = "basic_auth and a header field Authorization would be sent both"
            reader.report(mark, f"hosts[{index}].basic_auth", message, "keep one of the two")
        if host.verify is False:
            unverified.append((f"hosts[{index}].verify", mark))
    for key, mark in unverified:
        reader.warn(mark, key, UNVERIFIED, "name its certificate as ca_file, and leave verify true")


def _refuse_repeated(reader: Reader, at: str, key: str, names: Sequence[str], start: Mark) -> None:
    repeated = {name for name, count in Counter(names).items() if count > 1}
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in repeated and name in seen:
            path = f"{at}[{index}].{key}"
            reader.report(_item_mark(reader, at, index, start), path, f"{name} is given twice", "keep one of the two")
        seen.add(name)


def _warn(config: Config, reader: Reader, start: Mark) -> None:
    if config.user_agent == UNCONFIGURED_USER_AGENT:
        mark = reader.mark_of("user_agent", start)
        message = NOBODY
        reader.warn(mark, "user_agent", message, 'give user_agent: "my-project-crawler (for https://…)"')
    if config.robots.max_bytes < MIN_ROBOTS_BYTES:
        message = (
            f"RFC 9309 asks for at least {MIN_ROBOTS_BYTES} bytes; rules beyond {config.robots.max_bytes} are lost"
        )
        reader.warn(reader.mark_of("robots.max_bytes", start), "robots.max_bytes", message)
    lists = [("rules", config.rules)] + [(f"jobs[{i}].rules", job.rules) for i, job in enumerate(config.jobs)]
    for at, rules in lists:
        for index, rule in enumerate(rules):
            if rule.custom_js is not None:
                mark = _item_mark(reader, at, index, start)
                reader.warn(
                    mark, f"{at}[{index}].custom_js", "the browser extra does not exist yet: such pages fail (230)"
                )
    if config.sites and not config.whitelist:
        origins = {url.origin for _, _, url in _all_seeds(config, reader, start) if isinstance(url, CrawlUrl)}
        for index, site in enumerate(config.sites):
            if site.origin not in origins:
                mark = _item_mark(reader, "sites", index, start)
                reader.warn(mark, f"sites[{index}].origin", f"no seed is of {site.origin}, so this has no effect")


def _all_seeds(
    config: Config, reader: Reader, start: Mark, longest: int = LONGEST_URL
) -> Iterator[tuple[str, Mark, CrawlUrl | InvalidUrl]]:
    lists = [("seeds", config.seeds)] + [(f"jobs[{i}].seeds", job.seeds) for i, job in enumerate(config.jobs)]
    for at, seeds in lists:
        for index, seed in enumerate(seeds):
            url = normalise(seed, max_length=longest)
            yield f"{at}[{index}]", _item_mark(reader, at, index, start), url


def _item_mark(reader: Reader, at: str, index: int, start: Mark) -> Mark:
    marks = reader.item_marks.get(at, ())
    return marks[index] if index < len(marks) else reader.mark_of(at, start)


def _mark(reader: Reader, start: Mark, *keys: str) -> Mark:
    """The place of the first of these keys that was given."""
    return next((reader.marks[key] for key in keys if key in reader.marks), start)
