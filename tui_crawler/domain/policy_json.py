"""A PolicySet as text, whole: what a stored ruleset holds, and what a command that applies rules carries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, assert_never, get_args

from tui_crawler.domain.policy import (
    All,
    AnyOf,
    DoNotCrawl,
    Exclusion,
    ExclusionKind,
    Field,
    Matcher,
    Not,
    Op,
    PolicySet,
    QueryPolicy,
    Rule,
    Test,
    Whitelist,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 64
"""How many levels of all, any and not a matcher may have; a configuration cannot write that many."""

_FIELDS = frozenset(get_args(Field))
_OPS = frozenset(get_args(Op))
_EXCLUSION_KINDS = frozenset(get_args(ExclusionKind))

T = TypeVar("T")


class BadRuleset(ValueError):
    """A ruleset that cannot be read or written: another version wrote it, it is damaged, or too deeply nested."""


def to_json(policies: PolicySet) -> str:
    """The text of a PolicySet, with the source of every entry. Equal values give equal text; it is plain ASCII.

    Raises BadRuleset for a matcher of more than MAX_DEPTH levels.
    """
    return json.dumps(to_document(policies), ensure_ascii=True, separators=(",", ":"))


def to_document(policies: PolicySet) -> dict[str, Any]:
    """The same as a JSON document, in the sections of a configuration: policies, rules, exclusions, whitelist."""
    whitelist = policies.whitelist
    return {
        "policies": {
            "do_not_crawl": [
                {"match": _matcher_document(each.matcher, 0), "source": each.source} for each in policies.do_not_crawl
            ],
            "url_query_parameters": [_query_document(each) for each in policies.url_query_parameters],
        },
        "rules": [
            {
                "match": rule.match,
                "accept": rule.accept,
                "skip": rule.skip,
                "ua": rule.ua,
                "custom_js": rule.custom_js,
                "source": rule.source,
            }
            for rule in policies.rules
        ],
        "exclusions": [
            {"kind": each.kind, "value": each.value, "reason": each.reason, "who": each.who, "source": each.source}
            for each in policies.exclusions
        ],
        "whitelist": whitelist and {"domains": list(whitelist.domains), "patterns": list(whitelist.patterns)},
    }


def from_json(text: str) -> PolicySet:
    """The PolicySet of a text. Patterns are not compiled here. Raises BadRuleset for whatever `to_json` cannot have
    written, and nothing else."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRuleset(f"the ruleset is no JSON text: {error}") from error
    top = _mapping(document, "ruleset", ("policies", "rules", "exclusions", "whitelist"))
    policies = _mapping(top["policies"], "policies", ("do_not_crawl", "url_query_parameters"))
    return PolicySet(
        do_not_crawl=_each(policies["do_not_crawl"], "policies.do_not_crawl", _do_not_crawl),
        url_query_parameters=_each(policies["url_query_parameters"], "policies.url_query_parameters", _query_policy),
        exclusions=_each(top["exclusions"], "exclusions", _exclusion),
        whitelist=None if top["whitelist"] is None else _whitelist(top["whitelist"], "whitelist"),
        rules=_each(top["rules"], "rules", _rule),
    )


def _query_document(policy: QueryPolicy) -> dict[str, Any]:
    return {
        "match": None if policy.match is None else _matcher_document(policy.match, 0),
        "allow": sorted(policy.allow),
        "values": [list(pair) for pair in policy.values],
        "allow_any": policy.allow_any,
        "source": policy.source,
    }


def _matcher_document(matcher: Matcher, level: int) -> dict[str, Any]:
    if level > MAX_DEPTH:
        raise BadRuleset(f"a matcher is nested more than {MAX_DEPTH} levels deep")
    match matcher:
        case Test(field, op, value):
            return {field: {op: value}}
        case All(parts):
            return {"all": [_matcher_document(part, level + 1) for part in parts]}
        case AnyOf(parts):
            return {"any": [_matcher_document(part, level + 1) for part in parts]}
        case Not(part):
            return {"not": _matcher_document(part, level + 1)}
        case _:
            assert_never(matcher)


def _do_not_crawl(value: Any, at: str) -> DoNotCrawl:
    entry = _mapping(value, at, ("match", "source"))
    return DoNotCrawl(_matcher(entry["match"], f"{at}.match", 0), _text(entry["source"], f"{at}.source"))


def _query_policy(value: Any, at: str) -> QueryPolicy:
    entry = _mapping(value, at, ("match", "allow", "values", "allow_any", "source"))
    return QueryPolicy(
        match=None if entry["match"] is None else _matcher(entry["match"], f"{at}.match", 0),
        allow=frozenset(_each(entry["allow"], f"{at}.allow", _text)),
        values=_each(entry["values"], f"{at}.values", _pair),
        allow_any=_flag(entry["allow_any"], f"{at}.allow_any"),
        source=_text(entry["source"], f"{at}.source"),
    )


def _rule(value: Any, at: str) -> Rule:
    entry = _mapping(value, at, ("match", "accept", "skip", "ua", "custom_js", "source"))
    return Rule(
        match=_text(entry["match"], f"{at}.match"),
        accept=_perhaps(entry["accept"], f"{at}.accept", _flag),
        skip=_perhaps(entry["skip"], f"{at}.skip", _flag),
        ua=_perhaps(entry["ua"], f"{at}.ua", _text),
        custom_js=_perhaps(entry["custom_js"], f"{at}.custom_js", _text),
        source=_text(entry["source"], f"{at}.source"),
    )


def _exclusion(value: Any, at: str) -> Exclusion:
    entry = _mapping(value, at, ("kind", "value", "reason", "who", "source"))
    if _text(entry["kind"], f"{at}.kind") not in _EXCLUSION_KINDS:
        _refuse(f"{at}.kind", f"one of {', '.join(sorted(_EXCLUSION_KINDS))}")
    return Exclusion(
        kind=entry["kind"],
        value=_text(entry["value"], f"{at}.value"),
        reason=_text(entry["reason"], f"{at}.reason"),
        who=_text(entry["who"], f"{at}.who"),
        source=_text(entry["source"], f"{at}.source"),
    )


def _whitelist(value: Any, at: str) -> Whitelist:
    entry = _mapping(value, at, ("domains", "patterns"))
    return Whitelist(_each(entry["domains"], f"{at}.domains", _text), _each(entry["patterns"], f"{at}.patterns", _text))


def _matcher(value: Any, at: str, level: int) -> Matcher:
    if level > MAX_DEPTH or not isinstance(value, dict) or len(value) != 1:
        _refuse(at, f"a matcher of at most {MAX_DEPTH} levels")
    ((name, inner),) = value.items()
    if name == "not":
        return Not(_matcher(inner, f"{at}.not", level + 1))
    if name in {"all", "any"}:
        parts = _each(inner, f"{at}.{name}", lambda part, place: _matcher(part, place, level + 1))
        return All(parts) if name == "all" else AnyOf(parts)
    if name not in _FIELDS or not isinstance(inner, dict) or len(inner) != 1 or next(iter(inner)) not in _OPS:
        _refuse(at, "a matcher")
    ((op, text),) = inner.items()
    return Test(name, op, _text(text, at))


def _mapping(value: Any, at: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """The value if it is a mapping with exactly these keys, in their order."""
    if not isinstance(value, dict) or value.keys() != set(keys):
        _refuse(at, f"a mapping of {', '.join(keys)}")
    return {key: value[key] for key in keys}


def _each(value: Any, at: str, read: Callable[[Any, str], T]) -> tuple[T, ...]:
    if not isinstance(value, list):
        _refuse(at, "a list")
    return tuple(read(item, f"{at}[{place}]") for place, item in enumerate(value))


def _perhaps(value: Any, at: str, read: Callable[[Any, str], T]) -> T | None:
    return None if value is None else read(value, at)


def _pair(value: Any, at: str) -> tuple[str, str]:
    texts = _each(value, at, _text)
    if len(texts) != 2:
        _refuse(at, "a name and a pattern")
    return texts[0], texts[1]


def _text(value: Any, at: str) -> str:
    if not isinstance(value, str):
        _refuse(at, "a text")
    return value


def _flag(value: Any, at: str) -> bool:
    if not isinstance(value, bool):
        _refuse(at, "true or false")
    return value


def _refuse(at: str, wanted: str) -> NoReturn:
    raise BadRuleset(f"the ruleset cannot be read: {at} is not {wanted}")
