"""Rulesets: their text, edits of them, and what differs between two."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionKind
from tui_crawler.domain.rules.matcher import All, AnyOf, Field, Matcher, Not, Op, Test
from tui_crawler.domain.rules.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.ruleset import (
    MAX_DEPTH,
    BadRuleset,
    RulesetChange,
    RulesetLine,
    change_between,
    difference,
    from_json,
    same_rules,
    to_json,
)

TEXTS = st.text(max_size=6)
SOURCES = st.sampled_from(["", "crawl.yaml:3", "crawl.yaml:4"])
TESTS = st.builds(Test, st.sampled_from(get_args(Field)), st.sampled_from(get_args(Op)), TEXTS)
MATCHERS: st.SearchStrategy[Matcher] = st.recursive(
    TESTS,
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(All, st.lists(inner, max_size=3).map(tuple))
        | st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple))
    ),
    max_leaves=6,
)
DO_NOT_CRAWL = st.builds(DoNotCrawl, MATCHERS, SOURCES)
QUERY_POLICIES = st.builds(
    QueryPolicy,
    st.none() | MATCHERS,
    st.frozensets(TEXTS, max_size=4),
    st.lists(st.tuples(TEXTS, TEXTS), max_size=3).map(tuple),
    st.booleans(),
    SOURCES,
)
EXCLUSIONS = st.builds(Exclusion, st.sampled_from(get_args(ExclusionKind)), TEXTS, TEXTS, TEXTS, SOURCES)
RULES = st.builds(
    Rule,
    st.sampled_from(["/a/", "/b/", "ä"]),
    st.none() | st.booleans(),
    st.none() | st.booleans(),
    st.none() | TEXTS,
    st.none() | TEXTS,
    SOURCES,
)
WHITELISTS = st.builds(Whitelist, st.lists(TEXTS, max_size=2).map(tuple), st.lists(TEXTS, max_size=2).map(tuple))


def some(entries: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(entries, max_size=4).map(tuple)


POLICY_SETS = st.builds(
    PolicySet,
    do_not_crawl=some(DO_NOT_CRAWL),
    url_query_parameters=some(QUERY_POLICIES),
    exclusions=some(EXCLUSIONS),
    whitelist=st.none() | WHITELISTS,
    rules=some(RULES),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
WRITTEN = PolicySet(
    do_not_crawl=(DoNotCrawl(AnyOf((Test("path", "prefix", "/a"), Not(Test("host", "glob", "*.x")))), "c.yaml:1"),),
    url_query_parameters=(
        QueryPolicy(None, frozenset({"b", "a"}), (("page", "^[0-9]+$"),), source="c.yaml:2"),
        QueryPolicy(All(()), allow_any=True),
    ),
    exclusions=(Exclusion("domain", "x.example", "owner asked", "Ann", "c.yaml:3"),),
    whitelist=Whitelist(("*.example.org",), ("/docs/",)),
    rules=(Rule("/feed/", accept=False, ua="special", source="c.yaml:4"), Rule("x", skip=True)),
)


@given(POLICY_SETS)
def test_the_text_of_a_policy_set_gives_it_back_whole(policies):
    text = to_json(policies)
    assert from_json(text) == policies
    assert text.isascii()
    assert to_json(from_json(text)) == text


@given(POLICY_SETS, st.randoms())
def test_equal_policy_sets_have_equal_texts(policies, dice):
    def rebuilt(policy: QueryPolicy) -> QueryPolicy:
        names = list(policy.allow)
        dice.shuffle(names)
        return QueryPolicy(policy.match, frozenset(names), policy.values, policy.allow_any, policy.source)

    other = PolicySet(
        policies.do_not_crawl,
        tuple(rebuilt(each) for each in policies.url_query_parameters),
        policies.exclusions,
        policies.whitelist,
        policies.rules,
    )
    assert to_json(other) == to_json(policies)


def test_no_whitelist_and_an_empty_one_are_kept_apart():
    assert from_json(to_json(EMPTY)).whitelist is None
    assert from_json(to_json(PolicySet(whitelist=Whitelist()))).whitelist == Whitelist()


def test_the_document_has_the_sections_of_a_configuration():
    document = json.loads(to_json(WRITTEN))
    assert list(document) == ["policies", "rules", "exclusions", "whitelist"]
    assert document["policies"]["do_not_crawl"] == [
        {
            "match": {"any": [{"path": {"prefix": "/a"}}, {"not": {"host": {"glob": "*.x"}}}]},
            "source": "c.yaml:1",
        }
    ]
    assert document["exclusions"] == [
        {"kind": "domain", "value": "x.example", "reason": "owner asked", "who": "Ann", "source": "c.yaml:3"}
    ]


def read(text: str) -> PolicySet | None:
    """What a text gives: a PolicySet, or None for one that is refused. Nothing else may come out."""
    try:
        return from_json(text)
    except BadRuleset as error:
        assert str(error)
        return None


@given(TEXTS | JSON.map(json.dumps))
def test_a_text_of_something_else_is_refused(text):
    assert read(text) is None


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every place of a document: the list or mapping it is in, and its index or key."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
    return [(node, key) for key in keys] + [found for key in keys for found in places(node[key])]


@given(st.data())
def test_a_damaged_text_is_refused_or_means_another_set(data):
    document = json.loads(to_json(WRITTEN))
    node, place = data.draw(st.sampled_from(places(document)))
    match data.draw(st.sampled_from(["replace", "remove", "add"])):
        case "replace":
            node[place] = data.draw(JSON)
        case "remove":
            del node[place]
        case _ if isinstance(node, dict):
            node["another"] = data.draw(JSON)
        case _:
            node.append(data.draw(JSON))
    made = read(json.dumps(document))
    if made is not None:
        assert from_json(to_json(made)) == made


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_text_that_was_cut_is_refused(start, length):
    text = to_json(WRITTEN)
    cut = text[:start] + text[start + length + 1 :]
    made = read(cut)
    assert made is None or from_json(to_json(made)) == made


def nested(levels: int) -> Matcher:
    matcher: Matcher = Test("path", "prefix", "/")
    for _ in range(levels):
        matcher = Not(matcher)
    return matcher


def test_nesting_is_bounded_alike_in_both_directions():
    deep = PolicySet((DoNotCrawl(nested(MAX_DEPTH)),))
    assert from_json(to_json(deep)) == deep
    with pytest.raises(BadRuleset, match="nested"):
        to_json(PolicySet((DoNotCrawl(nested(MAX_DEPTH + 1)),)))
    inner = '{"not":' * (MAX_DEPTH + 1) + '{"path":{"prefix":"/"}}' + "}" * (MAX_DEPTH + 1)
    text = to_json(PolicySet((DoNotCrawl(All(())),))).replace('{"all":[]}', inner)
    with pytest.raises(BadRuleset, match="levels"):
        from_json(text)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 10_000, "", "\ud800", "NaN", "null"])
def test_texts_that_break_parsers_are_refused(text):
    assert read(text) is None


@given(POLICY_SETS, POLICY_SETS)
def test_the_edit_between_two_sets_leads_from_one_to_the_other(before, after):
    assert same_rules(change_between(before, after).applied_to(before), after)
    assert change_between(before, before) == RulesetChange()


@given(POLICY_SETS)
def test_where_an_entry_was_written_is_no_difference(policies):
    text = to_json(policies).replace("crawl.yaml:", "other.yaml:")
    moved = from_json(text)
    assert same_rules(policies, moved)
    assert change_between(policies, moved) == RulesetChange()
    assert difference(policies, moved) == ()


@given(POLICY_SETS, POLICY_SETS)
def test_two_sets_differ_in_lines_if_they_differ_and_the_lines_are_mirrored(before, after):
    lines = difference(before, after)
    back = difference(after, before)

    def counted(lines: tuple[RulesetLine, ...]) -> dict[tuple[str, bool], int]:
        keys = [(line.section, line.added) for line in lines if line.section != "rules"]
        return {key: keys.count(key) for key in keys}

    mirrored = {(section, not added): count for (section, added), count in counted(back).items()}
    assert counted(lines) == mirrored
    if same_rules(before, after):
        assert lines == ()
    if before.rules != after.rules and not same_rules(PolicySet(rules=before.rules), PolicySet(rules=after.rules)):
        assert any(line.section == "rules" for line in lines)


@given(st.lists(RULES, max_size=8), st.lists(RULES, max_size=8))
def test_the_lines_of_rules_are_a_recipe(before, after):
    """Taking out the lines taken out, and putting in those put in, leaves what both have in the same order."""
    one, other = PolicySet(rules=tuple(before)), PolicySet(rules=tuple(after))
    lines = difference(one, other)
    gone, new = (sum(line.added is added for line in lines) for added in (False, True))
    assert len(before) - gone == len(after) - new
    assert gone <= len(before)


def test_an_edit_replaces_whole_sections_and_leaves_the_others():
    edit = RulesetChange(rules=(), whitelist=Whitelist())
    edited = edit.applied_to(WRITTEN)
    assert edited == PolicySet(WRITTEN.do_not_crawl, WRITTEN.url_query_parameters, WRITTEN.exclusions, None, ())
    assert RulesetChange().applied_to(WRITTEN) == WRITTEN
    assert RulesetChange(do_not_crawl=()).applied_to(WRITTEN).do_not_crawl == ()


def test_an_empty_whitelist_is_none_to_who_compares_but_an_edit_that_leaves_it_keeps_it():
    assert same_rules(PolicySet(whitelist=Whitelist()), EMPTY)
    assert RulesetChange(rules=()).applied_to(PolicySet(whitelist=Whitelist())).whitelist == Whitelist()


def test_the_difference_in_words():
    after = PolicySet(
        do_not_crawl=(DoNotCrawl(Test("path", "prefix", "/b"), "r.yaml:1"),),
        url_query_parameters=(QueryPolicy(Test("path", "equals", "/l"), frozenset({"q"}), source="r.yaml:2"),),
        exclusions=(*WRITTEN.exclusions, Exclusion("host", "h.example")),
        whitelist=Whitelist(("*.example.org",), ()),
        rules=WRITTEN.rules[1:],
    )
    lines = difference(WRITTEN, after)
    assert [("+" if line.added else "-") + line.text for line in lines] == [
        '-path begins with "/a" or not (host is like "*.x")',
        '+path begins with "/b"',
        "-a, b, page like ^[0-9]+$ everywhere",
        "-any parameter where always",
        '+q where path is "/l"',
        "-/feed/: accept false, ua special",
        "+host h.example",
        "-pattern /docs/",
    ]
    assert lines[1] == RulesetLine("do_not_crawl", True, 'path begins with "/b"', "r.yaml:1")


def test_a_rule_that_moved_is_taken_out_and_put_in():
    a, b, c = Rule("a", skip=True), Rule("b", skip=False), Rule("c", accept=True)
    lines = difference(PolicySet(rules=(a, b, c)), PolicySet(rules=(b, c, a)))
    assert [(line.added, line.text) for line in lines] == [(False, "a: skip true"), (True, "a: skip true")]
    twice = difference(PolicySet(rules=(a, a)), PolicySet(rules=(a,)))
    assert [(line.added, line.text) for line in twice] == [(False, "a: skip true")]
