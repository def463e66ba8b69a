"""What is typed after `/`: words that a row has to have, fuzzy ones, patterns, fields, and their opposites. Pure.

Words are separated by spaces and all have to hold; "quotes" keep spaces in a word. `~abc` is fuzzy (these characters
in this order), `re:x+` a pattern (RE2), `=abc` the whole text; `exit:`, `status:`, `depth:`, `state:`, `origin:` or
another column with a colon looks there only, `!` before it all turns it round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING

from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from tui_crawler.domain.rules.pattern import Pattern

FIELDS = frozenset({"exit", "state", "origin", "status", "depth"})
"""Fields that every table is asked for, whether it has such a column or not."""
_ALIKE: Mapping[str, tuple[str, ...]] = {
    "exit": ("exit_code", "what"),
    "state": ("status",),
    "origin": ("url", "sample", "names"),
}  # fmt: skip
"""Where a field is looked for in a table that has no such column."""
EXIT_COLUMNS = frozenset({"exit", "exit_code"})
"""Columns whose values are exit codes."""
HINT = "text  ~fuzzy  re:pattern  =whole  exit: status: depth: origin: state:  ! inverts"
_KINDS = (("~", "fuzzy"), ("re:", "pattern"), ("=", "whole"))
_BLANKS = r"[\s\v\x1c-\x1f\x{85}\pZ]*"  # all that str.strip takes off
_WORD = re.compile(r'(?:[^\s"]|"[^"]*(?:"|$))+')


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """One word. `field` empty: any; `kind` is "text", "whole", "fuzzy" or "pattern", whose `text` is not folded."""

    text: str
    field: str = ""
    kind: str = "text"
    inverted: bool = False
    pattern: Pattern | None = None

    def holds(self, fields: Mapping[str, str]) -> bool:
        """Whether it holds for a row."""
        looked_in: Iterable[str] = fields.values()
        if self.field:  # or the column that says the same in this table
            names = (self.field, *_ALIKE.get(self.field, ()))
            looked_in = (next((fields[one] for one in names if one in fields), ""),)
        return any(map(self._found, looked_in)) is not self.inverted

    def _found(self, value: str) -> bool:
        match self.kind:
            case "fuzzy":
                rest = iter(value.casefold())
                return all(char in rest for char in self.text)
            case "pattern":
                return self.pattern is not None and self.pattern.search(value)
            case "whole":
                return self.text == value.strip().casefold()
            case _:
                return self.text in value.casefold()


@dataclass(frozen=True, slots=True)
class ParsedFilter:
    """A filter that was read. `problem` says what is wrong with a pattern, which is then left out, or which
    field there is not: its word is looked for as a text."""

    terms: tuple[FilterTerm, ...] = ()
    problem: str = ""

    @property
    def plain(self) -> tuple[str, ...]:
        """Its words (casefolded) where they are mere text, to be looked for elsewhere too; else none."""
        mere = all(term.kind == "text" and not term.field and not term.inverted for term in self.terms)
        return tuple(term.text for term in self.terms) if mere else ()

    def keeps(self, fields: Mapping[str, str]) -> bool:
        """Whether a row with these texts by field passes."""
        return all(term.holds(fields) for term in self.terms)


def read_needle(text: str, columns: Set[str] = frozenset()) -> ParsedFilter:
    """Reads a filter as it was typed; `columns` are further fields. What is not finished yet keeps every row."""
    terms: list[FilterTerm] = []
    problem = ""
    for word in _WORD.findall(text):
        rest = word.removeprefix("!")
        field, colon, value = rest.partition(":")
        if not (colon and (field in FIELDS or field in columns)):
            if colon and field.isalpha() and field != "re" and not value.startswith("//") and not value[:1].isdigit():
                problem = f"no such field: {field}; there are {' '.join(f'{one}:' for one in sorted(FIELDS | columns))}"
            field, value = "", rest
        sign, kind = next((one for one in _KINDS if value.startswith(one[0])), ("", "text"))
        value = value.removeprefix(sign)
        value = value[1:].removesuffix('"') if value.startswith('"') else value
        if not value and (kind != "whole" or not field):
            continue
        pattern = _compile(value) if kind == "pattern" else None
        if isinstance(pattern, str):
            problem = pattern
        else:
            terms.append(FilterTerm(value.casefold(), field, kind, rest != word, pattern))
    return ParsedFilter(tuple(terms), problem)


def field_named(text: str, columns: Iterable[str]) -> str:
    """The field that a text begins with, where it is one; empty where it is a mere text."""
    field, colon, _ = text.removeprefix("!").partition(":")
    return field if colon and field in FIELDS.union(columns) else ""


def needle_for(field: str, value: str, *, start: bool = False) -> str:
    """The word of a filter that keeps the rows whose `field` says `value`, or only starts so, and nothing else."""
    if '"' in value or start:
        text = "".join(f"\\x{{{ord(one):x}}}" if one.isspace() else re.escape(one) for one in value.strip())
        return f"{field}:re:^{_BLANKS}{text}" + ("" if start else f"{_BLANKS}$")
    bare = bool(value) and not any(char.isspace() for char in value)
    return f"{field}:={value}" if bare else f'{field}:="{value.strip()}"'


def _compile(text: str) -> Pattern | str:
    """The pattern, or what is wrong with it."""
    from tui_crawler.domain.rules.pattern import BadPattern, Pattern  # noqa: PLC0415  not before the first paint

    try:
        return Pattern(f"(?i){text}")
    except BadPattern as error:
        return error.message
