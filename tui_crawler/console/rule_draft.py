"""A change of the rules that is not applied yet: a version, and its entries as they are to be. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from tui_crawler.console.applied_versions import undo_note
from tui_crawler.console.format import plural
from tui_crawler.console.intent import Intent
from tui_crawler.domain.command import ApplyRules
from tui_crawler.domain.policy import EMPTY, DoNotCrawl, Exclusion, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.ruleset import (
    Ruleset,
    RulesetChange,
    RulesetLine,
    Section,
    change_between,
    difference,
    same_rules,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

SECTIONS: tuple[Section, ...] = ("do_not_crawl", "url_query_parameters", "rules", "exclusions", "whitelist")

_DOMAIN, _PATTERN = "domain ", "pattern "
_LONGEST_NOTE = 200

Value = DoNotCrawl | QueryPolicy | Rule | Exclusion | str
"""What an entry is; of the whitelist a text: `domain *.example.org`, `pattern /news/`."""

V = TypeVar("V", DoNotCrawl, QueryPolicy, Rule, Exclusion)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a ruleset; `line` has it in words. `key` is the same for the same entry in another version, wherever
    it was written there; of equal entries of a section each has its own."""

    value: Value
    line: RulesetLine
    key: Hashable

    @property
    def section(self) -> Section:
        """The section it stands in."""
        return self.line.section


@dataclass(frozen=True, slots=True)
class DraftRow:
    """An entry of a draft: `change` is "+" for a new one, "−" for one that is taken out, else empty."""

    entry: Entry
    change: str = ""


def entries_of(policies: PolicySet) -> tuple[Entry, ...]:
    """All entries, section by section, each in its order."""
    whitelist = policies.whitelist or Whitelist()
    values: list[Value] = [
        *policies.do_not_crawl,
        *policies.url_query_parameters,
        *policies.rules,
        *policies.exclusions,
        *(_DOMAIN + name for name in whitelist.domains),
        *(_PATTERN + text for text in whitelist.patterns),
    ]
    seen: Counter[Hashable] = Counter()
    entries = []
    for value, line in zip(values, difference(EMPTY, policies), strict=True):
        bare = (line.section, _bare(value))
        entries.append(Entry(value, line, (*bare, seen[bare])))
        seen[bare] += 1
    return tuple(entries)


def policies_of(entries: Sequence[Entry]) -> PolicySet:
    """The reverse of `entries_of`."""
    values = [entry.value for entry in entries]
    texts = [value for value in values if isinstance(value, str)]
    domains = tuple(text.removeprefix(_DOMAIN) for text in texts if text.startswith(_DOMAIN))
    patterns = tuple(text.removeprefix(_PATTERN) for text in texts if text.startswith(_PATTERN))
    return PolicySet(
        do_not_crawl=_of(values, DoNotCrawl),
        url_query_parameters=_of(values, QueryPolicy),
        exclusions=_of(values, Exclusion),
        whitelist=Whitelist(domains, patterns) if texts else None,
        rules=_of(values, Rule),
    )


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """What is to become of the version `base`. `returns_to`: the id of the earlier version it brings back (0: none)."""

    base: Ruleset
    policies: PolicySet
    returns_to: int = 0

    @property
    def change(self) -> RulesetChange:
        """The edit that makes it of the base."""
        return change_between(self.base.policies, self.policies)

    @property
    def dirty(self) -> bool:
        """Whether it says anything else than the base."""
        return not same_rules(self.base.policies, self.policies)

    @property
    def lines(self) -> tuple[RulesetLine, ...]:
        """What is taken out and put in, in words."""
        return difference(self.base.policies, self.policies)

    @property
    def undoes_base(self) -> bool:
        """Whether it brings back what held before its base."""
        return bool(self.returns_to) and self.returns_to == self.base.parent_id

    def has(self, key: Hashable) -> bool:
        """Whether the entry of this key is in it."""
        return any(entry.key == key for entry in entries_of(self.policies))

    def rows(self) -> tuple[DraftRow, ...]:
        """The entries, and in their places those that are taken out."""
        before, after = entries_of(self.base.policies), entries_of(self.policies)
        former, latter = {entry.key for entry in before}, {entry.key for entry in after}
        rows = [DraftRow(entry, "" if entry.key in former else "+") for entry in after]
        for place, entry in enumerate(before):
            if entry.key not in latter:
                rows.insert(_place_after(rows, before[:place], entry), DraftRow(entry, "−"))
        return tuple(rows)

    def added(self, more: RulesetChange) -> RuleDraft:
        """With the entries of `more` after those of their sections."""
        old = self.policies
        whitelist = old.whitelist
        if more.whitelist is not None:
            kept = old.whitelist or Whitelist()
            whitelist = Whitelist(
                tuple(dict.fromkeys((*kept.domains, *more.whitelist.domains))),
                tuple(dict.fromkeys((*kept.patterns, *more.whitelist.patterns))),
            )
        policies = PolicySet(
            do_not_crawl=(*old.do_not_crawl, *(more.do_not_crawl or ())),
            url_query_parameters=(*old.url_query_parameters, *(more.url_query_parameters or ())),
            exclusions=(*old.exclusions, *(more.exclusions or ())),
            whitelist=whitelist,
            rules=(*old.rules, *(more.rules or ())),
        )
        return replace(self, policies=policies)

    def replaced(self, key: Hashable, more: RulesetChange) -> RuleDraft:
        """With the entries of `more` in the place of the entry of this key; those of other sections stand after the
        entries of theirs. What says the same as the entry leaves it as it is; without such an entry they are added."""
        entries = list(entries_of(self.policies))
        place = next((place for place, entry in enumerate(entries) if entry.key == key), -1)
        if place < 0:
            return self.added(more)
        old = entries.pop(place)
        new = [old if _says(one) == _says(old) else one for one in entries_of(more.applied_to(EMPTY))]
        listed = {entry.value for entry in entries if isinstance(entry.value, str)}
        new = [one for one in new if one.value not in listed]  # a whitelist has nothing twice
        here = [one for one in new if one.section == old.section]
        elsewhere = [one for one in new if one.section != old.section]
        return replace(self, policies=policies_of([*entries[:place], *here, *entries[place:], *elsewhere]))

    def toggled(self, key: Hashable) -> RuleDraft:
        """Without the entry of this key, or with it again."""
        rows = self.rows()
        gone = any(row.entry.key == key and row.change == "−" for row in rows)
        kept = [row.entry for row in rows if (gone if row.entry.key == key else row.change != "−")]
        return replace(self, policies=policies_of(kept))

    def moved(self, key: Hashable, by: int) -> RuleDraft:
        """With the entry of this key one place up (-1) or down (1) in its section; the same at the end of it."""
        entries = list(entries_of(self.policies))
        place = next((place for place, entry in enumerate(entries) if entry.key == key), -1)
        other = place + by
        if place < 0 or not 0 <= other < len(entries) or entries[other].section != entries[place].section:
            return self
        entries[place], entries[other] = entries[other], entries[place]
        return replace(self, policies=policies_of(entries))

    def brought_back(self, version: Ruleset) -> RuleDraft:
        """What an earlier version said, in place of everything."""
        return replace(self, policies=version.policies, returns_to=version.ruleset_id)

    def intent(self, takes_back: int = 0) -> Intent:
        """The wish to apply it; undone by applying what the base said. The version that undoing begins with is known
        only once it is written. `takes_back`: the id of the action that it undoes."""
        base, note = self.base, self.note()
        forth = ApplyRules(to_json(self.policies), base.ruleset_id, base.job, note)
        back = ApplyRules(to_json(base.policies), 0, base.job, undo_note(base.ruleset_id))
        return Intent((forth,), f"rules of {base.job}: {note}", (back,), (takes_back,) if takes_back else ())

    def note(self) -> str:
        """What the history says of it."""
        if self.returns_to:
            return f"back to version {self.returns_to}"
        lines = self.lines
        if len(lines) > 2:
            added = sum(line.added for line in lines)
            return f"{plural(added, 'entry', 'entries')} added, {len(lines) - added} taken out"
        note = ", ".join(f"{'+' if line.added else '−'} {section_word(line.section)} {line.text}" for line in lines)
        return note if len(note) <= _LONGEST_NOTE else note[: _LONGEST_NOTE - 1] + "…"


def with_exclusions(policies: PolicySet, added: Sequence[Exclusion]) -> PolicySet:
    """The rules with the exclusions that operators added beside them: all that decides."""
    return replace(policies, exclusions=(*policies.exclusions, *added))


def section_word(section: Section) -> str:
    """One entry of a section, as a person calls it."""
    match section:
        case "url_query_parameters":
            return "query policy"
        case "rules":
            return "rule"
        case "exclusions":
            return "exclusion"
        case _:
            return section


def _bare(value: Value) -> Value:
    """The value without the place where it was written."""
    return value if isinstance(value, str) else replace(value, source="")


def _says(entry: Entry) -> Hashable:
    return entry.section, _bare(entry.value)


def _of(values: Sequence[Value], kind: type[V]) -> tuple[V, ...]:
    return tuple(value for value in values if isinstance(value, kind))


def _place_after(rows: Sequence[DraftRow], before: Sequence[Entry], gone: Entry) -> int:
    """Where an entry that is taken out is shown: after the one it followed, at the beginning of its section else."""
    previous = before[-1].key if before and before[-1].section == gone.section else None
    rank = SECTIONS.index(gone.section)
    first = 0
    for place, row in enumerate(rows):
        if previous is not None and row.entry.key == previous:
            return place + 1
        if SECTIONS.index(row.entry.section) < rank:
            first = place + 1
    return first
