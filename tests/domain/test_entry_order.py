"""What became of each entry of a list: applied to the old list the changes give the new one, and there are no fewer."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.entry_order import EntryMove, steps_between

NAMES = st.sampled_from(
    ["/list/", "/list/2/", "/lists/", "/old/", "/feed/", "/feed/x/", "/calendar/", "/calendar/2024/", "/z/"]
)
LISTS = st.lists(NAMES, max_size=7)
SETS = st.lists(NAMES, max_size=5, unique=True)


def between(before: list[str], after: list[str]) -> list[EntryMove]:
    return steps_between(before, after, (before, after))


def applied(before: list[str], after: list[str], steps: list[EntryMove]) -> list[str]:
    """The old list with the changes made to it: only what was edited, put in or moved is taken from the new one."""
    gone = {step.before for step in steps if step.kind in {"removed", "moved"} or step.crosses}
    edited = {step.before: step.after for step in steps if step.kind == "edited"}
    made = [
        after[edited[place]] if place in edited else entry for place, entry in enumerate(before) if place not in gone
    ]
    for step in sorted(steps, key=lambda one: one.after):
        if step.kind in {"moved", "added"} or step.crosses:
            made.insert(step.after, before[step.before] if step.kind == "moved" else after[step.after])
    return made


@given(LISTS, LISTS)
def test_the_changes_make_the_new_list_of_the_old_one(before: list[str], after: list[str]) -> None:
    assert applied(before, after, between(before, after)) == after


@given(SETS, SETS, st.data())
def test_known_edits_make_the_new_list_of_the_old_one(before: list[str], after: list[str], data: st.DataObject) -> None:
    known = data.draw(st.permutations(after))
    edits = [((old, 0), (new, 0)) for old, new in zip(before, known, strict=False)]
    loose = {(entry, 0) for entry in data.draw(st.sets(st.sampled_from(before)) if before else st.just(set()))}
    steps = steps_between(before, after, (before, after), loose, edits)
    assert applied(before, after, steps) == after
    told = {(before[step.before], after[step.after]) for step in steps if step.kind == "edited"}
    assert told == {(old[0], new[0]) for old, new in edits if old[0] not in after and new[0] not in before}


@given(LISTS, LISTS)
def test_an_entry_that_both_have_is_never_edited_taken_out_or_put_in(before: list[str], after: list[str]) -> None:
    steps = between(before, after)
    there = Counter(before) & Counter(after)
    lost = Counter(before[step.before] for step in steps if step.kind in {"removed", "edited"})
    come = Counter(after[step.after] for step in steps if step.kind in {"added", "edited"})
    assert lost == Counter(before) - there
    assert come == Counter(after) - there
    assert all(before[step.before] == after[step.after] for step in steps if step.kind == "moved")
    assert all(before[step.before] != after[step.after] for step in steps if step.kind == "edited")
    assert len({step.before for step in steps if step.before >= 0}) == sum(step.before >= 0 for step in steps)
    assert len({step.after for step in steps if step.after >= 0}) == sum(step.after >= 0 for step in steps)


@given(SETS, st.data())
def test_of_neighbours_that_changed_places_the_lower_one_moved_up(before: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, max(0, len(before) - 2)))
    after = [*before[:place], *reversed(before[place : place + 2]), *before[place + 2 :]]
    moved = [EntryMove("moved", place + 1, place)] if len(before) > 1 else []
    assert between(before, after) == moved
    if moved:
        told = steps_between(before, after, (before, after), {(before[place], 0)})
        assert told == [EntryMove("moved", place, place + 1)], "unless it is known better"


@given(SETS, SETS)
def test_no_entry_is_moved_that_could_have_stayed(before: list[str], after: list[str]) -> None:
    both = [entry for entry in before if entry in after]
    order = [entry for entry in after if entry in before]
    most = max(
        size
        for size in range(len(both) + 1)
        if any(list(some) == [one for one in order if one in some] for some in combinations(both, size))
    )
    assert [step.kind for step in between(before, after)].count("moved") == len(both) - most


def alike(one: str, other: str) -> bool:
    """What a person would take for one entry, among these names."""
    return one.split("/")[1].rstrip("s") == other.split("/")[1].rstrip("s")


@given(SETS, SETS)
def test_as_many_entries_as_possible_were_edited_into_alike_ones(before: list[str], after: list[str]) -> None:
    gone = [entry for entry in before if entry not in after]
    new = [entry for entry in after if entry not in before]
    few, many = sorted((gone, new), key=len)
    most = max(sum(alike(one, other) for one, other in zip(few, some, strict=False)) for some in permutations(many))
    edits = [(before[step.before], after[step.after]) for step in between(before, after) if step.kind == "edited"]
    assert sum(alike(*pair) for pair in edits) == most
    others = [pair for pair in edits if not alike(*pair)]
    for old, _ in others:  # alone at its place, beside the one it gave way to
        assert not any(alike(old, other) for other in new if other not in {pair[1] for pair in edits})


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (  # three changes: /zip/ put in, /old/ taken out, /calendar/ edited; taken back
            ["/list/", "/calendar/2024/", "/zip/"],
            ["/list/", "/old/", "/calendar/"],
            [("removed", "/zip/", ""), ("edited", "/calendar/2024/", "/calendar/"), ("added", "", "/old/")],
        ),
        (
            ["/calendar/2024/", "/list/", "/zip/"],
            ["/list/", "/calendar/"],
            [("removed", "/zip/", ""), ("edited", "/calendar/2024/", "/calendar/")],
        ),
        (["/a/", "/x/", "/b/"], ["/a/", "/y/", "/b/"], [("edited", "/x/", "/y/")]),
        (["/a/"], ["/b/", "/c/"], [("removed", "/a/", ""), ("added", "", "/b/"), ("added", "", "/c/")]),
    ],
)
def test_entries_are_paired_by_what_they_are_known_by(
    before: list[str], after: list[str], told: list[tuple[str, str, str]]
) -> None:
    steps = between(before, after)
    found = [
        (step.kind, before[step.before] if step.before >= 0 else "", after[step.after] if step.after >= 0 else "")
        for step in steps
    ]
    assert sorted(found) == sorted(told)


def test_an_edited_entry_that_stands_elsewhere_says_so() -> None:
    assert between(["/calendar/", "/list/"], ["/list/", "/calendar/2024/"]) == [EntryMove("edited", 0, 1, crosses=True)]
    assert between(["/calendar/", "/list/"], ["/calendar/2024/", "/list/"]) == [EntryMove("edited", 0, 0)]


def test_long_lists_that_have_nothing_in_common_are_not_compared_pair_by_pair() -> None:
    before, after = [f"/a{n}/" for n in range(3_000)], [f"/b{n}/" for n in range(3_000)]
    kinds = Counter(step.kind for step in between(before, after))
    assert kinds == {"removed": 3_000, "added": 3_000}
    assert {step.kind for step in steps_between(before, after, (before, before))} == {"edited"}
