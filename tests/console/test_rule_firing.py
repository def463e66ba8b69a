"""Which entries of the rules have ever refused a URL, two versions compared, and a draft asked about any URL."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

from textual.widgets import TextArea

from tests.console.fake_reports import FakeReports
from tests.console.rule_stage import counted, editor, rules_stage, until, write
from tests.console.sample_crawl import API, NOW, WWW
from tests.console.sample_failures import refusal_counts
from tests.console.sample_rules import ADDED, FIRST, THIRD, versions
from tests.console.support import Stage
from tui_crawler.console.logs.screen import LogsScreen
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import Lines, lay_out_line
from tui_crawler.console.rules.entries import added_entries, entries_of
from tui_crawler.console.rules.rows import rule_hits_line
from tui_crawler.console.rules.rule_hits import RuleHits, firings, logged_as, without_entry
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.url.why import WhyScreen
from tui_crawler.domain.records.page_view import RefusalCount, RefusalCounts, RefusedView
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.policy import DoNotCrawl, PolicySet, QueryPolicy, Rule
from tui_crawler.text.cells import cell_text

NONE = RefusalCounts((), 10, 10)


def text_of(line: Line, width: int = 200) -> str:
    return "".join(text for text, _ in lay_out_line(line, width)[0]).rstrip()


def by_words(policies: PolicySet, counts: RefusalCounts, *links: RefusedView) -> dict[str, RuleHits | None]:
    """What each entry has done, by its words."""
    entries = entries_of(policies)
    found = firings(entries, counts, links)
    return {entry.line.text: found[entry.key] for entry in entries}


def fired(held: Stage) -> dict[str, str]:
    """The column FIRED by the line of the entry."""
    table = held.app.screen.query_one("#rules-lines", CrawlTable)
    rows = (table.row(key) for key in table.row_order)
    cells = ([cell_text(cell) for cell in row.cells] for row in rows if row is not None)
    return {line.partition("#")[0].strip(): number.strip() for number, line in cells}


# what the log tells


def test_refusals_are_counted_for_the_entry_whose_words_they_carry() -> None:
    said = by_words(THIRD, refusal_counts())
    assert {words: one and one.count for words, one in said.items()} == {
        'path begins with "/admin/"': 1_204,
        'page where path begins with "/v2/items"': 89,  # one of them a seed
        r"id like ^\d+$ everywhere": 0,
        "/feed/: ua special": None,
        "/calendar/: skip true": 310,
        "/v2/user/: skip true": 0,
        "domain example.net, owner asked (by the owner)": 0,
        "domain *.example.org": None,
    }
    items = said['page where path begins with "/v2/items"']
    assert (items.first_ruleset, items.last_ruleset, items.last_at) == (11, 13, NOW - 60_000)
    assert without_entry(refusal_counts()) == 40


def test_an_exclusion_that_an_operator_added_is_counted_by_its_place() -> None:
    (found,) = firings(added_entries(ADDED), refusal_counts()).values()
    assert found == RuleHits(212, NOW - 5 * 60_000, f"{API}/refused/5", 11, 13)


def refused(source: str, parameter: str, url: str, number: int = 5) -> RefusalCount:
    """URLs that a query policy refused for the same parameter; `url` is the newest of them."""
    words = f"url_query_parameters: parameter {parameter!r} is not allowed"
    return RefusalCount("blocked_url_by_local_policy", source, words, number, NOW, url, 1, 1)


def query(path: str, name: str, source: str) -> QueryPolicy:
    return QueryPolicy(Test("path", "prefix", path), frozenset({name}), source=source)


def test_query_policies_of_one_place_are_told_apart_by_what_they_refused() -> None:
    twins = PolicySet(url_query_parameters=(query("/a", "x", "console"), query("/b", "y", "console")))
    assert set(by_words(twins, NONE).values()) == {RuleHits(others=1)}
    rows = (
        refused("console", "sort", f"{API}/a?sort=1"),
        refused("console", "order", f"{API}/b?order=1", 3),
        refused("console", "page", f"{API}/b?x=1&page=1", 2),  # its first parameter is refused with other words
    )
    said = by_words(twins, RefusalCounts(rows, 10, 10))
    assert {words: one and (one.count, one.others) for words, one in said.items()} == {
        'x where path begins with "/a"': (5, 1),
        'y where path begins with "/b"': (3, 1),
    }
    line = text_of(rule_hits_line(said['x where path begins with "/a"'], NONE, UTC, query=True))
    assert "estimated from samples with 1 other of its place" in line


def test_of_query_policies_of_one_place_nothing_is_said_while_one_refusal_stays_in_doubt() -> None:
    twins = PolicySet(url_query_parameters=(query("/a", "x", "console"), query("/b", "y", "console")))
    rows = (refused("console", "sort", f"{API}/a?sort=1"), refused("console", "z", f"{API}/gone?z=1"))
    first, second = by_words(twins, RefusalCounts(rows, 10, 10)).values()
    assert first.count == 5
    assert second is None
    assert "several entries have this place" in text_of(rule_hits_line(None, NONE, UTC, query=True))


def test_a_query_policy_is_known_although_its_line_has_moved() -> None:
    moved = PolicySet(url_query_parameters=(query("/a", "x", "my.yaml:3"), query("/b", "y", "my.yaml:5")))
    rows = (
        refused("my.yaml:5", "sort", f"{API}/a?sort=1"),  # by then the second one stood where the first one does now
        refused("my.yaml:9", "order", f"{API}/b?order=1", 2),
        refused("my.yaml:3", "x", f"{API}/a?x=1", 7),  # edited since: it allows that now
    )
    counts = [one and one.count for one in by_words(moved, RefusalCounts(rows, 10, 10)).values()]
    assert counts == [12, 2]


def test_query_policies_that_cannot_be_compiled_are_known_by_their_place() -> None:
    bad = PolicySet(url_query_parameters=(QueryPolicy(None, values=(("x", "("),), source="my.yaml:3"),))
    (one,) = by_words(bad, RefusalCounts((refused("my.yaml:3", "y", f"{API}/?y=1"),), 9, 9)).values()
    assert one.count == 5


def test_words_that_only_begin_alike_are_of_another_entry() -> None:
    policies = PolicySet(
        do_not_crawl=(DoNotCrawl(Test("path", "prefix", "/a"), "x:1"),),
        exclusions=(Exclusion("host", "a.example", source="x:2"),),
        rules=(Rule("/a", skip=True, source="x:3"),),
    )
    rows = tuple(
        RefusalCount(code, "x", message, 5, NOW, "https://u/", 1, 1)
        for code, message in (
            ("blocked_url_by_local_policy", 'do_not_crawl: path begins with "/ab"'),
            ("blocked_by_exclusion_list", "exclusion list: host a.example.org"),
            ("skipped_by_rule", "rule /a/b: skip true"),
            ("blocked_by_robots_txt", "rule /a: skip true"),
        )
    )
    assert {one and one.count for one in by_words(policies, RefusalCounts(rows, 9, 9)).values()} == {0}


def test_a_link_that_an_exclusion_or_an_accept_rule_refused_shows_that_it_fired() -> None:
    policies = PolicySet(
        exclusions=(Exclusion("host", "a.example"), Exclusion("host", "b.example")),
        rules=(Rule("/never/", accept=False), Rule("/closed/", accept=False), Rule("/open/", accept=True)),
    )
    links = (
        RefusedView(API, "exclusion", 7, "https://b.example/x"),
        RefusedView(WWW, "exclusion", 3, "https://b.example/y"),
        RefusedView(API, "rule_accept", 2, f"{API}/closed/1"),
        RefusedView(API, "rule_accept", 2, "not a url"),
        RefusedView(API, "scope", 900, "https://a.example/"),
    )
    said = by_words(policies, NONE, *links)
    assert {words: one and (one.links, one.links_in_all, one.sample_url) for words, one in said.items()} == {
        "/never/: accept false": (False, 4, ""),
        "/closed/: accept false": (True, 4, f"{API}/closed/1"),
        "/open/: accept true": None,
        "host a.example": (False, 10, ""),
        "host b.example": (True, 10, "https://b.example/x"),
    }


def test_rules_that_cannot_be_compiled_are_no_reason_to_fail() -> None:
    bad = PolicySet(exclusions=(Exclusion("pattern", "("),))
    (one,) = by_words(bad, NONE, RefusedView(API, "exclusion", 7, "https://b.example/x")).values()
    assert one == RuleHits(links_in_all=7)


def test_the_line_of_an_entry_says_what_is_known_and_what_is_not() -> None:
    assert "counting" in text_of(rule_hits_line(None, None, UTC, query=False))
    assert "not in the log" in text_of(rule_hits_line(None, NONE, UTC, query=False))
    assert text_of(rule_hits_line(RuleHits(), NONE, UTC, query=False)) == "∅ no hits"
    some = RefusalCounts((), 200_000, 1_204_331)
    assert text_of(rule_hits_line(RuleHits(), some, UTC, query=False)) == (
        "∅ no hits among the newest 200 000 of 1 204 331 attempts"
    )
    once = RuleHits(1, NOW, f"{API}/x", 12, 12)
    assert text_of(rule_hits_line(once, NONE, UTC, query=False)) == (
        f"1 hit, last 2026-01-05 10:41:07 by ruleset 12: {API}/x"
    )
    assert "40 URLs without an entry" in text_of(rule_hits_line(once, refusal_counts(), UTC, query=True))
    links = RuleHits(links=True, links_in_all=3, sample_url=f"{API}/y")
    assert text_of(rule_hits_line(links, NONE, UTC, query=False)).endswith(f"for example {API}/y")
    assert "refused nothing that was tried" in text_of(
        rule_hits_line(replace(links, links=False), NONE, UTC, query=False)
    )


# the view


async def test_the_view_marks_entries_that_never_fired() -> None:
    async with rules_stage() as held:
        said = fired(held)
        assert said["- {path: {prefix: /admin/}}"] == "1 204"
        assert said["- {match: /v2/user/, skip: true}"] == "∅ never"
        assert said["- {match: /feed/, ua: special}"] == "-"
        assert said["✎  - {host: private.example.org, reason: mail of 5 January, who: mara}"] == "212"
        assert said["rules:"] == ""
        assert "hits in 106 000 attempts, 10:41:07 · o r counts again" in held.text()
        assert "1 204 hits, last 2026-01-05 10:41:07 by rulesets 11–13" in held.text()


async def test_it_is_counted_once_and_again_when_asked() -> None:
    reports = FakeReports(refusals=replace(refusal_counts(), known=900_000))
    async with rules_stage(reports=reports) as held:
        held.reports.commit()
        await held.settle(3, move_ms=5_000)
        assert reports.asked.count("refusal_counts(200000)") == 1
        assert fired(held)["- {match: /v2/user/, skip: true}"] == "∅ 0"
        assert "hits in 106 000 of 900 000 attempts" in held.text()
        reports.refusals = NONE
        await held.press("rules.count", rounds=2)
        assert reports.asked.count("refusal_counts(200000)") == 2
        assert fired(held)["- {path: {prefix: /admin/}}"] == "∅ never"


async def test_two_marked_versions_are_compared() -> None:
    async with rules_stage() as held:
        await held.press("tab", "space", "j", rounds=1)
        text = held.app.screen.query_one("#rules-difference", Lines).text
        assert "From ruleset 11 to 13" in held.text()
        assert "-    - {path: {suffix: '.zip'}}  # my.yaml:15" in text
        assert "+  - {match: /v2/user/, skip: true}  # console" in text
        await held.press("space", "move.first", rounds=1)
        assert "From ruleset 11 to 13" in held.text()
        await held.press("mark.clear", rounds=1)
        assert "What ruleset 13 changed" in held.text()


async def test_versions_that_say_the_same_are_told_so() -> None:
    newest, middle, oldest = versions()
    same = replace(newest, policies=FIRST)
    async with rules_stage(reports=FakeReports(versions=(same, middle, oldest))) as held:
        await held.press("tab", "space", "j", rounds=1)
        assert "The same as ruleset" in held.app.screen.query_one("#rules-difference", Lines).text


# a draft


async def test_what_if_also_asks_the_open_draft() -> None:
    async with rules_stage() as held:
        await write(held, "match: /products/, skip: true")
        await counted(held)
        assert editor(held).session.drafted is not None
        await held.press("i", rounds=0)
        await held.enter(f"{WWW}/products/7", rounds=3)
        assert isinstance(held.app.screen, WhyScreen)
        text = held.app.screen.query_one("#why-standing", Lines).text
        assert "With the draft of the rules" in text
        assert "⊘ rule_skip" in text
        assert "rule /products/: skip true (console)" in text
        await held.press("escape", rounds=1)
        assert "Draft" in held.text()


async def test_without_a_draft_the_trace_is_about_the_rules_in_force_alone() -> None:
    async with rules_stage("rule.edit") as held:
        await held.press("escape", rounds=1)
        await held.press("i", rounds=0)
        await held.enter(f"{WWW}/products/7", rounds=3)
        assert "With the draft" not in held.app.screen.query_one("#why-standing", Lines).text


async def test_the_draft_shows_what_the_entry_under_the_cursor_has_refused() -> None:
    async with rules_stage("rule.edit") as held:
        await counted(held)
        info = held.app.screen.query_one("#rules-info", Lines)
        assert "1 204 hits" in info.text
        await write(held, "match: /mine/, skip: true")
        await counted(held)
        editor(held).query_one(TextArea).move_cursor((10, 0))
        await held.quiet()
        assert "/mine/: skip true\nnew in this draft" in info.text


async def test_hits_open_what_they_refused_in_the_log() -> None:
    async with rules_stage() as held:
        await until(held, lambda: "1 204" in held.text())
        assert "enter what it refused" in held.text().splitlines()[-1]
        await held.press("enter", rounds=2)
        assert isinstance(held.app.screen, LogsScreen)
        assert 'search do_not_crawl: path begins with "/admin/"' in held.text()


def test_the_log_has_what_query_policies_refused_under_their_name() -> None:
    entry = next(one for one in entries_of(THIRD) if isinstance(one.value, QueryPolicy))
    assert logged_as(entry) == "url_query_parameters:"
