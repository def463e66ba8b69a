"""Policies, exclusions, rules and whitelist as a configuration writes them, read into the values of the domain; and
their matchers: `{path: {prefix: /admin/}}`, combined by all, any and not (U)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, assert_never, get_args

from tui_crawler.config.kinds import Flag, Nullable, Pairs, Plain, Regex, Text, ValueKind, expected, nearest, text_of
from tui_crawler.config.problem import BadValue, SourcePlace, visible_key
from tui_crawler.config.reader import ConfigReader
from tui_crawler.config.table import ConfigKey, ListOf, Table, key, table_of
from tui_crawler.config.tree import ListNode, MappingNode, Node, Scalar, describe, value_of
from tui_crawler.config.url_tests import check_possible
from tui_crawler.config.web_kinds import host_hint, host_kind, plain_host, user_agent_kind
from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionKind, parse_network
from tui_crawler.domain.rules.matcher import All, AnyOf, Field, Matcher, Not, Op, Test
from tui_crawler.domain.rules.pattern import BadPattern, Pattern, glob
from tui_crawler.domain.rules.policy import DoNotCrawl, QueryPolicy, Rule, Whitelist

FIELDS: tuple[Field, ...] = get_args(Field)
OPS: tuple[Op, ...] = get_args(Op)
_COMBINERS = ("all", "any", "not")
_LONGEST = 4096  # characters of a value that is compared with a URL


class MatcherKind:
    """A test of a URL: `{path: {prefix: /admin/}}`; several fields in one mapping must all match."""

    accepts = "a matcher such as {path: {prefix: /admin/}}"

    def read(self, node: Node, at: str, reader: ConfigReader) -> Matcher:
        if not isinstance(node, MappingNode) or not node.entries:
            hint = f"write {{url: {{regex: …}}}} or {{path: {{prefix: …}}}}; fields: {', '.join(FIELDS)}"
            raise expected(self, node, hint)
        parts: list[Matcher] = []
        for name, value in node.entries:
            path = f"{at}.{visible_key(name.text)}"
            if name.text == "not":
                parts.append(Not(self.read(value, path, reader)))
            elif name.text in _COMBINERS:
                if not isinstance(value, ListNode) or not value.items:
                    raise BadValue(value.mark, f"expected a list of matchers, found {describe(value)}", at=path)
                inner = tuple(self.read(item, f"{path}[{index}]", reader) for index, item in enumerate(value.items))
                parts.append(All(inner) if name.text == "all" else AnyOf(inner))
            elif name.text in FIELDS:
                if name.text == "fragment":
                    reader.warn(path, "pages have no fragment: it is cut off when a link is found", mark=name.mark)
                parts += _tests(name.text, value, path, self)
            else:
                raise BadValue(name.mark, "unknown field", nearest(name.text, (*FIELDS, *_COMBINERS)), path)
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def show(self, value: Matcher) -> Any:
        from tui_crawler.domain.rules.ruleset import matcher_document  # noqa: PLC0415  a start shows no matcher

        return matcher_document(value)

    def json_schema(self) -> dict[str, Any]:
        return {"$ref": "#/$defs/matcher"}


def matcher_schema() -> dict[str, Any]:
    """The JSON Schema of a matcher, for `$defs`: matchers hold matchers."""
    test = {"type": "object", "minProperties": 1, "additionalProperties": False}
    text = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
    field = {"anyOf": [text, {"type": "integer"}, test | {"properties": dict.fromkeys(OPS, text)}]}
    parts = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/matcher"}}
    combiners = {"all": parts, "any": parts, "not": {"$ref": "#/$defs/matcher"}}
    return test | {"properties": dict.fromkeys(FIELDS, field) | combiners}


def _tests(field: Field, node: Node, at: str, kind: ValueKind) -> list[Matcher]:
    if not isinstance(node, MappingNode):
        return [_possible(Test(field, "equals", _compared(field, node, at, kind)), node, at)]
    if not node.entries:
        raise BadValue(node.mark, f"expected a comparison, one of {', '.join(OPS)}, found an empty mapping", at=at)
    tests: list[Matcher] = []
    for name, value in node.entries:
        if name.text not in OPS:
            raise BadValue(name.mark, "unknown comparison", nearest(name.text, OPS), f"{at}.{visible_key(name.text)}")
        op = name.text
        text = _compared(field, value, f"{at}.{op}", kind)
        try:
            if op in {"regex", "glob"}:
                Pattern(text if op == "regex" else glob(text))
        except BadPattern as error:
            what = "linear-time regular expression" if op == "regex" else "glob"
            raise BadValue(value.mark, f"not a {what}: {error.message}", at=f"{at}.{op}") from None
        tests.append(_possible(Test(field, op, text), value, f"{at}.{op}"))
    return tests


def _possible(test: Test, node: Node, at: str = "") -> Test:
    try:
        check_possible(test)
    except BadPattern as error:
        raise BadValue(node.mark, error.message, at=at) from None
    return test


class UrlRegex(Regex):
    """A regular expression that is searched in URLs."""

    def read(self, node: Node, at: str, reader: ConfigReader) -> str:
        return _possible(Test("url", "regex", super().read(node, at, reader)), node).value


def _compared(field: Field, node: Node, at: str, kind: ValueKind) -> str:
    """The text a field is compared with; a port may be written as a number."""
    if field == "port" and isinstance(node, Scalar) and isinstance(value_of(node), int):
        return node.text
    try:
        text = text_of(node, Text(f"a text to compare the {field} with"), may_quote=True)
    except BadValue as refused:
        raise BadValue(refused.mark, refused.message, refused.suggestion, at) from None
    if not text or len(text) > _LONGEST:
        raise BadValue(node.mark, f"expected a text of 1 to {_LONGEST} characters", at=at)
    return text


EXCLUSION_KINDS: tuple[ExclusionKind, ...] = get_args(ExclusionKind)
_RULE_EFFECTS = ("accept", "skip", "ua", "custom_js")


class DoNotCrawlKind:
    """One entry of `do_not_crawl`: a matcher, with the place it was given at."""

    accepts, json_schema = MatcherKind.accepts, MatcherKind.json_schema

    def read(self, node: Node, at: str, reader: ConfigReader) -> DoNotCrawl:
        return DoNotCrawl(MatcherKind().read(node, at, reader), node.mark.place)

    def show(self, value: DoNotCrawl) -> Any:
        return MatcherKind().show(value.matcher)


@dataclass(frozen=True, slots=True)
class HostText(Plain):
    """Hosts as a list names them: a domain, a glob, a network in CIDR notation (RFC 4632, RFC 4291). `kept` returns the
    form that is kept, or raises BadPattern."""

    accepts: str
    kept: Callable[[str], str]
    hint: Callable[[str], str] = host_hint

    def read(self, node: Node, at: str, reader: ConfigReader) -> str:
        text = text_of(node, Text(self.accepts))
        try:
            return self.kept(text)
        except BadPattern:
            raise BadValue(node.mark, f"expected {self.accepts}, found {describe(node)}", self.hint(text)) from None


def _host_glob(text: str) -> str:
    Pattern(glob(plain_host(text, globs=True)))
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
            Pattern(value)
            check_possible(Test("url", "regex", value))
            return value
        case _:
            assert_never(kind)


def _build_exclusion(values: Mapping[str, Any], mark: SourcePlace) -> Exclusion:
    given = [kind for kind in EXCLUSION_KINDS if values[kind] is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none of them"
        raise BadValue(mark, f"expected one of {', '.join(EXCLUSION_KINDS)}, found {found}", "one entry for each")
    (kind,) = given
    return Exclusion(kind, values[kind], values["reason"], values["who"], mark.place)


def _build_query_policy(values: Mapping[str, Any], mark: SourcePlace) -> QueryPolicy:
    if not (values["allow"] or values["values"] or values["allow_any"]):
        raise BadValue(mark, "the policy allows nothing", "list parameter names under allow, or write allow_any: true")
    allow = frozenset(values["allow"])
    return QueryPolicy(values["match"], allow, values["values"], values["allow_any"], mark.place)


def _build_rule(values: Mapping[str, Any], mark: SourcePlace) -> Rule:
    if all(values[effect] is None for effect in _RULE_EFFECTS):
        raise BadValue(mark, "the rule changes nothing", f"give one of {', '.join(_RULE_EFFECTS)}")
    return Rule(**values, source=mark.place)


_DOMAIN = HostText("a domain such as example.net", partial(exclusion_value, "domain"))
_NETWORK = HostText("an IP address or network such as 203.0.113.0/24", partial(exclusion_value, "cidr"), lambda _: "")
_GLOB = HostText("a host name or glob such as *.example.org", _host_glob)
_SAID_BEFORE = "what earlier rules said"
EXCLUSION = Table(
    (
        ConfigKey("domain", Nullable(_DOMAIN), "The domain and all hosts below it."),
        ConfigKey("host", Nullable(host_kind), "Exactly this host name or address."),
        ConfigKey("cidr", Nullable(_NETWORK), "Addresses, also those a name resolves to."),
        ConfigKey("pattern", Nullable(UrlRegex()), "Searched in the URL."),
        ConfigKey("reason", Text(longest=1000, shortest=0), "Why; shown wherever it refuses a URL.", ""),
        ConfigKey("who", Text(shortest=0), "Who added it.", ""),
    ),
    _build_exclusion,
    lambda value: dict.fromkeys(EXCLUSION_KINDS) | {value.kind: value.value, "reason": value.reason, "who": value.who},
)
QUERY_POLICY = Table(
    (
        ConfigKey("match", Nullable(MatcherKind(), "every URL"), "The URLs the policy is for."),
        ConfigKey("allow", ListOf(Text("a parameter name"), "parameter names"), "Parameters with any value.", ()),
        ConfigKey(
            "values",
            Pairs(Regex(), "a mapping of parameter names to regular expressions"),
            "Parameters whose decoded value the regular expression must be found in.",
            (),
        ),
        ConfigKey("allow_any", Flag(), "Allows every parameter.", False),
    ),
    _build_query_policy,
    lambda one: (
        {name: getattr(one, name) for name in ("match", "values", "allow_any")} | {"allow": (*sorted(one.allow),)}
    ),
)
RULE = Table(
    (
        ConfigKey("match", UrlRegex(), "The URLs the rule is for: searched in the URL.", required=True),
        ConfigKey("accept", Nullable(Flag(), _SAID_BEFORE), "false: links to such URLs are not queued."),
        ConfigKey("skip", Nullable(Flag(), _SAID_BEFORE), "true: such pages are skipped when their turn comes."),
        ConfigKey("ua", Nullable(user_agent_kind, _SAID_BEFORE), "User-Agent header for such pages."),
        ConfigKey(
            "custom_js",
            Nullable(Text("a script", longest=100_000, lines=True), _SAID_BEFORE),
            "Script to run in the page. There is no browser extra yet: such pages fail (230).",
        ),
    ),
    _build_rule,
    lambda value: {"match": value.match} | {effect: getattr(value, effect) for effect in _RULE_EFFECTS},
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


WHITELIST = Table(
    (
        ConfigKey(
            "domains",
            ListOf(_GLOB, "host names or globs"),
            "Hosts whose origins join the crawl when they are first linked.",
            (),
        ),
        ConfigKey(
            "patterns",
            ListOf(UrlRegex(), "regular expressions"),
            "If there are any, every URL must match one of them, also on the origins of the seeds.",
            (),
        ),
    ),
    lambda values, _: Whitelist(**values) if any(values.values()) else None,
    lambda value: {"domains": value.domains, "patterns": value.patterns} if value else {"domains": (), "patterns": ()},
)
POLICIES = table_of(PoliciesConfig)
