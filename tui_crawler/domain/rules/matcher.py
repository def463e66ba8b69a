"""Matchers: what a policy says of a URL's fields, combined by all, any and not (U)."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, assert_never, get_args

from tui_crawler.domain.record import dataclass
from tui_crawler.domain.rules.pattern import PatternSet, escape, glob

if TYPE_CHECKING:
    from tui_crawler.domain.url import CrawlUrl

Field = Literal["scheme", "host", "port", "origin", "path", "query", "fragment", "url"]
Op = Literal["equals", "prefix", "suffix", "contains", "glob", "regex"]

_READ = {field: attrgetter("href" if field == "url" else field) for field in get_args(Field)}
_LOWER_CASE: tuple[Field, ...] = ("scheme", "host", "origin")  # normalised URLs have these in lower case
_WORDS: dict[Op, str] = {
    "equals": "is",
    "prefix": "begins with",
    "suffix": "ends with",
    "contains": "contains",
    "glob": "is like",
    "regex": "matches",
}


@dataclass(frozen=True, slots=True)
class Test:
    """One field of a URL compared with one value; `regex` is searched, `glob` stands for the whole field."""

    __test__ = False  # pytest would collect a class of this name

    field: Field
    op: Op
    value: str


@dataclass(frozen=True, slots=True)
class All:
    """Every part matches (of no parts: always)."""

    parts: tuple[Matcher, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part matches (of no parts: never)."""

    parts: tuple[Matcher, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not match."""

    part: Matcher


Matcher = Test | All | AnyOf | Not


def describe(matcher: Matcher) -> str:
    """The matcher in words: `path begins with "/admin/" and not (host is "example.org")`."""
    match matcher:
        case Test(field, op, value):
            return f'{field} {_WORDS[op]} "{value}"'
        case All(parts):
            return " and ".join(_bracketed(part) for part in parts) or "always"
        case AnyOf(parts):
            return " or ".join(_bracketed(part) for part in parts) or "never"
        case Not(part):
            return f"not ({describe(part)})"
        case _:
            assert_never(matcher)


def _bracketed(part: Matcher) -> str:
    return f"({describe(part)})" if isinstance(part, All | AnyOf) and len(part.parts) > 1 else describe(part)


class MatcherSet:
    """Many matchers asked at once: all tests of one field are one compiled set. Raises BadPattern."""

    __slots__ = ("_always", "_leaves", "_matchers", "_sets")

    def __init__(self, matchers: Sequence[Matcher]) -> None:
        self._matchers = tuple(matchers)
        owners: dict[Field, dict[Test, list[int]]] = {}
        for index, matcher in enumerate(self._matchers):
            for test in tests_of(matcher):
                indexes = owners.setdefault(test.field, {}).setdefault(test, [])
                indexes.append(index)
        self._sets = {field: PatternSet([pattern_of(test) for test in tests]) for field, tests in owners.items()}
        self._leaves = {field: tuple(tests.items()) for field, tests in owners.items()}
        # A matcher that is false while none of its tests holds needs a hit among its own tests to become true.
        nothing: frozenset[Test] = frozenset()
        self._always = [index for index, each in enumerate(self._matchers) if _evaluate(each, nothing)]

    def all(self, url: CrawlUrl) -> list[int]:
        """The indexes of all matchers that match, ascending."""
        hits: set[Test] = set()
        candidates = set(self._always)
        for field, patterns in self._sets.items():
            for leaf in patterns.all(str(_READ[field](url))):
                test, owners = self._leaves[field][leaf]
                hits.add(test)
                candidates.update(owners)
        return [index for index in sorted(candidates) if _evaluate(self._matchers[index], hits)]


def tests_of(matcher: Matcher) -> list[Test]:
    """All tests it is made of, in their order."""
    match matcher:
        case Test():
            return [matcher]
        case All(parts) | AnyOf(parts):
            return [test for part in parts for test in tests_of(part)]
        case Not(part):
            return tests_of(part)
        case _:
            assert_never(matcher)


def _evaluate(matcher: Matcher, hits: set[Test] | frozenset[Test]) -> bool:
    match matcher:
        case Test():
            return matcher in hits
        case All(parts):
            return all(_evaluate(part, hits) for part in parts)
        case AnyOf(parts):
            return any(_evaluate(part, hits) for part in parts)
        case Not(part):
            return not _evaluate(part, hits)
        case _:
            assert_never(matcher)


def pattern_of(test: Test) -> str:
    """The regular expression that is searched in the field. Raises BadPattern."""
    if test.op == "regex":
        return test.value
    value = test.value.lower() if test.field in _LOWER_CASE else test.value
    match test.op:
        case "equals":
            return rf"\A{escape(value)}\z"
        case "prefix":
            return rf"\A{escape(value)}"
        case "suffix":
            return rf"{escape(value)}\z"
        case "contains":
            return escape(value)
        case "glob":
            return glob(value)
        case _:
            assert_never(test.op)
