"""A draft on its way: asked, handed in, accepted, refused, not taken up; and what keys do that come too soon."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.console.rule_stage import (
    comes,
    counted,
    cursor_line,
    draft_text,
    drafted_from,
    editor,
    rules_stage,
    seen,
    top,
    until,
    write,
)
from tests.console.sample_rules import FIRST, JOB, THIRD
from tests.console.support import Stage, stage
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.dialogs.help import HelpScreen
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.operator.journal import IntentOutcome, News
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.rules.rule_area import RuleArea
from tui_crawler.console.rules.screen import RulesScreen
from tui_crawler.domain.records.command import ActionResult, ApplyRules
from tui_crawler.domain.rules.policy import PolicySet, Rule
from tui_crawler.domain.rules.ruleset import from_json

MINE = replace(THIRD, do_not_crawl=(), rules=(*THIRD.rules, Rule("/mine/", skip=True, source="console")))


async def drafted(held: Stage) -> None:
    """A draft that takes an entry out and puts one in, its impact counted; nobody answers what is asked for."""
    held.journal.answer = None
    await held.press("4", "rule.delete", rounds=3)
    await write(held, "match: /mine/, skip: true")
    await counted(held)


async def applied(held: Stage, *keys: str) -> None:
    """The same, applied; then these keys."""
    await drafted(held)
    await held.press("rules.apply", *keys, rounds=0)
    await until(held, lambda: bool(asked_for(held)))


def asked_for(held: Stage) -> list[int]:
    """The versions that edits began with."""
    return [command.base_id for command in held.journal.sent if isinstance(command, ApplyRules)]


async def accept(held: Stage, version_first: bool) -> None:
    """The engine takes the draft up; the answer or the version is seen first."""
    if version_first:
        comes(held, MINE)
        await seen(held)
        held.journal.answer = ""
        await held.decided()
    else:
        held.journal.answer = ""
        await held.decided()
        comes(held, MINE)
        await seen(held)


KEYS = {"edit": "rule.edit", "apply": "rules.apply"}


@pytest.mark.parametrize("version_first", [True, False])
@pytest.mark.parametrize("keys", ["", "edit", "apply", "apply apply", "apply edit A", "2"])
async def test_an_accepted_draft_is_left_behind_whatever_keys_came_too_soon(keys: str, version_first: bool) -> None:
    async with stage((160, 40)) as held:
        await drafted(held)
        await held.press("rules.apply", *(KEYS.get(key, key) for key in keys.split()), rounds=0)
        assert "◷ the draft is being applied" in held.text()
        assert top(held) is RuleEditorScreen
        await until(held, lambda: bool(asked_for(held)))
        await accept(held, version_first)
        assert asked_for(held) == [13]
        if keys in {"", "2"}:
            assert top(held) is (FailuresScreen if keys else RulesScreen)
            return
        assert drafted_from(held) == (14, "A" in keys)
        if "edit" in keys:
            assert isinstance(held.app.focused, RuleArea)


@pytest.mark.parametrize("version_first", [True, False])
async def test_an_undo_asked_for_too_soon_undoes_the_version_that_was_written(version_first: bool) -> None:
    async with stage((160, 40)) as held:
        await drafted(held)
        held.journal.after = json.dumps({"rulesets": {JOB: 14}})
        await held.press("rules.apply", "journal.undo", rounds=0)
        await until(held, lambda: bool(asked_for(held)))
        await accept(held, version_first)
        await until(held, lambda: len(asked_for(held)) == 2)
        assert asked_for(held) == [13, 14]


async def test_a_help_sheet_over_a_draft_that_is_accepted_leaves_no_old_draft_below() -> None:
    async with stage((160, 40)) as held:
        await applied(held, "?")
        assert isinstance(held.app.screen, HelpScreen)
        await accept(held, version_first=True)
        await held.press("escape")
        assert drafted_from(held) == (14, False)


async def test_a_version_on_top_of_the_accepted_one_is_no_conflict() -> None:
    async with stage((160, 40)) as held:
        await applied(held)
        comes(held, MINE)
        comes(held, FIRST, 15, "someone else")
        held.journal.answer = ""
        await held.decided()
        await seen(held)
        assert top(held) is RulesScreen


async def test_after_an_accepted_draft_the_view_begins_with_what_is_in_force_now() -> None:
    async with stage((160, 40)) as held:
        await applied(held)
        held.journal.answer = ""
        await held.decided()
        comes(held, MINE)
        held.clock.move(1_100)
        held.app.beat()
        await until(held, lambda: top(held) is RulesScreen)
        await held.act("rule.edit", rounds=0)  # before the view below has read anything again
        await held.settle(4, move_ms=1_100)
        assert drafted_from(held)[0] == 14


@pytest.mark.parametrize("keys", [("rule.edit", "q", "2"), ("rules.apply", "2")])
async def test_a_refused_draft_is_kept_and_what_was_asked_for_too_soon_is_done_to_it_but_for_applying(
    keys: tuple[str, ...],
) -> None:
    async with stage((160, 40)) as held:
        await applied(held, *keys)
        held.journal.answer = "nobody knows why"
        await held.decided()
        assert "nobody knows why" in held.text()
        assert ("q2" in cursor_line(held)) == ("q" in keys)
        assert "/mine/" in draft_text(held)
        assert asked_for(held) == [13]


async def test_a_draft_nobody_takes_up_may_be_changed_and_is_left_when_it_comes_after_all() -> None:
    async with stage((160, 40)) as held:
        await applied(held, "rule.edit")
        assert not isinstance(held.app.focused, RuleArea)
        ((intent, _),) = held.app.command_queue._hearers
        held.app.command_queue.heard(News(intent, IntentOutcome.waiting))
        await held.quiet()
        assert isinstance(held.app.focused, RuleArea)
        await held.press("escape", rounds=1)
        comes(held, MINE)
        await seen(held)
        assert top(held) is RulesScreen


async def test_an_accepted_draft_whose_version_never_comes_may_be_changed_after_a_while() -> None:
    async with stage((160, 40)) as held:
        await applied(held, "rule.edit")
        held.journal.answer = ""
        await held.decided()
        for _ in range(21):
            editor(held).tick()
        await held.quiet()
        assert isinstance(held.app.focused, RuleArea)


async def test_a_question_answered_after_another_version_came_hands_in_nothing_of_an_older_one() -> None:
    async with rules_stage() as held:
        await write(held, "match: /products/sale, skip: true")
        await counted(held)
        await held.press("rules.apply")
        assert isinstance(held.app.screen, ConfirmScreen)
        comes(held, replace(THIRD, do_not_crawl=FIRST.do_not_crawl), who="someone else")
        await seen(held)
        await held.press("y", rounds=1)
        assert held.journal.sent == []
        assert "Merge the draft with ruleset 14 by someone else?" in held.text()
        await held.press("y", rounds=1)
        await counted(held)
        await held.press("rules.apply", "y", rounds=1)
        await held.decided()
        (command,) = held.journal.sent
        assert isinstance(command, ApplyRules)
        assert command.base_id == 14
        assert from_json(command.rules).do_not_crawl == FIRST.do_not_crawl


async def test_where_both_changed_the_same_lines_the_text_has_both_and_is_not_applied() -> None:
    async with rules_stage() as held:
        await write(held, "match: /mine/, skip: true")
        theirs = replace(THIRD, do_not_crawl=(), rules=(*THIRD.rules, Rule("/theirs/", skip=True)))
        comes(held, theirs, who="someone else")
        await seen(held)
        await held.press("rules.apply", rounds=1)
        assert "Both changed the same lines in 1 place" in " ".join(held.text().split())
        await held.press("y", rounds=1)
        text = draft_text(held)
        assert (
            "<<<<<<< mine\n  - {match: /mine/, skip: true}\n=======\n  - {match: /theirs/, skip: true}\n>>>>>>>" in text
        )
        assert "/admin/" not in text, "what they alone changed is merged"
        await counted(held)
        assert "a conflict is not resolved: <<<<<<< mine" in held.text()
        await held.press("rules.apply", rounds=1)
        assert held.journal.sent == []
        area = editor(held).query_one(RuleArea)
        lines = [line for line in text.split("\n") if line[:7] not in {"<<<<<<<", "=======", ">>>>>>>"}]
        area.replace("\n".join(lines), (0, 0), area.document.end)
        await counted(held)
        await held.press("rules.apply", rounds=0)
        await held.decided()
        (command,) = held.journal.sent
        assert isinstance(command, ApplyRules)
        assert command.base_id == 14
        assert [rule.match for rule in from_json(command.rules).rules][-2:] == ["/mine/", "/theirs/"]


async def test_a_draft_whose_changes_a_newer_version_has_ends_by_itself() -> None:
    async with stage((160, 40)) as held:
        await drafted(held)
        comes(held, MINE, who="someone else")
        await seen(held)
        assert top(held) is RulesScreen
        assert "ruleset 14 says what the draft said: it has ended" in held.text()
        assert asked_for(held) == []


async def test_a_draft_whose_changes_a_newer_version_has_among_others_is_left_without_a_question() -> None:
    async with stage((160, 40)) as held:
        await drafted(held)
        comes(held, replace(MINE, rules=(*MINE.rules, Rule("/more/", skip=True))), who="someone else")
        await seen(held)
        assert "it says what the draft says" in held.text()
        await held.press("escape", rounds=1)
        assert top(held) is RulesScreen


async def test_nobody_is_told_of_the_version_that_came_of_the_own_draft() -> None:
    async with stage((160, 40)) as held:
        await applied(held)
        await accept(held, version_first=True)
        assert top(held) is RulesScreen
        assert not any("is in force now" in notice.text for notice in held.app.notices)


async def test_the_footer_names_the_applying_wherever_there_is_room_for_a_key() -> None:
    async with rules_stage("rule.delete", size=(60, 20)) as held:
        assert "ctrl+s apply" in held.text().splitlines()[-1]


@pytest.mark.parametrize(
    ("comes_as", "policies", "left"),
    [(14, MINE, True), (14, FIRST, False), (16, FIRST, False)],
)
async def test_a_draft_nobody_takes_up_is_left_for_a_version_that_says_the_same(
    comes_as: int, policies: PolicySet, left: bool
) -> None:
    async with stage((160, 40)) as held:
        await handed_in(held, IntentOutcome.waiting)
        comes(held, policies, comes_as)
        await seen(held)
        assert (top(held) is RulesScreen) == left


@pytest.mark.parametrize(
    ("written", "comes_as", "left"), [(15, 14, False), (15, 15, True), (15, 16, True), (0, 14, True)]
)
async def test_an_accepted_draft_is_left_for_its_version_or_a_later_one(
    written: int, comes_as: int, left: bool
) -> None:
    async with stage((160, 40)) as held:
        after = json.dumps({"rulesets": {JOB: written}} if written else {})
        await handed_in(held, IntentOutcome.done, ActionResult(1, "{}", after))
        comes(held, FIRST, comes_as, "someone else")
        await seen(held)
        assert (top(held) is RulesScreen) == left


async def test_a_draft_that_nothing_was_written_of_is_left() -> None:
    async with stage((160, 40)) as held:
        await handed_in(held, IntentOutcome.done, ActionResult(1, "{}", json.dumps({"rulesets": {JOB: 13}})))
        assert top(held) is RulesScreen


async def handed_in(held: Stage, outcome: IntentOutcome, *results: ActionResult) -> None:
    """A draft that was handed in, and what is heard of it."""
    await drafted(held)
    await held.act("rules.apply", rounds=0)
    await until(held, lambda: bool(asked_for(held)))
    ((intent, _),) = held.app.command_queue._hearers
    held.app.command_queue.heard(News(intent, outcome, results=results))
    await held.quiet()
