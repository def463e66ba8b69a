"""Rulesets (B): immutable versions of all that decides over the URLs of a job."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tui_crawler.domain.entry_order import missing, out_of_order
from tui_crawler.domain.matcher import tests_of
from tui_crawler.domain.policy import DoNotCrawl, Exclusion, PolicySet, QueryPolicy, Rule, Whitelist, describe
from tui_crawler.domain.policy_json import BadRuleset, from_json, to_document, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BadRuleset",
    "Ruleset",
    "RulesetChange",
    "RulesetConflict",
    "RulesetEntry",
    "RulesetLine",
    "Section",
    "bare_entry",
    "change_between",
    "difference",
    "from_json",
    "line_of",
    "name_of",
    "same_rules",
    "sections_of",
    "to_document",
    "to_json",
]

Section = Literal["do_not_crawl", "url_query_parameters", "rules", "exclusions", "whitelist"]

RulesetEntry = DoNotCrawl | QueryPolicy | Rule | Exclusion | str
"""What an entry is; of the whitelist a text: `domain *.example.org`, `pattern /news/`."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """One version. `parent_id` is the version it was made from (0: none); `at` epoch ms.

    `policies` are policies, rules (the common ones, then the job's own), exclusions and whitelist of the job `job`.
    `from_config`: it was read from the configuration; otherwise an operator applied it.
    """

    ruleset_id: int
    job: str
    policies: PolicySet
    parent_id: int = 0
    at: int = 0
    who: str = ""
    note: str = ""
    from_config: bool = False
    current: bool = True


class RulesetConflict(ValueError):
    """An edit began with a version that is no longer the current one: nothing was written (B)."""


@dataclass(frozen=True, slots=True)
class RulesetChange:
    """An edit: each section either as it is to be, whole, or None to leave it. An empty whitelist takes it away."""

    do_not_crawl: tuple[DoNotCrawl, ...] | None = None
    url_query_parameters: tuple[QueryPolicy, ...] | None = None
    rules: tuple[Rule, ...] | None = None
    exclusions: tuple[Exclusion, ...] | None = None
    whitelist: Whitelist | None = None

    def applied_to(self, policies: PolicySet) -> PolicySet:
        """The policies with the sections of this edit instead of theirs."""
        whitelist = policies.whitelist if self.whitelist is None else self.whitelist
        return PolicySet(
            do_not_crawl=policies.do_not_crawl if self.do_not_crawl is None else self.do_not_crawl,
            url_query_parameters=(
                policies.url_query_parameters if self.url_query_parameters is None else self.url_query_parameters
            ),
            exclusions=policies.exclusions if self.exclusions is None else self.exclusions,
            whitelist=None if whitelist == Whitelist() and self.whitelist is not None else whitelist,
            rules=policies.rules if self.rules is None else self.rules,
        )


@dataclass(frozen=True, slots=True)
class RulesetLine:
    """An entry that one version has and another has not, in words. `source` is file:line."""

    section: Section
    added: bool
    text: str
    source: str = ""


def same_rules(one: PolicySet, other: PolicySet) -> bool:
    """Whether both decide alike by what is written in them: where an entry was written does not count, and an empty
    whitelist is none."""
    return _bare(one) == _bare(other)


def change_between(before: PolicySet, after: PolicySet) -> RulesetChange:
    """The edit that makes `after` of `before`: the sections that differ, not counting where they were written."""
    one, other = _bare(before), _bare(after)
    return RulesetChange(
        do_not_crawl=None if one.do_not_crawl == other.do_not_crawl else after.do_not_crawl,
        url_query_parameters=(
            None if one.url_query_parameters == other.url_query_parameters else after.url_query_parameters
        ),
        rules=None if one.rules == other.rules else after.rules,
        exclusions=None if one.exclusions == other.exclusions else after.exclusions,
        whitelist=None if one.whitelist == other.whitelist else after.whitelist or Whitelist(),
    )


def difference(before: PolicySet, after: PolicySet) -> tuple[RulesetLine, ...]:
    """What was taken out and put in, section by section, the lines taken out first.

    A rule that changed its place stands in both lists, since the last matching one wins (B); elsewhere the order
    decides nothing.
    """
    lines: list[RulesetLine] = []
    for (section, former), (_, latter) in zip(sections_of(before), sections_of(after), strict=True):
        former_keys, latter_keys = [bare_entry(each) for each in former], [bare_entry(each) for each in latter]
        if section == "rules":
            gone, new = out_of_order(former_keys, latter_keys)
        else:
            gone, new = missing(former_keys, latter_keys), missing(latter_keys, former_keys)
        lines += [line_of(section, former[place], added=False) for place in gone]
        lines += [line_of(section, latter[place], added=True) for place in new]
    return tuple(lines)


def sections_of(policies: PolicySet) -> list[tuple[Section, Sequence[RulesetEntry]]]:
    """All entries, section by section, each in its order."""
    return [
        ("do_not_crawl", policies.do_not_crawl),
        ("url_query_parameters", policies.url_query_parameters),
        ("rules", policies.rules),
        ("exclusions", policies.exclusions),
        ("whitelist", _whitelisted(policies)),
    ]


def _bare(policies: PolicySet) -> PolicySet:
    """The policies without the places where their entries were written."""
    return PolicySet(
        do_not_crawl=tuple(replace(each, source="") for each in policies.do_not_crawl),
        url_query_parameters=tuple(replace(each, source="") for each in policies.url_query_parameters),
        exclusions=tuple(replace(each, source="") for each in policies.exclusions),
        whitelist=None if policies.whitelist == Whitelist() else policies.whitelist,
        rules=tuple(replace(each, source="") for each in policies.rules),
    )


def _whitelisted(policies: PolicySet) -> list[str]:
    whitelist = policies.whitelist or Whitelist()
    return [f"domain {name}" for name in whitelist.domains] + [f"pattern {text}" for text in whitelist.patterns]


def bare_entry(entry: RulesetEntry) -> RulesetEntry:
    """The entry without the place where it was written."""
    return entry if isinstance(entry, str) else replace(entry, source="")


def line_of(section: Section, entry: RulesetEntry, *, added: bool) -> RulesetLine:
    """An entry in words."""
    return RulesetLine(section, added, _words(entry), "" if isinstance(entry, str) else entry.source)


def name_of(entry: RulesetEntry) -> str:
    """What an entry is known by, without what it does: the same in one of which that alone was edited."""
    match entry:
        case DoNotCrawl():
            return " ".join(test.value for test in tests_of(entry.matcher))
        case QueryPolicy():
            where = () if entry.match is None else (test.value for test in tests_of(entry.match))
            return " ".join((*where, *sorted(entry.allow), *(name for name, _ in entry.values)))
        case Rule():
            return entry.match
        case Exclusion():
            return entry.value
        case str():
            return entry.partition(" ")[2]


def _words(entry: RulesetEntry) -> str:
    match entry:
        case DoNotCrawl():
            return describe(entry.matcher)
        case QueryPolicy():
            return _query_words(entry)
        case Rule():
            effects = {"accept": entry.accept, "skip": entry.skip, "ua": entry.ua, "custom_js": entry.custom_js}
            given = (f"{name} {_value(value)}" for name, value in effects.items() if value is not None)
            return f"{entry.match}: {', '.join(given)}"
        case Exclusion():
            return entry.describe().removeprefix("exclusion list: ")
        case str():
            return entry


def _query_words(policy: QueryPolicy) -> str:
    where = "everywhere" if policy.match is None else f"where {describe(policy.match)}"
    if policy.allow_any:
        return f"any parameter {where}"
    allowed = sorted(policy.allow) + [f"{name} like {text}" for name, text in policy.values]
    return f"{', '.join(allowed) or 'no parameter'} {where}"


def _value(value: bool | str) -> str:
    return str(value).lower() if isinstance(value, bool) else value
