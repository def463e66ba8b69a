"""When a page is due again, and what a recrawl asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.crawl.recrawl import (
    LONGEST_VALIDATOR,
    MAX_FRESHNESS_MS,
    condition_of,
    due_bounds,
    fresh_until,
    http_date,
    parse_http_date,
    validator_of,
)
from tui_crawler.domain.records.page import TodoPage

NOW = 1_700_000_000_000
KNOWN = TodoPage(1, 1, "http://a.test/", etag='W/"v1"', last_contentful_at=NOW, body_kept=True)


def test_the_stored_validators_are_sent_verbatim():
    page = replace(KNOWN, last_modified="Tue, 14 Nov 2023 22:13:20 GMT")
    assert condition_of(page, forced=False) == ('W/"v1"', "Tue, 14 Nov 2023 22:13:20 GMT")


def test_without_last_modified_the_last_contentful_crawl_is_the_date():
    assert condition_of(KNOWN, forced=False)[1] == "Tue, 14 Nov 2023 22:13:20 GMT"


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ('"a"', '"a"'),
        ("unquoted", "unquoted"),
        ('"a\tb"', '"a\tb"'),
        ('"\x80\xff"', '"\x80\xff"'),
        ('\t"a" ', '"a"'),
        ("x" * LONGEST_VALIDATOR, "x" * LONGEST_VALIDATOR),
        ("x" * (LONGEST_VALIDATOR + 1), ""),
        ('"a\r\nX-Other: b"', ""),
        ('"\0"', ""),
        ('"\u0100"', ""),
        ("*", ""),
        ("", ""),
    ],
)
def test_a_validator_goes_back_verbatim_or_not_at_all(value, sent):
    page = replace(KNOWN, etag=value, last_modified=value)
    assert validator_of(value) == sent
    assert condition_of(page, forced=False) == (sent, sent or http_date(NOW))


@pytest.mark.parametrize(
    ("page", "forced"),
    [
        (KNOWN, True),
        (replace(KNOWN, force=True), False),
        (replace(KNOWN, body_kept=False), False),
        (replace(KNOWN, last_contentful_at=0), False),
    ],
)
def test_no_condition_when_a_304_could_not_be_used(page, forced):
    assert condition_of(page, forced) == ("", "")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ((("Cache-Control", "max-age=60"),), NOW + 60_000),
        ((("cache-control", "public, max-age=60"), ("Age", "20")), NOW + 40_000),
        ((("Cache-Control", "max-age=60, no-cache"),), 0),
        ((("Cache-Control", "no-store"),), 0),
        ((("Cache-Control", "max-age=10"), ("Age", "20")), 0),
        ((("Expires", http_date(NOW + 90_000)), ("Date", http_date(NOW))), NOW + 90_000),
        ((("Expires", "0"),), 0),
        ((("Cache-Control", "max-age=99999999999"),), NOW + MAX_FRESHNESS_MS),
        ((), 0),
    ],
)
def test_http_freshness(headers, expected):
    assert fresh_until(headers, NOW) == expected


def test_due_is_the_later_of_interval_and_freshness():
    due = due_bounds(NOW, 1000, respect_freshness=True)
    assert due.allow(NOW - 1000, NOW)
    assert not due.allow(NOW - 999, NOW)
    assert not due.allow(NOW - 1000, NOW + 1)
    assert due_bounds(NOW, 1000, respect_freshness=False).allow(NOW - 1000, NOW + 5000)


def test_force_makes_every_page_due_that_was_crawled_before_the_run():
    forced = due_bounds(NOW, 10**9, respect_freshness=True, forced_before=NOW - 50)
    assert forced.allow(NOW - 50, NOW + 5000)
    assert not forced.allow(NOW - 49, 0)


@given(st.text(), st.text(), st.text())
def test_hostile_headers_never_raise(cache_control, expires, age):
    headers = (("Cache-Control", cache_control), ("Expires", expires), ("Age", age))
    assert 0 <= fresh_until(headers, NOW) <= NOW + MAX_FRESHNESS_MS


@given(st.integers(0, 4_000_000_000))
def test_http_dates_come_back(seconds):
    assert parse_http_date(http_date(seconds * 1000)) == seconds * 1000
