"""Policies, rules, whitelist and the exclusion list, each on its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionIndex, host_name, parse_network
from tui_crawler.domain.rules.matcher import All, AnyOf, Field, Matcher, MatcherSet, Not, Op, Test, describe
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.policy import EMPTY, CompiledPolicies, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.url import CrawlUrl, normalise


def url(raw: str) -> CrawlUrl:
    parsed = normalise(raw)
    assert isinstance(parsed, CrawlUrl), parsed
    return parsed


PAGE = url("https://www.example.org:8443/list/a.html?page=2&sort=up#part")


@pytest.mark.parametrize(
    ("field", "op", "value", "fits"),
    [
        ("scheme", "equals", "https", True),
        ("scheme", "equals", "HTTPS", True),
        ("scheme", "equals", "http", False),
        ("host", "suffix", ".Example.ORG", True),
        ("host", "suffix", ".org.uk", False),
        ("host", "glob", "*.example.*", True),
        ("port", "equals", "8443", True),
        ("port", "equals", "443", False),
        ("origin", "equals", "https://www.example.org:8443", True),
        ("origin", "prefix", "https://www.", True),
        ("path", "prefix", "/list", True),
        ("path", "prefix", "/List", False),
        ("path", "prefix", "list", False),
        ("path", "suffix", ".html", True),
        ("path", "suffix", ".htm", False),
        ("path", "contains", "st/a", True),
        ("path", "contains", "s./a", False),
        ("path", "equals", "/list/a.html", True),
        ("path", "equals", "/list/a", False),
        ("path", "glob", "/list/*.html", True),
        ("path", "glob", "/list", False),
        ("path", "regex", r"/\w+\.html$", True),
        ("path", "regex", "^list", False),
        ("query", "contains", "sort=", True),
        ("query", "prefix", "?", False),
        ("fragment", "equals", "part", True),
        ("url", "suffix", "sort=up", True),
        ("url", "regex", r"^https://[^/]+/list/", True),
    ],
)
def test_a_test_of_one_field(field: Field, op: Op, value: str, fits: bool) -> None:
    test = Test(field, op, value)
    assert bool(MatcherSet([test]).all(PAGE)) == fits
    assert bool(MatcherSet([Not(test)]).all(PAGE)) != fits
    assert value in describe(test) and field in describe(test)


YES, NO = Test("scheme", "equals", "https"), Test("scheme", "equals", "gopher")


@pytest.mark.parametrize(
    ("matcher", "fits", "words"),
    [
        (All((YES, YES)), True, 'scheme is "https" and scheme is "https"'),
        (All((YES, NO)), False, 'scheme is "https" and scheme is "gopher"'),
        (All(()), True, "always"),
        (AnyOf((NO, YES)), True, 'scheme is "gopher" or scheme is "https"'),
        (AnyOf((NO, NO)), False, 'scheme is "gopher" or scheme is "gopher"'),
        (AnyOf(()), False, "never"),
        (Not(NO), True, 'not (scheme is "gopher")'),
        (All((AnyOf((NO, YES)), Not(NO))), True, None),
        (
            AnyOf((All((YES, NO)), AnyOf((NO,)))),
            False,
            '(scheme is "https" and scheme is "gopher") or scheme is "gopher"',
        ),
    ],
)
def test_matchers_are_combined(matcher: Matcher, fits: bool, words: str | None) -> None:
    assert bool(MatcherSet([matcher]).all(PAGE)) == fits
    assert words is None or describe(matcher) == words


LEAVES = st.sampled_from(
    [Test("path", "prefix", "/a"), Test("path", "contains", "b"), Test("host", "equals", "h"), YES, NO]
)
TREES = st.recursive(
    LEAVES,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(lambda each: All(tuple(each))),
        st.lists(parts, max_size=3).map(lambda each: AnyOf(tuple(each))),
        parts.map(Not),
    ),
    max_leaves=8,
)
URLS = st.sampled_from(["http://h/", "http://h/ab", "https://x/a", "https://h/b"]).map(url)


def plainly(matcher: Matcher, page: CrawlUrl) -> bool:
    """The meaning of a matcher, written down without sets."""
    match matcher:
        case Test(field, op, value):
            text = str(getattr(page, "href" if field == "url" else field))
            return {"prefix": text.startswith, "contains": text.__contains__, "equals": text.__eq__}[op](value)
        case All(parts):
            return all(plainly(part, page) for part in parts)
        case AnyOf(parts):
            return any(plainly(part, page) for part in parts)
        case Not(part):
            return not plainly(part, page)


@given(st.lists(TREES, max_size=5), URLS)
def test_many_matchers_at_once_answer_like_each_alone(matchers: list[Matcher], page: CrawlUrl) -> None:
    expected = [index for index, matcher in enumerate(matchers) if plainly(matcher, page)]
    assert MatcherSet(matchers).all(page) == expected
    assert [index for index, each in enumerate(matchers) if MatcherSet([each]).all(page)] == expected


def test_the_first_do_not_crawl_policy_is_named() -> None:
    first = DoNotCrawl(Test("path", "prefix", "/admin/"), "my.yaml:3")
    second = DoNotCrawl(Test("path", "contains", "min"), "my.yaml:4")
    compiled = CompiledPolicies(PolicySet(do_not_crawl=(first, second)))
    assert compiled.do_not_crawl(url("http://h/admin/x")) is first
    assert compiled.do_not_crawl(url("http://h/mini")) is second
    assert compiled.do_not_crawl(url("http://h/x")) is None


def query_reason(raw: str, *policies: QueryPolicy) -> str | None:
    refusal = CompiledPolicies(PolicySet(url_query_parameters=policies)).query_refusal(url(raw))
    return None if refusal is None else refusal.detail


LIST = QueryPolicy(
    Test("path", "prefix", "/list"), frozenset({"page", "lang"}), (("page", r"^\d+$"), ("id", "^x")), source="c:9"
)


@pytest.mark.parametrize(
    ("raw", "allowed"),
    [
        ("http://h/list", True),
        ("http://h/list?", True),
        ("http://h/list?page=2", True),
        ("http://h/list?page=two", False),
        ("http://h/list?page=2x", False),
        ("http://h/list?page=", False),
        ("http://h/list?page", False),
        ("http://h/list?page=%32", True),
        ("http://h/list?%70age=7", True),
        ("http://h/list?page=2&page=x", False),
        ("http://h/list?lang=anything+at%20all", True),
        ("http://h/list?lang", True),
        ("http://h/list?id=x1", True),
        ("http://h/list?id=1", False),
        ("http://h/list?page=2&lang=de&id=xy", True),
        ("http://h/list?page=2&sessionid=9", False),
        ("http://h/list?Page=2", False),
        ("http://h/list?=2", False),
        ("http://h/other?page=2", False),
        ("http://h/other", True),
    ],
)
def test_a_query_passes_only_if_every_parameter_is_allowed(raw: str, allowed: bool) -> None:
    assert (query_reason(raw, LIST) is None) == allowed


def test_the_reason_for_refusing_a_query_is_in_plain_words() -> None:
    assert query_reason("http://h/?a") == (
        "no url_query_parameters policy is configured, so every URL with a query is refused"
    )
    assert query_reason("http://h/?a", LIST) == (
        "no url_query_parameters policy is for this URL (1 configured), so its query is refused"
    )
    assert query_reason("http://h/list?a=1", LIST) == "url_query_parameters: parameter 'a' is not allowed"
    assert query_reason("http://h/list?page=z", LIST) == (
        r"url_query_parameters: value 'z' of parameter 'page' does not match ^\d+$"
    )
    assert len(query_reason("http://h/list?" + "a" * 2000, LIST) or "") < 150
    refusal = CompiledPolicies(PolicySet(url_query_parameters=(LIST,))).query_refusal(url("http://h/list?a"))
    assert refusal is not None and refusal.source == "c:9"


def test_one_applicable_policy_that_allows_is_enough() -> None:
    anywhere = QueryPolicy(None, frozenset({"lang"}))
    assert query_reason("http://h/list?page=3", anywhere, LIST) is None
    assert query_reason("http://h/list?lang=3&id=x", anywhere, LIST) is None
    assert query_reason("http://h/x?lang=3", LIST, anywhere) is None
    assert query_reason("http://h/x?lang=3&page=1", LIST, anywhere) is not None


def test_allow_any_allows_any_parameter_where_it_matches() -> None:
    policy = QueryPolicy(Test("host", "equals", "h"), allow_any=True)
    assert query_reason("http://h/?a&b=2", policy) is None
    assert query_reason("http://g/?a&b=2", policy) is not None


def test_the_last_rule_that_says_something_wins() -> None:
    rules = (
        Rule("/feed/", accept=False, ua="one", source="c:1"),
        Rule("/feed/special", accept=True, skip=True, source="c:2"),
        Rule("special", ua="two", custom_js="1+1", source="c:3"),
        Rule("never", accept=False),
    )
    compiled = CompiledPolicies(PolicySet(rules=rules))
    settings = compiled.settings(url("http://h/feed/special"))
    assert (settings.accept, settings.skip, settings.ua, settings.custom_js) == (True, True, "two", "1+1")
    assert (settings.accept_rule, settings.ua_rule) == (rules[1], rules[2])
    assert (settings.skip_rule, settings.custom_js_rule) == (rules[1], rules[2])
    plain = compiled.settings(url("http://h/"))
    assert (plain.accept, plain.skip, plain.ua, plain.accept_rule) == (True, False, None, None)


@pytest.mark.parametrize(
    ("domain", "host", "welcome"),
    [
        ("*.example.org", "www.example.org", True),
        ("*.example.org", "a.b.example.org", True),
        ("*.Example.ORG", "www.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "badexample.org", False),
        ("*.example.org", "www.example.org.evil.net", False),
        ("example.org", "example.org", True),
        ("example.org", "www.example.org", False),
        ("*.bücher.example", "a.xn--bcher-kva.example", True),
        ("::1", "[::1]", True),
    ],
)
def test_a_domain_of_the_whitelist(domain: str, host: str, welcome: bool) -> None:
    assert CompiledPolicies(PolicySet(whitelist=Whitelist((domain,)))).welcomes(host) == welcome


def test_patterns_of_the_whitelist_hold_for_every_url() -> None:
    compiled = CompiledPolicies(PolicySet(whitelist=Whitelist((), ("/docs/", "/help/"))))
    assert compiled.whitelisted(url("http://h/help/x"))
    assert not compiled.whitelisted(url("http://h/x"))
    assert not compiled.welcomes("h")
    assert CompiledPolicies(EMPTY).whitelisted(url("http://h/x"))


EXCLUSIONS = (
    Exclusion("domain", "example.net", "owner asked", "Ann"),
    Exclusion("host", "A.example.org."),
    Exclusion("cidr", "203.0.113.0/24"),
    Exclusion("pattern", "/private/"),
    Exclusion("cidr", "2001:db8::/32"),
    Exclusion("host", "198.51.100.7"),
    Exclusion("domain", "*.bücher.example"),
    Exclusion("pattern", "secret"),
    Exclusion("host", "2001:DB9::1"),
)


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ("http://example.net/", 0),
        ("http://deep.www.example.net:81/x", 0),
        ("http://example.net./", 0),
        ("http://notexample.net/", None),
        ("http://example.net.evil.org/", None),
        ("http://a.example.org/", 1),
        ("http://a.example.org./", 1),
        ("http://b.a.example.org/", None),
        ("http://203.0.113.77/", 2),
        ("http://203.0.114.1/", None),
        ("http://0xCB.0.113.1/", 2),
        ("http://[::ffff:203.0.113.9]/", 2),
        ("http://h/private/x", 3),
        ("http://h/private/secret", 3),
        ("http://example.net/private/", 0),
        ("http://[2001:db8::1]/", 4),
        ("http://198.51.100.7/", 5),
        ("http://xn--bcher-kva.example/", 6),
        ("http://h/secret", 7),
        ("http://[2001:db9:0::1]/", 8),
        ("http://[2001:db9:0::2]/", None),
        ("http://h/", None),
    ],
)
def test_the_exclusion_list(raw: str, place: int | None) -> None:
    assert ExclusionIndex(EXCLUSIONS).of_url(url(raw)) == (None if place is None else EXCLUSIONS[place])


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("www.EXAMPLE.net", 0),
        ("203.0.113.1", 2),
        ("2001:db8::5", 4),
        ("[2001:db8::5]", 4),
        ("::ffff:198.51.100.7", 5),
        ("h", None),
        ("not a host", None),
        ("", None),
    ],
)
def test_the_exclusion_list_knows_hosts(host: str, place: int | None) -> None:
    assert ExclusionIndex(EXCLUSIONS).of_host(host) == (None if place is None else EXCLUSIONS[place])


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("203.0.113.255", 2),
        ("::ffff:203.0.113.1", 2),
        ("2001:db8:ffff::", 4),
        ("198.51.100.7", 5),
        ("2001:db9::1", 8),
        ("192.0.2.1", None),
        ("example.net", None),
    ],
)
def test_the_exclusion_list_knows_addresses(address: str, place: int | None) -> None:
    assert ExclusionIndex(EXCLUSIONS).of_address(address) == (None if place is None else EXCLUSIONS[place])


def test_the_whole_address_space_can_be_excluded() -> None:
    index = ExclusionIndex([Exclusion("cidr", "0.0.0.0/0"), Exclusion("cidr", "::/0")])
    assert index.of_address("192.0.2.1") == Exclusion("cidr", "0.0.0.0/0")
    assert index.of_address("2001:db8::1") == Exclusion("cidr", "::/0")
    assert index.of_host("h") is None


def test_the_exclusion_list_is_extended_and_shortened_without_changing_the_old_one() -> None:
    index = ExclusionIndex(EXCLUSIONS)
    more = index.added(Exclusion("pattern", "/new/")).added(Exclusion("host", "new.example"))
    assert (index.of_url(url("http://h/new/")), index.of_host("new.example")) == (None, None)
    assert more.of_url(url("http://h/new/")) == Exclusion("pattern", "/new/")
    assert more.of_host("new.example") == Exclusion("host", "new.example")
    assert more.of_url(url("http://h/secret")) == EXCLUSIONS[7]
    less = more.removed("pattern", "/private/")
    assert less.of_url(url("http://h/private/x")) is None
    assert less.of_url(url("http://h/private/secret")) == EXCLUSIONS[7]
    assert less.of_url(url("http://h/new/")) == Exclusion("pattern", "/new/")


def test_an_exclusion_in_words() -> None:
    assert EXCLUSIONS[0].describe() == "exclusion list: domain example.net, owner asked (by Ann)"
    assert EXCLUSIONS[3].describe() == "exclusion list: pattern /private/"


@pytest.mark.parametrize(
    "policies",
    [
        PolicySet(do_not_crawl=(DoNotCrawl(Test("path", "regex", "(")),)),
        PolicySet(url_query_parameters=(QueryPolicy(values=(("a", "("),)),)),
        PolicySet(url_query_parameters=(QueryPolicy(Test("url", "regex", "(")),)),
        PolicySet(rules=(Rule("("),)),
        PolicySet(whitelist=Whitelist((), ("(",))),
        PolicySet(whitelist=Whitelist(("a b",))),
        PolicySet(exclusions=(Exclusion("pattern", "("),)),
        PolicySet(exclusions=(Exclusion("cidr", "203.0.113.0/99"),)),
        PolicySet(exclusions=(Exclusion("cidr", "example.org"),)),
        PolicySet(exclusions=(Exclusion("host", "http://example.org/"),)),
        PolicySet(exclusions=(Exclusion("domain", ""),)),
    ],
)
def test_a_value_that_cannot_be_compiled_is_a_bad_pattern(policies: PolicySet) -> None:
    with pytest.raises(BadPattern) as caught:
        CompiledPolicies(policies)
    assert caught.value.message


@pytest.mark.parametrize(
    ("value", "name"),
    [(" Example.ORG. ", "example.org"), ("BÜCHER.example", "xn--bcher-kva.example"), ("::1", "[::1]")],
)
def test_a_host_name_as_users_write_it(value: str, name: str) -> None:
    assert host_name(value) == name


@pytest.mark.parametrize("value", ["", "a/b", "a?b", "a#b", "u@h", "h:81", "a b", "\ud800", "*:x"])
def test_what_is_no_host_name(value: str) -> None:
    with pytest.raises(BadPattern):
        host_name(value)


def test_host_bits_of_a_network_are_dropped() -> None:
    assert str(parse_network("203.0.113.9/24")) == "203.0.113.0/24"
    assert str(parse_network(" 203.0.113.9 ")) == "203.0.113.9/32"
