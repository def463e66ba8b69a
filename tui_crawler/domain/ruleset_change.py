"""What became of each entry of the rules between two versions, an edit carried over to a third one,
and how one version came of another, told by those between them (B). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from itertools import pairwise
from typing import cast

from tui_crawler.domain.entry_order import EntryMove, Kind, Numbered, numbered, steps_between
from tui_crawler.domain.policy import PolicySet, Whitelist
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.ruleset import (
    Ruleset,
    RulesetEntry,
    RulesetLine,
    Section,
    bare_entry,
    change_between,
    line_of,
    name_of,
    same_rules,
    sections_of,
)

DOMAIN, PATTERN = "domain ", "pattern "
"""What an entry of the whitelist begins with."""


@dataclass(frozen=True, slots=True)
class EntryChange:
    """One change of one entry: `before` and `after` have it in words (None: it is not there), `place` and `to` are its
    places in its section, from 1 (0: none). `crosses`: it was edited, and stands elsewhere among those that stayed."""

    kind: Kind
    section: Section
    before: RulesetLine | None = None
    after: RulesetLine | None = None
    place: int = 0
    to: int = 0
    crosses: bool = False


EntryKey = tuple[Section, "Hashable", int]
"""Section, entry without the place where it was written, how often it came before in it."""


@dataclass(frozen=True, slots=True)
class EditHistory:
    """What is known of how a change was made: the entries that were moved, and those that were edited with what was
    made of them."""

    moved: frozenset[EntryKey] = frozenset()
    edited: frozenset[tuple[EntryKey, EntryKey]] = frozenset()


NO_EDIT_HISTORY = EditHistory()
"""Whatever was changed was taken out or put in."""


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """What an edit makes of a version it did not begin with. `lost` are the changes that make no sense there: the entry
    they are about is gone."""

    policies: PolicySet
    lost: tuple[EntryChange, ...] = ()


def changes_between(
    before: PolicySet, after: PolicySet, edit_history: EditHistory | None = None, moved: Collection[EntryKey] = ()
) -> tuple[EntryChange, ...]:
    """What was taken out, edited, moved and put in, section by section. `edit_history` None: how it was made is not
    known, and told by where entries stand; of entries that changed places those among `moved` are told, else those
    that stand further up now."""
    found: list[EntryChange] = []
    for (section, former), (_, latter) in zip(sections_of(before), sections_of(after), strict=True):
        found += [_told(section, step, former, latter) for step in _steps(section, former, latter, edit_history, moved)]
    return tuple(found)


def carried_over(
    base: PolicySet, edited: PolicySet, newer: PolicySet, edit_history: EditHistory | None = None
) -> CarriedOver:
    """What the edit from `base` to `edited` makes of `newer`.

    Sections that the newer version left alone are those of the edit (`change_between`); in one that both changed, the
    edit is made entry by entry: what was put in or moved stands after the entry it follows in `edited`.
    """
    change, meanwhile = change_between(base, edited), change_between(base, newer)
    lost: list[EntryChange] = []
    for (section, former), (_, mine), (_, theirs) in zip(
        sections_of(base), sections_of(edited), sections_of(newer), strict=True
    ):
        if getattr(change, section) is not None and getattr(meanwhile, section) is not None:
            merged, failed = _merged(former, mine, theirs, _steps(section, former, mine, edit_history))
            if section == "whitelist":
                change = replace(change, whitelist=whitelist_of(cast("Sequence[str]", merged)))
            else:
                change = replace(change, **{section: tuple(merged)})  # type: ignore[arg-type]  # entries of this section
            lost += [_told(section, step, former, mine) for step in failed]
    return CarriedOver(change.applied_to(newer), tuple(lost))


def edit_history_along(versions: Sequence[PolicySet]) -> EditHistory:
    """How the last of some versions was made of the first, told by those between them, each made of the one before: an
    entry that was edited twice was edited, however little is left of what it said."""
    first: dict[EntryKey, EntryKey] = {}  # of each entry that was edited, what it was in the first version
    for before, after in pairwise(versions):
        former, latter = keys_of(before), keys_of(after)
        made = {
            former[one.section][one.place - 1]: latter[one.section][one.to - 1]
            for one in changes_between(before, after)
            if one.kind == "edited"
        }
        now = {key for keys in latter.values() for key in keys}
        first = {made.get(key, key): origin for key, origin in first.items() if made.get(key, key) in now}
        edited = set(first.values())
        first |= {new: old for old, new in made.items() if new not in first and old not in edited}
    return EditHistory(edited=frozenset((old, new) for new, old in first.items() if old != new))


def keys_of(policies: PolicySet) -> dict[Section, list[EntryKey]]:
    """The key of each entry, section by section, in its order."""
    return {
        section: [(section, *one) for one in numbered([bare_entry(each) for each in entries])]
        for section, entries in sections_of(policies)
    }


def whitelist_of(texts: Sequence[str]) -> Whitelist:
    """The whitelist of these entries."""
    domains = tuple(text.removeprefix(DOMAIN) for text in texts if text.startswith(DOMAIN))
    return Whitelist(domains, tuple(text.removeprefix(PATTERN) for text in texts if text.startswith(PATTERN)))


def _steps(
    section: Section,
    former: Sequence[RulesetEntry],
    latter: Sequence[RulesetEntry],
    edit_history: EditHistory | None,
    moved: Collection[EntryKey] = (),
) -> list[EntryMove]:
    keys = [[bare_entry(each) for each in entries] for entries in (former, latter)]
    if keys[0] == keys[1]:
        return []
    names = [name_of(each) for each in former], [name_of(each) for each in latter]
    loose = {
        key[1:] for key in (*moved, *(edit_history.moved if edit_history is not None else ())) if key[0] == section
    }
    if edit_history is None:
        return steps_between(keys[0], keys[1], names, loose)
    edits = [(old[1:], made[1:]) for old, made in edit_history.edited if old[0] == made[0] == section]
    return steps_between(keys[0], keys[1], names, loose, edits)


def _told(
    section: Section, step: EntryMove, former: Sequence[RulesetEntry], latter: Sequence[RulesetEntry]
) -> EntryChange:
    return EntryChange(
        step.kind,
        section,
        line_of(section, former[step.before], added=False) if step.before >= 0 else None,
        line_of(section, latter[step.after], added=True) if step.after >= 0 else None,
        step.before + 1,
        step.after + 1,
        step.crosses,
    )


def _merged(
    former: Sequence[RulesetEntry], mine: Sequence[RulesetEntry], theirs: Sequence[RulesetEntry], steps: list[EntryMove]
) -> tuple[list[RulesetEntry], list[EntryMove]]:
    """Their entries after the steps of mine, and the steps that were not possible."""
    old, own, there = (numbered([bare_entry(each) for each in entries]) for entries in (former, mine, theirs))
    held = dict(zip(there, theirs, strict=True))
    order = list(there)
    lost: list[EntryMove] = []
    for step in steps:
        if step.kind in ("edited", "moved") and old[step.before] not in held:
            lost.append(step)
        elif step.kind == "removed" and old[step.before] in held:
            order.remove(old[step.before])
            del held[old[step.before]]
        elif step.kind == "edited":
            place = order.index(old[step.before])
            del held[old[step.before]]
            elsewhere = step.crosses or own[step.after] in held
            order[place : place + 1] = [] if elsewhere else [own[step.after]]
            if not elsewhere:
                held[own[step.after]] = mine[step.after]
    for step in sorted(steps, key=lambda one: one.after):
        if step in lost or not (step.kind in ("moved", "added") or step.crosses):
            continue
        entry = own[step.after]
        if step.kind == "moved":
            order.remove(entry)
        elif entry in held:
            continue
        order.insert(_place(order, own, step.after), entry)
        held[entry] = mine[step.after]
    return [held[entry] for entry in order], lost


def _place(order: Sequence[Numbered], own: Sequence[Numbered], after: int) -> int:
    """Where an entry goes that stands at the place `after` of mine: behind the one it follows there, at the end if
    nothing follows it."""
    places = {entry: place for place, entry in enumerate(order)}
    if not any(entry in places for entry in own[after + 1 :]):
        return len(order)
    return next((places[entry] + 1 for entry in reversed(own[:after]) if entry in places), 0)


_BACK = re.compile(r"back to version (\d+)$")
"""How the note of a version ends that brings an earlier one back."""
_MOVED = re.compile(r"(?:^|, )moved (.+?) \(from place (\d{1,9}) to (\d{1,9})\)")
"""What the note of a version says of each entry that its operator moved: which one, from where and to where."""
_MOST_COMPARED = 20_000
"""More entries than these in all versions between two are not followed: the two alone are compared."""


def changes_along(history: Sequence[Ruleset], before: Ruleset, after: Ruleset) -> tuple[EntryChange, ...]:
    """What is otherwise in `after`, as far as `history` knows how it came of `before`, or the reverse. Of two entries
    that changed places the one is told that the note says was moved, as it was told when the version was made."""
    edit_history = edit_history_between(history, before, after)
    plain = changes_between(before.policies, after.policies, edit_history)
    moved = _moved(before, after)
    told = changes_between(before.policies, after.policies, edit_history, moved) if moved else plain
    return told if len(told) <= len(plain) else plain


def edit_history_between(history: Sequence[Ruleset], before: Ruleset, after: Ruleset) -> EditHistory | None:
    """What was edited on the way from one version to another; None: nobody knows."""
    way = _way(history, before, after) or _way(history, after, before)[::-1]
    entries = sum(len(some) for one in way for _, some in sections_of(one.policies))
    if len(way) < 3 or entries > _MOST_COMPARED:
        return None
    return edit_history_along([one.policies for one in way])


def _moved(before: Ruleset, after: Ruleset) -> frozenset[EntryKey]:
    """The entries that were moved where one of the versions was made of the other one: those its note names and places
    right. A note may say anything."""
    elder, younger = (after, before) if before.parent_id == after.ruleset_id else (before, after)
    if younger.parent_id != elder.ruleset_id:
        return frozenset()
    said = [(found[1], int(found[2]), int(found[3])) for found in _MOVED.finditer(younger.note)]
    if not said:
        return frozenset()
    former, latter = keys_of(elder.policies), keys_of(younger.policies)
    return frozenset(
        latter[section][to - 1]
        for section, entries in sections_of(younger.policies)
        for named, place, to in said
        if 0 < place <= len(former[section])
        and 0 < to <= len(entries)
        and former[section][place - 1] == latter[section][to - 1]
        and named.endswith(line_of(section, entries[to - 1], added=True).text)
    )


def _way(history: Sequence[Ruleset], elder: Ruleset, younger: Ruleset) -> list[Ruleset]:
    """The versions from one to another that was made of it; what one of them took back is gone back. Empty: it was
    not, or it is not in the history."""
    line = _line(history, younger, elder.ruleset_id)[::-1]
    whole = line[:1]
    for before, after in pairwise(line):
        found = _BACK.search(after.note)
        back = _line(history, before, int(found[1])) if found is not None else []
        whole += back[1:] if back and same_rules(back[-1].policies, after.policies) else [after]
    return whole


def _line(history: Sequence[Ruleset], younger: Ruleset, elder_id: int) -> list[Ruleset]:
    """A version, the one it was made of, and so on to that of this id; empty when that is not among them."""
    known = {one.ruleset_id: one for one in history}
    line = [younger]
    while line[-1].ruleset_id != elder_id:
        parent = known.get(line[-1].parent_id)
        if parent is None or parent.ruleset_id >= line[-1].ruleset_id:
            return []
        line.append(parent)
    return line
