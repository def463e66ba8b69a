"""Diagnoses: what needs a person, the gravest first, and what would help."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.history.coverage import SeedEnd
from tui_crawler.domain.history.diagnosis import (
    DiagnosisFacts,
    DiagnosisKind,
    LostPage,
    RefusedQueries,
    diagnoses,
    policy_for,
)
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page_view import RefusedView
from tui_crawler.domain.records.status_words import UNCONFIGURED_USER_AGENT
from tui_crawler.domain.records.view import RunView
from tui_crawler.domain.rules.matcher import All, Test
from tui_crawler.domain.rules.policy import CompiledPolicies, PolicySet
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.text.safe_text import safe

A, B, C, SHOP = "https://a.example", "https://b.example", "https://c.example", "https://shop.example"
LIVE = RunView(1, 1, 0, "", 5, "ua/1", "test", live=True)
REFUSED = ExitCode.connection_failed
SAID = "192.0.2.1 port 443: Connection refused"


def lost(
    origin: str,
    code: ExitCode | None,
    message: str = "",
    *,
    url: str = "",
    status: int | None = None,
    at: str = "",
    pattern: str = "",
) -> LostPage:
    """How a page ended, by default the front page."""
    place = url or f"{origin}/"
    return LostPage(
        origin, SeedEnd(place, code.name if code is not None else None, status, at or place, message), pattern
    )


def words(facts: DiagnosisFacts, run: RunView | None = LIVE) -> list[tuple[DiagnosisKind, str]]:
    return [(one.kind, one.words) for one in diagnoses(run, facts)]


def queries(*urls: str, total: int = 0, by_default: tuple[str, ...] | None = None) -> DiagnosisFacts:
    of = RefusedQueries(SHOP, total or len(urls), urls, urls if by_default is None else by_default)
    return DiagnosisFacts(queries=(of,))


def ended(reason: str, finished: int = 9) -> RunView:
    return RunView(1, 1, finished, reason, 5, "ua/1", "test", live=False)


def test_a_crawl_that_goes_well_has_none() -> None:
    assert words(DiagnosisFacts(pending=9)) == []
    assert words(DiagnosisFacts(pending=9), None) == []
    assert words(DiagnosisFacts(), ended("exhausted")) == []


def test_a_crawler_that_died_comes_before_everything() -> None:
    facts = DiagnosisFacts(812, (lost(A, REFUSED, SAID),), 1)
    found = words(facts, ended("", 0))
    assert found[0] == (DiagnosisKind.crawler_died, "crawler died, 812 URLs to do")
    assert [kind for kind, _ in found] == [DiagnosisKind.crawler_died, DiagnosisKind.origins_stopped]


@pytest.mark.parametrize(
    ("reason", "said"), [("interrupted", True), ("error", True), ("operator", False), ("max_requests", False)]
)
def test_work_is_left_and_no_worker_runs(reason: str, said: bool) -> None:
    """Who stopped it, or set the limit, knows."""
    found = words(DiagnosisFacts(1), ended(reason))
    assert found == ([(DiagnosisKind.no_worker, "no worker running, 1 URL to do")] if said else [])


def test_stopped_origins_are_summed_by_cause() -> None:
    stopped = (
        lost(A, REFUSED, SAID),
        lost(B, ExitCode.server_internal_error, status=500, pattern="/thread/*"),
        lost(C, REFUSED, "192.0.2.7 port 443: Connection refused"),
    )
    ((kind, said),) = words(DiagnosisFacts(stopped=stopped, stopped_total=3))
    assert (kind, said) == (
        DiagnosisKind.origins_stopped,
        "3 origins stopped: 2 × connection refused, 1 × HTTP 500 on /thread/*",
    )
    assert words(DiagnosisFacts(stopped=stopped[:1], stopped_total=1)) == [
        (DiagnosisKind.origins_stopped, "a.example stopped: connection refused")
    ]


def test_a_seed_that_moved_is_told_from_one_that_failed_and_one_that_robots_txt_disallows() -> None:
    moved = lost(A, ExitCode.permanent_redirect, status=301, at="https://www.a.example/")
    gone = lost(B, ExitCode.file_not_found, url=f"{B}/x", status=404)
    denied = lost(C, ExitCode.blocked_by_robots_txt)
    found = diagnoses(LIVE, DiagnosisFacts(seeds=(gone, denied, moved)))
    assert [(one.kind, one.words, one.urls) for one in found] == [
        (DiagnosisKind.seed_moved, "seed moved to https://www.a.example/", ("https://www.a.example/",)),
        (DiagnosisKind.seed_failed, "seed b.example/x: HTTP 404", (f"{B}/x",)),
        (DiagnosisKind.robots_denies, "robots.txt of c.example disallows the seed", (f"{C}/",)),
    ]


def test_refused_queries_come_with_the_policy_that_allows_them() -> None:
    pages = tuple(f"{SHOP}/list?page={number}" for number in range(85))
    (found,) = diagnoses(LIVE, queries(*pages))
    assert (found.kind, found.words, found.count) == (
        DiagnosisKind.queries_refused,
        "85 query URLs of shop.example refused (?page=)",
        85,
    )
    assert found.policy is not None
    assert found.policy.match == All((Test("origin", "equals", SHOP), Test("path", "equals", "/list")))
    assert (found.policy.allow, found.urls) == (frozenset({"page"}), pages)
    allowed = CompiledPolicies(PolicySet(url_query_parameters=(found.policy,)))
    for page in pages:
        url = normalise(page)
        assert isinstance(url, CrawlUrl)
        assert allowed.query_refusal(url) is None


def test_urls_that_differ_in_a_session_only_are_counted_apart_and_never_allowed() -> None:
    alike = tuple(f"{SHOP}/list?session={number:x}" for number in range(104))
    pages = tuple(f"{SHOP}/list?page={number}&sid=9" for number in range(9))
    (found,) = diagnoses(LIVE, queries(*alike, *pages))
    assert found.words == "104 of 113 refused URLs of shop.example differ only in ?session="
    assert found.policy is not None and found.policy.allow == {"page"}
    (sampled,) = diagnoses(LIVE, queries(*alike, *pages, total=9_000))
    assert sampled.words.startswith("104 of the last 113 ")
    assert diagnoses(LIVE, queries(*alike)) == (), "there is nothing to allow"
    assert diagnoses(LIVE, queries(*pages, by_default=())) == (), "a policy is about them: the operator's decision"


def test_a_policy_for_chosen_urls_leaves_sessions_out_and_is_for_one_origin() -> None:
    found = policy_for((f"{SHOP}/a?page=1&PHPSESSID=x", f"{SHOP}/b?sort=up"))
    assert found is not None
    assert (found.match, found.allow) == (Test("origin", "equals", SHOP), {"page", "sort"})
    assert policy_for((f"{SHOP}/a?sid=1",)) is policy_for((f"{SHOP}/a?x=1", f"{A}/a?x=1")) is policy_for(()) is None


def test_a_trap_a_mirror_and_a_crawler_without_a_name_are_said() -> None:
    run = RunView(1, 1, 0, "", 5, UNCONFIGURED_USER_AGENT, "test", live=True)
    trap = RefusedView(A, "trap_repeat", 40, f"{A}/a/a/a/a/")
    found = words(DiagnosisFacts(traps=(trap,), elsewhere=((B, "30 of 40 pages name another URL"),)), run)
    assert [kind for kind, _ in found] == [
        DiagnosisKind.trap_suspected,
        DiagnosisKind.most_not_canonical,
        DiagnosisKind.unnamed,
    ]
    assert found[0][1].startswith("crawler trap suspected at a.example: 40 links")


def test_what_was_dismissed_comes_again_once_it_is_worse() -> None:
    pages = [lost(origin, REFUSED) for origin in (A, B, C)]
    two, three = (diagnoses(LIVE, DiagnosisFacts(stopped=tuple(pages[:n]), stopped_total=n))[0] for n in (2, 3))
    assert two.name == three.name
    assert three.has_grown(two.count) and not three.has_grown(three.count)
    (few,) = diagnoses(LIVE, queries(f"{SHOP}/a?x=1", total=10))
    (more,) = diagnoses(LIVE, queries(f"{SHOP}/a?x=1", total=19))
    (twice,) = diagnoses(LIVE, queries(f"{SHOP}/a?x=1", total=20))
    assert not more.has_grown(few.count) and twice.has_grown(few.count)


HOSTILE = st.one_of(st.text(), st.sampled_from(["\x1b[2J", "[red]x\n\ny", "\u202eevil?sid=\x07", "http://[?a\r\n=%00"]))


@given(
    st.lists(st.tuples(HOSTILE, HOSTILE, st.sampled_from([*ExitCode, None]), HOSTILE), max_size=4),
    st.lists(HOSTILE, max_size=6),
    st.sampled_from([LIVE, ended("error"), ended("", 0)]),
)
def test_whatever_a_site_sends_each_kind_and_origin_has_one_line(
    ends: list[tuple[str, str, ExitCode | None, str]], urls: list[str], run: RunView
) -> None:
    pages = tuple(lost(origin, code, said, url=url, at=said) for origin, url, code, said in ends)
    facts = DiagnosisFacts(5, pages, len(pages), pages, (RefusedQueries("".join(urls), 9, tuple(urls), tuple(urls)),))
    found = diagnoses(run, facts)
    assert [*map([*DiagnosisKind].index, (one.kind for one in found))] == sorted(
        map([*DiagnosisKind].index, (one.kind for one in found))
    )
    assert len({one.kind for one in found}) == len(found)
    assert all("\n" not in safe(one.words) for one in found)
