"""Rules as text: what is written is read as the same, whatever stands in it, and two versions are compared by lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_crawler.config.load import read_rules
from tui_crawler.config.problem import ConfigErrors
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import All, AnyOf, Not, Test
from tui_crawler.domain.rules.pattern import escape
from tui_crawler.domain.rules.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.ruleset import RulesetChange, same_rules
from tui_crawler.text.rules_text import bare_line, rules_difference, rules_lines
from tui_crawler.text.safe_text import without_unseen

text = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=12)
urls = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12)
rules = st.builds(
    Rule,
    match=urls.map(escape),
    accept=st.none() | st.booleans(),
    skip=st.booleans(),
    custom_js=st.none() | urls,
    source=text,
)
exclusions = st.builds(Exclusion, kind=st.just("pattern"), value=urls.map(escape), reason=text, who=text, source=text)
tests = st.builds(
    Test, field=st.sampled_from(("path", "query", "url")), op=st.sampled_from(("prefix", "equals")), value=urls
)
matchers = st.recursive(tests, lambda inner: inner.map(Not) | st.tuples(inner, inner).map(AnyOf), max_leaves=4)
policies = st.builds(
    PolicySet,
    do_not_crawl=st.lists(matchers.map(DoNotCrawl), max_size=3).map(tuple),
    url_query_parameters=st.lists(
        st.builds(QueryPolicy, match=st.none() | tests, allow=st.frozensets(urls, min_size=1, max_size=3)), max_size=2
    ).map(tuple),
    rules=st.lists(rules, max_size=3).map(tuple),
    exclusions=st.lists(exclusions, max_size=3).map(tuple),
    whitelist=st.none() | urls.map(lambda one: Whitelist((), (escape(one),))),
)


def read(lines: list[str]) -> RulesetChange:
    return read_rules("\n".join(lines) + "\n", "rules", Path())


@settings(max_examples=50, deadline=None)
@given(policies)
def test_whatever_is_written_says_the_same_and_is_seen_whole(written: PolicySet) -> None:
    lines = rules_lines(written)
    try:
        change = read(lines)
    except ConfigErrors as errors:  # it is in no configuration
        assert all("not valid YAML" not in problem.message for problem in errors.problems)
    else:
        assert same_rules(change.applied_to(EMPTY), written)
    assert [without_unseen(line) for line in lines] == lines


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (Rule("/calendar/", skip=True, source="my.yaml:3"), "  - {match: /calendar/, skip: true}  # my.yaml:3"),
        (Rule("[0-9]+, a: b", skip=True), "  - {match: '[0-9]+, a: b', skip: true}"),
        (Rule("true", skip=True), "  - {match: 'true', skip: true}"),
        (Rule("a\u200bb", skip=False), '  - {match: "a\\U0000200bb", skip: false}'),
        (Rule("/f/", accept=False, ua="me", source="é (x):1"), "  - {match: /f/, accept: false, ua: me}  # é (x):1"),
        (Rule("/f/", skip=True, source="a # '}\u200b:1"), "  - {match: /f/, skip: true}  # a ? ??:1"),
    ],
)
def test_a_rule_is_written_as_a_person_would(entry: Rule, line: str) -> None:
    assert rules_lines(PolicySet(rules=(entry,)))[4] == line


def test_what_is_left_out_is_taken_away() -> None:
    matcher = All((Test("path", "prefix", "/x"), Not(Test("host", "equals", "a"))))
    every = PolicySet((DoNotCrawl(matcher),), (QueryPolicy(None, allow_any=True),), whitelist=Whitelist(("a.example",)))
    assert same_rules(read(rules_lines(EMPTY)).applied_to(every), EMPTY)


def test_where_an_entry_was_written_makes_no_difference() -> None:
    here, there = (PolicySet(rules=(Rule("/a/", skip=True, source=one), Rule("/b/", ua="x"))) for one in ("a:1", "b:2"))
    assert list(rules_difference(here, there)) == []
    assert bare_line(rules_lines(here)[4]) == bare_line(rules_lines(there)[4]) == "  - {match: /a/, skip: true}"
    changed = list(rules_difference(here, replace(there, rules=there.rules[:1])))
    assert changed[0] == "@@ -3,7 +3,6 @@ rules:"
    assert [line for line in changed if line[0] == "-"] == ["-  - {match: /b/, ua: x}"]
