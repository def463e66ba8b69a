"""Which refusals a change overturns: those whose verdict is another one, by the judge that crawling asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.test_preview import A, policy_sets, url
from tui_crawler.domain.records.exit_code import REFUSED_BY_RULES, ExitCode
from tui_crawler.domain.rules.admission import Admission, Limits, Scope
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.rules.policy import EMPTY, DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.preview import Effect, Rejudgement
from tui_crawler.domain.rules.verdict import Denied

POLICY, EXCLUDED, SKIPPED = sorted(REFUSED_BY_RULES)
CALENDAR, FEED = Rule("/cal/", skip=True), Rule("/feed/", skip=True)
NO_ADMIN = DoNotCrawl(Test("path", "prefix", "/admin"))
NETWORK = Exclusion("cidr", "192.0.2.0/24", "asked")
LONG = f"{A}/{'x' * 100}"


def judged(policies: PolicySet, text: str, longest: int = 2048) -> ExitCode | None:
    """As the crawl judges a page that is about to be crawled."""
    said = Admission(policies, Scope(frozenset({A})), Limits(max_url_length=longest)).judge(url(text), None)
    return said.exit_code if isinstance(said, Denied) else None


@pytest.mark.parametrize(
    ("before", "after", "path", "code", "effect"),
    [
        ((CALENDAR,), (CALENDAR, FEED), "/cal/1", SKIPPED, Effect.none),
        ((CALENDAR,), (), "/cal/1", SKIPPED, Effect.overturned),
        ((CALENDAR,), (Rule("/cal/1", skip=True),), "/cal/1", SKIPPED, Effect.upheld),
        ((CALENDAR,), (Rule("/cal/1", skip=True),), "/cal/2", SKIPPED, Effect.overturned),
        ((CALENDAR,), (CALENDAR, Rule("/cal/", skip=False)), "/cal/1", SKIPPED, Effect.overturned),
        ((CALENDAR, Rule("/cal/", skip=False)), (CALENDAR,), "/cal/1", SKIPPED, Effect.upheld),
    ],
)
def test_a_page_is_concerned_where_an_edited_rule_speaks_of_it(before, after, path, code, effect) -> None:
    assert Rejudgement(PolicySet(rules=before), PolicySet(rules=after)).effect(f"{A}{path}", code) is effect


def test_a_refusal_by_another_stage_is_another_verdict() -> None:
    excluded = PolicySet(exclusions=(Exclusion("pattern", "/admin"),), do_not_crawl=(NO_ADMIN,))
    added = Rejudgement(PolicySet(do_not_crawl=(NO_ADMIN,)), excluded)
    assert added.effect(f"{A}/admin/1", POLICY) is Effect.overturned
    queries = Rejudgement(PolicySet(do_not_crawl=(NO_ADMIN,)), PolicySet(url_query_parameters=()))
    assert queries.effect(f"{A}/admin?x=1", POLICY) is Effect.upheld, "another policy, the same exit code"


def test_a_rule_that_only_refuses_links_lets_a_known_page_pass() -> None:
    after = PolicySet(rules=(Rule("/cal/", accept=False),))
    assert Rejudgement(PolicySet(rules=(CALENDAR,)), after).effect(f"{A}/cal/1", SKIPPED) is Effect.overturned


def test_a_refusal_by_address_stands_until_an_entry_for_addresses_goes() -> None:
    """The name leads to an excluded network; the URL itself is on no list."""
    page = f"{A}/page"
    before = PolicySet(exclusions=(NETWORK,), rules=(CALENDAR,))
    for after in (
        PolicySet(exclusions=(NETWORK,)),
        PolicySet(exclusions=(NETWORK,), rules=(Rule("/page", skip=False),)),
    ):
        assert Rejudgement(before, after).effect(page, EXCLUDED) is Effect.none
        assert Rejudgement(before, after, longest=2048).effect(page, EXCLUDED) is Effect.none
    for gone in (NETWORK, Exclusion("host", "192.0.2.7"), Exclusion("host", "[2001:db8::1]")):
        freed = Rejudgement(PolicySet(exclusions=(gone,)), EMPTY)
        assert freed.effect(page, EXCLUDED) is Effect.overturned
        assert freed.effect(page, SKIPPED) is Effect.none
    other = Rejudgement(
        PolicySet(exclusions=(NETWORK, Exclusion("host", "b.example"))), PolicySet(exclusions=(NETWORK,))
    )
    assert other.effect(page, EXCLUDED) is Effect.none


def test_an_edited_configuration_has_every_url_judged_and_measured() -> None:
    same = PolicySet(rules=(CALENDAR,))
    edited = Rejudgement(same, same, longest=60)
    assert edited.effect(f"{A}/cal/1", SKIPPED) is Effect.upheld
    assert edited.effect(f"{A}/other", SKIPPED) is Effect.overturned
    assert edited.effect(LONG, ExitCode.invalid_url) is Effect.upheld
    assert edited.effect(LONG, SKIPPED) is Effect.overturned, "too long is judged first"
    assert Rejudgement(same, same, longest=2048).effect(LONG, ExitCode.invalid_url) is Effect.overturned


def test_what_is_no_url_is_invalid() -> None:
    edited = Rejudgement(EMPTY, EMPTY, longest=60)
    assert edited.effect("no url", ExitCode.invalid_url) is Effect.upheld
    assert edited.effect("no url", SKIPPED) is Effect.overturned


def test_a_bad_value_is_refused_before_anything_is_judged() -> None:
    with pytest.raises(BadPattern):
        Rejudgement(EMPTY, PolicySet(exclusions=(Exclusion("host", "no host"),)))


@given(before=policy_sets, after=policy_sets, path=st.text(alphabet="abqr=?&/", max_size=6))
def test_it_says_what_the_crawl_would_say(before: PolicySet, after: PolicySet, path: str) -> None:
    """A page that was refused goes back exactly where its verdict has changed, whether or not all is judged."""
    text = f"{A}/{path}"
    was = judged(before, text)
    if was is None:
        return
    changed = judged(after, text) is not was
    assert (Rejudgement(before, after).effect(text, was) is Effect.overturned) is changed
    assert (Rejudgement(before, after, longest=2048).effect(text, was) is Effect.overturned) is changed
    back = Rejudgement(after, before).effect(text, was)
    assert back is Effect.upheld or (back is Effect.none and not changed), "taken back, it is refused as it was"


def test_a_whitelist_that_goes_and_a_query_that_is_allowed() -> None:
    strict = PolicySet(whitelist=Whitelist((), ("/docs/",)))
    assert Rejudgement(strict, EMPTY).effect(f"{A}/other", POLICY) is Effect.overturned
    allowed = PolicySet(url_query_parameters=(QueryPolicy(allow=frozenset({"page"})),))
    assert Rejudgement(EMPTY, allowed).effect(f"{A}/list?page=1", POLICY) is Effect.overturned
    assert Rejudgement(EMPTY, allowed).effect(f"{A}/list?sort=a", POLICY) is Effect.upheld
