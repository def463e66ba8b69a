"""Failures in groups, the ends of links, what rules refused: as the database would give them for the sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.console.sample_crawl import API, MINUTE, NOW
from tui_crawler.domain.records.page_view import FailureGroup, LinkEnd, LinkView, PageView, RefusalCount, RefusalCounts

SPAN = 5 * MINUTE


def holds(page: PageView, sought: tuple[str, ...]) -> bool:
    """Whether URL or message have each of these texts."""
    return all(text in f"{page.url}\n{page.message}".casefold() for text in sought)


def failure_value(page: PageView, name: str) -> str:
    """What a page has of a grouping."""
    match name:
        case "exit_code":
            return page.last_exit_code
        case "origin":
            return page.origin
        case "http_status":
            return "" if page.last_http_status is None else str(page.last_http_status)
        case "pattern":
            path = page.url.removeprefix(page.origin).partition("?")[0]
            return "/".join("{n}" if part.isdecimal() else part for part in path.split("/"))
        case _:
            return page.message


def is_within(page: PageView, key: tuple[tuple[str, str], ...]) -> bool:
    """Whether a page belongs to a group; of a name that comes several times it has any of the values."""
    return all((name, failure_value(page, name)) in key for name, _ in key)


def failure_group(key: tuple[tuple[str, str], ...], pages: Sequence[PageView], now: int) -> FailureGroup:
    """A group of these pages."""
    trend = [0] * 12
    for one in pages:
        back = now // SPAN - one.last_crawled_at // SPAN
        if 0 <= back < 12:
            trend[-1 - back] += 1
    return FailureGroup(
        key,
        len(pages),
        sum(one.recoverable for one in pages),
        pages[0].url,
        min(one.last_crawled_at for one in pages),
        max(one.last_crawled_at for one in pages),
        sum(one.last_crawled_at > now - SPAN for one in pages),
        tuple(trend),
        tuple(Counter(one.origin for one in pages).most_common()),
    )


def link_ends(url: str, inward: bool) -> tuple[LinkEnd, ...]:
    """Twelve pages that link to it, and seven that it links to."""
    if inward:
        return tuple(
            LinkEnd(
                LinkView(f"{API}/v2/items?page={n}", url, "a", False, "page 18", NOW - n * MINUTE),
                f"Items page {n}",
                "file_ingested",
                (n, "a"),
            )
            for n in range(1, 13)
        )
    return tuple(
        LinkEnd(
            LinkView(url, f"{API}/v2/user/{n}", "a", n % 2 == 0, f"user {n}", NOW - MINUTE),
            "" if n > 3 else f"User {n}",
            "" if n > 3 else "request_timeout",
            (n, "a"),
        )
        for n in range(1, 8)
    )


def refusal_counts() -> RefusalCounts:
    """What the rules of `sample_rules` refused."""
    policy, skip = "blocked_url_by_local_policy", "skipped_by_rule"
    rows = (
        ("my.yaml:14", 'do_not_crawl: path begins with "/admin/"', policy, 1_204, 13),
        ("my.yaml:18", "url_query_parameters: parameter 'sort' is not allowed", policy, 88, 13),
        ("my.yaml:18", "this seed: url_query_parameters: parameter 'order' is not allowed", policy, 1, 12),
        ("", "no url_query_parameters policy is for this URL (2 configured), so its query is refused", policy, 40, 13),
        ("my.yaml:31", "rule /calendar/: skip true", skip, 310, 13),
        ("operator", "exclusion list: host private.example.org, mail of 5 January (by mara)",
         "blocked_by_exclusion_list", 212, 13),
        ("my.yaml:15", 'do_not_crawl: path ends with ".zip"', policy, 17, 12),
    )  # fmt: skip
    made = tuple(
        RefusalCount(code, source, message, number, NOW - place * MINUTE, f"{API}/refused/{place}", 11, last)
        for place, (source, message, code, number, last) in enumerate(rows)
    )
    return RefusalCounts(made, 106_000, 106_000)
