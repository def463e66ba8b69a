"""Whether a failed page can recover, and when it is asked again: one truth for all places that speak of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.crawl.recovery import NextTry, is_recoverable, next_try, next_try_of, next_try_on_list
from tui_crawler.domain.records.exit_code import FAILURES, ExitCode, attempts_left, is_final
from tui_crawler.domain.records.page_view import PageView
from tui_crawler.domain.records.status import PageStatus

NOW = 1_000_000
FAILED = sorted(FAILURES)
STATUSES = [None, *range(100, 600)]


def test_the_final_codes_are_those_of_the_specification():
    """docs/behaviour.md: column *left* is 0."""
    final = {code.name for code in FAILED if is_final(code, None)}
    assert final == {"file_gone", "file_not_found", "file_too_large", "invalid_url", "blocked_address"}
    of_status = {status for status in range(400, 500) if is_final(ExitCode.server_blamed_client, status)}
    assert of_status == {401, 402, 403, 405, 451}
    for code in ("blocked_by_robots_txt", "blocked_url_by_local_policy", "blocked_by_exclusion_list"):
        assert is_final(ExitCode[code], None)


@pytest.mark.parametrize("code", list(ExitCode))
def test_a_page_with_tries_left_is_recoverable_and_one_that_ended_finally_is_not(code):
    """Every code with every status, as the settle step leaves the page."""
    status = PageStatus.SKIPPED if code is ExitCode.skipped_by_rule else PageStatus.READY
    for http_status in STATUSES:
        for before in (1, 2, 3):
            left = attempts_left(code, http_status, before)
            recovers = is_recoverable(status, left, code, http_status)
            if is_final(code, http_status):
                assert left == 0
                assert not recovers
            elif status is PageStatus.READY:
                assert recovers, "with tries left, or by a retry"
            else:
                assert not recovers


def test_a_final_page_that_was_put_back_has_hope_again_and_one_of_a_newer_program_has_none_without_tries():
    assert is_recoverable(PageStatus.READY, 3, ExitCode.file_not_found, 404)
    assert is_recoverable(PageStatus.READY, 1, None, None)
    assert not is_recoverable(PageStatus.READY, 0, None, None)


@given(
    st.sampled_from(list(PageStatus)),
    st.integers(0, 3),
    st.sampled_from(FAILED),
    st.sampled_from(STATUSES),
    st.sampled_from([0, NOW - 1, NOW, NOW + 1]),
    st.sampled_from([0, NOW - 1, NOW, NOW + 1]),
    st.booleans(),
    st.booleans(),
)
def test_recovers_and_retry_never_contradict_each_other(
    status, remaining, code, http_status, not_before, due_at, considered, over
):
    recovers = is_recoverable(status, remaining, code, http_status)
    said = next_try(
        status, remaining, not_before, NOW, considered=considered, over=over, recoverable=recovers, due_at=due_at
    )
    if said is NextTry.final:
        assert not recovers
        assert remaining == 0
    if said is NextTry.used_up:
        assert recovers
        assert remaining == 0
    if remaining and status is PageStatus.READY:
        assert recovers
        assert said in {NextTry.now, NextTry.later, NextTry.next_run}
    assert said is not NextTry.now or not (over or considered)
    assert said is not NextTry.in_flight or not over, "no workers are running"


def view(**changes) -> PageView:
    plain = PageView(
        page_id=1,
        url="https://a.test/",
        origin="https://a.test",
        job="main",
        status="READY",
        attempts=1,
        attempts_remaining=2,
        nice=0,
        depth=0,
        not_before=0,
        last_exit_code="server_internal_error",
        last_http_status=500,
        last_crawled_at=1,
        due_at=0,
        recoverable=True,
    )
    return replace(plain, **changes)


def test_what_this_run_has_considered_waits_for_the_next_one():
    assert next_try_of(view(ignored_in=7), NOW, 7, over=False) is NextTry.next_run
    assert next_try_of(view(ignored_in=6), NOW, 7, over=False) is NextTry.now
    assert next_try_of(view(), NOW, 7, over=True) is NextTry.next_run
    assert next_try_of(view(), NOW, 0, over=True) is NextTry.next_run
    assert next_try_of(view(not_before=NOW + 1), NOW, 7, over=False) is NextTry.later
    assert next_try_of(view(attempts_remaining=0, due_at=NOW + 1), NOW, 7, over=False) is NextTry.used_up
    assert next_try_of(view(attempts_remaining=0, due_at=NOW), NOW, 7, over=False) is NextTry.now, "as a recrawl"
    assert next_try_of(view(attempts_remaining=0, recoverable=False), NOW, 7, over=False) is NextTry.final
    assert next_try_of(view(status="CLAIMED"), NOW, 7, over=False) is NextTry.in_flight
    assert next_try_of(view(status="CLAIMED"), NOW, 7, over=True) is NextTry.next_run, "the next start gives it back"
    assert next_try_of(view(status="LATER"), NOW, 7, over=False) is NextTry.now


@pytest.mark.parametrize("over", [False, True])
def test_a_page_of_a_todo_list_is_asked_for_when_any_other_would_be(over):
    for not_before in (0, NOW, NOW + 1):
        listed = next_try_on_list(not_before, NOW, over=over)
        assert listed is next_try_of(view(not_before=not_before), NOW, 7, over=over)
    again = view(attempts_remaining=0, due_at=NOW)
    assert next_try_on_list(0, NOW, over=over) is next_try_of(again, NOW, 7, over=over), "a recrawl has no tries"
