"""A crawl that stands still, as rows of the database: eleven origins, their log, failed pages, one URL whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tui_crawler.domain.crawl.recovery import is_recoverable
from tui_crawler.domain.records.attempt import RequestRecord
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page_view import Hop, LinkView, PageDetail, PageView, TodoView
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.records.view import AttemptView, OriginView, RunView

NOW = 1_767_609_667_000  # 2026-01-05 10:41:07 UTC
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
RECRAWL_MS = 28 * 24 * HOUR
"""`crawl.recrawl_interval` of the sample."""
FOUND_AT = NOW - RECRAWL_MS - 42 * MINUTE
"""When the URL that is shown whole was crawled first, in an earlier run."""
STORED_BYTES = 441
"""The size of the body that is stored of it."""
API = "https://api.example.org"
WWW = "https://www.example.com"
DOCS = "https://docs.example.net"
WHO = "mara"


def _request(request_id: int, attempt_id: int, *values: Any, **more: Any) -> RequestRecord:
    return RequestRecord(*values, **more, request_id=request_id, attempt_id=attempt_id)


def origin(name: str, **changes: object) -> OriginView:
    """An origin that waits, with nothing special about it."""
    plain = OriginView(
        origin=name,
        change=1,
        state="WAITING",
        finish_reason="",
        paused=False,
        patience=5,
        patience_max=5,
        politeness=0,
        delay_ms=1_000,
        delay_reason="default",
        operator_delay_ms=0,
        next_request_at=NOW + 700,
        asleep_until=0,
        robots_status="parsed",
        robots_fetched_at=NOW - 12 * MINUTE,
        robots_expires_at=NOW + 18 * MINUTE,
        crawl_delay_ms=None,
        todo=0,
        pending=0,
        done=0,
        failed=0,
        blocked=0,
        requests=0,
        bytes=0,
        in_flight_url="",
        last_url=f"{name}/",
        last_exit_code="file_ingested",
        last_http_status=200,
        last_attempt_at=NOW - 400,
        last_response_ms=310,
        worker="w1",
        discovered=0,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # keyword names are checked at run time


def origins() -> tuple[OriginView, ...]:
    """Eleven origins in every state a person meets."""
    return (
        origin(
            API, state="BUSY", patience=2, politeness=3, delay_ms=4_000, delay_reason="rate_limit", todo=812,
            pending=1_640, done=420, failed=9, blocked=50, requests=467, bytes=7_400_000, discovered=388,
            crawl_delay_ms=2_000,
            in_flight_url=f"{API}/v2/items?page=19", last_url=f"{API}/v2/items?page=18",
            last_exit_code="request_timeout", last_http_status=None, last_response_ms=30_000, last_attempt_at=NOW,
            next_request_at=NOW - 6_100, in_flight_since=NOW - 6_100,
        ),
        origin(
            WWW, state="BUSY", todo=12_004, pending=1_190_331, done=88_120, blocked=4_062,
            requests=88_460, bytes=1_905_000_000, discovered=61_000, in_flight_url=f"{WWW}/products/4711?ref=home",
            last_url=f"{WWW}/products/4710", last_response_ms=240,
        ),
        origin(
            DOCS, todo=310, pending=355, done=9_021, failed=1, requests=9_104, bytes=212_000_000, delay_ms=10_000,
            delay_reason="crawl_delay", crawl_delay_ms=10_000, next_request_at=NOW + 7_900, discovered=1_200,
            last_url=f"{DOCS}/guide/intro", last_exit_code="file_did_not_change", last_http_status=304,
            last_response_ms=180, last_attempt_at=NOW - 2_100,
        ),
        origin(
            "https://blog.example.com", state="READY", todo=41, pending=44, done=610, requests=640,
            bytes=31_000_000, next_request_at=NOW - 200, last_url="https://blog.example.com/2025/12/review",
            discovered=90,
        ),
        origin(
            "https://old.example.org", paused=True, paused_at=NOW - 29 * MINUTE, paused_by=WHO, todo=4_410,
            pending=4_410, last_exit_code="", last_http_status=None, last_attempt_at=0, last_url="",
            robots_status="none", robots_fetched_at=0, robots_expires_at=0, last_response_ms=0,
        ),
        origin(
            "https://down.example.com", state="FINISHED", finish_reason="patience", patience=0, politeness=2,
            delay_ms=8_000, delay_reason="response_time", todo=120, pending=120, done=14, failed=4, requests=64,
            bytes=390_000, last_url="https://down.example.com/status", last_exit_code="connection_failed",
            last_http_status=None, last_response_ms=2_004, last_attempt_at=NOW - 22 * SECOND,
        ),
        origin(
            "https://tiny.example", state="FINISHED", finish_reason="exhausted", done=37, requests=39,
            bytes=810_000, last_url="https://tiny.example/imprint", last_attempt_at=NOW - 31 * MINUTE,
        ),
        origin(
            "https://shop.example.net", patience=4, todo=1_204, pending=2_310, done=3_377, failed=1, blocked=1_120,
            requests=4_810, bytes=88_000_000, delay_ms=2_400, delay_reason="response_time", politeness=1,
            next_request_at=NOW + 1_200, last_url="https://shop.example.net/cart?add=17", discovered=4_700,
            last_exit_code="server_internal_error", last_http_status=503, last_response_ms=1_210,
        ),
        origin(
            "https://wiki.example.edu", todo=96, pending=2_096, done=1_204, requests=1_260, bytes=44_000_000,
            delay_ms=15_000, delay_reason="operator", operator_delay_ms=15_000, next_request_at=NOW + 12_400,
            last_url="https://wiki.example.edu/wiki/Robots.txt", discovered=1_100,
        ),
        origin(
            "https://private.example.org", state="FINISHED", finish_reason="exhausted", blocked=212, requests=1,
            last_exit_code="blocked_by_robots_txt", last_http_status=None, last_response_ms=95,
            last_url="https://private.example.org/a", last_attempt_at=NOW - 40 * MINUTE,
        ),
        origin(
            "https://busy.example.io", asleep_until=0, delay_ms=180_000, delay_reason="retry_after", todo=18,
            pending=18, done=72, requests=91, bytes=2_200_000, next_request_at=NOW + 134_000,
            last_url="https://busy.example.io/feed", last_exit_code="rate_limited", last_http_status=429,
            last_response_ms=88, patience=5, politeness=4, last_attempt_at=NOW - 46_000,
        ),
    )  # fmt: skip


def attempt(number: int, url: str, code: str, **changes: object) -> AttemptView:
    """An attempt; `number` is its id, newer ones have greater ids."""
    base = url.split("/", 3)
    started = NOW - (400 - number) * 1_700
    plain = AttemptView(
        attempt_id=number,
        run_id=7,
        url=url,
        origin="/".join(base[:3]),
        kind="page",
        exit_code=code,
        exit_code_id=int(ExitCode.__members__.get(code, ExitCode.cancelled)),
        http_status=200,
        started_at=started,
        ended_at=started + 240,
        response_ms=240,
        bytes=18_204,
        requests=1,
        patience_after=5,
        politeness_after=0,
        delay_ms_after=1_000,
        worker="w1",
        message="",
        patience_before=5,
        ruleset_id=13,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # keyword names are checked at run time


def attempts() -> tuple[AttemptView, ...]:
    """The newest entries of the crawl log, newest first."""
    wait = "no response head within 30.0 s"
    timeout = {"http_status": None, "response_ms": 30_000, "bytes": 0, "message": wait}
    return (
        attempt(
            400, f"{API}/v2/items?page=18", "request_timeout", **timeout, patience_before=3, patience_after=2,
            delay_ms_after=4_000, delay_reason="rate_limit",
        ),
        attempt(
            399, f"{DOCS}/guide/intro", "file_did_not_change", http_status=304, bytes=0, response_ms=180,
            title="Introduction – Example Docs",
        ),
        attempt(398, f"{WWW}/products/4710", "file_ingested", title="Bicycle bell, brass – Example Shop", new_pages=3),
        attempt(
            397, "https://shop.example.net/cart?add=17", "server_internal_error", http_status=503, response_ms=1_210,
            bytes=512, message="503 Service Unavailable", patience_before=5, patience_after=4,
        ),
        attempt(
            396, "https://busy.example.io/feed", "rate_limited", http_status=429, response_ms=88, bytes=120,
            message="Retry-After: 180", delay_ms_after=180_000, delay_reason="retry_after",
        ),
        attempt(
            395, f"{API}/v2/items?page=17", "file_ingested", response_ms=900, new_pages=7,
            title="[bold red]Items[/] page 17 \x1b[2J", delay_ms_after=4_000, patience_before=3, patience_after=3,
        ),
        attempt(
            394, f"{WWW}/login?next=%2Fcart", "blocked_url_by_local_policy", http_status=None, response_ms=None,
            bytes=0, requests=0, decided_by="no policy allows the parameter next",
        ),
        attempt(
            393, f"{WWW}/products/4709", "permanent_redirect", http_status=301, bytes=0, response_ms=90,
            message=f"→ {WWW}/products/bell",
        ),
        attempt(
            392, f"{API}/v2/items?page=3", "request_timeout", **timeout, patience_before=4, patience_after=3,
            delay_ms_after=4_000, delay_reason="rate_limit",
        ),
        attempt(391, "https://blog.example.com/2025/12/review", "file_ingested", title="2025 in review", new_pages=1),
        attempt(
            390, f"{API}/robots.txt", "file_ingested", kind="robots", bytes=2_100, response_ms=120, patience_before=4,
            patience_after=4,
        ),
        attempt(
            389, f"{API}/v2/search", "rate_limited", http_status=429, bytes=90, response_ms=70, message="too many",
            delay_ms_after=4_000, delay_reason="rate_limit", patience_before=4, patience_after=4,
        ),
        attempt(388, f"{DOCS}/guide/missing", "file_not_found", http_status=404, bytes=3_100, message="404 Not Found"),
        attempt(
            387, "https://down.example.com/status", "connection_failed", http_status=None, response_ms=2_004, bytes=0,
            message="connection refused", patience_before=1, patience_after=0,
        ),
    )  # fmt: skip


def run_view(**changes: object) -> RunView:
    """A live run of 42 minutes."""
    plain = RunView(
        run_id=7,
        started_at=NOW - 42 * MINUTE - 10 * SECOND,
        finished_at=0,
        finish_reason="",
        requests=101_900,
        user_agent="example-net-crawler (for https://example.net/why-we-crawl)",
        config_name="my-index",
        live=True,
        owner="process 4711 on host reef",
        heartbeat_at=NOW - 800,
        worked_ms=42 * MINUTE + 10 * SECOND - 800,
        max_in_flight=8,
        tries=5,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # keyword names are checked at run time


def page(number: int, url: str, code: str, **changes: object) -> PageView:
    """A failed page, due as `v_page` has it: with tries left since it was tried, else after the interval."""
    plain = PageView(
        page_id=number,
        url=url,
        origin="/".join(url.split("/", 3)[:3]),
        job="my-index",
        status="READY",
        attempts=3,
        attempts_remaining=0,
        nice=0,
        depth=3,
        not_before=0,
        last_exit_code=code,
        last_http_status=None,
        last_crawled_at=NOW - 6 * MINUTE - number % 100 * 4 * MINUTE,
        due_at=0,
        took_ms=30_000 if code == "request_timeout" else None,
    )
    made = replace(plain, **changes)  # type: ignore[arg-type]  # keyword names are checked at run time
    left, status = made.attempts_remaining, PageStatus[made.status]
    due_at = max(made.not_before, made.last_crawled_at) if left > 0 else made.last_crawled_at + RECRAWL_MS
    if status in {PageStatus.SKIPPED, PageStatus.STASHED}:
        due_at = 0
    recovers = is_recoverable(status, left, ExitCode[code] if code else None, made.last_http_status)
    return replace(made, recoverable=recovers, due_at=changes.get("due_at", due_at))  # type: ignore[arg-type]  # see above


def failed_pages() -> tuple[PageView, ...]:
    """Failed pages of several kinds, in the order of their ids."""
    wait = "no response head within 30.0 s"
    pages = [
        page(
            18, f"{API}/v2/items?page=18", "request_timeout", attempts=3, attempts_remaining=2,
            message=wait, last_crawled_at=NOW, title="Items page 18", not_before=NOW + 2 * MINUTE,
        ),
        page(
            3, f"{API}/v2/items?page=3", "request_timeout", attempts=1, attempts_remaining=4,
            message=wait, last_crawled_at=NOW - 14 * SECOND,
        ),
    ]  # fmt: skip
    pages += [
        page(100 + n, f"{API}/v2/user/{n}", "request_timeout", attempts_remaining=2, message=wait) for n in range(7)
    ]
    pages += [
        page(
            200 + n, f"https://down.example.com/{word}", "connection_failed", message="connection refused", attempts=5,
            last_crawled_at=NOW - 22 * SECOND - n * 3 * MINUTE,
        )
        for n, word in enumerate(("status", "about", "imprint", "login"))
    ]  # fmt: skip
    pages += [
        page(
            300, f"{DOCS}/guide/missing", "file_not_found", last_http_status=404, attempts=1, message="404 Not Found",
            title="Page not found – Example Docs", last_crawled_at=NOW - 20 * SECOND,
        ),
        page(
            301, "https://shop.example.net/cart?add=17", "server_internal_error", last_http_status=503,
            attempts_remaining=2, message="503 Service Unavailable", title="[/]Out of order",
            last_crawled_at=NOW - 5 * SECOND,
        ),
    ]  # fmt: skip
    return tuple(sorted(pages, key=lambda one: one.page_id))


def page_detail(url: str = f"{API}/v2/items?page=18") -> PageDetail:
    """The URL that times out, whole."""
    wait = "no response head within 30.0 s"
    timeout = {"http_status": None, "response_ms": 30_000, "bytes": 0, "message": wait}
    sent = (
        ("host", "api.example.org"),
        ("user-agent", "example-net-crawler (for https://example.net/why-we-crawl)"),
        ("accept", "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.5"),
        ("accept-encoding", "gzip"),
        ("if-none-match", '"a81"'),
    )
    received = (
        ("content-type", "text/html; charset=utf-8"),
        ("etag", '"a81"'),
        ("server", "nginx \x1b]52;c;aGk=\x07"),
        ("last-modified", "Mon, 08 Dec 2025 07:02:11 GMT"),
    )
    tried = (
        attempt(400, url, "request_timeout", **timeout, patience_before=3, patience_after=2, title="Items page 18"),
        attempt(361, url, "request_timeout", **timeout, patience_before=5, patience_after=4, requests=2),
        attempt(
            212,
            url,
            "file_ingested",
            run_id=3,
            response_ms=900,
            new_pages=7,
            bytes=STORED_BYTES,
            started_at=FOUND_AT - 900,
            ended_at=FOUND_AT,
            ruleset_id=9,
        ),
    )
    requests = (
        _request(
            904, 400, url, "GET", NOW - 30_000, None, NOW, None, True, False, wait, "203.0.113.7", sent, (),
            1, 20, 31, False,
        ),
        _request(
            861, 361, url, "GET", NOW - 98_000, None, NOW - 97_990, None, True, False, "connection reset",
            "203.0.113.7", sent, (), connection_reused=True,
        ),
        _request(
            862, 361, url, "GET", NOW - 97_900, None, NOW - 67_900, None, True, True, wait, "203.0.113.7", sent, (),
            1, 19, 30, False,
        ),
        _request(
            512, 212, url, "GET", FOUND_AT - 900, FOUND_AT - 300, FOUND_AT, 200, False,
            False, "", "203.0.113.7", sent, received, connection_reused=True,
        ),
    )  # fmt: skip
    path = (
        Hop(f"{API}/", f"{API}/v2/", "a", 1, FOUND_AT - 42 * MINUTE),
        Hop(f"{API}/v2/", f"{API}/v2/items?page=17", "a", 2, FOUND_AT - 20 * MINUTE),
        Hop(f"{API}/v2/items?page=17", url, "a", 3, FOUND_AT - MINUTE),
    )
    link = LinkView(f"{API}/v2/items?page=17", url, "a", False, "next ›", FOUND_AT - MINUTE)
    found = page(
        18, url, "request_timeout", attempts=3, attempts_remaining=2, message=wait,
        last_crawled_at=NOW, title="Items page 18", etag='"a81"', content_type="text/html; charset=utf-8",
        size=STORED_BYTES,
        not_before=NOW + 120_000, sha256="9f2c4a" + "0" * 58,
    )  # fmt: skip
    return PageDetail(found, tried, requests, (link,), (), (), path, inlink_count=12, outlink_count=7)


def todo_list(origin: str) -> tuple[TodoView, ...]:
    """The beginning of a todo list: found pages, a seed, a retry that waits."""
    return (
        TodoView(f"{origin}/v2/items?page=20", 3, 0, 0, 3, 0, False, found_on=f"{origin}/v2/items?page=19"),
        TodoView(f"{origin}/v2/items?page=21", 3, 0, 0, 3, 0, False, found_on=f"{origin}/v2/items?page=20"),
        TodoView(f"{origin}/about", 1, 10, 0, 3, 0, True, "About us"),
        TodoView(f"{origin}/v2/user/7", 4, 0, 2, 1, NOW + 2 * MINUTE, False, "[red]seven[/red]", f"{origin}/v2/"),
        *(
            TodoView(f"{origin}/v2/items/{4_000 + n}", 4, 1, 0, 3, 0, False, found_on=f"{origin}/v2/items?page=17")
            for n in range(30)
        ),
    )
