"""The text of a draft under the keys: what types, what acts, what is painted, and the operator's own editor."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import counted, cursor_line, draft_text, drafted_from, editor, rules_stage, top
from tests.console.sample_rules import FakeRules, versions
from tests.console.support import Stage, stage
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.rules.editor_program import EditedText, edited_text, editor_program
from tui_crawler.console.rules.rule_area import RuleArea
from tui_crawler.console.rules.screen import RulesScreen

SIZES = [(160, 40), (80, 24), (60, 20)]


def area(held: Stage) -> RuleArea:
    return editor(held).query_one(RuleArea)


def info(held: Stage) -> str:
    return editor(held).query_one("#rules-info", Lines).text


@pytest.mark.parametrize("size", SIZES)
async def test_in_the_text_letters_type_and_after_esc_they_act(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        await held.press("4", "rule.edit", rounds=3)
        assert held.app.focused is area(held)
        assert "esc done" in held.text().splitlines()[-1]
        await held.type("AXq2D?")
        assert cursor_line(held).startswith("    - AXq2D?{path:")
        assert top(held) is RuleEditorScreen
        await held.press("escape", rounds=1)
        assert held.app.focused is not area(held)
        assert "ctrl+s apply" in held.text().splitlines()[-1]
        await held.press("rule.edit", rounds=1)
        assert held.app.focused is area(held)


async def test_errors_are_named_by_their_lines_and_the_impact_waits_for_them() -> None:
    async with rules_stage("rule.add") as held:
        await held.type("(")
        assert "not counted while the text has errors" in await counted(held)
        assert "✗ line 11: rules[3].match: not a linear-time regular expression" in info(held)
        assert area(held).wrong == {10}
        assert "1 error" in held.text()
        await held.press("backspace", rounds=1)
        await held.type("/mine/")
        await counted(held)
        assert not area(held).wrong
        assert "1 added" in held.text()


async def test_what_was_typed_is_taken_back_and_made_again() -> None:
    async with rules_stage("rule.edit") as held:
        before = draft_text(held)
        await held.type("x")
        await held.press("ctrl+z", rounds=1)
        assert draft_text(held) == before
        assert not editor(held).session.dirty
        await held.press("ctrl+y", rounds=1)
        assert draft_text(held) != before
        await held.press("ctrl+z", "escape", "escape", rounds=1)
        assert top(held) is RulesScreen


async def test_a_new_line_keeps_the_indentation() -> None:
    async with rules_stage("rule.edit", "end", "enter") as held:
        await held.type("- x")
        assert cursor_line(held) == "    - x"


async def test_a_rule_that_was_begun_and_not_written_is_left_without_a_question() -> None:
    async with rules_stage("rule.add") as held:
        await held.press("escape", "escape", rounds=1)
        assert top(held) is RulesScreen


# the operator's own editor


def program(folder: Path, body: str) -> str:
    """A program that does this with the file it is called with."""
    path = folder / "edit"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_editor_is_the_visual_one_or_else_the_other_one() -> None:
    assert editor_program({"VISUAL": "vim -n", "EDITOR": "ed"}) == "vim -n"
    assert editor_program({"VISUAL": " ", "EDITOR": "ed"}) == "ed"
    assert editor_program({}) == ""


def test_the_text_comes_back_as_the_editor_leaves_it(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    body = f'stat -c %a "$(dirname "$2")" > {noted}; printf "%s" "$1" >> "$2"'
    assert edited_text("rules:\n", f"{program(tmp_path, body)} 'a b'") == EditedText("rules:\na b")
    assert noted.read_text().strip() == "700", "no other user reads it"


@pytest.mark.parametrize(
    ("body", "words"),
    [("exit 3", "ended with status 3"), ('rm "$1"', "No such file"), ('printf "\\377" > "$1"', "decode")],
)
def test_an_editor_that_fails_leaves_no_text(tmp_path: Path, body: str, words: str) -> None:
    edited = edited_text("rules:\n", program(tmp_path, body))
    assert edited.text == ""
    assert words in edited.problem


@pytest.mark.parametrize("named", ["no-such-program-anywhere", "'unbalanced"])
def test_an_editor_that_cannot_be_started_is_a_failure(named: str) -> None:
    assert named in edited_text("", named).problem


async def test_without_an_editor_the_console_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with rules_stage("rule.edit") as held:
        await held.press("ctrl+x", "ctrl+e", rounds=1)
        assert "set VISUAL or EDITOR to the editor of your choice" in held.text()


async def test_without_a_terminal_the_draft_is_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "VISUAL", "true")
    async with rules_stage("rule.edit") as held:
        before = draft_text(held)
        await held.press("ctrl+x", "x", "backspace", "ctrl+x", "ctrl+e", rounds=1)
        assert "there is no terminal for an editor" in held.text()
        assert draft_text(held) == before


async def test_hostile_text_is_painted_as_plain_characters() -> None:
    async with rules_stage("rule.edit", rules=FakeRules()) as held:
        area(held).insert("# [@click=app.quit]x[/]  ", (0, 0))
        await held.quiet()
        assert "# [@click=app.quit]x[/]" in held.text()
        area(held).put("a\x1b]52;c;x\x07b\u202ec\n", (0, 0))
        assert area(held).text == "a]52;c;xbc"


async def test_a_frozen_view_drafts_the_version_that_was_shown() -> None:
    async with rules_stage("f", reports=FakeReports()) as held:
        first = versions()[2]
        held.reports.versions = (first.__class__(14, first.job, first.policies, 13),)
        held.reports.commit()
        await held.settle(3, move_ms=1_100)
        await held.press("rule.edit", rounds=3)
        assert drafted_from(held)[0] == 13


async def test_the_cursor_stays_in_view_where_the_terminal_becomes_smaller() -> None:
    async with rules_stage("rule.edit", size=(200, 60)) as held:
        text = area(held)
        text.insert("\n".join(f"  - {{match: /{number}/, skip: true}}" for number in range(40)), (0, 0))
        text.move_cursor((38, 0))
        await held.quiet(1)
        await held.pilot.resize_terminal(80, 24)
        await held.quiet(1)
        assert text.scroll_offset.y <= 38 < text.scroll_offset.y + text.scrollable_content_region.height
