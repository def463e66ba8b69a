"""Which URLs become pages (M, G): normalisation, whitelist, start path, exclusion list, trap guard; all counted."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import Site
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.command import AddSeeds, Exclude


def linking(crawl: Crawling, *links: str) -> Site:
    """A site whose front page has these links, and a page behind each path of it."""
    site = crawl.site().front(*links)
    for link in links:
        if link.startswith("/") and not link.startswith("//"):
            site.page(link.partition("#")[0])
    return site


def test_urls_are_normalised_and_what_is_none_is_counted(crawl: Crawling) -> None:
    site = linking(
        crawl,
        "/a/../b",
        "/b#one",
        "/b#two",
        "/b?",
        "HTTP://user@127.0.0.1/x",
        "http://[::1/",
        "http://a:99999/",
        "ftp://example.org/",
        "mailto:a@example.org",
        "javascript:void(0)",
        "/" + "x" * 3000,
    )
    site.page("/b")
    crawl.run()
    assert site.asked == ["/", "/b"]
    refused = crawl.refused()
    assert refused["invalid_url"] >= 4
    assert crawl.value("SELECT count(*) FROM v_page") == 2


def test_a_start_path_keeps_a_crawl_of_its_site_below_it(crawl: Crawling) -> None:
    site = linking(crawl, "/docs/a", "/docsets", "/blog")
    site.page("/docs/", "/docs/a", "/docsets", "/blog")
    crawl.run(f"sites: [{{origin: {site.origin}, start_path: /docs/}}]", seeds=[site.url("/docs/")])
    assert site.asked == ["/docs/", "/docs/a"]
    assert crawl.refused() == {"start_path": 2}
    assert crawl.rows("SELECT domain, start_path FROM crawler_sites") == [
        {"domain": site.origin.removeprefix("http://"), "start_path": "/docs/"}
    ]


def test_hosts_of_the_whitelist_join_when_they_are_first_linked(crawl: Crawling) -> None:
    named = crawl.web.named
    home, friend, stranger = named("http://www.example.org"), named("http://a.example.org"), named("http://example.net")
    home.page("/", "http://a.example.org/x", "http://example.net/")
    friend.page("/x", "/y")
    friend.page("/y")
    stranger.page()
    crawl.run(f"network: {{proxy: '{crawl.web.proxy}'}}\nwhitelist: {{domains: ['*.example.org']}}", seeds=[home.url()])
    assert friend.asked == ["/x", "/y"]
    assert stranger.seen == []
    assert crawl.refused() == {"scope": 1}
    assert {row["origin"] for row in crawl.rows("SELECT origin FROM v_origin")} >= {"http://a.example.org"}


def test_patterns_of_the_whitelist_hold_for_seed_origins_too(crawl: Crawling) -> None:
    site = linking(crawl, "/news/1", "/sport/1", "/shop/1")
    crawl.run("whitelist: {patterns: ['/news/', '/sport/', ':[0-9]+/$']}")
    assert site.asked == ["/", "/news/1", "/sport/1"]
    assert crawl.refused() == {"whitelist": 1}


def test_a_seed_outside_the_whitelist_is_refused_when_its_turn_comes(crawl: Crawling) -> None:
    site = linking(crawl)
    crawl.run("whitelist: {patterns: ['/news/']}")
    assert site.asked == []
    (row,) = crawl.rows("SELECT exit_code, message FROM v_attempt WHERE url = ?", site.url())
    assert row["exit_code"] == "blocked_url_by_local_policy"
    assert row["message"] == "this seed: no pattern of the whitelist matches: /news/"


TRAPS = {
    "trap_repeat": "/a/b/a/b/a/b/a",
    "trap_depth": "/" + "/".join(str(number) for number in range(21)),
}


@pytest.mark.parametrize("reason", TRAPS)
def test_the_trap_guard_refuses_and_counts(crawl: Crawling, reason: str) -> None:
    fine = {"trap_repeat": "/a/b/a/b/a", "trap_depth": "/" + "/".join(str(number) for number in range(20))}[reason]
    site = linking(crawl, TRAPS[reason], fine)
    crawl.run()
    assert site.asked == ["/", fine]
    (row,) = crawl.rows("SELECT * FROM v_refused")
    assert row == {"origin": site.origin, "reason": reason, "count": 1, "sample_url": site.url(TRAPS[reason])}


def test_an_origin_is_full_at_its_number_of_pages(crawl: Crawling) -> None:
    site = linking(crawl, *(f"/{number}" for number in range(10)))
    crawl.run("crawl: {max_pages_per_origin: 4}")
    assert site.asked == ["/", "/0", "/1", "/2"]
    assert crawl.refused() == {"origin_full": 7}


def test_refusals_are_counted_under_the_origin_of_the_page_that_held_the_link(crawl: Crawling) -> None:
    one, two = crawl.site(), crawl.site()
    one.page("/", two.url("/a/a/a/a/x"))
    two.page("/")
    crawl.run()
    (row,) = crawl.rows("SELECT origin, reason, sample_url FROM v_refused")
    assert row == {"origin": one.origin, "reason": "trap_repeat", "sample_url": two.url("/a/a/a/a/x")}


EXCLUSIONS = {
    "host": {"host": "127.0.0.2"},
    "cidr": {"cidr": "127.0.0.2/31"},
    "pattern": {"pattern": r"127\.0\.0\.2:\d+/"},
}


@pytest.mark.parametrize("kind", EXCLUSIONS)
def test_the_exclusion_list_overrides_everything(crawl: Crawling, kind: str) -> None:
    site, other = linking(crawl), crawl.site("127.0.0.2")
    site.page("/", other.url("/linked"), "/away")
    site.redirect("/away", other.url("/target"))
    entry = {**EXCLUSIONS[kind], "reason": "owner asked", "who": "owner@example.net"}
    crawl.run(f"exclusions: {json.dumps([entry])}", seeds=[site.url(), other.url()])
    assert other.seen == [], "neither a link nor a redirect nor a seed leads there"
    assert crawl.refused() == {"exclusion": 2}
    assert crawl.codes(other.url()) == ["blocked_by_exclusion_list"], "an excluded seed is logged"
    message = crawl.value("SELECT message FROM v_attempt WHERE url = ?", other.url())
    assert f"exclusion list: {kind} " in message
    assert "owner asked (by owner@example.net)" in message


def test_a_domain_is_excluded_with_all_below_it(crawl: Crawling) -> None:
    named = crawl.web.named
    sites = [named(f"http://{name}") for name in ("example.net", "a.b.example.net", "badexample.net")]
    for site in sites:
        site.page()
    crawl.run(f"network: {{proxy: '{crawl.web.proxy}'}}\nexclusions: [{{domain: example.net}}]")
    assert [bool(site.asked) for site in sites] == [False, False, True]
    reasons = crawl.rows("SELECT origin, finish_reason FROM v_origin ORDER BY origin")
    assert [row["finish_reason"] for row in reasons] == ["excluded", "exhausted", "excluded"]


def test_the_exclusion_list_is_extended_while_crawling(crawl: Crawling) -> None:
    """The origin finishes as excluded; its pending pages stop."""
    site, other = crawl.site("127.0.0.2"), crawl.site()
    for one in (site, other):
        one.page("/", "/a", "/b")
        one.page("/a")
        one.page("/b")
    crawl.run(on_event=crawl.steering(site.url(), Exclude("host", "127.0.0.2", "owner asked")), poll_ms=500)
    assert site.asked == ["/"]
    assert other.asked == ["/", "/a", "/b"]
    rows = crawl.rows("SELECT origin, finish_reason, pending FROM v_origin")
    assert {row["origin"]: (row["finish_reason"], row["pending"]) for row in rows} == {
        site.origin: ("excluded", 2),
        other.origin: ("exhausted", 0),
    }
    (action,) = crawl.rows("SELECT who, action, target FROM v_operator_action")
    assert action == {"who": "tester", "action": "exclude", "target": "host 127.0.0.2"}
    crawl.run(later=5 * WEEK)
    assert site.asked == ["/"], "it stays on the list"


def test_a_pattern_added_while_crawling_stops_the_pages_it_matches(crawl: Crawling) -> None:
    site = linking(crawl, "/private/1", "/open", "/private/2")
    crawl.run(on_event=crawl.steering(site.url(), Exclude("pattern", "/private/", "asked")), poll_ms=500)
    assert site.asked == ["/", "/open"]
    assert crawl.codes(site.url("/private/2")) == ["blocked_by_exclusion_list"]


def test_an_entry_that_is_removed_gives_back_the_pages_that_it_refused(crawl: Crawling) -> None:
    """Also one of a pattern, whose origin was never excluded; while nothing crawls, and while a run is live."""
    site = linking(crawl, "/private/1", "/open", "/private/2")
    crawl.run()
    assert crawl.ask("exclude", "pattern", "/private/", "--reason", "asked").status == 0
    crawl.run(later=5 * WEEK)
    assert [crawl.codes(site.url(f"/private/{n}"))[-1] for n in (1, 2)] == ["blocked_by_exclusion_list"] * 2
    logged = crawl.value("SELECT COUNT(*) FROM v_attempt")
    assert crawl.ask("exclude", "pattern", "/private/", "--remove").status == 0
    assert crawl.value("SELECT pending FROM v_job") == 2
    assert crawl.ask("exclude", "pattern", "/private/", "--reason", "again").status == 0
    assert (crawl.value("SELECT pending FROM v_job"), crawl.value("SELECT COUNT(*) FROM v_attempt")) == (0, logged)
    asked = len(site.asked)
    crawl.steer(Exclude("pattern", "/private/", "asked no more", remove=True))
    crawl.run(poll_ms=500)
    assert sorted(site.asked[asked:]) == ["/private/1", "/private/2"]


def test_the_first_of_many_patterns_that_matches_is_named(crawl: Crawling) -> None:
    """All of them are one compiled set."""
    site = linking(crawl, "/item-437/x", "/fine")
    entries = [{"pattern": f"/item-{number}/", "reason": f"number {number}"} for number in range(600)]
    crawl.run(f"exclusions: {json.dumps(entries)}")
    assert site.asked == ["/", "/fine"]
    crawl.later(5 * WEEK)
    assert crawl.refused() == {"exclusion": 1}
    crawl.run(f"exclusions: {json.dumps(entries)}", seeds=[site.url("/item-437/x")])
    message = crawl.value("SELECT message FROM v_attempt WHERE url = ?", site.url("/item-437/x"))
    assert message == "this seed: exclusion list: pattern /item-437/, number 437"


def test_a_pattern_that_does_not_run_in_linear_time_is_refused(crawl: Crawling) -> None:
    site = linking(crawl)
    said = crawl.command("check", str(crawl.configure("exclusions: [{pattern: '(?=a)b'}]")))
    assert said.status == 2
    assert "linear" in said.out + said.err
    assert site.seen == []


def moved(crawl: Crawling, first: str, *hops: str) -> list[Site]:
    """Named sites of which each redirects its front page to the next; the last has two pages."""
    sites = [crawl.web.named(origin) for origin in (first, *hops)]
    for site, following in pairwise(sites):
        site.redirect("/", following.url())
    sites[-1].page("/", "/a")
    sites[-1].page("/a")
    return sites


@pytest.mark.parametrize(
    ("first", "hops", "follows"),
    [
        ("http://example.org", ("http://www.example.org",), True),
        ("http://www.example.org", ("http://example.org:8080",), True),
        ("http://example.org", ("http://example.org.",), True),
        ("http://example.org", ("http://www.example.org", "http://shop.eu.example.org:81"), True),
        ("http://one.co.uk", ("http://two.co.uk",), False),
        ("http://one.github.io", ("http://two.github.io",), False),
        ("http://example.org", ("http://example.net",), False),
        ("http://127.0.0.1", ("http://127.0.0.1:81",), True),
        ("http://127.0.0.1", ("http://127.0.0.2",), False),
        ("http://localhost", ("http://localhost:8001",), True),
    ],
)
def test_a_seed_that_moves_within_its_site_takes_the_crawl_along(
    crawl: Crawling, first: str, hops: tuple[str, ...], follows: bool
) -> None:
    sites = moved(crawl, first, *hops)
    crawl.run(f"network: {{proxy: '{crawl.web.proxy}', allow_private_addresses: true}}", seeds=[sites[0].url()])
    assert sites[-1].asked == (["/", "/a"] if follows else [])
    assert [bool(site.requests("/robots.txt")) for site in sites] == [True] + [follows] * len(hops)
    coverage = crawl.ask("status", "--json").json["coverage"]
    assert coverage["seeds"][0]["ended_at_url"] == sites[-1].url()
    assert coverage["complete"] == follows
    assert ("⚠ empty" in crawl.ask("status").out) != follows


def test_seeds_of_jobs_and_those_that_were_added_take_the_crawl_along(crawl: Crawling) -> None:
    first = crawl.site()
    by_job, added = moved(crawl, "http://a.test", "http://www.a.test"), moved(crawl, "http://b.test", "http://m.b.test")

    def add(event: Event) -> None:
        if event.event == "origin_finished" and event.origin == first.origin:
            crawl.steer(AddSeeds((added[0].url(),)))

    crawl.web.named(first.origin).page("/")
    text = f"network: {{proxy: '{crawl.web.proxy}'}}\njobs: [{{name: other, seeds: ['{by_job[0].url()}']}}]"
    crawl.run(text, seeds=[first.url()], on_event=add, poll_ms=100)
    assert [sites[-1].asked for sites in (by_job, added)] == [["/", "/a"]] * 2


@pytest.mark.parametrize(("mode", "near", "far"), [("never", False, False), ("any", True, True)])
def test_where_seeds_are_followed_is_configured(crawl: Crawling, mode: str, near: bool, far: bool) -> None:
    one = moved(crawl, "http://one.example.org", "http://www.one.example.org")
    two = moved(crawl, "http://two.example.org", "http://two.example.net")
    text = f"crawl: {{follow_seed_redirects: {mode}}}\nnetwork: {{proxy: '{crawl.web.proxy}'}}"
    crawl.run(text, seeds=[one[0].url(), two[0].url()])
    assert [site.asked for site in (one[1], two[1])] == [["/", "/a"] if led else [] for led in (near, far)]


def test_only_seeds_take_the_crawl_along_and_by_redirects_alone(crawl: Crawling) -> None:
    """A page that is linked, a sitemap and a canonical do not, and so does no link on the page a seed leads to."""
    site, other = crawl.web.named("http://example.org"), crawl.web.named("http://www.example.org")
    site.page("/", "/moved", head='<link rel=canonical href="/moved2">')
    site.page("/refresh", headers=(("Refresh", f"3;url={other.url('/by-refresh')}"),))
    other.page("/by-refresh", "http://shop.example.org/")
    site.robots("Sitemap: http://example.org/sitemap.xml\n")
    site.redirect("/sitemap.xml", "http://sitemaps.example.org/")
    site.redirect("/moved2", "/page")
    site.page("/page", "/moved")
    site.redirect("/moved", "http://blog.example.org/")
    crawl.run(f"network: {{proxy: '{crawl.web.proxy}'}}", seeds=[site.url(), site.url("/refresh")])
    assert other.asked == ["/by-refresh"]
    assert crawl.refused() == {"scope": 3}


def test_the_origin_that_joined_stays_and_keeps_start_path_rules_and_depth(crawl: Crawling) -> None:
    """It has a robots.txt of its own, and is there in later runs."""
    site, other = crawl.web.named("http://example.org"), crawl.web.named("http://www.example.org")
    text = f"""network: {{proxy: '{crawl.web.proxy}'}}
sites: [{{origin: "http://example.org", start_path: /docs/}}]
rules: [{{match: skipped, skip: true}}]
exclusions: [{{pattern: excluded, reason: asked for}}]
crawl: {{max_depth: 2}}
"""
    site.redirect("/docs/", other.url("/docs/"))
    pages = ("/docs/denied", "/docs/skipped", "/docs/excluded", "/blog/", "/docs/1")
    other.page("/docs/", *pages)
    other.robots("User-agent: *\nDisallow: /docs/denied\n")
    other.page("/docs/1", "/docs/2")
    other.page("/docs/2", "/docs/3")
    for at in range(2):
        crawl.run(text, seeds=[site.url("/docs/")])
        assert other.asked == ["/docs/", "/docs/1", "/docs/2"] * (at + 1)
        assert crawl.refused()["start_path"] == 1 + at
        assert crawl.ask("why", other.url("/blog/"), "--json").json["verdict"] == "out_of_scope"
        crawl.later(5 * WEEK)
        other.seen.sort(key=lambda seen: seen.at)
    crawl.run(text.replace("/docs/}", "/}"), seeds=[site.url("/docs/")])
    assert "/blog/" in other.asked


def test_a_redirect_of_a_public_seed_to_a_private_address_stays_refused(crawl: Crawling) -> None:
    """The private-address rule is that of the hosts that seeds name; a redirect names none."""
    site = crawl.site()
    site.redirect("/", "http://127.0.0.2:1/")
    crawl.run("crawl: {follow_seed_redirects: any}", seeds=[site.url()])
    assert crawl.codes("http://127.0.0.2:1/") == ["blocked_address"]
