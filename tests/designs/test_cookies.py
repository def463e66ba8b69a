"""Cookies that servers set, within a chain of redirects (`crawl.cookies`); those of `hosts` are in test_access.py."""

from __future__ import annotations

import json

import pytest

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import HTML, Answer, Site
from tui_crawler.domain.url import MASK


def sets(location: str, *cookies: str, status: int = 302) -> Answer:
    """A redirect that sets cookies."""
    return Answer(status, headers=(("Location", location), *(("Set-Cookie", one) for one in cookies)))


def shows(*links: str) -> Answer:
    """A page with these links."""
    body = "".join(f'<a href="{link}">x</a>' for link in links)
    return Answer(200, f"<!doctype html><title>x</title>{body}".encode(), (("Content-Type", HTML),))


def sent(site: Site, path: str) -> list[str | None]:
    """The Cookie field of each request for a path."""
    return [one.header("Cookie") for one in site.requests(path)]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_page_that_redirects_to_itself_gets_its_cookie_back(crawl: Crawling, status: int) -> None:
    site = crawl.site()
    site.answer("/", sets("/", "seen=1; Path=/", status=status), shows("/a"))
    site.answer("/a", sets("/a", "seen=1; Path=/"), shows())
    crawl.run()
    assert [sent(site, path) for path in ("/", "/a")] == [[None, "seen=1"]] * 2, "forgotten after the chain"
    assert [crawl.codes(site.url(path))[-1] for path in ("/", "/a")] == ["file_ingested"] * 2
    assert crawl.ask("status", "--json").json["coverage"]["complete"]


def test_a_wall_on_a_page_of_its_own_leads_back_once_more(crawl: Crawling) -> None:
    site = crawl.site()
    for path in ("/", "/a"):
        site.answer(path, sets(f"/wall?back={path}"), shows("/a"))
        site.answer(f"/wall?back={path}", sets(path, "ok=yes; Path=/; HttpOnly"))
    crawl.run("policies: {url_query_parameters: [{allow_any: true}]}")
    assert [sent(site, path) for path in ("/", "/a")] == [[None, "ok=yes"]] * 2
    assert crawl.page(site.url("/a"))["last_exit_code"] == "file_ingested"


def test_a_recrawl_passes_the_wall_again_though_other_chains_lead_there(crawl: Crawling) -> None:
    site = crawl.site()
    wall = (sets("/wall?back=/"), shows("/other"))
    site.answer("/", *wall, *wall)
    site.answer("/wall?back=/", sets("/", "ok=yes; Path=/"))
    site.answer("/other", sets("/other2"))
    site.answer("/other2", sets("/", "no=1"))
    for _ in range(2):
        crawl.run("policies: {url_query_parameters: [{allow_any: true}]}", crawl__recheck=True)
        assert crawl.page(site.url())["last_exit_code"] == "file_ingested"
    assert sent(site, "/") == [None, "ok=yes"] * 2


def test_a_wall_in_front_of_robots_txt(crawl: Crawling) -> None:
    site = crawl.site()
    rules = Answer(200, b"User-agent: *\nDisallow: /a", (("Content-Type", "text/plain"),))
    site.answer("/robots.txt", sets("/robots.txt", "seen=1"), rules)
    site.page("/", "/a")
    crawl.run()
    assert sent(site, "/robots.txt") == [None, "seen=1"]
    assert crawl.codes(site.url("/a")) == ["blocked_by_robots_txt"]


def test_a_page_that_never_stops_is_asked_four_times_and_it_is_said(crawl: Crawling) -> None:
    site = crawl.site().front("/loop", "/same")
    site.answer("/loop", *(sets("/loop", f"n={number}") for number in range(9)))
    site.answer("/same", sets("/same", "n=1"))
    crawl.run()
    assert sent(site, "/loop") == [None, "n=0", "n=1", "n=2"]
    assert sent(site, "/same") == [None, "n=1"], "the same cookie once more would change nothing"
    said = crawl.ask("status")
    assert "2 URLs" in said.out
    assert "cookie" in said.out
    assert "sets a cookie" in crawl.ask("why", site.url("/loop")).out
    broken = crawl.ask("links", "--broken", "--json").json["broken"]
    assert {one["url"] for one in broken} == {site.url("/loop"), site.url("/same")}
    assert all(one["referrers"][0]["url"] == site.url() for one in broken)


@pytest.mark.parametrize("mode", ["chain", "origin", "off"])
def test_how_long_cookies_are_sent_is_configured(crawl: Crawling, mode: str) -> None:
    site = crawl.site()
    site.answer("/", sets("/home", "a=1"))
    site.answer("/home", shows("/later"))
    site.page("/later")
    crawl.run(f"crawl: {{cookies: {mode}}}")
    assert sent(site, "/home") == [None if mode == "off" else "a=1"]
    assert sent(site, "/later") == ["a=1" if mode == "origin" else None]
    crawl.run(f"crawl: {{cookies: {mode}}}", later=5 * WEEK)
    assert sent(site, "/")[1] is None, "not even then beyond the run"


def test_a_cookie_goes_where_it_belongs(crawl: Crawling) -> None:
    """Host, domain, path, Secure, expiry, public suffix; what is malformed harms no other."""
    first, www = crawl.web.named("http://one.co.uk"), crawl.web.named("http://www.one.co.uk")
    cookies = (
        "host=1", "domain=2; Domain=.One.Co.UK", "suffix=3; Domain=co.uk", "foreign=4; Domain=two.co.uk",
        "path=5; Path=/sub",
        "secure=6; Secure", "gone=7; Max-Age=0", "past=8; Expires=Wed, 21-Oct-2015 07:28:00 GMT", "empty=", "=; ;=",
        "bad\x07=9", "é=10", "odd=11; Max-Age=soon; Expires=never; Path=relative", "host=1b", "x" * 5000 + "=12",
    )  # fmt: skip
    first.answer("/", sets("/sub/page", *cookies))
    first.answer("/sub/page", sets(www.url()))
    www.answer("/", shows())
    crawl.run(f"network: {{proxy: '{crawl.web.proxy}'}}", seeds=[first.url()])
    (here,), (there,) = sent(first, "/sub/page"), sent(www, "/")
    assert {"domain=2", "path=5", "host=1b", "empty="} <= set((here or "").split("; "))
    assert not {"secure=6", "gone=7", "past=8", "foreign=4", "suffix=3", "host=1"} & set((here or "").split("; "))
    assert (here or "").isascii()
    assert there == "domain=2"


def test_another_host_gets_none(crawl: Crawling) -> None:
    site, other = crawl.site(), crawl.site("127.0.0.2")
    site.answer("/", sets(other.url("/"), "a=1"))
    other.answer("/", shows())
    crawl.run()
    assert sent(other, "/") == [None]


def test_configured_cookies_stay_and_all_are_masked(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", sets("/", "mine=evil; Path=/", "other=secret-1; Path=/"), shows())
    crawl.run(f'hosts: [{{host: "{site.origin}", cookies: {{mine: good}}}}]')
    assert sent(site, "/") == ["mine=good", "mine=good; other=secret-1"]
    stored = crawl.rows("SELECT request_headers FROM request")
    assert all("secret-1" not in row["request_headers"] and "good" not in row["request_headers"] for row in stored)
    assert any(json.dumps(MASK) in row["request_headers"] for row in stored)


def test_ten_cookies_and_ten_thousand(crawl: Crawling) -> None:
    """All of ten come back; of a flood some do, and the next request is still a legal one."""
    site = crawl.site()
    site.answer("/", sets("/ten", *(f"c{number}={number}" for number in range(10))))
    site.answer("/ten", sets("/many", *(f"d{number}={number}" for number in range(2_000))))
    site.answer("/many", shows())
    crawl.run()
    assert len((sent(site, "/ten")[0] or "").split("; ")) == 10
    assert len((sent(site, "/many")[0] or "").split("; ")) == 50
