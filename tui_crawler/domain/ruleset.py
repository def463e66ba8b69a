"""Rulesets (B): immutable versions of all that decides over the URLs of a job."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tui_crawler.domain.policy import (
    DoNotCrawl,
    Exclusion,
    PolicySet,
    QueryPolicy,
    Rule,
    Whitelist,
    describe,
)
from tui_crawler.domain.policy_json import BadRuleset, from_json, to_document, to_json

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = [
    "BadRuleset",
    "Ruleset",
    "RulesetChange",
    "RulesetConflict",
    "RulesetLine",
    "Section",
    "change_between",
    "difference",
    "from_json",
    "same_rules",
    "to_document",
    "to_json",
]

Section = Literal["do_not_crawl", "url_query_parameters", "rules", "exclusions", "whitelist"]


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
    for section, former, latter in _sections(before, after):
        former_keys, latter_keys = [_key(each) for each in former], [_key(each) for each in latter]
        if section == "rules":
            gone, new = _moved(former_keys, latter_keys)
        else:
            gone, new = _missing(former_keys, latter_keys), _missing(latter_keys, former_keys)
        lines += [_line(section, former[place], added=False) for place in gone]
        lines += [_line(section, latter[place], added=True) for place in new]
    return tuple(lines)


def _sections(before: PolicySet, after: PolicySet) -> list[tuple[Section, Sequence[Any], Sequence[Any]]]:
    return [
        ("do_not_crawl", before.do_not_crawl, after.do_not_crawl),
        ("url_query_parameters", before.url_query_parameters, after.url_query_parameters),
        ("rules", before.rules, after.rules),
        ("exclusions", before.exclusions, after.exclusions),
        ("whitelist", _whitelisted(before), _whitelisted(after)),
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


def _key(entry: Any) -> Hashable:
    bare: Hashable = entry if isinstance(entry, str) else replace(entry, source="")
    return bare


def _missing(entries: Sequence[Hashable], others: Sequence[Hashable]) -> list[int]:
    """The places of entries that are not among the others, however they are ordered."""
    left = Counter(others)
    places = []
    for place, entry in enumerate(entries):
        if left[entry] > 0:
            left[entry] -= 1
        else:
            places.append(place)
    return places


def _moved(before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[list[int], list[int]]:
    """The places, in each list, of entries outside the longest run that both lists have in the same order."""
    kept = _in_common(_numbered(before), _numbered(after))
    kept_before, kept_after = {pair[0] for pair in kept}, {pair[1] for pair in kept}
    gone = [place for place in range(len(before)) if place not in kept_before]
    return gone, [place for place in range(len(after)) if place not in kept_after]


def _numbered(entries: Sequence[Hashable]) -> list[tuple[Hashable, int]]:
    """Each entry with how often it came before: so all are different."""
    seen: Counter[Hashable] = Counter()
    numbered = []
    for entry in entries:
        numbered.append((entry, seen[entry]))
        seen[entry] += 1
    return numbered


def _in_common(
    entries: Sequence[tuple[Hashable, int]], others: Sequence[tuple[Hashable, int]]
) -> list[tuple[int, int]]:
    """The longest common subsequence of two lists without repetitions, as pairs of places, in O(n log n): it is the
    longest increasing run of the places that the entries have among the others."""
    places = {entry: place for place, entry in enumerate(others)}
    pairs = [(place, places[entry]) for place, entry in enumerate(entries) if entry in places]
    ends: list[int] = []  # the lowest place among the others at which a run of each length ends
    last: list[int] = []  # which pair that is
    before: list[int] = []  # of each pair, the one before it in its run
    for number, (_, other) in enumerate(pairs):
        length = bisect_left(ends, other)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(other)
            last.append(number)
        else:
            ends[length], last[length] = other, number
    run: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _line(section: Section, entry: Any, *, added: bool) -> RulesetLine:
    return RulesetLine(section, added, _words(entry), "" if isinstance(entry, str) else entry.source)


def _words(entry: DoNotCrawl | QueryPolicy | Rule | Exclusion | str) -> str:
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
