"""Policies, exclusions, rules and whitelist as a configuration writes them, read into the values of the domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never, get_args

from tui_crawler.config.kinds import Flag, Nullable, Pairs, Plain, Regex, Text, text_of
from tui_crawler.config.matcher import MatcherKind
from tui_crawler.config.problem import Mark, Refused
from tui_crawler.config.reader import Reader
from tui_crawler.config.table import Key, ListOf, Table, key, table_of
from tui_crawler.config.tree import Node, describe
from tui_crawler.config.web_kinds import HostName, UserAgent, plain_host
from tui_crawler.domain.exclusion import Exclusion, ExclusionKind, parse_network
from tui_crawler.domain.pattern import BadPattern, Pattern, glob
from tui_crawler.domain.policy import DoNotCrawl, QueryPolicy, Rule, Whitelist

EXCLUSION_KINDS: tuple[ExclusionKind, ...] = get_args(ExclusionKind)
_RULE_EFFECTS = ("accept", "skip", "ua", "custom_js")


class DoNotCrawlKind:
    """One entry of `do_not_crawl`: a matcher, with the place it was given at."""

    accepts = MatcherKind().accepts

    def read(self, node: Node, at: str, reader: Reader) -> DoNotCrawl:
        return DoNotCrawl(MatcherKind().read(node, at, reader), node.mark.place)

    def show(self, value: DoNotCrawl) -> Any:
        return MatcherKind().show(value.matcher)

    def json_schema(self) -> dict[str, Any]:
        return MatcherKind().json_schema()


class Domain(Plain):
    """A domain of the exclusion list: the name and everything below it."""

    accepts = "a domain such as example.net"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        return _exclusion("domain", node, self.accepts)


class Network(Plain):
    """An address or a network in CIDR notation (RFC 4632, RFC 4291)."""

    accepts = "an IP address or network such as 203.0.113.0/24"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        return _exclusion("cidr", node, self.accepts)


class HostGlob(Plain):
    """A host name, or a glob of host names, of the whitelist."""

    accepts = "a host name or glob such as *.example.org"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        text = text_of(node, self)
        try:
            Pattern(glob(plain_host(text)))
        except BadPattern:
            raise Refused(node.mark, f"expected {self.accepts}, found {describe(node)}") from None
        return text


def exclusion_value(kind: ExclusionKind, value: str) -> str:
    """The value of an exclusion in the form it is kept: host names in lower case and punycode, networks without
    host bits, patterns as they are. Raises BadPattern (a plain message) for what is none."""
    match kind:
        case "domain":
            return plain_host(value.strip().removeprefix("*.").lstrip("."))
        case "host":
            return plain_host(value)
        case "cidr":
            return str(parse_network(value))
        case "pattern":
            if not value:
                raise BadPattern(value, "is empty, it would exclude everything")
            return Pattern(value).text
        case _:
            assert_never(kind)


def _exclusion(kind: ExclusionKind, node: Node, accepts: str) -> str:
    try:
        return exclusion_value(kind, text_of(node, Text(accepts)))
    except BadPattern:
        raise Refused(node.mark, f"expected {accepts}, found {describe(node)}") from None


def _build_exclusion(values: Mapping[str, Any], mark: Mark) -> Exclusion:
    given = [kind for kind in EXCLUSION_KINDS if values[kind] is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none of them"
        raise Refused(mark, f"expected one of {', '.join(EXCLUSION_KINDS)}, found {found}", "one entry for each")
    (kind,) = given
    return Exclusion(kind, values[kind], values["reason"], values["who"], mark.place)


def _show_exclusion(value: Exclusion) -> dict[str, Any]:
    shown: dict[str, Any] = dict.fromkeys(EXCLUSION_KINDS)
    return shown | {value.kind: value.value, "reason": value.reason, "who": value.who}


def _build_query_policy(values: Mapping[str, Any], mark: Mark) -> QueryPolicy:
    if not (values["allow"] or values["values"] or values["allow_any"]):
        raise Refused(mark, "the policy allows nothing", "list parameter names under allow, or write allow_any: true")
    allow = frozenset(values["allow"])
    return QueryPolicy(values["match"], allow, values["values"], values["allow_any"], mark.place)


def _show_query_policy(value: QueryPolicy) -> dict[str, Any]:
    return {
        "match": value.match,
        "allow": tuple(sorted(value.allow)),
        "values": value.values,
        "allow_any": value.allow_any,
    }


def _build_rule(values: Mapping[str, Any], mark: Mark) -> Rule:
    if all(values[effect] is None for effect in _RULE_EFFECTS):
        raise Refused(mark, "the rule changes nothing", f"give one of {', '.join(_RULE_EFFECTS)}")
    return Rule(**values, source=mark.place)


def _show_rule(value: Rule) -> dict[str, Any]:
    return {"match": value.match} | {effect: getattr(value, effect) for effect in _RULE_EFFECTS}


_SAID_BEFORE = "what earlier rules said"
EXCLUSION = Table(
    (
        Key("domain", "domain", Nullable(Domain()), "The domain and all hosts below it."),
        Key("host", "host", Nullable(HostName()), "Exactly this host name or address."),
        Key("cidr", "cidr", Nullable(Network()), "Addresses, also those a name resolves to."),
        Key("pattern", "pattern", Nullable(Regex()), "Searched in the URL."),
        Key("reason", "reason", Text(longest=1000, shortest=0), "Why; shown wherever it refuses a URL.", ""),
        Key("who", "who", Text(shortest=0), "Who asked for it.", ""),
    ),
    _build_exclusion,
    _show_exclusion,
)
QUERY_POLICY = Table(
    (
        Key("match", "match", Nullable(MatcherKind(), "every URL"), "The URLs the policy is for."),
        Key("allow", "allow", ListOf(Text("a parameter name"), "parameter names"), "Parameters with any value.", ()),
        Key(
            "values",
            "values",
            Pairs(Regex(), "a mapping of parameter names to regular expressions"),
            "Parameters whose decoded value the regular expression must be found in.",
            (),
        ),
        Key("allow_any", "allow_any", Flag(), "Allows every parameter.", False),
    ),
    _build_query_policy,
    _show_query_policy,
)
RULE = Table(
    (
        Key("match", "match", Regex(), "The URLs the rule is for: searched in the URL.", required=True),
        Key("accept", "accept", Nullable(Flag(), _SAID_BEFORE), "false: links to such URLs are not queued."),
        Key("skip", "skip", Nullable(Flag(), _SAID_BEFORE), "true: such pages are skipped when their turn comes."),
        Key("ua", "ua", Nullable(UserAgent(), _SAID_BEFORE), "User-Agent header for such pages."),
        Key(
            "custom_js",
            "custom_js",
            Nullable(Text("a script", longest=100_000, lines=True), _SAID_BEFORE),
            "Script to run in the page. There is no browser extra yet: such pages fail (230).",
        ),
    ),
    _build_rule,
    _show_rule,
)
RULES = ListOf(RULE, "rules")
EXCLUSIONS = ListOf(EXCLUSION, "exclusions")


@dataclass(frozen=True, slots=True)
class PoliciesConfig:
    """The `policies` section."""

    do_not_crawl: tuple[DoNotCrawl, ...] = key(
        ListOf(DoNotCrawlKind(), "matchers"), (), "URLs that are never requested: a list of matchers."
    )
    url_query_parameters: tuple[QueryPolicy, ...] = key(
        ListOf(QUERY_POLICY, "query policies"),
        (),
        "Which URLs with a query may be requested. With no policy, every URL with a query is refused.",
    )


def _build_whitelist(values: Mapping[str, Any], mark: Mark) -> Whitelist | None:
    return Whitelist(**values) if any(values.values()) else None


def _show_whitelist(value: Whitelist | None) -> dict[str, Any]:
    return {"domains": value.domains, "patterns": value.patterns} if value else {"domains": (), "patterns": ()}


WHITELIST = Table(
    (
        Key(
            "domains",
            "domains",
            ListOf(HostGlob(), "host names or globs"),
            "Hosts whose origins join the crawl when they are first linked.",
            (),
        ),
        Key(
            "patterns",
            "patterns",
            ListOf(Regex(), "regular expressions"),
            "If there are any, every URL must match one of them, also on the origins of the seeds.",
            (),
        ),
    ),
    _build_whitelist,
    _show_whitelist,
)
POLICIES = table_of(PoliciesConfig)
