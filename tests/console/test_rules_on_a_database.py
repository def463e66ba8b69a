"""View 4 on a resting database: what is applied, edited, excluded and undone there is carried out at once."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from tests.cli.crawls import store_crawl
from tests.console.rule_stage import (
    asked,
    counted,
    draft_text,
    editor,
    on_database,
    retype_line,
    rows_of,
    seen,
    write,
)
from tests.console.support import Stage
from tests.storage.making import A, B
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.screen import RulesScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.command import ApplyRules, Exclude
from tui_crawler.domain.rules.policy import PolicySet, Rule
from tui_crawler.domain.rules.ruleset import to_json
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring.steering import carry_out

SITES = (f"{A}/", f"{A}/one", f"{A}/list/1", f"{A}/list/2")
ONE, FEED = Rule("/one", skip=True, source="my.yaml:3"), Rule("/list/", ua="special", source="my.yaml:4")
B_HOST = B.removeprefix("https://").partition(":")[0]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return store_crawl(tmp_path / "crawl.db", *SITES, policies=PolicySet(rules=(ONE,)), jobs=())


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A crawl with two rules, of two origins."""
    return store_crawl(tmp_path / "crawl.db", *SITES, f"{B}/x", policies=PolicySet(rules=(ONE, FEED)), jobs=())


async def test_apply_undo_redo_and_a_conflict_in_words(crawl: Path) -> None:
    async with on_database(crawl) as held:
        await held.press("4", rounds=3)
        assert "∅ never   - {match: /one, skip: true}  # my.yaml:3" in rows_of(held, "#rules-lines")
        await write(held, f"match: '^{A}/list/[0-9]+$', skip: true")
        assert "⊘ newly blocked 2" in " ".join((await counted(held)).split())
        await held.press("rules.apply")
        assert isinstance(held.app.screen, ConfirmScreen)
        await held.press("y")
        await held.decided()
        await seen(held)
        assert isinstance(held.app.screen, RulesScreen)
        assert in_force(crawl) == (2, ["/one", f"^{A}/list/[0-9]+$"], "mara")
        assert [row.split()[0] for row in rows_of(held, "#rules-versions")] == ["2", "1"]
        assert held.app.screen.query_one("#rules-versions", CrawlTable).cursor_key == 2
        await held.press("journal.undo")
        await held.decided()
        assert in_force(crawl) == (3, ["/one"], "mara")
        assert "same as: tui-crawler rules undo --job" in held.text()
        assert taken_back(crawl) == [False, True]
        await held.press("journal.redo")
        await held.decided()
        assert in_force(crawl) == (4, ["/one", f"^{A}/list/[0-9]+$"], "mara")
        await held.press("journal.undo")
        await held.decided()
        assert in_force(crawl) == (5, ["/one"], "mara")
        assert taken_back(crawl) == [False, True, False, True]

        await seen(held)
        await held.press("rule.delete", rounds=2)
        await counted(held)
        await someone_else_applies(crawl, 5, Rule("/two", skip=True))
        await held.press("rules.apply", rounds=0)
        await held.decided()
        assert "the edit began with version 5, but version 6 is current" in held.text()
        assert in_force(crawl) == (6, ["/two"], "someone else")
        await seen(held)
        assert "⚠ ruleset 6 by someone else is in force now" in held.text()


@pytest.mark.parametrize("keys", [("j", "rule.up"), ("rule.down",)])
async def test_what_was_moved_keeps_the_cursor(several: Path, keys: tuple[str, ...]) -> None:
    async with on_database(several) as held:
        await held.press("4", rounds=3)
        await held.press(*keys, rounds=2)
        await apply(held)
        await seen(held)
        assert in_force(several) == (2, ["/list/", "/one"], "mara")
        table = held.app.screen.query_one("#rules-lines", CrawlTable)
        assert ("/list/" if "rule.up" in keys else "/one") in rows_of(held, "#rules-lines")[table.cursor_index]
        difference = held.app.screen.query_one("#rules-difference", Lines).text
        assert "note     moved rule /" in difference
        assert [line[0] for line in difference.split("\n") if "/list/" in line or "/one" in line][1:].count(" ") == 1


async def test_an_edited_entry_keeps_its_place_is_undone_and_meets_a_conflict(several: Path) -> None:
    async with on_database(several) as held:
        await held.press("4", rounds=3)
        await held.press("rule.edit", rounds=2)
        await retype_line(held, "  - {match: /list/1, skip: true}")
        await held.quiet()
        impact = " ".join((await counted(held)).split())
        assert "⊘ newly blocked 1" in impact  # whole against whole: /one is allowed again
        assert "✓ newly allowed 1" in impact
        await held.press("escape", rounds=1)
        await apply(held)
        assert in_force(several) == (2, ["/list/1", "/list/"], "mara")
        await held.press("journal.undo")
        await held.decided()
        assert in_force(several) == (3, ["/one", "/list/"], "mara")
        assert taken_back(several) == [False, True]

        await seen(held)
        await held.press("rule.edit", rounds=2)
        await retype_line(held, "  - {match: /mine, skip: true}")
        await someone_else_applies(several, 3, Rule("/two", skip=True))
        await seen(held)
        assert "⚠ ruleset 4 by someone else is in force now" in held.text()
        await held.press("escape", "rules.apply", "y", rounds=1)
        assert "a conflict is not resolved" in " ".join(((await counted(held)) + held.text()).split())
        assert "{match: /mine, skip: true}" in draft_text(held)
        await held.press("rules.apply", rounds=1)
        assert in_force(several) == (4, ["/two"], "someone else")


async def test_a_refused_edit_is_merged_with_the_newer_version_and_applied(several: Path) -> None:
    async with on_database(several) as held:
        await held.press("4", rounds=3)
        await held.press("rule.edit", rounds=2)
        await retype_line(held, "  - {match: /mine, skip: true}")
        await counted(held)
        await someone_else_applies(several, 1, ONE, FEED, Rule("/two", skip=True))
        await held.press("escape", "rules.apply", rounds=0)
        await held.decided()
        assert "the edit began with version 1, but version 2 is current" in held.text()
        await seen(held)
        assert "⚠ ruleset 2 by someone else is in force now" in held.text()
        assert "ctrl+s merges the draft with it" in held.text()
        await held.press("rules.apply", rounds=1)
        assert "Merge the draft with ruleset 2 by someone else?" in held.text()
        await held.press("y", rounds=1)
        assert in_force(several)[0] == 2
        assert "✓ newly allowed 1" in " ".join((await counted(held)).split())
        assert "from ruleset 2 · 1 added, 1 removed" in held.text()
        await apply(held)
        assert in_force(several) == (3, ["/mine", "/list/", "/two"], "mara")
        assert isinstance(held.app.screen, RulesScreen)


async def test_undo_version_takes_back_the_action_that_wrote_it(several: Path) -> None:
    async with on_database(several) as held:
        await held.press("4", rounds=3)
        await held.press("rule.down", rounds=2)
        assert isinstance(held.app.console_screen, type(editor(held)))
        await counted(held)
        await apply(held)
        assert in_force(several) == (2, ["/list/", "/one"], "mara")
        await held.press("rules.bring_back", rounds=3)
        await counted(held)
        await seen(held)
        await apply(held)
        assert in_force(several) == (3, ["/one", "/list/"], "mara")
        assert taken_back(several) == [False, True]


async def test_the_exclusion_list_is_extended_and_shortened_and_both_are_undone(several: Path) -> None:
    async with on_database(several) as held:
        await held.press("4", rounds=3)
        await held.press("rules.exclude", rounds=1)
        await held.type(f"host: {B_HOST}, reason: they asked")
        assert f"✎ exclusion  host {B_HOST}  they asked" in held.text()
        await held.press("enter", rounds=1)
        await asked(held)
        assert "It would newly block 1 of 5 known URLs" in " ".join(held.text().replace("│", " ").split())
        await yes(held)
        assert excluded(several) == [("host", B_HOST, "they asked", "mara")]
        assert states(several)[B] == "excluded"
        await seen(held)
        assert any(B_HOST in row for row in rows_of(held, "#rules-lines"))
        await held.press("journal.undo")
        await held.decided()
        assert excluded(several) == []
        assert states(several)[B] == ""
        assert taken_back(several) == [False, True]
        await held.press("journal.redo")
        await held.decided()
        assert excluded(several) == [("host", B_HOST, "they asked", "mara")]

        await seen(held)
        await held.press("rules.exclude", rounds=1)
        await held.enter(f"host: {B_HOST}")
        assert "is on the exclusion list already" in held.text()
        await held.press("escape", "move.last", "rule.delete", rounds=1)
        assert isinstance(held.app.screen, ConfirmScreen)
        await yes(held)
        assert excluded(several) == []
        await held.press("journal.undo")
        await held.decided()
        assert excluded(several) == [("host", B_HOST, "they asked", "mara")]
        assert states(several)[B] == "excluded"


async def test_an_exclusion_that_someone_else_added_is_seen_and_taken_off(several: Path) -> None:
    await asyncio.to_thread(carry_out, several, Exclude("host", B_HOST, "mail"), "someone else")
    async with on_database(several) as held:
        await held.press("4", rounds=3)
        await held.press("move.last", "rule.delete", rounds=1)
        assert "mail. Added by someone else." in held.text()
        await yes(held)
        assert excluded(several) == []


async def apply(held: Stage) -> None:
    """Applies what is drafted, whatever is asked."""
    await held.press("rules.apply")
    if isinstance(held.app.screen, ConfirmScreen):
        await held.press("y")
    await held.decided()
    await seen(held)


async def yes(held: Stage) -> None:
    assert isinstance(held.app.screen, ConfirmScreen)
    await held.press("y")
    await held.decided()


async def someone_else_applies(crawl: Path, base: int, *rules_of: Rule) -> None:
    rules = to_json(PolicySet(rules=rules_of))
    await asyncio.to_thread(carry_out, crawl, ApplyRules(rules, base, "", "by hand"), "someone else")


def in_force(database: Path) -> tuple[int, list[str], str]:
    """The version in force: its id, the patterns of its rules, and who wrote it."""
    with contextlib.closing(Reports(database)) as reports:
        (one,) = reports.current_rulesets()
    return one.ruleset_id, [rule.match for rule in one.policies.rules], one.who


def taken_back(database: Path) -> list[bool]:
    """Which actions of the operator were undone, newest first."""
    with contextlib.closing(Reports(database)) as reports:
        return [one.undone for one in reports.actions()]


def excluded(database: Path) -> list[tuple[str, str, str, str]]:
    """The operators' exclusion list."""
    with contextlib.closing(Reports(database)) as reports:
        return [(one.kind, one.value, one.reason, one.who) for one in reports.exclusions()]


def states(database: Path) -> dict[str, str]:
    """Why each origin has finished; empty: it has not."""
    with contextlib.closing(Reports(database)) as reports:
        return {one.origin: one.finish_reason for one in reports.origins_changed(0)}
