"""The preview of a change of the rules: it says what judging every URL twice would say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.rules.admission import Admission, Discovered, Limits, Scope
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.preview import (
    ALLOWED,
    Comparison,
    Impact,
    KnownUrl,
    OriginImpact,
    Preview,
    RuleSide,
    Sample,
)
from tui_crawler.domain.rules.verdict import Denied, Refusal, Refused
from tui_crawler.domain.url import CrawlUrl, normalise

A, B = "https://a.example", "http://b.example:8080"
ANY_QUERY = (QueryPolicy(allow_any=True),)


def url(text: str) -> CrawlUrl:
    parsed = normalise(text)
    assert isinstance(parsed, CrawlUrl)
    return parsed


def rows(*urls: str, job: str = "main", code: ExitCode | None = None, seed: int = 0) -> list[KnownUrl]:
    return [(number, url(text).href, seed, job, code) for number, text in enumerate(urls, 1)]


def preview(before: PolicySet, after: PolicySet, *windows: list[KnownUrl]) -> Preview:
    impact = Impact({"main": Comparison(before, after)})
    for window in windows:
        impact.add(window)
    return impact.result()


def test_what_is_newly_blocked_and_newly_allowed() -> None:
    before = PolicySet(exclusions=(Exclusion("host", "b.example", "they asked", "ann", "x.yaml:2"),))
    after = PolicySet(rules=(Rule("/x", skip=True, source="new.yaml:1"),))
    said = preview(before, after, rows(f"{A}/x/1", f"{A}/y", f"{B}/1"), rows(f"{B}/x", f"{A}/x/2"))
    assert (said.known, said.newly_blocked, said.newly_allowed, said.unchanged) == (5, 2, 1, 2)
    assert said.by_origin == (OriginImpact(A, 2, 0, 1), OriginImpact(B, 0, 1, 1))
    assert said.samples == (
        Sample(f"{A}/x/1", ALLOWED, "rule_skip", "rule /x: skip true (new.yaml:1)"),
        Sample(f"{A}/x/2", ALLOWED, "rule_skip", "rule /x: skip true (new.yaml:1)"),
        Sample(f"{B}/1", "exclusion", ALLOWED, "exclusion list: host b.example, they asked (by ann) (x.yaml:2)"),
    )


@pytest.mark.parametrize(
    ("stage", "after"),
    [
        ("exclusion", PolicySet(exclusions=(Exclusion("domain", "a.example"),))),
        ("do_not_crawl", PolicySet(do_not_crawl=(DoNotCrawl(Test("path", "prefix", "/p")),))),
        ("whitelist", PolicySet(whitelist=Whitelist(patterns=("/other",)))),
        ("query_policy", PolicySet(url_query_parameters=())),
        ("rule_skip", PolicySet(rules=(Rule("/p", skip=True),))),
        ("rule_accept", PolicySet(rules=(Rule("/p", accept=False),))),
    ],
)
def test_every_stage_that_rules_can_change(stage: str, after: PolicySet) -> None:
    before = PolicySet(url_query_parameters=ANY_QUERY)
    changed = after if stage == "query_policy" else replace(after, url_query_parameters=ANY_QUERY)
    said = preview(before, changed, rows(f"{A}/p?q=1"))
    assert [(one.before, one.after) for one in said.samples] == [(ALLOWED, stage)]
    assert said.samples[0].decided_by
    back = preview(changed, before, rows(f"{A}/p?q=1"))
    assert (back.newly_allowed, back.samples[0].after) == (1, ALLOWED)
    assert back.samples[0].decided_by == said.samples[0].decided_by


def test_another_reason_for_the_same_refusal_is_no_change() -> None:
    before = PolicySet(rules=(Rule("/x", skip=True),))
    after = PolicySet(exclusions=(Exclusion("pattern", "/x"),))
    assert preview(before, after, rows(f"{A}/x")).unchanged == 1


def test_where_a_rule_was_written_is_no_change() -> None:
    before = PolicySet(rules=(Rule("/x", skip=True, source="a.yaml:1"),))
    after = PolicySet(rules=(Rule("/x", skip=True, source="b.yaml:9"),))
    assert preview(before, after, rows(f"{A}/x", f"{A}/y")).unchanged == 2


def test_seeds_and_what_became_of_the_pages() -> None:
    after = PolicySet(exclusions=(Exclusion("pattern", "/x"),))
    said = preview(
        EMPTY,
        after,
        rows(f"{A}/x", seed=1),
        rows(f"{A}/x", seed=1, job="main"),
        rows(f"{A}/x/done", code=ExitCode.file_ingested),
        rows(f"{A}/x/gone", code=ExitCode.file_not_found),
        rows(f"{A}/x/robots", code=ExitCode.blocked_by_robots_txt),
        rows(f"{A}/y", seed=1),
    )
    assert said.seeds_hit == (f"{A}/x",)
    assert said.blocked_by_state == (("blocked", 1), ("done", 1), ("failed", 1), ("waiting", 2))


def test_jobs_have_rules_of_their_own() -> None:
    after = PolicySet(exclusions=(Exclusion("pattern", "/x"),))
    impact = Impact({"news": Comparison(EMPTY, after)})
    impact.add(rows(f"{A}/x", job="news") + rows(f"{A}/x", job="main"))
    said = impact.result()
    assert (said.newly_blocked, said.unchanged) == (1, 1)


def test_samples_are_few_and_of_both_kinds() -> None:
    before, after = (PolicySet(exclusions=(Exclusion("pattern", text),)) for text in ("/old/", "/new/"))
    urls = [f"{A}/new/{n}" for n in range(50)] + [f"{A}/old/{n}" for n in range(50)]
    said = preview(before, after, rows(*urls))
    assert (said.newly_blocked, said.newly_allowed) == (50, 50)
    assert [one.after == ALLOWED for one in said.samples] == [False] * 10 + [True] * 10
    only = preview(before, after, rows(*urls[:50], urls[50]))
    assert [one.after == ALLOWED for one in only.samples] == [False] * 19 + [True]


def test_nothing_is_known() -> None:
    assert preview(EMPTY, EMPTY) == Preview(0, 0, 0, 0)


def test_a_bad_value_is_refused_before_anything_is_judged() -> None:
    with pytest.raises(BadPattern):
        Comparison(EMPTY, PolicySet(rules=(Rule("(?=x)", skip=True),)))


words = st.sampled_from(["a", "b", "ab", "q="])
policy_sets = st.builds(
    PolicySet,
    do_not_crawl=st.lists(st.builds(DoNotCrawl, st.builds(Test, st.just("path"), st.just("contains"), words))).map(
        tuple
    ),
    url_query_parameters=st.lists(st.builds(QueryPolicy, st.none(), st.frozensets(st.sampled_from("qr")))).map(tuple),
    exclusions=st.lists(st.builds(Exclusion, st.just("pattern"), words)).map(tuple),
    whitelist=st.none() | st.builds(Whitelist, st.just(()), st.lists(words).map(tuple)),
    rules=st.lists(st.builds(Rule, words, st.none() | st.booleans(), st.none() | st.booleans())).map(tuple),
)


def blocked(policies: PolicySet, text: str) -> bool:
    """As the crawl judges a known page, and a link to it."""
    admission = Admission(policies, Scope(frozenset({A})), Limits())
    link = admission.admit(Discovered(url(text)))
    denied = isinstance(admission.judge(url(text), None), Denied)
    return denied or (isinstance(link, Refused) and link.reason is Refusal.rule_accept)


@given(
    before=policy_sets,
    after=policy_sets,
    paths=st.lists(st.text(alphabet="abqr=?&/", max_size=6), unique=True, max_size=8),
)
def test_it_says_what_judging_every_url_twice_would_say(before: PolicySet, after: PolicySet, paths: list[str]) -> None:
    known = [f"{A}/{path}" for path in paths]
    said = preview(before, after, rows(*known))
    pairs = [(blocked(before, text), blocked(after, text)) for text in known]
    assert said.newly_blocked == sum(now and not was for was, now in pairs)
    assert said.newly_allowed == sum(was and not now for was, now in pairs)
    assert said.known == said.newly_blocked + said.newly_allowed + said.unchanged == len(known)


@given(policies=policy_sets, path=st.text(alphabet="abqr=?&/", max_size=6))
def test_a_verdict_names_its_line(policies: PolicySet, path: str) -> None:
    stage, decided_by = RuleSide(policies).verdict(url(f"{A}/{path}"))
    assert (stage == ALLOWED) == (decided_by == "") == (not blocked(policies, f"{A}/{path}"))
