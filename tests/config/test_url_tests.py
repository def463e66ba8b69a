"""Hosts, patterns and matchers that no URL can have or match are errors with the right form; no other is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.config.written import SEEDS, load_text, problem_of
from tui_crawler.config.policies import FIELDS
from tui_crawler.config.url_tests import check_possible
from tui_crawler.domain.rules.matcher import MatcherSet, Test
from tui_crawler.domain.rules.pattern import BadPattern, escape
from tui_crawler.domain.url import CrawlUrl, normalise


def data_rule(host: str) -> str:
    return f"data_rules: [{{host: '{host}', name: a, type: text, css: b}}]"


def denied(matcher: str) -> str:
    return f"policies: {{do_not_crawl: [{{{matcher}}}]}}"


NEVER = [
    (data_rule("*"), "data_rules[0].host", "name each host"),
    (data_rule("*.example.org"), "data_rules[0].host", "name each host"),
    (data_rule("https://Example.org/x"), "data_rules[0].host", "did you mean example.org?"),
    (data_rule("example.org:80"), "data_rules[0].host", "did you mean example.org?"),
    ("hosts: [{host: '*'}]", "hosts[0].host", "name each host"),
    ("hosts: [{host: '*.example.org:80'}]", "hosts[0].host", "name each"),
    ("hosts: [{host: 'https://*.example.org'}]", "hosts[0].host", "cannot exist"),
    ("hosts: [{host: example.org/x}]", "hosts[0].host", "did you mean example.org?"),
    ("sites: [{origin: 'https://*.example.org', start_path: /}]", "sites[0].origin", "cannot exist"),
    ("jobs: [{name: a, seeds: ['https://*.example.org/']}]", "jobs[0].seeds[0]", "cannot exist"),
    ("exclusions: [{host: '*.example.org'}]", "exclusions[0].host", "`domain` of an exclusion"),
    ("exclusions: [{domain: '*.*.org'}]", "exclusions[0].domain", "example.net"),
    ("exclusions: [{domain: 'http://example.org/'}]", "exclusions[0].domain", "did you mean example.org?"),
    ("exclusions: [{pattern: '^example'}]", "exclusions[0].pattern", "http://… or https://…"),
    ("exclusions: [{pattern: '^https://Example\\.org/'}]", "exclusions[0].pattern", "https://example.org"),
    ("exclusions: [{pattern: '^https://example\\.org:443/'}]", "exclusions[0].pattern", "https://example.org"),
    ("exclusions: [{pattern: '^ftp://'}]", "exclusions[0].pattern", "http://… or https://…"),
    ("rules: [{match: '^/cal/', skip: true}]", "rules[0].match", "http://… or https://…"),
    (
        "jobs: [{name: a, seeds: [http://127.0.0.1/a], rules: [{match: '^/cal/', skip: true}]}]",
        "jobs[0].rules[0].match",
        "http://",
    ),
    ("whitelist: {patterns: ['^www']}", "whitelist.patterns[0]", "http://… or https://…"),
    ("whitelist: {domains: ['http://example.org']}", "whitelist.domains[0]", "did you mean example.org?"),
    ("whitelist: {domains: ['example.org:8080']}", "whitelist.domains[0]", "did you mean example.org?"),
    (denied("host: 'https://example.org'"), "policies.do_not_crawl[0].host", "example.org"),
    (denied("host: '::1'"), "policies.do_not_crawl[0].host", "[::1]"),
    (denied("host: {suffix: bücher.example}"), "policies.do_not_crawl[0].host.suffix", "xn--bcher-kva.example"),
    (denied("origin: example.org"), "policies.do_not_crawl[0].origin", "http://… or https://…"),
    (denied("origin: 'https://example.org/'"), "policies.do_not_crawl[0].origin", "https://example.org"),
    (denied("origin: 'https://example.org:443'"), "policies.do_not_crawl[0].origin", "https://example.org"),
    (denied("path: admin"), "policies.do_not_crawl[0].path", "the form /…"),
    (denied("path: {glob: 'admin/*'}"), "policies.do_not_crawl[0].path.glob", "the form /…"),
    (denied("path: {regex: '^admin'}"), "policies.do_not_crawl[0].path.regex", "the form /…"),
    (denied("path: {prefix: /größe}"), "policies.do_not_crawl[0].path.prefix", "/gr%C3%B6%C3%9Fe"),
    (denied("query: {contains: ä}"), "policies.do_not_crawl[0].query.contains", "%C3%A4"),
    (denied("scheme: 'https:'"), "policies.do_not_crawl[0].scheme", "http or https"),
    (denied("port: http"), "policies.do_not_crawl[0].port", "the form 443"),
    (denied("url: {prefix: example.org}"), "policies.do_not_crawl[0].url.prefix", "http://… or https://…"),
    (denied("url: {prefix: 'https://EXAMPLE.org'}"), "policies.do_not_crawl[0].url.prefix", "https://example.org"),
    (denied("url: 'https://bücher.example/'"), "policies.do_not_crawl[0].url", "https://xn--bcher-kva.example"),
]


@pytest.mark.parametrize(("text", "key", "right"), NEVER, ids=[text for text, _, _ in NEVER])
def test_what_can_never_match_is_an_error_with_the_right_form(tmp_path, text, key, right):
    problem = problem_of(tmp_path, f"{SEEDS}{text}\n")
    assert (problem.key, problem.line) == (key, 3)
    assert right in f"{problem.message}; {problem.suggestion}"


@pytest.mark.parametrize(
    "text",
    [
        data_rule("Example.ORG."),
        data_rule("bücher.example"),
        "hosts: [{host: '[::1]'}, {host: 'a_b.local:80'}, {host: 'xn--bcher-kva.example.'}]",
        "whitelist: {domains: ['*.EXAMPLE.org.', 'bücher.example', '[::1]', '*']}",
        "whitelist: {patterns: ['^http://127', '^(http|https)://x', '/a$']}",
        "exclusions: [{domain: '*.Example.org'}, {host: Example.org.}, {pattern: '(?i)^HTTPS://Example'}]",
        "rules: [{match: '^https?://(a|b)\\.org/', skip: true}, {match: '^.*x', skip: true}]",
        denied("host: {suffix: .Example.org}"),
        denied("host: {regex: '^Www'}"),
        denied("origin: 'HTTPS://Example.org'"),
        denied("port: 8080"),
        denied("scheme: {prefix: http}"),
        denied("url: {glob: '*.pdf'}"),
        denied("path: {regex: '^/(a|b)'}"),
    ],
)
def test_what_can_match_is_accepted(tmp_path, text):
    load_text(tmp_path, f"{SEEDS}{text}\n")


URLS = st.builds(
    "{}://{}{}/{}?{}".format,
    st.sampled_from(["http", "HTTPS"]),
    st.sampled_from(["Example.org", "bücher.example", "[::1]", "127.0.0.1", "a_b.c.", "xn--bcher-kva.example"]),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.text(max_size=12),
    st.text(max_size=12),
)


@given(URLS, st.data())
def test_no_test_that_a_url_passes_is_refused(written, data):
    url = normalise(written)
    if not isinstance(url, CrawlUrl):
        return
    field = data.draw(st.sampled_from([name for name in FIELDS if name not in {"port", "fragment"}]))
    value = url.href if field == "url" else getattr(url, field)
    start, end = sorted((data.draw(st.integers(0, len(value))), data.draw(st.integers(0, len(value)))))
    tests = [Test(field, "equals", value), Test(field, "glob", f"{escape_glob(value[:end])}*")]
    tests += [
        Test(field, "prefix", value[:end]),
        Test(field, "suffix", value[end:]),
        Test(field, "contains", value[start:end]),
    ]
    tests += [Test(field, "regex", f"^{escape(value[:end])}"), Test(field, "regex", rf"\A(?:x|{escape(value[:end])})")]
    for test in tests:
        if not test.value:
            continue
        assert MatcherSet([test]).all(url), test
        try:
            check_possible(test)
        except BadPattern as refused:
            raise AssertionError(f"{test} matches {url.href}") from refused


def escape_glob(text: str) -> str:
    """A glob for exactly this text."""
    return "".join(f"[{one}]" if one in "*?[" else one for one in text)
