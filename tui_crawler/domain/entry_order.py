"""What became of each entry of a list in another version of it: kept, moved, edited, taken out, put in. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

Kind = Literal["removed", "edited", "moved", "added"]
Numbered = tuple["Hashable", int]
"""An entry, and how often it came before: so all entries of a list are different."""

_MOST_COMPARED = 400
"""More pairs than these between two kept entries are not compared: they are taken in their order."""
_ORDER: tuple[Kind, ...] = ("removed", "edited", "moved", "added")


@dataclass(frozen=True, slots=True)
class Step:
    """One change: `before` and `after` are the places of the entry in the two lists, from 0 (-1: it is not there)."""

    kind: Kind
    before: int = -1
    after: int = -1


def numbered(entries: Sequence[Hashable]) -> list[Numbered]:
    """Each entry with how often it came before."""
    seen: Counter[Hashable] = Counter()
    made = []
    for entry in entries:
        made.append((entry, seen[entry]))
        seen[entry] += 1
    return made


def missing(entries: Sequence[Hashable], others: Sequence[Hashable]) -> list[int]:
    """The places of entries that are not among the others, however they are ordered."""
    left = Counter(others)
    places = []
    for place, entry in enumerate(entries):
        if left[entry] > 0:
            left[entry] -= 1
        else:
            places.append(place)
    return places


def out_of_order(before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[list[int], list[int]]:
    """The places, in each list, of entries outside the longest run that both lists have in the same order."""
    kept = _in_common(numbered(before), numbered(after))
    kept_before, kept_after = {pair[0] for pair in kept}, {pair[1] for pair in kept}
    gone = [place for place in range(len(before)) if place not in kept_before]
    return gone, [place for place in range(len(after)) if place not in kept_after]


def steps_between(
    before: Sequence[Hashable],
    after: Sequence[Hashable],
    words: tuple[Sequence[str], Sequence[str]],
    loose: Collection[Numbered] = (),
    edits: Collection[tuple[Numbered, Numbered]] | None = None,
) -> list[Step]:
    """What makes the second list of the first one. `words` say each entry of both.

    `edits` are the entries that were edited, and what was made of them. None: nobody knows; then an entry that is gone
    and a new one at the same place are one that was edited, of several those that are most alike. Of two entries that
    changed places either may have moved: it is the `loose` one.
    """
    former, latter = numbered(before), numbered(after)
    places, known = {entry: place for place, entry in enumerate(latter)}, set(former)
    kept = _kept(former, latter, loose)
    stays = {pair[0] for pair in kept}
    gone: dict[int, list[int]] = {}
    new: dict[int, list[int]] = {}
    found: list[tuple[int, Step]] = []
    for place, entry in enumerate(former):
        if entry not in places:
            gone.setdefault(_gap(kept, 0, place), []).append(place)
        elif place not in stays:
            there = places[entry]
            found.append((_gap(kept, 1, there), Step("moved", place, there)))
    for place, entry in enumerate(latter):
        if entry not in known:
            new.setdefault(_gap(kept, 1, place), []).append(place)
    if edits is not None:
        found += _edited(edits, former, places, gone, new)
    for gap in gone.keys() | new.keys():
        pairs = _pairs(gone.get(gap, []), new.get(gap, []), words) if edits is None else []
        found += [(gap, step) for step in _steps(gone.get(gap, []), new.get(gap, []), pairs)]
    return [step for _, step in sorted(found, key=lambda one: (one[0], _ORDER.index(one[1].kind), one[1].after))]


def _edited(
    edits: Collection[tuple[Numbered, Numbered]],
    former: Sequence[Numbered],
    places: Mapping[Numbered, int],
    gone: dict[int, list[int]],
    new: dict[int, list[int]],
) -> list[tuple[int, Step]]:
    """The edits that are known, with how many kept entries stand before; they are taken out of what is gone and new."""
    lost = {former[place]: (gap, place) for gap, some in gone.items() for place in some}
    come = {place: gap for gap, some in new.items() for place in some}
    found = []
    for old, made in edits:
        there = places.get(made, -1)
        if old in lost and there in come:
            (gap, place), after = lost.pop(old), come.pop(there)
            gone[gap].remove(place)
            new[after].remove(there)
            found.append((after, Step("edited", place, there)))
    return found


def _pairs(
    gone: Sequence[int], new: Sequence[int], words: tuple[Sequence[str], Sequence[str]]
) -> list[tuple[int, int]]:
    """Which entries between two that are kept were edited, as nobody knows: as many as possible."""
    if len(gone) == len(new) or len(gone) * len(new) > _MOST_COMPARED:
        return list(zip(gone, new, strict=False))
    pairs: list[tuple[int, int]] = []
    ranked = sorted((-_alike(words[0][one], words[1][other]), one, other) for one in gone for other in new)
    for _, one, other in ranked:
        if all(one != pair[0] and other != pair[1] for pair in pairs):
            pairs.append((one, other))
    return pairs


def _steps(gone: Sequence[int], new: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[Step]:
    """What became of entries between two that are kept."""
    edited = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return [
        *(Step("removed", place) for place in gone if place not in edited[0]),
        *(Step("edited", one, other) for one, other in pairs),
        *(Step("added", after=place) for place in new if place not in edited[1]),
    ]


def _alike(one: str, other: str) -> int:
    """How many characters two texts have in common at their ends."""
    most = min(len(one), len(other))
    first = next((n for n in range(most) if one[n] != other[n]), most)
    return first + next((n for n in range(most - first) if one[-1 - n] != other[-1 - n]), most - first)


def _gap(kept: Sequence[tuple[int, int]], side: int, place: int) -> int:
    """How many kept entries stand before a place of one of the lists."""
    return bisect_left(kept, place, key=lambda pair: pair[side])


def _kept(former: list[Numbered], latter: list[Numbered], loose: Collection[Numbered]) -> list[tuple[int, int]]:
    """The entries that stay where they are, as pairs of places: a longest run of those that are not loose, and of the
    loose ones those that stand right among them."""
    kept = _in_common(former, latter, loose)
    places = {entry: place for place, entry in enumerate(latter)}
    for place, entry in enumerate(former):
        if entry in loose and entry in places and _gap(kept, 0, place) == _gap(kept, 1, places[entry]):
            kept.insert(_gap(kept, 0, place), (place, places[entry]))
    return kept


def _in_common(
    entries: Sequence[Numbered], others: Sequence[Numbered], loose: Collection[Numbered] = ()
) -> list[tuple[int, int]]:
    """The longest common subsequence of two lists without repetitions, but for the loose entries, as pairs of places,
    in O(n log n): it is the longest increasing run of the places that the entries have among the others."""
    places = {entry: place for place, entry in enumerate(others) if entry not in loose}
    pairs = [(place, places[entry]) for place, entry in enumerate(entries) if entry in places]
    ends: list[int] = []  # the lowest place among the others at which a run of each length ends
    last: list[int] = []  # which pair that is
    before: list[int] = []  # of each pair, the one before it in its run
    for number, (_, other) in enumerate(pairs):
        length = bisect_left(ends, other)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(other)
            last.append(number)
        else:
            ends[length], last[length] = other, number
    run: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]
