"""Pages that are gone or refused link to nothing; those that come back, or fail for a while, link as before."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import Answer, Site

CHECKED = "crawl: {check_fragments: true}"


def old_page(site: Site) -> None:
    """A site whose page /old has a link to /dead and one to a fragment that does not exist, and is linked itself."""
    site.page("/", "/old", "/new")
    site.page("/new", head="<title>new</title>")
    site.page("/old", "/dead", "/new#nowhere", "/only", headers=(("ETag", '"one"'),))
    site.page("/only")
    site.answer("/dead", Answer(404))


def links_of(crawl: Crawling, site: Site, path: str) -> list[tuple[str, str]]:
    """Kind and target of the links of a page."""
    rows = crawl.rows("SELECT kind, to_url FROM v_link WHERE from_url = ? ORDER BY to_url", site.url(path))
    return [(row["kind"], row["to_url"]) for row in rows]


def told(crawl: Crawling, *words: str) -> dict[str, Any]:
    """Everything that names broken links, without what page is broken because of itself."""
    report = crawl.ask("report", "--json", *words).json
    found = crawl.ask("links", "--broken", "--json").json["broken"]
    counts = crawl.broken_counts()
    return {
        "links": {one["url"] + (f"#{one['fragment']}" if one["fragment"] else "") for one in found},
        "report": {
            row["url"] for key in ("broken", "broken_fragments", "failed_unnamed") for row in report[key]["rows"]
        },
        "counts": counts["broken"] + counts["fragments"],
    }


def again(crawl: Crawling, text: str = CHECKED) -> None:
    """A later run in which every page is due."""
    crawl.run(text, later=5 * WEEK)


@pytest.mark.parametrize("status", [404, 410, 403, 451])
def test_a_page_that_is_gone_links_to_nothing(crawl: Crawling, status: int) -> None:
    site = crawl.site()
    old_page(site)
    crawl.run(CHECKED)
    assert told(crawl)["links"] == {site.url("/dead"), site.url("/new#nowhere")}

    site.answer("/old", Answer(status))
    site.page("/", "/new")
    again(crawl)
    assert told(crawl) == {"links": set(), "report": set(), "counts": 0}
    assert links_of(crawl, site, "/old") == []
    rows = crawl.ask("failures", "--list", "--referrers", "--json").json["pages"]
    assert {one["url"]: one["referrers"] for one in rows} == {site.url("/old"): [], site.url("/dead"): []}
    assert crawl.ask("links", site.url("/dead"), "--json").json["inlinks"] == []


def test_a_page_that_is_gone_and_still_linked_is_the_one_that_is_told(crawl: Crawling) -> None:
    site = crawl.site()
    old_page(site)
    crawl.run(CHECKED)
    site.answer("/old", Answer(404))
    again(crawl)
    gone = {site.url("/old")}
    assert told(crawl) == {"links": gone, "report": gone, "counts": 1}
    changes = {one["url"]: one["change"] for one in crawl.ask("diff", "--json").json["pages"]}
    assert changes == {site.url("/old"): "gone"}


def test_what_only_a_gone_page_names_is_unreached_for_diff(crawl: Crawling) -> None:
    site = crawl.site()
    old_page(site)
    site.page("/only", headers=(("Cache-Control", "max-age=9000000"),))
    crawl.run(CHECKED)
    site.answer("/old", Answer(404))
    again(crawl, "crawl: {check_fragments: true, respect_http_freshness: true}")
    changes = {one["url"]: one["change"] for one in crawl.ask("diff", "--json").json["pages"]}
    assert changes == {site.url("/old"): "gone", site.url("/only"): "gone"}


REFUSALS = {
    "robots": "",
    "policy": "policies: {do_not_crawl: [{path: /old}]}",
    "rule": "rules: [{match: /old, skip: true}]",
    "exclusion": "exclusions: [{pattern: /old, reason: asked}]",
}


@pytest.mark.parametrize("how", REFUSALS)
def test_a_page_that_is_refused_now_links_to_nothing(crawl: Crawling, how: str) -> None:
    site = crawl.site()
    old_page(site)
    crawl.run(CHECKED)
    if how == "robots":
        site.robots("User-agent: *\nDisallow: /old")
    again(crawl, f"{CHECKED}\n{REFUSALS[how]}")
    assert crawl.page(site.url("/old"))["last_exit_code"].startswith(("blocked", "skipped"))
    assert told(crawl) == {"links": set(), "report": set(), "counts": 0}


@pytest.mark.parametrize("answer", [Answer(500), Answer(503), Answer(429), Answer(418), Answer(end="reset", raw=b"")])
def test_a_failure_that_may_pass_takes_no_links(crawl: Crawling, answer: Answer) -> None:
    site = crawl.site()
    old_page(site)
    crawl.run(CHECKED)
    before = links_of(crawl, site, "/old")
    site.answer("/old", answer)
    again(crawl)
    assert links_of(crawl, site, "/old") == before
    assert {site.url("/dead"), site.url("/new#nowhere")} <= told(crawl)["links"]


@pytest.mark.parametrize("back", ["at once", "after a failure"])
def test_a_page_that_comes_back_has_its_links_again(crawl: Crawling, back: str) -> None:
    """It is asked for without conditions: a server that says that it did not change would send no links."""
    site = crawl.site()
    old_page(site)
    crawl.run(CHECKED)
    before = links_of(crawl, site, "/old")
    site.answer("/old", Answer(404))
    again(crawl)
    if back == "after a failure":
        site.answer("/old", Answer(500))
        again(crawl)
    assert links_of(crawl, site, "/old") == []
    old_page(site)
    again(crawl)
    assert [one.header("If-None-Match") for one in site.requests("/old")][-1] is None
    assert crawl.page(site.url("/old"))["last_exit_code"] == "file_ingested"
    assert links_of(crawl, site, "/old") == before
    assert told(crawl)["links"] == {site.url("/dead"), site.url("/new#nowhere")}


def test_a_redirect_of_a_page_that_is_gone_names_nothing(crawl: Crawling) -> None:
    site = crawl.site().front("/moved", "/new")
    site.page("/new")
    site.redirect("/moved", "/dead")
    site.answer("/dead", Answer(404))
    crawl.run()
    assert told(crawl)["links"] == {site.url("/dead")}
    site.answer("/moved", Answer(410))
    site.page("/", "/new")
    again(crawl)
    assert told(crawl) == {"links": set(), "report": set(), "counts": 0}
    assert crawl.rows("SELECT * FROM v_redirect") == []


def test_a_sitemap_that_is_gone_names_nothing(crawl: Crawling) -> None:
    site = crawl.site().front()
    site.robots(f"Sitemap: {site.url('/map.xml')}")
    urls = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in ("/dead", "/"))
    site.file("/map.xml", f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>', "text/xml")
    crawl.run()
    assert told(crawl)["links"] == {site.url("/dead")}
    site.answer("/map.xml", Answer(404))
    site.robots("")
    again(crawl)
    assert told(crawl)["links"] == set()
    assert told(crawl)["report"] <= {site.url("/map.xml")}


def test_links_of_a_gone_page_that_an_older_version_kept_go_at_its_next_visit(crawl: Crawling) -> None:
    site = crawl.site()
    old_page(site)
    crawl.run()
    site.answer("/old", Answer(404))
    site.page("/", "/new")
    again(crawl, "")
    with closing(sqlite3.connect(crawl.database)) as database, database:
        database.execute(
            "INSERT INTO link (from_page_id, kind, to_url_id, first_seen_at) SELECT p.id, 'a', u.id, 1 FROM page p"
            " JOIN url v ON v.id = p.url_id, url u WHERE v.href = ? AND u.href = ?",
            (site.url("/old"), site.url("/dead")),
        )
    assert told(crawl)["links"] == {site.url("/dead")}
    again(crawl, "")
    assert told(crawl) == {"links": set(), "report": set(), "counts": 0}


def test_each_job_has_links_of_its_own(crawl: Crawling) -> None:
    site = crawl.site()
    old_page(site)
    jobs = f"jobs: [{{name: other, seeds: ['{site.url('/old')}']}}]"
    crawl.run(jobs)
    assert len(links_of(crawl, site, "/old")) == 6
    site.answer("/old", Answer(404))
    again(crawl, jobs)
    assert links_of(crawl, site, "/old") == []
