"""A draft of rules without a screen: what a text says, what it begins with, what two texts become together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.sample_rules import ADDED, FIRST, JOB, SECOND, THIRD, versions
from tui_crawler.console.operator.commands import AppliedVersions
from tui_crawler.console.rules.draft import (
    DraftReading,
    DraftSession,
    RuleDraft,
    Start,
    apply_intent,
    note_of,
    reading_of,
    start_with_rule,
)
from tui_crawler.console.rules.entries import entries_of
from tui_crawler.console.rules.merge import merge
from tui_crawler.console.rules.queries import RulesInForce
from tui_crawler.domain.records.command import ActionResult, ApplyRules
from tui_crawler.domain.rules.policy import EMPTY, PolicySet, Rule
from tui_crawler.domain.rules.ruleset import Ruleset, difference, same_rules, to_json
from tui_crawler.text.rules_text import rules_lines
from tui_crawler.text.same_as import same_as
from tui_crawler.wiring.console_rules import ConsoleRules

DESK = ConsoleRules(Path("none.db"))
BASE = versions()[0]


def draft_of(policies: PolicySet, *, base: Ruleset = BASE) -> RuleDraft:
    return RuleDraft(base, "\n".join(rules_lines(policies)))


def read(draft: RuleDraft) -> DraftReading:
    return reading_of(draft, DESK.read(draft.text))


def rules(*names: str) -> PolicySet:
    return PolicySet(rules=tuple(Rule(f"/{name}/", skip=True) for name in names))


# what a text says


@pytest.mark.parametrize("policies", [FIRST, SECOND, THIRD, EMPTY])
def test_a_text_says_what_it_was_made_of(policies: PolicySet) -> None:
    reading = read(draft_of(policies))
    assert same_rules(reading.policies, policies)
    assert reading.same == same_rules(policies, THIRD)


def test_an_entry_keeps_the_place_where_it_was_written_and_a_new_one_is_of_the_console() -> None:
    reading = read(draft_of(replace(THIRD, rules=(*THIRD.rules, Rule("/new/", skip=True)))))
    assert reading.policies.rules[:-1] == THIRD.rules
    assert reading.policies.rules[-1].source == "console"
    assert reading.policies.exclusions == THIRD.exclusions


def test_what_is_wrong_is_named_by_its_line() -> None:
    reading = read(RuleDraft(BASE, "rules:\n  - {match: '('}\n  - {match: /a/, skp: true}\n"))
    assert [one.line for one in reading.problems] == [2, 3]
    assert "not a linear-time regular expression" in reading.problems[0].words
    conflict = read(RuleDraft(BASE, "rules:\n<<<<<<< mine\n=======\n>>>>>>> ruleset 14\n"))
    assert [one.line for one in conflict.problems] == [2, 3, 4]


def test_a_line_belongs_to_the_entry_that_begins_before_it() -> None:
    reading = read(RuleDraft(BASE, "rules:\n  - match: /a/\n    skip: true\n  - {match: /b/, skip: true}\n"))
    found = [entry and entry.line.text for entry in map(reading.entry_at, range(1, 5))]
    assert found == [None, "/a/: skip true", "/a/: skip true", "/b/: skip true"]


@pytest.mark.parametrize(
    ("after", "note"),
    [
        (rules("a", "b", "c", "d"), "+ rule /d/: skip true"),
        (rules("a", "c"), "− rule /b/: skip true"),
        (rules("b", "a", "c"), "moved rule /b/: skip true"),
        (rules("a", "x", "c"), "− rule /b/: skip true, + rule /x/: skip true"),
        (rules("x", "y", "z"), "3 added, 3 removed"),
        (rules("a", "b", "c", "x" * 300), f"+ rule /{'x' * 191}…"),
    ],
)
def test_the_note_says_what_was_done(after: PolicySet, note: str) -> None:
    assert note_of(difference(rules("a", "b", "c"), after)) == note


def test_equal_entries_are_told_apart() -> None:
    one, other = entries_of(rules("a", "a"))
    assert one.key != other.key


# what a draft begins with


@pytest.mark.parametrize(
    ("start", "row", "column", "line"),
    [
        (Start(), 2, 6, "    - {path: {prefix: /admin/}}  # my.yaml:14"),
        (Start(row=3), 4, 6, "    - {match: {path: {prefix: /v2/items}}, allow: [page]}  # my.yaml:18"),
        (Start(row=99), 14, 6, "    - '*.example.org'"),
        (start_with_rule(""), 10, 13, "  - {match: '', skip: true}"),
        (start_with_rule("^https://a/[0-9]+$"), 10, 31, "  - {match: '^https://a/[0-9]+$', skip: true}"),
        (Start(rule=("{match: /a/, ua: me", "}")), 10, 23, "  - {match: /a/, ua: me}"),
        (Start(lines=rules_lines(EMPTY)), 0, 0, "policies:"),
    ],
)
def test_where_the_cursor_is_at_first(start: Start, row: int, column: int, line: str) -> None:
    lines, cursor = start.lines_of(BASE)
    assert lines[row] == line
    assert cursor == (row, column)


def session(now: Ruleset = BASE) -> DraftSession:
    held = DraftSession("")
    held.in_force = RulesInForce((now,), ADDED)
    return held


@pytest.mark.parametrize(
    ("start", "dirty"),
    [
        (Start(), False),
        (start_with_rule(""), False),
        (start_with_rule("/a/"), True),
        (Start(lines=rules_lines(SECOND)), True),
    ],
)
def test_a_draft_is_dirty_when_it_says_something(start: Start, dirty: bool) -> None:
    held = session()
    held.begin(start)
    assert held.dirty == dirty
    assert held.draft is not None
    text = held.draft.text
    held.write(f"{text} ")
    assert held.dirty, "it is not read yet"
    held.take_reading(read(RuleDraft(BASE, f"{text} ")))
    assert held.dirty == (dirty or start.rule != ("", ""))
    held.write(text)
    assert held.dirty == dirty


def test_all_that_would_decide_includes_what_operators_excluded() -> None:
    held = session()
    held.begin(Start(lines=rules_lines(SECOND), brings_back=versions()[1]))
    assert held.drafted is None, "it is not read yet"
    assert held.draft is not None
    held.take_reading(read(held.draft))
    assert held.drafted is not None
    assert held.drafted.exclusions == (*SECOND.exclusions, *ADDED)
    assert (held.returns_to, held.undoes_base) == (12, True)


def test_a_draft_that_began_with_the_version_that_was_seen_is_overtaken() -> None:
    held = session(replace(BASE, ruleset_id=14, policies=FIRST))
    held.begin(Start(BASE))
    assert held.overtaken is not None
    assert not held.moot
    held.begin(Start(BASE, rules_lines(FIRST)))
    assert held.moot


def test_an_undo_begins_with_the_version_that_was_written() -> None:
    known = AppliedVersions()
    intent = apply_intent(BASE, SECOND, "a note")
    known.learn(intent, [ActionResult(1, "{}", json.dumps({"rulesets": {JOB: 14, "other": 3}}))])
    assert not known.takes_back(intent)
    undoing = known.based(replace(intent, commands=intent.inverse), intent.commands)
    assert known.takes_back(undoing)
    assert same_as(undoing.commands, takes_back=True) == f"tui-crawler rules undo --job {JOB}"
    (back,) = undoing.commands
    assert isinstance(back, ApplyRules)
    assert (back.base_id, back.job, back.rules) == (14, JOB, to_json(THIRD))
    later = ApplyRules(back.rules, 14, JOB, "undo: back to version 2")
    assert not known.takes_back(replace(intent, commands=(later,)))


# two operators at once


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        ("a b c", "a b c", "a b c"),
        ("a c", "a b c", "a c"),
        ("a b c", "b c", "b c"),
        ("x a b c", "a b c y", "x a b c y"),
        ("a c", "b c", "< a = b > c"),
        ("a x c", "a x c", "a x c"),
        ("a x c", "a c", "a < x = > c"),
        ("a b c x", "a b c y", "a b c < x = y >"),
        ("a b c x", "a b c x y", "a b c x y"),
        ("a b c x y", "a b c x z", "a b c x < y = z >"),
        ("", "", ""),
    ],
)
def test_lines_are_merged_as_git_does(mine: str, theirs: str, merged: str) -> None:
    marks = {"<<<<<<< mine": "<", "=======": "=", ">>>>>>> theirs": ">"}
    found = merge(["a", "b", "c"], mine.split(), theirs.split(), "theirs")
    assert [marks.get(line, line) for line in found.lines] == merged.split()
    assert found.conflicts == merged.count("<")


lines = st.lists(st.sampled_from("abcdef"), max_size=8)


@given(lines, lines)
def test_one_side_alone_is_taken_as_it_is(base: list[str], changed: list[str]) -> None:
    assert list(merge(base, changed, base, "x").lines) == changed
    assert list(merge(base, base, changed, "x").lines) == changed
    assert list(merge(base, changed, changed, "x").lines) == changed


def test_where_an_entry_was_written_is_no_conflict() -> None:
    assert merge(["- a  # x:1", "- b"], ["- b"], ["- a  # y:5", "- b"], "theirs").lines == ("- b",)
