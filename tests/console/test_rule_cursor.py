"""The cursor among the rules: it stands on what was drafted once that is applied; what is said where it cannot go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import comes, counted, editor, rows_of, seen, top, until, write
from tests.console.sample_crawl import NOW
from tests.console.sample_rules import HOUR, JOB, THIRD
from tests.console.support import Stage, stage
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.screen import RulesScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.policy import PolicySet, Rule
from tui_crawler.domain.ruleset import Ruleset

MINE = Rule("/mine/", skip=True, source="console")
WITH_MINE = replace(THIRD, rules=(*THIRD.rules, MINE))


def under_cursor(held: Stage) -> str:
    """The words of the entry under the cursor."""
    table = held.app.screen.query_one("#rules-entries", CrawlTable)
    return rows_of(held, "#rules-entries")[table.cursor_index]


async def apply(held: Stage, policies: PolicySet, note: str = "") -> None:
    """Applies the draft; it becomes a version."""
    await counted(held)
    await held.type("A")
    await until(held, lambda: bool(held.journal.sent))
    await held.decided()
    now = comes(held, policies)
    held.reports.versions = (replace(now, note=note or now.note), *held.reports.versions[1:])
    await seen(held)
    assert top(held) is RulesScreen
    await held.settle(3)


async def test_after_a_draft_is_applied_the_cursor_stands_on_what_it_put_in() -> None:
    async with stage((160, 40)) as held:
        await held.press("4", rounds=3)
        await write(held, "skip: /mine/")
        await apply(held, WITH_MINE)
        assert under_cursor(held).startswith("rule /mine/: skip true")
        await held.press("k")
        await held.settle(3, move_ms=1_100)
        assert not under_cursor(held).startswith("rule /mine/"), "only once"


async def test_or_on_what_it_moved() -> None:
    async with stage((160, 40)) as held:
        await held.press("4", rounds=3)
        held.app.screen.query_one("#rules-entries", CrawlTable).move_cursor(index=3)
        assert under_cursor(held).startswith("rule /feed/")
        await held.press("J", "J", rounds=1)
        feed, calendar, user = THIRD.rules
        await apply(held, replace(THIRD, rules=(calendar, user, feed)))
        assert under_cursor(held).startswith("rule /feed/")


@pytest.mark.parametrize(("index", "key", "moved"), [(4, "K", "/calendar/"), (3, "J", "/feed/")])
async def test_of_two_that_changed_places_the_one_is_told_that_was_moved(index: int, key: str, moved: str) -> None:
    async with stage((160, 40)) as held:
        await held.press("4", rounds=3)
        held.app.screen.query_one("#rules-entries", CrawlTable).move_cursor(index=index)
        assert under_cursor(held).startswith(f"rule {moved}")
        await held.press(key, rounds=1)
        draft = editor(held).session.draft
        assert draft is not None
        note = draft.note()
        assert note.startswith(f"moved rule {moved}")
        await apply(held, draft.policies, note)
        assert under_cursor(held).startswith(f"rule {moved}")
        await held.press("tab", rounds=2)
        difference = " ".join(held.app.screen.query_one("#rules-difference", Lines).text.split())
        assert note.removeprefix("moved rule ") in difference
        sign, other = ("▲", "▼") if key == "K" else ("▼", "▲")
        assert f"{sign} rule {moved}" in difference
        assert other not in difference


async def test_a_draft_that_is_dropped_moves_no_cursor_even_if_another_version_came() -> None:
    async with stage((160, 40)) as held:
        await held.press("4", "j", "e", rounds=3)
        await held.press("escape", "escape", rounds=1)
        await held.settle(3)
        before = under_cursor(held)
        comes(held, WITH_MINE, who="someone else")
        await seen(held)
        assert under_cursor(held) == before


@pytest.mark.parametrize(
    ("index", "key", "words"),
    [
        (0, "K", "it is the only do_not_crawl"),
        (1, "K", "it is the first query policy already"),
        (2, "J", "it is the last query policy already"),
        (3, "K", "it is the first rule already"),
    ],
)
async def test_what_cannot_move_says_so_and_begins_no_draft(index: int, key: str, words: str) -> None:
    async with stage((160, 40)) as held:
        await held.press("4", rounds=3)
        held.app.screen.query_one("#rules-entries", CrawlTable).move_cursor(index=index)
        await held.press(key, rounds=2)
        assert words in held.text()
        assert top(held) is RulesScreen


async def test_taking_back_three_changes_shows_each_of_them() -> None:
    feed, old, listed = (Rule(f"/{name}/", skip=True) for name in ("feed", "old", "list"))
    other, new = Rule("^https://x/", skip=True), Rule("/new/", skip=True)
    contents = [(feed, old, listed), (feed, old, listed, new), (feed, listed, new), (feed, other, new)]
    reports = FakeReports()
    reports.added = ()
    reports.versions = tuple(
        Ruleset(number, JOB, PolicySet(rules=rules), number - 1, NOW - HOUR, current=number == 4)
        for number, rules in reversed(list(enumerate(contents, 1)))
    )
    async with stage((160, 40), reports=reports) as held:
        await held.press("4", "tab", "G", rounds=3)
        await held.press("u", rounds=3)
        rows = [" ".join(row.split()) for row in rows_of(held, "#draft-entries")]
        assert rows == [
            "rule /feed/: skip true",
            "+ rule new /old/: skip true",
            "✎ rule edited ^https://x/: skip true → /list/: skip true",
            "− rule deleted /new/: skip true",
        ]
        assert editor(held).session.draft is not None
        await held.press("escape", "y", rounds=2)
        await held.press("space", "g", rounds=2)
        text = held.app.screen.query_one("#rules-difference", Lines).text
        assert "1 added, 1 taken out, 1 edited" in text
