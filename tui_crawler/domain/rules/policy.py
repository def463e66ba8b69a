"""What the operator allows: policies (U), rules (B), whitelist and exclusion list (M), as plain values.

`CompiledPolicies` turns them into sets that are asked once per URL, whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any
from urllib.parse import parse_qsl

from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionIndex, host_name
from tui_crawler.domain.rules.matcher import All, Matcher, MatcherSet
from tui_crawler.domain.rules.pattern import Pattern, PatternSet, escape, glob
from tui_crawler.domain.url import CrawlUrl


@dataclass(frozen=True, slots=True)
class DoNotCrawl:
    """URLs that are never requested. `source` is file:line, here and below."""

    matcher: Matcher
    source: str = ""


@dataclass(frozen=True, slots=True)
class QueryPolicy:
    """The query parameters that are allowed where `match` matches (None: everywhere).

    A parameter is allowed when its name is in `allow` or `values`; one in `values` must also have a decoded
    value in which its regular expression is found. `allow_any` allows all.
    """

    match: Matcher | None = None
    allow: frozenset[str] = frozenset()
    values: tuple[tuple[str, str], ...] = ()
    allow_any: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """Settings for the URLs in which `match` is found; None leaves what earlier rules said (B)."""

    match: str
    accept: bool | None = None
    skip: bool | None = None
    ua: str | None = None
    custom_js: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Whitelist:
    """`domains` are host names or globs (`*.example.org`) whose origins join when first linked; of `patterns`,
    if there are any, every URL must match one (M)."""

    domains: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicySet:
    """All of it, in the order of the configuration."""

    do_not_crawl: tuple[DoNotCrawl, ...] = ()
    url_query_parameters: tuple[QueryPolicy, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    whitelist: Whitelist | None = None
    rules: tuple[Rule, ...] = ()

    def with_exclusions(self, added: Iterable[Exclusion]) -> PolicySet:
        """The same with more exclusions, after its own."""
        return replace(self, exclusions=(*self.exclusions, *added))


EMPTY = PolicySet()


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """The settings of one URL by all rules; each `*_rule` is the rule that decided, None the default."""

    accept: bool = True
    skip: bool = False
    ua: str | None = None
    custom_js: str | None = None
    accept_rule: Rule | None = None
    skip_rule: Rule | None = None
    ua_rule: Rule | None = None
    custom_js_rule: Rule | None = None


_NOTHING_SAID = RuleSettings()
_SETTINGS = tuple((name, f"{name}_rule") for name in ("accept", "skip", "ua", "custom_js"))


@dataclass(frozen=True, slots=True)
class QueryRefusal:
    """The reason why a query is refused, in plain words, and the policy (file:line) nearest to allowing it."""

    detail: str
    source: str = ""


class CompiledPolicies:
    """A PolicySet made ready for questions. Immutable; raises BadPattern for the first value that is none."""

    __slots__ = ("_do_not_crawl", "_domains", "_queries", "_rules", "_values", "_whitelist", "exclusions", "policies")

    def __init__(self, policies: PolicySet) -> None:
        self.policies = policies
        self.exclusions = ExclusionIndex(policies.exclusions)
        self._do_not_crawl = MatcherSet([each.matcher for each in policies.do_not_crawl])
        self._rules = PatternSet([rule.match for rule in policies.rules])
        whitelist = policies.whitelist or Whitelist()
        self._domains = PatternSet([_domain(text) for text in whitelist.domains])
        self._whitelist = PatternSet(whitelist.patterns)
        queries = policies.url_query_parameters
        self._queries = MatcherSet([All(()) if each.match is None else each.match for each in queries])
        self._values = tuple({name: Pattern(text) for name, text in each.values} for each in queries)

    def with_exclusions(self, exclusions: ExclusionIndex) -> CompiledPolicies:
        """The same policies with another exclusion list; nothing else is compiled again."""
        other = copy(self)
        other.policies, other.exclusions = replace(self.policies, exclusions=exclusions.items), exclusions
        return other

    def do_not_crawl(self, url: CrawlUrl) -> DoNotCrawl | None:
        """The first policy that forbids the URL."""
        found = self._do_not_crawl.all(url)
        return self.policies.do_not_crawl[found[0]] if found else None

    def welcomes(self, host: str) -> bool:
        """Return whether the whitelist lets the origins of this host join the crawl."""
        return self._domains.first(host) is not None

    def whitelisted(self, url: CrawlUrl) -> bool:
        """Return whether the URL matches a pattern of the whitelist; true if it has none."""
        return not self._whitelist.patterns or self._whitelist.first(url.href) is not None

    def query_refusal(self, url: CrawlUrl) -> QueryRefusal | None:
        """None for a URL without a query and for one whose every parameter some applicable policy allows (U)."""
        if not url.query:
            return None
        policies = self.policies.url_query_parameters
        if not policies:
            return QueryRefusal("no url_query_parameters policy is configured, so every URL with a query is refused")
        parameters = parse_qsl(url.query, keep_blank_values=True)
        refusals: list[QueryRefusal] = []
        for index in self._queries.all(url):
            reason = self._unfit(index, parameters)
            if reason is None:
                return None
            refusals.append(QueryRefusal(reason, policies[index].source))
        if refusals:
            return refusals[0]
        return QueryRefusal(
            f"no url_query_parameters policy is for this URL ({len(policies)} configured), so its query is refused"
        )

    def _unfit(self, index: int, parameters: list[tuple[str, str]]) -> str | None:
        policy, values = self.policies.url_query_parameters[index], self._values[index]
        if policy.allow_any:
            return None
        for name, value in parameters:
            pattern = values.get(name)
            if pattern is None:
                if name not in policy.allow:
                    return f"url_query_parameters: parameter {_clip(name)!r} is not allowed"
            elif not pattern.search(value):
                return (
                    f"url_query_parameters: value {_clip(value)!r} of parameter {_clip(name)!r} "
                    f"does not match {pattern.text}"
                )
        return None

    def settings(self, url: CrawlUrl) -> RuleSettings:
        """Return what the rules say of the URL: in order, the last value that is given wins (B)."""
        said: dict[str, Any] = {}
        for index in self._rules.all(url.href):
            rule = self.policies.rules[index]
            for name, name_of_rule in _SETTINGS:
                if (value := getattr(rule, name)) is not None:
                    said[name], said[name_of_rule] = value, rule
        return RuleSettings(**said) if said else _NOTHING_SAID


def _domain(text: str) -> str:
    """The pattern of a whitelisted domain; the brackets of an IPv6 address are no list of a glob."""
    host = host_name(text)
    return rf"\A{escape(host)}\z" if host.startswith("[") else glob(host)


def _clip(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
