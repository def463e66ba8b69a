"""How one version of the rules came of another: entries are followed through the versions between them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.policy import PolicySet, Rule
from tui_crawler.domain.ruleset import Ruleset, same_rules
from tui_crawler.domain.ruleset_change import EntryChange, changes_along, changes_between, edit_history_between

FEED, OLD, LIST = (Rule(f"/{name}/", skip=True) for name in ("feed", "old", "list"))
NEW, OTHER = Rule("/new/", skip=True), Rule("^https://x/", ua="special")


def line(*contents: tuple[Rule, ...], notes: dict[int, str] | None = None) -> tuple[Ruleset, ...]:
    """Versions 1, 2, …, each made of the one before, newest first."""
    made = [
        Ruleset(number, "job", PolicySet(rules=rules), number - 1, note=(notes or {}).get(number, ""))
        for number, rules in enumerate(contents, 1)
    ]
    return tuple(reversed(made))


def said(changes: tuple[EntryChange, ...]) -> list[tuple[str, str, str]]:
    return [
        (
            change.kind,
            change.before.text.partition(":")[0] if change.before is not None else "",
            change.after.text.partition(":")[0] if change.after is not None else "",
        )
        for change in changes
    ]


THREE = line((FEED, OLD, LIST), (FEED, OLD, LIST, NEW), (FEED, LIST, NEW), (FEED, OTHER, NEW))
"""One put in, one taken out, one edited past recognition."""


def test_taking_back_three_changes_takes_back_each_of_them() -> None:
    told = said(changes_along(THREE, THREE[0], THREE[3]))
    assert told == [("removed", "/new/", ""), ("edited", "^https", "/list/"), ("added", "", "/old/")]
    forth = said(changes_along(THREE, THREE[3], THREE[0]))
    assert forth == [("removed", "/old/", ""), ("edited", "/list/", "^https"), ("added", "", "/new/")]


def test_without_what_lies_between_the_two_alone_are_compared() -> None:
    assert edit_history_between((THREE[0], THREE[3]), THREE[0], THREE[3]) is None
    assert edit_history_between((), THREE[0], THREE[3]) is None
    assert edit_history_between(THREE, THREE[0], THREE[1]) is None
    assert said(changes_along(THREE, THREE[1], THREE[0])) == [("edited", "/list/", "^https")]


def test_a_version_that_brought_another_back_is_told_as_it_was_drafted() -> None:
    contents = [one.policies.rules for one in reversed(THREE)]
    history = line(*contents, contents[0], notes={5: "back to version 1"})
    drafted = said(changes_along(history, history[1], history[4]))
    assert said(changes_along(history, history[1], history[0])) == drafted
    lying = line(*contents, (FEED, OTHER, NEW, LIST), notes={5: "back to version 1"})
    assert said(changes_along(lying, lying[1], lying[0])) == [("added", "", "/list/")]


@pytest.mark.parametrize("parents", [(0, 3, 2), (0, 1, 7), (3, 3, 3)])
def test_a_history_that_makes_no_sense_is_followed_no_further(parents: tuple[int, ...]) -> None:
    history = tuple(replace(one, parent_id=parents[one.ruleset_id - 1]) for one in THREE[1:])
    assert edit_history_between(history, history[0], history[2]) is None


SWAP = (FEED, OLD, LIST), (OLD, FEED, LIST)
UP, DOWN = ("moved", "/old/", 2, 1), ("moved", "/feed/", 1, 2)


def moves(changes: tuple[EntryChange, ...]) -> list[tuple[str, str, int, int]]:
    return [
        (one.kind, one.before.text.partition(":")[0], one.place, one.to) for one in changes if one.before is not None
    ]


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("", UP),  # nobody knows: the one that stands further up now
        ("moved rule /old/: skip true (from place 2 to 1)", UP),
        ("moved rule /feed/: skip true (from place 1 to 2)", DOWN),
        ("+ rule /x/, moved rule /feed/: skip true (from place 1 to 2)", DOWN),
        ("moved rule /feed/: skip true (from place 2 to 1)", UP),  # it did not
        ("moved rule /feed/: skip true (from place 1 to 99999)", UP),
        ("moved rule /feed/: skip true (from place 0 to 0)", UP),
        ("moved rule /other/ (from place 1 to 2)", UP),
        ("not moved rule /feed/: skip true (from place 1 to 2)", UP),
        ("moved ☃ (from place \u0661 to 2)", UP),
    ],
)
def test_of_two_that_changed_places_the_one_is_told_that_was_moved(note: str, told: tuple[str, str, int, int]) -> None:
    after, before = line(*SWAP, notes={2: note})
    assert moves(changes_along((after, before), before, after)) == [told]
    assert moves(changes_along((), before, after)) == [told]
    stranger = replace(after, parent_id=7)
    assert moves(changes_along((), before, stranger)) == [UP]


def test_the_way_back_is_told_of_the_same_entry() -> None:
    after, before = line(*SWAP, notes={2: "moved rule /feed/: skip true (from place 1 to 2)"})
    assert moves(changes_along((), after, before)) == [("moved", "/feed/", 2, 1)]
    after, before = line(*SWAP, notes={2: "moved rule /old/: skip true (from place 2 to 1)"})
    assert moves(changes_along((), after, before)) == [("moved", "/old/", 1, 2)]


def test_a_note_that_makes_more_of_it_than_there_was_is_not_believed() -> None:
    after, before = line(
        (FEED, OLD, LIST), (OLD, LIST, FEED), notes={2: "moved rule /old/: skip true (from place 2 to 1)"}
    )
    assert moves(changes_along((), before, after)) == [("moved", "/feed/", 1, 3)]


RULES = st.lists(
    st.sampled_from([FEED, OLD, LIST, NEW, OTHER, Rule("/feed/2/", skip=True), Rule("/feed/", ua="x")]), max_size=5
).map(tuple)


@given(st.lists(RULES, min_size=2, max_size=5))
def test_followed_or_not_it_is_told_truly_what_went_and_came(contents: list[tuple[Rule, ...]]) -> None:
    history = line(*contents)
    before, after = history[-1].policies.rules, history[0].policies.rules
    changes = changes_along(history, history[-1], history[0])
    assert (changes == ()) == same_rules(history[-1].policies, history[0].policies)
    kinds = [change.kind for change in changes]
    assert len(before) - kinds.count("removed") + kinds.count("added") == len(after)
    plain = [one.kind for one in changes_between(history[-1].policies, history[0].policies)]
    lost, come = ("removed", "edited"), ("added", "edited")
    assert sum(kind in lost for kind in kinds) == sum(kind in lost for kind in plain)
    assert sum(kind in come for kind in kinds) == sum(kind in come for kind in plain)
    assert kinds.count("moved") == plain.count("moved")
