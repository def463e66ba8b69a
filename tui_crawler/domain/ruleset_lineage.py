"""Versions of rules in the order in which they were made: how one came of another, told by those between them. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from tui_crawler.domain.ruleset import Ruleset, line_of, same_rules, sections_of
from tui_crawler.domain.ruleset_change import Deeds, EntryChange, EntryKey, changes_between, deeds_along, keys_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_BACK = re.compile(r"back to version (\d+)$")
"""How the note of a version ends that brings an earlier one back."""
_MOVED = re.compile(r"(?:^|, )moved (.+?) \(from place (\d{1,9}) to (\d{1,9})\)")
"""What the note of a version says of each entry that its operator moved: which one, from where and to where."""
_MOST_COMPARED = 20_000
"""More entries than these in all versions between two are not followed: the two alone are compared."""


def changes_along(history: Sequence[Ruleset], before: Ruleset, after: Ruleset) -> tuple[EntryChange, ...]:
    """What is otherwise in `after`, as far as `history` knows how it came of `before`, or the reverse. Of two entries
    that changed places the one is told that the note says was moved, as it was told when the version was made."""
    deeds = deeds_between(history, before, after)
    plain = changes_between(before.policies, after.policies, deeds)
    moved = _moved(before, after)
    told = changes_between(before.policies, after.policies, deeds, moved) if moved else plain
    return told if len(told) <= len(plain) else plain


def deeds_between(history: Sequence[Ruleset], before: Ruleset, after: Ruleset) -> Deeds | None:
    """What was edited on the way from one version to another; None: nobody knows."""
    way = _way(history, before, after) or _way(history, after, before)[::-1]
    entries = sum(len(some) for one in way for _, some in sections_of(one.policies))
    if len(way) < 3 or entries > _MOST_COMPARED:
        return None
    return deeds_along([one.policies for one in way])


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
