"""The entries of a ruleset one by one. Pure."""

from collections import Counter
from collections.abc import Hashable, Iterable

from tui_crawler.domain.record import dataclass
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import PolicySet
from tui_crawler.domain.rules.ruleset import RulesetEntry, RulesetLine, Section, bare_entry, line_of, sections_of

EntryKey = tuple[str, RulesetEntry, int]
"""Section, entry without the place where it was written, how often the section has it before."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a ruleset; `line` has it in words. `added`: an operator added it to every version, it is an
    exclusion of no ruleset.

    `key` is the same for the same entry in another version, wherever it was written there.
    """

    value: RulesetEntry
    line: RulesetLine
    key: EntryKey
    added: bool = False


def entries_of(policies: PolicySet) -> tuple[Entry, ...]:
    """Return all entries, section by section, each in its order."""
    seen: Counter[Hashable] = Counter()
    entries = []
    for section, values in sections_of(policies):
        for value in values:
            bare = bare_entry(value)
            entries.append(Entry(value, line_of(section, value, added=True), (section, bare, seen[section, bare])))
            seen[section, bare] += 1
    return tuple(entries)


def added_entries(added: Iterable[Exclusion]) -> tuple[Entry, ...]:
    """Return the exclusions that operators added to every version as entries."""
    return tuple(
        Entry(one, line_of("exclusions", one, added=True), ("operator", one, place), added=True)
        for place, one in enumerate(added)
    )


def section_word(section: Section) -> str:
    """Return what a person calls one entry of a section."""
    return {"url_query_parameters": "query policy", "rules": "rule", "exclusions": "exclusion"}.get(section, section)
