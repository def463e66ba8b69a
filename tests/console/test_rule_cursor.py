"""The cursor among the rules: it stands on what was drafted once that is applied; what is said where it cannot go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.rule_stage import at_line, comes, counted, rows_of, rules_stage, seen, top, until, write
from tests.console.sample_rules import THIRD
from tests.console.support import Stage
from tui_crawler.console.rules.screen import RulesScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.rules.policy import PolicySet, Rule

MINE = Rule("/mine/", skip=True, source="console")
WITH_MINE = replace(THIRD, rules=(*THIRD.rules, MINE))


def under_cursor(held: Stage) -> str:
    """The words of the entry under the cursor."""
    table = held.app.screen.query_one("#rules-lines", CrawlTable)
    return rows_of(held, "#rules-lines")[table.cursor_index]


async def apply(held: Stage, policies: PolicySet) -> None:
    """Applies the draft; it becomes a version."""
    await counted(held)
    await held.act("rules.apply", rounds=0)
    await until(held, lambda: bool(held.journal.sent))
    await held.decided()
    comes(held, policies)
    await seen(held)
    assert top(held) is RulesScreen
    await held.settle(3)


async def test_after_a_draft_is_applied_the_cursor_stands_on_what_it_put_in() -> None:
    async with rules_stage() as held:
        await write(held, "match: /mine/, skip: true")
        await apply(held, WITH_MINE)
        assert "{match: /mine/, skip: true}" in under_cursor(held)
        await held.press("k")
        await held.settle(3, move_ms=1_100)
        assert "/mine/" not in under_cursor(held), "only once"


async def test_or_on_what_it_moved() -> None:
    async with rules_stage() as held:
        await at_line(held, "/feed/")
        await held.press("rule.down", rounds=1)
        feed, calendar, user = THIRD.rules
        await apply(held, replace(THIRD, rules=(calendar, feed, user)))
        assert under_cursor(held).startswith("-   - {match: /feed/")


async def test_a_draft_that_is_dropped_moves_no_cursor_even_if_another_version_came() -> None:
    async with rules_stage("j", "rule.edit") as held:
        await held.press("escape", "escape", rounds=1)
        await held.settle(3)
        before = under_cursor(held)
        comes(held, WITH_MINE, who="someone else")
        await seen(held)
        assert under_cursor(held) == before


@pytest.mark.parametrize(
    ("line", "move", "words"),
    [
        ("/admin/", "rule.up", "it is the only do_not_crawl"),
        ("/v2/items", "rule.up", "it is the first query policy already"),
        (r"id: ^\d+$", "rule.down", "it is the last query policy already"),
        ("/feed/", "rule.up", "it is the first rule already"),
        ("*.example.org", "rule.down", "it is the only whitelist"),
        ("private.example.org", "rule.up", "it is on the operators' exclusion list: o d removes it"),
    ],
)
async def test_what_cannot_move_says_so_and_begins_no_draft(line: str, move: str, words: str) -> None:
    async with rules_stage() as held:
        await at_line(held, line)
        await held.act(move, rounds=2)
        assert words in held.text()
        assert top(held) is RulesScreen
