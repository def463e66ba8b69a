"""What is typed after `/`: words that a row has to have, fuzzy ones, patterns, fields, and their opposites. Pure.

Words are separated by spaces and all have to hold. `~abc` is fuzzy (these characters in this order), `re:x+` a pattern
(RE2), `exit:`, `state:`, `origin:` or another column with a colon looks there only, `!` before it all turns it round.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_crawler.domain.pattern import Pattern

FIELDS = frozenset({"exit", "state", "origin"})
"""Fields that every table is asked for, whether it has such a column or not."""
HINT = "text  ~fuzzy  re:pattern  exit: state: origin:  ! inverts"


@dataclass(frozen=True, slots=True)
class Term:
    """One word. `field` empty: any; `kind` is "text", "fuzzy" or "pattern"; `text` is folded unless a pattern."""

    text: str
    field: str = ""
    kind: str = "text"
    inverted: bool = False
    pattern: Pattern | None = None

    def holds(self, fields: Mapping[str, str]) -> bool:
        """Whether it holds for a row."""
        looked_in = (fields.get(self.field, ""),) if self.field else fields.values()
        return any(map(self._found, looked_in)) is not self.inverted

    def _found(self, value: str) -> bool:
        match self.kind:
            case "fuzzy":
                rest = iter(value.casefold())
                return all(char in rest for char in self.text)
            case "pattern":
                return self.pattern is not None and self.pattern.search(value)
            case _:
                return self.text in value.casefold()


@dataclass(frozen=True, slots=True)
class Needle:
    """A filter that was read. `problem` says what is wrong with a pattern, which is then left out."""

    terms: tuple[Term, ...] = ()
    problem: str = ""

    def keeps(self, fields: Mapping[str, str]) -> bool:
        """Whether a row with these texts by field passes."""
        return all(term.holds(fields) for term in self.terms)


def read_needle(text: str, columns: Set[str] = frozenset()) -> Needle:
    """Reads a filter as it was typed; `columns` are further fields. What is not finished yet keeps every row."""
    terms: list[Term] = []
    problem = ""
    for word in text.split():
        rest = word.removeprefix("!")
        field, colon, value = rest.partition(":")
        if not (colon and (field in FIELDS or field in columns)):
            field, value = "", rest
        kind = "fuzzy" if value.startswith("~") else "pattern" if value.startswith("re:") else "text"
        value = value.removeprefix({"fuzzy": "~", "pattern": "re:"}.get(kind, ""))
        if not value:
            continue
        pattern = None
        if kind == "pattern":
            pattern, trouble = _compile(value)
            if pattern is None:
                problem = trouble
                continue
        terms.append(Term(value.casefold(), field, kind, rest != word, pattern))
    return Needle(tuple(terms), problem)


def _compile(text: str) -> tuple[Pattern | None, str]:
    from tui_crawler.domain.pattern import BadPattern, Pattern  # noqa: PLC0415  not before the first paint

    try:
        return Pattern(f"(?i){text}"), ""
    except BadPattern as error:
        return None, error.message
