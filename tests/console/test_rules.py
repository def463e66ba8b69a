"""View 4: the rules in force and their versions; a draft, its impact counted at once, applied only when asked for."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from textual.widgets import Input, Static

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import (
    TWO_JOBS,
    comes,
    counted,
    draft_text,
    editor,
    rows_of,
    rules_stage,
    seen,
    until,
    write,
)
from tests.console.sample_crawl import API, WWW
from tests.console.sample_rules import FIRST, JOB, SECOND, THIRD, FakeRules
from tests.console.support import Stage, stage
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.failures.screen import FailuresScreen
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.applying import TypeCountScreen
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.rules.pattern import pattern_of
from tui_crawler.console.rules.screen import RulesScreen
from tui_crawler.domain.records.command import ApplyRules
from tui_crawler.domain.rules.pattern import Pattern
from tui_crawler.domain.rules.policy import Rule
from tui_crawler.domain.rules.ruleset import from_json, same_rules
from tui_crawler.text.rules_text import rules_lines

PRODUCTS = "match: '/products/1[0-9]$', skip: true"
MOST = "match: /products/, skip: true"


def applied(held: Stage) -> ApplyRules:
    (command,) = held.journal.sent
    assert isinstance(command, ApplyRules)
    return command


class TestView:
    async def test_shows_every_entry_with_its_place_and_the_operators_exclusions_marked(self) -> None:
        async with rules_stage() as held:
            rows = rows_of(held, "#rules-lines")
            assert rows[2] == "1 204     - {path: {prefix: /admin/}}  # my.yaml:14"
            assert "∅ never   - {domain: example.net, reason: owner asked, who: the owner}  # my.yaml:24" in rows
            assert rows[-1] == "212 ✎  - {host: private.example.org, reason: mail of 5 January, who: mara}  # operator"
            assert rows[-2] == "# excluded by operators, with every version:"
            assert [line for line in rules_lines(THIRD) if line not in "\n".join(rows)] == []
            assert "Rules · job my-index · ruleset 13 · 9 in force" in held.text()

    async def test_history_and_what_a_version_changed(self) -> None:
        async with rules_stage("tab") as held:
            assert [row.split()[0] for row in rows_of(held, "#rules-versions")] == ["13", "12", "11"]
            assert "✓ in force" in rows_of(held, "#rules-versions")[0]
            difference = held.app.screen.query_one("#rules-difference", Lines)
            assert "-    - {path: {suffix: '.zip'}}  # my.yaml:15" in difference.text
            await held.press("j")
            assert "+  - {match: /v2/user/, skip: true}  # console" in difference.text
            await held.press("j")
            assert "The first ruleset:" in difference.text
            assert "+  - {match: /calendar/, skip: true}  # my.yaml:31" in difference.text

    async def test_what_the_rules_say_of_a_url(self) -> None:
        async with rules_stage() as held:
            await held.press("rules.test")
            await held.type("www.example.com/admin/x")
            info = held.app.screen.query_one("#rules-info", Lines)
            assert "⊘ do_not_crawl  https://www.example.com/admin/x" in info.text
            held.app.screen.query_one(Input).value = "https://private.example.org/a"
            await held.quiet()
            assert "⊘ exclusion" in info.text
            held.app.screen.query_one(Input).value = "ftp://x.example/"
            await held.quiet()
            assert "✗ ftp://x.example/" in info.text
            await held.press("escape")
            assert isinstance(held.app.screen, RulesScreen)
            assert "Matching URLs are never requested." in info.text

    async def test_the_next_job(self) -> None:
        async with rules_stage(reports=FakeReports(versions=TWO_JOBS)) as held:
            await held.press("rules.job", rounds=3)
            assert "Rules · job news · ruleset 20" in held.text()
            assert [row.split()[0] for row in rows_of(held, "#rules-versions")] == ["20"]
            await held.press("rules.job", rounds=3)
            assert "Rules · job my-index · ruleset 13" in held.text()

    async def test_a_database_without_rules(self) -> None:
        async with rules_stage("rule.add", reports=FakeReports(versions=(), added=())) as held:
            assert "No ruleset yet: the first run writes one" in held.text()
            assert isinstance(held.app.screen, RulesScreen)
            assert "add: there is no ruleset yet" in held.text()

    async def test_a_console_that_only_watches_sees_everything_and_drafts_nothing(self) -> None:
        async with rules_stage(readonly=True) as held:
            for action in ("rule.add", "rule.delete", "rules.bring_back"):
                await held.act(action)
                assert isinstance(held.app.screen, RulesScreen)
            assert "this console is read-only" in held.text()
            await held.press("2", "m", rounds=3)
            assert isinstance(held.app.screen, FailuresScreen)

    async def test_frozen_it_keeps_what_it_shows(self) -> None:
        async with rules_stage("f") as held:
            held.reports.added = ()
            held.reports.commit()
            await held.settle(3, move_ms=1_100)
            assert "private.example.org" in held.text().split("Rulesets")[1]
            await held.press("f", rounds=2)
            assert not any("private" in row for row in rows_of(held, "#rules-lines"))


class TestDraft:
    async def test_the_impact_is_counted_while_one_types(self) -> None:
        async with rules_stage() as held:
            await held.press("rule.add", rounds=2)
            await held.type("/products/1[0-9]$")
            impact = await counted(held)
            assert impact.splitlines()[0].split() == ["⊘", "newly", "blocked", "10"]
            assert "www.example.com" in impact
            assert f"  {WWW}/products/10" in impact
            assert impact.count("⊘ allowed → rule_skip: rule /products/1[0-9]$:") == 1, "it is said once for all"
            assert "/products/1[0-9]$: skip true" in held.app.screen.query_one("#rules-info", Lines).text
            assert held.journal.sent == []

    async def test_applies_what_was_drafted_as_a_version_made_from_the_one_in_force(self) -> None:
        async with rules_stage("rule.delete") as held:
            assert "/admin/" not in draft_text(held)
            await write(held, PRODUCTS)
            await counted(held)
            assert "1 added, 1 removed" in held.text()
            await held.press("rules.apply")
            await held.decided()
            command = applied(held)
            rule = Rule("/products/1[0-9]$", skip=True, source="console")
            wanted = replace(THIRD, do_not_crawl=(), rules=(*THIRD.rules, rule))
            assert same_rules(from_json(command.rules), wanted)
            assert (command.base_id, command.job) == (13, JOB)
            assert command.note == '− do_not_crawl path begins with "/admin/", + rule /products/1[0-9]$: skip true'
            comes(held, wanted)
            await seen(held)
            assert isinstance(held.app.screen, RulesScreen)
            assert "ruleset 14" in held.text()

    async def test_leaving_a_draft_asks(self) -> None:
        async with rules_stage("rule.delete", "escape") as held:
            assert isinstance(held.app.screen, ConfirmScreen)
            assert "Discard the draft?" in held.text()
            await held.press("escape")
            assert isinstance(held.app.screen, RuleEditorScreen)
            for key in ("2", "q"):
                await held.press(key)
                assert "Discard the draft?" in held.text()
                await held.press("escape")
            await held.press("2", "y", rounds=2)
            assert isinstance(held.app.screen, FailuresScreen)
            assert held.journal.sent == []

    async def test_more_than_a_thousand_blocked_has_to_be_typed(self) -> None:
        async with rules_stage() as held:
            await write(held, MOST)
            assert "⚠ blocks 1 seed" in await counted(held)
            await held.press("rules.apply")
            assert isinstance(held.app.screen, TypeCountScreen)
            assert "It blocks 1 501 URLs of 1 542 that are known" in held.text()
            await held.enter("150")
            assert "That is not 1 501" in held.text()
            assert held.journal.sent == []
            held.app.screen.query_one(Input).value = "1 501"
            await held.press("enter")
            await held.decided()
            assert applied(held).base_id == 13

    async def test_a_seed_is_asked_about(self) -> None:
        async with rules_stage() as held:
            await write(held, "match: /products/sale, skip: true")
            await counted(held)
            await held.press("rules.apply")
            assert isinstance(held.app.screen, ConfirmScreen)
            text = str(held.app.screen.query_one(".dialog-text", Static).content)
            assert f"Among them is 1 seed: {WWW}/products/sale" in text
            assert "Counted at 10:41:07;" in held.text()
            await held.press("n")
            assert held.journal.sent == []

    async def test_nothing_is_applied_while_the_impact_is_not_known(self) -> None:
        rules = FakeRules(gate=threading.Event())
        async with rules_stage("rule.delete", rules=rules) as held:
            await held.press("rules.apply")
            assert "◷ counting…" in held.text()
            for _ in range(2):
                held.clock.move(600)
                held.app.beat()
            await held.quiet()
            assert "◷ the impact is still being counted; esc gives up waiting" in held.text()
            assert held.journal.sent == []
            rules.let_go()
            await until(held, lambda: bool(held.journal.sent))
            assert applied(held).base_id == 13

    async def test_esc_gives_up_the_applying_that_waits(self) -> None:
        rules = FakeRules(gate=threading.Event())
        async with rules_stage("rule.delete", rules=rules) as held:
            await held.press("rules.apply", "escape", rounds=0)
            rules.let_go()
            await counted(held)
            await held.settle(3)
            assert held.journal.sent == []
            assert isinstance(held.app.screen, RuleEditorScreen)

    async def test_an_impact_that_cannot_be_counted_is_said_and_asked_about(self) -> None:
        async with rules_stage("rule.delete", rules=FakeRules(failure="disk gone")) as held:
            assert "disk gone" in await counted(held)
            await held.press("rules.apply")
            assert "Its impact could not be counted: disk gone" in held.text()
            await held.press("y")
            await held.decided()
            assert applied(held).base_id == 13

    async def test_a_refused_edit_keeps_the_draft(self) -> None:
        async with stage((160, 40)) as held:
            held.journal.answer = "the edit began with version 13, but version 14 is current"
            await held.press("4", "rule.delete", rounds=3)
            await counted(held)
            await held.press("rules.apply")
            await held.decided()
            assert "the edit began with version 13" in held.text()
            comes(held, FIRST, who="someone else")
            await seen(held)
            assert editor(held).session.dirty
            assert "⚠ ruleset 14 by someone else is in force now" in held.text()

    async def test_undo_version_drafts_what_held_before(self) -> None:
        async with rules_stage("rules.bring_back") as held:
            await counted(held)
            await held.press("rules.apply")
            await held.decided()
            command = applied(held)
            assert same_rules(from_json(command.rules), SECOND)
            assert command.note == "back to version 12"

    async def test_an_earlier_version_is_brought_back(self) -> None:
        async with rules_stage("tab", "end", "rules.bring_back") as held:
            await counted(held)
            await held.press("rules.apply")
            await held.decided()
            assert same_rules(from_json(applied(held).rules), FIRST)

    async def test_a_version_that_says_the_same_is_not_drafted(self) -> None:
        async with rules_stage() as held:
            comes(held, FIRST)
            await seen(held)
            await held.press("tab", "end", "rules.bring_back", rounds=3)
            assert isinstance(held.app.screen, RulesScreen)
            assert "ruleset 11 says the same as the one in force" in held.text()


class TestFromSelection:
    async def test_a_rule_is_drafted_from_failed_pages(self) -> None:
        async with stage((160, 40)) as held:
            await held.press("2", "tab", rounds=3)
            screen = held.on_top
            (url,) = screen.situation().urls
            await held.press("m", rounds=3)
            await counted(held)
            reading = editor(held).session.reading
            assert Pattern(reading.policies.rules[-1].match).search(url)
            await held.press("escape", "escape", "y", rounds=2)
            assert isinstance(held.app.screen, FailuresScreen)

    @pytest.mark.parametrize(
        ("urls", "pattern"),
        [
            ((f"{API}/v2/items?page=19",), r"^https://api\.example\.org/v2/items\?page=[0-9]+$"),
            ((f"{API}/a/1", f"{API}/a/22"), r"^https://api\.example\.org/a/[0-9]+$"),
            ((f"{API}/a", f"{API}/b"), r"^(?:https://api\.example\.org/a|https://api\.example\.org/b)$"),
            (tuple(f"{API}/c/{name}" for name in "abcdef"), r"^https://api\.example\.org/c/"),
            ((f"{API}/a%20b/item7",), r"^https://api\.example\.org/a%20b/item[0-9]+$"),
            ((), ""),
        ],
    )
    def test_patterns_have_numbers_as_wildcards(self, urls: tuple[str, ...], pattern: str) -> None:
        assert pattern_of(urls) == pattern
        for url in urls:
            assert Pattern(pattern).search(url)

    def test_many_shapes_of_several_origins_are_listed(self) -> None:
        urls = [f"https://{host}.example/{name}+" for host in "ab" for name in "xyz"]
        pattern = Pattern(pattern_of(urls))
        assert all(pattern.search(url) for url in urls)
        assert not pattern.search("https://a.example/w+")
