"""Enter on an entry of the rules opens it: what it says, since when, what it refused, what would be without it."""

from __future__ import annotations

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import cursor_line, draft_text, rows_of, top, until
from tests.console.sample_rules import FIRST, FakeRules, versions
from tests.console.support import Stage, stage
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.draft import RuleDraft
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.rules.entries import entries_of
from tui_crawler.console.rules.impact import ImpactNews
from tui_crawler.console.rules.impact_lines import impact_words
from tui_crawler.console.rules.rows import since_of
from tui_crawler.console.rules.screen import RuleSheetScreen, RulesScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.rules.policy import PolicySet, Rule
from tui_crawler.domain.rules.preview import Preview

CALENDAR = "/calendar/: skip true"


async def opened(held: Stage, words: str) -> str:
    """The sheet of the entry with these words, once everything in it is known."""
    await held.press("4", rounds=3)
    table = held.app.screen.query_one("#rules-entries", CrawlTable)
    place = next(place for place, row in enumerate(rows_of(held, "#rules-entries")) if words in row)
    table.move_cursor(index=place)
    await held.press("enter", rounds=1)
    assert top(held) is RuleSheetScreen
    text = held.app.screen.query_one("#rule-sheet", Lines)
    await until(held, lambda: "unchanged" in text.text or "Without it" not in text.text)
    await held.quiet()
    return text.text


async def test_it_says_what_the_entry_does_since_when_and_what_it_refused() -> None:
    async with stage((160, 40)) as held:
        text = await opened(held, "/v2/user/")
        assert "/v2/user/: skip true" in text
        assert "of several that match the last one wins" in text
        assert "ruleset 12 by mara" in text
        text = await _again(held, "path begins with")
        assert "Matching URLs are never requested." in text
        assert "ruleset 11 by configuration" in text
        assert "fired 1 204 times" in text


async def _again(held: Stage, words: str) -> str:
    await held.press("escape", rounds=1)
    assert top(held) is RulesScreen
    return await opened(held, words)


async def test_what_would_be_otherwise_without_it_is_counted() -> None:
    policies = PolicySet(rules=(Rule("/products/1[0-9]$", skip=True),))
    reports = FakeReports()
    reports.versions = (one := versions()[-1].__class__(1, "my-index", policies),)
    async with stage((160, 40), reports=reports, rules=FakeRules(current=lambda: one)) as held:
        text = " ".join((await opened(held, "/products/")).split())
        assert "Without it ⊘ newly blocked 0 ✓ newly allowed 10" in text


@pytest.mark.parametrize("key", ["E", "D"])
async def test_it_is_edited_or_taken_out_from_there_in_a_draft(key: str) -> None:
    async with stage((160, 40)) as held:
        await opened(held, CALENDAR)
        await held.press(key, rounds=3)
        assert top(held) is RuleEditorScreen
        assert ("/calendar/" in draft_text(held)) == (key == "E")
        assert cursor_line(held).lstrip().startswith("- {match: " + ("/calendar/" if key == "E" else "/v2/user/"))


async def test_its_keys_are_those_of_the_operators_own_key_map() -> None:
    async with stage((160, 40), keymap={"rule.edit": "i", "rule.delete": "question_mark"}) as held:
        await opened(held, CALENDAR)
        assert "i edits · ? deletes · esc leaves" in held.text()
        await held.press("E", "D", rounds=1)
        assert top(held) is RuleSheetScreen
        await held.press("i", rounds=3)
        assert top(held) is RuleEditorScreen
        assert "/calendar/" in cursor_line(held)


async def test_an_action_whose_key_was_given_away_is_not_named() -> None:
    async with stage((160, 40), keymap={"rule.delete": "E"}) as held:
        await opened(held, CALENDAR)
        assert "E deletes · esc leaves" in held.text()
        assert "edits" not in held.text()
        await held.press("E", rounds=3)
        assert "/calendar/" not in draft_text(held)


async def test_what_operators_added_is_opened_and_taken_off_from_there() -> None:
    async with stage((160, 40)) as held:
        text = await opened(held, "private.example.org")
        assert "beside the rulesets, with every version" in text
        assert "Without it" not in text
        await held.press("D", rounds=1)
        assert top(held) is ConfirmScreen
        assert "off the exclusion list?" in held.text()


async def test_a_console_that_only_watches_opens_it_and_changes_nothing() -> None:
    async with stage((160, 40), readonly=True) as held:
        await opened(held, CALENDAR)
        assert "E edits" not in held.text()
        await held.press("E", "D", rounds=1)
        assert top(held) is RuleSheetScreen
        await held.press("q", rounds=1)
        assert top(held) is RulesScreen


async def test_what_a_version_changed_is_opened_where_there_is_no_room_for_it() -> None:
    async with stage((60, 20)) as held:
        await held.press("4", "tab", rounds=3)
        assert not held.app.screen.query_one("#rules-difference").display
        await held.press("enter", rounds=1)
        assert top(held) is RuleSheetScreen
        assert "What ruleset 13 changed" in held.text()
        assert "-    - {path: {suffix: '.zip'}}" in held.text()
        await held.press("escape", rounds=1)
        await held.press("space", "G", "enter", rounds=1)
        assert "From ruleset 11 to 13" in held.text()
    async with stage((120, 40)) as held:
        await held.press("4", "tab", "enter", rounds=3)
        assert held.app.screen.focused is held.app.screen.query_one("#rules-difference")


def test_what_was_done_in_words() -> None:
    draft = RuleDraft(versions()[0], "")
    said = [
        impact_words(ImpactNews(draft, None, 9, Preview(9, blocked, allowed, 9 - blocked - allowed)))
        for blocked, allowed in ((3, 0), (0, 2), (3, 2), (0, 0))
    ]
    assert said == [
        "blocks 3 of 9 known URLs",
        "allows 2 of 9 known URLs",
        "blocks 3 and allows 2 of 9 known URLs",
        "blocks none of 9 known URLs",
    ]
    assert impact_words(ImpactNews(draft, error="locked")) == ""


def test_since_when_it_holds() -> None:
    third, second, first = versions()
    calendar = next(entry for entry in entries_of(FIRST) if entry.line.text == CALENDAR)
    user = next(entry for entry in entries_of(third.policies) if entry.line.text.startswith("/v2/user/"))
    assert since_of(calendar, [third, second, first]) == first
    assert since_of(user, [third, second, first]) == second
    assert since_of(user, [third, second]) is None
    assert since_of(user, [first]) is None
