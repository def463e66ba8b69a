"""What became of each entry of a list in another version of it: kept, moved, edited, taken out, put in. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["removed", "edited", "moved", "added"]
Numbered = tuple["Hashable", int]
"""An entry, and how often it came before: so all entries of a list are different."""

_MOST_COMPARED = 400
"""More pairs than these are not compared: those entries were taken out and put in."""
_ALIKE = 0.5
"""Names that share so much of the longer one at their ends may be of one entry."""
_ORDER: tuple[Kind, ...] = ("removed", "edited", "moved", "added")


@dataclass(frozen=True, slots=True)
class EntryMove:
    """One change: `before` and `after` are the places of the entry in the two lists, from 0 (-1: it is not there).
    `crosses`: an entry that was edited stands elsewhere now among those that stayed."""

    kind: Kind
    before: int = -1
    after: int = -1
    crosses: bool = False


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
    names: tuple[Sequence[str], Sequence[str]],
    loose: Collection[Numbered] = (),
    edits: Collection[tuple[Numbered, Numbered]] | None = None,
) -> list[EntryMove]:
    """What makes the second list of the first one. `names` are what each entry of both is known by.

    `edits` are the entries that were edited, and what was made of them. None: nobody knows; then those of one name
    were, and those of alike names, as many as possible, and one that is alone at its place with the one it gave way to.
    Of two entries that changed places either may have moved: it is the `loose` one, of neighbours without one the
    one that stands first now.
    """
    former, latter = numbered(before), numbered(after)
    places, known = {entry: place for place, entry in enumerate(latter)}, set(former)
    kept = _kept(former, latter, loose)
    stays = {pair[0] for pair in kept}
    gone = [place for place, entry in enumerate(former) if entry not in places]
    new = [place for place, entry in enumerate(latter) if entry not in known]
    pairs = _guessed(gone, new, names, kept) if edits is None else _told(edits, former, places, gone, new)
    # Those that stand as they stood among the kept ones, and among each other.
    straight = set(_rising(sorted(pair for pair in pairs if _gap(kept, 0, pair[0]) == _gap(kept, 1, pair[1]))))
    edited = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    steps = [
        *(EntryMove("removed", place) for place in gone if place not in edited[0]),
        *(EntryMove("edited", *pair, pair not in straight) for pair in pairs),
        *(
            EntryMove("moved", place, places[entry])
            for place, entry in enumerate(former)
            if entry in places and place not in stays
        ),
        *(EntryMove("added", after=place) for place in new if place not in edited[1]),
    ]
    return sorted(steps, key=lambda one: (_gap_of(one, kept), _ORDER.index(one.kind), one.after))


def _told(
    edits: Collection[tuple[Numbered, Numbered]],
    former: Sequence[Numbered],
    places: Mapping[Numbered, int],
    gone: Sequence[int],
    new: Sequence[int],
) -> list[tuple[int, int]]:
    """The places of entries of which it is known that they were edited, each once."""
    lost, come = {former[place]: place for place in gone}, set(new)
    pairs = []
    for old, made in edits:
        there = places.get(made, -1)
        if old in lost and there in come:
            pairs.append((lost.pop(old), there))
            come.remove(there)
    return pairs


def _guessed(
    gone: Sequence[int], new: Sequence[int], names: tuple[Sequence[str], Sequence[str]], kept: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The places of entries that were edited, as far as it can be seen."""
    named: dict[str, list[int]] = {}
    for place in reversed(new):
        named.setdefault(names[1][place], []).append(place)
    pairs = {place: named[names[0][place]].pop() for place in gone if named.get(names[0][place])}
    left = _left(pairs, gone, new)
    if len(left[0]) * len(left[1]) <= _MOST_COMPARED:
        pairs |= _matched(*left, names, kept)
    went, came = Counter(_gap(kept, 0, place) for place in gone), Counter(_gap(kept, 1, place) for place in new)
    old, fresh = _left(pairs, gone, new)
    successors = {gap: place for place in fresh if went[gap := _gap(kept, 1, place)] == came[gap] == 1}
    pairs |= {place: successors[gap] for place in old if (gap := _gap(kept, 0, place)) in successors}
    return list(pairs.items())


def _left(pairs: Mapping[int, int], gone: Sequence[int], new: Sequence[int]) -> tuple[list[int], list[int]]:
    taken = set(pairs.values())
    return [place for place in gone if place not in pairs], [place for place in new if place not in taken]


def _matched(
    gone: Sequence[int], new: Sequence[int], names: tuple[Sequence[str], Sequence[str]], kept: Sequence[tuple[int, int]]
) -> dict[int, int]:
    """Pairs of entries with alike names: as many as possible, of those the ones that are most alike, at best where they
    stood."""

    def closeness(one: int, other: int) -> tuple[float, bool]:
        return _alike(names[0][one], names[1][other]), _gap(kept, 0, one) == _gap(kept, 1, other)

    ranked = sorted(
        (close, -one, -other) for one in gone for other in new if (close := closeness(one, other))[0] >= _ALIKE
    )
    chosen: dict[int, list[int]] = {}
    for _, one, other in reversed(ranked):
        chosen.setdefault(-one, []).append(-other)
    owners: dict[int, int] = {}

    def find(one: int, seen: set[int]) -> bool:
        """Finds a partner for an entry, another one for whose partner that was, if need be."""
        free = [other for other in chosen[one] if other not in seen]
        for other in sorted(free, key=lambda other: other in owners):
            if other not in seen:
                seen.add(other)
                if other not in owners or find(owners[other], seen):
                    owners[other] = one
                    return True
        return False

    for one in chosen:  # those that have the closest partner come first
        find(one, set())
    return {one: other for other, one in owners.items()}


def _alike(one: str, other: str) -> float:
    """How much of the longer name both have in common at their ends, 0 to 1; letters and digits alone count."""
    one, other = ("".join(filter(str.isalnum, name)) for name in (one, other))
    most = min(len(one), len(other))
    first = next((n for n in range(most) if one[n] != other[n]), most)
    last = next((n for n in range(most - first) if one[-1 - n] != other[-1 - n]), most - first)
    return (first + last) / max(len(one), len(other), 1)


def _gap_of(step: EntryMove, kept: Sequence[tuple[int, int]]) -> int:
    return _gap(kept, 0, step.before) if step.after < 0 else _gap(kept, 1, step.after)


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
    """The longest common subsequence of two lists without repetitions, but for the loose entries, as pairs of
    places."""
    places = {entry: place for place, entry in enumerate(others) if entry not in loose}
    return _rising([(place, places[entry]) for place, entry in enumerate(entries) if entry in places])


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of pairs in the order of their first numbers, a longest run in which the second ones rise, in O(n log n). Of two
    neighbours that changed places it has the one that stood first: the other one moved up."""
    ends: list[int] = []  # the lowest number, the second one negative, with which a run of each length ends
    last: list[int] = []  # which pair that is
    after: list[int] = []  # of each pair, the one after it in its run
    for number, (_, second) in enumerate(reversed(pairs)):
        other = -second
        length = bisect_left(ends, other)
        after.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(other)
            last.append(number)
        else:
            ends[length], last[length] = other, number
    run: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(pairs[-1 - number])
        number = after[number]
    return run
