"""Changes of the rules in words and rows, and which columns they have room in."""

from __future__ import annotations

from dataclasses import replace

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import editor, rows_of
from tests.console.sample_crawl import NOW
from tests.console.sample_rules import JOB, THIRD, versions
from tests.console.support import stage
from tui_crawler.console.dialogs.pane_help import PaneHelpScreen
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.draft import RuleDraft, entries_of
from tui_crawler.console.rules.rows import ENTRIES, RULE_ENTRIES, entry_line, without_empty
from tui_crawler.console.table.cells import cell_text
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.policy import PolicySet, Rule
from tui_crawler.domain.ruleset import Ruleset
from tui_crawler.domain.ruleset_change import changes_between
from tui_crawler.text.cells import Present
from tui_crawler.text.rule_words import change_words, counted_changes

A, B, C, D = (Rule(f"/{name}/", skip=True, source=f"my.yaml:{n}") for n, name in enumerate("abcd"))


def rules(*entries: Rule) -> PolicySet:
    return PolicySet(rules=entries)


def two_versions(before: PolicySet, after: PolicySet) -> FakeReports:
    """A job of two versions, without exclusions beside them."""
    now = Ruleset(2, JOB, after, 1, NOW, "me", "note")
    return FakeReports(versions=(now, Ruleset(1, JOB, before, 0, NOW, "me", current=False)), added=())


def test_one_change_is_one_change() -> None:
    edited = changes_between(rules(A, B, C), rules(A, Rule("/bb/", skip=True), C))
    assert counted_changes(edited) == "1 edited"
    assert [change_words(one) for one in edited] == ["edited rule /b/: skip true → /bb/: skip true"]
    moved = changes_between(rules(A, B, C), rules(C, A, B))
    assert counted_changes(moved) == "1 moved"
    assert [change_words(one) for one in moved] == ["moved rule /c/: skip true (from place 3 to 1)"]
    rest = changes_between(rules(A), rules(A, B, C)) + changes_between(rules(A), rules())
    assert counted_changes(rest) == "2 added, 1 taken out"
    assert counted_changes(()) == ""


def test_a_reason_that_was_edited_is_told() -> None:
    one, other = (Exclusion("host", "a.example", reason, "me") for reason in "xy")
    (change,) = changes_between(PolicySet(exclusions=(one,)), PolicySet(exclusions=(other,)))
    assert change_words(change) == (
        "edited exclusion host a.example, x (asked by me) → host a.example, y (asked by me)"
    )
    base = replace(versions()[0], policies=PolicySet(exclusions=(one,)))
    draft = RuleDraft(base, base.policies)
    edit = RuleDraft(replace(base, policies=PolicySet()), PolicySet(exclusions=(other,))).change
    (row,) = draft.replaced(entries_of(base.policies)[0].key, edit).rows()
    assert [cell_text(cell) for cell in ENTRIES.cells(entry_line(row), Present())[:3]] == [
        "✎ exclusion", "edited host a.example", "y · asked by me"
    ]  # fmt: skip


def test_the_note_of_a_draft_says_what_was_done() -> None:
    base = replace(versions()[0], policies=rules(A, B, C))
    keys = [entry.key for entry in entries_of(base.policies)]
    draft = RuleDraft(base, base.policies).moved(keys[0], 1)
    assert draft.note() == "moved rule /a/: skip true (from place 1 to 2)"
    assert RuleDraft(base, base.policies).moved(keys[1], -1).note() == "moved rule /b/: skip true (from place 2 to 1)"
    assert draft.moved(keys[0], -1).note() == ""
    every = draft.toggled(keys[2]).added(RuleDraft(base, rules(D)).change)
    assert every.note() == "1 added, 1 taken out, 1 moved"
    assert [row.change for row in every.rows()] == ["", "deleted", "moved", "new"]


def test_what_is_deleted_and_what_is_new_beside_it_is_no_edit() -> None:
    base = replace(versions()[0], policies=rules(A, B))
    draft = RuleDraft(base, base.policies).toggled(entries_of(base.policies)[1].key)
    draft = draft.added(RuleDraft(base, rules(C)).change)
    assert [row.change for row in draft.rows()] == ["", "deleted", "new"]


async def test_the_history_shows_what_was_edited_and_moved_as_one_line_each() -> None:
    reports = two_versions(rules(A, B, D, C), rules(C, A, Rule("/bb/", ua="special"), D))
    async with stage((160, 40), reports=reports) as held:
        await held.press("4", rounds=4)
        text = held.app.screen.query_one("#rules-difference", Lines).text
        assert "1 edited, 1 moved" in text
        assert "✎ rule  /b/: skip true → /bb/: ua special" in text
        assert "▲ rule  /c/: skip true (from place 4 to 1)" in text
        assert "+ " not in text
        assert "− " not in text
        await held.press("u", rounds=3)
        assert "from ruleset 2 · 1 edited, 1 moved" in held.text()
        rows = rows_of(held, "#draft-entries")
        assert any(row.startswith("✎ rule edited  /bb/: ua special →  /b/: skip true") for row in rows)


def test_a_column_in_which_nothing_stands_gives_its_room_away() -> None:
    base = replace(versions()[0], policies=rules(A, B))
    lines = [entry_line(row) for row in RuleDraft(base, rules(A)).rows()]
    assert [column.id for column in without_empty(ENTRIES.columns, lines)] == ["section", "entry", "source"]
    lines = [entry_line(row) for row in RuleDraft(versions()[0], THIRD).rows()]
    assert without_empty(ENTRIES.columns, lines) == ENTRIES.columns
    assert without_empty(RULE_ENTRIES.columns, []) == RULE_ENTRIES.columns


async def test_the_reason_has_a_column_where_there_is_one() -> None:
    async with stage((160, 40), reports=two_versions(rules(A), rules(A, B))) as held:
        for keys, table in (("4", "#rules-entries"), ("D", "#draft-entries")):
            await held.press(keys, rounds=4)
            assert "why" not in held.app.screen.query_one(table, CrawlTable).visible_columns
        assert "WHY" not in held.text()
        await held.type("eexclusion: host: a.example, reason: they asked")
        await held.press("enter", rounds=2)
        assert "why" in editor(held).query_one("#draft-entries", CrawlTable).visible_columns
        assert "they asked" in held.text()


async def test_help_of_a_table_knows_its_columns_before_they_are_painted() -> None:
    async with stage((160, 40)) as held:
        await held.press("4", "D", rounds=3)
        table = held.app.screen.query_one("#draft-entries", CrawlTable)
        seen = table.visible_columns
        assert len(seen) == len(table.columns)
        table.notify_style_update()  # as a change of the focus or the theme does
        assert table.visible_columns == seen
        table.set_columns(table.columns)
        held.app.dispatcher.do("help.pane")
        await held.quiet()
        assert isinstance(held.app.screen, PaneHelpScreen)
        assert "no room for it now" not in held.text()
