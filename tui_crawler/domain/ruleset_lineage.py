"""Versions of rules in the order in which they were made: how one came of another, told by those between them. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from tui_crawler.domain.ruleset import Ruleset, same_rules, sections_of
from tui_crawler.domain.ruleset_change import Deeds, EntryChange, changes_between, deeds_along

if TYPE_CHECKING:
    from collections.abc import Sequence

_BACK = re.compile(r"back to version (\d+)$")
"""How the note of a version ends that brings an earlier one back."""
_MOST_COMPARED = 20_000
"""More entries than these in all versions between two are not followed: the two alone are compared."""


def changes_along(history: Sequence[Ruleset], before: Ruleset, after: Ruleset) -> tuple[EntryChange, ...]:
    """What is otherwise in `after`, as far as `history` knows how it came of `before`, or the reverse."""
    return changes_between(before.policies, after.policies, deeds_between(history, before, after))


def deeds_between(history: Sequence[Ruleset], before: Ruleset, after: Ruleset) -> Deeds | None:
    """What was edited on the way from one version to another; None: nobody knows."""
    way = _way(history, before, after) or _way(history, after, before)[::-1]
    entries = sum(len(some) for one in way for _, some in sections_of(one.policies))
    if len(way) < 3 or entries > _MOST_COMPARED:
        return None
    return deeds_along([one.policies for one in way])


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
