"""The table of exit codes: whole, and what the settle step reads from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.exit_codes_page import exit_codes_markdown
from tui_crawler.domain.records.exit_code import (
    BLOCKED,
    CRAWLED,
    DISPOSITIONS,
    FAILURES,
    ExitCode,
    Group,
    PatienceChange,
    Severity,
    attempts_left,
    is_problem,
    retries_in_run,
    severity,
    unlinks,
)

DOCS = Path(__file__).parents[2] / "docs"


def test_every_exit_code_has_a_disposition_and_fits_sixteen_bits():
    assert set(DISPOSITIONS) == set(ExitCode)
    assert all(-(2**15) <= code < 2**15 for code in ExitCode)


def test_the_page_of_the_documentation_is_the_table():
    assert (DOCS / "exit-codes.md").read_text(encoding="utf-8") == exit_codes_markdown()


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        (ExitCode.file_ingested, 200, 0),
        (ExitCode.server_blamed_client, 400, 2),
        (ExitCode.server_blamed_client, 403, 0),
        (ExitCode.cancelled, None, 3),
        (ExitCode.skipped_by_rule, None, 3),
        (ExitCode.request_timeout, None, 2),
    ],
)
def test_attempts_left(code, status, expected):
    assert attempts_left(code, status, 3) == expected


def test_what_is_gone_or_refused_links_to_nothing_and_what_may_pass_does():
    """Links are deleted only where the page cannot be had and no retry in sight changes that."""
    removed = {code for code in ExitCode if unlinks(code, None)}
    assert removed == BLOCKED | {
        ExitCode.file_gone,
        ExitCode.file_not_found,
        ExitCode.invalid_url,
        ExitCode.blocked_address,
    }
    assert [
        status for status in (400, 401, 402, 403, 405, 408, 418, 451) if unlinks(ExitCode.server_blamed_client, status)
    ] == [
        401,
        402,
        403,
        405,
        451,
    ]


def test_only_gateway_errors_are_retried_in_the_run():
    assert retries_in_run(ExitCode.server_internal_error, 503)
    assert not retries_in_run(ExitCode.server_internal_error, 500)
    assert retries_in_run(ExitCode.connection_failed, None)


def test_only_these_cost_patience():
    costly = {code for code, row in DISPOSITIONS.items() if row.patience is not PatienceChange.none}
    assert costly == {
        ExitCode.database_error,
        ExitCode.did_not_understand_answer,
        ExitCode.rate_limited,
        ExitCode.server_internal_error,
        ExitCode.connection_failed,
        ExitCode.request_timeout,
        ExitCode.error_reading_response,
    }


def test_problems_are_failures_except_a_robots_txt_that_does_not_exist():
    assert {code for code in ExitCode if is_problem(code, "page")} == FAILURES
    assert FAILURES - {code for code in ExitCode if is_problem(code, "robots")} == {
        ExitCode.server_blamed_client,
        ExitCode.file_gone,
        ExitCode.file_not_found,
    }
    assert severity(None, "page") is Severity.info


def test_a_refusal_is_no_failure():
    assert not FAILURES & BLOCKED


@given(st.sampled_from(list(ExitCode)), st.none() | st.integers(100, 599), st.integers(1, 10))
def test_tries_never_grow_by_an_attempt(code, status, before):
    assert 0 <= attempts_left(code, status, before) <= before


def test_what_counts_as_crawled_is_what_came_with_content_or_is_as_it_was():
    good = {Group.ok, Group.redirect, Group.unchanged}
    assert {code for code, row in DISPOSITIONS.items() if row.group in good} == CRAWLED
    assert not CRAWLED & (FAILURES | BLOCKED)
