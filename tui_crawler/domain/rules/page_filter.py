"""What narrows a list of pages: a line of text becomes terms, which storage turns into a query. Pure.

The line is words between spaces. A word is part of the URL, unless it begins with a field: `exit:timeout`,
`status:4xx`, `depth:>3`, `origin:example.org`, `state:queued`, `title:sale`, `re:/p[0-9]+$`. Commas mean "any of",
`~abc` means these characters in this order, `!` in front of a word means "not". A page is kept when every word holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum, StrEnum, auto
from functools import partial
from typing import TYPE_CHECKING

from tui_crawler.domain.known_word import did_you_mean
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.exit_code import BLOCKED, DISPOSITIONS, FAILURES, ExitCode
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.pattern import BadPattern, Pattern

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import PageView

_MOST_TERMS = 20
_LARGEST = 2**31
_NONE = frozenset({"-", "none", "never"})


class PageListState(StrEnum):
    """The state of a page, in one word."""

    queued = "queued"  # has tries, and did not fail last time
    retry = "retry"  # failed, and has tries left
    claimed = "claimed"
    done = "done"
    failed = "failed"  # and has no try left
    blocked = "blocked"
    skipped = "skipped"
    stashed = "stashed"


class TextOf(Enum):
    """What a text is looked for in."""

    in_url = auto()
    in_title = auto()
    as_pattern = auto()  # a regular expression that is found in the URL
    of_origin = auto()  # it is the origin or its host; where it is neither of any origin, part of it


@dataclass(frozen=True, slots=True)
class TextTerm:
    """One of `texts` fits, whatever the case of ASCII letters but in patterns."""

    of: TextOf
    texts: tuple[str, ...]
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class ExitTerm:
    """The last attempt ended with one of `codes`; `never`: there was none."""

    codes: frozenset[ExitCode]
    never: bool = False
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class StateTerm:
    """The page is in one of `states`."""

    states: frozenset[PageListState]
    inverted: bool = False


class Measure(StrEnum):
    """A number of a page that a term may name."""

    status = "status"
    depth = "depth"


@dataclass(frozen=True, slots=True)
class NumberTerm:
    """A number of the page lies in one of `spans` (first and last); `none`: there is no such number."""

    measure: Measure
    spans: tuple[tuple[int, int], ...]
    none: bool = False
    inverted: bool = False


Term = TextTerm | ExitTerm | StateTerm | NumberTerm


@dataclass(frozen=True, slots=True)
class PageFilter:
    """All of `terms` hold; no terms: every page."""

    terms: tuple[Term, ...] = ()

    @property
    def looks_at_urls(self) -> bool:
        """Return whether the text of URLs or titles decides: no index helps with that, rows have to be looked at."""
        return any(isinstance(term, TextTerm) and term.of is not TextOf.of_origin for term in self.terms)

    @property
    def texts(self) -> list[str]:
        """Return the texts that URLs have to contain."""
        plain = (
            one for one in self.terms if isinstance(one, TextTerm) and one.of is TextOf.in_url and not one.inverted
        )
        return [text for term in plain for text in term.texts]


@dataclass(frozen=True, slots=True)
class FilterProblem:
    """The fault of a line, in words."""

    message: str


@dataclass(frozen=True, slots=True)
class PageWindow:
    """A window of pages by id. `looked_at` counts the rows that were judged for it, of `known` pages in all.

    `last_id` is where the next window begins; `ended`: there is none, every page was looked at.
    """

    pages: tuple[PageView, ...]
    looked_at: int = 0
    known: int = 0
    last_id: int = 0
    ended: bool = True


@dataclass(frozen=True, slots=True)
class PageTally:
    """The number of pages that pass a filter among `looked_at` rows, of `known` pages in all.

    `last_id` is where the next piece begins; `ended`: there is none, every page was looked at.
    """

    matched: int
    looked_at: int
    known: int
    last_id: int = 0
    ended: bool = True


@dataclass(frozen=True, slots=True)
class PageCounts:
    """The frequency of each value of a field, most frequent first, among the first `looked_at` of `known` pages.

    `values` is how many different ones there are; of very many the rare ones are left out of `counts`.
    """

    counts: tuple[tuple[str, int], ...]
    values: int
    looked_at: int
    known: int


def read_page_filter(text: str) -> PageFilter | FilterProblem:
    """The filter that a line of text means, or what is wrong with it."""
    words = text.split()
    if len(words) > _MOST_TERMS:
        return FilterProblem(f"more than {_MOST_TERMS} words")
    terms: list[Term] = []
    for word in words:
        inverted = word.startswith("!") and len(word) > 1
        term = _term(word[inverted:], inverted)
        if isinstance(term, FilterProblem):
            return term
        if term is not None:
            terms.append(term)
    return PageFilter(tuple(terms))


def state_of(page: PageView) -> PageListState:
    """Return where a page stands."""
    match page.status:
        case PageStatus.STASHED.name:
            return PageListState.stashed
        case PageStatus.SKIPPED.name:
            return PageListState.skipped
        case PageStatus.CLAIMED.name:
            return PageListState.claimed
        case _:
            code = ExitCode.__members__.get(page.last_exit_code)
            if page.attempts_remaining > 0:
                return PageListState.retry if code in FAILURES else PageListState.queued
            if code in FAILURES:
                return PageListState.failed
            return PageListState.blocked if code in BLOCKED else PageListState.done


def _term(word: str, inverted: bool) -> Term | FilterProblem | None:
    if word.startswith("~") and len(word) > 1:
        return _pattern_term("(?i)" + ".*".join(map(re.escape, word[1:])), inverted)
    field, colon, value = word.partition(":")
    read = _FIELDS.get(field.lower()) if colon else None
    if read is None:
        # What begins with no field of ours, and was meant to: no part of a URL, and no host with its port.
        if colon and field.isalpha() and not value.startswith("//") and not value[:1].isdigit():
            there_are = " ".join(f"{name}:" for name in _FIELDS)
            return FilterProblem(f"no such field: {field}; there are {there_are} (re:{field}: looks for the text)")
        return TextTerm(TextOf.in_url, (word,), inverted)
    return read(value, inverted) if value.strip(",") else None


def _exit_term(value: str, inverted: bool) -> ExitTerm | FilterProblem:
    codes: set[ExitCode] = set()
    never = False
    for word in filter(None, value.lower().split(",")):
        exact = [code for code in ExitCode if word in {code.name, str(code.value)}]
        group = [code for code, row in DISPOSITIONS.items() if row.group.value == word]
        part = [code for code in ExitCode if word in code.name]
        found = frozenset(exact or group or part)
        never |= word in _NONE
        codes |= found
        if not found and word not in _NONE:
            return FilterProblem(f"no exit code is called {word}{did_you_mean(word, ExitCode.__members__)}")
    return ExitTerm(frozenset(codes), never, inverted)


def _state_term(value: str, inverted: bool) -> StateTerm | FilterProblem:
    states: set[PageListState] = set()
    for word in filter(None, value.lower().split(",")):
        found = [state for state in PageListState if state.value.startswith(word)]
        if not found:
            return FilterProblem(f"no state {word}: {', '.join(PageListState)}")
        states.update(found)
    return StateTerm(frozenset(states), inverted)


def _number_term(measure: Measure, value: str, inverted: bool) -> NumberTerm | FilterProblem:
    spans: list[tuple[int, int]] = []
    none = False
    for word in filter(None, value.lower().split(",")):
        if word in _NONE:
            none = True
            continue
        span = _span(word)
        if span is None:
            return FilterProblem(f"{measure}: {word} is no number, {_EXAMPLES[measure]}")
        spans.append(span)
    return NumberTerm(measure, tuple(spans), none, inverted)


_SPAN = re.compile(
    r"(?P<hundred>[0-9])xx|(?P<sign>[<>])(?P<equal>=?)(?P<edge>[0-9]{1,9})|(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?"
)


def _span(word: str) -> tuple[int, int] | None:
    """`404`, `4xx`, `400-499`, `>3`, `<3`, `>=3`, `<=3` as first and last number; None when it is none of these."""
    found = _SPAN.fullmatch(word)
    if found is None:
        return None
    if found["hundred"]:
        return int(found["hundred"]) * 100, int(found["hundred"]) * 100 + 99
    if found["sign"]:
        edge, beyond = int(found["edge"]), not found["equal"]
        return (edge + beyond, _LARGEST) if found["sign"] == ">" else (0, edge - beyond)
    return int(found["first"]), int(found["last"] or found["first"])


def _pattern_term(value: str, inverted: bool) -> TextTerm | FilterProblem:
    try:
        Pattern(value)
    except BadPattern as bad:
        return FilterProblem(f"re: {bad.message}")
    return TextTerm(TextOf.as_pattern, (value,), inverted)


_EXAMPLES: Mapping[Measure, str] = {Measure.status: "404, 4xx, 400-499 or none", Measure.depth: "3, >3 or 2-5"}
_FIELDS: Mapping[str, Callable[[str, bool], Term | FilterProblem]] = {
    "exit": _exit_term,
    "status": partial(_number_term, Measure.status),
    "depth": partial(_number_term, Measure.depth),
    "origin": lambda value, inverted: TextTerm(
        TextOf.of_origin, tuple(filter(None, value.lower().split(","))), inverted
    ),
    "state": _state_term,
    "title": lambda value, inverted: TextTerm(TextOf.in_title, tuple(filter(None, value.split(","))), inverted),
    "re": _pattern_term,
}
