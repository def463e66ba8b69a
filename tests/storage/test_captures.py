"""What an export of bodies has: every answer that is stored, also of earlier runs, of robots.txt and of errors."""

from __future__ import annotations

import base64
import zlib
from dataclasses import replace

import pytest

from tests.storage.making import A, attempt, failed, record, request, robots
from tests.storage.test_former import Site
from tests.storage.workbench import Workbench
from tui_crawler.domain.records.attempt import ERROR_BODY, AttemptRecord, AttemptResult, Settle
from tui_crawler.domain.records.exit_code import AttemptKind, ExitCode
from tui_crawler.storage.reports.export import Narrowing, StoredBody
from tui_crawler.storage.reports.reports import Reports


@pytest.fixture
def site(workbench: Workbench) -> Site:
    made = Site(workbench, grouped=False)
    made.run()
    made.crawl("/", "home", "/a", "/b")
    made.crawl("/a", "page a", "/")
    made.crawl("/b", "page b")
    return made


def bodies(reports: Reports) -> list[tuple[str, int | None, bytes]]:
    return [(one.url.removeprefix(A), one.http_status, one.body) for one in captures(reports)]


def captures(reports: Reports) -> list[StoredBody]:
    return list(reports.export_bodies(Narrowing()))


def test_a_body_that_was_replaced_comes_as_it_was_captured(site: Site, reports: Reports) -> None:
    site.run()
    site.crawl("/a", "page a again", "/")
    site.fail("/b", ExitCode.file_did_not_change, 304)
    assert bodies(reports) == [
        ("/", 200, b"home"),
        ("/a", 200, b"page a"),
        ("/b", 200, b"page b"),
        ("/a", 200, b"page a again"),
        ("/b", 304, b""),
    ]
    old, new = (one for one in captures(reports) if one.url == f"{A}/a")
    assert old.sent_at < new.sent_at
    assert [dict(one.facts).get("title") for one in (old, new)] == [None, "page"]


def test_a_run_that_failed_between_does_not_hide_it(site: Site, reports: Reports) -> None:
    site.run(keep_runs=3)
    site.fail("/a", ExitCode.server_internal_error, 500)
    site.run(keep_runs=3)
    site.crawl("/a", "page a again", "/")
    found = [(status, body) for path, status, body in bodies(reports) if path == "/a"]
    assert found == [(200, b"page a"), (500, b""), (200, b"page a again")]


def test_facts_say_where_a_page_was_found_and_what_it_names(site: Site, reports: Reports) -> None:
    home, page, _ = captures(reports)
    assert home.facts == (("title", "home"), ("outlink", f"{A}/a a"), ("outlink", f"{A}/b a"))
    assert page.facts == (("via", f"{A}/"), ("title", "page"), ("outlink", f"{A}/ a"))


def test_an_error_has_the_body_that_is_kept(site: Site, reports: Reports) -> None:
    site.run()
    packed = base64.b64encode(zlib.compress(b"not here")).decode()
    gone = failed(site.page("/b"), site.workbench.now, ExitCode.file_not_found, 404)
    site.settle(replace(gone, attempt=replace(gone.attempt, results=(AttemptResult(ERROR_BODY, packed),))))
    site.fail("/a", ExitCode.file_not_found, 404)
    with_body, without = captures(reports)[-2:]
    assert (with_body.body, with_body.cut) == (b"not here", "")
    assert (without.body, without.cut) == (b"", "unspecified")


def test_robots_txt_comes_with_the_hops_that_led_to_it(site: Site, reports: Reports) -> None:
    """The newest one: of an older one only that it was there."""
    for body in (b"User-agent: a\nDisallow: /\n", b"User-agent: b\nDisallow: /\n"):
        site.workbench.now += 1_000
        now, url = site.workbench.now, f"{A}/robots.txt"
        asked = (request(url, now - 5, 301), request(f"{A}/there.txt", now))
        attempt = AttemptRecord(A, url, AttemptKind.robots, ExitCode.file_ingested, now - 25, now, requests=asked)
        site.settle(Settle(attempt, record(robots=robots(body)), save_robots=True))
    assert bodies(reports)[3:] == [
        ("/robots.txt", 301, b""),
        ("/robots.txt", 301, b""),
        ("/there.txt", 200, b"User-agent: b\nDisallow: /\n"),
    ]


def test_a_body_whose_request_is_not_in_the_log_comes_alone(site: Site, reports: Reports) -> None:
    site.crawl("/a", "page a", "/c")
    site.crawl("/c", "page c", attempt=attempt_without_request(site, "/c"))
    assert bodies(reports)[-1] == ("/c", None, b"page c")


def test_a_body_that_was_kept_for_its_canonical_comes_with_the_request_that_brought_it(site: Site, reports: Reports):
    later = replace(attempt_without_request(site, "/a"), ended_at=site.workbench.now + 1_000)
    site.crawl("/a", "page a", attempt=later)
    assert bodies(reports) == [("/", 200, b"home"), ("/a", 200, b"page a"), ("/b", 200, b"page b")]


def attempt_without_request(site: Site, path: str) -> AttemptRecord:
    return replace(attempt(site.page(path), ExitCode.file_ingested, site.workbench.now), requests=())


def test_a_head_request_has_nothing_to_export(site: Site, reports: Reports) -> None:
    site.run()
    gone = failed(site.page("/b"), site.workbench.now, ExitCode.file_not_found, 404)
    asked = replace(request(f"{A}/b", site.workbench.now, 404), method="HEAD")
    site.settle(replace(gone, attempt=replace(gone.attempt, requests=(asked,))))
    assert len(captures(reports)) == 3
