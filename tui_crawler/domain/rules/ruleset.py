"""Rulesets (B): immutable versions of all that decides over the URLs of a job, and their text: what a database keeps,
and what a command that applies rules carries."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, NoReturn, TypeVar, assert_never, get_args

from tui_crawler.domain.record import dataclass, fields, replace
from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionKind
from tui_crawler.domain.rules.matcher import All, AnyOf, Field, Matcher, Not, Op, Test, describe
from tui_crawler.domain.rules.policy import DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist

MAX_DEPTH = 64
"""How many levels of all, any and not a matcher may have; a configuration cannot write that many."""

_FIELDS = frozenset(get_args(Field))
_OPS = frozenset(get_args(Op))
_EXCLUSION_KINDS = frozenset(get_args(ExclusionKind))

T = TypeVar("T")
Reading = Callable[[Any, str], T]
"""What makes a value of what stands at a place of the document. Raises BadRuleset."""


class BadRuleset(ValueError):
    """A ruleset that cannot be read or written: another version wrote it, it is damaged, or too deeply nested."""


def to_json(policies: PolicySet) -> str:
    """The text of a PolicySet, with the source of every entry. Equal values give equal text; it is plain ASCII.

    Raises BadRuleset for a matcher of more than MAX_DEPTH levels.
    """
    document = {
        "policies": {
            "do_not_crawl": [*map(entry_document, policies.do_not_crawl)],
            "url_query_parameters": [*map(entry_document, policies.url_query_parameters)],
        },
        "rules": [*map(entry_document, policies.rules)],
        "exclusions": [*map(entry_document, policies.exclusions)],
        "whitelist": policies.whitelist and entry_document(policies.whitelist),
    }
    return json.dumps(document, ensure_ascii=True, separators=(",", ":"))


def entry_document(entry: DoNotCrawl | QueryPolicy | Rule | Exclusion | Whitelist) -> dict[str, Any]:
    """Return an entry (or the whitelist) as JSON has it, with its source."""
    values = {one.name: getattr(entry, one.name) for one in fields(entry)}
    if isinstance(entry, DoNotCrawl):
        return {"match": matcher_document(entry.matcher), "source": entry.source}
    if isinstance(entry, QueryPolicy):
        values |= {"match": entry.match and matcher_document(entry.match), "allow": sorted(entry.allow)}
    return values


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
        whitelist=_perhaps(_whitelist)(top["whitelist"], "whitelist"),
        rules=_each(top["rules"], "rules", _rule),
    )


def matcher_document(matcher: Matcher, level: int = 0) -> dict[str, Any]:
    """Return a matcher as a configuration writes it. Raises BadRuleset beyond MAX_DEPTH levels."""
    if level > MAX_DEPTH:
        raise BadRuleset(f"a matcher is nested more than {MAX_DEPTH} levels deep")
    match matcher:
        case Test(field, op, value):
            return {field: {op: value}}
        case All(parts):
            return {"all": [matcher_document(part, level + 1) for part in parts]}
        case AnyOf(parts):
            return {"any": [matcher_document(part, level + 1) for part in parts]}
        case Not(part):
            return {"not": matcher_document(part, level + 1)}
        case _:
            assert_never(matcher)


def _matcher(value: Any, at: str, level: int = 0) -> Matcher:
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


def _mapping(value: Any, at: str, keys: Collection[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != set(keys):
        _refuse(at, f"a mapping of {', '.join(keys)}")
    return {key: value[key] for key in keys}


def _each(value: Any, at: str, read: Reading[T]) -> tuple[T, ...]:
    if not isinstance(value, list):
        _refuse(at, "a list")
    return tuple(read(item, f"{at}[{place}]") for place, item in enumerate(value))


def _perhaps(read: Reading[T]) -> Reading[T | None]:
    return lambda value, at: None if value is None else read(value, at)


def _texts(value: Any, at: str) -> tuple[str, ...]:
    return _each(value, at, _text)


def _pair(value: Any, at: str) -> tuple[str, str]:
    texts = _texts(value, at)
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


def _exclusion_kind(value: Any, at: str) -> ExclusionKind:
    if _text(value, at) not in _EXCLUSION_KINDS:
        _refuse(at, f"one of {', '.join(sorted(_EXCLUSION_KINDS))}")
    return value  # type: ignore[no-any-return]  # one of them


def _entry(made: Callable[..., T], /, **readers: Reading[object]) -> Reading[T]:
    """Return what reads an entry whose fields are read so, in the order in which it takes them."""

    def read(value: Any, at: str) -> T:
        entry = _mapping(value, at, readers)
        return made(*(reader(entry[name], f"{at}.{name}") for name, reader in readers.items()))

    return read


def _refuse(at: str, wanted: str) -> NoReturn:
    raise BadRuleset(f"the ruleset cannot be read: {at} is not {wanted}")


_do_not_crawl = _entry(DoNotCrawl, match=_matcher, source=_text)
_query_policy = _entry(
    QueryPolicy,
    match=_perhaps(_matcher),
    allow=lambda value, at: frozenset(_texts(value, at)),
    values=lambda value, at: _each(value, at, _pair),
    allow_any=_flag,
    source=_text,
)
_rule = _entry(
    Rule,
    match=_text,
    accept=_perhaps(_flag),
    skip=_perhaps(_flag),
    ua=_perhaps(_text),
    custom_js=_perhaps(_text),
    source=_text,
)
_exclusion = _entry(Exclusion, kind=_exclusion_kind, value=_text, reason=_text, who=_text, source=_text)
_whitelist = _entry(Whitelist, domains=_texts, patterns=_texts)

Section = Literal["do_not_crawl", "url_query_parameters", "rules", "exclusions", "whitelist"]
_LISTS: tuple[Section, ...] = get_args(Section)[:-1]

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
        given = {name: value for name in _LISTS if (value := getattr(self, name)) is not None}
        whitelist = None if self.whitelist == Whitelist() else self.whitelist or policies.whitelist
        return replace(policies, **given, whitelist=whitelist)


@dataclass(frozen=True, slots=True)
class RulesProblem:
    """One thing that is wrong in a text of rules, in words; `line` counts from 1 (0: the text as a whole)."""

    line: int
    words: str


@dataclass(frozen=True, slots=True)
class RulesetLine:
    """An entry that one version has and another has not, in words. `source` is file:line."""

    section: Section
    added: bool
    text: str
    source: str = ""


def same_rules(one: PolicySet, other: PolicySet) -> bool:
    """Return whether both decide alike by what is written in them: where an entry was written does not count, and an
    empty whitelist is none."""
    return _bare(one) == _bare(other)


def change_between(before: PolicySet, after: PolicySet) -> RulesetChange:
    """The edit that makes `after` of `before`: the sections that differ, not counting where they were written."""
    one, other = _bare(before), _bare(after)
    edited = {name: getattr(after, name) for name in _LISTS if getattr(one, name) != getattr(other, name)}
    whitelist = None if one.whitelist == other.whitelist else after.whitelist or Whitelist()
    return RulesetChange(**edited, whitelist=whitelist)


def difference(before: PolicySet, after: PolicySet) -> tuple[RulesetLine, ...]:
    """Return what was taken out and put in, section by section, the lines taken out first.

    A rule that changed its place stands in both lists, since the last matching one wins (B); elsewhere the order
    decides nothing.
    """
    from difflib import SequenceMatcher  # noqa: PLC0415  most starts compare nothing

    lines: list[RulesetLine] = []
    for (section, former), (_, latter) in zip(sections_of(before), sections_of(after), strict=True):
        former_keys, latter_keys = [bare_entry(each) for each in former], [bare_entry(each) for each in latter]
        if section == "rules":
            steps = SequenceMatcher(None, former_keys, latter_keys, autojunk=False).get_opcodes()
            moves = [step for step in steps if step[0] != "equal"]
            gone = [place for step in moves for place in range(step[1], step[2])]
            new = [place for step in moves for place in range(step[3], step[4])]
        else:
            gone, new = _missing(former_keys, latter_keys), _missing(latter_keys, former_keys)
        lines += [line_of(section, former[place], added=False) for place in gone]
        lines += [line_of(section, latter[place], added=True) for place in new]
    return tuple(lines)


def _missing(entries: Sequence[RulesetEntry], others: Sequence[RulesetEntry]) -> list[int]:
    """Return the places of the entries that are not among the others, however those are ordered."""
    left = Counter(others)
    places = []
    for place, entry in enumerate(entries):
        if left[entry] > 0:
            left[entry] -= 1
        else:
            places.append(place)
    return places


def sections_of(policies: PolicySet) -> list[tuple[Section, Sequence[RulesetEntry]]]:
    """All entries, section by section, each in its order."""
    listed = policies.whitelist or Whitelist()
    whitelisted = [f"domain {name}" for name in listed.domains] + [f"pattern {text}" for text in listed.patterns]
    return [*((name, getattr(policies, name)) for name in _LISTS), ("whitelist", whitelisted)]


def _bare(policies: PolicySet) -> PolicySet:
    """The policies without the places where their entries were written; an empty whitelist is none."""
    entries = {name: tuple(map(bare_entry, getattr(policies, name))) for name in _LISTS}
    whitelist = None if policies.whitelist == Whitelist() else policies.whitelist
    return PolicySet(**entries, whitelist=whitelist)  # type: ignore[arg-type]  # each section has its own entries


def bare_entry(entry: RulesetEntry) -> RulesetEntry:
    """The entry without the place where it was written."""
    return entry if isinstance(entry, str) else replace(entry, source="")


def line_of(section: Section, entry: RulesetEntry, *, added: bool) -> RulesetLine:
    """An entry in words."""
    return RulesetLine(section, added, _words(entry), "" if isinstance(entry, str) else entry.source)


def _words(entry: RulesetEntry) -> str:
    match entry:
        case DoNotCrawl():
            return describe(entry.matcher)
        case QueryPolicy():
            return _query_words(entry)
        case Rule():
            effects = {"accept": entry.accept, "skip": entry.skip, "ua": entry.ua, "custom_js": entry.custom_js}
            given = (
                f"{name} {str(value).lower() if isinstance(value, bool) else value}"
                for name, value in effects.items()
                if value is not None
            )
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
