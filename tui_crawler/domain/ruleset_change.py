"""What became of each entry of the rules between two versions, and an edit carried over to a third one (B). Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from tui_crawler.domain.entry_order import Kind, Numbered, Step, numbered, steps_between
from tui_crawler.domain.policy import DoNotCrawl, Exclusion, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.ruleset import (
    RulesetChange,
    RulesetEntry,
    RulesetLine,
    Section,
    bare_entry,
    change_between,
    line_of,
    name_of,
    sections_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence

    from tui_crawler.domain.policy import PolicySet

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
class Deeds:
    """What is known of how a change was made: the entries that were moved, and those that were edited with what was
    made of them."""

    moved: frozenset[EntryKey] = frozenset()
    edited: frozenset[tuple[EntryKey, EntryKey]] = frozenset()


NO_DEEDS = Deeds()
"""Whatever was changed was taken out or put in."""


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """What an edit makes of a version it did not begin with. `lost` are the changes that make no sense there: the entry
    they are about is gone."""

    policies: PolicySet
    lost: tuple[EntryChange, ...] = ()


def changes_between(
    before: PolicySet, after: PolicySet, deeds: Deeds | None = None, moved: Collection[EntryKey] = ()
) -> tuple[EntryChange, ...]:
    """What was taken out, edited, moved and put in, section by section. `deeds` None: how it was made is not known, and
    told by where entries stand; of entries that changed places those among `moved` are told, else those that stand
    further up now."""
    found: list[EntryChange] = []
    for (section, former), (_, latter) in zip(sections_of(before), sections_of(after), strict=True):
        found += [_told(section, step, former, latter) for step in _steps(section, former, latter, deeds, moved)]
    return tuple(found)


def carried_over(base: PolicySet, edited: PolicySet, newer: PolicySet, deeds: Deeds | None = None) -> CarriedOver:
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
            merged, failed = _merged(former, mine, theirs, _steps(section, former, mine, deeds))
            change = _with_section(change, section, merged)
            lost += [_told(section, step, former, mine) for step in failed]
    return CarriedOver(change.applied_to(newer), tuple(lost))


def deeds_along(versions: Sequence[PolicySet]) -> Deeds:
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
    return Deeds(edited=frozenset((old, new) for new, old in first.items() if old != new))


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
    deeds: Deeds | None,
    moved: Collection[EntryKey] = (),
) -> list[Step]:
    keys = [[bare_entry(each) for each in entries] for entries in (former, latter)]
    if keys[0] == keys[1]:
        return []
    names = [name_of(each) for each in former], [name_of(each) for each in latter]
    loose = {key[1:] for key in (*moved, *(deeds.moved if deeds is not None else ())) if key[0] == section}
    if deeds is None:
        return steps_between(keys[0], keys[1], names, loose)
    edits = [(old[1:], made[1:]) for old, made in deeds.edited if old[0] == made[0] == section]
    return steps_between(keys[0], keys[1], names, loose, edits)


def _told(section: Section, step: Step, former: Sequence[RulesetEntry], latter: Sequence[RulesetEntry]) -> EntryChange:
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
    former: Sequence[RulesetEntry], mine: Sequence[RulesetEntry], theirs: Sequence[RulesetEntry], steps: list[Step]
) -> tuple[list[RulesetEntry], list[Step]]:
    """Their entries after the steps of mine, and the steps that were not possible."""
    old, own, there = (numbered([bare_entry(each) for each in entries]) for entries in (former, mine, theirs))
    held = dict(zip(there, theirs, strict=True))
    order = list(there)
    lost: list[Step] = []
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


def _with_section(change: RulesetChange, section: Section, entries: Sequence[RulesetEntry]) -> RulesetChange:
    match section:
        case "do_not_crawl":
            return replace(change, do_not_crawl=tuple(cast("Sequence[DoNotCrawl]", entries)))
        case "url_query_parameters":
            return replace(change, url_query_parameters=tuple(cast("Sequence[QueryPolicy]", entries)))
        case "rules":
            return replace(change, rules=tuple(cast("Sequence[Rule]", entries)))
        case "exclusions":
            return replace(change, exclusions=tuple(cast("Sequence[Exclusion]", entries)))
        case "whitelist":
            return replace(change, whitelist=whitelist_of(cast("Sequence[str]", entries)))
