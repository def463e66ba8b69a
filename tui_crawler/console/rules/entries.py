"""The entries of a ruleset one by one, and a ruleset without one of them or with it elsewhere. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.domain.rules.policy import PolicySet, Whitelist
from tui_crawler.domain.rules.ruleset import RulesetEntry, RulesetLine, Section, bare_entry, line_of, sections_of

if TYPE_CHECKING:
    from tui_crawler.domain.rules.exclusion import Exclusion

EntryKey = tuple[str, "Hashable", int]
"""Section, entry without the place where it was written, how often the section has it before."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a ruleset; `line` has it in words, `place` (from 0) is where it is in its section.

    `key` is the same for the same entry in another version, wherever it was written there.
    """

    value: RulesetEntry
    line: RulesetLine
    key: EntryKey
    place: int
    added: bool = False
    """Whether an operator added it to every version: it is an exclusion of no ruleset."""

    @property
    def section(self) -> Section:
        """Its section."""
        return self.line.section


def entries_of(policies: PolicySet) -> tuple[Entry, ...]:
    """Return all entries, section by section, each in its order."""
    seen: Counter[Hashable] = Counter()
    entries = []
    for section, values in sections_of(policies):
        for place, value in enumerate(values):
            bare = (section, bare_entry(value))
            entries.append(Entry(value, line_of(section, value, added=True), (*bare, seen[bare]), place))
            seen[bare] += 1
    return tuple(entries)


def added_entries(added: Iterable[Exclusion]) -> tuple[Entry, ...]:
    """Return the exclusions that operators added to every version as entries."""
    return tuple(
        Entry(one, line_of("exclusions", one, added=True), ("operator", one, place), place, added=True)
        for place, one in enumerate(added)
    )


def is_in(policies: PolicySet, entry: Entry) -> bool:
    """Whether a ruleset has an entry, wherever it was written."""
    return any(bare_entry(value) == entry.key[1] for value in _values(policies, entry))


def without(policies: PolicySet, entry: Entry) -> PolicySet:
    """Return the ruleset without an entry."""
    values = _values(policies, entry)
    del values[entry.place]
    return _with_values(policies, entry, values)


def moved(policies: PolicySet, entry: Entry, by: int) -> PolicySet | str:
    """Return the ruleset with an entry one place up (-1) or down (1) in its section, or why that is not possible."""
    values, place = _values(policies, entry), entry.place + by
    if len(values) == 1:
        return f"it is the only {section_word(entry.section)}"
    if not 0 <= place < len(values):
        return f"it is the {'first' if by < 0 else 'last'} {section_word(entry.section)} already"
    values[entry.place], values[place] = values[place], values[entry.place]
    return _with_values(policies, entry, values)


def section_word(section: Section) -> str:
    """Return what a person calls one entry of a section."""
    match section:
        case "url_query_parameters":
            return "query policy"
        case "rules":
            return "rule"
        case "exclusions":
            return "exclusion"
        case _:
            return section


def _values(policies: PolicySet, entry: Entry) -> list[RulesetEntry]:
    return next([*values] for section, values in sections_of(policies) if section == entry.section)


def _with_values(policies: PolicySet, entry: Entry, values: Sequence[RulesetEntry]) -> PolicySet:
    if not isinstance(entry.value, str):
        return replace(policies, **{entry.section: tuple(values)})  # type: ignore[arg-type]  # entries of this section
    words = [value.partition(" ")[::2] for value in values if isinstance(value, str)]
    domains, patterns = (tuple(text for kind, text in words if kind == wanted) for wanted in ("domain", "pattern"))
    return replace(policies, whitelist=Whitelist(domains, patterns))
