"""Rules (B): accept, skip, ua and custom_js; in order, the last value that is given wins."""

from __future__ import annotations

from tests.designs.crawling import Crawling
from tests.designs.web import Site


def site_of(crawl: Crawling, *paths: str) -> Site:
    """A site whose front page links to these pages."""
    site = crawl.site().front(*paths)
    for path in paths:
        site.page(path)
    return site


def test_accept_false_leaves_links_unqueued_and_counts_them(crawl: Crawling) -> None:
    site = site_of(crawl, "/print/1", "/print/keep", "/a")
    crawl.run("rules: [{match: /print/, accept: false}, {match: /keep, accept: true}]")
    assert site.asked == ["/", "/print/keep", "/a"]
    assert crawl.refused() == {"rule_accept": 1}
    assert crawl.value("SELECT count(*) FROM v_link WHERE to_url = ?", site.url("/print/1")) == 1


def test_skip_is_applied_when_the_page_is_dequeued(crawl: Crawling) -> None:
    """The page is SKIPPED with all its tries; the attempt names the rule and its line."""
    site = site_of(crawl, "/cal/1", "/cal/today")
    crawl.run("rules:\n  - {match: /cal/, skip: true}\n  - {match: /today, skip: false}")
    assert site.asked == ["/", "/cal/today"]
    page = crawl.page(site.url("/cal/1"))
    assert (page["status"], page["attempts"], page["attempts_remaining"]) == ("SKIPPED", 0, 3)
    (attempt,) = crawl.rows("SELECT exit_code, message, requests FROM v_attempt WHERE url = ?", site.url("/cal/1"))
    assert attempt == {"exit_code": "skipped_by_rule", "message": "rule /cal/: skip true", "requests": 0}
    detail = crawl.detail(site.url("/cal/1"))
    assert detail.attempts[0].decided_by == f"{crawl.file}:4"


def test_a_skipped_page_is_judged_again_when_the_rule_has_gone(crawl: Crawling) -> None:
    site = site_of(crawl, "/cal/1")
    crawl.run("rules: [{match: /cal/, skip: true}]")
    crawl.run()
    assert site.asked == ["/", "/cal/1"]
    assert crawl.page(site.url("/cal/1"))["status"] == "READY"


def test_ua_replaces_the_user_agent_of_a_page(crawl: Crawling) -> None:
    site = site_of(crawl, "/feed/1", "/feed/raw/1", "/a")
    crawl.run("rules: [{match: /feed/, ua: feed-reader}, {match: /raw/, ua: raw-reader/2}]")
    agents = {one.target: one.header("User-Agent") for one in site.seen}
    assert agents["/feed/1"] == "feed-reader"
    assert agents["/feed/raw/1"] == "raw-reader/2"
    assert agents["/a"] == agents["/robots.txt"] == "designs-crawler (for https://example.org/why)"


def test_the_group_of_robots_txt_is_that_of_the_agent_that_asks(crawl: Crawling) -> None:
    site = site_of(crawl, "/feed/1", "/a")
    site.robots("User-agent: feed-reader\nDisallow: /feed/\n\nUser-agent: *\nDisallow: /a")
    crawl.run("rules: [{match: /feed/, ua: feed-reader}]")
    assert site.asked == ["/"]
    messages = {row["url"]: row["message"] for row in crawl.rows("SELECT url, message FROM v_attempt")}
    assert "group feed-reader" in messages[site.url("/feed/1")]
    assert "group *" in messages[site.url("/a")]


def test_an_unconfigured_user_agent_is_warned_about(crawl: Crawling) -> None:
    crawl.site()
    config = crawl.configure("user_agent: tui-crawler-unconfigured-ua")
    said = crawl.command("check", str(config))
    assert said.status == 0
    assert "not set: requests are sent as" in said.out + said.err


def test_custom_js_without_the_browser_extra_fails_visibly(crawl: Crawling) -> None:
    site = site_of(crawl, "/app", "/a")
    crawl.run("rules: [{match: /app, custom_js: 'document.title'}]")
    assert site.asked == ["/", "/a"]
    page = crawl.page(site.url("/app"))
    assert page["last_exit_code"] == "local_processing_error"
    said = crawl.ask("failures", "--list", "--json").json["pages"]
    (row,) = [row for row in said if row["url"] == site.url("/app")]
    assert "custom_js here, which no version can run yet" in row["message"]
