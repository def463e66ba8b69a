"""From a file (or seeds on the command line) to a Config, or to everything that is wrong with it."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui_crawler.config.checks import check_config
from tui_crawler.config.database import Database, check_file
from tui_crawler.config.policies import EXCLUSIONS, POLICIES, RULES, WHITELIST, PoliciesConfig
from tui_crawler.config.problem import (
    BUILT_INTO,
    COMMAND_LINE,
    LONGEST_PATH,
    ConfigErrors,
    Incomplete,
    Mark,
    Refused,
    TooManyProblems,
    problem_at,
    visible,
)
from tui_crawler.config.reader import Reader
from tui_crawler.config.schema import PLACES, ROOT, Config
from tui_crawler.config.table import Key, Table, places_of, suggest_key, walk_keys
from tui_crawler.config.tree import Node, compose, node_of
from tui_crawler.domain.policy import Whitelist

if TYPE_CHECKING:
    from tui_crawler.domain.ruleset import RulesetChange

MAX_FILE_BYTES = 4 * 1024 * 1024
_NOT_YAML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")  # YAML 1.2.2, 5.1
_ON_COMMAND_LINE = Mark(COMMAND_LINE)
_FORCE_IMPOLITE = {"delay.allow_impolite": True}


def load_config(
    path: Path,
    overrides: Mapping[str, object] | None = None,
    allow_impolite_cli: bool = False,
    *,
    looks_at_files: bool = True,
    resolves: bool = True,
) -> Config:
    """Reads a configuration file.

    `overrides` maps dotted keys to values that win over the file (`{"crawl.max_requests": 100}`), written as in
    YAML (`"30m"`, 512000, True, lists). `allow_impolite_cli` is the command line's `--allow-impolite`: it sets
    `delay.allow_impolite` and accepts it for every origin. `database` cannot be overridden: the opened path is
    compared with the file's by `guard_database`. `looks_at_files` is False where another database is opened: the place
    that the configuration names need not exist then. `resolves` is False where nothing is requested: variables and
    files that hold secrets and certificates need not be there.

    Raises ConfigErrors with up to 20 problems. Reads the file and looks at the database file's first bytes;
    writes nothing.
    """
    try:
        text = _read_text(path)
    except Refused as refused:
        raise _errors(refused) from refused
    return _load(text, path, overrides or {}, allow_impolite_cli, looks_at_files=looks_at_files, resolves=resolves)


def read_config(text: str, name: str, built_into: str = "") -> Config:
    """The configuration that `text` (YAML) says, as if it stood in NAME.yaml in the current folder. No file is looked
    at, so that the database it names may be open. `built_into` says what holds the text where no file does: then no
    file is named as the place of a rule. Raises ConfigErrors."""
    label = f"{BUILT_INTO}{built_into}" if built_into else ""
    return replace(
        _load(text, Path(f"{name}.yaml"), {}, False, looks_at_files=False, resolves=False, label=label), file=""
    )


def _load(
    text: str,
    path: Path,
    overrides: Mapping[str, object],
    impolite: bool,
    *,
    looks_at_files: bool = True,
    resolves: bool = True,
    label: str = "",
) -> Config:
    label = label or visible(str(path), LONGEST_PATH)
    start = Mark(label, 1, 1)
    reader = _reader(overrides, impolite, path.parent, looks_at_files=looks_at_files, resolves=resolves)
    root = _compose(text, label, reader)
    config = replace(_read(root, reader), text=reader.stored_text(text))
    stem = path.stem or "crawl"
    database = config.database
    try:
        if not database.location:
            location = (path.parent / f"{stem}.db").absolute()
            if looks_at_files:
                check_file(location, start)
            database = Database(str(location))
    except Refused as refused:
        reader.problems.append(problem_at(refused.mark, "database", refused.message, refused.suggestion))
    named = replace(
        config, name=config.name or visible(stem), database=database, file=str(path), impolite_everywhere=impolite
    )
    return _finish(named, reader, start)


def config_from_seeds(
    seeds: Sequence[str],
    database: str | Path,
    *,
    name: str = "crawl",
    overrides: Mapping[str, object] | None = None,
    allow_impolite_cli: bool = False,
) -> Config:
    """The configuration of `tui-crawler crawl URL…`: these seeds, this database, everything else by default.

    Raises ConfigErrors, as `load_config` does; `guard_database` accepts every database for it.
    """
    reader = _reader(overrides or {}, allow_impolite_cli, Path.cwd())
    given = {"seeds": list(seeds), "name": name, "database": str(database)}
    config = _read(_node(given), reader)
    unguarded = replace(config.database, given="")
    return _finish(
        replace(config, database=unguarded, impolite_everywhere=allow_impolite_cli), reader, _ON_COMMAND_LINE
    )


_RULES_FILE = Table(
    (
        Key("policies", "policies", POLICIES, "Policies."),
        Key("rules", "rules", RULES, "Rules."),
        Key("exclusions", "exclusions", EXCLUSIONS, "Exclusions."),
        Key("whitelist", "whitelist", WHITELIST, "Whitelist."),
    ),
    lambda values, _: values,
)


def load_rules(path: Path) -> RulesetChange:
    """Reads YAML with any of policies, rules, exclusions and whitelist, as in a configuration: the change it makes to
    a ruleset. A list that the file gives replaces the one in force, an empty one takes it away; what the file does
    not name stays, also within `policies`. Raises ConfigErrors."""
    try:
        text = _read_text(path)
    except Refused as refused:
        raise _errors(refused) from refused
    return read_rules(text, str(path), path.parent)


def read_rules(text: str, name: str, folder: Path) -> RulesetChange:
    """The same for a text; `name` stands where it was written, `folder` is where it looks for files."""
    from tui_crawler.domain.ruleset import RulesetChange  # noqa: PLC0415  a start reads no rules by themselves

    reader = Reader(places_of(_RULES_FILE), {}, folder)
    root = _compose(text, visible(name, LONGEST_PATH), reader)
    values = _read(root, reader, _RULES_FILE)
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
        raise ConfigErrors([problem_at(Mark(name, 1, 1), "", "the file holds no rules", f"keys: {names}")])
    return change


def _reader(
    overrides: Mapping[str, object], impolite: bool, folder: Path, *, looks_at_files: bool = True, resolves: bool = True
) -> Reader:
    """A reader with the command line's values, each under its canonical key. Raises ConfigErrors for unknown keys."""
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
    return Reader(PLACES, nodes, folder, looks_at_files=looks_at_files, resolves=resolves)


def _node(value: object) -> Node:
    try:
        return node_of(value, _ON_COMMAND_LINE)
    except Refused as refused:
        raise _errors(refused) from refused


def _compose(text: str, file: str, reader: Reader) -> Node:
    try:
        return compose(text, file, reader.report)
    except Refused as refused:
        reader.problems.append(problem_at(refused.mark, refused.at, refused.message, refused.suggestion))
    except TooManyProblems:
        pass
    raise ConfigErrors(reader.problems)


def _read(root: Node, reader: Reader, table: Table = ROOT) -> Any:
    """The value of a table (a Config, or what the table builds). Raises ConfigErrors."""
    try:
        value = table.read(root, "", reader)
    except Refused as refused:
        reader.problems.append(problem_at(refused.mark, refused.at, refused.message, refused.suggestion))
    except (Incomplete, TooManyProblems):
        pass
    else:
        reader.raise_problems()
        return value
    raise ConfigErrors(reader.problems)


def _finish(config: Config, reader: Reader, start: Mark) -> Config:
    """The checks between keys, then the places and warnings put into the value. Raises ConfigErrors."""
    with suppress(TooManyProblems):
        check_config(config, reader, start)
    reader.raise_problems()
    sources = tuple((key, mark.place) for key, mark in reader.marks.items())
    return replace(config, sources=sources, warnings=tuple(reader.warnings))


def _errors(refused: Refused) -> ConfigErrors:
    return ConfigErrors([problem_at(refused.mark, refused.at, refused.message, refused.suggestion)])


def _read_text(path: Path) -> str:
    """The text of a configuration file without its byte order mark.

    Raises Refused when there is no such file, it may not be read, is no regular file, is larger than 4 MiB, is not
    UTF-8, or holds a character YAML does not allow (NUL, escape…).
    """
    whole = Mark(str(path))
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise Refused(whole, "is a folder", "name a YAML file")
        if not stat.S_ISREG(status.st_mode):
            raise Refused(whole, "is not a regular file", "name a YAML file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Refused(whole, f"cannot be read: {reason.lower()}") from error
    if len(data) > MAX_FILE_BYTES:
        raise Refused(whole, f"is larger than {MAX_FILE_BYTES // 1024**2} MiB, the limit of a configuration")
    return _checked(_decoded(data, str(path)), str(path))


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line_start = before.rfind(b"\n") + 1
        mark = Mark(file, before.count(b"\n") + 1, len(before[line_start:].decode("utf-8", "replace")) + 1)
        raise Refused(
            mark, f"is not UTF-8: the byte {data[error.start]:#04x} cannot stand here", "save the file as UTF-8"
        ) from error


def _checked(text: str, file: str) -> str:
    bad = _NOT_YAML.search(text)
    if bad is None:
        return text
    start = bad.start()
    mark = Mark(file, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))
    raise Refused(mark, f"the character U+{ord(bad[0]):04X} is not allowed in YAML", "remove it")
