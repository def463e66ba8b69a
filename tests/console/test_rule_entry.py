"""Enter on an entry of the rules says all of it: its words, since when it holds, what it refused."""

from __future__ import annotations

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import at_line, cursor_line, draft_text, rules_stage, top
from tests.console.sample_rules import versions
from tests.console.support import Stage, stage
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.draft import RuleDraft
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.rules.impact import ImpactNews
from tui_crawler.console.rules.impact_lines import impact_words
from tui_crawler.console.rules.screen import RulesScreen
from tui_crawler.domain.rules.preview import Preview


async def opened(held: Stage, words: str) -> str:
    """What is shown of the entry whose line has these words, after enter."""
    await held.press("4", rounds=3)
    await at_line(held, words)
    await held.press("right", "enter", rounds=2)  # from the number of hits, which is a door, to the entry
    info = held.app.screen.query_one("#rules-info", Lines)
    assert held.app.focused is info
    return info.text


@pytest.mark.parametrize(
    ("words", "since", "fired"),
    [
        ("/v2/user/", "since ruleset 12 by mara", "∅ no hits"),
        ("prefix: /admin/", "since ruleset 11 by configuration", "1 204 hits"),
        ("private.example.org", "it applies with every version", "212 hits"),
    ],
)
async def test_enter_says_all_of_an_entry_also_since_when_it_holds(words: str, since: str, fired: str) -> None:
    async with stage((160, 40)) as held:
        text = await opened(held, words)
        assert since in text
        assert fired in text
        await held.press("escape", rounds=1)
        assert held.app.focused is held.app.screen.query_one("#rules-lines")
        assert since not in held.text() or words == "private.example.org"


async def test_in_a_narrow_terminal_it_has_the_whole_screen() -> None:
    async with stage((80, 24)) as held:
        assert "since ruleset 11" in await opened(held, "prefix: /admin/")
        assert "Entry · zoom full" in held.text()
        await held.press("escape", "escape", rounds=1)
        assert held.app.focused is held.app.screen.query_one("#rules-lines")


async def test_an_entry_older_than_all_versions_that_are_known() -> None:
    reports = FakeReports()
    reports.versions = versions()[:1]
    async with stage((160, 40), reports=reports) as held:
        assert "longer than the versions that are shown" in await opened(held, "/calendar/")


@pytest.mark.parametrize("action", ["rule.edit", "rule.delete"])
async def test_it_is_edited_or_taken_out_in_a_draft(action: str) -> None:
    async with stage((160, 40)) as held:
        await opened(held, "/calendar/")
        await held.act(action, rounds=3)
        assert top(held) is RuleEditorScreen
        assert ("/calendar/" in draft_text(held)) == (action == "rule.edit")
        assert (
            cursor_line(held)
            .lstrip()
            .startswith("- {match: " + ("/calendar/" if action == "rule.edit" else "/v2/user/"))
        )


async def test_what_operators_added_is_taken_off_from_there() -> None:
    async with stage((160, 40)) as held:
        await opened(held, "private.example.org")
        await held.press("rule.edit", rounds=1)
        assert top(held) is RulesScreen
        await held.press("rule.delete", rounds=1)
        assert top(held) is ConfirmScreen
        assert "from the exclusion list?" in held.text()


async def test_a_line_that_names_a_section_has_no_entry() -> None:
    async with rules_stage() as held:
        await at_line(held, "exclusions:")
        await held.press("rule.up", "rule.delete", "enter", rounds=1)
        assert top(held) is RulesScreen
        assert "this line names a section: no entry is selected" in held.text()
        await held.press("rule.edit", rounds=3)
        assert "example.net" in cursor_line(held)


async def test_what_a_version_changed_is_opened_where_there_is_no_room_for_it() -> None:
    async with rules_stage("tab", size=(60, 20)) as held:
        assert not held.app.screen.query_one("#rules-difference").display
        await held.press("enter", rounds=1)
        assert "What ruleset 13 changed · zoom full" in held.text()
        assert "-    - {path: {suffix: '.zip'}}" in held.text()
        await held.press("escape", "escape", "tab", rounds=1)
        await held.press("space", "move.last", "enter", rounds=1)
        assert "From ruleset 11 to 13" in held.text()
    async with rules_stage("tab", "enter", size=(120, 40)) as held:
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
