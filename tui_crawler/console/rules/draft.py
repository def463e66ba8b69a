"""A change of the rules that is not applied yet: a version, and its entries as they are to be; and the session in which
it is worked on: what it began with, what is typed, what is in force meanwhile. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from tui_crawler.console.operator.commands import undo_note
from tui_crawler.console.operator.intent import Intent
from tui_crawler.domain.command import ApplyRules
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.ruleset import (
    Ruleset,
    RulesetChange,
    RulesetEntry,
    RulesetLine,
    Section,
    bare_entry,
    change_between,
    difference,
    same_rules,
    sections_of,
    to_json,
)
from tui_crawler.domain.ruleset_change import (
    NO_EDIT_HISTORY,
    EditHistory,
    EntryChange,
    EntryKey,
    carried_over,
    changes_between,
    edit_history_between,
    keys_of,
    whitelist_of,
)
from tui_crawler.text.rule_words import change_words, counted_changes, section_word

if TYPE_CHECKING:
    from tui_crawler.console.rules.queries import RulesInForce


SECTIONS: tuple[Section, ...] = ("do_not_crawl", "url_query_parameters", "rules", "exclusions", "whitelist")

_LONGEST_NOTE = 200

RowChange = Literal["", "new", "deleted", "edited", "moved"]

V = TypeVar("V", DoNotCrawl, QueryPolicy, Rule, Exclusion)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a ruleset; `line` has it in words. `key` is the same for the same entry in another version, wherever
    it was written there; of equal entries of a section each has its own."""

    value: RulesetEntry
    line: RulesetLine
    key: EntryKey

    @property
    def section(self) -> Section:
        """The section it stands in."""
        return self.line.section


@dataclass(frozen=True, slots=True)
class DraftRow:
    """An entry of a draft. `was`: what an edited one takes the place of. `place` and `to`: from which place of its
    section, from 1, one that was moved went to which."""

    entry: Entry
    change: RowChange = ""
    was: Entry | None = None
    place: int = 0
    to: int = 0


@dataclass(frozen=True, slots=True)
class Rebased:
    """A draft carried over to a newer version. `lost` are the changes that make no sense there."""

    draft: RuleDraft
    lost: tuple[EntryChange, ...] = ()


def entries_of(policies: PolicySet) -> tuple[Entry, ...]:
    """All entries, section by section, each in its order."""
    values = [value for _, entries in sections_of(policies) for value in entries]
    seen: Counter[Hashable] = Counter()
    entries = []
    for value, line in zip(values, difference(EMPTY, policies), strict=True):
        bare = (line.section, bare_entry(value))
        entries.append(Entry(value, line, (*bare, seen[bare])))
        seen[bare] += 1
    return tuple(entries)


def policies_of(entries: Sequence[Entry]) -> PolicySet:
    """The reverse of `entries_of`."""
    values = [entry.value for entry in entries]
    texts = [value for value in values if isinstance(value, str)]
    return PolicySet(
        do_not_crawl=_of(values, DoNotCrawl),
        url_query_parameters=_of(values, QueryPolicy),
        exclusions=_of(values, Exclusion),
        whitelist=whitelist_of(texts) if texts else None,
        rules=_of(values, Rule),
    )


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """What is to become of the version `base`. `returns_to`: the id of the earlier version it brings back (0: none).
    `edit_history`: what of it was moved and edited."""

    base: Ruleset
    policies: PolicySet
    returns_to: int = 0
    edit_history: EditHistory = NO_EDIT_HISTORY

    @property
    def change(self) -> RulesetChange:
        """The edit that makes it of the base."""
        return change_between(self.base.policies, self.policies)

    @property
    def dirty(self) -> bool:
        """Whether it says anything else than the base."""
        return not same_rules(self.base.policies, self.policies)

    @property
    def changes(self) -> tuple[EntryChange, ...]:
        """What is taken out, edited, moved and put in."""
        return changes_between(self.base.policies, self.policies, self.edit_history)

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
        former, latter = _by_place(before), _by_place(after)
        told, gone = {}, set()
        for one in self.changes:
            old, new = former.get((one.section, one.place)), latter.get((one.section, one.to))
            if one.kind == "removed" and old is not None:
                gone.add(old.key)
            elif new is not None:
                told[new.key] = _row(new, one, old)
        rows = [told.get(entry.key) or DraftRow(entry) for entry in after]
        for place, entry in enumerate(before):
            if entry.key in gone:
                rows.insert(_place_after(rows, before[:place], entry), DraftRow(entry, "deleted"))
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
        new = [old if one.key[:2] == old.key[:2] else one for one in entries_of(more.applied_to(EMPTY))]
        listed = {entry.value for entry in entries if isinstance(entry.value, str)}
        new = [one for one in new if one.value not in listed]  # a whitelist has nothing twice
        here = [one for one in new if one.section == old.section]
        elsewhere = [one for one in new if one.section != old.section]
        policies = policies_of([*entries[:place], *here, *entries[place:], *elsewhere])
        edit_history = self._edited(place, policies) if here else self.edit_history
        return replace(self, policies=policies, edit_history=edit_history)

    def _edited(self, place: int, policies: PolicySet) -> EditHistory:
        """The deeds, one more: another entry stands at a place of all. One that is edited twice was so once."""
        old, made = entries_of(self.policies)[place].key, entries_of(policies)[place].key
        first = next((one for one, other in self.edit_history.edited if other == old), old)
        others = (pair for pair in self.edit_history.edited if pair[1] != old)
        return replace(self.edit_history, edited=frozenset((*others, (first, made))))

    def toggled(self, key: Hashable) -> RuleDraft:
        """Without the entry of this key, or with it again."""
        rows = self.rows()
        gone = any(row.entry.key == key and row.change == "deleted" for row in rows)
        kept = [row.entry for row in rows if (gone if row.entry.key == key else row.change != "deleted")]
        return replace(self, policies=policies_of(kept))

    def moved(self, key: Hashable, by: int) -> RuleDraft:
        """With the entry of this key one place up (-1) or down (1) in its section; the same at the end of it."""
        entries = list(entries_of(self.policies))
        place = next((place for place, entry in enumerate(entries) if entry.key == key), -1)
        other = place + by
        if place < 0 or not 0 <= other < len(entries) or entries[other].section != entries[place].section:
            return self
        edit_history = replace(self.edit_history, moved=self.edit_history.moved | {entries[place].key})
        entries[place], entries[other] = entries[other], entries[place]
        return replace(self, policies=policies_of(entries), edit_history=edit_history)

    def why_fixed(self, key: Hashable, by: int) -> str:
        """Why the entry of this key cannot be moved up (-1) or down (1), in words in which keys stand by
        their actions; empty: it can."""
        entries = entries_of(self.policies)
        entry = next((one for one in entries if one.key == key), None)
        if entry is None:
            return "it is taken out of the draft; {rule.delete} puts it back"
        beside = [one.key for one in entries if one.section == entry.section]
        if len(beside) == 1:
            return f"it is the only {section_word(entry.section)}"
        if key == beside[0 if by < 0 else -1]:
            return f"it is the {'first' if by < 0 else 'last'} {section_word(entry.section)} already"
        return ""

    def brought_back(self, version: Ruleset, history: Sequence[Ruleset] = ()) -> RuleDraft:
        """What an earlier version said, in place of everything; `history` knows what was edited since."""
        edit_history = edit_history_between(history, self.base, version)
        before, after = keys_of(self.base.policies), keys_of(version.policies)
        edited = frozenset(
            (before[one.section][one.place - 1], after[one.section][one.to - 1])
            for one in changes_between(self.base.policies, version.policies, edit_history)
            if one.kind == "edited"
        )
        return RuleDraft(self.base, version.policies, version.ruleset_id, EditHistory(edited=edited))

    def rebased(self, newer: Ruleset) -> Rebased:
        """The same change of a newer version, as far as it makes sense there."""
        carried = carried_over(self.base.policies, self.policies, newer.policies, self.edit_history)
        return Rebased(RuleDraft(newer, carried.policies, edit_history=self.edit_history), carried.lost)

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
        changes = self.changes
        if len(changes) > 2:
            return counted_changes(changes)
        note = ", ".join(change_words(one) for one in changes)
        return note if len(note) <= _LONGEST_NOTE else note[: _LONGEST_NOTE - 1] + "…"


def with_exclusions(policies: PolicySet, added: Sequence[Exclusion]) -> PolicySet:
    """The rules with the exclusions that operators added beside them: all that decides."""
    return replace(policies, exclusions=(*policies.exclusions, *added))


def _by_place(entries: Sequence[Entry]) -> dict[tuple[Section, int], Entry]:
    """Each entry by its section and its place there, from 1."""
    counted: Counter[Section] = Counter()
    places = {}
    for entry in entries:
        counted[entry.section] += 1
        places[entry.section, counted[entry.section]] = entry
    return places


def _row(entry: Entry, change: EntryChange, was: Entry | None) -> DraftRow:
    match change.kind:
        case "edited":
            return DraftRow(entry, "edited", was)
        case "moved":
            return DraftRow(entry, "moved", None, change.place, change.to)
        case _:
            return DraftRow(entry, "new")


def _of(values: Sequence[RulesetEntry], kind: type[V]) -> tuple[V, ...]:
    return tuple(value for value in values if isinstance(value, kind))


def _place_after(rows: Sequence[DraftRow], before: Sequence[Entry], gone: Entry) -> int:
    """Where an entry that is taken out is shown: after the one it followed, at the beginning of its section else."""
    previous = before[-1].key if before and before[-1].section == gone.section else None
    rank = SECTIONS.index(gone.section)
    first = 0
    for place, row in enumerate(rows):
        if previous is not None and previous == (row.entry if row.was is None else row.was).key:
            return place + 1
        if SECTIONS.index(row.entry.section) < rank:
            first = place + 1
    return first


@dataclass(frozen=True, slots=True)
class Typing:
    """An entry as it is typed: `read` is what the text makes, or what is wrong with it (None: there is no text).

    `edits` is the entry of the draft that it takes the place of; None: it is a new one.
    """

    edits: Entry | None = None
    read: RulesetChange | str | None = None

    def put_into(self, draft: RuleDraft) -> RuleDraft:
        """The draft with what is typed; the same while that is no entry."""
        if not isinstance(self.read, RulesetChange):
            return draft
        return draft.added(self.read) if self.edits is None else draft.replaced(self.edits.key, self.read)


@dataclass(frozen=True, slots=True)
class Start:
    """What the draft begins with. `types`: the line for a new entry is open, with `typed` in it. `does`: the action
    that is done first, on the entry `at` of the version `base`. `history`: what led from a version that is brought back
    to the one in force."""

    typed: str = ""
    types: bool = False
    does: str = ""
    at: Hashable = None
    base: Ruleset | None = None
    brings_back: Ruleset | None = None
    history: tuple[Ruleset, ...] = ()


class DraftSession:
    """Holds the draft of one job (`job` empty: that of the newest run)."""

    def __init__(self, job: str) -> None:
        self.job = job
        self.in_force: RulesInForce | None = None
        self.draft: RuleDraft | None = None
        self.dirty = False
        self.typing: Typing | None = None

    @property
    def now(self) -> Ruleset | None:
        """The version in force."""
        return self.in_force.of(self.job) if self.in_force is not None else None

    @property
    def added(self) -> tuple[Exclusion, ...]:
        """The exclusions that operators added beside the rulesets."""
        return self.in_force.added if self.in_force is not None else ()

    def renewed(self, base: Ruleset | None = None) -> RuleDraft | None:
        """The draft to go on with. It begins with `base`, else with the version in force, and begins anew with a later
        one as long as nothing is drafted; an entry that is edited keeps the version it was read from."""
        now, draft = self.now, self.draft
        if now is None or self.dirty or (draft is not None and self.edited is not None):
            return draft
        self.job = now.job
        begun = base if base is not None and draft is None else now
        return RuleDraft(begun, begun.policies)

    def hold(self, draft: RuleDraft | None) -> None:
        """This is the draft from now on."""
        self.draft, self.dirty = draft, draft is not None and draft.dirty

    @property
    def edited(self) -> Entry | None:
        return self.typing.edits if self.typing is not None else None

    @property
    def candidate(self) -> RuleDraft | None:
        """The draft with what is being typed."""
        draft, typing = self.draft, self.typing
        return draft if draft is None or typing is None else typing.put_into(draft)

    @property
    def changing(self) -> RuleDraft | None:
        """The candidate, None when it says what its base says."""
        one = self.candidate
        return one if one is not None and (self.dirty if one is self.draft else one.dirty) else None

    @property
    def drafted(self) -> PolicySet | None:
        """All that would decide if the draft were applied now; None while it changes nothing."""
        one = self.changing
        return None if one is None else with_exclusions(one.policies, self.added)

    @property
    def overtaken(self) -> Ruleset | None:
        """The version in force, if the draft began with another one."""
        now, draft = self.now, self.draft
        return now if now is not None and draft is not None and now.ruleset_id != draft.base.ruleset_id else None

    @property
    def moot(self) -> bool:
        """Whether a version that came meanwhile says all that the draft changed; not while an entry is typed."""
        newer, draft = self.overtaken, self.draft
        if newer is None or draft is None or self.typing is not None or not self.dirty:
            return False
        rebased = draft.rebased(newer)
        return not rebased.draft.dirty and not rebased.lost

    @property
    def holds(self) -> bool:
        """Whether the version in force says what the draft says."""
        now, draft = self.now, self.draft
        return now is not None and draft is not None and same_rules(now.policies, draft.policies)
