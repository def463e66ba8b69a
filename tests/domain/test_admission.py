"""Admission: each filter and judgement, their order, and that every refusal says why."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.rules.admission import Admission, Discovered, Limits, Scope
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.robots import ALLOW_ALL, parse_robots
from tui_crawler.domain.rules.verdict import Admitted, Cleared, Denied, Refusal, Refused, Step
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise

ORIGIN = "https://example.org"
SCOPE = Scope(frozenset({ORIGIN}))


def url(raw: str) -> CrawlUrl:
    parsed = normalise(raw, f"{ORIGIN}/")
    assert isinstance(parsed, CrawlUrl), parsed
    return parsed


def found(raw: str, hops: int = 0, pattern: str | None = None, pages: int = 0) -> Discovered:
    return Discovered(url(raw), hops, pattern, pages)


def plain(policies: PolicySet = EMPTY, scope: Scope = SCOPE, limits: Limits | None = None) -> Admission:
    return Admission(policies, scope, limits or Limits())


def refusal(admission: Admission, link: Discovered) -> tuple[Refusal, str, str]:
    answer = admission.admit(link)
    assert isinstance(answer, Refused), answer
    return answer.reason, answer.detail, answer.source


def denial(admission: Admission, page: str, robots: str = "", is_seed: bool = False) -> tuple[int, str, str]:
    answer = admission.judge(url(page), parse_robots(robots.encode(), "Bot"), is_seed)
    assert isinstance(answer, Denied), answer
    return answer.exit_code, answer.detail, answer.source


def test_a_link_within_everything_is_admitted() -> None:
    assert plain().admit(found("/a/b")) == Admitted(url("/a/b"), new_origin=False)


def test_an_invalid_url_is_refused() -> None:
    bad = normalise("http://h:99999/")
    assert isinstance(bad, InvalidUrl)
    assert plain().admit(Discovered(bad)) == Refused(Refusal.invalid_url, "the URL is not a valid URL")
    short = plain(limits=Limits(max_url_length=25))
    assert refusal(short, found("/a/long/path")) == (
        Refusal.invalid_url,
        "the URL is 31 characters long, more than 25",
        "crawl.max_url_length",
    )


@pytest.mark.parametrize("link", ["http://example.org/", "https://example.org:8443/", "https://www.example.org/"])
def test_an_origin_that_is_not_configured_is_out_of_scope(link: str) -> None:
    reason, detail, source = refusal(plain(), found(link))
    assert (reason, source) == (Refusal.scope, "seeds")
    assert detail == f"{url(link).origin} is not one of the origins that are crawled"


def test_an_origin_that_the_whitelist_welcomes_joins() -> None:
    admission = plain(PolicySet(whitelist=Whitelist(("*.example.org",))))
    link, page = found("http://www.example.org/x"), url("http://www.example.org/x")
    assert admission.admit(link) == Admitted(page, new_origin=True)
    joined = admission.with_origin("http://www.example.org")
    assert joined.admit(link) == Admitted(page, new_origin=False)
    assert admission.admit(link) == Admitted(page, new_origin=True)
    assert refusal(admission, found("http://example.net/"))[0] is Refusal.scope


def test_with_patterns_every_url_must_match_one_of_the_whitelist() -> None:
    admission = plain(PolicySet(whitelist=Whitelist((), ("/a/", "/b/", "/c/", "/d/"))))
    assert isinstance(admission.admit(found("/d/x")), Admitted)
    assert refusal(admission, found("/x")) == (
        Refusal.whitelist,
        "no pattern of the whitelist matches: /a/, /b/, /c/ and 1 more",
        "whitelist.patterns",
    )


@pytest.mark.parametrize(
    ("start", "path", "under"),
    [
        ("/docs/", "/docs/", True),
        ("/docs/", "/docs/a", True),
        ("/docs/", "/docs", False),
        ("/docs/", "/other", False),
        ("/docs", "/docs", True),
        ("/docs", "/docs/a", True),
        ("/docs", "/docs-old", False),
        ("/", "/anything", True),
    ],
)
def test_a_site_stays_under_its_start_path(start: str, path: str, under: bool) -> None:
    answer = plain(scope=Scope(frozenset({ORIGIN}), {ORIGIN: start})).admit(found(path))
    if under:
        assert isinstance(answer, Admitted)
    else:
        assert isinstance(answer, Refused)
        assert (answer.reason, answer.source) == (Refusal.start_path, "sites")
        assert start in answer.detail


def test_an_excluded_url_is_refused_with_reason_and_who_asked() -> None:
    entry = Exclusion("pattern", "/private/", "asked by mail", "Ann", "my.yaml:30")
    assert refusal(plain(PolicySet(exclusions=(entry,))), found("/private/x")) == (
        Refusal.exclusion,
        "exclusion list: pattern /private/, asked by mail (by Ann)",
        "my.yaml:30",
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/a/a/a/", None),
        ("/a/a/a/a", Refusal.trap_repeat),
        ("/a/b/a/b/a/b/a", Refusal.trap_repeat),
        ("/x////", None),
        ("/x/////y", Refusal.trap_repeat),
        ("/" + "/".join(str(n) for n in range(20)), None),
        ("/" + "/".join(str(n) for n in range(20)) + "/", None),
        ("/" + "/".join(str(n) for n in range(21)), Refusal.trap_depth),
        ("/", None),
    ],
)
def test_the_trap_guard(path: str, reason: Refusal | None) -> None:
    answer = plain().admit(found(path))
    if reason is None:
        assert isinstance(answer, Admitted), answer
    else:
        assert isinstance(answer, Refused)
        assert (answer.reason, answer.source) == (reason, "trap guard")
        assert re.search(r"\d", answer.detail)


def test_the_trap_guard_can_be_set() -> None:
    admission = plain(limits=Limits(max_path_segments=2, max_segment_repeats=1))
    assert refusal(admission, found("/a/a"))[:2] == (
        Refusal.trap_repeat,
        "path segment 'a' comes 2 times, more than 1",
    )
    assert refusal(admission, found("/a/b/c"))[:2] == (Refusal.trap_depth, "3 path segments, more than 2")


def test_an_origin_takes_no_more_pages_than_it_may() -> None:
    admission = plain(limits=Limits(max_pages_per_origin=10))
    assert isinstance(admission.admit(found("/", pages=9)), Admitted)
    assert refusal(admission, found("/", pages=10)) == (
        Refusal.origin_full,
        "https://example.org has 10 pages already, at most 10 are allowed",
        "crawl.max_pages_per_origin",
    )
    assert isinstance(plain().admit(found("/", pages=10**9)), Admitted)


def test_a_rule_that_does_not_accept() -> None:
    rules = (Rule("/feed/", accept=False, source="c:1"), Rule("/feed/ok", accept=True, source="c:2"))
    admission = plain(PolicySet(rules=rules))
    assert refusal(admission, found("/feed/x")) == (Refusal.rule_accept, "rule /feed/: accept false", "c:1")
    assert isinstance(admission.admit(found("/feed/ok")), Admitted)


def test_a_link_of_an_item_must_match_its_pattern() -> None:
    assert isinstance(plain().admit(found("/news/1", pattern=r"/news/\d+$")), Admitted)
    assert refusal(plain(), found("/news/x", pattern=r"/news/\d+$")) == (
        Refusal.item_pattern,
        r"does not match the item pattern /news/\d+$",
        "item pattern",
    )
    reason, detail, _ = refusal(plain(), found("/news/x", pattern="("))
    assert (reason, "missing )" in detail) == (Refusal.item_pattern, True)


def test_redirects_in_a_row_are_limited() -> None:
    assert isinstance(plain().admit(found("/", hops=10)), Admitted)
    assert refusal(plain(), found("/", hops=11)) == (
        Refusal.redirect_hops,
        "11 redirects in a row, more than 10",
        "crawl.max_redirect_hops",
    )


DEEP = "/" + "/".join(["a"] * 4 + [str(n) for n in range(30)])

# Every filter with a value that makes it refuse the one link below, in the order of the specification.
FILTERS: list[tuple[Refusal, dict[str, object]]] = [
    (Refusal.invalid_url, {"max_url_length": 10}),
    (Refusal.scope, {"origins": frozenset[str]()}),
    (Refusal.whitelist, {"whitelist": Whitelist((), ("never",))}),
    (Refusal.start_path, {"start_paths": {ORIGIN: "/docs/"}}),
    (Refusal.exclusion, {"exclusions": (Exclusion("domain", "example.org"),)}),
    (Refusal.trap_repeat, {"max_segment_repeats": 3}),
    (Refusal.trap_depth, {"max_path_segments": 20}),
    (Refusal.origin_full, {"max_pages_per_origin": 1}),
    (Refusal.rule_accept, {"rules": (Rule("a", accept=False),)}),
    (Refusal.item_pattern, {"pattern": "never"}),
    (Refusal.redirect_hops, {"max_redirect_hops": 3}),
]


def refusing(settings: dict[str, object]) -> tuple[Admission, Discovered]:
    given_ = dict(settings)

    def take(*names: str) -> dict[str, object]:
        return {name: given_.pop(name) for name in names if name in given_}

    policies = PolicySet(**take("whitelist", "exclusions", "rules"))  # type: ignore[arg-type]
    scope = Scope(**{"origins": frozenset({ORIGIN}), **take("origins", "start_paths")})  # type: ignore[arg-type]
    pattern = take("pattern").get("pattern")
    limits = Limits(
        **{"max_segment_repeats": 99, "max_path_segments": 99, "max_redirect_hops": 99, **given_}  # type: ignore[arg-type]
    )
    return plain(policies, scope, limits), Discovered(url(DEEP), 50, pattern, 50)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", range(len(FILTERS)))
def test_the_first_filter_that_refuses_decides(place: int) -> None:
    alone, link = refusing(FILTERS[place][1])
    assert refusal(alone, link)[0] is FILTERS[place][0]
    together: dict[str, object] = {}
    for _, settings in FILTERS[place:]:
        together.update(settings)
    everything_after, link = refusing(together)
    assert refusal(everything_after, link)[0] is FILTERS[place][0]


def test_the_reasons_that_are_counted() -> None:
    others = ["redirect_loop", "nofollow", "url_length"]
    assert [reason.name for reason in Refusal] == [*(reason.value for reason, _ in FILTERS), *others]


def test_explain_shows_every_stage_in_order() -> None:
    together: dict[str, object] = {}
    for _, settings in FILTERS:
        together.update(settings)
    admission, link = refusing(together)
    assert isinstance(link.url, CrawlUrl)
    steps = admission.explain(link.url, None, link)
    judged = ["do_not_crawl", "query_policy", "rule_skip", "robots"]
    assert [step.stage for step in steps] == [reason.value for reason, _ in FILTERS] + judged
    assert [step.verdict for step in steps] == ["refuse"] * 11 + ["pass"] * 3 + ["unknown"]
    assert all(step.reason for step in steps)


def test_explain_says_unknown_of_what_depends_on_the_link() -> None:
    steps = {step.stage: step for step in plain().explain(url("/x?a"), ALLOW_ALL)}
    unknown = {stage for stage, step in steps.items() if step.verdict == "unknown"}
    assert unknown == {"origin_full", "item_pattern", "redirect_hops"}
    assert steps["query_policy"].verdict == "refuse"
    assert steps["robots"] == Step("robots", "pass", "no line of robots.txt speaks of it", "robots.txt")


def test_explain_of_an_invalid_url() -> None:
    bad = normalise("mailto:a@b")
    assert isinstance(bad, InvalidUrl)
    assert plain().explain(bad, None) == (Step("invalid_url", "refuse", "the URL is not http or https but mailto"),)


def test_a_page_within_everything_is_cleared() -> None:
    assert plain().judge(url("/a"), ALLOW_ALL) == Cleared(None, None)
    rules = (Rule("/a", ua="special/1", custom_js="1"), Rule("/a", skip=False))
    assert plain(PolicySet(rules=rules)).judge(url("/a"), ALLOW_ALL) == Cleared("special/1", "1")


def test_the_settings_of_a_url_can_be_asked_for() -> None:
    rule = Rule("/a", ua="special/1")
    settings = plain(PolicySet(rules=(rule,))).settings(url("/a"))
    assert (settings.ua, settings.ua_rule, settings.skip_rule) == ("special/1", rule, None)


def test_what_cannot_be_requested_is_denied() -> None:
    bad = normalise("http://h:99999/")
    assert plain().judge(bad, None) == Denied(ExitCode.invalid_url, "the URL is not a valid URL")
    assert plain().judge(bad, None, True) == Denied(ExitCode.invalid_url, "this seed: the URL is not a valid URL")


JUDGED = "https://example.org/private/x?q=1"
ROBOTS = "User-agent: *\nDisallow: /private/  # ours\n"

JUDGEMENTS: list[tuple[int, str, str, dict[str, object]]] = [
    (221, "the URL is 33 characters long, more than 20", "crawl.max_url_length", {"limit": 20}),
    (
        202,
        "exclusion list: host example.org",
        "c:1",
        {"exclusions": (Exclusion("host", "example.org", source="c:1"),)},
    ),
    (
        201,
        'do_not_crawl: path begins with "/private/"',
        "c:2",
        {"do_not_crawl": (DoNotCrawl(Test("path", "prefix", "/private/"), "c:2"),)},
    ),
    (
        201,
        "no pattern of the whitelist matches: /public/",
        "whitelist.patterns",
        {"whitelist": Whitelist((), ("/public/",))},
    ),
    (
        201,
        "url_query_parameters: parameter 'q' is not allowed",
        "c:3",
        {"url_query_parameters": (QueryPolicy(allow=frozenset({"page"}), source="c:3"),)},
    ),
    (203, "rule private: skip true", "c:4", {"rules": (Rule("private", skip=True, source="c:4"),)}),
    (200, 'robots.txt, group *: "Disallow: /private/"', "robots.txt:2", {"robots": ROBOTS}),
]


def judged(settings: dict[str, object]) -> tuple[int, str, str]:
    given_: dict[str, object] = {"url_query_parameters": (QueryPolicy(allow_any=True),), **settings}
    limits = Limits(max_url_length=int(str(given_.pop("limit", 2048))))
    robots = str(given_.pop("robots", ""))
    return denial(plain(PolicySet(**given_), limits=limits), JUDGED, robots)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", range(len(JUDGEMENTS)))
def test_the_first_judgement_that_hits_decides(place: int) -> None:
    *expected, settings = JUDGEMENTS[place]
    assert judged(settings) == tuple(expected)
    together: dict[str, object] = {}
    for _, _, _, more in JUDGEMENTS[place:]:
        together.update(more)
    assert judged(together) == tuple(expected)


def test_without_a_query_policy_every_query_is_refused_in_plain_words() -> None:
    assert denial(plain(), "/list?page=2") == (
        201,
        "no url_query_parameters policy is configured, so every URL with a query is refused",
        "",
    )


def test_a_seed_is_judged_like_any_page() -> None:
    admission = plain(PolicySet(exclusions=(Exclusion("domain", "example.org"),)))
    assert denial(admission, "/", is_seed=True) == (202, "this seed: exclusion list: domain example.org", "")


def test_what_was_cleared_is_judged_anew_by_other_rules() -> None:
    admission = plain()
    assert admission.judge(url("/p"), ALLOW_ALL) == admission.judge(url("/p"), ALLOW_ALL) == Cleared(None, None)
    assert isinstance(admission.judge(url("/p"), ALLOW_ALL), Cleared)
    assert denial(admission, "/p", "User-agent: *\nDisallow: /p")[0] == ExitCode.blocked_by_robots_txt
    assert isinstance(admission.judge(url("/p"), ALLOW_ALL), Cleared)
    excluding = admission.with_exclusion(Exclusion("domain", "example.org"))
    assert excluding.judge(url("/p"), ALLOW_ALL) != Cleared(None, None)


def test_without_robots_txt_it_is_not_asked() -> None:
    assert isinstance(plain().judge(url("/private/"), None), Cleared)
    assert plain().explain(url("/private/"), None)[-1].verdict == "unknown"


def test_robots_txt_that_allows_by_a_line_names_it() -> None:
    robots = parse_robots(b"User-agent: Bot\nDisallow: /\nAllow: /open\n", "Bot")
    step = plain().explain(url("/open/x"), robots)[-1]
    assert step == Step("robots", "pass", 'robots.txt, group Bot: "Allow: /open"', "robots.txt:3")


def test_a_message_carries_the_source() -> None:
    assert Denied(ExitCode.blocked_by_robots_txt, "why", "robots.txt:3").message == "why (robots.txt:3)"


def test_exclusions_come_and_go_while_crawling() -> None:
    before = plain(PolicySet(rules=(Rule("x", skip=True),)))
    after = before.with_exclusion(Exclusion("host", "example.org", "asked"))
    assert before.excludes(url("/")) is None
    assert after.excludes(url("/")) == Exclusion("host", "example.org", "asked")
    assert after.excludes("example.org") == Exclusion("host", "example.org", "asked")
    assert after.policies.exclusions == (Exclusion("host", "example.org", "asked"),)
    assert denial(after, "/x")[0] == 202
    again = after.without_exclusion("host", "example.org")
    assert again.excludes(url("/")) is None
    assert denial(again, "/x")[0] == 203
    with pytest.raises(BadPattern):
        before.with_exclusion(Exclusion("cidr", "nonsense"))


def test_addresses_are_compared_with_networks() -> None:
    admission = plain(PolicySet(exclusions=(Exclusion("cidr", "203.0.113.0/24"),)))
    assert admission.excludes(url("http://203.0.113.9/")) is not None
    assert admission.excludes("203.0.113.9") is not None
    assert admission.excludes_address("203.0.113.9") is not None
    assert admission.excludes_address("192.0.2.1") is None


RAWS = st.sampled_from(
    ["/", "/a/a/a/a", "/private/x?q=1", "?page=2", "http://www.example.org/", "//other/x", "http://u@h/", "/feed/1"]
) | st.text(max_size=12)
POLICIES = st.builds(
    PolicySet,
    do_not_crawl=st.sampled_from([(), (DoNotCrawl(Test("path", "prefix", "/feed"), "c:1"),)]),
    url_query_parameters=st.sampled_from([(), (QueryPolicy(allow=frozenset({"page"}), source="c:2"),)]),
    exclusions=st.sampled_from([(), (Exclusion("pattern", "x"),)]),
    whitelist=st.sampled_from([None, Whitelist(("*.example.org",)), Whitelist((), ("/",))]),
    rules=st.sampled_from([(), (Rule("feed", accept=False),), (Rule("a", skip=True, ua="u"),)]),
)


@given(RAWS, POLICIES, st.integers(0, 5), st.none() | st.text(max_size=4), st.sampled_from(["", ROBOTS]))
def test_admission_is_total_deterministic_and_always_says_why(
    raw: str, policies: PolicySet, hops: int, pattern: str | None, robots_txt: str
) -> None:
    page = normalise(raw, f"{ORIGIN}/")
    link = Discovered(page, hops, pattern)
    robots = parse_robots(robots_txt.encode(), "Bot")
    first, second = plain(policies), plain(policies)
    answer, verdict = first.admit(link), first.judge(page, robots)
    assert (answer, verdict) == (second.admit(link), second.judge(page, robots))
    steps = first.explain(page, robots, link)
    refused = [step for step in steps if step.verdict == "refuse"]
    match answer:
        case Refused(reason, detail, source):
            assert (reason, detail, source) == (refused[0].stage, refused[0].reason, refused[0].source)
            assert detail
        case Admitted(admitted, _):
            assert admitted == page
            assert not any(step.stage in set(Refusal) for step in refused)
    match verdict:
        case Denied(_, detail, source):
            assert (detail, source) in {(step.reason, step.source) for step in refused}
            assert detail
        case Cleared():
            judging = {"invalid_url", "exclusion", "do_not_crawl", "whitelist", "query_policy", "rule_skip", "robots"}
            assert not judging & {step.stage for step in refused}
