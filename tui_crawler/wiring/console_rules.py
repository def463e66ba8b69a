"""What the rule editor of the console asks: an entry typed in one line read as configuration, an entry written as
such a line, and a draft judged."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui_crawler.domain.database_place import DatabasePlace
from tui_crawler.text.safe_text import yaml_quoted

if TYPE_CHECKING:
    from tui_crawler.domain.exclusion import Exclusion
    from tui_crawler.domain.policy import PolicySet
    from tui_crawler.domain.preview import Preview
    from tui_crawler.domain.ruleset import RulesetChange
    from tui_crawler.wiring.rules import Judging, RuleQueries

_PLAIN = re.compile(r"[A-Za-z/^.(\\][A-Za-z0-9/^.()\\$+*?=&_;~|-]*(?: [A-Za-z0-9/^.()\\$+*?=&_;~|-]+)*")
"""Texts that mean themselves anywhere in YAML, but for those that are a number or a word such as `true`."""

_SHORT_HEADS: Mapping[str, str] = {
    "do_not_crawl": "do_not_crawl",
    "url_query_parameters": "query",
    "rules": "rule",
    "exclusions": "exclusion",
}


def lines_of(policies: PolicySet) -> Iterator[str]:
    """Ways to write the only entry of `policies` as one line, the plainest first; not each says the same in YAML.

    The last one is ASCII with every text in quotes.
    """
    from tui_crawler.text.rules_text import rules_document  # noqa: PLC0415  the screen does not wait for it

    document = rules_document(policies)
    for scalar in (_plain, yaml_quoted, _in_ascii):
        yield _line(document, scalar)


def _line(document: Mapping[str, Any], scalar: Callable[[str], str]) -> str:
    sections = {**document["policies"], "rules": document["rules"], "exclusions": document["exclusions"]}
    for section, head in _SHORT_HEADS.items():
        for entry in sections.get(section, ()):
            if section == "rules" and entry.keys() == {"match", "skip"} and entry["skip"]:
                return f"skip: {scalar(entry['match'])}"
            return f"{head}: {_keys(entry, scalar)}"
    return f"whitelist: {_keys(document['whitelist'], scalar)}"


def _keys(entry: Mapping[str, Any], scalar: Callable[[str], str]) -> str:
    return ", ".join(f"{scalar(name)}: {_value(value, scalar)}" for name, value in entry.items())


def _value(value: object, scalar: Callable[[str], str]) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Mapping():
            return f"{{{_keys(value, scalar)}}}"
        case str():
            return scalar(value)
        case list() | tuple():
            return f"[{', '.join(_value(each, scalar) for each in value)}]"
        case _:
            return scalar(str(value))


def _plain(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else yaml_quoted(text)


def _in_ascii(text: str) -> str:
    """A word as it is, everything else in double quotes; only ASCII."""
    return text if re.fullmatch(r"[a-z_]+", text) else yaml_quoted(text, only_ascii=True)


SOURCE = "console"
"""What stands as the place where an entry was written."""

_DO_NOT_CRAWL, _QUERY = "policies:\n  do_not_crawl:\n  - ", "policies:\n  url_query_parameters:\n  - "
_RULE, _EXCLUSION, _WHITELIST = "rules:\n- ", "exclusions:\n- ", "whitelist:\n  "
_HEADS: Mapping[str, str] = {
    "skip": _RULE,
    "rule": _RULE,
    "rules": _RULE,
    "do_not_crawl": _DO_NOT_CRAWL,
    "query": _QUERY,
    "url_query_parameters": _QUERY,
    "exclusion": _EXCLUSION,
    "exclusions": _EXCLUSION,
    "whitelist": _WHITELIST,
}
_NAMED = "skip, rule, do_not_crawl, query, exclusion, whitelist"
_SECOND_KEY = re.compile(r",\s*[a-z_]+:\s")


class ConsoleRules:
    """Fits the console's RuleQueries for one database. Holds no connection: any thread may call it."""

    def __init__(self, database: DatabasePlace) -> None:
        self._database = database

    def read(self, text: str) -> RulesetChange | str:
        """The entries that a line makes (only they stand in the change), or what is wrong with it, in words.

        The line is a section and an entry as the configuration writes it: `exclusion: host: a.example`,
        `do_not_crawl: path: {prefix: /admin/}`; `skip: PATTERN` is short for a rule.
        """
        from tui_crawler.config.load import read_rules  # noqa: PLC0415  the screen does not wait for it
        from tui_crawler.config.problem import ConfigErrors  # noqa: PLC0415

        head, colon, rest = text.strip().partition(":")
        if not colon or head not in _HEADS:
            return f"begin with one of {_NAMED} and a colon"
        try:
            change = read_rules(_document(head, rest.strip()), SOURCE, Path())
        except ConfigErrors as errors:
            problem = errors.problems[0]
            return problem.message + (f"; {problem.suggestion}" if problem.suggestion else "")
        whitelist = change.whitelist and (change.whitelist.domains or change.whitelist.patterns)
        sections = (change.do_not_crawl, change.url_query_parameters, change.rules, change.exclusions, whitelist)
        return _typed(change) if any(sections) else "this adds nothing"

    def write(self, policies: PolicySet) -> str:
        from tui_crawler.domain.policy import EMPTY  # noqa: PLC0415  the same
        from tui_crawler.domain.ruleset import same_rules  # noqa: PLC0415  the same
        from tui_crawler.text.safe_text import without_unseen  # noqa: PLC0415  not before it is needed

        for line in lines_of(policies):
            read = self.read(line) if without_unseen(line) == line else ""
            if not isinstance(read, str) and same_rules(read.applied_to(EMPTY), policies):
                return line
        return ""

    def impact(self, change: RulesetChange, job: str) -> ConsoleImpact:
        """Counts what a change of a job's rules would block and revive among all known URLs.

        Beginning raises StorageFailure, NoSuchJob, BadPattern.
        """
        return ConsoleImpact(self._database, lambda rule_queries: rule_queries.judging(change, job))

    def impact_of_exclusions(self, more: tuple[Exclusion, ...]) -> ConsoleImpact:
        return ConsoleImpact(self._database, lambda rule_queries: rule_queries.judging_exclusions(more))


class ConsoleImpact:
    """Fits the console's ImpactCount for one database. Holds no connection between two times."""

    def __init__(self, database: DatabasePlace, begin: Callable[[RuleQueries], Judging]) -> None:
        self._database = database
        self._begin = begin
        self._judging: Judging | None = None

    def go_on(self, progress: Callable[[int], None]) -> Preview:
        """Judges the URLs that became known since the last time; answers for all. Blocking.

        `progress` is told how many were judged; what it raises ends the judging. Raises StorageFailure, the first time
        also NoSuchJob and BadPattern.
        """
        from tui_crawler.storage.reports.reports import Reports  # noqa: PLC0415  the screen does not wait for it
        from tui_crawler.wiring.rules import RuleQueries  # noqa: PLC0415

        with contextlib.closing(Reports(self._database)) as reports:
            if self._judging is None:
                self._judging = self._begin(RuleQueries(reports))
            return self._judging.go_on(reports, progress)


def _document(head: str, rest: str) -> str:
    """The line as a document of its own. Several keys in one line are a flow mapping, a single one needs no braces."""
    if head == "skip":
        return f"{_RULE}match: {rest}\n  skip: true\n"
    item = f"{{{rest}}}" if rest[:1] not in "{[" and _SECOND_KEY.search(rest) else rest
    if item.startswith("["):
        return f"{_HEADS[head].rstrip('- ').rstrip()} {item}\n"
    return f"{_HEADS[head]}{item}\n"


def _typed(change: RulesetChange) -> RulesetChange:
    """The change, its entries written in the console instead of in a line of a document."""
    sections = {name: getattr(change, name) for name in _SHORT_HEADS}
    typed: dict[str, Any] = {
        name: tuple(replace(each, source=SOURCE) for each in some) for name, some in sections.items() if some
    }
    return replace(change, **typed)
