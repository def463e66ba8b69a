"""robots.txt (U; RFC 9309): when it is asked for, what it decides, and what happens without it."""

from __future__ import annotations

import gzip
import re

from tests.designs.crawling import DAY, HOUR, MINUTE, Crawling
from tests.designs.web import Answer, Site


def robots_row(crawl: Crawling, site: Site) -> dict[str, object]:
    """The newest attempt for the robots.txt of a site."""
    query = "SELECT * FROM v_attempt WHERE kind = 'robots' AND origin = ? ORDER BY attempt_id DESC LIMIT 1"
    (row,) = crawl.rows(query, site.origin)
    return row


def test_it_comes_first_and_decides_over_every_page(crawl: Crawling) -> None:
    site = crawl.site().pages("/open", "/closed", "/closed/but")
    site.robots("User-agent: *\nDisallow: /open\n\nUser-agent: designs-crawler\nDisallow: /closed\nAllow: /closed/but")
    crawl.run()
    assert [one.target for one in site.seen] == ["/robots.txt", "/", "/open", "/closed/but"]
    assert crawl.codes(site.url("/closed")) == ["blocked_by_robots_txt"]
    with crawl.reports() as reports:
        assert reports.robots_text(site.origin) is not None
    (attempt,) = crawl.detail(site.url("/closed")).attempts
    assert attempt.message == 'robots.txt, group designs-crawler: "Disallow: /closed"'
    assert attempt.decided_by == "robots.txt:5"


def test_it_is_not_obeyed_at_own_sites_where_that_is_switched_off(crawl: Crawling) -> None:
    mine, other = crawl.site().pages("/a"), crawl.site().pages("/a")
    for site in (mine, other):
        site.robots("User-agent: *\nDisallow: /a")
    crawl.run(f"own_sites: [{mine.origin!r}]\ncrawl: {{obey_robots: false}}\nstorage: {{warc: live}}")
    assert (mine.asked, other.asked) == (["/", "/a"], ["/"])
    crawl.ask("export", "bodies", "--format", "warc", "--output", str(crawl.folder / "later.warc"))
    (live,) = (crawl.folder / "live").glob("*.warc.gz")
    for begins in (gzip.decompress(live.read_bytes())[:2_000], (crawl.folder / "later.warc").read_bytes()[:2_000]):
        assert re.search(rf"robots: .*{mine.origin}.*crawl.obey_robots".encode(), begins), "archives say so, too"
    message = crawl.value("SELECT message FROM v_attempt WHERE url = ?", mine.url("/a"))
    assert ("Disallow: /a" in message, "crawl.obey_robots" in message) == (True, True)
    assert mine.origin in crawl.ask("status", "--json").json["coverage"]["waived"]
    steps = {step["stage"]: step for step in crawl.ask("why", mine.url("/a"), "--json").json["steps"]}
    assert (steps["robots"]["verdict"], "obey_robots" in steps["robots"]["source"]) == ("pass", True)
    assert "crawl.obey_robots: false" in crawl.ask("why", other.url("/a")).out, "what could be done"


def test_an_own_site_whose_robots_txt_fails_is_crawled_where_it_is_not_obeyed(crawl: Crawling) -> None:
    site = crawl.site().pages("/a")
    site.answer("/robots.txt", Answer(503))
    crawl.run(f"own_sites: [{site.origin!r}]\ncrawl: {{obey_robots: false}}")
    assert site.asked == ["/", "/a"]
    assert crawl.value("SELECT patience FROM v_origin") == 5


def test_other_hosts_are_obeyed_when_they_are_checked(crawl: Crawling) -> None:
    mine, other = crawl.site(), crawl.site()
    mine.page("/", other.url("/x"))
    other.robots("User-agent: *\nDisallow: /")
    text = f"own_sites: [{mine.origin!r}]\ncrawl: {{obey_robots: false, obey_nofollow: false, check_external: true}}"
    crawl.run(text, seeds=[mine.url()])
    assert other.asked == []
    assert crawl.codes(other.url("/x")) == ["blocked_by_robots_txt"]


def test_its_attempt_has_an_exit_code_and_its_bytes(crawl: Crawling) -> None:
    site = crawl.site().pages()
    site.robots("User-agent: *\nDisallow:")
    crawl.run()
    row = robots_row(crawl, site)
    assert (row["exit_code"], row["http_status"], row["requests"], row["bytes"]) == ("file_ingested", 200, 1, 23)
    assert crawl.value("SELECT robots_status FROM v_origin") == "parsed"


def test_it_is_asked_for_again_when_it_has_expired(crawl: Crawling) -> None:
    site = crawl.site().pages("/1", "/2", "/3")
    site.robots("User-agent: *\nCrawl-delay: 60")
    crawl.run("robots: {expiry: 90s}")
    assert [one.target for one in site.seen] == [
        "/robots.txt",
        "/",
        "/robots.txt",
        "/1",
        "/robots.txt",
        "/2",
        "/robots.txt",
        "/3",
    ]


def test_a_run_within_its_expiry_does_not_ask_for_it(crawl: Crawling) -> None:
    site = crawl.site().pages()
    crawl.run()
    crawl.later(29 * MINUTE)
    site.page("/new")
    crawl.run(seeds=[site.url("/new")])
    assert [one.target for one in site.seen] == ["/robots.txt", "/", "/new"]
    crawl.later(2 * MINUTE)
    site.page("/newer")
    crawl.run(seeds=[site.url("/newer")])
    assert [one.target for one in site.seen][3:] == ["/robots.txt", "/newer"]


def test_without_one_everything_is_allowed(crawl: Crawling) -> None:
    sites = [crawl.site().pages("/a") for _ in (401, 403, 404, 410)]
    for site, status in zip(sites, (401, 403, 404, 410), strict=True):
        site.answer("/robots.txt", Answer(status))
    crawl.run()
    assert [site.asked for site in sites] == [["/", "/a"]] * 4
    assert {row["robots_status"] for row in crawl.rows("SELECT robots_status FROM v_origin")} == {"unavailable"}


OUT_OF_REACH = {
    "500": Answer(500),
    "503": Answer(503),
    "silent": Answer(raw=b"", end="silent"),
    "not-http": Answer(raw=b"nonsense\r\n\r\n", end="close"),
}


def test_out_of_reach_nothing_is_crawled_and_five_failures_finish_the_origin(crawl: Crawling) -> None:
    sites = {name: crawl.site().pages() for name in OUT_OF_REACH}
    for name, site in sites.items():
        site.answer("/robots.txt", OUT_OF_REACH[name])
    assert crawl.run().gave_up == len(sites)
    for site in sites.values():
        assert site.asked == []
        assert len(site.seen) == 5
    rows = crawl.rows("SELECT DISTINCT robots_status, patience, finish_reason FROM v_origin")
    assert rows == [{"robots_status": "unreachable", "patience": 0, "finish_reason": "patience"}]


def test_429_for_it_slows_down_and_costs_no_patience(crawl: Crawling) -> None:
    site = crawl.site().pages()
    site.answer("/robots.txt", Answer(429), Answer(429), Answer(404))
    crawl.run()
    assert site.gaps == [2_000, 4_000, 4_000]
    assert crawl.value("SELECT patience FROM v_origin") == 5


def test_rules_younger_than_a_day_stay_in_force(crawl: Crawling) -> None:
    """It is asked for again after five minutes meanwhile."""
    site = crawl.site().pages()
    ok = Answer(200, b"User-agent: *\nDisallow: /closed", (("Content-Type", "text/plain"),))
    site.answer("/robots.txt", ok, Answer(500))
    crawl.run()
    crawl.later(HOUR)
    site.page("/new")
    crawl.run(seeds=[site.url("/new"), site.url("/closed")])
    assert site.asked == ["/", "/new"]
    assert crawl.codes(site.url("/closed")) == ["blocked_by_robots_txt"]
    (row,) = crawl.rows("SELECT robots_status, robots_expires_at, patience FROM v_origin")
    assert (row["robots_status"], row["patience"]) == ("parsed", 4)
    assert row["robots_expires_at"] - site.requests("/robots.txt")[1].ended == 5 * MINUTE
    crawl.later(DAY)
    site.page("/newer")
    crawl.run(seeds=[site.url("/newer")])
    assert crawl.value("SELECT finish_reason FROM v_origin") == "patience", "a day later they do not"
    assert "/newer" not in site.asked


def test_five_redirects_are_followed_each_a_request_of_one_attempt(crawl: Crawling) -> None:
    site = crawl.site().pages("/closed")
    site.redirect("/robots.txt", "/r1")
    for number in range(1, 5):
        site.redirect(f"/r{number}", f"/r{number + 1}", 302)
    site.file("/r5", "User-agent: *\nDisallow: /closed", "text/plain")
    crawl.run()
    assert crawl.codes(site.url("/closed")) == ["blocked_by_robots_txt"]
    row = robots_row(crawl, site)
    assert (row["exit_code"], row["requests"]) == ("file_ingested", 6)
    asked = crawl.rows("SELECT url FROM v_request WHERE attempt_id = ? ORDER BY request_id", row["attempt_id"])
    assert [one["url"] for one in asked] == [
        site.url(f"/{name}") for name in ("robots.txt", "r1", "r2", "r3", "r4", "r5")
    ]
    assert min(site.gaps) >= 1_000, "every hop keeps the delay"


def test_more_redirects_mean_that_everything_is_allowed(crawl: Crawling) -> None:
    site = crawl.site().pages("/a")
    site.redirect("/robots.txt", "/robots.txt?", 301)
    site.redirect("/robots.txt?", "/robots.txt", 302)
    crawl.run()
    assert site.asked[-2:] == ["/", "/a"]
    row = robots_row(crawl, site)
    assert row["exit_code"] in {"permanent_redirect", "redirect"}
    assert crawl.value("SELECT robots_status FROM v_origin") == "unavailable"


def test_a_hop_that_is_excluded_is_not_made(crawl: Crawling) -> None:
    site, other = crawl.site().pages("/a"), crawl.site("127.0.0.2")
    site.redirect("/robots.txt", other.url("/robots.txt"))
    crawl.run("exclusions: [{host: 127.0.0.2, reason: owner asked}]", seeds=[site.url()])
    assert other.seen == []
    row = robots_row(crawl, site)
    assert (row["exit_code"], row["requests"]) == ("blocked_by_exclusion_list", 1)
    assert site.asked == ["/", "/a"]


def test_a_hop_to_another_origin_counts_as_a_request_to_it(crawl: Crawling) -> None:
    site, other = crawl.site().pages(), crawl.site()
    other.page()
    other.robots("User-agent: *\nDisallow: /closed")
    site.redirect("/robots.txt", other.url("/robots.txt"))
    crawl.run()
    assert len(other.requests("/robots.txt")) == 2
    assert min(other.gaps) >= 1_000
    assert site.asked == ["/"]


def test_it_is_read_up_to_its_size_without_its_byte_order_mark(crawl: Crawling) -> None:
    site = crawl.site().pages("/first", "/last")
    text = "\ufeffUser-agent: *\nDisallow: /first\n" + "# a comment\n" * 50_000 + "Disallow: /last\n"
    site.robots(text)
    crawl.run()
    assert crawl.codes(site.url("/first")) == ["blocked_by_robots_txt"]
    assert site.asked == ["/", "/last"]
