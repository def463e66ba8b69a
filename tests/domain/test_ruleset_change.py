"""What became of each entry between two versions of the rules, and an edit carried over to a third."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.matcher import Test
from tui_crawler.domain.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.ruleset import change_between, same_rules
from tui_crawler.domain.ruleset_change import EditHistory, EntryChange, carried_over, changes_between

A, B, C, D = (Rule(name, skip=True) for name in "abcd")
RULES = st.sampled_from((A, B, C, D, Rule("e", ua="special"), Rule("f", accept=False)))
HOSTS = st.sampled_from([Exclusion("host", f"{name}.example") for name in "abc"])
POLICIES = st.builds(
    PolicySet,
    do_not_crawl=st.lists(st.sampled_from([DoNotCrawl(Test("path", "prefix", f"/{n}")) for n in "xyz"])).map(tuple),
    exclusions=st.lists(HOSTS, max_size=4, unique=True).map(tuple),
    whitelist=st.none() | st.builds(Whitelist, st.lists(st.sampled_from("ab"), unique=True).map(tuple), st.just(())),
    rules=st.lists(RULES, max_size=7).map(tuple),
)


def rules(*entries: Rule) -> PolicySet:
    return PolicySet(rules=entries)


def said(changes: tuple[EntryChange, ...]) -> list[tuple[object, ...]]:
    """Kind, words before and after, places."""
    return [
        (
            one.kind,
            one.before.text if one.before is not None else "",
            one.after.text if one.after is not None else "",
            one.place,
            one.to,
        )
        for one in changes
    ]


def test_an_edited_entry_is_one_change():
    after = rules(A, Rule("bb", skip=True), C)
    assert said(changes_between(rules(A, B, C), after)) == [("edited", "b: skip true", "bb: skip true", 2, 2)]


def test_a_moved_entry_is_one_change_with_its_places():
    assert said(changes_between(rules(A, B, C, D), rules(B, C, A, D))) == [
        ("moved", "a: skip true", "a: skip true", 1, 3)
    ]


def test_of_two_that_changed_places_the_loose_one_has_moved():
    for loose, place, to in ((A, 1, 2), (B, 2, 1)):
        changes = changes_between(rules(A, B), rules(B, A), EditHistory(frozenset({("rules", loose, 0)})))
        assert said(changes) == [("moved", f"{loose.match}: skip true", f"{loose.match}: skip true", place, to)]
    assert changes_between(rules(A, B), rules(A, B), EditHistory(frozenset({("rules", A, 0)}))) == ()


def test_of_several_at_one_place_those_that_are_most_alike_were_edited():
    before, after = rules(Rule("/old/", ua="x"), Rule("/list/", skip=True)), rules(Rule("/list/2/", skip=True))
    assert [one[:3] for one in said(changes_between(before, after))] == [
        ("removed", "/old/: ua x", ""),
        ("edited", "/list/: skip true", "/list/2/: skip true"),
    ]


def test_what_was_edited_is_told_by_who_did_it():
    before, after = rules(A, B, C), rules(A, C, D)
    assert [one.kind for one in changes_between(before, after, EditHistory())] == ["removed", "added"]
    edit = EditHistory(edited=frozenset({(("rules", B, 0), ("rules", D, 0))}))
    assert said(changes_between(before, after, edit)) == [("edited", "b: skip true", "d: skip true", 2, 3)]
    assert carried_over(before, after, rules(A, C), EditHistory()).policies == rules(A, C, D)
    assert carried_over(before, after, rules(A, C), edit).policies == rules(A, C)


def test_entries_move_in_every_section():
    one, other = (DoNotCrawl(Test("path", "prefix", text), f"my.yaml:{text}") for text in "xy")
    changes = changes_between(PolicySet((one, other)), PolicySet((other, one)))
    assert [change.kind for change in changes] == ["moved"]


@given(POLICIES, POLICIES)
def test_two_sets_that_say_the_same_and_no_others_have_no_change_between_them(before, after):
    assert (changes_between(before, after) == ()) == same_rules(before, after)
    kinds = [change.kind for change in changes_between(before, after) if change.section == "rules"]
    assert len(before.rules) - kinds.count("removed") + kinds.count("added") == len(after.rules)


@given(POLICIES, POLICIES)
def test_an_edit_carried_over_to_what_it_began_with_is_that_edit(base, edited):
    whole = carried_over(base, edited, base)
    assert same_rules(whole.policies, edited)
    assert whole.lost == ()
    assert same_rules(carried_over(base, base, edited).policies, edited)


@given(POLICIES, POLICIES)
def test_an_edit_that_the_newer_version_has_made_already_leaves_nothing(base, edited):
    assert changes_between(edited, carried_over(base, edited, edited).policies) == ()


@given(POLICIES, POLICIES, POLICIES)
def test_sections_that_the_newer_version_left_alone_are_those_of_the_edit(base, edited, newer):
    elsewhere = replace(newer, rules=base.rules)
    mine = replace(base, rules=edited.rules)
    made = carried_over(base, mine, elsewhere)
    assert made.policies == change_between(base, mine).applied_to(elsewhere)
    assert made.lost == ()


@given(POLICIES, POLICIES, POLICIES)
def test_what_the_newer_version_says_and_the_edit_leaves_alone_stays(base, edited, newer):
    made = carried_over(base, edited, newer).policies
    untouched = set(newer.rules) - set(base.rules)
    assert untouched <= set(made.rules)
    assert set(made.rules) <= set(newer.rules) | set(edited.rules)


MINE = Rule("b2", skip=True)


@pytest.mark.parametrize(
    ("edited", "newer", "made"),
    [
        ((A, MINE, C), (A, B, C, D), (A, MINE, C, D)),
        ((A, B, C, MINE), (A, B, D), (A, B, D, MINE)),
        ((A, MINE, B, C), (D, A, B, C), (D, A, MINE, B, C)),
        ((MINE, A, B, C), (D, A, B, C), (MINE, D, A, B, C)),
        ((A, C), (B, C, D), (C, D)),
        ((C, A, B), (A, B, C, D), (C, A, B, D)),
        ((A, MINE, C), (A, MINE, B, C), (A, MINE, C)),
    ],
)
def test_one_section_that_both_changed_is_edited_entry_by_entry(edited, newer, made):
    assert carried_over(rules(A, B, C), rules(*edited), rules(*newer)).policies.rules == made


def test_an_edited_entry_that_is_gone_makes_no_sense_any_more():
    whole = carried_over(rules(A, B, C), rules(A, MINE, C, D), rules(A, C))
    assert whole.policies.rules == (A, C, D)
    assert said(whole.lost) == [("edited", "b: skip true", "b2: skip true", 2, 2)]
    moved = carried_over(rules(A, B, C), rules(B, C, A), rules(B, C, D))
    assert moved.policies.rules == (B, C, D)
    assert [one.kind for one in moved.lost] == ["moved"]


def test_a_query_policy_and_a_whitelist_are_carried_over_too():
    base = PolicySet(url_query_parameters=(QueryPolicy(None, frozenset("a")),), whitelist=Whitelist(("a.example",), ()))
    edited = replace(base, whitelist=Whitelist(("a.example", "b.example"), ("/x/",)))
    newer = PolicySet(whitelist=Whitelist(("c.example",), ()))
    made = carried_over(base, edited, newer).policies
    assert made == PolicySet(whitelist=Whitelist(("c.example", "b.example"), ("/x/",)))
    assert carried_over(base, EMPTY, newer).policies == newer
