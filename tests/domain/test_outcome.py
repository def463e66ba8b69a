"""The settle step: what one crawl changes, as one value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tui_crawler.domain.crawl.delay import Pace
from tui_crawler.domain.crawl.intake import Intake
from tui_crawler.domain.crawl.origin import OriginState
from tui_crawler.domain.crawl.outcome import Crawled, final_code, queue_of, settle_crawl, settle_refusal
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records.attempt import Exchange, FoundLink, Reading, RedirectSource, RefusedCount, RequestRecord
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import Tally, TodoPage, tally
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.admission import Admission, Limits, Scope
from tui_crawler.domain.rules.policy import EMPTY
from tui_crawler.domain.rules.verdict import Denied
from tui_crawler.domain.url import normalise

T0 = Moment(0, 1_700_000_000_000)
A = "http://a.test"
STATE = OriginState(A, 5, Pace())


def admission(**limits):
    return Admission(EMPTY, Scope(frozenset({A, "http://b.test"})), Limits(**limits))


def intake(**limits):
    return Intake(admission(**limits), frozenset({LinkKind.a}), {A: 10})


def link(href, **changes):
    return FoundLink(LinkKind.a, normalise(href, A + "/"), **changes)


def crawled(reading=None, code=ExitCode.file_ingested, status=200, page=None, **exchange):
    page = page or TodoPage(7, 1, A + "/x", depth=2)
    request = RequestRecord(page.url, "GET", 1, 2, 3, status)
    answer = Exchange((request,), code, status, 100, body=b"<p>", wire_bytes=3, **exchange)
    return Crawled(page, normalise(page.url), answer, reading, "0" * 64, T0, T0.later(100))


def html(**changes):
    return replace(Reading("html", ExitCode.file_ingested, "text/html", "utf-8", "A page"), **changes)


def settle(done):
    code = final_code(done)
    return settle_crawl(done, code, STATE, STATE, intake(), frozenset({"html"}), queue_of(done, code, intake()))


def test_a_page_with_links():
    links = (link("/one"), link("/one"), link("http://b.test/two"), link("http://c.test/"), link("/no", nofollow=True))
    done = settle(crawled(html(links=links)))
    assert [p.url for p in done.new_pages] == ["http://a.test/one", "http://b.test/two"]
    assert {p.depth for p in done.new_pages} == {3}
    assert [(r.reason, r.count, r.sample_url) for r in done.refused] == [("scope", 1, "http://c.test/")]
    assert done.links == links
    assert done.document.title == "A page"
    assert done.document.body == b"<p>"
    assert (done.page.attempts, done.page.attempts_remaining) == (1, 0)
    assert done.attempt.exit_code is ExitCode.file_ingested


def test_a_kind_that_is_not_stored_keeps_its_metadata_only():
    done = settle(crawled(html(kind="other", exit_code=ExitCode.file_of_unknown_type)))
    assert done.document.body is None
    assert done.document.size == 3


def test_the_links_of_a_nofollow_page_are_kept_as_such_and_queue_none():
    done = settle(crawled(html(nofollow=True, links=(link("/one"),))))
    assert [(one.url, one.nofollow) for one in done.links] == [(link("/one").url, True)]
    assert done.new_pages == ()
    assert [(one.reason, one.count) for one in done.refused] == [("nofollow", 1)]


def test_noindex_drops_the_result_and_still_queues_its_links():
    done = settle(crawled(html(noindex=True, links=(link("/one"),))))
    assert done.attempt.exit_code is ExitCode.noindex
    assert done.document is None
    assert done.drop_document
    assert [p.url for p in done.new_pages] == ["http://a.test/one"]


def test_not_canonical_queues_only_the_canonical_url_as_a_hop():
    canonical = normalise("/real", A)
    done = settle(crawled(html(canonical=canonical, links=(link("/one"),))))
    assert done.attempt.exit_code is ExitCode.not_canonical
    assert [(p.url, p.redirect_hops, p.depth) for p in done.new_pages] == [("http://a.test/real", 1, 2)]
    assert done.redirect.source is RedirectSource.canonical
    assert done.links == ()


def test_its_own_canonical_is_no_reason_to_drop_a_page():
    assert final_code(crawled(html(canonical=normalise(A + "/x")))) is ExitCode.file_ingested


def test_a_redirect_is_recorded_with_its_fragment_and_queued_up_to_the_hop_limit():
    target = normalise("/new#part", A)
    done = settle(crawled(code=ExitCode.permanent_redirect, status=301, location=target))
    assert (done.redirect.to_url, done.redirect.to_fragment, done.redirect.permanent) == (
        "http://a.test/new",
        "part",
        True,
    )
    assert done.new_pages[0].redirect_hops == 1
    far = TodoPage(7, 1, A + "/x", redirect_hops=10)
    done = settle(crawled(code=ExitCode.redirect, status=302, location=target, page=far))
    assert done.new_pages == ()
    assert done.refused[0].reason == "redirect_hops"


def test_a_meta_refresh_is_a_redirect():
    done = settle(crawled(html(refresh=normalise("/next", A), refresh_source=RedirectSource.meta_refresh)))
    assert done.attempt.exit_code is ExitCode.redirect
    assert done.redirect.source is RedirectSource.meta_refresh
    assert not done.redirect.permanent
    assert "redirects to http://a.test/next" in done.attempt.message


def test_failures_leave_links_and_document_alone():
    done = settle(crawled(code=ExitCode.request_timeout, status=None))
    assert done.links is None
    assert done.document is None
    assert not done.drop_document
    assert done.page.forget_ignored
    assert done.page.attempts_remaining == 2


def test_not_modified_changes_only_when_it_was_last_crawled():
    done = settle(crawled(code=ExitCode.file_did_not_change, status=304))
    assert (done.links, done.document, done.drop_document) == (None, None, False)
    assert not done.page.contentful


def test_the_last_try_is_not_forgotten():
    page = TodoPage(7, 1, A + "/x", attempts=2, attempts_remaining=1)
    done = settle(crawled(code=ExitCode.connection_failed, status=None, page=page))
    assert (done.page.attempts, done.page.attempts_remaining, done.page.forget_ignored) == (3, 0, False)


def test_a_cancelled_page_gets_its_try_back():
    done = settle(crawled(code=ExitCode.cancelled, status=None))
    assert (done.page.attempts, done.page.attempts_remaining) == (0, 3)
    assert not done.page.forget_ignored


def test_a_parser_that_raised_is_the_exit_code():
    broken = html(exit_code=ExitCode.local_processing_error, message="lxml: no")
    done = settle(crawled(broken))
    assert done.attempt.exit_code is ExitCode.local_processing_error
    assert done.attempt.message == "lxml: no"


def test_links_that_are_no_urls_are_counted():
    invalid = RefusedCount("invalid_url", 3, "http://[")
    assert settle(crawled(html(refused=(invalid,)))).refused == (invalid,)


def test_a_full_origin_refuses_within_one_page_too():
    done = crawled(html(links=tuple(link(f"/{n}") for n in range(5))))
    queue = queue_of(done, ExitCode.file_ingested, intake(max_pages_per_origin=12))
    assert len(queue.pages) == 2
    assert (queue.refused[0].reason, queue.refused[0].count) == ("origin_full", 3)


def test_item_pattern_and_force_are_inherited():
    page = TodoPage(7, 1, A + "/x", item_pattern="/news/", force=True)
    done = settle(crawled(html(links=(link("/news/1"), link("/other"))), page=page))
    assert [(p.url, p.item_pattern, p.force) for p in done.new_pages] == [("http://a.test/news/1", "/news/", True)]
    assert done.refused[0].reason == "item_pattern"


@pytest.mark.parametrize(
    ("code", "status", "left"),
    [(ExitCode.skipped_by_rule, PageStatus.SKIPPED, 3), (ExitCode.blocked_by_robots_txt, PageStatus.READY, 0)],
)
def test_a_refusal_is_an_attempt_without_a_request(code, status, left):
    done = settle_refusal(TodoPage(7, 1, A + "/x"), Denied(code, "Disallow: /x", "robots.txt:3"), STATE, T0)
    assert done.attempt.requests == ()
    assert (done.page.status, done.page.attempts_remaining, done.page.attempts) == (status, left, 0)
    assert (done.attempt.message, done.attempt.decided_by) == ("Disallow: /x", "robots.txt:3")


def test_tally_counts_a_failed_page_with_tries_left_twice():
    assert tally(PageStatus.READY, 2, ExitCode.request_timeout) == Tally(pending=1, failed=1)
    assert tally(PageStatus.READY, 0, ExitCode.file_ingested) == Tally(done=1)
    assert tally(PageStatus.READY, 0, ExitCode.blocked_by_robots_txt) == Tally(blocked=1)
    assert tally(PageStatus.READY, 3, None) == Tally(pending=1)
    assert tally(PageStatus.STASHED, 3, None) == Tally()
    assert Tally(1, 0, 0, 0).minus(Tally(0, 1, 0, 0)) == Tally(1, -1, 0, 0)
