"""An entry of the rules edited in its place: written out, read again, drafted, compared as a whole, applied."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import counted, editor, retype, rows_of, write
from tests.console.sample_crawl import WWW
from tests.console.sample_rules import FIRST, JOB, THIRD, FakeRules, versions
from tests.console.support import Stage, stage
from tui_crawler.console.rules.draft import DraftSession, RuleDraft, Typing, entries_of, policies_of
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.rules.queries import RulesInForce
from tui_crawler.console.rules.screen import RulesScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.command import ApplyRules
from tui_crawler.domain.exclusion import Exclusion
from tui_crawler.domain.matcher import All, Not, Test
from tui_crawler.domain.pattern import escape
from tui_crawler.domain.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.ruleset import RulesetChange, from_json, same_rules
from tui_crawler.text.safe_text import without_unseen
from tui_crawler.wiring.console_rules import ConsoleRules

DESK = ConsoleRules(Path("none.db"))
CALENDAR = "/calendar/: skip true"


def key_of(words: str, policies: PolicySet = THIRD) -> object:
    """The key of the entry that says so."""
    return next(entry.key for entry in entries_of(policies) if entry.line.text == words)


def read(line: str) -> RulesetChange:
    made = DESK.read(line)
    assert isinstance(made, RulesetChange)
    return made


# an entry as one line

text = st.text(max_size=30)
urls = st.text(min_size=1, max_size=30).filter(lambda one: "\x00" not in one)
rules = st.builds(
    Rule,
    match=urls.map(escape),
    accept=st.none() | st.booleans(),
    skip=st.just(True) | st.booleans(),
    custom_js=st.none() | st.text(min_size=1, max_size=30),
)
exclusions = st.builds(Exclusion, kind=st.just("pattern"), value=urls.map(escape), reason=text, who=text)
tests = st.builds(
    Test, field=st.sampled_from(("path", "query", "url")), op=st.sampled_from(("prefix", "equals")), value=urls
)
queries = st.builds(QueryPolicy, match=st.none() | tests, allow=st.frozensets(urls, min_size=1, max_size=3))
entries = st.one_of(
    rules.map(lambda one: PolicySet(rules=(one,))),
    exclusions.map(lambda one: PolicySet(exclusions=(one,))),
    tests.map(lambda one: PolicySet(do_not_crawl=(DoNotCrawl(Not(one)),))),
    queries.map(lambda one: PolicySet(url_query_parameters=(one,))),
    urls.map(lambda one: PolicySet(whitelist=Whitelist((), (escape(one),)))),
)


@given(entries)
def test_whatever_line_is_written_says_the_same_and_is_seen_whole(policies: PolicySet) -> None:
    line = DESK.write(policies)
    if line:
        assert same_rules(read(line).applied_to(EMPTY), policies)
        assert without_unseen(line) == line
        assert "\n" not in line


@pytest.mark.parametrize(
    ("policies", "line"),
    [
        (PolicySet(rules=(Rule("/calendar/", skip=True),)), "skip: /calendar/"),
        (PolicySet(rules=(Rule("[0-9]+, a: b", skip=True),)), 'skip: "[0-9]+, a: b"'),
        (PolicySet(rules=(Rule("true", skip=True),)), 'skip: "true"'),
        (PolicySet(rules=(Rule("/f/", accept=False, ua="me"),)), "rule: match: /f/, accept: false, ua: me"),
        (PolicySet(rules=(Rule("a\u200bb", skip=False),)), 'rule: match: "a\\U0000200bb", skip: false'),
        (
            PolicySet(exclusions=(Exclusion("cidr", "203.0.113.0/24", "x: y", "us"),)),
            'exclusion: cidr: "203.0.113.0/24", reason: "x: y", who: us',
        ),
        (
            PolicySet(
                do_not_crawl=(DoNotCrawl(All((Test("path", "prefix", "/x"), Not(Test("host", "equals", "a"))))),)
            ),
            "do_not_crawl: all: [{path: {prefix: /x}}, {not: {host: {equals: a}}}]",
        ),
        (
            PolicySet(url_query_parameters=(QueryPolicy(Test("path", "prefix", "/v2"), frozenset({"b", "a"})),)),
            "query: match: {path: {prefix: /v2}}, allow: [a, b]",
        ),
        (PolicySet(whitelist=Whitelist(("*.example.org",), ())), 'whitelist: domains: ["*.example.org"]'),
    ],
)
def test_an_entry_is_written_as_a_person_would(policies: PolicySet, line: str) -> None:
    assert DESK.write(policies) == line
    assert same_rules(read(line).applied_to(EMPTY), policies)


def test_every_entry_of_the_sample_can_be_written() -> None:
    assert all(DESK.write(policies_of((entry,))) for entry in entries_of(FIRST))


def test_an_entry_that_no_line_makes_is_not_written() -> None:
    too_long = "x" * 100_001
    assert DESK.write(PolicySet(rules=(Rule("/", custom_js=too_long),))) == ""


# the draft


def test_an_edited_entry_keeps_its_place_whatever_its_section() -> None:
    for entry in entries_of(FIRST):
        before = [one.key for one in entries_of(FIRST)]
        more = read("whitelist: domains: [new.example]") if entry.section == "whitelist" else None
        more = (
            more
            or {
                "do_not_crawl": read("do_not_crawl: path: {prefix: /new/}"),
                "url_query_parameters": read("query: allow: [new]"),
                "rules": read("skip: /new/"),
                "exclusions": read("exclusion: host: new.example"),
            }[entry.section]
        )
        draft = RuleDraft(versions()[0], FIRST).replaced(entry.key, more)
        after = [one.key for one in entries_of(draft.policies)]
        place = before.index(entry.key)
        assert [*after[:place], *after[place + 1 :]] == [*before[:place], *before[place + 1 :]]
        assert after[place] != entry.key


def test_an_entry_that_says_the_same_stays_as_it_was_written() -> None:
    draft = RuleDraft(versions()[0], THIRD)
    lines = {entry.key: DESK.write(policies_of((entry,))) for entry in entries_of(THIRD)}
    assert [key for key, line in lines.items() if not line] == [key_of("^/v2/user/: skip true")], "it can never match"
    for key, line in lines.items():
        assert not line or draft.replaced(key, read(line)).policies == THIRD


def test_an_edit_may_make_several_entries_or_one_of_another_section() -> None:
    draft = RuleDraft(versions()[0], THIRD)
    several = draft.replaced(key_of(CALENDAR), read("rules: [{match: /a/, skip: true}, {match: /b/, skip: true}]"))
    assert [rule.match for rule in several.policies.rules] == ["/feed/", "/a/", "/b/", "^/v2/user/"]
    other = draft.replaced(key_of(CALENDAR), read("exclusion: host: a.example"))
    assert [rule.match for rule in other.policies.rules] == ["/feed/", "^/v2/user/"]
    assert [one.value for one in other.policies.exclusions] == ["example.net", "a.example"]
    same = draft.replaced(key_of(CALENDAR), read("whitelist: domains: ['*.example.org']"))
    assert same.policies.whitelist == THIRD.whitelist


def test_an_entry_that_is_gone_is_added_again_so_that_nothing_typed_is_lost() -> None:
    draft = RuleDraft(versions()[0], THIRD).toggled(key_of(CALENDAR))
    again = draft.replaced(key_of(CALENDAR), read("skip: /mine/"))
    assert [rule.match for rule in again.policies.rules] == ["/feed/", "^/v2/user/", "/mine/"]


def test_an_entry_that_is_edited_keeps_the_version_it_was_read_from() -> None:
    bench = DraftSession("")
    old, new = versions()[0], replace(versions()[0], ruleset_id=14, who="another", policies=FIRST)
    bench.in_force = RulesInForce((old,))
    bench.hold(bench.renewed())
    bench.typing = Typing(entries_of(THIRD)[0], read("do_not_crawl: path: {prefix: /mine/}"))
    bench.in_force = RulesInForce((new,))
    bench.hold(bench.renewed())
    assert bench.draft == RuleDraft(old, THIRD)
    assert bench.overtaken == new
    bench.typing = None  # esc: nothing is drafted, so the newer version is the one to go on with
    bench.hold(bench.renewed())
    assert bench.draft == RuleDraft(new, FIRST)
    assert bench.overtaken is None


def test_a_draft_begins_with_the_version_that_was_seen() -> None:
    bench = DraftSession("")
    seen, now = versions()[1], versions()[0]
    bench.in_force = RulesInForce((now,))
    bench.hold(bench.renewed(seen))
    assert bench.draft is not None
    assert (bench.draft.base, bench.overtaken) == (seen, now)


# the screen


async def edit_calendar(held: Stage) -> Input:
    """Opens the editor on the rule for /calendar/, from the table of the rules in force."""
    await held.press("4", rounds=3)
    held.app.screen.query_one("#rules-entries", CrawlTable).move_cursor(key=key_of(CALENDAR))
    await held.press("E", rounds=2)
    return held.app.screen.query_one(Input)


def rules_of(held: Stage) -> list[str]:
    draft = editor(held).session.draft
    assert draft is not None
    return [rule.match for rule in draft.policies.rules]


async def test_an_entry_is_edited_in_place_its_impact_counted_and_applied() -> None:
    async with stage((160, 40)) as held:
        box = await edit_calendar(held)
        assert (box.value, box.has_focus) == ("skip: /calendar/", True)
        assert "unchanged so far; enter keeps it" in held.text()
        assert "Nothing is drafted" in held.text()
        await retype(held, "skip: /products/1[0-9]$")
        impact = await counted(held)
        assert impact.splitlines()[0].split() == ["⊘", "newly", "blocked", "10"]
        assert f"  {WWW}/products/10" in impact
        assert "✓ becomes  rule  /products/1[0-9]$: skip true" in held.text()
        assert "enter takes it into the draft in the place of rule /calendar/: skip true" in held.text()
        assert held.journal.sent == []
        await held.press("enter", rounds=1)
        rows = rows_of(held, "#draft-entries")
        edited = "✎ rule edited  /calendar/: skip true →  /products/1[0-9]$: skip true"
        place = next(n for n, row in enumerate(rows) if row.startswith(edited))
        assert sum("/calendar/" in row for row in rows) == 1
        assert held.app.screen.query_one("#draft-entries", CrawlTable).cursor_index == place
        assert "from ruleset 13 · 1 edited" in held.text()
        assert "in place of /calendar/: skip true" in held.text()
        await counted(held)
        await held.press("A", rounds=0)
        await held.decided()
        (command,) = held.journal.sent
        assert isinstance(command, ApplyRules)
        assert [rule.match for rule in from_json(command.rules).rules] == ["/feed/", "/products/1[0-9]$", "^/v2/user/"]
        assert (command.base_id, command.job) == (13, JOB)
        assert command.note == "edited rule /calendar/: skip true → /products/1[0-9]$: skip true"


async def test_what_is_wrong_stays_in_the_line_and_esc_leaves_the_entry_alone() -> None:
    async with stage((160, 40)) as held:
        await edit_calendar(held)
        await retype(held, "skip: (")
        await held.press("enter")
        assert "not a linear-time regular expression" in held.text()
        box = held.app.screen.query_one(Input)
        assert (box.value, box.has_focus) == ("skip: (", True)
        await held.press("escape", rounds=1)
        assert rules_of(held) == ["/feed/", "/calendar/", "^/v2/user/"]
        assert "Nothing is drafted" in held.text()
        await held.press("E", "enter", rounds=1)  # nothing was changed
        assert not editor(held).session.dirty
        await held.press("escape", rounds=2)
        assert isinstance(held.app.screen, RulesScreen)
        assert held.journal.sent == []


async def test_an_entry_of_the_draft_is_edited_again() -> None:
    async with stage((160, 40)) as held:
        await held.press("4", rounds=3)
        await write(held, "skip: /mine/")
        await held.press("E", rounds=1)
        assert held.app.screen.query_one(Input).value == "skip: /mine/"
        await retype(held, "rule: match: /mine/, ua: me")
        await held.press("enter", rounds=1)
        assert rules_of(held) == ["/feed/", "/calendar/", "^/v2/user/", "/mine/"]
        assert rows_of(held, "#draft-entries")[-4].startswith("+ rule new  /mine/: ua me")
        await held.press("k", "D", "E", rounds=1)
        assert "it is taken out of the draft; D puts it back" in held.text()


async def test_a_version_that_comes_meanwhile_is_a_conflict_and_keeps_what_was_typed() -> None:
    async with stage((160, 40)) as held:
        await edit_calendar(held)
        await retype(held, "skip: /mine/")
        held.reports.versions = (
            replace(versions()[0], ruleset_id=14, who="someone else", policies=FIRST, parent_id=13),
            *(replace(one, current=False) for one in versions()),
        )
        held.reports.commit()
        await held.settle(3, move_ms=1_100)
        assert "ruleset 14 by someone else is in force now" in held.text()
        assert held.app.screen.query_one(Input).value == "skip: /mine/"
        await held.press("enter", rounds=1)
        assert "⚠ ruleset 14 by someone else is in force now" in held.text()
        assert "A carries the change over to it: 1 edited" in held.text()
        assert rules_of(held) == ["/feed/", "/mine/", "^/v2/user/"]
        await held.press("A", rounds=1)
        text = " ".join(held.text().replace("│", " ").split())
        assert "Carry the change over to ruleset 14 by someone else?" in text
        assert "1 edited. edited rule /calendar/: skip true → /mine/: skip true" in text
        await held.press("n", rounds=1)
        assert editor(held).session.overtaken is not None
        await held.press("A", "y", rounds=1)
        assert held.journal.sent == []
        draft = editor(held).session.draft
        assert draft is not None
        assert draft.base.ruleset_id == 14
        assert rules_of(held) == ["/feed/", "/mine/"]  # version 14 has no rule for /v2/user/
        await counted(held)
        await held.press("A", rounds=0)
        await held.decided()
        (command,) = held.journal.sent
        assert isinstance(command, ApplyRules)
        assert command.base_id == 14


async def test_an_edit_from_a_frozen_view_begins_with_the_version_that_was_shown() -> None:
    async with stage((160, 40)) as held:
        await held.press("4", "f", rounds=3)
        held.reports.versions = (
            replace(versions()[0], ruleset_id=14, who="someone else", policies=PolicySet(), parent_id=13),
            *(replace(one, current=False) for one in versions()),
        )
        held.reports.commit()
        await held.settle(3, move_ms=1_100)
        await held.press("E", rounds=3)
        assert held.app.screen.query_one(Input).value == "do_not_crawl: path: {prefix: /admin/}"
        draft = editor(held).session.draft
        assert draft is not None
        assert draft.base.ruleset_id == 13


async def test_a_rule_is_moved_from_the_table_with_its_impact_counted_before() -> None:
    async with stage((160, 40)) as held:
        await held.press("4", rounds=3)
        held.app.screen.query_one("#rules-entries", CrawlTable).move_cursor(key=key_of(CALENDAR))
        await held.press("K", rounds=2)
        assert isinstance(held.app.screen, RuleEditorScreen)
        assert rules_of(held) == ["/calendar/", "/feed/", "^/v2/user/"]
        assert "from ruleset 13 · 1 moved" in held.text()
        assert any(row.startswith("▲ rule moved 2 → 1  /calendar/") for row in rows_of(held, "#draft-entries"))
        assert "newly blocked" in await counted(held)
        assert held.journal.sent == []


async def test_an_entry_that_no_line_makes_says_so() -> None:
    class Dumb(FakeRules):
        def write(self, policies: PolicySet) -> str:
            return ""

    async with stage((160, 40), rules=Dumb(gate=threading.Event())) as held:
        await held.press("4", "E", rounds=3)
        assert "it cannot be written in one line" in held.text()


async def test_a_draft_that_undoes_a_version_names_the_action_that_wrote_it() -> None:
    async with stage((160, 40), reports=FakeReports(writers={13: 77})) as held:
        await held.press("4", "u", rounds=3)
        await counted(held)
        await held.settle(2)
        await held.press("A", rounds=0)
        await held.decided()
        assert held.journal.undoes == [77]
