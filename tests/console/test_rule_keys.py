"""Keys typed in one go among the rules: they wait for what is read, go where they were meant, and run no commands."""

from __future__ import annotations

import threading

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.widgets import Input

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import TWO_JOBS, asked, counted, cursor_line, draft_text, editor, rules_stage, top, until
from tests.console.sample_rules import FakeRules
from tests.console.support import Stage, stage
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.dialogs.help import HelpScreen
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.rules.screen import RulesScreen
from tui_crawler.domain.records.command import Exclude

TEXT = "/2024/q:Dz-X p/"
"""Among these characters are keys that leave, quit, delete, undo and open a prompt."""


def hold_up(held: Stage) -> threading.Event:
    """No reading ends until the event is set."""
    held.reports.gate = threading.Event()
    return held.reports.gate


async def let_read(held: Stage) -> None:
    """Readings end again."""
    gate, held.reports.gate = held.reports.gate, None
    gate.set()
    await held.settle(4)


def line(held: Stage) -> tuple[str, str]:
    """What the line is open for, and what stands in it."""
    found = held.app.screen.query_one(EntryLine)
    assert found.display
    assert held.app.screen.query_one(Input).has_focus
    return found.use.name, found.text


@pytest.mark.parametrize("key", ["a", "e"])
@pytest.mark.parametrize("where", ["read", "unread"])
async def test_what_is_typed_after_the_key_of_a_draft_goes_into_its_text(where: str, key: str) -> None:
    async with stage((160, 40)) as held:
        if where == "unread":
            hold_up(held)
        else:
            await held.press("4", rounds=3)
        await held.type(("4" if where == "unread" else "") + key + TEXT)
        if where == "unread":
            assert top(held) is RulesScreen
            await let_read(held)
        await held.settle(3)
        assert top(held) is RuleEditorScreen
        await until(held, lambda: TEXT in draft_text(held))
        before = f"    - {TEXT}{{path: {{prefix: /admin/}}}}  # my.yaml:14"
        assert cursor_line(held) == (before if key == "e" else f"  - {{match: '{TEXT}', skip: true}}")
        assert held.journal.sent == []


@pytest.mark.parametrize(
    ("key", "purpose", "told"),
    [("rules.exclude", "exclude", "✗ 2q"), ("rules.test", "url", "")],
    ids=["exclude", "test"],
)
async def test_lines_of_the_rules_wait_for_them(key: str, purpose: str, told: str) -> None:
    async with stage((160, 40)) as held:
        hold_up(held)
        await held.press("4", key, rounds=0)
        await held.type("2q")
        assert not held.app.screen.query_one(EntryLine).display
        await let_read(held)
        assert line(held) == (purpose, "2q")
        assert told in held.text()


async def test_what_changes_an_entry_waits_and_the_keys_after_it_act_on_the_draft() -> None:
    async with stage((160, 40)) as held:
        hold_up(held)
        await held.type("4ode" + TEXT)
        await let_read(held)
        await until(held, lambda: TEXT in cursor_line(held))
        assert "/admin/" not in draft_text(held)


async def test_undoing_a_version_waits_for_the_versions_and_the_next_job_for_the_jobs() -> None:
    async with stage((160, 40), reports=FakeReports(versions=TWO_JOBS)) as held:
        hold_up(held)
        await held.type("4ob")
        await let_read(held)
        await counted(held)
        assert editor(held).session.returns_to == 12
        await held.press("escape", "y", rounds=1)
        hold_up(held)
        await held.type("on")
        await let_read(held)
        assert "Rules · job news · ruleset 20" in held.text()


async def test_esc_gives_up_waiting_and_what_was_typed_is_nobodys() -> None:
    async with stage((160, 40)) as held:
        hold_up(held)
        await held.type(f"4a{TEXT}")
        held.clock.move(600)
        held.app.beat()
        held.clock.move(600)
        held.app.beat()
        await held.quiet()
        assert "◷ the rules are still being read; esc gives up waiting" in held.text()
        await held.press("escape", rounds=0)
        assert top(held) is RulesScreen
        await let_read(held)
        assert top(held) is RulesScreen
        assert held.journal.sent == []
        await held.press("escape")
        assert top(held) is OverviewScreen


async def test_without_a_ruleset_what_was_typed_is_nobodys() -> None:
    async with stage((160, 40), reports=FakeReports(versions=())) as held:
        hold_up(held)
        await held.type(f"4a{TEXT}")
        await let_read(held)
        assert top(held) is RulesScreen
        assert "add: there is no ruleset yet" in held.text()
        await held.press("2", "tab", rounds=3)
        await held.type(f"m{TEXT}")
        await held.settle(3)
        assert top(held) is RuleEditorScreen
        assert "No ruleset yet" in held.text()
        assert held.journal.sent == []


async def test_a_rule_from_the_selection_takes_what_is_typed_after_it() -> None:
    async with stage((160, 40)) as held:
        await held.press("2", "tab", rounds=3)
        assert top(held) is FailuresScreen
        hold_up(held)
        await held.type("m|2q")
        assert top(held) is RuleEditorScreen
        await let_read(held)
        text = cursor_line(held)
        assert text.startswith("  - {match: '^https://")
        assert text.endswith("$|2q', skip: true}")


async def test_esc_leaves_a_draft_that_has_not_begun() -> None:
    async with stage((160, 40)) as held:
        await held.press("2", "tab", rounds=3)
        hold_up(held)
        await held.type("m2q")
        assert top(held) is RuleEditorScreen
        await held.press("escape", rounds=0)
        assert top(held) is FailuresScreen
        await let_read(held)
        assert top(held) is FailuresScreen
        assert held.journal.sent == []


async def burst(held: Stage, *keys: str) -> None:
    """Presses keys without looking at the screen in between."""
    for key in keys:
        name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
        held.app.post_message(events.Key(name, key if len(key) == 1 else "\r"))
    await held.settle(4)


async def test_keys_after_esc_act_on_the_draft() -> None:
    async with rules_stage() as held:
        await burst(held, *"a/mine/")
        await burst(held, "escape", *"?")
        assert isinstance(held.app.screen, HelpScreen)
        await held.press("escape", rounds=1)
        assert "  - {match: '/mine/', skip: true}" in draft_text(held).split("\n")


async def test_keys_after_an_exclusion_that_is_wrong_go_into_it() -> None:
    async with rules_stage() as held:
        await burst(held, *"oxhots: a", "enter", *"2q")
        assert line(held) == ("exclude", "hots: a2q")
        assert held.journal.sent == []


async def test_an_exclusion_is_put_on_the_list_from_inside_a_draft_which_stays() -> None:
    async with rules_stage("rule.delete") as held:
        await held.type("oxhost: www.example.com, reason: 2q")
        assert line(held) == ("exclude", "host: www.example.com, reason: 2q")
        await until(held, lambda: "would newly block" in held.text())
        assert "⊘ would newly block 1 502 of 1 542 known URLs, 2 seeds among them" in held.text()
        await held.press("enter", rounds=1)
        await asked(held)
        assert "It would newly block 1 502 of 1 542 known URLs" in " ".join(held.text().replace("│", " ").split())
        await held.press("y", rounds=1)
        await held.decided()
        assert held.journal.sent == [Exclude("host", "www.example.com", "2q")]
        assert editor(held).session.dirty
        assert "1 removed" in held.text()


async def test_who_enters_an_exclusion_before_it_is_counted_is_asked_when_it_is() -> None:
    rules = FakeRules(gate=threading.Event())
    async with rules_stage("rules.exclude", rules=rules) as held:
        await held.enter("host: a.example")
        assert "◷ counting what it would block…" in held.text()
        assert line(held) == ("exclude", "host: a.example")
        await held.type("s")  # another key: what was entered is not asked for
        rules.let_go()
        await until(held, lambda: "would newly block 0 of" in held.text())
        assert not isinstance(held.app.screen, ConfirmScreen)
        assert rules.excluded[-1][0].value == "a.examples"
        await held.press("enter", rounds=1)
        await asked(held)
        assert "Exclude host a.examples?" in held.text()


async def test_an_exclusion_whose_impact_cannot_be_counted_is_asked_about_all_the_same() -> None:
    async with rules_stage("rules.exclude", rules=FakeRules(failure="disk gone")) as held:
        await held.enter("host: a.example")
        await asked(held)
        assert "disk gone" in held.text()
