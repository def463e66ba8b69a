"""From a file (or seeds on the command line) to a Config, or to everything that is wrong with it: the
values one by one, then what must hold between keys, and what is only doubtful."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui_crawler.config.database import Database, check_file
from tui_crawler.config.policies import EXCLUSIONS, POLICIES, RULES, WHITELIST, PoliciesConfig
from tui_crawler.config.problem import (
    BUILT_INTO,
    COMMAND_LINE,
    LONGEST_PATH,
    MAX_PROBLEMS,
    BadValue,
    ConfigErrors,
    Incomplete,
    SourcePlace,
    TooManyProblems,
    problem_at,
    visible,
)
from tui_crawler.config.reader import ConfigReader
from tui_crawler.config.schema import PLACES, ROOT, Config
from tui_crawler.config.sections import MIN_ROBOTS_BYTES
from tui_crawler.config.table import ConfigKey, Table, places_of, suggest_key, walk_keys
from tui_crawler.config.tree import Node, compose, node_of
from tui_crawler.config.units import SECOND, show_duration
from tui_crawler.config.web_kinds import LONGEST_URL
from tui_crawler.domain.records.database_place import DatabasePlace, location_of
from tui_crawler.domain.records.kept_config import COMMAND_LINE_MARK, given_settings, written_config
from tui_crawler.domain.records.status_words import NOBODY, UNCONFIGURED_USER_AGENT, UNVERIFIED
from tui_crawler.domain.rules.exclusion import host_name
from tui_crawler.domain.rules.policy import Whitelist
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, is_loopback, normalise

if TYPE_CHECKING:
    from tui_crawler.domain.rules.ruleset import RulesetChange

BELOW_FLOOR = "delay.floor"
"""The key of the problem that a delay is shorter than the floor."""
_ALLOW = "delay.allow_impolite"
_LONGEST_ESCAPE = 12  # characters that one may become in a URL: four octets


def check_config(config: Config, reader: ConfigReader) -> None:
    """Report to `reader` what contradicts itself."""
    _check_delays(config, reader)
    for key, is_obeyed in (("obey_robots", config.crawl.obey_robots), ("obey_nofollow", config.crawl.obey_nofollow)):
        if not is_obeyed and not config.own_sites:
            message = "false is accepted for sites of your own only, and own_sites names none"
            reader.report(f"crawl.{key}", message, "name their origins as own_sites, or pass --own")
    longest = config.crawl.max_url_length
    for key, url in _all_seeds(config, longest, least=longest // _LONGEST_ESCAPE + 1):
        if not isinstance(url, CrawlUrl):
            reader.report(key, f"the seed {url.reason}", "raise crawl.max_url_length")
    _check_lists(config, reader)
    _warn(config, reader)


def _check_delays(config: Config, reader: ConfigReader) -> None:
    delay = config.delay
    for key, floor in (("delay.floor", delay.floor_ms), ("delay.average.floor", delay.average.floor_ms)):
        if floor < SECOND and not delay.allow_impolite and not config.own_sites:
            message = f"a floor of {show_duration(floor)}, below 1s, needs {_ALLOW}: true"
            hint = "which is for loopback origins; or name the sites that are yours as own_sites"
            reader.report(key, message, hint)
    if delay.max_ms < delay.floor_ms:
        message = f"{show_duration(delay.max_ms)} is shorter than delay.floor ({show_duration(delay.floor_ms)})"
        reader.report("delay.max", message, mark=reader.mark_of("delay.max", "delay.floor"))
    if delay.start_politeness > delay.max_politeness:
        message = f"{delay.start_politeness} is more than delay.max_politeness ({delay.max_politeness})"
        mark = reader.mark_of("delay.start_politeness", "delay.max_politeness")
        reader.report("delay.start_politeness", message, mark=mark)
    if delay.allow_impolite and not config.impolite_everywhere:
        _check_loopback(config, reader)


def _check_loopback(config: Config, reader: ConfigReader) -> None:
    """`allow_impolite` is for loopback origins and own sites: report the first seed or domain that is neither."""
    hint = "remove it, or say --allow-impolite on the command line as well"
    for key, url in _all_seeds(config):
        if isinstance(url, CrawlUrl) and not is_loopback(url.host) and url.origin not in config.own_sites:
            reader.report(key, f"the seed {url.href} is not loopback, so {_ALLOW} is not accepted", hint)
            return
    for index, domain in enumerate(config.whitelist.domains if config.whitelist else ()):
        if not is_loopback(host_name(domain)):
            message = f"the domain {domain} is not loopback, so {_ALLOW} is not accepted"
            reader.report(f"whitelist.domains[{index}]", message, hint)
            return


def _check_lists(config: Config, reader: ConfigReader) -> None:
    """Report names that are given twice, and hosts with two credentials; warn of certificates that are not verified."""
    jobs = [job.name for job in config.jobs]
    hosts, sites = [host.host for host in config.hosts], [site.origin for site in config.sites]
    for at, key, names in (("jobs", "name", jobs), ("hosts", "host", hosts), ("sites", "origin", sites)):
        seen: set[str] = set()
        for index, name in enumerate(names):
            if name in seen:
                reader.report(f"{at}[{index}].{key}", f"{name} is given twice", "keep one of the two")
            seen.add(name)
    if config.name in jobs:
        message = f"{config.name} is the name of the whole crawl's own job"
        reader.report(f"jobs[{jobs.index(config.name)}].name", message, "take another name")
    verified = {"network.verify": config.network.verify}
    for index, host in enumerate(config.hosts):
        if host.basic_auth is not None and "authorization" in {name.lower() for name, _ in host.headers}:
            message = "basic_auth and a header field Authorization would be sent both"
            reader.report(f"hosts[{index}].basic_auth", message, "keep one of the two")
        verified[f"hosts[{index}].verify"] = host.verify is not False
    for key in [key for key, is_verified in verified.items() if not is_verified]:
        reader.warn(key, UNVERIFIED, "name its certificate as ca_file, and leave verify true")


def _warn(config: Config, reader: ConfigReader) -> None:
    if config.user_agent == UNCONFIGURED_USER_AGENT:
        reader.warn("user_agent", NOBODY, 'give user_agent: "my-project-crawler (for https://…)"')
    if (most := config.robots.max_bytes) < MIN_ROBOTS_BYTES:
        message = f"RFC 9309 requires at least {MIN_ROBOTS_BYTES} bytes; rules beyond {most} are lost"
        reader.warn("robots.max_bytes", message)
    for at, rules in [("rules", config.rules)] + [(f"jobs[{i}].rules", job.rules) for i, job in enumerate(config.jobs)]:
        for index in [index for index, rule in enumerate(rules) if rule.custom_js is not None]:
            reader.warn(f"{at}[{index}].custom_js", "the browser extra does not exist yet: such pages fail (230)")
    _warn_of_delays(config, reader)
    if config.sites or config.hosts or config.own_sites:
        _warn_of_no_effect(config, reader)


def _warn_of_delays(config: Config, reader: ConfigReader) -> None:
    """Name the delays that were given and are shorter than the floor, which takes their place."""
    delay, average = config.delay, config.delay.average
    floors = {"delay.floor": delay.floor_ms}
    given = {"delay.default": delay.default_ms, "delay.crawl_delay_cap": delay.crawl_delay_cap_ms}
    if delay.model == "running_average":
        floors["delay.average.floor"] = given["delay.average.floor"] = average.floor_ms
    key = max(floors, key=floors.__getitem__)
    given = {at: ms for at, ms in given.items() if at in reader.marks}
    given |= {f"hosts[{index}].default_delay": host.default_delay_ms for index, host in enumerate(config.hosts)}
    leave = "" if delay.allow_impolite else f" and {_ALLOW}: true (beyond loopback also --allow-impolite)"
    for at, ms in given.items():
        if ms is not None and ms < floors[key]:
            message = f"{show_duration(ms)} has no effect: {key} makes it {show_duration(floors[key])}"
            reader.warn(at, message, f"remove it, or set {key}: {show_duration(ms)}{leave * (ms < SECOND)}")
    if delay.allow_impolite and min(delay.floor_ms, average.floor_ms) >= SECOND:
        message = f"allows nothing: delay.floor is {show_duration(delay.floor_ms)}, and no delay is shorter"
        reader.warn(_ALLOW, message, "set delay.floor below 1s, or remove it")


def _warn_of_no_effect(config: Config, reader: ConfigReader) -> None:
    seeds = [url for _, url in _all_seeds(config) if isinstance(url, CrawlUrl)]
    origins = {url.origin for url in seeds}
    named = [(f"sites[{index}].origin", site.origin) for index, site in enumerate(config.sites)]
    named += [(f"own_sites[{index}]", origin) for index, origin in enumerate(config.own_sites)]
    for key, origin in named:
        if origin not in origins and not config.whitelist:
            reader.warn(key, f"no seed is of {origin}, so this has no effect")
    for index, host in enumerate(config.hosts):
        secure, of_host = f"https://{host.host}", sorted({url.origin for url in seeds if url.host == host.host})
        if of_host and secure not in of_host and (host.headers or host.cookies or host.basic_auth):
            message = f"headers, cookies and basic_auth of a name go to {secure} only, which no seed is of"
            reader.warn(f"hosts[{index}].host", message, f"name {of_host[0]}")


def _all_seeds(
    config: Config, longest: int = LONGEST_URL, least: int = 0
) -> Iterator[tuple[str, CrawlUrl | InvalidUrl]]:
    """Yield the seeds of at least `least` characters with their keys, as URLs of at most `longest` characters."""
    for at, seeds in [("seeds", config.seeds)] + [(f"jobs[{i}].seeds", job.seeds) for i, job in enumerate(config.jobs)]:
        for index, seed in enumerate(seeds):
            if len(seed) >= least:
                yield f"{at}[{index}]", normalise(seed, max_length=longest)


MAX_FILE_BYTES = 4 * 1024 * 1024
_NOT_YAML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")  # YAML 1.2.2, 5.1
_ON_COMMAND_LINE = SourcePlace(COMMAND_LINE)
_FORCE_IMPOLITE = {_ALLOW: True}
_OF_ONE_RUN = frozenset({"crawl.max_requests", "crawl.force_recrawl", "crawl.recheck"})  # the next is without them


def load_config(
    path: Path,
    overrides: Mapping[str, object] | None = None,
    allow_impolite_cli: bool = False,
    *,
    looks_at_files: bool = True,
    resolves: bool = True,
) -> Config:
    """Read a configuration file, and the first bytes of the database file; write nothing. Raises ConfigErrors with up
    to 20 problems.

    `overrides` maps dotted keys to values that win over the file (`{"crawl.max_requests": 100}`), written as in
    YAML (`"30m"`, 512000, True, lists); `own_sites: True` adds the origins of the seeds. `database` cannot be
    overridden: `guard_database` compares it with the opened path. `allow_impolite_cli` is `--allow-impolite`: it sets
    `delay.allow_impolite` and accepts it for every origin. `looks_at_files` is False where another database is opened:
    the one that is named need not exist. `resolves` is False where nothing is requested: secrets and certificates
    need not be there.
    """
    return _load(_read_text(path), path, overrides or {}, allow_impolite_cli, looks_at_files, resolves)


def read_config(
    text: str,
    name: str,
    built_into: str = "",
    *,
    given: Mapping[str, object] | None = None,
    over: bool = False,
    impolite: bool = False,
) -> Config:
    """Return the configuration of `text` (YAML, perhaps with what a command line gave), as if it were NAME.yaml in the
    current folder.

    No file is read, so that the database it names may be open. `built_into` says which part of the program has the
    text, which then is named as the place of a rule. `given` has values by dotted key that win over the text. `over`:
    without the values that a command line gave for one run; `impolite`: with `--allow-impolite`. Raises ConfigErrors.
    """
    label = f"{BUILT_INTO}{built_into}" if built_into else ""
    kept = {key: value for key, value in given_settings(text).items() if not (over and key in _OF_ONE_RUN)}
    overrides = {**kept, **(given or {})}
    impolite = bool(overrides.pop(_ALLOW, impolite))
    return replace(_load(written_config(text), Path(f"{name}.yaml"), overrides, impolite, False, False, label), file="")


def _kept_text(written: str, overrides: Mapping[str, object], impolite: bool) -> str:
    given = {**overrides, **(_FORCE_IMPOLITE if impolite else {})}
    return f"{written}{COMMAND_LINE_MARK}{json.dumps(given)}" if given else written


def _load(
    text: str,
    path: Path,
    overrides: Mapping[str, object],
    impolite: bool,
    looks_at_files: bool,
    resolves: bool,
    label: str = "",
) -> Config:
    are_own = overrides.get("own_sites") is True  # the command line's `--own`
    given = {key: value for key, value in overrides.items() if not (are_own and key == "own_sites")}
    start = SourcePlace(label or visible(str(path), LONGEST_PATH), 1, 1)
    reader = ConfigReader(PLACES, _nodes(given, impolite), path.parent, start, looks_at_files, resolves)
    config = replace(_read(text, reader), text=_kept_text(reader.stored_text(text), overrides, impolite))
    if are_own:
        seeds = (url.origin for _, url in _all_seeds(config) if isinstance(url, CrawlUrl))
        config = replace(config, own_sites=tuple(dict.fromkeys((*config.own_sites, *seeds))))
    stem, database = path.stem or "crawl", config.database
    if not database.location:
        database = Database(str((path.parent / f"{stem}.db").absolute()))
        try:
            if looks_at_files:
                check_file(Path(database.location), start)
        except BadValue as refused:
            reader.problems.append(refused.problem("database"))
    config = replace(config, name=config.name or visible(stem), database=database, file=str(path))
    return _finish(config, reader, impolite)


def config_from_seeds(
    seeds: Sequence[str],
    database: str | DatabasePlace,
    *,
    name: str = "crawl",
    overrides: Mapping[str, object] | None = None,
    allow_impolite_cli: bool = False,
) -> Config:
    """Return the configuration of `tui-crawler crawl URL…`: these seeds, this database, everything else by default.

    Raises ConfigErrors, as `load_config` does, and for a delay below the floor; `guard_database` accepts every database
    for it.
    """
    reader = ConfigReader(PLACES, _nodes(overrides or {}, allow_impolite_cli), Path.cwd(), _ON_COMMAND_LINE)
    config = _read(_node({"seeds": list(seeds), "name": name, "database": location_of(database)}), reader)
    kept = _kept_text(json.dumps({"name": name, "seeds": list(config.seeds)}), overrides or {}, allow_impolite_cli)
    unguarded = replace(config.database, given="")
    config = _finish(replace(config, text=kept, database=unguarded), reader, allow_impolite_cli)
    if without_effect := [warning for warning in config.warnings if warning.key == "delay.default"]:
        raise ConfigErrors(replace(one, key=BELOW_FLOOR) for one in without_effect)  # a person has just asked for it
    return config


_CONFLICT_MARKER = re.compile(r"^(?:<{7}|={7}|>{7})(?= |$).*", re.MULTILINE)
"""What a merge of two texts of rules leaves where both changed the same lines."""
_RULES_FILE = Table(
    (
        ConfigKey("policies", POLICIES, "Policies."),
        ConfigKey("rules", RULES, "Rules."),
        ConfigKey("exclusions", EXCLUSIONS, "Exclusions."),
        ConfigKey("whitelist", WHITELIST, "Whitelist."),
    ),
    lambda values, _: values,
)


def load_rules(path: Path) -> RulesetChange:
    """Read YAML with any of policies, rules, exclusions and whitelist, as in a configuration: the change it makes to
    a ruleset. A list that the file gives replaces the one in force, an empty one removes it; what the file does
    not name stays, also within `policies`. Raises ConfigErrors."""
    return read_rules(_read_text(path), str(path), path.parent)


def read_rules(text: str, name: str, folder: Path) -> RulesetChange:
    """Do the same for a text from the place `name`; `folder` is where it looks for files. A text with markers of a
    conflict is refused by their lines."""
    from tui_crawler.domain.rules.ruleset import RulesetChange  # noqa: PLC0415  a start reads no rules by themselves

    if markers := list(islice(_CONFLICT_MARKER.finditer(text), MAX_PROBLEMS)):
        lines = [(text.count("\n", 0, found.start()) + 1, visible(found[0])) for found in markers]
        told, hint = "a conflict is not resolved", "keep one side, without markers"
        raise ConfigErrors(problem_at(SourcePlace(name, at, 1), "", f"{told}: {marker}", hint) for at, marker in lines)
    reader = ConfigReader(places_of(_RULES_FILE), {}, folder, SourcePlace(visible(name, LONGEST_PATH), 1, 1))
    values = _read(text, reader, _RULES_FILE)
    given = reader.marks
    policies: PoliciesConfig = values["policies"] or PoliciesConfig()
    change = RulesetChange(
        do_not_crawl=policies.do_not_crawl if "policies.do_not_crawl" in given else None,
        url_query_parameters=policies.url_query_parameters if "policies.url_query_parameters" in given else None,
        rules=values["rules"],
        exclusions=values["exclusions"],
        whitelist=(values["whitelist"] or Whitelist()) if "whitelist" in given else None,
    )
    if change == RulesetChange():
        names = ", ".join(key.name for key in _RULES_FILE.keys)
        raise ConfigErrors([problem_at(SourcePlace(name, 1, 1), "", "the file contains no rules", f"keys: {names}")])
    return change


def _nodes(overrides: Mapping[str, object], impolite: bool) -> dict[str, Node]:
    """Return the command line's values, each under its canonical key. Raises ConfigErrors for unknown keys."""
    known: dict[str, str] = {}
    for at, key in walk_keys(ROOT):
        for name in filter(None, (key.name, key.alias)):
            known[f"{at}.{name}" if at else name] = f"{at}.{key.name}" if at else key.name
    nodes: dict[str, Node] = {}
    problems = []
    for path, value in {**overrides, **(_FORCE_IMPOLITE if impolite else {})}.items():
        if path == "database":
            message = "cannot be overridden: the opened database is compared with the configuration's"
            problems.append(problem_at(_ON_COMMAND_LINE, path, message))
        elif path not in known:
            section, _, name = path.rpartition(".")
            hint = suggest_key(name, tuple(known), section, PLACES)
            problems.append(problem_at(_ON_COMMAND_LINE, path, "unknown key", hint))
        else:
            nodes[known[path]] = _node(value)
    if problems:
        raise ConfigErrors(problems)
    return nodes


def _node(value: object) -> Node:
    try:
        return node_of(value, _ON_COMMAND_LINE)
    except BadValue as refused:
        raise ConfigErrors([refused.problem()]) from refused


def _read(source: str | Node, reader: ConfigReader, table: Table = ROOT) -> Any:
    """Return the value of a table (a Config, or what the table builds). Raises ConfigErrors."""
    try:
        root = compose(source, reader.start.file, reader.report) if isinstance(source, str) else source
        value = table.read(root, "", reader)
    except BadValue as refused:
        reader.problems.append(refused.problem())
    except (Incomplete, TooManyProblems):
        pass
    if reader.problems:
        raise ConfigErrors(reader.problems)
    return value


def _finish(config: Config, reader: ConfigReader, impolite: bool) -> Config:
    """Check what holds between keys, then put places and warnings into the value. Raises ConfigErrors."""
    config = replace(config, impolite_everywhere=impolite)
    with suppress(TooManyProblems):
        check_config(config, reader)
    if reader.problems:
        raise ConfigErrors(reader.problems)
    sources = tuple((key, mark.place) for key, mark in reader.marks.items())
    return replace(config, sources=sources, warnings=tuple(reader.warnings))


def _read_text(path: Path) -> str:
    """Return the text of a configuration file without its byte order mark.

    Raises ConfigErrors when there is no such file, it may not be read, is no regular file, is larger than 4 MiB, is not
    UTF-8, or holds a character YAML does not allow (NUL, escape…).
    """

    def refused(message: str, suggestion: str = "", *before: str) -> ConfigErrors:
        """`before`: the text before what is refused, else that is the whole file."""
        lines = before and before[0].split("\n")
        mark = SourcePlace(str(path), len(lines), len(lines[-1]) + 1) if lines else SourcePlace(str(path))
        return ConfigErrors([problem_at(mark, "", message, suggestion)])

    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "is a folder" if stat.S_ISDIR(mode) else "is not a regular file"
            raise refused(what, "name a YAML file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise refused(f"cannot be read: {reason.lower()}") from error
    if len(data) > MAX_FILE_BYTES:
        raise refused(f"is larger than {MAX_FILE_BYTES // 1024**2} MiB, the limit of a configuration")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"is not UTF-8: the byte {data[error.start]:#04x} is not allowed here"
        raise refused(message, "save the file as UTF-8", data[: error.start].decode("utf-8", "replace")) from error
    if bad := _NOT_YAML.search(text):
        message = f"the character U+{ord(bad[0]):04X} is not allowed in YAML"
        raise refused(message, "remove it", text[: bad.start()])
    return text
