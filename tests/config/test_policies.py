"""Policies, exclusions, rules and whitelist: from YAML to the values of the domain."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.config.written import SEEDS, load_text, problem_of
from tui_crawler.config.load import load_rules
from tui_crawler.config.policies import FIELDS, OPS, MatcherKind, exclusion_value
from tui_crawler.config.problem import ConfigErrors
from tui_crawler.config.url_tests import check_possible
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import All, AnyOf, Matcher, Not, Test
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.policy import CompiledPolicies, DoNotCrawl, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.ruleset import RulesetChange
from tui_crawler.text.rules_text import rules_document


def matcher_of(folder, text: str) -> Matcher:
    (policy,) = load_text(folder, SEEDS + f"policies: {{do_not_crawl: [{text}]}}\n").policies.do_not_crawl
    return policy.matcher


@pytest.mark.parametrize(
    ("text", "matcher"),
    [
        ("{path: {prefix: /admin/}}", Test("path", "prefix", "/admin/")),
        ("{host: example.org}", Test("host", "equals", "example.org")),
        ("{port: 8080}", Test("port", "equals", "8080")),
        ("{port: {prefix: 80}}", Test("port", "prefix", "80")),
        (
            "{host: a, path: {prefix: /x, suffix: y}}",
            All((Test("host", "equals", "a"), Test("path", "prefix", "/x"), Test("path", "suffix", "y"))),
        ),
        ("{any: [{host: a}, {host: b}]}", AnyOf((Test("host", "equals", "a"), Test("host", "equals", "b")))),
        ("{all: [{host: a}]}", All((Test("host", "equals", "a"),))),
        ("{not: {url: {regex: 'a+'}}}", Not(Test("url", "regex", "a+"))),
        (
            "{scheme: http, not: {host: b}}",
            All((Test("scheme", "equals", "http"), Not(Test("host", "equals", "b")))),
        ),
        ("{url: {glob: '*/x?'}}", Test("url", "glob", "*/x?")),
    ],
)
def test_matchers(tmp_path, text, matcher):
    assert matcher_of(tmp_path, text) == matcher


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("{}", "policies.do_not_crawl[0]", "expected a matcher"),
        ("'(a+)+$'", "policies.do_not_crawl[0]", "{url: {regex: …}}"),
        ("null", "policies.do_not_crawl[0]", "expected a matcher"),
        ("{paht: /x}", "policies.do_not_crawl[0].paht", "did you mean path?"),
        ("{path: {prefx: /x}}", "policies.do_not_crawl[0].path.prefx", "did you mean prefix?"),
        ("{path: {}}", "policies.do_not_crawl[0].path", "empty mapping"),
        ("{path: 5}", "policies.do_not_crawl[0].path", 'write it in quotes: "5"'),
        ("{path: {prefix: [a]}}", "policies.do_not_crawl[0].path.prefix", "found a list"),
        ("{path: ''}", "policies.do_not_crawl[0].path", "1 to 4096 characters"),
        ("{path: {regex: '(?=a)'}}", "policies.do_not_crawl[0].path.regex", "not a linear-time regular expression"),
        ("{path: {regex: '(a)\\1'}}", "policies.do_not_crawl[0].path.regex", "not a linear-time regular expression"),
        ("{path: {glob: '[z-a]'}}", "policies.do_not_crawl[0].path.glob", "not a glob"),
        ("{any: []}", "policies.do_not_crawl[0].any", "expected a list of matchers"),
        ("{any: {host: a}}", "policies.do_not_crawl[0].any", "expected a list of matchers"),
        ("{not: [{host: a}]}", "policies.do_not_crawl[0]", "expected a matcher"),
    ],
)
def test_wrong_matchers(tmp_path, text, key, words):
    problem = problem_of(tmp_path, SEEDS + f"policies:\n  do_not_crawl:\n    - {text}\n")
    assert (problem.key, problem.line) == (key, 5)
    assert words in f"{problem.message}; {problem.suggestion}"


def test_regular_expressions_that_cannot_be_linear_write_nothing_to_the_terminal(tmp_path, capfd):
    problem_of(tmp_path, SEEDS + "rules: [{match: '(?<!a)b', skip: true}]\n")
    assert capfd.readouterr() == ("", "")


def possible(test: Test) -> bool:
    try:
        check_possible(test)
    except BadPattern:
        return False
    return True


matchers = st.recursive(
    st.builds(
        Test,
        st.sampled_from(FIELDS),
        st.sampled_from([op for op in OPS if op not in {"regex", "glob"}]),
        st.text(alphabet="abc/.:'\"[]{}# é-", min_size=1, max_size=8),
    ).filter(possible),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: All(tuple(parts))),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: AnyOf(tuple(parts))),
        inner.map(Not),
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(matcher=matchers)
def test_a_matcher_that_is_shown_reads_back(tmp_path, matcher):
    shown = json.dumps(MatcherKind().show(matcher), ensure_ascii=False)  # JSON is YAML
    assert matcher_of(tmp_path, shown) == matcher


POLICIES = r"""
policies:
  do_not_crawl:
    - path: {prefix: /admin/}
  url_query_parameters:
    - match: {path: {prefix: /list}}
      allow: [page, sort]
      values: {page: '^\d+$'}
    - allow_any: true
exclusions:
  - domain: '*.Example.net'
    reason: owner asked
    who: owner
  - host: A.example.org
  - cidr: 203.0.113.7/24
  - pattern: '/private/'
whitelist: {domains: ['*.example.org'], patterns: ['^https:']}
rules:
  - {match: '/calendar/', skip: true}
  - {match: '/feed/', ua: special, accept: false, custom_js: "a\nb"}
"""


def test_policies_become_values_that_know_their_line(tmp_path):
    config = load_text(tmp_path, SEEDS + POLICIES)
    file = str(tmp_path / "crawl.yaml")
    assert config.policies.do_not_crawl == (DoNotCrawl(Test("path", "prefix", "/admin/"), f"{file}:6"),)
    assert config.policies.url_query_parameters == (
        QueryPolicy(
            Test("path", "prefix", "/list"), frozenset({"page", "sort"}), (("page", r"^\d+$"),), False, f"{file}:8"
        ),
        QueryPolicy(None, frozenset(), (), True, f"{file}:11"),
    )
    assert config.exclusions == (
        Exclusion("domain", "example.net", "owner asked", "owner", f"{file}:13"),
        Exclusion("host", "a.example.org", "", "", f"{file}:16"),
        Exclusion("cidr", "203.0.113.0/24", "", "", f"{file}:17"),
        Exclusion("pattern", "/private/", "", "", f"{file}:18"),
    )
    assert config.whitelist == Whitelist(("*.example.org",), ("^https:",))
    assert config.rules == (
        Rule("/calendar/", None, True, None, None, f"{file}:21"),
        Rule("/feed/", False, None, "special", "a\nb", f"{file}:22"),
    )
    assert CompiledPolicies(config.policy_set).policies.rules == config.rules


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("exclusions: [{reason: x}]", "exclusions[0]", "expected one of domain, host, cidr, pattern, found none"),
        ("exclusions: [{host: a, domain: b}]", "exclusions[0]", "found domain and host"),
        ("exclusions: [{cidr: 1.2.3.4/33}]", "exclusions[0].cidr", "expected an IP address or network"),
        ("exclusions: [{host: 'a b'}]", "exclusions[0].host", "expected a host name"),
        ("exclusions: [{domain: 'a/b'}]", "exclusions[0].domain", "expected a domain"),
        ("exclusions: [{pattern: ''}]", "exclusions[0].pattern", "is empty"),
        ("exclusions: [{pattern: '['}]", "exclusions[0].pattern", "not a linear-time regular expression"),
        ("exclusions: [example.net]", "exclusions[0]", "expected a mapping"),
        ("rules: [{skip: true}]", "rules[0].match", "is missing"),
        ("rules: [{match: x}]", "rules[0]", "changes nothing"),
        ("rules: [{match: x, skip: maybe}]", "rules[0].skip", "expected true or false"),
        ("rules: [{match: x, ua: 'ü'}]", "rules[0].ua", "printable ASCII"),
        ("whitelist: {domains: ['a b']}", "whitelist.domains[0]", "host name or glob"),
        ("whitelist: {patterns: ['(']}", "whitelist.patterns[0]", "not a linear-time"),
        (
            "policies: {url_query_parameters: [{match: {host: a}}]}",
            "policies.url_query_parameters[0]",
            "allows nothing",
        ),
        ("policies: {url_query_parameters: [1]}", "policies.url_query_parameters[0]", "expected a mapping"),
        (
            "policies: {url_query_parameters: [{values: {page: '(?=x)'}}]}",
            "policies.url_query_parameters[0].values.page",
            "not a linear-time",
        ),
        ("policies: {url_query_parameters: [{allow: page}]}", "policies.url_query_parameters[0].allow", "[page]"),
    ],
)
def test_wrong_policies(tmp_path, text, key, words):
    problem = problem_of(tmp_path, SEEDS + text + "\n")
    assert (problem.key, problem.line) == (key, 3)
    assert words in f"{problem.message}; {problem.suggestion}"


def test_an_exclusion_of_the_command_line_is_checked_the_same_way():
    assert exclusion_value("domain", "*.EXAMPLE.org") == "example.org"
    assert exclusion_value("cidr", "10.1.2.3") == "10.1.2.3/32"
    assert exclusion_value("pattern", "/x/") == "/x/"
    for kind, value in (("host", "a b"), ("cidr", "x"), ("pattern", "("), ("pattern", ""), ("domain", "http://a/")):
        with pytest.raises(BadPattern):
            exclusion_value(kind, value)


def test_a_rules_file_says_only_what_it_gives(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text("rules: [{match: x, skip: true}]\nwhitelist: {}\n", encoding="utf-8")
    rules = load_rules(path)
    assert rules.rules == (Rule("x", skip=True, source=f"{path}:1"),)
    assert rules.whitelist == Whitelist()
    assert (rules.do_not_crawl, rules.url_query_parameters, rules.exclusions) == (None, None, None)
    path.write_text("policies: {do_not_crawl: []}\n", encoding="utf-8")
    assert load_rules(path) == RulesetChange(do_not_crawl=())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "contains no rules"),
        ("policies: {}\n", "contains no rules"),
        ("seeds: [http://h/]\n", "seeds: unknown key"),
        ("rules: [{match: '(?=x)', skip: true}]\n", "rules\\[0\\].match: not a linear-time"),
        ("rules: [\n", "not valid YAML"),
    ],
)
def test_a_wrong_rules_file_is_refused(tmp_path, text, words):
    path = tmp_path / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigErrors, match=words):
        load_rules(path)
    with pytest.raises(ConfigErrors, match="no such file"):
        load_rules(tmp_path / "none.yaml")


def test_rules_are_shown_as_they_are_written(tmp_path):
    config = load_text(tmp_path, SEEDS + POLICIES)
    document = rules_document(config.policy_set)
    assert document["policies"]["do_not_crawl"] == [{"path": {"prefix": "/admin/"}}]
    assert document["policies"]["url_query_parameters"][1] == {"allow_any": True}
    assert document["exclusions"][2] == {"cidr": "203.0.113.0/24"}
    assert document["rules"][0] == {"match": "/calendar/", "skip": True}
    path = tmp_path / "rules.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")  # JSON is YAML
    rules = load_rules(path)
    assert rules_document(replace(config, rules=rules.rules, exclusions=rules.exclusions).policy_set) == document
    assert rules.whitelist == config.whitelist
