"""Recrawling (U, R, G): when a page is due, what it is asked with, and what an unchanged one changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.designs.crawling import DAY, GONE, HOUR, MINUTE, QUICK, WEEK, Crawling
from tests.designs.web import HTML, Answer, Site
from tests.support.postgres_database import made_database
from tui_crawler.domain.crawl.event import Event
from tui_crawler.wiring.launch import Launch

TAG, DATE = '"a-1"', "Tue, 01 Dec 2026 08:00:00 GMT"


def kept(*headers: tuple[str, str], status: int = 200, body: bytes = b"<!DOCTYPE html><title>t</title>") -> Answer:
    """A page with these headers."""
    return Answer(status, body, (("Content-Type", HTML), *headers))


def conditions(site: Site, path: str = "/") -> list[tuple[str | None, str | None]]:
    """If-None-Match and If-Modified-Since of each request for a path."""
    return [(one.header("If-None-Match"), one.header("If-Modified-Since")) for one in site.requests(path)]


def row_of(crawl: Crawling, site: Site, columns: str) -> dict[str, Any]:
    """Columns of the front page of a site, as the tables have them (what no view shows)."""
    query = f"SELECT {columns} FROM page p JOIN url u ON u.id = p.url_id LEFT JOIN document d ON d.page_id = p.id"
    (row,) = crawl.rows(f"{query} WHERE u.href = ?", site.url())
    return row


def links_of(crawl: Crawling, site: Site) -> list[dict[str, Any]]:
    """The links of the front page of a site."""
    return crawl.rows("SELECT * FROM v_link WHERE from_url = ?", site.url())


def test_a_page_is_due_after_the_interval(crawl: Crawling) -> None:
    site = crawl.site().front()
    crawl.run()
    due = crawl.page(site.url())["due_at"]
    assert due == site.requests("/")[0].ended + 4 * WEEK
    crawl.run(later=due - crawl.now - MINUTE)
    assert site.asked == ["/"]
    crawl.run(later=MINUTE)
    assert site.asked == ["/", "/"]


def test_the_shelf_life_is_applied_when_a_list_is_filled(crawl: Crawling) -> None:
    """So a changed setting acts at once (G calls it shelf_life)."""
    site = crawl.site().front()
    crawl.run()
    crawl.run("crawl: {shelf_life: 1 day}", later=2 * DAY)
    assert site.asked == ["/", "/"]


FRESHNESS = (
    ((("Cache-Control", "public, max-age=4838400"),), 8),
    ((("Cache-Control", "max-age=5443200"), ("Age", "604800")), 8),
    ((("Date", "Fri, 01 Jan 2027 00:00:00 GMT"), ("Expires", "Fri, 26 Feb 2027 00:00:00 GMT")), 8),
    ((("Cache-Control", "max-age=60"), ("Expires", "Fri, 01 Jan 2044 00:00:00 GMT")), 4),
    ((("Cache-Control", "no-cache, max-age=4838400"),), 4),
)


def test_http_freshness_puts_a_page_off(crawl: Crawling) -> None:
    """max-age wins over Expires, Age is taken off, no-cache means not at all; the interval is the least."""
    sites = [crawl.site() for _ in FRESHNESS]
    for site, (headers, _) in zip(sites, FRESHNESS, strict=True):
        site.answer("/", kept(*headers))
    crawl.run()
    due = [(crawl.page(site.url())["due_at"] - site.requests("/")[0].ended) // WEEK for site in sites]
    assert due == [weeks for _, weeks in FRESHNESS]


def test_http_freshness_can_be_left_alone(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", kept(("Cache-Control", "max-age=4838400")))
    crawl.run()
    crawl.run(later=5 * WEEK)
    assert site.asked == ["/"]
    crawl.run("crawl: {respect_http_freshness: false}")
    assert site.asked == ["/", "/"]


BODY = b"<!DOCTYPE html><title>t</title><a href='http://127.0.0.1/x'>x</a>"
AGAIN = {  # what a page answers first, and five weeks later
    "verbatim": (kept(("ETag", 'W/"\u00e4 b"'), ("Last-Modified", DATE)), Answer(304)),
    "no-last-modified": (kept(), Answer(304)),
    "304": (kept(("ETag", TAG), body=BODY), Answer(304)),
    "equal-etag": (kept(("ETag", TAG), body=BODY), kept(("ETag", f"W/{TAG}"), body=b"other")),
    "failed": (Answer(404), kept()),
    "changed": (kept(("ETag", TAG)), kept(("ETag", '"b"'), body=b"<title>new</title>")),
}
COLUMNS = "last_contentful_at, etag, title, sha256, stored_at"


@pytest.fixture(scope="module")
def recrawled(shared_crawl: Crawling) -> tuple[Crawling, dict[str, Site], dict[str, Any]]:
    """Two runs over a site for each of these, and what was known of each after the first one."""
    crawl = shared_crawl
    sites = {name: crawl.site() for name in AGAIN}
    for name, site in sites.items():
        site.answer("/", *AGAIN[name])
    crawl.run()
    before = {name: (row_of(crawl, site, COLUMNS), links_of(crawl, site)) for name, site in sites.items()}
    crawl.run(later=5 * WEEK)
    return crawl, sites, before


Recrawled = tuple[Crawling, dict[str, Site], dict[str, Any]]


def test_a_recrawl_asks_with_the_validators_verbatim(recrawled: Recrawled) -> None:
    crawl, sites, _ = recrawled
    site = sites["verbatim"]
    assert conditions(site) == [(None, None), ('W/"\u00e4 b"', DATE)]
    requests = crawl.rows("SELECT conditional FROM v_request WHERE url = ? ORDER BY request_id", site.url())
    assert [row["conditional"] for row in requests] == [0, 1]


ILLEGAL = {  # what a server can say of a page that no request of ours may repeat
    "control": '"a\x01b"',
    "delete": '"a\x7f"',
    "vertical-tab": '"a\x0bb"',
    "long": f'"{"x" * 60_000}"',
    "every-version": "*",
}


@pytest.mark.parametrize("value", ILLEGAL.values(), ids=ILLEGAL)
def test_a_validator_that_no_request_may_hold_is_left_out(crawl: Crawling, value: str) -> None:
    """The page is crawled again all the same; the other validator, or the time of the last crawl, is asked with."""
    site = crawl.site()
    site.answer("/", kept(("ETag", value), ("Last-Modified", DATE)))
    site.answer("/b", kept(("ETag", TAG), ("Last-Modified", value)))
    crawl.run(seeds=[site.url(), site.url("/b")])
    assert [crawl.page(site.url(path))[field] for path, field in (("/", "etag"), ("/b", "last_modified"))] == ["", ""]
    crawl.run(seeds=[site.url(), site.url("/b")], later=5 * WEEK)
    assert conditions(site)[1:] == [(None, DATE)]
    assert conditions(site, "/b")[1][0] == TAG
    assert crawl.codes(site.url()) == ["file_ingested"] * 2


def test_a_database_that_holds_such_a_validator_crawls_the_page_again(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", kept(("ETag", TAG), ("Last-Modified", DATE)))
    crawl.run()
    crawl.change("UPDATE document SET etag = ?, last_modified = ?", '"a\x01"', "\ufffd\x02")
    crawl.run(later=5 * WEEK)
    assert conditions(site)[1] == (None, "Fri, 15 Jan 2027 08:16:41 GMT")
    assert crawl.codes(site.url()) == ["file_ingested"] * 2


def test_without_last_modified_the_last_contentful_crawl_is_asked_with(recrawled: Recrawled) -> None:
    _, sites, _ = recrawled
    assert conditions(sites["no-last-modified"]) == [(None, None), (None, "Fri, 15 Jan 2027 08:16:41 GMT")]


@pytest.mark.parametrize("name", ["304", "equal-etag"])
def test_an_unchanged_page_changes_only_when_it_was_last_crawled(recrawled: Recrawled, name: str) -> None:
    """An equal ETag (weak comparison) is enough, also in an answer of 200 (G)."""
    crawl, sites, before = recrawled
    site = sites[name]
    page = crawl.page(site.url())
    assert page["last_exit_code"] == "file_did_not_change"
    assert page["last_crawled_at"] == site.requests("/")[1].ended
    assert page["attempts_remaining"] == 0
    assert (row_of(crawl, site, COLUMNS), links_of(crawl, site)) == before[name]
    assert links_of(crawl, site)


def test_content_that_changed_replaces_the_document(recrawled: Recrawled) -> None:
    crawl, sites, before = recrawled
    url = sites["changed"].url()
    page = crawl.page(url)
    assert (page["title"], page["etag"]) == ("new", '"b"')
    assert page["sha256"] != before["changed"][0]["sha256"]
    with crawl.reports() as reports:
        assert reports.body(url) == b"<title>new</title>"


def test_a_failed_page_without_tries_is_checked_again_after_the_interval(recrawled: Recrawled) -> None:
    crawl, sites, _ = recrawled
    assert crawl.codes(sites["failed"].url()) == ["file_not_found", "file_ingested"]


def test_a_failure_leaves_the_last_contentful_data_alone(crawl: Crawling) -> None:
    """Time, ETag and Last-Modified change together, and only with content."""
    site = crawl.site()
    site.answer("/", kept(("ETag", TAG), ("Last-Modified", DATE)), Answer(404, headers=(("ETag", '"x"'),)), Answer(304))
    crawl.run()
    first = crawl.page(site.url())
    crawl.run(later=5 * WEEK)
    page = crawl.page(site.url())
    assert (page["last_exit_code"], page["last_http_status"]) == ("file_not_found", 404)
    assert (page["etag"], page["last_modified"]) == (TAG, DATE)
    assert row_of(crawl, site, "last_contentful_at")["last_contentful_at"] == first["last_crawled_at"]
    crawl.run(later=5 * WEEK)
    assert conditions(site)[2] == (TAG, DATE)
    assert crawl.codes(site.url()) == ["file_ingested", "file_not_found", "file_did_not_change"]


def test_a_failed_page_with_tries_is_taken_up_by_the_next_run(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", Answer(418))
    for remaining in (2, 1, 0, 0):
        crawl.run()
        assert crawl.page(site.url())["attempts_remaining"] == remaining
    assert len(site.asked) == 3


def test_force_recrawl_makes_every_done_page_due_once_and_asks_without_conditions(crawl: Crawling) -> None:
    site = crawl.site().front("/a")
    site.page("/a", "/", headers=(("Cache-Control", "max-age=99999999"),))
    crawl.run()
    crawl.run()
    assert len(site.asked) == 2
    crawl.run(crawl__force_recrawl=True)
    assert site.asked == ["/", "/a", "/", "/a"]
    assert set(conditions(site, "/a")) == {(None, None)}


def test_recheck_makes_every_done_page_due_once_and_asks_with_conditions(crawl: Crawling) -> None:
    """As `--force-recrawl` does, also pages that are fresh and those that failed for good; what did not change is not
    transferred again. A start that continues the run asks nothing twice."""
    site = crawl.site()
    fresh = ("Cache-Control", "max-age=99999999")
    for path, body in (("/", b"<a href=/a></a><a href=/gone></a>"), ("/a", b"<a href=/></a>")):
        site.answer(path, kept(("ETag", f'"{path}"'), fresh, body=body), Answer(304))
    crawl.run()
    crawl.later(MINUTE)
    site.answer("/a", Answer(304), then=crawl.go_on_from_here)
    crawl.run(owner=GONE, launch=Launch(new_run=True), crawl__recheck=True)
    assert sorted(site.asked[3:]) == ["/", "/a", "/gone"]
    assert [tag for tag, _ in conditions(site)] == [None, '"/"']
    before = len(site.asked)
    crawl.run(crawl__recheck=True)
    assert crawl.value("SELECT count(*) FROM v_run") == 2
    asked = [row["url"] for row in crawl.rows("SELECT url FROM v_attempt WHERE run_id = 2 AND kind = 'page'")]
    assert sorted(asked) == sorted(site.url(path) for path in ("/", "/a", "/gone"))
    assert "/" not in site.asked[before:]
    assert set(crawl.codes(site.url())) == {"file_ingested", "file_did_not_change"}
    with crawl.reports() as reports:
        assert reports.body(site.url())
    crawl.run()
    assert crawl.value("SELECT count(*) FROM v_attempt WHERE run_id = 3 AND kind = 'page'") == 0


def test_a_page_that_has_changed_is_taken_in_by_a_recheck(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", kept(("ETag", TAG)), Answer(200, b"<title>new</title>", (("Content-Type", "text/html"),)))
    crawl.run()
    told: list[str] = []

    def ask_why(event: Event) -> None:
        if event.event == "run_started":
            told.append(crawl.command_meanwhile("why", site.url(), "--verbose", "--db", str(crawl.database)).out)

    crawl.run(on_event=ask_why, crawl__recheck=True, later=MINUTE)
    assert "now: this run crawls every page once more  (command line)" in told[0]
    assert [tag for tag, _ in conditions(site)] == [None, TAG]
    assert crawl.page(site.url())["title"] == "new"
    crawl.run(crawl__recheck=True, crawl__force_recrawl=True)
    assert conditions(site)[2] == (None, None)


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, crawl: Crawling) -> Iterator[str]:
    """A database in a file, and one on a server."""
    if request.param == "file":
        yield str(crawl.folder / "shared.db")
        return
    with made_database(request.getfixturevalue("postgres_url")) as made:
        yield made.url


def test_workers_recheck_each_page_once(crawl: Crawling, place: str) -> None:
    """Real processes; also one that joins with what the database keeps."""
    sites = [crawl.site() for _ in range(3)]
    for site in sites:
        for path, links in (("/", ("/a", "/b")), ("/a", ()), ("/b", ("/a",))):
            site.page(path, *links, headers=(("ETag", f'"{path}"'), ("Cache-Control", "max-age=9999999")))
    config = crawl.configure(f"{QUICK}\ncrawl: {{sitemaps: robots}}")
    run = ("run", str(config), "--db", place, "--new-run")
    with crawl.web.in_thread():
        assert crawl.command(*run).status == 0
        assert crawl.command(*run).status == 0
        assert [len(site.asked) for site in sites] == [3, 3, 3]
        assert crawl.command(*run, "--recheck", "--workers", "2").status == 0
        assert [sorted(site.asked[3:]) for site in sites] == [["/", "/a", "/b"]] * 3
        assert all(conditions(site, path)[1][0] == f'"{path}"' for site in sites for path in ("/", "/a", "/b"))
        assert crawl.command(*run, "--force-recrawl", "--workers", "2").status == 0
        assert [sorted(site.asked[6:]) for site in sites] == [["/", "/a", "/b"]] * 3
        assert {conditions(site, path)[2] for site in sites for path in ("/", "/a", "/b")} == {(None, None)}


def test_the_recipe_for_ci_sees_what_has_become_of_known_pages(
    crawl: Crawling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of an existing database makes no request for pages that are not due, and would find no new broken link."""
    page = (Path(__file__).parents[2] / "docs" / "howto" / "audit-in-ci.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^\$ tui-crawler (run .*--fail-on .*?)\s*(?:#.*)?$", page, re.MULTILINE)
    site = crawl.site().pages("/a")
    crawl.configure(QUICK)
    crawl.file.rename(crawl.folder / "my-index.yaml")
    monkeypatch.chdir(crawl.folder)
    with crawl.web.in_thread():
        assert crawl.command(*recipe.split()).status == 0
        site.answer("/a", Answer(404))
        broken = crawl.command(*recipe.split())
        site.page("/a")
        fine = crawl.command(*recipe.split())
    assert (broken.status, "1 broken" in broken.err) == (1, True)
    assert (fine.status, fine.err) == (0, "")


def test_no_conditions_when_the_body_is_not_kept(crawl: Crawling) -> None:
    """A 304 could not be used."""
    site = crawl.site()
    site.answer("/", kept(("ETag", TAG)))
    crawl.run("storage: {store_bodies: []}")
    crawl.run(later=5 * WEEK)
    assert conditions(site) == [(None, None), (None, None)]


def test_every_cache_header_is_recorded(crawl: Crawling) -> None:
    headers = {
        "ETag": TAG,
        "Last-Modified": DATE,
        "Cache-Control": "max-age=60",
        "Expires": "Fri, 01 Jan 2027 00:00:00 GMT",
        "Age": "12",
        "Content-Location": "/index.de.html",
    }
    site = crawl.site()
    site.answer("/", kept(*headers.items()))
    crawl.run()
    columns = "etag, last_modified, cache_control, expires, age, content_location"
    assert list(row_of(crawl, site, columns).values()) == list(headers.values())
    detail = crawl.detail(site.url())
    received = dict(detail.requests[-1].response_headers)
    assert {name: received[name] for name in headers} == headers


def test_headers_of_a_request_are_recorded_as_they_were_sent(crawl: Crawling) -> None:
    site = crawl.site().front()
    crawl.run()
    detail = crawl.detail(site.url())
    assert detail.requests[0].request_headers == site.requests("/")[0].headers
    names = [name for name, _ in detail.requests[0].request_headers]
    assert names == ["Host", "User-Agent", "Accept", "Accept-Encoding"]


def test_a_url_may_have_a_time_before_which_it_is_not_requested(crawl: Crawling) -> None:
    """The origin sleeps until then, and its run with it (R)."""
    site = crawl.site().pages("/later", "/now")
    crawl.run(crawl__max_requests=2)
    until = crawl.now + 2 * HOUR
    assert crawl.ask("add", f"{site.origin}/later", "--not-before", str(until)).status == 0
    why: list[str] = []

    def on_event(event: Event) -> None:
        if event.event == "origin_waiting" and dict(event.extra)["reason"] == "asleep":
            why.append(crawl.ask("status", "--json").json["origins"][0]["idle_reason"])

    crawl.run(on_event=on_event)
    assert site.asked == ["/", "/now", "/later"]
    assert site.requests("/later")[0].at >= until
    assert "nothing due until" in why[0]


def test_a_url_in_process_is_marked_with_its_start(crawl: Crawling) -> None:
    """So another process sees what is under way, and since when (R)."""
    site = crawl.site()
    seen: list[dict[str, Any]] = []

    def look() -> None:
        seen.extend(crawl.rows("SELECT p.status, p.claimed_at, o.in_flight_url FROM page p JOIN origin o"))

    answer = Answer(404, takes_ms=10_000)
    site.answer("/", answer, then=lambda: crawl.loop.call_later(9, look))
    crawl.run()
    (request,) = site.requests("/")
    assert [(row["status"], row["in_flight_url"]) for row in seen] == [(2, site.url())]
    assert request.at <= seen[0]["claimed_at"] < request.ended
    assert crawl.rows("SELECT status, claimed_at FROM page") == [{"status": 0, "claimed_at": 0}]


def test_what_is_due_is_shown(crawl: Crawling) -> None:
    site = crawl.site().front()
    crawl.run("crawl: {recrawl_interval: 2 weeks}")
    detail = crawl.detail(site.url())
    assert detail.page.due_at == detail.page.last_crawled_at + 2 * WEEK
    assert json.dumps(crawl.page(site.url()))
