"""Pages: when a fill has nothing to crawl, which finds are news of a known page, and exchanges that were in vain."""

from __future__ import annotations

import pytest

from tui_crawler.domain.records.attempt import Exchange, RequestRecord
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import Candidates, KnownPage, NewPage, TodoPage

KNOWN = KnownPage(nice=0, depth=2, redirect_hops=1, seed=False, lastmod=10, external=0)
SAME = {"depth": 2, "redirect_hops": 1, "lastmod": 10}


@pytest.mark.parametrize(
    ("candidates", "exhausted"),
    [
        (Candidates(()), True),
        (Candidates((TodoPage(1, 1, "http://a.test/"),)), False),
        (Candidates((), next_due_at=5), False),
        (Candidates((), held=True), False),
    ],
)
def test_an_origin_is_exhausted_without_a_page_now_or_later(candidates: Candidates, exhausted: bool) -> None:
    assert candidates.exhausted is exhausted


@pytest.mark.parametrize(
    ("changes", "is_news"),
    [
        ({}, False),
        ({"force": True}, True),
        ({"again": True}, True),
        ({"sitemap": True}, True),
        ({"seed": True}, True),
        ({"depth": 1}, True),
        ({"depth": 3}, False),
        ({"redirect_hops": 0}, True),
        ({"lastmod": 11}, True),
        ({"nice": -1}, True),
        ({"external": 1}, False),
    ],
)
def test_a_find_is_news_of_a_known_page(changes: dict[str, int], is_news: bool) -> None:
    page = NewPage("http://a.test/", 1, "http://a.test", **{**SAME, **changes})  # type: ignore[arg-type]
    assert KNOWN.learns_of(page) is is_news


@pytest.mark.parametrize(
    ("method", "address", "code", "status", "in_vain"),
    [
        ("GET", "", ExitCode.connection_failed, None, True),
        ("HEAD", "", ExitCode.connection_failed, None, True),
        ("GET", "192.0.2.1", ExitCode.request_timeout, None, True),
        ("GET", "192.0.2.1", ExitCode.connection_failed, None, False),
        ("HEAD", "192.0.2.1", ExitCode.request_timeout, None, False),
        ("GET", "192.0.2.1", ExitCode.request_timeout, 408, False),
    ],
)
def test_an_exchange_is_in_vain_where_no_host_was_reached_or_none_responded_to_get(
    method: str, address: str, code: ExitCode, status: int | None, in_vain: bool
) -> None:
    request = RequestRecord("http://a.test/", method, 1, None, 2, status, remote_address=address)
    assert Exchange((request,), code, status, 1).in_vain is in_vain
